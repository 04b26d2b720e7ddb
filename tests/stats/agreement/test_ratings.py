"""Which questions make a benchmark."""

import pytest

from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.ratings import agreement, item_score, rater_score
from tests.projects.pairs_project import DIMENSIONS


def rated(question_type, *ratings):
    units = [
        DimensionRating(text=name, rating=rating)
        for name, rating in zip(DIMENSIONS[question_type], ratings, strict=False)
    ]
    return rater_score(Selection(units=tuple(units)), DIMENSIONS[question_type])


def whole(*scores):
    return [Estimate(score, n=3, floor=score, ceiling=score) for score in scores]


# One rater


def test_example_2_of_appendix_b5():
    # GQA and MQA, technical details: 2, 2, 3, 2 → 2.25
    assert rated("Technical Details", 2, 2, 3, 2).value == 2.25


def test_example_1_of_appendix_b5():
    # Transformer and Mamba, literature review: 4, 5, 3 → 4
    assert rated("Literature Review", 4, 5, 3).value == 4.0


def test_open_consulting_has_four_dimensions():
    # (5 + 5 + 4 + 4) / 4
    found = rated("Open Consulting", 5, 5, 4, 4)
    assert (found.value, found.n, found.missing) == (18 / 4, 4, 0)


@pytest.mark.parametrize("ratings", [(5, 4), (5, None, 4)])
def test_a_rating_that_is_missing_leaves_a_range(ratings):
    # 5 + 4 of three: with 1 (5 + 4 + 1) / 3, with 5 (5 + 4 + 5) / 3
    found = rated("Literature Review", *ratings)
    assert (found.value, found.floor, found.ceiling, found.missing) == (None, 10 / 3, 14 / 3, 1)


def test_nothing_rated_leaves_the_whole_scale():
    found = rated("Literature Review")
    assert (found.value, found.floor, found.ceiling, found.n) == (None, 1.0, 5.0, 0)


def test_another_type_is_rated_on_what_its_raters_filled_in():
    ratings = Selection(
        units=(DimensionRating(text="Own", rating=3), DimensionRating(text="Other", rating=4))
    )
    assert rater_score(ratings).value == 3.5
    assert rater_score(Selection()).note == "there are no dimensions to rate"


@pytest.mark.parametrize("names", [("Openness and depth",), ("Literature coverage",) * 2])
def test_a_dimension_that_is_foreign_or_rated_twice_is_refused(names):
    ratings = Selection(units=tuple(DimensionRating(text=name, rating=3) for name in names))
    with pytest.raises(ValueError, match="rated once"):
        rater_score(ratings, DIMENSIONS["Literature Review"])


# The item


def test_an_item_has_the_mean_of_its_raters():
    # (4.75 + 4.25) / 2 = 4.5, which is kept; (4.75 + 4) / 2 = 4.375 is not
    kept, dropped = item_score(whole(4.75, 4.25)), item_score(whole(4.75, 4.0))
    assert (kept.score.value, kept.kept) == (4.5, True)
    assert (dropped.score.value, dropped.kept) == (4.375, False)


def test_the_bar_can_be_set():
    assert item_score(whole(4.0, 4.0), bar=4.0).kept is True
    assert item_score(whole(5.0, 5.0), bar=5.0).kept is True


@pytest.mark.parametrize("scores", [(), (5.0,)])
def test_fewer_than_two_raters_keep_nothing(scores):
    found = item_score(whole(*scores))
    assert (found.score.value, found.kept) == (None, None)
    assert f"{len(scores)} of at least 2 raters" in found.score.note


def test_a_rater_who_is_not_done_leaves_it_open_where_it_matters():
    half = rated("Literature Review", 5, 5)
    # (5 + 1) .. : the second rater's score lies in [11/3, 5]; the mean in [13/3, 5].
    open_ = item_score([*whole(5.0), half])
    assert (open_.score.value, open_.kept) == (None, None)
    assert (open_.score.floor, open_.score.ceiling) == (pytest.approx(13 / 3), 5.0)
    assert item_score([*whole(3.0), half]).kept is False


def test_it_is_kept_when_nothing_missing_could_change_that():
    # 5 and at least (5 + 5 + 5 + 1) / 4 = 4: never below 4.5
    assert item_score([*whole(5.0), rated("Open Consulting", 5, 5, 5)]).kept is True


# Agreement


def test_agreement_is_pearsons_r_over_items():
    # a 2 3 4 5, b 1 4 3 4: Sxy = 4, Sxx = 5, Syy = 6; r = 4 / √30
    a, b = ({f"i{n}": s for n, s in enumerate(scores)} for scores in ((2, 3, 4, 5), (1, 4, 3, 4)))
    found = agreement({"A": a, "B": b})
    assert list(found) == [("A", "B")]
    assert found["A", "B"].value == pytest.approx(4 / 30**0.5)


def test_only_items_that_both_rated_count():
    found = agreement({"A": {"x": 1, "y": 2, "z": 3}, "B": {"y": 4, "z": 5, "w": 1}})["A", "B"]
    assert (found.value, found.n) == (None, 2)


def test_raters_without_a_common_item_or_with_one_score_have_none():
    assert agreement({"A": {"x": 1}, "B": {"y": 1}})["A", "B"].value is None
    same = {"x": 4, "y": 4, "z": 4}
    assert "same" in agreement({"A": same, "B": {"x": 1, "y": 2, "z": 3}})["A", "B"].note
    assert agreement({"A": same}) == {}


def test_of_three_raters_each_two_are_compared():
    scores = {"x": 1, "y": 2, "z": 3}
    assert list(agreement({"C": scores, "A": scores, "B": scores})) == [("A", "B"), ("A", "C"), ("B", "C")]
