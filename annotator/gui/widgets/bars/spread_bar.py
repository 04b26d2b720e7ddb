"""Stacked bar of shares, over a thin one that shows those of others."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from annotator.gui import theme

_BAR, _NORM, _GAP = 14, 5, 3


@dataclass(frozen=True, slots=True)
class SpreadPart:
    """One part of the whole: label, count, and its share elsewhere (None: not shown)."""

    label: str
    count: int
    norm: float | None = None


class SpreadBar(QWidget):
    """Shares as lengths, with words: “weight 3 · 2 (20 %, elsewhere 14 %)”."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[SpreadPart, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_parts(self, parts: Sequence[SpreadPart]) -> None:
        """Show these parts, the first at the left."""
        self._parts = tuple(parts)
        self.setAccessibleName("; ".join(self.words(part) for part in self._parts))
        self.setToolTip("\n".join(self.words(part) for part in self._parts))
        self.update()

    def words(self, part: SpreadPart) -> str:
        whole = sum(each.count for each in self._parts)
        share = f"{part.count / whole:.0%}" if whole else "none yet"
        norm = f", elsewhere {part.norm:.0%}" if part.norm is not None else ""
        return f"{part.label}: {part.count} ({share}{norm})"

    def sizeHint(self) -> QSize:
        dress = theme.current()
        return QSize(dress.px(240), dress.px(_BAR + _NORM + 2 * _GAP) + self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width() // 2, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the shares, those of others below them, and the labels below both."""
        px = theme.current().px
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = sum(part.count for part in self._parts)
        shares = [part.count / whole if whole else 0.0 for part in self._parts]
        self._draw_bar(painter, shares, 0, px(_BAR))
        if any(part.norm for part in self._parts):
            self._draw_bar(painter, [part.norm or 0.0 for part in self._parts], px(_BAR + _GAP), px(_NORM))
        self._draw_labels(painter, shares, px(_BAR + _NORM + 2 * _GAP))

    def _draw_bar(self, painter: QPainter, shares: Sequence[float], top: int, height: int) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.token("sunken"))
        painter.drawRect(QRectF(0, top, self.width(), height))
        left = 0.0
        for place, share in enumerate(shares):
            width = share * self.width()
            painter.setBrush(self._colour(place))
            painter.drawRect(QRectF(left, top, max(0.0, width - 1), height))
            left += width

    def _draw_labels(self, painter: QPainter, shares: Sequence[float], top: int) -> None:
        painter.setPen(theme.token("text-muted"))
        metrics, base, step = (
            self.fontMetrics(),
            top + self.fontMetrics().ascent(),
            self.width() / max(1, len(shares)),
        )
        for place, (part, share) in enumerate(zip(self._parts, shares, strict=True)):
            dot = metrics.height() / 2
            painter.save()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._colour(place))
            painter.drawRect(QRectF(place * step, top + dot / 2, dot, dot))
            painter.restore()
            shown = self.label(part, share, int(step - dot * 2))
            painter.drawText(QPointF(place * step + dot * 1.5, base), shown)

    def label(self, part: SpreadPart, share: float, room: int) -> str:
        """A part in so many pixels: with its share elsewhere, or else without."""
        words, metrics = f"{part.label} · {share:.0%}", self.fontMetrics()
        whole = words if part.norm is None else f"{words} / {part.norm:.0%}"
        fits = metrics.horizontalAdvance(whole) <= room
        return whole if fits else metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)

    def _colour(self, place: int) -> QColor:
        return theme.token(f"bar-{place % 4 + 1}")
