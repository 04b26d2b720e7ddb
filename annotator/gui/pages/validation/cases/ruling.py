"""Disagreements tab: disagreements of judges and people, ruled on one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import validation_sets
from annotator.actions.sets.validation_figures import TITLES
from annotator.actions.sets.validation_ground import ValidationRater
from annotator.actions.validation import disagreements
from annotator.actions.validation.disagreements import Disagreement, RuledJudge, UnclearCriterion
from annotator.domain.judges.informed import InformedRuling
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate, decimal, interval
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.validation.cases import ruling_look
from annotator.gui.pages.validation.cases.case_bench import BenchWords
from annotator.gui.pages.validation.cases.case_card import is_roomy
from annotator.gui.pages.validation.cases.case_part import PAINTED_MS, WORK, CasePart
from annotator.gui.pages.validation.cases.faults import ACTS, RULINGS
from annotator.gui.pages.validation.cases.ruling_look import RulingChoice, RulingLook
from annotator.gui.pages.validation.cases.unclear_panel import UnclearPanel
from annotator.gui.pages.validation.cases.verdict_cases import VerdictCase
from annotator.gui.pages.validation.looking import CountedLook, TestPartGate
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.basics import PlainLabel, column_of, horizontal, push_button, tooltip, vertical
from annotator.gui.widgets.empty_state import EmptyState

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


class ColumnsStrip(QFrame):
    """Figures in words, and a link to all of them."""

    figures_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.words, self.rule = PlainLabel("", wrap=True), PlainLabel(METRIC, wrap=True)
        self.jump = push_button("All figures", self.figures_wanted, "quiet")
        column = vertical(self.words, self.rule, margins=0, spacing=0)
        horizontal((column, 1), self.jump, on=self, margins=(10, 5, 6, 5))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the case needs the room of what is the same for every judge: it stands in the tooltip."""
        super().resizeEvent(event)
        self.rule.setVisible(is_roomy(self))

    def show_judge(self, found: Sequence[RuledJudge] | None, judge: ValidationRater, more: str = "") -> None:
        """Show the columns of the judge in view, where they are counted; `more` is said at the end."""
        mine = [one for one in found or () if one.rater.id == judge.id]
        mine = [one for one in mine if one.rater.prompt == judge.prompt] or mine
        if not mine:
            counting = f"{judge.name}: its figures are being counted." if found is None else ""
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
    """A figure with its interval; never a number where there is none."""
    if estimate.value is None:
        return "undefined"
    return f"{_short(estimate.value)} {interval(estimate, _short)}".rstrip()


def _short(value: float) -> str:
    return decimal(value, 2)


LEFT = (Command("unclear_criteria", "Unclear", "question", "Criteria ruled unclear, to be reworded"),)
RIGHT = (
    Command("previous_item", "Back", hint="The disagreement before"),
    Command("next_item", "On", hint="The next disagreement"),
    Command("next_open", "Next open", hint="Next open disagreement"),
    *(Command(act, answer.words, hint=answer.hint) for act, answer in zip(ACTS, RULINGS, strict=True)),
)
WORDS = BenchWords("validate/ruling", "Disagreements", "ruled", "Stay until a reason is given")
NOTHING, GATE, UNCLEAR = range(WORK + 1, WORK + 4)


class RulingPart(CasePart):
    """Choices above; figures, list, report and verdict below; unclear criteria in their place."""

    NAMES = {"protocol": "What", "labels": "Labels", "judge": "Judge", "person": "Against"}
    ANSWERS, OF_LABELS = ACTS, True

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT), WORDS, RULINGS, self._keep)
        self._wanted = RulingChoice()
        self._looks: dict[str, CountedLook] = {}
        self._found = RulingLook(RulingChoice(), {})
        self._entering = False
        self.strip, self.unclear, self.gate = ColumnsStrip(), UnclearPanel(desk), TestPartGate()
        self.nothing = EmptyState("validate", "Nothing to rule on")
        self.way = self.nothing.add_action("To the sets", self._to_sets, primary=True)
        self.judging = self.nothing.add_action("Run a judge", self._to_runs, primary=True)
        self._listen()
        self.acts = {
            **self.case_acts(),
            "unclear_criteria": self._toggle_unclear,
            "submit": self._submit,
            "judge_anew": self.unclear.judge_again,
        }
        for view in (self._work(), self.nothing, self.gate, self.unclear):
            self.stack.addWidget(view)
        self.stand()

    def _work(self) -> QWidget:
        return column_of(self.strip, (self.bench, 1), spacing=6)

    def _listen(self) -> None:
        self.recount.timeout.connect(self._count_anew)
        self.choices.changed.connect(self._choose)
        self.strip.figures_wanted.connect(lambda: self.desk.go("Validate", part="Figures"))
        self.bench.moved.connect(self._show_case)
        self.bench.finished.connect(self._say_finished)
        self.gate.opened.connect(self._open_test)
        self.gate.declined.connect(self._stay_closed)
        self.unclear.closed.connect(self._toggle_unclear)
        self.unclear.settled.connect(self._say_settled)
        self.unclear.ordered.connect(self._say_ordered)

    def look(self) -> None:
        answer = partial(self._looked, self.asked)
        self.desk.ask_later(answer, ruling_look.look, self._wanted, dict(self._looks))

    def go(self, place: Mapping[str, Any]) -> None:
        """Choose a judge, labels, a protocol or a person; `case` is a key, `unclear` opens the unclear criteria."""
        names = {name: str(place[name]) for name in self.NAMES if name in place}
        self._wanted = replace(self._wanted, **names)
        self.go_to = tuple(place.get("case", ()))
        self.fill()
        if place.get("unclear"):
            self.stack.setCurrentIndex(UNCLEAR)

    def _choose(self) -> None:
        self.bench.stop()
        self._wanted = RulingChoice(**{name: self.choices.value(name) for name in self.NAMES})
        self.fill()

    def _looked(self, asked: int, found: RulingLook) -> None:
        if self.stopped or asked != self.asked:
            return
        # A note that is being typed belongs to the case that is still at hand, and to its choices.
        self.bench.card.note.tell()
        before = self._found
        same = (found.choice, found.opening) == (before.choice, before.opening)
        self._found = replace(found, ruled=before.ruled if same else None)
        if found.options:
            self._wanted = found.choice
            self.choices.offer_all(found.options, asdict(found.choice))
        self.choices.setVisible(bool(found.choice.protocol))
        if self.go_to or found.outlook is not before.outlook:
            self.bench.show_cases(found.cases, self.go_to, chosen=found.choice != before.choice)
        self.go_to = ()
        self.unclear.show_found(found.choice.protocol, found.unclear, found.outlook.shown, found.again)
        self.bar.set_words("unclear_criteria", f"Unclear ({len(found.unclear):,})")
        self._turn(found)
        if self._entering and self.stack.currentIndex() == UNCLEAR:
            self.unclear.take_focus()
        self._entering = False
        self._offer()
        if found.outlook.judged and self.isVisible():
            self.recount.start(PAINTED_MS)

    def _turn(self, found: RulingLook) -> None:
        if self.stack.currentIndex() == UNCLEAR and found.options:
            return
        if found.closed is not None:
            self.gate.ask(found.closed)
            self.turn(GATE)
            return
        if found.outlook.shown:
            self.turn(WORK)
            return
        self.nothing.show_words(*_nothing(found))
        self.way.setVisible(found.refusal is not None)
        self.judging.setVisible(found.refusal is None and not found.outlook.judged)
        self.turn(NOTHING)

    def _offer(self) -> None:
        some = bool(self._found.outlook.shown)
        self.offer_answers(self.at_work and some)
        self.bar.enable("unclear_criteria", bool(self._found.choice.protocol))
        self.bar.say(self.bench.pane.progress() if some else "")

    def _show_case(self) -> None:
        one: Disagreement | None = self.bench.cases.line(self.bench.key)
        if one is not None:
            more = _held_back(self._found) if self._found.outlook.withheld else ""
            self.strip.show_judge(self._found.ruled, one.judge, more)
        self._offer()

    def _keep(self, case: VerdictCase, said: str, reason: str, note: str, _kind: str) -> bool:
        one = self.bench.cases.line(case.key)
        return one is not None and self.keep_by(
            disagreements.rule, one, InformedRuling(said), reason=reason, note=note,
            protocol=self._found.choice.protocol,
        )  # fmt: skip

    def _count_anew(self) -> None:
        query = self._found.choice.query(self._found.opening)
        self.desk.ask_later(partial(self._counted, self.asked), ruling_look.figures, query)

    def _counted(self, asked: int, ruled: Sequence[RuledJudge]) -> None:
        if not self.stopped and asked == self.asked:
            self._found = replace(self._found, ruled=ruled)
            self._show_case()

    def _submit(self) -> None:
        if self.stack.currentIndex() == UNCLEAR:
            self.unclear.settle()
        else:
            self.bench.next_open()

    def _toggle_unclear(self) -> None:
        if self.stack.currentIndex() == UNCLEAR:
            self.stack.setCurrentIndex(WORK)
            self._turn(self._found)
            self.focus_first()
        elif self._found.choice.protocol:
            self.bench.stop()
            self.stack.setCurrentIndex(UNCLEAR)
            self._entering = True
            self.unclear.take_focus()
            self.fill()
        self._offer()

    def _open_test(self) -> None:
        seen = self._found.closed
        if seen is None:
            return
        opening = self.desk.do(validation_sets.open_test, seen.name, list(seen.judges))
        if opening is not None:
            self._looks[seen.set_id] = CountedLook(seen, opening.id)
            self.fill()

    def _stay_closed(self) -> None:
        choice = self._found.choice
        self._wanted = replace(choice, labels=f"{choice.set_name}|dev")
        self.fill()

    def _say_finished(self) -> None:
        many = counted(len(self._found.outlook.shown), "disagreement")
        self.answer.show_message("success", f"All disagreements of this selection are ruled on: {many}.")
        if self._found.unclear:
            shown = keys.shown("unclear_criteria")
            self.answer.set_action(f"Unclear criteria  {shown}", self._toggle_unclear)

    def _say_settled(self, one: UnclearCriterion) -> None:
        self.answer.show_message(
            "success", f"The criterion of item {one.item_key} is reworded.",
            "Judges must still judge it again; people label it again once they reopen their labels.",
        )  # fmt: skip
        self._entering = True
        self.fill()

    def _say_ordered(self, orders: Sequence[RunRequest]) -> None:
        self.answer.show_message(
            "success", f"{counted(len(orders), 'run')} in the queue.", "Start it on Judges."
        )
        self.answer.set_action("To the queue", lambda: self.desk.go("Judges", part="Runs"))

    def _to_runs(self) -> None:
        self.desk.go("Judges", part="Runs")

    def _to_sets(self) -> None:
        self.desk.go("Validate", part="Sets")

    def focus_first(self) -> None:
        """Work begins at the current case."""
        place = self.stack.currentIndex()
        if place == WORK:
            self.bench.take_focus()
        elif place == UNCLEAR:
            self.unclear.take_focus()
        else:
            ways = [way for way in (self.way, self.judging) if place == NOTHING and way.isVisible()]
            (ways[0] if ways else self.gate).setFocus()

    def rebind(self) -> None:
        super().rebind()
        self.unclear.show_keys()


def _held_back(found: RulingLook) -> str:
    """How many are not shown to anyone who must not know yet what others say."""
    return (
        f"{counted(found.outlook.withheld, 'more disagreement')} on items that you still have to label blind."
    )


def _nothing(found: RulingLook) -> tuple[str, str]:
    """Why there is nothing to rule on."""
    if found.refusal is not None:
        return found.refusal.happened.rstrip("."), found.refusal.todo
    if not found.choice.protocol:
        return "No judge has judged anything yet", "Run a judge on the reports that people labelled."
    if not found.outlook.judged:
        return (
            "No judge has judged these reports",
            "Choose another judge or other labels, or run this judge on them.",
        )
    if found.outlook.withheld:
        return (
            "Hidden until you submit your labels",
            f"There are {_held_back(found)} Submit your labels of them first.",
        )
    return "No disagreements", "On these labels the judge and the people agree on every unit."
