"""Labelling queue of a rater: reports and pairs to label, and their last labels."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating
from annotator.actions.items.materials import MaterialAtHand
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import (
    SAID,
    UNSURE,
    given_by,
    labels_by,
    mine,
    sealed_by,
    tally,
    to_give_again,
    waiting_by,
)
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.judges.protocol import Case, Material, Protocol
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ITEM, JUDGEMENT, RESPONSE

# From so many items on, all are read: no more ids fit into a question.
_MANY = 10_000


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One line of the queue: a report of an item, or two, how many of its units this person has labelled, and whether
    they have submitted their labels of the item. Of a pair `response_id` is shown first and `other_id` second. `given`
    tells that all of its labels were given elsewhere, and are finished; `waits` that some are not submitted, where a
    report is submitted by itself.
    """

    item_id: str
    item_key: str
    question: str
    response_id: str
    name: str
    units: int
    labelled: int
    unsure: int
    sealed: bool = False
    other_id: str = ""
    given: bool = False
    waits: bool = False

    @property
    def id(self) -> str:
        """What the line is known by: the report, or both of a pair in their order."""
        return task_id(self.response_id, self.other_id)


def task_id(response_id: str, other_id: str = "") -> str:
    return f"{response_id}~{other_id}" if other_id else response_id


@dataclass(frozen=True, slots=True)
class LabelTasks:
    tasks: list[LabelTask]
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelDecision:
    response_id: str
    unit_id: str
    item_key: str
    name: str
    words: str
    said: str
    at: datetime
    task_id: str = ""


def queue(project: Project, protocol: str = USUAL) -> list[LabelTask]:
    """Every report this person may label, item by item, each item's reports in this person's own order.

    Of what is submitted, once anything is assigned to them, only the items whose labelling is; of any other protocol,
    once it is handed out to them, only the items of which it is. A handful of questions for the whole project, however
    many items there are; labels of units that have since been taken out of the artifact are not counted.
    """
    return outlook(project, protocol).tasks


def outlook(project: Project, protocol: str = USUAL) -> LabelTasks:
    definition = label_cases.protocol_of(project, protocol)
    if definition.submitted:
        with project.store.read() as db:
            return LabelTasks(_handed_out(project, protocol, _assigned(project, db, protocol)))
    me, tasks = people.someone(project).id, list[LabelTask]()
    with project.store.read() as db:
        statuses, sealed = labels_by(db, me, protocol), sealed_by(db, me, protocol)
        waiting = set(waiting_by(db, me, protocol))
        dealt = {
            item_id for item_id, names in label_cases.protocols_by_item(db, me).items() if protocol in names
        }
        sampled = label_cases.narrowed(db, me, protocol)
    met: list[tuple[Material, Sequence[Case]]] = []
    for at_hand in label_cases.walk(project, definition):
        item_id = at_hand.item.id
        if dealt and item_id not in dealt:
            continue
        of_item = [
            response
            for response in at_hand.responses
            if response.response.id in sampled.get(item_id, {response.response.id})
        ]
        result = {
            material.response.id: label_cases.cases_of(project, definition, material) for material in of_item
        }
        met += [(material, result[material.response.id]) for material in of_item]
        for line in _of_item(definition, at_hand, result, me, statuses):
            units = [line.other_id] if line.other_id else statuses.get(line.response_id, ())
            waits = item_id not in dealt and any((line.response_id, unit) in waiting for unit in units)
            tasks.append(replace(line, sealed=item_id in sealed, waits=waits))
    return LabelTasks(tasks, label_cases.gaps(definition, met))


def first_assigned(project: Project, protocols: Sequence[str]) -> str:
    """The first of these protocols by which there is something to label; empty where there is none.

    What any two reports can be asked comes last. To whom other work was given, nothing is offered.
    """
    if lacking(project) == label_cases.ASSIGNMENTS:
        return ""
    any_two = [name for name in protocols if PROTOCOLS[name].paired and not PROTOCOLS[name].exemplar]
    ordered = [*(name for name in protocols if name not in any_two), *any_two]
    return next((name for name in ordered if queue(project, name)), "")


def left(project: Project) -> int:
    """How many lines of what waits for the person working have units without a label, over all that was handed out."""
    with project.store.read() as db:
        of_items = label_cases.protocols_by_item(db, people.someone(project).id).values()
    names = dict.fromkeys([USUAL, *(name for one in of_items for name in one)])
    return sum(_left(project, name) for name in names)


def _left(project: Project, protocol: str) -> int:
    """Where all is offered to someone, units are read of those items alone of which they have labelled something."""
    if not label_cases.protocol_of(project, protocol).submitted:
        return sum(map(_is_open, queue(project, protocol)))
    me, kind, untouched = people.someone(project).id, label_cases.labelled_by(protocol), 0
    with project.store.read() as db:
        items = _assigned(project, db, protocol)
        if items is None:
            of_item = RESPONSE.c.item_id
            items = set(db.execute(mine(me, protocol).with_only_columns(JUDGEMENT.c.item_id)).scalars())
            items |= label_cases.narrowed(db, me, protocol).keys() | annotating.of_several(db, kind)
            reports = label_cases.LABELLED.where(
                of_item.in_(annotating.judged_items(db, kind, with_units=True)),
                of_item.not_in(annotating.among(items | annotating.withheld(db, me, kind))),
                of_item.not_in(select(ITEM.c.id).where(ITEM.c.retired)),
            )
            untouched = db.execute(reports.with_only_columns(func.count())).scalar_one()
    return untouched + sum(map(_is_open, _handed_out(project, protocol, items)))


def _is_open(task: LabelTask) -> bool:
    return task.labelled < task.units


def seen(project: Project, protocol: str) -> tuple[str, str, object]:
    """What must be the same for a queue to be as it was: protocol, person, and what others have written to the file.

    What is written here is told, and known.
    """
    return protocol, people.someone(project).id, project.store.watch.by_others()


def _handed_out(project: Project, protocol: str, items: AbstractSet[str] | None) -> list[LabelTask]:
    """The reports of these items; of all where none are named."""
    if items is not None and not items:
        return []
    me, kind = people.someone(project).id, label_cases.labelled_by(protocol)
    few = items if items is not None and len(items) < _MANY else None
    with project.store.read() as db:
        units, reports = label_cases.judged_units(db, kind, few), label_cases.reports_for(db, me, few)
        statuses, sealed = labels_by(db, me, protocol), sealed_by(db, me, protocol)
        hidden, given = annotating.withheld(db, me, kind), given_by(db, me, protocol)
        question = select(ITEM.c.id, ITEM.c.key, ITEM.c.question).where(ITEM.c.retired.is_(False))
        if items is not None:
            question = question.where(ITEM.c.id.in_(annotating.among(items)))
        rows = db.execute(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all()
    tasks = []
    for item_id, key, words in rows:
        judged = units.get(item_id, {}) if item_id not in hidden else {}
        for name, response_id in label_cases.dealt(reports[item_id], me) if judged else ():
            counts = tally(judged, statuses[response_id])
            about = (item_id, key, words, response_id, name, len(judged), *counts, item_id in sealed)
            tasks.append(LabelTask(*about, given=given[response_id] >= len(judged)))
    return tasks


def _of_item(
    protocol: Protocol, at_hand: MaterialAtHand, caseses: Mapping[str, Sequence[Case]], me: str,
    statuses: Mapping[str, Mapping[str, str]],
) -> list[LabelTask]:  # fmt: skip
    item, names = at_hand.item, {report_id: name for name, report_id in label_cases.dealt(caseses, me)}
    if not protocol.paired:
        lines = [(response_id, "", caseses[response_id]) for response_id in names]
    else:
        pairs = label_cases.shuffled([case for cases in caseses.values() for case in cases], me)
        lines = [(case.response.id, case.unit.id, [case]) for case in pairs]
    tasks = []
    for response_id, other_id, cases in lines:
        units = [unit.id for case in cases for unit in case.units]
        if units:
            name = (
                label_cases.together(names[response_id], names[other_id]) if other_id else names[response_id]
            )
            counts = tally(units, statuses.get(response_id, {}))
            about = (item.id, item.key, item.question, response_id, name, len(units))
            tasks.append(LabelTask(*about, *counts, other_id=other_id))
    return tasks


def lacking(project: Project, protocol: str = USUAL) -> str:
    """What must come before anything can be labelled, by its name in `label_offers`, or nothing.

    “assignments” when other work is assigned to this person, and no labelling.
    """
    definition = label_cases.protocol_of(project, protocol)
    if not definition.submitted:
        return label_cases.lack(project, definition)
    kind, me = label_cases.labelled_by(protocol), people.someone(project).id
    with project.store.read() as db:
        assigned = _assigned(project, db, protocol)
        result = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
        items = {item_id for item_id in result if assigned is None or item_id in assigned}
        answered = items & label_cases.reports(db).keys()
        judged = answered & label_cases.judged_units(db, kind).keys()
        seen = judged - annotating.withheld(db, me, kind)
    if not items:
        return label_cases.ASSIGNMENTS if result else label_cases.ITEMS
    if not answered:
        return label_cases.RESPONSES
    if not judged:
        return kind.value
    return "" if seen else label_cases.WRITING


def recent(project: Project, limit: int = 10, protocol: str = USUAL) -> list[LabelDecision]:
    """This person's latest labels, newest first, without those of units no longer asked about or reworded since."""
    me, definition = people.someone(project).id, label_cases.protocol_of(project, protocol)
    question = mine(me, protocol).where(JUDGEMENT.c.status.in_(SAID))
    rows = project.query(question.order_by(JUDGEMENT.c.at.desc(), JUDGEMENT.c.id).limit(limit)).all()
    if not rows:
        return []
    keys, words, names = dict[str, str](), dict[tuple[str, str], str](), dict[str, str]()
    with project.store.read() as db:
        sampled = label_cases.narrowed(db, me, protocol)
        gone = to_give_again(db, me, protocol, JUDGEMENT.c.id.in_([row.id for row in rows]))
    for at_hand in label_cases.walk(project, definition, sorted({row.item_id for row in rows})):
        keys[at_hand.item.id] = at_hand.item.key
        ids = {response.response.id for response in at_hand.responses}
        dealt = label_cases.dealt(ids & sampled.get(at_hand.item.id, ids), me)
        names |= {report_id: name for name, report_id in dealt}
        for response in at_hand.responses:
            for case in label_cases.cases_of(project, definition, response):
                words |= {(response.response.id, unit.id): _words(case, unit.text) for unit in case.units}
    return [
        LabelDecision(
            row.response_id, row.unit_id, keys[row.item_id],
            label_cases.together(names[row.response_id], names[row.unit_id])
            if definition.paired
            else names[row.response_id],
            words[row.response_id, row.unit_id], row.value or UNSURE, row.at,
            task_id(row.response_id, row.unit_id if definition.paired else ""),
        )
        for row in rows
        if (row.response_id, row.unit_id) in words and row.response_id in names and row.id not in gone
    ]  # fmt: skip


def _words(case: Case, text: str) -> str:
    """What a unit is called where it stands alone: a cell of a matrix by both its sides, a pair by its question."""
    if case.other is not None:
        return case.item.question
    return " → ".join([*label_cases.beside(case), text])


def _assigned(project: Project, db: Connection, protocol: str) -> set[str] | None:
    """The items that the person working is asked to label by a protocol; None where everything is offered to them."""
    if assignments.offered(project) is None:
        return None
    of_items = label_cases.protocols_by_item(db, people.someone(project).id)
    return {item_id for item_id, names in of_items.items() if protocol in names}
