"""Layout of a PDF's pages at a width and a zoom."""

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF

GAP = 10
_LEAST_WIDTH = 80


class UnreadablePdf(Exception):
    """A PDF that cannot be shown; the message says why."""


class PageLayout:
    """Pages in a column, the widest as wide as the view at 100 %; lengths in pixels, pages counted from 0."""

    def __init__(self, sizes: Sequence[tuple[float, float]], width: int, zoom: int) -> None:
        self._sizes, self._width = sizes, width
        widest = max((size[0] for size in sizes), default=1.0)
        self.scale = max(_LEAST_WIDTH, width - 2 * GAP) / max(1.0, widest) * zoom / 100
        self._tops: list[float] = []
        top = float(GAP)
        for _, height in sizes:
            self._tops.append(top)
            top += height * self.scale + GAP
        self.whole = QSizeF(widest * self.scale + 2 * GAP, top) if sizes else QSizeF(0, 0)

    def top(self, place: int) -> float:
        return self._tops[place]

    def page_at(self, height: float) -> int:
        return max(0, bisect_right(self._tops, height) - 1)

    def between(self, top: float, bottom: float) -> range:
        return range(self.page_at(top), bisect_right(self._tops, bottom)) if self._tops else range(0)

    def box(self, place: int, across: int, down: int) -> QRectF:
        """A page's rectangle in a view scrolled so far across and down."""
        width, height = (side * self.scale for side in self._sizes[place])
        left = max(float(GAP), (self._width - width) / 2)
        return QRectF(left - across, self._tops[place] - down, width, height)

    def scaled(self, box: QRectF, corner: QPointF) -> QRectF:
        """A rectangle in points of a page, in pixels of a view in which the page begins at that corner."""
        scale = self.scale
        sized = QRectF(box.left() * scale, box.top() * scale, box.width() * scale, box.height() * scale)
        return sized.translated(corner)
