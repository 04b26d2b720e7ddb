"""How soon Validate's parts show something useful of many verdicts, and how long the window ever stalls meanwhile.

    python -m benchmarks.validate_pages [--verdicts N ...] [--quick]

Goals: rows or text painted after at most 0.5 s with 4 655 and with 46 550 verdicts (ResearcherBench, and ten times
that), no stall above 100 ms. Two people labelled six in ten of the units. Each part is clicked on in the program's own
window, in a process of its own: cold, and again when it was left and nothing was written. A part is whole when no
errand is under way any more. In brackets what all threads took of the processor, and how late the timer of the window
at rest comes: what else the machine does changes little of the former, and meets all that is said of stalls.
"""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# As on a person's machine: modules are compiled once, not at every start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import compileall
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer, qInstallMessageHandler
from PySide6.QtWidgets import QApplication, QWidget

from annotator import places
from annotator.gui.pages.validation.case_bench import CasePart
from annotator.gui.pages.validation.page import ValidatePage
from annotator.gui.shell import start
from annotator.gui.shell.window import Window
from benchmarks.measuring import parser, verdict
from tests.projects import filled_project

# Verdicts → the seconds that are promised.
GOALS = {4_655: 0.5, 46_550: 0.5}
CRITERIA, SYSTEMS = 15, 5
STALL_S, BEAT_MS, PATIENCE_S = 0.1, 5, 120.0
Found = dict[str, float]
CLICKS = ("cold", "again")


def made(folder: Path, verdicts: int, letters: int) -> Path:
    """A project with a judge's verdicts, and what two people say of most units."""
    items = -(-verdicts // (CRITERIA * SYSTEMS))
    source = filled_project.peer_folder(folder / "peer", items, CRITERIA, SYSTEMS, letters)
    project = filled_project.imported(folder / "many.goldsmith", source)
    filled_project.judge_everything(project, 1, verdicts)
    for name, alike in (("Ann", 0.85), ("Ben", 0.8)):
        filled_project.label_everything(project, name, 0.6, alike)
    project.close()
    return project.path


def _listed(part: CasePart) -> tuple[QWidget, Callable[[], bool]]:
    cases = part.bench.cases
    return part.bench.pane.list.viewport(), lambda: part.at_work and cases.rowCount() > 0


def _figures(page: ValidatePage) -> tuple[QWidget, Callable[[], bool]]:
    view = page.figures.view
    return view.table.viewport(), lambda: view.model.rowCount() > 0


def _card(page: ValidatePage) -> tuple[QWidget, Callable[[], bool]]:
    text = page.cards.view.page
    return text.viewport(), lambda: bool(text.toPlainText().strip())


# Where the rows or the text of each part are painted, and whether they are there: no word that it is being counted.
PARTS: dict[str, Callable[[ValidatePage], tuple[QWidget, Callable[[], bool]]]] = {
    "Figures": _figures,
    "Disagreements": lambda page: _listed(page.ruling),
    "Reviews": lambda page: _listed(page.reviewing),
    "Cards": _card,
}


class Watch(QObject):
    """When the event loop came round, when an errand was last out, and when something useful was painted."""

    def __init__(self, window: Window, page: ValidatePage, rest: float) -> None:
        super().__init__()
        self._window, self._page, self._rest = window, page, rest
        self._there: Callable[[], bool] | None = None
        self._timer = QTimer(self, interval=BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def click(self, name: str) -> Found:
        """Turn to a part, which is built when it is first shown, until it is painted and at rest."""
        return self.until_rest(lambda: self._turn(name))

    def _turn(self, name: str) -> None:
        self._page.tabs.setCurrentIndex(self._page.TABS.index(name))
        seen, self._there = PARTS[name](self._page)
        seen.installEventFilter(self)

    def leave(self) -> None:
        """Go back to the first part, and wait until it is at rest."""
        self._there = None
        self.until_rest(lambda: self._page.tabs.setCurrentIndex(0))

    def until_rest(self, act: Callable[[], object] = lambda: None) -> Found:
        """Act, and wait until no errand has been out for a while, and what is waited for is painted; seconds."""
        self._painted = 0.0
        self._started = self._busy = self._last = time.perf_counter()
        self._longest = 0.0
        self._processor = self._taken = time.process_time()
        self._timer.start()
        act()
        while not self._at_rest():
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        self._timer.stop()
        return {
            "content": self._painted - self._started,
            "processor": self._taken - self._processor,
            "whole": max(self._painted, self._busy) - self._started,
            "stall": self._longest,
        }

    def _at_rest(self) -> bool:
        now = time.perf_counter()
        over = (bool(self._painted) or self._there is None) and now - self._busy > self._rest
        return over or now - self._started > PATIENCE_S

    def _beat(self) -> None:
        now = time.perf_counter()
        self._longest, self._last = max(self._longest, now - self._last), now
        if len(self._window.session._tasks_behind):
            self._busy = now

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and not self._painted and self._there and self._there():
            # Noted once the paint is done.
            QTimer.singleShot(0, self, self._note)
        return False

    def _note(self) -> None:
        if not self._painted:
            self._painted, self._taken = time.perf_counter(), time.process_time()


def visit(path: Path, names: Sequence[str], rest: float) -> list[Found]:
    """The window at rest, then each part clicked on cold and again."""
    # The offscreen screen says of every window that it cannot bound its size.
    qInstallMessageHandler(lambda *_: None)
    goldsmith = start.Goldsmith(start.make_application())
    window = goldsmith.show(path)
    goldsmith.settle()
    assert isinstance(window, Window)
    page = window.show_page("Validate")
    assert isinstance(page, ValidatePage)
    watch = Watch(window, page, rest)
    watch.until_rest()
    result = [watch.until_rest()]
    for name, _ in product(names, CLICKS):
        result.append(watch.click(name))
        watch.leave()
    window.close()
    return result


def visited(path: Path, names: Sequence[str], rest: int) -> list[Found]:
    """The same in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="goldsmith-bench-") as folder:
        own = {"HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder, "APPDATA": folder}
        words = ["-m", "benchmarks.validate_pages", "--rest", str(rest), "--visit", str(path), *names]
        done = subprocess.run(
            [sys.executable, *words], check=False, capture_output=True, env=os.environ | own
        )
    if done.returncode:
        raise SystemExit(done.stderr.decode()[-2000:])
    result: list[Found] = json.loads(done.stdout.splitlines()[-1])
    return result


def told(path: Path, rest: int, at_once: int) -> tuple[float, float]:
    """Print what each part takes, so many a process; the longest until content and the longest stall, in seconds."""
    content = stall = 0.0
    for place in range(0, len(PARTS), at_once):
        names = list(PARTS)[place : place + at_once]
        quiet, *clicks = visited(path, names, rest)
        for (name, when), result in zip(product(names, CLICKS), clicks, strict=True):
            content = max(content, result["content"] if result["content"] > 0 else PATIENCE_S)
            stall = max(stall, result["stall"])
            print(
                f"  {name}, {when}: content {result['content']:.2f} s ({result['processor']:.2f} s), whole "
                f"{result['whole']:.2f} s, longest stall {result['stall'] * 1e3:.0f} ms "
                f"({quiet['stall'] * 1e3:.0f} ms)",
                flush=True,
            )
    return content, stall


def main() -> int:
    """Every part at each size; exit code 1 when a goal is missed."""
    known = parser(
        __doc__,
        verdicts=(tuple(GOALS), (60,)),
        letters=(18_000, 200),
        rest=(1_000, 50),
        at_once=(1, len(PARTS)),
    )
    known.add_argument("--visit", nargs="+", help="for its own children")
    options = known.parse_args()
    if options.visit:
        print(json.dumps(visit(Path(options.visit[0]), options.visit[1:], options.rest / 1e3)))
        return 0
    if not options.quick:
        compileall.compile_dir(places.resources().parent / "annotator", quiet=2)
    goals: dict[str, bool | None] = {}
    for verdicts in options.verdicts:
        goal = next((goal for size, goal in GOALS.items() if verdicts <= size), None)
        print(f"{verdicts:,} verdicts (content ≤ {goal or '–'} s, stall ≤ {STALL_S * 1e3:.0f} ms)")
        with tempfile.TemporaryDirectory() as folder:
            content, stall = told(
                made(Path(folder), verdicts, options.letters), options.rest, options.at_once
            )
        print(f"at most {content:.2f} s until content, longest stall {stall * 1e3:.0f} ms")
        goals[f"{verdicts:,} verdicts: content"] = content <= goal if goal else None
        goals[f"{verdicts:,} verdicts: stall"] = stall <= STALL_S
    return verdict(options, goals)


if __name__ == "__main__":
    sys.exit(main())
