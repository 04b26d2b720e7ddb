"""The queue of the Adjudicate page, and the state of the open item: its rows and what each still lacks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from math import ceil
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QPushButton, QStyleOptionViewItem, QWidget

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.adjudication.adjudicating import (
    SHARE,
    UNOPENED,
    AdjudicationSheet,
    Ballot,
    BulkCloseReport,
    QueueLine,
    SheetRow,
)
from annotator.actions.authoring import artifacts, settings
from annotator.actions.consensus.consensus import AdjudicatedStage
from annotator.actions.project.file import Project
from annotator.domain.common import Change, Refusal, grouped
from annotator.domain.experts.adjudication import OWN, AdjudicationState, Figure, bound_of
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Weights
from annotator.gui import theme
from annotator.gui.review.field_chips import figures_words
from annotator.gui.review.queues import LINE_ROLE, Queue, QueueDelegate, QueueFilter, QueuePane, WorkModel
from annotator.gui.review.sheets import Index
from annotator.gui.session.page import TypedFields
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
    bound = bound_of(line.agreement) if line.agreement is not None else ""
    agreement = f"{agreement_words(line.agreement)}{f' ({bound})' if bound else ''}"
    return f"{state_of(line)[2]}; {agreement}; {line.decided:,} of {line.rows:,} rows decided"


def agreement_words(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "no figure"
    return f"{figures_words([figure])} · {level(figure.value)}"


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


T = TypeVar("T")
# The sheet, what its rows lack, unfinished texts by ruling and field, and ballots for first votes.
Read = tuple[AdjudicationSheet, Sequence[ruling.Lacking], dict[tuple[str, str], str], Sequence[Ballot]]
RULING_KINDS = ("ruling", "adjudication", "dispute")


class AdjudicationModel(WorkModel):
    """The open item and stage; all rulings and their changes pass through here."""

    laid = Signal()
    """The rows or their order have changed."""
    rows_changed = Signal(object)
    """The ids of rows whose contents have changed."""
    row_wanted = Signal(str, str)
    """The adjudication and row of a guideline gap to be opened."""
    entered = Signal()
    """Enter was pressed on a row's card."""
    dropped = Signal(str, str, str)
    """A unit was dragged to a row: that row, the row it comes from, and its letter."""
    worded = Signal(object)
    """Values by field, chosen in the own wording of the current row, to be stored at once."""
    quote_wanted = Signal(str, str, int)
    """A quotation to show in its source: row, letter (empty for the own wording), and its index."""

    def __init__(self, session: ProjectSession, page: QObject) -> None:
        super().__init__(session, page)
        self.typing = RulingDraft(session, self.do, self)
        self.sheet: AdjudicationSheet | None = None
        self.rows: dict[str, SheetRow] = {}
        self.lacking: dict[str, list[ruling.Lacking]] = {}
        self.ballots: dict[str, Ballot] = {}
        self._drafts: dict[tuple[str, str], str] = {}
        self.vote_first = False
        self.begun = False
        """Whether the open item is this person's: from the first act on, not from looking at it."""
        self.acting = False
        """Whether the change being announced was made here, not undone or redone elsewhere."""

    @property
    def place(self) -> Place:
        return (self.sheet.item_id, self.sheet.stage) if self.sheet else NOWHERE

    @property
    def open_sheet(self) -> AdjudicationSheet:
        """The sheet, for what is shown only while an item is open."""
        assert self.sheet is not None
        return self.sheet

    @property
    def ids(self) -> list[str]:
        return list(self.rows)

    @property
    def row(self) -> SheetRow | None:
        return self.rows.get(self.current_id)

    @property
    def locked(self) -> bool:
        """Whether nothing can be ruled now: the file is read-only, or the adjudication is closed."""
        closed = self.sheet is not None and self.sheet.state is AdjudicationState.CLOSED
        return self._session.project.readonly or closed

    @property
    def weights(self) -> Weights:
        return settings.allowed(self._session.project)

    @property
    def unconfirmed(self) -> list[str]:
        return [row.ruling.id for row in self.rows.values() if row.ruling.unanimous and row.ruling.open]

    def unresolved(self, *, contested: bool) -> list[str]:
        """The rows that lack something, in order; only the contested ones, or all."""
        return [ruling_id for ruling_id in self.lacking if self.rows[ruling_id].contested or not contested]

    def lacks(self, ruling_id: str) -> set[str]:
        return {lacking.field for lacking in self.lacking.get(ruling_id, ())}

    def ballot(self, ruling_id: str) -> Ballot | None:
        """The ballot of a row, while a first vote is wanted and not given; otherwise None."""
        ballot = self.ballots.get(ruling_id)
        return ballot if ballot and not ballot.vote else None

    def open(self, line: QueueLine, ruling_id: str = "") -> None:
        """Open a line of the queue at a row, by default its first open conflict."""
        self.leaving.emit()
        if self._load(line.item_id, line.stage):
            self.begun = False
            for (of_ruling, field), text in self._drafts.items():
                self.typing.type(of_ruling, field, text)
            self.current_id = ""
            self.opened.emit()
            self.move_to(ruling_id if ruling_id in self.rows else self._first())

    def show_votes(self, first: bool) -> None:
        """Hide contested values until they are voted on, or show them."""
        self.vote_first = first
        self.refresh()

    def take_in(self, change: Change) -> str:
        """Apply a change; return the adjudication it is about, or an empty string."""
        if change.kind not in RULING_KINDS:
            return ""
        tree = change.after or change.before or {}
        about = change.subject if change.kind == "adjudication" else str(tree.get("adjudication", ""))
        if self.sheet is not None and (about == self.sheet.adjudication_id or change.kind == "dispute"):
            self.refresh()
        return about

    def refresh(self) -> None:
        if self.sheet is None:
            return
        before, ids = self._seen(), self.ids
        place = ids.index(self.current_id) if self.current_id in ids else 0
        if not self._load(self.sheet.item_id, self.sheet.stage):
            return
        after = self._seen()
        if list(before) == list(after):
            self.rows_changed.emit(tuple(name for name in after if before[name] != after[name]))
            return
        if self.current_id not in self.rows:
            left = self.ids
            self.current_id = left[min(place, len(left) - 1)] if left else ""
        self.laid.emit()

    def _seen(self) -> dict[str, object]:
        return {
            name: (row, self.lacking.get(name), self.ballots.get(name), self.locked)
            for name, row in self.rows.items()
        }

    def ask(self, question: Callable[[Project, str], T]) -> T | None:
        """Run a query on the open adjudication, begun or not; emit the refusal and return None if it is refused."""
        if self.sheet is None:
            return None
        item_id, stage = self.place
        return self._session.ask(lambda project: adjudicating.look(project, item_id, stage, question))

    def _load(self, item_id: str, stage: Stage) -> bool:
        result = self._session.ask(adjudicating.look, item_id, stage, self._read)
        if result is None:
            return False
        self.sheet, missing, self._drafts, ballots = result
        self.rows = {row.ruling.id: row for row in self.sheet.rows}
        self.lacking = grouped((each.ruling_id, each) for each in missing)
        self.ballots = {ballot.ruling_id: ballot for ballot in ballots}
        self.typing.follow(self.rows)
        return True

    def _read(self, project: Project, adjudication_id: str) -> Read:
        sheet = adjudicating.sheet(project, adjudication_id)
        return (
            sheet,
            () if sheet.state is AdjudicationState.CLOSED else ruling.missing(project, adjudication_id),
            ruling.unfinished(project, adjudication_id),
            adjudicating.ballots(project, adjudication_id) if self.vote_first else (),
        )

    def _first(self) -> str:
        contested = self.unresolved(contested=True) or self.unresolved(contested=False)
        return next(iter(contested or self.rows), "")

    def do(self, verb: Callable[..., Any], *args: Any, **fields: Any) -> bool:
        """Run an action as this page's own; whether it succeeded."""
        self.acting = True
        try:
            return self._begin() and self._session.do(verb, *args, **fields) is not None
        finally:
            self.acting = False

    def do_here(self, verb: Callable[..., Any], *args: Any, **fields: Any) -> bool:
        """Run an action on the current row, if there is one; whether it succeeded."""
        return bool(self.current_id) and self.do(verb, self.current_id, *args, **fields)

    def _begin(self) -> bool:
        """Assign the open item to this person before the first act; whether it is theirs."""
        if not self.begun and self.sheet is not None and not self._session.project.readonly:
            self.begun = self._session.do(adjudicating.open_, *self.place) is not None
            return self.begun
        return True


class RulingDraft(TypedFields):
    """Typed text without a ruling yet, by row and field."""

    def __init__(self, session: ProjectSession, do: Callable[..., bool], parent: QObject) -> None:
        """`do` runs an action as the page's own and returns whether it succeeded."""
        super().__init__(session, parent)
        self._do = do
        self._rows: Mapping[str, SheetRow] = {}

    def follow(self, rows: Mapping[str, SheetRow]) -> None:
        """Take over the current rows; text typed into a row that is gone is shown, and stored as a draft."""
        self._rows, typed = rows, self.typed
        self.typed = {ruling_id: fields for ruling_id, fields in typed.items() if ruling_id in rows}
        for ruling_id in typed.keys() - rows.keys():
            for field, words in typed[ruling_id].items():
                if isinstance(words, str) and words.strip():
                    self._session.do(artifacts.save_draft, artifacts.RULING, ruling_id, field, words)
                    self._session.refused.emit(
                        Refusal("The row that you were writing in is gone.", f"Your words: “{words}”")
                    )

    def draft(self, ruling_id: str, field: str, text: str) -> None:
        if field in self.typed.get(ruling_id, {}):
            self._do(artifacts.save_draft, artifacts.RULING, ruling_id, field, text)

    def _keep_fields(self, ruling_id: str, fields: dict[str, Any]) -> bool:
        row = self._rows.get(ruling_id)
        if row is None:
            return True
        there = {name: getattr(row.ruling, name) for name in ruling.EXPLAINED}
        there |= dict(row.made[0][0]) if row.ruling.take == OWN and row.made else {}
        new = {name: value for name, value in fields.items() if there.get(name) != value}
        for name in fields.keys() - new.keys():
            self._session.do(artifacts.forget_draft, artifacts.RULING, ruling_id, name)
        explanation = {name: value for name, value in new.items() if name in ruling.EXPLAINED}
        worded = {name: value for name, value in new.items() if name not in ruling.EXPLAINED}
        done = not explanation or self._do(lambda project: ruling.explain(project, ruling_id, **explanation))
        if worded:
            done = self._do(lambda project: ruling.write_own(project, ruling_id, **worded)) and done
        return done
