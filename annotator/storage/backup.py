"""Backups: copying a project while it is in use, and how long each backup is kept."""

import glob
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from annotator import files
from annotator.domain.texts.refusal import Refusal
from annotator.storage import opening, upserts, witness
from annotator.storage.connection import begin, raw_connection
from annotator.storage.store import Store
from annotator.storage.tables import META

LABEL = "backup"
SPACING = timedelta(minutes=30)
DAY, WEEK, MONTH, YEAR = (timedelta(days=days) for days in (1, 7, 31, 366))
PATIENCE = 30.0
NOT_THE_BACKUP = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup in the list. `ok` is about its size and marks; restoring checks more."""

    path: Path
    at: datetime
    size: int
    ok: bool
    why: str = ""
    problem: str = ""


def folder_of(project: Path) -> Path:
    """Where the backups of a project lie: beside it."""
    return project.with_name(f"{project.stem}.backups")


def backup(project: Store | sqlite3.Connection, folder: Path, stem: str, why: str = "") -> Path:
    """A verified copy `<stem>-YYYYMMDD-HHMMSS.goldsmith` (UTC) in the folder, as the project stands now.

    Refusal when it cannot be written; earlier backups are never touched. A copy of a project with altered rows is
    made all the same, for it may hold newer work than any other, but says of itself that it is not whole.
    """
    raw = project._raw if isinstance(project, Store) else project
    at = datetime.now(UTC)
    with _explaining(folder, stem):
        folder.mkdir(parents=True, exist_ok=True)
        for pattern in (f".{glob.escape(stem)}-*", f"{glob.escape(stem)}-*"):
            files.sweep(folder, pattern + files.UNFINISHED)
        wanted = folder / f"{stem}-{files.stamp(at)}.goldsmith"
        while True:
            target = files.free_name(wanted)
            # Another process may take that name meanwhile.
            with suppress(FileExistsError):
                copy(raw, target, {"why": why, "at": at.isoformat()}, new=True)
                return target


class NotCopied(Exception):
    """A project could not be copied, in the store's own words; nothing was changed."""


def copy_project(source: Store | Path, target: Path, *, new: bool = False) -> None:
    """Copy an open project, or a file that nobody has open, as `copy` does; NotCopied when the store fails."""
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

    Returns what is wrong with its rows, or an empty text; Damaged when its pages are broken, FileExistsError when the
    copy is to be `new` and the name is taken.
    """
    if raw.in_transaction:
        raise RuntimeError("a copy made inside a transaction would wait for that transaction for ever")
    with files.whole(target, new=new) as part:
        with closing(sqlite3.connect(part, isolation_level=None)) as made:
            _copy_pages(raw, made)
        problem = verify(part)
        if label is not None:
            _write_label(part, label | {"problem": problem})
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
    """How many rows each table holds, the search index's own tables apart."""
    names = raw.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
        "AND name NOT LIKE 'item_words%' ORDER BY name"
    ).fetchall()
    return {name: raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in names}  # noqa: S608


def verify(path: Path) -> str:
    """What is wrong with the rows of a file that nobody has open, or an empty text; Damaged when pages are broken."""
    opening.recognise(path, thorough=False)
    try:
        with closing(raw_connection(path, readonly=True)) as raw:
            (verdict,) = raw.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise opening.Damaged(f"“{path.name}” is damaged: {verdict}.", opening.RESTORE)
            witnessed = witness.present(raw)
            if witnessed and witness.schema_altered(raw):
                return "Its tables are not those of the program."
            for name in witnessed:
                for row, what in witness.altered(raw, name):
                    return f"Row {row} of “{name}” {what}."
    except sqlite3.Error as error:
        raise opening.explained(error, path) from None
    return ""


def _write_label(path: Path, label: dict[str, str]) -> None:
    store = Store(path)
    try:
        with store.write() as db:
            upserts.put(db, META, {"key": LABEL, "value": json.dumps(label)})
    finally:
        store.close()


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
    """The backups of a project, newest first; needs nothing of the project itself."""
    found = [
        (path, at)
        for path in (list(folder.glob("*.goldsmith")) if folder.is_dir() else [])
        if (at := _moment(path, stem)) is not None
    ]
    newest_first = sorted(found, key=lambda pair: (pair[1], pair[0]), reverse=True)
    # Another process may thin them out meanwhile.
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
    """What a backup says of itself: why and when it was made. Empty for any other project file."""
    try:
        with closing(raw_connection(path, readonly=True)) as raw:
            row = raw.execute("SELECT value FROM meta WHERE key = ?", [LABEL]).fetchone()
        return dict(json.loads(row[0])) if row else {}
    except sqlite3.Error as error:
        raise opening.explained(error, path) from None
    except ValueError as error:
        raise opening.Damaged(f"“{path.name}” is damaged ({error}).", "Choose another backup.") from None


def prune(folder: Path, stem: str, now: datetime) -> list[Path]:
    """Delete the backups that are no longer needed; what cannot be recognised is left alone.

    One that a scanner or a syncing program holds is left to the next time.
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
    """Which backups to delete, oldest first.

    Kept: of the last day those half an hour apart, then the last of each day for a week, of each week for a month,
    of each month for a year; and always the newest. Times in the future (a clock set back) are kept.
    """
    ordered = sorted(set(times))
    kept = set(ordered[-1:]) | {at for at in ordered if at > now} | _spaced(ordered, now)
    lasts = {_period(at, now): at for at in ordered if DAY < now - at <= YEAR}
    return [at for at in ordered if at not in kept | set(lasts.values())]


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
