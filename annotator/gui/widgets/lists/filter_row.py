"""Filters side by side, one of them active, wrapped to the available width."""

from collections.abc import Mapping
from enum import Enum
from typing import Generic, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QToolButton, QWidget

GAP = 2
Filter = TypeVar("Filter", bound=Enum)


class FilterRow(QWidget, Generic[Filter]):
    """A button for each member of an enum, its value being its words."""

    chosen = Signal()
    """Another filter holds, or the same one was asked for again."""

    def __init__(self, filters: type[Filter], held: Filter) -> None:
        super().__init__()
        self.held = held
        self._buttons: dict[Filter, QToolButton] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        group = QButtonGroup(self)
        for one in filters:
            button = QToolButton(self)
            button.setText(one.value)
            button.setCheckable(True)
            button.setChecked(one is held)
            button.clicked.connect(lambda _=False, one=one: self.hold(one))
            group.addButton(button)
            self._buttons[one] = button
        self._lay()

    def hold(self, one: Filter) -> None:
        self.held = one
        self._buttons[one].setChecked(True)
        self.chosen.emit()

    def show_counts(self, counts: Mapping[Filter, int]) -> None:
        for one, count in counts.items():
            self._buttons[one].setText(f"{one.value} {count:,}" if count else one.value)
            self._buttons[one].setAccessibleName(f"{one.value}, {count}")
        self._lay()

    def show_tips(self, tips: Mapping[Filter, str]) -> None:
        for one, tip in tips.items():
            self._buttons[one].setToolTip(tip)
            self._buttons[one].setAccessibleName(f"{one.value}, {tip}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay()

    def _lay(self) -> None:
        """In one line, or in more where there is little room."""
        widths = [button.sizeHint().width() for button in self._buttons.values()]
        wide, widest = sum(widths) + GAP * len(widths), 2 * max(widths) + GAP
        columns = len(widths) if wide <= self.width() else 2 if widest <= self.width() else 1
        for place, button in enumerate(self._buttons.values()):
            self._grid.addWidget(button, place // columns, place % columns)
