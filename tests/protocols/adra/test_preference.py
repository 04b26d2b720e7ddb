"""What ADRA says of trust in its scores."""

import pytest

from annotator.protocols.adra.preference import Pair, agreement, better


@pytest.mark.usefixtures("small_cases")
def test_the_better_score_is_the_preferred_report_or_not():
    # Three agree, one does not: 3/4.
    pairs = [
        Pair(0.5, 0.4, "first"),
        Pair(0.1, 0.4, "second"),
        Pair(0.9, 0.2, "first"),
        Pair(0.9, 0.2, "second"),
    ]
    found = agreement(pairs)
    assert (found.share.value, found.share.n, found.agreed, found.disagreed) == (3 / 4, 4, 3, 1)
    assert found.share.low < 3 / 4 < found.share.high


def test_ties_are_counted_apart():
    pairs = [
        Pair(0.5, 0.4, "first"),
        Pair(0.5, 0.5, "first"),
        Pair(0.5, 0.4, "tie"),
        Pair(0.5, 0.5, "tie"),
    ]
    found = agreement(pairs)
    assert (found.share.value, found.share.n) == (1, 1)
    assert (found.tied_scores, found.tied_preferences, found.tied_both, found.left_out) == (1, 1, 1, 0)


def test_what_is_not_known_is_left_out_and_counted():
    found = agreement([Pair(None, 0.4, "second"), Pair(0.5, None, "tie"), Pair(0.5, 0.4, None)])
    assert (found.share.value, found.share.n, found.left_out) == (None, 0, 3)


def test_no_pairs_say_nothing():
    assert (agreement([]).share.value, agreement([]).share.note) == (None, "nothing was counted")


def test_scores_that_differ_by_rounding_tie():
    assert better(0.1 + 0.2, 0.3) == "tie"
    assert better(0.31, 0.3) == "first"
    assert better(0, 1e-3) == "second"


def test_the_papers_share_is_no_count_of_a_hundred():
    # §5.4: 86.23 % of 100 pairs; 119 of 138 would round to it.
    shares = {
        round(100 * agreement([Pair(1, 0, "first")] * k + [Pair(1, 0, "second")] * (100 - k)).share.value, 2)
        for k in (86, 87)
    }
    assert shares == {86.0, 87.0}
    found = agreement([Pair(1, 0, "first")] * 119 + [Pair(1, 0, "second")] * 19)
    assert found.share.value == pytest.approx(0.8623, abs=5e-5)


def test_another_preference_is_refused():
    with pytest.raises(ValueError, match="first, second or tie"):
        agreement([Pair(1, 0, "left")])
