"""Blind means absent: nothing on the label page tells whose a report is or what others said of it."""

import pytest
from PySide6.QtWidgets import (
    QWidget,
)
from sqlalchemy import insert

from annotator.actions.labelling import label_sealing, label_tasks, labels
from annotator.actions.project import people
from annotator.actions.project.file import judgement_hash
from annotator.domain.judges.judge import Judgement
from annotator.domain.texts.canonical import Change, new_id, now
from annotator.protocols import USUAL
from annotator.protocols.researcherbench.taxonomy import MISSES
from annotator.storage.tables import JUDGE, JUDGEMENT
from tests.projects.labelled_protocols import ALL, PAIRS, PREFERENCE, REASONING, one_item
from tests.projects.labelling_project import SYSTEMS, labelling_project
from tests.templates import once
from tests.windows.labelling_keys import press
from tests.windows.words_shown import all_words

OTHERS = ("Canary-Rater-Note-9000", "Canary-Judge-9000", "Canary-Rationale-9000", "Rater 2")


@once
def labelled_by_another(folder):
    project = labelling_project(folder)
    me = project.person
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))
    for task in label_tasks.queue(project):
        for unit in ("c1", "c2", "c3"):
            labels.set_label(project, task.response_id, f"{task.item_id}/{unit}", "no")
            labels.set_note(project, task.response_id, f"{task.item_id}/{unit}", OTHERS[0])
    judge_all(project)
    project.work_as(me)
    return project


@pytest.fixture
def page(tmp_path, page_over):
    return page_over(labelled_by_another(tmp_path), "Label")


def judge_all(project) -> None:
    """A judge with a telling name has judged every unit."""
    with project.store.write() as db:
        db.execute(insert(JUDGE).values(id="judge", name=OTHERS[1], kind="baseline"))
        for task in label_tasks.queue(project):
            for unit in ("c1", "c2", "c3"):
                judgement = Judgement(
                    id=new_id(), protocol=USUAL, item_id=task.item_id, response_id=task.response_id,
                    unit_id=f"{task.item_id}/{unit}", rater_kind="judge", rater_id="judge", value="yes",
                    rationale=OTHERS[2], at=now(),
                )  # fmt: skip
                row = judgement.model_dump()
                db.execute(insert(JUDGEMENT).values(**row, sha256=judgement_hash(row)))


def leaks(page: QWidget) -> list[str]:
    words = [*all_words(page), *(action.text() for action in page.recent().actions())]
    assert any("Report A" in word or "Report B" in word for word in words), "the walk sees nothing"
    return [word for word in words for canary in (*SYSTEMS, *OTHERS) if canary in word]


def test_no_page_state_names_a_system_or_another_rater(page):
    page.queue_pane.left.setToolTip(f"by {SYSTEMS[0]}")
    assert leaks(page) == [f"by {SYSTEMS[0]}"]
    page.queue_pane.left.setToolTip("")
    # Labels of others neither count nor show, nor does what a run tells.
    image = {"rater_kind": "judge", "rater_id": "judge", "response_id": page.bench.response_id}
    page.session.tell(Change("judgement", "j", "judge", {}, image | {"unit_id": page.bench.unit_id}))
    page.session.tell(Change("judgement", "j", "label", {}, image | {"rater_kind": "person", "unit_id": "x"}))
    assert page.bar.progress.text() == "0 of 3 · 6 reports left"
    assert {row.chip.words() for row in page.criteria.rows.values()} == {"Open"}
    assert leaks(page) == []
    for key in ("1", "2", "Ctrl+M", "Esc", "Ctrl+PgDown", "3", "Ctrl+Return", "F2"):
        press(key)
        assert leaks(page) == []
    for task in page.queue.lines:
        for unit in ("c1", "c2", "c3"):
            labels.set_label(page.session.project, task.response_id, f"{task.item_id}/{unit}", "yes")
    page.window().show_page("Label")
    assert page.done.isVisible()
    assert leaks(page) == []


@once
def every_protocol(folder):
    """One item, labelled by another rater and judged under every protocol."""
    project = one_item(folder)
    me = project.person
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))
    for protocol in ALL:
        for task in label_tasks.queue(project, protocol):
            say_all(project, protocol, task)
    judge_protocols(project)
    project.work_as(me)
    return project


def say_all(project, protocol, task) -> None:
    shown = labels.sheet(project, task.response_id, protocol, task.other_id)
    for group in shown.groups:
        for unit in group.units:
            labels.set_label(project, task.response_id, unit.id, group.values[-1], protocol=protocol)
            labels.set_note(project, task.response_id, unit.id, OTHERS[0], protocol)
            if protocol == USUAL:
                label_sealing.give(project, task.response_id, unit.id, MISSES.name, "partial_missing")


def judge_protocols(project) -> None:
    """A judge with a telling name has judged what Rater 2 labelled, and drew the parts."""
    with project.store.write() as db:
        db.execute(insert(JUDGE).values(id="judge", name=OTHERS[1], kind="baseline"))
        db.exec_driver_sql("UPDATE extract SET flags = ?, origin = ?", (OTHERS[2], f"judge:{OTHERS[1]}"))
        rows = db.exec_driver_sql("SELECT * FROM judgement").mappings().all()
        for row in rows:
            copied = {**row, "id": new_id(), "rater_kind": "judge", "rater_id": "judge", "at": now()}
            copied |= {"rationale": OTHERS[2], "note": ""}
            db.execute(insert(JUDGEMENT).values(**copied))


def test_under_no_protocol_anything_tells_a_system_a_judge_or_another_rater(tmp_path, page_over):
    """With a judge run, another rater and telling origins behind it."""
    page = page_over(every_protocol(tmp_path), "Label")
    for protocol in ALL:
        page.window().show_page("Label", protocol=protocol)
        sheet = page.bench.sheet
        assert (page.bench.protocol, sheet.labels) == (protocol, {})
        assert page.queue.left == len(page.queue.lines)
        if protocol in (PAIRS, PREFERENCE):
            # Nor do the ids of the reports behind a pair.
            assert not any(name in repr(sheet) for name in (*SYSTEMS, *OTHERS))
            heads = {pane.head.text().split(" — ")[1] for pane in page.report_pane.panes}
            assert heads == {"Report A", "Report B"}
        if protocol == REASONING:
            assert {unit.label for unit in page.bench.units} == {None}
        for key in ("", "Down", "F2", "F4", "1", "Up", "Alt+1", "0", "Ctrl+Return"):
            if key:
                press(key)
            assert leaks(page) == [], protocol
    page.window().show_page("Label", protocol=USUAL)
    page.navigate({"protocol": USUAL, "response_id": page.queue.lines[1].response_id})
    press("2")
    press("Up")
    assert not any(button.isChecked() for button in page.criteria.details.kinds.buttons)
