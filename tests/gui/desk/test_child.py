"""The window's child: it stands back behind the window, and hears its words."""

import os
import subprocess
import sys

import pytest

from annotator.gui.desk.child import NICENESS, Child, stand_back

pytestmark = pytest.mark.skipif(os.name != "posix", reason="priorities are read another way there")
WAITING = "import sys; sys.stdin.readline()"


def test_a_process_is_given_a_lower_priority() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdin=subprocess.PIPE) as process:
        stand_back(process.pid)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
        process.communicate(b"\n")


def test_one_that_has_ended_needs_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    stand_back(process.pid)
    assert process.returncode == 0


def test_a_child_stands_back_and_hears_words(qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    echo = "import sys; print(sys.stdin.readline().strip(), flush=True)"
    monkeypatch.setattr("annotator.gui.desk.child.command", lambda: (sys.executable, ["-c", echo]))
    child = Child()
    seen: list[int] = []
    child.process.started.connect(
        lambda: seen.append(os.getpriority(os.PRIO_PROCESS, child.process.processId()))
    )
    with qtbot.waitSignal(child.ended) as ended:
        child.start([])
        child.process.waitForStarted()
        child.say("pause")
    assert seen == [os.getpriority(os.PRIO_PROCESS, 0) + NICENESS]
    assert ended.args[0] == b"pause\n"
