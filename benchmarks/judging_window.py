"""How late a window's timer is, alone for some beats and then while a run goes on beside it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copyfile
from typing import Any

from benchmarks.judging_project import environment, goldsmith, judge_words

# The window is the program's own, opened as a person opens it. As its Judges page does, it starts the command as a
# child, reads its lines and shows how far it is; meanwhile a timer says how late the event loop comes round.
WINDOW = """
import json, sys, time
from annotator.__main__ import main
from PySide6.QtCore import QProcess, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
command, quiet = json.loads(sys.argv.pop()), int(sys.argv.pop())
EVERY = 0.01
late, told = [], {}
def tick():
    global due
    now = time.perf_counter()
    late.append(now - due)
    due = now + EVERY
    if len(late) == quiet and not told:
        judge()
def figures():
    found = sorted(late[5:])
    late.clear()
    return {"p95": found[int(len(found) * 0.95)] * 1e3, "longest": (found[-1] + EVERY) * 1e3, "n": len(found)}
def hear():
    window = next(w for w in QApplication.topLevelWidgets() if isinstance(w, QMainWindow))
    for line in bytes(child.readAllStandardOutput().data()).splitlines():
        if line.startswith(b"{") and line.endswith(b"}"):
            window.statusBar().showMessage("{done} of {total}".format(**json.loads(line)))
def judge():
    told["alone"] = figures()
    child.start(command[0], command[1:])
def end():
    told["judging"] = figures()
    print(json.dumps(told), flush=True)
    QApplication.closeAllWindows()
def measured(*_):
    global child, due, timer
    child = QProcess()
    child.setStandardErrorFile(QProcess.nullDevice())
    child.readyReadStandardOutput.connect(hear)
    child.finished.connect(end)
    due = time.perf_counter() + EVERY
    timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=int(EVERY * 1e3))
    timer.timeout.connect(tick)
    timer.start()
    return run()
run, QApplication.exec = QApplication.exec, measured
sys.exit(main())
"""


def beside_a_window(project: Path, quiet: int) -> dict[str, Any]:
    """The 95th percentile and the longest of its delays, in ms: `alone` for so many beats, and while `judging`."""
    with tempfile.TemporaryDirectory(prefix="goldsmith-bench-") as folder:
        copy = Path(folder) / project.name
        copyfile(project, copy)
        command = goldsmith(*judge_words(copy), "--progress", "json")
        own = {"HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder, "APPDATA": folder}
        words = [sys.executable, "-c", WINDOW, str(copy), str(quiet), json.dumps(command)]
        done = subprocess.run(words, check=False, capture_output=True, env=environment() | own, cwd=folder)
    if done.returncode:
        raise SystemExit(done.stderr.decode()[-2000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))
