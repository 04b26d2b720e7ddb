"""Creating a project, and migrating an older one without risk."""

import errno
import glob
import os
import sqlite3
from collections.abc import Callable, Container, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from annotator import files
from annotator.domain.texts.refusal import Refusal
from annotator.storage import backup, opening, search, witness
from annotator.storage.connection import APPLICATION_ID, engine_over, raw_connection, uri
from annotator.storage.holding import alone
from annotator.storage.opening import SCHEMA, Busy, Damaged, Unwritable, recognise

SCRIPTS = Path(__file__).parent / "migrations"
# Seconds that a large project may take in another process.
PATIENCE = 300.0
UNCHANGED = "Your project is unchanged; please report this."
# Kept by Alembic, made again from other rows, or hashed again after the migration.
NOT_COMPARED = ("alembic_version", "rendering", "witness")
# What a migration may move to another column of its row, and what is counted anew where it did.
MOVED = {("item", "question"): "working_title"}
COUNTED_ANEW = {("item", "sha256"): "working_title"}


@contextmanager
def created(path: Path) -> Iterator[Path]:
    """An empty project file under another name, to be filled; at the end it takes its place, or nothing is left of it.

    Refusal when something already lies there.
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
            _begin(unfinished)
            yield unfinished
    except (OSError, sqlite3.Error, DBAPIError) as error:
        if isinstance(error, FileExistsError) and path.exists():
            raise exists from None
        raise Refusal(
            f"“{path.name}” could not be created: {_cause(error)}.", "Choose a folder you may write to."
        ) from None


def _begin(unfinished: Path) -> None:
    try:
        unfinished.touch(exist_ok=False)
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from None
    with closing(raw_connection(unfinished)) as raw:
        _upgrade(raw, 0, SCHEMA)


def bring_up_to_date(path: Path, target: int = SCHEMA, scripts: Path = SCRIPTS) -> bool:
    """Migrate an older project: copy, migrate the copy, verify it, swap; True when there was something to do.

    The old file is kept beside the new one as `name.before-format-N`. When anything fails the old file stays. When
    another process is at it already, that is waited for.
    """
    if recognise(path) >= target:
        return False
    if not opening.may_be_written(path):
        only = opening.only_to_read(path)
        raise Unwritable(only.happened, only.todo)
    busy = Busy(f"“{path.name}” is being brought up to date by another Goldsmith.", "Try again in a moment.")
    with alone(path, "migrating", busy, PATIENCE):
        found = recognise(path)
        files.forget_second_names(path, f"{glob.escape(path.stem)}.before-format-*{path.suffix}")
        if why := opening.why_not_written(path):
            raise Unwritable(why.happened, why.todo)
        if found < target:
            _swap_for_migrated(path, found, target, scripts)
        return found < target


def copy_up_to_date(path: Path, copy: Path) -> None:
    """A copy of an older project in the present format, for looking at; the project itself is left as it is."""
    try:
        with closing(raw_connection(path, readonly=True)) as old:
            _copy_whole(old, copy)
    except (OSError, sqlite3.Error) as error:
        raise Refusal(
            f"“{path.name}” has an older format and could not be copied to be shown: {_cause(error)}.",
            "Free some space, or open it where it may be written.",
        ) from error
    bring_up_to_date(copy)


def _swap_for_migrated(path: Path, found: int, target: int, scripts: Path) -> None:
    kept = files.free_name(path.with_name(f"{path.stem}.before-format-{target}{path.suffix}"))
    swapped = False
    try:
        with files.whole(path) as copy, closing(raw_connection(path)) as guard:
            # Nobody may write while the copy is made, which a connection does that does not write itself.
            guard.execute("BEGIN IMMEDIATE")
            _migrate_beside(path, copy, kept, lambda raw: _upgrade(raw, found, target, scripts))
        swapped = True
    except (OSError, sqlite3.Error, DBAPIError) as error:
        raise Unwritable(
            f"“{path.name}” could not be brought up to date: {_cause(error)}.", UNCHANGED
        ) from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        # A migration reads what older versions wrote; nothing else has such values.
        raise opening.unchanged(path, str(error)) from error
    finally:
        if not swapped:
            with suppress(OSError):
                kept.unlink(missing_ok=True)


def _migrate_beside(
    path: Path, copy: Path, kept: Path, upgrade: Callable[[sqlite3.Connection], None]
) -> None:
    with closing(raw_connection(path, readonly=True)) as old:
        _copy_whole(old, copy)
        _migrate_copy(copy, path, upgrade)
        _keep(old, path, kept)


def _copy_whole(old: sqlite3.Connection, copy: Path) -> None:
    problem = backup.copy(old, copy)
    if problem:
        # Hashing the rows again would make the damage look like the truth.
        raise Damaged(f"The project is damaged and was not brought up to date: {problem}", opening.RESTORE)


def _keep(old: sqlite3.Connection, path: Path, kept: Path) -> None:
    try:
        os.link(path, kept)
    except OSError:
        # Not every disk knows a second name for a file.
        backup.copy(old, kept)


def _cause(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error.orig if isinstance(error, DBAPIError) else error)


def _migrate_copy(copy: Path, path: Path, upgrade: Callable[[sqlite3.Connection], None]) -> None:
    with closing(raw_connection(copy)) as raw:
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
    same = " AND ".join(_found_again(name, column, after) for column in before)
    question = f'SELECT count(*) FROM old."{name}" o LEFT JOIN main."{name}" n ON {key} WHERE NOT ({same})'  # noqa: S608
    (lost,) = raw.execute(question).fetchone()
    return [f"{lost} rows of {name} are missing or changed"] if lost else []


def _found_again(name: str, column: str, after: Container[str]) -> str:
    """The condition that a value of an old row is still in its new one."""
    same = f'n."{column}" IS o."{column}"'
    moved, counted = MOVED.get((name, column)), COUNTED_ANEW.get((name, column))
    if moved in after:
        return f'({same} OR n."{moved}" IS o."{column}")'
    return f"({same} OR n.\"{counted}\" <> '')" if counted in after else same


def _columns(raw: sqlite3.Connection, schema: str, name: str) -> dict[str, bool]:
    return {row[1]: bool(row[5]) for row in raw.execute(f'PRAGMA {schema}.table_info("{name}")')}


def _upgrade(raw: sqlite3.Connection, found: int, target: int, scripts: Path = SCRIPTS) -> None:
    """Run the migrations in one transaction begun by hand: the driver would let DDL commit by itself."""
    engine = engine_over(raw)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        raw.execute("BEGIN IMMEDIATE")
        try:
            _run_scripts(connection, found, target, scripts)
            search.rebuild(connection)
            witness.renew(raw)
            raw.execute(f"PRAGMA application_id={APPLICATION_ID}")
            raw.execute(f"PRAGMA user_version={target}")
            raw.execute("COMMIT")
        finally:
            if raw.in_transaction:
                raw.execute("ROLLBACK")


def _run_scripts(connection: Connection, found: int, target: int, scripts: Path) -> None:
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    directory = ScriptDirectory.from_config(config)
    context = MigrationContext.configure(connection, opts={"transactional_ddl": False})
    with Operations.context(context):
        for script in reversed(
            list(directory.iterate_revisions(f"{target:04d}", f"{found:04d}" if found else "base"))
        ):
            script.module.upgrade()
