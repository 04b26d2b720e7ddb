"""How experts review a judge's verdicts openly, one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from annotator.actions import reviews
from annotator.actions.result_sheets import number
from annotator.actions.reviews import Line
from annotator.domain.change import Change
from annotator.domain.counting import counted
from annotator.domain.informed import Fault, Review
from annotator.gui.desk import Desk
from annotator.gui.models.verdict_cases import Key, Show, VerdictCase
from annotator.gui.pages.validate import review_look
from annotator.gui.pages.validate.case_bench import CaseBench, Words
from annotator.gui.pages.validate.choice_row import ChoiceRow
from annotator.gui.pages.validate.faults import ACTS, FAULTS, REVIEWS
from annotator.gui.pages.validate.review_look import Choice, Looked
from annotator.gui.part import Part
from annotator.gui.widgets.acts_bar import ActsBar, Deed
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.plain import PlainLabel

RIGHT = (
    Deed("previous_item", "Back", hint="The verdict before"),
    Deed("next_item", "On", hint="The next verdict"),
    Deed("next_open", "Next open", hint="The next that you have not reviewed"),
    *(Deed(act, answer.words, hint=answer.hint) for act, answer in zip(ACTS, REVIEWS, strict=True)),
)
NAMES = {"protocol": "What", "judge": "Judge", "order": "Order", "experts": "Seen by"}
WORDS = Words("validate/reviews", "Verdicts", "reviewed", "Stay until a reason is given")
RECOUNT_MS = 700
APART = "Reviews are informed: they stand beside the figures of blind labels, and enter none of them."
WORK, NOTHING = range(2)


class Reviewing(Part):
    """Choices above; list, report and verdict below. No system is named."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar((), RIGHT))
        self._wanted, self._asked = Choice(), 0
        self._found = Looked(Choice(), {})
        self._go_to: Key = ()
        self._acting = False
        self._recount = QTimer(self, singleShot=True, interval=RECOUNT_MS)
        self._recount.timeout.connect(self._count_anew)
        self.choices = ChoiceRow(NAMES)
        self.told = PlainLabel("", "hint", wrap=True)
        self.bench = CaseBench(desk, WORDS, REVIEWS, self._keep)
        self.nothing = EmptyState("label", "Nothing to review")
        self.way = self.nothing.add_action("To your labels", lambda: desk.go("Label"), primary=True)
        self.choices.changed.connect(self._choose)
        self.bench.moved.connect(self._offer)
        self.bench.finished.connect(self._say_finished)
        self.acts = {
            **{act: partial(self._say, place) for place, act in enumerate(ACTS)},
            **{act: partial(self._fault, fault) for act, fault, _ in FAULTS},
            "next_open": self.bench.next_open,
            "submit": self.bench.next_open,
            "next_item": partial(self.bench.step, 1),
            "previous_item": partial(self.bench.step, -1),
            "note": self.bench.card.enter_note,
            "find": self._seek,
        }
        self.lay_out(self._body())

    def _body(self) -> QWidget:
        self.stack = QStackedWidget()
        self.stack.addWidget(self.bench)
        self.stack.addWidget(self.nothing)
        whole = QWidget()
        rows = QVBoxLayout(whole)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addWidget(self.choices)
        rows.addWidget(self.told)
        rows.addWidget(self.stack, 1)
        return whole

    def fill(self) -> None:
        """Read everything anew; the verdict at hand stays."""
        self._asked += 1
        self.desk.ask_later(partial(self._looked, self._asked), review_look.look, self._wanted)

    def go(self, place: Mapping[str, Any]) -> None:
        """Choose a judge, a protocol, an order; `case` is a key."""
        names = {name: str(place[name]) for name in NAMES if name in place}
        self._wanted = Choice(**{**asdict(self._wanted), **names})
        self._go_to = tuple(place.get("case", ()))
        self.fill()

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
            self.choices.offer_all(found.options, asdict(found.choice))
        choice, lines = found.choice, found.outlook.lines if found.outlook else ()
        self.bench.show_cases(
            [review_look.case_of(one, choice.judge, choice.protocol) for one in lines], self._go_to
        )
        self._go_to = ()
        self._tell(found.accepted)
        here = QApplication.focusWidget()
        held = here is not None and self.stack.isAncestorOf(here)
        self.stack.setCurrentIndex(WORK if lines else NOTHING)
        self.nothing.show_words(*_nothing(found))
        self.way.setVisible(bool(found.outlook and found.outlook.blind))
        if held:
            self.focus_first()
        self._offer()

    def _tell(self, accepted: Sequence[Line]) -> None:
        outlook = self._found.outlook
        said = [_accepted(one) for one in accepted]
        if outlook is not None and outlook.blind and outlook.lines:
            many = counted(outlook.kept_back, "verdict")
            said.append(f"{many} come once you have submitted your labels of {_items(outlook.blind)}.")
        self.told.setText(" ".join([*said, APART]))

    def _offer(self) -> None:
        at_work = self.stack.currentIndex() == WORK and bool(self.bench.cases.cases)
        writable = not self.desk.project.readonly
        for act in ("previous_item", "next_item", "next_open"):
            self.bar.enable(act, at_work)
        for act in ACTS:
            self.bar.enable(act, at_work and writable)
        self.bar.say(self.bench.pane.progress() if at_work else "")

    def _keep(self, case: VerdictCase, said: str, reason: str, note: str) -> bool:
        choice = self._found.choice
        self._acting = True
        done = self.desk.do(
            reviews.review, choice.judge, case.place.response_id, case.place.unit_id, Review(said),
            reason=reason, note=note, protocol=choice.protocol,
        )  # fmt: skip
        self._acting = False
        if done is not None:
            self._recount.start()
        return done is not None

    def _count_anew(self) -> None:
        self.desk.ask_later(self._counted, review_look.accepted, self._found.choice)

    def _counted(self, accepted: Sequence[Line]) -> None:
        if not self.stopped:
            self._tell(accepted)

    def on_change(self, change: Change) -> None:
        """Reviews made here show already; what is undone or redone is brought before the person."""
        if self._acting:
            return
        if change.kind == "informed":
            about = change.after or change.before or {}
            if about and not about.get("label_of"):
                self.bench.flow.stop()
                names = ("judge_id", "response_id", "unit_id")
                self._go_to = (*(str(about[name]) for name in names), "")
        self.fill()

    def _say(self, place: int) -> None:
        if self.stack.currentIndex() == WORK and self.bench.is_at_hand():
            self.answer.clear()
            self.bench.say(place)

    def _fault(self, fault: Fault) -> None:
        if self.stack.currentIndex() == WORK and self.bench.is_at_hand():
            self.bench.give_reason(fault)

    def _seek(self) -> None:
        here = QApplication.focusWidget()
        if here is not None and self.bench.pane.isAncestorOf(here):
            self.bench.pane.seek()
        else:
            self.bench.reading.seek()

    def _say_finished(self) -> None:
        many = counted(self.bench.cases.counted(Show.ALL), "verdict")
        self.answer.show_message("success", f"You have reviewed all {many} of this choice.", "Thank you.")

    def focus_first(self) -> None:
        """Work begins at the verdict at hand."""
        if self.stack.currentIndex() == WORK:
            self.bench.take_focus()
        elif self.way.isVisible():
            self.way.setFocus()
        else:
            self.choices.boxes["judge"].setFocus()

    def rebind(self) -> None:
        """Print the keys as they now are."""
        super().rebind()
        self.bench.card.show_keys()

    def keep(self) -> None:
        """Keep the note that is being typed."""
        self.bench.stop()

    def stop(self) -> None:
        """Read nothing more."""
        super().stop()
        self.bench.stop()
        self._recount.stop()


def _accepted(one: Line) -> str:
    rate = one.accepted
    if rate.value is None:
        return f"Nobody has agreed or disagreed with {one.judge} yet."
    span = (
        f" [{number(rate.low)}, {number(rate.high)}]"
        if rate.low is not None and rate.high is not None
        else ""
    )
    unsure = one.said.get(Review.UNSURE.value, 0)
    return (
        f"Experts accept {number(rate.value)}{span} of {counted(rate.n, 'reviewed verdict')} of {one.judge}"
        + (f", and are unsure of {unsure:,}." if unsure else ".")
    )


def _items(keys: Sequence[str]) -> str:
    some = ", ".join(keys[:5]) + (" …" if len(keys) > 5 else "")
    return f"item {some}" if len(keys) == 1 else f"items {some}"


def _nothing(found: Looked) -> tuple[str, str]:
    """Why there is nothing to review."""
    outlook = found.outlook
    if found.refusal is not None:
        return found.refusal.happened.rstrip("."), found.refusal.todo
    if outlook is None or not outlook.verdicts:
        return "No judge has verdicts to be reviewed", "They come here once a judge has judged reports."
    if outlook.blind:
        return (
            "You are still to label these reports yourself",
            "Whoever labels must not know what a judge says of the same report. Submit your labels of "
            f"{_items(outlook.blind)}, and {counted(outlook.kept_back, 'verdict')} come here.",
        )
    return "Others have reviewed these verdicts", "Choose “Two experts each” to review them as well."
