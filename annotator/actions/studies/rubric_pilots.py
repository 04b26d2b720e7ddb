"""How good the rubrics are on the responses at hand: which criteria tell systems apart, where raters agree."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_raters, results, scoring
from annotator.actions.results.result_raters import CONSENSUS, PEOPLE, PERSON_KEY, Rater
from annotator.actions.runs.journal import JUDGEMENT
from annotator.actions.runs.judge_cases import COVERAGE
from annotator.actions.sheets.result_sheets import Choice
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.material.item import Item
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS
from annotator.protocols.researcherbench.rubric_pilot import (
    CriterionAgreement,
    Discrimination,
    Reach,
    Vote,
    criterion_agreement,
    discrimination,
    gap,
    weight_shares,
)

# A response's id and the name of its system.
Answer = tuple[str, str]
# Rater → response → criterion → value.
Said = Mapping[str, Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class Piloted:
    """A criterion with what the votes make of it; `agreement` is None where no two raters were chosen."""

    item_id: str
    item_key: str
    unit_id: str
    text: str
    weight: int
    discrimination: Discrimination
    agreement: CriterionAgreement | None


@dataclass(frozen=True, slots=True)
class Report:
    """Every criterion, how the weights are shared out, and how far the best system is from the worst."""

    rater: Rater | None
    raters: tuple[str, str] | None
    criteria: tuple[Piloted, ...]
    reach: Mapping[Reach, int]
    weights: Mapping[int, Estimate]
    gap: Estimate
    systems: tuple[str, ...] = field(default=())


def choices(project: Project) -> tuple[Choice, ...]:
    """Whose votes are looked at, and between which two raters κ is computed: those who share most first."""
    names = _names(project)
    pairs = tuple((f"{names[a]} and {names[b]}", f"{a},{b}") for a, b in _pairs(_said(project)))
    between = Choice("between", "κ between", pairs or (("no two raters", ""),))
    return (response_scores.rater_choice(project, COVERAGE), between)


def report(project: Project, judge: str = "", between: str = "") -> Report:
    """The criteria of all settled rubrics in their order, by one rater's votes; people's are put together.

    Of the responses those of the mode that counts in the results. κ is that of two raters on the same responses, by
    default of those who share most judgements; people first.
    """
    rater = result_raters.chosen(results.everybody(project, COVERAGE), judge)
    said, names = _said(project), _names(project)
    pairs = _pairs(said)
    if rater is not None and rater.id == CONSENSUS:
        said[CONSENSUS] = _settled(project)
    two = _two(between) or (pairs[0] if pairs else None)
    criteria: list[Piloted] = []
    rubrics: list[Rubric] = []
    for at_hand, answers in _answered(project):
        rubric = at_hand.own.documents.get(Kind.RUBRIC)
        if isinstance(rubric, Rubric):
            rubrics.append(rubric)
            criteria += _piloted(at_hand.item, rubric, answers, said, rater, two)
    return Report(
        rater,
        (names[two[0]], names[two[1]]) if two else None,
        tuple(criteria),
        Counter(line.discrimination.reach for line in criteria),
        weight_shares(rubrics),
        _gap(project, rater),
        tuple(sorted({system for line in criteria for system in line.discrimination.rates})),
    )


def _two(between: str) -> tuple[str, str] | None:
    first, _, second = between.partition(",")
    return (first, second) if second else None


def _answered(project: Project) -> Iterator[tuple[materials.AtHand, list[Answer]]]:
    """Every item with its responses of the mode that counts, each with the name of its system."""
    systems, mode = response_scores.systems_named(project), scoring.main_mode(project)
    wanted = materials.for_counting(PROTOCOLS[COVERAGE])
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        responses = (material.response for material in at_hand.responses)
        yield at_hand, [(one.id, systems[one.system_id]) for one in responses if one.mode == mode]


def _piloted(
    item: Item,
    rubric: Rubric,
    answers: Sequence[Answer],
    said: Said,
    rater: Rater | None,
    two: tuple[str, str] | None,
) -> Iterator[Piloted]:
    units = {unit.id: unit for unit in rubric.units}
    agreed = criterion_agreement(*(_own(rubric, answers, said, one) for one in two)) if two else {}
    for found in discrimination(_votes(rubric, answers, said, rater)) if rater else ():
        unit = units[found.criterion_id]
        yield Piloted(item.id, item.key, unit.id, unit.text, unit.weight, found, agreed.get(unit.id))


def _gap(project: Project, rater: Rater | None) -> Estimate:
    means = (
        response_scores.system_means(response_scores.of_metric(project, "coverage", rater.id))
        if rater
        else {}
    )
    return gap({system: mean.value for system, mean in means.items()})


def _votes(rubric: Rubric, answers: Sequence[Answer], said: Said, rater: Rater) -> Iterator[Vote]:
    """Every criterion on every response: each vote of the people who labelled it, or the one that is missing."""
    for unit in rubric.units:
        for response_id, system in answers:
            voters = _voters(said, response_id) if rater.id == PEOPLE else [rater.id]
            for voter in voters or [""]:
                value = said.get(voter, {}).get(response_id, {}).get(unit.id)
                yield Vote(unit.id, system, response_id, value)


def _voters(said: Said, response_id: str) -> list[str]:
    return [rater for rater, of in said.items() if rater.startswith(PERSON_KEY) and response_id in of]


def _own(rubric: Rubric, answers: Sequence[Answer], said: Said, rater: str) -> Iterator[Vote]:
    """What one rater said, of the responses they judged at all."""
    for response_id, system in answers:
        values = said.get(rater, {}).get(response_id)
        for unit in rubric.units if values is not None else ():
            yield Vote(unit.id, system, response_id, values.get(unit.id) if values else None)


def _said(project: Project) -> dict[str, dict[str, dict[str, str]]]:
    j = JUDGEMENT.c
    question = select(j.rater_kind, j.rater_id, j.response_id, j.unit_id, j.value).where(
        j.protocol == COVERAGE, j.status == Status.OK.value, j.trial == 1
    )
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    with project.store.read() as db:
        for kind, rater, response_id, unit_id, value in db.execute(
            question.order_by(j.rater_kind, j.rater_id)
        ):
            key = f"{PERSON_KEY}{rater}" if kind == RaterKind.PERSON.value else rater
            found[key][response_id][unit_id] = value
    return found


def _settled(project: Project) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for response_id, _, unit_id, value in result_raters.spoken(project, PROTOCOLS[COVERAGE], CONSENSUS):
        found[response_id][unit_id] = value
    return found


def _names(project: Project) -> dict[str, str]:
    """The raters by key: people by alias, judges by name."""
    named = {f"{PERSON_KEY}{person.id}": person.alias for person in people.people(project)}
    return named | {rater.id: rater.name for rater in results.raters(project, COVERAGE)}


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
