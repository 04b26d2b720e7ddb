"""Labels are given unit by unit, blind, under every protocol, can be taken back, and are submitted as one document.

Labels of reworded units, kinds of errors, and matrices; and the board: who is where, in states, dates and time.
"""

import asyncio
import json
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import judged_artifact
from annotator.actions.items import items, materials
from annotator.actions.labelling import board, label_cases, label_rows, label_sealing, labels
from annotator.actions.orders.orders import carry_out
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import reviews
from annotator.actions.undo import history
from annotator.domain.common import derived_id, now, sha256
from annotator.domain.experts.assignment import Purpose, Role, Stage
from annotator.domain.judges.judge import Status
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import label_id
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import Claims, ResponsePart
from annotator.protocols import PROTOCOLS, USUAL
from annotator.protocols.researcherbench.taxonomy import MISSES, MODES
from annotator.storage.tables import ADJUDICATION, AGREEMENT, ARTIFACT, DISPUTE, JUDGEMENT
from tests.common import expect_refusal, fixture_of, stands_in
from tests.material import drawn_extracts
from tests.projects.pairs_project import who, work_as
from tests.projects.small_projects import (
    ALL,
    CLAIMS,
    GOLD,
    PAIRS,
    PLAN,
    PREFERENCE,
    REASONING,
    REPORT,
    SYSTEMS,
    add_report,
    as_second_rater,
    labelling_project,
    one_item,
    project_with,
    reports,
    rubric,
    seal,
    seal_rubric,
)
from tests.storage import sql

PROJECT = labelling_project


def stored(project: Project) -> list[dict]:
    with project.store.read() as db:
        return [dict(row) for row in db.execute(select(JUDGEMENT)).mappings()]


def first_unit(project: Project) -> tuple[str, str]:
    task = labels.queue(project)[0]
    return task.response_id, f"{task.item_id}/c1"


def names_by_report(project: Project) -> dict[str, str]:
    return {task.response_id: task.name for task in labels.queue(project)}


def test_the_queue_is_dealt_blind(project):
    result = [(task.item_key, task.name) for task in labels.queue(project)]
    assert result == [(key, f"Report {letter}") for key in "12" for letter in "ABC"]
    sheet = labels.sheet(project, labels.queue(project)[0].response_id)
    assert not any(name in repr(sheet) for name in SYSTEMS)
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, "yes")
    as_second_rater(project)
    assert labels.sheet(project, response_id).labels == {}
    assert (sum(task.labelled for task in labels.queue(project)), labels.recent(project)) == (0, [])


@pytest.mark.parametrize(("read", "each"), [(labels.queue, 3), (board.board, 1)], ids=["queue", "board"])
def test_as_few_questions_are_asked_for_many_items_as_for_few(tmp_path, read, each):
    asked = []
    for questions in (1, 9):
        (folder := tmp_path / str(questions)).mkdir()
        project = labelling_project(folder, criteria=1, questions=questions)
        for item_id in items.ids(project):
            assignments.assign_one(project, item_id, project.by, Stage.LABELLING)
        with sql.traced(project) as statements:
            assert len(read(project)) == each * questions
        asked.append(len(statements))
        project.close()
    assert asked[0] == asked[1]


def test_blind_names_stay_for_one_person_and_follow_neither_systems_nor_other_people(tmp_path):
    project = labelling_project(tmp_path, criteria=1, questions=40)
    with project.store.read() as db:
        reports = label_cases.reports(db)
    mine = names_by_report(project)
    assert {mine[derived_id("response", item_id, SYSTEMS[0])] for item_id in reports} == {
        "Report A",
        "Report B",
        "Report C",
    }
    project.close()
    with closing(Project.open(project.path)) as again:
        assert names_by_report(again) == mine
        as_second_rater(again)
        theirs = names_by_report(again)
    assert mine.keys() == theirs.keys()
    assert mine != theirs


def test_letters_run_out_after_z_and_a_later_report_does_not_reshuffle_the_others():
    order, names = zip(*label_cases.dealt((str(n) for n in range(28)), "me").items(), strict=True)
    assert names[25:] == ("Report Z", "Report 27", "Report 28")
    assert [one for one in order if one != "27"] == [*label_cases.dealt((str(n) for n in range(27)), "me")]


def test_unsure_is_missing_and_never_a_no(project):
    response_id, unit_id = first_unit(project)
    labels.set_label(project, response_id, unit_id, label_rows.UNSURE)
    (row,) = stored(project)
    assert (row["value"], row["status"]) == (None, Status.UNCLEAR.value)
    task = labels.queue(project)[0]
    assert (task.labelled, task.unsure) == (1, 1)


def test_notes_flags_and_evidence_stand_beside_the_label(project):
    response_id, unit_id = first_unit(project)
    labels.set_note(project, response_id, unit_id, "come back to this")
    assert labels.queue(project)[0].labelled == 0
    assert labels.sheet(project, response_id).labels[unit_id].status is Status.SKIPPED
    labels.set_label(project, response_id, unit_id, "yes")
    labels.set_note(project, response_id, unit_id, "see the table")
    labels.set_flag(project, response_id, unit_id, True)
    labels.set_evidence(project, response_id, unit_id, "ties each", 43, 52)
    label = labels.sheet(project, response_id).labels[unit_id]
    assert (label.value, label.note, label.flags) == ("yes", "see the table", "flagged unsubmitted")
    assert (label.quote, label.quote_start, label.quote_end) == ("ties each", 43, 52)
    labels.set_evidence(project, response_id, unit_id, "", None, None)
    labels.set_label(project, response_id, unit_id, "no", seconds=12.34)
    label = labels.sheet(project, response_id).labels[unit_id]
    assert (label.quote, label.quote_start, label.seconds) == ("", None, 12.3)


def test_a_label_is_given_again_and_undone(project):
    response_id, unit_id = first_unit(project)
    for unit, value, words in ((unit_id, "perhaps", "perhaps"), ("someone-else/c1", "yes", "no longer part")):
        expect_refusal(words, labels.set_label, project, response_id, unit, value)
    for act, value in ((labels.set_flag, True), (labels.set_note, "A note")):
        expect_refusal("no longer in the project", act, project, "gone", unit_id, value)
    assert stored(project) == []
    labels.set_label(project, response_id, unit_id, "yes", seconds=7)
    history.undo(project)
    assert stored(project) == []
    history.redo(project)
    assert [(row["value"], row["seconds"]) for row in stored(project)] == [("yes", 7.0)]
    labels.set_label(project, response_id, unit_id, "no")
    assert [row["value"] for row in stored(project)] == ["no"]
    history.undo(project)
    assert [row["value"] for row in stored(project)] == ["yes"]


def test_labels_of_units_taken_out_of_the_rubric_are_not_counted(project):
    task = labels.queue(project)[0]
    for number in (1, 2):
        labels.set_label(project, task.response_id, f"{task.item_id}/c{number}", "yes")
    artifact_id = labels.sheet(project, task.response_id).artifact_id
    assignments.reopen(project, artifact_id)
    artifacts.remove_unit(project, artifact_id, f"{task.item_id}/c1")
    assignments.seal(project, artifact_id)
    after = labels.queue(project)[0]
    assert (after.units, after.labelled) == (2, 1)
    assert [decision.unit_id for decision in labels.recent(project)] == [f"{task.item_id}/c2"]


def test_what_is_lacking_is_named_in_the_order_of_the_work_and_a_draft_rubric_does_not_serve(tmp_path):
    project = project_with(tmp_path)
    assert [labels.lacking(project, name) for name in ALL] == ["items"] * 6
    item_id = items.add(project, "A question").subject
    assert [labels.lacking(project, name) for name in ALL] == ["responses"] * 6
    response_id = add_report(project, item_id, SYSTEMS[0])
    draft = artifacts.start(project, item_id, Kind.RUBRIC, rubric(item_id, 2)).subject
    assert [labels.lacking(project, name) for name in ALL] == [
        "rubric", "drawn claims", "rivals", "plan", "diagnostics", "rivals",
    ]  # fmt: skip
    assert labels.queue(project) == []
    expect_refusal("no submitted rubric", labels.sheet, project, response_id)
    assignments.seal(project, draft)
    drawn_extracts.write(project, response_id, ResponsePart.CLAIMS, Claims(units=()))
    add_report(project, item_id, SYSTEMS[1])
    assert [labels.lacking(project, name) for name in (USUAL, PAIRS, PREFERENCE)] == ["", "", ""]


@pytest.mark.parametrize(("protocol", "value", "number"), [(USUAL, "yes", 2), (PLAN, "not", 6)])
def test_a_retired_item_is_not_labelled_and_its_labels_wait_for_nobody(tmp_path, protocol, value, number):
    project = one_item(tmp_path)
    task = labels.queue(project, protocol)[0]
    units = [unit.id for unit in labels.sheet(project, task.response_id, protocol).units]
    labels.set_labels(project, task.response_id, units, value, protocol=protocol)
    assert [one.labelled for one in label_sealing.waiting(project, [project.by])] == [number]
    items.change(project, task.item_id, retired=True)
    assert (label_sealing.waiting(project, [project.by]), labels.queue(project, protocol)) == ([], [])


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
    with project.store.write() as db:
        theirs = ARTIFACT.update().where(ARTIFACT.c.id == ids["theirs"])
        db.execute(theirs.values(state=state.value, author_id=project.by if author else ""))
    with project.store.read() as db:
        judged = judged_artifact(db, item_id, Kind.RUBRIC)
        units = label_cases.judged_units(db, Kind.RUBRIC).get(item_id, {})
    # What two people write is no gold before it is adjudicated.
    assert (judged.id if judged else "") == ids.get(chosen, "")
    assert list(units) == [unit.id for unit in judged.document.units] if judged else not units


def test_with_an_assignment_only_the_assigned_items_are_in_the_queue(project):
    first, second = items.ids(project)
    before = names_by_report(project)
    assignments.assign_one(project, second, project.by, Stage.LABELLING)
    assignments.assign_one(project, first, project.by, Stage.PLAN)
    assert {task.item_id for task in labels.queue(project)} == {second}
    assert before.items() > names_by_report(project).items()
    assert labels.lacking(project) == ""
    as_second_rater(project)
    assert {task.item_id for task in labels.queue(project)} == {first, second}


@pytest.mark.parametrize(
    ("stage", "given"), [(Stage.PLAN, {}), (Stage.LABELLING, {"trial": 2, "purpose": Purpose.REPEAT})]
)
def test_who_is_asked_for_other_work_is_told_that_no_labelling_is_assigned(project, stage, given):
    assignments.assign_one(project, items.ids(project)[0], project.by, stage, **given)
    assert (labels.queue(project), labels.lacking(project)) == ([], "assignments")


def test_submitted_labels_leave_the_state_of_the_item_as_it_was(project):
    item_id = items.ids(project)[0]
    as_second_rater(project)
    for response_id, unit_id in label_sealing.missing(project, item_id):
        labels.set_label(project, response_id, unit_id, "yes")
    before = items.lines(project, [item_id])
    label_sealing.submit(project, item_id)
    assert (items.lines(project, [item_id]), before[0].state) == (before, "new")


whole = fixture_of(one_item)


def open_sheet(whole: Project, protocol: str, place: int = 0) -> labels.LabelSheet:
    task = labels.queue(whole, protocol)[place]
    return labels.sheet(whole, task.response_id, protocol, task.other_id)


def test_all_protocols_that_people_answer_are_offered_where_there_is_something_to_ask(whole, tmp_path):
    assert label_cases.offered(whole) == list(ALL)
    assert label_cases.offered(labelling_project(tmp_path / "other", reports=1)) == [USUAL]


def test_where_no_protocol_is_named_the_project_says_which_is_meant(whole, tmp_path):
    project = project_with(tmp_path / "empty", 1)
    assert label_cases.usual(project) == USUAL
    # Gold for one alone.
    seal(project, items.add(project, "Why?").subject, Plan(units=(Subtask(id="g", text=GOLD[0]),)))
    assert label_cases.usual(project) == PLAN
    assert label_cases.usual(whole) == USUAL
    # What people said counts more than what is there, a judge more than people.
    sheet = open_sheet(whole, PREFERENCE)
    labels.set_label(whole, sheet.response_id, sheet.units[0].id, "first", protocol=PREFERENCE)
    assert label_cases.usual(whole) == PREFERENCE
    labels.set_label(whole, open_sheet(whole, REASONING).response_id, "s1", "true", protocol=REASONING)
    assert label_cases.usual(whole) == REASONING
    asyncio.run(carry_out(whole, RunRequest("baseline", CLAIMS)))
    assert label_cases.usual(whole) == CLAIMS


def test_claims_stand_under_their_pages_and_flags_of_ones_own_beside_the_pages(whole):
    expect_refusal("is computed", labels.queue, whole, "adra.retrieval")
    assert {unit.label for unit in open_sheet(whole, REASONING).units} == {None}
    sheet = open_sheet(whole, CLAIMS)
    assert [[unit.id for unit in group.units] for group in sheet.groups] == [["c1", "c2"], ["c3"]]
    assert [group.values for group in sheet.groups] == [("yes", "no", "unknown"), ("unknown",)]
    expect_refusal(
        "could not be read", labels.set_label, whole, sheet.response_id, "c3", "yes", protocol=CLAIMS
    )
    labels.set_flag(whole, sheet.response_id, "c3", True, CLAIMS)
    labels.set_label(whole, sheet.response_id, "c3", "unknown", protocol=CLAIMS)
    assert set(open_sheet(whole, CLAIMS).labels["c3"].flags.split()) == {
        "page_dead",
        "flagged",
        "unsubmitted",
    }
    labels.set_flag(whole, sheet.response_id, "c3", False, CLAIMS)
    assert open_sheet(whole, CLAIMS).labels["c3"].flags == "page_dead unsubmitted"


def test_several_labels_are_given_in_one_go_and_undone_in_one_go(whole):
    response_id = reports(whole)[0]
    labels.set_label(whole, response_id, "p1~g1", "relevant", protocol=PLAN)
    labels.set_labels(whole, response_id, ["p1~g2", "p1~g3"], "not", protocol=PLAN)
    assert labels.queue(whole, PLAN)[0].labelled == 3
    history.undo(whole)
    assert [(unit, one.value) for unit, one in open_sheet(whole, PLAN).labels.items()] == [
        ("p1~g1", "relevant")
    ]
    history.redo(whole)
    assert labels.queue(whole, PLAN)[0].labelled == 3


@pytest.mark.parametrize("protocol", [PAIRS, PREFERENCE])
def test_a_pair_is_asked_once_in_an_order_that_stays(whole, protocol):
    (task,) = labels.queue(whole, protocol)
    assert {task.response_id, task.other_id} == set(reports(whole))
    assert labels.queue(whole, protocol)[0].id == task.id
    sheet = open_sheet(whole, protocol)
    assert (sheet.id, sheet.name != sheet.other_name, sheet.report != sheet.other) == (task.id, True, True)


def test_the_order_of_a_pair_is_dealt_anew_for_each_person(whole):
    orders = set()
    for number in range(12):
        people.add_person(whole, f"More {number}", (Role.ANNOTATOR,))
    for person in people.people(whole):
        whole.work_as(person)
        orders.add(labels.queue(whole, PAIRS)[0].response_id)
    assert orders == set(reports(whole))


def test_pairs_are_asked_in_both_orders_where_wished(whole):
    label_cases.ask_both_orders(whole, PAIRS, True)
    first, second = labels.queue(whole, PAIRS)
    assert (first.response_id, first.other_id) == (second.other_id, second.response_id)
    assert len(labels.queue(whole, PREFERENCE)) == 1
    for act, both in ((history.undo, False), (history.redo, True)):
        act(whole)
        assert label_cases.both_orders(whole, PAIRS) is both
    assert dict(label_cases.paired(whole))[PAIRS] == "Which of two reports is better"
    whole.set(label_cases.BOTH_ORDERS, [PREFERENCE])
    expect_refusal("changed since", history.undo, whole)
    assert label_cases.both_orders(whole, PREFERENCE)


def test_labels_of_one_protocol_are_none_of_another(whole):
    task = labels.queue(whole, PAIRS)[0]
    labels.set_label(whole, task.response_id, task.other_id, label_rows.UNSURE, protocol=PAIRS)
    assert [labels.queue(whole, name)[0].labelled for name in ALL] == [0, 0, 1, 0, 0, 0]
    assert [one.value for one in labels.recent(whole, protocol=PAIRS)] == ["unsure"]
    assert labels.recent(whole, protocol=PREFERENCE) == []
    for unit in ("p1~g1", "p2~g2"):
        labels.set_label(whole, reports(whole)[0], unit, "relevant", protocol=PLAN)
    # The latest alone.
    (decision,) = labels.recent(whole, limit=1, protocol=PLAN)
    assert decision.words == "Measure how often a citation supports its claim. → Measure citation support."


def test_what_cannot_be_asked_is_said(whole):
    expect_refusal(
        "no longer part", labels.set_label, whole, reports(whole)[0], "p9~g9", "not", protocol=PLAN
    )
    assert labels.outlook(whole, CLAIMS).gaps == ("No claims are drawn from 1 of 2 reports yet.",)
    sql.alter(whole, "DELETE FROM page WHERE state = 'dead'")
    assert (
        "1 claim cannot be labelled: the cited page was never fetched." in labels.outlook(whole, CLAIMS).gaps
    )


QUOTE = "ties each"


rubrics = fixture_of(labelling_project, criteria=3, reports=2, questions=1)


def item(rubrics: Project) -> str:
    return labels.queue(rubrics)[0].item_id


def both_reports(rubrics: Project) -> list[str]:
    return [task.response_id for task in labels.queue(rubrics)]


def label_all(rubrics: Project, value: str = "yes") -> None:
    for response_id, unit_id in label_sealing.missing(rubrics, item(rubrics)):
        labels.set_label(rubrics, response_id, unit_id, value)


def submitted(rubrics: Project, value: str = "yes") -> str:
    label_all(rubrics, value)
    return label_sealing.submit(rubrics, item(rubrics)).subject


def test_everything_is_missing_at_first(rubrics: Project) -> None:
    units = [f"{item(rubrics)}/c{number}" for number in (1, 2, 3)]
    wanted = [(report, unit) for report in both_reports(rubrics) for unit in units]
    assert label_sealing.missing(rubrics, item(rubrics)) == wanted
    labels.set_label(rubrics, *wanted[4], label_rows.UNSURE)
    labels.set_note(rubrics, *wanted[0], "a note is no label")
    assert label_sealing.missing(rubrics, item(rubrics)) == [*wanted[:4], wanted[5]]
    expect_refusal("not submitted", label_sealing.reopen, rubrics, item(rubrics))
    submitted(rubrics)
    expect_refusal("submitted already", label_sealing.submit, rubrics, item(rubrics))
    label_sealing.reopen(rubrics, item(rubrics))
    expect_refusal("Only a submitted document", label_sealing.reopen, rubrics, item(rubrics))


def test_submitting_too_early_names_what_is_missing_and_seals_nothing(rubrics: Project) -> None:
    label_all(rubrics)
    labels.set_note(rubrics, both_reports(rubrics)[0], f"{item(rubrics)}/c1", "x" * 20_001)
    expect_refusal("A label does not fit: its note", label_sealing.submit, rubrics, item(rubrics))
    report = add_report(rubrics, item(rubrics), SYSTEMS[2])
    labels.set_label(rubrics, report, f"{item(rubrics)}/c2", "no")
    name = next(task.name for task in labels.queue(rubrics) if task.response_id == report)
    refused = expect_refusal("2 labels are still missing", label_sealing.submit, rubrics, item(rubrics))
    assert refused.details == (
        f"{name}: Explains point 1 of the question",
        f"{name}: Explains point 3 of the question",
    )
    assert label_sealing.submission(rubrics, item(rubrics)) is None


def test_a_long_list_of_missing_labels_is_cut_and_says_so(tmp_path: Path) -> None:
    rubrics = labelling_project(tmp_path, criteria=11, reports=2, questions=1)
    refused = expect_refusal("22 labels", label_sealing.submit, rubrics, item(rubrics))
    assert (len(refused.details), refused.details[-1]) == (21, "… and 2 more")


def test_the_document_holds_every_label_with_its_evidence_note_and_flag(rubrics: Project) -> None:
    report, unit = both_reports(rubrics)[0], f"{item(rubrics)}/c1"
    label_all(rubrics, "no")
    labels.set_label(rubrics, report, unit, label_rows.UNSURE)
    start = REPORT.index(QUOTE)
    labels.set_evidence(rubrics, report, unit, QUOTE, start, start + len(QUOTE))
    labels.set_note(rubrics, report, unit, "see the table")
    labels.set_flag(rubrics, report, unit, True)
    artifact = artifacts.read(rubrics, label_sealing.submit(rubrics, item(rubrics)).subject)
    assert (artifact.kind, artifact.state, artifact.author_id) == (Kind.LABELS, State.SEALED, rubrics.by)
    result = artifact.document
    assert [label.value for label in result.units].count("no") == 5
    label = result.unit(label_id(USUAL, report, unit))
    assert (label.value, label.quote, label.note, label.flags) == (
        "unsure",
        QUOTE,
        "see the table",
        "flagged",
    )
    assert (label.protocol, label.response_id, label.unit_id) == (USUAL, report, unit)
    assert label.anchor is not None
    assert stands_in(label.anchor, REPORT)
    # Another rater's labels stand in the same order under the same ids.
    as_second_rater(rubrics)
    assert [label.id for label in result.units] == [
        label.id for label in artifacts.read(rubrics, submitted(rubrics, "no")).document.units
    ]
    assert [one.stage for one in assignments.of_item(rubrics, item(rubrics))] == [Stage.LABELLING]


def test_while_submitted_no_label_of_the_item_can_change_but_another_persons(rubrics: Project) -> None:
    report, unit = both_reports(rubrics)[0], f"{item(rubrics)}/c1"
    submitted(rubrics)
    assert all(task.sealed for task in labels.queue(rubrics))
    for verb, values in (
        (labels.set_label, ("no",)),
        (labels.set_note, ("late",)),
        (labels.set_flag, (True,)),
        (labels.set_evidence, (QUOTE, 0, 9)),
    ):
        expect_refusal("are submitted", verb, rubrics, report, unit, *values)
    expect_refusal("are submitted", history.undo, rubrics)
    sheet = labels.sheet(rubrics, report)
    assert (sheet.sealed, sheet.labels[unit].value, sheet.labels[unit].note) == (True, "yes", "")
    later = add_report(rubrics, item(rubrics), SYSTEMS[2])
    expect_refusal("are submitted", labels.set_label, rubrics, later, unit, "yes")
    me = people.someone(rubrics)
    as_second_rater(rubrics)
    assert not any(task.sealed for task in labels.queue(rubrics))
    labels.set_label(rubrics, report, unit, "no")
    rubrics.work_as(me)
    label_sealing.reopen(rubrics, item(rubrics))
    labels.set_label(rubrics, later, unit, "yes")


def test_one_items_seal_does_not_bind_another(tmp_path: Path) -> None:
    rubrics = labelling_project(tmp_path, criteria=1, reports=1, questions=2)
    submitted(rubrics)
    assert [task.sealed for task in labels.queue(rubrics)] == [True, False]
    other = labels.queue(rubrics)[1]
    labels.set_label(rubrics, other.response_id, f"{other.item_id}/c1", "yes")


def test_reopening_makes_a_revision_and_submitting_again_seals_the_next(rubrics: Project) -> None:
    report, unit = both_reports(rubrics)[0], f"{item(rubrics)}/c1"
    assignments.assign_one(rubrics, item(rubrics), rubrics.by, Stage.LABELLING)
    artifact_id = submitted(rubrics)
    assert assignments.of_person(rubrics, rubrics.by)[0].submitted_at is not None
    label_sealing.reopen(rubrics, item(rubrics))
    assert assignments.of_person(rubrics, rubrics.by)[0].submitted_at is None
    assert label_sealing.submission(rubrics, item(rubrics)).state == "draft"
    labels.set_label(rubrics, report, unit, "no")
    assert label_sealing.submit(rubrics, item(rubrics)).subject == artifact_id
    result = list(reversed(artifacts.revisions(rubrics, artifact_id)))
    assert [(revision.number, revision.sealed) for revision in result] == [(1, True), (2, False), (3, True)]
    name = label_id(USUAL, report, unit)
    values = [next(u["value"] for u in revision.content["units"] if u["id"] == name) for revision in result]
    assert (values, checking.check(rubrics).problems) == (["yes", "yes", "no"], [])


def test_an_item_without_reports_cannot_be_submitted(tmp_path: Path) -> None:
    rubrics = labelling_project(tmp_path, reports=0, questions=1)
    expect_refusal("nothing to label", label_sealing.submit, rubrics, items.ids(rubrics)[0])


def test_a_submission_is_known_by_its_artifact_and_its_time(rubrics: Project) -> None:
    artifact_id = submitted(rubrics)
    after = label_sealing.submission(rubrics, item(rubrics))
    assert (after.state, after.id, after.revision) == ("sealed", artifact_id, 1)
    assert after.sealed_at == artifacts.read(rubrics, artifact_id).sealed_at


NEW = "Worded so that nobody can misread it"


@pytest.fixture
def labelled(rubrics):
    """All criteria of both reports are labelled: the second is not met."""
    for response_id, unit_id in label_sealing.missing(rubrics, item(rubrics)):
        labels.set_label(rubrics, response_id, unit_id, "no" if unit_id.endswith("/c2") else "yes")
    return rubrics


@pytest.fixture
def reworded(labelled) -> tuple[str, str]:
    """The first report, and the criterion that is worded anew."""
    return labels.queue(labelled)[0].response_id, f"{items.ids(labelled)[0]}/c2"


def word(labelled: Project, unit_id: str, text: str = NEW) -> None:
    reviews.word(labelled, USUAL, items.ids(labelled)[0], unit_id, text)


def test_a_reworded_criterion_is_open_again_in_every_report_and_the_others_stay(labelled, reworded):
    word(labelled, reworded[1])
    assert [task.labelled for task in labels.queue(labelled)] == [2, 2]
    sheet = labels.sheet(labelled, reworded[0])
    assert {unit_id: label.status for unit_id, label in sheet.labels.items() if label.value is None} == {
        reworded[1]: Status.SKIPPED
    }
    assert {unit_id: label.value for unit_id, label in sheet.outdated.items()} == {reworded[1]: "no"}
    assert [decision.unit_id[-1] for decision in labels.recent(labelled)] == ["3", "1", "3", "1"]
    labels.set_note(labelled, *reworded, "Is this meant more narrowly now?")
    label = labels.sheet(labelled, reworded[0]).labels[reworded[1]]
    assert (label.value, label.status, label.note) == (
        None,
        Status.SKIPPED,
        "Is this meant more narrowly now?",
    )
    expect_refusal("takes no kind", label_sealing.give, labelled, *reworded, MISSES.name, "incompleteness")
    expect_refusal("2 labels are still missing", label_sealing.submit, labelled, items.ids(labelled)[0])
    for response_id, unit_id in label_sealing.missing(labelled, items.ids(labelled)[0]):
        labels.set_label(labelled, response_id, unit_id, "no")
    label_sealing.submit(labelled, items.ids(labelled)[0])
    assert labels.sheet(labelled, reworded[0]).outdated == {}


def test_what_is_undone_comes_back_as_it_counts_and_words_put_back_make_it_count_again(labelled, reworded):
    before = labels.sheet(labelled, reworded[0]).units[1].text
    word(labelled, reworded[1])
    labels.set_label(labelled, *reworded, "yes")
    history.undo(labelled)
    assert labels.queue(labelled)[0].labelled == 2
    assert labels.sheet(labelled, reworded[0]).outdated[reworded[1]].value == "no"
    word(labelled, reworded[1], before)
    assert [task.labelled for task in labels.queue(labelled)] == [3, 3]
    assert labels.sheet(labelled, reworded[0]).outdated == {}


def test_what_is_submitted_stays_and_says_that_it_is_of_other_words(labelled, reworded):
    label_sealing.submit(labelled, items.ids(labelled)[0])
    word(labelled, reworded[1])
    sheet = labels.sheet(labelled, reworded[0])
    assert (sheet.sealed, sheet.labels[reworded[1]].value) == (True, "no")
    assert sheet.outdated == {reworded[1]: sheet.labels[reworded[1]]}
    label_sealing.reopen(labelled, items.ids(labelled)[0])
    assert labels.sheet(labelled, reworded[0]).labels[reworded[1]].value is None
    assert [task.labelled for task in labels.queue(labelled)] == [2, 2]


def test_a_gold_sub_task_that_is_worded_anew_opens_its_cells(tmp_path):
    labelled = one_item(tmp_path)
    response_id = labels.queue(labelled, PLAN)[0].response_id
    cells = [unit.id for unit in labels.sheet(labelled, response_id, PLAN).units]
    labels.set_labels(labelled, response_id, cells, "not", protocol=PLAN)
    reviews.word(labelled, PLAN, materials.item_ids(labelled)[0], cells[0], NEW)
    gone = [cell for cell in cells if cell.endswith("~" + cells[0].partition("~")[2])]
    assert list(labels.sheet(labelled, response_id, PLAN).outdated) == gone
    assert labels.queue(labelled, PLAN)[0].labelled == len(cells) - len(gone)


looked = fixture_of(labelling_project, criteria=2, reports=1, questions=1)


@pytest.fixture
def unmet(looked):
    """The only report and its first criterion, which is not met."""
    labels.set_label(looked, *first_unit(looked), "no")
    return first_unit(looked)


def test_kinds_are_given_taken_back_and_undone(looked, unmet):
    for value in ("incompleteness", "partial_missing"):
        label_sealing.give(looked, *unmet, MISSES.name, value)
    history.undo(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {unmet[1]: "incompleteness"}
    label_sealing.give(looked, *unmet, MISSES.name, "")
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {}
    history.undo(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {unmet[1]: "incompleteness"}
    expect_refusal("not among", label_sealing.give, looked, *unmet, MISSES.name, "retrieval")
    assert labels.sheet(looked, unmet[0]).labels[unmet[1]].value == "no"
    assert labels.queue(looked)[0].labelled == 1


@pytest.mark.parametrize("taxonomy", [MODES, MISSES])
def test_a_kind_is_given_only_where_the_verdict_asks_for_it(looked, taxonomy):
    unit = first_unit(looked)
    if taxonomy is MISSES:
        labels.set_label(looked, *unit, "yes")
    expect_refusal("takes no kind", label_sealing.give, looked, *unit, taxonomy.name, taxonomy.values[0])


def test_kinds_may_be_given_after_submitting_and_are_seen_by_nobody_else(looked, unmet):
    item_id = labels.queue(looked)[0].item_id
    labels.set_label(looked, unmet[0], f"{item_id}/c2", "yes")
    label_sealing.submit(looked, item_id)
    label_sealing.give(looked, *unmet, MISSES.name, "incompleteness")
    history.undo(looked)
    history.redo(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {unmet[1]: "incompleteness"}
    assert [label_sealing.offered(looked, name) for name in (USUAL, CLAIMS, "adra.plan")] == [
        True, True, False,
    ]  # fmt: skip
    as_second_rater(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {}


def fill(whole: Project, *relevant: str) -> labels.LabelSheet:
    """Two predicted sub-tasks against three gold ones, of which these cells match."""
    sheet = open_sheet(whole, PLAN)
    others = [unit.id for unit in sheet.units if unit.id not in relevant]
    for cells, value in ((relevant, "relevant"), (others, "not")):
        labels.set_labels(whole, sheet.response_id, cells, value, protocol=PLAN)
    return open_sheet(whole, PLAN)


# A maximum matching of 2 (p1–g2, p2–g1); both rows have a match, and the columns g1 and g2.
MATCHED = ("p1~g1", "p1~g2", "p2~g1")


def test_both_readings_of_a_matrix(whole):
    assert labels.readings(fill(whole, *MATCHED)) == (
        labels.MatrixReading("one-to-one", 2, 2),
        labels.MatrixReading("any-match", 2, 2),
    )
    # Both meet g1 alone: one pair can be matched, yet every predicted one is right by any match.
    assert labels.readings(fill(whole, "p1~g1", "p2~g1")) == (
        labels.MatrixReading("one-to-one", 1, 1),
        labels.MatrixReading("any-match", 2, 1),
    )


def test_nothing_is_counted_while_a_cell_is_open_or_unsure(whole):
    sheet, nothing = (
        fill(whole, *MATCHED),
        (labels.MatrixReading("one-to-one"), labels.MatrixReading("any-match")),
    )
    sheet.labels.pop("p1~g1")
    assert labels.readings(sheet) == nothing
    labels.set_label(whole, sheet.response_id, "p1~g1", "unsure", protocol=PLAN)
    assert labels.readings(open_sheet(whole, PLAN)) == nothing


def test_a_matrix_is_read_as_its_protocol_declares_it(whole, monkeypatch):
    sheet, protocol = fill(whole, *MATCHED), PROTOCOLS[PLAN]
    corners = replace(
        protocol.matrix,
        match="not",
        none="relevant",
        readings={"corner": lambda cells, wide: (cells[0][0], wide)},
    )
    monkeypatch.setitem(PROTOCOLS, "planted.matrix", replace(protocol, name="planted.matrix", matrix=corners))
    # The first cell is relevant, which is no match here; there are three columns.
    assert labels.readings(replace(sheet, protocol="planted.matrix")) == (
        labels.MatrixReading("corner", False, 3),
    )


def test_other_protocols_have_no_readings_and_every_one_has_its_guide(whole):
    assert labels.readings(open_sheet(whole, USUAL)) == ()
    assert all("Unsure" in label_cases.guide(whole, name) for name in ALL)


DAY = timedelta(days=1)


@pytest.fixture
def assigned(tmp_path: Path) -> Project:
    """Two items with two reports and a rubric of three criteria each; Ada and Ben annotate, Sue adjudicates."""
    assigned = labelling_project(tmp_path, criteria=3, reports=2)
    for name in ("Ada", "Ben"):
        people.add_person(assigned, name)
    people.add_person(assigned, "Sue", (Role.ADJUDICATOR,))
    return assigned


def ask(assigned: Project, name: str, stage: Stage, item: int = 0, **fields: object) -> str:
    work_as(assigned, "Me")
    item_id = items.ids(assigned)[item]
    return assignments.assign_one(assigned, item_id, who(assigned, name), stage, **fields).subject  # type: ignore[arg-type]


def line(assigned: Project, name: str, stage: Stage = Stage.RUBRIC, trial: int = 1) -> board.AssignmentStatus:
    work_as(assigned, "Me")
    return next(
        one for one in board.board(assigned) if (one.person, one.stage, one.trial) == (name, stage, trial)
    )


def states(assigned: Project, stage: Stage = Stage.RUBRIC) -> dict[str, str]:
    work_as(assigned, "Me")
    return {one.person: one.state for one in board.board(assigned) if one.stage is stage}


def begin(assigned: Project, name: str) -> str:
    work_as(assigned, name)
    item_id = items.ids(assigned)[0]
    return artifacts.start(assigned, item_id, Kind.RUBRIC, rubric(item_id, 4)).subject


def label(assigned: Project, name: str, most: int = 99, seconds: float = 10.0) -> None:
    work_as(assigned, name)
    for response_id, unit_id in label_sealing.missing(assigned, items.ids(assigned)[0])[:most]:
        labels.set_label(assigned, response_id, unit_id, "yes", seconds=seconds)


def add_adjudication(assigned: Project, state: str, stage: Stage = Stage.RUBRIC) -> None:
    """An adjudication by Sue, the agreement of that stage of the first item being frozen."""
    item_id = items.ids(assigned)[0]
    with assigned.store.write() as db:
        frozen = {
            "id": f"agreement {stage}", "item_id": item_id, "stage": stage.value, "content": "{}",
            "sha256": sha256("{}"), "frozen_at": now(),
        }  # fmt: skip
        db.execute(insert(AGREEMENT).prefix_with("OR IGNORE").values(**frozen))
        db.execute(
            insert(ADJUDICATION).values(
                id=f"adjudication {stage}", item_id=item_id, stage=stage.value, agreement_id=f"agreement {stage}",
                adjudicator_id=who(assigned, "Sue"), seed=1, letters=json.dumps({}), state=state, opened_at=now(),
            )
        )  # fmt: skip


def close(assigned: Project, stage: Stage = Stage.RUBRIC) -> None:
    sql.alter(assigned, "UPDATE adjudication SET state = 'closed' WHERE stage = ?", [stage.value])


def dispute(assigned: Project, name: str) -> None:
    item_id = items.ids(assigned)[0]
    with assigned.store.write() as db:
        db.execute(
            insert(DISPUTE).values(
                id="dispute", item_id=item_id, person_id=who(assigned, name), stage=Stage.RUBRIC.value,
                text="The paper says so.", at=now(), state="open",
            )
        )  # fmt: skip


def test_the_board_is_empty_then_ordered(assigned: Project) -> None:
    assert (board.board(assigned), board.per_person([])) == ([], [])
    for name, stage, item in (
        ("Ben", Stage.RUBRIC, 1), ("Ben", Stage.RUBRIC, 0), ("Ada", Stage.RUBRIC, 0), ("Ada", Stage.QUERY, 0)
    ):  # fmt: skip
        ask(assigned, name, stage, item)
    result = [(one.item_key, one.stage.value, one.person) for one in board.board(assigned)]
    assert result == [
        ("1", "query", "Ada"),
        ("1", "rubric", "Ada"),
        ("1", "rubric", "Ben"),
        ("2", "rubric", "Ben"),
    ]
    items.change(assigned, items.ids(assigned)[0], retired=True)
    assert [one.item_key for one in board.board(assigned)] == ["2"]


def test_a_line_goes_from_not_begun_over_draft_to_submitted_and_back(assigned: Project) -> None:
    def ada() -> tuple[object, ...]:
        result = line(assigned, "Ada")
        return result.state, result.units, result.handed_in, result.submitted_at

    ask(assigned, "Ada", Stage.RUBRIC)
    assert ada() == ("not begun", 0, False, None)
    artifact_id = begin(assigned, "Ada")
    assert ada() == ("draft", 4, False, None)
    assignments.seal(work_as(assigned, "Ada"), artifact_id)
    assert ada() == ("submitted", 4, True, artifacts.read(assigned, artifact_id).sealed_at)
    assignments.reopen(work_as(assigned, "Ada"), artifact_id)
    assert ada() == ("draft", 4, False, None)


def test_both_lines_of_a_pair_follow_what_becomes_of_the_stage(assigned: Project) -> None:
    for name in ("Ada", "Ben"):
        ask(assigned, name, Stage.RUBRIC)
        assignments.seal(assigned, mine := begin(assigned, name))
    assert states(assigned) == {"Ada": "frozen", "Ben": "frozen"}
    work_as(assigned, "Ben")
    assignments.reopen(assigned, mine)
    assert states(assigned) == {"Ada": "frozen", "Ben": "frozen"}
    assert line(assigned, "Ben").submitted_at is None
    sql.alter(assigned, "DELETE FROM agreement")
    add_adjudication(assigned, "open")
    assert states(assigned) == {"Ada": "in adjudication", "Ben": "in adjudication"}
    close(assigned)
    assert states(assigned) == {"Ada": "consensus", "Ben": "consensus"}
    dispute(assigned, "Ben")
    assert states(assigned) == {"Ada": "disputed", "Ben": "disputed"}


def test_who_joins_after_the_freeze_has_not_begun(assigned: Project) -> None:
    for name in ("Ada", "Ben"):
        assignments.seal(assigned, begin(assigned, name))
    ask(assigned, "Ada", Stage.RUBRIC)
    ask(assigned, "Rater 2", Stage.RUBRIC)
    assert states(assigned) == {"Ada": "frozen", "Rater 2": "not begun"}


def test_labelling_counts_labels_of_all_reports_and_their_seconds(assigned: Project) -> None:
    def ada() -> tuple[object, ...]:
        result = line(assigned, "Ada", Stage.LABELLING)
        return result.state, result.units, result.of, result.seconds

    ask(assigned, "Ada", Stage.LABELLING)
    assert ada() == ("not begun", 0, 6, 0.0)
    label(assigned, "Ada", most=2)
    assert ada() == ("draft", 2, 6, 20.0)
    label(assigned, "Ada")
    label_sealing.submit(assigned, items.ids(assigned)[0])
    # Time is taken from what was spent on the report where that is more.
    for task in labels.queue(assigned):
        assignments.spend(assigned, task.response_id, 100)
    assert ada() == ("submitted", 6, 6, 200.0)


def test_time_on_a_document_counts_for_its_stage_alone(assigned: Project) -> None:
    for stage in (Stage.RUBRIC, Stage.PLAN):
        ask(assigned, "Ada", stage)
    artifact_id = begin(assigned, "Ada")
    assignments.spend(assigned, artifact_id, 30)
    assignments.spend(assigned, artifact_id, 12.5)
    work_as(assigned, "Ben")
    assignments.spend(assigned, artifact_id, 99)
    assert (line(assigned, "Ada").seconds, line(assigned, "Ada", Stage.PLAN).seconds) == (42.5, 0.0)


def test_overdue_is_what_is_late_and_not_handed_in(assigned: Project) -> None:
    today = datetime.now(UTC)
    for stage, due in ((Stage.RUBRIC, today - DAY), (Stage.PLAN, today + DAY), (Stage.QUERY, None)):
        ask(assigned, "Ada", stage, due=due)
        assert line(assigned, "Ada", stage).overdue is (stage is Stage.RUBRIC)
    assignments.seal(assigned, begin(assigned, "Ada"))
    assert not line(assigned, "Ada").overdue


def test_a_repeat_is_handed_in_by_itself(assigned: Project) -> None:
    item_id, ada = items.ids(assigned)[0], who(assigned, "Ada")
    ask(assigned, "Ada", Stage.LABELLING)
    ask(assigned, "Ada", Stage.LABELLING, trial=2, purpose=Purpose.REPEAT)
    label(assigned, "Ada")
    label_sealing.submit(assigned, item_id)
    again = line(assigned, "Ada", Stage.LABELLING, trial=2)
    assert (again.state, again.units, again.purpose) == ("not begun", 0, Purpose.REPEAT)
    with assigned.store.write() as db:
        assignments.mark_submitted(db, item_id, ada, Stage.LABELLING, now(), trial=2)
    assert [line(assigned, "Ada", Stage.LABELLING, trial).state for trial in (1, 2)] == ["submitted"] * 2


def test_an_adjudicators_line_counts_the_stages_that_are_closed(assigned: Project) -> None:
    for name in ("Ada", "Ben"):
        for stage in (Stage.RUBRIC, Stage.PLAN):
            ask(assigned, name, stage)
    ask(assigned, "Sue", Stage.ADJUDICATION)

    def sue() -> tuple[str, int, int]:
        result = line(assigned, "Sue", Stage.ADJUDICATION)
        return result.state, result.units, result.of

    assert sue() == ("not begun", 0, 2)
    add_adjudication(assigned, "open")
    assert sue() == ("in adjudication", 0, 2)
    close(assigned)
    assert sue() == ("in adjudication", 1, 2)
    add_adjudication(assigned, "closed", Stage.PLAN)
    assert sue() == ("consensus", 2, 2)
    dispute(assigned, "Ada")
    assert sue() == ("disputed", 2, 2)


def test_totals_add_up_by_person_and_by_stage(assigned: Project) -> None:
    late = datetime.now(UTC) - DAY
    ask(assigned, "Ada", Stage.RUBRIC)
    ask(assigned, "Ada", Stage.PLAN, due=late)
    ask(assigned, "Ben", Stage.PLAN)
    artifact_id = begin(assigned, "Ada")
    assignments.spend(assigned, artifact_id, 30)
    assignments.seal(assigned, artifact_id)
    work_as(assigned, "Me")
    by_person = [
        (one.name, one.assignments, one.states, one.handed_in, one.overdue, one.units, one.seconds)
        for one in board.per_person(board.board(assigned))
    ]
    assert by_person == [
        ("Ada", 2, {"not begun": 1, "submitted": 1}, 1, 1, 4, 30.0),
        ("Ben", 1, {"not begun": 1}, 0, 0, 0, 0.0),
    ]


def test_an_annotator_sees_their_own_lines_alone_and_no_repeat(assigned: Project) -> None:
    for name in ("Ada", "Ben"):
        ask(assigned, name, Stage.LABELLING)
        ask(assigned, name, Stage.LABELLING, trial=2, purpose=Purpose.REPEAT)
    work_as(assigned, "Ada")
    assert [(one.person, one.trial) for one in board.board(assigned)] == [("Ada", 1)]
