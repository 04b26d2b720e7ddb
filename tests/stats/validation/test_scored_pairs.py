"""Whether scores prefer the report that people prefer."""

import pytest

from annotator.stats.validation.duels import ScoredPair, agreement, better


@pytest.mark.usefixtures("small_cases")
def test_the_better_score_is_the_preferred_report_or_not():
    # Three agree, one does not: 3/4.
    pairs = [
        ScoredPair(0.5, 0.4, "first"),
        ScoredPair(0.1, 0.4, "second"),
        ScoredPair(0.9, 0.2, "first"),
        ScoredPair(0.9, 0.2, "second"),
    ]
    found = agreement(pairs)
    assert (found.share.value, found.share.n, found.agreed, found.disagreed) == (3 / 4, 4, 3, 1)
    assert found.share.low < 3 / 4 < found.share.high


def test_ties_are_counted_apart():
    pairs = [
        ScoredPair(0.5, 0.4, "first"),
        ScoredPair(0.5, 0.5, "first"),
        ScoredPair(0.5, 0.4, "tie"),
        ScoredPair(0.5, 0.5, "tie"),
    ]
    found = agreement(pairs)
    assert (found.share.value, found.share.n) == (1, 1)
    assert (found.tied_scores, found.tied_preferences, found.tied_both, found.left_out) == (1, 1, 1, 0)


def test_what_is_not_known_is_left_out_and_counted():
    found = agreement(
        [ScoredPair(None, 0.4, "second"), ScoredPair(0.5, None, "tie"), ScoredPair(0.5, 0.4, None)]
    )
    assert (found.share.value, found.share.n, found.left_out) == (None, 0, 3)


def test_no_pairs_say_nothing():
    assert (agreement([]).share.value, agreement([]).share.note) == (None, "nothing was counted")


def test_scores_that_differ_by_rounding_tie():
    assert better(0.1 + 0.2, 0.3) == "tie"
    assert better(0.31, 0.3) == "first"
    assert better(0, 1e-3) == "second"


def test_the_papers_share_is_no_count_of_a_hundred():
    # §5.4: 86.23 % of 100 pairs; 119 of 138 would round to it.
    agreed, disagreed = ScoredPair(1, 0, "first"), ScoredPair(1, 0, "second")
    shares = {round(100 * agreement([agreed] * k + [disagreed] * (100 - k)).share.value, 2) for k in (86, 87)}
    assert shares == {86.0, 87.0}
    found = agreement([ScoredPair(1, 0, "first")] * 119 + [ScoredPair(1, 0, "second")] * 19)
    assert found.share.value == pytest.approx(0.8623, abs=5e-5)


def test_another_preference_is_refused():
    with pytest.raises(ValueError, match="first, second or tie"):
        agreement([ScoredPair(1, 0, "left")])
