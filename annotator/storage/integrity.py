"""Detection of flipped bits and lost rows: a hash of every row, stored apart from it.

Judgements are left out: there are millions of them, and each carries a hash over all of its own values.
"""

# ruff: noqa: S608 - the only names put into statements here are those of our own tables.
import sqlite3
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from annotator.domain.common import canonical_json, sha256
from annotator.storage.tables import metadata

WITNESSED = tuple(sorted(set(metadata.tables) - {"judgement", "witness"}))


def row_hash(*values: Any) -> str:
    """The hash of a row's stored values in the order of its columns; bytes enter by their own hash."""
    try:
        return sha256(canonical_json(values))
    except TypeError:
        plain = [{"bytes": sha256(value)} if isinstance(value, bytes) else value for value in values]
        return sha256(canonical_json(plain))


class Witness:
    """Records which rows a connection changes or deletes, by whatever statement.

    New rows need no record: SQLite numbers them upwards, so they are those above the highest number hashed, in the
    tables that a statement of this connection inserts into.
    """

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw
        self._inserted = set[str]()
        raw.set_authorizer(self._note_insertion)
        # Most sessions change few tables of a file, often none.
        self._hashing = cache(partial(_hashing, raw))
        _teach(raw)
        raw.execute("PRAGMA temp_store=MEMORY")
        # Without it a row replaced by INSERT OR REPLACE would go unnoticed.
        raw.execute("PRAGMA recursive_triggers=ON")

    def _note_insertion(self, action: int, table: str | None, *_: str | None) -> int:
        """SQLite's authorizer callback, called for each operation of a statement as it is prepared."""
        if action == sqlite3.SQLITE_INSERT and table in WITNESSED:
            self._inserted.add(table)
        return sqlite3.SQLITE_OK

    def watch(self) -> None:
        """Create the triggers that record changed rows; call it in every transaction that changes something, before
        it does.

        Not done on opening, since a file is often opened without being changed; a rollback also removes the triggers.
        """
        execute = self._raw.execute
        if execute("SELECT 1 FROM sqlite_temp_master WHERE name = 'touched'").fetchone():
            return
        execute("CREATE TEMP TABLE touched (of_table TEXT, row INTEGER)")
        for name in WITNESSED:
            for event in ("UPDATE", "DELETE"):
                execute(
                    f'CREATE TEMP TRIGGER "{name}_{event}" AFTER {event} ON main."{name}" '
                    f"BEGIN INSERT INTO touched VALUES ('{name}', old.rowid); END"
                )

    def settle(self) -> None:
        """Renew the hashes of the rows touched since the last call; call it before COMMIT, in the transaction."""
        execute = self._raw.execute
        # Before touched rows are hashed: one of them may itself be new, and not the first new row.
        grown = execute(_growth(tuple(sorted(self._inserted)))).fetchall() if self._inserted else []
        for (name,) in execute("SELECT DISTINCT of_table FROM touched").fetchall():
            touched = f"(SELECT row FROM touched WHERE of_table = '{name}')"
            execute(f"DELETE FROM witness WHERE of_table = '{name}' AND of_row IN {touched}")
            execute(self._hashing(name).format(f"rowid IN {touched}"))
        execute("DELETE FROM touched")
        for name, known in grown:
            execute(self._hashing(name).format("rowid > ?"), [known])


@cache
def _growth(names: tuple[str, ...]) -> str:
    """The query for those of these tables that have rows above the highest hashed row number, and that number."""
    return "SELECT name, known FROM ({}) WHERE newest > known".format(
        " UNION ALL ".join(
            f"SELECT '{name}' AS name, (SELECT max(rowid) FROM \"{name}\") AS newest, "
            f"(SELECT coalesce(max(of_row), 0) FROM witness WHERE of_table = '{name}') AS known"
            for name in names
        )
    )


def renew(raw: sqlite3.Connection) -> None:
    """Hash every row again after a migration, in the same transaction."""
    _teach(raw)
    raw.execute("DELETE FROM witness")
    for name in present(raw):
        raw.execute(_hashing(raw, name).format("true"))
    raw.execute("INSERT INTO witness VALUES ('sqlite_master', 0, ?)", [_schema_hash(raw)])


def schema_altered(raw: sqlite3.Connection) -> bool:
    """Whether the tables and indexes differ from those that the last migration left."""
    stored = raw.execute("SELECT sha256 FROM witness WHERE of_table = 'sqlite_master'").fetchone()
    return stored is None or stored[0] != _schema_hash(raw)


def _schema_hash(raw: sqlite3.Connection) -> str:
    question = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    return row_hash(*(part for row in raw.execute(question) for part in row))


def present(raw: sqlite3.Connection) -> list[str]:
    """The tables of this file whose rows are hashed; empty if the file is older than the row hashes."""
    there = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return [name for name in WITNESSED if name in there] if "witness" in there else []


def altered(raw: sqlite3.Connection, name: str) -> Iterator[tuple[int, str]]:
    """The rows of a table that differ from what was written: row number and problem in words."""
    question = (
        f'SELECT w.sha256, t.rowid, t.* FROM "{name}" t '
        "LEFT JOIN witness w ON w.of_table = ? AND w.of_row = t.rowid"
    )
    for stored, row, *values in raw.execute(question, [name]):
        if stored != row_hash(*values):
            yield row, "was altered outside the program" if stored else "was added outside the program"
    lost = f'SELECT of_row FROM witness WHERE of_table = ? AND of_row NOT IN (SELECT rowid FROM "{name}")'
    for (row,) in raw.execute(lost, [name]):
        yield row, "is missing"


def _teach(raw: sqlite3.Connection) -> None:
    raw.create_function("row_hash", -1, row_hash, deterministic=True)


def _hashing(raw: sqlite3.Connection, name: str) -> str:
    """The statement that hashes the rows of a table meeting a condition, which is formatted into its braces."""
    columns = ", ".join(f'"{row[1]}"' for row in raw.execute(f'PRAGMA table_info("{name}")'))
    return (
        f"INSERT INTO witness SELECT '{name}', rowid, row_hash({columns}) FROM \"{name}\" WHERE {{}} "
        "ON CONFLICT (of_table, of_row) DO UPDATE SET sha256 = excluded.sha256"
    )
