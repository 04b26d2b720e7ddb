"""Projects that many tests make in the same way: made once a session, and copied from then on."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Concatenate, ParamSpec

import pytest

from annotator.actions.project.file import Project
from annotator.storage import opening

P = ParamSpec("P")

_running: list[pytest.FixtureRequest] = []
_given: set[object] = set()
_kept: dict[object, tuple[TemporaryDirectory[str], str]] = {}


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
        key = (make, args, *sorted(kwargs.items()))
        if not _running or key in _given or _patched(_running[0]):
            return make(folder, *args, **kwargs)
        if key not in _kept:
            _kept[key] = _made(lambda within: make(within, *args, **kwargs))
        _given.add(key)
        kept, name = _kept[key]
        shutil.copytree(kept.name, folder, dirs_exist_ok=True)
        return opened(folder / name)

    return copied


def opened(copy: Path) -> Project:
    """A copy of what the program left, whose contents need no check."""
    opening.remember(copy, opening.file_at(copy))
    return Project.open(copy)


def _made(make: Callable[[Path], Project]) -> tuple[TemporaryDirectory[str], str]:
    kept, running = TemporaryDirectory(prefix="template-", ignore_cleanup_errors=True), _running[:]
    # What it is made of is its own.
    _running.clear()
    try:
        project = make(Path(kept.name))
    finally:
        _running.extend(running)
    if project.person is not None:
        project.work_as(project.person)
    project.close()
    return kept, project.path.relative_to(kept.name).as_posix()


def _patched(request: pytest.FixtureRequest) -> bool:
    """Whether the test has changed anything below the window, on which the making of a project could rest."""
    patch = request.node.funcargs.get("monkeypatch")
    if patch is None:
        return False
    touched = [target for target, *_ in (*patch._setattr, *patch._setitem)]
    return any(not getattr(target, "__module__", "").startswith("annotator.gui") for target in touched)
