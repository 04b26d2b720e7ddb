"""Workbench for verdicts, and the base class of the tabs that go through them one by one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QStackedWidget,
    QStyleOptionViewItem,
    QWidget,
)

from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import ViewChoice
from annotator.actions.sets import reviews, validation_ground
from annotator.actions.sets.reviews import CaseKey, CaseList, CaseOutlook, VerdictCase
from annotator.domain.common import Change, Refusal, grouped
from annotator.domain.judges.judge import Fault, Review
from annotator.gui import keys, theme
from annotator.gui.pages.validation.case_cards import (
    FAULTS,
    NO_CASES,
    CaseCard,
    CaseFilter,
    CaseReadingPane,
    VerdictAnswer,
    VerdictCases,
    voices_of,
)
from annotator.gui.parts import holds
from annotator.gui.review.people_choice import OF_VERDICT
from annotator.gui.review.queues import LINE_ROLE, QueueDelegate, QueuePane
from annotator.gui.review.sheets import Index
from annotator.gui.review.verdict_words import face
from annotator.gui.session import page
from annotator.gui.session.page import PagePart
from annotator.gui.session.session import ProjectSession
from annotator.gui.views.view_pane import Choosers
from annotator.gui.views.viewer import Lead
from annotator.gui.widgets.bars import ActsBar
from annotator.gui.widgets.basics import column_of, direction_of, later, with_properties
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import (
    START,
    LinesTable,
    elided,
    paint_key,
)
from annotator.gui.widgets.splitter import Splitter

OPEN = ("open", "new", "missing")


class CaseDelegate(QueueDelegate):
    LINES, AROUND, EDGE, GAP = 2, 12, 4, 1

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        case, model = index.data(LINE_ROLE), index.model()
        assert isinstance(model, VerdictCases)
        above, below = self.rows(painter, option)
        ink, muted = self.inks(option)
        _, icon, state = model.faces.get(case.ruling, OPEN)
        room = self.paint_state(painter, above, icon, state)
        below.setLeft(room.left())
        self._paint_unit(painter, option, room, case, ink)
        painter.setPen(theme.token(muted))
        painter.drawText(below, START, elided(option, _sides(case), below.width()))

    def _paint_unit(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, case: VerdictCase, ink: str
    ) -> None:
        painter.setPen(theme.token(ink))
        rest, words = paint_key(painter, option, row, case.place.item_key, 3), case.words
        painter.setLayoutDirection(direction_of(words))
        room = rest.width() - theme.current().px(4)
        painter.drawText(rest, START | Qt.AlignmentFlag.AlignAbsolute, elided(option, words, room))
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)


def _sides(case: VerdictCase) -> str:
    words = face(case.judge_value, case.protocol).words
    return (
        f"{words} · {case.alias}: {face(case.label_value, case.protocol).words}" if case.person_id else words
    )


class CasePane(QueuePane[CaseFilter, VerdictCases]):
    """The list of cases with search and filters; `done` is the word for a finished case."""

    def __init__(self, cases: VerdictCases, lists: str, done: str) -> None:
        # The delegate paints the background of a line.
        table = with_properties(
            LinesTable(lists, cases, stretched=0), alternatingRowColors=False, role="list"
        )
        table.horizontalHeader().hide()
        super().__init__(
            cases,
            CaseFilter.ALL,
            CaseDelegate,
            finds="Find an item or a criterion by its words",
            lists=lists,
            view=table,
        )
        self._done, self._table = done, table
        self.search.setPlaceholderText("Find a criterion…")
        theme.follow(self, self._restyle)

    def _restyle(self) -> None:
        high = CaseDelegate().height(self._table.fontMetrics())
        self._table.verticalHeader().setDefaultSectionSize(high)

    def progress(self) -> str:
        return (
            f"{self.queue.counted(CaseFilter.DONE):,} of {self.queue.counted(CaseFilter.ALL):,} {self._done}"
        )


SCREENS = {int(Qt.Key.Key_PageDown): 1, int(Qt.Key.Key_PageUp): -1}


# The words of a bench: its key among the settings, the name of its list, and the word for a finished case.
BenchWords = tuple[str, str, str]


# Stores the answer, reason, note and kind of error of a case; returns whether that succeeded.
Keep = Callable[[VerdictCase, str, str, str, str], bool]


class CaseBench(Splitter):
    """Shows one case at a time; every answer is stored through `keep`."""

    moved = Signal()
    """Another case was opened, or the answer to the current one has changed."""
    reported = Signal(str)
    """The effect of a key that the case in view does not show, or why it had none."""
    finished = Signal()
    """No case is open any more."""

    def __init__(
        self, session: ProjectSession, words: BenchWords, answers: Sequence[VerdictAnswer], keep: Keep
    ) -> None:
        name, lists, done = words
        super().__init__(name)
        self._session, self._answers, self._keep = session, answers, keep
        self.cases = VerdictCases(self)
        self.cases.faces = {answer.value: (answer.words, answer.icon, answer.state) for answer in answers}
        self.key: CaseKey = ()
        self._replaced = False
        self._reasons: dict[CaseKey, str] = {}
        self._notes: dict[CaseKey, str] = {}
        self.pane = CasePane(self.cases, lists, done)
        self.reading = CaseReadingPane(session, name)
        locked = "This file is read-only." if session.project.readonly else ""
        self.card = CaseCard(answers, locked)
        self.flow = _Flow(self)
        self.pane.chosen.connect(lambda case: self.open(case.key))
        self.card.reasons.chosen.connect(self._give_reason_here)
        self.card.kinds.given.connect(self.give_kind)
        self.card.note.edited.connect(self._note)
        for number, box in enumerate(self.card.boxes):
            box.quote.clicked.connect(lambda _, number=number: self.reading.show_quote(number))
        for part, least in ((self.pane, 150), (self.reading, 260)):
            part.setMinimumWidth(least)
        # Wide enough that its reasons take few lines and everything is visible.
        theme.scale(self.card.setMinimumWidth, 330)
        self.hold((self.pane, self.reading, self.card), sizes=(225, 640, 345), stretch=(0, 1))
        self.grow(self.pane, 225)

    @property
    def case(self) -> VerdictCase | None:
        return self.cases.case(self.key)

    def show_cases(self, cases: CaseList, requested: CaseKey = (), *, chosen: bool = False) -> None:
        """Take over new cases; the current one stays, otherwise the first open one becomes current.

        `chosen`: whether they are different because the person made another choice.
        """
        self.cases.fill(cases)
        there = [key for key in (requested, self.key) if self.cases.number(key) is not None]
        # The person may be about to answer the case that is gone: the next key must not answer another one.
        self._replaced = bool(self.key) and not there and not chosen
        self.key = there[0] if there else self.cases.next_open(()) or self.cases.first()
        self.pane.show_open(self.key)
        self.pane.refill()
        self._show()

    def open(self, key: CaseKey) -> None:
        self.flow.touched()
        self.card.note.tell()
        if key != self.key and self.cases.number(key) is not None:
            self.key, self._replaced = key, False
            self.pane.show_open(key)
            self._show()

    def _show(self) -> None:
        case = self.case
        if case is None:
            self.moved.emit()
            return
        raters = {case.judge_id, case.person_id} - {""}
        result = self._session.ask(validation_ground.reading, case.protocol, case.place, raters)
        voices = voices_of(case, result.sides if result is not None else {})
        self.reading.show_reading(result, voices)
        number, every = (self.cases.number(case.key) or 0) + 1, self.cases.counted(CaseFilter.ALL)
        weight = f"weight {case.place.weight:g} · " if case.place.weight else ""
        where = f"Item \u2068{case.place.item_key}\u2069 · {weight}{number:,} of {every:,}"
        self.card.show_case(case, result, voices, where, self.reading)
        self._show_ruling()

    def _show_ruling(self) -> None:
        if (case := self.case) is not None:
            reason = self._reasons.get(case.key, case.reason)
            self.card.show_ruling(case, reason, self._notes.get(case.key, case.note))
        self.moved.emit()

    def say(self, place: int) -> None:
        case = self.case
        if case is None or self._session.project.readonly or self._is_held(case):
            return
        answer = self._answers[place]
        self._answer(case, answer.value, self._reasons.get(case.key, case.reason) if answer.asks else "")

    def _answer(self, case: VerdictCase, value: str, reason: str, kind: str = "") -> None:
        """Store an answer, and go on to the next open case."""
        self.card.note.tell()
        if self._saved(case, value, reason, kind=kind):
            self._show_ruling()
            self.flow.decided = case.key
            self.flow.advance()

    def _is_held(self, case: VerdictCase) -> bool:
        """Whether a key is ignored: it was typed for another case, or this one is answered and stays."""
        if self._replaced:
            self._replaced = False
            self.reported.emit("The list has changed: this is another case. Read it, then answer.")
        elif case.ruling and self.flow.is_spent(case.key):
            back = keys.shown("take_back")
            self.reported.emit(f"This was the last open case. {back} takes your answer back.")
        else:
            return False
        return True

    def give_reason(self, fault: Fault) -> None:
        """Set the reason, before or after the answer; the same reason again removes it.

        It is for the case answered last until another is touched: automatic advance does not redirect it.
        """
        last = self.cases.case(self.flow.decided)
        case = last if last is not None and self._asking(last.ruling) else self.case
        if case is None or self._session.project.readonly:
            return
        held = self._reasons.get(case.key, case.reason)
        reason = "" if held == fault.value else fault.value
        if not case.ruling:
            self._reasons[case.key] = reason
            self._show_ruling()
            return
        if not self._asking(case.ruling):
            return
        if self._saved(case, case.ruling, reason):
            self._show_ruling()
            if case.key != self.key:
                words = next((words for _, one, words in FAULTS if one == reason), "no reason")
                self.reported.emit(f"Item {case.place.item_key}, answered before: {words}.")

    def give_kind(self, place: int) -> None:
        """Set the kind of error of the verdict, which also accepts it; then go on to the next open case."""
        case = self.case
        taxonomy = case.taxonomy if case is not None and not self._session.project.readonly else None
        if case is not None and taxonomy is not None and place < len(taxonomy.values):
            self._answer(case, Review.AGREE.value, "", taxonomy.values[place])

    def _give_reason_here(self, fault: Fault) -> None:
        """Set a reason clicked on the current case's card, which is meant for that case."""
        self.flow.touched()
        self.give_reason(fault)

    def _asking(self, value: str) -> bool:
        return any(answer.value == value and answer.asks for answer in self._answers)

    def _note(self, note: str) -> None:
        case = self.case
        if case is None:
            return
        if not case.ruling or not self._saved(case, case.ruling, case.reason, note):
            self._notes[case.key] = note

    def _saved(
        self, case: VerdictCase, value: str, reason: str, note: str | None = None, kind: str = ""
    ) -> bool:
        written = self._notes.get(case.key, case.note) if note is None else note
        if not self._keep(case, value, reason, written, kind):
            return False
        self._reasons.pop(case.key, None)
        self._notes.pop(case.key, None)
        self.cases.say(case.key, value, reason, written, kind or case.kind)
        self.pane.recount()
        return True

    def step(self, by: int) -> None:
        if (case := self.cases.neighbour(self.key, by)) is not None:
            self.open(case.key)

    def next_open(self) -> None:
        key = self.cases.next_open(self.key)
        if key is None:
            self.finished.emit()
        else:
            self.open(key)

    def take_focus(self) -> None:
        self.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc returns to the case; from there arrows step through the list and page keys scroll the text."""
        steps = {int(Qt.Key.Key_Down): 1, int(Qt.Key.Key_Up): -1}
        if event.key() == Qt.Key.Key_Escape:
            self.take_focus()
        elif self.card.hasFocus() and event.key() in SCREENS:
            self.reading.turn(SCREENS[event.key()])
        elif self.card.hasFocus() and event.key() in steps:
            self.step(steps[event.key()])
        else:
            super().keyPressEvent(event)

    def stop(self) -> None:
        self.card.note.tell()


class _Flow(page.Flow):
    def __init__(self, bench: CaseBench) -> None:
        super().__init__(bench)
        self._bench = bench

    def _go_on(self) -> None:
        self._bench.next_open()


Chosen = Mapping[str, str]
# The names of choices by which other pages lead here.
CHOICES = ("protocol", "judge", "labels", "person", "order", "experts")


def judged(project: Project) -> dict[str, list[str]]:
    """The judges under each protocol by which judges judged."""
    return grouped((offer.protocol, offer.judge) for offer in reviews.offers(project))


def choice_of(name: str, words: str, values: Iterable[str], protocol: str) -> ViewChoice:
    """A choice under a protocol, whose values are their own titles."""
    return ViewChoice(name, words, tuple((value, value) for value in values), ("protocol", (protocol,)))


@dataclass(frozen=True, slots=True)
class CaseLook:
    """The cases of some choices, which are adjusted to what is offered; `refusal` says why there are none."""

    choices: Sequence[ViewChoice] = ()
    chosen: Chosen = field(default_factory=dict)
    outlook: CaseOutlook = NO_CASES
    refusal: Refusal | None = None

    @property
    def protocol(self) -> str:
        return self.chosen.get("protocol", "")


RECOUNT_MS, PAINTED_MS = 700, 30
WORK, NOTHING = 0, 1
"""Indexes in the stack: the cases, and the message if there are none."""


class CasePart(PagePart):
    """Choices above a stack with the cases, or the reason why there are none; figures are recomputed after a pause."""

    ANSWERS: ClassVar[Sequence[str]]
    """The acts whose keys answer, in the order of the answers."""
    OF_LABELS: ClassVar[bool]
    """Whether a case compares a verdict with a person's label."""
    WAY: ClassVar[Lead]
    """The page to go to first if there is no case, besides the runs of judges."""

    def __init__(
        self,
        session: ProjectSession,
        bar: ActsBar,
        words: BenchWords,
        answers: Sequence[VerdictAnswer],
        keep: Keep,
    ) -> None:
        super().__init__(session, bar)
        self._words = words
        self._chosen: Chosen = {}
        self.choices, self.stack = Choosers(first=0), QStackedWidget()
        self.bench = CaseBench(session, words, answers, keep)
        self.bench.reported.connect(lambda words: self.answer.show_message("info", words))
        self.bench.moved.connect(self.offer)
        self.bench.finished.connect(self.say_finished)
        self.nothing = EmptyState("validate", "Nothing to look at")
        label, page_name, place = self.WAY
        self.way = self.nothing.add_action(label, lambda: session.go(page_name, **place), primary=True)
        self.judging = self.nothing.add_action(
            "Run a judge", lambda: session.go("Judges", part="Runs"), primary=True
        )
        self.recount = later(self, self.count_anew, RECOUNT_MS)
        # Computing on another thread delays painting: what is there is painted first.
        self._soon = later(self, self.look, 0)
        self.go_to: CaseKey = ()
        """The case to open when the cases arrive."""
        self._acting = False
        self.choices.chosen.connect(self._choose)

    def go(self, place: Mapping[str, Any]) -> None:
        """Set the choices named in the place; `case` is a key."""
        self._chosen = {**self._chosen, **{name: str(place[name]) for name in CHOICES if name in place}}
        self.go_to = tuple(place.get("case", ()))
        self.fill()

    def _choose(self) -> None:
        self.bench.stop()
        self._chosen = self.choices.values()
        self.fill()

    def take_over(self, answer: CaseLook, before: CaseLook) -> None:
        """Show the choices and cases of an answer; unchanged ones stay as they are."""
        if answer.choices:
            self._chosen = answer.chosen
            self.choices.offer(answer.choices, answer.chosen)
        self.choices.setVisible(bool(answer.protocol))
        if self.go_to or answer.outlook is not before.outlook:
            self.bench.show_cases(answer.outlook.lines, self.go_to, chosen=answer.chosen != before.chosen)
        self.go_to = ()

    def show_nothing(self, headline: str, words: str, *, way: bool, judging: bool) -> None:
        """Show why there is no case, and offer where to go: the part's own `way`, or the runs of judges."""
        self.nothing.show_words(headline, words)
        self.way.setVisible(way)
        self.judging.setVisible(judging)

    def stand(self, work: QWidget, *others: QWidget, above: Sequence[QWidget] = ()) -> None:
        for view in (work, self.nothing, *others):
            self.stack.addWidget(view)
        self.lay_out(column_of(self.choices, *above, (self.stack, 1), spacing=6))

    def case_acts(self) -> Mapping[str, Callable[[], object]]:
        return {
            **{act: self._at_hand(self._say, place) for place, act in enumerate(self.ANSWERS)},
            **{act: self._at_hand(self.bench.give_reason, fault) for act, fault, _ in FAULTS},
            **{act: self._at_hand(self.bench.give_kind, place) for place, act in enumerate(OF_VERDICT)},
            "take_back": self._at_hand(self.session.take_back, "Validate"),
            "next_open": self.bench.next_open,
            "next_item": partial(self._step, 1),
            "previous_item": partial(self._step, -1),
            "note": self.bench.card.enter_note,
            "find": self._seek,
        }

    @property
    def at_work(self) -> bool:
        return self.stack.currentIndex() == WORK

    def offer(self) -> None:
        """Enable the acts on the current case, and show the progress."""
        some = self.at_work and self.bench.case is not None
        self.bar.enable("next_open", some)
        for act in self.ANSWERS:
            self.bar.enable(act, some and not self.session.project.readonly)
        self.bar.say(self.bench.pane.progress() if some else "")

    def say_finished(self) -> None:
        many, (_, lists, done) = self.bench.cases.counted(CaseFilter.ALL), self._words
        message = f"Nothing of this selection is open: {many:,} {lists.lower()}, all {done}."
        self.answer.show_message("success", message)

    def count_anew(self) -> None:
        """Recompute the figures of the answers."""

    def focus_first(self) -> None:
        ways = [way for way in (self.way, self.judging) if way.isVisible()]
        if self.at_work:
            self.bench.take_focus()
        else:
            (ways[0] if ways else self.choices.fold.button).setFocus()

    def turn(self, place: int) -> None:
        """Switch to a view; the focus follows if it was in the previous one."""
        held, moved = holds(self.stack), self.stack.currentIndex() != place
        self.stack.setCurrentIndex(place)
        if moved and held:
            self.focus_first()

    def keep_by(self, act: Callable[..., object], *words: object, **more: object) -> bool:
        """Store an answer that is already shown, and recompute only the figures; whether it was stored."""
        self._acting = True
        done = self.session.do(act, *words, **more) is not None
        self._acting = False
        if done:
            self.recount.start(RECOUNT_MS)
        return done

    def on_change(self, change: Change) -> None:
        """Ignore changes made here, which already show; after undo or redo, go to the case concerned."""
        if self._acting:
            return
        about: Mapping[str, Any] = (change.after or change.before or {}) if change.kind == "informed" else {}
        if about and self.session.turning and bool(about.get("label_of")) == self.OF_LABELS:
            self.bench.flow.touched()
            names = ("judge_id", "response_id", "unit_id", "label_of")
            self.go_to = tuple(str(about.get(name) or "") for name in names)
        self.fill()

    def _at_hand(self, act: Callable[..., object], *words: object) -> Callable[[], object]:
        """The act, effective while the focus is in the cases."""

        def do() -> None:
            if self.at_work and holds(self.bench):
                act(*words)

        return do

    def _say(self, place: int) -> None:
        self.answer.clear()
        self.bench.say(place)

    def _step(self, by: int) -> None:
        if self.at_work:
            self.bench.step(by)

    def _seek(self) -> None:
        (self.bench.pane if holds(self.bench.pane) else self.bench.reading).seek()

    def fill(self) -> None:
        """Query everything again; the current case stays."""
        self.session.forget(self)
        self.recount.stop()
        self._soon.start()

    def look(self) -> None:
        """Query the current cases."""

    def keep(self) -> None:
        self.bench.stop()

    def stop(self) -> None:
        self.bench.stop()
