"""How long pages keep the window waiting: the first visit of each, a step of the zoom, and light or dark.

    python -m benchmarks.pages [--data FOLDER] [--pages N] [--quick]

Goals, on ResearcherBench's public files (`--data`, judged by the baseline): no first visit keeps the window from
answering for more than 300 ms; a step of the zoom and light or dark take less than 150 ms on every step of the work,
with every page and part visited before. Without `--data`, and in a quick run, the sample project is taken. Times are
those of the window's own thread: the processor alone, as other programs on the machine change little of that, and the
wall time in brackets. To compare with an older version, copy this file and `measuring.py` into a checkout of it.
"""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# As on a person's machine: modules are compiled once, not at every start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import sqlmodel  # noqa: F401
from PySide6.QtCore import QCoreApplication, QEventLoop, QSettings, qInstallMessageHandler
from PySide6.QtWidgets import QApplication, QTabWidget

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.gui import theme
from annotator.gui.shell.navigation import PAGES
from annotator.gui.shell.window import Window
from benchmarks.measuring import parser, verdict

Times = tuple[float, float]
VISIT_S, STEP_S = 0.3, 0.15
JUDGE = ("--judge", "baseline", "--protocol", "researcherbench.coverage")
# The pages of the work, on which a step of the zoom and of light or dark is timed.
WORK = ("Items", "Author", "Label", "Adjudicate", "Judges", "Agreement", "Validate", "Results", "Release")


def clocks() -> Times:
    return time.thread_time(), time.perf_counter()


class Watch:
    """Turns the event loop by hand, and keeps how long the longest single turn held it."""

    def __init__(self, session: object) -> None:
        self.session, self.longest = session, (0.0, 0.0)

    def timed(self, act: Callable[[], object]) -> Times:
        """How long an act takes with everything that follows from it at once, painting among it."""
        before = clocks()
        act()
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        processor, wall = (after - was for after, was in zip(clocks(), before, strict=True))
        self.longest = max(self.longest, (processor, wall))
        return processor, wall

    def rest(self, seconds: float) -> None:
        """Let tasks_behind come home and timers fire; every turn is watched."""
        for _ in range(2):
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                self.timed(lambda: QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents))
                time.sleep(0.002)
            self.session.wait()  # type: ignore[attr-defined]


def project(folder: Path, data: Path | None) -> Path:
    """The project that is looked at: the public files with the baseline's verdicts, or the sample."""
    made = folder / "pages.goldsmith"
    if data is None:
        from annotator.actions.imports import samples

        samples.create(made).close()
        return made
    command = [sys.executable, "-m", "annotator"]
    for words in (
        ("new", made),
        ("import", made, "--format", "researcherbench", data),
        ("judge", "run", made, *JUDGE),
    ):
        subprocess.run([*command, *map(str, words)], check=True, capture_output=True)
    return made


def visits(window: Window, most: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each page, and each further part of it, with what brings it into view."""
    first = items.ids(window.session.project)[:1]
    for name in [*PAGES][:most]:
        place = {"item_id": first[0]} if first and name in ("Author", "Label") else {}
        yield name, lambda name=name, place=place: window.show_page(name, **place)
        tabs = window.page.findChild(QTabWidget)
        for number in range(1, tabs.count() if tabs is not None else 0):
            if tabs.isTabVisible(number):
                yield f"{name} → {tabs.tabText(number)}", partial(tabs.setCurrentIndex, number)


def milliseconds(times: Times) -> str:
    return f"{times[0] * 1e3:,.0f} ms ({times[1] * 1e3:,.0f} ms)"


def first_visits(window: Window, watch: Watch, most: int, seconds: float) -> float:
    """Print the first visit of each page and the longest stall until it rests; the longest of all, in seconds."""
    print("first visit of each page: processor (wall), and the longest turn of its loop until it rests")
    worst = 0.0
    for name, visit in visits(window, most):
        watch.longest = (0.0, 0.0)
        took = watch.timed(visit)
        watch.rest(seconds)
        worst = max(worst, watch.longest[0])
        print(f"  {name}: {milliseconds(took)}, longest stall {milliseconds(watch.longest)}")
    return worst


def steps(window: Window, watch: Watch, rounds: int, pages: int, seconds: float) -> tuple[float, float]:
    """Print what a step of the zoom and light or dark take on so many steps of the work; the longest, in seconds."""
    print(f"a step, {len(QApplication.allWidgets()):,} widgets there: processor (wall)")
    zooms, schemes = [], []
    for name in WORK[:pages]:
        window.show_page(name)
        watch.rest(seconds)
        ways = [lambda way=way: theme.zoom(way) for _ in range(rounds) for way in (1, -1)]
        zoom = sorted(_settled(watch, way, seconds) for way in ways)
        scheme = sorted(
            _settled(watch, lambda c=c: theme.choose(c), seconds)
            for _ in range(rounds)
            for c in ("dark", "light")
        )
        zooms.append(zoom[len(zoom) // 2])
        schemes.append(scheme[len(scheme) // 2])
        print(f"  {name}: zoom {milliseconds(zooms[-1])}, dark or light {milliseconds(schemes[-1])}")
    most = max(zooms)[0], max(schemes)[0]
    print(f"longest: zoom step {most[0] * 1e3:.0f} ms, dark or light {most[1] * 1e3:.0f} ms")
    return most


def _settled(watch: Watch, act: Callable[[], object], seconds: float) -> Times:
    took = watch.timed(act)
    watch.rest(seconds / 4)
    return took


def main() -> int:
    """Visits, then steps; exit code 1 when a goal is missed."""
    known = parser(__doc__, rounds=(3, 1), pages=(len(WORK), 1), visits=(len(PAGES), 4), rest=(600, 20))
    known.add_argument("--data", type=Path, help="a folder with ResearcherBench's public files")
    options = known.parse_args()
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    QCoreApplication.setOrganizationName("goldsmith")
    QCoreApplication.setApplicationName("goldsmith-benchmarks")
    QSettings().clear()
    # The offscreen screen says of every window that it cannot bound its size.
    qInstallMessageHandler(lambda *_: None)
    theme.apply(application)
    with tempfile.TemporaryDirectory() as folder:
        window = Window(Project.open(project(Path(folder), None if options.quick else options.data)))
        watch = Watch(window.session)
        window.resize(1280, 800)
        window.show()
        stall = first_visits(window, watch, options.visits, options.rest / 1e3)
        zoom, scheme = steps(window, watch, options.rounds, options.pages, options.rest / 1e3)
        print(f"longest stall of all first visits: {stall * 1e3:.0f} ms")
        window.close()
    QSettings().clear()
    return verdict(options, {
        "first visits": stall <= VISIT_S, "zoom": zoom < STEP_S, "dark or light": scheme < STEP_S,
    })  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
