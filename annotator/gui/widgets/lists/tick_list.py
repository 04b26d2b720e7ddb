"""List of names with check boxes."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from annotator.gui import theme
from annotator.gui.widgets.basics import tooltip

# The height of a line and of what stands around all of them, in pixels of the design.
LINE, AROUND = 30, 4


class TickList(QListWidget):
    """Between `least` and `most` lines high; `ticked_anew` announces every tick."""

    ticked_anew = Signal()

    def __init__(self, name: str, least: int, most: int) -> None:
        super().__init__()
        self._least, self._most = least, most
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemChanged.connect(lambda _: self.ticked_anew.emit())

    def offer(self, names: Sequence[str]) -> None:
        """Offer other names and tell nobody; what was ticked stays ticked."""
        if list(names) == [self.item(row).text() for row in range(self.count())]:
            return
        ticked = set(self.ticked())
        blocked = self.blockSignals(True)
        self.clear()
        for name in names:
            entry = QListWidgetItem(name)
            entry.setToolTip(tooltip(name))
            entry.setCheckState(Qt.CheckState.Checked if name in ticked else Qt.CheckState.Unchecked)
            self.addItem(entry)
        self.blockSignals(blocked)
        lines = max(self._least, min(self._most, len(names)))
        self.setFixedHeight(theme.current().px(LINE) * lines + AROUND)

    def ticked(self) -> tuple[str, ...]:
        entries = (self.item(row) for row in range(self.count()))
        return tuple(entry.text() for entry in entries if entry.checkState() == Qt.CheckState.Checked)
