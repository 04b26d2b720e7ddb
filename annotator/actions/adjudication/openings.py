"""Opening an adjudication from the frozen alignment, by a person who did not answer the item."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import insert, update
from sqlalchemy.engine import Connection

from annotator.actions.assignments import adjudicators, agreements
from annotator.actions.consensus import aligning, consensus, letters, ruling_rows
from annotator.actions.project.file import Project, record
from annotator.domain.experts.adjudication import BOTH, LETTERS, Adjudication, Ruling
from annotator.domain.experts.agreement import Agreement
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import Change, derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ADJUDICATION

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OpeningRows:
    """The rows of an agreement before any ruling: which are unanimous, and whether their order is."""

    letters: dict[str, str]
    rows: tuple[aligning.Members, ...]
    unanimous: tuple[bool, ...]
    order_differs: bool

    @property
    def contested(self) -> int:
        return len(self.rows) - sum(self.unanimous)


def id_of(item_id: str, stage: Stage) -> str:
    """The id of the adjudication of a stage of an item, the same in every file."""
    return derived_id("adjudication", item_id, stage.value)


def open_(project: Project, item_id: str, stage: Stage) -> Adjudication:
    """The adjudication of a stage of an item, opened now if it was not before, and this person's from now on.

    Its letters are left out of what comes back. Refusal while the agreement is not frozen, and for anyone who
    answered something of the item.
    """
    with project.store.write() as db:
        person_id, found = _theirs(project, db, item_id, stage)
        if found is None:
            found = _opened(project, db, item_id, stage, person_id)
        elif found.adjudicator_id != person_id:
            found = _handed_over(project, db, found, person_id)
    return found.model_copy(update={"letters": {}})


def look(project: Project, item_id: str, stage: Stage, question: Callable[[Project, str], T]) -> T:
    """What a question says of an adjudication, by its id; one that is not opened yet, as it would be then.

    Looking only reads. Refusal as for opening it.
    """
    with project.store.read() as db:
        person_id, found = _theirs(project, db, item_id, stage)
        if found is not None:
            return question(project, found.id)
        with ruling_rows.as_if_opened(*_laid_out(db, item_id, stage, person_id)):
            return question(project, id_of(item_id, stage))


def _theirs(project: Project, db: Connection, item_id: str, stage: Stage) -> tuple[str, Adjudication | None]:
    """The person working and the adjudication, if it is begun; Refusal when they may not resume it."""
    found = ruling_rows.of_stage(db, item_id, stage)
    known = adjudicators.competence(project, db, item_id)
    if objection := known.objection(item_id, found.adjudicator_id if found else ""):
        raise objection
    return known.person.id, found


def layout(db: Connection, agreement: Agreement) -> OpeningRows:
    """How the units of an agreement's raters are laid out; the same wherever and whenever it is asked."""
    raters = [rater.person_id for rater in agreement.inputs]
    dealt = aligning.dealt(raters, aligning.seed_of(id_of(agreement.item_id, agreement.stage)))
    documents = letters.sealed(db, agreement, dealt)
    kind = letters.kind_of_stage(agreement.stage)
    orders = {letter: [unit.id for unit in document.units] for letter, document in documents.items()}
    rows = aligning.rows(agreement, dealt, orders)
    unanimous = tuple(len(row) == len(dealt) and _agree(kind, row, documents) for row in rows)
    return OpeningRows(
        dealt, tuple(rows), unanimous, KINDS[kind].ordered and not aligning.same_order(rows, orders)
    )


def _agree(kind: Kind, row: aligning.Members, documents: dict[str, Document[Any]]) -> bool:
    return consensus.agree(kind, (documents[letter].unit(unit) for letter, unit in row.items()))


def _laid_out(
    db: Connection, item_id: str, stage: Stage, person_id: str
) -> tuple[Adjudication, list[Ruling]]:
    """An adjudication and its rulings before anyone has ruled; Refusal while its agreement is not frozen."""
    agreement = agreements.of_stage(db, item_id, stage)
    if agreement is None:
        raise Refusal(
            f"The {stage.value} of this item is not ready to be adjudicated.",
            "Its agreement is frozen once everyone assigned has submitted.",
        )
    if len(agreement.inputs) > len(LETTERS):
        raise Refusal(
            f"{len(agreement.inputs):,} people answered this, more than there are letters.",
            "It cannot be adjudicated; its agreement figure stays.",
        )
    laid = layout(db, agreement)
    made = Adjudication(
        id=id_of(item_id, stage),
        item_id=item_id,
        stage=stage,
        agreement_id=agreement.id,
        adjudicator_id=person_id,
        seed=aligning.seed_of(id_of(item_id, stage)),
        letters=laid.letters,
        opened_at=now(),
    )
    rulings = [
        Ruling(
            id=derived_id("ruling", made.id, place),
            adjudication_id=made.id,
            position=place,
            members=row,
            unanimous=alike,
            # Where all wrote the same there is nothing to decide.
            take=BOTH if alike else "",
        )
        for place, (row, alike) in enumerate(zip(laid.rows, laid.unanimous, strict=True))
    ]
    return made, rulings


def _opened(project: Project, db: Connection, item_id: str, stage: Stage, person_id: str) -> Adjudication:
    made, rulings = _laid_out(db, item_id, stage, person_id)
    columns = made.model_dump() | {"letters": canonical_json(made.letters).decode()}
    db.execute(insert(ADJUDICATION).values(**columns))
    ruling_rows.add(db, rulings)
    image = {"item_id": item_id, "stage": stage.value, "seed": made.seed, "rows": len(rulings)}
    record(project, db, Change("adjudication", made.id, "open", None, image))
    return made


def _handed_over(project: Project, db: Connection, found: Adjudication, person_id: str) -> Adjudication:
    """The adjudication under another adjudicator, to whom the coordinator assigned it meanwhile."""
    wanted = ADJUDICATION.c.id == found.id
    db.execute(update(ADJUDICATION).where(wanted).values(adjudicator_id=person_id))
    image = {"adjudicator_id": person_id}
    record(project, db, Change("adjudication", found.id, "take over", None, image))
    return found.model_copy(update=image)
