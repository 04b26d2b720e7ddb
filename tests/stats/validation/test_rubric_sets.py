"""How two rubric sets for the same items compare."""

import pytest

from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.protocols.researcherbench.coverage import weighted
from annotator.stats.validation.rubrics import RubricSet, side_by_side

EXPERT = ("Explains why retrieval lowers the error rate", "Compares the cost of both architectures")
MODEL = ("Explains why the error rate is lowered by retrieval", "Is pleasant to read", "Has headings")


def rubric(texts, weights=None, prefix="c"):
    weights = weights or [1] * len(texts)
    return Rubric(
        units=tuple(
            Criterion(id=f"{prefix}{n}", text=t, weight=w)
            for n, (t, w) in enumerate(zip(texts, weights, strict=True))
        )
    )


def said(values, prefix="c"):
    return {f"{prefix}{n}": {"y": "yes", "n": "no"}[v] for n, v in enumerate(values) if v != "."}


def sets(expert, model, items=("i",)):
    a = RubricSet(
        "expert", {i: rubric(EXPERT, [3, 1]) for i in items}, {k: said(v) for k, v in expert.items()}
    )
    b = RubricSet("model", {i: rubric(MODEL) for i in items}, {k: said(v) for k, v in model.items()})
    return a, b


def score(rubric, verdicts):
    return weighted([(unit.weight, verdicts.get(unit.id)) for unit in rubric.units]).value


def beside(a, b):
    return side_by_side((a, b), score)


def test_the_same_responses_are_scored_by_both():
    # expert: s 3/4, t 1/4; model: s 3/3, t 2/3. Gaps 1/2 and 1/3.
    both = beside(*sets({("i", "s"): "yn", ("i", "t"): "ny"}, {("i", "s"): "yyy", ("i", "t"): "nyy"}))
    assert {s: (x.value, y.value) for s, (x, y) in both.scores.items()} == {
        "s": (0.75, 1.0),
        "t": (0.25, 2 / 3),
    }
    assert (both.gaps[0].value, both.gaps[1].value) == (0.5, pytest.approx(1 / 3))


@pytest.mark.usefixtures("small_cases")
def test_a_systems_score_is_the_mean_over_items():
    # expert: 3/4 and 4/4; model: 1/3 and 3/3
    expert, model = {("i", "s"): "yn", ("j", "s"): "yy"}, {("i", "s"): "ynn", ("j", "s"): "yyy"}
    x, y = beside(*sets(expert, model, ("i", "j"))).scores["s"]
    assert (x.value, y.value) == (7 / 8, pytest.approx(2 / 3))
    assert (x.n, x.low is not None) == (2, True)


def test_what_is_missing_under_one_set_is_left_out_of_both():
    expert, model = {("i", "s"): "yn", ("j", "s"): "yy"}, {("i", "s"): "ynn", ("j", "s"): "y.y"}
    x, y = beside(*sets(expert, model, ("i", "j"))).scores["s"]
    assert (x.value, y.value, x.n, y.n) == (3 / 4, 1 / 3, 1, 1)
    assert "1 of 2 items left out" in x.note


def test_all_missing_leaves_no_score_and_no_gap():
    both = beside(*sets({("i", "s"): ".."}, {("i", "s"): "yyy"}))
    assert [score.value for score in both.scores["s"]] == [None, None]
    assert both.gaps[0].value is None


def test_criteria_that_say_the_same_are_aligned():
    both = beside(*sets({}, {}))
    ((first, second, _),) = both.alignments["i"].pairs
    assert (EXPERT[first], MODEL[second]) == (EXPERT[0], MODEL[0])
    # 2 · 1 / (2 + 3)
    assert (both.matched.value, both.matched.n) == (2 / 5, 5)


def test_weights_stand_beside_each_other():
    x, y = beside(*sets({}, {})).weights
    assert [share.value for share in x.values()] == [1 / 2, 0.0, 1 / 2]
    assert [share.value for share in y.values()] == [1.0, 0.0, 0.0]


def test_sets_without_a_common_item_have_nothing_to_compare():
    a, b = RubricSet("a", {"i": rubric(EXPERT)}), RubricSet("b", {"j": rubric(MODEL)})
    both = beside(a, b)
    assert (both.items, both.scores, both.matched.value, both.gaps[1].value) == ((), {}, None, None)
    assert {share.value for share in both.weights[0].values()} == {None}


def test_only_items_and_systems_of_both_sets_count():
    a, b = sets({("i", "s"): "yy", ("i", "t"): "yy"}, {("i", "s"): "yyy", ("i", "u"): "yyy"})
    assert list(beside(a, b).scores) == ["s"]
