"""The corrected leaderboard, rulings on disagreements and published aims, by hand."""

from dataclasses import replace
from math import sqrt
from pathlib import Path

import pytest

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.sets import validation_ground, validation_sets
from annotator.actions.sets.validation_figures import TITLES, published
from annotator.actions.undo import history
from annotator.actions.validation import corrected, disagreements, validation
from annotator.actions.validation.corrected import CorrectionQuery
from annotator.actions.validation.disagreements import Disagreement
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.judges.judge import Fault, InformedRuling
from annotator.domain.judges.protocol import Metric, RatedResponse, numbers
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, USUAL
from tests.projects.refusals import expect_refusal
from tests.projects.validation_project import (
    COVERAGE,
    At,
    ann,
    judge_says,
    nearly_ann,
    negative,
    person,
    person_says,
    places,
    strict,
    validation_project,
)
from tests.stats.corrections import corrected_mean
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return validation_project(tmp_path, questions=6)


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


def test_raw_scores_are_those_of_the_results(project: Project) -> None:
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    result = report(project).standings.scores
    rows = [row for row in results.rows(project) if (row.metric, row.group_by) == ("coverage", "all")]
    # Alpha: three items at 1 and three at 3/4; Beta: 3/4 throughout.
    assert {name: score.raw.value for name, score in result.items()} == {
        "Alpha": pytest.approx(21 / 24), "Beta": pytest.approx(3 / 4),
    }  # fmt: skip
    assert {row.system: row.estimate.value for row in rows} == {
        name: pytest.approx(score.raw.value) for name, score in result.items()
    }
    # Beta covers 3/4 of items 1 to 3 and nothing of the others.
    assert result["Beta"].corrected.value == pytest.approx(3 / 8)
    assert result["Alpha"].corrected.value == pytest.approx(21 / 24)
    result = report(project)
    (pair,) = result.standings.pairs
    assert (pair.first, pair.second) == ("Alpha", "Beta")
    assert pair.difference.value == pytest.approx(21 / 24 - 3 / 8)
    # Beta has at most 3/4 in any resample, and Alpha at least.
    assert pair.flip.value < 0.05
    assert corrected.in_order(result) == ["Alpha", "Beta"]
    scores, pairs, plan = corrected.sheets(report(project))[:3]
    assert [line.cells[0].words for line in scores.lines] == ["Alpha", "Beta"]
    assert scores.notes[0] == "“small”, corrected by the labels of R2."
    assert [cell.words for cell in pairs.lines[0].cells][:2] == ["Alpha", "Beta"]
    assert len(plan.lines) == 2
    expect_refusal("“Win rate” is not made of single verdicts", report, project, metric="win_rate")
    assert [info.name for info in corrected.offered(project)] == ["coverage"]


def test_where_less_is_better_the_lowest_stands_first(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (metric,) = (one for one in PROTOCOLS[COVERAGE].metrics if one.name == "coverage")
    falling = replace(PROTOCOLS[COVERAGE], metrics=(replace(metric, higher_is_better=False),))
    monkeypatch.setitem(PROTOCOLS, COVERAGE, falling)
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    result = report(project)
    assert corrected.in_order(result) == ["Beta", "Alpha"]
    assert (result.standings.ranks["Beta"].value, result.standings.pairs[0].first) == (1, "Beta")


def test_criteria_of_negative_weight_take_away_as_in_the_results(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    person_says(project, "R2", truth)
    judge_says(project, "small", lenient)
    result = report(project)
    scores = result.standings.scores
    # Of all that can be reached, 3: Alpha has (3 − 1)/3 of odd items and 3/3 of even ones, Beta 3/3 by the judge.
    assert (scores["Alpha"].raw.value, scores["Beta"].raw.value) == pytest.approx((5 / 6, 1.0))
    assert scores["Beta"].corrected.value == pytest.approx(1 / 2)
    rows = [row for row in results.rows(project) if (row.metric, row.group_by) == ("coverage", "all")]
    assert {row.system: row.estimate.value for row in rows} == {
        name: pytest.approx(score.raw.value) for name, score in scores.items()
    }
    assert any("takes away where it is met" in note for note in result.notes)


def test_a_report_with_nothing_to_reach_is_left_out_and_told(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    person_says(project, "R2", truth)
    judge_says(project, "small", lambda at: "-" if at[:2] == (1, "Alpha") and at[2] == 1 else lenient(at))
    result = report(project)
    # Of items 2 to 6, three even ones at 1 and two odd ones at (3 − 1)/3.
    assert result.standings.scores["Alpha"].raw.value == pytest.approx((3 + 2 * 2 / 3) / 5)
    assert any("1 report has no judged criterion of a weight above 0" in note for note in result.notes)


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
    result = report(project)
    # Of items 2 to 6, three even ones at 3/4 and two odd ones at 1; people's Beta covers 3/4 of items 2 and 3.
    assert result.standings.scores["Alpha"].raw.value == pytest.approx((3 * 3 / 4 + 2) / 5)
    assert result.standings.scores["Beta"].corrected.value == pytest.approx(2 * 3 / 4 / 5)
    assert (result.units["Alpha"], result.labelled["Alpha"]) == (10, 10)
    assert f"Item 1 is left out, as in the results: {fault}" in result.notes


def test_scores_below_zero_keep_their_intervals_and_are_drawn(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    person_says(project, "R2", lambda at: "yes" if at[2] == 2 or at[0] < 3 else "no")
    judge_says(project, "small", lambda at: "yes" if at[2] == 2 else "no")
    result = report(project)
    score = result.standings.scores["Alpha"].corrected
    assert result.standings.scores["Alpha"].raw.value == pytest.approx(-1 / 3)
    assert score.value == pytest.approx(0)
    assert -1 / 3 <= score.low < 0 < score.high
    (board, *_) = corrected.sheets(result)
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
    result = report(project, metric="rating")
    scores = result.standings.scores
    # Of weights 3 and 1: (3 · 8 + 4)/4 and (3 · 6 + 2)/4 by the judge, (3 · 10 + 6)/4 and (3 · 4 + 0)/4 by people.
    assert {name: (one.raw.value, one.corrected.value) for name, one in scores.items()} == {
        "Alpha": (pytest.approx(7), pytest.approx(9)), "Beta": (pytest.approx(5), pytest.approx(3)),
    }  # fmt: skip
    rows = results.rows(project, protocol=COVERAGE)
    assert {
        row.system: row.estimate.value for row in rows if (row.metric, row.group) == ("rating", "all")
    } == {name: pytest.approx(one.raw.value) for name, one in scores.items()}
    (board, _, plan, *_) = corrected.sheets(result)
    assert board.columns[1].tip == "The judge's rating: mean over items"
    assert board.pictures[0].title == "Rating, raw and corrected"
    # A tenth of 0 to 10.
    assert plan.notes[0].startswith("Labels needed to narrow each interval to a width of 1,")
    assert "rating" in corrected.credited()


@pytest.mark.usefixtures("small_cases")
def test_a_part_of_the_labels_corrects_the_whole_and_what_to_label_next_gives_enough(
    project: Project,
) -> None:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=6, test_share=0.0, seed=2))
    for alias in ("R2", "R3"):
        person_says(project, alias, truth)
    validation_sets.lock(project, "Spring")
    judge_says(project, "small", lenient)
    result = report(project, set_name="Spring", width=2.0)
    drawn = validation_sets.named(project, "Spring").responses()
    assert sum(result.labelled.values()) == 2 * len(drawn) == 12
    assert set(result.units.values()) == {12}
    # The same from the figures of the statistics themselves, item by item of weights 3/4 and 1/4.
    mine = {at: place for at, place in places(project).items() if at[1] == "Beta"}
    expected = corrected_mean(
        [float(truth(at) == "yes") if place[1] in drawn else None for at, place in mine.items()],
        [float(lenient(at) == "yes") for at in mine],
        [(0.75, 0.25)[at[2] - 1] for at in mine],
        [at[0] for at in mine],
    )
    beta = result.standings.scores["Beta"]
    assert beta.raw.value == pytest.approx(3 / 4)
    assert beta.corrected.value == pytest.approx(expected.corrected.value)
    wide = result.more["Beta"]
    assert (wide.plan.more, wide.responses) == (0, ())
    more = report(project, set_name="Spring", width=0.9 * (wide.plan.width_now or 0)).more["Beta"]
    assert more.plan.more
    assert {response.system for response in more.responses} == {"Beta"}
    assert not {response.response_id for response in more.responses} & drawn
    assert sum(response.units for response in more.responses) >= more.plan.more


def test_several_peoples_labels_are_averaged_and_without_labels_or_a_judge_nothing_is_corrected(
    project: Project,
) -> None:
    judge_says(project, "small", lambda _: "yes")
    expect_refusal("Nobody has submitted", report, project)
    person_says(project, "R2", lambda _: "yes")
    person_says(project, "R3", lambda _: "no")
    expect_refusal("", report, project, judge="other")
    result = report(project)
    assert {score.corrected.value for score in result.standings.scores.values()} == {0.5}
    assert any("mean of theirs" in note for note in result.notes)


@pytest.mark.usefixtures("small_cases")
def test_an_interval_of_a_share_ends_within_its_bounds(tmp_path: Path) -> None:
    project = validation_project(tmp_path, questions=2)
    person_says(project, "R2", lambda at: "yes" if at[0] == 1 else "no")
    judge_says(project, "small", truth)
    score = report(project).standings.scores["Alpha"].labelled
    # Coverage 1 and 0: a mean of 1/2 of variance 1/4, which is worth one unit; t of one degree of freedom is 12.7.
    half = 12.7062 / (1 + 12.7062**2) * sqrt(1 / 4 + 12.7062**2 / 4)
    assert (score.value, score.low, score.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half), abs=1e-6)


WISH = validation.ValidationQuery(against=("R2",))


@pytest.fixture
def differing(tmp_path: Path) -> Project:
    differing = validation_project(tmp_path)
    person_says(differing, "R2", ann)
    judge_says(differing, "small", nearly_ann)
    return differing


def waiting(differing: Project) -> list[Disagreement]:
    return disagreements.queue(differing, WISH)


def test_disagreements_come_heaviest_first_and_unclear_criteria_are_listed(
    differing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = waiting(differing)
    assert [(one.place.unit_id, one.judge_value, one.label_value) for one in result] == [
        ("i1c1", "no", "yes"), ("i1c2", "yes", "no"), ("i2c2", "yes", "no"),
    ]  # fmt: skip
    assert {(one.alias, one.judge.name, one.ruling) for one in result} == {("R2", "small", "")}
    (sheet,) = disagreements.sheets(disagreements.report(differing, WISH))
    assert sheet.lines[0].cells[0].words == "small"
    assert "can only raise agreement" in sheet.notes[0]
    disagreements.rule(differing, waiting(differing)[2], InformedRuling.UNCLEAR)
    (result,) = disagreements.unclear(differing)
    assert (result.item_key, result.unit_id, result.words, result.times) == (
        "2",
        "i2c2",
        "Criterion 2 of 2",
        1,
    )
    negative(monkeypatch, 3)
    assert [one.place.weight for one in waiting(differing)] == [-3, 1, 1]


def test_rulings_are_a_second_column_and_first_labels_stay(differing: Project) -> None:
    heavy, first, second = waiting(differing)
    before = validation.report(differing, WISH).of("small").result
    disagreements.rule(differing, heavy, InformedRuling.JUDGE_WRONG, reason=Fault.MISSED)
    disagreements.rule(differing, first, InformedRuling.PERSON_WRONG)
    disagreements.rule(differing, second, InformedRuling.UNCLEAR)
    (result,) = disagreements.report(differing, WISH)
    assert result.rulings == {"judge wrong": 1, "person wrong": 1, "criterion unclear": 1}
    assert (result.open, result.first) == (0, before)
    # First 13 of 16; then fifteen units, of which the judge has one wrong.
    assert result.first.plain["accuracy"].value == pytest.approx(13 / 16)
    assert result.ruled.plain["accuracy"].value == pytest.approx(14 / 15)
    assert result.ruled.confusion == {("yes", "yes"): 8, ("yes", "no"): 1, ("no", "no"): 6}
    assert validation.report(differing, WISH).of("small").result == before


def test_somebody_all_of_whose_labels_are_ruled_unclear_counts_for_nothing(tmp_path: Path) -> None:
    small = validation_project(tmp_path, 1, ("Alpha",))
    person_says(small, "R2", lambda at: "no")
    judge_says(small, "small", lambda at: "yes")
    for one in disagreements.queue(small, WISH):
        disagreements.rule(small, one, InformedRuling.UNCLEAR)
    (result,) = disagreements.report(small, WISH)
    assert (result.rulings, result.first.confusion) == ({"criterion unclear": 2}, {("no", "yes"): 2})
    assert result.ruled.confusion == {}
    nothing, asked = replace(validation.ground_of(small, WISH), truth={CONSENSUS: {}}).column(CONSENSUS)
    assert (nothing.tolist(), asked.tolist()) == ([None, None], [False, False])


def test_a_ruling_goes_behind_what_waits_and_is_given_anew_and_undone_by_coordinators(
    differing: Project,
) -> None:
    one = waiting(differing)[0]
    disagreements.rule(differing, one, InformedRuling.JUDGE_WRONG, reason=Fault.MISSED, note="Page 2.")
    result = waiting(differing)
    assert [one.ruling for one in result] == ["", "", "judge wrong"]
    assert (result[-1].reason, result[-1].note) == (Fault.MISSED.value, "Page 2.")
    assert disagreements.report(differing, WISH)[0].open == 2
    disagreements.rule(differing, one, InformedRuling.UNCLEAR)
    assert disagreements.report(differing, WISH)[0].rulings == {"criterion unclear": 1}
    history.undo(differing)
    assert disagreements.report(differing, WISH)[0].rulings == {"judge wrong": 1}
    differing.work_as(people.known(differing, "R2"))
    expect_refusal("Only a coordinator", disagreements.rule, differing, one, InformedRuling.UNCLEAR)
    expect_refusal("Only a coordinator", disagreements.queue, differing, WISH)


@pytest.mark.parametrize("value", ["judge_value", "label_value"])
def test_a_ruling_on_other_values_stands_for_nothing(differing: Project, value: str) -> None:
    disagreements.rule(differing, waiting(differing)[0], InformedRuling.PERSON_WRONG)
    with differing.store.write() as db:
        db.exec_driver_sql(f"UPDATE informed SET {value} = 'unknown'")
    assert [one.ruling for one in waiting(differing)] == ["", "", ""]
    assert disagreements.report(differing, WISH)[0].open == 3


def test_what_one_is_still_to_label_blind_is_not_shown(sample: Project) -> None:
    shown, withheld, _ = disagreements.outlook(sample, replace(WISH, against=()))
    assert {one.place.item_key for one in shown} == {"norm-placement"}
    # The coordinator has yet to submit the labels of the other item; Annotator B has.
    differing = sql.first(
        sample,
        "SELECT count(*) FROM judgement p JOIN judgement j USING (protocol, response_id, unit_id, trial) "
        "JOIN item i ON i.id = p.item_id JOIN person b ON b.id = p.rater_id WHERE i.key = 'early-warning' "
        "AND b.alias = 'Annotator B' AND j.rater_kind = 'judge' AND p.protocol = ? AND p.value != j.value",
        (WISH.protocol,),
    )[0]
    assert 0 < withheld == differing
    reading = validation_ground.reading(sample, WISH.protocol, shown[0].place)
    # What a criterion is tied to stands in a source, not in the report.
    assert (reading.context, reading.context_start) == ("", None)


def test_what_a_paper_publishes_of_agreement_is_a_footnote_and_no_table(tmp_path: Path) -> None:
    project = validation_project(tmp_path)
    person_says(project, "R2", ann)
    person_says(project, "R3", strict)
    judge_says(project, "good", ann)
    result = validation.report(project, ValidationQuery())
    # Both ways people agree on 24 of 32, each side saying yes to 12; of the judge's 16 yes, 12 are theirs.
    people = result.of("people").result.plain["kappa"]
    assert people.value == pytest.approx(7 / 15)
    # Both ways round, the two sides share their margins.
    assert "Scott's π" in people.method
    assert result.of("good").result.plain["kappa"].method.startswith("Cohen's κ")
    assert "κ of people is then Scott's π." in " ".join(result.notes)
    footnote = (
        "Published aim: Cohen's κ 0.67 of people with one another (§4.3.2); Accuracy 0.76, Precision 0.85, Recall "
        "0.76, F1 0.80 of o3-mini with people (Table 2)."
    )
    assert published(PROTOCOLS[USUAL]) == footnote
    for sheets in (validation.sheets(result), validation.brief(result)):
        assert sheets[0].notes[-1] == footnote
        assert not {"aims", "table_2"} & {sheet.key for sheet in sheets}


def test_an_aim_is_a_figure_that_is_shown() -> None:
    each = [one for protocol in PROTOCOLS.values() for one in protocol.aims]
    assert {one.figure for one in each} <= TITLES.keys()
    assert all(0 < one.value < 1 and one.place for one in each)
