"""Scroll area without decoration."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

# Qt looks again whether a scroll bar is needed at every size that the look itself leads to, some seven deep where rows
# break into lines. Such rows may be higher in a wider room, and it would go on permanently: deeper than this the bar is
# kept, and deeper than twice this nothing is tried until what stands inside was laid out.
LOOKS = 12


class PlainArea(QScrollArea):
    """As wide as its room, scrolled vertically; Tab skips the area itself."""

    def __init__(self, name: str, inside: QWidget | None = None) -> None:
        super().__init__()
        self._looks = 0
        self._kept_at: QSize | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)
        if inside is not None:
            self.setWidget(inside)

    def minimumSizeHint(self) -> QSize:
        """As wide as what stands in it needs, since across it does not scroll."""
        hint, inside = super().minimumSizeHint(), self.widget()
        if inside is None or self.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff:
            return hint
        wide = inside.minimumSizeHint().expandedTo(inside.minimumSize()).width()
        return hint.expandedTo(QSize(wide + self.verticalScrollBar().sizeHint().width(), 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another size of the room may call for scroll bars, or do without the one that was kept."""
        if not self._looks and self._kept_at not in (None, self.size()):
            self._kept_at = None
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        with self._look() as may:
            if may:
                super().resizeEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What stands in it may need more or less room now."""
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        if event.type() != QEvent.Type.Resize:
            return super().eventFilter(watched, event)
        with self._look() as may:
            return super().eventFilter(watched, event) if may else False

    @contextmanager
    def _look(self) -> Iterator[bool]:
        """One look among those that led to it, and whether it may be had."""
        self._looks += 1
        try:
            if self._looks > LOOKS and self._kept_at is None:
                self._kept_at = self.size()
                self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
            yield self._looks <= 2 * LOOKS
        finally:
            self._looks -= 1
