"""Reviews tab: experts review a judge's verdicts one by one."""

from collections.abc import Sequence

from annotator.actions.judging.judge_runs import title
from annotator.actions.labelling import label_sealing
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import ViewChoice, in_words
from annotator.actions.sets import reviews
from annotator.actions.sets.reviews import AcceptanceRate, ReviewOrder, VerdictCase
from annotator.actions.studies import part_views
from annotator.actions.studies.result_views import fitted
from annotator.domain.common import Refusal, counted, in_window
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.judge import Review
from annotator.gui import keys
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
from annotator.gui.pages.validation.case_cards import (
    REVIEW_ACTS,
    REVIEWS,
    CaseFilter,
)
from annotator.gui.pages.validation.figures import NO_CHOICE
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import ActsBar, Command, wrapping
from annotator.gui.widgets.basics import PlainLabel, push_button
from annotator.gui.widgets.fields import NumberBox

ORDERS = (
    ("The least certain first", ReviewOrder.UNCERTAINTY.value),
    ("The heaviest first", ReviewOrder.WEIGHT.value),
    ("Random order", ReviewOrder.RANDOM.value),
    ("Errors of drawn reports", ReviewOrder.ERRORS.value),
)
EXPERTS = (("One expert each", "1"), ("Two experts each", "2"))


def look(project: Project, chosen: Chosen = NO_CHOICE) -> CaseLook:
    """The verdicts of a choice, adjusted to what is available; a refusal is part of the answer."""
    try:
        under = judged(project)
        choices, chosen = fitted(
            (
                ViewChoice("protocol", "What", tuple((title(name), name) for name in under)),
                # The baseline is listed first; it is never the default here.
                *(choice_of("judge", "Judge", (*of[1:], *of[:1]), name) for name, of in under.items()),
                ViewChoice("order", "Order", ORDERS),
                ViewChoice("experts", "Seen by", EXPERTS),
            ),
            chosen,
        )
        if not under:
            return CaseLook(choices, chosen)
        order, experts = ReviewOrder(chosen["order"]), int(chosen["experts"])
        outlook = reviews.outlook(project, chosen["judge"], chosen["protocol"], order, experts)
        return CaseLook(choices, chosen, outlook)
    except Refusal as refusal:
        return CaseLook((), chosen, refusal=refusal)


def accepted(project: Project, judge: str, protocol: str) -> Sequence[AcceptanceRate]:
    """The acceptance rates of a judge; empty for people other than coordinators."""
    if not people.someone(project).has(Role.COORDINATOR):
        return ()
    return reviews.report(project, protocol, judge)


# The default number: that of the paper.
USUAL = 10


class ErrorDraw(Pane):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.note = PlainLabel("", "hint")
        self.many, self.seed = (
            NumberBox(
                minimum=1,
                maximum=10_000,
                accessibleName="Reports of each system",
                prefix="reports of each system: ",
            ),
            NumberBox(maximum=10_000_000, accessibleName="Seed of the draw", prefix="seed "),
        )
        self.button = push_button("Draw", self._draw)
        wrapping(self.note, self.many, self.seed, self.button, on=self)

    def fill(self) -> None:
        result = self.session.ask(label_sealing.sample)
        self.note.setText(
            f"{counted(len(result.responses), 'report')} drawn." if result else "Nothing drawn yet."
        )
        if not self.many.hasFocus() and not self.seed.hasFocus():
            self.many.setValue(result.per_system if result else USUAL)
            self.seed.setValue(result.seed if result else 1)
        project = self.session.project
        may = not project.readonly and people.someone(project).has(Role.COORDINATOR)
        for widget in (self.many, self.seed, self.button):
            widget.setVisible(may)

    def _draw(self) -> None:
        self.session.do(part_views.draw_responses, self.many.value(), self.seed.value())
        self.fill()


RIGHT = (
    Command("next_open", "Next open", hint="Next verdict you have not reviewed"),
    *(Command(act, answer.words, hint=answer.hint) for act, answer in zip(REVIEW_ACTS, REVIEWS, strict=True)),
)
WORDS = "validate/reviews", "Verdicts", "reviewed"
APART = "Reviews are informed: they are shown beside figures of blind labels and never count in them."


class ReviewsPart(CasePart):
    """The Reviews tab: choices above; list, report and verdict below. No system is named."""

    ANSWERS, OF_LABELS = REVIEW_ACTS, False
    WAY = "To your labels", "Label", {}

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar((), RIGHT), WORDS, REVIEWS, self._keep)
        self._look = CaseLook()
        self.note, self.drawing = PlainLabel("", "hint", wrap=True), ErrorDraw(session)
        self.choices.add(self.drawing)
        self.acts = {**self.case_acts(), "submit": self.bench.next_open}
        self.stand(self.bench, above=(self.note,))

    def look(self) -> None:
        self.session.ask_later(self._looked, look, self._chosen)

    def _looked(self, look: CaseLook) -> None:
        # Text being typed in the note belongs to the current case and its choices.
        self.bench.card.note.tell()
        before, self._look = self._look, look
        self.drawing.fill()
        self.take_over(look, before)
        self.choices.show_part(self.drawing, look.chosen.get("order") == ReviewOrder.ERRORS.value)
        if look.chosen != before.chosen:
            self._tell(())
        unjudged = look.refusal is None and not look.outlook.judged
        self.show_nothing(*_nothing(look), way=bool(look.outlook.blind), judging=unjudged)
        self.turn(WORK if look.outlook.lines else NOTHING)
        if self.at_work and keys.is_news("review order") and self.bench.cases.counted(CaseFilter.DONE):
            words = "The keys have changed: unsure has one key everywhere."
            self.answer.show_message("info", words, "Its button shows it; 3 does nothing here.", lasting=True)
        self.offer()
        if look.choices and look.protocol and self.isVisible():
            self.recount.start(PAINTED_MS)

    def _tell(self, accepted: Sequence[AcceptanceRate]) -> None:
        outlook = self._look.outlook
        many = counted(outlook.held_back, "verdict")
        later = f"{many} appear once you have submitted your labels of {_items(outlook.blind)}."
        held_back = [later] if outlook.blind and outlook.lines else []
        self.note.setText(" ".join([*map(_accepted, accepted), *held_back, APART]))

    def _keep(self, case: VerdictCase, value: str, reason: str, note: str, kind: str) -> bool:
        place = case.place
        return self.keep_by(
            reviews.review, case.judge, place.response_id, place.unit_id, Review(value),
            reason=reason, note=note, kind=kind, protocol=case.protocol,
        )  # fmt: skip

    def count_anew(self) -> None:
        self.session.ask_later(self._tell, accepted, self._look.chosen["judge"], self._look.protocol)


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


def _nothing(look: CaseLook) -> tuple[str, str]:
    outlook = look.outlook
    if look.refusal is not None:
        return look.refusal.happened.rstrip("."), in_window(look.refusal.todo)
    if look.chosen.get("order") == ReviewOrder.ERRORS.value and look.protocol and not outlook.blind:
        return "No errors to name", "Draw reports above; what a judge finds lacking in them appears here."
    if not outlook.judged:
        return "No verdicts to review", "They appear here once a judge has judged reports."
    if outlook.blind:
        return (
            "You still have to label these reports",
            "People who label must not know a judge's verdicts on the same report. Submit your labels of "
            f"{_items(outlook.blind)}, and {counted(outlook.held_back, 'verdict')} appear here.",
        )
    return "Others have reviewed these verdicts", "Choose “Two experts each” to review them as well."
