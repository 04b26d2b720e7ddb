"""What a report's coverage is by hand, with weights of either sign, and between which bounds it lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.protocols.researcherbench.coverage import weighted


def test_coverage_is_the_covered_share_of_the_weight():
    # (3·1 + 2·0 + 1·1) / (3 + 2 + 1) = 4/6
    found = weighted([(3, "yes"), (2, "no"), (1, "yes")])
    assert found.value == found.floor == found.ceiling == 4 / 6
    assert (found.n, found.missing, found.note) == (3, 0, "")


def test_coverage_reaches_both_ends():
    assert weighted([(1, "no"), (3, "no")]).value == 0.0
    assert weighted([(1, "yes"), (3, "yes")]).value == 1.0


def test_a_missing_judgement_leaves_a_range_and_no_value():
    # Missing as no: 3/6; missing as yes: (3 + 2)/6.
    found = weighted([(3, "yes"), (2, None), (1, "no")])
    assert (found.value, found.floor, found.ceiling) == (None, 3 / 6, 5 / 6)
    assert (found.n, found.missing, found.complete) == (2, 1, False)
    assert "1 of 3" in found.note


def test_over_valid_the_missing_are_left_out_of_both_sums():
    # 3 / (3 + 1)
    found = weighted([(3, "yes"), (2, None), (1, "no")], over_valid=True)
    assert (found.value, found.floor, found.ceiling, found.missing) == (3 / 4, 3 / 6, 5 / 6, 1)
    assert "over the others only" in found.note


@pytest.mark.parametrize("over_valid", [False, True])
def test_with_nothing_judged_anything_is_possible(over_valid):
    found = weighted([(1, None), (2, None)], over_valid=over_valid)
    assert (found.value, found.floor, found.ceiling, found.n, found.missing) == (None, 0.0, 1.0, 0, 2)


def test_an_empty_rubric_has_no_score_but_a_reason():
    found = weighted([])
    assert (found.value, found.floor, found.ceiling) == (None, None, None)
    assert found.note == "the rubric has no criteria"


def test_weights_of_nothing_have_no_score_but_a_reason():
    found = weighted([(0, "yes"), (0, None)])
    assert (found.value, found.note, found.missing) == (None, "all weights are 0", 1)


def test_a_criterion_of_negative_weight_takes_away_from_what_can_be_reached():
    # (3·1 + 1·0 − 2·1) / (3 + 1); kept clear of, 3/4; with nothing else met below zero, and not cut there.
    assert weighted([(3, "yes"), (1, "no"), (-2, "yes")]).value == 1 / 4
    assert weighted([(3, "yes"), (1, "no"), (-2, "no")]).value == 3 / 4
    assert weighted([(3, "no"), (1, "no"), (-2, "yes")]).value == -2 / 4
    assert weighted([(1, "yes"), (-1, "yes")]).value == 0.0


def test_a_missing_judgement_of_negative_weight_can_only_take_away():
    # Missing as yes: (2 − 1)/2; missing as no: 2/2.
    found = weighted([(2, "yes"), (-1, None)], over_valid=True)
    assert (found.value, found.floor, found.ceiling, found.missing) == (1.0, 1 / 2, 1.0, 1)


@pytest.mark.parametrize("over_valid", [False, True])
def test_where_every_weight_takes_away_the_reason_is_said(over_valid):
    found = weighted([(-1, "yes"), (-2, None), (0, "no")], over_valid)
    assert (found.value, found.floor, found.ceiling) == (None, None, None)
    assert found.note == "no criterion has a weight above 0: there is nothing to reach"


def test_judged_alone_what_takes_away_has_no_score():
    found = weighted([(2, None), (-1, "yes")], over_valid=True)
    assert (found.value, found.floor, found.ceiling) == (None, -1 / 2, 1 / 2)


WEIGHTS = st.one_of(
    st.integers(-10, 10), st.floats(-10, 10, allow_subnormal=False).filter(lambda w: not 0 < abs(w) < 1e-6)
)


@given(st.lists(st.tuples(WEIGHTS, st.sampled_from(["yes", "no", None])), min_size=1, max_size=8), st.data())
def test_whatever_is_missing_turns_out_to_be_the_score_lies_between_its_bounds(pairs, data):
    found = weighted(pairs)
    filled = [(w, value or data.draw(st.sampled_from(["yes", "no"]))) for w, value in pairs]
    score = weighted(filled)
    assert (score.value is None) == (found.floor is None) == all(w <= 0 for w, _ in pairs)
    if score.value is not None:
        assert found.floor <= score.value <= found.ceiling <= 1
        assert score.floor == score.value == score.ceiling
    # Both ends are reached: by what takes away being met, and by what adds being met.
    for end, wanted in ((found.floor, -1), (found.ceiling, 1)):
        extreme = [(w, value or ("yes" if w * wanted > 0 else "no")) for w, value in pairs]
        assert weighted(extreme).value == end


@pytest.mark.parametrize("value", ["Yes", "unknown", ""])
def test_another_verdict_is_refused(value):
    with pytest.raises(ValueError, match="yes or no"):
        weighted([(1, value)])
