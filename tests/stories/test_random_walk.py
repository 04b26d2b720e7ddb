"""Somebody without a plan walks through every page: nothing breaks, stalls, is damaged or is left behind.

`GOLDSMITH_WALK=20000 python -m pytest tests/stories/test_random_walk.py` walks so many acts in each kind of project;
`GOLDSMITH_SEED=7` walks another way.
"""

import gc
import os
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSettings, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)
from shiboken6 import createdByPython, getAllValidWrappers, isValid

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.exchange.pages import fetching
from annotator.gui import theme
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.keys import BINDINGS
from annotator.gui.parts import below
from annotator.gui.shell.window import Window
from annotator.gui.views.viewer import Viewer
from tests.gui.shell.test_window import widgets
from tests.projects.pairs_project import annotators, coordinated, task_for
from tests.projects.small_projects import empty_project
from tests.windows.using import in_view, shut

WORDS = (
    "Names the cost",
    "地震预警的评价",
    "تكلفة تخزين الهيدروجين",
    "a\x00b\x01",
    "\U0001f71a gold \U0001f469\U0001f3fd",
    "x" * 3000,
    "%_'\"\\ AND (",
    "−1e999",
    "",
    "\u202eevil\u2028line\r\nnext",
    "<b>bold</b> & <script>",
)
KEYS = (
    "Tab", "Shift+Tab", "Return", "Esc", "Space", "Up", "Down", "Left", "Right", "PgDown", "PgUp", "Home", "End",
    "Delete", "Backspace", "Ctrl+A", "Ctrl+C", "Ctrl+V", "Ctrl+X", "F6", "Alt+Down", "1", "2", "3", "4", "0", "?",
)  # fmt: skip
# What leads out of the window: other windows, other programs, printers.
OUTSIDE = ("Quit", "Close project", "New project…", "Open project…")
ABROAD = ("new_project", "open_project", "quit", "start_run", "palette")
# A stall is what a person would notice: so much of the window's own thread at work on one act.
STALL_S = 1.0
SETTLE_EVERY = 50
# What is typed into a field that holds more letters than these takes their place.
ENOUGH = 9_000
Act = Callable[[], object]


class Walk:
    """Acts one after the other; `faults` are the exceptions, `stalls` the acts that held the window up."""

    def __init__(self, window: Window, seed: int, folder: Path) -> None:
        self.window, self.chance, self.folder = window, random.Random(seed), folder
        self.faults: list[str] = []
        self.stalls: list[str] = []
        self.done: list[str] = []
        self._visited: set[str] = set()

    def steps(self, count: int) -> None:
        for _ in range(count):
            name, act = self._choose()
            self.done.append(name)
            before = time.thread_time()
            first = name not in self._visited
            self._visited.add(name)
            act()
            QTest.qWait(0)
            spent = time.thread_time() - before
            if spent > STALL_S and not first:
                self.stalls.append(f"{len(self.done)}: {name}, {spent:.1f} s")
            self._close_what_popped_up()
            if len(self.done) % SETTLE_EVERY == 0:
                self._settle()
            if self.faults:
                return

    def _settle(self) -> None:
        self.window.session.wait()
        QTest.qWait(30)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        if stale := _made_by_qt():
            self.faults.append(f"Python holds items that Qt made and ends: {stale}")

    def widgets(self) -> Counter[str]:
        """How many widgets each page has, once all is open, and how many stand elsewhere.

        Not counted are the editors of units: a document that grew has more of those.
        """
        result = Counter[str]()
        for name in dict.fromkeys(tab.page for _, tab in self.window.offered()):
            page = self.window.show_page(name)
            self._settle()
            # What lies behind a figure is made when someone looks there.
            assert all(viewer.behind.parentWidget() is viewer.body for viewer in [*below(page, Viewer)])
            result[name] = _widgets_of(page)
        others = len(QApplication.allWidgets()) - sum(1 for _ in below(self.window, QWidget))
        result["elsewhere"] = others + _widgets_of(self.window) - result.total()
        return result

    def _choose(self) -> tuple[str, Act]:
        ways: tuple[tuple[int, Callable[[], tuple[str, Act]]], ...] = (
            (10, self._page), (30, self._button), (30, self._key), (14, self._typing), (10, self._row),
            (8, self._choice), (6, self._tab), (2, self._resize), (1, self._zoom), (1, self._person),
            (3, self._menu), (2, self._scheme),
        )  # fmt: skip
        (way,) = self.chance.choices([way for _, way in ways], [weight for weight, _ in ways])
        return way()

    def _of(self, *kinds: type[QWidget]) -> list[QWidget]:
        """What is seen and can be used of these kinds, in the order in which it was made."""
        return [one for one in in_view(self.window) if isinstance(one, kinds) and one.isEnabled()]

    def _page(self) -> tuple[str, Act]:
        name = self.chance.choice([*dict.fromkeys(tab.page for _, tab in self.window.offered()), "Help"])
        return f"page {name}", lambda: self.window.show_page(name)

    def _button(self) -> tuple[str, Act]:
        result = self._of(QAbstractButton)
        if not result:
            return self._page()
        button = self.chance.choice(result)
        words = button.accessibleName() or button.text() or button.toolTip()
        # Nothing is asked of the network, and no menu waits for an answer.
        if "etch" in words or (hasattr(button, "menu") and button.menu()):
            return self._page()
        name = f"button {self.window.page.NAME}: {type(button).__name__} {words}"
        return name, lambda: QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def _key(self) -> tuple[str, Act]:
        own = [key for one in BINDINGS if one.act not in ABROAD for key in one.keys]
        key = self.chance.choice((*KEYS, *own))
        return f"key {key} on {self.window.page.NAME}", lambda: _press(key)

    def _typing(self) -> tuple[str, Act]:
        fields = [one for one in self._of(QLineEdit, QPlainTextEdit) if not one.isReadOnly()]
        if not fields:
            return self._key()
        field, words = self.chance.choice(fields), self.chance.choice(WORDS)

        def paste() -> None:
            QGuiApplication.clipboard().setText(words)
            field.setFocus()
            # Full fields hold 2 MB each: what piles up in dozens of them would pass for a leak.
            if len(field.text() if isinstance(field, QLineEdit) else field.toPlainText()) > ENOUGH:
                field.selectAll()
            field.paste()

        return f"typing {field.accessibleName()} {words[:8]!r}", paste

    def _row(self) -> tuple[str, Act]:
        # Among what the palette finds are the acts that lead out of the window.
        lists = [
            one
            for one in self._of(QAbstractItemView)
            if one.model() and one.model().rowCount() and one.accessibleName() != "What was found"
        ]
        if not lists:
            return self._page()
        view, twice = self.chance.choice(lists), self.chance.random() < 0.3
        row = self.chance.randrange(view.model().rowCount())
        place = view.visualRect(view.model().index(row, 0)).center()

        def click() -> None:
            QTest.mouseClick(
                view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place
            )
            if twice and isValid(view):
                QTest.mouseDClick(
                    view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place
                )

        return f"row {row} of {self.window.page.NAME}: {view.accessibleName()}", click

    def _choice(self) -> tuple[str, Act]:
        combos = [one for one in self._of(QComboBox) if one.count() > 1]
        if not combos:
            return self._key()
        combo = self.chance.choice(combos)
        place = self.chance.randrange(combo.count())
        return f"choice {self.window.page.NAME}: {combo.accessibleName()}", lambda: combo.setCurrentIndex(
            place
        )

    def _tab(self) -> tuple[str, Act]:
        bars = [one for one in self._of(QTabBar) if one.count() > 1]
        if not bars:
            return self._page()
        bar = self.chance.choice(bars)
        place = self.chance.choice([n for n in range(bar.count()) if bar.isTabVisible(n)])
        return f"tab {self.window.page.NAME}: {bar.tabText(place)}", lambda: bar.setCurrentIndex(place)

    def _resize(self) -> tuple[str, Act]:
        size = self.chance.choice(((960, 600), (1366, 768), (1920, 1080), (700, 500)))
        return f"resize {size}", lambda: self.window.resize(*size)

    def _zoom(self) -> tuple[str, Act]:
        percent = self.chance.choice((80, 100, 150, 200))
        return f"zoom {percent}", lambda: theme.zoom_to(percent)

    def _scheme(self) -> tuple[str, Act]:
        choice = self.chance.choice(("light", "dark"))
        return f"colours {choice}", lambda: theme.choose(choice)

    def _person(self) -> tuple[str, Act]:
        known = people.people(self.window.session.project)
        if self.window.session.project.from_task or not known:
            return self._page()
        person = self.chance.choice(known)
        return f"person {person.alias}", lambda: self.window.choose_person(person.id)

    def _menu(self) -> tuple[str, Act]:
        result = [
            action
            for menu in self.window.menuBar().actions()
            if menu.menu() is not None
            for action in menu.menu().actions()
            if action.text() and action.text() not in OUTSIDE and not action.text().startswith("Reset")
        ]
        action = self.chance.choice(result)
        return f"menu {action.text()}", action.trigger

    def _close_what_popped_up(self) -> None:
        for _ in range(5):
            popped = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if popped is None:
                return
            popped.close()
            QTest.qWait(0)


def _widgets_of(whole: QWidget) -> int:
    """Its widgets but for the editors of units."""
    editors = [one for one in below(whole, QWidget) if isinstance(one, UnitEditor)]
    inside = sum(1 + sum(1 for _ in below(editor, QWidget)) for editor in editors)
    return sum(1 for _ in below(whole, QWidget)) - inside


def _made_by_qt() -> list[str]:
    """Items of layouts and lists that have an object of Python's which Qt does not know of.

    It outlives the item, and whatever lies in the same memory later is taken for it.
    """
    items = (one for one in getAllValidWrappers() if not isinstance(one, QObject))
    return [repr(one) for one in items if type(one).__name__.endswith("Item") and not createdByPython(one)]


def _press(key: str) -> None:
    target = QApplication.focusWidget()
    combination = QKeySequence(key)
    if target is not None and combination.count():
        QTest.keyClick(target, combination[0].key(), combination[0].keyboardModifiers())


@contextmanager
def walking(
    qapp: QApplication, path: Path, seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Walk]:
    """A walk in the window of a project; what leads out of the program leads to files in the folder, or nowhere."""
    chance = random.Random(seed)
    there = [*folder.parent.glob("*.goldsmith*"), Path(__file__), folder / "none"]
    names = ["", *(str(folder / name) for name in ("a.csv", "b.svg", "c.goldsmith", "d.json", "sub"))]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (chance.choice(names), ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: chance.choice(names))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(chance.choice(there)), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(chance.choice(there))], ""))
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda *_: True)
    monkeypatch.setattr(QDialog, "exec", lambda *_: 0)
    monkeypatch.setattr(QMenu, "exec", lambda *_: None)
    monkeypatch.setattr(Window, "_replace", lambda *_: None)
    # Nothing beyond this machine is asked for, nor its name.
    monkeypatch.setattr(fetching, "system_look_up", _no_such_name)
    window = Window(Project.open(path))
    walk = Walk(window, seed, folder)
    monkeypatch.setattr(
        sys, "excepthook", lambda *fault: walk.faults.append("".join(traceback.format_exception(*fault)))
    )
    try:
        window.resize(1280, 800)
        window.show()
        QTest.qWaitForWindowExposed(window)
        window.activateWindow()
        yield walk
        close(window)
    finally:
        QSettings().clear()
        theme.choose("system")
        theme.zoom(0)


async def _no_such_name(host: str, _port: int) -> list[str]:
    raise OSError(f"no machine of the name {host}")


def close(window: Window) -> None:
    """Close in the middle of whatever is under way, and let go of all that is left."""
    if not window.close():
        window.session.stop_jobs()
        shut(window)
    for _ in range(3):
        QTest.qWait(5)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()


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
