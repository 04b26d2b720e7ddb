"""What differs between two wordings."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.texts.difference import LONGEST, TextPiece, differences, same_words, spaced

MIXED = st.text(alphabet="ab the Ré19._,;'’-\n\t\u00a0\u202f深度学アー각กा\u0301\u200d，。😀🇩ß", max_size=40)
WORDS = st.lists(
    st.sampled_from(["the", "a", "report", "cost", "costs", ",", "\n", "深度", "学习", "。"]), max_size=30
)
TEXTS = st.one_of(MIXED, st.text(max_size=30), WORDS.map(" ".join), WORDS.map("".join))


def joined(pieces, *kinds):
    return "".join(piece.text for piece in pieces if piece.kind in kinds)


def marked(old, new):
    marks = {"same": "", "removed": "−", "added": "+"}
    return "".join(f"{marks[p.kind]}{p.text}{marks[p.kind]}" for p in differences(old, new))


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_no_character_is_lost(old, new):
    pieces = differences(old, new)
    assert joined(pieces, "same", "removed") == old
    assert joined(pieces, "same", "added") == new


@given(WORDS, WORDS, WORDS)
def test_no_character_of_long_texts_is_lost(head, middle, tail):
    # More words than are compared each with each: those that occur once lead.
    body = [f"w{i}" for i in range(150)]
    old, new = " ".join([*head, *body, *middle]), " ".join([*middle, *body[40:], *head, *body[:60], *tail])
    pieces = differences(old, new)
    assert joined(pieces, "same", "removed") == old
    assert joined(pieces, "same", "added") == new


@given(TEXTS, TEXTS)
def test_no_piece_is_empty_and_neighbours_differ_in_kind(old, new):
    pieces = differences(old, new)
    assert all(piece.text for piece in pieces)
    assert all(left.kind != right.kind for left, right in pairwise(pieces))


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text):
    assert differences(text, text) == ((TextPiece(text, "same"),) if text else ())


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("the red car", "the blue car", "the −red−+blue+ car"),
        ("the car", "the red car", "the +red +car"),
        ("the red car", "the car", "the −red −car"),
        ("Costs rise", "Costs rise.", "Costs rise+.+"),
        ("", "new", "+new+"),
        ("a gain of 3.5 points", "a gain of 3.6 points", "a gain of −3.5−+3.6+ points"),
        ("they don't agree", "they do agree", "they −don't−+do+ agree"),
        ("one\ntwo", "one two", "one−\n−+ +two"),
        ("cafe\u0301 noir", "cafe noir", "−cafe\u0301−+cafe+ noir"),
    ],
)
def test_words_are_taken_out_and_put_in_whole(old, new, line):
    assert marked(old, new) == line


def test_chinese_is_compared_by_characters():
    assert marked("湿地植物吸收污水", "湿地动物吸收污水") == "湿地−植−+动+物吸收污水"


def test_a_hindi_word_stays_whole():
    assert marked("हिन्दी में लिखा", "हिन्दी पर लिखा") == "हिन्दी −में−+पर+ लिखा"


def test_a_lone_common_word_between_two_changes_goes_with_them():
    old, new = "measures heat of cells", "measures cold of plants"
    assert marked(old, new) == "measures −heat of cells−+cold of plants+"


def test_a_lone_comma_between_two_changes_goes_with_them():
    assert marked("speed, safety", "noise, comfort") == "−speed, safety−+noise, comfort+"


def test_a_lone_character_between_two_changes_goes_with_them():
    assert marked("红的花", "蓝的草") == "−红的花−+蓝的草+"


def test_a_telling_word_between_two_changes_stays():
    assert marked("cold battery cells", "frozen battery packs") == "−cold−+frozen+ battery −cells−+packs+"


def test_two_characters_between_two_changes_stay():
    assert marked("甲的花乙", "丙的花丁") == "−甲−+丙+的花−乙−+丁+"


def test_a_phrase_of_common_words_between_two_changes_stays():
    line = "−cold−+warm+ is not as it was −here−+there+"
    assert marked("cold is not as it was here", "warm is not as it was there") == line


def test_a_common_word_between_two_insertions_stays():
    assert marked("cells and", "cells new and old") == "cells +new +and+ old+"


def test_a_moved_paragraph_of_a_long_text_is_one_removal_and_one_addition():
    # 400 different words: the first 100 go to the end. The 300 that keep their order stay.
    words = [f"w{i}" for i in range(400)]
    old, new = " ".join(words), " ".join(words[100:] + words[:100])
    assert [p.kind for p in differences(old, new)] == ["removed", "same", "added"]


def test_a_text_longer_than_any_unit_is_compared_by_lines():
    head = "same line\n" * (LONGEST // 10)
    assert marked(f"{head}the red car", f"{head}the blue car") == f"{head}−the red car−+the blue car+"


def test_a_text_of_twenty_thousand_characters_is_compared_by_words():
    body = "".join(f"word{i} " for i in range(2000))
    assert marked(f"{body}red {body[:900]}", f"{body}blue {body[:900]}") == f"{body}−red−+blue+ {body[:900]}"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Explains the cost.", "explains  the\ncost"),
        ("Explains the cost。", "Explains the cost …"),
        ("re\u0301sume\u0301", "résumé"),
        ("ＧＰＴ－4", "GPT-4"),
        ("the “best” one", 'the "best" one'),
        ("pages 3–5", "pages 3-5"),
        ("soft\u00adhyphen\ufeff", "softhyphen"),
        ("GPT 用于检索", "GPT用于检索。"),
        ("STRASSE", "straße"),
        ("", "  \n"),
    ],
)
def test_formatting_is_no_difference(a, b):
    assert same_words(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Explains the cost", "Explains costs"),
        ("p < 0.05", "p > 0.05"),
        ("a gain of 3.5", "a gain of 35"),
        ("10² cells", "102 cells"),
        ("resume", "résumé"),
        ("not only this", "only this"),
        ("yes, all", "yes all"),
        ("", "x"),
    ],
)
def test_other_words_are_a_difference(a, b):
    assert not same_words(a, b)


@given(TEXTS)
def test_white_space_and_a_full_stop_are_no_difference(text):
    assert same_words(text, f" {text.strip()}. ")
    assert same_words(text, "\n".join(text.split(" ")))


@given(TEXTS)
def test_one_word_more_is_a_difference_either_way(text):
    longer = f"{text} x"
    assert (same_words(text, longer), same_words(longer, text)) == (False, False)


def test_words_of_a_script_without_spaces_are_put_together_without_any():
    assert spaced(["GPT", "用于", "检索", "and", "more"]) == "GPT用于检索and more"
