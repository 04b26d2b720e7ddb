"""The views: every one is reached by the keyboard, shows something of the sample, and leaves as a table or picture."""

import csv
import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from annotator.actions.papers.paper_tables import FIRST, VIEWS
from annotator.actions.project import people
from annotator.actions.project.people import new_project
from annotator.domain.experts.person import Role
from tests.gui.results.conftest import at, cells, choose_last, counted, go, heads
from tests.windows.labelling_keys import be_active

ALIVE = (
    "wins",
    "plan",
    "retrieval",
    "overview",
    "items",
    "efficiency",
    "length",
    "domains",
    "errors",
    "pilot",
    "rubrics",
    "selection",
    "gold",
)


@pytest.fixture
def sample_at(sample, window_over, qtbot):

    def open_(name, body="view"):
        sample.work_as(next(person for person in people.people(sample) if person.has(Role.COORDINATOR)))
        return go(window_over(sample, "Results", view=name).page.viewer, qtbot, name, body)

    return open_


@pytest.fixture
def sample_page(sample_at):
    return sample_at("overview")


@pytest.mark.parametrize("name", ALIVE)
def test_the_view_has_something_to_show_in_the_sample(sample_at, qtmodeltester, name):
    sample_page = sample_at(name)
    assert sample_page.view.model.rowCount() > 0
    qtmodeltester.check(sample_page.view.model)
    assert sample_page.view.account.toPlainText()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("errors", "Every response that was looked at counts, also one without any error"),
        ("pilot", "gives no figure for it: here it is the standard deviation"),
        ("selection", "at least two raters have rated every dimension"),
        ("overview", "The judge is not shown the weight of the criterion"),
    ],
)
def test_where_a_view_differs_from_its_paper_is_said_once(sample_at, name, said):
    sample_page = sample_at(name)
    words = sample_page.view.account.toPlainText()
    assert words.count("Differences from the paper") == 1
    assert said in words


@pytest.mark.parametrize("name", ["preferences", "modes", "runs"])
def test_a_view_with_nothing_to_show_says_what_to_do(sample_at, name):
    sample_page = sample_at(name, "empty")
    view = next(view for view in VIEWS if view.name == name)
    assert sample_page.empty.isVisible()
    assert sample_page._lead.text() == f"Go to {view.page}"
    # One way to a page is enough.
    assert sample_page._other.isVisible() is (view.page != "Label")
    assert not sample_page.leaving.buttons["copy_results"].isEnabled()


def test_where_one_choice_has_no_figures_the_others_stay_in_reach(page, qtbot):
    go(page, qtbot, "tables", "empty", table=FIRST)
    assert page.choosers.lists["table"].isVisible()
    page.choosers.choose("table", "systems")
    at(page, qtbot)


def test_without_anything_judged_the_page_says_what_to_do(tmp_path, window_over, qtbot):
    page = window_over(new_project(tmp_path / "none.goldsmith"), "Results").page.viewer
    at(page, qtbot, "empty")
    assert page._lead.text() == "Go to Judges"


def test_all_views_are_listed_in_their_parts(page):
    listed = [page.views.item(n).text() for n in range(page.views.count())]
    assert listed[0] == "Systems"
    assert [words for words in listed if words not in ("Systems", "Reports", "The benchmark", "Papers")] == [
        v.title for v in VIEWS
    ]


def test_keys_turn_the_views_round_and_round(page, qtbot):
    be_active(page.window(), qtbot)
    page.views.turn(-1)
    assert page._name == VIEWS[-1].name
    page.views.turn(1)
    assert page._name == VIEWS[0].name
    qtbot.keyClick(page.view.table, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: page._name == VIEWS[1].name)


def test_f6_goes_from_part_to_part(page, qtbot):
    be_active(page.window(), qtbot)
    page.view.table.setFocus()
    page.other_pane()
    assert page.view.account.hasFocus()
    page.other_pane()
    assert page.views.hasFocus()
    page.other_pane()
    assert page.view.table.hasFocus()


def test_a_table_is_searched_by_words(sample_at):
    sample_page = sample_at("pilot")
    whole = sample_page.view.model.rowCount()
    word = cells(sample_page)[1].split()[1]
    sample_page.view.sought.setText(word)
    sample_page.view._seek()
    assert 0 < sample_page.view.model.rowCount() < whole
    assert all(
        word.casefold() in " ".join(map(str, cells(sample_page, n))).casefold()
        for n in range(sample_page.view.model.rowCount())
    )


def test_the_next_table_of_a_view_is_one_key_away(sample_at):
    sample_page = sample_at("pilot")
    sample_page.view.next_sheet()
    assert heads(sample_page)[0] == "Weight"
    sample_page.view.next_sheet()
    assert heads(sample_page)[0] == "Item"


def test_the_matrix_is_that_of_the_chosen_report(adra_page, qtbot):
    go(adra_page, qtbot, "plan")
    row = next(n for n in range(4) if cells(adra_page, n)[1] == "深度研究智能体")
    adra_page.view.table.setCurrentIndex(adra_page.view.model.index(row, 4))
    adra_page.view.next_sheet()
    adra_page.desk.wait()
    qtbot.waitUntil(lambda: "深度研究智能体" in adra_page.view.told.text())
    assert adra_page.view.model.rowCount() == 2


def test_the_table_in_view_is_copied_with_its_intervals(page):
    page.leaving.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[:4] == ["System", "Coverage", "Coverage, low", "Coverage, high"]
    assert len(lines) == 3
    assert page.hint.text() == "Copied 2 lines, with full precision."


def test_what_is_narrowed_leaves_narrowed(page, tmp_path):
    page.view.model.seek("alpha")
    page.leaving.save_table(tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text("utf-8-sig").splitlines()))
    assert [row["system"] for row in rows] == ["Alpha"]
    page.leaving.save_table(tmp_path / "a.json")
    assert len(json.loads((tmp_path / "a.json").read_text("utf-8"))["rows"]) == 1


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_the_picture_is_saved_and_the_same_twice(page, tmp_path, ending, start):
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        page.leaving.save_picture(path)
    page.desk.wait()
    assert paths[0].read_bytes().startswith(start)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_file_that_cannot_be_written_is_said(page, tmp_path, qtbot):
    with qtbot.waitSignal(page.desk.refused) as told:
        page.leaving.save_table(tmp_path / "a.xls")
    assert told.args[0].happened == "A table cannot be saved as “.xls”."
    assert told.args[0].happened in page.window().messages.text()
    assert not (tmp_path / "a.xls").exists()


def test_ratings_are_not_shown_to_raters(sample_page, qtbot):
    project = sample_page.desk.project
    project.work_as(next(person for person in people.people(project) if not person.has(Role.COORDINATOR)))
    go(sample_page, qtbot, "selection", "denied")
    assert not sample_page.leaving.buttons["save_results"].isEnabled()


def test_another_project_is_held_beside_this_one_and_let_go_of(sample_at, sample_file, tmp_path, qtbot):
    other = tmp_path / "other.goldsmith"
    other.write_bytes(sample_file.read_bytes())
    sample_page = sample_at("rubrics")
    sample_page.compare_with(other)
    sample_page.desk.wait()
    qtbot.waitUntil(lambda: heads(sample_page)[1:3] == ["settled", "other"])
    sample_page.view.tabs.setCurrentIndex(0)
    # The same rubrics on the same reports: no difference.
    assert all(line.cells[3].value == 0 for line in sample_page.view.model.whole.lines)
    assert sample_page.choosers.file.text() == "Stop comparing with other"


def test_a_file_that_is_no_project_is_refused_and_forgotten(sample_at, tmp_path, qtbot):
    bad = tmp_path / "bad.goldsmith"
    bad.write_text("no project", "utf-8")
    sample_page = sample_at("rubrics")
    with qtbot.waitSignal(sample_page.desk.refused):
        sample_page.compare_with(bad)
    at(sample_page, qtbot)
    assert sample_page._file == ""


@pytest.mark.parametrize("part", dict.fromkeys(view.part for view in VIEWS))
def test_a_choice_made_while_another_view_is_counted_belongs_to_the_view_it_was_made_in(
    sample_page, qtbot, part
):
    for place, view in enumerate(VIEWS):
        if view.part == part:
            for first in (VIEWS[place - 1].name, "overview"):
                choose_while_counting(sample_page, qtbot, first, view)


def choose_while_counting(page, qtbot, first, then):
    page.show_view(first)
    counted(page, qtbot)
    before = dict(page._chosen.get(then.name, {}))
    page.show_view(then.name)
    made = choose_last(page)
    counted(page, qtbot)
    assert page.title.text() == then.title
    assert page.body.currentWidget() is not page.denied
    if first != then.name:
        assert page._chosen.get(then.name, {}) == before
        assert made is None or page._chosen[first][made[0]] == made[1]


def test_what_is_saved_is_called_by_the_view_that_is_shown(page, qtbot):
    go(page, qtbot, "items")
    page.show_view("efficiency")
    assert page.leaving.name == "items"
    counted(page, qtbot)
    assert page.leaving.name == "efficiency"


def listed(page):
    lines = map(page.views.item, range(page.views.count()))
    return {line.data(Qt.ItemDataRole.UserRole) for line in lines if not line.isHidden()} - {None}


def test_views_that_rest_on_nothing_are_listed_on_demand_with_what_they_lack(sample_page, qtbot):
    there = listed(sample_page)
    assert {"overview", "plan"} <= there
    assert not there & {"contest", "leakage", "preferences"}
    be_active(sample_page.window(), qtbot)
    qtbot.keyClick(sample_page, Qt.Key.Key_A, Qt.KeyboardModifier.AltModifier)
    assert sample_page.every.isChecked()
    assert listed(sample_page) == {view.name for view in VIEWS}
    lines = map(sample_page.views.item, range(sample_page.views.count()))
    line = next(one for one in lines if one.data(Qt.ItemDataRole.UserRole) == "contest")
    assert "goldsmith contest run FILE" in line.toolTip()
    go(sample_page, qtbot, "contest", "empty")
    sample_page.every.toggle()
    # The one in view stays in the list.
    assert listed(sample_page) == there | {"contest"}
    sample_page.views.turn(-1)
    assert sample_page._name in there


def test_a_papers_table_without_figures_says_which_steps_are_missing(sample_page, qtbot):
    go(sample_page, qtbot, "tables", "empty", table="gold-plan")
    qtbot.waitUntil(lambda: "gold-plan injection" in sample_page.empty._words.text())
    assert "goldsmith respond FILE --mode gold-plan-injection" in sample_page.empty._words.text()
    assert sample_page._lead.text() == "Go to Material"
    go(sample_page, qtbot, "preferences", "empty")
    assert sample_page._lead.text() == "Go to Label"
