"""How fast the window starts: first paint, and first idle with a project open, beside a bare PySide6 window.

    python -m benchmarks.start [--inspect PATH] [--quick]

Goal 1: the frame is painted within 2 times the bare window's first idle, and the window with SQLModel loaded comes to
its own within 5 times; and within 0.35 times `inspect --help`, when the path of an installed `inspect` command is
given. Every start is a process of its own, the sides take turns, and the time runs from before the process is made to
the moment its event loop first has nothing left to do. A bare window that loads SQLModel first, and does nothing with
it, is printed as the floor.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from annotator.actions.imports import samples
from benchmarks.measuring import parser, verdict

# Both sides print the clock of the whole machine; ours does so when this variable is set, see `gui/shell/frame.py`.
STOPWATCH = "GOLDSMITH_STOPWATCH"
BARE = """
import time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
application = QApplication([])
window = QMainWindow()
window.resize(1280, 800)
window.show()
QTimer.singleShot(0, lambda: (print(time.monotonic(), flush=True), window.close()))
application.exec()
"""
OURS = "import sys; from annotator.__main__ import main; sys.exit(main())"


def to_idle(*command: str, line: int = -1) -> float:
    """Seconds from before a process is made to its window's first idle, or to the moment that another line tells."""
    started = time.monotonic()
    said = subprocess.run(command, capture_output=True, check=True).stdout
    return float(said.splitlines()[line]) - started


def to_end(*command: str) -> float:
    started = time.monotonic()
    subprocess.run(command, capture_output=True, check=True)
    return time.monotonic() - started


def sides(project: Path, inspect: Path | None) -> dict[str, Callable[[], float]]:
    python = (sys.executable, "-c")
    result = {
        "bare": lambda: to_idle(*python, BARE),
        "bare with SQLModel": lambda: to_idle(*python, f"import sqlmodel\n{BARE}"),
        "first paint": lambda: to_idle(*python, OURS, str(project), line=0),
        "ours": lambda: to_idle(*python, OURS, str(project)),
    }
    if inspect:
        result["inspect"] = lambda: to_end(str(inspect), "--help")
    return result


def medians(timed: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The middle of each side's times; the first of several rounds only warms the disk's cache."""
    times: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds):
        for name, call in timed.items():
            times[name].append(call())
    return {name: statistics.median(result[1:] or result) for name, result in times.items()}


def main() -> int:
    """Both comparisons; exit code 1 when a goal is missed."""
    known = parser(__doc__, rounds=(16, 1))
    known.add_argument("--inspect", type=Path, help="the `inspect` command of an environment with inspect-ai")
    options = known.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # As on a person's machine: modules are compiled once, not at every start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {STOPWATCH: "1", "HOME": folder, "XDG_CONFIG_HOME": folder, "APPDATA": folder}
        project = Path(folder) / "sample.goldsmith"
        samples.create(project, to_work_in=not options.quick).close()
        result = medians(sides(project, options.inspect), options.rounds)
    print(*(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in result.items()), sep=", ")
    print(f"  {result['bare with SQLModel'] / result['bare']:.2f} times the bare window for SQLModel alone")
    goals = {
        "first paint beside a bare window": told(result, "first paint", "bare", "the bare PySide6 window", 2),
        "first idle beside a bare window": told(result, "ours", "bare", "the bare PySide6 window", 5),
        "beside inspect": told(result, "ours", "inspect", "inspect --help", 0.35),
    }
    return verdict(options, goals)


def told(found: dict[str, float], what: str, side: str, beside: str, goal: float) -> bool | None:
    """Print the ratio to a side that was timed, beside its goal; whether the goal is met."""
    if side not in found:
        return None
    ratio = found[what] / found[side]
    print(f"  {what}: {ratio:.2f} times {beside} (goal ≤ {goal})")
    return ratio <= goal


if __name__ == "__main__":
    sys.exit(main())
