"""Backups: copies of a project in use, and how long each one stays."""

import errno
import glob
import json
import os
import re
import sqlite3
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from annotator import files
from annotator.domain.common import Refusal
from annotator.storage import integrity, opening, store, tables
from annotator.storage.connection import APPLICATION_ID, begin, engine_over, raw_connection, uri
from annotator.storage.opening import SCHEMA, Busy, Damaged, Unwritable, recognise
from annotator.storage.store import Store, alone

LABEL = "backup"
SPACING = timedelta(minutes=30)
DAY, WEEK, MONTH, YEAR = (timedelta(days=days) for days in (1, 7, 31, 366))
PATIENCE = 30.0
NOT_THE_BACKUP = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup in the list. `ok` covers its size and header; restoring checks more."""

    path: Path
    at: datetime
    size: int
    ok: bool
    why: str = ""
    problem: str = ""


def folder_of(project: Path) -> Path:
    return project.with_name(f"{project.stem}.backups")


def backup(project: Store | sqlite3.Connection, folder: Path, stem: str, why: str = "") -> Path:
    """Make a verified copy `<stem>-YYYYMMDD-HHMMSS.goldsmith` (UTC) of the project in the folder and return its path.

    Refusal if it cannot be written; earlier backups are never touched. A project with altered rows is copied too,
    since it may hold newer work than any other copy; the label of the copy then records the problem.
    """
    raw = project._raw if isinstance(project, Store) else project
    at = datetime.now(UTC)
    with _explaining(folder, stem):
        folder.mkdir(parents=True, exist_ok=True)
        for pattern in (f".{glob.escape(stem)}-*", f"{glob.escape(stem)}-*"):
            files.sweep(folder, pattern + files.UNFINISHED)
        path = folder / f"{stem}-{files.stamp(at)}.goldsmith"
        while True:
            target = files.free_name(path)
            # Another process may take that name meanwhile: try the next one.
            with suppress(FileExistsError):
                copy(raw, target, {"why": why, "at": at.isoformat()}, new=True)
                return target


class NotCopied(Exception):
    """A project could not be copied; the text is SQLite's message. Nothing was changed."""


def copy_project(source: Store | Path, target: Path, *, new: bool = False) -> None:
    """Copy an open project, or a file that nobody has open, as `copy` does; NotCopied if SQLite fails."""
    try:
        if isinstance(source, Store):
            copy(source._raw, target, new=new)
        else:
            with closing(raw_connection(source, readonly=True)) as raw:
                copy(raw, target, new=new)
    except sqlite3.Error as error:
        raise NotCopied(str(error)) from error


def copy(
    raw: sqlite3.Connection, target: Path, label: dict[str, str] | None = None, *, new: bool = False
) -> str:
    """Copy a database through its own connection, verify the copy, and only then give it its name.

    Returns the problem with its rows, empty if there is none. Raises Damaged if its pages are broken, FileExistsError
    if `new` is set and the name is taken.
    """
    if raw.in_transaction:
        raise RuntimeError("a copy made inside a transaction would wait for that transaction for ever")
    with files.whole(target, new=new) as part:
        with closing(sqlite3.connect(part, isolation_level=None)) as made:
            _copy_pages(raw, made)
        problem = verify(part)
        if label is not None:
            with closing(Store(part)) as copied, copied.write() as db:
                value = json.dumps(label | {"problem": problem})
                tables.put(db, tables.META, {"key": LABEL, "value": value})
    return problem


def _copy_pages(raw: sqlite3.Connection, new: sqlite3.Connection) -> None:
    begin(raw, "BEGIN", PATIENCE)
    try:
        before = row_counts(raw)
        raw.backup(new)
    finally:
        raw.execute("ROLLBACK")
    if row_counts(new) != before:
        raise sqlite3.DatabaseError("the copy holds other rows than the project")


def row_counts(raw: sqlite3.Connection) -> dict[str, int]:
    """The number of rows of each table, without the tables of the search index."""
    names = raw.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
        "AND name NOT LIKE 'item_words%' ORDER BY name"
    ).fetchall()
    return {name: raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in names}  # noqa: S608


def verify(path: Path) -> str:
    """The problem with the rows of a file that nobody has open, empty if there is none; Damaged if pages are broken."""
    opening.recognise(path, thorough=False)
    try:
        with closing(raw_connection(path, readonly=True)) as raw:
            (verdict,) = raw.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise opening.Damaged(f"“{path.name}” is damaged: {verdict}.", opening.RESTORE)
            witnessed = integrity.present(raw)
            if witnessed and integrity.schema_altered(raw):
                return "Its tables are not those of the program."
            for name in witnessed:
                for row, what in integrity.altered(raw, name):
                    return f"Row {row} of “{name}” {what}."
    except sqlite3.Error as error:
        raise opening.explained(error, path) from None
    return ""


@contextmanager
def _explaining(folder: Path, stem: str) -> Iterator[None]:
    unchanged = "the project and its earlier backups are unchanged."
    try:
        yield
    except OSError as error:
        raise Refusal(
            f"The backup could not be written to {folder}: {error.strerror or error}.",
            f"{files.advice(error)}; {unchanged}",
        ) from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in NOT_THE_BACKUP:
            raise opening.explained(error, Path(f"{stem}.goldsmith")) from error
        raise Refusal(
            f"The backup could not be written to {folder}: {error}.",
            f"Free some space or choose another disk; {unchanged}",
        ) from error


def backups(folder: Path, stem: str) -> list[BackupFile]:
    """The backups of a project, newest first; the project itself is not read."""
    result = [
        (path, at)
        for path in (list(folder.glob("*.goldsmith")) if folder.is_dir() else [])
        if (at := _moment(path, stem)) is not None
    ]
    newest_first = sorted(result, key=lambda pair: (pair[1], pair[0]), reverse=True)
    # Another process may prune them meanwhile.
    return [file for path, at in newest_first if (file := _described(path, at)) is not None]


def _moment(path: Path, stem: str) -> datetime | None:
    named = re.fullmatch(re.escape(stem) + r"-(\d{8}-\d{6})(-\d+)?", path.stem)
    if named is None:
        return None
    try:
        return datetime.strptime(named[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _described(path: Path, at: datetime) -> BackupFile | None:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return None
    try:
        opening.recognise(path, thorough=False)
        label = label_of(path)
    except Refusal as refusal:
        if not path.exists():
            return None
        return BackupFile(path, at, size, ok=False, problem=refusal.happened)
    problem = label.get("problem", "")
    return BackupFile(path, at, size, ok=not problem, why=label.get("why", ""), problem=problem)


def label_of(path: Path) -> dict[str, str]:
    """The label of a backup: why and when it was made, and its problem. Empty for any other project file."""
    try:
        with closing(raw_connection(path, readonly=True)) as raw:
            row = raw.execute("SELECT value FROM meta WHERE key = ?", [LABEL]).fetchone()
        return dict(json.loads(row[0])) if row else {}
    except sqlite3.Error as error:
        raise opening.explained(error, path) from None
    except ValueError as error:
        raise opening.Damaged(f"“{path.name}” is damaged ({error}).", "Choose another backup.") from None


def prune(folder: Path, stem: str, now: datetime) -> list[Path]:
    """Delete the backups that are no longer needed and return them; files that are not valid backups stay.

    One that a scanner or a syncing program has open is left for the next time.
    """
    known = {file.path: file.at for file in backups(folder, stem) if file.ok}
    doomed = set(to_delete(known.values(), now))
    gone = []
    for path in (path for path, at in known.items() if at in doomed):
        with suppress(OSError):
            path.unlink(missing_ok=True)
            gone.append(path)
    return gone


def to_delete(times: Iterable[datetime], now: datetime) -> list[datetime]:
    """The backups to delete, oldest first.

    These stay: of the last day, backups half an hour apart; then the last of each day for a week, of each week for a
    month, of each month for a year; and always the newest. Times in the future (a clock set back) stay too.
    """
    ordered = sorted(set(times))
    moments = set(ordered[-1:]) | {at for at in ordered if at > now} | _spaced(ordered, now)
    lasts = {_period(at, now): at for at in ordered if DAY < now - at <= YEAR}
    return [at for at in ordered if at not in moments | set(lasts.values())]


def _spaced(ordered: list[datetime], now: datetime) -> set[datetime]:
    spaced: list[datetime] = []
    for at in ordered:
        if now - at <= DAY and (not spaced or at - spaced[-1] >= SPACING):
            spaced.append(at)
    return set(spaced)


def _period(at: datetime, now: datetime) -> tuple[str, int, int]:
    age = now - at
    if age <= DAY + WEEK:
        return ("day", at.year, at.timetuple().tm_yday)
    if age <= DAY + MONTH:
        return ("week", *at.isocalendar()[:2])
    return ("month", at.year, at.month)


Migrations = Sequence[Callable[[], None]]
# Seconds that migrating a large project may take in another process.
LOCK_PATIENCE = 300.0
UNCHANGED = "Your project is unchanged; please report this."
# Written by Alembic, derived from other rows, or hashed again after the migration.
NOT_COMPARED = ("alembic_version", "rendering", "witness")
# Values that a migration may move to another column of their row, and the columns recomputed if it did.
MOVED = {("item", "question"): "working_title"}
COUNTED_ANEW = {("item", "sha256"): "working_title"}


@contextmanager
def created(path: Path) -> Iterator[Path]:
    """Yield an empty project file under a temporary name; it gets its real name at the end, or is deleted on an error.

    Refusal if a file of that name exists.
    """
    exists = Refusal(
        f"“{path.name}” already exists in {path.absolute().parent}.",
        "Choose another name; nothing was changed.",
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            raise exists
        with files.whole(path, new=True) as unfinished:
            try:
                unfinished.touch(exist_ok=False)
            except ValueError as error:
                raise OSError(errno.EINVAL, str(error)) from None
            with closing(raw_connection(unfinished)) as raw:
                _upgrade(raw, 0, SCHEMA)
            yield unfinished
    except (OSError, sqlite3.Error, DBAPIError) as error:
        if isinstance(error, FileExistsError) and path.exists():
            raise exists from None
        raise Refusal(
            f"“{path.name}” could not be created: {_cause(error)}.", "Choose a folder you may write to."
        ) from None


def bring_up_to_date(path: Path, target: int = SCHEMA, migrations: Migrations | None = None) -> bool:
    """Migrate an older project: copy, migrate the copy, verify it, swap; True if there was something to do.

    The old file stays beside the new one as `name.before-format-N`. If anything fails, the old file stays in place.
    If another process is migrating already, this waits for it.
    """
    if recognise(path) >= target:
        return False
    if not opening.may_be_written(path):
        only = opening.only_to_read(path)
        raise Unwritable(only.happened, only.todo)
    busy = Busy(f"“{path.name}” is being brought up to date by another Goldsmith.", "Try again in a moment.")
    with alone(path, "migrating", busy, LOCK_PATIENCE):
        result = recognise(path)
        files.forget_second_names(path, f"{glob.escape(path.stem)}.before-format-*{path.suffix}")
        if why := opening.why_not_written(path):
            raise Unwritable(why.happened, why.todo)
        if result < target:
            _swap_for_migrated(path, result, target, migrations)
        return result < target


def copy_up_to_date(path: Path, target: Path) -> None:
    """Copy an older project to `target` in the present format, to be shown; the project itself stays as it is."""
    try:
        with closing(raw_connection(path, readonly=True)) as old:
            _copy_whole(old, target)
    except (OSError, sqlite3.Error) as error:
        raise Refusal(
            f"“{path.name}” has an older format and could not be copied to be shown: {_cause(error)}.",
            "Free some space, or open it where it may be written.",
        ) from error
    bring_up_to_date(target)


def _swap_for_migrated(path: Path, version: int, target: int, migrations: Migrations | None) -> None:
    earlier = files.free_name(path.with_name(f"{path.stem}.before-format-{target}{path.suffix}"))
    swapped = False
    try:
        with files.whole(path) as beside, closing(raw_connection(path)) as guard:
            # Nobody may write while the copy is made; a connection that does not write itself holds the lock.
            guard.execute("BEGIN IMMEDIATE")
            with closing(raw_connection(path, readonly=True)) as old:
                _copy_whole(old, beside)
                _migrate_copy(beside, path, lambda raw: _upgrade(raw, version, target, migrations))
                try:
                    os.link(path, earlier)
                except OSError:
                    # Not every disk supports hard links.
                    copy(old, earlier)
        swapped = True
    except (OSError, sqlite3.Error, DBAPIError) as error:
        raise Unwritable(
            f"“{path.name}” could not be brought up to date: {_cause(error)}.", UNCHANGED
        ) from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        # A migration reads values that older versions wrote; a value that breaks it was written by something else.
        raise opening.unchanged(path, str(error)) from error
    finally:
        if not swapped:
            with suppress(OSError):
                earlier.unlink(missing_ok=True)


def _copy_whole(old: sqlite3.Connection, target: Path) -> None:
    problem = copy(old, target)
    if problem:
        # Hashing the rows again would make the damage look like the truth.
        raise Damaged(f"The project is damaged and was not brought up to date: {problem}", opening.RESTORE)


def _cause(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error.orig if isinstance(error, DBAPIError) else error)


def _migrate_copy(target: Path, path: Path, upgrade: Callable[[sqlite3.Connection], None]) -> None:
    with closing(raw_connection(target)) as raw:
        # A batch ALTER with foreign keys on can empty a child table and report success.
        raw.execute("PRAGMA foreign_keys=OFF")
        upgrade(raw)
        raw.execute("ATTACH ? AS old", [uri(path, "ro")])
        names = raw.execute(
            "SELECT name FROM old.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
            "AND name NOT LIKE 'item_words%' ORDER BY name"
        ).fetchall()
        problems = [loss for (name,) in names if name not in NOT_COMPARED for loss in _losses_of(raw, name)]
        problems += [f"broken link: {row}" for row in raw.execute("PRAGMA main.foreign_key_check")]
        problems += [row for (row,) in raw.execute("PRAGMA main.integrity_check(10)") if row != "ok"]
    if problems:
        raise Refusal(
            f"Bringing “{path.stem}” up to date would have lost something; it was stopped.",
            UNCHANGED,
            details=tuple(problems),
        )


def _losses_of(raw: sqlite3.Connection, name: str) -> list[str]:
    before, after = _columns(raw, "old", name), _columns(raw, "main", name)
    gone = [f"{name}.{column} is gone" for column in before if column not in after]
    if gone:
        return gone
    key = " AND ".join(f'n."{column}" = o."{column}"' for column, keyed in before.items() if keyed)
    same = " AND ".join(_is_there_condition(name, column, after) for column in before)
    question = f'SELECT count(*) FROM old."{name}" o LEFT JOIN main."{name}" n ON {key} WHERE NOT ({same})'  # noqa: S608
    (lost,) = raw.execute(question).fetchone()
    return [f"{lost} rows of {name} are missing or changed"] if lost else []


def _is_there_condition(name: str, column: str, after: Container[str]) -> str:
    """The SQL condition that a value of an old row is still in its new one."""
    same = f'n."{column}" IS o."{column}"'
    moved, counted = MOVED.get((name, column)), COUNTED_ANEW.get((name, column))
    if moved in after:
        return f'({same} OR n."{moved}" IS o."{column}")'
    return f"({same} OR n.\"{counted}\" <> '')" if counted in after else same


def _columns(raw: sqlite3.Connection, schema: str, name: str) -> dict[str, bool]:
    return {row[1]: bool(row[5]) for row in raw.execute(f'PRAGMA {schema}.table_info("{name}")')}


def _upgrade(
    raw: sqlite3.Connection, version: int, target: int, migrations: Migrations | None = None
) -> None:
    """Run the migrations in one transaction begun by hand: the driver would let DDL commit by itself."""
    # They take long to load, and a project of the present schema needs none of them.
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    from annotator.storage.migrations import MIGRATIONS

    engine = engine_over(raw)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        raw.execute("BEGIN IMMEDIATE")
        try:
            context = MigrationContext.configure(connection, opts={"transactional_ddl": False})
            with Operations.context(context):
                for migrate in (migrations or MIGRATIONS)[version:target]:
                    migrate()
            store.rebuild(connection)
            integrity.renew(raw)
            raw.execute(f"PRAGMA application_id={APPLICATION_ID}")
            raw.execute(f"PRAGMA user_version={target}")
            raw.execute("COMMIT")
        finally:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
