"""Two rubric sets on the same reports: scores, gaps, weights and shared criteria; counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts, gold
from annotator.actions.project.file import Project
from annotator.actions.studies import rubric_sets
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.refusal import Refusal
from tests.projects import adra_project as adra
from tests.projects import pairs_project as pairs
from tests.storage import sql

COVERAGE = "researcherbench.coverage"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Ada's and Ben's rubrics for one item, two systems, and a judge that judged both by both."""
    project = pairs.pairs_project(tmp_path)
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")})
    pairs.work_as(project, "Cora")
    adra.add_judge(project)
    item = pairs.item(project)
    for system, of_ada, of_ben in (("Alpha", "yynyn", "ynnnnn"), ("Beta", "nnynn", "yynnnn")):
        report = pairs.add_report(project, system)
        for prefix, said in (("a", of_ada), ("b", of_ben)):
            values = {f"{prefix}{n}": {"y": "yes", "n": "no"}[one] for n, one in enumerate(said, 1)}
            adra.say(project, COVERAGE, item, report, values)
    yield project
    project.close()


def test_each_author_has_a_set_and_none_is_settled_before_adjudication(project: Project) -> None:
    assert list(rubric_sets.sets(project)) == ["R2", "R3"]
    gold.count_unadjudicated(project, True)
    assert list(rubric_sets.sets(project)) == ["settled", "R2", "R3"]


def test_both_sets_score_the_same_reports(project: Project) -> None:
    found = rubric_sets.report(project, "R2", "R3")
    scores = {system: tuple(one.value for one in pair) for system, pair in found.beside.scores.items()}
    # Ada's weights are 3, 2, 1, 2, 1 (9 in all), Ben's 3, 3, 2, 2, 2, 1 (13 in all).
    assert scores["Alpha"] == (pytest.approx(7 / 9), pytest.approx(3 / 13))
    assert scores["Beta"] == (pytest.approx(1 / 9), pytest.approx(6 / 13))
    assert [gap.value for gap in found.beside.gaps] == [pytest.approx(6 / 9), pytest.approx(3 / 13)]


def test_four_criteria_say_the_same(project: Project) -> None:
    found = rubric_sets.report(project, "R2", "R3")
    # 2 · 4 / (5 + 6).
    assert found.beside.matched.value == pytest.approx(8 / 11)
    scores, weights, criteria = rubric_sets.sheets(found)
    assert [line.cells[4].words for line in criteria.lines].count("1 and –") == 1
    assert sum(line.cells[3].words == "only one has it" for line in criteria.lines) == 3
    # Ada: two ones, two twos, one three of five.
    assert [line.cells[1].words for line in weights.lines] == ["40.0 %", "40.0 %", "20.0 %"]
    assert scores.lines[0].cells[3].words == "−0.547"


def test_sets_that_nobody_judged_by_still_show_weights_and_criteria(project: Project) -> None:
    sql.alter(project, "DELETE FROM judgement WHERE unit_id LIKE 'b%'")
    weights, criteria = rubric_sets.sheets(rubric_sets.report(project, "R2", "R3"))
    assert (weights.title, criteria.title) == ("Weights", "Criteria")
    assert any(words.startswith("No report was judged by both") for words in weights.told)


def test_another_project_can_be_the_other_set(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = pairs.pairs_project(folder)
    made = artifacts.start(other, pairs.item(other), Kind.RUBRIC, pairs.rubric(pairs.BEN, "m")).subject
    submitting.seal(other, made)
    adra.add_judge(other)
    report = pairs.add_report(other, "Alpha")
    adra.say(other, COVERAGE, pairs.item(other), report, {f"m{n}": "yes" for n in range(1, 7)})
    other.close()
    found = rubric_sets.report(project, "R2", file=str(folder / "pairs.goldsmith"))
    assert found.names == ("R2", "pairs")
    assert [one.value for one in found.beside.scores["Alpha"]] == [pytest.approx(7 / 9), 1.0]
    assert "Beta" not in found.beside.scores


def test_only_a_coordinator_compares_authors(project: Project) -> None:
    pairs.work_as(project, "Ada")
    with pytest.raises(Refusal, match="Only a coordinator"):
        rubric_sets.report(project)
