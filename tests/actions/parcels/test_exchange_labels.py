"""Labels go out under aliases and come back as judgements on the right reports; repeats come back as a second trial."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, label_tasks, labels
from annotator.actions.parcels import packing, returning, tasking, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.refusal import Refusal
from tests.projects.labelling_project import SYSTEMS, add_report, labelling_project
from tests.projects.small_project import units_of
from tests.storage import sql


def three_reports(folder: Path) -> Project:
    """Two items with settled rubrics, three reports each that differ in their words; a coordinator works."""
    folder.mkdir()
    project = labelling_project(folder, reports=0)
    for item_id in items.ids(project):
        for number, system in enumerate(SYSTEMS):
            add_report(project, item_id, system, f"Report number {number} measures accuracy.")
    settle(project, "", "consensus")
    return project


def settle(project: Project, author: str, state: str) -> None:
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE artifact SET author_id = ?, state = ?", (author, state))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Such a project, in which Ada is to label the first item."""
    project = three_reports(tmp_path / "home")
    person = people.add_person(project, "Ada", alias="Z1").subject
    assignments.assign_one(project, items.ids(project)[0], person, Stage.LABELLING)
    yield project
    project.close()


def ada(project: Project) -> str:
    return people.known(project, "Z1").id


def label_all(project: Project, yes: str) -> None:
    """Every unit of every report is labelled: yes where the report holds these words; then all is submitted."""
    for task in label_tasks.queue(project):
        shown = labels.sheet(project, task.response_id)
        for unit in shown.units:
            labels.set_label(project, task.response_id, unit.id, "yes" if yes in shown.report else "no")
            labels.set_evidence(project, task.response_id, unit.id, shown.report[2:6], 2, 6)
    for item_id in {task.item_id for task in label_tasks.queue(project)}:
        label_sealing.submit(project, item_id)


def judged(project: Project, trial: int) -> set[tuple[str, str, str]]:
    """(system, unit, value) of what Ada said."""
    rows = sql.rows(project,
        "SELECT s.name, j.unit_id, j.value FROM judgement j JOIN response r ON r.id = j.response_id "
        "JOIN system s ON s.id = r.system_id WHERE j.rater_id = ? AND j.trial = ?", (ada(project), trial),
    )  # fmt: skip
    return set(rows)


def test_labels_come_back_on_the_reports_they_were_given_for(project: Project, tmp_path: Path) -> None:
    theirs = tasking.take_task(packing.task(project, ada(project), tmp_path).path).project
    names = {name for (name,) in sql.rows(theirs, "SELECT name FROM system")}
    ids = {one for (one,) in sql.rows(theirs, "SELECT id FROM response")}
    report = sql.first(
        project,
        "SELECT r.text, s.name FROM response r JOIN system s ON s.id = r.system_id WHERE r.item_id = ? LIMIT 1",
        (items.ids(project)[0],),
    )
    label_all(theirs, report[0])
    work = returning.work(theirs).path
    theirs.close()
    unpacking.take_in(project, [work])
    units = units_of(project, items.ids(project)[0])
    expected = {(name, unit, "yes" if name == report[1] else "no") for name in SYSTEMS for unit in units}
    assert judged(project, 1) == expected
    assert not names & set(SYSTEMS)
    assert not ids & {one for (one,) in sql.rows(project, "SELECT id FROM response")}


def test_what_they_said_here_under_other_protocols_stays_when_their_labels_come_back(
    project: Project, tmp_path: Path
) -> None:
    me = people.someone(project)
    project.work_as(people.known(project, "Z1"))
    task = label_tasks.queue(project, "researcherbench.pairwise")[0]
    labels.set_label(project, task.response_id, task.other_id, "tie", protocol="researcherbench.pairwise")
    project.work_as(me)
    theirs = tasking.take_task(packing.task(project, ada(project), tmp_path).path).project
    label_all(theirs, "nothing")
    unpacking.take_in(project, [returning.work(theirs).path])
    theirs.close()
    values = [value for _, _, value in judged(project, 1)]
    assert (values.count("tie"), "no" in values) == (1, True)


def test_where_the_evidence_stands_comes_back_too(project: Project, tmp_path: Path) -> None:
    theirs = tasking.take_task(packing.task(project, ada(project), tmp_path).path).project
    label_all(theirs, "nothing")
    unpacking.take_in(project, [returning.work(theirs).path])
    theirs.close()
    places = sql.rows(
        project, "SELECT DISTINCT quote_start, quote_end FROM judgement WHERE rater_id = ?", (ada(project),)
    )
    assert places == [(2, 6)]


def test_a_repeat_looks_like_another_item_and_comes_back_as_a_second_trial(
    project: Project, tmp_path: Path
) -> None:
    item_id = items.ids(project)[0]
    past = datetime(2026, 1, 1, tzinfo=UTC)
    assignments.assign_one(
        project, item_id, ada(project), Stage.LABELLING, purpose=Purpose.REPEAT, trial=2, not_before=past
    )
    theirs = tasking.take_task(packing.task(project, ada(project), tmp_path).path).project
    assert len(items.ids(theirs)) == 2
    keys = {key for (key,) in sql.rows(theirs, "SELECT key FROM item")}
    label_all(theirs, "nothing")
    work = returning.work(theirs).path
    theirs.close()
    assert len(keys) == 2
    unpacking.take_in(project, [work])
    assert (len(judged(project, 1)), judged(project, 2)) == (len(judged(project, 2)), judged(project, 1))
    before = sql.first(project, "SELECT count(*) FROM judgement")
    unpacking.take_in(project, [work])
    assert sql.first(project, "SELECT count(*) FROM judgement") == before


def test_a_repeat_is_not_served_before_its_day(project: Project, tmp_path: Path) -> None:
    later = datetime(2099, 1, 1, tzinfo=UTC)
    assignments.assign_one(
        project, items.ids(project)[0], ada(project), Stage.LABELLING, purpose=Purpose.REPEAT, trial=2, not_before=later
    )  # fmt: skip
    packed = packing.task(project, ada(project), tmp_path)
    assert (packed.items, packed.notes) == (1, ("1 repeat is not served before their date.",))


def test_reports_are_labelled_by_what_is_settled_never_by_a_partners_rubric(
    project: Project, tmp_path: Path
) -> None:
    settle(project, people.add_person(project, "Somebody").subject, "sealed")
    with pytest.raises(Refusal, match="no settled rubric"):
        packing.task(project, ada(project), tmp_path)


def test_no_quotation_of_its_authors_reaches_those_who_label_by_a_document():
    anchors = (Anchor(quote="CANARY 1"), Anchor(quote="CANARY 2"))
    quoted = Criterion(text="Explains it", anchor=anchors[0], more_anchors=anchors[1:])
    served = packing._for_raters(Kind.RUBRIC, Rubric(units=(quoted,)).tree())
    assert "CANARY" not in str(served)
    assert [unit["text"] for unit in served["units"]] == ["Explains it"]
