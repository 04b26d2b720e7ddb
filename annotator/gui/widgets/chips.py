"""Chips: states and values as pills with icon, words and colour."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from annotator.gui import theme
from annotator.gui.widgets.icons import pixmap

_ICON, _PAD, _GAP, _BETWEEN, _SMALL = 13, 8, 5, 5, 0.9


@dataclass(frozen=True, slots=True)
class Chip:
    """One pill; `icon` may be empty, `state` is the end of a colour's name in the theme (agreed, missing …)."""

    words: str
    icon: str = ""
    state: str = "missing"


def small(font: QFont) -> QFont:
    made = QFont(font)
    made.setPointSizeF(max(1.0, font.pointSizeF() * _SMALL))
    made.setWeight(QFont.Weight.DemiBold)
    return made


def size_of(chip: Chip, font: QFont) -> QSize:
    px, metrics = theme.current().px, QFontMetrics(small(font))
    picture = px(_ICON) + px(_GAP) if chip.icon else 0
    return QSize(2 * px(_PAD) + picture + metrics.horizontalAdvance(chip.words), metrics.height() + px(4))


def paint(painter: QPainter, place: QPoint, chip: Chip, font: QFont, most: int = 0) -> QRect:
    """Draw one pill at a place, no wider than `most`; where it stands."""
    px, size = theme.current().px, size_of(chip, font)
    area = QRect(place, QSize(min(size.width(), most) if most else size.width(), size.height()))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.token(f"state-{chip.state}-soft"))
    painter.drawRoundedRect(QRectF(area), area.height() / 2, area.height() / 2)
    left = px(_PAD)
    if chip.icon:
        picture = pixmap(chip.icon, px(_ICON), f"state-{chip.state}", painter.device().devicePixelRatioF())
        painter.drawPixmap(area.left() + left, area.top() + (area.height() - px(_ICON)) // 2, picture)
        left += px(_ICON) + px(_GAP)
    painter.setPen(theme.token(f"state-{chip.state}"))
    painter.setFont(small(font))
    inside = area.adjusted(left, 0, -px(_PAD), 0)
    words = chip.words
    if area.width() < size.width():
        words = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, inside.width())
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextDontClip
    painter.drawText(inside, flags, words)
    painter.restore()
    return area


class Chips(QWidget):
    """Pills side by side, wrapped where it is narrow."""

    def __init__(self, *, wrap: bool = True) -> None:
        super().__init__()
        self._chips: tuple[Chip, ...] = ()
        self._wrap, self._hidden = wrap, False
        wanted = QSizePolicy.Policy.Preferred if wrap else QSizePolicy.Policy.Fixed
        policy = QSizePolicy(wanted, wanted)
        policy.setHeightForWidth(wrap)
        self.setSizePolicy(policy)
        theme.watch(self, self.updateGeometry)

    def show_chips(self, chips: Sequence[Chip]) -> None:
        """Show other pills; none hides the row."""
        if tuple(chips) != self._chips:
            self._chips = tuple(chips)
            self.setAccessibleName(", ".join(chip.words for chip in chips))
            self.updateGeometry()
            self.update()
        # Shown only after it was hidden: before it has a place it would be a window of its own.
        if self._hidden is bool(chips):
            self._hidden = not chips
            self.setVisible(bool(chips))

    def words(self) -> list[str]:
        return [chip.words for chip in self._chips]

    def chips(self) -> tuple[Chip, ...]:
        return self._chips

    def hasHeightForWidth(self) -> bool:
        return self._wrap

    def heightForWidth(self, width: int) -> int:
        return self._places(width)[1]

    def sizeHint(self) -> QSize:
        sizes = [size_of(chip, self.font()) for chip in self._chips]
        gaps = theme.current().px(_BETWEEN) * max(0, len(sizes) - 1)
        return QSize(sum(size.width() for size in sizes) + gaps, max((s.height() for s in sizes), default=0))

    def minimumSizeHint(self) -> QSize:
        """The widest pill, where they may stand in several lines."""
        hint = self.sizeHint()
        return QSize(min(hint.width(), theme.current().px(60)), hint.height()) if self._wrap else hint

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        for place, chip in zip(self._places(self.width())[0], self._chips, strict=True):
            room = self.width() - place.x()
            if room > 0:
                paint(painter, place, chip, self.font(), room)

    def _places(self, width: int) -> tuple[list[QPoint], int]:
        gap, left, top, high = theme.current().px(_BETWEEN), 0, 0, 0
        places = []
        for chip in self._chips:
            size = size_of(chip, self.font())
            if self._wrap and left and left + size.width() > width:
                left, top = 0, top + high + gap
            places.append(QPoint(left, top))
            left, high = left + size.width() + gap, size.height()
        return places, top + high
