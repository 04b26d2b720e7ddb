"""What all tests share: examples, garbage collected in order, patience, the sample project, a server."""

import gc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from annotator.actions.project import Project
from annotator.gui.tidying import tidy

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.judging.odd_server import OddServer

PATIENCE_MS = 90_000

# A verdict hangs on the code alone: not on the examples drawn this time, nor on how fast the machine is.
# `pytest --hypothesis-profile=search` draws new examples, to look for what nobody thought of.
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("same"), derandomize=False, max_examples=2_000)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def collected_on_this_thread() -> Iterator[None]:
    """What a window of a test leaves dies between tests, and never on the thread of a server or an errand."""
    gc.disable()
    yield
    tidy()


@pytest.fixture
def qtbot(qtbot: "QtBot") -> "QtBot":
    """What must come is waited for as long as a busy machine may take."""
    for name in ("waitUntil", "waitSignal", "waitSignals", "waitExposed", "waitActive"):
        setattr(qtbot, name, partial(getattr(qtbot, name), timeout=PATIENCE_MS))
    return qtbot


@pytest.fixture(scope="session")
def sample_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample project; tests work on copies of it."""
    # Only tests of the sample need what makes it.
    from annotator.actions import samples

    path = tmp_path_factory.mktemp("sample") / "sample.goldsmith"
    samples.create(path).close()
    return path


@pytest.fixture
def sample(sample_file: Path, tmp_path: Path) -> Project:
    """A sample project of the test's own; whoever opens a window over it closes it."""
    path = tmp_path / "sample.goldsmith"
    path.write_bytes(sample_file.read_bytes())
    return Project.open(path)


@pytest.fixture
def server() -> "Iterator[OddServer]":
    """An endpoint on loopback that covers every criterion, while a test needs it."""
    # Only tests of judges need the packages that it stands on.
    from tests.served import serving

    with serving() as server:
        yield server
