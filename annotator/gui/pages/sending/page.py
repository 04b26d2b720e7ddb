"""The Send page: what goes, what stays, one file, and its receipt."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QPushButton, QSizePolicy, QTreeWidgetItem

from annotator.actions.parcels import sending
from annotator.actions.parcels.packing import PackedTask
from annotator.actions.parcels.sending import SendingOutcome, SendingOverview, SendingPiece
from annotator.domain.experts.assignment import Stage
from annotator.gui import keys, theme
from annotator.gui.desk import dropping
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.review.moments import moment
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.lists.rows_tree import RowsTree, line

COPY = "Copy the code"
EARLIER = 4

COLUMNS = ("Item", "Question", "Stage", "Outcome", "Submitted", "Due")
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
FILES = f"Work to send back (*{dropping.WORK})"
WHAT = (
    "Everything you have submitted goes into one file; drafts stay on this computer. You can continue "
    "working and send again as often as you like: only what is new is imported."
)


class SendPage(Page):
    """The pieces of work with their outcome, one button, and the receipt."""

    NAME = "Send"
    ICON = "export"
    HEARS = ("artifact", "judgement", "dispute", "assignment", "parcel", "labels")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._outlook: SendingOverview | None = None
        self._path: Path | None = None
        self.receipt, self.table, self.summary = (
            Receipt(),
            PiecesTable(),
            PlainLabel(role="strong", wrap=True),
        )
        self.keys = PlainLabel(wrap=True)
        self.table.wanted.connect(self._go_to)
        self.progress = ProgressRow()
        self.progress.hide()
        self.body = stacked(self.table, self._nothing())
        column = vertical(
            PlainLabel("Send my work", "title"),
            PlainLabel(WHAT, "hint", wrap=True),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=10,
        )
        for widget in (self.receipt, self.summary):
            column.addWidget(widget)
        column.addWidget(self.body, 1)
        column.addWidget(self.keys)
        column.addWidget(self.progress)
        column.addLayout(self._foot())
        self.bind("submit", self.choose)
        self.bind("next_open", self.table.next_open)
        self.rebind()

    def _nothing(self) -> EmptyState:
        return EmptyState(
            "items",
            "This task contains no work for you yet",
            "When you receive another task, open it here: your work stays unchanged.",
        )

    def _foot(self) -> QHBoxLayout:
        self.work = QPushButton("Go to it  ↵")
        self.go = KeyButton("Write the file to send back…", role="primary")
        self.work.clicked.connect(self.table.go)
        self.go.clicked.connect(self.choose)
        return horizontal(self.work, StretchSpace(1), self.go)

    def arrive(self, place: dict[str, Any]) -> None:
        self._read()

    def focus_first(self) -> None:
        self.table.setFocus()

    def rebind(self) -> None:
        """Take over keys that were changed, also on the button."""
        super().rebind()
        self.go.set_key(keys.shown("submit"))

    def _read(self) -> None:
        found = self._outlook = self.desk.ask(sending.outlook)
        if found is None:
            return
        self.table.show_pieces(found.pieces)
        self.body.setCurrentIndex(0 if found.pieces else 1)
        self.work.setVisible(bool(found.pieces))
        self.summary.setText(summary(found))
        self.summary.setVisible(bool(found.pieces))
        self.keys.setText(key_words(found))
        self.keys.setVisible(bool(self.keys.text()))
        self.receipt.show_sent(found, self._path)
        self._enable()

    def _enable(self) -> None:
        found = self._outlook
        goes = found is not None and found.count(SendingOutcome.NEW, SendingOutcome.SENT) + found.disputes > 0
        self.go.setEnabled(goes and self.progress.isHidden() and not self.desk.project.readonly)

    def _go_to(self, piece: SendingPiece) -> None:
        kind = piece.stage.kind
        if piece.stage is Stage.LABELLING or kind is None:
            self.desk.go("Label", item_id=piece.item_id)
        else:
            self.desk.go("Author", item_id=piece.item_id, kind=kind.value)

    def choose(self) -> None:
        """Ask where the file is to lie and write it."""
        if not self.go.isEnabled():
            return
        project = self.desk.project.path
        suggested = (self._path or project).parent / f"{project.stem}-work{dropping.WORK}"
        name, _ = QFileDialog.getSaveFileName(self, "Write the file to send back", str(suggested), FILES)
        if name:
            # The dialog asks for a file, whatever ending was typed.
            self.write_to(Path(name.removesuffix(dropping.WORK) + dropping.WORK))

    def write_to(self, path: Path) -> None:
        self.progress.show_progress("Writing the file to send back", 0, 0)
        self.progress.show()
        self._enable()
        self.desk.do_later(self._written, self.progress.show_progress, sending.write, path)

    def _written(self, packed: PackedTask | None) -> None:
        self.progress.hide()
        if packed is not None:
            self._path = packed.path
        self._read()
        if packed is not None:
            # The keyboard follows only from the button that was pressed for it.
            self.receipt.copy.setFocus()
            self.desk.tell_end("The file to send back is written.", "Send", self)


class PiecesTable(RowsTree):
    """One line for each stage of each item."""

    wanted = Signal(object)
    """The Piece to go to."""

    def __init__(self) -> None:
        super().__init__("Work sent back and work kept here", COLUMNS, WIDTHS, QUESTION)
        self._pieces: tuple[SendingPiece, ...] = ()
        self.itemActivated.connect(lambda _: self.go())
        theme.watch(self, lambda: self.show_pieces(self._pieces))

    def show_pieces(self, pieces: tuple[SendingPiece, ...]) -> None:
        """Show these, staying at the line that was current."""
        row = max(0, self.row())
        self._pieces = pieces
        self.clear()
        self.addTopLevelItems([_line(piece) for piece in pieces])
        self.choose(min(row, len(pieces) - 1))

    def next_open(self) -> None:
        """Choose the next piece that is not submitted, going round."""
        waits = [
            row for row, piece in enumerate(self._pieces) if piece.draft or piece.going is SendingOutcome.OPEN
        ]
        following = [row for row in waits if row > self.row()] + waits
        if following:
            self.choose(following[0])

    def go(self) -> None:
        """Ask for the page on which the current piece is worked on."""
        if self.row() >= 0:
            self.wanted.emit(self._pieces[self.row()])


def summary(found: SendingOverview) -> str:
    """What goes and what stays in one line."""
    goes, drafts = (
        found.count(SendingOutcome.NEW, SendingOutcome.SENT),
        sum(piece.draft for piece in found.pieces),
    )
    if not found.pieces and not found.disputes:
        return ""
    parts = [f"{_documents(goes)} {'goes' if goes == 1 else 'go'} back"]
    if found.count(SendingOutcome.NEW) and found.sent:
        parts[0] += f", {found.count(SendingOutcome.NEW)} of them for the first time"
    if found.disputes:
        parts.append(
            "1 objection goes along" if found.disputes == 1 else f"{found.disputes} objections go along"
        )
    if not goes and not found.disputes:
        parts[0] = "Nothing is submitted yet, so there is nothing to send"
    if drafts:
        parts.append(f"{_documents(drafts)} not submitted: {'it stays' if drafts == 1 else 'they stay'} here")
    if still := found.count(SendingOutcome.OPEN):
        parts.append(f"{still} not begun")
    return " · ".join(parts)


def key_words(found: SendingOverview) -> str:
    """By which keys this person and the coordinator know each other's files."""
    parts = []
    if found.own_key:
        parts.append(f"Your key is “{found.own_key}”: tell these six words to the coordinator when they ask.")
    if found.task_key:
        parts.append(
            f"Your tasks are signed with “{found.task_key}”: the coordinator's Exchange page shows the same."
        )
    elif found.own_key:
        parts.append("Your task is not signed by a person: an older Goldsmith wrote it.")
    return "\n".join(parts)


def _documents(number: int) -> str:
    return "1 document" if number == 1 else f"{number} documents"


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


class Receipt(QFrame):
    """The newest file's code; earlier ones in a line."""

    def __init__(self) -> None:
        super().__init__()
        self._path: Path | None = None
        self.setProperty("role", "card")
        self.code, self.about = PlainLabel(role="headline"), PlainLabel(wrap=True)
        self.code.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.earlier = PlainLabel(role="hint", wrap=True)
        self.copy, self.look = QPushButton(COPY), QPushButton("Open the folder")
        self.copy.clicked.connect(self._copy)
        self.look.clicked.connect(self._open_folder)
        row = horizontal(
            self.code, (vertical(self.about, self.earlier), 1), on=self, margins=(16, 12, 16, 12), spacing=20
        )
        for button in (self.copy, self.look):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.addWidget(button)
        self.hide()

    def show_sent(self, found: SendingOverview, path: Path | None) -> None:
        """Show what was sent last; `path` is where it lies, if that is known."""
        self._path = path
        self.setVisible(bool(found.sent))
        if not found.sent:
            return
        last = found.sent[0]
        self.code.setText(last.receipt)
        self.code.setAccessibleName(f"Receipt code {last.receipt}")
        self.copy.setText(COPY)
        self.about.setText(
            f"This is the receipt code of “{last.file}”, written {moment(last.at)}. Mail that file to the "
            "sender of your task. They see the same code once it has arrived; ask them for it."
        )
        earlier = ", ".join(f"{sent.receipt} ({moment(sent.at)})" for sent in found.sent[1 : EARLIER + 1])
        told = ["You have submitted more since: write the file again."] if found.news else []
        self.earlier.setText(" ".join([*told, *([f"Earlier codes: {earlier}."] if earlier else [])]))
        self.earlier.setVisible(bool(self.earlier.text()))
        self.look.setVisible(path is not None)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.code.text())
        self.copy.setText("Copied")

    def _open_folder(self) -> None:
        if self._path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path.parent)))
