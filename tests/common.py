"""What tests of every room share: projects made once, refusals, what a system allows, a model that answers by list."""

import os
import shutil
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import pytest
from filelock import FileLock
from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.domain.common import Refusal, canonical_json, sha256
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer
from annotator.domain.kinds.artifact import Anchor
from annotator.judging.messages import load, render
from annotator.storage import opening
from annotator.storage.tables import metadata

P = ParamSpec("P")
COVERAGE = "researcherbench.coverage"

_running: list[pytest.FixtureRequest] = []
_given: set[object] = set()


@contextmanager
def copying(request: pytest.FixtureRequest) -> Iterator[None]:
    """While a test runs, which was given nothing yet; what fixtures share, or another process makes, is made anew."""
    _running.append(request)
    yield
    _running.clear()
    _given.clear()


def once(make: Callable[Concatenate[Path, P], Project]) -> Callable[Concatenate[Path, P], Project]:
    """The same project for every test that patched nothing; its second one is made anew, with ids of its own."""

    @wraps(make)
    def copied(folder: Path, *args: P.args, **kwargs: P.kwargs) -> Project:
        key = f"{make.__module__}.{make.__qualname__} {args} {sorted(kwargs.items())}"
        # What is named by its place in memory has no name that holds for long.
        if not _running or key in _given or " at 0x" in key or _patched(_running[0]):
            return make(folder, *args, **kwargs)
        _given.add(key)
        project = shared(key, lambda within: _left(make(within, *args, **kwargs)))
        shutil.copytree(project.parent, folder, dirs_exist_ok=True)
        return opened(folder / project.name)

    return copied


def fixture_of(make: Callable[Concatenate[Path, P], Project], *args: P.args, **kwargs: P.kwargs) -> Any:
    """A fixture of the name that it is given: what `make` makes of this in the folder of a test."""

    @pytest.fixture
    def project(tmp_path: Path) -> Project:
        return make(tmp_path, *args, **kwargs)

    return project


def opened(copy: Path) -> Project:
    """A copy of what the program left, whose contents need no check."""
    opening.remember(copy, opening.file_at(copy))
    return Project.open(copy)


def shared(name: str, make: Callable[[Path], Path]) -> Path:
    """The file that `make` put into a folder; by each name it is made once, by the first worker that asks for it."""
    place = Path(os.environ["GOLDSMITH_TESTS"]) / sha256(name)
    done = place.with_suffix(".done")
    with FileLock(place.with_suffix(".lock")):
        if not done.exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            # What it is made of is its own.
            running = _running[:]
            _running.clear()
            try:
                done.write_text(make(place).name, "utf-8")
            finally:
                _running.extend(running)
    return place / done.read_text("utf-8")


def _left(project: Project) -> Path:
    if project.person is not None:
        project.work_as(project.person)
    project.close()
    return project.path


def _patched(request: pytest.FixtureRequest) -> bool:
    """Whether the test has changed anything below the window, on which the making of a project could rest."""
    patch = request.node.funcargs.get("monkeypatch")
    if patch is None:
        return False
    touched = [target for target, *_ in (*patch._setattr, *patch._setitem)]
    return any(not getattr(target, "__module__", "").startswith("annotator.gui") for target in touched)


def _can_link() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            (Path(folder) / "link").symlink_to(folder, target_is_directory=True)
        except OSError:
            return False
    return True


def failing(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@contextmanager
def within_memory(most: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


posix = pytest.mark.skipif(os.name != "posix", reason="paths, signals, open files and rights as on POSIX")
links = pytest.mark.skipif(not _can_link(), reason="this account may make no symbolic links")


def expect_refusal(words: str, act: Callable[P, object], /, *args: P.args, **kwargs: P.kwargs) -> Refusal:
    """The refusal of an act, in which these words (a regular expression) stand; any refusal, where there are none."""
    with pytest.raises(Refusal, match=words or None) as refused:
        act(*args, **kwargs)
    return refused.value


def stands_in(anchor: Anchor, text: str) -> bool:
    """Whether the quotation is found where the anchor says in that very text."""
    return sha256(text) == anchor.text_sha256 and text[anchor.start : anchor.end] == anchor.quote


# By table, the columns that say what was made. Moments of receipt, orders of arrival and caches are left out.
MADE: dict[str, tuple[str, ...]] = {
    "person": ("id", "alias", "roles", "active"),
    "item": ("id", "sha256", "retired"),
    "source": ("id", "sha256"),
    "source_file": ("source_id", "sha256"),
    "system": ("id", "name"),
    "response": ("id", "sha256"),
    "artifact": ("id", "item_id", "kind", "author_id", "state", "revision"),
    "revision": ("artifact_id", "number", "sha256", "chain", "sealed", "guideline", "form", "reason"),
    "judgement": ("id", "sha256"),
    "assignment": ("item_id", "person_id", "stage", "trial", "purpose", "submitted_at"),
    "agreement": ("id", "sha256"),
    "adjudication": ("id", "adjudicator_id", "seed", "letters", "state", "version"),
    "ruling": ("id", "sha256"),
    "consensus_version": ("id", "sha256"),
    "dispute": ("item_id", "person_id", "stage", "text", "state", "answer"),
    "guideline": ("stage", "version", "text"),
    "tray": ("id", "reason", "sha256", "state"),
    "time_spent": ("person_id", "subject", "seconds"),
    "extract": ("item_id", "response_id", "kind", "origin", "state", "sha256"),
    "page": ("url", "state", "sha256"),
}


def content_hash(project: Project) -> str:
    """The SHA-256 of the project's content: equal for two projects in which the same was made."""
    with project.store.read() as db:
        tree = {}
        for name, columns in MADE.items():
            table = metadata.tables[name]
            rows = db.execute(select(*(table.c[column] for column in columns)))
            tree[name] = sorted(
                sha256(
                    canonical_json(
                        [value.isoformat() if hasattr(value, "isoformat") else value for value in row]
                    )
                )
                for row in rows
            )
    return sha256(canonical_json(tree))


class ScriptedAsk:
    """Gives each answer in turn: a dict is a reply that came, an Answer stands for itself."""

    def __init__(self, *answers, flags=()):
        self.answers = list(answers)
        self.flags = flags
        self.asked = []

    async def __call__(self, prompt, fields, reply, fenced=()):
        messages = render(load(prompt), fields, fenced, "f00d")
        self.asked.append(
            (prompt, dict(fields), tuple(fenced), messages[0]["content"] + messages[1]["content"])
        )
        answer = self.answers.pop(0)
        if isinstance(answer, Answer):
            return answer
        return Answer(Status.OK, reply.model_validate(answer), flags=self.flags)
