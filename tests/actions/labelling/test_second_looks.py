"""Kinds of errors and response modes: given beside one's own verdicts, and never in their way."""

import pytest

from annotator.actions.labelling import label_sealing, label_tasks, labels, second_looks
from annotator.actions.undo import history
from annotator.domain.judges.judgement import Judgement
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import USUAL
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES, MODES
from tests.projects.labelled_protocols import CLAIMS, one_item
from tests.projects.labelling_project import labelling_project


@pytest.fixture
def project(tmp_path):
    opened = labelling_project(tmp_path, criteria=2, reports=1, questions=1)
    yield opened
    opened.close()


@pytest.fixture
def place(project):
    """The only report and its first criterion, which is not met."""
    task = label_tasks.queue(project)[0]
    labels.set_label(project, task.response_id, f"{task.item_id}/c1", "no")
    return task.response_id, f"{task.item_id}/c1"


def test_a_kind_stands_beside_the_verdict_it_is_of(project, place):
    second_looks.give(project, *place, MISSES.name, "partial_missing")
    assert second_looks.of_report(project, place[0], MISSES.name) == {place[1]: "partial_missing"}
    assert labels.sheet(project, place[0]).labels[place[1]].value == "no"
    assert label_tasks.queue(project)[0].labelled == 1


def test_another_kind_takes_the_place_of_the_first_and_undo_brings_it_back(project, place):
    for value in ("incompleteness", "partial_missing"):
        second_looks.give(project, *place, MISSES.name, value)
    history.undo(project)
    assert second_looks.of_report(project, place[0], MISSES.name) == {place[1]: "incompleteness"}
    history.undo(project)
    assert second_looks.of_report(project, place[0], MISSES.name) == {}


def test_a_kind_can_be_taken_back_and_given_again_by_undo(project, place):
    second_looks.give(project, *place, MISSES.name, "incompleteness")
    second_looks.give(project, *place, MISSES.name, "")
    assert second_looks.of_report(project, place[0], MISSES.name) == {}
    history.undo(project)
    assert second_looks.of_report(project, place[0], MISSES.name) == {place[1]: "incompleteness"}


@pytest.mark.parametrize("taxonomy", [MODES, MISSES])
def test_a_kind_is_given_only_where_the_verdict_asks_for_it(project, taxonomy):
    task = label_tasks.queue(project)[0]
    unit_id = f"{task.item_id}/c2"
    if taxonomy is MISSES:
        labels.set_label(project, task.response_id, unit_id, "yes")
    with pytest.raises(Refusal, match="takes no kind"):
        second_looks.give(project, task.response_id, unit_id, taxonomy.name, taxonomy.values[0])


def test_a_kind_that_is_not_the_taxonomys_is_refused(project, place):
    with pytest.raises(Refusal, match="not among"):
        second_looks.give(project, *place, MISSES.name, "retrieval")


def test_the_kinds_of_another_person_are_not_seen(project, place):
    from annotator.actions.project import people

    second_looks.give(project, *place, MISSES.name, "incompleteness")
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))
    assert second_looks.of_report(project, place[0], MISSES.name) == {}


def test_kinds_may_be_given_after_the_labels_are_submitted(project, place):
    item_id = label_tasks.queue(project)[0].item_id
    labels.set_label(project, place[0], f"{item_id}/c2", "yes")
    label_sealing.submit(project, item_id)
    second_looks.give(project, *place, MISSES.name, "incompleteness")
    history.undo(project)
    history.redo(project)
    assert second_looks.of_report(project, place[0], MISSES.name) == {place[1]: "incompleteness"}


@pytest.mark.parametrize(
    ("value", "flags", "offered"),
    [
        ("unknown", "page_dead", "invalid_attribution"),
        ("no", "", "unsupported_answer"),
        ("no", "page_cut", "unsupported_answer"),
        ("unknown", "", ""),
    ],
)
def test_a_claims_kind_is_suggested_by_its_page_or_its_verdict(project, place, value, flags, offered):
    label = labels.sheet(project, place[0]).labels[place[1]]
    said = Judgement(**label.model_dump() | {"value": value, "flags": flags})
    assert CITATION_ERRORS.suggested(said.value or "", said.flags) == offered
    assert MISSES.suggested(said.value or "", said.flags) == ""


def test_an_unsupported_claim_gets_its_kind(tmp_path):
    project = one_item(tmp_path)
    response_id = label_tasks.queue(project, CLAIMS)[0].response_id
    labels.set_label(project, response_id, "c2", "no", protocol=CLAIMS)
    second_looks.give(project, response_id, "c2", CITATION_ERRORS.name, "unsupported_answer")
    assert second_looks.of_report(project, response_id, CITATION_ERRORS.name) == {"c2": "unsupported_answer"}
    project.close()


def test_kinds_are_asked_only_of_what_has_a_taxonomy(project):
    assert [second_looks.offered(project, name) for name in (USUAL, CLAIMS, "adra.plan")] == [
        True, True, False,
    ]  # fmt: skip
