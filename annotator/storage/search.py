"""How items are found by any part of their words."""

import sqlite3
from collections.abc import Iterable

from annotator.domain.material.item import Item
from annotator.domain.texts.canonical import storable

SHORTEST_TOKEN = 3
_OWN_WORDS = (
    "item.key || char(10) || item.question || char(10) || item.question_type || char(10) || item.subject"
)


def index(raw: sqlite3.Connection, items: Iterable[Item]) -> None:
    """Make the items findable by their present words; call it after they were written, in that transaction."""
    rows = [
        (item.id, item.id, "\n".join((item.key, item.question, item.question_type, item.subject)))
        for item in items
    ]
    # By row number: the index could find an item's id only by reading all of itself.
    raw.executemany(
        "REPLACE INTO item_words(rowid, item_id, words) VALUES ((SELECT rowid FROM item WHERE id = ?), ?, ?)",
        rows,
    )


def rebuild(raw: sqlite3.Connection) -> None:
    """Make the whole index anew from the items, inside a transaction."""
    raw.execute("DELETE FROM item_words")
    raw.execute(
        f"INSERT INTO item_words(rowid, item_id, words) SELECT rowid, id, {_OWN_WORDS} FROM item"  # noqa: S608
    )


def out_of_step(raw: sqlite3.Connection) -> list[str]:
    """The ids of items whose words are not those in the index, and of index entries without an item."""
    there = "SELECT item_id, words FROM item_words"
    wanted = f"SELECT id, {_OWN_WORDS} FROM item"  # noqa: S608
    question = f"SELECT * FROM ({wanted} EXCEPT {there}) UNION SELECT * FROM ({there} EXCEPT {wanted})"  # noqa: S608
    return sorted({item_id for item_id, _ in raw.execute(question)})


def matching(words: str) -> tuple[str, list[str], list[str]]:
    """Where to look for items in which every word of `words` is met somewhere: FROM, conditions, parameters.

    Parts shorter than a token are looked for in the items themselves.
    """
    parts = storable(words).split()
    long = [part for part in parts if len(part) >= SHORTEST_TOKEN]
    short = [part for part in parts if len(part) < SHORTEST_TOKEN]
    conditions, parameters = [], []
    if long:
        conditions.append("item_words MATCH ?")
        parameters.append(" AND ".join('words : "' + part.replace('"', '""') + '"' for part in long))
    for part in short:
        conditions.append(f"({_OWN_WORDS}) LIKE ? ESCAPE '\\'")
        parameters.append("%" + part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%")
    # The order of a CROSS JOIN is kept: the other way round every item would be looked up among the words.
    source = "item_words CROSS JOIN item ON item.rowid = item_words.rowid" if long else "item"
    return source, conditions, parameters
