"""Search for items by any part of their words."""

import sqlite3
from collections.abc import Iterable
from typing import Any

from sqlalchemy.engine import Connection

from annotator.domain.material.item import Item
from annotator.domain.texts.canonical import storable

SHORTEST_TOKEN = 3
# What a long list holds of each item: eight bytes, where its id would take ninety. Only SQLite numbers rows by itself.
NUMBER = "item.rowid"
_OWN_WORDS = (
    "item.key || char(10) || item.question || char(10) || item.question_type || char(10) || item.subject"
)


def index(db: Connection, items: Iterable[Item]) -> None:
    """Make the items findable by their present words; call it after they were written, in that transaction."""
    rows = [
        (item.id, item.id, "\n".join((item.key, item.question, item.question_type, item.subject)))
        for item in items
    ]
    if not rows:
        return
    # By row number: the index could find an item's id only by reading all of itself.
    db.exec_driver_sql(
        "REPLACE INTO item_words(rowid, item_id, words) VALUES ((SELECT rowid FROM item WHERE id = ?), ?, ?)",
        rows,
    )


def rebuild(db: Connection) -> None:
    """Make the whole index again from the items, inside a transaction."""
    db.exec_driver_sql("DELETE FROM item_words")
    db.exec_driver_sql(
        f"INSERT INTO item_words(rowid, item_id, words) SELECT rowid, id, {_OWN_WORDS} FROM item"  # noqa: S608
    )


def out_of_step(raw: sqlite3.Connection) -> list[str]:
    """The ids of items whose words are not those in the index, and of index entries without an item."""
    there = "SELECT item_id, words FROM item_words"
    wanted = f"SELECT id, {_OWN_WORDS} FROM item"  # noqa: S608
    question = f"SELECT * FROM ({wanted} EXCEPT {there}) UNION SELECT * FROM ({there} EXCEPT {wanted})"  # noqa: S608
    return sorted({item_id for item_id, _ in raw.execute(question)})


def matching(words: str) -> tuple[str, list[str], dict[str, Any]]:
    """Where to look for items in which every word of `words` is met somewhere: FROM, conditions, the values they name.

    Parts shorter than a token are looked for in the items themselves.
    """
    parts = storable(words).split()
    long = [part for part in parts if len(part) >= SHORTEST_TOKEN]
    short = [part for part in parts if len(part) < SHORTEST_TOKEN]
    conditions, values = list[str](), dict[str, Any]()
    if long:
        conditions.append("item_words MATCH :words")
        values["words"] = " AND ".join('words : "' + part.replace('"', '""') + '"' for part in long)
    for place, part in enumerate(short):
        conditions.append(f"({_OWN_WORDS}) LIKE :part{place} ESCAPE '\\'")
        values[f"part{place}"] = (
            "%" + part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        )
    # The order of a CROSS JOIN is kept: the other way round every item would be looked up among the words.
    source = "item_words CROSS JOIN item ON item.rowid = item_words.rowid" if long else "item"
    return source, conditions, values
