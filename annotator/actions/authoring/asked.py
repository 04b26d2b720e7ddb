"""The question that an item asks: once its query is settled, the first wording of that."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating
from annotator.actions.project.file import Project, record
from annotator.actions.project.hashing import item_hash, wording_hash
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.material.item import Item
from annotator.domain.texts.change import Change
from annotator.storage import search
from annotator.storage.tables import ITEM, RESPONSE, SYSTEM


@dataclass(frozen=True, slots=True)
class OtherWording:
    """A response to another wording of its item's question than the present one."""

    response_id: str
    item_key: str
    system: str


def settled(db: Connection, item_ids: Iterable[str]) -> dict[str, str]:
    """Item by item, the first wording of its settled query; a query that is only submitted is not settled."""
    rows = annotating.judged_rows(db, Kind.QUERY, item_ids)
    standing = {i: row for i, row in rows.items() if row.state == State.CONSENSUS.value or not row.author_id}
    texts = {item_id: _first_wording(row.content) for item_id, row in standing.items()}
    return {item_id: text for item_id, text in texts.items() if text}


def _first_wording(content: str) -> str:
    units = json.loads(content)["units"]
    return str(units[0]["text"]).strip() if units else ""


def take(project: Project, db: Connection, item_ids: Iterable[str]) -> None:
    """Make the settled query of each item its question; the question until then becomes its working title."""
    for item_id, wording in settled(db, item_ids).items():
        row = dict(db.execute(select(ITEM).where(ITEM.c.id == item_id)).mappings().one())
        if row["question"].strip() == wording:
            continue
        keep_answers(db, item_id, row["question"])
        row |= {"question": wording, "working_title": row["working_title"] or row["question"]}
        row["sha256"] = item_hash(row)
        db.execute(update(ITEM).where(ITEM.c.id == item_id).values(row))
        search.index(db, [Item(**{name: value for name, value in row.items() if name != "sha256"})])
        # There is nothing to take back: another wording is settled by closing the query again.
        record(project, db, Change("item", item_id, "settle question", None, {"question": wording}))


def keep_answers(db: Connection, item_id: str, question: str) -> None:
    """Note in the responses to an item which wording they answer, before its question changes."""
    answers = (RESPONSE.c.item_id == item_id, RESPONSE.c.asked == "")
    db.execute(update(RESPONSE).where(*answers).values(asked=wording_hash(question)))


def answered_otherwise(project: Project) -> list[OtherWording]:
    """The responses to another wording of their item's question than it has now, item by item."""
    listed = (
        select(RESPONSE.c.id, ITEM.c.key, SYSTEM.c.name, RESPONSE.c.asked, ITEM.c.question)
        .select_from(RESPONSE)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(ITEM.c.retired.is_(False), RESPONSE.c.asked != "")
        .order_by(ITEM.c.position, ITEM.c.key, SYSTEM.c.name, RESPONSE.c.trial)
    )
    with project.store.read() as db:
        rows = db.execute(listed).all()
    return [OtherWording(*row[:3]) for row in rows if row.asked != wording_hash(row.question)]
