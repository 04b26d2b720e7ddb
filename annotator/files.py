"""Atomic file writing: to a temporary name first, synced, then renamed."""

import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from annotator.domain.common import Refusal

T = TypeVar("T")
WINDOWS = os.name == "nt"
RETRIED_SECONDS = 5.0
UNFINISHED = ".part"
# Files left by a killed process are deleted once nobody can be writing them any more.
ABANDONED = timedelta(hours=1)
# This many letters of a name leave room for the rest in the 255 bytes that a disk allows.
NAMED = 50


@contextmanager
def whole(place: Path, *, new: bool = False) -> Iterator[Path]:
    """Yield a temporary name in the same folder; at the end the file written there takes its place, or is deleted on
    failure.

    A link stays one: its target is replaced. With `new` FileExistsError if the place is taken.
    """
    place = real(place)
    sweep(place.parent, parts_of(place))
    part = place.with_name(f".{place.name[:NAMED]}.{uuid.uuid4().hex[:8]}{UNFINISHED}")
    try:
        yield part
        if not new:
            with suppress(OSError):
                shutil.copymode(place, part)
        put_in_place(part, place, new=new)
    finally:
        # A name the disk cannot hold cannot be removed either.
        with suppress(OSError, ValueError):
            remove(part)


def save(place: Path, content: bytes, *, private: bool = False) -> Path:
    """Write a file atomically, replacing an existing one; Refusal, and nothing left, if that fails.

    A private one is readable and writable by its owner only (mode 600), even if it was not before.
    """
    try:
        if place.is_dir():
            raise Refusal(
                f"“{place.name}” is a folder.", "Choose another name; what is there was not changed."
            )
        if private and place.exists():
            place.chmod(0o600)
        with whole(place) as part:
            if private:
                part.touch(0o600)
            part.write_bytes(content)
    except OSError as error:
        raise Refusal(
            f"“{place.name}” could not be written: {error.strerror or error}.",
            f"{advice(error)}; what was there before is unchanged.",
        ) from error
    return place


def advice(error: OSError) -> str:
    """A hint for a failed write, without the full stop."""
    if isinstance(error, PermissionError):
        return "Close it where it is open, in a spreadsheet for example, or choose a folder you may write to"
    return "Free some space or choose another folder"


def put_in_place(finished: Path, place: Path, *, new: bool = False) -> None:
    """Sync a finished file and move it onto `place`; with `new` FileExistsError if that is taken."""
    sync(finished)
    move(finished, place, new=new)
    sync_folder(place.parent)


def move(here: Path, there: Path, *, new: bool = False) -> None:
    """Rename a file or folder, with `new` only to a free name.

    Retried, since a virus scanner or a syncing program may hold it for a moment.
    """
    act = _move_to_free if new else os.replace
    patiently(lambda: act(here, there))


def patiently(act: Callable[[], T], seconds: float | None = None) -> T:
    """Call `act`, and retry for some seconds while it raises PermissionError because another program holds a file."""
    give_up = time.monotonic() + (RETRIED_SECONDS if seconds is None else seconds)
    while True:
        try:
            return act()
        except PermissionError:
            if time.monotonic() >= give_up:
                raise
            time.sleep(0.05)


def _move_to_free(finished: Path, place: Path) -> None:
    if WINDOWS:
        os.rename(finished, place)
        return
    try:
        os.link(finished, place)
    except FileExistsError:
        raise
    except OSError:
        # Not every disk supports hard links.
        if place.exists():
            raise FileExistsError(f"“{place.name}” already exists") from None
        os.replace(finished, place)
    else:
        finished.unlink(missing_ok=True)


def real(path: Path) -> Path:
    """The path with every link resolved; it need not exist."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        # A name that no disk can hold is refused on opening.
        return path


def same(path: Path, other: Path) -> bool:
    """Whether two paths refer to one file on the disk."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False


def forget_second_names(path: Path, *patterns: str) -> None:
    """Delete the further names of a file in its folder that only a killed process can have left."""
    if path.stat().st_nlink > 1:
        for name in (name for pattern in patterns for name in path.parent.glob(pattern)):
            if same(name, path):
                # One that is held stays, and is named when the project is opened read-only.
                with suppress(OSError):
                    name.unlink(missing_ok=True)


def other_name(path: Path) -> str | None:
    """Another name of a file, empty if it is in another folder; None if the file has only one name."""
    if path.stat().st_nlink <= 1:
        return None
    others = (each for each in path.parent.iterdir() if each.name != path.name and same(each, path))
    return next((each.name for each in others if not each.is_symlink()), "")


def parts_of(place: Path) -> str:
    """The pattern of the temporary names of a file."""
    import glob

    return f".{glob.escape(place.name[:NAMED])}.????????{UNFINISHED}"


def sweep(folder: Path, pattern: str) -> None:
    """Delete unfinished files of killed processes whose names match."""
    oldest = datetime.now(UTC) - ABANDONED
    for part in folder.glob(pattern):
        with suppress(OSError):
            if datetime.fromtimestamp(part.stat().st_mtime, UTC) < oldest:
                remove(part)


def writable(folder: Path) -> bool:
    """Whether files can be created in a folder; Windows says so of every folder, so there one is created to test it."""
    if not os.access(folder, os.W_OK) or not WINDOWS:
        return os.access(folder, os.W_OK)
    probe = folder / f".{uuid.uuid4().hex[:8]}{UNFINISHED}"
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError:
        return False
    return True


def sync(path: Path) -> None:
    """Flush a file to the disk. Never call it on a live project: closing it would drop its locks."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush a folder's names to the disk, if the system allows it."""
    if os.name == "posix":
        # Some network folders cannot be synced; the file is whole either way.
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def remove(path: Path) -> None:
    """Delete an unfinished database, and its journal."""
    path.unlink(missing_ok=True)
    journal(path).unlink(missing_ok=True)


def journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def free_name(path: Path) -> Path:
    """The path itself, or the first free one of `name-2`, `name-3` …."""
    place, number = path, 2
    while place.exists():
        place, number = path.with_name(f"{path.stem}-{number}{path.suffix}"), number + 1
    return place


def with_ending(path: Path, *endings: str) -> Path:
    """The path with the first of the endings unless it has one of them; another dot in its name is no ending."""
    return path if path.suffix.lower() in endings else path.with_name(path.name + endings[0])


def stamp(at: datetime) -> str:
    """A moment in the form used in file names: UTC, YYYYMMDD-HHMMSS."""
    return at.astimezone(UTC).strftime("%Y%m%d-%H%M%S")
