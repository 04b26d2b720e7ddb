"""Projects that many tests make in the same way: made once for all workers, and copied from then on."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import pytest
from filelock import FileLock

from annotator.actions.project.file import Project
from annotator.storage import opening

P = ParamSpec("P")

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
    place = Path(os.environ["GOLDSMITH_TESTS"]) / sha256(name.encode()).hexdigest()
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
