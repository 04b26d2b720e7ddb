"""Which criteria tell systems apart, how they weigh, and on which raters agree; counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.results import result_exports
from annotator.actions.studies import rubric_pilots
from annotator.cli import run_command
from annotator.stats.validation.rubrics import CriterionReach
from tests.projects.small_project import small_project
from tests.servers.said_by_judges import label, places, say, submit


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = small_project(tmp_path)
    judges.add(project, "a", base_url="http://127.0.0.1:1/v1", model="m")
    yield project
    project.close()


def judge_id(project: Project) -> str:
    return judges.named(project, "a").id


def test_a_ceiling_a_floor_and_what_tells_systems_apart(project: Project) -> None:
    # People say yes of all of Beta's reports; of Alpha's first: met, not met, not told.
    label(project, "yn-yyy")
    submit(project)
    found = rubric_pilots.report(project, "people")
    first = [one for one in found.criteria if one.item_key == "1"]
    assert [one.discrimination.reach for one in first] == [
        CriterionReach.CEILING,
        CriterionReach.APART,
        CriterionReach.OPEN,
    ]
    # Pass rates 1 and 1; 0 and 1: a standard deviation of 1/2, the most there is.
    assert [one.discrimination.spread.value for one in first[:2]] == [0.0, 0.5]
    assert found.reach == {CriterionReach.CEILING: 4, CriterionReach.APART: 1, CriterionReach.OPEN: 1}


def test_criteria_that_tell_nothing_apart_come_first(project: Project) -> None:
    label(project, "yn-yyy")
    submit(project)
    criteria, _ = rubric_pilots.sheets(rubric_pilots.report(project, "people"))
    reaches = [line.cells[3].words for line in criteria.lines]
    assert reaches[:4] == ["every system always meets it"] * 4
    assert reaches[-1] == "tells systems apart"
    assert criteria.lines[0].cells[3].state == "flat"


def test_a_pass_rate_leaves_unrounded(project: Project) -> None:
    label(project, "ynnyyn")
    submit(project)
    criteria, _ = rubric_pilots.sheets(rubric_pilots.report(project, "people"))
    rates = [row["system_alpha"] for row in result_exports.rows(criteria) if row["item"] == "1"]
    assert sorted(rates) == [0.0, 0.0, 1.0]


def test_where_it_differs_from_the_paper_leaves_with_the_table(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    label(project, "ynnyyn")
    submit(project)
    criteria, _ = rubric_pilots.sheets(rubric_pilots.report(project, "people"))
    differs = "κ is given for each criterion without an interval"
    assert not any(words.startswith(differs) for words in criteria.told)
    assert [words.startswith(differs) for words in result_exports.as_tree(criteria)["departures"]].count(
        True
    ) == 1
    assert (
        run_command(
            ["results", str(project.path), *["--view", "pilot", "--choose", "judge=people", "--departures"]]
        )
        == 0
    )
    assert differs in capsys.readouterr().out


def test_weights_stand_beside_the_experts(project: Project) -> None:
    label(project, "yyyyyy")
    submit(project)
    _, weights = rubric_pilots.sheets(rubric_pilots.report(project, "people"))
    # Two rubrics of the weights 3, 2 and 1; Table 10 has 35.45, 50.91 and 13.64 %.
    found = [[cell.words for cell in line.cells] for line in weights.lines]
    assert found == [
        ["1", "2", "33.3 %", "35.4 %", "−2.1 points"],
        ["2", "2", "33.3 %", "50.9 %", "−17.6 points"],
        ["3", "2", "33.3 %", "13.6 %", "+19.7 points"],
    ]


def test_kappa_is_given_criterion_by_criterion(project: Project) -> None:
    label(project, "yn-yyy")
    submit(project)
    say(project, "a", "yyyyyy")
    found = rubric_pilots.report(project)
    assert found.raters is not None
    second = next(one for one in found.criteria if one.item_key == "1" and one.weight == 2)
    # The judge judged Alpha's report only: one pair, on which they differ.
    assert second.agreement is not None
    assert (second.agreement.percent.value, second.agreement.percent.missing) == (0.0, 1)


def test_without_two_raters_nothing_is_said_of_agreement(project: Project) -> None:
    say(project, "a", "ynyyny")
    criteria, _ = rubric_pilots.sheets(rubric_pilots.report(project))
    assert "κ" not in [column.title for column in criteria.columns]


def test_a_criterion_leads_to_the_judgements_on_it(project: Project) -> None:
    say(project, "a", "ynyyny")
    criteria, _ = rubric_pilots.sheets(rubric_pilots.report(project))
    line = next(one for one in criteria.lines if one.unit_id == places(project)[1][2])
    assert line.source is not None
    assert (line.source.rater_id, line.source.unit_id) == (judge_id(project), places(project)[1][2])


def test_a_project_without_rubrics_has_no_pilot(tmp_path: Path) -> None:
    project = new_project(tmp_path / "none.goldsmith")
    assert rubric_pilots.sheets(rubric_pilots.report(project)) == ()
    project.close()
