"""Judges held against people, by hand; the views of it, and what lies behind its figures.

The corrected leaderboard, rulings on disagreements and published aims.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, result_sheets, results, results_behind
from annotator.actions.sets import reviews, validation_figures, validation_ground, validation_sets
from annotator.actions.studies import result_views
from annotator.actions.undo import history
from annotator.actions.validation import corrected, disagreements, validation
from annotator.actions.validation.validation_views import VIEWS
from annotator.domain.judges.judge import Fault, InformedRuling, Review
from annotator.domain.judges.protocol import Metric, RatedResponse, numbers
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, USUAL
from tests.actions.validation.test_judge_choice import missing_two, price
from tests.common import expect_refusal, fixture_of, once
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
from tests.storage import sql

PROJECT = validation_project


@fixture_of
@once
def labelled(folder: Path) -> Project:
    labelled = validation_project(folder)
    person_says(labelled, "R2", ann)
    person_says(labelled, "R3", missing_two)
    judge_says(labelled, "small", nearly_ann)
    return labelled


def report(project: Project, **more: object) -> validation.Validation:
    return validation.report(project, replace(validation.ValidationQuery(), **more))


def test_a_judge_against_people_by_hand(labelled: Project) -> None:
    line = report(labelled, against=("R2",)).of("small")
    # TP 7, FN 1, FP 2, TN 6. Weights: of Alpha's 16, 3 are missed; of Beta's 16, 2 are called covered.
    assert line.result.confusion == {("yes", "yes"): 7, ("yes", "no"): 1, ("no", "yes"): 2, ("no", "no"): 6}
    assert line.result.confusion_weighted == {
        ("yes", "yes"): 13, ("yes", "no"): 3, ("no", "yes"): 2, ("no", "no"): 14,
    }  # fmt: skip
    # What these make of figures, the statistics are tested for.
    assert line.result.plain["kappa"].value == pytest.approx((13 / 16 - 1 / 2) * 2)
    assert line.result.weighted["accuracy"].value == pytest.approx(27 / 32)


def test_by_weight_the_sign_of_a_weight_is_left_out(
    labelled: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    result = report(labelled, against=("R2",))
    assert result.of("small").result.confusion_weighted == {
        ("yes", "yes"): 13, ("yes", "no"): 3, ("no", "yes"): 2, ("no", "no"): 14,
    }  # fmt: skip
    assert result.of("small").result.weighted["accuracy"].value == pytest.approx(27 / 32)
    assert any("whose weight is negative" in note for note in result.notes)


def test_against_several_people_each_label_is_true_and_people_stand_beside_the_judge(
    labelled: Project,
) -> None:
    result = report(labelled)
    line = result.of("small")
    # 16 labels each. Ben differs from Ann on two units, on which the judge says yes: two more FP, two TP fewer.
    assert line.result.confusion == {("yes", "yes"): 12, ("yes", "no"): 2, ("no", "yes"): 6, ("no", "no"): 12}
    assert (line.units, line.missing) == (16, {})
    # Ann is right of Ben on 14 of 16, and he of her: both ways round, precision and recall are 12 / 14.
    among = result.of("people").result.plain
    assert [among[name].value for name in ("accuracy", "precision", "recall")] == [
        pytest.approx(14 / 16), pytest.approx(12 / 14), pytest.approx(12 / 14),
    ]  # fmt: skip
    # Ben against Ann alone: 6 of her 8 found, nothing wrongly.
    one = report(labelled, against=("R2",))
    ben = one.of("R3").result.plain
    assert (ben["recall"].value, ben["precision"].value) == (pytest.approx(6 / 8), 1.0)
    assert [line.rater.name for line in one.lines] == ["small", "people", "R3"]


def test_only_submitted_labels_count_and_unsure_people_are_left_out(project: Project) -> None:
    person_says(project, "R2", lambda at: "unsure" if at[0] == 1 else ann(at), submit=False)
    judge_says(project, "small", ann)
    expect_refusal("Nobody has submitted", report, project)
    person_says(project, "R2", lambda at: "unsure" if at[0] == 1 else ann(at))
    line = report(project).of("small")
    assert (line.units, line.result.plain["accuracy"].n, line.missing) == (12, 12, {})
    project.work_as(people.known(project, "R2"))
    expect_refusal("Only a coordinator", report, project)


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("type", {"Literature Review": 4, "Open Consulting": 4, "Technical Details": 8}),
        ("weight", {"weight 3": 8, "weight 1": 8}),
        ("system", {"Alpha": 8, "Beta": 8}),
        # Lengths 100, 110, 200, 210, 300, 310, 400, 410: two reports to a quarter.
        ("length", {f"length quartile {n}": 4 for n in (1, 2, 3, 4)}),
        ("criterion", {f"item {i}: Criterion {n} of {i}": 2 for i in (1, 2, 3, 4) for n in (1, 2)}),
    ],
)
def test_figures_are_told_apart(labelled: Project, by: str, groups: dict[str, int]) -> None:
    result = report(labelled, by=by, against=("R2",))
    assert {line.group: line.units for line in result.lines if line.rater.is_judge} == groups
    right = sum(
        (line.result.plain["accuracy"].value or 0) * line.units
        for line in result.lines
        if line.rater.is_judge
    )
    assert right == pytest.approx(13)


def test_groups_hold_each_unit_once(labelled: Project) -> None:
    ground = validation.ground_of(labelled, validation.ValidationQuery(by="criterion", against=("R2",)))
    held = [len(units) for units in validation.groups(ground, "criterion").values()]
    assert (len(held), sum(held)) == (8, 16)
    alike = {key: place._replace(words="Names gold") for key, place in ground.places.items()}
    result = validation.groups(replace(ground, places=alike), "criterion")
    assert {name: len(units) for name, units in result.items()} == {
        f"item {item}: Names gold{again}": 2 for item in (1, 2, 3, 4) for again in ("", " (2)")
    }


@pytest.mark.usefixtures("small_cases")
def test_two_judges_are_told_to_differ_or_not(tmp_path: Path) -> None:
    project = validation_project(tmp_path, questions=8)
    person_says(project, "R2", ann)
    for name, says in (
        ("good", ann),
        ("as good", ann),
        ("bad", lambda at: "no" if ann(at) == "yes" else "yes"),
    ):
        judge_says(project, name, says)
    gaps = {
        contrast.first.name: contrast.gap
        for contrast in report(project).contrasts
        if contrast.second.name == "good"
    }
    # Of eight items, none of which differs, nothing follows.
    assert gaps["as good"].verdict("accuracy").startswith("nothing can be said: ")
    assert gaps["bad"].verdict("accuracy") == "the second is better"


def drawn(project: Project) -> str:
    validation_sets.make(
        project,
        validation_sets.SetRequest("Spring", (person(project, "R2").id, person(project, "R3").id), size=8),
    )
    person_says(project, "R2", ann)
    person_says(project, "R3", missing_two)
    judge_says(project, "small", nearly_ann)
    return "Spring"


def test_a_set_shows_no_judge_before_its_labels_are_locked_and_its_test_part_by_a_counted_look_alone(
    project: Project,
) -> None:
    name = drawn(project)
    expect_refusal("until then no judge is shown", report, project, set_name=name)
    expect_refusal("Nobody has submitted", report, project)
    validation_sets.lock(project, name)
    assert report(project, set_name=name).of("small").units == 8
    for part in ("test", "whole"):
        expect_refusal("each view is counted", report, project, set_name=name, part=part)
    opening = validation_sets.open_test(project, name, ["small"]).id
    dev, test, whole = (
        report(project, set_name=name, part=part, opening=opening) for part in ("dev", "test", "whole")
    )
    assert dev.of("small").units + test.of("small").units == whole.of("small").units == 16
    assert "1 time" in " ".join(test.viewed)
    # Without a set nothing is shown that sets hold back.
    assert report(project).of("small").result.confusion == dev.of("small").result.confusion


@fixture_of
@once
def judged_twice(folder: Path) -> Project:
    """Sixteen units, half of them covered by R2's word; “small” says yes to all, and nothing of (4, Beta, 2)."""
    judged_twice = validation_project(folder)
    person_says(judged_twice, "R2", ann)
    judge_says(judged_twice, "small", lambda at: "-" if at == (4, "Beta", 2) else "yes")
    judge_says(judged_twice, "good", ann)
    return judged_twice


def table(judged_twice: Project, title: str, **chosen: str) -> result_sheets.ResultSheet:
    return next(
        sheet
        for sheet in result_views.show(judged_twice, "judges", chosen, among=VIEWS).sheets
        if sheet.title == title
    )


def behind(
    judged_twice: Project, sheet: result_sheets.ResultSheet, head: str, *says: str
) -> result_sheets.ResultSheet:
    place = [column.title for column in sheet.columns].index(head)
    for line in sheet.lines:
        if set(says) <= {cell.words for cell in line.cells}:
            return validation.units(judged_twice, line.cells[place].source or line.source)
    raise AssertionError(says)


def test_cells_gaps_and_groups_lead_to_their_units(judged_twice: Project) -> None:
    sheet = table(judged_twice, "Confusion")
    place = [column.title for column in sheet.columns].index("True value")
    line = next(
        one for one in sheet.lines
        if one.cells[0].words == "small" and (one.cells[place].words, one.cells[place + 1].words) == ("no", "yes")
    )  # fmt: skip
    units = validation.units(judged_twice, line.cells[0].source)
    # Of Beta's eight units one has no judgement.
    assert len(units.lines) == 7 == line.cells[place + 2].value
    assert {one.cells[1].words for one in units.lines} == {"Beta"}
    assert {one.cells[6].state for one in units.lines} == {"disagree"}
    empty = [line for line in table(judged_twice, "Confusion").lines if line.cells[4].words == "0"]
    assert {line.cells[4].source for line in empty} == {None}
    result = behind(judged_twice, table(judged_twice, "Missing by cause"), "Units", "small")
    assert [line.cells[2].words for line in result.lines] == ["Criterion 2 of 4"]
    assert result.lines[0].cells[6].tip == "invalid"
    result = behind(judged_twice, table(judged_twice, "Two judges"), "Only first right", "good", "small")
    assert (len(result.lines), result.columns[-1].title) == (7, "small")
    result = behind(
        judged_twice, table(judged_twice, "Judges beside people", by="system"), "Accuracy", "small", "Beta"
    )
    assert {line.cells[1].words for line in result.lines} == {"Beta"}
    result = behind(judged_twice, table(judged_twice, "Judges beside people"), "Accuracy", "small")
    assert sorted(
        judgement.rater for judgement in results_behind.of_source(judged_twice, result.lines[0].source)
    ) == ["R2", "good", "small"]


def test_a_figure_leads_to_the_units_that_it_is_counted_over(judged_twice: Project) -> None:
    shown = table(judged_twice, "Judges beside people")
    for figure, units in (("Accuracy", 15), ("Precision", 15), ("Recall", 8), ("Specificity", 7)):
        assert len(behind(judged_twice, shown, figure, "small").lines) == units, figure


def test_units_behind_figures_are_read_by_coordinators(judged_twice: Project) -> None:
    held = validation.HeldRater(USUAL, "x", rater="x")
    expect_refusal("no longer among those compared", validation.units, judged_twice, held)
    judged_twice.work_as(person(judged_twice, "R2"))
    expect_refusal("Only a coordinator", validation.units, judged_twice, held)


def test_what_one_is_still_to_label_blind_is_only_counted(sample: Project) -> None:
    units = behind(sample, table(sample, "Judges beside people"), "Accuracy", "baseline")
    # The coordinator has labels of the second item still to submit.
    assert {line.cells[0].words for line in units.lines} == {"norm-placement"}
    every = sum(report(sample).of("baseline").result.confusion.values())
    more = f"{every - len(units.lines):,.0f} more are on items that you still have to label blind."
    assert more in units.notes


@fixture_of
@once
def ruled(folder: Path) -> Project:
    """A locked set of half of the reports, two people, two judges, a review and a ruling."""
    ruled = validation_project(folder)
    validation_sets.make(
        ruled, validation_sets.SetRequest("Spring", (person(ruled, "R2").id, person(ruled, "R3").id), size=4)
    )
    for alias in ("R2", "R3"):
        person_says(ruled, alias, ann)
    judge_says(ruled, "large", ann)
    judge_says(ruled, "small", lambda at: "yes" if at[2] == 1 else ann(at))
    price(ruled, "small", 0.01)
    validation_sets.lock(ruled, "Spring")
    _, response, unit = places(ruled)[1, "Alpha", 1]
    reviews.review(ruled, "small", response, unit, Review.AGREE)
    for one in disagreements.queue(ruled, validation.ValidationQuery())[:1]:
        disagreements.rule(ruled, one, InformedRuling.JUDGE_WRONG)
    return ruled


# Of runs that were asked again nothing is shown before there is one: `actions/judging/test_card_checks` has some.
def test_every_view_shows_something_by_its_first_choices(ruled: Project) -> None:
    for name in (view.name for view in VIEWS if view.name != "again"):
        shown = result_views.show(ruled, name, {}, among=VIEWS)
        assert shown.sheets, name
        assert all(len(line.cells) == len(sheet.columns) for sheet in shown.sheets for line in sheet.lines)
        assert all(choice.values for choice in shown.choices)
        for sheet in shown.sheets:
            assert {cell.picture for line in sheet.lines for cell in line.cells if cell.picture} <= {
                picture.name for picture in sheet.pictures
            }


def test_sets_their_parts_and_whom_to_hold_against_can_be_chosen(ruled: Project) -> None:
    ann_id = person(ruled, "R2").id
    choices = {choice.name: choice.values for choice in VIEWS[0].choices(ruled)}
    assert ("Spring", "Spring") in choices["set"]
    assert ("R2", ann_id) in choices["against"]
    shown = result_views.show(
        ruled, "judges", {"set": "Spring", "against": ann_id, "by": "system"}, among=VIEWS
    )
    assert (shown.count.query.set_name, shown.count.against) == ("Spring", "R2")
    assert {line.group for line in shown.count.lines} <= {"Alpha", "Beta"}
    assert ("part" in offered(ruled), "part" in offered(ruled, set="Spring")) == (False, True)
    assert "part" not in result_views.show(ruled, "judges", {"set": "", "part": "test"}, among=VIEWS).chosen
    validation_sets.make(
        ruled, validation_sets.SetRequest("Autumn", (person(ruled, "R2").id, person(ruled, "R3").id), size=2)
    )
    choices = {choice.name: choice.values for choice in VIEWS[0].choices(ruled)}
    assert [value for _, value in choices["set"]] == ["", "Spring"]


def offered(ruled: Project, **chosen: str) -> list[str]:
    choices, _ = result_views.offered(ruled, "judges", chosen, VIEWS)
    return [choice.name for choice in choices]


six_questions = fixture_of(validation_project, questions=6)


def truth(at: At) -> str:
    """Of Alpha all but the light criterion of even items; of Beta the heavy one of items 1 to 3."""
    item, system, n = at
    if system == "Alpha":
        return "no" if n == 2 and item % 2 == 0 else "yes"
    return "yes" if n == 1 and item < 4 else "no"


def lenient(at: At) -> str:
    """Right of Alpha; of Beta it says yes to every heavy criterion."""
    return "yes" if at[1] == "Beta" and at[2] == 1 else truth(at)


@fixture_of
@once
def leniently_judged(folder: Path) -> Project:
    judged = validation_project(folder, questions=6)
    person_says(judged, "R2", truth)
    judge_says(judged, "small", lenient)
    return judged


def corrected_report(six_questions: Project, **more: object) -> corrected.CorrectedLeaderboard:
    return corrected.report(six_questions, replace(corrected.CorrectionQuery(), **more))


def shown_in_results(project: Project, metric: str = "coverage") -> dict[str, float | None]:
    return {
        row.system: row.estimate.value
        for row in results.rows(project, protocol=COVERAGE)
        if (row.metric, row.group) == (metric, "all")
    }


def test_raw_scores_are_those_of_the_results(leniently_judged: Project) -> None:
    result = corrected_report(leniently_judged)
    # Alpha: three items at 1 and three at 3/4; Beta: 3/4 throughout by the judge, and nothing of items 4 to 6.
    scores = {name: (one.raw.value, one.corrected.value) for name, one in result.standings.scores.items()}
    assert scores == {
        "Alpha": (pytest.approx(21 / 24), pytest.approx(21 / 24)),
        "Beta": (pytest.approx(3 / 4), pytest.approx(3 / 8)),
    }
    assert shown_in_results(leniently_judged) == {
        name: pytest.approx(raw) for name, (raw, _) in scores.items()
    }
    (pair,) = result.standings.pairs
    assert (pair.first, pair.second, pair.difference.value) == (
        "Alpha",
        "Beta",
        pytest.approx(21 / 24 - 3 / 8),
    )
    # Beta has at most 3/4 in any resample, and Alpha at least.
    assert pair.flip.value < 0.05
    assert corrected.in_order(result) == ["Alpha", "Beta"]
    expect_refusal(
        "“Win rate” is not made of single verdicts", corrected_report, leniently_judged, metric="win_rate"
    )
    assert [info.name for info in corrected.offered(leniently_judged)] == ["coverage"]


def test_where_less_is_better_the_lowest_stands_first(
    leniently_judged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (metric,) = (one for one in PROTOCOLS[COVERAGE].metrics if one.name == "coverage")
    monkeypatch.setitem(
        PROTOCOLS, COVERAGE, replace(PROTOCOLS[COVERAGE], metrics=(replace(metric, higher_is_better=False),))
    )
    result = corrected_report(leniently_judged)
    assert corrected.in_order(result) == ["Beta", "Alpha"]
    assert (result.standings.ranks["Beta"].value, result.standings.pairs[0].first) == (1, "Beta")


def test_criteria_of_negative_weight_take_away_as_in_the_results(
    leniently_judged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    result = corrected_report(leniently_judged)
    scores = result.standings.scores
    # Of all that can be reached, 3: Alpha has (3 − 1)/3 of odd items and 3/3 of even ones, Beta 3/3 by the judge.
    assert (scores["Alpha"].raw.value, scores["Beta"].raw.value) == pytest.approx((5 / 6, 1.0))
    assert scores["Beta"].corrected.value == pytest.approx(1 / 2)
    raw = {name: pytest.approx(score.raw.value) for name, score in scores.items()}
    assert shown_in_results(leniently_judged) == raw
    assert any("takes away where it is met" in note for note in result.notes)


def test_a_report_with_nothing_to_reach_is_left_out_and_told(
    six_questions: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    person_says(six_questions, "R2", truth)
    judge_says(
        six_questions, "small", lambda at: "-" if at[:2] == (1, "Alpha") and at[2] == 1 else lenient(at)
    )
    result = corrected_report(six_questions)
    # Of items 2 to 6, three even ones at 1 and two odd ones at (3 − 1)/3.
    assert result.standings.scores["Alpha"].raw.value == pytest.approx((3 + 2 * 2 / 3) / 5)
    assert any("1 report has no judged criterion of a weight above 0" in note for note in result.notes)


def test_an_item_whose_gold_makes_no_score_is_left_out_and_told(
    leniently_judged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = "The shares sum to 0.80 and not to 1."
    monkeypatch.setattr(Rubric, "fault", lambda own: fault if own.units[0].id == "i1c1" else "")
    (coverage,) = PROTOCOLS[COVERAGE].metrics

    def score(scored: RatedResponse, over_valid: bool) -> Estimate:
        faulty = scored.material.documents[Kind.RUBRIC].fault()
        return Estimate(None, note=faulty) if faulty else coverage.score(scored, over_valid)

    monkeypatch.setitem(
        PROTOCOLS, COVERAGE, replace(PROTOCOLS[COVERAGE], metrics=(replace(coverage, score=score),))
    )
    result = corrected_report(leniently_judged)
    # Of items 2 to 6, three even ones at 3/4 and two odd ones at 1; people's Beta covers 3/4 of items 2 and 3.
    assert result.standings.scores["Alpha"].raw.value == pytest.approx((3 * 3 / 4 + 2) / 5)
    assert result.standings.scores["Beta"].corrected.value == pytest.approx(2 * 3 / 4 / 5)
    assert (result.units["Alpha"], result.labelled["Alpha"]) == (10, 10)
    assert f"Item 1 is left out, as in the results: {fault}" in result.notes


def test_scores_below_zero_keep_their_intervals_and_are_drawn(
    six_questions: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    person_says(six_questions, "R2", lambda at: "yes" if at[2] == 2 or at[0] < 3 else "no")
    judge_says(six_questions, "small", lambda at: "yes" if at[2] == 2 else "no")
    result = corrected_report(six_questions)
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
    six_questions: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rating = Metric("rating", "Rating", "x", mean_rating, unit="of 10", within=(0, 10), credit=float)
    worse = replace(rating, name="faults", higher_is_better=False)
    monkeypatch.setitem(
        PROTOCOLS, COVERAGE, replace(PROTOCOLS[COVERAGE], scale=numbers(0, 10), metrics=(rating, worse))
    )
    people_say = {("Alpha", 1): "10", ("Alpha", 2): "6", ("Beta", 1): "4", ("Beta", 2): "0"}
    person_says(six_questions, "R2", lambda at: people_say[at[1:]])
    # Two below people of Alpha, two above them of Beta.
    off = {"Alpha": -2, "Beta": 2}
    judge_says(six_questions, "small", lambda at: str(int(people_say[at[1:]]) + off[at[1]]))
    result = corrected_report(six_questions, metric="rating")
    scores = {name: (one.raw.value, one.corrected.value) for name, one in result.standings.scores.items()}
    # Of weights 3 and 1: (3 · 8 + 4)/4 and (3 · 6 + 2)/4 by the judge, (3 · 10 + 6)/4 and (3 · 4 + 0)/4 by people.
    assert scores == {
        "Alpha": (pytest.approx(7), pytest.approx(9)), "Beta": (pytest.approx(5), pytest.approx(3)),
    }  # fmt: skip
    assert shown_in_results(six_questions, "rating") == {
        name: pytest.approx(raw) for name, (raw, _) in scores.items()
    }
    # A tenth of 0 to 10.
    assert "to a width of 1," in corrected.sheets(result)[2].notes[0]
    assert "rating" in corrected.credited()


@pytest.mark.usefixtures("small_cases")
def test_a_part_of_the_labels_corrects_the_whole_and_what_to_label_next_gives_enough(
    six_questions: Project,
) -> None:
    validation_sets.make(
        six_questions,
        validation_sets.SetRequest(
            "Spring",
            (person(six_questions, "R2").id, person(six_questions, "R3").id),
            size=6,
            test_share=0.0,
            seed=2,
        ),
    )
    for alias in ("R2", "R3"):
        person_says(six_questions, alias, truth)
    validation_sets.lock(six_questions, "Spring")
    judge_says(six_questions, "small", lenient)
    result = corrected_report(six_questions, set_name="Spring", width=2.0)
    drawn = validation_sets.named(six_questions, "Spring").responses()
    assert sum(result.labelled.values()) == 2 * len(drawn) == 12
    assert set(result.units.values()) == {12}
    assert result.standings.scores["Beta"].raw.value == pytest.approx(3 / 4)
    wide = result.more["Beta"]
    assert (wide.plan.more, wide.responses) == (0, ())
    more = corrected_report(six_questions, set_name="Spring", width=0.9 * (wide.plan.width_now or 0)).more[
        "Beta"
    ]
    assert more.plan.more
    assert {response.system for response in more.responses} == {"Beta"}
    assert not {response.response_id for response in more.responses} & drawn
    assert sum(response.units for response in more.responses) >= more.plan.more


def test_several_peoples_labels_are_averaged_and_without_labels_or_a_judge_nothing_is_corrected(
    six_questions: Project,
) -> None:
    judge_says(six_questions, "small", lambda _: "yes")
    expect_refusal("Nobody has submitted", corrected_report, six_questions)
    for alias, value in (("R2", "yes"), ("R3", "no")):
        person_says(six_questions, alias, lambda _, value=value: value)
    expect_refusal("", corrected_report, six_questions, judge="other")
    result = corrected_report(six_questions)
    assert {score.corrected.value for score in result.standings.scores.values()} == {0.5}
    assert any("mean of theirs" in note for note in result.notes)


WISH = validation.ValidationQuery(against=("R2",))


@fixture_of
@once
def differing(folder: Path) -> Project:
    differing = validation_project(folder)
    person_says(differing, "R2", ann)
    judge_says(differing, "small", nearly_ann)
    return differing


def waiting(differing: Project) -> reviews.CaseList:
    return disagreements.queue(differing, WISH)


def test_disagreements_come_heaviest_first_and_unclear_criteria_are_listed(
    differing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = waiting(differing)
    assert [(one.place.unit_id, one.judge_value, one.label_value) for one in result] == [
        ("i1c1", "no", "yes"), ("i1c2", "yes", "no"), ("i2c2", "yes", "no"),
    ]  # fmt: skip
    assert {(one.alias, one.judge, one.ruling) for one in result} == {("R2", "small", "")}
    (sheet,) = disagreements.sheets(disagreements.report(differing, WISH))
    assert (sheet.lines[0].cells[0].words, "can only raise agreement" in sheet.notes[0]) == ("small", True)
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
    before = validation.report(differing, WISH).of("small").result
    rulings = (InformedRuling.JUDGE_WRONG, InformedRuling.PERSON_WRONG, InformedRuling.UNCLEAR)
    for one, said in zip(waiting(differing), rulings, strict=True):
        disagreements.rule(differing, one, said)
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
    nothing, asked = replace(validation.ground_of(small, WISH), truth={result_raters.CONSENSUS: {}}).column(
        result_raters.CONSENSUS
    )
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
    sql.alter(differing, f"UPDATE informed SET {value} = 'unknown'")
    assert [one.ruling for one in waiting(differing)] == ["", "", ""]
    assert disagreements.report(differing, WISH)[0].open == 3


def test_what_one_is_still_to_label_blind_is_not_shown(sample: Project) -> None:
    outlook = disagreements.outlook(sample, replace(WISH, against=()))
    shown = outlook.lines
    assert {one.place.item_key for one in shown} == {"norm-placement"}
    # The coordinator has yet to submit the labels of the other item; Annotator B has.
    differing = sql.first(
        sample,
        "SELECT count(*) FROM judgement p JOIN judgement j USING (protocol, response_id, unit_id, trial) "
        "JOIN item i ON i.id = p.item_id JOIN person b ON b.id = p.rater_id WHERE i.key = 'early-warning' "
        "AND b.alias = 'Annotator B' AND j.rater_kind = 'judge' AND p.protocol = ? AND p.value != j.value",
        (WISH.protocol,),
    )[0]
    assert 0 < outlook.held_back == differing
    reading = validation_ground.reading(sample, WISH.protocol, shown[0].place)
    # What a criterion is tied to stands in a source, not in the report.
    assert (reading.context, reading.context_start) == ("", None)


def test_what_a_paper_publishes_of_agreement_is_a_footnote_and_no_table(tmp_path: Path) -> None:
    six_questions = validation_project(tmp_path)
    person_says(six_questions, "R2", ann)
    person_says(six_questions, "R3", strict)
    judge_says(six_questions, "good", ann)
    result = report(six_questions)
    # Both ways people agree on 24 of 32, each side saying yes to 12; of the judge's 16 yes, 12 are theirs.
    among = result.of("people").result.plain["kappa"]
    # Both ways round, the two sides share their margins.
    assert (among.value, "Scott's π" in among.method) == (pytest.approx(7 / 15), True)
    assert result.of("good").result.plain["kappa"].method.startswith("Cohen's κ")
    assert "κ of people is then Scott's π." in " ".join(result.notes)
    assert validation_figures.published(PROTOCOLS[USUAL]) == (
        "Published aim: Cohen's κ 0.67 of people with one another (§4.3.2); Accuracy 0.76, Precision 0.85, Recall "
        "0.76, F1 0.80 of o3-mini with people (Table 2)."
    )
    for sheets in (validation.sheets(result), validation.brief(result)):
        assert sheets[0].notes[-1] == validation_figures.published(PROTOCOLS[USUAL])
        assert not {"aims", "table_2"} & {sheet.key for sheet in sheets}


def test_an_aim_is_a_figure_that_is_shown() -> None:
    each = [one for protocol in PROTOCOLS.values() for one in protocol.aims]
    assert {one.figure for one in each} <= validation_figures.TITLES.keys()
    assert all(0 < one.value < 1 and one.place for one in each)
