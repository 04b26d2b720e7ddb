"""Query of the Reviews tab: choices, verdicts, and what this person is not shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from annotator.actions.judging.judge_offers import title
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.actions.sets.reviews import AcceptanceRate, ReviewCase, ReviewOrder, ReviewQueue
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from annotator.gui.pages.validation.cases.verdict_cases import NO_CASES, Cases, CaseVoice, Key, VerdictCase

ORDERS = (
    ("The least certain first", ReviewOrder.UNCERTAINTY.value),
    ("The heaviest first", ReviewOrder.WEIGHT.value),
    ("Random order", ReviewOrder.RANDOM.value),
    ("Errors of drawn reports", ReviewOrder.ERRORS.value),
)
EXPERTS = (("One expert each", "1"), ("Two experts each", "2"))
Option = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ReviewChoice:
    """The choice of protocol, judge, order, and reviewers per verdict."""

    protocol: str = ""
    judge: str = ""
    order: str = ReviewOrder.UNCERTAINTY.value
    experts: str = "1"


@dataclass(frozen=True, slots=True)
class ReviewLook:
    """The result of the query."""

    choice: ReviewChoice
    options: Mapping[str, Sequence[Option]]
    outlook: ReviewQueue | None = None
    cases: Cases = NO_CASES
    refusal: Refusal | None = None


def look(project: Project, choice: ReviewChoice) -> ReviewLook:
    """The verdicts of a choice, fitted to what there is; a refusal is an answer."""
    try:
        found = _fitted(project, choice)
        choice = found.choice
        if not choice.judge:
            return found
        outlook = reviews.outlook(
            project, choice.judge, choice.protocol, ReviewOrder(choice.order), int(choice.experts)
        )
        return replace(found, outlook=outlook, cases=cases(outlook, choice))
    except Refusal as refusal:
        return ReviewLook(choice, {}, refusal=refusal)


def accepted(project: Project, choice: ReviewChoice) -> Sequence[AcceptanceRate]:
    """How much of a judge is accepted; nothing for anyone who is not told."""
    if not people.someone(project).has(Role.COORDINATOR):
        return ()
    return reviews.report(project, choice.protocol, choice.judge)


def _fitted(project: Project, choice: ReviewChoice) -> ReviewLook:
    offers = reviews.offers(project)
    protocols = [(title(name), name) for name in dict.fromkeys(one.protocol for one in offers)]
    known = [value for _, value in protocols]
    protocol = choice.protocol if choice.protocol in known else next(iter(known), "")
    judges = [(one.judge, one.judge) for one in offers if one.protocol == protocol]
    # The baseline comes first where judges are listed; nobody begins with it.
    judges = [*judges[1:], *judges[:1]]
    names = [value for _, value in judges]
    judge = choice.judge if choice.judge in names else next(iter(names), "")
    fitted = replace(choice, protocol=protocol, judge=judge)
    return ReviewLook(fitted, {"protocol": protocols, "judge": judges, "order": ORDERS, "experts": EXPERTS})


def cases(outlook: ReviewQueue, choice: ReviewChoice) -> Cases:
    """The verdicts as the bench shows them."""
    lines = outlook.lines
    judge_id = lines[0].judge_id if lines else ""
    numbers: dict[Key, int] = {key: number for number, key in enumerate(lines.keys)}

    def number_of(key: Key) -> int | None:
        return numbers.get(key[1:-1]) if (key[:1], key[-1:]) == ((judge_id,), ("",)) else None

    return Cases(lines, lines.said(), number_of, lines.place, partial(_case_of, choice))


def _case_of(choice: ReviewChoice, one: ReviewCase) -> VerdictCase:
    key = (one.judge_id, *one.place.key, "")
    voices = (CaseVoice(choice.judge, one.judge_id, one.value),)
    return VerdictCase(key, choice.protocol, one.place, voices, one.said, one.reason, one.note, one.kind)
