"""The guideline that is in force is what stands beside the work, and submitted labels trouble no other page."""

from annotator.actions.assignments import assignments
from annotator.actions.authoring import guidelines
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, labels
from annotator.domain.experts.assignment import Stage
from annotator.gui.widgets.basics import PlainLabel
from tests.projects.labelling_project import labelling_project
from tests.windows.labelling_keys import press

WRITTEN = "# Our rubrics\n\nOur house rule.\n\n## weight\n\nThree only for what decides.\n"


def test_the_author_page_shows_the_coordinators_text_and_its_part_on_the_field(tmp_path, page_over):
    project = labelling_project(tmp_path, questions=1)
    guidelines.write(project, Stage.RUBRIC, WRITTEN)
    page = page_over(project, "Author", kind="rubric")
    press("F2")
    assert "Our house rule." in page.side.text.text()
    assert "One claim per criterion" not in page.side.text.text()
    page.side.follow(page.sheet.kind, "weight")
    assert "Three only for what decides." in page.side.text.text()


def test_the_label_page_shows_the_coordinators_text_with_the_fields_called_as_there(tmp_path, window_over):
    project = labelling_project(tmp_path, questions=1)
    page = window_over(project, "Label").page
    assert "Take the verb seriously" in page.guideline.text.toPlainText()
    guidelines.write(project, Stage.LABELLING, "Be strict.\n\n## quote\n\nAlways mark it.\n")
    page.arrive({})
    words = page.guideline.text.toPlainText()
    assert "Be strict." in words
    assert "Evidence" in words
    assert "Take the verb seriously" not in words


def test_submitted_labels_do_not_stand_in_for_a_document_on_the_author_page(tmp_path, window_over):
    project = labelling_project(tmp_path, criteria=1, reports=1, questions=1)
    item_id = items.ids(project)[0]
    for response_id, unit_id in label_sealing.missing(project, item_id):
        labels.set_label(project, response_id, unit_id, "yes")
    label_sealing.submit(project, item_id)
    label_sealing.reopen(project, item_id)
    page = window_over(project, "Author").page
    assert page.sheet.kind.value == "rubric"
    page.go_on()
    assert page.item.id == item_id


def test_who_was_given_other_work_is_told_that_no_labelling_is_theirs(tmp_path, window_over):
    project = labelling_project(tmp_path, questions=1)
    assignments.assign_one(project, items.ids(project)[0], project.by, Stage.PLAN)
    page = window_over(project, "Label").page
    assert (
        page.whole.currentWidget().findChildren(PlainLabel)[0].text() == "Nothing is assigned to you to label"
    )
