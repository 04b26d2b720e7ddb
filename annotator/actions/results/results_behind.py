"""Items and judgements behind a figure of the results."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import scoring
from annotator.actions.results.result_raters import CONSENSUS, judgements
from annotator.actions.results.result_sheets import FigureSource
from annotator.actions.results.scoring import ALL, FACET, MODE
from annotator.domain.judges.judgement import Judgement, RaterKind
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import JUDGE, SYSTEM


@dataclass(frozen=True, slots=True)
class JudgementBehind:
    """A judgement behind a figure, with its words; for a pair `unit` names the other system."""

    item_key: str
    question: str
    system: str
    unit: str
    weight: float
    judgement: Judgement
    rater: str = ""


def of_source(project: Project, source: FigureSource) -> list[JudgementBehind]:
    """The judgements that a cell or a line is based on, each report's in the order of its units.

    Only a coordinator reads how others judged.
    """
    people.refuse_others(project, "can read the judgements behind a figure")
    shape = PROTOCOLS[source.protocol]
    with project.store.read() as db:
        systems = {row.id: row.name for row in db.execute(select(SYSTEM.c.id, SYSTEM.c.name))}
        judges = dict(db.execute(select(JUDGE.c.id, JUDGE.c.name)).all())
    names = judges | {person.id: person.alias for person in people.people(project)} | {CONSENSUS: CONSENSUS}
    found: list[JudgementBehind] = []
    ids = [source.item_id] if source.item_id else materials.item_ids(project)
    for at_hand in materials.each(project, materials.for_counting(shape), ids):
        item = at_hand.item
        if source.group_by not in (ALL, MODE, FACET) and scoring.filed(item, source.group_by) != source.group:
            continue
        cases = dict(_cases(project, shape, source, at_hand))
        places = {key: place for place, key in enumerate(cases)}
        shown = [row for row in _rows(project, shape, source, item.id) if _key(row) in cases]
        for row in sorted(
            shown, key=lambda row: (places[_key(row)], names.get(row["rater_id"], ""), row["trial"])
        ):
            case, unit = cases[_key(row)]
            words = unit.text if case.other is None else systems[case.other.system_id]
            who, weight = names.get(row["rater_id"], row["rater_id"]), shape.weight(unit)
            system = systems[case.response.system_id]
            found.append(
                JudgementBehind(item.key, item.question, system, words, weight, Judgement(**row), who)
            )
    return found


Key = tuple[str, str]


def _key(row: dict[str, Any]) -> Key:
    return row["response_id"], row["unit_id"]


def _cases(
    project: Project, shape: Protocol, source: FigureSource, at_hand: materials.MaterialAtHand
) -> Iterator[tuple[Key, tuple[Case, Unit]]]:
    """The cases that a source reaches on an item, each unit once, by response and unit."""
    modes = (source.group,) if source.group_by == MODE else scoring.counted_modes(project, source.mode)
    for material in at_hand.responses:
        response = material.response
        if response.mode not in modes and not source.response_id:
            continue
        for case in shape.cases(material):
            for unit in case.units:
                if _is_meant(shape, source, case, unit):
                    yield (response.id, unit.id), (case, unit)


def _is_meant(shape: Protocol, source: FigureSource, case: Case, unit: Unit) -> bool:
    """Whether a unit counts for what is asked about; a pair counts for both of its systems, in either order."""
    shown = [case.response] + ([case.other] if case.other is not None else [])
    if source.group_by == FACET and shape.facet(unit) != source.group:
        return False
    if source.system_id and source.system_id not in {one.system_id for one in shown}:
        return False
    if source.response_id and source.response_id not in {one.id for one in shown}:
        return False
    if not source.unit_id:
        return True
    both = {case.response.id, unit.id}
    return source.unit_id == unit.id or (
        case.other is not None and both == {source.response_id, source.unit_id}
    )


def _rows(project: Project, shape: Protocol, source: FigureSource, item_id: str) -> list[dict[str, Any]]:
    unit_id = source.unit_id if not shape.paired else ""
    return list(judgements(project, shape, source.rater_id, item_id, unit_id))


def by_person(found: JudgementBehind) -> bool:
    """Whether a person judged, so that there is no reply to be read."""
    return found.judgement.rater_kind == RaterKind.PERSON.value
