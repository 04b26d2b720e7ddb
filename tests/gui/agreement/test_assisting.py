"""A model-assisted figure in the window: a judge is chosen, told of what it would take, asked, and shown beside."""

import pytest

from annotator.actions.project.file import Project
from tests.projects.assisted_project import assisted_project, pairing
from tests.servers.served import JUDGE
from tests.windows.run_keys import run_panel, stopped_by_key
from tests.windows.using import settle

MODEL = "Model-assisted"


@pytest.fixture
def server():
    with pairing() as server:
        yield server


@pytest.fixture
def project(tmp_path, server) -> Project:
    return assisted_project(tmp_path, server)


@pytest.fixture
def page(project, page_over):
    return opened(page_over, project)


def opened(page_over, project):
    return settle(page_over(project, "Agreement").viewer)


def choose(page, judge):
    page.choosers.choose("assisted_by", judge)
    settle(page)


def cell(page, row, column):
    model = page.view.model
    return model.index(row, model.columns.index(column)).data()


@pytest.mark.usefixtures("real_children")
def test_what_a_judge_pairs_stands_beside_the_frozen_figure_with_its_model_and_prompt(
    page, page_over, qtbot, server, project
):
    assert page.choosers.values()["assisted_by"] == ""
    assert not page.assisting.isVisible()
    choose(page, JUDGE)
    # Nobody is asked before somebody says so.
    assert f"“{JUDGE}” has paired 0 of 2 pairs of lists" in page.assisting.words.text()
    assert "tokens in and" in page.assisting.estimate.text()
    assert MODEL not in page.view.model.columns
    assert server.bodies == []
    frozen = [(line.row.field, line.row.figures) for line in page.view.model.shown.lines]
    with qtbot.waitSignal(page.assisting.run.ended):
        page.assisting.begin.click()
        assert not page.assisting.begin.isEnabled()
        assert run_panel(page, page.assisting.run).isVisible()
    settle(page)
    assert len(server.bodies) == 2
    assert [(line.row.field, line.row.figures) for line in page.view.model.shown.lines] == frozen
    assert cell(page, 0, "Match F1") == "0.00"
    assert cell(page, 0, MODEL) == "Match F1 0.79  frozen 0.00  (2 of 2 pairs of lists)"
    page.view.table.selectRow(0)
    account = page.view.account.toPlainText()
    assert account.index("Match F1 0.000") < account.index("Model-assisted: test-model, prompt ")
    assert "(a second figure; 2 of 2 pairs of lists)" in account
    assert "frozen, on these lists: 0.00" in account
    assert "The frozen figure is unchanged." in account
    # There is nothing left to ask for.
    assert not page.assisting.begin.isVisible()
    page.window().close()
    again = opened(page_over, Project.open(project.path))
    assert again.choosers.values()["assisted_by"] == JUDGE
    assert cell(again, 0, MODEL).startswith("Match F1 0.79")
    choose(again, "")
    assert MODEL not in again.view.model.columns
    assert not again.assisting.isVisible()


def test_a_key_stops_the_pairing_and_says_what_is_kept(page, qtbot, server):
    choose(page, JUDGE)
    stopped_by_key(page, qtbot, server, page.assisting.run, page.assisting.begin.click)
    settle(page)
    assert page.assisting.answer.text().startswith("Stopped; finished pairs are kept.")
    assert page.assisting.begin.isEnabled()
