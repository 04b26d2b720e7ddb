"""Painting of list rows: background and progress bar."""

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from annotator.gui import theme

END = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
START = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
# So wide, at 100 %, an item's key may be where the list is narrow, and so far from it stand the words beside it.
_KEY, _GAP = 130, 7
# Of words that are longer than any line is wide, no more is looked at; fewer letters than so many say nothing.
_LONGEST, _LETTERS = 300, 3


def is_chosen(option: QStyleOptionViewItem) -> bool:
    """Whether the row is selected."""
    return bool(option.state & QStyle.StateFlag.State_Selected)


def paint_ground(painter: QPainter, option: QStyleOptionViewItem, area: QRect) -> None:
    """Paint what lies under a row that is selected, below the pointer or in focus."""
    if is_chosen(option) or option.state & QStyle.StateFlag.State_MouseOver:
        painter.setBrush(theme.token("selection" if is_chosen(option) else "hover"))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(QRectF(area), 5, 5)
    if option.state & QStyle.StateFlag.State_HasFocus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(theme.token("focus"))
        painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)


def paint_key(painter: QPainter, option: QStyleOptionViewItem, row: QRect, key: str, share: int = 2) -> QRect:
    """Paint an item's key in bold, and return the room beside it: all but a `share` of the row, less in a narrow list.

    A key that is cut keeps both ends, for keys are often alike in the first.
    """
    px, bold = theme.current().px, QFont(option.font)
    bold.setWeight(QFont.Weight.DemiBold)
    painter.setFont(bold)
    room = min(row.width(), max(row.width() // share, px(_KEY)))
    shown = painter.fontMetrics().elidedText(key, Qt.TextElideMode.ElideMiddle, room)
    painter.drawText(row, START, shown)
    used = painter.fontMetrics().horizontalAdvance(shown) + px(_GAP)
    painter.setFont(option.font)
    return row.adjusted(used, 0, 0, 0)


def elided(option: QStyleOptionViewItem, words: str, width: int) -> str:
    """Words in one line, cut to a width; empty where hardly a letter has room."""
    if width < _LETTERS * option.fontMetrics.averageCharWidth():
        return ""
    plain = " ".join(words[:_LONGEST].split())
    return option.fontMetrics.elidedText(plain, Qt.TextElideMode.ElideRight, width)


def paint_bar(painter: QPainter, bar: QRect, share: float | None, colour: QColor) -> None:
    """Paint a bar of which a share, 0 to 1, is filled; what is filled at all can be seen, and None fills nothing."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.token("border"))
    painter.drawRoundedRect(QRectF(bar), bar.height() / 2, bar.height() / 2)
    if share is not None:
        done = QRectF(bar)
        done.setWidth(max(bar.height(), bar.width() * share))
        painter.setBrush(colour)
        painter.drawRoundedRect(done, bar.height() / 2, bar.height() / 2)
