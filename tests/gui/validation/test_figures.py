"""Figures of validation: judges beside people, the counted look, what lies behind, and nothing bare for one class."""

import re

import pytest
from PySide6.QtCore import Qt

from annotator.actions.project.people import new_project
from annotator.actions.sets import validation_sets
from annotator.actions.validation.validation_views import VIEWS
from annotator.domain.texts.change import Change
from tests.actions.validation.test_judge_choice import price
from tests.gui.results.conftest import at, cells, choose_last, counted, go, heads, opened
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.templates import once
from tests.windows.labelling_keys import be_active, press

NAMES = ("深度研究智能体", "باحث عميق")
# Not a number, or a perfect value with nothing beside it.
BARE = re.compile(r"\b(nan|inf)\b|^(1\.0+|0\.000)$", re.IGNORECASE)


def labelled(path, ann, ben, **judged):
    """A locked set of all reports of two people, and what each judge says, at a cent a call."""
    project = validation_project(path, 4, NAMES)
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8))
    for alias, says in (("R2", ann), ("R3", ben)):
        person_says(project, alias, says)
    for name, says in judged.items():
        judge_says(project, name, says)
        price(project, name, 0.01)
    validation_sets.lock(project, "Spring")
    return project


def first(at):
    return "yes" if at[1] == NAMES[0] else "no"


@once
def differing(path):
    """People differ on one report; “same” follows R2, “yes” always says so."""
    ben = lambda at: "yes" if at == (1, NAMES[1], 1) else first(at)  # noqa: E731
    return labelled(path, first, ben, same=first, yes=lambda _: "yes")


@pytest.fixture
def project(tmp_path):
    made = differing(tmp_path)
    yield made
    made.close()


@pytest.fixture
def viewer(project, window_over, qtbot):
    found = at(window_over(project, "Validate", part="Figures").page.figures.viewer, qtbot)
    go(found, qtbot, "judges")
    return found


def test_the_first_view_answers_in_words_above_a_picture(project, window_over, qtbot):
    found = at(window_over(project, "Validate", part="Figures").page.figures.viewer, qtbot)
    assert found.title.text() == "May a judge stand in?"
    answers = {cells(found, row)[0]: cells(found, row)[1] for row in range(2)}
    assert answers.keys() == {"same", "yes"}
    assert set(answers.values()) <= {"Yes", "No", "Not yet known"}
    for name, answer in answers.items():
        assert f"“{name}”: {answer}, because " in found.view.answers.text()
    assert found.view.answers.font().pointSizeF() == found.view.table.font().pointSizeF()
    assert found.view.told.text().startswith("\u200eCompared with ")
    assert found.view.picture().name == "difference"
    qtbot.waitUntil(lambda: found.view.pictures.view.image is not None)


def test_judges_and_people_stand_beneath_one_another_with_n(viewer, qtmodeltester):
    qtmodeltester.check(viewer.view.model)
    said = {cells(viewer, row)[0] for row in range(viewer.view.model.rowCount())}
    assert said == {"same", "yes", "people", "R2", "R3"}
    assert {"Accuracy", "Cohen's κ", "Pairs", "Units", "Missing"} <= set(heads(viewer))


@pytest.mark.usefixtures("small_cases")
@pytest.mark.parametrize(
    "name",
    [view.name for view in VIEWS if view.name in ("answer", "judges", "choice", "corrected", "rulings")],
)
def test_every_view_has_a_table_a_picture_and_an_account(viewer, qtbot, name):
    go(viewer, qtbot, name)
    assert viewer.view.model.rowCount() > 0
    qtbot.waitUntil(lambda: viewer.view.pictures.view.image is not None)
    assert "n = " in viewer.view.account.toPlainText()


def test_all_views_are_listed(viewer):
    listed = [viewer.views.item(n).text() for n in range(viewer.views.count())]
    assert [words for words in listed if words in {view.title for view in VIEWS}] == [v.title for v in VIEWS]


@pytest.mark.usefixtures("small_cases")
def test_the_account_says_definition_interval_and_n(viewer):
    column = heads(viewer).index("Cohen's κ")
    viewer.view.table.setCurrentIndex(viewer.view.model.index(0, column))
    # Whether people differ in the part in view hangs on the items that are drawn for it.
    interval = "no spread" if "no spread" in cells(viewer)[column] else "["
    said = viewer.view.account.toPlainText()
    for words in ("agreement beyond chance", f"95 % interval {interval}", "n = ", "jackknife over"):
        assert words in said


def test_the_picture_is_that_of_the_chosen_figure(viewer):
    model = viewer.view.model
    viewer.view.table.setCurrentIndex(model.index(0, heads(viewer).index("MCC")))
    assert viewer.view.picture().name == "mcc"


def test_a_figure_leads_to_its_units_and_on_to_the_judgements(viewer, qtbot):
    row = next(n for n in range(5) if cells(viewer, n)[0] == "yes")
    behind = opened(viewer, qtbot, row, heads(viewer).index("Precision"))
    assert behind.title.text() == "yes: Precision"
    assert "pairs of values" in behind.note.text()
    behind.items_table.activated.emit(behind.items.index(0, 0))
    viewer.desk.wait()
    qtbot.waitUntil(lambda: behind.levels.currentIndex() == 1)
    assert {behind.judgements.index(n, 5).data() for n in range(behind.judgements.rowCount())} == {
        "R2", "R3", "same", "yes",
    }  # fmt: skip
    for _ in range(2):
        behind.leave.click()
    assert viewer.body.currentWidget() is viewer.view


def test_the_test_part_is_asked_for_before_it_is_opened(viewer, project, qtbot):
    go(viewer, qtbot, "judges", "gate", set="Spring", part="test")
    assert viewer.gate.open.text() == "Open it: look 1"
    assert validation_sets.named(project, "Spring").openings == 0
    assert not viewer.leaving.buttons["save_results"].isEnabled()
    viewer.gate.open.click()
    at(viewer, qtbot)
    assert validation_sets.named(project, "Spring").openings == 1
    assert "viewed 1 time" in viewer.view.told.text()


def test_who_stays_with_the_dev_part_counts_nothing(viewer, project, qtbot):
    go(viewer, qtbot, "judges", "gate", set="Spring", part="test")
    viewer.gate.stay.click()
    viewer.desk.wait()
    at(viewer, qtbot)
    assert "dev part" in viewer.view.told.text()
    assert validation_sets.named(project, "Spring").openings == 0


def test_one_look_covers_other_views_until_a_judge_says_something_new(viewer, project, qtbot):
    go(viewer, qtbot, "judges", "gate", set="Spring", part="test")
    viewer.gate.open.click()
    at(viewer, qtbot)
    go(viewer, qtbot, "choice", set="Spring", part="whole")
    assert validation_sets.named(project, "Spring").openings == 1
    judge_says(project, "new", lambda _: "no")
    viewer.on_change(Change("judgement", "x", "judge"))
    go(viewer, qtbot, "judges", "gate", set="Spring", part="test")
    assert viewer.gate.open.text() == "Open it: look 2"


def test_the_gate_gives_the_keyboard_to_the_answer_that_opens_nothing(viewer, project, qtbot):
    be_active(viewer.window(), qtbot)
    go(viewer, qtbot, "judges", "gate", set="Spring", part="test")
    qtbot.waitUntil(viewer.gate.stay.hasFocus)
    qtbot.keyClick(viewer.gate.stay, Qt.Key.Key_Space)
    viewer.desk.wait()
    at(viewer, qtbot)
    assert "dev part" in viewer.view.told.text()
    assert validation_sets.named(project, "Spring").openings == 0


def test_keys_turn_the_views(viewer, qtbot):
    be_active(viewer.window(), qtbot)
    press("Ctrl+Tab")
    qtbot.waitUntil(lambda: viewer.title.text() == "Choose a judge")
    at(viewer, qtbot)
    assert viewer.views.currentItem().text() == "Choose a judge"
    # Single people are lines of the agreement alone.
    lines = {cells(viewer, row)[0] for row in range(viewer.view.model.rowCount())}
    assert {"same", "yes"} <= lines
    assert "R2" not in lines
    press("Ctrl+Shift+Tab")
    qtbot.waitUntil(lambda: viewer.title.text() == "Agreement")
    assert viewer.views.currentItem().text() == "Agreement"


def test_figures_by_weight_are_saved_from_the_page(viewer, tmp_path):
    titles = [viewer.view.tabs.tabText(n) for n in range(viewer.view.tabs.count())]
    viewer.view.tabs.setCurrentIndex(
        next(n for n, title in enumerate(titles) if title.startswith("By weight"))
    )
    viewer.leaving.save_table(tmp_path / "table.csv")
    assert "f1_low" in (tmp_path / "table.csv").read_text("utf-8-sig").splitlines()[0]


def test_a_look_elsewhere_is_not_counted_anew_without_a_change(viewer, qtbot):
    asked = viewer._asked
    page = viewer.window().page
    page.turn(0)
    page.turn(1)
    qtbot.wait(30)
    assert viewer._asked == asked


def test_without_labels_the_page_says_what_to_do(tmp_path, window_over, qtbot):
    project = new_project(tmp_path / "none.goldsmith")
    found = at(window_over(project, "Validate", part="Figures").page.figures.viewer, qtbot, "empty")
    assert found._lead.text() == "Draw a set to label"
    for view in VIEWS:
        found.show_view(view.name)
        found.desk.wait()
        at(found, qtbot, "empty")
    project.close()


def test_one_class_gives_no_bare_figure_anywhere(tmp_path, window_over, qtbot):
    always = lambda _: "yes"  # noqa: E731
    project = labelled(tmp_path, always, always, one=always, two=always)
    found = at(window_over(project, "Validate", part="Figures").page.figures.viewer, qtbot)
    said = []
    for name in ("answer", "judges", "choice", "corrected", "rulings"):
        go(found, qtbot, name)
        for place in range(max(1, found.view.tabs.count())):
            found.view.tabs.setCurrentIndex(place)
            model = found.view.model
            said += [
                model.index(row, column).data()
                for row in range(model.rowCount()) for column in range(model.columnCount())
            ]  # fmt: skip
    assert "1.000  one class only" in said
    assert [words for words in said if BARE.search(words)] == []
    project.close()


def test_what_is_undefined_for_one_class_says_why(tmp_path, window_over, qtbot):
    always = lambda _: "yes"  # noqa: E731
    project = labelled(tmp_path, always, always, one=always)
    found = at(window_over(project, "Validate", part="Figures").page.figures.viewer, qtbot)
    go(found, qtbot, "judges")
    found.view.table.setCurrentIndex(found.view.model.index(0, heads(found).index("Cohen's κ")))
    assert "undefined" in found.view.account.toPlainText()
    assert "one class only" in found.view.account.toPlainText()
    project.close()


def test_a_choice_made_while_another_view_is_counted_belongs_to_the_view_it_was_made_in(viewer, qtbot):
    for first in VIEWS:
        for then in VIEWS:
            viewer.show_view(first.name)
            counted(viewer, qtbot)
            viewer.show_view(then.name)
            if (made := choose_last(viewer)) is not None:
                assert viewer._chosen[first.name][made[0]] == made[1]
            counted(viewer, qtbot)
            assert viewer.title.text() == then.title
