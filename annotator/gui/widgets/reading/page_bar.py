"""Page bar of a text: the current page, and ways to the others."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from annotator.gui.widgets import icons
from annotator.gui.widgets.fields.number_box import NumberBox
from annotator.gui.widgets.layouts import StretchSpace, horizontal
from annotator.gui.widgets.plain import PlainLabel


class PageBar(QFrame):
    """Previous, an editable page number, the total, next."""

    chosen = Signal(int)
    """A page, counted from 0."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._back, self._on, self._number, self._of = QToolButton(), QToolButton(), NumberBox(), PlainLabel()
        self._number.setAccessibleName("Page")
        self._number.setKeyboardTracking(False)
        for button, name, picture, way in (
            (self._back, "Page before", "left", -1),
            (self._on, "Page after", "right", 1),
        ):
            icons.put(button, picture)
            button.setToolTip(name)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _=False, way=way: self._number.setValue(self._number.value() + way))
        row = horizontal(StretchSpace(1), on=self, margins=(8, 4, 8, 4))
        for widget in (self._back, PlainLabel("Page"), self._number, self._of, self._on):
            row.addWidget(widget)
        row.addStretch(1)
        self._number.valueChanged.connect(lambda number: self.chosen.emit(number - 1))

    def show_place(self, page: int, pages: int) -> None:
        """Show that this page, counted from 0, of so many is in view; tells nobody."""
        blocked = self._number.blockSignals(True)
        self._number.setRange(1, max(1, pages))
        self._number.setValue(page + 1)
        self._number.blockSignals(blocked)
        self._of.setText(f"of {pages}")
        self._back.setEnabled(page > 0)
        self._on.setEnabled(page < pages - 1)
