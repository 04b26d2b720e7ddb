"""The Reviews page: what a review changed unit by unit, its form, and the author's answer."""

import pytest

from annotator.actions.assignments import assignments, reviewing
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Kind
from tests.actions.assignments import test_reviewing as made
from tests.projects.labelling_project import project_with


@pytest.fixture
def project(tmp_path):
    """One item whose rubric one person drafts and another reviews; the draft is submitted."""
    project = project_with(tmp_path, 2)
    items.add(project, "How is evidence attributed?")
    everyone = tuple(one.id for one in people.people(project) if one.name.startswith("Rater"))
    plan = AssignmentPlan(
        (Stage.RUBRIC,), 2, everyone, items=tuple(items.ids(project)), reviewed=(Stage.RUBRIC,)
    )
    assignments.assign(project, plan)
    author, _ = made.who(project)
    made.draft(made.as_(project, author))
    return project


def test_letter_5_a_reviewer_answers_the_form_and_the_author_agrees_on_the_page(project, window_over):
    _, reviewer = made.who(project)
    made.as_(project, reviewer)
    page = window_over(project, "Reviews").page
    assert (page.list.topLevelItemCount(), page.begin.isVisible()) == (1, True)
    artifact = reviewing.begin(project, items.ids(project)[0], Kind.RUBRIC).subject
    page.arrive({})
    words = page.units.text()
    assert all(unit.text in words for unit in made.DRAFT.units)
    box, _ = page.boxes["clarity"]
    box.setCurrentIndex(box.findData("partly"))
    box.activated.emit(box.currentIndex())
    assert reviewing.of_artifact(project, artifact).form == {"clarity": "partly"}
    assert not page.agree.isVisible()


def test_letter_5_the_author_settles_a_review_on_the_page(project, window_over):
    author, reviewer = made.who(project)
    artifact = made.review(made.as_(project, reviewer))
    made.as_(project, author)
    page = window_over(project, "Reviews").page
    assert (page.agree.isVisible(), page.begin.isVisible()) == (True, False)
    page.agree.click()
    assert reviewing.of_artifact(project, artifact).agreed is True
    assert page.list.topLevelItem(0).text(2) == "agreed"
    assert not page.agree.isVisible()


def test_letter_5_the_author_page_begins_a_review_with_the_draft(project, window_over):
    _, reviewer = made.who(project)
    made.as_(project, reviewer)
    page = window_over(project, "Author", item_id=items.ids(project)[0], kind="rubric").page
    page.sheet.start()
    assert [unit.id for unit in page.sheet.artifact.document.units] == ["k1", "k2", "k3"]
