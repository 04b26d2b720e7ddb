"""What a word is, in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uniseg.wordbreak import words

from annotator.domain.texts.words import latin, likeness, terms, unspaced, word_count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("  \n\t ", 0),
        ("One claim per criterion.", 4),
        ("can't stop", 2),
        ("3.5 percent of 1,000", 4),
        ("state-of-the-art and/or", 6),
        ("snake_case __ ok", 2),
        ("— … !?", 0),
        ("深度学习", 4),
        ("深度学习，很好。", 6),
        ("ディープラーニング", 1),
        ("딥 러닝 모델", 3),
        ("l’état c’est moi", 3),
        ("Größe, Maß", 2),
        ("مرحبا بالعالم", 2),
        ("GPT用于检索", 5),
    ],
)
def test_words_are_counted_by_unicodes_rules(text, count):
    assert word_count(text) == count


MIXED = st.text(
    alphabet="ab19 _.,:;'\"’-\n\t\u00a0\u202féßжα深のアー・カ々가กא\u0301\u200d，。（“", max_size=12
)


@given(st.one_of(MIXED, st.text(max_size=12)))
def test_the_short_cuts_count_as_the_full_algorithm_does(text):
    assert word_count(text) == sum(any(c.isalnum() for c in word) for word in words(text))


def test_forms_of_a_word_are_one_term():
    assert terms("Explains retrieval") == terms("explaining the RETRIEVAL")


def test_common_words_are_no_terms():
    assert terms("how it is with the") == frozenset()


def test_numbers_are_terms_in_full():
    assert terms("12345678") == {"12345678"}


def test_unspaced_scripts_are_compared_by_pairs_of_characters():
    assert terms("深度学习") == {"深度", "度学", "学习"}
    assert terms("学") == {"学"}


def test_mixed_text_gives_both_kinds_of_terms():
    assert terms("GPT用于检索") == {"gpt", "用于", "于检", "检索"}


def test_likeness_is_the_jaccard_index():
    assert likeness(frozenset("abc"), frozenset("bcd")) == 2 / 4
    assert likeness(frozenset(), frozenset()) == 0.0


@pytest.mark.parametrize(
    ("text", "is_latin", "is_unspaced"),
    [
        ("Plain text", True, False),
        ("Größe der Maße", True, False),
        ("使用 Retrieval Augmented 改进模型的检索", False, True),
        ("深度学习模型", False, True),
        ("Обзор методов", False, False),
        ("1234", False, False),
    ],
)
def test_the_script_of_most_letters_decides(text, is_latin, is_unspaced):
    assert (latin(text), unspaced(text)) == (is_latin, is_unspaced)
