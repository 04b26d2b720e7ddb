import pytest

from annotator.domain.texts.rendered import BREAK, BREAK_EVERY, LONGEST_RUN, with_breaks


def test_a_long_run_without_white_space_gets_a_break_every_2000_characters():
    broken = with_breaks("a" * LONGEST_RUN)
    assert [len(part) for part in broken.split(BREAK)] == [BREAK_EVERY] * 10 + [0]


def test_words_are_left_as_they_are_however_many():
    text = "word " * 100_000
    assert with_breaks(text) == text


def test_only_the_long_run_of_a_text_is_broken():
    broken = with_breaks("before " + "x" * 20_000 + " after")
    assert broken.startswith("before x")
    assert broken.endswith(" after")
    assert broken.replace(BREAK, "") == "before " + "x" * 20_000 + " after"


def test_a_no_break_space_does_not_end_a_run():
    assert BREAK in with_breaks("ab\u00a0" * 7_000)


@pytest.mark.parametrize("before", [0, 1, 19_999, 20_000, 20_001, 39_999])
@pytest.mark.parametrize("long", [19_999, 20_000, 20_001])
def test_a_run_is_found_wherever_it_lies(before, long):
    text = "w " * (before // 2) + " " * (before % 2) + "x" * long + " end"
    assert (BREAK in with_breaks(text)) is (long >= LONGEST_RUN)
