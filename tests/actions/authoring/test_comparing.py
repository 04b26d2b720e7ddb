"""How two documents of each kind are compared: every expectation is worked out by hand, in the comments."""

from math import sqrt
from typing import Any

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
from annotator.domain.common import canonical_json
from annotator.domain.experts.adjudication import PairAgreement
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
from tests.projects.pairs_project import SENTENCES, signed_labels as labels, weighted_rubric as rubric

PLACES = ("Norway", "Kenya")
LABEL = Label(protocol="p", response_id="r", unit_id="u", value="yes")


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


def plan(*texts: str) -> Plan:
    return Plan(units=tuple(Subtask(text=text) for text in texts))


def checklist(*shares: float) -> Checklist:
    return Checklist(
        units=tuple(CheckPoint(text=t, share=s) for t, s in zip(SENTENCES, shares, strict=False))
    )


def evidence(*important: str) -> Evidence:
    return Evidence(
        units=tuple(Reference(text=t, importance=v) for t, v in zip(SENTENCES, important, strict=False))
    )


def works(*pairs: tuple[str, str]) -> Evidence:
    return Evidence(units=tuple(Reference(text=text, identifier=identifier) for text, identifier in pairs))


FIRST, LAST = Aspect.BACKGROUND, Aspect.RESULTS
RIGHT = [(True, None)] * 9
WORKS = works(
    ("Deep residual learning", "https://doi.org/10.1109/CVPR.2016.90"),
    ("Attention is all you need", "arXiv:1706.03762v5"),
    ("A survey of hydrogen storage", "10.1000/h2"),
)
# Of which kind, what the two wrote, and the figures of it; None is one that is not defined.
COMPARED: tuple[tuple[Kind, Any, Any, dict[str, float | None]], ...] = (
    # Three of four criteria are the same on either side: F1 = 2·3 / (4 + 4).
    # Weights (3,3), (2,1), (1,1). Seen: mean |i−j| = 1/3. By chance, a: one of each, b: 3 once, 1 twice:
    # 1/3·(2/3·2) + 1/3·(1/3·1 + 2/3·1) + 1/3·(1/3·2) = 1. κ = 1 − (1/3)/1.
    (Kind.RUBRIC, rubric(3, 2, 1, 2), Rubric(units=(*rubric(3, 1, 1).units, Criterion(text=SENTENCES[5]))), {
        "match_f1": 0.75, "weight_agreement": 2 / 3, "weight_kappa": 2 / 3}),
    # Weights (10,10), (2,1), (1,1). Seen: mean |a−b| = 1/3. By chance, a: 10, 2, 1 once each, b: 10 once, 1 twice:
    # (0 + 2·9 + 8 + 2·1 + 9 + 0) / 9 = 37/9. κ = 1 − (1/3) / (37/9) = 34/37.
    (Kind.RUBRIC, rubric(10, 2, 1), rubric(10, 1, 1), {"weight_kappa": 34 / 37}),
    # Two that differ in sign alone: (−3,3), (3,3), (−3,−3): seen 6/3, by chance half of 6 where a has 2:1, b 1:2.
    (Kind.RUBRIC, rubric(-3, 3, -3), rubric(3, 3, -3), {
        "weight_kappa": 1 - 2 / (6 * (2 / 3 * 2 / 3 + 1 / 3 * 1 / 3))}),
    (Kind.RUBRIC, rubric(2, 2, 2), rubric(2, 2, 2), {"weight_agreement": 1, "weight_kappa": None}),
    (Kind.RUBRIC, rubric(2, 2), rubric(3, 1, sentences=SENTENCES[3:]), {"match_f1": 0, "weight_agreement": None}),
    # (v,v) (v,o) (o,o) (o,o): seen 3/4; by chance ½·¼ + ½·¾ = ½; κ = (¾ − ½)/(1 − ½).
    (Kind.NUGGETS, nuggets(*"vvoo"), nuggets(*"vooo"), {
        "importance_agreement": 0.75, "importance_kappa": 0.5, "match_f1": 1}),
    # Labels TT TT FF TF: seen ¾; by chance ¾·½ + ¼·½ = ½. Aspects likewise: ½·¾ + ½·¼ = ½.
    (Kind.DIAGNOSTICS, statements((True, FIRST), (True, LAST), (False, LAST), (True, FIRST)),
     statements((True, FIRST), (True, LAST), (False, FIRST), (False, FIRST)), {
        "label_kappa": 0.5, "aspect_kappa": 0.5}),
    # What one of them left open is missing.
    (Kind.DIAGNOSTICS, statements((True, None), (None, None), (False, None)),
     statements((True, None), (False, None), (False, None)), {"label_kappa": 1, "aspect_kappa": None}),
    # Nine TT and one TF: seen .9; κ: by chance 1·.9 → 0. AC1: T has .95, so by chance 2·.95·.05 = .095.
    (Kind.DIAGNOSTICS, statements(*RIGHT, (True, None)), statements(*RIGHT, (False, None)), {
        "label_kappa": 0, "label_ac1": (0.9 - 0.095) / (1 - 0.095)}),
    # Nobody says no, so guessing has nothing to guess between: chance is 0.
    (Kind.LABELS, labels("yyyy"), labels("yyyy"), {"value_kappa": None, "value_ac1": 1}),
    # Both sure: yy yn nn nn. Seen ¾; by chance ½·¼ + ½·¾ = ½. Of these four yes has (1 + ½ + 0 + 0)/4 = 3/8, so chance
    # is 2 · 3/8 · 5/8 = 15/32, and (¾ − 15/32)/(17/32) = 9/17.
    (Kind.LABELS, labels("yyn", "n?"), labels("ynn", "ny"), {
        "value_agreement": 0.75, "value_kappa": 0.5, "value_ac1": 9 / 17}),
    # One of six pairs stands the other way round: τ = (5 − 1)/6. F1 = 2·4 / (4 + 5).
    (Kind.PLAN, plan(*SENTENCES[:4]), plan(SENTENCES[1], SENTENCES[0], *SENTENCES[2:4], SENTENCES[5]), {
        "order_tau": 4 / 6, "match_f1": 8 / 9}),
    (Kind.PLAN, plan(*SENTENCES[:2]), plan(*SENTENCES[:2]), {"order_tau": None}),
    # Two works in common, one only in A: 2/3, and F1 = 2·2 / (3 + 2).
    (Kind.EVIDENCE, WORKS, works(("", "1706.03762"), ("ResNet", "doi:10.1109/cvpr.2016.90")), {
        "jaccard": 2 / 3, "match_f1": 0.8}),
    # Two of three pairs agree, by chance (2·1 + 1·2) / 9: (2/3 - 4/9) / (5/9).
    (Kind.EVIDENCE, evidence("important", "not_important", "important", "important"),
     evidence("important", "not_important", "not_important", ""), {"importance_kappa": 0.4}),
    (Kind.INSIGHTS, Insights(units=tuple(Insight(text=text) for text in SENTENCES[:3])),
     Insights(units=tuple(Insight(text=text) for text in SENTENCES[2:5])), {"match_f1": 1 / 3}),
    (Kind.QUERY, Query(units=tuple(Wording(text=text) for text in SENTENCES[:3])),
     Query(units=tuple(Wording(text=text) for text in SENTENCES[2:5])), {"match_f1": 1 / 3}),
    # Deviations a: 5/30, −1/30, −4/30; b: −4/30, −1/30, 5/30. r = (−20 + 1 − 20)/(25 + 1 + 16).
    (Kind.CHECKLIST, checklist(0.5, 0.3, 0.2), checklist(0.2, 0.3, 0.5), {"share_pearson": -39 / 42}),
    # The protocols' oracle: 2, 2, 3, 2 make an item score of 2.25.
    # Seen: mean |i−j| = 2/4. By chance: ¾·(½·1 + ¼·1) + ¼·(¼·1 + ¼·2) = ¾. κ = 1 − ½/¾.
    # Deviations (−1, −1, 3, −1)/4 and (3, −1, 3, −5)/4: r = (−3 + 1 + 9 + 5)/√(12·44).
    (Kind.SELECTION, selection(2, 2, 3, 2), Selection(units=selection(3, 2, 3, 1).units[::-1]), {
        "item_score_a": 2.25, "item_score_b": 2.25, "rating_kappa": 1 / 3, "rating_pearson": 12 / sqrt(12 * 44)}),
    (Kind.SELECTION, selection(5, None, 3), selection(5, 4, None), {"item_score_a": 4}),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "a", "b", "figures"), COMPARED)
def test_two_documents_are_compared_by_what_counts_of_their_kind(
    kind: Kind, a: Any, b: Any, figures: dict[str, float | None]
) -> None:
    result = {figure.name: figure for figure in compare(kind, a, b).figures}
    assert {name: result[name].value for name in figures} == pytest.approx(figures)
    assert all(result[name].note for name, value in figures.items() if value is None)


# What was compared, of which figure, how many units it has and the words of its note.
NOTED: tuple[tuple[Kind, Any, Any, tuple[str, int, str]], ...] = (
    (Kind.RUBRIC, rubric(2, 2, 2), rubric(2, 2, 2), ("weight_kappa", 3, "one category only")),
    (Kind.RUBRIC, rubric(2), rubric(3, sentences=SENTENCES[3:]), ("weight_kappa", 0, "no unit was judged by both")),
    (Kind.DIAGNOSTICS, statements((True, None), (None, None)), statements((True, None), (False, None)), (
        "label_kappa", 1, "1 of 2 units left out")),
    (Kind.DIAGNOSTICS, statements(*RIGHT, (True, None)), statements(*RIGHT, (False, None)), (
        "label_ac1", 10, "κ can be low")),
    (Kind.PLAN, plan(*SENTENCES[:2]), plan(*SENTENCES[:2]), ("order_tau", 2, "too few")),
    (Kind.EVIDENCE, evidence("important", ""), evidence("important", "important"), (
        "importance_kappa", 1, "1 of 2 units left out")),
    (Kind.SELECTION, selection(5, None, 3), selection(5, 4, None), ("item_score_a", 2, "1 of 3 dimensions not rated")),
    (Kind.LABELS, labels("yyn", "n?"), labels("ynn", "ny"), ("value_kappa", 4, "1 judgement of “unsure”")),
    (Kind.LABELS, labels("yyn"), labels("yyny"), ("value_agreement", 3, "0 units only A has, 1 only B")),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "a", "b", "told"), NOTED)
def test_a_figure_says_what_it_leaves_out_and_why_there_is_none(
    kind: Kind, a: Any, b: Any, told: tuple[str, int, str]
) -> None:
    figure = next(each for each in compare(kind, a, b).figures if each.name == told[0])
    assert (figure.n, told[2] in figure.note) == (told[1], True)


def test_units_are_matched_by_text_or_as_they_are_paired_whoever_is_first() -> None:
    a, b = rubric(3, 2, 1, 2), Rubric(units=(*rubric(3, 1, 1).units, Criterion(text=SENTENCES[5])))
    there, back = compare(Kind.RUBRIC, a, b), compare(Kind.RUBRIC, b, a)
    assert (there.only_a, there.only_b) == ((a.units[3].id,), (b.units[3].id,))
    assert (there.values, back.values["weight"]) == (
        {"weight": ((3, 3), (2, 1), (1, 1))}, ((3, 3), (1, 2), (1, 1)),
    )  # fmt: skip
    assert [(f.name, f.value) for f in there.figures] == [(f.name, f.value) for f in back.figures]
    result = compare(Kind.RUBRIC, a, Rubric(units=a.units[::-1]))
    assert {(match.a, match.b) for match in result.matched} == {(unit.id, unit.id) for unit in a.units}
    a, b = rubric(2, 3), rubric(3, 1, sentences=SENTENCES[3:])
    result = compare(Kind.RUBRIC, a, b, pairs=[(a.units[1].id, b.units[0].id)])
    assert (result.values["weight"], result.only_a, result.only_b) == (
        ((3, 3),), (a.units[0].id,), (b.units[1].id,),
    )  # fmt: skip


@pytest.mark.parametrize(("used", "categories"), [((3, 1), (1, 2, 3)), ((5, 1), (1, 5))])
def test_the_weights_that_count_are_the_usual_ones_or_those_in_use_where_another_is(
    used: tuple[int, int], categories: tuple[int, ...]
) -> None:
    (weight,) = (one for one in fields_of(Kind.RUBRIC, [{"weight": (used,)}]) if one.name == "weight")
    assert weight.categories == categories


def test_only_what_somebody_said_is_measured_and_of_labels_what_they_are_about_is_kept() -> None:
    of_labels = compare(Kind.LABELS, labels("y", "n"), labels("n", "n")).values
    assert {name: of_labels[name] for name in ("value", "response_id", "unit_id")} == {
        "value": (("yes", "no"), ("no", "no")),
        "response_id": (("report 0", "report 0"), ("report 1", "report 1")),
        "unit_id": (("c0", "c0"), ("c0", "c0")),
    }
    assert compare(Kind.PLAN, plan(*SENTENCES[:2]), plan(SENTENCES[1], SENTENCES[0])).values["position"] == (
        (1, 2),
        (2, 1),
    )
    assert [figure.name for figure in compare(Kind.EVIDENCE, WORKS, WORKS).figures] == ["jaccard", "match_f1"]
    # Where no label prevails κ says enough.
    said = statements((True, FIRST), (True, LAST), (False, LAST), (False, FIRST))
    assert not [one for one in compare(Kind.DIAGNOSTICS, said, said).figures if one.name.endswith("ac1")]


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
    assert {KINDS[kind].aligned for kind in KINDS if aligned(kind, (), ()).pairs == ()} == set(AlignmentRule)


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
    content = stored(Insights(units=(Insight(id="u1", text="Depth helps"),)))
    assert [type(artifacts.read_document(kind, content)) for kind in ("insights", "rubric")] == [
        Insights,
        Rubric,
    ]
    first = stored(Rubric(remark="note 0"))
    kept = artifacts.read_document("rubric", first)
    for number in range(1, artifacts.REMEMBERED + 1):
        artifacts.read_document("rubric", stored(Rubric(remark=f"note {number}")))
    again = artifacts.read_document("rubric", first)
    assert (again, again is kept) == (kept, False)
    with pytest.raises(ValidationError, match="weight"):
        artifacts.read_document("rubric", '{"units":[{"id":"u1","weight":9999}]}')
