"""What many tests cost."""

import pytest

from annotator.stats.intervals.multiplicity import benjamini_yekutieli, holm


def test_holm_by_hand():
    # In order .005 · 4, .01 · 3, .03 · 2, .04 · 1, none below the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_and_yekutieli_by_hand():
    # 4 · (1 + 1/2 + 1/3 + 1/4) = 25/3, over the place: .005, .01 / 2, .03 / 3, .04 / 4; none above the one after it.
    expected = [0.005 * 25 / 3, 0.01 * 25 / 3, 0.01 * 25 / 3, 0.005 * 25 / 3]
    assert benjamini_yekutieli([0.01, 0.04, 0.03, 0.005]) == pytest.approx(expected)


@pytest.mark.parametrize("adjust", [holm, benjamini_yekutieli])
def test_what_was_not_tested_neither_counts_nor_changes(adjust):
    assert adjust([None, 0.2, None]) == [None, 0.2, None]
    assert adjust([]) == []


@pytest.mark.parametrize("adjust", [holm, benjamini_yekutieli])
def test_no_p_exceeds_1(adjust):
    assert max(adjust([0.9, 0.8, 0.7])) == 1


@pytest.mark.parametrize("adjust", [holm, benjamini_yekutieli])
@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(adjust, p):
    with pytest.raises(ValueError, match="probability"):
        adjust([p])
