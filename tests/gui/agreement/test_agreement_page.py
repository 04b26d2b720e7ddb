"""The page of agreement: figures with their reasons, what each stands on, what lies behind it, and who may look."""

import pytest
from PySide6.QtGui import QGuiApplication

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from tests.gui.results.conftest import at, go
from tests.projects import pairs_project as pairs
from tests.templates import once
from tests.windows.using import all_words, be_active, press

ADA = (("Explains how carbon is priced", 1), ("Names a court that ruled on it", 2), ("Weighs the costs", 3))
BEN = (("Explains how carbon is priced", 3), ("Lists species of moss", 2), ("Weighs the costs", 3))
NAMES = {"Ada": "Dr. Maximiliane-Alexandra von Hohenstein-Württemberg", "Ben": "محمد بن عبد الله الخوارزمي"}


@once
def labelled_pairs(folder) -> Project:
    """Two items: rubrics of both, labels of both where everybody always says yes; Cora works."""
    project = pairs.pairs_project(folder, 2)
    for place in range(2):
        documents = {"Ada": pairs.rubric(ADA, f"a{place}"), "Ben": pairs.rubric(BEN, f"b{place}")}
        pairs.submit(project, documents, place)
        report = pairs.add_report(project, "Alpha", place)
        labels = pairs.labels(report, {f"a{place}{n}": "yes" for n in (1, 2, 3)})
        pairs.submit(project, {"Ada": labels, "Ben": labels}, place)
    for name, longer in NAMES.items():
        people.rename_person(project, pairs.person(project, name).id, longer)
    return pairs.work_as(project, "Cora")


@pytest.fixture
def project(tmp_path) -> Project:
    return labelled_pairs(tmp_path)


@pytest.fixture
def page(project, window_over, qtbot):
    return at(window_over(project, "Agreement").page.viewer, qtbot)


def rows(page):
    return [line.row for line in page.view.model.shown.lines]


def choose(page, field, column=0):
    page.view.table.setCurrentIndex(
        page.view.model.index([row.field for row in rows(page)].index(field), column)
    )


@pytest.mark.usefixtures("small_cases")
def test_each_field_has_a_row_with_its_account_enter_leads_to_the_values_behind_and_every_grouping_has_a_picture(
    page, qtbot, qtmodeltester
):
    qtmodeltester.check(page.view.model)
    assert [(row.stage, row.field) for row in rows(page)] == [
        (Stage.RUBRIC, "units"), (Stage.RUBRIC, "weight"), (Stage.LABELLING, "value"),
    ]  # fmt: skip
    choose(page, "weight")
    account = page.view.account.toPlainText()
    for said in (
        "percent agreement: share; 95% Wilson score interval, jackknife over 2 items", "Cohen's κ, linear weights",
        "n = 4", "2 frozen agreements", "Guideline version 1", "matcher 2", "Items (2): 1, 2",
    ):  # fmt: skip
        assert said in account
    be_active(page.window(), qtbot)
    assert page.view.table.hasFocus()
    choose(page, "weight")
    press("Ctrl+C")
    assert QGuiApplication.clipboard().text().startswith("Stage\tCompared")
    press("Return")
    qtbot.waitUntil(lambda: page.behind.count.text() not in ("", "Reading…"))
    assert page.body.currentWidget() is page.behind
    assert page.behind.table.hasFocus()
    qtmodeltester.check(page.behind.model)
    assert page.behind.model.rowCount() == 4
    assert "4 pairs, 2 differ" in page.behind.count.text()
    shown = page.behind.detail.toPlainText()
    assert "Explains how carbon is priced" in shown
    assert all(name in shown for name in NAMES.values())
    press("Esc")
    qtbot.waitUntil(lambda: page.body.currentWidget() is page.view)
    assert page.view.table.hasFocus()
    assert page.view.line().row.field == "weight"
    press("F6")
    assert page.view.account.hasFocus()
    for by in ("pair", "person", "criterion", "item", "week", "guideline"):
        go(page, qtbot, "agreement", by=by)
        qtmodeltester.check(page.view.model)
        assert page.view.model.rowCount() > 0
        qtbot.waitUntil(lambda: page.view.pictures.view.image is not None)
        assert page.view.account.toPlainText()


@pytest.mark.parametrize("name", [NAMES["Ada"], "Cleo"])
def test_annotators_and_adjudicators_are_told_and_see_no_figure(project, window_over, qtbot, name):
    page = window_over(pairs.work_as(project, name), "Agreement").page.viewer
    qtbot.waitUntil(lambda: page.body.currentWidget() is page.denied)
    assert page.view.model.rowCount() == 0
    said = " ".join(all_words(page))
    assert "shown to a coordinator" in said
    assert not any(other in said for other in NAMES.values())
    assert not any(button.isEnabled() for button in page.leaving.buttons.values())
