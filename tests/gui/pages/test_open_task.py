"""How a task or returned work is opened by itself: as the program's argument, from the first page, or dropped."""

import subprocess
import sys

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent

from annotator import __main__ as program
from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.gui.shell.navigation import recent
from annotator.gui.shell.start import StartPage
from annotator.gui.shell.window import Window
from annotator.gui.widgets.fields import GrowingEdit
from tests.material.sent_apart import annotators, coordinated, returned, task_for
from tests.windows.using import owned


@pytest.fixture
def study(tmp_path):
    return coordinated(tmp_path / "study")


@pytest.fixture
def task(study, tmp_path):
    return task_for(study, annotators(study)[0].id, tmp_path / "mail")


def window_of(goldsmith, qtbot, path=None):
    """The window, once it shows a project, and the one at `path` when that is given."""
    qtbot.waitUntil(
        lambda: isinstance(goldsmith._shown, Window) and (path is None or goldsmith._shown.shows(path)),
    )
    return goldsmith._shown


def told(goldsmith, qtbot, words):
    """Wait until the message bar says so."""
    qtbot.waitUntil(lambda: words in goldsmith._shown.messages.text())
    return goldsmith._shown.messages


def drop(widget, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    widget.dropEvent(
        QDropEvent(
            QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )  # fmt: skip


def with_a_third_item(study, tmp_path):
    ana = annotators(study)[0]
    item_id = items.add(study, "What is gold worth?", "Technical Details", "Metals").subject
    assignments.assign_one(study, item_id, ana.id, Stage.RUBRIC)
    return task_for(study, ana.id, tmp_path / "second mail")


@pytest.mark.parametrize(
    "name", ["a.goldsmith", "A B.GOLDSMITH-TASK", "c.goldsmith-work", "d.goldsmith-task.zip"]
)
def test_files_of_ours_open_the_window(name, monkeypatch):
    opened = []
    monkeypatch.setattr(sys, "argv", ["goldsmith", name])
    monkeypatch.setattr("annotator.gui.shell.frame.appear", lambda project: None)
    monkeypatch.setattr("annotator.gui.shell.start.run", lambda _, path: opened.append(str(path)) or 0)
    assert program.main() == 0
    assert opened == [name]


def test_a_task_becomes_a_project_beside_it_and_says_where(goldsmith, task, qtbot):
    first = goldsmith.show(task)
    assert isinstance(first, StartPage)
    assert "Opening the task" in first.messages.text()
    window = window_of(goldsmith, qtbot)
    path = window.session.project.path
    assert path.parent == task.parent
    assert items.count(window.session.project) == 2
    assert window.session.project.person.name == "Ana Silva"
    assert "2 new items" in window.messages.text()
    assert path.name in window.messages.text()
    assert recent() == [path.resolve()]


def test_a_task_dropped_on_its_own_window_brings_it_up_to_date_unless_it_is_refused(
    goldsmith, study, task, tmp_path, qtbot
):
    goldsmith.show(task)
    before = window_of(goldsmith, qtbot)
    path = before.session.project.path
    before.show_page("Items").search.setText("typed")
    task.write_bytes(b"junk")
    drop(before, task)
    qtbot.waitUntil(lambda: before.messages.level == "error")
    assert goldsmith._shown is before
    assert before.page.search.text() == "typed"
    drop(before, with_a_third_item(study, tmp_path))
    told(goldsmith, qtbot, "This task adds 1 new item.")
    assert goldsmith._shown is not before
    assert goldsmith._shown.shows(path)
    assert items.count(goldsmith._shown.session.project) == 3


def test_a_damaged_task_is_refused_in_words_and_leaves_nothing_behind(goldsmith, task, tmp_path, qtbot):
    cut = task.with_name("cut.goldsmith-task")
    cut.write_bytes(task.read_bytes()[:-20])
    goldsmith.show(cut)
    told(goldsmith, qtbot, "cut off")
    assert isinstance(goldsmith._shown, StartPage)
    assert not list(tmp_path.glob("mail/*.goldsmith"))


def test_a_task_is_not_taken_into_a_project_open_elsewhere(goldsmith, study, task, tmp_path, qtbot):
    goldsmith.show(task)
    path = window_of(goldsmith, qtbot).session.project.path
    goldsmith.show(None)
    elsewhere = Project.open(path)
    elsewhere.hold()
    goldsmith.show(with_a_third_item(study, tmp_path))
    bar = told(goldsmith, qtbot, "is open in another Goldsmith")
    assert "Drop the task on that window" in bar.text()
    assert items.count(elsewhere) == 2


def test_a_making_that_was_cut_short_is_gone_on_with(goldsmith, task, qtbot):
    goldsmith.show(task)
    path = window_of(goldsmith, qtbot).session.project.path
    goldsmith.show(None)
    path.unlink()
    Project.create(path).close()
    goldsmith.show(task)
    assert items.count(window_of(goldsmith, qtbot, path).session.project) == 2


def test_returned_work_leads_to_the_project_it_belongs_to(goldsmith, study, tmp_path, qtbot):
    work = returned(study, annotators(study)[0].id, tmp_path / "ana")
    study.close()
    goldsmith.show(study.path)
    goldsmith.show(None)
    goldsmith.show(work)
    bar = told(goldsmith, qtbot, "is work that came back to “Study of gold”.")
    bar._act.click()
    window = window_of(goldsmith, qtbot, study.path)
    assert window.page.NAME == "Exchange"
    qtbot.waitUntil(lambda: window.page.intake.tree.topLevelItemCount() == 1)


def test_returned_work_dropped_on_a_coordinators_window_is_looked_at_there(goldsmith, study, tmp_path, qtbot):
    work = [returned(study, person.id, tmp_path / person.alias) for person in annotators(study)]
    assert people.someone(study).name == "Me"
    study.close()
    window = goldsmith.show(study.path)
    drop(window, *work)
    assert window.page.NAME == "Exchange"
    qtbot.waitUntil(lambda: window.page.intake.tree.topLevelItemCount() == 2)


def test_a_file_that_the_system_asks_for_is_passed_on():
    """In a process of its own: there is only one application to a process, and this one's is plain."""
    words = (
        "import sys; from annotator.gui.shell.frame import Application; "
        "from PySide6.QtGui import QFileOpenEvent; application = Application(sys.argv[:1]); "
        "application.file_asked.connect(print); "
        "application.sendEvent(application, QFileOpenEvent('/mail/a.goldsmith-task'))"
    )
    result = subprocess.run([sys.executable, "-c", words], capture_output=True, encoding="utf-8", check=True)
    assert result.stdout.strip() == "/mail/a.goldsmith-task"


def test_a_dropped_file_never_becomes_words_of_a_text_field(qtbot):
    edit = owned(qtbot, GrowingEdit())
    file, words = QMimeData(), QMimeData()
    file.setUrls([QUrl.fromLocalFile("/mail/a.goldsmith-task")])
    words.setText("Explains the weight of gold")
    assert not edit.canInsertFromMimeData(file)
    assert edit.canInsertFromMimeData(words)
