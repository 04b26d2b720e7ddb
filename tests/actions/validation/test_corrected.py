"""The corrected leaderboard by hand: two systems, four items of weights 3 and 1, half of the items labelled."""

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.sets import validation_sets
from annotator.actions.validation import corrected, corrected_sheets
from annotator.actions.validation.corrected import CorrectionQuery
from annotator.domain.judges.protocol import Metric, RatedResponse
from annotator.domain.judges.scale import numbers
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from tests.projects.validation_project import (
    COVERAGE,
    At,
    judge_says,
    negative,
    person,
    person_says,
    places,
    validation_project,
)
from tests.stats.corrections import corrected_mean


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = validation_project(tmp_path, questions=6)
    yield project
    project.close()


def truth(at: At) -> str:
    """Of Alpha all but the light criterion of even items; of Beta the heavy one of items 1 to 3."""
    item, system, n = at
    if system == "Alpha":
        return "no" if n == 2 and item % 2 == 0 else "yes"
    return "yes" if n == 1 and item < 4 else "no"


def lenient(at: At) -> str:
    """Right of Alpha; of Beta it says yes to every heavy criterion."""
    return "yes" if at[1] == "Beta" and at[2] == 1 else truth(at)


def report(project: Project, **more: object) -> corrected.CorrectedLeaderboard:
    return corrected.report(project, replace(CorrectionQuery(), **more))


def test_the_raw_score_is_that_of_the_results(project: Project) -> None:
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    found = report(project).standings.scores
    rows = [row for row in results.rows(project) if (row.metric, row.group_by) == ("coverage", "all")]
    # Alpha: three items at 1 and three at 3/4; Beta: 3/4 throughout.
    assert {name: score.raw.value for name, score in found.items()} == {
        "Alpha": pytest.approx(21 / 24), "Beta": pytest.approx(3 / 4),
    }  # fmt: skip
    assert {row.system: row.estimate.value for row in rows} == {
        name: pytest.approx(score.raw.value) for name, score in found.items()
    }


def test_with_every_unit_labelled_the_score_is_that_of_people(project: Project) -> None:
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    found = report(project).standings.scores
    # Beta covers 3/4 of items 1 to 3 and nothing of the others.
    assert found["Beta"].corrected.value == pytest.approx(3 / 8)
    assert found["Alpha"].corrected.value == pytest.approx(21 / 24)


def test_where_less_is_better_the_lowest_stands_first(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (metric,) = (one for one in PROTOCOLS[COVERAGE].metrics if one.name == "coverage")
    falling = replace(PROTOCOLS[COVERAGE], metrics=(replace(metric, higher_is_better=False),))
    monkeypatch.setitem(PROTOCOLS, COVERAGE, falling)
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    found = report(project)
    assert corrected.in_order(found) == ["Beta", "Alpha"]
    assert (found.standings.ranks["Beta"].value, found.standings.pairs[0].first) == (1, "Beta")


def test_criteria_of_negative_weight_take_away_as_in_the_results(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    found = report(project)
    scores = found.standings.scores
    # Of all that can be reached, 3: Alpha has (3 − 1)/3 of odd items and 3/3 of even ones, Beta 3/3 by the judge.
    assert (scores["Alpha"].raw.value, scores["Beta"].raw.value) == pytest.approx((5 / 6, 1.0))
    assert scores["Beta"].corrected.value == pytest.approx(1 / 2)
    rows = [row for row in results.rows(project) if (row.metric, row.group_by) == ("coverage", "all")]
    assert {row.system: row.estimate.value for row in rows} == {
        name: pytest.approx(score.raw.value) for name, score in scores.items()
    }
    assert any("takes away where it is met" in note for note in found.notes)


def test_a_report_with_nothing_to_reach_is_left_out_and_told(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    person_says(project, "R2", truth)
    judge_says(project, "small", lambda at: "-" if at[:2] == (1, "Alpha") and at[2] == 1 else lenient(at))
    found = report(project)
    # Of items 2 to 6, three even ones at 1 and two odd ones at (3 − 1)/3.
    assert found.standings.scores["Alpha"].raw.value == pytest.approx((3 + 2 * 2 / 3) / 5)
    assert any("1 report has no judged criterion of a weight above 0" in note for note in found.notes)


def test_an_item_whose_gold_makes_no_score_is_left_out_and_told(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    fault = "The shares sum to 0.80 and not to 1."
    monkeypatch.setattr(Rubric, "fault", lambda own: fault if own.units[0].id == "i1c1" else "")
    (coverage,) = PROTOCOLS[COVERAGE].metrics

    def score(scored: RatedResponse, over_valid: bool) -> Estimate:
        faulty = scored.material.documents[Kind.RUBRIC].fault()
        return Estimate(None, note=faulty) if faulty else coverage.score(scored, over_valid)

    faultless = replace(PROTOCOLS[COVERAGE], metrics=(replace(coverage, score=score),))
    monkeypatch.setitem(PROTOCOLS, COVERAGE, faultless)
    found = report(project)
    # Of items 2 to 6, three even ones at 3/4 and two odd ones at 1; people's Beta covers 3/4 of items 2 and 3.
    assert found.standings.scores["Alpha"].raw.value == pytest.approx((3 * 3 / 4 + 2) / 5)
    assert found.standings.scores["Beta"].corrected.value == pytest.approx(2 * 3 / 4 / 5)
    assert (found.units["Alpha"], found.labelled["Alpha"]) == (10, 10)
    assert f"Item 1 is left out, as in the results: {fault}" in found.notes


def test_scores_below_zero_keep_their_intervals_and_are_drawn(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    person_says(project, "R2", lambda at: "yes" if at[2] == 2 or at[0] < 3 else "no")
    judge_says(project, "small", lambda at: "yes" if at[2] == 2 else "no")
    found = report(project)
    score = found.standings.scores["Alpha"].corrected
    assert found.standings.scores["Alpha"].raw.value == pytest.approx(-1 / 3)
    assert score.value == pytest.approx(0)
    assert -1 / 3 <= score.low < 0 < score.high
    (board, *_) = corrected_sheets.sheets(found)
    assert [picture.draw.keywords["share"] for picture in board.pictures[:1]] == [False]


def mean_rating(scored: RatedResponse, over_valid: bool) -> Estimate:
    units = scored.material.units(Kind.RUBRIC)
    rated = [(unit.weight, float(scored.values[unit.id])) for unit in units if unit.id in scored.values]
    weight = sum(weight for weight, _ in rated)
    return Estimate(sum(weight * rating for weight, rating in rated) / weight, n=len(rated))


def test_ratings_are_corrected_by_what_each_is_worth(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rating = Metric("rating", "Rating", "x", mean_rating, unit="of 10", within=(0, 10), credit=float)
    worse = replace(rating, name="faults", higher_is_better=False)
    rated = replace(PROTOCOLS[COVERAGE], scale=numbers(0, 10), metrics=(rating, worse))
    monkeypatch.setitem(PROTOCOLS, COVERAGE, rated)
    people_say = {("Alpha", 1): "10", ("Alpha", 2): "6", ("Beta", 1): "4", ("Beta", 2): "0"}
    person_says(project, "R2", lambda at: people_say[at[1:]])
    # Two below people of Alpha, two above them of Beta.
    off = {"Alpha": -2, "Beta": 2}
    judge_says(project, "small", lambda at: str(int(people_say[at[1:]]) + off[at[1]]))
    found = report(project, metric="rating")
    scores = found.standings.scores
    # Of weights 3 and 1: (3 · 8 + 4)/4 and (3 · 6 + 2)/4 by the judge, (3 · 10 + 6)/4 and (3 · 4 + 0)/4 by people.
    assert {name: (one.raw.value, one.corrected.value) for name, one in scores.items()} == {
        "Alpha": (pytest.approx(7), pytest.approx(9)), "Beta": (pytest.approx(5), pytest.approx(3)),
    }  # fmt: skip
    rows = results.rows(project, protocol=COVERAGE)
    assert {
        row.system: row.estimate.value for row in rows if (row.metric, row.group) == ("rating", "all")
    } == {name: pytest.approx(one.raw.value) for name, one in scores.items()}
    (board, _, plan, *_) = corrected_sheets.sheets(found)
    assert board.columns[1].tip == "The judge's rating: mean over items"
    assert board.pictures[0].title == "Rating, raw and corrected"
    # A tenth of 0 to 10.
    assert plan.told[0].startswith("Labels needed to narrow each interval to a width of 1,")
    assert "rating" in corrected.credited()


def test_what_is_not_made_of_single_verdicts_is_not_corrected(project: Project) -> None:
    with pytest.raises(Refusal, match="“Win rate” is not made of single verdicts"):
        report(project, metric="win_rate")
    assert [info.name for info in corrected.offered(project)] == ["coverage"]


def test_a_part_of_the_labels_corrects_the_whole(project: Project) -> None:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=6, test_share=0.0, seed=2))
    for alias in ("R2", "R3"):
        person_says(project, alias, truth)
    validation_sets.lock(project, "Spring")
    judge_says(project, "small", lenient)
    found = report(project, set_name="Spring")
    drawn = validation_sets.named(project, "Spring").responses()
    assert sum(found.labelled.values()) == 2 * len(drawn) == 12
    assert set(found.units.values()) == {12}
    # The same from the figures of the statistics themselves, item by item of weights 3/4 and 1/4.
    mine = {at: place for at, place in places(project).items() if at[1] == "Beta"}
    expected = corrected_mean(
        [float(truth(at) == "yes") if place[1] in drawn else None for at, place in mine.items()],
        [float(lenient(at) == "yes") for at in mine],
        [(0.75, 0.25)[at[2] - 1] for at in mine],
        [at[0] for at in mine],
    )
    beta = found.standings.scores["Beta"]
    assert beta.raw.value == pytest.approx(3 / 4)
    assert beta.corrected.value == pytest.approx(expected.corrected.value)


def test_several_peoples_labels_are_averaged(project: Project) -> None:
    person_says(project, "R2", lambda _: "yes")
    person_says(project, "R3", lambda _: "no")
    judge_says(project, "small", lambda _: "yes")
    found = report(project)
    assert {score.corrected.value for score in found.standings.scores.values()} == {0.5}
    assert any("mean of theirs" in note for note in found.notes)


def test_the_order_of_systems_comes_with_the_chance_of_the_other(project: Project) -> None:
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    found = report(project)
    (pair,) = found.standings.pairs
    assert (pair.first, pair.second) == ("Alpha", "Beta")
    assert pair.difference.value == pytest.approx(21 / 24 - 3 / 8)
    # Beta has at most 3/4 in any resample, and Alpha at least.
    assert pair.flip.value is not None
    assert pair.flip.value < 0.05
    assert corrected.in_order(found) == ["Alpha", "Beta"]


@pytest.mark.usefixtures("small_cases")
def test_what_to_label_next_is_unlabelled_and_gives_enough(project: Project) -> None:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=6, test_share=0.0, seed=2))
    for alias in ("R2", "R3"):
        person_says(project, alias, truth)
    validation_sets.lock(project, "Spring")
    judge_says(project, "small", lenient)
    drawn = validation_sets.named(project, "Spring").responses()
    wide = report(project, set_name="Spring", width=2.0).more["Beta"]
    assert (wide.plan.more, wide.responses) == (0, ())
    now = report(project, set_name="Spring", width=2.0).more["Beta"].plan.width_now
    more = report(project, set_name="Spring", width=0.9 * (now or 0)).more["Beta"]
    assert more.plan.more
    assert {one.system for one in more.responses} == {"Beta"}
    assert not {one.response_id for one in more.responses} & drawn
    assert sum(one.units for one in more.responses) >= more.plan.more


def test_the_tables_name_what_they_stand_on(project: Project) -> None:
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    scores, pairs, plan = corrected_sheets.sheets(report(project))[:3]
    assert [line.cells[0].words for line in scores.lines] == ["Alpha", "Beta"]
    assert scores.told[0] == "“small”, corrected by the labels of R2."
    assert [cell.words for cell in pairs.lines[0].cells][:2] == ["Alpha", "Beta"]
    assert len(plan.lines) == 2


def test_without_a_judge_or_labels_nothing_is_corrected(project: Project) -> None:
    judge_says(project, "small", lenient)
    with pytest.raises(Refusal, match="Nobody has submitted"):
        report(project)
    person_says(project, "R2", truth)
    with pytest.raises(Refusal):
        report(project, judge="other")


@pytest.mark.usefixtures("small_cases")
def test_an_interval_of_a_share_ends_within_its_bounds(tmp_path: Path) -> None:
    project = validation_project(tmp_path, questions=2)
    person_says(project, "R2", lambda at: "yes" if at[0] == 1 else "no")
    judge_says(project, "small", truth)
    score = report(project).standings.scores["Alpha"].labelled
    # Coverage 1 and 0: a mean of 1/2 of variance 1/4, which is worth one unit; t of one degree of freedom is 12.7.
    half = 12.7062 / (1 + 12.7062**2) * sqrt(1 / 4 + 12.7062**2 / 4)
    assert (score.value, score.low, score.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half), abs=1e-6)
    project.close()
