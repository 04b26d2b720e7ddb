"""What one side gains over another on the same items."""

import pytest

from annotator.domain.material.response import END_TO_END, MODES, Response
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import paired_means


def known(**values):
    return {item: Estimate(value, n=1, floor=value, ceiling=value) for item, value in values.items()}


def test_a_response_is_end_to_end_unless_it_says_otherwise():
    assert Response.model_fields["mode"].default == END_TO_END
    assert MODES == ("end-to-end", "isolated", "gold-plan injection")


@pytest.mark.usefixtures("small_cases")
def test_modes_are_compared_item_by_item():
    # Differences .1, .2, .3: mean .2, s = .1, margin 4.3027 · .1/√3 = .24841.
    found = paired_means(known(a=0.5, b=0.4, c=0.3), known(a=0.6, b=0.6, c=0.6))
    assert {item: one.value for item, one in found.differences.items()} == pytest.approx(
        {"a": 0.1, "b": 0.2, "c": 0.3}
    )
    assert (found.mean.value, found.mean.low, found.mean.high) == pytest.approx(
        (0.2, -0.04841, 0.44841), abs=1e-5
    )
    assert found.mean.n == 3


def test_section_5_5_gains_twelve_points():
    # OpenAI's reasoning accuracy: 58.65 end to end, 70.93 with gold plans (Table 3): 12.28.
    found = paired_means(known(a=0.5765, b=0.5965), known(a=0.6993, b=0.7193))
    assert found.mean.value == pytest.approx(0.7093 - 0.5865)


def test_items_of_one_mode_only_are_named_and_not_compared():
    found = paired_means(known(a=0.5, b=0.5), known(b=1.0, c=1.0))
    assert (list(found.differences), found.only_one, found.only_other) == (["b"], ("a",), ("c",))
    assert found.mean.value == 0.5


def test_what_is_missing_in_either_widens_the_range():
    # [.2, .6] against 1: the gain is .4 … .8.
    found = paired_means({"a": Estimate(None, missing=2, floor=0.2, ceiling=0.6)}, known(a=1.0))
    assert (found.mean.value, found.mean.missing) == (None, 2)
    assert (found.mean.floor, found.mean.ceiling) == pytest.approx((0.4, 0.8))


def test_undefined_scores_have_no_difference():
    one = paired_means({"a": Estimate(None)}, known(a=1.0)).differences["a"]
    assert (one.value, one.floor, one.ceiling, one.note) == (
        None,
        None,
        None,
        "one of the two has no defined score",
    )


def test_no_common_item_has_no_mean():
    assert paired_means(known(a=1.0), known(b=1.0)).mean.value is None
