"""One item as its adjudicator sees it: rows, the units of each letter side by side, the consensus so far."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.assignments import adjudicators
from annotator.actions.authoring.comparing import ITEM_SCORE
from annotator.actions.consensus import aligning, consensus, letters, ruling_rows
from annotator.actions.consensus.consensus import Documents, Made
from annotator.actions.labelling import dealing
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Adjudication, AdjudicationState, DisputeState, Ruling
from annotator.domain.experts.agreement import Agreement, Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Document, Kind, Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.domain.texts.difference import TextPiece, differences
from annotator.storage.tables import DISPUTE, ITEM, RESPONSE


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row: the units of each letter with their notes, the differences that count, and the ruling's result.

    `pieces` are the word-level differences from the first letter's words to each further letter's. `heading`,
    `report` and `response_id` say what a label is about: the words judged by, and the report under its stand-in
    name; they are empty for all other kinds.
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
        """Whether not everybody wrote it, or something that counts differs."""
        return not self.ruling.unanimous


@dataclass(frozen=True, slots=True)
class SheetDispute:
    """An unanswered objection, under its author's letter."""

    id: str
    letter: str
    text: str


@dataclass(frozen=True, slots=True)
class AdjudicationSheet:
    """Everything needed to adjudicate one stage of an item, without anyone's identity.

    `remarks` are the notes on the whole artifact, `figures` the frozen agreement, `consensus` what is made so far.
    """

    adjudication_id: str
    item_id: str
    item_key: str
    question: str
    stage: Stage
    kind: Kind
    state: AdjudicationState
    version: int
    spot_check: bool
    letters: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    consensus: Document[Any]
    remarks: dict[str, str]
    figures: tuple[Figure, ...]
    order_differs: bool
    disputes: tuple[SheetDispute, ...]


def sheet(project: Project, adjudication_id: str) -> AdjudicationSheet:
    """One adjudication by letters alone; Refusal for anyone who may not adjudicate it, KeyError when there is none."""
    with project.store.read() as db:
        found = ruling_rows.adjudication(db, adjudication_id)
        adjudicators.refuse_others(project, db, found)
        frozen = letters.agreement(db, found.agreement_id)
        documents = letters.sealed(db, frozen, found.letters)
        rows = _rows(project, db, found, documents)
        item = db.execute(select(ITEM.c.key, ITEM.c.question).where(ITEM.c.id == found.item_id)).one()
        disputes = _disputes(db, found)
    kind = letters.kind_of(found)
    return AdjudicationSheet(
        adjudication_id=found.id,
        item_id=found.item_id,
        item_key=item.key,
        question=item.question,
        stage=found.stage,
        kind=kind,
        state=found.state,
        version=found.version,
        spot_check=found.spot_check,
        letters=tuple(found.letters),
        rows=rows,
        consensus=KINDS[kind].document(units=tuple(unit for row in rows for unit, _ in row.made)),
        remarks={letter: document.remark for letter, document in documents.items() if document.remark},
        figures=figures_of(frozen),
        order_differs=KINDS[kind].ordered and not _same_order(rows, documents),
        disputes=disputes,
    )


def report_text(project: Project, response_id: str) -> str:
    with project.store.read() as db:
        return str(db.execute(select(RESPONSE.c.text).where(RESPONSE.c.id == response_id)).scalar_one())


def masked(frozen: Iterable[Figure]) -> tuple[Figure, ...]:
    """Figures without what tells raters apart: scores of one of them, and notes on an A and a B.

    Those are other people than the letters, the same two in every item: seen often enough they would show who is
    who. Of why a figure is undefined the first reason is kept, which speaks of both.
    """
    return tuple(
        each.model_copy(update={"note": "" if each.value is not None else each.note.partition(";")[0]})
        for each in frozen
        if not each.name.startswith(ITEM_SCORE)
    )


def figures_of(frozen: Agreement) -> tuple[Figure, ...]:
    """What an adjudicator may see of a frozen agreement: the figures over all raters, or of the one pair."""
    return masked(frozen.figures or (figure for pair in frozen.pairs for figure in pair.figures))


def _rows(
    project: Project, db: Connection, found: Adjudication, documents: Documents
) -> tuple[SheetRow, ...]:
    kind = letters.kind_of(found)
    headings, reports = about(project, db, found.item_id) if kind is Kind.LABELS else ({}, {})
    rows = []
    for number, ruling in enumerate(ruling_rows.rulings(db, found.id), start=1):
        row = _row(kind, number, ruling, documents)
        first = next(iter(row.units.values()), None)
        if isinstance(first, Label):
            heading, report = headings.get(first.unit_id, ""), reports.get(first.response_id, "")
            row = replace(row, heading=heading, report=report, response_id=first.response_id)
        rows.append(row)
    return tuple(rows)


def _row(kind: Kind, number: int, ruling: Ruling, documents: Documents) -> SheetRow:
    units = consensus.members(ruling, documents)
    first = next(iter(units.values()), None)
    return SheetRow(
        number=number,
        ruling=ruling,
        units=units,
        differing=consensus.differing(kind, list(units.values())),
        made=tuple(consensus.made_of(kind, ruling, documents)),
        pieces={
            letter: differences(first.text, unit.text)
            for letter, unit in units.items()
            if first is not None and unit is not first and unit.text != first.text
        },
    )


def about(project: Project, db: Connection, item_id: str) -> tuple[dict[str, str], dict[str, str]]:
    """What labels of an item are about: the words of each unit judged by, and each report's stand-in name."""
    dealt = dealing.dealt(dealing.reports(db, [item_id])[item_id], people.someone(project).id)
    return headings_of(db, item_id), {response_id: name for name, response_id in dealt}


def headings_of(db: Connection, item_id: str) -> dict[str, str]:
    """The words of each unit that an item's reports are or were judged by.

    Labels outlast their rubric's standing: several may have written one that nobody adjudicated yet, and another
    rubric set may be in force.
    """
    found = dealing.written_units(db, item_id)
    for kind in dealing.labelled_kinds():
        found |= dealing.judged_units(db, kind, [item_id]).get(item_id, {})
    return found


def _same_order(rows: tuple[SheetRow, ...], documents: Documents) -> bool:
    orders = {letter: [unit.id for unit in document.units] for letter, document in documents.items()}
    return aligning.same_order([row.ruling.members for row in rows], orders)


def _disputes(db: Connection, found: Adjudication) -> tuple[SheetDispute, ...]:
    letter_of = {person: letter for letter, person in found.letters.items()}
    question = select(DISPUTE).where(
        DISPUTE.c.item_id == found.item_id,
        DISPUTE.c.stage == found.stage.value,
        DISPUTE.c.state == DisputeState.OPEN.value,
    )
    disputes = [
        SheetDispute(row.id, letter_of.get(row.person_id, ""), row.text) for row in db.execute(question)
    ]
    return tuple(sorted(disputes, key=lambda dispute: (dispute.letter, dispute.id)))
