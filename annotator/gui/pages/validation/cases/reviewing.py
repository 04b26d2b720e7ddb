"""Reviews tab: experts review a judge's verdicts one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from PySide6.QtWidgets import QSpinBox, QWidget

from annotator.actions.labelling import second_looks
from annotator.actions.project import people
from annotator.actions.results.result_sheets import in_words
from annotator.actions.sets import reviews
from annotator.actions.sets.reviews import AcceptanceRate, ReviewOrder
from annotator.actions.studies import error_counts
from annotator.domain.experts.person import Role
from annotator.domain.judges.informed import Review
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.validation.cases import review_look
from annotator.gui.pages.validation.cases.case_bench import BenchWords
from annotator.gui.pages.validation.cases.case_part import PAINTED_MS, WORK, CasePart
from annotator.gui.pages.validation.cases.faults import REVIEW_ACTS, REVIEWS
from annotator.gui.pages.validation.cases.review_look import ReviewChoice, ReviewLook
from annotator.gui.pages.validation.cases.verdict_cases import CaseFilter, VerdictCase
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.basics import PlainLabel, push_button
from annotator.gui.widgets.empty_state import EmptyState

# As many as the paper draws.
USUAL = 10


class ErrorDraw(QWidget):
    """What was drawn; coordinators draw anew."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.told = PlainLabel("", "hint")
        self.many, self.seed = QSpinBox(minimum=1, maximum=10_000), QSpinBox(minimum=0, maximum=10_000_000)
        self.many.setPrefix("reports of each system: ")
        self.seed.setPrefix("seed ")
        self.many.setAccessibleName("Reports of each system")
        self.seed.setAccessibleName("Seed of the draw")
        self.button = push_button("Draw", self._draw)
        row = FlowRow(self, gap=8)
        for widget in (self.told, self.many, self.seed, self.button):
            row.addWidget(widget)

    def fill(self) -> None:
        """Show what is drawn now."""
        found = self._desk.ask(second_looks.sample)
        self.told.setText(
            f"{counted(len(found.responses), 'report')} drawn." if found else "Nothing drawn yet."
        )
        if not self.many.hasFocus() and not self.seed.hasFocus():
            self.many.setValue(found.per_system if found else USUAL)
            self.seed.setValue(found.seed if found else 1)
        project = self._desk.project
        may = not project.readonly and people.someone(project).has(Role.COORDINATOR)
        for widget in (self.many, self.seed, self.button):
            widget.setVisible(may)

    def _draw(self) -> None:
        self._desk.do(error_counts.draw, self.many.value(), self.seed.value())
        self.fill()


RIGHT = (
    Command("previous_item", "Back", hint="The verdict before"),
    Command("next_item", "On", hint="The next verdict"),
    Command("next_open", "Next open", hint="Next verdict you have not reviewed"),
    *(Command(act, answer.words, hint=answer.hint) for act, answer in zip(REVIEW_ACTS, REVIEWS, strict=True)),
)
WORDS = BenchWords("validate/reviews", "Verdicts", "reviewed", "Stay until a reason is given")
APART = "Reviews are informed: they are shown beside figures of blind labels and never count in them."
NOTHING = WORK + 1


class ReviewsPart(CasePart):
    """Choices above; list, report and verdict below. No system is named."""

    NAMES = {"protocol": "What", "judge": "Judge", "order": "Order", "experts": "Seen by"}
    ANSWERS, OF_LABELS = REVIEW_ACTS, False

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar((), RIGHT), WORDS, REVIEWS, self._keep)
        self._wanted = ReviewChoice()
        self._found = ReviewLook(ReviewChoice(), {})
        self.told, self.drawing = PlainLabel("", "hint", wrap=True), ErrorDraw(desk)
        self.nothing = EmptyState("label", "Nothing to review")
        self.way = self.nothing.add_action("To your labels", lambda: desk.go("Label"), primary=True)
        self.judging = self.nothing.add_action(
            "Run a judge", lambda: desk.go("Judges", part="Runs"), primary=True
        )
        self.recount.timeout.connect(self._count_anew)
        self.choices.changed.connect(self._choose)
        self.bench.moved.connect(self._offer)
        self.bench.finished.connect(self._say_finished)
        self.acts = {**self.case_acts(), "submit": self.bench.next_open}
        self.stack.addWidget(self.bench)
        self.stack.addWidget(self.nothing)
        self.stand(self.drawing, self.told)

    def look(self) -> None:
        self.desk.ask_later(partial(self._looked, self.asked), review_look.look, self._wanted)

    def go(self, place: Mapping[str, Any]) -> None:
        """Choose a judge, a protocol, an order; `case` is a key."""
        names = {name: str(place[name]) for name in self.NAMES if name in place}
        self._wanted = replace(self._wanted, **names)
        self.go_to = tuple(place.get("case", ()))
        self.fill()

    def _choose(self) -> None:
        self.bench.stop()
        self._wanted = ReviewChoice(**{name: self.choices.value(name) for name in self.NAMES})
        self.fill()

    def _looked(self, asked: int, found: ReviewLook) -> None:
        if self.stopped or asked != self.asked:
            return
        # A note that is being typed belongs to the case that is still at hand, and to its choices.
        self.bench.card.note.tell()
        before, self._found = self._found, found
        if found.options:
            self._wanted = found.choice
            self.choices.offer_all(found.options, asdict(found.choice))
        self.choices.setVisible(bool(found.choice.protocol))
        self.drawing.setVisible(found.choice.order == ReviewOrder.ERRORS.value)
        self.drawing.fill()
        if self.go_to or found.outlook is not before.outlook:
            self.bench.show_cases(found.cases, self.go_to, chosen=found.choice != before.choice)
        self.go_to = ()
        if found.choice != before.choice:
            self._tell(())
        self.nothing.show_words(*_nothing(found))
        self.way.setVisible(bool(found.outlook and found.outlook.blind))
        unjudged = found.outlook is None or not found.outlook.verdicts
        self.judging.setVisible(found.refusal is None and unjudged)
        self.turn(WORK if len(found.cases) else NOTHING)
        if self.at_work and keys.is_news("review order") and self.bench.cases.counted(CaseFilter.DONE):
            words = "The keys have changed: unsure has one key everywhere."
            self.answer.show_message("info", words, "Its button shows it; 3 does nothing here.", lasting=True)
        self._offer()
        if found.outlook is not None and self.isVisible():
            self.recount.start(PAINTED_MS)

    def _tell(self, accepted: Sequence[AcceptanceRate]) -> None:
        outlook = self._found.outlook
        said = [_accepted(one) for one in accepted]
        if outlook is not None and outlook.blind and outlook.lines:
            many = counted(outlook.kept_back, "verdict")
            said.append(f"{many} appear once you have submitted your labels of {_items(outlook.blind)}.")
        self.told.setText(" ".join([*said, APART]))

    def _offer(self) -> None:
        at_work = self.at_work and len(self._found.cases) > 0
        self.offer_answers(at_work)
        self.bar.say(self.bench.pane.progress() if at_work else "")

    def _keep(self, case: VerdictCase, said: str, reason: str, note: str, kind: str) -> bool:
        choice, place = self._found.choice, case.place
        return self.keep_by(
            reviews.review, choice.judge, place.response_id, place.unit_id, Review(said),
            reason=reason, note=note, kind=kind, protocol=choice.protocol,
        )  # fmt: skip

    def _count_anew(self) -> None:
        self.desk.ask_later(partial(self._counted, self.asked), review_look.accepted, self._found.choice)

    def _counted(self, asked: int, accepted: Sequence[AcceptanceRate]) -> None:
        if not self.stopped and asked == self.asked:
            self._tell(accepted)

    def _say_finished(self) -> None:
        many = counted(self.bench.cases.counted(CaseFilter.ALL), "verdict")
        self.answer.show_message(
            "success", f"You have reviewed all verdicts of this selection: {many}.", "Thank you."
        )

    def focus_first(self) -> None:
        """Work begins at the current verdict."""
        if self.at_work:
            self.bench.take_focus()
        elif self.way.isVisible() or self.judging.isVisible():
            (self.way if self.way.isVisible() else self.judging).setFocus()
        else:
            self.choices.boxes["judge"].setFocus()


def _accepted(one: AcceptanceRate) -> str:
    rate = one.accepted
    if rate.value is None:
        return f"Nobody has agreed or disagreed with {one.judge} yet."
    unsure = one.said.get(Review.UNSURE.value, 0)
    return f"Experts accept {in_words(rate)} of {counted(rate.n, 'reviewed verdict')} of {one.judge}" + (
        f", and are unsure of {unsure:,}." if unsure else "."
    )


def _items(keys: Sequence[str]) -> str:
    some = ", ".join(f"\u2068{key}\u2069" for key in keys[:5]) + (" …" if len(keys) > 5 else "")
    return f"item {some}" if len(keys) == 1 else f"items {some}"


def _nothing(found: ReviewLook) -> tuple[str, str]:
    """Why there is nothing to review."""
    outlook = found.outlook
    if found.refusal is not None:
        return found.refusal.happened.rstrip("."), found.refusal.todo
    if found.choice.order == ReviewOrder.ERRORS.value and outlook is not None and not outlook.blind:
        return "No errors to name", "Draw reports above; what a judge finds lacking in them appears here."
    if outlook is None or not outlook.verdicts:
        return "No verdicts to review", "They appear here once a judge has judged reports."
    if outlook.blind:
        return (
            "You still have to label these reports",
            "People who label must not know a judge's verdicts on the same report. Submit your labels of "
            f"{_items(outlook.blind)}, and {counted(outlook.kept_back, 'verdict')} appear here.",
        )
    return "Others have reviewed these verdicts", "Choose “Two experts each” to review them as well."
