"""Closing panel: every row that still lacks something, linked to its place."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem

from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.actions.adjudication.closing import Lacking
from annotator.gui import keys, theme
from annotator.gui.review.ruling_words import about
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.push_button import push_button

ROWS_SHOWN, SHOWN_LETTERS = 5, 120


class ClosePanel(QFrame):
    """Hidden until closing is attempted; shrinks as rows are settled."""

    jumped = Signal(str, str)
    """The row of an entry that was chosen, and the field it lacks."""
    confirm_wanted = Signal()
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "message")
        self.title, self.entries = PlainLabel(role="strong", wrap=True), QListWidget()
        self.entries.setAccessibleName("What is missing")
        self.entries.itemActivated.connect(self._jump)
        self.entries.itemClicked.connect(self._jump)
        self.confirm = KeyButton("", keys.shown("confirm_unanimous"))
        self.confirm.clicked.connect(self.confirm_wanted)
        self.close_button = push_button("Hide (Esc)", self.close_panel, "quiet")
        vertical(
            horizontal((self.title, 1), self.confirm, self.close_button),
            self.entries,
            on=self,
            margins=(10, 6, 10, 8),
        )
        theme.set_role(self, level="warning")
        self.hide()

    def show_lacking(
        self, lacking: Sequence[Lacking], unconfirmed: Sequence[str], rows: Mapping[str, SheetRow]
    ) -> None:
        """List what is missing; rows on which everybody agrees are named together, with the key that confirms them."""
        listed = [each for each in lacking if each.ruling_id not in unconfirmed]
        chosen = self.entries.currentRow()
        self.entries.clear()
        for each in listed:
            words = " ".join(about(rows[each.ruling_id]).split())
            entry = QListWidgetItem(icons.icon("warning"), f"{each.words}  {words[:SHOWN_LETTERS]}")
            entry.setData(Qt.ItemDataRole.UserRole, (each.ruling_id, each.field))
            self.entries.addItem(entry)
        self.entries.setVisible(bool(listed))
        self.entries.setCurrentRow(max(0, min(chosen, len(listed) - 1)))
        row = max(self.entries.sizeHintForRow(0), self.fontMetrics().height() + theme.current().px(10))
        shown = min(ROWS_SHOWN, len(listed))
        self.entries.setFixedHeight(row * shown + 2 * self.entries.frameWidth() + 2)
        self.confirm.set_words(f"Confirm {len(unconfirmed):,} agreed row{'s' * (len(unconfirmed) != 1)}")
        self.confirm.setVisible(bool(unconfirmed))
        self.title.setText(_title(len(listed), len(unconfirmed)))
        if not listed and not unconfirmed:
            self.hide()

    def show_keys(self) -> None:
        """Print the keys as they now are."""
        self.confirm.set_key(keys.shown("confirm_unanimous"))

    def enter(self) -> None:
        """Take the focus: at the first entry, or at the button."""
        self.show()
        first = self.confirm if self.entries.isHidden() else self.entries
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_panel(self) -> None:
        """Go away, as the person wished."""
        self.hide()
        self.closed.emit()

    def _jump(self, entry: QListWidgetItem) -> None:
        self.jumped.emit(*entry.data(Qt.ItemDataRole.UserRole))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes the list; Enter on an entry goes to its row."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_panel()
        else:
            super().keyPressEvent(event)


def _title(listed: int, unconfirmed: int) -> str:
    if listed:
        return (
            f"It cannot be closed yet: {listed} thing{'s' * (listed != 1)} to do. Press Enter to go to the "
            "row."
        )
    rows = "1 row on which everybody agrees is" if unconfirmed == 1 else f"{unconfirmed} agreed rows are"
    return f"One thing left to do: {rows} not confirmed yet."
