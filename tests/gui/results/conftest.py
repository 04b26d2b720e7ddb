"""Windows on the page of results, and how tests read it."""

import asyncio

import pytest
from PySide6.QtCore import Qt

from annotator.actions.items import items
from annotator.actions.judging import judge_runs
from annotator.actions.runs import judge_cases
from tests.projects import adra_project as adra


@pytest.fixture
def page(small, window_over, qtbot):
    asyncio.run(judge_runs.run(small, judge_cases.RunRequest("baseline")))
    return at(window_over(small, "Results", view="overview").page.viewer, qtbot)


@pytest.fixture
def adra_page(tmp_path, window_over, qtbot):
    """Two systems with foreign names, their plans against the gold one; one of eight cells of 深度 is missing."""
    project = adra.adra_project(tmp_path, 2, ("深度研究智能体", "باحث عميق"))
    for item in items.ids(project):
        adra.fill_matrix(
            project, item, adra.response_of(item, "深度研究智能体"), [[1, 0, 0, 0], [0, 1, 0, None]]
        )
        adra.fill_matrix(project, item, adra.response_of(item, "باحث عميق"), [[1, 0, 0, 0], [0, 1, 0, 0]])
    return at(window_over(project, "Results", view="overview").page.viewer, qtbot)


def at(page, qtbot, body="view"):
    """The page once it has counted, with that part of it in view."""
    qtbot.waitUntil(lambda: page.body.currentWidget() is getattr(page, body))
    qtbot.waitUntil(lambda: not page.session._tasks_behind)
    return page


def go(page, qtbot, name, body="view", **choose):
    page.go({"view": name, "choose": choose})
    page.session.wait()
    qtbot.waitUntil(lambda: page._name == name and not page.hint.text().startswith("Counting"))
    return at(page, qtbot, body)


def cells(page, row=0):
    model = page.view.model
    return [model.index(row, column).data() for column in range(model.columnCount())]


def heads(page):
    model = page.view.model
    return [
        " ".join(model.headerData(n, Qt.Orientation.Horizontal).split()) for n in range(model.columnCount())
    ]


def opened(page, qtbot, row=0, column=1):
    page.view.table.setCurrentIndex(page.view.model.index(row, column))
    page.view.table.activated.emit(page.view.table.currentIndex())
    page.session.wait()
    qtbot.waitUntil(lambda: page.behind.note.text() not in ("", "Reading…"))
    return page.behind


def choose_last(page):
    """The last value of the last list that is shown, which was another one."""
    for name, combo in reversed(page.choosers.lists.items()):
        if combo.count() > 1:
            combo.setCurrentIndex(combo.count() - 1 if combo.currentIndex() == 0 else 0)
            return name, combo.currentData()
    return None


def counted(page, qtbot):
    page.session.wait()
    qtbot.waitUntil(lambda: not page.session._tasks_behind)
    assert not page.hint.text().startswith("Counting")
