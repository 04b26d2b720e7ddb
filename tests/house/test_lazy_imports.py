"""What is not loaded: Qt outside the window, and what the window needs only later at its first idle."""

import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import annotator
from annotator import protocols
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project

CORE = ("actions", "storage", "judging", "exchange", "protocols", "stats", "domain")
# Each costs tens to hundreds of milliseconds, or is not needed at run time at all.
ABSENT_AT_FIRST_IDLE = (
    "aiohttp",
    "alembic",
    "annotator.actions.assignments.assignments",
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
    "annotator.actions.imports.practice",
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
import json, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from annotator.gui.shell.start import Goldsmith, make_application

application = make_application()
shown = Goldsmith(application).show(Path(sys.argv[1]))

def at_idle():
    print(json.dumps({"shown": type(shown).__name__, "modules": sorted(sys.modules)}))
    shown.close()
    application.quit()

QTimer.singleShot(0, lambda: QTimer.singleShot(0, at_idle))
application.exec()
"""


# Run as a person starts it: which modules are loaded when the frame is painted first.
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
    """Every module of the rooms below the window."""
    names = [
        module.name
        for module in pkgutil.walk_packages(annotator.__path__, "annotator.")
        if module.name.split(".")[1] in CORE
    ]
    assert {name.split(".")[1] for name in names} == set(CORE)
    return names


def test_the_rooms_below_the_window_load_no_qt() -> None:
    loop = f"import importlib, sys\nfor name in {core_modules()!r}: importlib.import_module(name)\n"
    loaded = said(loop + "print(*sys.modules)").split()
    assert "annotator.actions.items.items" in loaded
    assert not [name for name in loaded if name.split(".")[0] in ("PySide6", "shiboken6")]


def test_the_window_at_its_first_idle_has_loaded_nothing_it_does_not_show(tmp_path: Path) -> None:
    from annotator.actions.items import items

    project = new_project(tmp_path / "small.goldsmith")
    items.add(project, "Which evidence would change the answer?")
    project.close()
    result = json.loads(said(OPEN_A_WINDOW, str(project.path), home=tmp_path))
    assert result["shown"] == "Window"
    assert "annotator.gui.pages.home" in result["modules"]
    assert PAPERS
    assert sorted({*ABSENT_AT_FIRST_IDLE, *PAPERS} & set(result["modules"])) == []


def test_the_frame_is_painted_before_anything_of_a_project_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = new_project(tmp_path / "small.goldsmith")
    project.close()
    monkeypatch.setenv("GOLDSMITH_STOPWATCH", "1")
    painted, idle, modules = said(START, str(project.path), home=tmp_path).splitlines()
    assert float(painted) < float(idle)
    loaded = set(modules.split())
    assert "annotator.gui.shell.frame" in loaded
    assert loaded.isdisjoint({"sqlmodel", "pydantic", "sqlalchemy", "annotator.domain", "annotator.actions"})


def test_the_sample_come_back_to_has_loaded_at_its_first_idle_only_the_page_it_was_left_on(
    whole_sample: Project, tmp_path: Path
) -> None:
    whole_sample.close()
    for _ in range(2):
        result = json.loads(said(OPEN_A_WINDOW, str(whole_sample.path), home=tmp_path))
        assert "annotator.gui.pages.home" in result["modules"]
    assert sorted(set(ABSENT_FROM_THE_SAMPLE) & set(result["modules"])) == []


def test_the_window_leaves_importing_as_python_has_it() -> None:
    words = "import builtins; plain = builtins.__import__; import annotator.gui.theme; "
    assert said(words + "print(builtins.__import__ is plain)").strip() == "True"


def test_loading_the_package_leaves_collecting_on() -> None:
    assert said("import gc, annotator.domain; print(gc.isenabled())").strip() == "True"


def test_what_was_loaded_before_keeps_no_garbage_for_good() -> None:
    words = "import gc, annotator.domain\nlater, before = [[n] for n in range(99)], gc.get_freeze_count()\n"
    again = "with annotator.loading(): import annotator.domain\nprint(gc.isenabled(), gc.get_freeze_count() - before)"
    assert said(words + again).split() == ["True", "0"]


def test_a_command_and_a_run_load_no_figures_cards_or_packages() -> None:
    judge = "['judge', 'run', 'absent.goldsmith', '--judge', 'baseline']"
    words = f"import sys\nfrom annotator.cli import run_command\nrun_command({judge})\nprint(*sys.modules)\n"
    loaded = said(words).split()
    assert "annotator.actions.orders.orders" in loaded
    absent = ("actions.validation", "actions.studies", "actions.papers", "actions.parcels", "stats.agreement")
    assert [name for name in loaded if name.startswith(tuple(f"annotator.{room}" for room in absent))] == []
    assert not {"annotator.stats.ranking.standings", "numpy", "matplotlib"} & set(loaded)


def test_a_table_in_csv_loads_no_pandas(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,question\n1,Why?\n", "utf-8")
    words = "import sys; from pathlib import Path; from annotator.exchange.formats import tables; "
    told = said(
        words + "print(tables.read([Path(sys.argv[1])])[0].counts(), *sys.modules)", str(tmp_path / "t.csv")
    )
    assert ("'items': 1" in told, {"pandas", "openpyxl", "numpy"} & set(told.split())) == (True, set())


def test_a_command_loads_no_other_commands_module() -> None:
    words = "import sys\nfrom annotator.cli import run_command, saying\nrun_command(['results', 'absent'])\n"
    places, loaded = said(words + "print(*saying.APPS.values())\nprint(*sys.modules)").splitlines()
    modules = {f"annotator.cli.{place.rpartition('.')[0]}" for place in places.split()}
    assert modules & set(loaded.split()) == {"annotator.cli.results"}


def test_the_help_of_all_commands_loads_neither_actions_nor_tables() -> None:
    words = (
        "import sys\nfrom annotator.cli import run_command\nrun_command(['--help'])\nprint(*sys.modules)\n"
    )
    loaded = said(words).splitlines()[-1].split()
    assert "annotator.cli.project" in loaded
    rooms = ("annotator.actions", "annotator.exchange", "annotator.judging", "annotator.storage")
    assert [name for name in loaded if name.startswith(rooms)] == []
