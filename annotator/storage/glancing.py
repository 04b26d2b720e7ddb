"""Reading a project without opening it: no lasting lock, no byte written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from annotator.domain.texts.refusal import Refusal
from annotator.storage import opening
from annotator.storage.connection import engine_over, raw_connection


class UnreadableProject(Exception):
    """A project file that cannot be read, at least in part."""

    def __init__(self, path: Path, error: sqlite3.Error) -> None:
        super().__init__(f"{path.name}: {error}")
        self._path, self._error = path, error

    def refusal(self) -> Refusal:
        """What it means for a person; raises the driver's error where the question itself was wrong."""
        return opening.explained(self._error, self._path)


@contextmanager
def glance(path: Path) -> Iterator[Connection]:
    """Ask a project that may be closed, damaged or not a project at all; Unreadable where that fails."""
    try:
        with closing(raw_connection(path, readonly=True)) as raw, engine_over(raw).connect() as db:
            yield db.execution_options(isolation_level="AUTOCOMMIT")
    except sqlite3.Error as error:
        raise UnreadableProject(path, error) from error
    except DBAPIError as error:
        if not isinstance(error.orig, sqlite3.Error):
            raise
        raise UnreadableProject(path, error.orig) from error
