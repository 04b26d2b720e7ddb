"""The whole of judging from the window: parts drawn, every protocol judged, and all figures on one page."""

import asyncio
import csv
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings, Qt

from annotator.actions.items import extracts, items, pages
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting
from annotator.actions.papers import human_agreement
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.material.part import ResponsePart
from annotator.gui.shell.start import make_application
from annotator.gui.shell.window import Window
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from tests.material.bundles import REAL
from tests.projects.both_papers import add_checklist, add_nuggets, both_papers
from tests.windows.judges_window import choose
from tests.windows.labelling_keys import be_active, press
from tests.windows.settling import settle

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the shared ResearcherBench data are not there")
# What the baseline can draw, and judge: the project's items have no text by people to compare reports with.
DRAWN = [name for name, one in EXTRACTIONS.items() if one.baseline]
JUDGED = [
    name
    for name, protocol in PROTOCOLS.items()
    if protocol.values and not protocol.by_people and protocol.baseline and not protocol.exemplar
]
# Drawn from pages, which come last.
POINTS = next(name for name in DRAWN if EXTRACTIONS[name].makes is ResponsePart.KEYPOINTS)
# Ordered in the window, one of each paper; what is ordered by nothing but its name is run without it.
BY_HAND = {name.partition(".")[0]: name for name in reversed(JUDGED)}.values()


@pytest.fixture
def window(qapp, qtbot, tmp_path):
    """The real window over two public questions with two systems' reports and both papers' gold."""
    make_application()
    QSettings().clear()
    project = both_papers(tmp_path)
    add_nuggets(project)
    add_checklist(project)
    made = Window(project, "Items")
    made.resize(1280, 800)
    made.show()
    qtbot.waitExposed(made)
    be_active(made, qtbot)
    yield made
    made.close()
    QSettings().clear()


def order(window: Window, qtbot: Any, what: str) -> None:
    """On the Judges page: choose the baseline and its work, start by key, and wait for the end of the child process."""
    window.show_page("Judges", part="Runs")
    page = window.page
    settle(page)
    choose(page.running.form.judge, "baseline")
    choose(page.running.form.what, what)
    settle(page)
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+Return")
    settle(page)


def pages_from_a_folder(project: Any, folder: Path) -> None:
    """A page for every address that a report gives or a claim cites; it speaks of all questions."""
    folder.mkdir()
    asked = "\n\n".join(items.read(project, one).question for one in items.ids(project))
    (folder / "page.txt").write_text(asked, encoding="utf-8")
    with (folder / "pages.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [("url", "file"), *((url, "page.txt") for url in pages.given(project) | pages.cited(project))]
        )
    asyncio.run(pages.import_folder(project, folder))


def pools_of_accepted_points(project: Any) -> None:
    """Every drawn key point accepted, and one pool of them for each item."""
    with project.store.read() as db:
        drawn = extracts.standing(db, items.ids(project))
    for result in drawn.values():
        for kind, extract in result.items():
            if kind == human_agreement.KIND:
                extracts.confirm(project, extract.id)
    human_agreement.freeze(project)


def test_every_protocol_is_judged_and_every_metric_shown(window, qtbot, tmp_path: Path) -> None:
    project = window.session.project
    order(window, qtbot, DRAWN[0])
    for what in DRAWN[1:]:
        if what != POINTS:
            asyncio.run(extracting.run(project, RunRequest("baseline", what)))
    pages_from_a_folder(project, tmp_path / "pages")
    order(window, qtbot, POINTS)
    pools_of_accepted_points(project)
    for what in JUDGED:
        if what in BY_HAND:
            order(window, qtbot, what)
        else:
            asyncio.run(judge_runs.run(project, RunRequest("baseline", what)))
    assert {(run.protocol, run.state) for run in run_records.runs(project)} == {
        (what, "done") for what in (*DRAWN, *JUDGED)
    }
    window.show_page("Results", view="overview")
    page = window.page.viewer
    qtbot.waitUntil(lambda: page.body.currentWidget() is page.view)
    page.session.wait()
    model = page.view.model
    heads = [model.headerData(n, Qt.Orientation.Horizontal) for n in range(model.columnCount())]
    judged = [metric.title for name in (*JUDGED, "adra.retrieval") for metric in PROTOCOLS[name].metrics]
    # A hit is defined where there is one gold work only; here there are two.
    assert [title for title in judged if not any(h.startswith(title) for h in heads)] == ["Retrieval hit"]
    assert model.rowCount() == 2
