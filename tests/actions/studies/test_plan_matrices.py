"""The matrix of a plan in both readings; the design's own example counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures
from annotator.actions.studies import plan_matrices
from tests.projects import adra_project as adra
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Three predicted sub-tasks against four gold ones; Beta shows no plan."""
    project = adra.adra_project(tmp_path, 1, ("Alpha", "Beta"))
    item = items.ids(project)[0]
    adra.fill_matrix(project, item, adra.response_of(item), [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    yield project
    project.close()


def test_both_readings_are_given(project: Project) -> None:
    (met,) = plan_matrices.report(project).met
    values = {name: found.value for name, found in met.scores.items()}
    # A matching of 3: P = 3/3, R = 3/4, F1 = 6/7, J = 3/4. Any match: 3 rows and 3 columns, the same here.
    assert values == pytest.approx({
        "plan.precision": 1.0, "plan.recall": 0.75, "plan.f1": 6 / 7, "plan.jaccard": 0.75,
        "plan_any.precision": 1.0, "plan_any.recall": 0.75, "plan_any.f1": 6 / 7, "plan_any.jaccard": 0.75,
    })  # fmt: skip


def test_the_readings_differ_where_one_row_meets_two(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = adra.adra_project(folder, 1)
    item = items.ids(other)[0]
    adra.fill_matrix(other, item, adra.response_of(item), [[1, 1, 0, 0], [0, 0, 0, 0]])
    scores = plan_matrices.report(other).met[0].scores
    # One-to-one finds 1 of 4; with any match two columns are met.
    assert (scores["plan.recall"].value, scores["plan_any.recall"].value) == (0.25, 0.5)
    other.close()


def test_the_matrix_marks_a_maximum_matching(project: Project) -> None:
    readings, matrix = plan_matrices.sheets(plan_matrices.report(project))
    # The first row must leave the first column to the second, or only two would match.
    assert [[cell.words for cell in line.cells[1:]] for line in matrix.lines] == [
        ["● relevant", "◉ relevant", "not", "not"],
        ["◉ relevant", "not", "not", "not"],
        ["not", "not", "not", "◉ relevant"],
    ]
    assert "Without a known plan, not counted as zero: 1 report." in readings.told


def test_a_cell_nobody_filled_is_missing(project: Project) -> None:
    sql.alter(project, "DELETE FROM judgement WHERE unit_id = 'p3~g3'")
    _, matrix = plan_matrices.sheets(plan_matrices.report(project))
    assert matrix.lines[2].cells[3].words == "missing"
    (met,) = plan_matrices.report(project).met
    assert (met.scores["plan.recall"].floor, met.scores["plan.recall"].ceiling) == (0.75, 0.75)


def test_a_value_never_leaves_the_range_it_must_lie_in(project: Project) -> None:
    sql.alter(project, "DELETE FROM judgement WHERE unit_id = 'p3~g1'")
    (met,) = plan_matrices.report(project).met
    recall = met.scores["plan.recall"]
    # Without the third row 2 of 4 would be found, but whatever is missing, the three match.
    assert (recall.value, recall.missing) == (0.75, 1)


def test_a_cell_leads_to_its_judgement_and_the_matrix_is_drawn(project: Project) -> None:
    readings, matrix = plan_matrices.sheets(plan_matrices.report(project))
    source = matrix.lines[1].cells[1].source
    assert source is not None
    assert (source.unit_id, source.rater_id) == ("p2~g1", adra.JUDGE)
    assert readings.lines[0].picture == matrix.pictures[0].name
    drawn = result_pictures.dots(project, matrix.pictures[0], result_pictures.PRINTED, 50)
    assert len(drawn.rgba) == 4 * drawn.width * drawn.height
