"""A project's tables as they are: asked by SQL, or changed behind the program's back."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from annotator.actions.project.file import Project
from annotator.storage import integrity
from annotator.storage.connection import raw_connection


def rows(project: Project, question: str, values: Iterable[object] = ()) -> list[Any]:
    with project.store.read() as db:
        return [tuple(row) for row in db.exec_driver_sql(question, tuple(values))]


def first(project: Project, question: str, values: Iterable[object] = ()) -> Any:
    """The first row that a question finds, or None."""
    return next(iter(rows(project, question, values)), None)


def alter(project: Project, statement: str, values: Iterable[object] = ()) -> int:
    """Change rows as no verb does: nobody is told, and what witnesses them does not see it; how many there were."""
    return connection(project).execute(statement, tuple(values)).rowcount


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


@contextmanager
def unharmed(path: Path) -> Iterator[None]:
    """Whatever is tried meanwhile leaves the file as it was, and no other project or part of one beside it."""
    before, beside = digest(path), project_files(path.parent)
    yield
    assert (digest(path), project_files(path.parent)) == (before, beside)


def project_files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix in (".goldsmith", ".migrating", ".part")}


@contextmanager
def traced(project: Project) -> Iterator[list[str]]:
    said: list[str] = []
    connection(project).set_trace_callback(said.append)
    yield said
    connection(project).set_trace_callback(None)


def connection(project: Project) -> sqlite3.Connection:
    return project.store._raw


def noticed(path: Path) -> list[tuple[str, str]]:
    """The rows that the hashes kept of them notice, by table and what became of each."""
    with closing(raw_connection(path, readonly=True)) as raw:
        return [(name, what) for name in integrity.present(raw) for _, what in integrity.altered(raw, name)]


def beside(path: Path, *statements: str) -> None:
    """Change a file by a connection of another program's, whoever has it open."""
    with closing(sqlite3.connect(path)) as raw:
        for statement in statements:
            raw.execute(statement)
        raw.commit()
