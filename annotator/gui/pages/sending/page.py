"""The Send page: what goes, what stays, one file, and its receipt."""

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton

from annotator.actions.parcels import sending
from annotator.actions.parcels.packing import PackedTask
from annotator.actions.parcels.sending import SendingOutcome, SendingOverview, SendingPiece
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.change import Change
from annotator.gui import keys
from annotator.gui.desk import dropping
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.sending.pieces import PiecesTable, key_words, summary
from annotator.gui.pages.sending.receipt import Receipt
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.layouts import StretchSpace, horizontal, stacked, vertical
from annotator.gui.widgets.plain import PlainLabel

# People: experts on a laptop without a network who send one file and want to be sure that it arrived. What annoys them
# elsewhere: no way back from offline work, not knowing what was in the file, and silence after sending it.
SHOWN_KINDS = ("artifact", "judgement", "dispute", "assignment", "parcel", "labels")
FILES = f"Work to send back (*{dropping.WORK})"
WHAT = (
    "Everything you have submitted goes into one file; drafts stay on this computer. You can continue "
    "working and send again as often as you like: only what is new is imported."
)


class SendPage(Page):
    """The pieces of work with their outcome, one button, and the receipt."""

    NAME = "Send"
    ICON = "export"

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
        """Show how things stand."""
        self._read()

    def focus_first(self) -> None:
        """Work begins in the table."""
        self.table.setFocus()

    def on_change(self, change: Change) -> None:
        """What was submitted meanwhile shows at once."""
        if change.kind in SHOWN_KINDS and self.isVisible():
            self._read()

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
        """Write the file, on another thread."""
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
