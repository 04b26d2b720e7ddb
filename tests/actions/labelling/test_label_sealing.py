"""Labels of an item are submitted as one sealed document; labels of reworded units, kinds of errors, and matrices."""

from dataclasses import replace
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items, materials
from annotator.actions.labelling import label_cases, label_rows, label_sealing, labels
from annotator.actions.labelling.labels import MatrixReading
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judge import Judgement, Status
from annotator.domain.kinds.artifact import Kind, State, chain
from annotator.domain.kinds.documents import label_id
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.part import ResponsePart
from annotator.protocols import PROTOCOLS, USUAL
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES, MODES
from tests.material import drawn_extracts
from tests.material.anchors import stands_in
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import (
    ALL,
    CLAIMS,
    PLAN,
    REPORT,
    SYSTEMS,
    add_report,
    as_second_rater,
    labelling_project,
    one_item,
    project_with,
)
from tests.storage import sql

QUOTE = "ties each"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return labelling_project(tmp_path, criteria=3, reports=2, questions=1)


def item(project: Project) -> str:
    return labels.queue(project)[0].item_id


def reports(project: Project) -> list[str]:
    return [task.response_id for task in labels.queue(project)]


def label_all(project: Project, value: str = "yes") -> None:
    for response_id, unit_id in label_sealing.missing(project, item(project)):
        labels.set_label(project, response_id, unit_id, value)


def submitted(project: Project, value: str = "yes") -> str:
    label_all(project, value)
    return label_sealing.submit(project, item(project)).subject


def test_everything_is_missing_at_first(project: Project) -> None:
    units = [f"{item(project)}/c{number}" for number in (1, 2, 3)]
    wanted = [(report, unit) for report in reports(project) for unit in units]
    assert label_sealing.missing(project, item(project)) == wanted
    labels.set_label(project, *wanted[4], label_rows.UNSURE)
    labels.set_note(project, *wanted[0], "a note is no label")
    assert label_sealing.missing(project, item(project)) == [*wanted[:4], wanted[5]]
    expect_refusal("not submitted", label_sealing.reopen, project, item(project))
    submitted(project)
    expect_refusal("submitted already", label_sealing.submit, project, item(project))
    label_sealing.reopen(project, item(project))
    expect_refusal("Only a submitted document", label_sealing.reopen, project, item(project))


def test_submitting_too_early_names_what_is_missing_and_seals_nothing(project: Project) -> None:
    label_all(project)
    labels.set_note(project, reports(project)[0], f"{item(project)}/c1", "x" * 20_001)
    expect_refusal("A label does not fit: its note", label_sealing.submit, project, item(project))
    report = add_report(project, item(project), SYSTEMS[2])
    labels.set_label(project, report, f"{item(project)}/c2", "no")
    name = next(task.name for task in labels.queue(project) if task.response_id == report)
    refused = expect_refusal("2 labels are still missing", label_sealing.submit, project, item(project))
    assert refused.details == (
        f"{name}: Explains point 1 of the question",
        f"{name}: Explains point 3 of the question",
    )
    assert label_sealing.state(project, item(project)).state == "open"


def test_a_long_list_of_missing_labels_is_cut_and_says_so(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=11, reports=2, questions=1)
    refused = expect_refusal("22 labels", label_sealing.submit, project, item(project))
    assert (len(refused.details), refused.details[-1]) == (21, "… and 2 more")


def test_the_document_holds_every_label_with_its_evidence_note_and_flag(project: Project) -> None:
    report, unit = reports(project)[0], f"{item(project)}/c1"
    label_all(project, "no")
    labels.set_label(project, report, unit, label_rows.UNSURE)
    start = REPORT.index(QUOTE)
    labels.set_evidence(project, report, unit, QUOTE, start, start + len(QUOTE))
    labels.set_note(project, report, unit, "see the table")
    labels.set_flag(project, report, unit, True)
    artifact = artifacts.read(project, label_sealing.submit(project, item(project)).subject)
    assert (artifact.kind, artifact.state, artifact.author_id) == (Kind.LABELS, State.SEALED, project.by)
    result = artifact.document
    assert [label.value for label in result.units].count("no") == 5
    label = result.unit(label_id(USUAL, report, unit))
    assert (label.value, label.quote, label.note, label.flags) == (
        "unsure",
        QUOTE,
        "see the table",
        "flagged",
    )
    assert (label.protocol, label.response_id, label.unit_id) == (USUAL, report, unit)
    assert label.anchor is not None
    assert stands_in(label.anchor, REPORT)
    # Another rater's labels stand in the same order under the same ids.
    as_second_rater(project)
    second = artifacts.read(project, submitted(project, "no")).document
    assert [label.id for label in result.units] == [label.id for label in second.units]


def test_while_submitted_no_label_of_the_item_can_change_but_another_persons(project: Project) -> None:
    report, unit = reports(project)[0], f"{item(project)}/c1"
    submitted(project)
    assert all(task.sealed for task in labels.queue(project))
    for verb, values in (
        (labels.set_label, ("no",)),
        (labels.set_note, ("late",)),
        (labels.set_flag, (True,)),
        (labels.set_evidence, (QUOTE, 0, 9)),
    ):
        expect_refusal("are submitted", verb, project, report, unit, *values)
    expect_refusal("are submitted", history.undo, project)
    sheet = labels.sheet(project, report)
    assert sheet.sealed
    assert (sheet.labels[unit].value, sheet.labels[unit].note) == ("yes", "")
    later = add_report(project, item(project), SYSTEMS[2])
    expect_refusal("are submitted", labels.set_label, project, later, unit, "yes")
    me = people.someone(project)
    as_second_rater(project)
    assert not any(task.sealed for task in labels.queue(project))
    labels.set_label(project, report, unit, "no")
    with project.store.read() as db:
        assert not label_rows.is_sealed(db, item(project), project.by)
    project.work_as(me)
    label_sealing.reopen(project, item(project))
    labels.set_label(project, later, unit, "yes")


def test_one_items_seal_does_not_bind_another(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=1, reports=1, questions=2)
    submitted(project)
    assert [task.sealed for task in labels.queue(project)] == [True, False]
    other = labels.queue(project)[1]
    labels.set_label(project, other.response_id, f"{other.item_id}/c1", "yes")


def test_reopening_makes_a_revision_and_submitting_again_seals_the_next(project: Project) -> None:
    report, unit = reports(project)[0], f"{item(project)}/c1"
    assignments.assign_one(project, item(project), project.by, Stage.LABELLING)
    artifact_id = submitted(project)
    assert assignments.of_person(project, project.by)[0].submitted_at is not None
    label_sealing.reopen(project, item(project))
    assert assignments.of_person(project, project.by)[0].submitted_at is None
    assert label_sealing.state(project, item(project)).state == "reopened"
    labels.set_label(project, report, unit, "no")
    assert label_sealing.submit(project, item(project)).subject == artifact_id
    result = list(reversed(artifacts.revisions(project, artifact_id)))
    assert [(revision.number, revision.sealed) for revision in result] == [(1, True), (2, False), (3, True)]
    name = label_id(USUAL, report, unit)
    values = [next(u["value"] for u in revision.content["units"] if u["id"] == name) for revision in result]
    assert values == ["yes", "yes", "no"]
    link = ""
    for revision in result:
        link = chain(link, revision.sha256)
        assert revision.chain == link


def test_an_item_without_reports_cannot_be_submitted(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, reports=0, questions=1)
    with project.store.read():
        (item_id,) = sql.first(project, "SELECT id FROM item")
    expect_refusal("nothing to label", label_sealing.submit, project, item_id)


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


def test_agreement_freezes_with_the_second_seal_and_outlives_a_reopening(project: Project) -> None:
    me = project.by
    for person in people.people(project):
        assignments.assign_one(project, item(project), person.id, Stage.LABELLING)
    first = submitted(project)
    assert assignments.of_item(project, item(project)) == []
    as_second_rater(project)
    second = submitted(project, "no")
    frozen = assignments.of_item(project, item(project))
    assert {given.artifact_id for given in frozen[0].inputs} == {first, second}
    assert {given.person_id for given in frozen[0].inputs} == {me, project.by}
    label_sealing.reopen(project, item(project))
    label_all(project, "yes")
    label_sealing.submit(project, item(project))
    assert assignments.of_item(project, item(project)) == frozen


NEW = "Worded so that nobody can misread it"


@pytest.fixture
def labelled(tmp_path):
    """One item, two reports, three criteria, all of them labelled: the second is not met."""
    opened = labelling_project(tmp_path, reports=2, questions=1)
    for response_id, unit_id in label_sealing.missing(opened, items.ids(opened)[0]):
        labels.set_label(opened, response_id, unit_id, "no" if unit_id.endswith("/c2") else "yes")
    return opened


@pytest.fixture
def reworded(labelled) -> tuple[str, str]:
    """The first report, and the criterion that is worded anew."""
    return labels.queue(labelled)[0].response_id, f"{items.ids(labelled)[0]}/c2"


def word(labelled: Project, unit_id: str, text: str = NEW) -> None:
    reviews.word(labelled, USUAL, items.ids(labelled)[0], unit_id, text)


def test_a_reworded_criterion_is_open_again_in_every_report_and_the_others_stay(labelled, reworded):
    assert [task.labelled for task in labels.queue(labelled)] == [3, 3]
    word(labelled, reworded[1])
    assert [task.labelled for task in labels.queue(labelled)] == [2, 2]
    sheet = labels.sheet(labelled, reworded[0])
    assert {unit_id: label.status for unit_id, label in sheet.labels.items() if label.value is None} == {
        reworded[1]: Status.SKIPPED
    }
    assert {unit_id: label.value for unit_id, label in sheet.outdated.items()} == {reworded[1]: "no"}
    assert reworded[1] not in {decision.unit_id for decision in labels.recent(labelled)}
    assert len(labels.recent(labelled)) == 4
    labels.set_note(labelled, *reworded, "Is this meant more narrowly now?")
    label = labels.sheet(labelled, reworded[0]).labels[reworded[1]]
    assert (label.value, label.status, label.note) == (
        None,
        Status.SKIPPED,
        "Is this meant more narrowly now?",
    )
    expect_refusal("takes no kind", label_sealing.give, labelled, *reworded, MISSES.name, "incompleteness")
    expect_refusal("2 labels are still missing", label_sealing.submit, labelled, items.ids(labelled)[0])
    for response_id, unit_id in label_sealing.missing(labelled, items.ids(labelled)[0]):
        labels.set_label(labelled, response_id, unit_id, "no")
    label_sealing.submit(labelled, items.ids(labelled)[0])
    assert labels.sheet(labelled, reworded[0]).outdated == {}


def test_what_is_undone_comes_back_as_it_counts_and_words_put_back_make_it_count_again(labelled, reworded):
    before = labels.sheet(labelled, reworded[0]).units[1].text
    word(labelled, reworded[1])
    labels.set_label(labelled, *reworded, "yes")
    assert labels.queue(labelled)[0].labelled == 3
    history.undo(labelled)
    assert labels.queue(labelled)[0].labelled == 2
    assert labels.sheet(labelled, reworded[0]).outdated[reworded[1]].value == "no"
    word(labelled, reworded[1], before)
    assert [task.labelled for task in labels.queue(labelled)] == [3, 3]
    assert labels.sheet(labelled, reworded[0]).outdated == {}


def test_what_is_submitted_stays_and_says_that_it_is_of_other_words(labelled, reworded):
    label_sealing.submit(labelled, items.ids(labelled)[0])
    word(labelled, reworded[1])
    sheet = labels.sheet(labelled, reworded[0])
    assert (sheet.sealed, sheet.labels[reworded[1]].value) == (True, "no")
    assert sheet.outdated == {reworded[1]: sheet.labels[reworded[1]]}
    label_sealing.reopen(labelled, items.ids(labelled)[0])
    assert labels.sheet(labelled, reworded[0]).labels[reworded[1]].value is None
    assert [task.labelled for task in labels.queue(labelled)] == [2, 2]


def test_a_gold_sub_task_that_is_worded_anew_opens_its_cells(tmp_path):
    labelled = one_item(tmp_path)
    response_id = labels.queue(labelled, PLAN)[0].response_id
    cells = [unit.id for unit in labels.sheet(labelled, response_id, PLAN).units]
    labels.set_labels(labelled, response_id, cells, "not", protocol=PLAN)
    reviews.word(labelled, PLAN, materials.item_ids(labelled)[0], cells[0], NEW)
    gone = [cell for cell in cells if cell.endswith("~" + cells[0].partition("~")[2])]
    assert list(labels.sheet(labelled, response_id, PLAN).outdated) == gone
    assert labels.queue(labelled, PLAN)[0].labelled == len(cells) - len(gone)


@pytest.fixture
def looked(tmp_path):
    return labelling_project(tmp_path, criteria=2, reports=1, questions=1)


@pytest.fixture
def unmet(looked):
    """The only report and its first criterion, which is not met."""
    task = labels.queue(looked)[0]
    labels.set_label(looked, task.response_id, f"{task.item_id}/c1", "no")
    return task.response_id, f"{task.item_id}/c1"


def test_kinds_are_given_taken_back_and_undone(looked, unmet):
    for value in ("incompleteness", "partial_missing"):
        label_sealing.give(looked, *unmet, MISSES.name, value)
    history.undo(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {unmet[1]: "incompleteness"}
    history.undo(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {}
    label_sealing.give(looked, *unmet, MISSES.name, "incompleteness")
    label_sealing.give(looked, *unmet, MISSES.name, "")
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {}
    history.undo(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {unmet[1]: "incompleteness"}
    expect_refusal("not among", label_sealing.give, looked, *unmet, MISSES.name, "retrieval")
    label_sealing.give(looked, *unmet, MISSES.name, "partial_missing")
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {unmet[1]: "partial_missing"}
    assert labels.sheet(looked, unmet[0]).labels[unmet[1]].value == "no"
    assert labels.queue(looked)[0].labelled == 1


@pytest.mark.parametrize("taxonomy", [MODES, MISSES])
def test_a_kind_is_given_only_where_the_verdict_asks_for_it(looked, taxonomy):
    task = labels.queue(looked)[0]
    unit_id = f"{task.item_id}/c2"
    if taxonomy is MISSES:
        labels.set_label(looked, task.response_id, unit_id, "yes")
    expect_refusal(
        "takes no kind",
        label_sealing.give,
        looked,
        task.response_id,
        unit_id,
        taxonomy.name,
        taxonomy.values[0],
    )


def test_kinds_may_be_given_after_submitting_and_are_seen_by_nobody_else(looked, unmet):
    item_id = labels.queue(looked)[0].item_id
    labels.set_label(looked, unmet[0], f"{item_id}/c2", "yes")
    label_sealing.submit(looked, item_id)
    label_sealing.give(looked, *unmet, MISSES.name, "incompleteness")
    history.undo(looked)
    history.redo(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {unmet[1]: "incompleteness"}
    assert [label_sealing.offered(looked, name) for name in (USUAL, CLAIMS, "adra.plan")] == [
        True, True, False,
    ]  # fmt: skip
    as_second_rater(looked)
    assert label_sealing.of_report(looked, unmet[0], MISSES.name) == {}


@pytest.mark.parametrize(
    ("value", "flags", "offered"),
    [
        ("unknown", "page_dead", "invalid_attribution"),
        ("no", "", "unsupported_answer"),
        ("no", "page_cut", "unsupported_answer"),
        ("unknown", "", ""),
    ],
)
def test_a_claims_kind_is_suggested_by_its_page_or_its_verdict(looked, unmet, value, flags, offered):
    label = labels.sheet(looked, unmet[0]).labels[unmet[1]]
    said = Judgement(**label.model_dump() | {"value": value, "flags": flags})
    assert CITATION_ERRORS.suggested(said.value or "", said.flags) == offered
    assert MISSES.suggested(said.value or "", said.flags) == ""


# Rows are predicted sub-tasks, columns gold ones; worked by hand: a maximum matching of 3 (p1–g2, p2–g1, p3–g4);
# every row has a match, and the columns g1, g2 and g4.
MATRIX = ("1100", "1000", "0001")


@pytest.fixture
def matrix(tmp_path):
    matrix = project_with(tmp_path)
    item_id = items.add(matrix, "A question").subject
    gold = Plan(units=tuple(Subtask(id=f"g{n}", text=f"Gold {n}") for n in range(1, 5)))
    assignments.seal(matrix, artifacts.start(matrix, item_id, gold.KIND, gold).subject)
    response_id = add_report(matrix, item_id, SYSTEMS[0])
    predicted = Plan(units=tuple(Subtask(id=f"p{n}", text=f"Predicted {n}") for n in range(1, 4)))
    drawn_extracts.write(matrix, response_id, ResponsePart.PLAN, predicted)
    return matrix


def fill(matrix) -> labels.LabelSheet:
    response_id = labels.queue(matrix, PLAN)[0].response_id
    for p, row in enumerate(MATRIX, 1):
        for g, cell in enumerate(row, 1):
            value = "relevant" if cell == "1" else "not"
            labels.set_label(matrix, response_id, f"p{p}~g{g}", value, protocol=PLAN)
    return labels.sheet(matrix, response_id, PLAN)


def test_both_readings_of_a_matrix(matrix):
    assert labels.readings(fill(matrix)) == (
        MatrixReading("one-to-one", 3, 3),
        MatrixReading("any-match", 3, 3),
    )
    sheet = fill(matrix)
    labels.set_label(matrix, sheet.response_id, "p3~g4", "not", protocol=PLAN)
    labels.set_label(matrix, sheet.response_id, "p3~g1", "relevant", protocol=PLAN)
    labels.set_label(matrix, sheet.response_id, "p1~g2", "not", protocol=PLAN)
    sheet = labels.sheet(matrix, sheet.response_id, PLAN)
    # All three meet g1 alone: one pair can be matched, yet every predicted one is right by any match.
    assert labels.readings(sheet) == (
        MatrixReading("one-to-one", 1, 1),
        MatrixReading("any-match", 3, 1),
    )


@pytest.mark.parametrize("value", ["unsure", None])
def test_nothing_is_counted_while_a_cell_is_open_or_unsure(matrix, value):
    sheet = fill(matrix)
    if value:
        labels.set_label(matrix, sheet.response_id, "p1~g1", value, protocol=PLAN)
        sheet = labels.sheet(matrix, sheet.response_id, PLAN)
    else:
        sheet.labels.pop("p1~g1")
    assert labels.readings(sheet) == (MatrixReading("one-to-one"), MatrixReading("any-match"))


def test_a_matrix_is_read_as_its_protocol_declares_it(matrix, monkeypatch):
    sheet, protocol = fill(matrix), PROTOCOLS[PLAN]
    corners = replace(
        protocol.matrix,
        match="not",
        none="relevant",
        readings={"corner": lambda cells, wide: (cells[0][0], wide)},
    )
    monkeypatch.setitem(PROTOCOLS, "planted.matrix", replace(protocol, name="planted.matrix", matrix=corners))
    # The first cell is relevant, which is no match here; there are four columns.
    result = labels.readings(replace(sheet, protocol="planted.matrix"))
    assert result == (MatrixReading("corner", False, 4),)


def test_other_protocols_have_no_readings_and_every_one_has_its_guide(tmp_path):
    (folder := tmp_path / "other").mkdir()
    matrix = one_item(folder)
    assert labels.readings(labels.sheet(matrix, labels.queue(matrix)[0].response_id)) == ()
    for name in ALL:
        assert "Unsure" in label_cases.guide(matrix, name)
    # The guide of the matrix tells of cells, not of a form's fields.
    for name in set(ALL) - {PLAN}:
        heads = set(label_cases.guide(matrix, name).splitlines())
        assert {f"## {field}" for field in ("value", "quote", "note", "flags")} <= heads
