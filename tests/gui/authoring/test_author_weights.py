"""Criteria of other weights than 1 to 3, from the form over labels and scores to a release and back."""

import csv
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments, submitting
from annotator.actions.authoring import annotating, artifacts, criterion_weights
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.parcels import packing, sending, tasking, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_raters, results
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.refusal import Refusal
from annotator.gui.pages.authoring import page as author_page
from tests.projects.labelling_project import add_report, project_with
from tests.windows.labelling_keys import press, type_words

WORDS = (
    "Explains how attribution ties each claim to a source",
    "Compares synthetic questions with questions that experts wrote",
    "Identifies longer reports as the more accurate ones",
)
# The allowed weights; the place of each criterion's in their order, and the weight; its score where the first and the
# third are met, and the bounds that are left while nobody is sure about the third.
WALKS = {
    "-3 to 3": ((7, 3), (6, 2), (1, -3), 0.0, (0.0, 3 / 5)),
    "1 to 10": ((10, 10), (4, 4), (1, 1), 11 / 15, (10 / 15, 11 / 15)),
    "0.5, 1, 4": ((3, 4), (1, 0.5), (2, 1), 5 / 5.5, (4 / 5.5, 5 / 5.5)),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(author_page, "MOMENT_MS", 0)
    project = project_with(tmp_path)
    add_report(project, items.add(project, "How is evidence attributed?").subject)
    return project


def estimate(project: Project) -> tuple[float | None, float | None, float | None]:
    (row,) = (row for row in results.rows(project, result_raters.PEOPLE) if row.group_by == "all")
    return row.estimate.value, row.estimate.floor, row.estimate.ceiling


@pytest.mark.parametrize("text", WALKS)
def test_from_the_form_to_the_score_and_the_release(project, page_over, tmp_path, text):
    *chosen, score, bounds = WALKS[text]
    criterion_weights.allow(project, text)
    page = page_over(project, "Author", kind=Kind.RUBRIC)
    press("Return")
    for place, (words, (number, weight)) in enumerate(zip(WORDS, chosen, strict=True)):
        if place:
            press("Ctrl+N")
        type_words(words)
        page.sheet.acts.choose(number)
        assert page.sheet.form.current.fields["weight"].value() == weight
    press("Ctrl+Return")
    (rubric,) = [one for one in artifacts_of(project) if one.state is State.SEALED]
    assert [unit.weight for unit in rubric.document.units] == [weight for _, weight in chosen]

    (task,) = labels.queue(project)
    for unit, value in zip(rubric.document.units, ("yes", "no", labels.UNSURE), strict=True):
        labels.set_label(project, task.response_id, unit.id, value)
    label_sealing.submit(project, task.item_id)
    value, floor, ceiling = estimate(project)
    assert (floor, ceiling) == pytest.approx(bounds)
    assert floor <= value <= ceiling
    label_sealing.reopen(project, task.item_id)
    labels.set_label(project, task.response_id, rubric.document.units[2].id, "yes")
    label_sealing.submit(project, task.item_id)
    value, floor, ceiling = estimate(project)
    assert value == pytest.approx(score)
    assert floor <= value <= ceiling

    releases.export(project, tmp_path / "release")
    other = new_project(tmp_path / "other.goldsmith")
    imports.run(other, releases.GOLDSMITH, [tmp_path / "release"], warm=False)
    assert criterion_weights.allowed(other) == criterion_weights.allowed(project)
    assert not checking.check(other).problems
    releases.export(other, tmp_path / "again")
    for path in (tmp_path / "release").rglob("*.json"):
        if path.name != "manifest.json":
            again = tmp_path / "again" / path.relative_to(tmp_path / "release")
            assert again.read_bytes() == path.read_bytes(), path.name
    assert f"weights: {text}" in (tmp_path / "again/data_card.md").read_text("utf-8")
    releases.export(project, tmp_path / "csv", "csv")
    with (tmp_path / "csv/criteria.csv").open(encoding="utf-8-sig") as table:
        assert [float(row["weight"]) for row in csv.DictReader(table)] == [weight for _, weight in chosen]
    report = releases.export(project, tmp_path / "theirs", "researcherbench")
    assert any("weights of 1, 2 and 3 only" in note for note in report.notes)
    other.close()


def artifacts_of(project: Project):
    return annotating.artifacts_of(project, items.ids(project)[0])


def with_rubric(project: Project, *weights: float) -> str:
    units = tuple(Criterion(text=f"Explains point {n}", weight=weight) for n, weight in enumerate(weights))
    return artifacts.start(project, items.ids(project)[0], Kind.RUBRIC, Rubric(units=units)).subject


def test_a_weight_that_is_not_allowed_is_not_submitted(project):
    begun = with_rubric(project, 3, -2)
    with pytest.raises(Refusal, match="has weight -2; this project allows 1 to 3"):
        submitting.seal(project, begun)
    criterion_weights.allow(project, "-2 to 3")
    submitting.seal(project, begun)
    project.close()


def test_weights_in_use_stay_allowed_and_undo_brings_the_former_back(project):
    with_rubric(project, 3, 1)
    with pytest.raises(Refusal, match=r"criteria of weight 3\."):
        criterion_weights.allow(project, "-1 to 2")
    criterion_weights.allow(project, "-3 to 3")
    assert criterion_weights.allowed(project).text == "-3 to 3"
    history.undo(project)
    assert criterion_weights.allowed(project).usual
    project.close()


def test_only_a_coordinator_decides(project):
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))
    with pytest.raises(Refusal, match="can decide which weights"):
        criterion_weights.allow(project, "1 to 10")
    project.close()


def test_a_task_brings_the_weights_along(project, tmp_path):
    criterion_weights.allow(project, "-3 to 3")
    rater = next(person for person in people.people(project) if person.name == "Rater 2")
    assignments.assign_one(project, items.ids(project)[0], rater.id, Stage.RUBRIC)
    task = packing.task(project, rater.id, tmp_path / "two.goldsmith-task")
    theirs = tasking.take_task(task.path, tmp_path / "two.goldsmith").project
    assert criterion_weights.allowed(theirs).text == "-3 to 3"
    with pytest.raises(Refusal):
        criterion_weights.allow(theirs, "1 to 10")
    theirs.close()
    project.close()


def test_an_import_of_other_weights_is_refused_with_the_place(project, tmp_path):
    criterion_weights.allow(project, "1 to 10")
    submitting.seal(project, with_rubric(project, 7, 9))
    releases.export(project, tmp_path / "release")
    other = new_project(tmp_path / "other.goldsmith")
    people.someone(other)
    criterion_weights.allow(other, "-5, 5")
    seen = imports.preview(other, releases.GOLDSMITH, [tmp_path / "release"])
    assert str(seen.problems[0]).startswith("artifacts/rubric.json[0]: “")
    assert seen.weights_to_allow == "-5 to 9"
    assert str(seen.problems[0]).endswith(
        "” has weight 7; this project allows -5, 5, and so 1 criterion more; such a rubric comes in as a whole or not "
        "at all. Allow -5 to 9 in this project, and all fit."
    )
    other.close()
    project.close()


def test_the_guidelines_page_sets_them_beside_the_rubrics_text(project, page_over):
    page = page_over(project, "Guidelines", stage="rubric")
    assert page.weights.field.text() == "1 to 3"
    assert not page.weights.set.isEnabled()
    page.weights.field.setText("up to 3")
    page.weights.set.click()
    assert criterion_weights.allowed(project).usual
    page.weights.field.setText("-3..3")
    page.weights.set.click()
    assert criterion_weights.allowed(project).text == page.weights.field.text() == "-3 to 3"
    assert "Criteria may have these weights: -3 to 3." in page.answer.text()
    page.stages.choose(0)
    assert page.weights.isVisible() is (page.stage is Stage.RUBRIC)


def test_many_weights_are_chosen_from_a_list_by_their_digits(project, page_over):
    criterion_weights.allow(project, "-10 to 10")
    with_rubric(project, 0, 2)
    page = page_over(project, "Author", kind=Kind.RUBRIC)
    first, second = (editor.fields["weight"] for editor in page.sheet.form.editors)
    assert (first.value(), second.value()) == (0, 2)
    first.setFocus()
    press("1")
    press("0")
    assert first.value() == 10
    first.chosen.emit(first.value())
    (rubric,) = artifacts_of(project)
    assert [unit.weight for unit in rubric.document.units] == [10, 2]


def test_a_weight_that_the_project_does_not_allow_shows_as_none(project, page_over):
    with_rubric(project, 3)
    with project.store.write():
        project.set(criterion_weights.SETTING, "-1, 1")
    page = page_over(project, "Author", kind=Kind.RUBRIC)
    assert page.sheet.form.editors[0].fields["weight"].value() is None


def test_returned_work_of_other_weights_waits_in_the_tray(project, tmp_path):
    criterion_weights.allow(project, "-3 to 3")
    rater = next(person for person in people.people(project) if person.name == "Rater 2")
    assignments.assign_one(project, items.ids(project)[0], rater.id, Stage.RUBRIC)
    task = packing.task(project, rater.id, tmp_path / "two.goldsmith-task")
    theirs = tasking.take_task(task.path, tmp_path / "two.goldsmith").project
    submitting.seal(theirs, with_rubric(theirs, 3, -3))
    work = sending.write(theirs, tmp_path / "two.goldsmith-work").path
    theirs.close()
    criterion_weights.allow(project, "1 to 3")
    (arrival,) = unpacking.take_in(project, [work])
    (piece,) = arrival.pieces
    assert piece.outcome is ParcelOutcome.FOREIGN
    assert "has weight -3; this project allows 1 to 3" in piece.words
    assert artifacts_of(project) == []
    project.close()


def test_a_new_criterion_without_a_weight_is_begun_and_asked_for_one(project):
    criterion_weights.allow(project, "-5, 5")
    begun = with_rubric(project, 5)
    artifacts.add_unit(project, begun, text="Explains point 2")
    with pytest.raises(Refusal, match="this project allows -5, 5"):
        artifacts.change_unit(project, begun, artifacts.read(project, begun).document.units[1].id, weight=2)
    with pytest.raises(Refusal, match="has weight 2; this project allows -5, 5"):
        submitting.seal(project, begun)
    project.close()
