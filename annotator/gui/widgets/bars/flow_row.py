"""Flow layout: widgets side by side, wrapped where it is narrow."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QSizePolicy, QWidget, QWidgetItem

ACROSS = Qt.Orientation.Horizontal


class FlowRow(QLayout):
    """Widgets in reading order; hidden ones take no room, fields what a line has left."""

    def __init__(self, parent: QWidget | None = None, gap: int = 6) -> None:
        super().__init__(parent)
        self._gap, self._high = gap, 0
        self._parts: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addWidget(self, widget: QWidget) -> None:
        """Take a widget on at the end.

        Items that Qt makes by itself can be taken for dead while they live, and a layout that then fails ends the
        program.
        """
        self.addChildWidget(widget)
        self.addItem(QWidgetItem(widget))

    def addItem(self, item: QLayoutItem) -> None:
        self._parts.append(item)

    def insert(self, place: int, widget: QWidget) -> None:
        self.addWidget(widget)
        self._parts.insert(place, self._parts.pop())

    def count(self) -> int:
        return len(self._parts)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """The widget at a place, or None."""
        return self._parts[index] if 0 <= index < len(self._parts) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._parts.pop(index) if 0 <= index < len(self._parts) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """Set the widgets out."""
        super().setGeometry(rect)
        high = self._arrange(rect, move=True)
        if high != self._high:
            self._high = high
            self.update()

    def sizeHint(self) -> QSize:
        sizes = [part.sizeHint() for part in self._shown()]
        wide = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(wide, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """As wide as the widest, and as high as the lines it has now."""
        sizes = [part.minimumSize() for part in self._shown()]
        widest = max((size.width() for size in sizes), default=0)
        around = self.parentWidget()
        # Out of view it may never have been given its width.
        high = self._high if around is not None and around.isVisible() else 0
        return QSize(widest, max(high, *(size.height() for size in sizes), 0))

    def _shown(self) -> list[QLayoutItem]:
        return [part for part in self._parts if not part.isEmpty()]

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        lines: list[list[QLayoutItem]] = [[]]
        left = 0
        for part in self._shown():
            wide = part.sizeHint().width()
            if lines[-1] and left + wide > rect.width():
                lines.append([])
                left = 0
            lines[-1].append(part)
            left += wide + self._gap
        top = rect.top()
        for line in lines:
            high = max((part.sizeHint().height() for part in line), default=0)
            if move:
                self._set_line(line, QPoint(rect.left(), top), high, rect.width())
            top += high + self._gap
        return max(0, top - self._gap - rect.top())

    def _set_line(self, line: list[QLayoutItem], place: QPoint, high: int, most: int) -> None:
        left, widths = place.x(), self._widths(line, most)
        for part, wide in zip(line, widths, strict=True):
            low = part.sizeHint().height()
            part.setGeometry(QRect(left, place.y() + (high - low) // 2, wide, low))
            left += wide + self._gap

    def _widths(self, line: list[QLayoutItem], most: int) -> list[int]:
        """How wide the parts of a line are: fields share the room that is left."""
        widths = [min(part.sizeHint().width(), most) for part in line]
        growing = [place for place, part in enumerate(line) if part.expandingDirections() & ACROSS]
        left = most - sum(widths) - self._gap * (len(line) - 1)
        for done, place in enumerate(growing):
            bound = line[place].maximumSize().width() - widths[place]
            more = max(0, min(left // (len(growing) - done), bound))
            widths[place] += more
            left -= more
        return widths


def wrapping(*parts: QWidget, gap: int = 8) -> FlowRow:
    """Parts of one line, which break into more lines where it is narrow."""
    row = FlowRow(gap=gap)
    for part in parts:
        row.addWidget(part)
    return row


def grow_by_width(widget: QWidget) -> None:
    """Let a widget be as high as its parts need at the width that it has."""
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    widget.setSizePolicy(policy)
