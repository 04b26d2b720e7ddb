"""The Send page: what is sent, what stays, one file, and its receipt."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QSizePolicy, QTreeWidgetItem

from annotator.actions.parcels import tray
from annotator.actions.parcels.packing import PackedTask
from annotator.actions.parcels.tray import SendingOutcome, SendingOverview, SendingPiece
from annotator.domain.common import counted, words_that_hold
from annotator.gui import theme
from annotator.gui.review.field_chips import moment
from annotator.gui.session import page
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.session.shared_folder import FolderLine
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    PlainLabel,
    RoleFrame,
    Stack,
    StretchSpace,
    horizontal,
    push_button,
    save_file,
    show_folder,
    vertical,
)
from annotator.gui.widgets.chips import EmptyState, icon
from annotator.gui.widgets.columns import RowsTree, line
from annotator.gui.widgets.message_bar import ProgressRow

COPY = "Copy the code"
EARLIER = 4

COLUMNS = ("Item", "Question", "Stage", "Status", "Submitted", "Due")
WIDTHS = (120, 360, 100, 280, 140, 140)
QUESTION, GOING = 1, 3
_LOOKS = {
    SendingOutcome.NEW: ("export", "agreed"),
    SendingOutcome.SENT: ("check", "missing"),
    SendingOutcome.DRAFT: ("author", "incomplete"),
    SendingOutcome.OPEN: ("minus", "missing"),
}

# People: experts on a laptop without a network who send one file and want to be sure that it arrived. What annoys them
# elsewhere: no way back from offline work, not knowing what was in the file, and silence after sending it.
FILES = f"Work to send back (*{page.WORK})"
WHAT = (
    "Everything you have submitted goes into one file; drafts stay on this computer. You can continue "
    "working and send again as often as you like: only what is new is imported."
)


class SendPage(Page):
    NAME = "Send"
    HEARS = ("artifact", "judgement", "dispute", "assignment", "parcel", "labels", "adjudication", "ruling")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._outlook: SendingOverview | None = None
        self._path: Path | None = None
        self.receipt, self.table, self.summary = (
            Receipt(),
            PiecesTable(session),
            PlainLabel(role="strong", wrap=True),
        )
        self.keys, self.shared = PlainLabel(wrap=True), FolderLine(session)
        self.progress = ProgressRow()
        nothing = EmptyState(
            "items",
            "This task contains no work for you yet",
            "When you receive another task, open it here: your work stays unchanged.",
        )
        self.body = Stack(self.table, nothing)
        self.work = KeyButton("Go to it", "Return", press=self.table.go)
        self.go = KeyButton("Write the file to send back…", act="submit", role="primary", press=self.choose)
        vertical(
            PlainLabel("Send my work", "title"),
            PlainLabel(WHAT, "hint", wrap=True),
            self.receipt,
            self.summary,
            (self.body, 1),
            self.keys,
            self.shared,
            self.progress,
            horizontal(self.work, StretchSpace(1), self.go),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=10,
        )
        self.bind("submit", self.choose)
        self.bind("next_open", self.table.next_open)
        self.focus_on = self.table

    def navigate(self, place: dict[str, Any]) -> None:
        self._read()

    def _read(self) -> None:
        result = self._outlook = self.session.ask(tray.outlook)
        if result is None:
            return
        self.table.show_pieces(result.pieces)
        self.body.setCurrentIndex(0 if result.pieces else 1)
        self.work.setVisible(bool(result.pieces))
        self.summary.show_words(summary(result) if result.pieces else "")
        self.keys.show_words(key_words(result))
        self.receipt.show_sent(result, self._path)
        self.shared.fill()
        self._enable()

    def _enable(self) -> None:
        result = self._outlook
        goes = (
            result is not None and result.count(SendingOutcome.NEW, SendingOutcome.SENT) + result.disputes > 0
        )
        self.go.setEnabled(goes and self.progress.isHidden() and not self.session.project.readonly)

    def choose(self) -> None:
        if not self.go.isEnabled():
            return
        project = self.session.project.path
        suggested = (self._path or project).parent / f"{project.stem}-work{page.WORK}"
        # The dialog is for a file, whatever extension was typed.
        save_file(
            self,
            "Write the file to send back",
            str(suggested),
            FILES,
            lambda path: self.write_to(path.with_name(path.name.removesuffix(page.WORK) + page.WORK)),
        )

    def write_to(self, path: Path) -> None:
        self.progress.show_progress("Writing the file to send back", 0, 0)
        self._enable()
        self.session.do_later(self._written, self.progress.show_progress, tray.write_work, path)

    def _written(self, packed: PackedTask | None) -> None:
        self.progress.hide()
        if packed is not None:
            self._path = packed.path
        self._read()
        if packed is not None:
            # Focus it only if the button was pressed for it.
            self.receipt.copy.setFocus()
            self.session.tell_end("The file to send back is written.", "Send", self)


class PiecesTable(RowsTree):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__("Work sent back and work kept here", COLUMNS, WIDTHS, QUESTION)
        self._session = session
        self._pieces: tuple[SendingPiece, ...] = ()
        self.itemActivated.connect(lambda _: self.go())
        theme.watch(self, lambda: self.show_pieces(self._pieces))

    def show_pieces(self, pieces: tuple[SendingPiece, ...]) -> None:
        row = max(0, self.row())
        self._pieces = pieces
        self.show_lines(map(_line, pieces), min(row, len(pieces) - 1))

    def next_open(self) -> None:
        """Select the next piece that is not submitted, wrapping around."""
        waits = [
            row for row, piece in enumerate(self._pieces) if piece.draft or piece.going is SendingOutcome.OPEN
        ]
        if following := [row for row in waits if row > self.row()] + waits:
            self.choose(following[0])

    def go(self) -> None:
        if (piece := self.line_of(self._pieces)) is not None:
            self._session.go_to_work(piece.item_id, piece.stage)


def summary(overview: SendingOverview) -> str:
    """What is sent and what stays, in one line."""
    new, disputes = overview.count(SendingOutcome.NEW), overview.disputes
    goes, still = new + overview.count(SendingOutcome.SENT), overview.count(SendingOutcome.OPEN)
    drafts = sum(piece.draft for piece in overview.pieces)
    first = f", {new} of them for the first time" if new and overview.sent else ""
    return " · ".join(words_that_hold({
        f"{counted(goes, 'document')} {'goes' if goes == 1 else 'go'} back{first}": goes or disputes,
        "Nothing is submitted yet, so there is nothing to send": overview.pieces and not (goes or disputes),
        f"{counted(disputes, 'objection')} {'goes' if disputes == 1 else 'go'} along": disputes,
        f"{counted(drafts, 'document')} not submitted: {'it stays' if drafts == 1 else 'they stay'} here": drafts,
        f"{still} not begun": still,
    }))  # fmt: skip


def key_words(overview: SendingOverview) -> str:
    """The keys by which this person and the coordinator recognise each other's files, in words."""
    own, task = overview.own_key, overview.task_key
    return "\n".join(words_that_hold({
        f"Your key is “{own}”: tell these six words to the coordinator when they ask.": own,
        f"Your tasks are signed with “{task}”: the coordinator sees the same under Send & receive.": task,
        "Your task is not signed by a person: an older Goldsmith wrote it.": own and not task,
    }))  # fmt: skip


def _line(piece: SendingPiece) -> QTreeWidgetItem:
    words = piece.going.value
    if piece.draft and piece.going is not SendingOutcome.DRAFT:
        words += "; your newer draft stays"
    cells = [
        piece.item_key, " ".join(piece.question.split()), piece.stage.value, words,
        moment(piece.at) if piece.at else "", moment(piece.due) if piece.due else "",
    ]  # fmt: skip
    made = line(cells)
    name, state = _LOOKS[SendingOutcome.DRAFT if piece.draft else piece.going]
    made.setIcon(GOING, icon(name, theme.current().px(15), f"state-{state}"))
    made.setForeground(GOING, theme.token(f"state-{state}"))
    return made


class Receipt(RoleFrame):
    def __init__(self) -> None:
        super().__init__("card")
        self._path: Path | None = None
        self.code, self.about = (
            PlainLabel(
                role="headline",
                textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard,
            ),
            PlainLabel(wrap=True),
        )
        self.earlier = PlainLabel(role="hint", wrap=True)
        self.copy, self.look = (
            push_button(COPY, self._copy),
            push_button("Open the folder", lambda: show_folder(self._path and self._path.parent)),
        )
        row = horizontal(
            self.code, (vertical(self.about, self.earlier), 1), on=self, margins=(16, 12, 16, 12), spacing=20
        )
        for button in (self.copy, self.look):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.addWidget(button)
        self.hide()

    def show_sent(self, overview: SendingOverview, path: Path | None) -> None:
        """Show what was sent last; `path` is the file, if known."""
        self._path = path
        self.setVisible(bool(overview.sent))
        if not overview.sent:
            return
        last = overview.sent[0]
        self.code.setText(last.receipt)
        self.code.setAccessibleName(f"Receipt code {last.receipt}")
        self.copy.setText(COPY)
        way = "It lies in the shared folder." if last.sealed else "Mail that file to the sender of your task."
        self.about.setText(
            f"This is the receipt code of “{last.file}”, written {moment(last.at)}. {way} "
            "They see the same code once it has arrived; ask them for it."
        )
        earlier = ", ".join(f"{sent.receipt} ({moment(sent.at)})" for sent in overview.sent[1 : EARLIER + 1])
        sentences = ["You have submitted more since: write the file again."] if overview.news else []
        self.earlier.show_words(" ".join([*sentences, *([f"Earlier codes: {earlier}."] if earlier else [])]))
        self.look.setVisible(path is not None)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.code.text())
        self.copy.setText("Copied")
