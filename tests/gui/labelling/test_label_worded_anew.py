"""A criterion worded anew after it was labelled: its card says so, and what was said of the old words is open."""

import pytest

from annotator.actions.items import items, materials
from annotator.actions.labelling import label_sealing, label_tasks, labels
from annotator.actions.sets import rewording
from annotator.gui.pages.labelling.units.matrix_model import CELL_ROLE
from annotator.protocols import USUAL
from tests.projects.labelled_protocols import PLAN, one_item
from tests.projects.labelling_project import labelling_project
from tests.windows.labelling_keys import press

NEW = "Worded so that nobody can misread it"


@pytest.fixture
def project(tmp_path):
    """One item of two reports, each with two criteria, all labelled as met; then the second is worded anew."""
    opened = labelling_project(tmp_path, criteria=2, reports=2, questions=1)
    for response_id, unit_id in label_sealing.missing(opened, item(opened)):
        labels.set_label(opened, response_id, unit_id, "yes")
    return opened


def item(project) -> str:
    return items.ids(project)[0]


def word(project) -> str:
    unit_id = f"{item(project)}/c2"
    rewording.word(project, USUAL, item(project), unit_id, NEW)
    return unit_id


def test_the_card_says_so_and_a_key_says_it_again(project, page_over):
    unit_id = word(project)
    page = page_over(project, "Label")
    card = page.criteria.rows[unit_id]
    assert (page.bench.unit_id, card.words.text(), card.chip.words()) == (unit_id, NEW, "Reworded")
    assert "since you said “Met”" in card.details.outdated.text()
    assert not any(button.isChecked() for button in card.details.verdicts.buttons)
    assert page.criteria.count.text() == "1 of 2"
    press("1")
    assert (card.chip.words(), card.details.outdated.isVisible()) == ("Met", False)
    assert (page.criteria.count.text(), page.queue.task(page.bench.task_id).labelled) == ("2 of 2", 2)


def test_undo_brings_back_that_it_is_of_other_words(project, page_over):
    unit_id = word(project)
    page = page_over(project, "Label")
    report = page.bench.task_id
    press("2")
    press("Ctrl+Z")
    assert (page.bench.task_id, page.criteria.rows[unit_id].chip.words()) == (report, "Reworded")
    assert (page.criteria.count.text(), page.queue.task(report).labelled) == ("1 of 2", 1)


def test_what_is_submitted_keeps_its_label_and_says_why_it_no_longer_counts(project, page_over):
    label_sealing.submit(project, item(project))
    unit_id = word(project)
    page = page_over(project, "Label", response_id=label_tasks.queue(project)[0].response_id, unit_id=unit_id)
    details = page.criteria.rows[unit_id].details
    assert [button.isChecked() for button in details.verdicts.buttons] == [True, False, False]
    assert "Reopen your labels to label it again." in details.outdated.text()


def test_the_cells_of_a_gold_sub_task_say_so_too(tmp_path, page_over):
    project = one_item(tmp_path)
    response_id = label_tasks.queue(project, PLAN)[0].response_id
    cells = [unit.id for unit in labels.sheet(project, response_id, PLAN).units]
    labels.set_labels(project, response_id, cells, "not", protocol=PLAN)
    rewording.word(project, PLAN, materials.item_ids(project)[0], cells[0], NEW)
    page = page_over(project, "Label", protocol=PLAN, response_id=response_id, unit_id=cells[0])
    matrix = page.criteria.matrix
    marked = {cell: matrix.model.place(cell).data(CELL_ROLE).marked for cell in cells}
    assert {cell for cell, mark in marked.items() if mark} == set(page.bench.open_units) != set()
    assert "since you said “Not relevant”" in matrix.details.outdated.text()
