"""A project's tables as they are: asked by SQL, changed behind the program's back, or by a process of their own."""

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from annotator.actions.project.file import Project
from annotator.domain.common import Refusal
from annotator.files import journal
from annotator.storage import integrity
from annotator.storage.connection import raw_connection
from tests.crashes.killing import begun_apart


def rows(project: Project, question: str, values: Iterable[object] = ()) -> list[Any]:
    with project.store.read() as db:
        return [tuple(row) for row in db.exec_driver_sql(question, tuple(values))]


def first(project: Project, question: str, values: Iterable[object] = ()) -> Any:
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


NOBODY = 65534


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder that anybody may look into; pytest's own are for their owner alone."""
    with tempfile.TemporaryDirectory(prefix="goldsmith-tests-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def refusal_of(act: Callable[[], object]) -> str:
    """What an act says where it refuses, and nothing where it does not."""
    try:
        act()
    except Refusal as refusal:
        return str(refusal)
    return ""


def as_nobody(act: Callable[[], str]) -> str:
    """What `act` returns when somebody does it for whom mode bits count; its modules must be imported already."""

    def become_nobody() -> None:
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    return _apart(become_nobody, act)


def with_files_no_larger_than(size: int, act: Callable[[], str]) -> str:
    """What `act` returns when no file may grow beyond `size` bytes."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return _apart(limit, act)


def _apart(prepare: Callable[[], None], act: Callable[[], str]) -> str:
    def prepared() -> str:
        prepare()
        return act()

    return begun_apart(prepared)()


def crashed(project: Path, to: Path) -> Path:
    """A copy of a closed project as a killed writer would leave it: half written, with its journal beside it."""
    before = project.read_bytes()
    raw = sqlite3.connect(project, isolation_level=None)
    # A tiny cache makes SQLite write pages of the change before it is committed.
    raw.execute("PRAGMA cache_size=1")
    raw.execute("BEGIN")
    for table in ("revision", "audit", "response", "item"):
        raw.execute(f"UPDATE {table} SET sha256 = hex(randomblob(20000))")
    to.write_bytes(project.read_bytes())
    journal(to).write_bytes(journal(project).read_bytes())
    raw.execute("ROLLBACK")
    raw.close()
    assert to.read_bytes()[: len(before)] != before
    return to
