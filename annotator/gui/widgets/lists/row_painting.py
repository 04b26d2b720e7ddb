"""Painting of list rows: background and progress bar."""

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from annotator.gui import theme

END = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
START = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


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
