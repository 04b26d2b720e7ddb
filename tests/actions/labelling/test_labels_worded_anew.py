"""One's own labels after a criterion was worded anew: to be given again before they are submitted, never silently."""

import pytest

from annotator.actions.items import items, materials
from annotator.actions.labelling import label_sealing, label_tasks, labels, second_looks
from annotator.actions.project.file import Project
from annotator.actions.sets import rewording
from annotator.actions.undo import history
from annotator.domain.judges.judgement import Status
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import USUAL
from annotator.protocols.researcherbench.taxonomy import MISSES
from tests.projects.labelled_protocols import PLAN, one_item
from tests.projects.labelling_project import labelling_project

NEW = "Worded so that nobody can misread it"


@pytest.fixture
def project(tmp_path):
    """One item, two reports, three criteria, all of them labelled: the second is not met."""
    opened = labelling_project(tmp_path, reports=2, questions=1)
    for response_id, unit_id in label_sealing.missing(opened, items.ids(opened)[0]):
        labels.set_label(opened, response_id, unit_id, "no" if unit_id.endswith("/c2") else "yes")
    yield opened
    opened.close()


@pytest.fixture
def place(project) -> tuple[str, str]:
    """The first report, and the criterion that is worded anew."""
    return label_tasks.queue(project)[0].response_id, f"{items.ids(project)[0]}/c2"


def word(project: Project, unit_id: str, text: str = NEW) -> None:
    rewording.word(project, USUAL, items.ids(project)[0], unit_id, text)


def test_it_is_open_again_in_every_report_and_the_others_stay(project, place):
    assert [task.labelled for task in label_tasks.queue(project)] == [3, 3]
    word(project, place[1])
    assert [task.labelled for task in label_tasks.queue(project)] == [2, 2]
    sheet = labels.sheet(project, place[0])
    assert {unit_id: label.status for unit_id, label in sheet.labels.items() if label.value is None} == {
        place[1]: Status.SKIPPED
    }
    assert {unit_id: label.value for unit_id, label in sheet.outdated.items()} == {place[1]: "no"}


def test_they_cannot_be_submitted_before_it_is_said_again(project, place):
    word(project, place[1])
    with pytest.raises(Refusal, match="2 labels are still missing"):
        label_sealing.submit(project, items.ids(project)[0])
    for response_id, unit_id in label_sealing.missing(project, items.ids(project)[0]):
        labels.set_label(project, response_id, unit_id, "no")
    label_sealing.submit(project, items.ids(project)[0])
    assert labels.sheet(project, place[0]).outdated == {}


def test_a_note_does_not_make_what_was_said_count_for_the_new_words(project, place):
    word(project, place[1])
    labels.set_note(project, *place, "Is this meant more narrowly now?")
    label = labels.sheet(project, place[0]).labels[place[1]]
    assert (label.value, label.status, label.note) == (
        None,
        Status.SKIPPED,
        "Is this meant more narrowly now?",
    )
    assert label_tasks.queue(project)[0].labelled == 2


def test_what_is_undone_comes_back_as_it_counts(project, place):
    word(project, place[1])
    labels.set_label(project, *place, "yes")
    assert label_tasks.queue(project)[0].labelled == 3
    history.undo(project)
    assert label_tasks.queue(project)[0].labelled == 2
    assert labels.sheet(project, place[0]).outdated[place[1]].value == "no"


def test_words_that_are_put_back_make_it_count_again(project, place):
    before = labels.sheet(project, place[0]).units[1].text
    word(project, place[1])
    word(project, place[1], before)
    assert [task.labelled for task in label_tasks.queue(project)] == [3, 3]
    assert labels.sheet(project, place[0]).outdated == {}


def test_what_is_submitted_stays_and_says_that_it_is_of_other_words(project, place):
    label_sealing.submit(project, items.ids(project)[0])
    word(project, place[1])
    sheet = labels.sheet(project, place[0])
    assert (sheet.sealed, sheet.labels[place[1]].value) == (True, "no")
    assert sheet.outdated == {place[1]: sheet.labels[place[1]]}
    label_sealing.reopen(project, items.ids(project)[0])
    assert labels.sheet(project, place[0]).labels[place[1]].value is None
    assert [task.labelled for task in label_tasks.queue(project)] == [2, 2]


def test_the_latest_labels_are_those_that_count(project, place):
    word(project, place[1])
    assert place[1] not in {decision.unit_id for decision in label_tasks.recent(project)}
    assert len(label_tasks.recent(project)) == 4


def test_no_kind_is_given_to_what_was_said_of_other_words(project, place):
    word(project, place[1])
    with pytest.raises(Refusal, match="takes no kind"):
        second_looks.give(project, *place, MISSES.name, "incompleteness")


def test_a_gold_sub_task_that_is_worded_anew_opens_its_cells(tmp_path):
    project = one_item(tmp_path)
    response_id = label_tasks.queue(project, PLAN)[0].response_id
    cells = [unit.id for unit in labels.sheet(project, response_id, PLAN).units]
    labels.set_labels(project, response_id, cells, "not", protocol=PLAN)
    rewording.word(project, PLAN, materials.item_ids(project)[0], cells[0], NEW)
    gone = [cell for cell in cells if cell.endswith("~" + cells[0].partition("~")[2])]
    assert list(labels.sheet(project, response_id, PLAN).outdated) == gone
    assert label_tasks.queue(project, PLAN)[0].labelled == len(cells) - len(gone)
    project.close()
