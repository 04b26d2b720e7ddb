"""The adjudication queue: open conflicts first, lowest agreement first."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, TypeVar

import orjson
from sqlalchemy import ColumnElement, Connection, Row, Select, case, func, insert, or_, select, update

from annotator.actions.adjudication import ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import settings
from annotator.actions.authoring.comparing import ITEM_SCORE, by_scale, field_named, measured, of_pairs
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.consensus.consensus import AdjudicatedStage, Documents, Made
from annotator.actions.labelling import label_cases
from annotator.actions.project import backups, people
from annotator.actions.project.file import Progress, Project, cached, record
from annotator.domain.common import (
    Change,
    Refusal,
    RoleNeeded,
    canonical_json,
    derived_id,
    new_id,
    now,
    required,
    sha256,
)
from annotator.domain.experts.adjudication import (
    BOTH,
    LETTERS,
    Adjudication,
    AdjudicationState,
    Agreement,
    DisputeState,
    Figure,
    Ruling,
    figure,
)
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind, Unit, Weights
from annotator.domain.kinds.documents import KINDS, Label
from annotator.domain.texts.difference import TextPiece, differences
from annotator.storage.tables import ADJUDICATION, AGREEMENT, DISPUTE, ITEM, RESPONSE, RULING

T = TypeVar("T")


# The letters dealt to raters, each row with whether all wrote the same, and whether raters order the rows differently.
OpeningRows = tuple[dict[str, str], list[tuple[ruling_rows.Members, bool]], bool]


def id_of(item_id: str, stage: Stage) -> str:
    """The id of the adjudication of a stage of an item, the same in every file."""
    return derived_id("adjudication", item_id, stage.value)


def open_(project: Project, item_id: str, stage: Stage) -> Adjudication:
    """The adjudication of a stage of an item, opened if necessary and assigned to the person working.

    Returned without its letters. Raises Refusal while the agreement is not frozen, and for anyone who answered part of
    the item.
    """
    with project.store.write() as db:
        person_id, result = _theirs(project, db, item_id, stage)
        if result is None:
            result, rulings = laid_out(db, item_id, stage, person_id)
            begin(project, db, result, rulings)
        elif result.adjudicator_id != person_id:
            db.execute(
                update(ADJUDICATION).where(ADJUDICATION.c.id == result.id).values(adjudicator_id=person_id)
            )
            image = {"adjudicator_id": person_id}
            record(project, db, Change("adjudication", result.id, "take over", None, image))
            result = result.model_copy(update=image)
    return result.model_copy(update={"letters": {}})


def look(project: Project, item_id: str, stage: Stage, question: Callable[[Project, str], T]) -> T:
    """The answer of a read-only query to an adjudication id; if it is not open yet, as if it had just been opened.

    Nothing is written. Raises Refusal as opening does.
    """
    with project.store.read() as db:
        person_id, result = _theirs(project, db, item_id, stage)
        if result is not None:
            return question(project, result.id)
        with ruling_rows.as_if_opened(*laid_out(db, item_id, stage, person_id)):
            return question(project, id_of(item_id, stage))


def _theirs(project: Project, db: Connection, item_id: str, stage: Stage) -> tuple[str, Adjudication | None]:
    """The person working and the adjudication, if begun; raises Refusal if they may not resume it."""
    result = ruling_rows.of_stage(db, item_id, stage)
    known = assignments.competence(project, db, item_id)
    if objection := known.objection(item_id, result.adjudicator_id if result else ""):
        raise objection
    return known.person.id, result


def layout(db: Connection, agreement: Agreement) -> OpeningRows:
    """Lay out the units of an agreement's raters in rows, before any ruling; deterministic."""
    raters = [rater.person_id for rater in agreement.inputs]
    dealt = ruling_rows.dealt(raters, ruling_rows.seed_of(id_of(agreement.item_id, agreement.stage)))
    documents = ruling_rows.sealed(db, agreement, dealt)
    kind = ruling_rows.kind_of(agreement.stage)
    orders = {letter: [unit.id for unit in document.units] for letter, document in documents.items()}
    rows = ruling_rows.rows(agreement, dealt, orders)
    unanimous = [
        len(row) == len(dealt)
        and consensus.agree(kind, (documents[letter].unit(unit) for letter, unit in row.items()))
        for row in rows
    ]
    order_differs = KINDS[kind].ordered and not ruling_rows.same_order(rows, orders)
    return dealt, list(zip(rows, unanimous, strict=True)), order_differs


def laid_out(db: Connection, item_id: str, stage: Stage, person_id: str) -> tuple[Adjudication, list[Ruling]]:
    """An adjudication and its rulings before anyone has ruled; raises Refusal while its agreement is not frozen."""
    agreement = required(
        assignments.of_stage(db, item_id, stage),
        f"The {stage.value} of this item is not ready to be adjudicated.",
        "Its agreement is frozen once everyone assigned has submitted.",
    )
    if len(agreement.inputs) > len(LETTERS):
        raise Refusal(
            f"{len(agreement.inputs):,} people answered this, more than there are letters.",
            "It cannot be adjudicated; its agreement figure stays.",
        )
    letters, rows, _ = layout(db, agreement)
    made = Adjudication(
        id=id_of(item_id, stage),
        item_id=item_id,
        stage=stage,
        agreement_id=agreement.id,
        adjudicator_id=person_id,
        seed=ruling_rows.seed_of(id_of(item_id, stage)),
        letters=letters,
        opened_at=now(),
    )
    rulings = [
        Ruling(
            id=derived_id("ruling", made.id, place),
            adjudication_id=made.id,
            position=place,
            members=row,
            unanimous=alike,
            # If all wrote the same, there is nothing to decide.
            take=BOTH if alike else "",
        )
        for place, (row, alike) in enumerate(rows)
    ]
    return made, rulings


def begin(project: Project, db: Connection, made: Adjudication, rulings: Sequence[Ruling]) -> None:
    """Write an adjudication with its initial rulings."""
    columns = made.model_dump() | {"letters": canonical_json(made.letters).decode()}
    db.execute(insert(ADJUDICATION).values(**columns))
    ruling_rows.add(db, rulings)
    image = {"item_id": made.item_id, "stage": made.stage.value, "seed": made.seed, "rows": len(rulings)}
    record(project, db, Change("adjudication", made.id, "open", None, image))


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row: the units of each letter with their notes, the differences that count, and the ruling's result.

    `pieces` are the word-level differences from the first letter's text to each other letter's. For labels, `heading`
    is the text judged by, `report` the report's stand-in name and `response_id` its id; empty for all other kinds.
    """

    number: int
    ruling: Ruling
    units: dict[str, Unit]
    differing: tuple[str, ...]
    made: tuple[Made, ...]
    pieces: dict[str, tuple[TextPiece, ...]] = field(default_factory=dict)
    heading: str = ""
    report: str = ""
    response_id: str = ""

    @property
    def contested(self) -> bool:
        """Whether some rater did not write it, or something that counts differs."""
        return not self.ruling.unanimous


@dataclass(frozen=True, slots=True)
class SheetDispute:
    id: str
    letter: str
    text: str


@dataclass(frozen=True, slots=True)
class AdjudicationSheet(AdjudicatedStage):
    """Everything needed to adjudicate one stage of an item, without anyone's identity.

    `remarks` are the notes on the whole artifact, `figures` the frozen agreement.
    """

    question: str
    kind: Kind
    state: AdjudicationState
    version: int
    spot_check: bool
    letters: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    remarks: dict[str, str]
    figures: tuple[Figure, ...]
    order_differs: bool
    disputes: tuple[SheetDispute, ...]


def sheet(project: Project, adjudication_id: str) -> AdjudicationSheet:
    """An adjudication with letters for raters; Refusal for anyone who may not adjudicate it, KeyError if unknown."""
    with project.store.read() as db:
        result = ruling_rows.adjudication(db, adjudication_id)
        assignments.refuse_others(project, db, result)
        frozen = ruling_rows.agreement(db, result.agreement_id)
        documents = ruling_rows.sealed(db, frozen, result.letters)
        rows = _rows(project, db, result, documents)
        item = db.execute(select(ITEM.c.key, ITEM.c.question).where(ITEM.c.id == result.item_id)).one()
        disputes = _disputes(db, result)
    kind = ruling_rows.kind_of(result.stage)
    orders = {letter: [unit.id for unit in document.units] for letter, document in documents.items()}
    members = [row.ruling.members for row in rows]
    return AdjudicationSheet(
        adjudication_id=result.id,
        item_id=result.item_id,
        item_key=item.key,
        question=item.question,
        stage=result.stage,
        kind=kind,
        state=result.state,
        version=result.version,
        spot_check=result.spot_check,
        letters=tuple(result.letters),
        rows=rows,
        remarks={letter: document.remark for letter, document in documents.items() if document.remark},
        figures=masked(frozen.figures or (figure for pair in frozen.pairs for figure in pair.figures)),
        order_differs=KINDS[kind].ordered and not ruling_rows.same_order(members, orders),
        disputes=disputes,
    )


def report_text(project: Project, response_id: str) -> str:
    return str(project.query(select(RESPONSE.c.text).where(RESPONSE.c.id == response_id)).scalar_one())


def masked(frozen: Iterable[Figure]) -> tuple[Figure, ...]:
    """Figures without what identifies raters: one rater's scores, and notes on A and B.

    A and B of the figures are not the letters but the same two people in every item; over many items they would show
    who is who. Of the note on an undefined figure only the first reason is kept, which concerns both.
    """
    return tuple(
        each.model_copy(update={"note": "" if each.value is not None else each.note.partition(";")[0]})
        for each in frozen
        if not each.name.startswith(ITEM_SCORE)
    )


def _rows(
    project: Project, db: Connection, adjudication: Adjudication, documents: Documents
) -> tuple[SheetRow, ...]:
    kind = ruling_rows.kind_of(adjudication.stage)
    headings, reports = about(project, db, adjudication.item_id) if kind is Kind.LABELS else ({}, {})
    rows = []
    for number, decision in enumerate(ruling_rows.rulings(db, adjudication.id), start=1):
        units = consensus.members(decision, documents)
        first = next(iter(units.values()), None)
        label = first if isinstance(first, Label) else None
        rows.append(
            SheetRow(
                number=number,
                ruling=decision,
                units=units,
                differing=consensus.differing(kind, list(units.values())),
                made=tuple(consensus.made_of(kind, decision, documents)),
                pieces={
                    letter: differences(first.text, unit.text)
                    for letter, unit in units.items()
                    if first is not None and unit is not first and unit.text != first.text
                },
                heading=headings.get(label.unit_id, "") if label else "",
                report=reports.get(label.response_id, "") if label else "",
                response_id=label.response_id if label else "",
            )
        )
    return tuple(rows)


def about(project: Project, db: Connection, item_id: str) -> tuple[dict[str, str], dict[str, str]]:
    """The subjects of an item's labels: the text of each unit judged by, and each report's stand-in name."""
    reports = label_cases.reports(db, [item_id])[item_id]
    return headings_of(db, item_id), label_cases.dealt(reports, people.someone(project).id)


def headings_of(db: Connection, item_id: str) -> dict[str, str]:
    """The texts of all units by which an item's reports are or were judged.

    Labels may outlast the rubric they were made under: rubrics of several authors may await adjudication, or another
    rubric set may be in force.
    """
    result = label_cases.written_units(db, item_id)
    for kind in label_cases.labelled_kinds():
        result |= label_cases.judged_units(db, kind, [item_id]).get(item_id, {})
    return result


def _disputes(db: Connection, adjudication: Adjudication) -> tuple[SheetDispute, ...]:
    letter_of = {person: letter for letter, person in adjudication.letters.items()}
    question = select(DISPUTE).where(
        DISPUTE.c.item_id == adjudication.item_id,
        DISPUTE.c.stage == adjudication.stage.value,
        DISPUTE.c.state == DisputeState.OPEN.value,
    )
    disputes = [
        SheetDispute(row.id, letter_of.get(row.person_id, ""), row.text) for row in db.execute(question)
    ]
    return tuple(sorted(disputes, key=lambda dispute: (dispute.letter, dispute.id)))


UNOPENED = "not begun"
# Prefixes of the names of figures for which higher is not better.
NO_AGREEMENT = ("mean_difference", "lower_limit", "upper_limit", ITEM_SCORE)


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A line of the queue: a stage of an item, how contested it is, and the progress of its adjudication.

    `state` is “not begun” or an AdjudicationState's; `contested` counts rows that are not unanimous, `decided` all rows
    with a ruling, `confirmed` the unanimous ones taken unchanged, `disputes` those not yet answered.
    """

    item_id: str
    item_key: str
    question: str
    stage: Stage
    adjudication_id: str
    state: str
    version: int
    spot_check: bool
    agreement: Figure | None
    rows: int
    contested: int
    decided: int
    order_differs: bool
    disputes: int
    confirmed: int = 0

    @property
    def place(self) -> tuple[str, Stage]:
        return self.item_id, self.stage

    @property
    def unanimous(self) -> bool:
        """Whether everybody wrote the same, and in the same order if that counts."""
        return not self.contested and not self.order_differs

    @property
    def confirmable(self) -> bool:
        """Whether it may be closed in bulk: no disagreement, no other ruling and no spot check."""
        waits = self.state in (UNOPENED, AdjudicationState.OPEN.value)
        return (
            waits
            and self.unanimous
            and self.rows > 0
            and self.decided == self.confirmed
            and not self.spot_check
        )

    @property
    def closed(self) -> bool:
        return self.state == AdjudicationState.CLOSED.value and not self.disputes

    @property
    def conflict(self) -> bool:
        """Whether a disagreement is still to be decided, or a dispute awaits its answer."""
        return not self.closed and (not self.unanimous or self.disputes > 0)


def queue(project: Project) -> list[QueueLine]:
    """What this person may adjudicate: conflicts, lowest agreement first, then unanimous ones, then closed."""
    begun, stages = ADJUDICATION.c, {stage.value: place for place, stage in enumerate(Stage)}
    more = AGREEMENT.c.content, ITEM.c.key, ITEM.c.question, begun.state, begun.version, begun.spot_check
    in_order = ITEM.c.position, ITEM.c.key, ITEM.c.id, case(stages, value=AGREEMENT.c.stage)
    with project.store.read() as db:
        known, progress, lines = assignments.competence(project, db), _progress(db), []
        for row in db.execute(_agreements(*more).order_by(*in_order)).all():
            if known.objection(row.item_id, row.adjudicator_id or "") is None:
                rows, contested, order_differs = _laid(db, row)
                counted = progress[row.begun] if row.begun else Counter(rows=rows, contested=contested)
                lines.append(
                    QueueLine(
                        item_id=row.item_id,
                        item_key=row.key,
                        question=row.question,
                        stage=Stage(row.stage),
                        adjudication_id=row.begun or "",
                        state=row.state or UNOPENED,
                        version=row.version or 0,
                        spot_check=bool(row.spot_check),
                        agreement=_headline(orjson.loads(row.content)),
                        rows=counted["rows"],
                        contested=counted["contested"],
                        decided=counted["decided"],
                        order_differs=order_differs,
                        disputes=row.disputes,
                        confirmed=counted["confirmed"],
                    )
                )
    return sorted(lines, key=_urgency)


@cached
def conflicts(project: Project) -> Counter[str]:
    """The number of open conflicts, by the id of the person who is to settle them.

    For the person working, those of their `queue`; for others, those assigned to or begun by them; under an empty id,
    those of nobody in particular.
    """
    with project.store.read() as db:
        waiting = db.execute(_UNSETTLED).all()
        if not waiting:
            return Counter()
        known = assignments.competence(project, db)
        progress = _progress(db, ADJUDICATION.c.state != AdjudicationState.CLOSED.value)
        conflicts = [row for row in waiting if row.disputes or _is_contested(db, row, progress)]
    return Counter(_whose(known, row.item_id, row.adjudicator_id or "") for row in conflicts)


def unsettled(project: Project) -> int:
    """The number of documents by several authors that have no consensus yet, including unanimous ones."""
    return sum(row.stage != Stage.LABELLING.value for row in project.query(_UNSETTLED))


def _whose(known: assignments.Competence, item_id: str, begun_by: str) -> str:
    if known.objection(item_id, begun_by) is None:
        return known.person.id
    return min({*(known.assigned.get(item_id) or {begun_by})} - {known.person.id}, default="")


def _is_contested(db: Connection, row: Row[Any], progress: Mapping[str, Counter[str]]) -> bool:
    _, contested, order_differs = _laid(db, row)
    return bool(progress[row.begun]["contested"] if row.begun else contested) or order_differs


_DISPUTES = (
    select(func.count())
    .where(
        DISPUTE.c.item_id == AGREEMENT.c.item_id,
        DISPUTE.c.stage == AGREEMENT.c.stage,
        DISPUTE.c.state == DisputeState.OPEN.value,
    )
    .scalar_subquery()
)


def _agreements(*more: ColumnElement[Any]) -> Select[Any]:
    """The frozen agreements of items not retired, with the adjudication begun and the number of open disputes."""
    a, begun = AGREEMENT.c, ADJUDICATION.c
    about = a.id, a.item_id, a.stage, a.sha256, begun.id.label("begun"), begun.adjudicator_id
    return (
        select(*about, _DISPUTES.label("disputes"), *more)
        .join(ITEM, ITEM.c.id == a.item_id)
        .outerjoin(ADJUDICATION, begun.agreement_id == a.id)
        .where(ITEM.c.retired.is_(False))
    )


_UNSETTLED = _agreements().where(
    or_(ADJUDICATION.c.id.is_(None), ADJUDICATION.c.state != AdjudicationState.CLOSED.value, _DISPUTES > 0)
)


def _headline(agreement: dict[str, Any]) -> Figure | None:
    """The figure by which a frozen agreement (as JSON) is ranked: the lowest known one over its raters.

    The first figure if all are undefined.
    """
    figures = [*agreement["figures"], *(figure for pair in agreement["pairs"] for figure in pair["figures"])]
    known = [one for one in figures if one["value"] is not None and not one["name"].startswith(NO_AGREEMENT)]
    worst = [min(known, key=lambda one: one["value"])] if known else figures[:1]
    return next(iter(masked(map(Figure.model_validate, worst))), None)


# An agreement never changes, so its counts are cached for good: its hash → the counts.
_LAID: dict[str, tuple[int, int, bool]] = {}


def _laid(db: Connection, row: Row[Any]) -> tuple[int, int, bool]:
    """The number of rows of an agreement, how many are contested, and whether the order differs."""
    if row.sha256 not in _LAID:
        content = db.execute(select(AGREEMENT.c.content).where(AGREEMENT.c.id == row.id)).scalar_one()
        _, rows, order_differs = layout(db, Agreement.model_validate(orjson.loads(content)))
        _LAID[row.sha256] = len(rows), sum(not alike for _, alike in rows), order_differs
    return _LAID[row.sha256]


def _progress(db: Connection, *narrowed: ColumnElement[bool]) -> defaultdict[str, Counter[str]]:
    """Adjudication → its number of rows, and of contested, decided and confirmed ones."""
    result: defaultdict[str, Counter[str]] = defaultdict(Counter)
    question = select(RULING.c.adjudication_id, RULING.c.content)
    if narrowed:
        question = question.join(ADJUDICATION, ADJUDICATION.c.id == RULING.c.adjudication_id).where(*narrowed)
    for adjudication_id, content in db.execute(question):
        ruling = orjson.loads(content)
        unanimous, take = ruling["unanimous"], ruling["take"]
        result[adjudication_id].update(
            rows=1, contested=not unanimous, decided=bool(take), confirmed=unanimous and take == BOTH
        )
    return result


def _urgency(line: QueueLine) -> tuple[bool, bool, float, float]:
    """Sort key: conflicts before unanimous, open before closed, then lowest agreement first; ties keep their order.

    If the figure is undefined or equal, the share of contested rows decides.
    """
    value = line.agreement.value if line.agreement else None
    contested = line.contested / max(1, line.rows)
    level = 1 - contested if value is None else value
    return line.closed, not line.conflict, level, -contested


INHERITED = ("own", "reason", "rationale", "confidence", "gap", "first_vote")


def pair(project: Project, ruling_id: str, other_id: str) -> Change:
    """Bring the units of another row into this one; units without a place here move to the other row.

    Units of letters that this row lacks are taken over; if it lacks none, the two rows swap the units of the other
    row's letters. Both rows are open again unless all now agree; a row without units is deleted.
    """
    with project.store.write() as db:
        row = ruling_rows.ruling(db, ruling_id)
        result, kind, documents = _paired(project, db, row)
        other = ruling_rows.ruling(db, other_id)
        if other.adjudication_id != row.adjudication_id or other.id == row.id:
            raise Refusal("A row can only be paired with another of the same item.", "Choose another row.")
        moving = _moving(row, other)
        mine = {**row.members, **{letter: other.members[letter] for letter in moving}}
        theirs = {
            **{letter: unit for letter, unit in other.members.items() if letter not in moving},
            **{letter: row.members[letter] for letter in moving if letter in row.members},
        }
        joined = _with(row, mine, result, kind, documents)
        # Wording and explanations of a deleted row are inherited if the other row has none itself.
        inherited = {name: getattr(joined, name) or getattr(other, name) for name in INHERITED}
        new = (
            [joined, _with(other, theirs, result, kind, documents)]
            if theirs
            else [joined.model_copy(update=inherited)]
        )
        return ruling_rows.replace(project, db, row.id, "pair rows", [row, other], new)


def split(project: Project, ruling_id: str, letter: str) -> Change:
    """Move a letter's unit out of a row into a new row below it; both are open again.

    The subject of the change is the row that stays.
    """
    with project.store.write() as db:
        row = ruling_rows.ruling(db, ruling_id)
        result, kind, documents = _paired(project, db, row)
        if letter not in row.members:
            raise Refusal(f"{letter} wrote nothing in this row.", "Choose another row or letter.")
        if len(row.members) == 1:
            raise Refusal("This unit is not paired.", "Nothing was changed.")
        rest = {other: unit for other, unit in row.members.items() if other != letter}
        alone = Ruling(id=new_id(), adjudication_id=row.adjudication_id, position=0)
        parts = [_with(row, rest, result, kind, documents)]
        parts.append(_with(alone, {letter: row.members[letter]}, result, kind, documents))
        rows = ruling_rows.rulings(db, row.adjudication_id)
        place = next(n for n, each in enumerate(rows) if each.id == row.id)
        new = ruling.renumbered([*rows[:place], *parts, *rows[place + 1 :]])
        return ruling_rows.replace(project, db, row.id, f"split {letter}", rows, new)


def _paired(project: Project, db: Connection, row: Ruling) -> tuple[Adjudication, Kind, Documents]:
    result = ruling_rows.working(project, db, row.adjudication_id)
    kind = ruling_rows.kind_of(result.stage)
    if KINDS[kind].given:
        raise Refusal(f"The rows of {kind.value} are fixed.", "They cannot be paired differently.")
    return result, kind, ruling_rows.documents(db, result)


def _moving(row: Ruling, other: Ruling) -> list[str]:
    if not row.members or not other.members:
        raise Refusal("Nobody wrote one of these rows.", "Pair two rows that somebody wrote.")
    lacking = sorted(other.members.keys() - row.members.keys())
    if lacking:
        return lacking
    if other.members.keys() < row.members.keys():
        return sorted(other.members)
    raise Refusal("Both rows have a unit of every letter already.", "Split one of them first.")


def _with(
    row: Ruling, members: dict[str, str], adjudication: Adjudication, kind: Kind, documents: Documents
) -> Ruling:
    """The row with other members: confirmed if all agree, else open again; wording and explanations stay."""
    changed = row.model_copy(update={"members": members})
    units = consensus.members(changed, documents).values()
    unanimous = len(units) == len(adjudication.letters) and consensus.agree(kind, units)
    return changed.model_copy(update={"unanimous": unanimous, "take": BOTH if unanimous else ""})


SHARE = 0.1


@dataclass(frozen=True, slots=True)
class BulkCloseReport:
    closed: tuple[AdjudicatedStage, ...]
    spot_check: tuple[AdjudicatedStage, ...]
    share: float
    seed: int


def confirm_unanimous(project: Project, adjudication_id: str) -> Change:
    """Take both in every unanimous undecided row of an item: left open, or opened by an older version."""
    with project.store.write() as db:
        change = _confirmed(project, db, ruling_rows.working(project, db, adjudication_id))
        if not change.seq:
            raise Refusal("No unanimous row is undecided.", "Continue with the contested ones.")
        return change


def _confirmed(
    project: Project, db: Connection, adjudication: Adjudication, *, undoable: bool = True
) -> Change:
    rows = ruling_rows.rulings(db, adjudication.id)
    new = [row.model_copy(update={"take": BOTH}) if row.open and row.unanimous else row for row in rows]
    return ruling_rows.replace(
        project, db, adjudication.id, "confirm unanimous rows", rows, new, undoable=undoable
    )


def auto_unanimous(
    project: Project, share: float = SHARE, seed: int | None = None, progress: Progress | None = None
) -> BulkCloseReport:
    """Close every adjudication with only unanimous rows and no rulings, except for a random sample.

    At least one is sampled unless the share is 0; it is marked as a spot check and left open. Without a seed, one is
    derived from the candidates. A backup is made first. Raises Refusal for a share outside 0 … 1.
    """
    if not 0 <= share <= 1:
        raise Refusal(f"{share} is not a share.", "Give a number from 0 to 1.")
    if not _eligible(project):
        return BulkCloseReport((), (), share, seed or 0)
    backups.make(project, "before confirming unanimous items")
    with project.store.write() as db:
        result = _eligible(project)
        seed = (
            seed
            if seed is not None
            else int(sha256("\n".join(line.adjudication_id for line in result))[:8], 16)
        )
        count = ceil(share * len(result))
        spot_checked = {line.adjudication_id for line in random.Random(seed).sample(result, count)}
        for done, line in enumerate(result, start=1):
            _settle(project, db, line, spot_check=line.adjudication_id in spot_checked)
            if progress is not None:
                progress("confirming unanimous items", done, len(result))
    closed = tuple(line for line in result if line.adjudication_id not in spot_checked)
    return BulkCloseReport(
        closed, tuple(line for line in result if line.adjudication_id in spot_checked), share, seed
    )


def _eligible(project: Project) -> list[AdjudicatedStage]:
    """The adjudications that may be closed in bulk, sorted by id: the sample must not depend on anything else."""
    return sorted(
        (
            AdjudicatedStage(line.item_id, line.item_key, line.stage, id_of(line.item_id, line.stage))
            for line in queue(project)
            if line.confirmable
        ),
        key=lambda line: line.adjudication_id,
    )


def _settle(project: Project, db: Connection, line: AdjudicatedStage, *, spot_check: bool) -> None:
    open_(project, line.item_id, line.stage)
    result = ruling_rows.working(project, db, line.adjudication_id)
    if not spot_check:
        # Not undoable, as it is closed at once: undo would come upon a closed adjudication and stop there.
        _confirmed(project, db, result, undoable=False)
        try:
            ruling.close_within(project, db, result)
        except Refusal as refusal:
            raise Refusal(f"Item {line.item_key}: {refusal.happened}", refusal.todo) from None
        return
    adjudications = ADJUDICATION
    db.execute(update(adjudications).where(adjudications.c.id == result.id).values(spot_check=True))
    # Spot-checked rows are decided by the person who checks.
    rows = ruling_rows.rulings(db, result.id)
    undecided = [row.model_copy(update={"take": ""}) for row in rows]
    ruling_rows.replace(project, db, result.id, "draw for a spot check", rows, undecided, undoable=False)
    record(
        project, db, Change("adjudication", result.id, "draw for a spot check", None, {"spot_check": True})
    )


# Protocol, vote, a rater's value, item.
UnitVote = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Ballot:
    """A contested row for a first vote: its subject and the possible values, without anyone's answer.

    `words` is the dimension, the text a report is judged by, or one letter's wording of the unit.
    """

    ruling_id: str
    words: str
    values: tuple[str, ...]
    vote: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Votes:
    stage: Stage
    field: str
    items: tuple[str, ...]
    figures: tuple[Figure, ...]


def ballots(project: Project, adjudication_id: str) -> list[Ballot]:
    """The contested rows that can still be voted on blindly; empty for kinds without a value to vote on."""
    with project.store.read() as db:
        result = ruling_rows.adjudication(db, adjudication_id)
        assignments.refuse_others(project, db, result)
        kind, documents = ruling_rows.kind_of(result.stage), ruling_rows.documents(db, result)
        headings = headings_of(db, result.item_id) if kind is Kind.LABELS else {}
        rows = [row for row in ruling_rows.rulings(db, result.id) if _votable(result, row)]
    weights, made = settings.allowed(project), list[Ballot]()
    for row in rows:
        unit = next(iter(consensus.members(row, documents).values()), None)
        values = ruling_rows.values(kind, unit, weights)
        if unit is not None and values:
            protocol, words = (
                (unit.protocol, headings.get(unit.unit_id, ""))
                if isinstance(unit, Label)
                else ("", unit.text)
            )
            made.append(Ballot(row.id, words, values, row.first_vote, protocol))
    return made


def _votable(adjudication: Adjudication, row: Ruling) -> bool:
    # Anyone who reopens has seen both.
    return row.open and not row.unanimous and adjudication.state is AdjudicationState.OPEN


def vote(project: Project, ruling_id: str, value: str) -> Change:
    """Vote for a value before seeing A and B; an empty one withdraws the vote.

    Raises Refusal once the row is ruled on or its adjudication has been closed: whoever decided has seen both.
    """
    with project.store.write() as db:
        row = ruling_rows.ruling(db, ruling_id)
        result = ruling_rows.working(project, db, row.adjudication_id)
        if not _votable(result, row):
            raise Refusal("It is too late for a first vote on this row.", "Vote before you rule.")
        unit = next(iter(consensus.members(row, ruling_rows.documents(db, result)).values()), None)
        known = required(
            ruling_rows.values(ruling_rows.kind_of(result.stage), unit, settings.allowed(project)),
            "There is no value to vote on here.",
            "Rule on the row instead.",
        )
        if value and value not in known:
            raise Refusal(f"“{value}” is not a valid value here.", f"Use one of {', '.join(known)}.")
        voted = row.model_copy(update={"first_vote": value})
        return ruling_rows.replace(project, db, row.id, "vote", [row], [voted])


def votes(project: Project) -> list[Votes]:
    """Agreement of first votes with the raters, by stage, over adjudications that have been closed.

    Percent agreement, κ and the other figures of the stage's values; intervals are over items. Raises Refusal for
    anyone who is neither coordinator nor adjudicator.
    """
    person = people.someone(project)
    if not (person.has(Role.COORDINATOR) or person.has(Role.ADJUDICATOR)):
        happened = "First votes are shown to coordinators and adjudicators."
        raise RoleNeeded(happened, "Ask one of them.", Role.COORDINATOR, Role.ADJUDICATOR)
    by_stage: defaultdict[Stage, list[UnitVote]] = defaultdict(list)
    with project.store.read() as db:
        rulings = ruling_rows.all_rulings(db)
        for result in ruling_rows.adjudications(db):
            voted = [row for row in rulings.get(result.id, ()) if row.first_vote]
            if result.version and voted:
                documents = ruling_rows.documents(db, result)
                by_stage[result.stage] += [
                    _unit_vote(result, row, unit)
                    for row in voted
                    for unit in consensus.members(row, documents).values()
                ]
    weights = settings.allowed(project)
    return [each for stage in Stage if stage in by_stage for each in _pooled(stage, by_stage[stage], weights)]


def _unit_vote(adjudication: Adjudication, row: Ruling, unit: Unit) -> UnitVote:
    protocol = unit.protocol if isinstance(unit, Label) else ""
    value = ruling_rows.vote_words(ruling_rows.kind_of(adjudication.stage), unit)
    return protocol, row.first_vote, value, adjudication.item_id


def _pooled(stage: Stage, voted: list[UnitVote], weights: Weights) -> Iterator[Votes]:
    kind = ruling_rows.kind_of(stage)
    unit_field = KINDS[kind].voted
    name = unit_field.name if unit_field else ""
    field = next(each for each in measured(kind) if each.name == name)
    field = replace(field, categories=ruling_rows.values(kind, None, weights) or None)
    for each in by_scale(field, [_values(name, voted)]):
        of_field = [one for one in voted if field_named(name, one[0]) == each.name]
        items = [item_id for *_, item_id in of_field]
        pairs = of_pairs(each, _values(name, of_field)[name], items, several=True)
        yield Votes(stage, each.name, tuple(sorted(set(items))), tuple(figure(*one) for one in pairs))


def _values(name: str, voted: list[UnitVote]) -> dict[str, tuple[tuple[str, str | None], ...]]:
    pairs = tuple((mine, theirs or None) for _, mine, theirs, _ in voted)
    return {"protocol": tuple((one[0], one[0]) for one in voted), name: pairs}
