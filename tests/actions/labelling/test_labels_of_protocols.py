"""Labels under every protocol: what is asked, in what order, what may be said, and what is lacking."""

import asyncio
from contextlib import closing

import pytest

from annotator.actions.items import items
from annotator.actions.labelling import label_cases, label_offers, label_tasks, labels
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.experts.person import Role
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.part import Claims, ResponsePart
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import USUAL
from tests.material import drawn_extracts
from tests.projects.labelled_protocols import (
    ALL,
    CLAIMS,
    GOLD,
    PAIRS,
    PLAN,
    PREFERENCE,
    REASONING,
    one_item,
    reports,
    seal,
)
from tests.projects.labelling_project import SYSTEMS, add_report, labelling_project, project_with
from tests.storage import sql


@pytest.fixture
def project(tmp_path):
    opened = one_item(tmp_path)
    yield opened
    opened.close()


def open_sheet(project: Project, protocol: str, place: int = 0) -> labels.LabelSheet:
    task = label_tasks.queue(project, protocol)[place]
    return labels.sheet(project, task.response_id, protocol, task.other_id)


def test_all_protocols_that_people_answer_are_offered_where_there_is_something_to_ask(project, tmp_path):
    assert label_offers.offered(project) == list(ALL)
    folder = tmp_path / "other"
    folder.mkdir()
    plain = labelling_project(folder, reports=1)
    assert label_offers.offered(plain) == [USUAL]
    plain.close()


def test_where_no_protocol_is_named_the_project_says_which_is_meant(tmp_path):
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    with closing(project_with(folders[0], 1)) as empty:
        assert label_offers.usual(empty) == USUAL
    with closing(project_with(folders[1], 1)) as planned:
        # Gold for one alone.
        seal(planned, items.add(planned, "Why?").subject, Plan(units=(Subtask(id="g", text=GOLD[0]),)))
        assert label_offers.usual(planned) == PLAN
    with closing(one_item(folders[2])) as whole:
        assert label_offers.usual(whole) == USUAL
        # What people said counts more than what is there, a judge more than people.
        task = next(iter(label_tasks.queue(whole, PREFERENCE)))
        (unit,) = (one for group in open_sheet(whole, PREFERENCE).groups for one in group.units)
        labels.set_label(whole, task.response_id, unit.id, "first", protocol=PREFERENCE)
        assert label_offers.usual(whole) == PREFERENCE
        sheet = open_sheet(whole, REASONING)
        labels.set_label(whole, sheet.response_id, "s1", "true", protocol=REASONING)
        assert label_offers.usual(whole) == REASONING
        asyncio.run(orders.carry_out(whole, RunRequest("baseline", CLAIMS)))
        assert label_offers.usual(whole) == CLAIMS


def test_what_is_computed_is_not_labelled(project):
    with pytest.raises(Refusal, match="is computed"):
        label_tasks.queue(project, "adra.retrieval")


def test_claims_stand_under_their_pages_and_an_unreadable_page_leaves_one_answer(project):
    sheet = open_sheet(project, CLAIMS)
    assert [[unit.id for unit in group.units] for group in sheet.groups] == [["c1", "c2"], ["c3"]]
    assert [group.values for group in sheet.groups] == [("yes", "no", "unknown"), ("unknown",)]
    with pytest.raises(Refusal, match="could not be read"):
        labels.set_label(project, sheet.response_id, "c3", "yes", protocol=CLAIMS)
    labels.set_label(project, sheet.response_id, "c3", "unknown", protocol=CLAIMS)
    assert open_sheet(project, CLAIMS).labels["c3"].flags == "page_dead unsubmitted"


def test_a_flag_of_ones_own_stands_beside_that_of_the_page(project):
    response_id = reports(project)[0]
    labels.set_flag(project, response_id, "c3", True, CLAIMS)
    labels.set_label(project, response_id, "c3", "unknown", protocol=CLAIMS)
    assert set(open_sheet(project, CLAIMS).labels["c3"].flags.split()) == {
        "page_dead",
        "flagged",
        "unsubmitted",
    }
    labels.set_flag(project, response_id, "c3", False, CLAIMS)
    assert open_sheet(project, CLAIMS).labels["c3"].flags == "page_dead unsubmitted"


def test_several_labels_are_given_in_one_go_and_undone_in_one_go(project):
    response_id = reports(project)[0]
    labels.set_label(project, response_id, "p1~g1", "relevant", protocol=PLAN)
    labels.set_labels(project, response_id, ["p1~g2", "p1~g3"], "not", protocol=PLAN)
    assert label_tasks.queue(project, PLAN)[0].labelled == 3
    history.undo(project)
    assert {unit: label.value for unit, label in open_sheet(project, PLAN).labels.items()} == {
        "p1~g1": "relevant"
    }
    history.redo(project)
    assert label_tasks.queue(project, PLAN)[0].labelled == 3


def test_a_statements_gold_label_is_not_on_the_sheet(project):
    assert {unit.label for unit in open_sheet(project, REASONING).units} == {None}


@pytest.mark.parametrize("protocol", [PAIRS, PREFERENCE])
def test_a_pair_is_asked_once_in_an_order_that_stays(project, protocol):
    (task,) = label_tasks.queue(project, protocol)
    assert {task.response_id, task.other_id} == set(reports(project))
    assert label_tasks.queue(project, protocol)[0].id == task.id
    sheet = open_sheet(project, protocol)
    assert (sheet.id, sheet.name != sheet.other_name, sheet.report != sheet.other) == (task.id, True, True)


def test_the_order_of_a_pair_is_dealt_anew_for_each_person(project):
    orders = set()
    for number in range(12):
        people.add_person(project, f"More {number}", (Role.ANNOTATOR,))
    for person in people.people(project):
        project.work_as(person)
        orders.add(label_tasks.queue(project, PAIRS)[0].response_id)
    assert orders == set(reports(project))


def test_both_orders_are_asked_where_that_is_wished(project):
    label_cases.ask_both_orders(project, PAIRS, True)
    first, second = label_tasks.queue(project, PAIRS)
    assert (first.response_id, first.other_id) == (second.other_id, second.response_id)
    assert len(label_tasks.queue(project, PREFERENCE)) == 1


def test_asking_in_both_orders_is_undone_and_done_again(project):
    label_cases.ask_both_orders(project, PAIRS, True)
    history.undo(project)
    assert not label_cases.both_orders(project, PAIRS)
    history.redo(project)
    assert label_cases.both_orders(project, PAIRS)


def test_a_setting_that_somebody_has_changed_since_is_not_taken_back(project):
    label_cases.ask_both_orders(project, PAIRS, True)
    project.set(label_cases.BOTH_ORDERS, [PREFERENCE])
    with pytest.raises(Refusal, match="changed since"):
        history.undo(project)
    assert label_cases.both_orders(project, PREFERENCE)


def test_those_that_compare_two_reports_are_offered_by_title():
    assert dict(label_cases.paired())[PAIRS] == "Which of two reports is better"


def test_labels_of_one_protocol_are_none_of_another(project):
    task = label_tasks.queue(project, PAIRS)[0]
    labels.set_label(project, task.response_id, task.other_id, "tie", protocol=PAIRS)
    assert [label_tasks.queue(project, name)[0].labelled for name in ALL] == [0, 0, 1, 0, 0, 0]
    assert [one.said for one in label_tasks.recent(project, protocol=PAIRS)] == ["tie"]
    assert label_tasks.recent(project, protocol=PREFERENCE) == []


def test_recent_cells_are_called_by_both_their_sides(project):
    labels.set_label(project, reports(project)[0], "p2~g2", "relevant", protocol=PLAN)
    (decision,) = label_tasks.recent(project, protocol=PLAN)
    assert decision.words == "Measure how often a citation supports its claim. → Measure citation support."


def test_what_cannot_be_asked_is_said_in_sentences(project):
    assert label_tasks.outlook(project, CLAIMS).gaps == ("No claims are drawn from 1 of 2 reports yet.",)
    sql.alter(project, "DELETE FROM page WHERE state = 'dead'")
    gaps = label_tasks.outlook(project, CLAIMS).gaps
    assert "1 claim cannot be labelled: the cited page was never fetched." in gaps


def test_what_is_lacking_under_each_protocol_is_named(tmp_path):
    project = project_with(tmp_path)
    assert label_tasks.lacking(project, PAIRS) == "items"
    item_id = items.add(project, "A question").subject
    assert label_tasks.lacking(project, PAIRS) == "responses"
    response_id = add_report(project, item_id, SYSTEMS[0])
    assert [label_tasks.lacking(project, name) for name in ALL[1:]] == [
        "drawn claims", "rivals", "plan", "diagnostics", "rivals",
    ]  # fmt: skip
    drawn_extracts.write(project, response_id, ResponsePart.CLAIMS, Claims(units=()))
    add_report(project, item_id, SYSTEMS[1])
    assert [label_tasks.lacking(project, name) for name in (PAIRS, PREFERENCE)] == ["", ""]
    project.close()


def test_a_unit_that_is_gone_is_refused(project):
    with pytest.raises(Refusal, match="no longer part"):
        labels.set_label(project, reports(project)[0], "p9~g9", "not", protocol=PLAN)
