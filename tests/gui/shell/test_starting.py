"""The first page, how one window at a time has a project, and what is done at the first idle."""

import ctypes
import gc
import sys
import threading
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtWidgets import QMenu
from shiboken6 import isValid

from annotator.actions.items import items
from annotator.actions.project import backups
from annotator.actions.project.file import Project
from annotator.gui import theme
from annotator.gui.session.session import TaskCallbacks
from annotator.gui.shell import start
from annotator.gui.shell.frame import Frame
from annotator.gui.shell.start import SAMPLES, StartPage, make_application
from annotator.gui.shell.window import Window
from tests.projects.small_projects import small_project
from tests.windows.using import be_active


@pytest.fixture
def file(tmp_path):
    project = small_project(tmp_path)
    project.close()
    return project.path


def usable(page: StartPage) -> list[bool]:
    return [each.isEnabled() for each in (page.sample, page.new, page.open, page.task, page.more, page.list)]


def test_on_windows_the_taskbar_knows_the_program_and_not_python(qapp, monkeypatch):
    named = []
    shell = SimpleNamespace(SetCurrentProcessExplicitAppUserModelID=named.append)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(shell32=shell), raising=False)
    make_application()
    assert named == ["org.goldsmith.goldsmith"]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"<html>not a project</html>" * 100, "is not a Goldsmith project")],
)
def test_what_is_no_project_is_refused_and_left_as_it_is(goldsmith, tmp_path, content, words):
    path = tmp_path / "odd.goldsmith"
    path.write_bytes(content)
    assert (words in goldsmith.show(path).messages.text(), path.read_bytes()) == (True, content)


def test_a_damaged_project_offers_its_backups_and_comes_back(goldsmith, file, qtbot):
    project = Project.open(file)
    backups.make(project, "before the accident")
    project.close()
    file.write_bytes(file.read_bytes()[:5000])
    page = goldsmith.show(file)
    assert "damaged" in page.messages.text()
    page._restore(file)
    page._backups._restore()
    qtbot.waitUntil(lambda: isinstance(goldsmith._shown, Window))
    assert items.count(goldsmith._shown.session.project) == 2


def test_a_project_open_elsewhere_is_named_with_its_holder_and_may_be_read(goldsmith, file):
    other = Project.open(file)
    other.hold()
    page = goldsmith.show(file)
    assert "open in another Goldsmith" in page.messages.text()
    page.to_read.emit(file)
    assert goldsmith._shown.session.project.readonly


def test_a_project_that_is_open_keeps_its_window_and_the_next_start_shows_the_frame_as_it_was_left(
    goldsmith, file
):
    window = goldsmith.show(file)
    assert goldsmith.show(file) is window
    navigation = window.navigation
    sidebar = QRect(navigation.mapTo(navigation.window(), QPoint()), navigation.size())
    goldsmith.close()
    frame = Frame(project=True)
    picture, corner = frame.grab().toImage(), sidebar.bottomRight()
    places = {"sunken": sidebar.center(), "border": corner, "window": corner + QPoint(1, 1)}
    colours = {name: theme.token(name) for name in places}
    assert {name: picture.pixelColor(place) for name, place in places.items()} == colours
    frame.close()


def test_a_window_in_the_middle_of_a_job_keeps_its_frame_and_the_next_project_gets_another(
    goldsmith, file, qtbot
):
    first = goldsmith.show(file)
    frame, release = first.window(), threading.Event()
    first.session._tasks_behind.send(lambda tell: release.wait(), TaskCallbacks(None, job=True))
    assert goldsmith.show(None).window() is not frame
    assert "The window closes when this has finished" in first.messages.text()
    release.set()
    qtbot.waitUntil(lambda: not isValid(frame) or not frame.isVisible())


def test_a_sample_that_cannot_be_made_is_explained_on_the_first_page(goldsmith, tmp_path, monkeypatch, qtbot):
    (in_the_way := tmp_path / "no-folder").write_text("a file stands where the folder should be", "utf-8")
    monkeypatch.setattr("annotator.gui.shell.navigation.user_data", lambda: in_the_way)
    page = goldsmith.show_sample()
    qtbot.waitUntil(lambda: "could not be created" in page.messages.text())
    qtbot.waitUntil(page.making.isHidden)
    assert (usable(page), page.acceptDrops()) == ([True] * 6, True)


def test_whatever_ends_the_making_gives_the_first_page_back(goldsmith, monkeypatch, qtbot):
    told = []
    monkeypatch.setattr(sys, "excepthook", lambda *what: told.append(str(what[1])))
    page = goldsmith.show(None)

    def breaks(tell):
        tell("Making the sample project", 1, 2)
        raise OSError("no more handles")

    page.make("Making the sample project", breaks)
    assert not page.sample.isEnabled()
    qtbot.waitUntil(page.sample.isEnabled)
    assert (page.making.isHidden(), told) == (True, ["no more handles"])


@pytest.mark.usefixtures("sample_at_once")
def test_the_sample_is_made_while_the_window_lives_on_and_says_how_far_it_is(
    goldsmith, tmp_path, monkeypatch, qtbot
):
    monkeypatch.setattr("annotator.gui.shell.navigation.user_data", lambda: tmp_path)
    page = goldsmith.show(None)
    page.sample.click()
    # It is not made by the click: that has come back.
    assert (goldsmith.shown(), page.making.isVisible()) == (page, True)
    assert (usable(page), page.acceptDrops()) == ([False] * 6, False)
    qtbot.waitUntil(lambda: isinstance(goldsmith.shown(), Window))
    qtbot.waitUntil(goldsmith.shown().tries.isVisible)


def test_a_first_page_closed_while_the_sample_is_made_leaves_it_whole(goldsmith, tmp_path, monkeypatch):
    monkeypatch.setattr("annotator.gui.shell.navigation.user_data", lambda: tmp_path)
    page = goldsmith.show(None)
    page.sample.click()
    page.close()
    assert items.count(Project.open(tmp_path / "sample.goldsmith", readonly=True)) == 10


def test_the_other_samples_stand_behind_one_button(goldsmith, monkeypatch):
    page, made = goldsmith.show(None), []
    monkeypatch.setattr(page, "make", lambda _what, act: made.append(act))
    # Off screen nothing can grab the keyboard.
    monkeypatch.setattr(QMenu, "popup", lambda *_: None)
    page.more.click()
    for action in page.findChild(QMenu).actions():
        action.trigger()
    assert made == list(SAMPLES.values())


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_presses_what_has_the_focus_on_the_first_page(goldsmith, key, qtbot, monkeypatch):
    page = be_active(goldsmith.show(None), qtbot)
    for button in (page.sample, page.new, page.open, page.task, page.more):
        button.clicked.disconnect()
        button.setFocus()
        with qtbot.waitSignal(button.clicked):
            qtbot.keyClick(button, key)


@pytest.mark.usefixtures("sample_at_once")
def test_the_sample_can_be_reset_from_its_window_and_no_other_project_can(
    goldsmith, file, sample_file, tmp_path, qtbot
):
    (tmp_path / "sample.goldsmith").write_bytes(sample_file.read_bytes())
    window = goldsmith.show(tmp_path / "sample.goldsmith")
    items.add(window.session.project, "A question of my own?", "Technical Details", "Deep learning")
    settings = window.show_page("Project")
    settings.reset.click()
    settings.answer._act.click()
    # The window's thread is not held up: the first page says what is being done.
    qtbot.waitUntil(lambda: isinstance(goldsmith._shown, StartPage))
    assert goldsmith._shown.making.isVisible()
    qtbot.waitUntil(lambda: isinstance(goldsmith._shown, Window))
    set_aside = list(tmp_path.glob("sample.set-aside-*.goldsmith"))
    assert (items.count(goldsmith._shown.session.project), len(set_aside)) == (10, 1)
    assert goldsmith.show(file).show_page("Project").reset.isHidden()


def leave(died: list[threading.Thread]) -> None:
    """Leave what a window leaves: a timer that goes on, and a cycle that only collecting ends."""
    left = QObject()
    QTimer(left).start(60_000)
    left.itself = left
    left.destroyed.connect(
        lambda: died.append(threading.current_thread()), Qt.ConnectionType.DirectConnection
    )


@pytest.fixture
def idle_program(qapp):
    """The program; what it set aside stays so, as for all tests."""
    yield (program := start.Goldsmith(qapp))
    program.close()
    program._pulse.stop()


def test_what_was_loaded_is_set_aside(idle_program):
    idle_program.settle()
    assert gc.get_freeze_count() > 10_000


def test_what_a_window_leaves_dies_on_the_windows_own_thread(idle_program, qtbot):
    idle_program.settle()
    died: list[threading.Thread] = []
    leave(died)
    held: list[list[object]] = []
    # More than Python, left to itself, would begin to collect at.
    other = threading.Thread(target=lambda: held.extend([] for _ in range(10 * gc.get_threshold()[0])))
    other.start()
    other.join()
    assert not died
    qtbot.waitUntil(lambda: bool(died))
    assert died == [threading.main_thread()]


@pytest.mark.parametrize(
    ("counts", "collected"),
    [((0, 0, 0), []), ((700, 10, 10), []), ((701, 10, 11), [0]), ((701, 11, 11), [1]), ((700, 11, 11), [2])],
)
def test_everything_is_looked_through_only_while_nothing_happens(monkeypatch, counts, collected):
    asked: list[int] = []
    monkeypatch.setattr(gc, "get_count", lambda: counts)
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    monkeypatch.setattr(gc, "collect", lambda generation=2: asked.append(generation))
    start.tidy()
    assert asked == collected


def test_a_stopwatch_is_told_the_time_and_the_window_closes(idle_program, qtbot, monkeypatch, capsys):
    monkeypatch.setenv("GOLDSMITH_STOPWATCH", "1")
    shown = idle_program.show(None)
    idle_program.settle()
    assert float(capsys.readouterr().out) > 0
    assert not shown.isVisible()
