"""Checks before a file is opened: a file that cannot be worked on is refused and stays unharmed."""

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Date,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    String,
    TypeDecorator,
)
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from annotator import files, places
from annotator.domain.common import Refusal, sha256
from annotator.storage.connection import APPLICATION_ID, begin, engine_over, raw_connection, uri
from annotator.storage.tables import metadata

SCHEMA = 13
UNHARMED = "The file was not changed."
RESTORE = "Restore it from a backup, or choose another file."
PATIENCE = 3.0
# The hash of every table, index, view and trigger of a project of this schema, as computed by `objects_of`.
OBJECTS = "8a533801c3d72020c3c9f05040e7a20dc0e0a5b587a2cf4b1555c59045471b46"
# The maximum length of a value in characters: if its column declares none, and if it does. An import allows far less.
LONGEST, LONGEST_NAMED = 20_000_000, 2_000
# Checking a larger file whole would keep the window waiting; it is checked when the program is idle.
CHECKED_AT_ONCE = 64 * 1024 * 1024
# The number of files that this machine remembers as checked; a forgotten one is checked again.
MOST_MARKS = 500


class Damaged(Refusal):
    """The file is a broken project; restoring a backup is the remedy."""


class Newer(Refusal):
    """The file was written by a later version."""


class Unwritable(Refusal):
    """The file or its disk cannot be written now, but can be read."""


class Busy(Refusal):
    """Another program holds the file; trying again later helps."""


def recognise(path: Path, *, thorough: bool = True) -> int:
    """The schema number of the project at `path`.

    Raises Refusal for a missing or foreign file, Damaged, Newer, or Busy. Never writes a byte, except to roll back a
    change cut short by a crash. `thorough` also checks the pages, unless the file is very large.
    """
    while True:
        looked_at = _look_at(path)
        try:
            return _recognised(path, thorough=thorough)
        except FileNotFoundError:
            continue
        except Damaged:
            # Another process may have replaced the file meanwhile, so that parts of two files were read.
            if _look_at(path) == looked_at:
                raise


def _recognised(path: Path, *, thorough: bool) -> int:
    try:
        with closing(sqlite3.connect(uri(path, "rw"), uri=True, isolation_level=None)) as connection:
            begin(connection, "BEGIN", PATIENCE)
            schema = _read_marks(connection, path)
            check_objects(connection, path, schema)
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (page,) = connection.execute("PRAGMA page_size").fetchone()
            if (missing := pages * page - path.stat().st_size) > 0:
                raise Damaged(
                    f"“{path.name}” is damaged: {missing} bytes are missing at its end. {UNHARMED}", RESTORE
                )
            if thorough and path.stat().st_size <= CHECKED_AT_ONCE:
                (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise Damaged(f"“{path.name}” is damaged: {verdict}. {UNHARMED}", RESTORE)
            return schema
    except UnicodeDecodeError as error:
        # The driver could not even decode SQLite's message, which quotes the broken part.
        raise Damaged(f"“{path.name}” is damaged ({error.reason}). {UNHARMED}", RESTORE) from None
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR:
            # These statements are always valid, so only the file can be wrong.
            raise Damaged(f"“{path.name}” is damaged ({error}). {UNHARMED}", RESTORE) from None
        raise explained(error, path) from None


def may_be_written(path: Path) -> bool:
    """Whether the file and its folder, which holds the journal, can be written."""
    return os.access(path, os.W_OK) and files.writable(path.parent)


def why_not_written(path: Path) -> Refusal | None:
    """The reason to open a file read-only; None if it can be written."""
    if not may_be_written(path):
        return only_to_read(path)
    files.forget_second_names(path, files.parts_of(path))
    other = files.other_name(path)
    if other is None:
        return None
    called = f", “{other}”" if other else ""
    return Refusal(
        # Each name would have a journal of its own, and a migration replaces one name only.
        f"“{path.name}” has a second name on this disk{called} (a hard link), so it is read-only.",
        "Keep one of the two names, or save a copy to change it.",
    )


def only_to_read(path: Path) -> Refusal:
    """The refusal of a change to a file that was opened read-only."""
    return Refusal(f"“{path.name}” is read-only.", "Save a copy elsewhere to change it.")


def _look_at(path: Path) -> tuple[int, int]:
    """The device and number of the file at a path; Refusal if there is none that can be opened."""
    try:
        result = path.stat()
    except FileNotFoundError:
        raise Refusal(
            f"There is no file “{path.name}” in {path.absolute().parent}.",
            "Check the name or choose another.",
        ) from None
    except (OSError, ValueError) as error:
        raise Refusal(
            f"“{path.name}” cannot be reached: {error}.", "Check the name or choose another."
        ) from None
    if path.is_dir():
        raise Refusal(
            f"“{path.name}” is a folder, not a project file.", "Choose a file ending in .goldsmith."
        )
    if result.st_size == 0:
        raise Damaged(f"“{path.name}” is empty (0 bytes). {UNHARMED}", RESTORE)
    if not os.access(path, os.R_OK):
        raise Refusal(
            f"“{path.name}” cannot be read with your permissions. {UNHARMED}", "Ask its owner for access."
        )
    return result.st_dev, result.st_ino


def _read_marks(connection: sqlite3.Connection, path: Path) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables == 0 and application in (0, APPLICATION_ID):
        raise Damaged(f"“{path.name}” contains only a header. {UNHARMED}", RESTORE)
    if application != APPLICATION_ID:
        raise Refusal(
            f"“{path.name}” is another program's database. {UNHARMED}",
            "Choose a file ending in .goldsmith.",
        )
    if schema > SCHEMA:
        raise Newer(
            f"“{path.name}” was written by a newer Goldsmith (format {schema}, this one knows {SCHEMA}). "
            "Your data has not been modified.",
            "Install the newer version to open it.",
        )
    if schema < 1:
        raise Damaged(f"“{path.name}” is damaged: its format number is {schema}. {UNHARMED}", RESTORE)
    return int(schema)


def objects_of(connection: sqlite3.Connection) -> str:
    """The hash of all definitions in the file, ignoring SQLite's own, quotes, and the order of a table's parts."""
    question = (
        "SELECT type || ' ' || name || ',' || sql FROM sqlite_master WHERE sql IS NOT NULL "
        "AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'item_words_*'"
    )
    return _hash_of_definitions(tuple(words for (words,) in connection.execute(question)))


@lru_cache(maxsize=2)
def _hash_of_definitions(definitions: tuple[str, ...]) -> str:
    defined = (re.sub(r"[\s\"'`]", "", words).split(",") for words in definitions)
    # A migration writes the constraints of a table in any order.
    return sha256("\n".join(sorted(",".join(sorted(parts)) for parts in defined)))


def check_objects(connection: sqlite3.Connection, path: Path, schema: int) -> None:
    """Refuse foreign triggers, views and indexes: they run with every change and may undo what was saved."""
    planted = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name"
    ).fetchone()
    if planted:
        raise unchanged(path, f"it has the {planted[0]} “{planted[1][:80]}”, which is not the program's")
    if schema == SCHEMA and objects_of(connection) != OBJECTS:
        columns = (
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        )
        for table, column in sorted(_columns() - set(connection.execute(columns))):
            raise Damaged(f"“{path.name}” is damaged: it lacks “{column}” of “{table}”. {UNHARMED}", RESTORE)
        raise unchanged(path, "its tables or indexes are not those of the program")


def unchanged(path: Path, problem: str) -> Damaged:
    """The refusal of a file whose content the program did not write."""
    return Damaged(
        f"“{path.name}” was changed outside the program or is damaged: {problem}. {UNHARMED}",
        f"{RESTORE} If it came from someone else, ask for it again.",
    )


def misfits(raw: sqlite3.Connection) -> Iterator[tuple[str, int, str, str]]:
    """Table, row number, field and problem of each value that violates its column's declaration."""
    for name, table in metadata.tables.items():
        # The hashes of rows are only compared, and have no row numbers.
        if name == "witness" or raw.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() is None:  # noqa: S608
            continue
        fits = {column.name: _fits(column) for column in table.columns}
        question = f'SELECT rowid, {", ".join(fits.values())} FROM "{name}" WHERE NOT ({" AND ".join(fits.values())})'  # noqa: S608
        for row, *fit in raw.execute(question):
            field = next(column for column, fitting in zip(fits, fit, strict=True) if not fitting)
            yield name, row, field, "a value of the wrong type, form or length"
        texts = [name for name, fit in fits.items() if "'text'" in fit]
        yield from _undecodable(raw, name, texts)


def _undecodable(raw: sqlite3.Connection, name: str, texts: list[str]) -> Iterator[tuple[str, int, str, str]]:
    columns = ", ".join(f'"{text}"' for text in texts)
    question = f'SELECT rowid, {columns} FROM "{name}"'  # noqa: S608
    # Almost always all of it can be read, which is quickly seen.
    with suppress(sqlite3.OperationalError):
        deque(raw.execute(question), maxlen=0)
        return
    factory, raw.text_factory = raw.text_factory, bytes
    try:
        for row, *values in raw.execute(question):
            for text, value in zip(texts, values, strict=True):
                try:
                    value is None or value.decode()
                except UnicodeDecodeError:
                    yield name, row, text, "characters that cannot be read"
    finally:
        raw.text_factory = factory


def _fits(column: Column[object]) -> str:
    """The SQL condition that a stored value fits its column's declaration; 1 or 0, never NULL."""
    name = f'"{column.name}"'
    text = f"typeof({name}) = 'text'"
    # Adding no days makes SQLite normalise the 30th of February. It also rounds .9995 s up, so the fraction stays
    # out.
    second = f"substr({name}, 1, 19)"
    moment = f"coalesce(datetime({second}, '+0 days') = {second} AND datetime({name}) IS NOT NULL, 0)"
    moment += f" AND length({name}) <= 26"
    # SQLModel declares texts by a decorator around the type in the file.
    of = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    most = getattr(of, "length", None)
    longest = max(10 * most, LONGEST_NAMED) if most else LONGEST
    conditions = {
        Boolean: f"typeof({name}) = 'integer' AND {name} IN (0, 1)",
        Integer: f"typeof({name}) = 'integer'",
        Float: f"typeof({name}) IN ('real', 'integer') AND abs({name}) < 1e300",
        DateTime: f"{text} AND {name} GLOB '????-??-?? ??:??:??*' AND {moment} AND {name} >= '0001'",
        Date: f"{text} AND coalesce(date({name}, '+0 days') = {name}, 0) AND {name} >= '0001'",
        LargeBinary: f"typeof({name}) = 'blob'",
        JSON: f"{text} AND json_valid({name})",
        String: f"{text} AND length({name}) <= {longest} AND instr({name}, char(0)) = 0",
    }
    fits = next(condition for kind, condition in conditions.items() if isinstance(of, kind))
    return f"({name} IS NULL OR {fits})" if column.nullable else f"({fits})"


def is_known(path: Path) -> bool:
    """Whether the program on this machine left the file exactly as it is now, so that its contents need no check."""
    with suppress(OSError, ValueError):
        return _mark_of(path).read_text("utf-8") == _fingerprint(path)
    return False


def remember(path: Path, file: str) -> None:
    """Record that the contents of the file as it is now are the program's own, if it is still that `file`."""
    with suppress(OSError):
        mark, fingerprint = _mark_of(path), _fingerprint(path)
        # Another program may have replaced the file.
        if fingerprint.startswith(file):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.write_text(fingerprint, "utf-8")
            marks = sorted(os.scandir(mark.parent), key=lambda entry: entry.stat().st_mtime_ns)
            for oldest in marks[:-MOST_MARKS]:
                Path(oldest).unlink(missing_ok=True)


def file_at(path: Path) -> str:
    """The device and number of the file at a path as text; Refusal if it was moved away meanwhile."""
    device, number = _look_at(path)
    return f"{device} {number} "


def _mark_of(path: Path) -> Path:
    return places.user_data() / "checked" / sha256(str(path))[:32]


def _fingerprint(path: Path) -> str:
    status = path.stat()
    return f"{status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns}"


@cache
def _columns() -> frozenset[tuple[str, str]]:
    return frozenset(
        (table.name, column.name) for table in metadata.tables.values() for column in table.columns
    )


def closed(path: Path) -> Refusal:
    """The refusal of a call to a project that has been closed."""
    return Refusal(f"“{path.name}” is closed.", "Nothing was lost; open it again.")


_IN_USE = (Busy, "“{name}” is in use by another program.", "Nothing was lost; try again in a moment.")
_READ_ONLY = (Refusal, "“{name}” is read-only.", "Save a copy elsewhere to change it.")
_FAILED, _CHECK = "The disk failed while working on “{name}” ({text}).", "Check the disk, then try again."
# SQLite's error codes, the extended ones where they say more.
_CAUSES: dict[int, tuple[type[Refusal], str, str]] = {
    sqlite3.SQLITE_READONLY_DBMOVED: (
        Refusal,
        "“{name}” was moved, renamed or deleted while it was open; the change was not saved.",
        "Save a copy elsewhere and go on there.",
    ),
    sqlite3.SQLITE_READONLY_ROLLBACK: (
        Refusal,
        "“{name}” was left in the middle of a change by a crash, and is read-only here.",
        "Copy it together with the file ending in “-journal” to a folder you may write to, and open it there.",
    ),
    sqlite3.SQLITE_IOERR_WRITE: (Unwritable, _FAILED, _CHECK),
    sqlite3.SQLITE_IOERR: (Refusal, _FAILED, _CHECK),
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_FULL: (
        Unwritable, "The disk is full; the change was not saved.", "Free some space and do it again.",
    ),
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_AUTH: _READ_ONLY,
    sqlite3.SQLITE_NOTADB: (
        Damaged, f"“{{name}}” is not a Goldsmith project, or is damaged. {UNHARMED}", RESTORE,
    ),
    sqlite3.SQLITE_CORRUPT: (Damaged, f"“{{name}}” is damaged ({{text}}). {UNHARMED}", RESTORE),
    sqlite3.SQLITE_CANTOPEN: (
        Refusal, "“{name}” could not be opened.", "Check that its folder exists and may be written.",
    ),
}  # fmt: skip


def explained(error: sqlite3.Error, path: Path) -> Refusal:
    """The refusal that explains a failure of the file or the disk to a person.

    Raises the error itself if it is neither: then the statement was wrong, which is a bug.
    """
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        raise error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    known = _CAUSES.get(code) or _CAUSES.get(code & 0xFF)
    if known is None:
        raise error
    kind, happened, todo = known
    return kind(happened.format(name=path.name, text=error), todo)


class UnreadableProject(Exception):
    """A project file that cannot be read, at least in part."""

    def __init__(self, path: Path, error: sqlite3.Error) -> None:
        super().__init__(f"{path.name}: {error}")
        self._path, self._error = path, error

    def refusal(self) -> Refusal:
        """The refusal shown to a person; raises the driver's error if the query itself was wrong."""
        return explained(self._error, self._path)


@contextmanager
def glance(path: Path) -> Iterator[Connection]:
    """Yield a connection to a project that may be closed, damaged or no project at all; UnreadableProject if that
    fails.
    """
    try:
        with closing(raw_connection(path, readonly=True)) as raw, engine_over(raw).connect() as db:
            yield db.execution_options(isolation_level="AUTOCOMMIT")
    except sqlite3.Error as error:
        raise UnreadableProject(path, error) from error
    except DBAPIError as error:
        if not isinstance(error.orig, sqlite3.Error):
            raise
        raise UnreadableProject(path, error.orig) from error


# Kinds of file system, as Linux names them, whose locks or syncs cannot be relied on.
NETWORK = (
    r"nfs\d?|cifs|smb\d?|smbfs|afs|afpfs|webdav|ncpfs|davfs|9p|lustre|beegfs|ocfs2|gfs2|(fuse\.)?(ceph|glusterfs)|"
    r"fuse\.(davfs2|sshfs|rclone|s3fs|gvfsd-fuse)"
)
# A line of macOS' `mount`: "//u@server/share on /Volumes/share (smbfs, nodev, nosuid)".
ON_MACOS = r".+? on (?P<place>/.*) \((?P<kind>\w+)(, [^()]*)?\)"
SYNCED = (
    ("OneDrive", r"onedrive( ?-.*)?"),
    ("Dropbox", r"dropbox( \(.*\)| ?-.*)?"),
    ("iCloud", r"icloud ?drive|icloud~.*|com~apple~clouddocs|mobile documents"),
    ("Google Drive", r"google ?drive( ?-.*)?|drivefs|my drive|googledrive-.*"),
    ("a cloud service", r"cloudstorage|nextcloud|owncloud|pcloud(drive)?|mega(sync)?|box sync"),
)
# Folders that mail programs and systems may clear at any time.
PASSING = (
    r"te?mp|temporary internet files|inetcache|content\.outlook|caches|\.cache|temporaryitems|mail downloads"
)
REMEDY = "Keep the project on this computer's own disk; backups can be stored anywhere."


def warning_about(path: Path, mounts: str | None = None) -> str:
    """Why a live project should not lie at `path`, in one or two sentences; empty if there is no reason.

    `mounts` replaces the text of /proc/mounts, or the output of `mount` on macOS.
    """
    plain = str(path)
    if plain.startswith(("\\\\", "//")):
        return f"“{path.name}” lies on a network share. {REMEDY}"
    whole = path.expanduser().absolute()
    for service, name in SYNCED:
        if any(re.fullmatch(name, part.lower()) for part in re.split(r"[\\/]", str(whole.parent))) or (
            service == "iCloud" and _is_in_icloud(whole)
        ):
            return f"“{path.name}” lies in a folder that {service} copies while it is being written. {REMEDY}"
    if _is_remote_drive(whole) or re.fullmatch(NETWORK, _mounted_as(whole.resolve(), mounts)):
        return f"“{path.name}” lies on a network disk, where locks cannot be relied on. {REMEDY}"
    return ""


def is_passing(folder: Path) -> bool:
    """Whether files put into a folder may be cleared away, or cannot be put there at all."""
    whole = folder.expanduser().resolve()
    if whole.is_relative_to(Path(tempfile.gettempdir()).resolve()) or not files.writable(whole):
        return True
    return any(re.fullmatch(PASSING, part.lower()) for part in whole.parts)


def _is_in_icloud(path: Path) -> bool:
    """Whether the file is in a desktop or documents folder that macOS stores in iCloud under its usual name."""
    cloud = Path.home() / "Library/Mobile Documents/com~apple~CloudDocs"
    return any(
        files.same(Path.home() / name, cloud / name)
        and path.resolve().is_relative_to((cloud / name).resolve())
        for name in ("Desktop", "Documents")
    )


def _mounted_as(path: Path, mounts: str | None) -> str:
    result, kind, path = -1, "", _composed(path)
    for place, its_kind in _mounted(_mounts() if mounts is None else mounts):
        depth = len(place.parts)
        # The last mount at a place hides the earlier ones.
        if depth >= result and path.is_relative_to(_composed(place)):
            result, kind = depth, its_kind
    return kind


def _mounts() -> str:
    if sys.platform == "darwin":
        with suppress(OSError, subprocess.SubprocessError):
            listing = subprocess.run(["/sbin/mount"], capture_output=True, check=False, timeout=5)
            return listing.stdout.decode("utf-8", "replace")
        return ""
    table = Path("/proc/mounts")
    return table.read_text("utf-8", "replace") if table.exists() else ""


def _mounted(mounts: str) -> Iterator[tuple[Path, str]]:
    """Each mount point with its kind of file system, in the order of mounting."""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if match := re.fullmatch(ON_MACOS, line):
            yield Path(match["place"]), match["kind"]
        elif len(fields) > 2:
            yield Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[1])), fields[2]


def _composed(path: Path) -> Path:
    """The path with its accented letters composed (NFC): macOS returns names in either form."""
    return Path(unicodedata.normalize("NFC", str(path)))


def _is_remote_drive(path: Path) -> bool:
    if sys.platform == "win32":
        import ctypes

        remote = 4
        return bool(ctypes.windll.kernel32.GetDriveTypeW(f"{path.drive}\\") == remote)
    return False
