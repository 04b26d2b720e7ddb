"""Looking at what waits to be adjudicated changes nothing in the project; it is in work from the first act on."""

import sqlite3
from contextlib import closing
from time import monotonic

from PySide6.QtCore import Qt

from annotator.actions.adjudication import adjudicating, adjudication_sheets, openings
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.person import Role
from tests.material.content_hash import content_hash
from tests.projects.adjudication_project import scripts_project
from tests.windows.adjudicating_window import adjudicate
from tests.windows.labelling_keys import press


def test_stepping_through_the_queue_changes_nothing(sample, window_over, qtbot):
    sample.work_as(next(person for person in people.people(sample) if person.has(Role.ADJUDICATOR)))
    before = content_hash(sample)
    page = adjudicate(sample, window_over, qtbot)
    waiting = [line.state for line in page.queue.lines]
    assert waiting.count("not begun") > 1
    for line in page.queue.lines:
        page._open(line)
        assert page.bench.rows
        for _ in page.bench.rows:
            page.bench.step(1)
        page.bench.show_votes(True)
        page.bench.show_votes(False)
        page.leave()
    assert [line.state for line in page.queue.lines] == waiting
    assert content_hash(sample) == before


def test_looking_at_what_is_not_begun_waits_for_no_writer(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    page.bench.show_votes(True)
    line = page.queue.lines[1]
    with closing(sqlite3.connect(page.desk.project.path)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        began = monotonic()
        assert page.bench.open(line)
        assert monotonic() - began < 10
        writer.execute("ROLLBACK")
    assert page.bench.lacking


def test_what_nobody_has_begun_can_be_looked_at_in_a_file_that_may_only_be_read(tmp_path, window_over, qtbot):
    path = scripts_project(tmp_path).path
    page = adjudicate(Project.open(path, readonly=True), window_over, qtbot)
    assert page.bench.open(page.queue.lines[1])
    assert page.bench.locked


def test_the_first_ruling_begins_the_work(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    assert {line.state for line in page.queue.lines} == {"not begun"}
    ids = list(page.bench.rows)
    press("1")
    assert [line.state for line in page.queue.lines] == ["open", "not begun", "not begun"]
    assert list(page.bench.rows) == ids
    assert sum(not row.ruling.open for row in page.bench.rows.values() if row.contested) == 1


def test_a_note_begins_the_work_too(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    page.side.show_part("discussion")
    discussion = page.side.parts["discussion"]
    discussion.field.setPlainText("One more look at 2.")
    qtbot.mouseClick(discussion.add, Qt.MouseButton.LeftButton)
    assert [words.text() for words in discussion.notes] == ["One more look at 2."]
    assert page.bench.begun


def test_what_is_looked_at_is_what_opening_gives(tmp_path):
    project: Project = scripts_project(tmp_path)
    line = adjudicating.queue(project)[0]
    looked = openings.look(project, line.item_id, line.stage, adjudication_sheets.sheet)
    assert adjudicating.queue(project)[0] == line
    opened = openings.open_(project, line.item_id, line.stage)
    assert adjudication_sheets.sheet(project, opened.id) == looked
    project.close()
