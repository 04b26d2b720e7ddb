"""List of the views, by part."""

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem

from annotator.actions.studies.result_views import ResultView
from annotator.gui import theme
from annotator.gui.widgets.plain import tooltip


class ViewList(QListWidget):
    """One line for each view; `chosen` names the one selected."""

    chosen = Signal(str)

    def __init__(self, views: Iterable[ResultView], words: str) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(words)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._heads: list[QListWidgetItem] = []
        part = ""
        for view in views:
            if view.part != part:
                part = view.part
                self._add_head(part)
            line = QListWidgetItem(view.title)
            line.setData(Qt.ItemDataRole.UserRole, view.name)
            line.setToolTip(tooltip(view.about))
            self.addItem(line)
        self._dress()
        theme.watch(self, self._dress)
        self.currentItemChanged.connect(self._changed)

    def _add_head(self, words: str) -> None:
        line = QListWidgetItem(words)
        line.setFlags(Qt.ItemFlag.NoItemFlags)
        self.addItem(line)
        self._heads.append(line)

    def _dress(self) -> None:
        for line in self._heads:
            line.setForeground(theme.token("text-muted"))
            font = line.font()
            font.setBold(True)
            font.setPointSizeF(theme.current().points * 0.88)
            line.setFont(font)
        px = theme.current().px
        self.setMinimumWidth(px(120))
        # Sixteen views are to be seen at once in a small window.
        self.setStyleSheet(
            "QListWidget { background: transparent; border: none; }"
            f"QListWidget::item {{ padding: {px(4)}px {px(8)}px; }}"
        )

    def _changed(self, line: QListWidgetItem | None) -> None:
        if line is not None and line.data(Qt.ItemDataRole.UserRole):
            self.chosen.emit(line.data(Qt.ItemDataRole.UserRole))

    def choose(self, name: str) -> None:
        """Go to a view by its name."""
        for place in range(self.count()):
            if self.item(place).data(Qt.ItemDataRole.UserRole) == name:
                self.setCurrentRow(place)

    def turn(self, by: int) -> None:
        """Go to the next view, or to the one before, round and round."""
        place = self.currentRow()
        while True:
            place = (place + by) % self.count()
            if self.item(place).data(Qt.ItemDataRole.UserRole):
                self.setCurrentRow(place)
                return
