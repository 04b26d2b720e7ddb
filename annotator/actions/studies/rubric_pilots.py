"""Rubric quality on existing responses: which criteria separate systems, where raters agree."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

from sqlalchemy import or_, select

from annotator.actions.items import materials
from annotator.actions.labelling.label_rows import counted_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, result_raters, scoring
from annotator.actions.results.result_raters import CONSENSUS, PEOPLE, PERSON_KEY, ResultRater
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    UNDEFINED,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    in_words,
    key_of,
    percent,
    share,
    text,
)
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES, Rubric
from annotator.domain.material.item import Item
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PAPER_TITLES, USUAL_OF
from annotator.stats.validation.rubrics import (
    DEPARTURES,
    CriterionAgreement,
    CriterionReach,
    CriterionVote,
    Discrimination,
    criterion_agreement,
    discrimination,
    gap,
    weight_shares,
)

JUDGED_BY = USUAL_OF[Kind.RUBRIC]
PAPER = PAPER_TITLES[JUDGED_BY.name]
# A response's id and the name of its system.
Answer = tuple[str, str]
# Rater → response → criterion → value.
Said = Mapping[str, Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class Piloted:
    """A criterion with the statistics of its votes; `agreement` is None without two raters."""

    item_id: str
    item_key: str
    unit_id: str
    text: str
    weight: float
    discrimination: Discrimination
    agreement: CriterionAgreement | None


@dataclass(frozen=True, slots=True)
class RubricPilotsReport:
    """Every criterion, the distribution of weights, and the gap from best to worst system."""

    rater: ResultRater | None
    raters: tuple[str, str] | None
    criteria: tuple[Piloted, ...]
    reach: Mapping[CriterionReach, int]
    weights: Mapping[int | float, Estimate]
    gap: Estimate
    systems: tuple[str, ...] = field(default=())


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Whose votes are looked at, and between which two raters κ is computed: those who share most first."""
    names = _names(project)
    pairs = tuple((f"{names[a]} and {names[b]}", f"{a},{b}") for a, b in _pairs(_said(project)))
    between = ViewChoice("between", "κ between", pairs or (("no two raters", ""),))
    cuts = response_scores.cut_choices(project)
    return (response_scores.rater_choice(project, JUDGED_BY.name), between, *cuts)


def report(
    project: Project, judge: str = "", between: str = "", mode: str = "", among: str = ""
) -> RubricPilotsReport:
    """The criteria of all settled rubrics in their order, by one rater's votes; people's are put together.

    Of the responses those of one mode, by default the one that counts in the results. κ is that of two raters on the
    same responses, by default of those who share most judgements; people first.
    """
    rater = result_raters.chosen(result_raters.everybody(project, JUDGED_BY.name), judge)
    said, names = _said(project), _names(project)
    pairs = _pairs(said)
    if rater is not None and rater.id == CONSENSUS:
        said[CONSENSUS] = _settled(project)
    two = _two(between) or (pairs[0] if pairs else None)
    criteria: list[Piloted] = []
    rubrics: list[Rubric] = []
    for at_hand, answers in _answered(project, mode, among):
        rubric = at_hand.own.documents.get(Kind.RUBRIC)
        if isinstance(rubric, Rubric):
            rubrics.append(rubric)
            criteria += _piloted(at_hand.item, rubric, answers, said, rater, two)
    return RubricPilotsReport(
        rater,
        (names[two[0]], names[two[1]]) if two else None,
        tuple(criteria),
        Counter(line.discrimination.reach for line in criteria),
        weight_shares(rubrics),
        _gap(project, rater, mode, among),
        tuple(sorted({system for line in criteria for system in line.discrimination.rates})),
    )


def _two(between: str) -> tuple[str, str] | None:
    first, _, second = between.partition(",")
    return (first, second) if second else None


def _answered(
    project: Project, mode: str, among: str
) -> Iterator[tuple[materials.MaterialAtHand, list[Answer]]]:
    """Every item of a cut with its responses of a mode, each with the name of its system."""
    systems, mode = response_scores.systems_named(project), mode or scoring.main_mode(project)
    wanted, items = materials.for_counting(JUDGED_BY), response_scores.items_named(project, among)
    for at_hand in materials.each(project, wanted, list(items)):
        responses = (material.response for material in at_hand.responses)
        yield at_hand, [(one.id, systems[one.system_id]) for one in responses if one.mode == mode]


def _piloted(
    item: Item,
    rubric: Rubric,
    answers: Sequence[Answer],
    said: Said,
    rater: ResultRater | None,
    two: tuple[str, str] | None,
) -> Iterator[Piloted]:
    units = {unit.id: unit for unit in rubric.units}
    agreed = criterion_agreement(*(_own(rubric, answers, said, one) for one in two)) if two else {}
    for found in discrimination(_votes(rubric, answers, said, rater)) if rater else ():
        unit = units[found.criterion_id]
        yield Piloted(item.id, item.key, unit.id, unit.text, unit.weight, found, agreed.get(unit.id))


def _gap(project: Project, rater: ResultRater | None, mode: str, among: str) -> Estimate:
    metric = JUDGED_BY.metrics[0].name
    means = (
        response_scores.system_means(response_scores.of_metric(project, metric, rater.id, among), mode)
        if rater
        else {}
    )
    return gap({system: mean.value for system, mean in means.items()})


def _votes(
    rubric: Rubric, answers: Sequence[Answer], said: Said, rater: ResultRater
) -> Iterator[CriterionVote]:
    """Every criterion on every response: each vote of the people who labelled it, or the one that is missing."""
    for unit in rubric.units:
        for response_id, system in answers:
            voters = _voters(said, response_id) if rater.id == PEOPLE else [rater.id]
            for voter in voters or [""]:
                value = said.get(voter, {}).get(response_id, {}).get(unit.id)
                yield CriterionVote(unit.id, system, response_id, value)


def _voters(said: Said, response_id: str) -> list[str]:
    return [rater for rater, of in said.items() if rater.startswith(PERSON_KEY) and response_id in of]


def _own(rubric: Rubric, answers: Sequence[Answer], said: Said, rater: str) -> Iterator[CriterionVote]:
    """What one rater said, of the responses they judged at all."""
    for response_id, system in answers:
        values = said.get(rater, {}).get(response_id)
        for unit in rubric.units if values is not None else ():
            yield CriterionVote(unit.id, system, response_id, values.get(unit.id) if values else None)


def _said(project: Project) -> dict[str, dict[str, dict[str, str]]]:
    j = counted_rows().c
    question = select(j.rater_kind, j.rater_id, j.response_id, j.unit_id, j.value).where(
        j.protocol == JUDGED_BY.name,
        j.status == Status.OK.value,
        or_(j.trial == 1, j.rater_kind == RaterKind.JUDGE.value),
    )
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    trials: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    with project.store.read() as db:
        for kind, rater, response_id, unit_id, value in db.execute(
            question.order_by(j.rater_kind, j.rater_id)
        ):
            key = f"{PERSON_KEY}{rater}" if kind == RaterKind.PERSON.value else rater
            trials[key, response_id, unit_id].append(value)
    for (key, response_id, unit_id), values in trials.items():
        if (most := JUDGED_BY.scale.agreed(values)) is not None:
            found[key][response_id][unit_id] = most
    return found


def _settled(project: Project) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for response_id, _, unit_id, value in result_raters.spoken(project, JUDGED_BY, CONSENSUS):
        found[response_id][unit_id] = value
    return found


def _names(project: Project) -> dict[str, str]:
    """The raters by key: people by alias, judges by name."""
    named = {f"{PERSON_KEY}{person.id}": person.alias for person in people.people(project)}
    return named | {rater.id: rater.name for rater in result_raters.raters(project, JUDGED_BY.name)}


def _pairs(said: Said) -> list[tuple[str, str]]:
    """Each two raters who judged the same, two people before others; who shares most first."""
    shared = {
        (a, b): sum(
            len(said[a][response].keys() & said[b][response].keys())
            for response in said[a]
            if response in said[b]
        )
        for a, b in combinations(sorted(said, key=lambda key: (not key.startswith(PERSON_KEY), key)), 2)
    }
    order = sorted(
        shared, key=lambda pair: (-sum(one.startswith(PERSON_KEY) for one in pair), -shared[pair], pair)
    )
    return [pair for pair in order if shared[pair]]


REACHED = {
    CriterionReach.CEILING: ("every system always meets it", "flat"),
    CriterionReach.FLOOR: ("no system ever meets it", "flat"),
    CriterionReach.APART: ("tells systems apart", ""),
    CriterionReach.OPEN: ("open: votes are missing", "incomplete"),
}


def sheets(found: RubricPilotsReport) -> tuple[ResultSheet, ...]:
    """The criteria with the pass rate of each system; those that tell nothing apart first."""
    if not found.criteria:
        return ()
    heads = columns(
        ITEM_COLUMN, ("criterion", "Criterion"), ("weight", "Weight"),
        ("reach", "Reach", "Whether it separates systems: a ceiling is met by all, a floor by none"),
        ("spread", "Spread", "Standard deviation of the pass rate over systems; 0.5 at most"),
        *_agreement_heads(found),
        *((key_of("system", system), system, f"Share of the responses of {system} that meet the criterion")
          for system in found.systems),
    )  # fmt: skip
    ordered = sorted(found.criteria, key=lambda one: _place(one.discrimination))
    rater_id = found.rater.id if found.rater else ""
    lines = tuple(_line(one, found.systems, rater_id, bool(found.raters)) for one in ordered)
    criteria = ResultSheet(
        "criteria", "Criteria", heads, lines, tuple(_told(found)), tuple(_pictures(found)), DEPARTURES,
        metrics=(JUDGED_BY.metrics[0].name,),
    )  # fmt: skip
    return (criteria, _weights(found))


def _weights(found: RubricPilotsReport) -> ResultSheet:
    """The spread of weights beside the paper's experts'."""
    heads = columns(
        ("weight", "Weight"), ("criteria", "Criteria", "Of this weight"), ("share", "Share", "Of all criteria"),
        ("experts_share", PAPER, "Share of its experts' weights (Table 10): for comparison, not a norm"),
        ("difference", "Difference", "Of the two shares"),
    )  # fmt: skip
    lines = []
    for weight, own in found.weights.items():
        norm, value = EXPERT_WEIGHT_SHARES.get(weight), own.value
        there = None if value is None else round(value * own.n)
        apart = None if value is None or norm is None else value - norm
        cells = (
            count(weight, form="g"), count(there), share(value), share(norm),
            _points(apart),
        )  # fmt: skip
        lines.append(SheetLine(cells))
    return ResultSheet("weights", "Weights", heads, tuple(lines))


def _points(apart: float | None) -> SheetCell:
    if apart is None:
        return SheetCell(UNDEFINED)
    return SheetCell(f"{100 * apart:+.1f} points".replace("-", "−"), apart, value=apart)


def _pictures(found: RubricPilotsReport) -> Iterator[SheetPicture]:
    title = "Weights beside the experts' of the paper"
    rows = [f"weight {weight}" for weight in found.weights]
    series: dict[str, list[float | None]] = {
        "here": [share.value for share in found.weights.values()],
        "experts (Table 10)": [EXPERT_WEIGHT_SHARES.get(weight) for weight in found.weights],
    }
    yield SheetPicture(
        "weights", title, partial(result_pictures.bars, title, rows, series, "share of criteria")
    )
    whole = len(found.criteria)
    title = f"What {counted(whole, 'criterion tells', 'criteria tell')}"
    rows = [words for words, _ in REACHED.values()]
    shares: dict[str, list[float | None]] = {
        "share of criteria": [found.reach.get(reach, 0) / whole for reach in REACHED]
    }
    yield SheetPicture(
        "reach", title, partial(result_pictures.bars, title, rows, shares, "share of criteria")
    )


def _agreement_heads(found: RubricPilotsReport) -> tuple[tuple[str, ...], ...]:
    """Where no two raters judged the same responses, nothing is said of agreement."""
    if not found.raters:
        return ()
    return (
        ("kappa", "κ", f"Cohen's κ of {' and '.join(found.raters)}"),
        ("agreement", "Agreement", "Share of responses on which the two raters say the same"),
    )


def _place(found: Discrimination) -> tuple[int, float]:
    order = (CriterionReach.CEILING, CriterionReach.FLOOR, CriterionReach.OPEN, CriterionReach.APART)
    return order.index(found.reach), found.spread.value or 0.0


def _line(one: Piloted, systems: Sequence[str], rater_id: str, found_by_two: bool) -> SheetLine:
    found, agreed = one.discrimination, one.agreement
    words, state = REACHED[found.reach]
    cells = (
        text(one.item_key), text(one.text, tip=one.text), count(one.weight, form="g"), text(words, state=state),
        figure(found.spread),
        *((figure(agreed.kappa), _bare(agreed.percent)) if agreed else (SheetCell(""),) * (2 if found_by_two else 0)),
        *(share(found.rates.get(system), 0, "No vote came") for system in systems),
    )  # fmt: skip
    more = (("Criterion", one.text), *_account(found, agreed))
    source = FigureSource(JUDGED_BY.name, rater_id, item_id=one.item_id, unit_id=one.unit_id)
    return SheetLine(cells, one.item_id, one.unit_id, Kind.RUBRIC.value, more=more, source=source)


def _account(found: Discrimination, agreed: CriterionAgreement | None) -> Iterator[tuple[str, str]]:
    yield "Reach", REACHED[found.reach][0]
    yield (
        "Spread",
        f"{in_words(found.spread)} ({found.spread.method}{'; ' if found.spread.note else ''}{found.spread.note})",
    )
    if agreed:
        for head, estimate in (("κ", agreed.kappa), ("Agreement", agreed.percent)):
            yield (
                head,
                f"{in_words(estimate)}, n = {estimate.n}{'. ' if estimate.note else ''}{estimate.note}",
            )


def _bare(estimate: Estimate) -> SheetCell:
    """A figure without its interval and method, for which a column of shares has no room."""
    return figure(Estimate(estimate.value, n=estimate.n, missing=estimate.missing, note=estimate.note))


def _of_experts(weight: float) -> str:
    norm = EXPERT_WEIGHT_SHARES.get(weight)
    return "" if norm is None else f" ({PAPER}'s experts {percent(norm)})"


def _told(found: RubricPilotsReport) -> Iterator[str]:
    whole = len(found.criteria)
    by_name = found.rater.name if found.rater else ""
    apart, ceiling, floor, unknown = (
        found.reach.get(reach, 0)
        for reach in (CriterionReach.APART, CriterionReach.CEILING, CriterionReach.FLOOR, CriterionReach.OPEN)
    )
    yield (
        f"By the votes of {by_name}, {apart:,} of {whole:,} criteria tell systems apart; "
        f"{ceiling:,} are met by all, {floor:,} by none, {unknown:,} are open."
    )
    spread = ", ".join(
        f"weight {weight} {percent(share.value or 0.0)}{_of_experts(weight)}"
        for weight, share in found.weights.items()
    )
    yield f"Weights: {spread}."
    yield f"Gap between systems: {in_words(found.gap)} ({found.gap.note})."
    if found.raters:
        yield f"κ is that of {found.raters[0]} and {found.raters[1]}, criterion by criterion."
