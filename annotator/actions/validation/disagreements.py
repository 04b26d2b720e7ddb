"""Where judges differ, from people with rulings and their effect on the figures, and from one another."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, product

import numpy as np
from sqlalchemy import Connection, func, or_, select

from annotator.actions.authoring.comparing import VALUE, ComparedField, of_pairs
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.labelling import label_cases, label_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, cached
from annotator.actions.results.result_raters import CONSENSUS, PEOPLE, ResultRater, spoken
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetLine,
    SheetPicture,
    columns,
    count,
    key_of,
    text,
)
from annotator.actions.runs.judge_cases import protocol_of, words_of
from annotator.actions.sets import reviews, validation_figures, validation_ground, validation_sets
from annotator.actions.sets.reviews import CaseKey, CaseList, CaseOutlook, VerdictCase
from annotator.actions.sets.validation_figures import ALL, TITLES, RaterResult, figure_cell, there
from annotator.actions.validation.validation import ValidationQuery, ground_of, held
from annotator.domain.common import Change, CutList, Refusal, nested, now, well_formed
from annotator.domain.experts.adjudication import Figure, figure
from annotator.domain.judges.judge import Fault, InformedRuling, RaterKind, Status
from annotator.domain.judges.protocol import Level
from annotator.domain.stored import InformedFields, InformedKind
from annotator.exchange import pictures
from annotator.protocols import USUAL
from annotator.storage.tables import INFORMED, ITEM, RESPONSE


@dataclass(frozen=True, slots=True)
class RuledJudge:
    """A judge's figures by first labels, which stay the metric, and after rulings.

    After the rulings, a person's label ruled wrong takes the judge's value, and a unit with an unclear criterion is
    excluded. `open` disagreements are not ruled on yet.
    """

    rater: validation_ground.ValidationRater
    first: RaterResult
    ruled: RaterResult
    rulings: Mapping[str, int]
    open: int
    query: ValidationQuery = field(default_factory=ValidationQuery)


@dataclass(frozen=True, slots=True)
class UnclearCriterion:
    item_id: str
    item_key: str
    unit_id: str
    words: str
    times: int


def queue(project: Project, query: ValidationQuery) -> Sequence[VerdictCase]:
    """Every unit on which a judge and a person differ, open ones first, then by weight, the heaviest first.

    On the same labels as the validation of this query, with the same refusals. Leaves out units that this person is
    still to label blind.
    """
    return outlook(project, query).lines


@cached
def outlook(project: Project, query: ValidationQuery) -> CaseOutlook:
    """The same, with the number left out because this person is still to label their items blind."""
    result, ruled = ground_of(project, query), _rulings(project, query.protocol)
    blind = reviews.still_blind(project, people.someone(project).id)
    made, keys = list[VerdictCase](), list(result.places)
    for rater, source in product(result.judges(), result.truth):
        values, true = result.column(rater.key)[0], result.column(source)[0]
        alias = result.aliases.get(source, CONSENSUS)
        for at in np.flatnonzero(there(values) & there(true) & (values != true)).tolist():
            one = VerdictCase(
                result.places[keys[at]], query.protocol, rater.name, rater.id, values[at], person_id=source,
                alias=alias, label_value=true[at], prompt=rater.prompt,
            )  # fmt: skip
            by = ruled.get(one.key)
            # A ruling on other values does not apply to these.
            same = by is not None and (by.judge_value, by.label_value) == (one.judge_value, one.label_value)
            made.append(one._replace(ruling=by.said, reason=by.reason, note=by.note) if by and same else one)
    shown = [one for one in made if one.place.item_id not in blind]
    shown.sort(key=lambda one: (bool(one.ruling), -abs(one.place.weight), one.place.item_key, one.key))
    rulings = [one.ruling for one in shown]
    lines = CaseList(result.places, [one.key for one in shown], rulings, shown.__getitem__)
    return CaseOutlook(lines, bool(result.versions), len(made) - len(shown))


@people.for_coordinators("can rule on disagreements between judges and people")
def rule(
    project: Project, one: VerdictCase, ruling: InformedRuling, *, reason: str = "", note: str = "",
    protocol: str = USUAL,
) -> Change:  # fmt: skip
    """Rule on who is wrong; a later ruling on the same replaces this one. First labels never change."""
    if reason and reason not in list(Fault):
        raise Refusal(f"“{reason}” is not a valid reason.", f"Use one of {', '.join(Fault)}.")
    fields = well_formed(InformedFields, dict(
        kind=InformedKind.RULING, protocol=protocol, item_id=one.place.item_id, response_id=one.place.response_id,
        unit_id=one.place.unit_id, judge_id=one.judge_id, judge_value=one.judge_value, label_of=one.person_id,
        label_value=one.label_value, said=ruling.value, reason=reason, note=note,
        by=people.someone(project).id, at=now(),
    ))  # fmt: skip
    return reviews.say(project, fields, "rule")


@cached
def report(project: Project, query: ValidationQuery) -> list[RuledJudge]:
    """Each judge by first labels and after the rulings, on the same labels as the validation of this query."""
    result = ground_of(project, query)
    positive = validation_figures.positive_of(result.protocol, query.positive)
    ruled = _rulings(project, query.protocol)
    return [_ruled(result, rater, query, positive, ruled) for rater in result.judges()]


@people.for_coordinators("can see criteria ruled unclear")
def unclear(project: Project, protocol: str = USUAL) -> list[UnclearCriterion]:
    """The criteria ruled unclear and not reworded since, the most often ruled first."""
    places = validation_figures.places(project, label_cases.protocol_of(project, protocol))
    counts = Counter(
        (places[key].item_id, places[key].item_key, places[key].unit_id, places[key].words)
        for one in reviews.standing(
            project, InformedKind.RULING, protocol, INFORMED.c.said == InformedRuling.UNCLEAR.value
        )
        if (key := (one.response_id, one.unit_id)) in places
    )
    return [
        UnclearCriterion(*about, times)
        for about, times in sorted(counts.items(), key=lambda e: (-e[1], e[0]))
    ]


def _rulings(project: Project, protocol: str) -> dict[CaseKey, InformedFields]:
    """The rulings in force, by case; those on another wording are not."""
    return {
        (one.judge_id, one.response_id, one.unit_id, one.label_of): one
        for one in reviews.standing(project, InformedKind.RULING, protocol)
    }


def _ruled(
    ground: validation_ground.Ground,
    rater: validation_ground.ValidationRater,
    query: ValidationQuery,
    positive: str,
    ruled: Mapping[CaseKey, InformedFields],
) -> RuledJudge:
    judged, counts = ground.version(rater).verdicts, Counter[str]()
    truth = {source: dict(own) for source, own in ground.truth.items()}
    for (judge_id, response_id, unit_id, source), ruling in ruled.items():
        key, own = (response_id, unit_id), truth.get(source, {})
        same = (judged.get(key), own.get(key)) == (ruling.judge_value, ruling.label_value)
        if judge_id == rater.id and same and key in ground.places:
            counts[ruling.said] += 1
            if ruling.said == InformedRuling.PERSON_WRONG.value:
                own[key] = ruling.judge_value
            elif ruling.said == InformedRuling.UNCLEAR.value:
                del own[key]
    first = ground.pairs(rater)
    differ = int((there(first.verdicts) & (first.verdicts != first.truth)).sum())
    each = (first, replace(ground, truth=truth).pairs(rater)) if counts else (first,)
    results_of_both = [validation_figures.figures(pairs, positive, ground.protocol.scale) for pairs in each]
    return RuledJudge(
        rater, results_of_both[0], results_of_both[-1], dict(counts.most_common()), differ - counts.total(), query
    )  # fmt: skip


def sheets(judges: Sequence[RuledJudge]) -> tuple[ResultSheet, ...]:
    """A row for each judge and figure: by first labels, and after the rulings."""
    heads = columns(
        JUDGE_COLUMN, ("figure", "Figure"),
        ("first_labels", "First labels", "The metric: blind labels as they were given"),
        ("after_rulings", "After rulings", "Labels ruled wrong take the judge's value; unclear criteria are excluded"),
        *((key_of(ruling.value), ruling.value.capitalize()) for ruling in InformedRuling),
        ("not_ruled", "Not ruled", "Disagreements without a ruling"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(judge.rater.name), text(TITLES[name][0], tip=TITLES[name][1]), figure_cell(first),
            figure_cell(judge.ruled.plain[name]),
            *(count(judge.rulings.get(ruling.value, 0)) for ruling in InformedRuling), count(judge.open),
        ), source=held(judge.query, judge.rater, ALL, f"{judge.rater.name}: first labels"), picture=name)
        for judge in judges for name, first in judge.first.plain.items()
    )  # fmt: skip
    return (
        (
            ResultSheet(
                "rulings",
                "First labels and rulings",
                heads,
                lines,
                (
                    "First labels stay the metric. Only disagreements are ruled on, so rulings can only raise "
                    "agreement: errors shared by both sides are never reviewed.",
                ),
                _pictures(judges),
            ),
        )
        if lines
        else ()
    )


def _pictures(judges: Sequence[RuledJudge]) -> tuple[SheetPicture, ...]:
    return tuple(
        SheetPicture(
            name,
            TITLES[name][0],
            partial(
                pictures.pairs,
                f"{TITLES[name][0]}: first labels, and after rulings",
                [(judge.rater.name, judge.first.plain[name], judge.ruled.plain[name]) for judge in judges],
                ("first labels, the metric", "after rulings"),
                f"{TITLES[name][0]}, 95 % interval over items",
            ),
        )
        for name in judges[0].first.plain
    )


# Nobody reads a list longer than this.
MOST = 2_000
# Item, response, unit.
Unit = tuple[str, str, str]
# Unit → person or judge → value: one value of a judge, one of each person.
VerdictsByUnit = dict[Unit, dict[str, str]]


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters over shared units; people paired with themselves means with one another.

    `pairs` counts the pairs of values: each person's value on a unit is one, so there may be more pairs than units.
    """

    a: ResultRater
    b: ResultRater
    units: int
    pairs: int
    figures: tuple[Figure, ...]

    def figure(self, name: str) -> Figure:
        return next(result for result in self.figures if result.name == name)


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """Every two raters; `shared` is the number of units judged by all, if only those are counted."""

    protocol: str
    pairings: tuple[RaterPair, ...]
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class RaterDifference:
    """A unit on which two raters differ: values and reasons; ids are of their judgements."""

    protocol: str
    item_key: str
    system: str
    unit: str
    value_a: str
    why_a: str
    value_b: str
    why_b: str
    id_a: str = ""
    id_b: str = ""


def raters(project: Project, protocol: str) -> list[ResultRater]:
    """The raters under a protocol: judges in their listed order, then people, once their labels are sealed."""
    j = label_rows.counted_rows().c
    question = select(
        j.rater_kind, j.rater_id, func.count(func.distinct(j.response_id + " " + j.unit_id))
    ).where(
        j.protocol == protocol,
        j.status == Status.OK.value,
        or_(j.trial == 1, j.rater_kind == RaterKind.JUDGE.value),
    )
    rows = project.query(question.group_by(j.rater_kind, j.rater_id)).all()
    counts = {rater_id: units for kind, rater_id, units in rows if kind == RaterKind.JUDGE.value}
    by_people = sum(units for kind, _, units in rows if kind == RaterKind.PERSON.value)
    result = [
        ResultRater(judge.id, judge.name, counts[judge.id], judge.kind)
        for judge in judges.all_of(project)
        if judge.id in counts
    ]
    return [*result, ResultRater(PEOPLE, PEOPLE, by_people)] if by_people else result


@people.for_coordinators("can compare judges with people")
def compare(
    project: Project, protocol: str, chosen: Sequence[str] = (), *, shared: bool = False
) -> JudgeComparison:
    """Every two of the chosen raters (by id; all by default); a judge by its verdict over trials, people once sealed.

    With `shared`, only the units that all of them judged are counted, so that the figures are comparable with each
    other. Only a coordinator may see how people answered.
    """
    known = [rater for rater in raters(project, protocol) if not chosen or rater.id in chosen]
    with project.store.read() as db:
        verdicts = {rater.id: _verdicts(project, db, rater, protocol) for rater in known}
    common = set[Unit]().union(*verdicts.values()).intersection(*verdicts.values()) if shared else None
    if common is not None:
        verdicts = {rater: {unit: result[unit] for unit in common} for rater, result in verdicts.items()}
    scale = protocol_of(protocol).scale
    ordered = scale if scale.level is not Level.NOMINAL else None
    compared = ComparedField(VALUE, scale.level, scale.names, always_ac1=True, scale=ordered)
    pairings = [_pairing(compared, a, b, verdicts) for a, b in combinations(known, 2)]
    pairings += [_pairing(compared, rater, rater, verdicts) for rater in known if rater.id == PEOPLE]
    return JudgeComparison(protocol, tuple(pairings), None if common is None else len(common))


@people.for_coordinators("can compare judges with people")
def differing(project: Project, protocol: str, a: str, b: str) -> CutList[RaterDifference]:
    """The units on which two raters (by id) differ, item by item; for people, one line for each who differs."""
    whose = {rater.id: rater for rater in raters(project, protocol)}
    with project.store.read() as db:
        first, second = (_verdicts(project, db, whose[rater], protocol) for rater in (a, b))
        everywhere = [
            (unit, pair)
            for unit in _in_order(db, first.keys() & second.keys())
            for pair in _pairs(first[unit], second[unit], same=a == b)
            if first[unit][pair[0]] != second[unit][pair[1]]
        ]
        apart = everywhere[:MOST]
        named = materials.named(db, RESPONSE.c.item_id.in_({unit[0] for unit, _ in apart}))
        verdicts = {
            (*unit, x): of[unit][x]
            for unit, pair in apart
            for of, x in zip((first, second), pair, strict=True)
        }
        why = _reasons(db, protocol, verdicts)
    texts = words_of(project, [(unit[0], protocol) for unit, _ in apart])
    shown = (
        RaterDifference(
            protocol,
            *named[unit[1]],
            texts.get((unit[1], unit[2]), ""),
            first[unit][x],
            why[(*unit, x)][1],
            second[unit][y],
            why[(*unit, y)][1],
            why[(*unit, x)][0],
            why[(*unit, y)][0],
        )
        for unit, (x, y) in apart
    )
    return CutList(tuple(shown), len(everywhere))


def _pairing(
    compared: ComparedField, a: ResultRater, b: ResultRater, verdicts: dict[str, VerdictsByUnit]
) -> RaterPair:
    first, second = verdicts[a.id], verdicts[b.id]
    units = [
        unit
        for unit in sorted(first.keys() & second.keys())
        if _pairs(first[unit], second[unit], same=a is b)
    ]
    pairs = [
        (unit[0], (first[unit][x], second[unit][y]))
        for unit in units
        for x, y in _pairs(first[unit], second[unit], same=a is b)
    ]
    result = of_pairs(
        compared, [pair for _, pair in pairs], [item for item, _ in pairs] or None, several=a is b
    )
    return RaterPair(a, b, len(units), len(pairs), tuple(figure(name, estimate) for name, estimate in result))


def _pairs(first: dict[str, str], second: dict[str, str], *, same: bool) -> list[tuple[str, str]]:
    """The pairs of raters to compare: of people among themselves, each two once."""
    if same:
        return list(combinations(sorted(first), 2))
    return [(x, y) for x in sorted(first) for y in sorted(second)]


def _verdicts(project: Project, db: Connection, rater: ResultRater, protocol: str) -> VerdictsByUnit:
    """A rater's values by unit at its present wording, over its trials; for people, without those held back by sets."""
    withheld = validation_sets.held_back(project, protocol) if rater.id == PEOPLE else set()
    items = dict(db.execute(select(RESPONSE.c.id, RESPONSE.c.item_id)).all())
    return nested(
        ((items[response_id], response_id, unit_id), who, value)
        for response_id, who, unit_id, value in spoken(project, protocol_of(protocol), rater.id)
        if response_id not in withheld
    )


def _in_order(db: Connection, units: Iterable[Unit]) -> list[Unit]:
    listed = select(ITEM.c.id).order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    place = {item_id: number for number, item_id in enumerate(db.execute(listed).scalars())}
    return sorted(units, key=lambda unit: (place[unit[0]], unit[1:]))


def _reasons(
    db: Connection, protocol: str, verdicts: Mapping[tuple[str, str, str, str], str]
) -> dict[tuple[str, str, str, str], tuple[str, str]]:
    """Unit and rater → the id of the first judgement with that value, and its rationale, or the note beside a label."""
    j = label_rows.counted_rows().c
    question = select(
        j.item_id, j.response_id, j.unit_id, j.rater_id, j.id, j.rationale, j.note, j.value
    ).where(
        j.protocol == protocol,
        or_(j.trial == 1, j.rater_kind == RaterKind.JUDGE.value),
        j.rater_id.in_({unit[3] for unit in verdicts}),
        j.item_id.in_({unit[0] for unit in verdicts}),
    )
    rows = db.execute(question.order_by(j.trial.desc())).all()
    # The last one stays: judgements with that value come after the others.
    rows = sorted(rows, key=lambda row: row.value == verdicts.get(tuple(row[:4])))
    return {(row[0], row[1], row[2], row[3]): (row[4], row[5] or row[6]) for row in rows}
