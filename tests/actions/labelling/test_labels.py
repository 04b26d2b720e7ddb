"""Labels are given unit by unit, blind, and can be taken back."""

import pytest
from sqlalchemy import select

from annotator.actions.assignments import assignments, submitting
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import judged_artifact
from annotator.actions.items import items
from annotator.actions.labelling import dealing, label_rows, label_sealing, label_tasks, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.judges.judgement import Status
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.change import derived_id
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ArtifactRow, JudgementRow, table
from tests.projects.labelling_project import (
    SYSTEMS,
    add_report,
    labelling_project,
    project_with,
    rubric,
    seal_rubric,
)
from tests.storage import sql


@pytest.fixture
def project(tmp_path):
    opened = labelling_project(tmp_path)
    yield opened
    opened.close()


def stored(project: Project) -> list[dict]:
    with project.store.read() as db:
        return [dict(row) for row in db.execute(select(table(JudgementRow))).mappings()]


def first_unit(project: Project) -> tuple[str, str]:
    """The first report of the queue and its first criterion."""
    task = label_tasks.queue(project)[0]
    return task.response_id, f"{task.item_id}/c1"


def as_second_rater(project: Project) -> None:
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))


def names_by_report(project: Project) -> dict[str, str]:
    return {task.response_id: task.name for task in label_tasks.queue(project)}


def test_queue_lists_each_items_reports_in_item_order(project):
    found = [(task.item_key, task.name) for task in label_tasks.queue(project)]
    assert found == [(key, f"Report {letter}") for key in "12" for letter in "ABC"]


def test_the_queue_asks_as_few_questions_for_many_items_as_for_few(tmp_path):
    asked = []
    for questions in (1, 9):
        folder = tmp_path / str(questions)
        folder.mkdir()
        project = labelling_project(folder, criteria=1, questions=questions)
        with sql.traced(project) as statements:
            assert len(label_tasks.queue(project)) == 3 * questions
        asked.append(len(statements))
        project.close()
    assert asked[0] == asked[1]


def test_blind_names_stay_the_same_for_one_person(project):
    before = names_by_report(project)
    path = project.path
    project.close()
    again = Project.open(path)
    assert names_by_report(again) == before
    again.close()


def test_blind_names_differ_between_two_people(tmp_path):
    project = labelling_project(tmp_path, criteria=1, questions=12)
    mine = names_by_report(project)
    as_second_rater(project)
    theirs = names_by_report(project)
    assert mine.keys() == theirs.keys()
    assert mine != theirs
    project.close()


def test_blind_names_do_not_follow_the_systems_from_item_to_item(tmp_path):
    project = labelling_project(tmp_path, criteria=1, questions=40)
    with project.store.read() as db:
        reports = dealing.reports(db)
    mine = names_by_report(project)
    letters = {mine[derived_id("response", item_id, SYSTEMS[0])] for item_id in reports}
    assert letters == {"Report A", "Report B", "Report C"}
    project.close()


def test_a_report_that_comes_later_does_not_reshuffle_the_others(tmp_path):
    project = labelling_project(tmp_path, reports=2, questions=1)
    before = [task.response_id for task in label_tasks.queue(project)]
    late = add_report(project, label_tasks.queue(project)[0].item_id, SYSTEMS[2])
    assert [task.response_id for task in label_tasks.queue(project) if task.response_id != late] == before
    project.close()


def test_letters_run_out_after_z_and_numbers_go_on():
    names = [name for name, _ in dealing.dealt((str(n) for n in range(28)), "me")]
    assert names[25:] == ["Report Z", "Report 27", "Report 28"]


def test_nothing_a_sheet_holds_names_the_system(project):
    sheet = labels.sheet(project, label_tasks.queue(project)[0].response_id)
    assert not any(name in repr(sheet) for name in SYSTEMS)


def test_labels_of_another_rater_are_neither_counted_nor_shown(project):
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, "yes")
    as_second_rater(project)
    assert labels.sheet(project, response_id).labels == {}
    assert sum(task.labelled for task in label_tasks.queue(project)) == 0
    assert label_tasks.recent(project) == []


def test_unsure_is_missing_and_never_a_no(project):
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, label_rows.UNSURE)
    (row,) = stored(project)
    assert (row["value"], row["status"]) == (None, Status.UNCLEAR.value)
    task = label_tasks.queue(project)[0]
    assert (task.labelled, task.unsure) == (1, 1)


def test_relabelling_overwrites_and_undo_brings_the_first_label_back(project):
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, "yes")
    labels.set_label(project, response_id, unit_id, "no")
    assert [row["value"] for row in stored(project)] == ["no"]
    history.undo(project)
    assert [row["value"] for row in stored(project)] == ["yes"]


def test_undoing_the_only_label_leaves_nothing_and_redo_gives_it_again(project):
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, "yes", seconds=7)
    history.undo(project)
    assert stored(project) == []
    history.redo(project)
    assert [(row["value"], row["seconds"]) for row in stored(project)] == [("yes", 7.0)]


def test_note_flag_and_evidence_stand_beside_the_label(project):
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, "yes")
    labels.set_note(project, response_id, unit_id, "see the table")
    labels.set_flag(project, response_id, unit_id, True)
    labels.set_evidence(project, response_id, unit_id, "ties each", 43, 52)
    label = labels.sheet(project, response_id).labels[unit_id]
    assert (label.value, label.note, label.flags) == ("yes", "see the table", "flagged unsubmitted")
    assert (label.quote, label.quote_start, label.quote_end) == ("ties each", 43, 52)


def test_evidence_can_be_cleared(project):
    response_id, unit_id = first_unit(project)
    labels.set_evidence(project, response_id, unit_id, "ties each", 43, 52)
    labels.set_evidence(project, response_id, unit_id, "", None, None)
    label = labels.sheet(project, response_id).labels[unit_id]
    assert (label.quote, label.quote_start, label.quote_end) == ("", None, None)


def test_a_note_alone_leaves_the_unit_open(project):
    response_id, unit_id = first_unit(project)
    labels.set_note(project, response_id, unit_id, "come back to this")
    assert label_tasks.queue(project)[0].labelled == 0
    assert labels.sheet(project, response_id).labels[unit_id].status is Status.SKIPPED


def test_an_unknown_unit_is_refused_and_nothing_written(project):
    response_id, _ = first_unit(project)
    with pytest.raises(Refusal, match="no longer part"):
        labels.set_label(project, response_id, "someone-else/c1", "yes")
    assert stored(project) == []


def test_a_value_the_protocol_does_not_know_is_refused(project):
    response_id, unit_id = first_unit(project)
    with pytest.raises(Refusal, match="perhaps"):
        labels.set_label(project, response_id, unit_id, "perhaps")


def test_recent_gives_the_latest_labels_newest_first(project):
    response_id, _ = first_unit(project)
    item_id = label_tasks.queue(project)[0].item_id
    for number, value in ((1, "yes"), (2, "no"), (3, label_rows.UNSURE)):
        labels.set_label(project, response_id, f"{item_id}/c{number}", value)
    found = [(decision.words[:15], decision.said) for decision in label_tasks.recent(project, limit=2)]
    assert found == [("Explains point ", "unsure"), ("Explains point ", "no")]
    assert [decision.unit_id for decision in label_tasks.recent(project)] == [
        f"{item_id}/c{n}" for n in (3, 2, 1)
    ]


def test_labels_of_units_taken_out_of_the_rubric_are_not_counted(project):
    task = label_tasks.queue(project)[0]
    for number in (1, 2):
        labels.set_label(project, task.response_id, f"{task.item_id}/c{number}", "yes")
    artifact_id = labels.sheet(project, task.response_id).artifact_id
    submitting.reopen(project, artifact_id)
    artifacts.remove_unit(project, artifact_id, f"{task.item_id}/c1")
    submitting.seal(project, artifact_id)
    after = label_tasks.queue(project)[0]
    assert (after.units, after.labelled) == (2, 1)
    assert [decision.unit_id for decision in label_tasks.recent(project)] == [f"{task.item_id}/c2"]


def test_a_draft_rubric_is_not_labelled_by(tmp_path):
    project = project_with(tmp_path)
    item_id = items.add(project, "A question").subject
    response_id = add_report(project, item_id, SYSTEMS[0])
    artifacts.start(project, item_id, Kind.RUBRIC, rubric(item_id, 2))
    assert label_tasks.queue(project) == []
    assert label_tasks.lacking(project) == "rubric"
    with pytest.raises(Refusal, match="no sealed rubric"):
        labels.sheet(project, response_id)
    project.close()


def test_what_is_lacking_is_named_in_the_order_of_the_work(tmp_path):
    project = project_with(tmp_path)
    assert label_tasks.lacking(project) == "items"
    item_id = items.add(project, "A question").subject
    assert label_tasks.lacking(project) == "responses"
    add_report(project, item_id, SYSTEMS[0])
    assert label_tasks.lacking(project) == "rubric"
    seal_rubric(project, item_id)
    assert label_tasks.lacking(project) == ""
    project.close()


def test_a_retired_item_is_not_labelled(project):
    items.change(project, label_tasks.queue(project)[0].item_id, retired=True)
    assert {task.item_key for task in label_tasks.queue(project)} == {"2"}


def set_standing(project: Project, artifact_id: str, state: State, author_id: str) -> None:
    with project.store.write() as db:
        rows = table(ArtifactRow)
        wanted = rows.update().where(rows.c.id == artifact_id)
        db.execute(wanted.values(state=state.value, author_id=author_id))


@pytest.mark.parametrize(
    ("theirs", "chosen"),
    [
        ((State.SEALED, "author"), ""),
        ((State.CONSENSUS, "author"), "theirs"),
        ((State.SEALED, ""), "theirs"),
        ((State.DRAFT, "author"), ""),
    ],
)
def test_queue_and_sheet_choose_the_same_rubric(tmp_path, theirs, chosen):
    project = project_with(tmp_path)
    item_id = items.add(project, "A question").subject
    add_report(project, item_id, SYSTEMS[0])
    ids = {"mine": seal_rubric(project, item_id, 2)}
    as_second_rater(project)
    ids["theirs"] = seal_rubric(project, item_id, 5)
    state, author = theirs
    set_standing(project, ids["theirs"], state, project.by if author else "")
    with project.store.read() as db:
        judged = judged_artifact(db, item_id, Kind.RUBRIC)
        units = dealing.judged_units(db, Kind.RUBRIC).get(item_id, {})
    # What two people write is no gold before it is adjudicated.
    assert (judged.id if judged else "") == ids.get(chosen, "")
    assert list(units) == [unit.id for unit in judged.document.units] if judged else not units
    project.close()


def test_a_read_only_project_shows_its_labels_and_refuses_new_ones(project):
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, "yes")
    locked = Project.open(project.path, readonly=True)
    assert locked.store.readonly
    assert labels.sheet(locked, response_id).labels[unit_id].value == "yes"
    with pytest.raises(Refusal, match="is read-only"):
        labels.set_label(locked, response_id, unit_id, "no")
    locked.close()


def test_active_seconds_are_kept_with_the_label(project):
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, "no", seconds=12.34)
    assert labels.sheet(project, response_id).labels[unit_id].seconds == 12.3


def test_with_an_assignment_only_the_assigned_items_are_in_the_queue(project):
    first, second = items.ids(project)
    assignments.assign_one(project, second, project.by, Stage.LABELLING)
    assignments.assign_one(project, first, project.by, Stage.PLAN)
    assert {task.item_id for task in label_tasks.queue(project)} == {second}
    assert label_tasks.lacking(project) == ""
    as_second_rater(project)
    assert {task.item_id for task in label_tasks.queue(project)} == {first, second}


@pytest.mark.parametrize("given", [{}, {"trial": 2, "purpose": Purpose.REPEAT}])
def test_who_is_asked_for_other_work_is_told_that_no_labelling_is_assigned(project, given):
    stage = Stage.LABELLING if given else Stage.PLAN
    assignments.assign_one(project, items.ids(project)[0], project.by, stage, **given)
    assert label_tasks.queue(project) == []
    assert label_tasks.lacking(project) == "assignments"


def test_assignments_do_not_change_the_names_of_the_reports(project):
    before = names_by_report(project)
    assignments.assign_one(project, items.ids(project)[1], project.by, Stage.LABELLING)
    assert before.items() > names_by_report(project).items()


def test_submitted_labels_leave_the_state_of_the_item_as_it_was(project):
    item_id = items.ids(project)[0]
    as_second_rater(project)
    for response_id, unit_id in label_sealing.missing(project, item_id):
        labels.set_label(project, response_id, unit_id, "yes")
    before = items.lines(project, [item_id])
    label_sealing.submit(project, item_id)
    assert items.lines(project, [item_id]) == before
    assert before[0].state == "new"


def test_what_is_said_of_a_report_that_is_gone_is_refused(project):
    _, unit = first_unit(project)
    with pytest.raises(Refusal, match="no longer in the project"):
        labels.set_flag(project, "gone", unit, True)
    with pytest.raises(Refusal, match="no longer in the project"):
        labels.set_note(project, "gone", unit, "A note")
