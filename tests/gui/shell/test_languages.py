"""Qt's sense of languages: what a bundle with less of ICU's data must still know."""

from annotator.gui.shell.languages import dated, in_order, steps


def test_names_are_sorted_with_accents_beside_their_letters_and_numbers_by_value() -> None:
    assert in_order(["Zoo", "été 10", "eta", "été 9", "甲"]) == ["eta", "été 9", "été 10", "Zoo", "甲"]


def test_a_caret_does_not_stop_inside_a_letter() -> None:
    assert [steps(text) for text in ("", "ab", "e\u0301", "👩\u200d👧", "界面")] == [0, 2, 1, 1, 2]


def test_a_month_is_named_in_each_language() -> None:
    # 2 678 400 s are the 31 days of January.
    assert dated(2_678_400, "de") == "Februar 1970"
    assert dated(2_678_400, "zh") == "二月 1970"
