"""Judges compared with one another and with people on the same units, and their differences."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlalchemy import Connection, func, or_, select

from annotator.actions.authoring.comparing import VALUE, ComparedField, of_pairs
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.labelling import label_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import PEOPLE, ResultRater, spoken
from annotator.actions.runs.judge_cases import protocol_of, words_of
from annotator.actions.sets import validation_sets
from annotator.domain.experts.adjudication import Figure, figure
from annotator.domain.judges.judge import RaterKind, Status
from annotator.domain.judges.protocol import Level
from annotator.domain.texts.words import CutList
from annotator.storage.tables import ITEM, RESPONSE

# A list longer than this is read by nobody.
MOST = 2_000
# Item, response, unit.
Unit = tuple[str, str, str]
# Unit → who of a rater said what: one value of a judge, one of each person.
VerdictsByUnit = dict[Unit, dict[str, str]]


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters over shared units; people with themselves means with one another.

    `pairs` counts the pairs of values: of people each person's value on a unit is one, so there may be more of them
    than units.
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
    """Every two raters; `shared` is the number of units judged by all, where only those are counted."""

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
    """Who has judged under a protocol: the judges as they are listed, then the people, once their labels are sealed."""
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
    """Every two of the chosen raters (by id; all by default), each judge by what its trials come to, people once
    sealed.

    With `shared` only the units that all of them judged are counted, so that the figures can be compared with each
    other. Only a coordinator is told how people answered.
    """
    known = [rater for rater in raters(project, protocol) if not chosen or rater.id in chosen]
    with project.store.read() as db:
        verdicts = {rater.id: _verdicts(project, db, rater, protocol) for rater in known}
    common = set[Unit]().union(*verdicts.values()).intersection(*verdicts.values()) if shared else None
    if common is not None:
        verdicts = {rater: {unit: result[unit] for unit in common} for rater, result in verdicts.items()}
    scale = protocol_of(protocol).scale
    ordered = scale if scale.level is not Level.NOMINAL else None
    field = ComparedField(VALUE, scale.level, scale.names, always_ac1=True, scale=ordered)
    pairings = [_pairing(field, a, b, verdicts) for a, b in combinations(known, 2)]
    pairings += [_pairing(field, rater, rater, verdicts) for rater in known if rater.id == PEOPLE]
    return JudgeComparison(protocol, tuple(pairings), None if common is None else len(common))


@people.for_coordinators("can compare judges with people")
def differing(project: Project, protocol: str, a: str, b: str) -> CutList[RaterDifference]:
    """The units on which two raters (by id) differ, item by item; of people, each who differs from the judge."""
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
    field: ComparedField, a: ResultRater, b: ResultRater, verdicts: dict[str, VerdictsByUnit]
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
    result = of_pairs(field, [pair for _, pair in pairs], [item for item, _ in pairs] or None, several=a is b)
    return RaterPair(a, b, len(units), len(pairs), tuple(figure(name, estimate) for name, estimate in result))


def _pairs(first: dict[str, str], second: dict[str, str], *, same: bool) -> list[tuple[str, str]]:
    """Who is compared with whom: of people among themselves, each two once."""
    if same:
        return list(combinations(sorted(first), 2))
    return [(x, y) for x in sorted(first) for y in sorted(second)]


def _verdicts(project: Project, db: Connection, rater: ResultRater, protocol: str) -> VerdictsByUnit:
    """What a rater says by unit as it is worded now, of several trials what they come to; of people without what sets
    hold back.
    """
    held = validation_sets.held_back(project, protocol) if rater.id == PEOPLE else set()
    items = dict(db.execute(select(RESPONSE.c.id, RESPONSE.c.item_id)).all())
    result: VerdictsByUnit = defaultdict(dict)
    for response_id, who, unit_id, value in spoken(project, protocol_of(protocol), rater.id):
        if response_id not in held:
            result[items[response_id], response_id, unit_id][who] = value
    return dict(result)


def _in_order(db: Connection, units: Iterable[Unit]) -> list[Unit]:
    listed = select(ITEM.c.id).order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    place = {item_id: number for number, item_id in enumerate(db.execute(listed).scalars())}
    return sorted(units, key=lambda unit: (place[unit[0]], unit[1:]))


def _reasons(
    db: Connection, protocol: str, verdicts: Mapping[tuple[str, str, str, str], str]
) -> dict[tuple[str, str, str, str], tuple[str, str]]:
    """Unit and rater → the id of the first judgement that says so, and the grounds that were given, or the note beside
    a label.
    """
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
    # The last one stays: those that say so come after the others.
    rows = sorted(rows, key=lambda row: row.value == verdicts.get(tuple(row[:4])))
    return {(row[0], row[1], row[2], row[3]): (row[4], row[5] or row[6]) for row in rows}
