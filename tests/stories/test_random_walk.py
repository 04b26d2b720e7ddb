"""Somebody without a plan walks through every page: nothing breaks, stalls, is damaged or is left behind.

`GOLDSMITH_WALK=20000 python -m pytest tests/stories/test_random_walk.py` walks so many acts in each kind of project;
`GOLDSMITH_SEED=7` walks another way.
"""

import os
from collections import Counter
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.gui import theme
from tests.gui.shell.test_window import widgets
from tests.material.sent_apart import annotators, coordinated, task_for
from tests.projects.small_projects import empty_project
from tests.windows.random_walk import Walk, walking

resource = pytest.importorskip("resource", reason="memory is not told here")
ACTS = int(os.environ.get("GOLDSMITH_WALK", "100"))
SEED = int(os.environ.get("GOLDSMITH_SEED", "2026"))
# After a long walk a window holds with every page open at most so many times the widgets of a new one over the same
# project, which has grown on the way; and in its last quarter at most so many times the memory of the quarter before.
LONG, LEVEL = 5_000, 1.15


def task_project(folder: Path) -> Project:
    from annotator.actions.parcels import tasking

    home = coordinated(folder)
    task = task_for(home, annotators(home)[0].id, folder)
    home.close()
    return tasking.take_task(task).project


def walked(make, folder: Path, acts: int, qapp, monkeypatch) -> tuple[list[Walk], list[Counter], list[int]]:
    """A walk through a project, closed in the middle of what was under way, and the memory after each hundredth.

    After a long one, a shorter walk in a new window over what became of the project, and the widgets of both windows.
    """
    project = make(folder)
    path = project.path
    project.close()
    (out := folder / "out").mkdir()
    memory, stock, walks = [], [], []
    for length in (acts, acts // 10) if acts >= LONG else (acts,):
        with walking(qapp, path, SEED, out, monkeypatch) as walk:
            for _ in range(100):
                walk.steps(length // 100)
                memory.append(held())
                if walk.faults:
                    break
            walks.append(walk)
            if acts >= LONG:
                stock.append(walk.widgets())
    assert checking.check(Project.open(path)).problems == []
    return walks, stock, memory


def held() -> int:
    """The memory held now, in bytes; on other systems the most that was ever held, in its own unit.

    Mapped files (a font from its first rare letter on, libraries) are not counted: they are the system's to drop.
    """
    told = Path("/proc/self/statm")
    if told.exists():
        _, resident, mapped, *_ = map(int, told.read_text("utf-8").split())
        return (resident - mapped) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def judge(walks: list[Walk], stock: list[Counter], memory: list[int]) -> None:
    """What must hold of a walk, and of the new window after it."""
    for each in walks:
        assert not each.faults, "\n".join((each.faults[0], "after", *each.done[-8:]))
        assert not each.stalls, "\n".join(each.stalls)
    if stock:
        old, new = (sum(each[page] for page in stock[0].keys() & stock[1].keys()) for each in stock)
        grown = old / new, max(memory[75:100]) / max(memory[50:75])
        print(f"{len(walks[0].done)} acts: widgets grew by {grown[0]:.3f}, memory by {grown[1]:.3f}")
        assert max(grown) <= LEVEL, grown


KINDS = {
    "sample": None,
    "empty": empty_project,
    "task": task_project,
}


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_of_random_acts_breaks_nothing(kind, tmp_path, sample_file, qapp, qtbot, monkeypatch):
    theme.apply(qapp)

    def sample(folder: Path) -> Project:
        copy = folder / "sample.goldsmith"
        copy.write_bytes(sample_file.read_bytes())
        return Project.open(copy)

    before = widgets(qtbot)
    judge(*walked(KINDS[kind] or sample, tmp_path, ACTS, qapp, monkeypatch))
    assert widgets(qtbot) - before == Counter()
