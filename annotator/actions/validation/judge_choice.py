"""Choice of a judge: agreement against cost per question, and the cheapest that is not inferior."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from annotator.actions.project.file import Project
from annotator.actions.results import publishing, result_pictures
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    columns,
    count,
    figure,
    in_words,
    percent,
    text,
)
from annotator.actions.sets import validation_figures, validation_sets, validation_units
from annotator.actions.sets.validation_figures import TITLES, JudgeDifference, remark, told
from annotator.actions.sets.validation_ground import PEOPLE, ValidationRater
from annotator.actions.validation import stand_in, validation
from annotator.actions.validation.stand_in import StandInAnswer, StandInAnswers, StandInVerdict
from annotator.actions.validation.validation import Contrast, RaterFigures, Validation
from annotator.actions.validation.validation_behind import held
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.texts.estimate import Estimate, of_items
from annotator.domain.texts.refusal import Refusal
from annotator.stats.validation.alt_test import EPSILON
from annotator.stats.validation.front import pareto_front

BEST = "best"
IS_REFERENCE = "it is the reference"


@dataclass(frozen=True, slots=True)
class JudgeChoiceQuery:
    """The figure by which judges are chosen, and the margin to the reference.

    `reference` is “people” for people with one another, a judge's name, or “best” for the judge with the highest
    figure. `delta` is the margin δ, in the figure's own unit.
    """

    of: validation.ValidationQuery = field(default_factory=validation.ValidationQuery)
    figure: str = ""
    weighted: bool = False
    delta: float = stand_in.DELTA
    reference: str = PEOPLE
    epsilon: float = EPSILON
    least: float = 0.0

    @property
    def answers(self) -> stand_in.StandInQuery:
        """The same as the question whether a judge may stand in for people."""
        return stand_in.StandInQuery(
            self.of, self.figure, self.weighted, self.delta, self.epsilon, self.least
        )


@dataclass(frozen=True, slots=True)
class JudgeCandidate:
    """A judge: agreement, cost per question, whether it is on the front, comparison with the reference.

    `fits` says whether it may stand in for people, or beside another judge whether it is not worse by more than δ: the
    lower bound of the difference is at least −δ. `why_not` says in words why it does not fit, or cannot be chosen.
    `answer` is that to whether it may stand in, None where the reference is a judge.
    """

    rater: ValidationRater
    agreement: Estimate
    cost: Estimate
    on_front: bool
    difference: Estimate
    why_not: str
    answer: StandInAnswer | None = None

    @property
    def fits(self) -> bool:
        """Whether it may be chosen."""
        return not self.why_not


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """All judges with the human band, and the cheapest that fits; `reason` explains it in sentences."""

    query: JudgeChoiceQuery
    against: str
    offers: tuple[JudgeCandidate, ...]
    human: Estimate | None
    reference: str
    chosen: ValidationRater | None
    reason: tuple[str, ...]


def choose(project: Project, query: JudgeChoiceQuery) -> JudgeChoice:
    """The cheapest judge that may stand in for people, or that is not worse than another judge by more than δ.

    Refusal where nobody has labelled what is asked about, or no judge has judged it.
    """
    stand_in.refuse_senseless(query.answers)
    ground = validation.ground_of(project, query.of)
    found = validation.of_ground(project, ground, replace(query.of, by=validation_units.ALL))
    judged = [line for line in found.lines if line.rater.is_judge]
    if not judged:
        raise Refusal("No judge has judged what people labelled.", "Run a judge on these reports first.")
    named_figure = validation_figures.chosen_figure(
        ground.shape, query.figure, found.positive, weighted=query.weighted
    )
    query = replace(query, figure=named_figure)
    _refuse_unknown(query, judged[0])
    human = next((_agreement(query, line) for line in found.lines if line.rater.id == PEOPLE), None)
    reference = _reference(query, judged)
    answers = None if reference else stand_in.of_ground(project, ground, query.answers)
    offers = _offers(query, found, judged, reference, answers)
    fitting = [one for one in offers if one.fits]
    chosen = min(
        fitting,
        key=lambda one: (one.cost.value or 0.0, -_height(one.agreement), one.rater.name),
        default=None,
    )
    named = reference.rater.name if reference else PEOPLE
    return JudgeChoice(
        query, found.against, tuple(offers), human, named, chosen.rater if chosen else None,
        (
            *_reason(query, offers, chosen, named), *ground.repeats(project, ground.judges()),
            *validation_sets.viewed(project, query.of.set_name),
        ),
    )  # fmt: skip


def _refuse_unknown(query: JudgeChoiceQuery, line: RaterFigures) -> None:
    known = line.told.weighted if query.weighted else line.told.plain
    if query.figure not in known:
        raise Refusal(f"Judges cannot be chosen by “{query.figure}”.", f"Use one of {', '.join(known)}.")


def _agreement(query: JudgeChoiceQuery, line: RaterFigures) -> Estimate:
    return (line.told.weighted if query.weighted else line.told.plain)[query.figure]


def _reference(query: JudgeChoiceQuery, judged: list[RaterFigures]) -> RaterFigures | None:
    """The judge that others are compared with; None for people."""
    if query.reference == PEOPLE:
        return None
    if query.reference == BEST:
        return max(judged, key=lambda line: _height(_agreement(query, line)))
    named = [line for line in judged if line.rater.name == query.reference]
    if not named:
        names = ", ".join(sorted({line.rater.name for line in judged}))
        raise Refusal(f"“{query.reference}” has no judgements on this.", f"Those who have: {names}.")
    return max(named, key=lambda line: _height(_agreement(query, line)))


def _height(found: Estimate) -> float:
    return float("-inf") if found.value is None else found.value


def _offers(
    query: JudgeChoiceQuery,
    found: Validation,
    judged: list[RaterFigures],
    reference: RaterFigures | None,
    answers: StandInAnswers | None,
) -> list[JudgeCandidate]:
    agreements = [_agreement(query, line) for line in judged]
    costs = [line.cost or Estimate(None) for line in judged]
    places = [i for i in range(len(judged)) if agreements[i].low is not None and costs[i].value is not None]
    front = pareto_front([(agreements[i].low or 0.0, costs[i].value or 0.0) for i in places])
    on = {places[place] for place in front}
    made = []
    for i, line in enumerate(judged):
        answer = answers.of(line.rater) if answers else None
        difference = answer.difference if answer else _difference(found, query, line, reference)
        why_not = _unfit(answer) if answer else _worse(query, found.limit, line, difference)
        if line.rater.kind == JudgeKind.BASELINE.value:
            why_not = publishing.FLOOR
        if not why_not and costs[i].value is None:
            why_not = "its cost is not known"
        made.append(JudgeCandidate(line.rater, agreements[i], costs[i], i in on, difference, why_not, answer))
    return made


def _unfit(answer: StandInAnswer) -> str:
    """Why a judge may not stand in for people; empty where it may."""
    return (
        ""
        if answer.verdict is StandInVerdict.YES
        else f"{answer.verdict}, because {answer.because}".rstrip(".")
    )


def _difference(
    found: Validation, query: JudgeChoiceQuery, line: RaterFigures, reference: RaterFigures | None
) -> Estimate:
    """A judge less the judge that is the reference, on the same units; nothing is compared with itself."""
    if reference is None or line.rater.key == reference.rater.key:
        return Estimate(None, method="difference to the reference", note=IS_REFERENCE)
    contrast, sign = _contrast(found, line.rater, reference.rater)
    return _signed(_side(query, contrast.gap), sign)


def _contrast(found: Validation, rater: ValidationRater, reference: ValidationRater) -> tuple[Contrast, int]:
    """The comparison of two judges, and 1 where the first of it is the one asked for, −1 otherwise."""
    for one in found.contrasts:
        if (one.first.key, one.second.key) == (rater.key, reference.key):
            return one, 1
        if (one.second.key, one.first.key) == (rater.key, reference.key):
            return one, -1
    raise KeyError(rater.name)


def _side(query: JudgeChoiceQuery, gap: JudgeDifference) -> Estimate:
    return (gap.weighted if query.weighted else gap.plain).get(
        query.figure,
        Estimate(None, method="difference to the reference", note="it has no difference of two judges"),
    )


def _signed(found: Estimate, sign: int) -> Estimate:
    if sign > 0 or found.value is None:
        return found
    low, high = (None if bound is None else -bound for bound in (found.high, found.low))
    return replace(found, value=-found.value, low=low, high=high)


def _worse(query: JudgeChoiceQuery, limit: float, line: RaterFigures, difference: Estimate) -> str:
    """Why a judge is not shown to be as good as another; empty where it is."""
    rate, agreement = line.missing_rate or 0.0, _agreement(query, line)
    if difference.note == IS_REFERENCE:
        return IS_REFERENCE
    if rate > limit:
        return f"{percent(rate, 1)} of its judgements are missing, more than {percent(limit, 1)}"
    if agreement.value is None:
        return f"its {_title(query)} is undefined: {of_items(agreement.note)}"
    if difference.low is None:
        return f"its difference has no interval: {of_items(difference.note)}"
    return f"it may be {-difference.low:.3f} worse" if difference.low < -query.delta else ""


def _title(query: JudgeChoiceQuery) -> str:
    return TITLES[query.figure][0] + (", weighted" if query.weighted else "")


def _reason(
    query: JudgeChoiceQuery, offers: list[JudgeCandidate], chosen: JudgeCandidate | None, reference: str
) -> Iterator[str]:
    people = reference == PEOPLE and query.reference == PEOPLE
    allowed = f"δ = {query.delta:g}"
    if chosen is None:
        yield _nobody(query, offers, reference, people)
    else:
        cost, that = in_words(chosen.cost, "USD"), f"is not worse than “{reference}” by more than {allowed}"
        yield (
            f"“{chosen.rater.name}” is the cheapest judge, at {cost} a question, that "
            f"{'may stand in for people' if people else that}: its {_title(query)} is {in_words(chosen.agreement)}."
        )
        if chosen.answer is not None:
            yield f"“{chosen.rater.name}”: {chosen.answer.verdict}, because {chosen.answer.because}"
        else:
            yield f"Its difference to “{reference}” is {in_words(chosen.difference)}, which {allowed} allows."
    dearest = chosen.cost.value if chosen else None
    for one in offers:
        cheaper = dearest is None or one.cost.value is None or one.cost.value < dearest
        if one.why_not and one.why_not != IS_REFERENCE and cheaper:
            yield f"“{one.rater.name}” is not chosen: {one.why_not}."


def _nobody(query: JudgeChoiceQuery, offers: list[JudgeCandidate], reference: str, people: bool) -> str:
    """That no judge is chosen, and what follows."""
    if people:
        return f"No judge is shown to be at most {query.delta:g} worse than people with one another, at a known cost."
    if len(offers) == 1:
        return (
            f"“{reference}” is the only judge here and cannot be compared with itself. Compare it with "
            "people, or run another judge on the same reports."
        )
    return (
        f"No other judge is shown to be at most {query.delta:g} worse than “{reference}”, at a known cost: "
        f"“{reference}” is the best choice among judges; this says nothing about people."
    )


def sheets(found: JudgeChoice) -> tuple[ResultSheet, ...]:
    """A row for each judge and one for people, with the picture of agreement against cost."""
    title = _title(found.query)
    heads = columns(
        JUDGE_COLUMN, ("prompt", "Prompt", "First characters of its hash"),
        (found.query.figure, title, TITLES[found.query.figure][1]),
        ("lower_bound", "Lower bound", "Of its 95 % interval over items"), ("n", "n", "Pairs of values"),
        ("cost", "Cost per question", "Mean, US dollars"),
        ("on_front", "On the front", "No other judge has a higher lower bound for less"),
        ("to_reference", f"To {found.reference}", "Difference to the reference: of another judge on the same units, of "
         "people with one another on those that two people labelled"),
        ("fit", "May stand in" if found.query.reference == PEOPLE else "Not worse",
         f"Not worse than {found.reference} by more than {found.query.delta:g}"),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(one.rater.name), text(one.rater.prompt[:8], tip=one.rater.prompt), told(one.agreement),
            _bound(one.agreement), count(one.agreement.n), figure(one.cost, "USD"),
            text("yes" if one.on_front else "no"), _to_reference(one), _fit(one, found.chosen),
        ), source=held(found.query.of, one.rater, validation_units.ALL, f"{one.rater.name}: {title}"))
        for one in found.offers
    ]  # fmt: skip
    if found.human is not None:
        people = (
            text(PEOPLE),
            text("–"),
            told(found.human),
            _bound(found.human),
            count(found.human.n),
            *(text("–") for _ in range(4)),
        )
        lines.append(SheetLine(people))
    about = (*found.reason, f"Compared with {found.against}; people are compared with one another.")
    return (
        ResultSheet("choice", "Agreement against cost", heads, tuple(lines), about, _pictures(found, title)),
    )


def _bound(found: Estimate) -> SheetCell:
    why = remark(found)
    cell = figure(Estimate(found.low, n=found.n, method=f"lower bound; {found.method}", note=found.note))
    return (
        replace(cell, words=f"{cell.words}  {why}", state="flat") if why and found.low is not None else cell
    )


def _to_reference(one: JudgeCandidate) -> SheetCell:
    return text(IS_REFERENCE) if one.difference.note == IS_REFERENCE else told(one.difference)


def _fit(one: JudgeCandidate, chosen: ValidationRater | None) -> SheetCell:
    if chosen is not None and one.rater.key == chosen.key:
        return text("chosen", state="agreed")
    if one.why_not == IS_REFERENCE:
        return text(IS_REFERENCE)
    words = one.answer.verdict.lower() if one.answer else "no" if one.why_not else "yes"
    return text(words, tip=one.why_not)


def _pictures(found: JudgeChoice, title: str) -> tuple[SheetPicture, ...]:
    points = [
        result_pictures.PicturePoint(
            one.rater.name,
            one.cost.value,
            one.agreement.low,
            one.on_front,
            one.agreement.low,
            one.agreement.high,
        )
        for one in found.offers
        if one.cost.value is not None and one.agreement.low is not None
    ]
    if not points:
        return ()
    human = found.human
    band = (human.low, human.high) if human and human.low is not None and human.high is not None else None
    level = human.value if human else None
    of_people = "the band is people" if band else "the dotted line is people" if level is not None else ""
    heading = ", ".join(filter(None, (f"{title} against cost: the front is full", of_people)))
    draw = partial(
        result_pictures.plane, heading, points, "US dollars a question", f"{title}, lower bound", front=True,
        band=band, level=level,
    )  # fmt: skip
    return (SheetPicture("choice", heading, draw),)
