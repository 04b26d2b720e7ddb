"""Pairing units by hand; the frozen figure stays unchanged."""

from sqlalchemy.engine import Connection

from annotator.actions.adjudication.ruling import renumbered
from annotator.actions.consensus import consensus, letters, ruling_rows
from annotator.actions.consensus.consensus import Documents
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import BOTH, Adjudication, Ruling
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.refusal import Refusal

INHERITED = ("own", "reason", "rationale", "confidence", "gap", "first_vote")


def pair(project: Project, ruling_id: str, other_id: str) -> Change:
    """Bring the units of another row into this one; what then has no place in this row is left in the other.

    Of a letter that this row lacks the unit is taken over; when it lacks none, the units of the letters that the
    other row has change places. Both rows are open again, but one on which all now agree; a row without units is gone.
    """
    with project.store.write() as db:
        row = ruling_rows.ruling(db, ruling_id)
        found, kind, documents = _paired(project, db, row)
        other = ruling_rows.ruling(db, other_id)
        if other.adjudication_id != row.adjudication_id or other.id == row.id:
            raise Refusal("A row can only be paired with another of the same item.", "Choose another row.")
        moving = _moving(row, other)
        mine = {**row.members, **{letter: other.members[letter] for letter in moving}}
        theirs = {letter: unit for letter, unit in other.members.items() if letter not in moving}
        theirs |= {letter: row.members[letter] for letter in moving if letter in row.members}
        joined = _with(row, mine, found, kind, documents)
        new = [joined, _with(other, theirs, found, kind, documents)] if theirs else [_heir(joined, other)]
        return ruling_rows.replace(project, db, row.id, "pair rows", [row, other], new)


def split(project: Project, ruling_id: str, letter: str) -> Change:
    """Take a letter's unit out of a row and give it one of its own below; both are open again.

    The subject of the change is the row that stays; the new one follows it.
    """
    with project.store.write() as db:
        row = ruling_rows.ruling(db, ruling_id)
        found, kind, documents = _paired(project, db, row)
        if letter not in row.members:
            raise Refusal(f"{letter} wrote nothing in this row.", "Choose another row or letter.")
        if len(row.members) == 1:
            raise Refusal("This unit is not paired.", "Nothing was changed.")
        rest = {other: unit for other, unit in row.members.items() if other != letter}
        alone = Ruling(id=new_id(), adjudication_id=row.adjudication_id, position=0)
        parts = [_with(row, rest, found, kind, documents)]
        parts.append(_with(alone, {letter: row.members[letter]}, found, kind, documents))
        rows = ruling_rows.rulings(db, row.adjudication_id)
        place = next(n for n, each in enumerate(rows) if each.id == row.id)
        new = renumbered([*rows[:place], *parts, *rows[place + 1 :]])
        return ruling_rows.replace(project, db, row.id, f"split {letter}", rows, new)


def _paired(project: Project, db: Connection, row: Ruling) -> tuple[Adjudication, Kind, Documents]:
    found = ruling_rows.working(project, db, row.adjudication_id)
    kind = letters.kind_of(found)
    if KINDS[kind].given:
        raise Refusal(f"The rows of {kind.value} are fixed.", "They cannot be paired differently.")
    return found, kind, letters.documents(db, found)


def _moving(row: Ruling, other: Ruling) -> list[str]:
    """The letters whose units come into the row."""
    if not row.members or not other.members:
        raise Refusal("Nobody wrote one of these rows.", "Pair two rows that somebody wrote.")
    lacking = sorted(other.members.keys() - row.members.keys())
    if lacking:
        return lacking
    if other.members.keys() < row.members.keys():
        return sorted(other.members)
    raise Refusal("Both rows have a unit of every letter already.", "Split one of them first.")


def _heir(row: Ruling, gone: Ruling) -> Ruling:
    """The row with what was worded and said in one that goes, where it has nothing of the kind itself."""
    return row.model_copy(update={name: getattr(row, name) or getattr(gone, name) for name in INHERITED})


def _with(
    row: Ruling, members: dict[str, str], found: Adjudication, kind: Kind, documents: Documents
) -> Ruling:
    """The row over other units: confirmed where all agree, else open again; what was worded and said stays."""
    changed = row.model_copy(update={"members": members})
    units = consensus.members(changed, documents).values()
    unanimous = len(units) == len(found.letters) and consensus.agree(kind, units)
    return changed.model_copy(update={"unanimous": unanimous, "take": BOTH if unanimous else ""})
