"""List of verdicts: search, and filter by whether they are done."""

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from annotator.gui import theme
from annotator.gui.pages.validation.cases.verdict_cases import (
    CASE_ROLE,
    CaseFilter,
    Key,
    VerdictCase,
    VerdictCases,
)
from annotator.gui.review.verdicts import face
from annotator.gui.tables.rows import Index
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.icons import pixmap
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.lists.row_painting import START, elided, is_chosen, paint_ground, paint_key
from annotator.gui.widgets.lists.sought_list import SoughtList

OPEN = ("open", "new", "missing")


class CaseDelegate(QStyledItemDelegate):
    """Two short lines of one height each, so that a long list is laid out at once."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        """The same height for every line; the width is the list's."""
        return QSize(theme.current().px(120), height(option.fontMetrics))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        case, model = index.data(CASE_ROLE), index.model()
        assert isinstance(case, VerdictCase)
        assert isinstance(model, VerdictCases)
        px = theme.current().px
        area = option.rect.adjusted(px(3), 1, -px(3), -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option, area)
        high = option.fontMetrics.height()
        inner = area.adjusted(px(8), px(4), -px(8), 0)
        above = QRect(inner.left(), inner.top(), inner.width(), high)
        below = above.translated(0, high + px(1))
        size = px(15)
        _, icon, state = model.faces.get(case.said, OPEN)
        picture = pixmap(icon, size, f"state-{state}", painter.device().devicePixelRatioF())
        painter.drawPixmap(above.left(), above.center().y() - size // 2, picture)
        ink, muted = ("on-selection", "on-selection") if is_chosen(option) else ("text", "text-muted")
        left = size + px(6)
        _paint_unit(painter, option, above.adjusted(left, 0, 0, 0), case, ink)
        painter.setPen(theme.token(muted))
        painter.drawText(
            below.adjusted(left, 0, 0, 0), START, elided(option, _sides(case), below.width() - left)
        )
        painter.restore()


def height(metrics: QFontMetrics) -> int:
    return 2 * metrics.height() + theme.current().px(12)


def _paint_unit(
    painter: QPainter, option: QStyleOptionViewItem, row: QRect, case: VerdictCase, ink: str
) -> None:
    painter.setPen(theme.token(ink))
    rest, words = paint_key(painter, option, row, case.place.item_key, 3), case.words
    painter.setLayoutDirection(direction_of(words))
    room = rest.width() - theme.current().px(4)
    painter.drawText(rest, START | Qt.AlignmentFlag.AlignAbsolute, elided(option, words, room))
    painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)


def _sides(case: VerdictCase) -> str:
    """What the judge says, and what the person who differs says."""
    judge, *others = case.voices
    said = [face(judge.value, case.protocol).words]
    return " · ".join([*said, *(f"{one.who}: {face(one.value, case.protocol).words}" for one in others)])


class CasePane(SoughtList[CaseFilter]):
    """Search, filters, and the list; `done` is the word for a finished case."""

    chosen = Signal(object)
    """The key of the case that a person went to."""

    def __init__(self, cases: VerdictCases, lists: str, done: str) -> None:
        table = LinesTable(lists, cases, stretched=0)
        table.horizontalHeader().hide()
        table.setAlternatingRowColors(False)
        # The delegate paints what lies under a line.
        table.setProperty("role", "list")
        super().__init__(
            CaseFilter,
            CaseFilter.ALL,
            finds="Find an item or a criterion by its words",
            lists=lists,
            view=table,
        )
        self.cases, self._done, self._table = cases, done, table
        self._open: Key = ()
        self.search.setPlaceholderText("Find a criterion…")
        self.list.setItemDelegate(CaseDelegate(self.list))
        self.narrowed.connect(self._narrow)
        self.entered.connect(self._choose)
        theme.watch(self, self._dress)
        self._dress()

    def _dress(self) -> None:
        self._table.verticalHeader().setDefaultSectionSize(height(self._table.fontMetrics()))

    def show_open(self, key: Key) -> None:
        """Mark the case that lies open, and bring it into view."""
        self._open = key
        if not self.cases.place(key).isValid():
            self._narrow()
        self.mark(self.cases.place(key))

    def refill(self) -> None:
        self._narrow()
        self.recount()

    def recount(self) -> None:
        """Say how much is done, on the filters and below the list."""
        self.filters.show_counts({show: self.cases.counted(show) for show in CaseFilter})
        self.left.setText(self.progress())

    def progress(self) -> str:
        return (
            f"{self.cases.counted(CaseFilter.DONE):,} of {self.cases.counted(CaseFilter.ALL):,} {self._done}"
        )

    def _narrow(self) -> None:
        self.cases.narrow(self.filters.held, self.search.text(), self._open)
        self.mark(self.cases.place(self._open))

    def _choose(self, index: QModelIndex) -> None:
        case = index.data(CASE_ROLE)
        if isinstance(case, VerdictCase):
            self.chosen.emit(case.key)
