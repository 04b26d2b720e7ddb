"""Splitter that remembers its position, moves by keyboard, and stacks its parts if space is short."""

from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QEvent, QPointF, QRectF, QSettings, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QSplitter, QSplitterHandle, QWidget

from annotator.gui import theme
from annotator.gui.widgets.basics import with_properties

_STEP = 24
# The minimum height of a part above another, at 100 %.
_LOWEST = 160
# The maximum share of the window for a list that grows with the zoom: beside two more parts, or beside one.
_SHARE, BESIDE_ONE = 0.22, 0.3


class Splitter(QSplitter):
    """A splitter that restores its sizes at the next start; no part collapses by accident.

    Parts side by side that need more width than there is are stacked until there is space again.
    """

    def __init__(
        self,
        name: str,
        orientation: Qt.Orientation = Qt.Orientation.Horizontal,
        parts: Sequence[QWidget] = (),
        sizes: Sequence[int] = (),
        stretch: Sequence[int] = (),
        least: Sequence[int] = (),
    ) -> None:
        """`sizes` are the initial sizes by part, `stretch` the factors by which the parts share the remaining space.

        `least` is the minimum width by part, at 100 %; 0 leaves it to the part.
        """
        super().__init__(orientation)
        self._key = f"splitter/{name}"
        self._restored = False
        self._across = orientation == Qt.Orientation.Horizontal
        self._yielding: tuple[QWidget, QWidget] | None = None
        self._list: QWidget | None = None
        self._list_width, self._zoom, self._share = 0.0, 100, _SHARE
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(lambda *_: self._moved())
        self.hold(parts, sizes, stretch, least)

    def hold(
        self,
        parts: Sequence[QWidget],
        sizes: Sequence[int] = (),
        stretch: Sequence[int] = (),
        least: Sequence[int] = (),
    ) -> None:
        """Add parts; for subclasses that build them themselves."""
        for part, width in zip(parts, least, strict=False):
            if width:
                theme.scale(part.setMinimumWidth, width)
        for part in parts:
            self.addWidget(part)
        for place, share in enumerate(stretch):
            self.setStretchFactor(place, share)
        if sizes:
            self.setSizes(sizes)

    def remember(self) -> None:
        """Store the current sizes for the next start, unless the parts are stacked because space is short."""
        if not self._stacked:
            QSettings().setValue(self._key, self.saveState())
            QSettings().setValue(f"{self._key} zoom", theme.current().zoom)

    def _moved(self) -> None:
        self._measure(theme.current().zoom)
        self.remember()

    def rename(self, name: str) -> None:
        self._key = f"splitter/{name}"

    def setOrientation(self, orientation: Qt.Orientation) -> None:
        """Set the orientation of the parts; they stay stacked if space is short."""
        self._across = orientation == Qt.Orientation.Horizontal
        super().setOrientation(orientation)
        self._turn()

    def give_way(self, part: QWidget, to: QWidget) -> None:
        """Hide `part` while `to` is shown, whenever there is no space for all parts side by side."""
        self._yielding = part, to

    def grow(self, part: QWidget, width: int, share: float = _SHARE) -> None:
        """Scale a list's width with the zoom, from `width` at 100 % up to a share of the window."""
        self._list, self._list_width, self._share = part, width, share
        theme.watch(self, self._follow)

    @property
    def is_fresh(self) -> bool:
        """Whether nobody has moved a handle yet, now or at an earlier start."""
        return not isinstance(QSettings().value(self._key), QByteArray)

    def createHandle(self) -> QSplitterHandle:
        return _Handle(self.orientation(), self)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._restored:
            self._restored = True
            stored = QSettings().value(self._key)
            if isinstance(stored, QByteArray):
                self.restoreState(stored)
                zoom = str(QSettings().value(f"{self._key} zoom", 100))
                self._measure(int(zoom) if zoom.isdigit() else 100)
            self._follow()
        self._turn()

    def _measure(self, zoom: int) -> None:
        """Take the list's current width, at a given zoom, as the wanted one."""
        if self._list is not None and self._list.isVisible() and not self._stacked:
            self._list_width, self._zoom = self._list.width() * 100 / zoom, zoom

    def _follow(self) -> None:
        """Set the list's width for the current zoom, at the expense of the widest part."""
        zoom = theme.current().zoom
        if self._list is None or self._stacked or zoom == self._zoom:
            return
        self._zoom, place, sizes = zoom, self.indexOf(self._list), self.sizes()
        most = max(self._list_width, self._share * self.window().width())
        width = round(min(self._list_width * zoom / 100, most))
        widest = max((other for other in range(len(sizes)) if other != place), key=sizes.__getitem__)
        sizes[widest] = max(1, sizes[widest] + sizes[place] - width)
        sizes[place] = width
        self.setSizes(sizes)

    @property
    def _stacked(self) -> bool:
        return self._across and self.orientation() == Qt.Orientation.Vertical

    def _least(self, *others: QWidget) -> list[QSize]:
        parts = (self.widget(place) for place in range(self.count()))
        return [_needed(part) for part in parts if part and (part in others or not part.isHidden())]

    def lacks_room(self, *others: QWidget) -> bool:
        """Whether the visible parts, and these others, need more width than there is."""
        least = self._least(*others)
        return sum(size.width() for size in least) + self._gaps(len(least)) > self.width()

    def _gaps(self, parts: int) -> int:
        """The width of the handles between `parts` parts, with their margins, which `handleWidth` leaves out."""
        handle = self.handle(1).sizeHint() if parts > 1 else QSize(0, 0)
        return max(handle.width(), handle.height()) * max(0, parts - 1)

    def minimumSizeHint(self) -> QSize:
        """The minimum width of stacked parts is that of the widest."""
        hint = super().minimumSizeHint()
        if not self._across:
            return hint
        least = self._least()
        wide = max((size.width() for size in least), default=0)
        high = sum(max(size.height(), theme.current().px(_LOWEST)) for size in least) + self._gaps(len(least))
        return QSize(wide, high if self._stacked else hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._turn()
        return done

    def _turn(self) -> None:
        if not self.isVisible():
            return
        if self._yielding is not None:
            part, to = self._yielding
            part.setHidden(not to.isHidden() and self.lacks_room(part))
        if not self._across or self._stacked is self.lacks_room():
            return
        super().setOrientation(Qt.Orientation.Horizontal if self._stacked else Qt.Orientation.Vertical)


def _needed(part: QWidget) -> QSize:
    """A part's minimum size as set explicitly, otherwise the one it asks for."""
    size, hint = part.minimumSize(), part.minimumSizeHint()
    return QSize(size.width() or hint.width(), size.height() or hint.height())


class _Handle(QSplitterHandle):
    def __init__(self, orientation: Qt.Orientation, parent: QSplitter) -> None:
        super().__init__(orientation, parent)
        with_properties(
            self,
            focusPolicy=Qt.FocusPolicy.TabFocus,
            accessibleName="Divider; arrow keys move it",
            toolTip="Drag, or move with the arrow keys",
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        across = self.orientation() == Qt.Orientation.Horizontal
        less, more = (Qt.Key.Key_Left, Qt.Key.Key_Right) if across else (Qt.Key.Key_Up, Qt.Key.Key_Down)
        if event.key() not in (less, more):
            super().keyPressEvent(event)
            return
        place = self.x() if across else self.y()
        self.moveSplitter(place + (_STEP if event.key() == more else -_STEP))


_BAR, _GAP = 14, 3


class SpreadBar(QWidget):
    """Shares as lengths, with text: “3: 2 (20 %)”; each part is a label and a count."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[tuple[str, int], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_parts(self, parts: Sequence[tuple[str, int]]) -> None:
        self._parts = tuple(parts)
        whole = sum(count for _, count in parts)
        words = [f"{label}: {count} ({count / whole if whole else 0:.0%})" for label, count in parts]
        with_properties(self, accessibleName="; ".join(words), toolTip="\n".join(words))
        self.update()

    def sizeHint(self) -> QSize:
        dress = theme.current()
        return QSize(dress.px(240), dress.px(_BAR + 2 * _GAP) + self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width() // 2, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        px = theme.current().px
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = sum(count for _, count in self._parts)
        shares = [count / whole if whole else 0.0 for _, count in self._parts]
        self._draw_bar(painter, shares, px(_BAR))
        self._draw_labels(painter, shares, px(_BAR + 2 * _GAP))

    def _draw_bar(self, painter: QPainter, shares: Sequence[float], height: int) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.token("sunken"))
        painter.drawRect(QRectF(0, 0, self.width(), height))
        left = 0.0
        for place, share in enumerate(shares):
            width = share * self.width()
            painter.setBrush(self._colour(place))
            painter.drawRect(QRectF(left, 0, max(0.0, width - 1), height))
            left += width

    def _draw_labels(self, painter: QPainter, shares: Sequence[float], top: int) -> None:
        painter.setPen(theme.token("text-muted"))
        metrics, base, step = (
            self.fontMetrics(),
            top + self.fontMetrics().ascent(),
            self.width() / max(1, len(shares)),
        )
        for place, ((label, _), share) in enumerate(zip(self._parts, shares, strict=True)):
            dot = metrics.height() / 2
            painter.save()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._colour(place))
            painter.drawRect(QRectF(place * step, top + dot / 2, dot, dot))
            painter.restore()
            shown = metrics.elidedText(
                f"{label} · {share:.0%}", Qt.TextElideMode.ElideRight, int(step - dot * 2)
            )
            painter.drawText(QPointF(place * step + dot * 1.5, base), shown)

    def _colour(self, place: int) -> QColor:
        return theme.token(f"bar-{place % 4 + 1}")
