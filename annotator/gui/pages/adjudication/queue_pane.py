"""The adjudication queue: search, filter by state, most contested first; and the panel for unanimous items."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from math import ceil

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QPushButton, QStyleOptionViewItem, QWidget

from annotator.actions.adjudication import adjudicating
from annotator.actions.adjudication.adjudicating import (
    SHARE,
    UNOPENED,
    AdjudicationSheet,
    BulkCloseReport,
    QueueLine,
)
from annotator.actions.consensus.consensus import AdjudicatedStage
from annotator.domain.experts.adjudication import AdjudicationState, Figure, bound_of
from annotator.domain.experts.assignment import Stage
from annotator.gui import theme
from annotator.gui.review.field_chips import figures_words
from annotator.gui.review.queues import LINE_ROLE, Queue, QueueDelegate, QueueFilter, QueuePane
from annotator.gui.review.sheets import Index
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import FlowRow
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, take_out, vertical
from annotator.gui.widgets.columns import END, START, elided, paint_bar, paint_key
from annotator.gui.widgets.fields import NumberBox, label_of
from annotator.gui.widgets.message_bar import EscapePanel

# The key of a line: item and stage.
Place = tuple[str, Stage]
NOWHERE: Place = ("", Stage.RUBRIC)
# The lower bound of agreement for each level.
LEVELS = ((0.8, "high"), (0.5, "medium"), (-1.0, "low"))
LEVEL_COLOURS = {"low": "state-disagree", "medium": "state-unconfirmed", "high": "state-agreed"}
BAR = 34


class LineFilter(QueueFilter):
    CONFLICTS = "Conflicts"
    UNANIMOUS = "Unanimous"
    CLOSED = "Closed"
    ALL = "All"

    def admits(self, line: QueueLine) -> bool:
        match self:
            case LineFilter.CONFLICTS:
                return line.conflict
            case LineFilter.UNANIMOUS:
                return not line.conflict and not line.closed
            case LineFilter.CLOSED:
                return line.closed
            case _:
                return True


class AdjudicationQueue(Queue[Place, QueueLine]):
    """A line per stage of an item, most contested first."""

    def key_of(self, line: QueueLine) -> Place:
        return line.place

    def is_open(self, line: QueueLine) -> bool:
        return line.conflict

    def sought_in(self, line: QueueLine) -> str:
        return f"{line.item_key} {line.question} {line.stage.value}"

    def follow(self, sheet: AdjudicationSheet, *, begun: bool) -> None:
        """Update the progress of a line; it keeps its place until the queue is filled again.

        An item that is only looked at is not marked as begun.
        """
        place = sheet.item_id, sheet.stage
        line = self._lines.get(place)
        if line is None:
            return
        self.put(
            place,
            replace(
                line,
                adjudication_id=sheet.adjudication_id if begun else line.adjudication_id,
                rows=len(sheet.rows),
                contested=sum(row.contested for row in sheet.rows),
                decided=sum(not row.ruling.open for row in sheet.rows),
                state=sheet.state.value if begun else line.state,
                version=sheet.version,
                disputes=len(sheet.disputes),
            ),
        )

    def words(self, line: QueueLine) -> str:
        return f"{line.item_key}  {' '.join(line.question.split())}"

    def spoken(self, line: QueueLine) -> str:
        return f"Item {line.item_key}, {line.stage.value}, {words_of(line)}"

    def tip(self, line: QueueLine) -> str:
        return f"<qt>{escape(line.question[:600])}<br><br>{escape(words_of(line))}</qt>"


def state_of(line: QueueLine) -> tuple[str, str, str]:
    if line.disputes:
        return "flag", "disagree", "disputed"
    if line.closed:
        return "check", "agreed", "closed"
    if line.spot_check and not line.conflict:
        return "eye", "unconfirmed", "spot check"
    if not line.conflict:
        return "question", "unconfirmed", "agreed, not yet confirmed"
    if line.state == AdjudicationState.REOPENED.value:
        return "restore", "incomplete", "reopened"
    if line.state == UNOPENED:
        return "new", "missing", "not begun"
    return "clock", "incomplete", "in work"


def words_of(line: QueueLine) -> str:
    return (
        f"{state_of(line)[2]}; {agreement_words(line.agreement)}{_bound(line.agreement)}; "
        f"{line.decided:,} of {line.rows:,} rows decided"
    )


def agreement_words(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "no figure"
    return f"{figures_words([figure])} · {level(figure.value)}"


def _bound(figure: Figure | None) -> str:
    bound = bound_of(figure) if figure is not None else ""
    return f" ({bound})" if bound else ""


def level(value: float) -> str:
    return next((word for least, word in LEVELS if value >= least), "low")


class AdjudicationQueueDelegate(QueueDelegate):
    LINES, AROUND, EDGE, GAP = 3, 16, 5, 2

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: QueueLine = index.data(LINE_ROLE)
        question, state, agreement = self.rows(painter, option)
        ink, muted = self.inks(option)
        icon, colour, _ = state_of(line)
        room = self.paint_state(painter, question, icon, colour)
        painter.setPen(theme.token(ink))
        rest = paint_key(painter, option, room, line.item_key)
        painter.drawText(rest, START, elided(option, line.question, rest.width()))
        self._paint_progress(painter, option, state, line, muted)
        self._paint_agreement(painter, option, agreement, line.agreement, muted)

    def _paint_progress(
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


class AdjudicationQueuePane(QueuePane[LineFilter, AdjudicationQueue]):
    def __init__(self, queue: AdjudicationQueue) -> None:
        super().__init__(
            queue,
            LineFilter.CONFLICTS,
            AdjudicationQueueDelegate,
            finds="Find an item by its words, key or stage",
            lists="Items to adjudicate",
        )
        self.unanimous = QPushButton()
        self.column.addWidget(self.unanimous)

    def progress(self) -> str:
        conflicts = self.queue.counted(LineFilter.CONFLICTS)
        sampled = sum(line.spot_check and not line.closed for line in self.queue.lines)
        words = "1 conflict is left" if conflicts == 1 else f"{conflicts} conflicts are left"
        looks = f" · {sampled} drawn for a spot check" if sampled else ""
        return f"{words if conflicts else 'No conflict is left'}{looks}"

    def recount(self) -> None:
        super().recount()
        agreed = sum(line.confirmable for line in self.queue.lines)
        self.unanimous.setText(f"Confirm {agreed} unanimous item{'s' if agreed != 1 else ''}…")
        self.unanimous.setVisible(agreed > 0)


MOST_NAMED = 12


class UnanimousPanel(EscapePanel):
    """Shows what would be confirmed and sampled, with an adjustable share; confirms it, and shows the result."""

    ended = Signal()
    """It was done, or refused."""
    looked = Signal(object)
    """A sampled item to open."""

    def __init__(self, session: ProjectSession, queue: AdjudicationQueue) -> None:
        super().__init__("Close")
        self._session, self._queue, self._count = session, queue, 0
        self.summary, self.explained = PlainLabel(role="strong", wrap=True), PlainLabel(wrap=True)
        self.share = NumberBox(
            suffix=" %",
            minimum=0,
            maximum=100,
            value=round(SHARE * 100),
            accessibleName="Share drawn for a spot check",
            valueChanged=lambda _: self._explain(),
        )
        self.confirm = push_button("", self._confirm, "primary")
        self._asking = QWidget()
        horizontal(
            label_of(self.share, "Look at"),
            self.share,
            self.confirm,
            StretchSpace(1),
            on=self._asking,
            margins=0,
        )
        self._sample_row = QWidget()
        self._sample_flow = FlowRow(self._sample_row)
        self.sample: list[QPushButton] = []
        head = horizontal((self.summary, 1), (self.close_button, 0, Qt.AlignmentFlag.AlignTop))
        vertical(head, self.explained, self._asking, self._sample_row, on=self, margins=(10, 6, 10, 8))
        theme.set_role(self, level="info")

    def ask(self) -> None:
        self._count = count = sum(line.confirmable for line in self._queue.lines)
        self._show_sample(())
        one = "1 document that everybody wrote" if count == 1 else f"{count} documents that everybody wrote"
        self.summary.setText(f"There {'is' if count == 1 else 'are'} {one} the same.")
        self._asking.show()
        self._asking.setEnabled(True)
        self._explain()
        self.show()
        self.confirm.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_progress(self, _what: str, done: int, total: int) -> None:
        self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self._asking.setEnabled(False)
        self.explained.setText(f"Confirming: {done:,} of {total:,} …")

    def _confirm(self) -> None:
        self.show_progress("", 0, self._count)
        share = self.share.value() / 100
        self._session.do_later(self._tell, self.show_progress, adjudicating.auto_unanimous, share)

    def _tell(self, report: BulkCloseReport | None) -> None:
        self.ended.emit()
        if report is None:
            self.hide()
            return
        closed, sampled = len(report.closed), len(report.spot_check)
        self.summary.setText(f"{closed} confirmed and closed, {sampled} drawn for a spot check.")
        self.explained.setText("Check the drawn documents now or later; they are listed under “Unanimous”.")
        self._asking.hide()
        self._show_sample(report.spot_check)
        (self.sample or [self.close_button])[0].setFocus(Qt.FocusReason.OtherFocusReason)
        self._session.tell_end("The unanimous documents are confirmed.", "Adjudicate", self)

    def _explain(self) -> None:
        sampled = min(self._count, max(1, ceil(self.share.value() / 100 * self._count)))
        rest = self._count - sampled
        looked = "1 is" if sampled == 1 else f"{sampled} are"
        self.explained.setText(
            f"{looked} drawn at random for a spot check; the other {rest} are closed immediately. "
            "A backup is made first."
        )
        self.confirm.setText(f"Confirm {rest}, check {sampled}")

    def _show_sample(self, unanimouses: Sequence[AdjudicatedStage]) -> None:
        take_out(self._sample_flow, *self.sample)
        self.sample = []
        for each in unanimouses[:MOST_NAMED]:
            button = push_button(
                f"Item {each.item_key}, {each.stage.value}".replace("&", "&&"),
                lambda _=False, each=each: self.looked.emit(each),
            )
            self._sample_flow.addWidget(button)
            self.sample.append(button)
        self._sample_row.setVisible(bool(unanimouses))
