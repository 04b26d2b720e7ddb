"""Scores of each response under a protocol by one rater: every metric, over all units and by facet."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from math import fsum, isfinite

from sqlalchemy import Row, select

from annotator.actions.items import items, materials
from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import Spoken, are_people, in_trials, is_trial, raters_under
from annotator.domain.common import one_of
from annotator.domain.judges.protocol import Material, Over, Protocol, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.tasks import TRAITS
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import CONTINUATION, EXEMPLAR, Item
from annotator.domain.stored import MODES
from annotator.domain.texts.estimate import SHARE, Estimate, bases
from annotator.protocols import COMPOSITES, PROTOCOLS, USUAL
from annotator.stats.intervals.student import mean_bounds, mean_range
from annotator.storage.tables import ITEM, RESPONSE

ALL, MODE, FACET = "all", "mode", "facet"
# The groupings of figures, in the order in which they are shown.
GROUPINGS = (ALL, "question_type", "subject", *TRAITS, MODE, FACET)
Group = tuple[str, str]
# An item's id, key, question, question_type, subject, language and traits.
ItemRow = Row[str, str, str, str, str, str, dict[str, str]]
# Rater → their values by unit; for pairs, by the other response.
Ratings = dict[str, dict[str, str]]


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

    of: Mapping[str, Ratings] = field(default_factory=dict)
    against: Mapping[str, Ratings] = field(default_factory=dict)

    def raters(self, response_id: str) -> list[str]:
        return sorted({*self.of.get(response_id, ()), *self.against.get(response_id, ())})


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    groups: tuple[Group, ...]
    ratings: Mapping[str, RatedResponse]

    @property
    def material(self) -> Material:
        return next(iter(self.ratings.values())).material


def scores(project: Project, protocol: Protocol, rater_id: str) -> Iterator[Score]:
    """The scores of all responses that can be judged, item by item; those of people are averaged over the labellers.

    Missing judgements are left out of a value and counted; they bound it by `floor` and `ceiling`.
    """
    for response in judged_responses(project, protocol, rater_id):
        yield from scores_of(protocol, response)


def judged_responses(
    project: Project, protocol: Protocol, rater_id: str, *, mode: str = "",
    read: Iterable[Spoken] | None = None,
) -> Iterator[JudgedResponse]:  # fmt: skip
    """The values of all responses that can be judged, item by item, each as a whole and facet by facet.

    If responses were given in several modes, each mode is a group, and only one mode's (by default the first:
    end-to-end, if there are any) count in the other groups: responses given gold are not averaged with others. `read`
    replaces the rater's own values.
    """
    values = _values(project, protocol, rater_id, read) if protocol.values else _Values()
    modes = modes_of(project)
    counts = CONTINUATION if protocol.mode == CONTINUATION else mode or (*modes, "")[0]
    for at_hand in materials.each(project, materials.for_scoring(protocol), materials.item_ids(project)):
        for material in at_hand.responses:
            groups = _groups(at_hand.item, material.response.mode, modes, counts)
            if protocol.unit_kind is not None and protocol.unit_kind not in material.documents:
                continue
            raters = values.raters(material.response.id)
            if are_people(rater_id) and not raters:
                continue
            yield from _of_response(protocol, material, groups, values, raters or [rater_id])


def _of_response(
    protocol: Protocol, material: Material, groups: tuple[Group, ...], values: _Values, raters: list[str]
) -> Iterator[JudgedResponse]:
    of, against = values.of.get(material.response.id, {}), values.against.get(material.response.id, {})
    ratings = {rater: (of.get(rater, {}), against.get(rater, {})) for rater in raters}
    yield JudgedResponse(groups, {rater: RatedResponse(material, *one) for rater, one in ratings.items()})
    for facet in _facets(protocol, material) if (ALL, ALL) in groups else ():
        narrowed = _narrowed(protocol, material, facet)
        yield JudgedResponse(
            ((FACET, facet),), {rater: RatedResponse(narrowed, *one) for rater, one in ratings.items()}
        )


def came(protocol: Protocol, scored: RatedResponse) -> int:
    units = (unit for kind in _unit_documents(protocol) for unit in scored.material.units(kind))
    return sum(unit.id in scored.values for unit in units)


def counted(protocol: Protocol, one: JudgedResponse) -> Score:
    """The valid and missing judgements of a response that has no score of its own."""
    response = one.material.response
    units = sum(len(one.material.units(kind)) for kind in _unit_documents(protocol)) * len(one.ratings)
    judged = sum(came(protocol, scored) for scored in one.ratings.values())
    estimate = Estimate(None, n=judged, missing=max(0, units - judged))
    return Score(
        one.material.item.id, response.system_id, "", one.groups, estimate, response.id, response.trial, response.mode,
        judged,
    )  # fmt: skip


def scores_of(protocol: Protocol, one: JudgedResponse) -> Iterator[Score]:
    response = one.material.response
    counts = [came(protocol, scored) for scored in one.ratings.values()]
    for metric in (metric for metric in protocol.metrics if metric.over is Over.RESPONSE):
        result = {rater: metric.score(scored, True) for rater, scored in one.ratings.items()}
        yield Score(
            one.material.item.id,
            response.system_id,
            metric.name,
            one.groups,
            mean_of_raters(result),
            response.id,
            response.trial,
            response.mode,
            # A figure may count less than was judged (what is unknown), or other things than units (cells, pairs).
            sum(max(estimate.n, count) for estimate, count in zip(result.values(), counts, strict=True)),
        )


def _facets(protocol: Protocol, material: Material) -> list[str]:
    """The facets of the units of a response; empty if the protocol does not distinguish any."""
    units = (unit for kind in _unit_documents(protocol) for unit in material.units(kind))
    return sorted({protocol.facet(unit) for unit in units} - {""})


def _narrowed(protocol: Protocol, material: Material, facet: str) -> Material:
    """The same with the units of one facet only; verdicts on other units are ignored."""
    documents, parts = dict(material.documents), dict(material.parts)
    for of in _unit_documents(protocol):
        held = documents if isinstance(of, Kind) else parts
        if of in held:
            document = held[of]  # type: ignore[index]
            units = tuple(unit for unit in document.units if protocol.facet(unit) == facet)
            held[of] = document.with_units(units)  # type: ignore[index]
    return replace(material, documents=documents, parts=parts)


def _unit_documents(protocol: Protocol) -> tuple[Kind | ResponsePart, ...]:
    return (protocol.unit_kind,) if protocol.unit_kind is not None else protocol.parts


_ASKED = (
    select(RESPONSE.c.mode)
    .distinct()
    .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
    .where(RESPONSE.c.mode.not_in((EXEMPLAR, CONTINUATION)), ITEM.c.retired.is_(False), items.ANSWERED)
)


def modes_of(project: Project) -> tuple[str, ...]:
    """The modes in which systems were asked, the known ones in their order, then others by name."""
    return tuple(
        sorted(
            project.query(_ASKED).scalars(),
            key=lambda mode: (MODES.index(mode) if mode in MODES else len(MODES), mode),
        )
    )


def main_mode(project: Project) -> str:
    """The mode whose responses count in the results; empty if there is no response."""
    return (*modes_of(project), "")[0]


def counted_modes(project: Project, mode: str = "") -> tuple[str, ...]:
    """The modes of the responses that count: one, by default the main one, and people's exemplars."""
    return mode or main_mode(project), EXEMPLAR


def filed(item: Item | ItemRow, by: str) -> str:
    """The value of one of an item's fields or traits."""
    return item.traits.get(by, "") if by in TRAITS else str(getattr(item, by))


def _groups(item: Item, mode: str, modes: tuple[str, ...], counts: str) -> tuple[Group, ...]:
    own = ((MODE, mode),) if len(modes) > 1 and mode in modes else ()
    if mode not in (counts, EXEMPLAR):
        return own
    traits = ((name, filed(item, name)) for name in TRAITS)
    named = ((ALL, ALL), ("question_type", item.question_type), ("subject", item.subject), *traits, *own)
    return tuple((by, group) for by, group in named if group)


def _values(project: Project, protocol: Protocol, rater_id: str, read: Iterable[Spoken] | None) -> _Values:
    rows = in_trials(project, protocol, rater_id) if read is None else read
    if protocol.paired and are_people(rater_id) and not label_cases.both_orders(project, protocol.name):
        rows = list(rows)
        rows += _turned(protocol, rows)
    of: dict[str, Ratings] = defaultdict(lambda: defaultdict(dict))
    against: dict[str, Ratings] = defaultdict(lambda: defaultdict(dict))
    for response_id, rater, unit_id, value in rows:
        # A judge that was asked and gave no value is present all the same.
        given = of[response_id][rater]
        if value:
            given[unit_id] = value
        if protocol.paired:
            given = against[unit_id][rater]
            if value:
                given[response_id] = value
    return _Values(of, against)


def _turned(protocol: Protocol, rows: list[Spoken]) -> list[Spoken]:
    """The mirrored values of people asked in one order: the same report is better, whichever comes first."""
    other = protocol.scale.mirrored
    known = {(rater, one, two) for one, rater, two, _ in rows}
    return [
        (two, rater, one, other.get(value, value))
        for one, rater, two, value in rows
        if (rater, two, one) not in known
    ]


def mean_of(estimates: Sequence[Estimate], method: str = "") -> Estimate:
    """The mean of the defined scores, with the bounds that missing ones leave; a single one unchanged."""
    if len(estimates) == 1:
        return estimates[0]
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    floor, ceiling = mean_bounds(estimates)
    return Estimate(
        value=fsum(values) / len(values) if values else None,
        floor=floor,
        ceiling=ceiling,
        n=len(values),
        missing=sum(estimate.missing for estimate in estimates),
        method=method,
        note=_lacking(estimates, len(values)),
        within=mean_range(estimates),
    )


def _lacking(estimates: Sequence[Estimate], known: int) -> str:
    """Why there is no mean of scores, or how many it leaves out."""
    if known:
        return (
            f"{len(estimates) - known:,} of {len(estimates):,} left out: no defined score"
            if known < len(estimates)
            else ""
        )
    return "; ".join(dict.fromkeys(estimate.note for estimate in estimates if estimate.note))


def mean_of_raters(by_rater: Mapping[str, Estimate], method: str = "") -> Estimate:
    """The mean over several raters, or the trials of one judge, on the same responses, with the same basis; over trials
    `n` counts what each of them does.
    """
    result = list(by_rater.values())
    if len(result) == 1:
        return result[0]
    mean = mean_of(result, "" if (trials := any(map(is_trial, by_rater))) else method)
    return (replace(mean, n=max(estimate.n for estimate in result)) if trials else mean).based(
        result[0].basis
    )


def mean_of_runs(runs: Sequence[Estimate], method: str = "") -> Estimate:
    """The mean of a system's scores on an item in several runs, each with its own basis."""
    return runs[0] if len(runs) == 1 else mean_of(runs, method).based(bases(runs))


# The default metric.
USUAL_METRIC = PROTOCOLS[USUAL].metrics[0].name
# The label of a figure's axis and column.
RANGES = {
    Over.RESPONSE: "mean over items",
    Over.SYSTEM: "of all reports of a system together",
    Over.PROJECT: "of the whole project",
}


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """A metric with its protocol, or a composite `of` others with its paper; `definition` is Markdown with formulas.

    `judged` if a rater's verdicts enter, `over` is what it ranges over, `within` its range of values.
    """

    name: str
    title: str
    unit: str
    higher_is_better: bool
    definition: str
    protocol: str
    protocol_title: str
    citation: str
    departures: tuple[str, ...]
    judged: bool
    over: Over
    within: tuple[float, float]
    cost: bool = False
    of: tuple[str, ...] = ()

    @property
    def share(self) -> bool:
        """Whether its values are between 0 and 1."""
        return self.within == SHARE

    @property
    def axis(self) -> tuple[float, float] | None:
        """The range of its pictures' axis; None if its values are unbounded."""
        return self.within if all(map(isfinite, self.within)) else None

    @property
    def ranging(self) -> str:
        return RANGES[self.over]


def described() -> list[MetricInfo]:
    """All metrics, protocol by protocol, then the papers' composites."""
    of_protocols = [
        MetricInfo(
            metric.name, metric.title, metric.unit, metric.higher_is_better, metric.definition, protocol.name,
            protocol.title, protocol.citation, protocol.departures, bool(protocol.values), metric.over, metric.within,
            metric.cost,
        )
        for protocol in PROTOCOLS.values()
        for metric in protocol.metrics
    ]  # fmt: skip
    judged = {info.name for info in of_protocols if info.judged}
    of_papers = [
        MetricInfo(
            made.name, made.title, made.unit, made.higher_is_better, made.definition, paper.name, paper.title,
            paper.title, made.departures, not judged.isdisjoint(made.of), Over.SYSTEM, made.within, of=made.of,
        )
        for paper, made in COMPOSITES.values()
    ]  # fmt: skip
    return of_protocols + of_papers


def named(name: str) -> MetricInfo:
    """The metric of that name; the Refusal lists the known names."""
    known = {info.name: info for info in described()}
    return one_of(name, known, f"There is no metric “{name}”.", "Available:")


def departures(names: Iterable[str]) -> tuple[str, ...]:
    """The differences of these metrics from their papers, each once."""
    selected = set(names)
    return tuple(
        dict.fromkeys(
            departure for info in described() if info.name in selected for departure in info.departures
        )
    )


def qualities(project: Project) -> list[MetricInfo]:
    """The metrics of a report's quality with something known about them here, the usual one first."""
    protocols = {name for name, result in raters_under(project).items() if result}
    return [
        info
        for info in described()
        if info.protocol in protocols and info.over is Over.RESPONSE and not info.cost
    ]


def known(project: Project) -> list[MetricInfo]:
    """The figures with something known about them here; for a composite, about one of its parts."""
    protocols = {name for name, result in raters_under(project).items() if result}
    parts = {info.name for info in described() if info.protocol in protocols}
    return [info for info in described() if info.name in parts or not parts.isdisjoint(info.of)]


_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_BLOCK = "<p>{}</p>"
_SIGNS = {
    r"\sum": "Σ", r"\in": "∈", r"\{": "{", r"\}": "}", r"\qquad": "&emsp; ", r"\,": " ", r"\ ": " ", r"\cdot": "·",
    r"\cup": "∪", r"\cap": "∩", r"\le": "≤", r"\ge": "≥", r"\times": "×",
}  # fmt: skip
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


def html(definition: str) -> str:
    return "".join(_blocks(definition))


def _blocks(definition: str) -> Iterator[str]:
    for place, part in enumerate(_FORMULA.split(definition)):
        if place % 2:
            yield _BLOCK.format(f"<b>{formula(part)}</b>")
        else:
            yield from (_BLOCK.format(_prose(each)) for each in part.split("\n\n") if each.strip())


def _prose(words: str) -> str:
    coded = re.sub(r"`([^`]+)`", r"<b>\1</b>", escape(" ".join(words.split()), quote=False))
    return re.sub(r"\*([^*]+)\*", r"<i>\1</i>", coded)


def formula(latex: str) -> str:
    """A formula of the definitions in one line of HTML: fractions with a slash, indices as subscripts."""
    line = escape(" ".join(latex.split()), quote=False)
    line = re.sub(rf"\\text{_BRACED}", r"\1", line)
    # From the inside out: a numerator may contain a fraction.
    while (result := re.search(rf"\\frac{_BRACED}{_BRACED}", line)) is not None:
        line = line[: result.start()] + f"{_part(result[1])} / {_part(result[2])}" + line[result.end() :]
    line = re.sub(rf"_(?:{_BRACED}|(\w))", lambda index: f"<sub>{index[1] or index[2]}</sub>", line)
    for sign in sorted(_SIGNS, key=len, reverse=True):
        line = line.replace(sign, _SIGNS[sign])
    return line


def _part(term: str) -> str:
    """A numerator or a denominator, in brackets if it has several terms."""
    return f"({term})" if re.search(r"[+∪−-]", term) else term
