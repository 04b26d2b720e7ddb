"""What Goldsmith promises to whoever sits at its window."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.attacks import attacking
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.kinds.kind import Reason, Stage
from annotator.gui.shell.window import Window
from annotator.protocols import USUAL
from tests.gui.conftest import fresh_settings, window_over, windows
from tests.projects.pairs_project import contested_project
from tests.projects.small_projects import SYSTEMS, begun_project, labelling_project, mine, texts
from tests.storage import sql
from tests.windows.using import be_active, press, type_words

__all__ = ["fresh_settings", "window_over", "windows"]


@pytest.fixture
def open_window(window_over, qtbot) -> Callable[[Project], Window]:
    def make(project: Project) -> Window:
        return be_active(window_over(project), qtbot)

    return make


def test_a_consensus_is_edited_after_one_key_that_says_so_and_by_no_stray_key(
    open_window, tmp_path: Path
) -> None:
    project = begun_project(tmp_path)
    with project.store.write():
        sql.alter(project, "UPDATE artifact SET state = 'consensus', author_id = ''")
    before, window = mine(project), open_window(project)
    press("Return")
    sheet = window.page.sheet
    assert sheet.strip.words.text() == "Consensus, read only"
    assert "Edit consensus" in sheet.strip.reopen.text()
    type_words(" stray words")
    for key in ("Ctrl+Return", "Ctrl+N", "Ctrl+Backspace", "Alt+1", "Alt+Down", "Delete", "Ctrl+Return"):
        press(key)
    window.checkpoint()
    assert mine(project) == before
    assert "the consensus" in sheet.messages.text()
    press("Ctrl+R")
    type_words(" at depth")
    press("Ctrl+Return")
    assert texts(project)[0].endswith(" at depth")
    told = sql.rows(project, "SELECT verb FROM audit WHERE kind = 'artifact' ORDER BY seq")
    assert [verb for (verb,) in told][-3:] == ["edit consensus", "change text", "seal"]
    type_words(" stray")
    window.checkpoint()
    assert texts(project)[0].endswith(" at depth")


def benchmark(folder: Path) -> Path:
    (folder / "responses").mkdir(parents=True)
    question = {"id": 1, "question": "What is gold?"}
    for name, entry in (
        ("questions.json", {"category": "Technical Details", "Subject": "Metals"}),
        ("rubric.json", {"rubric": [{"point": "Explains its weight", "weight": 2}]}),
        ("responses/Alpha.json", {"response": "# Gold\n\nIt is heavy."}),
    ):
        (folder / name).write_text(json.dumps([question | entry]), "utf-8")
    return folder


def test_an_import_that_ends_leaves_page_focus_and_words_to_whoever_types(
    open_window, qtbot, tmp_path: Path
) -> None:
    project = begun_project(tmp_path)
    window = open_window(project)
    importing = window.show_page("Import")
    importing.look_at([benchmark(tmp_path / "bench")])
    qtbot.waitUntil(importing.go.isEnabled)
    importing.go.click()
    page = window.show_page("Author", kind="rubric")
    field = page.sheet.form.editors[0].text
    type_words(" at a depth")
    qtbot.waitUntil(lambda: len(items.ids(project)) == 3 and not len(window.session._tasks_behind))
    type_words(" of fifty layers")
    assert window.page is page
    assert QApplication.focusWidget() is field
    window.checkpoint()
    assert texts(project)[0].endswith("train badly. at a depth of fifty layers")
    assert "The import is done" in window.messages.text()
    window.messages._act.click()
    assert window.page.NAME == "Items"


UNDO = """
import sys
from pathlib import Path
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.undo import history
project = Project.open(Path(sys.argv[1]))
project.work_as(next(person for person in people.people(project) if person.id == sys.argv[2]))
for _ in range(int(sys.argv[3])):
    print(history.undo(project).kind)
"""


def undone_after_a_restart(project: Project, times: int) -> list[str]:
    """The kinds of change that so many undos take back in an interpreter that has loaded nothing else."""
    person = project.by
    project.close()
    words = [sys.executable, "-c", UNDO, str(project.path), person, str(times)]
    done = subprocess.run(
        words, capture_output=True, encoding="utf-8", check=False, cwd=Path(__file__).parents[2]
    )
    return done.stdout.split() or [done.stderr.strip().splitlines()[-1]]


def test_after_a_restart_undo_takes_back_the_newest_change_of_whatever_kind(tmp_path: Path) -> None:
    project = labelling_project(tmp_path / "labels")
    item_id, other = items.ids(project)[0], people.people(project)[1]
    report = labels.outlook(project, USUAL).tasks[0].response_id
    unit = labels.sheet(project, report).units[0].id
    items.change(project, item_id, subject="Physics")
    people.rename_person(project, other.id, "Renamed")
    attacking.set_family(project, SYSTEMS[0], "Somebody")
    labels.set_label(project, report, unit, "yes")
    assert undone_after_a_restart(project, 4) == ["judgement", "family", "person", "item"]
    contested = contested_project(tmp_path / "contested")
    adjudication = adjudicating.open_(contested, items.ids(contested)[0], Stage.RUBRIC).id
    row = next(row for row in adjudicating.sheet(contested, adjudication).rows if row.contested)
    ruling.rule(contested, row.ruling.id, next(iter(row.units)))
    assert undone_after_a_restart(contested, 1) == ["ruling"]


def test_a_reason_belongs_to_the_row_last_ruled_until_another_is_touched(
    open_window, qtbot, tmp_path: Path
) -> None:
    project = contested_project(tmp_path)
    window = open_window(project)
    page = window.show_page("Adjudicate", item_id=items.ids(project)[0])
    bench = page.bench
    alone = next(row for row in bench.rows.values() if len(row.units) == 1 and row.ruling.open)
    bench.move_to(alone.ruling.id)
    press("Down", "Up", "1" if "A" in alone.units else "2")
    qtbot.waitUntil(lambda: bench.current_id != alone.ruling.id)
    after = bench.current_id
    press("Alt+4")
    assert bench.rows[after].ruling.reason is None
    assert bench.rows[alone.ruling.id].ruling.reason is Reason.ERROR
    press("Down", "Up", "Alt+1")
    assert bench.rows[after].ruling.reason is Reason.WORDING
    assert bench.rows[alone.ruling.id].ruling.reason is Reason.ERROR
