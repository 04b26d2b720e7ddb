"""How fast a very long list is shown: 1 000 000 items beside 1 000, each in a process of its own.

    python -m benchmarks.lists [--quick]

Goal 13: the long list is on the screen within twice the time of the short one, and holds at most 50 MB more. The time
runs from asking for the items to the first paint of the table. Printed beside it: when the scroll bar knows all rows,
and the longest the window did not answer until then.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import parser, verdict
from tests.projects.filled_project import create

KB = 1024 if sys.platform == "darwin" else 1


def show(path: Path, count: int) -> dict[str, float]:
    """Show a project's items as the page does; seconds and megabytes."""
    from PySide6.QtCore import QEvent, QObject
    from PySide6.QtWidgets import QApplication, QTableView

    from annotator.actions.items import items
    from annotator.actions.project import people
    from annotator.actions.project.file import Project
    from annotator.gui.pages.items import ItemsModel
    from annotator.gui.session.session import ProjectSession

    class Watch(QObject):
        painted = False

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            self.painted = self.painted or event.type() == QEvent.Type.Paint
            return False

    application = QApplication([])
    project = Project.open(path)
    people.someone(project)
    session, view, watch = ProjectSession(project), QTableView(), Watch()
    view.verticalHeader().hide()
    view.setWordWrap(False)
    view.resize(1100, 700)
    view.viewport().installEventFilter(watch)
    started = time.perf_counter()
    model = ItemsModel(session)
    model.narrow(items.Filter())
    view.setModel(model)
    view.show()
    while not watch.painted:
        # Returns when the paint is done.
        application.processEvents()
    shown = time.perf_counter() - started
    gap, before = 0.0, time.perf_counter()
    while model.rowCount() < count:
        application.processEvents()
        time.sleep(0.001)
        now = time.perf_counter()
        gap, before = max(gap, now - before), now
    whole = time.perf_counter() - started
    view.scrollToBottom()
    application.processEvents()
    assert model.line(count - 1).key == str(count)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / KB
    session.wait()
    return {"shown": shown, "whole": whole, "gap": gap, "memory": memory}


def measured(path: Path, count: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.lists", "--show", str(path), "--count", str(count)]
    result: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return result


def main() -> int:
    """The comparison; exit code 1 when a goal is missed."""
    known = parser(__doc__, short=(1_000, 10), long=(1_000_000, 1_000), rounds=(7, 1))
    known.add_argument("--show", type=Path, help=argparse.SUPPRESS)
    known.add_argument("--count", type=int, help=argparse.SUPPRESS)
    options = known.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if options.show:
        print(json.dumps(show(options.show, options.count)))
        return 0
    times: dict[int, list[dict[str, float]]] = {options.short: [], options.long: []}
    with tempfile.TemporaryDirectory() as folder:
        paths = {count: Path(folder) / f"{count}.goldsmith" for count in times}
        for count, path in paths.items():
            create(path, count, searchable=False)
        for _ in range(options.rounds):
            for count, path in paths.items():
                times[count].append(measured(path, count))
    result = {
        count: {name: statistics.median(one[name] for one in result) for name in result[0]}
        for count, result in times.items()
    }
    return verdict(options, {"goal 13": told(result)})


def told(found: dict[int, dict[str, float]]) -> bool:
    """Print both sides and the ratios; whether both goals are met."""
    for count, one in found.items():
        print(
            f"{count} items: shown {one['shown'] * 1e3:.1f} ms, all rows known {one['whole'] * 1e3:.0f} ms, "
            f"longest gap {one['gap'] * 1e3:.0f} ms, {one['memory']:.0f} MB"
        )
    short, long = found.values()
    ratio, more = long["shown"] / short["shown"], long["memory"] - short["memory"]
    print(f"  {ratio:.2f} times the time (goal ≤ 2), {more:.0f} MB more (goal ≤ 50)")
    return ratio <= 2 and more <= 50


if __name__ == "__main__":
    sys.exit(main())
