"""By whose gold a figure is: a consensus, a single author's, or, where asked for, one of several not adjudicated."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import gold
from annotator.actions.items import items
from annotator.actions.releases import releases
from annotator.actions.results import overview, results
from annotator.actions.results.scoring import ALL
from annotator.actions.undo import history
from annotator.cli.commands import app
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.refusal import Refusal
from tests.projects import adra_project as adra
from tests.projects import pairs_project as pairs

COVERAGE = "researcherbench.coverage"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[pairs.Project]:
    """Ada and Ben wrote a rubric of the first item, Ada alone one of the second; a judge judged both by Ada's."""
    project = pairs.pairs_project(tmp_path, 2)
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")})
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "c")}, place=1)
    pairs.work_as(project, "Cora")
    adra.add_judge(project)
    for place, prefix, said in ((0, "a", "yynyn"), (1, "c", "nnynn")):
        report = pairs.add_report(project, "Alpha", place)
        values = {f"{prefix}{n}": {"y": "yes", "n": "no"}[one] for n, one in enumerate(said, 1)}
        adra.say(project, COVERAGE, pairs.item(project, place), report, values)
    yield project
    project.close()


def coverage(project: pairs.Project) -> results.ResultRow:
    return next(row for row in results.rows(project) if row.metric == "coverage" and row.group_by == ALL)


def test_letter_12_nothing_is_scored_by_unadjudicated_doubles(project: pairs.Project) -> None:
    found = coverage(project)
    # Ada's weights are 3, 2, 1, 2, 1: of the second item the third criterion is met, of the first nothing counts.
    assert (found.estimate.value, found.estimate.n) == (pytest.approx(1 / 9), 1)
    assert "R2 alone (1 item)" in found.gold
    assert "not adjudicated (1 item)" in found.gold


def test_letter_12_they_count_where_asked_and_the_figure_says_whose(project: pairs.Project) -> None:
    gold.count_unadjudicated(project, True)
    found = coverage(project)
    assert (found.estimate.value, found.estimate.n) == (pytest.approx((7 / 9 + 1 / 9) / 2), 2)
    assert "R2, not adjudicated (1 item)" in found.gold
    told = overview.sheets(overview.report(project))[0].told
    assert any("R2, not adjudicated" in line for line in told)
    history.undo(project)
    assert coverage(project).estimate.n == 1


def test_letter_12_one_of_two_who_are_asked_is_no_gold_yet(project: pairs.Project) -> None:
    item = pairs.item(project, 1)
    for name in ("Ada", "Ben"):
        assignments.assign_one(project, item, pairs.person(project, name).id, Stage.RUBRIC)
    with project.store.read() as db:
        assert list(gold.whose(db, pairs.Kind.RUBRIC).values()) == [gold.LEFT_OUT] * 2
    assert gold.LEFT_OUT in coverage_words(project)


def coverage_words(project: pairs.Project) -> str:
    with project.store.read() as db:
        return gold.words(db, [pairs.Kind.RUBRIC])


def test_letter_12_an_annotator_does_not_decide_whose_gold_counts(project: pairs.Project) -> None:
    pairs.work_as(project, "Ada")
    with pytest.raises(Refusal):
        gold.count_unadjudicated(project, True)


def test_letter_12_the_command_and_the_release_say_whose(
    project: pairs.Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cora = pairs.person(project, "Cora").id
    app(["gold", str(project.path), "--unadjudicated", "--as", cora, "--json"], standalone_mode=False)
    told = json.loads(capsys.readouterr().out)
    assert told["unadjudicated"] is True
    assert "R2, not adjudicated" in told["gold"]["rubric"]
    again = pairs.Project.open(project.path)
    releases.export(again, tmp_path / "release")
    again.close()
    scores = json.loads((tmp_path / "release" / "scores.json").read_text("utf-8"))
    assert all("not adjudicated" in one["gold"] for one in scores if one["metric"] == "coverage")
    assert (
        json.loads((tmp_path / "release" / "manifest.json").read_text("utf-8"))["unadjudicated"]
        == "the document that scored first, else that of the first alias"
    )


def test_a_release_says_nothing_of_who_is_awaited_for_an_item_that_was_retired(
    project: pairs.Project, tmp_path: Path
) -> None:
    second = pairs.item(project, 1)
    for name in ("Ada", "Ben"):
        assignments.assign_one(project, second, pairs.person(project, name).id, Stage.RUBRIC)
    releases.export(project, tmp_path / "one")
    assert json.loads((tmp_path / "one" / "manifest.json").read_text("utf-8"))["awaited"] == {
        "rubric": [second]
    }
    items.change(project, second, retired=True)
    releases.export(project, tmp_path / "two")
    assert "awaited" not in json.loads((tmp_path / "two" / "manifest.json").read_text("utf-8"))
