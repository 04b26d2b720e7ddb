"""A queue of work: the model of lines that match filter and search, its delegate, and the pane that shows it."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QRect,
    QSettings,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from annotator.gui import theme
from annotator.gui.review.sheets import Index, resetting
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import PlainLabel, RoleFrame, vertical, with_properties
from annotator.gui.widgets.chips import pixmap
from annotator.gui.widgets.columns import FilterRow, is_chosen, paint_ground
from annotator.gui.widgets.fields import search_field

LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1


class QueueFilter(Enum):
    def admits(self, line: Any) -> bool:
        raise NotImplementedError


Key = TypeVar("Key")
Line = TypeVar("Line")
Filter = TypeVar("Filter", bound=QueueFilter)


class LinesModel(QAbstractListModel):
    """Base model of a list of lines; subclasses provide the texts."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[Any] = ()

    def words(self, line: Any) -> str:
        raise NotImplementedError

    def spoken(self, line: Any) -> str:
        raise NotImplementedError

    def tip(self, line: Any) -> str | None:
        return None

    def line_at(self, row: int) -> Any:
        return self._rows[row]

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The data of a line; the delegate takes the line itself (LINE_ROLE)."""
        if not index.isValid():
            return None
        line = self.line_at(index.row())
        if role == LINE_ROLE:
            return line
        shown = {
            Qt.ItemDataRole.DisplayRole: self.words,
            Qt.ItemDataRole.AccessibleTextRole: self.spoken,
            Qt.ItemDataRole.ToolTipRole: self.tip,
        }
        return shown[Qt.ItemDataRole(role)](line) if role in shown else None


class QueueModel(LinesModel):
    """Lines narrowed by filter and search; subclasses store them."""

    def counted(self, show: Any) -> int:
        raise NotImplementedError

    def narrow(self, show: Any, words: str, keep: Any) -> None:
        """Show only the matching lines, and the line in `keep` whatever the filter, so that people keep their place."""
        raise NotImplementedError

    def row_of(self, key: Any) -> int:
        """The row of a line, -1 if it is not shown."""
        raise NotImplementedError

    def place(self, key: Any) -> QModelIndex:
        return self.index(self.row_of(key))


class Queue(QueueModel, Generic[Key, Line]):
    """All lines in order, by key."""

    def __init__(self, show: QueueFilter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: dict[Key, Line] = {}
        self._rows: list[Any] = []
        self._places: dict[Key, int] = {}
        self._narrowed: tuple[QueueFilter, str, Any] = show, "", ()

    def key_of(self, line: Any) -> Key | None:
        """The key of a line; None for a headline."""
        raise NotImplementedError

    def is_open(self, line: Line) -> bool:
        raise NotImplementedError

    def sought_in(self, line: Line) -> str:
        """The searchable text of a line."""
        raise NotImplementedError

    def laid_out(self, lines: list[Line]) -> list[Any]:
        """The rows for these lines; subclasses may insert headlines."""
        return lines

    @property
    def lines(self) -> Sequence[Line]:
        return list(self._lines.values())

    def line(self, key: Key) -> Line | None:
        return self._lines.get(key)

    def counted(self, show: QueueFilter) -> int:
        return sum(show.admits(line) for line in self._lines.values())

    def fill(self, lines: Iterable[Line]) -> None:
        self._lines = {key: line for line in lines if (key := self.key_of(line)) is not None}
        self.narrow(*self._narrowed)

    def narrow(self, show: QueueFilter, words: str, keep: Any) -> None:
        self._narrowed = show, words, keep
        sought = words.casefold().split()
        with resetting(self):
            self._rows = self.laid_out(
                [
                    line
                    for key, line in self._lines.items()
                    if key == keep
                    or (show.admits(line) and all(word in self.sought_in(line).casefold() for word in sought))
                ]
            )
            keys = map(self.key_of, self._rows)
            self._places = {key: row for row, key in enumerate(keys) if key is not None}

    def put(self, key: Key, line: Line) -> None:
        """Replace a changed line; it keeps its place until the list is narrowed again."""
        self._lines[key] = line
        row = self.row_of(key)
        if row >= 0:
            self._rows[row] = line
            self.dataChanged.emit(self.index(row), self.index(row))

    def row_of(self, key: Key) -> int:
        return self._places.get(key, -1)

    def neighbour(self, key: Key, step: int) -> Line | None:
        """The line shown below (1) or above (-1) a line; None at the ends."""
        keys = list(self._places)
        at = keys.index(key) + step if key in self._places else 0
        return self._lines[keys[at]] if 0 <= at < len(keys) else None

    def next_open(self, key: Key, among: Sequence[Line] | None = None) -> Line | None:
        """The first open line after `key`, shown or not, wrapping around at the end; None if none is open."""
        lines = self.lines if among is None else among
        at = next((n for n, line in enumerate(lines) if self.key_of(line) == key), -1)
        return next((line for line in (*lines[at + 1 :], *lines[: at + 1]) if self.is_open(line)), None)


class WorkModel(QObject):
    """The open work of a page, and the part of it that is at hand: a unit, a row."""

    leaving = Signal()
    """The open work is about to be left: store what is being typed."""
    opened = Signal()
    """Other work was opened, or none."""
    moved = Signal(str)
    """The id of the part that became the current one."""

    def __init__(self, session: ProjectSession, page: QObject) -> None:
        super().__init__(page)
        self._session = session
        self.current_id = ""

    @property
    def ids(self) -> list[str]:
        """The ids of all parts in order."""
        raise NotImplementedError

    def move_to(self, part_id: str) -> None:
        if part_id != self.current_id and part_id in self.ids:
            self.current_id = part_id
            self.moved.emit(part_id)

    def step(self, by: int) -> None:
        """Go to the part below (1) or above (-1), within the list."""
        ids = self.ids
        if self.current_id in ids:
            self.move_to(ids[max(0, min(len(ids) - 1, ids.index(self.current_id) + by))])

    def following(self, part_ids: Iterable[str]) -> str:
        """The first of these parts after the current one, wrapping around; empty if there is none."""
        ids, waiting = self.ids, set(part_ids)
        at = ids.index(self.current_id) + 1 if self.current_id in ids else 0
        return next((part_id for part_id in (*ids[at:], *ids[:at]) if part_id in waiting), "")


Model = TypeVar("Model", bound=QueueModel)


class PaintingDelegate(QStyledItemDelegate):
    """Paints cells by itself, with smooth edges."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint_line(painter, option, index)
        painter.restore()

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        raise NotImplementedError


class QueueDelegate(PaintingDelegate):
    """Paints lines of equal height, so that a list of thousands is laid out at once."""

    LINES, AROUND, EDGE, GAP = 1, 12, 4, 1
    """The number of text lines, and in design pixels the space around, above and between them."""

    def height(self, metrics: QFontMetrics) -> int:
        return self.LINES * metrics.height() + theme.current().px(self.AROUND)

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(theme.current().px(120), self.height(option.fontMetrics))

    def rows(self, painter: QPainter, option: QStyleOptionViewItem) -> list[QRect]:
        """Paint the background of a line, and return the rectangles of its text lines."""
        px, high = theme.current().px, option.fontMetrics.height()
        area = option.rect.adjusted(px(3), 1, -px(3), -1)
        paint_ground(painter, option, area)
        first = area.adjusted(px(8), px(self.EDGE), -px(8), 0)
        first.setHeight(high)
        return [first.translated(0, number * (high + px(self.GAP))) for number in range(self.LINES)]

    def inks(self, option: QStyleOptionViewItem) -> tuple[str, str]:
        """The colours of the first text line and of the others."""
        return ("on-selection", "on-selection") if is_chosen(option) else ("text", "text-muted")

    def paint_state(self, painter: QPainter, row: QRect, picture: str, state: str) -> QRect:
        """Paint the icon of a state, and return the remaining rectangle beside it."""
        size = theme.current().px(15)
        shown = pixmap(picture, size, f"state-{state}", painter.device().devicePixelRatioF())
        painter.drawPixmap(row.left(), row.center().y() - size // 2, shown)
        return row.adjusted(size + theme.current().px(6), 0, 0, 0)


class QueuePane(RoleFrame, Generic[Filter, Model]):
    """The lines of a queue, with a search field and filters."""

    chosen = Signal(object)
    """The line a person selected."""

    def __init__(
        self,
        queue: Model,
        held: Filter,
        delegate: type[QueueDelegate],
        *,
        finds: str,
        lists: str,
        view: QAbstractItemView | None = None,
    ) -> None:
        """`finds` and `lists` are the accessible names of the search field and the list.

        A QListView lays out all lines at once: for very many lines pass another `view`.
        """
        super().__init__("side")
        self.queue = queue
        self._open: Any = ()
        self.list = view if view is not None else QListView(uniformItemSizes=True)
        self.search = search_field("Find an item…", finds, self._narrow)
        self.search.returnPressed.connect(lambda: self.list.setFocus(Qt.FocusReason.TabFocusReason))
        self.filters = FilterRow(type(held), held)
        self.filters.chosen.connect(self._narrow)
        with_properties(
            self.list, horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff, accessibleName=lists
        )
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        self.left = PlainLabel("", "hint", wrap=True)
        self.column = vertical(
            self.search, self.filters, (self.list, 1), self.left, on=self, margins=(6, 10, 6, 8), spacing=6
        )
        self.list.setModel(queue)
        self.list.setItemDelegate(delegate(self.list))

    def show_only(self, one: Filter) -> None:
        self.filters.hold(one)

    def mark(self, index: QModelIndex) -> None:
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)

    def seek(self) -> None:
        self.search.seek()

    def progress(self) -> str:
        raise NotImplementedError

    def recount(self) -> None:
        self.filters.show_counts({show: self.queue.counted(show) for show in type(self.filters.held)})
        self.left.setText(self.progress())

    def refill(self) -> None:
        self._narrow()
        self.recount()

    def show_open(self, key: object) -> None:
        self._open = key
        if self.queue.row_of(key) < 0:
            self._narrow()
        self.mark(self.queue.place(key))

    def _narrow(self) -> None:
        self.queue.narrow(self.filters.held, self.search.text(), self._open)
        self.mark(self.queue.place(self._open))

    def _choose(self, index: QModelIndex) -> None:
        if index.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.chosen.emit(index.data(LINE_ROLE))


class Folding(QObject):
    """Shows the queue beside the work if there is room for both, unless the person decides otherwise."""

    def __init__(
        self, page: QWidget, queue: QWidget, button: QAbstractButton, setting: str, roomy: int = 0
    ) -> None:
        """There is room from the width `roomy` on, at 100 %; `setting` is the key of the person's decision."""
        super().__init__(page)
        self._page, self._queue, self._button = page, queue, button
        self._setting, self._roomy = setting, roomy
        page.installEventFilter(self)
        button.toggled.connect(self._choose)
        theme.follow(self, self._fit)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _choose(self, shown: bool) -> None:
        QSettings().setValue(self._setting, shown)
        self._queue.setVisible(shown)

    def _fit(self) -> None:
        room = self._page.width() >= theme.current().px(self._roomy)
        shown = QSettings().value(self._setting, room, bool) is True
        with QSignalBlocker(self._button):
            self._button.setChecked(shown)
        self._queue.setVisible(shown)
