"""Home: counts of the steps, and what comes next."""

from datetime import timedelta

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.home.home import MOST, report
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.people import new_project
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.texts.canonical import now


@pytest.fixture
def project(tmp_path):
    made = new_project(tmp_path / "p.goldsmith", "City climate", uses="rubrics")
    yield made
    made.close()


def steps(project):
    return {step.title: (step.done, step.total) for step in report(project).steps}


def test_an_empty_project_asks_for_questions(project):
    home = report(project)
    assert home.title == "City climate"
    assert [step.page for step in home.next] == ["Import", "Items"]
    assert steps(project)["Questions"] == (0, None)


def test_what_lacks_comes_next_with_its_number(project):
    items.add(project, "Why?")
    items.add(project, "How?")
    words = [step.words for step in report(project).next]
    assert "2 of 2 items have no rubric" in words
    assert "There are no reports yet" in words
    assert steps(project)["Written by two"] == (0, 2)


def test_no_step_of_what_the_project_does_not_use(project):
    items.add(project, "Why?")
    assert not {"Nuggets", "Checklists"} & steps(project).keys()


def test_at_most_five_sentences(sample):
    assert len(report(sample).next) == MOST


def test_who_is_late_is_named_with_a_reminder_to_copy(project):
    items.add(project, "Why?")
    people.add_person(project, "Ann Lee", (Role.ANNOTATOR,), "R7")
    (item_id,) = items.ids(project)
    assignments.assign_one(
        project, item_id, people.known(project, "R7").id, Stage.RUBRIC, due=now() - timedelta(days=3)
    )
    late = next(step for step in report(project).next if step.copied)
    assert late.words == "R7 is 3 days late with 1 piece of work"
    assert "Ann Lee" in late.copied
    assert "City climate" in late.copied


def test_an_annotator_sees_their_own_work_alone(project):
    items.add(project, "Why?")
    people.add_person(project, "Ann", (Role.ANNOTATOR,), "R7")
    (item_id,) = items.ids(project)
    ann = people.known(project, "R7")
    assignments.assign_one(project, item_id, ann.id, Stage.RUBRIC)
    project.work_as(ann)
    assert steps(project) == {"Written": (0, 1)}
    assert [step.words for step in report(project).next] == ["1 to write"]
