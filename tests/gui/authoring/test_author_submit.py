"""How a document is submitted, with remarks, reasons and seals, and criteria of other weights than 1 to 3."""

import csv
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from sqlalchemy import select

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_raters, results
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.widgets import chips
from annotator.storage.tables import REVISION
from tests.projects.authoring_project import TEXTS, authoring_project, begin, mine, rubric, texts
from tests.projects.labelling_project import add_report, project_with
from tests.windows.labelling_keys import focus, press, type_words
from tests.windows.settling import settle

QUESTION = "Is this a criterion that asks about the residual stream?"


@pytest.fixture
def project(tmp_path):
    return authoring_project(tmp_path)


@pytest.fixture
def open_page(project, page_over):

    def make(document=None):
        begin(project, Kind.RUBRIC, document or rubric())
        return page_over(project, "Author")

    return make


def shown_remarks(editor) -> list[str]:
    lines = [line for remarks in editor._remarks.values() if remarks.isVisible() for line in remarks._lines]
    return [line._words.text() for line in lines]


def listed(page) -> list[str]:
    entries = page.sheet.panel.entries
    return [entries.item(row).text() for row in range(entries.count())]


def test_a_remark_comes_under_the_field_while_typing_and_goes_when_mended(open_page, qtbot):
    page = open_page()
    editor = page.sheet.form.editors[0]
    assert shown_remarks(editor) == []
    type_words("?")
    qtbot.waitUntil(lambda: any("question" in words for words in shown_remarks(editor)))
    press("Backspace")
    qtbot.waitUntil(lambda: shown_remarks(editor) == [])


def test_an_empty_text_is_not_remarked_on_while_it_is_being_begun(open_page, qtbot):
    page = open_page()
    press("Ctrl+N")
    qtbot.waitUntil(lambda: any(finding.rule == "empty" for finding in page.sheet.checking.findings))
    assert shown_remarks(page.sheet.form.editors[1]) == []
    theme.zoom(1)
    remarks = page.sheet.bar.remarks
    assert remarks.text() == "No remarks yet"
    fine = chips.icon("check", theme.current().px(16), "level-success")
    assert remarks.icon().pixmap(16).toImage() != fine.pixmap(16).toImage()


def test_an_empty_unit_is_remarked_on_once_it_was_left(open_page, qtbot):
    page = open_page()
    press("Ctrl+N")
    qtbot.waitUntil(lambda: any(finding.rule == "empty" for finding in page.sheet.checking.findings))
    page.source.enter()
    qtbot.waitUntil(lambda: shown_remarks(page.sheet.form.editors[1]) != [])
    assert page.sheet.bar.remarks.text() == "1 to fix"


def test_submitting_lists_what_is_missing_and_enter_goes_to_its_field(open_page, project):
    page = open_page()
    press("Ctrl+N")
    press("Ctrl+Return")
    assert mine(project).state is State.DRAFT
    assert listed(page)[0].startswith("Criterion 2: The text is missing.")
    assert focus() is page.sheet.panel.entries
    press("Return")
    assert focus() is page.sheet.form.editors[1].text


def test_errors_cannot_be_overridden(open_page, project):
    page = open_page(rubric(("", TEXTS[1]), (3, 2)))
    press("Ctrl+Return")
    assert page.sheet.panel.reason.isHidden()
    page.sheet.submission.seal("I insist")
    assert mine(project).state is State.DRAFT


def test_warnings_are_overridden_with_a_reason_that_is_kept(open_page, project):
    page = open_page(rubric((QUESTION, TEXTS[1]), (3, 2)))
    press("Ctrl+Return")
    assert mine(project).state is State.DRAFT
    assert not page.sheet.panel.anyway.isEnabled()
    page.sheet.panel.reason.setFocus()
    type_words("the form asks for it")
    press("Return")
    assert mine(project).state is State.SEALED
    with project.store.read() as db:
        reason = db.execute(select(REVISION.c.reason).where(REVISION.c.sealed)).scalar_one()
    assert reason == "the form asks for it"


def test_what_is_sealed_can_be_read_but_not_changed(open_page, project):
    page = open_page()
    page.sheet.submission.submit()
    editor = page.sheet.form.editors[0]
    assert editor.text.isReadOnly()
    assert not editor.fields["weight"].isEnabled()
    editor.text.setFocus()
    for keys in ("Alt+1", "Ctrl+N", "Ctrl+Backspace", "Alt+Down"):
        press(keys)
    assert texts(project) == [unit.text for unit in rubric().units]
    assert mine(project).revision == 2
    assert page.sheet.strip.words.text().startswith("Submitted on ")


def test_submitting_says_so_where_it_happened_and_offers_the_next(open_page, project, qtbot):
    page, (first, second) = open_page(), items.ids(project)
    press("Ctrl+Return")
    assert (page.item.id, page.sheet.messages.text()) == (first, "Submitted.")
    assert page.sheet.messages._act.text() == "Next: 2"
    qtbot.mouseClick(page.sheet.messages._act, Qt.MouseButton.LeftButton)
    assert page.item.id == second


def test_the_same_key_submits_and_then_goes_on(open_page, project):
    page, (first, second) = open_page(), items.ids(project)
    press("Ctrl+Return")
    assert page.item.id == first
    press("Ctrl+Return")
    assert page.item.id == second


@pytest.mark.parametrize("coordinates", [True, False])
def test_who_submits_last_reads_the_frozen_agreement_as_a_coordinator_alone(page_over, tmp_path, coordinates):
    project = authoring_project(tmp_path)
    people.add_person(project, "Cora", roles=(Role.COORDINATOR,))
    other = people.add_person(project, "R2", roles=(Role.ANNOTATOR,)).subject
    me, item_id = people.someone(project), items.ids(project)[0]
    for person_id in (me.id, other):
        assignments.assign_one(project, item_id, person_id, Stage.RUBRIC)
    project.person = next(person for person in people.people(project) if person.id == other)
    assignments.seal(project, begin(project, Kind.RUBRIC, rubric()))
    project.person = me
    if not coordinates:
        people.set_roles(project, me.id, (Role.ANNOTATOR,))
        project.person = next(person for person in people.people(project) if person.id == me.id)
    begin(project, Kind.RUBRIC, rubric())
    page = page_over(project, "Author", item_id=item_id)
    press("Ctrl+Return")
    told = "Agreement on 1 is frozen: match F1 1.00." in page.sheet.messages.text()
    assert (mine(project).state, told) == (State.SEALED, coordinates)


def test_remarks_never_push_submit_out_of_view(page_over, project):
    many = rubric([QUESTION] * 12, [3] * 12)
    begin(project, Kind.RUBRIC, many)
    page = page_over(project, "Author")
    page.window().resize(960, 600)
    press("Ctrl+Return")
    settle(page)
    submit = page.sheet.bar.submit
    assert page.sheet.panel.isVisible()
    assert submit.visibleRegion().boundingRect().size() == submit.size()
    bottom = submit.mapTo(page.window(), submit.rect().bottomLeft()).y()
    assert bottom < page.window().height()


def test_reopening_goes_on_in_a_new_revision(open_page, project, qtbot):
    page = open_page()
    page.sheet.submission.submit()
    qtbot.mouseClick(page.sheet.strip.reopen, Qt.MouseButton.LeftButton)
    assert (mine(project).state, mine(project).revision) == (State.DRAFT, 3)
    assert page.sheet.bar.consequence.text() == "What was submitted counts until you submit again."
    type_words(" and more")
    page.leave()
    assert texts(project)[0].endswith(" and more")
    revisions = artifacts.revisions(project, mine(project).id)
    assert [revision.sealed for revision in revisions] == [False, False, True, False]


def test_submitting_keeps_what_is_still_being_typed(open_page, project):
    open_page()
    type_words(" quickly")
    press("Ctrl+Return")
    sealed = artifacts.revisions(project, mine(project).id)[0]
    assert sealed.content["units"][0]["text"].endswith(" quickly")


WORDS = (
    "Explains how attribution ties each claim to a source",
    "Compares synthetic questions with questions that experts wrote",
    "Identifies longer reports as the more accurate ones",
)
# The allowed weights; the place of each criterion's in their order, and the weight; its score where the first and the
# third are met, and the bounds that are left while nobody is sure about the third.
WALKS = {
    "-3 to 3": ((7, 3), (6, 2), (1, -3), 0.0, (0.0, 3 / 5)),
    "0.5, 1, 4": ((3, 4), (1, 0.5), (2, 1), 5 / 5.5, (4 / 5.5, 5 / 5.5)),
}


@pytest.fixture
def weighted(tmp_path: Path) -> Project:
    project = project_with(tmp_path)
    add_report(project, items.add(project, "How is evidence attributed?").subject)
    return project


def estimate(project: Project) -> tuple[float | None, float | None, float | None]:
    (row,) = (row for row in results.rows(project, result_raters.PEOPLE) if row.group_by == "all")
    return row.estimate.value, row.estimate.floor, row.estimate.ceiling


@pytest.mark.parametrize("text", WALKS)
def test_from_the_form_to_the_score_and_the_release(weighted, page_over, tmp_path, text):
    *chosen, score, bounds = WALKS[text]
    settings.allow(weighted, text)
    page = page_over(weighted, "Author", kind=Kind.RUBRIC)
    press("Return")
    for place, (words, (number, weight)) in enumerate(zip(WORDS, chosen, strict=True)):
        if place:
            press("Ctrl+N")
        type_words(words)
        page.sheet.acts.choose(number)
        assert page.sheet.form.current.fields["weight"].value() == weight
    press("Ctrl+Return")
    (rubric,) = [artifact for artifact in artifacts_of(weighted) if artifact.state is State.SEALED]
    assert [unit.weight for unit in rubric.document.units] == [weight for _, weight in chosen]

    (task,) = labels.queue(weighted)
    for unit, value in zip(rubric.document.units, ("yes", "no", labels.UNSURE), strict=True):
        labels.set_label(weighted, task.response_id, unit.id, value)
    label_sealing.submit(weighted, task.item_id)
    value, floor, ceiling = estimate(weighted)
    assert (floor, ceiling) == pytest.approx(bounds)
    assert floor <= value <= ceiling
    label_sealing.reopen(weighted, task.item_id)
    labels.set_label(weighted, task.response_id, rubric.document.units[2].id, "yes")
    label_sealing.submit(weighted, task.item_id)
    value, floor, ceiling = estimate(weighted)
    assert value == pytest.approx(score)
    assert floor <= value <= ceiling

    releases.export(weighted, tmp_path / "release")
    other = new_project(tmp_path / "other.goldsmith")
    imports.run(other, releases.GOLDSMITH, [tmp_path / "release"], warm=False)
    assert settings.allowed(other) == settings.allowed(weighted)
    assert not checking.check(other).problems
    releases.export(other, tmp_path / "again")
    for path in (tmp_path / "release").rglob("*.json"):
        if path.name not in ("croissant.json", "manifest.json"):
            again = tmp_path / "again" / path.relative_to(tmp_path / "release")
            assert again.read_bytes() == path.read_bytes(), path.name
    assert f"weights: {text}" in (tmp_path / "again/README.md").read_text("utf-8")
    releases.export(weighted, tmp_path / "csv", "csv")
    with (tmp_path / "csv/criteria.csv").open(encoding="utf-8-sig") as table:
        assert [float(row["weight"]) for row in csv.DictReader(table)] == [weight for _, weight in chosen]
    report = releases.export(weighted, tmp_path / "theirs", "researcherbench")
    assert any("weights of 1, 2 and 3 only" in note for note in report.notes)
    other.close()


def artifacts_of(project: Project):
    return annotating.artifacts_of(project, items.ids(project)[0])


def with_rubric(project: Project, *weights: float) -> str:
    units = tuple(Criterion(text=f"Explains point {n}", weight=weight) for n, weight in enumerate(weights))
    return artifacts.start(project, items.ids(project)[0], Kind.RUBRIC, Rubric(units=units)).subject


def test_weights_in_use_stay_allowed_and_undo_brings_the_former_back(weighted):
    with_rubric(weighted, 3, 1)
    with pytest.raises(Refusal, match=r"criteria of weight 3\."):
        settings.allow(weighted, "-1 to 2")
    settings.allow(weighted, "-3 to 3")
    assert settings.allowed(weighted).text == "-3 to 3"
    history.undo(weighted)
    assert settings.allowed(weighted).usual
    weighted.close()


def test_a_task_brings_the_weights_along(weighted, tmp_path):
    settings.allow(weighted, "-3 to 3")
    rater = next(person for person in people.people(weighted) if person.name == "Rater 2")
    assignments.assign_one(weighted, items.ids(weighted)[0], rater.id, Stage.RUBRIC)
    task = packing.task(weighted, rater.id, tmp_path / "two.goldsmith-task")
    theirs = tasking.take_task(task.path, tmp_path / "two.goldsmith").project
    assert settings.allowed(theirs).text == "-3 to 3"
    with pytest.raises(Refusal):
        settings.allow(theirs, "1 to 10")
    theirs.close()
    weighted.close()


def test_the_guidelines_page_sets_them_beside_the_rubrics_text(weighted, page_over):
    page = page_over(weighted, "Guidelines", stage="rubric")
    assert page.weights.field.text() == "1 to 3"
    assert not page.weights.set.isEnabled()
    page.weights.field.setText("up to 3")
    page.weights.set.click()
    assert settings.allowed(weighted).usual
    page.weights.field.setText("-3..3")
    page.weights.set.click()
    assert settings.allowed(weighted).text == page.weights.field.text() == "-3 to 3"
    assert "Criteria may have these weights: -3 to 3." in page.answer.text()
    page.stages.choose(0)
    assert page.weights.isVisible() is (page.stage is Stage.RUBRIC)


def test_many_weights_are_chosen_from_a_list_by_their_digits(weighted, page_over):
    settings.allow(weighted, "-10 to 10")
    with_rubric(weighted, 0, 2)
    page = page_over(weighted, "Author", kind=Kind.RUBRIC)
    first, second = (editor.fields["weight"] for editor in page.sheet.form.editors)
    assert (first.value(), second.value()) == (0, 2)
    first.setFocus()
    press("1")
    press("0")
    assert first.value() == 10
    first.chosen.emit(first.value())
    (rubric,) = artifacts_of(weighted)
    assert [unit.weight for unit in rubric.document.units] == [10, 2]


def test_returned_work_of_other_weights_waits_in_the_tray(weighted, tmp_path):
    settings.allow(weighted, "-3 to 3")
    rater = next(person for person in people.people(weighted) if person.name == "Rater 2")
    assignments.assign_one(weighted, items.ids(weighted)[0], rater.id, Stage.RUBRIC)
    task = packing.task(weighted, rater.id, tmp_path / "two.goldsmith-task")
    theirs = tasking.take_task(task.path, tmp_path / "two.goldsmith").project
    assignments.seal(theirs, with_rubric(theirs, 3, -3))
    work = tray.work(theirs, tmp_path / "two.goldsmith-work").path
    theirs.close()
    settings.allow(weighted, "1 to 3")
    (arrival,) = unpacking.take_in(weighted, [work])
    (piece,) = arrival.pieces
    assert piece.outcome is ParcelOutcome.FOREIGN
    assert "has weight -3; this project allows 1 to 3" in piece.words
    assert artifacts_of(weighted) == []
    weighted.close()


def test_a_new_criterion_without_a_weight_is_begun_and_asked_for_one(weighted):
    settings.allow(weighted, "-5, 5")
    begun = with_rubric(weighted, 5)
    artifacts.add_unit(weighted, begun, text="Explains point 2")
    with pytest.raises(Refusal, match="this project allows -5, 5"):
        artifacts.change_unit(weighted, begun, artifacts.read(weighted, begun).document.units[1].id, weight=2)
    with pytest.raises(Refusal, match="has weight 2; this project allows -5, 5"):
        assignments.seal(weighted, begun)
    weighted.close()
