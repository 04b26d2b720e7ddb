"""What Goldsmith promises about the scripts behind its figures: each runs."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks import bundle
from benchmarks.measuring import NO_FIGURES, parser, verdict
from tests.common import links
from tests.house import reading
from tests.windows import children

FOLDER = reading.HERE / "benchmarks"
SCRIPTS = [path.stem for path in sorted(FOLDER.glob("*.py")) if "\ndef main(" in path.read_text("utf-8")]
SLOW = {"judging"}
# What they measure is read from a module that Windows has not.
RESOURCE = {"bulk_import", "export_memory", "lists"}
# What docs/performance.md takes from each script; # is a number, and a script without a line here prints one at least.
FIGURES = {
    "agreement": (
        "κ of 1,000 pairs",
        "# times as fast with its interval (goal ≥ 25)",
        "# times as fast (goal ≥ 200)",
    ),
    "bulk_import": (
        "# rows of labels: # s, at most # MB",
        "insert path # s, session.add_all # s",
        "ratio # (goal: at least 8)",
    ),
    "coverage": ("# figures, the least coverage #",),
    "bundle": ("bundle 2.0 MB", "0.50 times an unfiltered build", "# times the environment's start"),
    "export_memory": ("goldsmith: # MB",),
    "filtering": ("a keystroke: page # ms", "# times as fast"),
    "judging": (
        "judgements a second: ours #, openai in a thread pool #",
        "# times openai in a thread pool",
        "concurrency ÷ delay: ours #, openai in a thread pool #",
        "longest stall is # ms",
    ),
    "leaving": ("leaving a changed field: # ms of the window's thread",),
    "lists": ("# times the time", "# MB more"),
    "pages": ("longest: zoom step # ms, dark or light # ms", "longest stall of all first visits: # ms"),
    "report_view": ("second time on # ms", "markdown-it + setHtml # ms, ratio #", "5 ms timer: # ms"),
    "saving": (
        "set a label: median # ms",
        "set a label, a judge writing: median # ms, 99th percentile # ms",
        "the judge wrote # judgements a second",
        "change a criterion, median alone: 1/# of it",
        "set a label, median alone: 1/# of it",
    ),
    "start": (
        "ours # ms",
        "# times the bare window for SQLModel",
        "first paint: # times the bare PySide6 window (goal ≤ 2)",
        "ours: # times the bare PySide6 window (goal ≤ 5)",
    ),
    "transcripts": (
        "import # ms, webvtt-py alone # ms, ratio #",
        "first content # ms, 60 kB report # ms, ratio #",
        "correcting # ms",
    ),
    "validate_pages": (
        "Cards, cold: content # s (# s), whole # s, longest stall # ms",
        "at most # s until content, longest stall # ms",
    ),
    "validation": (
        "each item left out in turn",
        "in # ms (goal < 500 ms)",
        "# times as fast (goal ≥ 20)",
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in SCRIPTS]
)
def test_every_benchmark_runs(name: str) -> None:
    if name in RESOURCE:
        pytest.importorskip("resource")
    words = children.started("--quick", module=f"benchmarks.{name}")
    alike = os.environ | {"PYTHONUTF8": "1"}
    done = subprocess.run(
        words, cwd=reading.HERE, env=alike, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr or done.stdout
    for figure in FIGURES.get(name, ("#",)):
        assert re.search(re.escape(figure).replace(r"\#", r"\d[\d.,]*"), done.stdout), (
            f"“{figure}” is missing in\n{done.stdout}"
        )
    # A run too small to measure anything reaches and misses no goal.
    assert done.stdout.splitlines()[-1] == NO_FIGURES
    assert not re.search(r"(?i)\b(reached|missed)\b", done.stdout)


def test_the_figures_of_the_manual_come_from_scripts_that_are_run() -> None:
    table = (reading.HERE / "docs/performance.md").read_text("utf-8")
    named = set(re.findall(r"\| `(\w+)` \|$", table, re.MULTILINE))
    assert set(FIGURES) <= named <= set(SCRIPTS)


def test_a_quick_run_takes_every_size_small_unless_one_is_given() -> None:
    known = parser("Doc.", items=(500, 2), sizes=((10, 20), (1,)), rounds=(7, 1))
    whole, quick = known.parse_args([]), known.parse_args(["--quick", "--rounds", "3"])
    assert vars(whole) == {"items": 500, "sizes": (10, 20), "rounds": 7, "quick": False}
    assert vars(quick) == {"items": 2, "sizes": (1,), "rounds": 3, "quick": True}


@pytest.mark.parametrize(("met", "code"), [(True, 0), (None, 0), (False, 1)])
def test_a_goal_that_is_missed_ends_a_whole_run_with_1(
    met: bool | None, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdict(parser("Doc.").parse_args([]), {"goal 1": True, "goal 2": met}) == code
    word = {True: "reached", None: "not measured", False: "MISSED"}[met]
    assert capsys.readouterr().out == f"goal 1 reached; goal 2 {word}\n"


@links
def test_a_bundle_weighs_what_its_files_do_and_a_link_nothing(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "library").write_bytes(bytes(3_000))
    (tmp_path / "program").write_bytes(bytes(500))
    (tmp_path / "link").symlink_to(tmp_path / "inner" / "library")
    assert bundle.size(tmp_path) == 3_500
