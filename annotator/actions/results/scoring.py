"""Scores of each response under a protocol by one rater: every metric, over all units and by facet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from sqlalchemy import select

from annotator.actions.items import materials, roles
from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters
from annotator.actions.results.result_raters import Spoken, are_people
from annotator.domain.judges.protocol import Material, Over, Protocol, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.tasks import TRAITS
from annotator.domain.material.item import Item
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import CONTINUATION, EXEMPLAR, MODES
from annotator.domain.texts.estimate import Estimate, bases
from annotator.stats.intervals.bounds import mean_bounds, mean_range
from annotator.storage.tables import ITEM, RESPONSE

ALL, MODE, FACET = "all", "mode", "facet"
# By what figures are grouped, in the order in which they are shown.
GROUPINGS = (ALL, "question_type", "subject", *TRAITS, MODE, FACET)
Group = tuple[str, str]
# Rater → what they said, by unit; for pairs, by the other response.
Said = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Score:
    """A metric of one response and its groups; `judged` counts the judgements behind it."""

    item_id: str
    system_id: str
    metric: str
    groups: tuple[Group, ...]
    estimate: Estimate
    response_id: str
    trial: int
    mode: str
    judged: int


@dataclass(frozen=True, slots=True)
class _Values:
    """Raters' values: response → rater → unit → value; for pairs by the response shown second."""

    of: Mapping[str, Said] = field(default_factory=dict)
    against: Mapping[str, Said] = field(default_factory=dict)

    def raters(self, response_id: str) -> list[str]:
        return sorted({*self.of.get(response_id, ()), *self.against.get(response_id, ())})


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """A response as each rater judged it, and its groups."""

    groups: tuple[Group, ...]
    said: Mapping[str, RatedResponse]

    @property
    def material(self) -> Material:
        """The response and all that is at hand about it."""
        return next(iter(self.said.values())).material


def scores(project: Project, shape: Protocol, rater_id: str) -> Iterator[Score]:
    """The scores of all responses that can be judged, item by item; those of people are averaged over who labelled.

    Judgements that are missing are left out of a value, counted, and bound it by `floor` and `ceiling`.
    """
    for one in heard(project, shape, rater_id):
        yield from scores_of(shape, one)


def heard(
    project: Project, shape: Protocol, rater_id: str, *, mode: str = "",
    read: Iterable[Spoken] | None = None,
) -> Iterator[JudgedResponse]:  # fmt: skip
    """What was said of all responses that can be judged, item by item, of each as a whole and facet by facet.

    Where responses were given in several modes, each mode is a group, and those of one alone (by default the first:
    end-to-end, where there are any) count in the others: what was given gold is not averaged with what was not.
    `read` stands in place of the rater's own values.
    """
    values = _values(project, shape, rater_id, read) if shape.values else _Values()
    modes = modes_of(project)
    counts = CONTINUATION if shape.mode == CONTINUATION else mode or (*modes, "")[0]
    wanted = materials.for_scoring(shape)
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        for material in at_hand.responses:
            groups = _groups(at_hand.item, material.response.mode, modes, counts)
            if shape.unit_kind is not None and shape.unit_kind not in material.documents:
                continue
            raters = values.raters(material.response.id)
            if are_people(rater_id) and not raters:
                continue
            yield from _of_response(shape, material, groups, values, raters or [rater_id])


def _of_response(
    shape: Protocol, material: Material, groups: tuple[Group, ...], values: _Values, raters: list[str]
) -> Iterator[JudgedResponse]:
    said = {rater: _said(values, material.response.id, rater) for rater in raters}
    yield JudgedResponse(groups, {rater: RatedResponse(material, *one) for rater, one in said.items()})
    for facet in _facets(shape, material) if (ALL, ALL) in groups else ():
        narrowed = _narrowed(shape, material, facet)
        yield JudgedResponse(
            ((FACET, facet),), {rater: RatedResponse(narrowed, *one) for rater, one in said.items()}
        )


def came(shape: Protocol, scored: RatedResponse) -> int:
    """How many of the units of a response were judged."""
    units = (unit for kind in _unit_documents(shape) for unit in scored.material.units(kind))
    return sum(unit.id in scored.values for unit in units)


def counted(shape: Protocol, one: JudgedResponse) -> Score:
    """What came and what is missing of a response that has no score by itself."""
    response = one.material.response
    units = sum(len(one.material.units(kind)) for kind in _unit_documents(shape)) * len(one.said)
    judged = sum(came(shape, scored) for scored in one.said.values())
    estimate = Estimate(None, n=judged, missing=max(0, units - judged))
    return Score(
        one.material.item.id, response.system_id, "", one.groups, estimate, response.id, response.trial, response.mode,
        judged,
    )  # fmt: skip


def scores_of(shape: Protocol, one: JudgedResponse) -> Iterator[Score]:
    """The scores of a response, metric by metric."""
    response = one.material.response
    counts = [came(shape, scored) for scored in one.said.values()]
    for metric in (metric for metric in shape.metrics if metric.over is Over.RESPONSE):
        found = {rater: metric.score(scored, True) for rater, scored in one.said.items()}
        yield Score(
            one.material.item.id,
            response.system_id,
            metric.name,
            one.groups,
            mean_of_raters(found),
            response.id,
            response.trial,
            response.mode,
            # A figure may count less than was judged (what is unknown), or other things than units (cells, pairs).
            sum(max(estimate.n, count) for estimate, count in zip(found.values(), counts, strict=True)),
        )


def _said(values: _Values, response_id: str, rater: str) -> tuple[dict[str, str], dict[str, str]]:
    return values.of.get(response_id, {}).get(rater, {}), values.against.get(response_id, {}).get(rater, {})


def _facets(shape: Protocol, material: Material) -> list[str]:
    """The facets that the units of a response speak of; none where they are not distinguished."""
    units = (unit for kind in _unit_documents(shape) for unit in material.units(kind))
    return sorted({shape.facet(unit) for unit in units} - {""})


def _narrowed(shape: Protocol, material: Material, facet: str) -> Material:
    """The same with the units of one facet alone; verdicts on the others find no unit to count for."""
    documents, parts = dict(material.documents), dict(material.parts)
    for of in _unit_documents(shape):
        held = documents if isinstance(of, Kind) else parts
        if of in held:
            document = held[of]  # type: ignore[index]
            kept = tuple(unit for unit in document.units if shape.facet(unit) == facet)
            held[of] = document.with_units(kept)  # type: ignore[index]
    return replace(material, documents=documents, parts=parts)


def _unit_documents(shape: Protocol) -> tuple[Kind | ResponsePart, ...]:
    return (shape.unit_kind,) if shape.unit_kind is not None else shape.parts


def modes_of(project: Project) -> tuple[str, ...]:
    """The modes in which systems were asked, the known ones in their order, then others by name."""
    question = select(RESPONSE.c.mode).distinct().join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
    question = question.where(RESPONSE.c.mode.not_in((EXEMPLAR, CONTINUATION)))
    with project.store.read() as db:
        found = db.execute(question.where(ITEM.c.retired.is_(False), roles.ANSWERED)).scalars()
        return tuple(
            sorted(found, key=lambda mode: (MODES.index(mode) if mode in MODES else len(MODES), mode))
        )


def main_mode(project: Project) -> str:
    """The mode whose responses count in the results; empty where there is no response."""
    return (*modes_of(project), "")[0]


def counted_modes(project: Project, mode: str = "") -> tuple[str, ...]:
    """The modes of the responses that count: one, by default the main one, and what people wrote as exemplars."""
    return mode or main_mode(project), EXEMPLAR


def filed(item: Item, by: str) -> str:
    """What an item is filed under by one of its fields or traits."""
    return item.traits.get(by, "") if by in TRAITS else str(getattr(item, by))


def _groups(item: Item, mode: str, modes: tuple[str, ...], counts: str) -> tuple[Group, ...]:
    own = ((MODE, mode),) if len(modes) > 1 and mode in modes else ()
    if mode not in (counts, EXEMPLAR):
        return own
    traits = ((name, filed(item, name)) for name in TRAITS)
    named = ((ALL, ALL), ("question_type", item.question_type), ("subject", item.subject), *traits, *own)
    return tuple((by, group) for by, group in named if group)


def _values(project: Project, shape: Protocol, rater_id: str, read: Iterable[Spoken] | None) -> _Values:
    rows = result_raters.in_trials(project, shape, rater_id) if read is None else read
    if shape.paired and are_people(rater_id) and not label_cases.both_orders(project, shape.name):
        rows = list(rows)
        rows += _turned(shape, rows)
    of: dict[str, Said] = defaultdict(lambda: defaultdict(dict))
    against: dict[str, Said] = defaultdict(lambda: defaultdict(dict))
    for response_id, rater, unit_id, value in rows:
        # A judge that was asked and gave no value is there all the same.
        given = of[response_id][rater]
        if value:
            given[unit_id] = value
        if shape.paired:
            given = against[unit_id][rater]
            if value:
                given[response_id] = value
    return _Values(of, against)


def _turned(shape: Protocol, rows: list[Spoken]) -> list[Spoken]:
    """What people asked in one order would say in the other: the same report is better, whichever comes first."""
    other = shape.scale.mirrored
    known = {(rater, one, two) for one, rater, two, _ in rows}
    return [
        (two, rater, one, other.get(value, value))
        for one, rater, two, value in rows
        if (rater, two, one) not in known
    ]


def mean_of(found: Sequence[Estimate], method: str = "") -> Estimate:
    """The mean of the scores that are defined, with the bounds that what is missing leaves; a single one as it is."""
    if len(found) == 1:
        return found[0]
    values = [one.value for one in found if one.value is not None]
    floor, ceiling = mean_bounds(found)
    return Estimate(
        value=fsum(values) / len(values) if values else None,
        floor=floor,
        ceiling=ceiling,
        n=len(values),
        missing=sum(one.missing for one in found),
        method=method,
        note=_lacking(found, len(values)),
        within=mean_range(found),
    )


def _lacking(found: Sequence[Estimate], known: int) -> str:
    """Why there is no mean of scores, or how many it leaves out."""
    if known:
        return (
            f"{len(found) - known:,} of {len(found):,} left out: no defined score"
            if known < len(found)
            else ""
        )
    return "; ".join(dict.fromkeys(one.note for one in found if one.note))


def mean_of_raters(by_rater: Mapping[str, Estimate], method: str = "") -> Estimate:
    """The mean of what several raters, or the trials of one judge, make of the same responses, which are measured by
    one basis; over trials `n` counts what each of them does.
    """
    found = list(by_rater.values())
    if len(found) == 1:
        return found[0]
    mean = mean_of(found, "" if (trials := any(map(result_raters.is_trial, by_rater))) else method)
    return (replace(mean, n=max(one.n for one in found)) if trials else mean).based(found[0].basis)


def mean_of_runs(runs: Sequence[Estimate], method: str = "") -> Estimate:
    """The mean of what a system scores on an item in several runs, each measured by its own basis."""
    return runs[0] if len(runs) == 1 else mean_of(runs, method).based(bases(runs))
