"""Guidelines are kept version by version, and every answer bears the version it was given under."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts, guidelines
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.guideline import FORM
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.refusal import Refusal
from tests.projects.labelling_project import rubric
from tests.storage import sql

ROOT = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = new_project(tmp_path / "p.goldsmith")
    for number in range(2):
        items.add(project, f"Question {number}")
    yield project
    project.close()


def stamps(project: Project, artifact_id: str) -> list[tuple[str, str]]:
    question = "SELECT guideline, form FROM revision WHERE artifact_id = ? ORDER BY number"
    return sql.rows(project, question, [artifact_id])


def written(project: Project, item: int, kind: Kind = Kind.RUBRIC) -> str:
    item_id = items.ids(project)[item]
    document = rubric(item_id, 2) if kind is Kind.RUBRIC else None
    return artifacts.start(project, item_id, kind, document).subject


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.ADJUDICATION])
def test_at_first_the_shipped_text_of_each_stage_is_in_force(project: Project, stage: Stage) -> None:
    shipped = (ROOT / "resources" / "guidelines" / f"{stage.value}.md").read_text("utf-8")
    assert guidelines.text_in_force(project, stage) == shipped
    assert guidelines.current(project, stage) is None
    with project.store.read() as db:
        assert guidelines.version_in_force(db, stage) == "1"


def test_a_stage_without_a_shipped_text_has_none(project: Project) -> None:
    assert guidelines.text_in_force(project, Stage.ADJUDICATION) == ""


def test_each_text_written_is_the_next_version_and_none_is_lost(project: Project) -> None:
    guidelines.write(project, Stage.RUBRIC, "One claim each.")
    change = guidelines.write(project, Stage.RUBRIC, "One claim each. 不要含糊")
    assert (change.kind, change.after["version"], change.undoable) == ("guideline", 3, False)
    found = [(one.version, one.text, one.by) for one in guidelines.versions(project, Stage.RUBRIC)]
    assert found == [(2, "One claim each.", project.by), (3, "One claim each. 不要含糊", project.by)]
    current = guidelines.current(project, Stage.RUBRIC)
    assert current is not None
    assert current.version == 3
    assert guidelines.text_in_force(project, Stage.RUBRIC) == "One claim each. 不要含糊"
    assert guidelines.current(project, Stage.PLAN) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "empty"), (" \n", "empty"), ("nul \0", "does not fit"), ("x" * 200_001, "does not fit")],
)
def test_a_text_that_does_not_fit_is_refused(project: Project, text: str, told: str) -> None:
    with pytest.raises(Refusal, match=told):
        guidelines.write(project, Stage.RUBRIC, text)
    assert guidelines.versions(project, Stage.RUBRIC) == []


def test_the_text_in_force_is_not_written_again(project: Project) -> None:
    with pytest.raises(Refusal, match="already the current"):
        guidelines.write(project, Stage.RUBRIC, guidelines.shipped(Stage.RUBRIC))


def test_every_revision_bears_the_version_of_its_stage_in_force_then(project: Project) -> None:
    artifact_id = written(project, 0)
    guidelines.write(project, Stage.RUBRIC, "Two claims each.")
    artifacts.change_unit(project, artifact_id, f"{items.ids(project)[0]}/c1", text="Explains it anew")
    plan = written(project, 0, Kind.PLAN)
    assert stamps(project, artifact_id) == [("1", FORM), ("2", FORM)]
    assert stamps(project, plan) == [("1", FORM)]


def test_a_version_written_through_another_opening_of_the_file_counts_at_once(project: Project) -> None:
    other = Project.open(project.path)
    guidelines.write(other, Stage.RUBRIC, "Written elsewhere.")
    other.close()
    assert stamps(project, written(project, 0)) == [("2", FORM)]


def test_answers_given_under_older_text_are_listed_until_they_are_given_again(project: Project) -> None:
    sealed, draft = written(project, 0), written(project, 1)
    submitting.seal(project, sealed)
    assert guidelines.stale(project) == []
    guidelines.write(project, Stage.RUBRIC, "New text.")
    found = [
        (one.item_key, one.stage, one.person_id, one.state, one.then, one.now)
        for one in guidelines.stale(project)
    ]
    assert found == [
        ("1", Stage.RUBRIC, project.by, State.SEALED, "1", "2"),
        ("2", Stage.RUBRIC, project.by, State.DRAFT, "1", "2"),
    ]
    submitting.seal(project, draft)
    submitting.reopen(project, sealed)
    assert guidelines.stale(project) == []


def test_answers_given_on_an_older_form_are_listed(project: Project) -> None:
    artifact_id = written(project, 0)
    with project.store.write():
        sql.alter(project, "UPDATE revision SET form = '0'")
    (one,) = guidelines.stale(project)
    assert (one.artifact_id, one.form_then, one.form_now, one.then, one.now) == (
        artifact_id,
        "0",
        FORM,
        "1",
        "1",
    )


def test_imported_gold_and_consensus_and_items_set_aside_are_not_listed(project: Project) -> None:
    imported, agreed = written(project, 0), written(project, 1)
    guidelines.write(project, Stage.RUBRIC, "New text.")
    with project.store.write():
        sql.alter(project, "UPDATE artifact SET author_id = '' WHERE id = ?", [imported])
    items.change(project, items.ids(project)[1], retired=True)
    assert guidelines.stale(project) == []
    history.undo(project)
    with project.store.write():
        sql.alter(project, "UPDATE artifact SET state = 'consensus' WHERE id = ?", [agreed])
    assert guidelines.stale(project) == []


def test_an_annotator_is_told_of_their_own_answers_alone(project: Project) -> None:
    written(project, 0)
    added = people.add_person(project, "Ada").subject
    coordinator = people.someone(project)
    project.work_as(people.known(project, added))
    written(project, 1)
    project.work_as(coordinator)
    guidelines.write(project, Stage.RUBRIC, "New text.")
    project.work_as(people.known(project, added))
    assert [one.person_id for one in guidelines.stale(project)] == [added]
