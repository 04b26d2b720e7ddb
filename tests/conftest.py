"""What all tests share: examples, garbage collected in order, patience, templates, the sample project, a server."""

import gc
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from PySide6.QtCore import QSettings
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication

from annotator.actions.project.file import Project
from annotator.domain.texts import estimate
from annotator.gui import keys
from annotator.gui.session import run
from annotator.gui.shell.frame import Frame
from annotator.gui.shell.start import Goldsmith, tidy
from annotator.gui.shell.window import Window
from annotator.judging.calls.keys import GRANTS
from annotator.places import user_config
from annotator.storage import backup
from tests import common
from tests.servers import forking
from tests.windows import children
from tests.windows.using import shut

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.judging.odd_server import OddServer

PATIENCE_MS, LOOK_MS = 90_000, 2
# What takes longest, the longest first: every worker begins with its share, and none is alone with one at the end.
LONGEST = (
    "house/test_tools.py::test_a_tool_has_nothing_to_say[mypy]", "house/test_planted",
    "house/test_docs.py::test_every_command", "gui/shell/test_fits.py",
    "test_selftest.py::test_every_part", "promises/test_departures", "stories/test_whole_projects",
    "gui/session/test_keys", "promises/test_benchmarks", "gui/judges/", "stories/", "promises/test_files",
    "gui/validation/", "stats/intervals/test_intervals", "promises/",
    "gui/shell/", "cli/",
)  # fmt: skip
# Where tests open many windows, start processes, run whole journeys or draw hundreds of cases.
SLOW = (
    "actions/attacks/test_attacking", "actions/judging/test_card_checks",
    "gui/adjudication/test_adjudicate_", "gui/authoring/test_author_typing", "gui/judges/",
    "gui/labelling/", "gui/material/", "gui/pages/test_inbox_page", "gui/results/", "gui/shell/test_fits",
    "gui/shell/test_starting", "gui/shell/test_theme", "gui/shell/test_window",
    "gui/validation/", "house/test_lazy_imports", "house/test_planted",
    "judging/batches/", "promises/test_assisted", "promises/test_benchmarks",
    "promises/test_figures", "promises/test_files", "promises/test_packages", "promises/test_secrets_and_cost",
    "promises/test_validation", "stories/", "cli/",
)  # fmt: skip

# Settings lie in a file of the tests' own, and not in Windows' registry or where macOS keeps a person's.
QSettings.setDefaultFormat(QSettings.Format.IniFormat)
QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, os.environ["XDG_CONFIG_HOME"])
# Keys are pressed and read as they are shipped; `gui/session/test_keys` tells what becomes of them on macOS.
keys.MAC, keys.written = False, lambda key: QKeySequence(key).toString()

# Those who wait so long as the program does have clocks of their own.
forking.hurry()

# A verdict hangs on the code alone: not on the examples drawn this time, nor on how fast the machine is.
# `pytest --hypothesis-profile=search` draws new examples, to look for what nobody thought of.
settings.register_profile(
    "same", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("same"), derandomize=False, max_examples=2_000)
settings.load_profile("same")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Where nothing is compiled yet, each worker compiles a part of the tests, and reads what the others compiled."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    here = Path(__file__).parent
    number = int(worker["workerid"].removeprefix("gw"))
    for path in sorted(here.rglob("test_*.py"))[number :: worker["workercount"]]:
        # What is wrong with a file, or why it is skipped, is told where it is collected.
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(path.relative_to(here.parent).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what is slow as a whole, and put what takes longest at the head of each worker's share."""
    here = Path(__file__).parent
    longest: dict[tuple[int, str], list[pytest.Item]] = {}
    others: list[pytest.Item] = []
    for item in items:
        place = item.nodeid.removeprefix("tests/") if item.path.is_relative_to(here) else ""
        if place.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        rank = next((rank for rank, name in enumerate(LONGEST) if place.startswith(name)), None)
        if rank is None:
            others.append(item)
        else:
            # Of a folder the tests of a file stay together, as they may share what is made for them.
            together = item.path.name if LONGEST[rank].endswith("/") else item.nodeid
            longest.setdefault((rank, together), []).append(item)
    # Work is stolen between shares of one size (`--dist worksteal`), which follow one another in the list.
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    units = sorted(longest, key=lambda unit: unit[0])
    total = len(items)
    items[:] = []
    for worker in range(workers):
        head = [item for unit in units[worker::workers] for item in longest[unit]]
        share = max(0, (total - len(items)) // (workers - worker) - len(head))
        items += [*head, *others[:share]]
        others = others[share:]
    items += others


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    """As `frame.Application` begins: its style is Fusion on every system."""
    return ["goldsmith", "-style", "fusion"]


@pytest.fixture(autouse=True)
def each_for_itself(request: pytest.FixtureRequest) -> Iterator[None]:
    """No key is allowed and no shared folder chosen yet; projects that tests make alike are copies, one of each a test.

    Projects that a test opened are closed after it, when no window works in them any more. What a window of a test
    leaves dies between tests, and never on the thread of a server or an errand.
    """
    (user_config() / GRANTS).unlink(missing_ok=True)
    rmtree(user_config() / "shared", ignore_errors=True)
    gc.disable()
    with common.copying(request), opened_projects() as opened:
        yield
    for window in QApplication.topLevelWidgets():
        if isinstance(window, Window | Frame):
            shut(window)
    for project in opened:
        project.close()
    tidy()


@contextmanager
def opened_projects() -> Iterator[list[Project]]:
    """Every project that is opened meanwhile; not by `monkeypatch`: copies are for tests that patch nothing."""
    opened: list[Project] = []
    make = Project.__init__

    def noted(self: Project, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        opened.append(self)

    Project.__init__ = noted  # type: ignore[method-assign]
    yield opened
    Project.__init__ = make  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def template_of_a_new_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The migrations that make a new project run once; every later one is a copy of what they made."""
    upgrade, newest = backup._upgrade, (0, backup.SCHEMA)
    made = tmp_path_factory.mktemp("template") / "new.goldsmith"
    with backup.created(made):
        pass

    def copy_or_upgrade(raw: sqlite3.Connection, *steps: object) -> None:
        if steps != newest:
            upgrade(raw, *steps)
            return
        with closing(sqlite3.connect(made)) as template:
            template.backup(raw)

    backup._upgrade = copy_or_upgrade
    # What is loaded by now stays, so that collecting after a window passes it over.
    gc.freeze()
    yield
    backup._upgrade = upgrade


@pytest.fixture(scope="session", autouse=True)
def children_are_forked() -> Iterator[None]:
    """Children of windows have nothing to load; where the system has no forks, they are started as in the program."""
    with children.forked() as command, pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "command", command)
        yield


@pytest.fixture
def real_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "command", children.COMMAND)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def qtbot(qtbot: "QtBot") -> "QtBot":
    """What must come is looked for often, and waited for as long as a busy machine may take."""
    for name in ("waitSignal", "waitSignals", "waitExposed", "waitActive"):
        setattr(qtbot, name, partial(getattr(qtbot, name), timeout=PATIENCE_MS))
    qtbot.waitUntil = partial(until, qtbot)
    return qtbot


def until(qtbot: "QtBot", true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not true():
        assert time.monotonic() < deadline
        qtbot.wait(LOOK_MS)


def created(folder: Path, to_work_in: bool) -> Path:
    # Only tests of the sample need what makes it.
    from annotator.actions.imports import samples

    samples.create(path := folder / "sample.goldsmith", to_work_in=to_work_in).close()
    return path


@pytest.fixture(scope="session")
def sample_file() -> Path:
    """The shipped part of the sample project, the same on every day; tests work on copies of it."""
    return common.shared("sample", partial(created, to_work_in=False))


@pytest.fixture
def sample(sample_file: Path, tmp_path: Path) -> Project:
    """A sample project of the test's own; whoever opens a window over it closes it."""
    return common.opened(shutil.copyfile(sample_file, tmp_path / "sample.goldsmith"))


@pytest.fixture(scope="session")
def whole_sample_file() -> Path:
    """The sample as the program makes it today, with what is to be worked in."""
    return common.shared("whole sample", partial(created, to_work_in=True))


@pytest.fixture
def whole_sample(whole_sample_file: Path, tmp_path: Path) -> Project:
    """The sample to be worked in; whoever opens a window over it closes it."""
    return common.opened(shutil.copyfile(whole_sample_file, tmp_path / "whole.goldsmith"))


@pytest.fixture
def server() -> "Iterator[OddServer]":
    """An endpoint on loopback that covers every criterion, while a test needs it."""
    # Only tests of judges need the packages that it stands on.
    from tests.servers.served import serving

    with serving() as server:
        yield server


@pytest.fixture
def small_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of two or three items, which nobody is shown, so that their arithmetic can be done by hand."""
    monkeypatch.setattr(estimate, "FEWEST", 2)


@pytest.fixture
def goldsmith(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Goldsmith]:
    """The running program; folders of tests count as folders that last."""
    monkeypatch.setattr("annotator.actions.parcels.tasking.is_passing", lambda folder: False)
    running = Goldsmith(qapp)
    yield running
    running.packages.wait()
    running.close()
