"""The Keep tab of the Contest page: by key a task becomes an item, is held back with its reason, and may return."""

import pytest

from annotator.actions.adjudication import kept_tasks
from annotator.actions.contests import contest_files, contest_keeping
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.domain.experts.person import Role
from tests.actions.contests.contest_project import contest_project
from tests.windows.labelling_keys import be_active, press, type_words
from tests.windows.settling import settle

MATCHES = "first,second,winner,confidence,rater\nt01,t07,t01,0.9,m\nt02,t08,t02,0.8,m\nt03,t09,t03,0.7,m\n"


@pytest.fixture
def project(tmp_path):
    project = contest_project(tmp_path)
    (tmp_path / "m.csv").write_text(MATCHES, "utf-8")
    contest_files.import_matches(project, tmp_path / "m.csv")
    return project


@pytest.fixture
def page(project, window_over, qtbot):
    window = window_over(project, "Contest")
    be_active(window, qtbot)
    press("Alt+3")
    settle(window.page)
    return window.page


def shown(page):
    part = page.keeping
    heads = {key: place for place, key in enumerate(part.model.whole.keys)}
    lines = part.model.whole.lines
    return {line.cells[heads["task"]].words: line.cells[heads["decision"]].words for line in lines}


def test_a_task_is_kept_held_back_and_kept_again_by_keys(page, project):
    press("Ctrl+K")
    assert shown(page)["s1-t01"] == "kept"
    (item,) = kept_tasks.made(project).values()
    assert items.read(project, item).key == "s1-t01"
    press("Ctrl+L")
    assert "Say why" in page.keeping.answer.text()
    type_words("Needs a licence")
    press("Return")
    assert shown(page)["s1-t01"] == "held back: Needs a licence"
    assert items.read(project, item).retired
    press("Ctrl+D")
    assert shown(page)["s1-t01"] == ""
    press("Ctrl+K")
    assert kept_tasks.made(project) == {"t01": item}
    assert not items.read(project, item).retired


def test_the_best_are_kept_within_the_limit_and_the_choice_stays(page, project):
    part = page.keeping
    part.top.setValue(7)
    settle(page)
    assert part.found.ranking.top == 7
    part.top.setValue(5)
    settle(page)
    part.of_one.setValue(2)
    press("Down", 2)
    assert part.words.toPlainText().startswith("Compile a taxonomy")
    press("Ctrl+Shift+K")
    settle(page)
    found = shown(page)
    assert found["s1-t03"] == "held back: 2 of the seminar s1 are kept already"
    assert sum(words == "kept" for words in found.values()) == len(kept_tasks.made(project)) == 4
    assert part.words.toPlainText().startswith("Compile a taxonomy")
    assert part.reason.text().startswith("2 of the seminar s1")
    assert "held back" in part.answer.text()


def test_an_item_made_or_retired_elsewhere_shows(page, project):
    seminar = next(one for one in items.ids(project) if items.read(project, one).key == "s2")
    page.desk.do(kept_tasks.keep, seminar, "t07")
    assert shown(page)["s2-t01"] == "kept"
    contest_keeping.keep(project, [contest_keeping.KeptTask("t02", True)], page.keeping.found.tasks)
    page.desk.do(items.change, kept_tasks.made(project)["t02"], retired=True)
    assert shown(page)["s1-t02"] == "held back: its item was retired"


def test_a_reason_that_is_being_typed_stays_while_something_else_changes(page, project):
    press("Ctrl+L")
    type_words("Needs a lic")
    page.desk.do(items.change, items.ids(project)[0], subject="Hydrogen")
    settle(page)
    assert page.keeping.reason.text() == "Needs a lic"
    page.keeping.table.setFocus()
    press("Down")
    assert page.keeping.reason.text() == ""


def test_standings_are_for_coordinators(project, window_over):
    people.add_person(project, "Ben", (Role.ANNOTATOR,), "R2")
    project.work_as(people.known(project, "R2"))
    page = window_over(project, "Contest").page
    for place in (1, 2):
        assert not page.tabs.isTabVisible(place)
        page.turn(place)
        assert page.tabs.currentIndex() == 0


def test_without_comparisons_the_tab_says_what_is_lacking(tmp_path, window_over):
    page = window_over(contest_project(tmp_path), "Contest").page
    page.turn(2)
    settle(page)
    part = page.keeping
    assert part.stack.currentWidget() is part.empty
    assert not any(button.isEnabled() for button in part.bar.buttons.values())
    page.press("keep_best")
    page.press("keep_task")
    settle(page)
    assert kept_tasks.made(page.desk.project) == {}
