"""The lock on a project: one window at a time, and the next one learns who holds it."""

import errno
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from annotator import files
from annotator.domain.texts.refusal import Refusal
from annotator.storage.opening import Busy, Unwritable

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


@contextmanager
def alone(path: Path, doing: str, busy: Refusal, seconds: float = 0.0) -> Iterator[None]:
    """Do what only one process at a time may do to a project; `busy` is raised when another one still does it.

    A process that dies leaves the lock free.
    """
    lock = FileLock(path.with_name(f"{path.name}.{doing}.lock"))
    _acquire(lock, path, busy, seconds)
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock, path: Path, busy: Refusal, seconds: float = 0.0) -> None:
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        raise busy from None
    except OSError as error:
        raise Unwritable(
            f"“{path.name}” could not be locked for changes: {error.strerror or error}.",
            f"Make sure that “{Path(lock.lock_file).name}” beside it is writable, then open it again.",
        ) from None


class ProjectHold:
    """A project held by this process until `release`; the system frees it when the process dies."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def take(cls, path: Path) -> "ProjectHold":
        """Hold the project at `path`; Busy names the holder when another process has it."""
        path = files.real(path)
        lock = FileLock(path.with_name(f"{path.name}.lock"), thread_local=False)
        busy = Busy(
            f"“{path.name}” is open in another Goldsmith{_words(holder(path))}.",
            "Close it there, or open it here for reading only.",
        )
        _acquire(lock, path, busy)
        try:
            _say_who(path)
        except Unwritable:
            lock.release()
            raise
        return cls(path, lock)

    def release(self) -> None:
        """Let others hold it; saying it twice does nothing."""
        if self._lock.is_locked:
            with suppress(OSError):
                _sidecar(self.path).unlink(missing_ok=True)
            self._lock.release()


def _say_who(path: Path) -> None:
    who = {"host": socket.gethostname(), "pid": os.getpid(), "since": datetime.now(UTC).isoformat()}
    try:
        _sidecar(path).write_text(json.dumps(who), "utf-8")
    except OSError as error:
        # Whatever else keeps it from being written, the lock holds without it.
        if error.errno in FULL:
            raise Unwritable(
                f"The disk is full ({error.strerror}), so “{path.name}” is read-only.",
                "Free some space and open it again.",
            ) from None


def holder(path: Path) -> dict[str, str | int]:
    """Who holds the project: host, pid and since when; empty where nobody says so."""
    try:
        found = json.loads(_sidecar(path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _words(found: dict[str, str | int]) -> str:
    if not found:
        return ""
    since = str(found.get("since", ""))[:16].replace("T", " ")
    return f" (computer {found.get('host')}, process {found.get('pid')}, since {since} UTC)"


def _sidecar(path: Path) -> Path:
    # Windows lets nobody read a locked file, so who holds it is said beside it.
    return path.with_name(f"{path.name}.holder.json")
