"""Blind means absent: nothing on the label page tells whose a report is or what others said of it."""

import pytest
from PySide6.QtWidgets import (
    QWidget,
)
from sqlalchemy import insert

from annotator.actions import items, labels, people
from annotator.actions.hashing import judgement_hash
from annotator.domain.change import Change
from annotator.domain.identity import new_id, now
from annotator.domain.judgement import Judgement
from annotator.storage.tables import JudgementRow, JudgeRow, table
from tests.labelling_keys import press
from tests.labelling_project import SYSTEMS, labelling_project
from tests.words_shown import all_words

OTHERS = ("Canary-Rater-Note-9000", "Canary-Judge-9000", "Canary-Rationale-9000", "Rater 2")


@pytest.fixture
def page(tmp_path, page_over, at_once):
    project = labelling_project(tmp_path)
    me = project.person
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))
    for task in labels.queue(project):
        for unit in ("c1", "c2", "c3"):
            labels.set_label(project, task.response_id, f"{task.item_id}/{unit}", "no")
            labels.set_note(project, task.response_id, f"{task.item_id}/{unit}", OTHERS[0])
    judge_all(project)
    project.work_as(me)
    return page_over(project, "Label")


def judge_all(project) -> None:
    """A judge with a telling name has judged every unit."""
    with project.store.write() as db:
        db.execute(insert(table(JudgeRow)).values(id="judge", name=OTHERS[1], kind="baseline"))
        for task in labels.queue(project):
            for unit in ("c1", "c2", "c3"):
                judgement = Judgement(
                    id=new_id(), protocol=labels.COVERAGE, item_id=task.item_id, response_id=task.response_id,
                    unit_id=f"{task.item_id}/{unit}", rater_kind="judge", rater_id="judge", value="yes",
                    rationale=OTHERS[2], at=now(),
                )  # fmt: skip
                row = judgement.model_dump()
                db.execute(insert(table(JudgementRow)).values(**row, sha256=judgement_hash(row)))


def leaks(page: QWidget) -> list[str]:
    words = [*all_words(page), *(action.text() for action in page.recent().actions())]
    assert any("Report A" in word for word in words), "the walk sees nothing"
    return [word for word in words for canary in (*SYSTEMS, *OTHERS) if canary in word]


def test_no_page_state_names_a_system_or_another_rater(page):
    assert leaks(page) == []
    for key in ("1", "2", "Ctrl+M", "Esc", "Ctrl+PgDown", "3", "Ctrl+Return", "F2"):
        press(key)
        assert leaks(page) == []


def test_labels_of_others_neither_count_nor_show(page):
    assert page.bar.progress.text() == "0 of 3 · 6 reports left"
    assert {row.chip.words() for row in page.criteria.rows.values()} == {"Open"}


def test_a_judgement_told_by_a_judge_run_changes_nothing_here(page):
    image = {"rater_kind": "judge", "rater_id": "judge", "response_id": page.bench.response_id}
    page.desk.tell(Change("judgement", "j", "judge", {}, image | {"unit_id": page.bench.unit_id}))
    page.desk.tell(Change("judgement", "j", "label", {}, image | {"rater_kind": "person", "unit_id": "x"}))
    assert page.bar.progress.text() == "0 of 3 · 6 reports left"
    assert leaks(page) == []


def test_the_walk_would_find_a_leak(page):
    page.queue_pane.left.setToolTip(f"by {SYSTEMS[0]}")
    assert leaks(page) == [f"by {SYSTEMS[0]}"]


def test_all_done_says_nothing_of_others(page):
    for task in page.queue.tasks:
        for unit in ("c1", "c2", "c3"):
            labels.set_label(page.desk.project, task.response_id, f"{task.item_id}/{unit}", "yes")
    assert items.count(page.desk.project) == 2
    page.window().show_page("Label")
    assert page.done.isVisible()
    assert leaks(page) == []
