"""Storage of adjudications and their rulings, row by row, and restoring a ruling."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import orjson
from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from annotator.actions.assignments import assignments
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, canonical_json, grouped, required, sha256
from annotator.domain.experts.adjudication import LETTERS, Adjudication, AdjudicationState, Agreement, Ruling
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import USUAL, Document, Kind, Unit, Weights
from annotator.domain.kinds.documents import KINDS, UNSURE, Label, document_of
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ADJUDICATION, AGREEMENT, REVISION, RULING, if_given

KEYS = {"id", "adjudication_id", "position"}
# Statements of every ruling are built once: building them again would cost as much as running them.
_ONE = select(RULING).where(RULING.c.id == bindparam("wanted"))
_ADD = insert(RULING)
_CHANGE = update(RULING).where(RULING.c.id == bindparam("wanted"))
_DROP = delete(RULING).where(RULING.c.id == bindparam("wanted"))
# An adjudication that is only viewed, with its initial rulings; no row of it is stored.
_UNOPENED: ContextVar[tuple[Adjudication, Sequence[Ruling]] | None] = ContextVar("unopened", default=None)


@contextmanager
def as_if_opened(made: Adjudication, first: Sequence[Ruling]) -> Iterator[None]:
    """Within the context, queries by the adjudication's id answer as if it had been opened; nothing is written."""
    token = _UNOPENED.set((made, first))
    try:
        yield
    finally:
        _UNOPENED.reset(token)


def _unopened(adjudication_id: str) -> tuple[Adjudication, Sequence[Ruling]] | None:
    result = _UNOPENED.get()
    return result if result is not None and result[0].id == adjudication_id else None


def adjudication(db: Connection, adjudication_id: str) -> Adjudication:
    """An adjudication with its letters, which no query may pass on; raises KeyError if there is none with that id."""
    if looked_at := _unopened(adjudication_id):
        return looked_at[0]
    row = db.execute(select(ADJUDICATION).where(ADJUDICATION.c.id == adjudication_id)).first()
    if row is None:
        raise KeyError(adjudication_id)
    return adjudication_of(row)


def of_stage(db: Connection, item_id: str, stage: Stage) -> Adjudication | None:
    """The adjudication of one stage of an item; None if there is none."""
    conditions = ADJUDICATION.c.item_id == item_id, ADJUDICATION.c.stage == stage.value
    row = db.execute(select(ADJUDICATION).where(*conditions)).first()
    return adjudication_of(row) if row else None


def adjudications(db: Connection, item_id: str = "") -> list[Adjudication]:
    question = select(ADJUDICATION).where(*if_given((ADJUDICATION.c.item_id, item_id)))
    rows = db.execute(question.order_by(ADJUDICATION.c.item_id, ADJUDICATION.c.stage))
    return [adjudication_of(row) for row in rows]


def adjudication_of(row: Row[Any]) -> Adjudication:
    return Adjudication.model_validate({**row._mapping, "letters": json.loads(row.letters)})


def working(project: Project, db: Connection, adjudication_id: str) -> Adjudication:
    """An adjudication that the person working may rule on now; raises Refusal if it is closed or not theirs."""
    result = adjudication(db, adjudication_id)
    assignments.refuse_others(project, db, result)
    if result.state is AdjudicationState.CLOSED:
        raise Refusal(
            "This adjudication is closed.",
            "Reopen it to continue; its consensus stays until it is closed again.",
        )
    return result


def rulings(db: Connection, adjudication_id: str) -> list[Ruling]:
    if looked_at := _unopened(adjudication_id):
        return list(looked_at[1])
    question = select(RULING).where(RULING.c.adjudication_id == adjudication_id)
    return [ruling_of(row) for row in db.execute(question.order_by(RULING.c.position, RULING.c.id))]


def all_rulings(db: Connection) -> dict[str, list[Ruling]]:
    rows = db.execute(select(RULING).order_by(RULING.c.position, RULING.c.id))
    return grouped((row.adjudication_id, ruling_of(row)) for row in rows)


def ruling(db: Connection, ruling_id: str) -> Ruling:
    """One ruling; raises Refusal if its row has been merged with another."""
    row = required(
        db.execute(_ONE, {"wanted": ruling_id}).first(),
        "That row no longer exists.",
        "It was merged with another; look at the list again.",
    )
    return ruling_of(row)


def ruling_of(row: Row[Any]) -> Ruling:
    keys = {name: row._mapping[name] for name in KEYS}
    return Ruling.model_validate({**json.loads(row.content), **keys})


def replace(
    project: Project,
    db: Connection,
    subject: str,
    verb: str,
    old: Sequence[Ruling],
    new: Sequence[Ruling],
    *,
    undoable: bool = True,
) -> Change:
    """Replace rulings with others in one change; unchanged ones are left out of it.

    If nothing differs, the returned change has no before-image and no number.
    """
    before, after = _images(old), _images(new)
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not changed:
        return Change("ruling", subject, verb, by=project.by)
    adjudication_id = (*old, *new)[0].adjudication_id
    present, goal = ({name: image.get(name) for name in changed} for image in (before, after))
    _write(db, adjudication_id, goal, present)
    image = {"adjudication": adjudication_id, "rows": present}
    change = Change("ruling", subject, verb, image if undoable else None, {**image, "rows": goal})
    return record(project, db, change)


def row(ruling: Ruling) -> dict[str, Any]:
    content = canonical_json(ruling.model_dump(mode="json", exclude=KEYS))
    return {**ruling.model_dump(include=KEYS), "content": content.decode(), "sha256": sha256(content)}


def add(db: Connection, made: Sequence[Ruling]) -> None:
    """Write the initial rulings of an adjudication, which are part of its opening and no change of their own."""
    for each in made:
        _write(db, each.adjudication_id, _images([each]), {})


def _images(of: Sequence[Ruling]) -> dict[str, Any]:
    return {
        each.id: {"position": each.position, "content": each.model_dump(mode="json", exclude=KEYS)}
        for each in of
    }


def _write(db: Connection, adjudication_id: str, goal: dict[str, Any], present: dict[str, Any]) -> None:
    for name, image in goal.items():
        if image is None:
            db.execute(_DROP, {"wanted": name})
            continue
        content = canonical_json(image["content"])
        row = {"position": image["position"], "content": content.decode(), "sha256": sha256(content)}
        if present.get(name) is None:
            db.execute(_ADD, {"id": name, "adjudication_id": adjudication_id, **row})
        else:
            db.execute(_CHANGE, {"wanted": name, **row})


def restore(project: Project, db: Connection, _subject: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    working(project, db, present["adjudication"])
    current = _images(rulings(db, present["adjudication"]))
    if any(current.get(name) != image for name, image in present["rows"].items()):
        raise Refusal("This row was changed elsewhere since.", "Look at it again; nothing was undone.")
    _write(db, present["adjudication"], goal["rows"], present["rows"])


def kind_of(stage: Stage) -> Kind:
    """The kind of document of a stage; raises Refusal for the stage that has none."""
    if stage.kind is None:
        raise Refusal("An adjudication is not itself adjudicated.", "Choose another stage.")
    return stage.kind


def agreement(db: Connection, agreement_id: str) -> Agreement:
    """A frozen agreement; it names raters, so no query for adjudicators may pass it on."""
    content = db.execute(select(AGREEMENT.c.content).where(AGREEMENT.c.id == agreement_id)).scalar_one()
    return Agreement.model_validate(json.loads(content))


def documents(db: Connection, adjudication: Adjudication) -> dict[str, Document[Any]]:
    return sealed(db, agreement(db, adjudication.agreement_id), adjudication.letters)


def sealed(db: Connection, frozen: Agreement, letters: Mapping[str, str]) -> dict[str, Document[Any]]:
    kind = kind_of(frozen.stage)
    of_person = {
        rater.person_id: document_of(kind, content(db, rater.artifact_id, rater.revision))
        for rater in frozen.inputs
    }
    return {letter: of_person[person] for letter, person in letters.items()}


def content(db: Connection, artifact_id: str, number: int) -> dict[str, Any]:
    """The document, as a JSON tree, of one revision of an artifact."""
    conditions = REVISION.c.artifact_id == artifact_id, REVISION.c.number == number
    return dict(orjson.loads(db.execute(select(REVISION.c.content).where(*conditions)).scalar_one()))


def values(kind: Kind, unit: Unit | None, weights: Weights = USUAL) -> tuple[str, ...]:
    """The possible values of a unit if it has a choice, for a first vote or another value; empty otherwise.

    `weights` are those that the project allows.
    """
    if isinstance(unit, Label):
        known = PROTOCOLS.get(unit.protocol)
        return (*known.scale.best_first, UNSURE) if known else ()
    field = KINDS[kind].under(weights).voted
    return tuple(_words(value) for value, *_ in field.options) if field else ()


def vote_words(kind: Kind, unit: Unit) -> str:
    """A unit's value in the words of a vote: true, 3, vital …; empty if it has none."""
    field = KINDS[kind].voted
    return _words(getattr(unit, field.name)) if field else ""


def _words(value: Any) -> str:
    return "" if value is None else str(value).lower()


# Letter → unit id: one row.
Members = dict[str, str]
# Letter → the ids of that rater's units, in their order.
Orders = Mapping[str, list[str]]


def seed_of(adjudication_id: str) -> int:
    """The seed of an adjudication's shuffle: the same wherever it is opened."""
    return int(sha256(adjudication_id)[:8], 16)


def dealt(raters: list[str], seed: int) -> dict[str, str]:
    """Letter → person: the raters shuffled, independent of their order in `raters`; those beyond Z are left out."""
    order = sorted(raters)
    random.Random(seed).shuffle(order)
    return dict(zip(LETTERS, order, strict=False))


def rows(agreement: Agreement, letters: Mapping[str, str], orders: Orders) -> list[Members]:
    """The rows, in A's order; a unit that A lacks follows the unit before it in its own author's order.

    The units of each further rater join the rows most similar to them, by the similarities frozen with the agreement; a
    row takes at most one unit of a letter.
    """
    # (person, unit, person, unit) → similarity, in both directions.
    likeness = {
        units: match.likeness
        for pair in agreement.pairs
        for match in pair.matched
        for units in ((pair.a, match.a, pair.b, match.b), (pair.b, match.b, pair.a, match.a))
    }
    result: list[Members] = []
    for letter in letters:
        edges = sorted(_edges(result, letter, letters, orders, likeness))
        joined: dict[str, Members] = {}
        for _, place, _, unit in edges:
            if letter not in result[place] and unit not in joined:
                joined[unit] = result[place]
                result[place][letter] = unit
        _insert_rest(result, letter, orders[letter], joined)
    return result


def _edges(
    member_rows: list[Members],
    letter: str,
    letters: Mapping[str, str],
    orders: Orders,
    likeness: Mapping[tuple[str, str, str, str], float],
) -> Iterator[tuple[float, int, int, str]]:
    """(−similarity, row, place of the unit, unit) for each row and unit of the letter matched with a member."""
    partners = grouped(
        ((person, unit), (partner, alike))
        for (person, unit, other, partner), alike in likeness.items()
        if other == letters[letter]
    )
    places = {unit: place for place, unit in enumerate(orders[letter])}
    for row, members in enumerate(member_rows):
        sums: defaultdict[str, float] = defaultdict(float)
        for earlier, unit in members.items():
            for partner, alike in partners.get((letters[earlier], unit), ()):
                sums[partner] += alike
        for partner, alike in sums.items():
            yield -alike, row, places[partner], partner


def _insert_rest(
    member_rows: list[Members], letter: str, order: list[str], joined: dict[str, Members]
) -> None:
    """Insert rows for the units that joined none, each below the unit before it in its author's order."""
    place = -1
    for unit in order:
        if unit in joined:
            place = next(n for n, members in enumerate(member_rows) if members is joined[unit])
        else:
            place += 1
            member_rows.insert(place, {letter: unit})


def same_order(members: list[Members], orders: Orders) -> bool:
    places = {letter: {unit: n for n, unit in enumerate(order)} for letter, order in orders.items()}
    for a in orders:
        for b in orders:
            shared = [row for row in members if a in row and b in row]
            shared.sort(key=lambda row: places[a][row[a]])
            along = [places[b][row[b]] for row in shared]
            if along != sorted(along):
                return False
    return True
