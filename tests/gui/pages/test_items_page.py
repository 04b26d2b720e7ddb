"""Where a project is begun and filled: Home, the list of items, and imports with a preview first."""

import csv
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QMenu, QPushButton

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, settings
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import add_person, known, new_project
from annotator.cli import run_command
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.texts.canonical import now
from annotator.gui.pages import items as page_module
from annotator.gui.pages.home import StepButton
from annotator.gui.pages.importing import CollectedFilter
from annotator.gui.parts import below, holds
from annotator.gui.shell.start import StartPage
from tests.material import eprint_folder as made
from tests.projects.judged_project import peer_folder
from tests.projects.small_projects import empty_project
from tests.windows.using import be_active, drop, focus, owned, press, settle


def questions(page):
    return [page._model.line(row).question for row in range(page._model.rowCount())]


def test_typing_narrows_the_list_and_return_goes_to_write_the_gold_of_the_item_and_begins_nothing(
    small, window_over, qtbot
):
    window = be_active(window_over(small), qtbot)
    page = window.page
    qtbot.keyClicks(page.search, "residual")
    qtbot.waitUntil(lambda: page._model.rowCount() == 1)
    assert (questions(page), page.count.text()) == (["What do residual connections do?"], "1 of 2")
    page.search.clear()
    new = window.session.do(items.add, "How deep is the ocean?").subject
    qtbot.waitUntil(lambda: page._model.rowCount() == 3)
    page.table.selectRow(2)
    press("Return", at=page.table)
    assert (window.page.NAME, focus().text()) == ("Author", "Start rubric")
    assert not annotating.artifacts_of(small, new)
    press("Return")
    assert annotating.artifacts_of(small, new)


def test_letter_2_an_item_is_edited_retired_and_brought_back_by_keyboard(small, window_over, qtbot):
    page = be_active(window_over(small), qtbot).page
    page.table.selectRow(0)
    press("Alt+Return", at=page.table)
    page.form.origin.setText("forum")
    page.form.save.click()
    assert items.read(small, items.ids(small)[0]).origin == "forum"
    press("Ctrl+Backspace")
    assert questions(page) == ["Who?"]
    page.state.setCurrentText("retired")
    assert (questions(page), page.author.isEnabled()) == (["What do residual connections do?"], False)
    press("Ctrl+Backspace", at=page.table)
    assert not items.ids(small, items.Filter(retired=True))
    page.state.setCurrentIndex(0)
    assert len(questions(page)) == 2


def test_the_rest_of_a_long_list_comes_after_its_beginning_where_it_is_still_asked_for(
    small, window_over, qtbot, monkeypatch
):
    for number in range(3, 13):
        items.add(small, f"How many grains make heap {number}?")
    monkeypatch.setattr(page_module, "FIRST", 5)
    window = window_over(small)
    model, page = page_module.ItemsModel(window.session), window.page
    model.narrow(items.Filter())
    assert model.rowCount() == 5
    qtbot.waitUntil(lambda: model.rowCount() == 12)
    assert [model.line(row).key for row in range(12)] == [str(number) for number in range(1, 13)]
    model.narrow(items.Filter())
    model._fetch_rest()
    model.narrow(items.Filter(words="residual"))
    qtbot.waitUntil(lambda: not window.session._tasks_behind)
    assert (model.rowCount(), model.line(0).key) == (1, "1")
    # What was chosen far down is chosen again when the page is shown anew.
    qtbot.waitUntil(lambda: page._model.rowCount() == 12)
    page.table.selectRow(10)
    page.navigate({})
    qtbot.waitUntil(lambda: page._row() == 10)
    assert page._model.id_at(page._row()) == items.ids(small)[10]


def named(part, words):
    return next(button for button in below(part, QPushButton) if words in button.accessibleName())


@pytest.fixture
def home(window_over, qtbot):
    """Opens a project at Home, once its steps are there."""

    def open_(project):
        page = window_over(project, "Home").page
        qtbot.waitUntil(lambda: any(below(page.steps, StepButton)))
        return page

    return open_


def test_home_counts_again_after_a_change_keeps_the_keyboard_and_leads_to_each_step(small, home, qtbot):
    page = home(small)
    next(iter(below(page.steps, StepButton))).setFocus()
    page.session.do(items.add, "One more?")
    qtbot.waitUntil(lambda: ": 3" in next(iter(below(page.steps, StepButton))).accessibleName())
    assert holds(page)
    named(page.steps, ": 3").click()
    assert page.window().page.NAME == "Items"


def test_a_reminder_for_who_is_late_is_copied(small, home):
    people.add_person(small, "Ann Lee", (Role.ANNOTATOR,), "R7")
    late, first = people.known(small, "R7").id, items.ids(small)[0]
    assignments.assign_one(small, first, late, Stage.RUBRIC, due=now() - timedelta(days=2))
    named(home(small).next, "R7 is 2 days late").click()
    assert "Ann Lee" in QApplication.clipboard().text()


def test_the_first_question_is_written_at_once(tmp_path, home):
    page = home(empty_project(tmp_path))
    window = page.window()
    named(page.next, "Add an item").click()
    assert holds(window.page.form)
    window.page.form.done.emit()
    # Only then: whoever comes back to the list finds the list.
    window.show_page("Home")
    window.show_page("Items")
    assert not window.page.form.isVisible()


def table(path, *rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def page(tmp_path, window_over, monkeypatch):
    monkeypatch.setattr(QMenu, "popup", lambda *_: None)
    return window_over(new_project(tmp_path / "new.goldsmith"), "Import").page


def read(page, *paths):
    page.look_at([*paths])
    settle(page)
    return page


def say(page, path, words):
    table = page.matching.table
    rect = table.visualRect(table.rows.index(0, page.matching.tables[0].paths.index(path)))
    table.pressed.emit(table.indexAt(rect.center()))
    menu = table.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)[-1]
    next(action for action in menu.actions() if action.text() == words).trigger()
    settle(page)


def heads(page):
    rows = page.matching.table.rows
    return [rows.index(0, column).data() for column in range(rows.columnCount())]


def test_what_files_are_is_seen_by_their_content(page, tmp_path):
    (tmp_path / "talk.txt").write_text("A: Salt is old.\n\nB: It is.\n", encoding="utf-8")
    read(page, tmp_path / "talk.txt")
    assert page.chosen.text().startswith("Recognised: Transcripts")
    assert page.pseudonyms.isVisible()
    read(page, peer_folder(tmp_path / "peer", 1, 1, 1))
    assert page.chosen.text().startswith("Recognised: ResearcherBench")
    page.clear.click()
    assert "drop them" in page.chosen.text()


def test_a_mapping_of_the_window_gives_the_same_by_command(page, tmp_path, monkeypatch, capsys):
    # Columns of no known name, and two systems whose tables are alike and that only their files tell apart.
    asked = table(tmp_path / "fragen.csv", ["Kennung", "Frage", "Anmerkung"], ["a", "Gold beschreiben", "x"])
    told = [
        table(tmp_path / f"{name}.csv", ["Frage", "Antwort"], ["Gold beschreiben", name])
        for name in ("um", "ol")
    ]
    read(page, asked)
    say(page, "Kennung", "Item")
    say(page, "Frage", "Question")
    assert heads(page) == ["Item", "Question", "Keep with the item"]
    page.add(told)
    settle(page)
    for place in (1, 2):
        page.matching.which.setCurrentIndex(place)
        page.matching.match("Frage", "question")
        page.matching.match("Antwort", "report")
        settle(page)
    assert page.matching.constants.text() == "System = ol"
    mapping, other = tmp_path / "mapping.json", tmp_path / "other.goldsmith"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(mapping), ""))
    page.matching.mapping.menu().actions()[0].trigger()
    assert run_command(["import", *map(str, (other, asked, *told)), "--mapping", str(mapping)]) == 0
    assert str(page._preview_look.preview) == "1 item, 2 systems, 2 responses"
    assert str(page._preview_look.preview) in capsys.readouterr().out
    read(page, asked)
    page.matching.load(mapping)
    settle(page)
    assert heads(page) == ["Item", "Question", "Keep with the item"]
    page.matching.load(Path("deepresearch_bench_2"))
    settle(page)
    assert "none of these tables" in page.window().messages.text()


def test_a_table_is_shown_after_a_file_that_could_not_be_read(page, tmp_path):
    read(page, table(tmp_path / "a.csv", ["Frage", "Fach"], ["Gold?", "Chemie"]))
    (tmp_path / "cut.json").write_text('{"a": [1,2', encoding="utf-8")
    read(page, tmp_path / "cut.json")
    assert page.matching.isHidden()
    page.window().resize(960, 600)
    read(page, table(tmp_path / "b.csv", ["Question", "Subject", "Type"], ["Salt?", "Food", "Other"]))
    assert heads(page) == ["Question", "Subject", "Question type"]


def test_rows_that_are_refused_are_counted_saved_and_left_out_knowingly(page, tmp_path, monkeypatch):
    rows = ["id", "prompt", "other"], ["1", "", "What?"], ["2", "Why?", "How?"], ["3", "", "Whence?"]
    read(page, table(tmp_path / "=t.csv", *rows))
    assert (page.skip.text(), page.go.isEnabled()) == ("Import the rest without 2 refused rows", False)
    page.skip.click()
    assert page.go.isEnabled()
    saved = tmp_path / "problems.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(saved), ""))
    page._save_problems()
    assert list(csv.reader(saved.read_text("utf-8-sig").splitlines())) == [
        ["file", "row", "reason"],
        ["'=t.csv", "row 2", "its question is empty"],
        ["'=t.csv", "row 4", "its question is empty"],
    ]
    say(page, "other", "Question")
    assert (page.wrong.isHidden(), page.go.isEnabled()) == (True, True)
    page.matching.constants.setText("Mood = grey")
    page.matching._take_constants()
    assert "Mood = grey" in page.window().messages.text()


def test_hundreds_of_columns_are_offered_without_hundreds_of_boxes(page, tmp_path):
    scores = [f"score {number}" for number in range(298)]
    read(page, table(tmp_path / "wide.csv", ["id", "question", *scores], ["1", "Why?", *scores]), tmp_path)
    assert page.matching.which.itemText(1).startswith("wide.csv (2)")
    assert (heads(page)[2:], len(page.matching.table.findChildren(QComboBox))) == (
        ["Keep with the item"] * 298,
        1,
    )
    page.matching.match("question", "")
    assert heads(page) == ["Item", *["Leave out"] * 299]


def test_weights_are_asked_about_once(page, tmp_path, qtbot):
    rows = (
        ["id", "question", "criterion", "weight"],
        ["1", "Why?", "Says why", 9],
        ["1", "Why?", "Guesses", -8],
    )
    read(page, table(tmp_path / "t.csv", *rows))
    assert page.weights.text() == "Allow weights -8 to 9 in this project"
    assert (page.refused.rowCount(), page.go.isEnabled()) == (1, False)
    page.weights.click()
    settle(page)
    assert (page.refused.rowCount(), page.go.isEnabled()) == (0, True)
    page.go.click()
    qtbot.waitUntil(lambda: "The import is done" in page.window().messages.text())
    assert settings.allowed(page.session.project).text == "-8 to 9"


def test_a_drop_is_for_who_may_import(tmp_path, window_over, qtbot):
    project, file = new_project(tmp_path / "new.goldsmith"), table(tmp_path / "t.csv", ["id"], ["1"])
    add_person(project, "Ada", (Role.ANNOTATOR,), "Ada")
    project.work_as(known(project, "Ada"))
    window = window_over(project)
    drop(window, file)
    assert "Only a coordinator imports files" in window.messages.text()
    assert window.page.NAME == "Items"
    reader = window_over(Project.open(tmp_path / "new.goldsmith", readonly=True))
    drop(reader, file)
    assert "read only: nothing was imported" in reader.messages.text()
    start = owned(qtbot, StartPage([]))
    drop(start, file)
    assert "Open or make a project first" in start.messages.text()


def test_collected_papers_show_what_each_stage_left_and_why(tmp_path, window_over, qtbot):
    page = window_over(new_project(tmp_path / "new.goldsmith"), "Import").page
    # One is kept, one is of a second version and one without LaTeX.
    papers = {"2506.00001v1": made.whole(), "2506.00002v2": made.whole(), "2506.00003v1": b"%PDF"}
    page.look_at([made.folder(tmp_path / "papers", papers)])
    qtbot.waitUntil(page.go.isEnabled)
    view = page.collected

    def line():
        assert view.papers.topLevelItemCount() == 1
        return [view.papers.topLevelItem(0).text(column) for column in (0, 2)]

    assert view.stages.text() == "3 candidates → 2 after the list → 1 after the source → 1 kept"
    assert line() == ["2506.00001v1", "5 references, 2 on arXiv, 0 abstracts"]
    assert "\\citet{fir}" in view.latex.toPlainText()
    view.shown.hold(CollectedFilter.SOURCE)
    assert line() == ["2506.00003v1", "Only a PDF was submitted, no LaTeX."]
    assert (view.texts.isHidden(), page.preview.isVisible()) == (True, False)
