"""Layouts written as their content, in order."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QStackedWidget, QVBoxLayout, QWidget

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
