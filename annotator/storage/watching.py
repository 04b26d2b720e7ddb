"""Detection of writes to a project by other connections."""

import sqlite3
from pathlib import Path

from annotator.storage.connection import raw_connection

_VERSION = "PRAGMA data_version"


class ChangeWatch:
    """A check, through one connection, whether a project was written since."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    @classmethod
    def over(cls, path: Path) -> "ChangeWatch":
        """A watch with a connection of its own, which sees what every other one writes; close it."""
        return cls(raw_connection(path, readonly=True))

    def by_others(self) -> object:
        """What is the same until others write; where that cannot be read something that equals nothing else."""
        try:
            return self._raw.execute(_VERSION).fetchone()
        except sqlite3.Error:
            return object()

    def token(self) -> tuple[object, ...]:
        """What is the same until anyone writes, and is like that of no other watch."""
        seen = self.by_others()
        try:
            return self, seen, self._raw.total_changes
        except sqlite3.Error:
            return self, object(), 0

    def close(self) -> None:
        """Give the connection back."""
        self._raw.close()
