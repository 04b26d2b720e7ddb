"""Ranking by shared words: rare words first, long texts held back, the same order every time."""

from annotator.domain.texts.ranking import TextRanking


def test_only_texts_that_share_a_word_are_ranked_the_best_first() -> None:
    ranking = TextRanking(["oak shade", "elm water", "oak oak shade shade"])
    assert ranking.ranked("shade of the oak") == [2, 0]
    assert ranking.ranked("quakes") == []


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    assert TextRanking(["shade", "shade", "sap", "shade"]).ranked("shade sap")[0] == 2


def test_of_equal_texts_the_earlier_is_first_and_a_longer_one_last() -> None:
    assert TextRanking(["shade oak elm lime", "shade", "shade"]).ranked("shade") == [1, 2, 0]


def test_scripts_without_spaces_are_ranked_too() -> None:
    assert TextRanking(["城市树木", "地震预警"]).ranked("树木降温") == [0]


def test_an_empty_collection_has_nothing() -> None:
    assert TextRanking([]).ranked("shade") == []
