"""One window at a time: who holds a project, and that a killed holder holds nothing."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.storage.holding import ProjectHold, holder
from annotator.storage.opening import Busy

HOLDER = """
import sys
from pathlib import Path
from annotator.storage.holding import ProjectHold
hold = ProjectHold.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_window(path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, str(path)]
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": root},
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        yield other
        if other.poll() is None:
            other.communicate()


def test_the_second_window_is_told_who_holds_the_project(closed: Path) -> None:
    with another_window(closed) as other:
        with pytest.raises(Busy) as busy:
            ProjectHold.take(closed)
        assert f"computer {platform.node()}, process {other.pid}, since 20" in busy.value.happened
        assert "reading only" in busy.value.todo


def test_a_killed_holder_holds_nothing(closed: Path) -> None:
    with another_window(closed) as other:
        other.kill()
        other.wait()
        assert holder(closed)["pid"] == other.pid
        ProjectHold.take(closed).release()
    assert holder(closed) == {}


def test_a_held_project_can_be_read_and_its_judging_child_can_write(closed: Path) -> None:
    with another_window(closed):
        looked = Project.open(closed, readonly=True)
        assert looked.title == "small"
        looked.close()
        child = Project.open(closed)
        child.set("title", "written by a child")
        child.close()


def test_closing_a_project_frees_it(closed: Path) -> None:
    first, second = Project.open(closed), Project.open(closed)
    first.hold()
    with pytest.raises(Busy):
        second.hold()
    first.close()
    second.hold()
    second.close()
    assert holder(closed) == {}


def test_a_project_that_may_only_be_read_is_held_by_nobody(closed: Path) -> None:
    project = Project.open(closed, readonly=True)
    project.hold()
    assert not closed.with_name("small.goldsmith.lock").exists()
    project.close()


def test_a_sidecar_that_makes_no_sense_names_nobody(closed: Path) -> None:
    closed.with_name("small.goldsmith.holder.json").write_text("[1, 2", "utf-8")
    assert holder(closed) == {}
