"""Rulings on a row: a letter, both, one's own wording or nothing, with a reason; and their drafts."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import criterion_weights
from annotator.actions.consensus import consensus, letters, ruling_rows
from annotator.actions.consensus.consensus import Documents
from annotator.actions.project import drafts, people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Confidence, Reason, Ruling
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.well_formed import well_formed
from annotator.storage.tables import DRAFT

# In a draft's place, stands where other drafts have their artifact.
PLACE = drafts.RULING


def save_draft(project: Project, ruling_id: str, field: str, text: str) -> None:
    """Keep what is being typed into a field of a row: of its own wording, its rationale or its gap."""
    drafts.save(project, PLACE, ruling_id, field, text)


def forget_draft(project: Project, ruling_id: str, field: str) -> None:
    """Drop a field's unfinished text: it was typed back to what the ruling says."""
    drafts.forget(project, PLACE, ruling_id, field)


def kept(project: Project, adjudication_id: str) -> dict[tuple[str, str], str]:
    """This person's unfinished texts of an adjudication: (ruling's id, field) → text."""
    mine = select(DRAFT).where(
        DRAFT.c.person_id == people.someone(project).id,
        DRAFT.c.place.startswith(f"{PLACE}|", autoescape=True),
    )
    with project.store.read() as db:
        ids = {ruling.id for ruling in ruling_rows.rulings(db, adjudication_id)}
        rows = db.execute(mine.order_by(DRAFT.c.place)).all()
    found = ((drafts.parts_of(row.place), row.text) for row in rows)
    return {(ruling_id, field): text for (_, ruling_id, field), text in found if ruling_id in ids}


# What `explain` takes back; None leaves as it is.
Nothing = Literal[""]
EXPLAINED = ("reason", "rationale", "confidence", "gap")


def rule(project: Project, ruling_id: str, take: str, **fields: Any) -> Change:
    """Take a letter, “both”, “own” or “drop”; `fields` may explain it at once (reason, rationale, confidence, gap).

    “own” without an own wording yet starts from what was taken before, otherwise from the first letter's.
    """
    with project.store.write() as db:
        row, kind, documents = _row(project, db, ruling_id)
        _refuse_take(kind, row, take, documents)
        values: dict[str, Any] = {"take": take, **_explained(fields)}
        if take == OWN and not row.own:
            values["own"] = consensus.starting_point(kind, row, documents)
        return ruling_rows.replace(project, db, row.id, f"take {take}", [row], [_with(row, values)])


def undecide(project: Project, ruling_id: str) -> Change:
    """Leave a row open again; what was worded and explained stays with it."""
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
    """Say why, how surely, and what the guideline leaves open; an empty text takes it back, None leaves it."""
    given = {"reason": reason, "rationale": rationale, "confidence": confidence, "gap": gap}
    given = {name: value for name, value in given.items() if value is not None}
    with project.store.write() as db:
        row, _, _ = _row(project, db, ruling_id)
        for name in given:
            forget_draft(project, ruling_id, name)
        verb = f"say {', '.join(given)}"
        return ruling_rows.replace(project, db, row.id, verb, [row], [_with(row, _explained(given))])


def write_own(project: Project, ruling_id: str, **fields: Any) -> Change:
    """Word the unit oneself, which takes “own”; fields not yet given start as `rule` says.

    Refusal names the field that does not fit.
    """
    with project.store.write() as db:
        row, kind, documents = _row(project, db, ruling_id)
        start = row.own or consensus.starting_point(kind, row, documents)
        for name in fields:
            forget_draft(project, ruling_id, name)
        new = _with(row, {"take": OWN, "own": {**start, **fields}})
        new = _checked_own(kind, new, documents)
        criterion_weights.refuse_other(project, kind, fields)
        return ruling_rows.replace(project, db, row.id, f"word {', '.join(fields)}", [row], [new])


def finish_draft(project: Project, ruling_id: str, field: str, text: str) -> Change:
    """Turn typing that a crash cut short into an own wording or an explanation; Refusal when its row is gone."""
    if field in EXPLAINED:
        return explain(project, ruling_id, **{field: text})  # type: ignore[arg-type]
    return write_own(project, ruling_id, **{field: text})


def add_row(project: Project, adjudication_id: str, after: str = "", **fields: Any) -> Change:
    """A unit that nobody wrote, below the ruling named in `after` or at the end; the change's subject is its ruling.

    Its reason is “missing” until another is given.
    """
    with project.store.write() as db:
        found = ruling_rows.working(project, db, adjudication_id)
        kind = letters.kind_of(found)
        if KINDS[kind].given:
            raise Refusal(f"The rows of {kind.value} are fixed.", "Edit one of them instead.")
        rows = ruling_rows.rulings(db, adjudication_id)
        new = Ruling(
            id=new_id(), adjudication_id=adjudication_id, position=0, take=OWN, own=fields,
            reason=Reason.MISSING,
        )  # fmt: skip
        new = _checked_own(kind, new, {})
        criterion_weights.refuse_other(project, kind, fields)
        ids = [row.id for row in rows]
        place = ids.index(ruling_rows.ruling(db, after).id) + 1 if after else len(rows)
        return ruling_rows.replace(
            project, db, new.id, "add row", rows, renumbered([*rows[:place], new, *rows[place:]])
        )


def move(project: Project, ruling_id: str, by: int) -> Change:
    """Move a row `by` places down (or up when negative), no further than the ends."""
    with project.store.write() as db:
        row = ruling_rows.ruling(db, ruling_id)
        ruling_rows.working(project, db, row.adjudication_id)
        rows = ruling_rows.rulings(db, row.adjudication_id)
        place = next(n for n, each in enumerate(rows) if each.id == ruling_id)
        rest = rows[:place] + rows[place + 1 :]
        rest.insert(max(0, min(len(rest), place + by)), rows[place])
        return ruling_rows.replace(project, db, ruling_id, "move row", rows, renumbered(rest))


def renumbered(rows: list[Ruling]) -> list[Ruling]:
    """Rulings with positions from 0 in the order given."""
    return [row.model_copy(update={"position": place}) for place, row in enumerate(rows)]


def _checked_own(kind: Kind, row: Ruling, documents: Documents) -> Ruling:
    """The ruling with its own wording as the kind's class spells it; Refusal names the field that does not fit."""
    if unknown := sorted(row.own.keys() - consensus.writable(kind)):
        raise Refusal(f"The {unknown[0]} cannot be edited here.", "Nothing was changed.")
    try:
        unit = consensus.own_unit(kind, row, documents)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "wording"
        raise Refusal(f"The {name} does not fit: {first['msg'].lower()}.", "Nothing was changed.") from None
    if isinstance(unit, Label) and unit.value not in (known := letters.values(kind, unit)):
        raise Refusal(f"“{unit.value}” is not a valid value here.", f"Use one of {', '.join(known)}.")
    own = unit.model_dump(mode="json", include=set(consensus.writable(kind)))
    return row.model_copy(update={"own": own})


def _row(project: Project, db: Connection, ruling_id: str) -> tuple[Ruling, Kind, Documents]:
    row = ruling_rows.ruling(db, ruling_id)
    found = ruling_rows.working(project, db, row.adjudication_id)
    return row, letters.kind_of(found), letters.documents(db, found)


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
