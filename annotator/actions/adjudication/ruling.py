"""Rulings on a row: a letter, both, one's own wording or nothing, with a reason; and their drafts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import ValidationError
from sqlalchemy import Connection, select, update

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.consensus.consensus import Documents
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, derived_id, new_id, now, required, well_formed
from annotator.domain.experts.adjudication import (
    BOTH,
    DROP,
    OWN,
    Adjudication,
    AdjudicationState,
    Confidence,
    ConsensusVersion,
    DisputeState,
    Figure,
    Origin,
    Reason,
    Ruling,
)
from annotator.domain.kinds.documents import KINDS, Label
from annotator.domain.kinds.kind import Kind, Role, State
from annotator.storage.tables import ADJUDICATION, ARTIFACT, DISPUTE, DRAFT, ITEM


def unfinished(project: Project, adjudication_id: str) -> dict[tuple[str, str], str]:
    """This person's unfinished texts of an adjudication: (ruling's id, field) → text."""
    mine = select(DRAFT).where(
        DRAFT.c.person_id == people.someone(project).id,
        DRAFT.c.place.startswith(f"{artifacts.RULING}|", autoescape=True),
    )
    with project.store.read() as db:
        ids = {ruling.id for ruling in ruling_rows.rulings(db, adjudication_id)}
        rows = db.execute(mine.order_by(DRAFT.c.place)).all()
    result = ((artifacts.draft_parts(row.place), row.text) for row in rows)
    return {(ruling_id, field): text for (_, ruling_id, field), text in result if ruling_id in ids}


# The value by which `explain` clears a field; None leaves it unchanged.
Nothing = Literal[""]
EXPLAINED = ("reason", "rationale", "confidence", "gap")


def rule(project: Project, ruling_id: str, take: str, **fields: Any) -> Change:
    """Take a letter, “both”, “own” or “drop”; `fields` may explain it at once (reason, rationale, confidence, gap).

    “own” without an own wording starts from the unit taken before, otherwise from the first letter's.
    """
    with project.store.write() as db:
        row, kind, documents = _row(project, db, ruling_id)
        _refuse_take(kind, row, take, documents)
        values: dict[str, Any] = {"take": take, **_explained(fields)}
        if take == OWN and not row.own:
            values["own"] = consensus.starting_point(kind, row, documents)
        return ruling_rows.replace(project, db, row.id, f"take {take}", [row], [_with(row, values)])


def undecide(project: Project, ruling_id: str) -> Change:
    with project.store.write() as db:
        row, _, _ = _row(project, db, ruling_id)
        return ruling_rows.replace(project, db, row.id, "leave open", [row], [_with(row, {"take": ""})])


def explain(
    project: Project,
    ruling_id: str,
    *,
    reason: Reason | Nothing | None = None,
    rationale: str | None = None,
    confidence: Confidence | Nothing | None = None,
    gap: str | None = None,
) -> Change:
    """Set reason, rationale, confidence and the guideline's gap; an empty text clears a field, None leaves it."""
    given = {"reason": reason, "rationale": rationale, "confidence": confidence, "gap": gap}
    given = {name: value for name, value in given.items() if value is not None}
    with project.store.write() as db:
        row, _, _ = _row(project, db, ruling_id)
        for name in given:
            artifacts.forget_draft(project, artifacts.RULING, ruling_id, name)
        verb = f"say {', '.join(given)}"
        return ruling_rows.replace(project, db, row.id, verb, [row], [_with(row, _explained(given))])


def write_own(project: Project, ruling_id: str, **fields: Any) -> Change:
    """Set the adjudicator's own wording, which takes “own”; fields not yet set start as in `rule`.

    The Refusal names the field that does not fit.
    """
    with project.store.write() as db:
        row, kind, documents = _row(project, db, ruling_id)
        start = row.own or consensus.starting_point(kind, row, documents)
        for name in fields:
            artifacts.forget_draft(project, artifacts.RULING, ruling_id, name)
        new = _with(row, {"take": OWN, "own": {**start, **fields}})
        new = _checked_own(kind, new, documents)
        settings.refuse_weight(project, kind, fields)
        return ruling_rows.replace(project, db, row.id, f"word {', '.join(fields)}", [row], [new])


def finish_draft(project: Project, ruling_id: str, field: str, text: str) -> Change:
    """Turn typing interrupted by a crash into an own wording or an explanation; raises Refusal if its row is gone."""
    if field in EXPLAINED:
        return explain(project, ruling_id, **{field: text})  # type: ignore[arg-type]
    return write_own(project, ruling_id, **{field: text})


def add_row(project: Project, adjudication_id: str, after: str = "", **fields: Any) -> Change:
    """Add a unit that nobody wrote, below the ruling `after` or at the end; the change's subject is its ruling.

    Its reason is “missing” until another is given.
    """
    with project.store.write() as db:
        kind = ruling_rows.kind_of(ruling_rows.working(project, db, adjudication_id).stage)
        if KINDS[kind].given:
            raise Refusal(f"The rows of {kind.value} are fixed.", "Edit one of them instead.")
        rows = ruling_rows.rulings(db, adjudication_id)
        new = Ruling(
            id=new_id(), adjudication_id=adjudication_id, position=0, take=OWN, own=fields,
            reason=Reason.MISSING,
        )  # fmt: skip
        new = _checked_own(kind, new, {})
        settings.refuse_weight(project, kind, fields)
        ids = [row.id for row in rows]
        place = ids.index(ruling_rows.ruling(db, after).id) + 1 if after else len(rows)
        return ruling_rows.replace(
            project, db, new.id, "add row", rows, renumbered([*rows[:place], new, *rows[place:]])
        )


def move(project: Project, ruling_id: str, by: int) -> Change:
    """Move a row `by` places down (up if negative), no further than the ends."""
    with project.store.write() as db:
        row = ruling_rows.ruling(db, ruling_id)
        ruling_rows.working(project, db, row.adjudication_id)
        rows = ruling_rows.rulings(db, row.adjudication_id)
        place = next(n for n, each in enumerate(rows) if each.id == ruling_id)
        rest = rows[:place] + rows[place + 1 :]
        rest.insert(max(0, min(len(rest), place + by)), rows[place])
        return ruling_rows.replace(project, db, ruling_id, "move row", rows, renumbered(rest))


def renumbered(rows: list[Ruling]) -> list[Ruling]:
    return [row.model_copy(update={"position": place}) for place, row in enumerate(rows)]


def _checked_own(kind: Kind, row: Ruling, documents: Documents) -> Ruling:
    """The ruling with its own wording normalised by the kind's class; the Refusal names the field that does not fit."""
    if unknown := sorted(row.own.keys() - consensus.writable(kind)):
        raise Refusal(f"The {unknown[0]} cannot be edited here.", "Nothing was changed.")
    try:
        unit = consensus.own_unit(kind, row, documents)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "wording"
        raise Refusal(f"The {name} does not fit: {first['msg'].lower()}.", "Nothing was changed.") from None
    if isinstance(unit, Label) and unit.value not in (known := ruling_rows.values(kind, unit)):
        raise Refusal(f"“{unit.value}” is not a valid value here.", f"Use one of {', '.join(known)}.")
    return row.model_copy(update={"own": unit.model_dump(mode="json", include=set(consensus.writable(kind)))})


def _row(project: Project, db: Connection, ruling_id: str) -> tuple[Ruling, Kind, Documents]:
    row = ruling_rows.ruling(db, ruling_id)
    result = ruling_rows.working(project, db, row.adjudication_id)
    return row, ruling_rows.kind_of(result.stage), ruling_rows.documents(db, result)


def _refuse_take(kind: Kind, row: Ruling, take: str, documents: Documents) -> None:
    if take in row.members or take in (OWN, DROP):
        return
    if take != BOTH:
        raise Refusal(f"{take or 'Nothing'} is not available in this row.", _choices(row))
    if len(row.members) < 2:
        raise Refusal("Only one of them wrote this.", _choices(row))
    units = consensus.members(row, documents).values()
    if KINDS[kind].given and not consensus.agree(kind, units):
        raise Refusal("Two different values cannot both be kept.", "Take one of them, or give your own.")


def refuse_unsound(kind: Kind, rows: Sequence[Ruling], documents: Documents) -> None:
    """Refuse rulings made elsewhere unless they cover every unit exactly once and take what is available."""
    expected = [(letter, unit.id) for letter, document in documents.items() for unit in document.units]
    if Counter(expected) != Counter(one for row in rows for one in row.members.items()):
        raise Refusal("Its rulings are not about the units of its documents.", "Nothing was changed.")
    for row in rows:
        _refuse_take(kind, row, row.take, documents)
        if row.own:
            _checked_own(kind, row, documents)


def _choices(row: Ruling) -> str:
    return f"Take {', '.join([*sorted(row.members), OWN])} or {DROP}."


def _explained(fields: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(fields.keys() - set(EXPLAINED)):
        raise TypeError(f"a ruling has no {unknown[0]} to explain it by")
    return {
        name: value or None if name in ("reason", "confidence") else value for name, value in fields.items()
    }


def _with(row: Ruling, values: Mapping[str, Any]) -> Ruling:
    return well_formed(Ruling, {**row.model_dump(), **values})


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a row still needs before closing: `field` is “take”, “own” or “reason”, `words` a sentence about it."""

    ruling_id: str
    number: int
    field: str
    words: str


def missing(project: Project, adjudication_id: str) -> list[Lacking]:
    """What is missing before this adjudication can be closed, row by row; empty if nothing is."""
    with project.store.read() as db:
        result = ruling_rows.adjudication(db, adjudication_id)
        assignments.refuse_others(project, db, result)
        rows, documents = ruling_rows.rulings(db, result.id), ruling_rows.documents(db, result)
    return _missing(ruling_rows.kind_of(result.stage), rows, documents)


def _missing(kind: Kind, rows: list[Ruling], documents: Documents) -> list[Lacking]:
    return [
        Lacking(row.id, number, field, words)
        for number, row in enumerate(rows, start=1)
        for field, words in _lacks(kind, number, row, documents)
    ]


def _lacks(kind: Kind, number: int, row: Ruling, documents: Documents) -> list[tuple[str, str]]:
    if row.open:
        return [("take", f"Row {number} is undecided.")]
    lacks = []
    if row.take == OWN:
        says = getattr(consensus.own_unit(kind, row, documents), KINDS[kind].says)
        if says is None or not str(says).strip():
            lacks.append(("own", f"Your own wording of row {number} is empty."))
        elif letter := consensus.same_as(kind, row, documents):
            lacks.append(
                ("own", f"Your own wording of row {number} equals {letter}'s: take {letter}, or change it.")
            )
    if row.reason is None and _needs_reason(row):
        lacks.append(("reason", f"Row {number} needs a reason."))
    return lacks


def _needs_reason(row: Ruling) -> bool:
    if row.take in (DROP, OWN):
        return bool(row.members)
    return row.take in row.members and len(row.members) > 1 and not row.unanimous


def decide(
    project: Project, adjudication_id: str, takes: Mapping[int, str], reason: Reason | None
) -> list[Lacking]:
    """Decide rows by their numbers from 1, all or none, and close if nothing is missing; return what is.

    The number 0 means every open row: rows that the taken letter did not write are dropped. Raises Refusal if a
    decision needs a reason and none is given.
    """
    with project.store.write() as db:
        for number, take in takes.items():
            rows = ruling_rows.rulings(db, adjudication_id)
            if number > len(rows):
                raise Refusal(f"There is no row {number}.", f"There are {len(rows):,}. Nothing was decided.")
            for row in [rows[number - 1]] if number else [ruling for ruling in rows if ruling.open]:
                available = number or len(take) > 1 or take in row.members
                rule(project, row.id, take if available else DROP, reason=reason or row.reason or "")
        lacking = missing(project, adjudication_id)
        if bare := [one.words for one in lacking if one.field == "reason"]:
            raise Refusal("A reason is lacking; nothing was decided.", "Give one with --reason.", tuple(bare))
    if not lacking:
        close(project, adjudication_id)
    return lacking


def close(project: Project, adjudication_id: str) -> Change:
    """Write the consensus from the rulings: its first version, or the next one after a reopening.

    The details of a Refusal list what is missing.
    """
    with project.store.write() as db:
        return close_within(project, db, ruling_rows.working(project, db, adjudication_id))


def close_within(
    project: Project, db: Connection, adjudication: Adjudication, by: str = "", at: datetime | None = None
) -> Change:
    """`close` in a transaction that has checked that the person may; `by` and `at` if it was closed elsewhere.

    Disputes are not answered by a version closed elsewhere, where they were not visible.
    """
    kind, documents = ruling_rows.kind_of(adjudication.stage), ruling_rows.documents(db, adjudication)
    rows = ruling_rows.rulings(db, adjudication.id)
    if lacking := _missing(kind, rows, documents):
        raise Refusal(
            "This adjudication is not finished.",
            "Complete the listed steps, then close it.",
            tuple(each.words for each in lacking),
        )
    made = required(
        [each for row in rows for each in consensus.made_of(kind, row, documents)],
        "The consensus would be empty.",
        "Keep or write at least one unit.",
    )
    document = consensus.linked(
        db, adjudication.item_id, KINDS[kind].document(units=tuple(u for u, _ in made))
    )
    if fault := settings.fault(project, document):
        raise Refusal(
            f"The consensus cannot be closed like this. {fault}",
            "Every ruling is kept. Edit rows in your own wording until this is fixed, then close it.",
        )
    artifact_id = consensus.artifact(db, adjudication, kind)
    revision = consensus.add_revision(project, db, artifact_id, document, by)
    version = ConsensusVersion(
        id=derived_id("consensus version", adjudication.id, adjudication.version + 1),
        adjudication_id=adjudication.id,
        version=adjudication.version + 1,
        artifact_id=artifact_id,
        revision=revision,
        provenance=tuple(provenance for _, provenance in made),
        rulings=tuple(rows),
        repaired=consensus.figures(kind, adjudication.item_id, rows, documents),
        by=by or project.by,
        at=at or now(),
    )
    consensus.keep(db, version)
    closed = _closed(project, db, adjudication, version)
    if not by:
        _answer_disputes(db, adjudication, version.version)
    if kind is Kind.QUERY and not project.from_task:
        annotating.take(project, db, [adjudication.item_id])
    return closed


def _closed(
    project: Project, db: Connection, adjudication: Adjudication, version: ConsensusVersion
) -> Change:
    values = {
        "state": AdjudicationState.CLOSED.value, "version": version.version, "consensus_id": version.artifact_id,
        "closed_at": version.at,
    }  # fmt: skip
    adjudications = ADJUDICATION
    db.execute(update(adjudications).where(adjudications.c.id == adjudication.id).values(**values))
    image = {"version": version.version, "artifact": version.artifact_id, "revision": version.revision}
    return record(project, db, Change("adjudication", adjudication.id, "close", None, image))


def _answer_disputes(db: Connection, adjudication: Adjudication, version: int) -> None:
    """Mark every open dispute as answered by a new version."""
    waiting = (
        DISPUTE.c.item_id == adjudication.item_id,
        DISPUTE.c.stage == adjudication.stage.value,
        DISPUTE.c.state == DisputeState.OPEN.value,
    )
    values = {"state": DisputeState.ANSWERED.value, "answered_version": version}
    db.execute(update(DISPUTE).where(*waiting).values(**values))


def reopen(project: Project, adjudication_id: str, reason: str) -> Change:
    """Reopen a closed adjudication; the consensus of its last version stands until the next is closed."""
    with project.store.write() as db:
        result = ruling_rows.adjudication(db, adjudication_id)
        assignments.refuse_others(project, db, result)
        if result.state is not AdjudicationState.CLOSED:
            raise Refusal("This adjudication is not closed.", "You can continue with it.")
        consensus.add(project, db, result.id, reason)
        adjudications = ADJUDICATION
        values = {"state": AdjudicationState.REOPENED.value}
        db.execute(update(adjudications).where(adjudications.c.id == result.id).values(**values))
        image = {"version": result.version, "reason": reason.strip()}
        return record(project, db, Change("adjudication", result.id, "reopen", None, image))


SettledLacking = Literal["task", "role", "items", "answers", "seals", "own", "others"]


@dataclass(frozen=True, slots=True)
class ClosedVersion:
    """A closed version, without who closed it or when.

    `origins` counts the units of the consensus by their origin, `dropped` the rows that were dropped; `repaired` is the
    agreement by the adjudicator's pairing, never the frozen one.
    """

    version: int
    units: int
    origins: dict[Origin, int]
    dropped: int
    repaired: tuple[Figure, ...]


def versions(project: Project, adjudication_id: str) -> list[ClosedVersion]:
    """The closed versions of an adjudication, oldest first; raises Refusal for anyone who may not adjudicate it."""
    with project.store.read() as db:
        assignments.refuse_others(project, db, ruling_rows.adjudication(db, adjudication_id))
        closed = consensus.versions(db, adjudication_id)
    return [
        ClosedVersion(
            version=each.version,
            units=len(each.provenance),
            origins=dict(Counter(provenance.origin for provenance in each.provenance)),
            dropped=sum(row.take == DROP for row in each.rulings),
            repaired=each.repaired,
        )
        for each in closed
    ]


def lacking(project: Project) -> SettledLacking:
    """Why this person's queue is empty.

    The project is a task; they lack the role; there are no items, no answers, or not all seals of those asked; or all
    that is frozen is their own or is others' to adjudicate.
    """
    if project.from_task:
        return "task"
    person = people.someone(project)
    with project.store.read() as db:
        known = assignments.competence(project, db)
        if not person.has(Role.ADJUDICATOR) and not any(person.id in who for who in known.assigned.values()):
            return "role"
        if db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False)).limit(1)).first() is None:
            return "items"
        frozen = assignments.all_frozen(project, db)
        sealed = select(ARTIFACT.c.id).where(
            ARTIFACT.c.state == State.SEALED.value, ARTIFACT.c.author_id != ""
        )
        answered = db.execute(sealed.limit(1)).first() is not None
    if not frozen:
        return "seals" if answered else "answers"
    return "own" if all(each.item_id in known.own for each in frozen) else "others"
