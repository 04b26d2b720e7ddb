"""Choice of pilot items: a summary line, and a list to tick while it is open."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from annotator.actions.items import items
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.later import later
from annotator.gui.widgets.layouts import column_of, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel, tooltip

ID = Qt.ItemDataRole.UserRole
# More are found by searching.
LISTED = 200
SETTLE_MS = 120
HEIGHT = 170


class PilotChoice(QWidget):
    """Items picked one by one; picked ones stay at the top whatever is searched."""

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._picked: dict[str, str] = {}
        self.words = ElidedLabel("", "hint")
        self.open = QPushButton("Pick…")
        self.open.setProperty("role", "quiet")
        self.open.setCheckable(True)
        self.open.setAccessibleName("Pick pilot items")
        self.open.toggled.connect(self._unfold)
        self.search = LineField(placeholderText="Search items…", clearButtonEnabled=True)
        self.search.setAccessibleName("Search items for the pilot")
        self._later = later(self, self._list_items, SETTLE_MS)
        self.search.textChanged.connect(lambda _: self._later.start())
        self.list = QListWidget()
        self.list.setAccessibleName("Items for the pilot; Space ticks one")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFixedHeight(theme.current().px(HEIGHT))
        self.list.itemChanged.connect(self._tick)
        self.more = PlainLabel("", "hint")
        row = horizontal(PlainLabel("Pilot"), (self.words, 1), self.open)
        self._folded = column_of(self.search, self.list, self.more, spacing=4)
        self._folded.hide()
        vertical(row, self._folded, on=self, margins=0, spacing=4)
        self._say()

    def chosen(self) -> tuple[str, ...]:
        """The ids of the items everybody is to do."""
        return tuple(self._picked)

    def fill(self) -> None:
        """Forget picked items that are gone, and list what there is now."""
        there = {line.id: line.key for line in self._desk.ask(items.lines, list(self._picked)) or []}
        self._picked = {item_id: there[item_id] for item_id in self._picked if item_id in there}
        self._say()
        if self.open.isChecked():
            self._list_items()

    def _unfold(self, shown: bool) -> None:
        self._folded.setVisible(shown)
        if shown:
            self._list_items()
            self.search.setFocus()

    def _list_items(self) -> None:
        found = self._desk.ask(items.ids, items.Filter(words=self.search.text())) or []
        rest = [item_id for item_id in found if item_id not in self._picked]
        with QSignalBlocker(self.list):
            self.list.clear()
            for line in self._desk.ask(items.lines, [*self._picked, *rest[:LISTED]]) or []:
                entry = QListWidgetItem(f"{line.key}  {' '.join(line.question.split())[:200]}")
                entry.setData(ID, (line.id, line.key))
                entry.setToolTip(tooltip(line.question[:600]))
                on = line.id in self._picked
                entry.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
                self.list.addItem(entry)
        self.more.setText(
            f"The first {LISTED} of {len(rest):,}; search to see others." if len(rest) > LISTED else ""
        )
        self.more.setVisible(len(rest) > LISTED)

    def _tick(self, entry: QListWidgetItem) -> None:
        item_id, key = entry.data(ID)
        if entry.checkState() == Qt.CheckState.Checked:
            self._picked[item_id] = key
        else:
            self._picked.pop(item_id, None)
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        keys = ", ".join(self._picked.values())
        self.words.setText(
            f"{len(self._picked):,} assigned to everyone: {keys}" if keys else "no pilot items"
        )
