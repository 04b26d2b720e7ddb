"""The adjudication queue: search, filter by state, most contested first."""

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QPushButton, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from annotator.actions.adjudication.adjudicating import SHARE, BulkCloseReport, QueueLine, Unanimous
from annotator.domain.experts.adjudication import Figure
from annotator.gui import theme
from annotator.gui.review.adjudication_queue import (
    LINE_ROLE,
    NOWHERE,
    AdjudicationQueue,
    LineFilter,
    Place,
    agreement_words,
    level,
    state_of,
)
from annotator.gui.review.sheets import Index
from annotator.gui.widgets.bars import FlowRow
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, vertical
from annotator.gui.widgets.chips import pixmap
from annotator.gui.widgets.columns import (
    END,
    START,
    SearchableList,
    elided,
    is_chosen,
    paint_bar,
    paint_ground,
    paint_key,
)
from annotator.gui.widgets.fields import NumberBox, label_of
from annotator.gui.widgets.message_bar import EscapePanel

LEVEL_COLOURS = {"low": "state-disagree", "medium": "state-unconfirmed", "high": "state-agreed"}
BAR = 34


class AdjudicationQueueDelegate(QStyledItemDelegate):
    """Three short lines of one height each, so that a long list is laid out at once."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        px = theme.current().px
        return QSize(px(120), 3 * option.fontMetrics.height() + px(16))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = index.data(LINE_ROLE)
        px = theme.current().px
        area = option.rect.adjusted(px(3), 1, -px(3), -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option, area)
        high = option.fontMetrics.height()
        inner = area.adjusted(px(8), px(5), -px(8), 0)
        rows = [QRect(inner.left(), inner.top() + n * (high + px(2)), inner.width(), high) for n in range(3)]
        ink, muted = ("on-selection", "on-selection") if is_chosen(option) else ("text", "text-muted")
        self._paint_question(painter, option, rows[0], line, ink)
        self._paint_state(painter, option, rows[1], line, muted)
        self._paint_agreement(painter, option, rows[2], line.agreement, muted)
        painter.restore()

    def _paint_question(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, line: QueueLine, ink: str
    ) -> None:
        px = theme.current().px
        icon, colour, _ = state_of(line)
        size = px(15)
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(
            row.left(), row.center().y() - size // 2, pixmap(icon, size, f"state-{colour}", ratio)
        )
        painter.setPen(theme.token(ink))
        rest = paint_key(painter, option, row.adjusted(size + px(6), 0, 0, 0), line.item_key)
        painter.drawText(rest, START, elided(option, line.question, rest.width()))

    def _paint_state(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, line: QueueLine, ink: str
    ) -> None:
        painter.setPen(theme.token(ink))
        decided = f"{line.decided:,} of {line.rows:,}"
        painter.drawText(row, END, decided)
        room = row.width() - option.fontMetrics.horizontalAdvance(decided) - theme.current().px(8)
        words = f"{line.stage.value.capitalize()} · {state_of(line)[2]}"
        painter.drawText(row, START, elided(option, words, room))

    def _paint_agreement(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, figure: Figure | None, ink: str
    ) -> None:
        px = theme.current().px
        value = figure.value if figure else None
        left = row.left()
        if value is not None:
            bar = QRect(row.left(), row.center().y() - px(2), px(BAR), px(5))
            paint_bar(painter, bar, min(1.0, max(0.0, value)), theme.token(LEVEL_COLOURS[level(value)]))
            left += px(BAR) + px(7)
        painter.setPen(theme.token(ink))
        rest = row.adjusted(left - row.left(), 0, 0, 0)
        painter.drawText(rest, START, elided(option, agreement_words(figure), rest.width()))


class AdjudicationQueuePane(SearchableList[LineFilter]):
    chosen = Signal(object)
    """The line a person went to."""

    def __init__(self, queue: AdjudicationQueue) -> None:
        super().__init__(
            LineFilter,
            LineFilter.CONFLICTS,
            finds="Find an item by its words, key or stage",
            lists="Items to adjudicate",
        )
        self.queue = queue
        self._open: Place = NOWHERE
        self.list.setModel(queue)
        self.list.setItemDelegate(AdjudicationQueueDelegate(self.list))
        self.narrowed.connect(self._narrow)
        self.entered.connect(self._choose)
        self.unanimous = QPushButton()
        self.column.addWidget(self.unanimous)

    def show_open(self, place: Place) -> None:
        self._open = place
        if self.queue.row_of(place) < 0:
            self._narrow()
        self._mark_open()

    def fill(self, lines: list[QueueLine]) -> None:
        self.queue.fill(lines)
        self._narrow()
        self.recount()

    def recount(self) -> None:
        self.filters.show_counts({show: self.queue.counted(show) for show in LineFilter})
        conflicts = self.queue.counted(LineFilter.CONFLICTS)
        drawn = sum(line.spot_check and not line.closed for line in self.queue.lines)
        words = "1 conflict is left" if conflicts == 1 else f"{conflicts} conflicts are left"
        looks = f" · {drawn} drawn for a spot check" if drawn else ""
        self.left.setText(f"{words if conflicts else 'No conflict is left'}{looks}")
        agreed = sum(line.confirmable for line in self.queue.lines)
        self.unanimous.setText(f"Confirm {agreed} unanimous item{'s' if agreed != 1 else ''}…")
        self.unanimous.setVisible(agreed > 0)

    def _narrow(self) -> None:
        self.queue.narrow(self.filters.held, self.search.text(), self._open)
        self._mark_open()

    def _mark_open(self) -> None:
        self.mark(self.queue.index(self.queue.row_of(self._open)))

    def _choose(self, index: QModelIndex) -> None:
        line = index.data(LINE_ROLE)
        if isinstance(line, QueueLine):
            self.chosen.emit(line)


MOST_NAMED = 12


class UnanimousPanel(EscapePanel):
    """Shows what would be confirmed and drawn, with an adjustable share, and the result."""

    confirmed = Signal(float)
    """Confirm all but this share."""
    looked = Signal(object)
    """A drawn item is to be opened."""

    def __init__(self) -> None:
        super().__init__("Close (Esc)")
        self._count = 0
        self.said, self.explained = PlainLabel(role="strong", wrap=True), PlainLabel(wrap=True)
        self.share = NumberBox(
            suffix=" %",
            minimum=0,
            maximum=100,
            value=round(SHARE * 100),
            accessibleName="Share drawn for a spot check",
        )
        self.share.valueChanged.connect(lambda _: self._explain())
        self.confirm = push_button("", lambda: self.confirmed.emit(self.share.value() / 100), "primary")
        self._asking = QWidget()
        horizontal(
            label_of(self.share, "Look at"),
            self.share,
            self.confirm,
            StretchSpace(1),
            on=self._asking,
            margins=0,
        )
        self._drawn_row = QWidget()
        self._drawn = FlowRow(self._drawn_row)
        self.drawn: list[QPushButton] = []
        head = horizontal((self.said, 1), (self.close_button, 0, Qt.AlignmentFlag.AlignTop))
        vertical(head, self.explained, self._asking, self._drawn_row, on=self, margins=(10, 6, 10, 8))
        theme.set_role(self, level="info")

    def ask(self, count: int) -> None:
        self._count = count
        self._show_drawn(())
        one = "1 document that everybody wrote" if count == 1 else f"{count} documents that everybody wrote"
        self.said.setText(f"There {'is' if count == 1 else 'are'} {one} the same.")
        self._asking.show()
        self._asking.setEnabled(True)
        self._explain()
        self.show()
        self.confirm.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_progress(self, done: int, total: int) -> None:
        self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self._asking.setEnabled(False)
        self.explained.setText(f"Confirming: {done:,} of {total:,} …")

    def tell(self, report: BulkCloseReport) -> None:
        closed, drawn = len(report.closed), len(report.spot_check)
        self.said.setText(f"{closed} confirmed and closed, {drawn} drawn for a spot check.")
        self.explained.setText("Check the drawn documents now or later; they are listed under “Unanimous”.")
        self._asking.hide()
        self._show_drawn(report.spot_check)
        (self.drawn or [self.close_button])[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def _explain(self) -> None:
        drawn = min(self._count, max(1, ceil(self.share.value() / 100 * self._count)))
        rest = self._count - drawn
        looked = "1 is" if drawn == 1 else f"{drawn} are"
        self.explained.setText(
            f"{looked} drawn at random for a spot check; the other {rest} are closed immediately. "
            "A backup is made first."
        )
        self.confirm.setText(f"Confirm {rest}, check {drawn}")

    def _show_drawn(self, drawn: Sequence[Unanimous]) -> None:
        for button in self.drawn:
            self._drawn.removeWidget(button)
            button.deleteLater()
        self.drawn = []
        for each in drawn[:MOST_NAMED]:
            button = push_button(
                f"Item {each.item_key}, {each.stage.value}".replace("&", "&&"),
                lambda _=False, each=each: self.looked.emit(each),
            )
            self._drawn.addWidget(button)
            self.drawn.append(button)
        self._drawn_row.setVisible(bool(drawn))
