"""Similarities of two texts: by hand, by peers, and by plain but slow ways of counting."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from annotator.protocols.arena.leakage import (
    Likeness,
    Vocabulary,
    likeness,
    longest_common_subsequence,
    longest_run,
    overlap,
    string_similarity,
    words,
)

SUFFIX = (
    "methods. Conduct controlled experiments measuring comprehension and decision-making quality, delivering "
    "statistical analysis results and recommendations."
)


def slow(a: str, b: str) -> int:
    """The longest common subsequence by the textbook's table."""
    above = [0] * (len(b) + 1)
    for one in a:
        row = [0]
        for place, other in enumerate(b):
            row.append(above[place] + 1 if one == other else max(above[place + 1], row[-1]))
        above = row
    return above[-1]


def test_the_textbooks_example() -> None:
    assert longest_common_subsequence("ABCBDAB", "BDCABA") == 4
    # 2 · 4 / (7 + 6).
    assert round(string_similarity("ABCBDAB", "BDCABA"), 4) == 0.6154


def test_bits_and_table_agree_on_300_pairs() -> None:
    chance = random.Random(3)
    for letters in ("ab", string.ascii_lowercase, "比较方法 ab，。"):
        for _ in range(100):
            a, b = ("".join(chance.choices(letters, k=chance.randint(0, 60))) for _ in range(2))
            assert longest_common_subsequence(a, b) == slow(a, b)


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_text_is_all_of_itself_and_order_is_no_matter(a: str, b: str) -> None:
    assert longest_common_subsequence(a, a) == len(a)
    assert string_similarity(a, b) == string_similarity(b, a)


def test_the_papers_sample_has_14_words_only_where_a_hyphen_joins() -> None:
    assert len(set(words(SUFFIX))) == 14
    # Two of them are 2 / 14 = .143, as printed.
    assert round(overlap("Methods and more", SUFFIX), 3) == 0.143


def test_the_papers_sample_has_its_composite() -> None:
    # .4 · .153 + .4 · .094 + .2 · .143 = .0612 + .0376 + .0286.
    assert Likeness(0.153, 0.094, 0.143).composite == pytest.approx(0.1274)


def test_leaked_is_strictly_above_the_threshold() -> None:
    assert not Likeness(0.7, 0.7, 0.7).leaked
    assert Likeness(0.7, 0.7, 0.7001).leaked


# Table 4: composite, string, TF-IDF, overlap in percent.
PUBLISHED = {
    "gpt-4o-search-preview": (9.8, 10.4, 7.1, 14.1, 9.82),
    "gpt-4o-mini-search-preview": (9.4, 7.7, 7.2, 17.2, 9.40),
    "gpt-4.1": (14.8, 22.4, 8.3, 12.4, 14.76),
    "gpt-4.1-mini": (13.6, 17.9, 8.9, 14.4, 13.60),
    "o4-mini": (10.5, 5.7, 9.4, 21.9, 10.42),
    "gemini-2.5-pro": (13.8, 20.8, 7.5, 12.4, 13.80),
    "gemini-2.5-flash": (13.7, 22.2, 6.9, 10.1, 13.66),
    "grok-4": (14.8, 22.2, 8.4, 12.7, 14.78),
}


@pytest.mark.parametrize("system", PUBLISHED)
def test_the_published_composites_follow_from_their_parts(system: str) -> None:
    printed, letters, tfidf, common, exact = PUBLISHED[system]
    found = 100 * Likeness(letters / 100, tfidf / 100, common / 100).composite
    assert found == pytest.approx(exact)
    # One row fits only by digits that are not printed.
    assert (round(found, 1) == printed) is (system != "o4-mini")
    assert abs(found - printed) <= 0.1


def test_the_published_mean_row_follows_but_for_a_rounding() -> None:
    columns = list(zip(*PUBLISHED.values(), strict=True))
    means = [sum(column) / len(column) for column in columns[:4]]
    assert means == pytest.approx([12.55, 16.1625, 7.9625, 14.4], abs=1e-9)


def test_cosines_are_those_of_another_package() -> None:
    chance = random.Random(5)
    names = [f"word{n}" for n in range(30)]
    suffixes = [" ".join(chance.choices(names, k=12)) for _ in range(15)]
    vocabulary = Vocabulary.of(suffixes)
    peer = TfidfVectorizer(tokenizer=words, token_pattern=None, lowercase=False).fit(suffixes)
    for suffix in suffixes:
        text = " ".join(chance.choices([*names, "unknown"], k=20))
        wanted = cosine_similarity(peer.transform([text]), peer.transform([suffix]))[0, 0]
        assert vocabulary.cosine(text, suffix) == pytest.approx(wanted)


def test_nothing_in_common_is_0_and_the_same_is_1() -> None:
    vocabulary = Vocabulary.of([SUFFIX])
    assert likeness("", SUFFIX, vocabulary) == Likeness(0.0, 0.0, 0.0)
    assert likeness(SUFFIX, SUFFIX, vocabulary).composite == pytest.approx(1.0)


def test_chinese_words_are_parted_and_latin_ones_stay_whole() -> None:
    assert words("用GPU比较，方法") == ["用", "gpu", "比", "较", "方", "法"]
    assert overlap("比较", "比较方法") == 0.5


@pytest.mark.parametrize(
    ("a", "b", "run"),
    [
        ("one two three four", "zero one two four three", 2),
        ("a b a b c", "b a b c", 4),
        ("One, two; three.", "one two three", 3),
        ("比较三种", "三种比较", 2),
        ("", "one", 0),
    ],
)
def test_the_longest_run_of_common_words(a: str, b: str, run: int) -> None:
    assert longest_run(a, b) == longest_run(b, a) == run
