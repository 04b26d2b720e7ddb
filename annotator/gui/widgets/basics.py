"""Labels of plain text, buttons and layouts: what every page is made of."""

from collections.abc import Callable
from html import escape

from PySide6.QtCore import QSize, Qt, SignalInstance
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QListWidget,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)


class PlainLabel(QLabel):
    """A label that shows plain text with all its lines; `role` is used by the style sheet."""

    def __init__(
        self, text: str = "", role: str = "", wrap: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._lines = 0
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def minimumSizeHint(self) -> QSize:
        """As high as its lines are at the width that it has."""
        hint = super().minimumSizeHint()
        # Out of view it may never have been given its width.
        if not self._lines or not self.isVisible():
            return hint
        return hint.expandedTo(QSize(0, self.heightForWidth(self.width())))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In another width it may need more lines, or fewer."""
        super().resizeEvent(event)
        high = self.heightForWidth(self.width()) if self.wordWrap() else 0
        if high != self._lines:
            self._lines = high
            self.updateGeometry()


def wrap_lines(entries: QListWidget) -> None:
    """Have the entries of a list break into lines and show all of them, whatever its width."""
    entries.setWordWrap(True)
    entries.setTextElideMode(Qt.TextElideMode.ElideNone)
    entries.setResizeMode(QListWidget.ResizeMode.Adjust)
    entries.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)


def tooltip(text: str) -> str:
    """A tooltip that shows the text as it is: Qt takes any tooltip that looks like markup for markup."""
    return f"<qt>{escape(text).replace(chr(10), '<br>')}</qt>" if text else ""


def push_button(words: str, press: Callable[..., object] | SignalInstance, role: str = "") -> QPushButton:
    """A button that does something when it is pressed; `role` is used by the style sheet."""
    made = QPushButton(words)
    if role:
        made.setProperty("role", role)
    made.clicked.connect(press)
    return made


Margins = int | tuple[int, int, int, int]


class StretchSpace(int):
    """Stretchable space, with its factor."""


# A widget or layout, also with its share of the room that is left and its alignment; fixed room in pixels; or room
# that grows.
Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]


def horizontal(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Parts side by side; `on` is the widget that they stand on."""
    layout = QHBoxLayout() if on is None else QHBoxLayout(on)
    _fill(layout, parts, margins, spacing)
    return layout


def vertical(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Parts below one another; `on` is the widget that they stand on."""
    layout = QVBoxLayout() if on is None else QVBoxLayout(on)
    _fill(layout, parts, margins, spacing)
    return layout


def column_of(*parts: Part, margins: Margins | None = 0, spacing: int | None = None) -> QWidget:
    """A widget of its own with parts below one another."""
    made = QWidget()
    vertical(*parts, on=made, margins=margins, spacing=spacing)
    return made


def stacked(*pages: QWidget) -> QStackedWidget:
    """Pages of which one is in view, the first at first."""
    made = QStackedWidget()
    for page in pages:
        made.addWidget(page)
    return made


def _fill(layout: QBoxLayout, parts: tuple[Part, ...], margins: Margins | None, spacing: int | None) -> None:
    if margins is not None:
        layout.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        if isinstance(part, StretchSpace):
            layout.addStretch(part)
        elif isinstance(part, int):
            layout.addSpacing(part)
        else:
            one, *how = part if isinstance(part, tuple) else (part,)
            add: Callable[..., None] = layout.addLayout if isinstance(one, QLayout) else layout.addWidget
            add(one, *how)
