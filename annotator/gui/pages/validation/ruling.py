"""Disagreements tab: rulings one by one, their effect on the figures, and unclear criteria."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QListWidget, QWidget

from annotator.actions.judging.judge_runs import title
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.results.result_sheets import ViewChoice
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import reviews, validation_ground, validation_sets
from annotator.actions.sets.reviews import PAIR, RewordingPlace, StaleJudgements, VerdictCase
from annotator.actions.sets.validation_figures import TITLES
from annotator.actions.sets.validation_ground import ClosedTestPart, ReadingSide, SetLook
from annotator.actions.studies.result_views import fitted
from annotator.actions.validation import disagreements
from annotator.actions.validation.disagreements import RuledJudge, UnclearCriterion
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.common import Refusal, counted, grouped, in_window
from annotator.domain.judges.judge import InformedRuling
from annotator.domain.judges.validation import Split
from annotator.domain.texts.estimate import Estimate, decimal, interval
from annotator.gui.pages.validation.case_bench import (
    NOTHING,
    PAINTED_MS,
    WORK,
    CaseLook,
    CasePart,
    Chosen,
    choice_of,
    judged,
)
from annotator.gui.pages.validation.case_cards import ACTS, RULINGS, is_roomy
from annotator.gui.pages.validation.figures import NO_CHOICE, TestPartGate, opened
from annotator.gui.review.verdict_words import face
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import ActsBar, Command, KeyButton
from annotator.gui.widgets.basics import (
    KeylessArea,
    PlainLabel,
    RoleFrame,
    Stack,
    StretchSpace,
    column_of,
    direction_of,
    horizontal,
    push_button,
    tooltip,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.fields import GrowingEdit
from annotator.gui.widgets.splitter import Splitter

NOTE = (
    "The criterion keeps its place, weight and id. Judges are asked again about this criterion only; "
    "verdicts on the old wording no longer count. People label it again once they reopen their labels."
)
NONE = (
    "No criterion is unclear",
    "Criteria you rule unclear are listed here, to be reworded in their rubric.",
)


class UnclearPanel(Pane):
    settled = Signal(object)
    """The UnclearCriterion that was reworded."""
    ordered = Signal(object)
    """An order was put into the queue of runs."""
    closed = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._protocol = ""
        self._unclear: Sequence[UnclearCriterion] = ()
        self._cases: Sequence[VerdictCase] = ()
        self._pending: tuple[str, Sequence[UnclearCriterion], Sequence[VerdictCase]] | None = None
        """What is still to be shown: every look brings it, also while the panel is out of view."""
        self._again: Sequence[StaleJudgements] = ()
        self._typed: dict[str, str] = {}
        self._way: RewordingPlace | None = None
        self.list = with_properties(QListWidget(), accessibleName="Unclear criteria", wordWrap=True)
        self.back = push_button("Back to the disagreements", self.closed)
        self.title, self.unit = PlainLabel("", "hint"), PlainLabel("", "subtitle", wrap=True)
        self.cases = PlainLabel("", wrap=True)
        self.words = GrowingEdit(
            least=2,
            most=8,
            accessibleName="Reword it",
            edited=self._keep,
            left=lambda: self.list.setFocus(Qt.FocusReason.OtherFocusReason),
        )
        self.refused = PlainLabel("", "hint", wrap=True)
        self.settle_button = KeyButton(
            "Save the new wording", act="submit", role="primary", press=self.settle
        )
        self.open_button = push_button("Open the rubric", self._open)
        self.again = PlainLabel("", wrap=True)
        self.judge_button = KeyButton("Judge it again", act="judge_anew", press=self.judge_again)
        inside = QWidget()
        heading = PlainLabel("Reword it", "strong")
        vertical(
            self.title,
            self.unit,
            self.cases,
            heading,
            self.words,
            PlainLabel(NOTE, "hint", wrap=True),
            self.refused,
            horizontal(self.settle_button, self.open_button, StretchSpace(1)),
            StretchSpace(1),
            on=inside,
            margins=(12, 4, 8, 8),
            spacing=8,
        )
        self.nothing = EmptyState("check", *NONE)
        self.right = Stack(KeylessArea("The criterion", inside), self.nothing)
        left = column_of((self.list, 1), self.back)
        parts = Splitter("validate/unclear", parts=(left, self.right), sizes=(380, 720))
        vertical((parts, 1), horizontal((self.again, 1), self.judge_button), on=self, margins=0)
        self.list.currentRowChanged.connect(lambda _: self._show_chosen())

    def show_cases(
        self,
        protocol: str,
        unclear: Sequence[UnclearCriterion],
        cases: Sequence[VerdictCase],
        again: Sequence[StaleJudgements],
    ) -> None:
        self._pending, self._again = (protocol, unclear, cases), again
        self.again.setText(
            f"To be judged again: {' '.join(judgements.words() for judgements in again)}"
            if again
            else "Nothing needs to be judged again."
        )
        self.judge_button.setEnabled(bool(again) and not self.session.project.readonly)
        if self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fill()

    def _fill(self) -> None:
        if self._pending is None:
            return
        unit_id = self._chosen.unit_id if self._chosen is not None else ""
        (self._protocol, unclear, self._cases), self._pending = self._pending, None
        self._unclear = unclear
        with QSignalBlocker(self.list):
            self.list.clear()
            self.list.addItems([
                f"{one.times:,} ×  item {one.item_key}: \u2068{one.words or PAIR}\u2069" for one in unclear
            ])  # fmt: skip
            ids = [one.unit_id for one in unclear]
            self.list.setCurrentRow(ids.index(unit_id) if unit_id in ids else 0)
        self._show_chosen()

    @property
    def _chosen(self) -> UnclearCriterion | None:
        row = self.list.currentRow()
        return self._unclear[row] if 0 <= row < len(self._unclear) else None

    def _show_chosen(self) -> None:
        criterion = self._chosen
        self.right.setCurrentIndex(0 if criterion is not None else 1)
        self.settle_button.setEnabled(criterion is not None)
        if criterion is None:
            return
        self.title.setText(f"Item {criterion.item_key} · ruled unclear {counted(criterion.times, 'time')}")
        self.unit.setText(criterion.words or PAIR)
        self.unit.setLayoutDirection(direction_of(criterion.words))
        self.cases.setText("\n".join(self._case_lines(self._cases_of(criterion))))
        self.words.setPlainText(self._typed.get(criterion.unit_id, criterion.words))
        self._way = way = self.session.ask(reviews.way, self._protocol, criterion.item_id, criterion.unit_id)
        refused = way.refused if way is not None else ""
        readonly = self.session.project.readonly
        self.refused.show_words(refused)
        self.words.setReadOnly(bool(refused) or readonly)
        self.settle_button.setEnabled(not refused and not readonly)
        self.open_button.setVisible(bool(way and way.page))

    def _cases_of(self, criterion: UnclearCriterion) -> list[VerdictCase]:
        unit = (criterion.item_id, criterion.unit_id)
        return [
            case
            for case in self._cases
            if (case.place.item_id, case.place.unit_id) == unit
            and case.ruling == InformedRuling.UNCLEAR.value
        ]

    def _case_lines(self, cases: Sequence[VerdictCase]) -> Iterator[str]:
        """Each case in a line or two: each side's answer and reason, and the note of the ruling."""
        raters = {rater for case in cases for rater in (case.judge_id, case.person_id)}
        places = {case.place.key for case in cases}
        result = self.session.ask(validation_ground.sides, self._protocol, raters, places) or {}
        for case in cases:
            labels = (
                (case.judge_id, case.judge, case.judge_value),
                (case.person_id, case.alias, case.label_value),
            )
            sides = "; ".join(
                f"{name} says “{face(value, self._protocol).words}”"
                f"{_because(result.get((rater, case.place.key), ReadingSide()).why)}"
                for rater, name, value in labels
            )
            yield f"• {sides}.{f' Noted: {case.note}' if case.note else ''}"

    def _keep(self, words: str) -> None:
        if self._chosen is not None:
            self._typed[self._chosen.unit_id] = words

    def settle(self) -> None:
        criterion = self._chosen
        if criterion is None or not self.settle_button.isEnabled():
            return
        self.words.tell()
        notes = "; ".join(case.note for case in self._cases_of(criterion) if case.note)
        why = f"{reviews.WHY} {notes}".strip()
        done = self.session.do(
            reviews.word, self._protocol, criterion.item_id, criterion.unit_id, self.words.toPlainText(), why
        )
        if done is not None:
            self._typed.pop(criterion.unit_id, None)
            self.settled.emit(criterion)

    def judge_again(self) -> None:
        if not self.judge_button.isEnabled():
            return
        orders = [one.order for one in self._again]
        queued = [self.session.do(reviews.queue_up, order.judge, order.protocol) for order in orders]
        if any(queued):
            self.ordered.emit([order for order in queued if order is not None])

    def _open(self) -> None:
        if self._way is not None:
            self.session.go(self._way.page, **self._way.place)

    def take_focus(self) -> None:
        if self._chosen is not None and not self.words.isReadOnly():
            self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            (self.list if self._unclear else self.back).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc returns to the disagreements; in the words, to the list."""
        if event.key() == Qt.Key.Key_Escape and not self.words.hasFocus():
            self.closed.emit()
        else:
            super().keyPressEvent(event)


def _because(why: str) -> str:
    return f": {' '.join(why.split())}".rstrip(".") if why else ""


EVERY = "*"


def query_of(chosen: Chosen, opening: str = "") -> ValidationQuery:
    """The labels of a choice, which names a set and its part, and the raters; `EVERY` is no restriction."""
    set_name, _, part = chosen["labels"].rpartition("|")
    judge, person = ("" if chosen[name] == EVERY else chosen[name] for name in ("judge", "person"))
    against = (person,) if person else ()
    return ValidationQuery(chosen["protocol"], set_name, part, against, judge, opening=opening)


@dataclass(frozen=True, slots=True)
class RulingLook(CaseLook):
    """The cases, under a counted look if they are of a test part; `ruled` are the figures, None until computed."""

    opening: str = ""
    ruled: Sequence[RuledJudge] | None = None
    unclear: Sequence[UnclearCriterion] = ()
    again: Sequence[StaleJudgements] = ()


def look(
    project: Project, chosen: Chosen = NO_CHOICE, looks: Mapping[str, SetLook] = NO_CHOICE
) -> RulingLook:
    """Everything but the figures for a choice, adjusted to what is available; a refusal is part of the answer."""
    try:
        people.refuse_others(project, "is shown judges beside people")
        choices, chosen = fitted([*_choices(project)], chosen)
        result = RulingLook(choices, chosen)
        if not result.protocol:
            return result
        result = replace(
            result,
            unclear=disagreements.unclear(project, result.protocol),
            again=reviews.waiting(project, result.protocol),
        )
    except Refusal as refusal:
        return RulingLook((), chosen, refusal=refusal)
    try:
        query = query_of(chosen)
        opening = opened(project, query.set_name, query.part, looks)
        outlook = disagreements.outlook(project, replace(query, opening=opening))
        return replace(result, opening=opening, outlook=outlook)
    except Refusal as refusal:
        return replace(result, refusal=refusal)


def _choices(project: Project) -> Iterator[ViewChoice]:
    under = judged(project)
    yield ViewChoice("protocol", "What", tuple((title(name), name) for name in under))
    sets = grouped((one.protocol, one) for one in validation_sets.sets(project) if one.locked_at is not None)
    for protocol, names in under.items():
        parts = [
            (f"{one.name} · {part} part{looks}", f"{one.name}|{part}")
            for one in sets.get(protocol, ())
            for part, looks in ((Split.DEV, ""), (Split.TEST, f", {counted(one.openings, 'look')}"))
        ]
        labels = ("All submitted labels", ""), *parts
        yield ViewChoice("labels", "Labels", labels, ("protocol", (protocol,)))
        judges = choice_of("judge", "Judge", names, protocol)
        yield replace(judges, values=(*judges.values, ("All judges", EVERY))) if names[1:] else judges
    persons = [(person.alias, person.alias) for person in people.people(project) if person.active]
    every = ("Everybody", EVERY), *persons, ("The consensus", CONSENSUS)
    yield ViewChoice("person", "Against", every)


def figures(project: Project, query: ValidationQuery) -> Sequence[RuledJudge]:
    """The figures of a choice; empty if they are not available any more."""
    try:
        return disagreements.report(project, query)
    except Refusal:
        return ()


SHOWN = (
    ("accuracy", "accuracy"),
    ("kappa", "κ"),
    *((name, TITLES[name][0]) for name in ("kappa_quadratic", "icc", "absolute_difference")),
    ("f1", "F1"),
)
METRIC = (
    "First labels stay the metric; labels never change. Rulings are a second column and can only raise "
    "agreement, because errors shared by both sides are never reviewed."
)


class ColumnsStrip(RoleFrame):
    def __init__(self) -> None:
        super().__init__("card")
        self.words, self.rule = PlainLabel("", wrap=True), PlainLabel(METRIC, wrap=True)
        vertical(self.words, self.rule, on=self, margins=(10, 5, 6, 5), spacing=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window, move what is the same for every judge into the tooltip, to make room for the case."""
        super().resizeEvent(event)
        self.rule.setVisible(is_roomy(self))

    def show_judge(self, judges: Sequence[RuledJudge] | None, case: VerdictCase, more: str = "") -> None:
        """Show the columns of the judge in view, once they are computed; `more` is added at the end."""
        mine = [one for one in judges or () if one.rater.id == case.judge_id]
        mine = [one for one in mine if one.rater.prompt == case.prompt] or mine
        if not mine:
            counting = f"{case.judge}: its figures are being counted." if judges is None else ""
            self.words.setText(f"{counting} {more}".strip())
            self.words.setToolTip(tooltip(METRIC))
            return
        one = mine[0]
        ruled = sum(one.rulings.values()) > 0
        shown = [(name, words) for name, words in SHOWN if name in one.first.plain]
        pairs = [
            f"{words} {_value(first)}" + (f" → {_value(one.ruled.plain[name])}" if ruled else "")
            for name, words in shown
            for first in (one.first.plain[name],)
        ]
        spans = any(one.first.plain[name].low is not None for name, _ in shown)
        method = "95 % intervals over items" if spans else "too few items for an interval"
        before, after = (of.plain[shown[0][0]] for of in (one.first, one.ruled))
        rest = f"; {counted(one.open, 'disagreement')} not ruled on" if one.open else ""
        columns = "first labels → after the rulings" if ruled else "first labels"
        n = f"{before.n:,} → {after.n:,}" if ruled else f"{before.n:,}"
        self.words.setText(
            f"{one.rater.name}, {columns}: {' · '.join(pairs)} (n = {n}, {method}{rest}). {more}".strip()
        )
        meanings = (f"{TITLES[name][0]}: {TITLES[name][1]}" for name, _ in shown)
        self.words.setToolTip(tooltip("\n".join((METRIC, *meanings))))


def _value(estimate: Estimate) -> str:
    """A figure with its interval; “undefined” if it has no value."""
    if estimate.value is None:
        return "undefined"
    return f"{_short(estimate.value)} {interval(estimate, _short)}".rstrip()


def _short(value: float) -> str:
    return decimal(value, 2)


LEFT = (Command("unclear_criteria", "Unclear", "question", "Criteria ruled unclear, to be reworded"),)
RIGHT = (
    Command("next_open", "Next open", hint="Next open disagreement"),
    *(Command(act, answer.words, hint=answer.hint) for act, answer in zip(ACTS, RULINGS, strict=True)),
)
WORDS = "validate/ruling", "Disagreements", "ruled"
GATE, UNCLEAR = range(NOTHING + 1, NOTHING + 3)


class RulingPart(CasePart):
    """The Disagreements tab: choices; below them figures, list, report and verdict, or the unclear criteria."""

    ANSWERS, OF_LABELS = ACTS, True
    WAY = "To the sets", "Validate", {"part": "Sets"}

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar(LEFT, RIGHT), WORDS, RULINGS, self._keep)
        self._look = RulingLook()
        self._entering = False
        self.strip, self.unclear = ColumnsStrip(), UnclearPanel(session)
        self.gate = TestPartGate(session, self.fill, self._stay_closed)
        self.unclear.closed.connect(self._toggle_unclear)
        self.unclear.settled.connect(self._say_settled)
        self.unclear.ordered.connect(self._say_ordered)
        self.acts = {
            **self.case_acts(),
            "unclear_criteria": self._toggle_unclear,
            "submit": self._submit,
            "judge_anew": self.unclear.judge_again,
        }
        self.stand(column_of(self.strip, (self.bench, 1), spacing=6), self.gate, self.unclear)

    def look(self) -> None:
        self.session.ask_later(self._looked, look, self._chosen, dict(self.gate.looks))

    def go(self, place: Mapping[str, Any]) -> None:
        """Set the choices named in the place; `case` is a key, `unclear` opens the unclear criteria."""
        super().go(place)
        if place.get("unclear"):
            self.stack.setCurrentIndex(UNCLEAR)

    def _looked(self, look: RulingLook) -> None:
        # Text being typed in the note belongs to the current case and its choices.
        self.bench.card.note.tell()
        before = self._look
        same = (look.chosen, look.opening) == (before.chosen, before.opening)
        self._look = replace(look, ruled=before.ruled if same else None)
        self.take_over(look, before)
        self.unclear.show_cases(look.protocol, look.unclear, look.outlook.lines, look.again)
        self.bar.set_words("unclear_criteria", f"Unclear ({len(look.unclear):,})")
        self._turn(look)
        if self._entering and self.stack.currentIndex() == UNCLEAR:
            self.unclear.take_focus()
        self._entering = False
        self.offer()
        if look.outlook.judged and self.isVisible():
            self.recount.start(PAINTED_MS)

    def _turn(self, look: RulingLook) -> None:
        if self.stack.currentIndex() == UNCLEAR and look.choices:
            return
        if isinstance(look.refusal, ClosedTestPart):
            self.gate.ask(look.refusal.seen)
            self.turn(GATE)
        elif look.outlook.lines:
            self.turn(WORK)
        else:
            refused = look.refusal is not None
            self.show_nothing(*_nothing(look), way=refused, judging=not (refused or look.outlook.judged))
            self.turn(NOTHING)

    def offer(self) -> None:
        super().offer()
        self.bar.enable("unclear_criteria", bool(self._look.protocol))
        if (case := self.bench.case) is not None:
            more = _held_back(self._look) if self._look.outlook.held_back else ""
            self.strip.show_judge(self._look.ruled, case, more)

    def _keep(self, case: VerdictCase, value: str, reason: str, note: str, _kind: str) -> bool:
        return self.keep_by(
            disagreements.rule, case, InformedRuling(value), reason=reason, note=note, protocol=case.protocol
        )  # fmt: skip

    def count_anew(self) -> None:
        self.session.ask_later(self._counted, figures, query_of(self._look.chosen, self._look.opening))

    def _counted(self, ruled: Sequence[RuledJudge]) -> None:
        self._look = replace(self._look, ruled=ruled)
        self.offer()

    def _submit(self) -> None:
        if self.stack.currentIndex() == UNCLEAR:
            self.unclear.settle()
        else:
            self.bench.next_open()

    def _toggle_unclear(self) -> None:
        if self.stack.currentIndex() == UNCLEAR:
            self.stack.setCurrentIndex(WORK)
            self._turn(self._look)
            self.focus_first()
        elif self._look.protocol:
            self.bench.stop()
            self.stack.setCurrentIndex(UNCLEAR)
            self._entering = True
            self.unclear.take_focus()
            self.fill()
        self.offer()

    def _stay_closed(self) -> None:
        chosen = self._look.chosen
        self._chosen = {**chosen, "labels": f"{chosen['labels'].rpartition('|')[0]}|{Split.DEV}"}
        self.fill()

    def say_finished(self) -> None:
        super().say_finished()
        if self._look.unclear:
            self.answer.set_action("Unclear criteria", self._toggle_unclear, "unclear_criteria")

    def _say_settled(self, criterion: UnclearCriterion) -> None:
        self.answer.show_message(
            "success", f"The criterion of item {criterion.item_key} is reworded.",
            "Judges must still judge it again; people label it again once they reopen their labels.",
        )  # fmt: skip
        self._entering = True
        self.fill()

    def _say_ordered(self, orders: Sequence[RunRequest]) -> None:
        self.answer.show_message(
            "success", f"{counted(len(orders), 'run')} in the queue.", "Start it on Judges."
        )
        self.answer.set_action("To the queue", lambda: self.session.go("Judges", part="Runs"))

    def focus_first(self) -> None:
        place = self.stack.currentIndex()
        if place == UNCLEAR:
            self.unclear.take_focus()
        elif place == GATE:
            self.gate.setFocus()
        else:
            super().focus_first()


def _held_back(look: RulingLook) -> str:
    return (
        f"{counted(look.outlook.held_back, 'more disagreement')} on items that you still have to label blind."
    )


def _nothing(look: RulingLook) -> tuple[str, str]:
    if look.refusal is not None:
        return look.refusal.happened.rstrip("."), in_window(look.refusal.todo)
    if not look.protocol:
        return "No judge has judged anything yet", "Run a judge on the reports that people labelled."
    if not look.outlook.judged:
        return (
            "No judge has judged these reports",
            "Choose another judge or other labels, or run this judge on them.",
        )
    if look.outlook.held_back:
        return (
            "Hidden until you submit your labels",
            f"There are {_held_back(look)} Submit your labels of them first.",
        )
    return "No disagreements", "On these labels the judge and the people agree on every unit."
