"""Matching, and likeness of texts."""

import json
import random
from itertools import permutations
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, strategies as st

from annotator.domain.texts.identifier import same_title
from annotator.stats.matching.matching import (
    THRESHOLD,
    Alignment,
    ReferencedWork,
    align,
    align_by_key,
    align_references,
    bare,
    jaccard,
    likeness,
    likeness_among,
    match_f1,
    maximum_matching,
)

TEXTS = st.lists(
    st.sampled_from(
        ["red fox", "red foxes", "red hen", "hen", "blue whale", "blue whales", "", "深度学习", "深度模型"]
    ),
    max_size=6,
)
DOI, OTHER_DOI = "10.1000/one", "10.1000/two"
LONG = "A survey of attention in long documents"


def mirrored(alignment):
    pairs = sorted((j, i, alike) for i, j, alike in alignment.pairs)
    return Alignment(tuple(pairs), alignment.only_b, alignment.only_a)


def places(alignment):
    return [(i, j) for i, j, _ in alignment.pairs]


def greatest_total(a, b, alike, threshold):
    a, b = sorted([a, b], key=len)
    value = {(x, y): alike(x, y) if alike(x, y) >= threshold else 0 for x in a for y in b}
    return max(sum(value[x, y] for x, y in zip(a, chosen, strict=True)) for chosen in permutations(b, len(a)))


@given(
    st.lists(st.sampled_from("abcd"), max_size=5), st.lists(st.sampled_from("abcd"), max_size=5), st.data()
)
def test_the_other_way_round_gives_the_mirrored_pairs_whatever_the_ties(a, b, data):
    values = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=16, max_size=16))
    table = {frozenset((x, y)): values["abcd".index(x) * 4 + "abcd".index(y)] for x in "abcd" for y in "abcd"}
    table |= {frozenset(x): 1.0 for x in "abcd"}

    def alike(x, y):
        return table[frozenset((x, y))]

    assert align(b, a, alike) == mirrored(align(a, b, alike))


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_no_other_alignment_has_a_greater_total_whatever_the_likeness(rows, columns, data):
    values = data.draw(st.lists(st.integers(0, 9), min_size=rows * columns, max_size=rows * columns))
    a, b = "abcd"[:rows], "pqrst"[:columns]
    table = {
        frozenset((x, y)): values[i * columns + j] / 10 for i, x in enumerate(a) for j, y in enumerate(b)
    }

    def alike(x, y):
        return table[frozenset((x, y))]

    assert sum(value for _, _, value in align(a, b, alike, 0.1).pairs) == pytest.approx(
        greatest_total(a, b, alike, 0.1)
    )


def test_a_tie_that_its_own_mirror_image_does_not_settle_is_settled_alike_both_ways():
    # Each is like the two others across: two ways round, both with the total 3, neither its own mirror image.
    a, b = ["x0", "x1", "x2"], ["y0", "y1", "y2"]

    def alike(x, y):
        return float(x[1] != y[1])

    assert len(align(a, b, alike).pairs) == 3
    assert align(b, a, alike) == mirrored(align(a, b, alike))


@given(TEXTS, TEXTS)
def test_every_place_is_paired_once_or_stands_alone(a, b):
    alignment = align(a, b)
    assert sorted([i for i, _ in places(alignment)] + list(alignment.only_a)) == list(range(len(a)))
    assert sorted([j for _, j in places(alignment)] + list(alignment.only_b)) == list(range(len(b)))
    assert places(alignment) == sorted(places(alignment))


@given(TEXTS)
def test_a_list_is_aligned_with_itself_place_by_place(texts):
    assert places(align(texts, texts)) == [(i, i) for i, text in enumerate(texts) if text]


def test_the_total_counts_and_not_the_best_single_pair():
    # Taking 0.9 first leaves nothing for the others: 0.9 against 0.8 + 0.8.
    table = {("x", "p"): 0.9, ("x", "q"): 0.8, ("y", "p"): 0.8, ("y", "q"): 0.0}
    assert align(
        ["x", "y"], ["p", "q"], lambda a, b: table[min(a, b, key="xypq".index), max(a, b, key="xypq".index)]
    ) == Alignment(((0, 1, 0.8), (1, 0, 0.8)), (), ())


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        (["same", "other", "same"], ["same", "same"], [(0, 0), (2, 1)]),
        (["same"], ["other", "same", "same"], [(0, 1)]),
        # The nearest are paired.
        (["one", "two", "same"], ["same", "x", "y", "same"], [(2, 3)]),
        (["same"] * 60, ["same"] * 60, [(i, i) for i in range(60)]),
    ],
)
def test_equal_texts_are_paired_in_order(a, b, pairs):
    assert places(align(a, b)) == pairs


def test_a_pair_below_the_threshold_stands_alone():
    assert align(["a"], ["b"], lambda a, b: 0.59, 0.6) == Alignment((), (0,), (0,))
    assert align(["a"], ["b"], lambda a, b: 0.6, 0.6) == Alignment(((0, 0, 0.6),), (), ())


def test_empty_lists_are_aligned():
    assert (align([], ["x"]), align([], [])) == (Alignment((), (), (0,)), Alignment((), (), ()))


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1])
def test_a_threshold_that_means_nothing_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold"):
        align(["x"], ["x"], threshold=threshold)


def test_equal_keys_are_paired_in_order():
    assert align_by_key(["r1", "r2", "r1", "r3"], ["r1", "r1", "r2", "r1"]) == Alignment(
        ((0, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)), (3,), (3,)
    )


def test_no_key_equals_no_key():
    assert align_by_key([None, ("a", 1)], [("a", 1), None]) == Alignment(((1, 0, 1.0),), (0,), (1,))


KEYS = st.lists(st.sampled_from(["x", "y", None]), max_size=6)


@given(KEYS, KEYS)
def test_keys_the_other_way_round_give_the_mirrored_pairs(a, b):
    assert align_by_key(b, a) == mirrored(align_by_key(a, b))


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ((f"https://doi.org/{DOI}", "One title"), (DOI.upper(), "Quite another title"), True),
        (("arXiv:2301.12345v1", ""), ("https://arxiv.org/abs/2301.12345v3", ""), True),
        (("10.48550/arXiv.2301.12345", "x"), ("2301.12345", "y"), True),
        (("", LONG), ("", "A Survey of Attention: another subtitle"), True),
        (("", "Göttliche Namen"), (DOI, "gottliche namen!"), True),
        # Different or unnamed works.
        ((DOI, ""), (OTHER_DOI, ""), False),
        (("", "Short title"), ("", "Short title of more"), False),
        (("", LONG), ("", LONG[:19]), False),
        (("", "…"), ("", "…"), False),
        (("https://example.org/a", ""), ("https://example.org/a", ""), False),
        ((DOI, LONG), (OTHER_DOI, f"{LONG}."), False),
        (("2301.12345", LONG), ("arXiv:2301.12346v2", LONG), False),
    ],
)
def test_references_to_the_same_work_are_paired(a, b, same):
    assert bool(align_references([ReferencedWork(*a)], [ReferencedWork(*b)]).pairs) is same


def test_a_doi_comes_before_a_title():
    a = [ReferencedWork("", LONG), ReferencedWork(DOI, LONG)]
    b = [ReferencedWork(DOI, LONG), ReferencedWork("", LONG)]
    assert places(align_references(a, b)) == [(0, 1), (1, 0)]


def test_a_reference_is_paired_once():
    assert align_references([ReferencedWork(DOI, LONG)] * 2, [ReferencedWork(DOI, LONG)]) == Alignment(
        ((0, 0, 1.0),), (1,), ()
    )


WORKS = st.lists(
    st.builds(
        ReferencedWork,
        st.sampled_from(["", DOI, OTHER_DOI, "2301.12345v2"]),
        st.sampled_from(["", LONG, "Short"]),
    ),
    max_size=6,
)


@given(WORKS, WORKS)
def test_references_the_other_way_round_give_the_mirrored_pairs(a, b):
    assert align_references(b, a) == mirrored(align_references(a, b))


TITLES = st.text(alphabet="aÁ .深", max_size=24)


@given(TITLES, TITLES)
def test_titles_are_the_same_as_the_identifier_page_says(a, b):
    assert bool(align_references([ReferencedWork("", a)], [ReferencedWork("", b)]).pairs) == same_title(a, b)


@pytest.mark.parametrize(
    ("alignment", "sizes", "f1", "index", "note"),
    [
        # Two of three and four units: F1 = 4/7, Jaccard = 2/5.
        (
            Alignment(((0, 1, 0.5), (2, 0, 0.9)), (1,), (2, 3)),
            (3, 4),
            (4 / 7, 7),
            (2 / 5, 5),
            "2 matched, 1 only in A, 2 only in B",
        ),
        (Alignment((), (0,), (0,)), (1, 1), (0, 2), (0, 2), "0 matched, 1 only in A, 1 only in B"),
        (Alignment(((0, 0, 0.5),), (), ()), (1, 1), (1, 2), (1, 1), "1 matched, 0 only in A, 0 only in B"),
        (Alignment((), (), (0, 1)), (0, 2), (0, 2), (0, 2), "0 matched, 0 only in A, 2 only in B"),
        (Alignment((), (), ()), (0, 0), (None, 0), (None, 0), "both lists are empty"),
    ],
)
def test_f1_and_jaccard_by_hand(alignment, sizes, f1, index, note):
    for figure, (value, n) in ((match_f1, f1), (jaccard, index)):
        result = figure(alignment, *sizes)
        assert (result.value, result.n, result.note) == (value, n, note)


def test_an_alignment_of_other_lists_is_refused():
    with pytest.raises(ValueError, match="not an alignment"):
        match_f1(Alignment(((0, 0, 1.0),), (), ()), 2, 1)


@pytest.mark.parametrize(
    ("matrix", "size"),
    [
        # The plan of the protocol page.
        ([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], 3),
        ([], 0),
        ([[], []], 0),
        ([[0, 0], [0, 0]], 0),
        ([[1], [1], [1]], 1),
        ([[True, True], [True, False]], 2),
        ([[1, 0, 0], [1, 0, 0], [1, 1, 1]], 2),
    ],
)
def test_a_matching_counts_no_row_or_column_twice(matrix, size):
    assert maximum_matching(matrix) == size


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=5))
def test_a_matching_is_as_large_turned_on_its_side(matrix):
    assert maximum_matching(matrix) == maximum_matching(list(zip(*matrix, strict=True)))


def test_rows_of_different_length_are_refused():
    with pytest.raises(ValueError, match="inhomogeneous"):
        maximum_matching([[1, 0], [1]])


PARAPHRASES = json.loads((Path(__file__).parent / "paraphrases.json").read_text("utf-8"))
RUBRICS = Path(__file__).parents[3] / "../shared/data/researcherbench/rubric.json"
LIKE_TEXTS = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(["explains", "the", "cost", "costs", "深度学习", "<"])).map(" ".join),
)


@given(LIKE_TEXTS, LIKE_TEXTS)
def test_likeness_is_mutual_and_between_0_and_1(a, b):
    assert likeness(a, b) == likeness(b, a)
    assert 0 <= likeness(a, b) <= 1


@given(LIKE_TEXTS)
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


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        # Terms: explai, retrie | explai, retrie, cost: 2 · 2 / 5.
        # Runs: 8 + 9 | 7 + 9 + 5, of which 6 (explain less its end) and 9 (retrieval) are shared: 2 · 15 / 38.
        ("Explains retrieval", "Explain retrieval costs", (4 / 5 + 30 / 38) / 2),
        # Pairs: 深度, 度学, 学习 | 深度, 度模, 模型: 2 · 1 / 6. Characters: two of four and four: 2 · 2 / 8.
        ("深度学习", "深度模型", (2 / 6 + 4 / 8) / 2),
        # Terms, their vowel signs aside: हनद, भष | हनद: 2 · 1 / 3. Runs, with them: 6 + 4 | 6, of which 6: 2 · 6 / 16.
        ("हिन्दी भाषा", "हिन्दी", (2 / 3 + 12 / 16) / 2),
        ("red hen", "red fox", 0.5),
        # Nothing said or nothing shared.
        ("", "", 0),
        ("…", "…", 0),
        ("", "word", 0),
        ("abc", "xyz", 0),
        ("深度", "湿地", 0),
    ],
)
def test_a_likeness_computed_by_hand(a, b, alike):
    assert likeness(a, b) == round(alike, 4)


def test_what_many_texts_share_weighs_little():
    # Red and its three runs stand in two texts of the first list and weigh ½: terms 2 · ½ / (1½ + 1½), runs the same.
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
    result = meant_at_all = 0
    for subject in PARAPHRASES:
        if subject["language"] == language and "reworded" not in subject["subject"]:
            a, b, meant = sides(subject)
            result += len({(i, j) for i, j, _ in align(a, b).pairs} & meant)
            meant_at_all += len(meant)
    assert result / meant_at_all > 0.9


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
    passed = []
    for rubric in rubrics:
        alike = likeness_among(rubric, rubric)
        passed += [alike(x, y) >= THRESHOLD for i, x in enumerate(rubric) for y in rubric[:i]]
    assert len(passed) == 6513
    assert fmean(passed) < 0.002


def test_of_two_halves_of_one_rubric_about_one_pair_in_a_hundred_passes(rubrics):
    passed = []
    for a, b in halves(rubrics):
        alike = likeness_among(a, b)
        passed += [alike(x, y) >= THRESHOLD for x in a for y in b]
    assert fmean(passed) < 0.0125


def test_two_lists_without_a_common_criterion_have_an_f1_near_0(rubrics):
    values = [match_f1(align(a, b), len(a), len(b)).value for a, b in halves(rubrics)]
    assert sum(values) / len(values) < 0.1
