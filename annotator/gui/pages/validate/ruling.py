"""The desk on which disagreements of judges and people are ruled on, one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from annotator.actions import disagreements, validation_sets
from annotator.actions.disagreements import Disagreement, Ruled, Unclear
from annotator.actions.judge_cases import Order
from annotator.domain.change import Change
from annotator.domain.counting import counted
from annotator.domain.informed import Ruling as RulingSaid
from annotator.gui import keys
from annotator.gui.desk import Desk
from annotator.gui.models.verdict_cases import Key, VerdictCase
from annotator.gui.pages.validate import ruling_look
from annotator.gui.pages.validate.case_bench import CaseBench, Words
from annotator.gui.pages.validate.choice_row import ChoiceRow
from annotator.gui.pages.validate.columns_strip import ColumnsStrip
from annotator.gui.pages.validate.faults import ACTS, FAULTS, RULINGS
from annotator.gui.pages.validate.looking import Gate, Look
from annotator.gui.pages.validate.ruling_look import Choice, Looked
from annotator.gui.pages.validate.unclear_panel import UnclearPanel
from annotator.gui.part import Part
from annotator.gui.widgets.acts_bar import ActsBar, Deed
from annotator.gui.widgets.empty_state import EmptyState

LEFT = (
    Deed("unclear_criteria", "Unclear", "question", "Criteria that were ruled unclear, to be worded anew"),
)
RIGHT = (
    Deed("previous_item", "Back", hint="The disagreement before"),
    Deed("next_item", "On", hint="The next disagreement"),
    Deed("next_open", "Next open", hint="The next that is not ruled on"),
    *(Deed(act, answer.words, hint=answer.hint) for act, answer in zip(ACTS, RULINGS, strict=True)),
)
NAMES = {"protocol": "What", "labels": "Labels", "judge": "Judge", "person": "Against"}
WORDS = Words("validate/ruling", "Disagreements", "ruled", "Stay until a reason is given")
RECOUNT_MS = 700
WORK, NOTHING, GATE, UNCLEAR = range(4)


class Ruling(Part):
    """Choices and the two columns above; list, report and verdict below; the unclear criteria in their place."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self._wanted, self._asked = Choice(), 0
        self._looks: dict[str, Look] = {}
        self._found = Looked(Choice(), {})
        self._known: dict[Key, Disagreement] = {}
        self._go_to: Key = ()
        self._acting, self._entering = False, False
        self._recount = QTimer(self, singleShot=True, interval=RECOUNT_MS)
        self._recount.timeout.connect(self._count_anew)
        self.choices, self.strip = ChoiceRow(NAMES), ColumnsStrip()
        self.bench = CaseBench(desk, WORDS, RULINGS, self._keep)
        self.unclear, self.gate = UnclearPanel(desk), Gate()
        self.nothing = EmptyState("validate", "Nothing to rule on")
        self.way = self.nothing.add_action("To the sets", self._to_sets, primary=True)
        self._listen()
        self.acts = {
            **{act: partial(self._say, place) for place, act in enumerate(ACTS)},
            **{act: partial(self._fault, fault) for act, fault, _ in FAULTS},
            "next_open": self.bench.next_open,
            "next_item": partial(self._step, 1),
            "previous_item": partial(self._step, -1),
            "note": self.bench.card.enter_note,
            "find": self._seek,
            "unclear_criteria": self._toggle_unclear,
            "submit": self._submit,
            "judge_anew": self.unclear.judge_again,
        }
        self.lay_out(self._body())

    def _body(self) -> QWidget:
        work = QWidget()
        column = QVBoxLayout(work)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.strip)
        column.addWidget(self.bench, 1)
        self.stack = QStackedWidget()
        for view in (work, self.nothing, self.gate, self.unclear):
            self.stack.addWidget(view)
        whole = QWidget()
        rows = QVBoxLayout(whole)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addWidget(self.choices)
        rows.addWidget(self.stack, 1)
        return whole

    def _listen(self) -> None:
        self.choices.changed.connect(self._choose)
        self.strip.figures_wanted.connect(lambda: self.desk.go("Validate", part="Figures"))
        self.bench.moved.connect(self._show_case)
        self.bench.finished.connect(self._say_finished)
        self.gate.opened.connect(self._open_test)
        self.gate.declined.connect(self._stay_closed)
        self.unclear.closed.connect(self._toggle_unclear)
        self.unclear.settled.connect(self._say_settled)
        self.unclear.ordered.connect(self._say_ordered)

    def fill(self) -> None:
        """Read everything anew; the case at hand stays."""
        self._asked += 1
        answer = partial(self._looked, self._asked)
        self.desk.ask_later(answer, ruling_look.look, self._wanted, dict(self._looks))

    def go(self, place: Mapping[str, Any]) -> None:
        """Choose a judge, labels, a protocol or a person; `case` is a key, `unclear` opens the unclear criteria."""
        names = {name: str(place[name]) for name in NAMES if name in place}
        self._wanted = Choice(**{**_tree(self._wanted), **names})
        self._go_to = tuple(place.get("case", ()))
        self.fill()
        if place.get("unclear"):
            self.stack.setCurrentIndex(UNCLEAR)

    def _choose(self) -> None:
        self.bench.stop()
        self._wanted = Choice(**{name: self.choices.value(name) for name in NAMES})
        self.fill()

    def _looked(self, asked: int, found: Looked) -> None:
        if self.stopped or asked != self._asked:
            return
        self._found = found
        if found.options:
            self._wanted = found.choice
            self.choices.offer_all(found.options, _tree(found.choice))
        self._known = {one.case: one for one in found.cases}
        cases = [ruling_look.case_of(one, found.choice.protocol) for one in found.cases]
        self.bench.show_cases(cases, self._go_to)
        self._go_to = ()
        self.unclear.show_found(found.choice.protocol, found.unclear, found.cases, found.again)
        self.bar.set_words("unclear_criteria", f"Unclear ({len(found.unclear):,})")
        self._turn(found)
        if self._entering and self.stack.currentIndex() == UNCLEAR:
            self.unclear.take_focus()
        self._entering = False
        self._offer()

    def _turn(self, found: Looked) -> None:
        if self.stack.currentIndex() == UNCLEAR and found.options:
            return
        if found.closed is not None:
            self.gate.ask(found.closed)
            self._show(GATE)
            return
        if found.cases:
            self._show(WORK)
            return
        self.nothing.show_words(*_nothing(found))
        self.way.setVisible(found.refusal is not None)
        self._show(NOTHING)

    def _show(self, place: int) -> None:
        """Turn to a view; the keyboard goes along when it was in the one that goes away."""
        held = _holds(self.stack)
        moved = self.stack.currentIndex() != place
        self.stack.setCurrentIndex(place)
        if moved and held:
            self.focus_first()

    def _offer(self) -> None:
        at_work = self.stack.currentIndex() == WORK and bool(self._found.cases)
        writable = not self.desk.project.readonly
        for act in ("previous_item", "next_item", "next_open"):
            self.bar.enable(act, at_work)
        for act in ACTS:
            self.bar.enable(act, at_work and writable)
        self.bar.enable("unclear_criteria", bool(self._found.choice.protocol))
        self.bar.say(self.bench.pane.progress() if self._found.cases else "")

    def _show_case(self) -> None:
        one = self._known.get(self.bench.key)
        if one is not None:
            more = _held_back(self._found) if self._found.withheld else ""
            self.strip.show_judge(self._found.ruled, one.judge.id, one.judge.prompt, more)
        self._offer()

    def _keep(self, case: VerdictCase, said: str, reason: str, note: str) -> bool:
        one = self._known.get(case.key)
        if one is None:
            return False
        self._acting = True
        protocol = self._found.choice.protocol
        done = self.desk.do(
            disagreements.rule, one, RulingSaid(said), reason=reason, note=note, protocol=protocol
        )
        self._acting = False
        if done is not None:
            self._recount.start()
        return done is not None

    def _count_anew(self) -> None:
        wish = self._found.choice.wish(self._found.opening)
        self.desk.ask_later(partial(self._counted, self._found), ruling_look.counted_anew, wish)

    def _counted(self, asked: Looked, ruled: Sequence[Ruled]) -> None:
        if self.stopped or asked is not self._found:
            return
        self._found = replace(asked, ruled=ruled)
        self._show_case()

    def on_change(self, change: Change) -> None:
        """Rulings made here show already; what is undone or redone is brought before the person."""
        if self._acting:
            return
        if change.kind == "informed":
            about = change.after or change.before or {}
            if about.get("label_of"):
                self.bench.flow.stop()
                names = ("judge_id", "response_id", "unit_id", "label_of")
                self._go_to = tuple(str(about[name]) for name in names)
        self.fill()

    def _say(self, place: int) -> None:
        if self.stack.currentIndex() == WORK and self.bench.is_at_hand():
            self.answer.clear()
            self.bench.say(place)

    def _fault(self, fault: Any) -> None:
        if self.stack.currentIndex() == WORK and self.bench.is_at_hand():
            self.bench.give_reason(fault)

    def _step(self, by: int) -> None:
        if self.stack.currentIndex() == WORK:
            self.bench.step(by)

    def _seek(self) -> None:
        if _holds(self.bench.pane):
            self.bench.pane.seek()
        else:
            self.bench.reading.seek()

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
            self._looks[seen.set_id] = Look(seen, opening.id)
            self.fill()

    def _stay_closed(self) -> None:
        choice = self._found.choice
        self._wanted = Choice(**{**_tree(choice), "labels": f"{choice.set_name}|dev"})
        self.fill()

    def _say_finished(self) -> None:
        many = counted(len(self._found.cases), "disagreement")
        self.answer.show_message("success", f"All {many} of this choice are ruled on.", lasting=False)
        if self._found.unclear:
            shown = keys.shown("unclear_criteria")
            self.answer.set_action(f"Unclear criteria  {shown}", self._toggle_unclear)

    def _say_settled(self, one: Unclear) -> None:
        self.answer.show_message(
            "success", f"The criterion of item {one.item_key} is worded anew.",
            "Judges are still to be asked about it; people label it anew once they reopen their labels.",
        )  # fmt: skip
        self._entering = True
        self.fill()

    def _say_ordered(self, orders: Sequence[Order]) -> None:
        self.answer.show_message(
            "success", f"{counted(len(orders), 'run')} in the queue.", "Start it on Judges."
        )
        self.answer.set_action("To the queue", lambda: self.desk.go("Judges", part="Runs"))

    def _to_sets(self) -> None:
        self.desk.go("Validate", part="Sets")

    def focus_first(self) -> None:
        """Work begins at the case at hand."""
        place = self.stack.currentIndex()
        if place == WORK:
            self.bench.take_focus()
        elif place == UNCLEAR:
            self.unclear.take_focus()
        else:
            (self.way if place == NOTHING and self.way.isVisible() else self.gate).setFocus()

    def rebind(self) -> None:
        """Print the keys as they now are."""
        super().rebind()
        self.bench.card.show_keys()
        self.unclear.show_keys()

    def keep(self) -> None:
        """Keep the note that is being typed."""
        self.bench.stop()

    def stop(self) -> None:
        """Count nothing any more."""
        super().stop()
        self.bench.stop()
        self._recount.stop()


def _tree(choice: Choice) -> dict[str, str]:
    return {name: str(getattr(choice, name)) for name in NAMES}


def _holds(widget: QWidget) -> bool:
    """Whether the keyboard is in it."""
    here = QApplication.focusWidget()
    return here is not None and widget.isAncestorOf(here)


def _held_back(found: Looked) -> str:
    """How many are not shown to whoever must not know yet what others say."""
    return f"{counted(found.withheld, 'more disagreement')} on items that you are still to label blind."


def _nothing(found: Looked) -> tuple[str, str]:
    """Why there is nothing to rule on."""
    if found.refusal is not None:
        return found.refusal.happened.rstrip("."), found.refusal.todo
    if not found.choice.protocol:
        return "No judge has judged anything yet", "Let a judge judge the reports that people labelled."
    if not found.ruled:
        return (
            "No judge has judged these reports",
            "Choose another judge or other labels, or let it judge them.",
        )
    if found.withheld:
        return (
            "They wait for your own labels",
            f"There are {_held_back(found)} Submit your labels of them first.",
        )
    return "They agree everywhere", "On these labels the judge and the people say the same of every unit."
