"""A rater labels two reports from the first criterion to the last without touching the mouse."""

import pytest
from PySide6.QtCore import QSettings
from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.gui.shell.starting import make_application
from annotator.gui.shell.window import Window
from annotator.storage.tables import JudgementRow, table
from tests.projects.labelling_project import REPORT, labelling_project
from tests.windows.labelling_keys import be_active, press, type_words


@pytest.fixture
def window(qapp, qtbot, tmp_path, monkeypatch):
    """The real window over a project with two reports of three criteria."""
    make_application()
    QSettings().clear()
    made = Window(labelling_project(tmp_path, criteria=3, reports=2, questions=1))
    made.show()
    qtbot.waitExposed(made)
    be_active(made, qtbot)
    yield made
    made.close()
    QSettings().clear()


def rows(path) -> list[dict]:
    project = Project.open(path, readonly=True)
    with project.store.read() as db:
        found = [dict(row) for row in db.execute(select(table(JudgementRow))).mappings()]
    project.close()
    return found


def test_two_reports_are_labelled_by_keyboard_alone(window):
    press("Ctrl+3")
    page = window.page
    first, second = (task.response_id for task in page.queue.tasks)

    # The first criterion is met; the words that show it are found, selected and marked.
    press("Ctrl+F")
    type_words("attribution ties")
    press("Return")
    press("Esc")
    press("Ctrl+Shift+Right", 3)
    press("Ctrl+E")
    press("Esc")
    press("1")

    # The second is not met, with a reason and a flag; a slip is taken back.
    press("Ctrl+M")
    type_words("Only named, 2 of 3 parts")
    press("Esc")
    press("Ctrl+G")
    press("1")
    press("Ctrl+Z")
    press("2")

    # Done is asked for too early, and leads to what is open.
    press("Ctrl+Return")
    assert page.criteria.open_list.said() == "One criterion is still open:"
    press("-")
    press("Ctrl+Return")
    assert page.bench.response_id == second

    # The second report: one look back at the first, then all met.
    press("1")
    press("Ctrl+PgUp")
    assert page.bench.response_id == first
    press("Ctrl+J")
    assert page.bench.response_id == second
    press("1")
    press("1")
    press("Ctrl+Return")
    assert page.done.isVisible()

    found = rows(window.desk.project.path)
    labels = {(row["response_id"], row["unit_id"][-2:]): row for row in found}
    assert [(labels[first, unit]["value"], labels[first, unit]["status"]) for unit in ("c1", "c2", "c3")] == [
        ("yes", "ok"),
        ("no", "ok"),
        (None, "unclear"),
    ]
    assert [labels[second, unit]["value"] for unit in ("c1", "c2", "c3")] == ["yes", "yes", "yes"]
    evidence = labels[first, "c1"]
    assert evidence["quote"] == "Attribution ties each **claim"
    assert REPORT[evidence["quote_start"] : evidence["quote_end"]] == evidence["quote"]
    reason = labels[first, "c2"]
    assert (reason["note"], reason["flags"]) == ("Only named, 2 of 3 parts", "flagged until:no")
    assert all(row["seconds"] is not None for row in found)
    assert {row["rater_kind"] for row in found} == {"person"}
