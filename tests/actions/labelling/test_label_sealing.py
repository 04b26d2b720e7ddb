"""A person's labels of an item are submitted as one sealed document, and cannot change while it is sealed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.assignments import agreements, assignments
from annotator.actions.authoring import artifacts
from annotator.actions.labelling import label_rows, label_sealing, label_tasks, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind, State, chain
from annotator.domain.kinds.labels import Labels, label_id
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import USUAL
from tests.material.anchors import stands_in
from tests.projects.labelling_project import REPORT, SYSTEMS, add_report, labelling_project
from tests.storage import sql

QUOTE = "ties each"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = labelling_project(tmp_path, criteria=3, reports=2, questions=1)
    yield opened
    opened.close()


def item(project: Project) -> str:
    return label_tasks.queue(project)[0].item_id


def reports(project: Project) -> list[str]:
    return [task.response_id for task in label_tasks.queue(project)]


def label_all(project: Project, value: str = "yes") -> None:
    for response_id, unit_id in label_sealing.missing(project, item(project)):
        labels.set_label(project, response_id, unit_id, value)


def submitted(project: Project, value: str = "yes") -> str:
    label_all(project, value)
    return label_sealing.submit(project, item(project)).subject


def document(project: Project, artifact_id: str) -> Labels:
    found = artifacts.read(project, artifact_id).document
    assert isinstance(found, Labels)
    return found


def as_second_rater(project: Project) -> None:
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))


def test_everything_is_missing_at_first_report_by_report_in_the_persons_own_order(project: Project) -> None:
    units = [f"{item(project)}/c{number}" for number in (1, 2, 3)]
    wanted = [(report, unit) for report in reports(project) for unit in units]
    assert label_sealing.missing(project, item(project)) == wanted
    labels.set_label(project, *wanted[4], label_rows.UNSURE)
    labels.set_note(project, *wanted[0], "a note is no label")
    assert label_sealing.missing(project, item(project)) == [*wanted[:4], wanted[5]]


def test_submitting_too_early_names_what_is_missing_and_seals_nothing(project: Project) -> None:
    label_all(project)
    report = add_report(project, item(project), SYSTEMS[2])
    labels.set_label(project, report, f"{item(project)}/c2", "no")
    name = next(task.name for task in label_tasks.queue(project) if task.response_id == report)
    with pytest.raises(Refusal, match="2 labels are still missing") as refused:
        label_sealing.submit(project, item(project))
    assert refused.value.details == (
        f"{name}: Explains point 1 of the question",
        f"{name}: Explains point 3 of the question",
    )
    assert label_sealing.state(project, item(project)).state == "open"


def test_a_long_list_of_missing_labels_is_cut_and_says_so(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=11, reports=2, questions=1)
    with pytest.raises(Refusal, match="22 labels") as refused:
        label_sealing.submit(project, item(project))
    assert (len(refused.value.details), refused.value.details[-1]) == (21, "… and 2 more")
    project.close()


def test_the_document_holds_every_label_with_its_evidence_note_and_flag(project: Project) -> None:
    report, unit = reports(project)[0], f"{item(project)}/c1"
    label_all(project, "no")
    labels.set_label(project, report, unit, label_rows.UNSURE)
    start = REPORT.index(QUOTE)
    labels.set_evidence(project, report, unit, QUOTE, start, start + len(QUOTE))
    labels.set_note(project, report, unit, "see the table")
    labels.set_flag(project, report, unit, True)
    found = document(project, label_sealing.submit(project, item(project)).subject)
    assert [label.value for label in found.units].count("no") == 5
    label = found.unit(label_id(USUAL, report, unit))
    assert (label.value, label.quote, label.note, label.flags) == (
        "unsure",
        QUOTE,
        "see the table",
        "flagged",
    )
    assert (label.protocol, label.response_id, label.unit_id) == (USUAL, report, unit)
    assert label.anchor is not None
    assert stands_in(label.anchor, REPORT)


def test_two_raters_labels_stand_in_the_same_order_under_the_same_ids(project: Project) -> None:
    first = document(project, submitted(project))
    as_second_rater(project)
    second = document(project, submitted(project, "no"))
    assert [label.id for label in first.units] == [label.id for label in second.units]


def test_while_submitted_no_label_of_the_item_can_change(project: Project) -> None:
    report, unit = reports(project)[0], f"{item(project)}/c1"
    submitted(project)
    for verb, values in (
        (labels.set_label, ("no",)),
        (labels.set_note, ("late",)),
        (labels.set_flag, (True,)),
        (labels.set_evidence, (QUOTE, 0, 9)),
    ):
        with pytest.raises(Refusal, match="are submitted"):
            verb(project, report, unit, *values)
    with pytest.raises(Refusal, match="are submitted"):
        history.undo(project)
    sheet = labels.sheet(project, report)
    assert sheet.sealed
    assert (sheet.labels[unit].value, sheet.labels[unit].note) == ("yes", "")


def test_a_report_that_comes_after_submitting_is_labelled_only_after_reopening(project: Project) -> None:
    submitted(project)
    report = add_report(project, item(project), SYSTEMS[2])
    with pytest.raises(Refusal, match="are submitted"):
        labels.set_label(project, report, f"{item(project)}/c1", "yes")
    label_sealing.reopen(project, item(project))
    labels.set_label(project, report, f"{item(project)}/c1", "yes")


def test_one_persons_seal_does_not_bind_another(project: Project) -> None:
    submitted(project)
    assert all(task.sealed for task in label_tasks.queue(project))
    as_second_rater(project)
    assert not any(task.sealed for task in label_tasks.queue(project))
    labels.set_label(project, reports(project)[0], f"{item(project)}/c1", "no")
    with project.store.read() as db:
        assert not label_rows.is_sealed(db, item(project), project.by)


def test_one_items_seal_does_not_bind_another(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=1, reports=1, questions=2)
    submitted(project)
    assert [task.sealed for task in label_tasks.queue(project)] == [True, False]
    other = label_tasks.queue(project)[1]
    labels.set_label(project, other.response_id, f"{other.item_id}/c1", "yes")
    project.close()


def test_reopening_makes_a_revision_and_submitting_again_seals_the_next(project: Project) -> None:
    report, unit = reports(project)[0], f"{item(project)}/c1"
    artifact_id = submitted(project)
    label_sealing.reopen(project, item(project))
    assert label_sealing.state(project, item(project)).state == "reopened"
    labels.set_label(project, report, unit, "no")
    assert label_sealing.submit(project, item(project)).subject == artifact_id
    found = list(reversed(artifacts.revisions(project, artifact_id)))
    assert [(revision.number, revision.sealed) for revision in found] == [(1, True), (2, False), (3, True)]
    name = label_id(USUAL, report, unit)
    values = [next(u["value"] for u in revision.content["units"] if u["id"] == name) for revision in found]
    assert values == ["yes", "yes", "no"]
    link = ""
    for revision in found:
        link = chain(link, revision.sha256)
        assert revision.chain == link


def test_what_is_submitted_is_not_submitted_again_and_what_is_open_not_reopened(project: Project) -> None:
    with pytest.raises(Refusal, match="not submitted"):
        label_sealing.reopen(project, item(project))
    submitted(project)
    with pytest.raises(Refusal, match="submitted already"):
        label_sealing.submit(project, item(project))
    label_sealing.reopen(project, item(project))
    with pytest.raises(Refusal, match="Only a sealed artifact"):
        label_sealing.reopen(project, item(project))


def test_an_item_without_reports_cannot_be_submitted(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, reports=0, questions=1)
    with project.store.read():
        (item_id,) = sql.first(project, "SELECT id FROM item")
    with pytest.raises(Refusal, match="nothing to label"):
        label_sealing.submit(project, item_id)
    project.close()


def test_the_standing_counts_units_labels_and_doubts(project: Project) -> None:
    first, second, *_ = label_sealing.missing(project, item(project))
    labels.set_label(project, *first, "yes")
    labels.set_label(project, *second, label_rows.UNSURE)
    before = label_sealing.state(project, item(project))
    assert (before.state, before.reports, before.units, before.labelled, before.unsure) == (
        "open",
        2,
        6,
        2,
        1,
    )
    artifact_id = submitted(project)
    after = label_sealing.state(project, item(project))
    assert (after.state, after.artifact_id, after.revision, after.labelled) == ("sealed", artifact_id, 1, 6)
    assert after.sealed_at == artifacts.read(project, artifact_id).sealed_at


def test_submitting_hands_the_assignment_in_and_reopening_takes_it_back(project: Project) -> None:
    assignments.assign_one(project, item(project), project.by, Stage.LABELLING)
    submitted(project)
    (one,) = assignments.of_person(project, project.by)
    assert one.submitted_at is not None
    label_sealing.reopen(project, item(project))
    assert assignments.of_person(project, project.by)[0].submitted_at is None


def test_agreement_freezes_with_the_second_seal_and_outlives_a_reopening(project: Project) -> None:
    me = project.by
    for person in people.people(project):
        assignments.assign_one(project, item(project), person.id, Stage.LABELLING)
    first = submitted(project)
    assert agreements.of_item(project, item(project)) == []
    as_second_rater(project)
    second = submitted(project, "no")
    frozen = agreements.of_item(project, item(project))
    assert {given.artifact_id for given in frozen[0].inputs} == {first, second}
    assert {given.person_id for given in frozen[0].inputs} == {me, project.by}
    label_sealing.reopen(project, item(project))
    label_all(project, "yes")
    label_sealing.submit(project, item(project))
    assert agreements.of_item(project, item(project)) == frozen


def test_labels_are_kept_as_their_authors_own_artifact(project: Project) -> None:
    artifact = artifacts.read(project, submitted(project))
    assert (artifact.kind, artifact.state, artifact.author_id) == (Kind.LABELS, State.SEALED, project.by)


def test_a_note_too_long_for_the_document_is_refused_in_words(project: Project) -> None:
    label_all(project)
    labels.set_note(project, reports(project)[0], f"{item(project)}/c1", "x" * 20_001)
    with pytest.raises(Refusal, match="A label does not fit: its note"):
        label_sealing.submit(project, item(project))
