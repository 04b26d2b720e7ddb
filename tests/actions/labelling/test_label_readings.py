"""A matrix that a person has filled comes to the published example's figures, in both readings."""

from dataclasses import replace

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.labelling import label_offers, label_readings, label_tasks, labels
from annotator.actions.labelling.label_readings import MatrixReading
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.part import ResponsePart
from annotator.protocols import PROTOCOLS
from tests.material import drawn_extracts
from tests.projects.labelled_protocols import ALL, PLAN, one_item
from tests.projects.labelling_project import SYSTEMS, add_report, project_with

# Rows are predicted sub-tasks, columns gold ones; worked by hand: a maximum matching of 3 (p1–g2, p2–g1, p3–g4);
# every row has a match, and the columns g1, g2 and g4.
MATRIX = ("1100", "1000", "0001")


@pytest.fixture
def project(tmp_path):
    project = project_with(tmp_path)
    item_id = items.add(project, "A question").subject
    gold = Plan(units=tuple(Subtask(id=f"g{n}", text=f"Gold {n}") for n in range(1, 5)))
    submitting.seal(project, artifacts.start(project, item_id, gold.KIND, gold).subject)
    response_id = add_report(project, item_id, SYSTEMS[0])
    predicted = Plan(units=tuple(Subtask(id=f"p{n}", text=f"Predicted {n}") for n in range(1, 4)))
    drawn_extracts.write(project, response_id, ResponsePart.PLAN, predicted)
    yield project
    project.close()


def fill(project) -> labels.LabelSheet:
    response_id = label_tasks.queue(project, PLAN)[0].response_id
    for p, row in enumerate(MATRIX, 1):
        for g, cell in enumerate(row, 1):
            value = "relevant" if cell == "1" else "not"
            labels.set_label(project, response_id, f"p{p}~g{g}", value, protocol=PLAN)
    return labels.sheet(project, response_id, PLAN)


def test_both_readings_are_counted_once_every_cell_is_decided(project):
    assert label_readings.readings(fill(project)) == (
        MatrixReading("one-to-one", 3, 3),
        MatrixReading("any-match", 3, 3),
    )


def test_the_readings_differ_where_one_sub_task_meets_several(project):
    sheet = fill(project)
    labels.set_label(project, sheet.response_id, "p3~g4", "not", protocol=PLAN)
    labels.set_label(project, sheet.response_id, "p3~g1", "relevant", protocol=PLAN)
    labels.set_label(project, sheet.response_id, "p1~g2", "not", protocol=PLAN)
    sheet = labels.sheet(project, sheet.response_id, PLAN)
    # All three meet g1 alone: one pair can be matched, yet every predicted one is right by any match.
    assert label_readings.readings(sheet) == (
        MatrixReading("one-to-one", 1, 1),
        MatrixReading("any-match", 3, 1),
    )


@pytest.mark.parametrize("value", ["unsure", None])
def test_nothing_is_counted_while_a_cell_is_open_or_unsure(project, value):
    sheet = fill(project)
    if value:
        labels.set_label(project, sheet.response_id, "p1~g1", value, protocol=PLAN)
        sheet = labels.sheet(project, sheet.response_id, PLAN)
    else:
        sheet.labels.pop("p1~g1")
    assert label_readings.readings(sheet) == (MatrixReading("one-to-one"), MatrixReading("any-match"))


def test_a_matrix_is_read_as_its_protocol_declares_it(project, monkeypatch):
    sheet, shape = fill(project), PROTOCOLS[PLAN]
    corners = replace(
        shape.matrix,
        match="not",
        none="relevant",
        readings={"corner": lambda cells, wide: (cells[0][0], wide)},
    )
    monkeypatch.setitem(PROTOCOLS, "planted.matrix", replace(shape, name="planted.matrix", matrix=corners))
    # The first cell is relevant, which is no match here; there are four columns.
    found = label_readings.readings(replace(sheet, protocol="planted.matrix"))
    assert found == (MatrixReading("corner", False, 4),)


def test_other_protocols_have_no_readings_and_every_one_has_its_guide(tmp_path):
    folder = tmp_path / "other"
    folder.mkdir()
    project = one_item(folder)
    sheet = labels.sheet(project, label_tasks.queue(project)[0].response_id)
    assert label_readings.readings(sheet) == ()
    for name in ALL:
        assert "Unsure" in label_offers.guide(project, name)
    # The guide of the matrix tells of cells, not of a form's fields.
    for name in set(ALL) - {PLAN}:
        heads = set(label_offers.guide(project, name).splitlines())
        assert {f"## {field}" for field in ("value", "quote", "note", "flags")} <= heads
    project.close()
