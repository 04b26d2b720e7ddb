"""Panel for bulk confirmation of unanimous items, and the spot check."""

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from annotator.actions.adjudication.unanimity import SHARE, BulkCloseReport, Unanimous
from annotator.gui import theme
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, vertical
from annotator.gui.widgets.fields.number_box import NumberBox

MOST_NAMED = 12


class UnanimousPanel(QFrame):
    """Shows what would be confirmed and drawn, with an adjustable share, and the result."""

    confirmed = Signal(float)
    """Confirm all but this share."""
    looked = Signal(object)
    """A drawn item is to be opened."""
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "message")
        self._count = 0
        self.said, self.explained = PlainLabel(role="strong", wrap=True), PlainLabel(wrap=True)
        self.share = NumberBox(suffix=" %", minimum=0, maximum=100, value=round(SHARE * 100))
        self.share.setAccessibleName("Share drawn for a spot check")
        self.share.valueChanged.connect(lambda _: self._explain())
        self.confirm, self.close_button = QPushButton(), QPushButton("Close (Esc)")
        self.confirm.setProperty("role", "primary")
        self.confirm.clicked.connect(lambda: self.confirmed.emit(self.share.value() / 100))
        self.close_button.setProperty("role", "quiet")
        self.close_button.clicked.connect(self.close_panel)
        self._asking = QWidget()
        caption = QLabel("Look at")
        caption.setBuddy(self.share)
        horizontal(caption, self.share, self.confirm, StretchSpace(1), on=self._asking, margins=0)
        self._drawn_row = QWidget()
        self._drawn = FlowRow(self._drawn_row)
        self.drawn: list[QPushButton] = []
        head = horizontal((self.said, 1), (self.close_button, 0, Qt.AlignmentFlag.AlignTop))
        vertical(head, self.explained, self._asking, self._drawn_row, on=self, margins=(10, 6, 10, 8))
        theme.set_role(self, level="info")
        self.hide()

    def ask(self, count: int) -> None:
        """Offer to confirm so many items."""
        self._count = count
        self._show_drawn(())
        one = "1 document that everybody wrote" if count == 1 else f"{count} documents that everybody wrote"
        self.said.setText(f"There {'is' if count == 1 else 'are'} {one} the same.")
        self._asking.show()
        self._asking.setEnabled(True)
        self._explain()
        self.show()
        self.confirm.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_progress(self, done: int, total: int) -> None:
        self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self._asking.setEnabled(False)
        self.explained.setText(f"Confirming: {done:,} of {total:,} …")

    def tell(self, report: BulkCloseReport) -> None:
        """Say what was confirmed and what was drawn."""
        closed, drawn = len(report.closed), len(report.spot_check)
        self.said.setText(f"{closed} confirmed and closed, {drawn} drawn for a spot check.")
        self.explained.setText("Check the drawn documents now or later; they are listed under “Unanimous”.")
        self._asking.hide()
        self._show_drawn(report.spot_check)
        (self.drawn or [self.close_button])[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def close_panel(self) -> None:
        self.hide()
        self.closed.emit()

    def _explain(self) -> None:
        drawn = min(self._count, max(1, ceil(self.share.value() / 100 * self._count)))
        rest = self._count - drawn
        looked = "1 is" if drawn == 1 else f"{drawn} are"
        self.explained.setText(
            f"{looked} drawn at random for a spot check; the other {rest} are closed immediately. "
            "A backup is made first."
        )
        self.confirm.setText(f"Confirm {rest}, check {drawn}")

    def _show_drawn(self, drawn: Sequence[Unanimous]) -> None:
        for button in self.drawn:
            self._drawn.removeWidget(button)
            button.deleteLater()
        self.drawn = []
        for each in drawn[:MOST_NAMED]:
            button = push_button(
                f"Item {each.item_key}, {each.stage.value}".replace("&", "&&"),
                lambda _=False, each=each: self.looked.emit(each),
            )
            self._drawn.addWidget(button)
            self.drawn.append(button)
        self._drawn_row.setVisible(bool(drawn))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_panel()
        else:
            super().keyPressEvent(event)
