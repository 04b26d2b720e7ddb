"""The page of agreement: figures and what lies behind them, who may look, and a model-assisted figure beside."""

import pytest
from PySide6.QtGui import QGuiApplication

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from tests.gui.results.conftest import at, go
from tests.projects import pairs_project as pairs
from tests.projects.assisted_project import assisted_project, pairing
from tests.servers.served import JUDGE
from tests.templates import once
from tests.windows.judges_window import run_panel, stopped_by_key
from tests.windows.using import all_words, be_active, press, settle

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
    assert (page.body.currentWidget(), page.behind.table.hasFocus()) == (page.behind, True)
    qtmodeltester.check(page.behind.model)
    assert page.behind.model.rowCount() == 4
    assert "4 pairs, 2 differ" in page.behind.count.text()
    shown = page.behind.detail.toPlainText()
    assert "Explains how carbon is priced" in shown
    assert all(name in shown for name in NAMES.values())
    press("Esc")
    qtbot.waitUntil(lambda: page.body.currentWidget() is page.view)
    assert (page.view.table.hasFocus(), page.view.line().row.field) == (True, "weight")
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


MODEL = "Model-assisted"


@pytest.fixture
def server():
    with pairing() as server:
        yield server


@pytest.fixture
def assisted(tmp_path, server) -> Project:
    return assisted_project(tmp_path, server)


@pytest.fixture
def assisted_page(assisted, page_over):
    return opened(page_over, assisted)


def opened(page_over, project):
    return settle(page_over(project, "Agreement").viewer)


def choose_judge(page, judge):
    page.choosers.choose("assisted_by", judge)
    settle(page)


def cell(page, row, column):
    model = page.view.model
    return model.index(row, model.columns.index(column)).data()


@pytest.mark.usefixtures("real_children")
def test_what_a_judge_pairs_stands_beside_the_frozen_figure_with_its_model_and_prompt(
    assisted_page, page_over, qtbot, server, assisted
):
    assert (assisted_page.choosers.values()["assisted_by"], assisted_page.assisting.isVisible()) == (
        "",
        False,
    )
    choose_judge(assisted_page, JUDGE)
    # Nobody is asked before somebody says so.
    assert f"“{JUDGE}” has paired 0 of 2 pairs of lists" in assisted_page.assisting.words.text()
    assert "tokens in and" in assisted_page.assisting.estimate.text()
    assert MODEL not in assisted_page.view.model.columns
    assert server.bodies == []
    frozen = [(line.row.field, line.row.figures) for line in assisted_page.view.model.shown.lines]
    with qtbot.waitSignal(assisted_page.assisting.run.ended):
        assisted_page.assisting.begin.click()
        assert not assisted_page.assisting.begin.isEnabled()
        assert run_panel(assisted_page, assisted_page.assisting.run).isVisible()
    settle(assisted_page)
    assert len(server.bodies) == 2
    assert [(line.row.field, line.row.figures) for line in assisted_page.view.model.shown.lines] == frozen
    assert cell(assisted_page, 0, "Match F1") == "0.00"
    assert cell(assisted_page, 0, MODEL) == "Match F1 0.79  frozen 0.00  (2 of 2 pairs of lists)"
    assisted_page.view.table.selectRow(0)
    account = assisted_page.view.account.toPlainText()
    assert account.index("Match F1 0.000") < account.index("Model-assisted: test-model, prompt ")
    assert "(a second figure; 2 of 2 pairs of lists)" in account
    assert "frozen, on these lists: 0.00" in account
    assert "The frozen figure is unchanged." in account
    # There is nothing left to ask for.
    assert not assisted_page.assisting.begin.isVisible()
    assisted_page.window().close()
    again = opened(page_over, Project.open(assisted.path))
    assert again.choosers.values()["assisted_by"] == JUDGE
    assert cell(again, 0, MODEL).startswith("Match F1 0.79")
    choose_judge(again, "")
    assert MODEL not in again.view.model.columns
    assert not again.assisting.isVisible()


def test_a_key_stops_the_pairing_and_says_what_is_kept(assisted_page, qtbot, server):
    choose_judge(assisted_page, JUDGE)
    stopped_by_key(
        assisted_page, qtbot, server, assisted_page.assisting.run, assisted_page.assisting.begin.click
    )
    settle(assisted_page)
    assert assisted_page.assisting.answer.text().startswith("Stopped; finished pairs are kept.")
    assert assisted_page.assisting.begin.isEnabled()
