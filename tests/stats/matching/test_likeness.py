"""How alike two wordings are."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.stats.matching.likeness import bare, likeness, likeness_among
from annotator.stats.matching.matching import THRESHOLD, align, match_f1

PARAPHRASES = json.loads((Path(__file__).parent / "paraphrases.json").read_text("utf-8"))
RUBRICS = Path(__file__).parents[3] / "../shared/data/researcherbench/rubric.json"
TEXTS = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(["explains", "the", "cost", "costs", "深度学习", "<"])).map(" ".join),
)


@given(TEXTS, TEXTS)
def test_likeness_is_mutual_and_between_0_and_1(a, b):
    assert likeness(a, b) == likeness(b, a)
    assert 0 <= likeness(a, b) <= 1


@given(TEXTS)
def test_a_text_is_wholly_like_itself_unless_it_says_nothing(text):
    assert likeness(text, text) == (1 if bare(text) else 0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Explains the cost.", "explains  THE cost"),
        ("re\u0301sume\u0301", "Resume"),
        ("fine-tuning", "fine tuning"),
        ("ＧＰＴ用于检索", "GPT 用于检索。"),
        ("氮和磷", "氮、和磷"),
        ("كِتَابٌ", "كتاب"),
        ("ｶﾞｽ", "ガス"),
        ("STRASSE", "straße"),
    ],
)
def test_case_accents_punctuation_and_form_do_not_count(a, b):
    assert likeness(a, b) == 1


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("p < 0.05", "p > 0.05"),
        ("a gain of 3.5", "a gain of 35"),
        ("かき", "がき"),
        ("Explains the cost", "Explains a cost"),
        ("the report", "report the"),
    ],
)
def test_what_is_nearly_equal_is_not_quite_1(a, b):
    assert likeness(a, b) < 1


@pytest.mark.parametrize(("a", "b"), [("", ""), ("…", "…"), ("", "word"), ("abc", "xyz"), ("深度", "湿地")])
def test_nothing_said_or_nothing_shared_is_0(a, b):
    assert likeness(a, b) == 0


def test_a_likeness_computed_by_hand():
    # Terms: explai, retrie | explai, retrie, cost: 2 · 2 / 5.
    # Runs: 8 + 9 | 7 + 9 + 5, of which 6 (explain less its end) and 9 (retrieval) are shared: 2 · 15 / 38.
    assert likeness("Explains retrieval", "Explain retrieval costs") == round((4 / 5 + 30 / 38) / 2, 4)


def test_a_chinese_likeness_computed_by_hand():
    # Pairs: 深度, 度学, 学习 | 深度, 度模, 模型: 2 · 1 / 6. Characters: two of four and four: 2 · 2 / 8.
    assert likeness("深度学习", "深度模型") == round((2 / 6 + 4 / 8) / 2, 4)


def test_a_hindi_likeness_computed_by_hand():
    # Terms, their vowel signs aside: हनद, भष | हनद: 2 · 1 / 3. Runs, with them: 6 + 4 | 6, of which 6: 2 · 6 / 16.
    assert likeness("हिन्दी भाषा", "हिन्दी") == round((2 / 3 + 12 / 16) / 2, 4)


def test_what_many_texts_share_weighs_little():
    # Red and its three runs stand in two texts of the first list and weigh ½: terms 2 · ½ / (1½ + 1½), runs the same.
    assert likeness("red hen", "red fox") == 0.5
    assert likeness_among(["red hen", "red bug"], ["red fox"])("red hen", "red fox") == 0.3333


def test_the_order_of_the_lists_does_not_matter():
    a, b = ["cold cells", "cold packs"], ["cold cells fail", "warm packs"]
    assert likeness_among(a, b)(a[0], b[0]) == likeness_among(b, a)(b[0], a[0])


def test_forms_and_compounds_of_german_words_are_alike():
    assert likeness("Dämmung der Fassade", "Fassadendämmung") > THRESHOLD


def sides(subject):
    """The two experts' lists, the second turned round, and the pairs that mean the same."""
    a = [pair[0] for pair in subject["pairs"]] + subject["only_a"]
    b = [pair[1] for pair in subject["pairs"]] + subject["only_b"]
    return a, b[::-1], {(i, len(b) - 1 - i) for i in range(len(subject["pairs"]))}


@pytest.mark.parametrize("subject", PARAPHRASES, ids=lambda subject: subject["subject"])
def test_no_two_criteria_that_mean_different_things_are_paired(subject):
    a, b, meant = sides(subject)
    assert {(i, j) for i, j, _ in align(a, b).pairs} <= meant


@pytest.mark.parametrize("language", ["en", "de", "zh", "ja", "ar", "ru", "hi"])
def test_most_paraphrases_are_found_in_every_language(language):
    found = meant_at_all = 0
    for subject in PARAPHRASES:
        if subject["language"] == language and "reworded" not in subject["subject"]:
            a, b, meant = sides(subject)
            found += len({(i, j) for i, j, _ in align(a, b).pairs} & meant)
            meant_at_all += len(meant)
    assert found / meant_at_all > 0.9


def test_paraphrases_are_clearly_above_the_other_pairs_of_their_subject():
    for subject in PARAPHRASES:
        a, b, meant = sides(subject)
        alike = likeness_among(a, b)
        others = [alike(x, y) for i, x in enumerate(a) for j, y in enumerate(b) if (i, j) not in meant]
        assert min(alike(a[i], b[j]) for i, j in meant) > max(others), subject["subject"]


@pytest.fixture(scope="module")
def rubrics():
    if not RUBRICS.exists():
        pytest.skip("the public rubric file of ResearcherBench is not beside the repository")
    return [[c["point"] for c in item["rubric"]] for item in json.loads(RUBRICS.read_text("utf-8"))]


def halves(rubrics):
    draw = random.Random(7)
    for rubric in rubrics * 2:
        mixed = draw.sample(rubric, len(rubric))
        yield mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]


def test_two_criteria_of_one_rubric_hardly_ever_pass(rubrics):
    passed = pairs = 0
    for rubric in rubrics:
        alike = likeness_among(rubric, rubric)
        values = [alike(x, y) for i, x in enumerate(rubric) for y in rubric[:i]]
        passed, pairs = passed + sum(value >= THRESHOLD for value in values), pairs + len(values)
    assert pairs == 6513
    assert passed / pairs < 0.002


def test_of_two_halves_of_one_rubric_about_one_pair_in_a_hundred_passes(rubrics):
    passed = pairs = 0
    for a, b in halves(rubrics):
        alike = likeness_among(a, b)
        passed, pairs = passed + sum(alike(x, y) >= THRESHOLD for x in a for y in b), pairs + len(a) * len(b)
    assert passed / pairs < 0.0125


def test_two_lists_without_a_common_criterion_have_an_f1_near_0(rubrics):
    values = [match_f1(align(a, b), len(a), len(b)).value for a, b in halves(rubrics)]
    assert sum(values) / len(values) < 0.1
