"""Open units of a report, each linked to its place."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QToolButton

from annotator.domain.judges.presentation import Presentation
from annotator.domain.kinds.artifact import Unit
from annotator.gui import theme
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import PlainLabel, horizontal, tooltip, vertical

IN_A_ROW = 8
# More are not listed one by one.
MOST = 24


class OpenList(QFrame):
    """Hidden until needed; shrinks as units are labelled."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "message")
        self._said = PlainLabel(role="strong", wrap=True)
        self.buttons: dict[str, QToolButton] = {}
        close = QToolButton()
        icons.put(close, "close", 14)
        close.setToolTip("Dismiss")
        close.setAccessibleName("Dismiss the list")
        close.clicked.connect(self.hide)
        head = horizontal((self._said, 1), (close, 0, Qt.AlignmentFlag.AlignTop))
        self._grid = QGridLayout()
        self._grid.setSpacing(2)
        vertical(head, self._grid, on=self, margins=(10, 6, 6, 6), spacing=2)
        theme.set_role(self, level="warning")
        self.hide()

    def show_open(self, units: Sequence[Unit], waiting: Sequence[str], called: Presentation) -> None:
        """List the units that wait, by their numbers; nothing waiting hides the list."""
        for button in self.buttons.values():
            self._grid.removeWidget(button)
            button.deleteLater()
        self.buttons.clear()
        for number, unit in enumerate(units, start=1):
            if unit.id in waiting and len(self.buttons) < MOST:
                self._add(number, unit, called)
        count = len(waiting)
        rest = f" (the first {MOST})" if count > MOST else ""
        many = f"{count} {called.many} are" if count > 1 else f"One {called.one} is"
        self._said.setText(f"{many} still open{rest}:")
        self.setVisible(count > 0)

    def said(self) -> str:
        return self._said.text()

    def _add(self, number: int, unit: Unit, called: Presentation) -> None:
        button = QToolButton()
        button.setText(str(number))
        button.setToolTip(tooltip(unit.text or called.ask))
        button.setAccessibleName(f"Go to {called.one} {number}")
        button.clicked.connect(lambda _=False: self.chosen.emit(unit.id))
        place = len(self.buttons)
        self._grid.addWidget(button, place // IN_A_ROW, place % IN_A_ROW, Qt.AlignmentFlag.AlignLeft)
        self.buttons[unit.id] = button
