"""How two documents of each kind are compared: every expectation is worked out by hand, in the comments."""

from math import sqrt

import pytest
from pydantic import ValidationError

from annotator.actions.authoring import artifacts
from annotator.actions.authoring.comparing import (
    aligned,
    compare,
    compare_raters,
    counts_equal,
    fields_of,
    matcher,
    over_all,
)
from annotator.domain.experts.adjudication import DocumentComparison, Figure, PairAgreement
from annotator.domain.kinds.artifact import AlignmentRule, Anchor, Kind, Unit
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import KINDS, Label, Query, Wording
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.texts.canonical import canonical_json
from tests.projects.paired_project import SENTENCES, labels, rubric

PLACES = ("Norway", "Kenya")
LABEL = Label(protocol="p", response_id="r", unit_id="u", value="yes")


def of(found: DocumentComparison, name: str) -> Figure:
    return next(figure for figure in found.figures if figure.name == name)


def value(found: DocumentComparison, name: str) -> float:
    figure = of(found, name)
    assert figure.value is not None, figure.note
    return figure.value


def nuggets(*important: str) -> Nuggets:
    pairs = zip(SENTENCES, important, strict=False)
    return Nuggets(
        units=tuple(Nugget(text=text, importance="vital" if said == "v" else "okay") for text, said in pairs)
    )


def statements(*said: tuple[bool | None, Aspect | None]) -> Diagnostics:
    return Diagnostics(
        units=tuple(
            Statement(text=f"{SENTENCES[n % 6]} in {PLACES[n // 6]}", label=label, aspect=aspect)
            for n, (label, aspect) in enumerate(said)
        )
    )


def selection(*ratings: int | None) -> Selection:
    return Selection(
        units=tuple(DimensionRating(text=f"Dimension {n}", rating=rating) for n, rating in enumerate(ratings))
    )


def test_rubrics_are_compared_by_weight() -> None:
    # Three of four criteria are the same on either side: F1 = 2·3 / (4 + 4).
    a, b = rubric(3, 2, 1, 2), Rubric(units=(*rubric(3, 1, 1).units, Criterion(text=SENTENCES[5])))
    result = compare(Kind.RUBRIC, a, b)
    assert (value(result, "match_f1"), result.only_a, result.only_b) == (
        0.75, (a.units[3].id,), (b.units[3].id,),
    )  # fmt: skip
    # Weights (3,3), (2,1), (1,1). Seen: mean |i−j| = 1/3. By chance, a: one of each, b: 3 once, 1 twice:
    # 1/3·(2/3·2) + 1/3·(1/3·1 + 2/3·1) + 1/3·(1/3·2) = 1. κ = 1 − (1/3)/1.
    assert (result.values, value(result, "weight_agreement"), value(result, "weight_kappa")) == (
        {"weight": ((3, 3), (2, 1), (1, 1))}, pytest.approx(2 / 3), pytest.approx(2 / 3),
    )  # fmt: skip
    # Weights (10,10), (2,1), (1,1). Seen: mean |a−b| = 1/3. By chance, a: 10, 2, 1 once each, b: 10 once, 1 twice:
    # (0 + 2·9 + 8 + 2·1 + 9 + 0) / 9 = 37/9. κ = 1 − (1/3) / (37/9) = 34/37.
    kappa = value(compare(Kind.RUBRIC, rubric(10, 2, 1), rubric(10, 1, 1)), "weight_kappa")
    assert kappa == pytest.approx(34 / 37)
    # Two that differ in sign alone: (−3,3), (3,3), (−3,−3): seen 6/3, by chance half of 6 where a has 2:1, b 1:2.
    kappa = value(compare(Kind.RUBRIC, rubric(-3, 3, -3), rubric(3, 3, -3)), "weight_kappa")
    assert kappa == pytest.approx(1 - 2 / (6 * (2 / 3 * 2 / 3 + 1 / 3 * 1 / 3)))
    a, b = rubric(2, 3), rubric(3, 1, sentences=SENTENCES[3:])
    result = compare(Kind.RUBRIC, a, b, pairs=[(a.units[1].id, b.units[0].id)])
    assert (value(result, "match_f1"), result.values["weight"], result.only_a, result.only_b) == (
        0.5, ((3, 3),), (a.units[0].id,), (b.units[1].id,),
    )  # fmt: skip


@pytest.mark.parametrize(("used", "categories"), [((3, 1), (1, 2, 3)), ((5, 1), (1, 5))])
def test_the_weights_that_count_are_the_usual_ones_or_those_in_use_where_another_is(
    used: tuple[int, int], categories: tuple[int, ...]
) -> None:
    (weight,) = (one for one in fields_of(Kind.RUBRIC, [{"weight": (used,)}]) if one.name == "weight")
    assert weight.categories == categories


def test_units_are_matched_by_text_whoever_is_first() -> None:
    a = rubric(1, 2, 3)
    result = compare(Kind.RUBRIC, a, Rubric(units=a.units[::-1]))
    assert {(match.a, match.b) for match in result.matched} == {(unit.id, unit.id) for unit in a.units}
    assert value(result, "weight_kappa") == 1
    a, b = rubric(3, 2, 1, 2), rubric(3, 1, 1, 3)
    there, back = compare(Kind.RUBRIC, a, b), compare(Kind.RUBRIC, b, a)
    assert [(f.name, f.value) for f in there.figures] == [(f.name, f.value) for f in back.figures]
    assert back.values["weight"] == tuple((y, x) for x, y in there.values["weight"])


def test_undefined_weights_say_why() -> None:
    result = compare(Kind.RUBRIC, rubric(2, 2, 2), rubric(2, 2, 2))
    assert (value(result, "weight_agreement"), of(result, "weight_kappa").value) == (1, None)
    assert "one category only" in of(result, "weight_kappa").note
    result = compare(Kind.RUBRIC, rubric(2, 2), rubric(3, 1, sentences=SENTENCES[3:]))
    assert (value(result, "match_f1"), of(result, "weight_agreement").value) == (0, None)
    assert "no unit was judged by both" in of(result, "weight_kappa").note


def test_nuggets_and_diagnostics_are_compared_by_their_values() -> None:
    # (v,v) (v,o) (o,o) (o,o): seen 3/4; by chance ½·¼ + ½·¾ = ½; κ = (¾ − ½)/(1 − ½).
    result = compare(Kind.NUGGETS, nuggets(*"vvoo"), nuggets(*"vooo"))
    assert (value(result, "importance_agreement"), value(result, "importance_kappa")) == (
        0.75, pytest.approx(0.5),
    )  # fmt: skip
    assert value(result, "match_f1") == 1
    first, last = Aspect.BACKGROUND, Aspect.RESULTS
    a = statements((True, first), (True, last), (False, last), (True, first))
    b = statements((True, first), (True, last), (False, first), (False, first))
    result = compare(Kind.DIAGNOSTICS, a, b)
    # Labels TT TT FF TF: seen ¾; by chance ¾·½ + ¼·½ = ½. Aspects likewise: ½·¾ + ½·¼ = ½.
    assert (value(result, "label_kappa"), value(result, "aspect_kappa")) == pytest.approx((0.5, 0.5))
    assert not [figure.name for figure in result.figures if figure.name.endswith("ac1")]
    a = statements((True, None), (None, None), (False, None))
    result = compare(Kind.DIAGNOSTICS, a, statements((True, None), (False, None), (False, None)))
    assert (result.values["label"], of(result, "label_agreement").n, value(result, "label_kappa")) == (
        ((True, True), (None, False), (False, False)), 2, 1,
    )  # fmt: skip
    assert "1 of 3 units left out" in of(result, "label_kappa").note
    assert of(result, "aspect_kappa").value is None


def test_ac1_where_one_label_prevails() -> None:
    # Nine TT and one TF: seen .9; κ: by chance 1·.9 → 0. AC1: T has .95, so by chance 2·.95·.05 = .095.
    same = [(True, None)] * 9
    result = compare(Kind.DIAGNOSTICS, statements(*same, (True, None)), statements(*same, (False, None)))
    assert (value(result, "label_kappa"), value(result, "label_ac1")) == (
        pytest.approx(0), pytest.approx((0.9 - 0.095) / (1 - 0.095)),
    )  # fmt: skip
    assert "κ can be low" in of(result, "label_ac1").note
    result = compare(Kind.LABELS, labels("yyyy"), labels("yyyy"))
    # Nobody says no, so guessing has nothing to guess between: chance is 0.
    assert (of(result, "value_kappa").value, value(result, "value_ac1")) == (None, 1)


def test_plans_are_compared_by_order() -> None:
    a = Plan(units=tuple(Subtask(text=text) for text in SENTENCES[:4]))
    b = Plan(units=(a.units[1], a.units[0], *a.units[2:], Subtask(text=SENTENCES[5])))
    result = compare(Kind.PLAN, a, b)
    # One of six pairs stands the other way round: τ = (5 − 1)/6. F1 = 2·4 / (4 + 5).
    assert (value(result, "order_tau"), value(result, "match_f1"), result.values["position"]) == (
        pytest.approx(4 / 6), pytest.approx(8 / 9), ((1, 2), (2, 1), (3, 3), (4, 4)),
    )  # fmt: skip
    a = Plan(units=tuple(Subtask(text=text) for text in SENTENCES[:2]))
    tau = of(compare(Kind.PLAN, a, a), "order_tau")
    assert (tau.value, "too few" in tau.note) == (None, True)


def test_references_are_compared_by_identifier_and_importance() -> None:
    a = Evidence(
        units=(
            Reference(text="Deep residual learning", identifier="https://doi.org/10.1109/CVPR.2016.90"),
            Reference(text="Attention is all you need", identifier="arXiv:1706.03762v5"),
            Reference(text="A survey of hydrogen storage", identifier="10.1000/h2"),
        )
    )
    b = Evidence(
        units=(
            Reference(text="", identifier="1706.03762"),
            Reference(text="ResNet", identifier="doi:10.1109/cvpr.2016.90"),
        )
    )
    result = compare(Kind.EVIDENCE, a, b)
    # Two works in common, one only in A: 2/3, and F1 = 2·2 / (3 + 2).
    assert (value(result, "jaccard"), value(result, "match_f1")) == pytest.approx((2 / 3, 0.8))
    # Nobody said which are important, so nothing of it is measured.
    assert ("importance" in result.values, [figure.name for figure in result.figures]) == (
        False, ["jaccard", "match_f1"],
    )  # fmt: skip
    yes, no = "important", "not_important"
    a, b = (
        Evidence(
            units=tuple(Reference(text=t, importance=v) for t, v in zip(SENTENCES, values, strict=False))
        )
        for values in ((yes, no, yes, yes), (yes, no, no, ""))
    )
    result = compare(Kind.EVIDENCE, a, b)
    # What one of them left open is missing. Two of three pairs agree, by chance (2·1 + 1·2) / 9: (2/3 - 4/9) / (5/9).
    assert (result.values["importance"][3], value(result, "importance_kappa")) == (
        ("important", None), pytest.approx(0.4),
    )  # fmt: skip
    assert of(result, "importance_kappa").note.startswith("1 of 4 units left out")


@pytest.mark.parametrize(("kind", "document", "unit"), [
    (Kind.INSIGHTS, Insights, Insight), (Kind.QUERY, Query, Wording),
])  # fmt: skip
def test_insights_and_queries_are_compared_by_their_words(
    kind: Kind, document: type[Insights] | type[Query], unit: type[Insight] | type[Wording]
) -> None:
    a, b = (
        document(units=tuple(unit(text=text) for text in texts)) for texts in (SENTENCES[:3], SENTENCES[2:5])
    )  # type: ignore[arg-type]
    result = compare(kind, a, b)
    assert [(figure.name, figure.value) for figure in result.figures] == [("match_f1", pytest.approx(1 / 3))]


def test_checklists_are_compared_by_their_shares() -> None:
    # Deviations a: 5/30, −1/30, −4/30; b: −4/30, −1/30, 5/30. r = (−20 + 1 − 20)/(25 + 1 + 16).
    a, b = (
        Checklist(units=tuple(CheckPoint(text=t, share=s) for t, s in zip(SENTENCES, shares, strict=False)))
        for shares in ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))
    )
    assert value(compare(Kind.CHECKLIST, a, b), "share_pearson") == pytest.approx(-39 / 42)


def test_selection_ratings_are_compared() -> None:
    # The protocols' oracle: 2, 2, 3, 2 make an item score of 2.25.
    a, b = selection(2, 2, 3, 2), selection(3, 2, 3, 1)
    result = compare(Kind.SELECTION, a, Selection(units=b.units[::-1]))
    assert (value(result, "item_score_a"), value(result, "item_score_b")) == (2.25, 2.25)
    # Seen: mean |i−j| = 2/4. By chance: ¾·(½·1 + ¼·1) + ¼·(¼·1 + ¼·2) = ¾. κ = 1 − ½/¾.
    assert value(result, "rating_kappa") == pytest.approx(1 / 3)
    # Deviations (−1, −1, 3, −1)/4 and (3, −1, 3, −5)/4: r = (−3 + 1 + 9 + 5)/√(12·44).
    assert value(result, "rating_pearson") == pytest.approx(12 / sqrt(12 * 44))
    result = compare(Kind.SELECTION, selection(5, None, 3), selection(5, 4, None))
    assert (value(result, "item_score_a"), of(result, "rating_agreement").n) == (4, 1)
    assert "1 of 3 dimensions not rated" in of(result, "item_score_a").note


def test_labels_meet_by_ids() -> None:
    result = compare(Kind.LABELS, labels("yyn", "n?"), labels("ynn", "ny"))
    # Both sure: yy yn nn nn. Seen ¾; by chance ½·¼ + ½·¾ = ½.
    assert (value(result, "value_agreement"), value(result, "value_kappa")) == pytest.approx((0.75, 0.5))
    # Of these four yes has (1 + ½ + 0 + 0)/4 = 3/8, so chance is 2 · 3/8 · 5/8 = 15/32, and (¾ − 15/32)/(17/32) = 9/17.
    assert (value(result, "value_ac1"), of(result, "value_kappa").n) == pytest.approx((9 / 17, 4))
    assert "1 judgement of “unsure”" in of(result, "value_kappa").note
    result = compare(Kind.LABELS, labels("y", "n"), labels("n", "n"))
    assert result.values["value"] == (("yes", "no"), ("no", "no"))
    assert (result.values["response_id"], result.values["unit_id"]) == (
        (("report 0", "report 0"), ("report 1", "report 1")), (("c0", "c0"), ("c0", "c0")),
    )  # fmt: skip
    result = compare(Kind.LABELS, labels("yyn"), labels("yyny"))
    note = of(result, "value_agreement").note
    assert (len(result.only_b), "0 units only A has, 1 only B" in note) == (1, True)


def pair(a: str, b: str, one: str, other: str) -> PairAgreement:
    return compare_raters(Kind.LABELS, {a: labels(one), b: labels(other)}, a, b)


def test_alpha_of_three_raters() -> None:
    # Units yyy, yyn, nnn, nn?. Coincidences: yy 3 + 1, yn 1, ny 1, nn 3 + 2; yes 5, no 6 of 11.
    # α = 1 − 10·1/(5·6).
    p, q, r = "yynn", "yynn", "ynn?"
    (alpha,) = over_all(Kind.LABELS, "i", [pair("p", "q", p, q), pair("p", "r", p, r), pair("q", "r", q, r)])
    assert (alpha.name, alpha.value, alpha.n) == ("value_alpha", pytest.approx(2 / 3), 4)


def rubrics(a: str, b: str, one: Rubric, other: Rubric, pairs: list[tuple[str, str]]) -> PairAgreement:
    return compare_raters(Kind.RUBRIC, {a: one, b: other}, a, b, pairs)


def test_matches_that_contradict_each_other_are_left_out_of_alpha() -> None:
    a, b, c = (
        Rubric(units=tuple(Criterion(id=f"{who}{n}", text=SENTENCES[n]) for n in range(2))) for who in "abc"
    )
    torn = [
        rubrics("a", "b", a, b, [("a0", "b0"), ("a1", "b1")]),
        rubrics("b", "c", b, c, [("b0", "c0"), ("b1", "c1")]),
        # By way of b, a0 is c0; here it is c1: all six criteria become one.
        rubrics("a", "c", a, c, [("a0", "c1")]),
    ]
    mean, alpha = over_all(Kind.RUBRIC, "i", torn)
    assert (alpha.value, "1 unit left out" in alpha.note) == (None, True)
    # F1 of 1, 1 and 2·1/4.
    assert (mean.name, mean.value) == ("match_f1", pytest.approx(2.5 / 3))


def test_matching_has_a_version_and_aligns_every_kind() -> None:
    assert matcher()
    rules = {KINDS[kind].aligned for kind in KINDS if aligned(kind, (), ()).pairs == ()}
    assert rules == set(AlignmentRule)


@pytest.mark.parametrize(
    ("kind", "unit", "differs"),
    [
        (Kind.RUBRIC, Criterion(text="x", weight=2), {"weight": 3}),
        (Kind.DIAGNOSTICS, Statement(text="x", label=True), {"label": None}),
        (Kind.DIAGNOSTICS, Statement(text="x", label=True), {"aspect": Aspect.RESULTS}),
        (Kind.NUGGETS, Nugget(text="x"), {"importance": "vital"}),
        (Kind.CHECKLIST, CheckPoint(text="x", share=0.3), {"share": 0.4}),
        (Kind.SELECTION, DimensionRating(text="x", rating=3), {"rating": 4}),
        (Kind.EVIDENCE, Reference(text="x", identifier="10.1/a"), {"identifier": "10.1/b"}),
        (Kind.EVIDENCE, Reference(text="x"), {"importance": "important"}),
        (Kind.LABELS, LABEL, {"value": "unsure"}),
        (Kind.PLAN, Subtask(text="x"), {"text": "y"}),
    ],
)  # fmt: skip
def test_a_counted_field_makes_a_difference(kind: Kind, unit: Unit, differs: dict[str, object]) -> None:
    assert counts_equal(kind, unit, unit.model_copy(update={"id": "another"}))
    assert not counts_equal(kind, unit, unit.model_copy(update=differs))


@pytest.mark.parametrize(
    ("kind", "unit", "more"),
    [
        (Kind.RUBRIC, Criterion(text="Explains it"), {"note": "?", "insight_id": "i", "anchor": Anchor(quote="q")}),
        (Kind.RUBRIC, Criterion(text="Explains it"), {"more_anchors": (Anchor(quote="r"),)}),
        (Kind.RUBRIC, Criterion(text="Explains it"), {"text": "explains  it."}),
        (Kind.LABELS, LABEL, {"quote": "q", "flags": "flagged"}),
        (Kind.EVIDENCE, Reference(text="x", identifier="10.1000/A"), {"identifier": "https://doi.org/10.1000/a"}),
        (Kind.EVIDENCE, Reference(text="x", identifier="report 7"), {"identifier": " report 7", "year": 1999}),
        (Kind.CHECKLIST, CheckPoint(text="x", share=0.3), {"share": 0.1 + 0.2}),
    ],
)  # fmt: skip
def test_what_does_not_count_makes_no_difference(kind: Kind, unit: Unit, more: dict[str, object]) -> None:
    assert counts_equal(kind, unit, unit.model_copy(update=more))


def stored(document: Rubric | Insights) -> str:
    return canonical_json(document.tree()).decode()


def test_documents_are_read_once():
    content = stored(Rubric(units=(Criterion(id="u1", text="Names a dataset", weight=3),)))
    first = artifacts.read_document(Kind.RUBRIC, content)
    assert (first.units[0].weight, artifacts.read_document("rubric", content) is first) == (3, True)
    for each in (Rubric(units=(Criterion(id="u1", text=text),)) for text in ("One", "Other")):
        assert artifacts.read_document("rubric", stored(each)) == each
    content = stored(Insights(units=(Insight(id="u1", text="Depth helps"),)))
    kinds = [type(artifacts.read_document(kind, content)) for kind in ("insights", "rubric")]
    assert kinds == [Insights, Rubric]
    first = stored(Rubric(remark="note 0"))
    kept = artifacts.read_document("rubric", first)
    for number in range(1, artifacts.REMEMBERED + 1):
        artifacts.read_document("rubric", stored(Rubric(remark=f"note {number}")))
    again = artifacts.read_document("rubric", first)
    assert (again, again is kept) == (kept, False)
    with pytest.raises(ValidationError, match="weight"):
        artifacts.read_document("rubric", '{"units":[{"id":"u1","weight":9999}]}')
