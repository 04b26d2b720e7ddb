"""Figures of validation: judges beside people, the counted look, what lies behind, and nothing bare for one class."""

import re

import pytest

from annotator.actions.sets import validation_sets
from tests.actions.validation.test_judge_choice import price
from tests.gui.results.conftest import at, cells, go, heads, opened
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.templates import once

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
    return differing(tmp_path)


@pytest.fixture
def viewer(project, window_over, qtbot):
    return at(window_over(project, "Validate", part="Figures").page.figures, qtbot)


@pytest.mark.usefixtures("small_cases")
def test_every_view_has_a_table_a_picture_and_an_account_and_the_test_part_is_asked_for_before_it_is_opened(
    viewer, project, qtbot, qtmodeltester
):
    assert viewer.title.text() == "May a judge stand in?"
    answers = {cells(viewer, row)[0]: cells(viewer, row)[1] for row in range(2)}
    assert answers.keys() == {"same", "yes"}
    assert set(answers.values()) <= {"Yes", "No", "Not yet known"}
    for name, answer in answers.items():
        assert f"“{name}”: {answer}, because " in viewer.view.answers.text()
    assert viewer.view.answers.font().pointSizeF() == viewer.view.table.font().pointSizeF()
    assert viewer.view.notes.text().startswith("\u200eCompared with ")
    assert viewer.view.picture().name == "difference"
    for name in ("answer", "judges", "choice", "corrected", "rulings"):
        go(viewer, qtbot, name)
        assert viewer.view.model.rowCount() > 0
        qtbot.waitUntil(lambda: viewer.view.pictures.view.image is not None)
        assert "n = " in viewer.view.account.toPlainText()
    go(viewer, qtbot, "judges")
    qtmodeltester.check(viewer.view.model)
    said = {cells(viewer, row)[0] for row in range(viewer.view.model.rowCount())}
    assert said == {"same", "yes", "people", "R2", "R3"}
    assert {"Accuracy", "Cohen's κ", "Pairs", "Units", "Missing"} <= set(heads(viewer))
    qtmodeltester._cleanup()
    go(viewer, qtbot, "judges", "gate", set="Spring", part="test")
    assert viewer.gate.open.text() == "Open it: look 1"
    assert validation_sets.named(project, "Spring").openings == 0
    assert not viewer.leaving.buttons["save_results"].isEnabled()
    viewer.gate.open.click()
    at(viewer, qtbot)
    assert validation_sets.named(project, "Spring").openings == 1
    assert "viewed 1 time" in viewer.view.notes.text()


def test_a_figure_leads_to_its_units_and_on_to_the_judgements(viewer, qtbot):
    go(viewer, qtbot, "judges")
    row = next(n for n in range(5) if cells(viewer, n)[0] == "yes")
    behind = opened(viewer, qtbot, row, heads(viewer).index("Precision"))
    assert behind.title.text() == "yes: Precision"
    assert "pairs of values" in behind.note.text()
    behind.items_table.activated.emit(behind.items.index(0, 0))
    viewer.session.wait()
    qtbot.waitUntil(lambda: behind.levels.currentIndex() == 1)
    assert {behind.judgements.index(n, 5).data() for n in range(behind.judgements.rowCount())} == {
        "R2", "R3", "same", "yes",
    }  # fmt: skip
    for _ in range(2):
        behind.leave.click()
    assert viewer.body.currentWidget() is viewer.view


def test_one_class_gives_no_bare_figure_anywhere(tmp_path, window_over, qtbot):
    always = lambda _: "yes"  # noqa: E731
    project = labelled(tmp_path, always, always, one=always, two=always)
    result = at(window_over(project, "Validate", part="Figures").page.figures, qtbot)
    said = []
    for name in ("answer", "judges", "choice", "corrected", "rulings"):
        go(result, qtbot, name)
        for place in range(max(1, result.view.tabs.count())):
            result.view.tabs.setCurrentIndex(place)
            model = result.view.model
            said += [
                model.index(row, column).data()
                for row in range(model.rowCount()) for column in range(model.columnCount())
            ]  # fmt: skip
    assert "1.000  one class only" in said
    assert [words for words in said if BARE.search(words)] == []
