"""What is imported where: nothing too early, and nothing against the contracts of the rooms."""

import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import annotator
from annotator import protocols
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from tests.house.reading import HERE

CORE = ("cli", "actions", "storage", "judging", "exchange", "protocols", "stats", "domain")
# Each costs tens to hundreds of milliseconds, or is not needed at run time at all.
ABSENT_AT_FIRST_IDLE = (
    "aiohttp",
    "alembic",
    "annotator.actions.assignments.assignments",
    "annotator.actions.items.items",
    "httpx",
    "keyring",
    "markdown_it",
    "matplotlib",
    "numpy",
    "openai",
    "pandas",
    "pypdfium2",
    "rich",
    "scipy",
    "sklearn",
    "statsmodels",
    "typer",
    "webvtt",
)
# In the sample they only tick off what was tried, render what was rendered before, read a PDF where none is in view,
# or look over the contents of a file that this machine has opened before.
ABSENT_FROM_THE_SAMPLE = (
    "annotator.actions.labelling.labels",
    "annotator.actions.imports.samples",
    "annotator.actions.material.lookups",
    "annotator.actions.runs.run_records",
    "annotator.actions.project.document_checks",
    "annotator.domain.experts.adjudication",
    "annotator.domain.judges.validation",
    "annotator.domain.material.extract",
    "markdown_it",
    "pypdfium2",
)
# No page that a window opens on looks into a table of protocols.
PAPERS = {f"annotator.protocols.{one.name}" for one in pkgutil.iter_modules(protocols.__path__) if one.ispkg}
OPEN_A_WINDOW = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from annotator.gui.shell.start import Goldsmith, make_application

application = make_application()
shown = Goldsmith(application).show(Path(sys.argv[1]))

def at_idle():
    print(*sys.modules)
    shown.close()
    application.quit()

QTimer.singleShot(0, lambda: QTimer.singleShot(0, at_idle))
application.exec()
"""


# Run as a person starts it, until its first idle: which modules are loaded when the frame is painted first, and then.
START = """
import sys
from annotator.gui.shell.frame import Frame

painted = []
paint = Frame.paintEvent
Frame.paintEvent = lambda *given: (painted.append(set(sys.modules)), paint(*given))
sys.argv[0] = "goldsmith"
from annotator.__main__ import main
assert main() == 0
print(*painted[0])
print(*sys.modules)
"""


def said(words: str, *arguments: str, home: Path | None = None) -> str:
    places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA") if home}
    result = subprocess.run(
        [sys.executable, "-c", words, *arguments],
        env=os.environ | places,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def core_modules() -> list[str]:
    names = [
        module.name
        for module in pkgutil.walk_packages(annotator.__path__, "annotator.")
        if module.name.split(".")[1] in CORE
    ]
    assert {name.split(".")[1] for name in names} == set(CORE)
    return names


# Every module below the window, with another protocol as the usual one; then each default that stayed as it was.
LOAD_BELOW = """
import importlib, inspect, sys
from dataclasses import is_dataclass
from annotator import protocols

protocols.USUAL = "adra.plan"
loaded = [importlib.import_module(name) for name in {!r}]
print(*sys.modules)
for module in loaded:
    for name, one in vars(module).items():
        dataclassed = inspect.isclass(one) and is_dataclass(one)
        if (dataclassed or inspect.isfunction(one)) and one.__module__ == module.__name__:
            for default in inspect.signature(one).parameters.values():
                if default.default in ("researcherbench.coverage", "coverage"):
                    print(module.__name__, name, default.name)
"""


def test_the_rooms_below_the_window_load_no_qt_and_say_the_usual_protocol_once() -> None:
    modules, *defaults = said(LOAD_BELOW.format(core_modules())).splitlines()
    loaded = modules.split()
    assert "annotator.actions.items.items" in loaded
    assert not [name for name in loaded if name.split(".")[0] in ("PySide6", "shiboken6")]
    asking = [one for one in defaults if one.startswith(("annotator.actions.", "annotator.cli."))]
    assert asking == [], "let it default to `protocols.USUAL` or `metrics.USUAL_METRIC`"


def test_a_frame_is_painted_before_a_project_is_loaded_and_the_window_loads_nothing_it_does_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotator.actions.items import items

    project = new_project(tmp_path / "small.goldsmith")
    items.add(project, "Which evidence would change the answer?")
    project.close()
    monkeypatch.setenv("GOLDSMITH_STOPWATCH", "1")
    painted, idle, first, last = said(START, str(project.path), home=tmp_path).splitlines()
    assert float(painted) < float(idle)
    loaded = set(first.split())
    assert "annotator.gui.shell.frame" in loaded
    assert loaded.isdisjoint({"sqlmodel", "pydantic", "sqlalchemy", "annotator.domain", "annotator.actions"})
    assert "annotator.gui.pages.home" in last.split()
    assert PAPERS
    assert sorted({*ABSENT_AT_FIRST_IDLE, *PAPERS} & set(last.split())) == []


def test_the_sample_come_back_to_has_loaded_at_its_first_idle_only_the_page_it_was_left_on(
    whole_sample: Project, tmp_path: Path
) -> None:
    whole_sample.close()
    for _ in range(2):
        loaded = set(said(OPEN_A_WINDOW, str(whole_sample.path), home=tmp_path).split())
        assert "annotator.gui.pages.home" in loaded
    assert sorted(set(ABSENT_FROM_THE_SAMPLE) & loaded) == []


LOAD_AND_LOOK = """
import builtins, gc
plain = builtins.__import__
import annotator.gui.theme
print(builtins.__import__ is plain)
import annotator.domain
print(gc.isenabled())
later, before = [[n] for n in range(99)], gc.get_freeze_count()
with annotator.loading():
    import annotator.domain
print(gc.isenabled(), gc.get_freeze_count() - before)
"""


def test_loading_leaves_importing_and_collecting_as_python_has_them() -> None:
    """And what was loaded before keeps no garbage for good."""
    assert said(LOAD_AND_LOOK).splitlines() == ["True", "True", "True 0"]


COMMAND = "run_command({})"
# What is done one after the other in one process; what it loads then, and what neither it nor any before it has loaded.
STEPS = (
    (COMMAND.format(["--help"]), "annotator.cli.project",
     ("annotator.actions", "annotator.exchange", "annotator.judging", "annotator.storage")),
    # The room that asks.
    ("from annotator.judging.calls import (asking, client, keys, limits, noting, outcome, prices, probe, reply_parts)\n"
     "from annotator.judging.batches import batching\n"
     "from annotator.judging import attacks, messages, runner", "annotator.judging.calls.client",
     ("openai", "aiohttp", "genai_prices", "httpx2", "keyring", "PySide6", "sqlalchemy.dialects.sqlite",
      "annotator.storage")),
    (COMMAND.format(["judge", "run", "absent.goldsmith", "--judge", "baseline"]), "annotator.actions.orders.orders",
     ("annotator.actions.validation", "annotator.actions.studies", "annotator.actions.papers",
      "annotator.actions.parcels", "annotator.actions.research", "annotator.exchange.eprints",
      "annotator.exchange.formats", "annotator.exchange.release", "annotator.stats.agreement",
      "annotator.stats.ranking.standings", "filelock", "matplotlib", "numpy", "pylatexenc", "yarl")),
    ("from annotator.actions.items import pages", "annotator.actions.items.pages",
     ("aiohttp", "yarl", "nh3", "pypdfium2", "openai", "PySide6", "truststore")),
    # Reports come first of all material.
    ("from annotator.gui.pages.material import page, reports_view", "annotator.gui.pages.material.page",
     ("annotator.actions.research", "annotator.exchange.release", "annotator.gui.pages.material.parts_view",
      "numpy", "pylatexenc")),
    ("from annotator.exchange.formats import tables\n"
     "assert tables.read([Path('t.csv')])[0].counts()['items'] == 1", "annotator.exchange.formats.tables",
     ("pandas", "openpyxl", "numpy")),
)  # fmt: skip


def test_nothing_is_loaded_that_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("id,question\n1,Why?\n", "utf-8")
    steps = [f"{words}\nprint('loaded:', *sys.modules)" for words, _, _ in STEPS]
    told = said(
        "\n".join(("import sys", "from pathlib import Path", "from annotator.cli import run_command", *steps))
    )
    after = [line.split()[1:] for line in told.splitlines() if line.startswith("loaded: ")]
    for modules, (_, loaded, absent) in zip(after, STEPS, strict=True):
        assert loaded in modules
        assert [
            name for name in modules if any(name == one or name.startswith(f"{one}.") for one in absent)
        ] == []


@pytest.mark.skipif(sys.platform != "linux", reason="only there it starts compilers")
def test_a_keyring_is_found_without_compilers() -> None:
    words = (
        "import os, sys\nos.environ.pop('PYTHON_KEYRING_BACKEND')\n"
        "from annotator.judging.calls.keys import Keys\nKeys({})._keyring().get_keyring()\nprint(*sys.modules)"
    )
    modules = said(words).splitlines()[-1].split()
    assert "keyring.backends.macOS" in modules
    assert "ctypes.util" not in modules


def test_a_command_loads_no_other_commands_module() -> None:
    words = "import sys\nfrom annotator.cli import run_command, saying\nrun_command(['results', 'absent'])\n"
    places, loaded = said(words + "print(*saying.APPS.values())\nprint(*sys.modules)").splitlines()
    modules = {f"annotator.cli.{place.rpartition('.')[0]}" for place in places.split()}
    assert modules & set(loaded.split()) == {"annotator.cli.results"}


CONTRACTS_HERE = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((CONTRACTS_HERE / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
    "contracts"
]

# Contract, the module that breaks it, and what that module says.
VIOLATIONS = (
    ("rooms", "domain/planted.py", "from annotator.storage import store"),
    ("rooms", "storage/planted.py", "from annotator.exchange import texts"),
    ("rooms", "actions/planted.py", "def later():\n    from annotator.gui import theme"),
    ("rooms", "newroom/__init__.py", ""),
    ("window", "gui/planted.py", "from annotator.storage import store"),
    ("window", "gui/planted.py", "from annotator.protocols import PROTOCOLS"),
    ("window", "gui/planted.py", "import sqlmodel"),
    ("qt", "actions/planted.py", "from PySide6.QtCore import QObject"),
    ("qt", "stats/planted.py", "def later():\n    import PySide6.QtGui"),
    ("qt", "selftest.py", "from PySide6.QtWidgets import QApplication"),
    ("openai", "gui/planted.py", "def later():\n    import openai"),
    ("openai", "selftest.py", "from openai import AsyncOpenAI"),
    ("sessions", "judging/planted.py", "from sqlalchemy.orm import Session"),
    ("sessions", "domain/planted.py", "import sqlalchemy"),
    ("sqlite", "actions/planted.py", "import sqlite3"),
    ("sqlite", "selftest.py", "def later():\n    import sqlite3"),
    ("actions", "actions/items/planted.py", "from annotator.actions.releases import releases"),
    ("actions", "actions/newsubject/__init__.py", ""),
    ("gui", "gui/widgets/planted.py", "def later():\n    from annotator.gui.session import page"),
    ("gui", "gui/newroom/__init__.py", ""),
    (
        "circles",
        "actions/project/document_checks.py",
        "def later():\n    from annotator.actions.project import backups",
    ),
    ("papers", "protocols/planted.py", "from annotator.protocols import researcherbench"),
    ("papers", "protocols/lexical.py", "from annotator.protocols import researcherbench"),
)


def lint(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Hold the package that lies in a folder against the contracts written there."""
    linter = "import sys; from importlinter.cli import lint_imports_command as run; sys.exit(run())"
    return subprocess.run(
        [sys.executable, "-c", linter, "--no-cache", *words],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "COLUMNS": "200"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_rooms_keep_to_every_contract() -> None:
    result = lint(CONTRACTS_HERE)
    assert result.returncode == 0, result.stdout
    assert f"{len(CONTRACTS)} kept, 0 broken" in result.stdout


def test_each_planted_violation_breaks_its_contract(tmp_path: Path) -> None:
    """All of them are planted into one copy, beside what stands there."""
    apart = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CONTRACTS_HERE / "annotator", tmp_path / "annotator", ignore=apart)
    shutil.copy(CONTRACTS_HERE / "pyproject.toml", tmp_path)
    for _, place, words in VIOLATIONS:
        planted = tmp_path / "annotator" / place
        planted.parent.mkdir(exist_ok=True)
        with planted.open("a", encoding="utf-8") as file:
            file.write(f"\n{words}\n")
    said = lint(tmp_path).stdout
    broken = {one["id"]: said.partition(f"\n{one['name']}\n---")[2] for one in CONTRACTS}
    for (name, place), times in Counter((name, place) for name, place, _ in VIOLATIONS).items():
        *folders, stem = place.removesuffix(".py").removesuffix("/__init__").split("/")
        module = f".{stem} -> " if name == "circles" else ".".join(("- annotator", *folders, stem))
        assert re.sub(" +", " ", broken[name].partition("\n---")[0]).count(module) >= times, (
            f"{name}: {place}\n{said}"
        )


def test_every_contract_has_a_violation_that_is_tried() -> None:
    assert {contract["id"] for contract in CONTRACTS} == {contract for contract, *_ in VIOLATIONS}
