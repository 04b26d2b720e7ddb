"""Home: counts of the steps, and what comes next."""

from datetime import timedelta
from functools import partial
from itertools import chain

import pytest

from annotator.actions.adjudication import adjudicating
from annotator.actions.assignments import assignments
from annotator.actions.home import MOST, readiness, report
from annotator.actions.items import items
from annotator.actions.labelling import label_cases, labels
from annotator.actions.parcels import waiting
from annotator.actions.project import people
from annotator.actions.releases import releases
from annotator.domain.common import now
from annotator.domain.experts.assignment import Role, Stage
from annotator.protocols import USUAL
from tests.material.bundles import ANSWERS
from tests.projects.filled_project import generated_project
from tests.projects.pairs_project import contested_project, labels_project
from tests.projects.small_projects import small_sample
from tests.projects.validation_project import validation_project


@pytest.fixture
def project(tmp_path):
    return people.new_project(tmp_path / "p.goldsmith", "City climate", uses="rubrics")


def steps(project):
    return {step.title: (step.done, step.total) for step in report(project).steps}


def test_an_empty_project_asks_for_questions(project):
    home = report(project)
    assert (home.title, [step.page for step in home.next]) == ("City climate", ["Import", "Items"])
    assert steps(project)["Questions"] == (0, None)


@pytest.mark.parametrize(
    ("uses", "things"), [("plans", "questions"), ("related-work", "papers"), ("seminars", "seminars")]
)
def test_an_empty_project_asks_for_what_its_profile_begins_with(uses, things, tmp_path):
    project = people.new_project(tmp_path / "p.goldsmith", uses=uses)
    assert report(project).next[0].words == f"This project has no {things} yet"


def test_what_lacks_comes_next_with_its_number(project):
    for question in ("Why?", "How?"):
        items.add(project, question)
    assert {step.words for step in report(project).next} >= {
        "2 of 2 items have no rubric",
        "There are no reports yet",
    }
    assert steps(project)["Written by two"] == (0, 2)
    # Of what the project does not use there is no step.
    assert not {"Nuggets", "Checklists"} & steps(project).keys()


def listed(project):
    """What waits for the person working, counted as their pages list it."""
    with project.store.read() as db:
        asked = label_cases.protocols_by_item(db, people.someone(project).id).values()
    tasks = [task for name in {USUAL, *chain(*asked)} for task in labels.queue(project, name)]
    return {
        "Label": sum(task.labelled < task.units for task in tasks),
        "Adjudicate": sum(line.conflict for line in adjudicating.queue(project)),
    }


MADE = {
    "adjudicated": contested_project,
    "labels": labels_project,
    "validated": validation_project,
    "generated": partial(generated_project, seed=0),
}


@pytest.mark.parametrize("name", MADE)
def test_counts_are_those_of_the_pages(name, tmp_path):
    made = MADE[name](tmp_path)
    for person in people.people(made):
        made.work_as(person)
        counts = waiting.counts(made)
        assert {page: counts[page] for page in ("Label", "Adjudicate")} == listed(made), person.alias


def test_home_waits_for_the_conflicts_that_adjudicate_shows(whole_sample):
    home, conflicts = report(whole_sample), listed(whole_sample)["Adjudicate"]
    assert conflicts
    assert next(step.note for step in home.steps if step.title == "Adjudicated") == f"{conflicts} for you"
    assert any(step.page == "Adjudicate" and str(conflicts) in step.words for step in home.next)


def test_what_a_release_lacks_leads_to_where_it_is_mended(sample):
    lacks = {step.page: step.words for step in readiness(sample)}
    assert lacks["Final pass"].endswith("no signed final pass")
    assert "13 questions" in lacks["Project"]
    releases.describe(sample, ANSWERS)
    assert "Project" not in {step.page for step in readiness(sample)}
    assert len(report(sample).next) == MOST


def test_who_is_late_is_named_with_a_reminder_to_copy(project):
    item_id = items.add(project, "Why?").subject
    people.add_person(project, "Ann Lee", (Role.ANNOTATOR,), "R7")
    assignments.assign_one(
        project, item_id, people.known(project, "R7").id, Stage.RUBRIC, due=now() - timedelta(days=3)
    )
    late = next(step for step in report(project).next if step.copied)
    assert late.words == "R7 is 3 days late with 1 piece of work"
    assert [words for words in ("Ann Lee", "City climate") if words not in late.copied] == []


def test_what_is_assigned_does_not_ask_for_another_assignment_but_says_with_whom_it_is(project):
    for question in ("Why?", "How?", "When?"):
        items.add(project, question)
    first, second, _ = items.ids(project)
    for alias in ("R10", "R7"):
        people.add_person(project, alias, (Role.ANNOTATOR,), alias)
        for item_id in (first, second):
            assignments.assign_one(project, item_id, people.known(project, alias).id, Stage.RUBRIC)
    following = {step.words: step.page for step in report(project).next}
    assert following["4 pieces of work are with R7, R10"] == "People"
    assert "1 of 3 items have no rubric" in following


def test_an_annotator_sees_their_own_work_alone(project):
    item_id = items.add(project, "Why?").subject
    people.add_person(project, "Ann", (Role.ANNOTATOR,), "R7")
    ann = people.known(project, "R7")
    assignments.assign_one(project, item_id, ann.id, Stage.RUBRIC)
    project.work_as(ann)
    assert (steps(project), [step.words for step in report(project).next]) == (
        {"Written": (0, 1)}, ["1 item for you to write"],
    )  # fmt: skip


def test_what_is_due_is_counted_by_what_an_item_is(tmp_path):
    project = small_sample(tmp_path, "seminar")
    items.change(project, items.ids(project)[-1], retired=True)
    done = steps(project)
    assert (done["Seminars"], done["Tasks kept"], done["Written by two"]) == (
        (1, None), (4, None), (2, 2 + 4),
    )  # fmt: skip
