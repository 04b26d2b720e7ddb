"""What the guidelines object to in evidence, checklists, nuggets, insights, ratings and tasks."""

import pytest

from annotator.domain.kinds.checklist import Checklist, CheckPoint, shared_rest
from annotator.domain.kinds.documents import lint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.selection import DimensionRating, Selection

FACTS = ("Glaciers lose mass in every decade", "Neurons fire in bursts", "Alloys corrode in salt water")


def rules(document):
    return {finding.rule for finding in lint(document)}


def evidence(*pairs):
    return Evidence(units=tuple(Reference(text=title, identifier=identifier) for title, identifier in pairs))


def checklist(*shares):
    points = (
        "Depth of analysis",
        "Use of sources",
        "Clear argument",
        "Novel ideas",
        "Feasible plan",
        "Risks",
        "Cost",
    )
    return Checklist(units=tuple(CheckPoint(text=t, share=s) for t, s in zip(points, shares, strict=False)))


def test_references_with_a_title_and_an_identifier_are_left_in_peace():
    assert lint(evidence(("Graph Attention", "10.1000/182"), ("On Alloys", "arXiv:2301.12345"))) == []


@pytest.mark.parametrize(
    ("identifier", "rule"),
    [("see page 12", "identifier"), ("978-0-306-40615-8", "identifier"), ("", "no-identifier")],
)
def test_an_identifier_that_cannot_be_read_is_named(identifier, rule):
    (finding,) = lint(evidence(("Graph Attention", identifier)))
    assert (finding.rule, finding.field, finding.level) == (rule, "identifier", "warning")


@pytest.mark.parametrize(
    "second",
    [("Other words", "https://doi.org/10.1000/182"), ("GRAPH ATTENTION.", "10.1000/999")],
)
def test_a_reference_given_twice_is_named(second):
    document = evidence(("On Alloys", "10.1000/7"), ("Graph Attention", "10.1000/182"), second)
    (finding,) = lint(document)
    assert (finding.rule, finding.unit_id) == ("duplicate", document.units[2].id)
    assert "reference 2" in finding.message


def test_a_missing_title_is_an_error():
    (finding,) = [f for f in lint(evidence(("", ""))) if f.level == "error"]
    assert finding.message == "The title is missing."


def test_a_checklist_whose_shares_sum_to_one_is_left_in_peace():
    assert lint(checklist(0.45, 0.30, 0.15, 0.10)) == []
    assert lint(checklist(0.33, 0.32, 0.34)) == []


def test_equal_shares_over_all_points_are_told():
    assert rules(checklist(0.33, 0.33, 0.33)) == {"equal"}


@pytest.mark.parametrize(("shares", "total"), [((0.5, 0.3, 0.1), "0.90"), ((0.5, 0.5, 0.5), "1.50")])
def test_shares_that_do_not_sum_to_one_are_an_error(shares, total):
    (finding,) = lint(checklist(*shares))
    assert (finding.rule, finding.level, finding.field) == ("sum", "error", "share")
    assert total in finding.message


@pytest.mark.parametrize(("n", "warned"), [(2, True), (3, False), (6, False), (7, True)])
def test_a_checklist_has_three_to_six_points(n, warned):
    assert ("count" in rules(checklist(*[1 / n] * n))) is warned


@pytest.mark.parametrize(
    ("given", "shares"),
    [
        ((0, 0, 0, 0), (0.25, 0.25, 0.25, 0.25)),
        ((0.45, 0.3, 0, 0), (0.45, 0.3, 0.125, 0.125)),
        ((0.5, 0.3, 0.2, 0), (0.5, 0.3, 0.2, 0)),
        ((0.33, 0.33, 0.339, 0), (0.33, 0.33, 0.339, 0)),
        ((0.9, 0.4, 0, 0), (0.9, 0.4, 0, 0)),
        ((0.5, 0.2), (0.5, 0.2)),
        ((), ()),
    ],
)
def test_points_without_a_share_have_equal_parts_of_the_rest(given, shares):
    assert [point.share for point in shared_rest(checklist(*given).units)] == pytest.approx(list(shares))


def test_a_point_has_a_title_before_its_words_and_one_without_reads_as_it_did():
    (point,) = Checklist.model_validate({"units": [{"id": "a", "text": " It holds. ", "share": 1}]}).units
    assert point.words == " It holds. "
    assert set(point.model_dump()) == {"id", "text", "note", "anchor", "share"}
    titled = point.model_copy(update={"title": "Rigour "})
    assert titled.words == "Rigour: It holds."
    assert titled.model_dump()["title"] == "Rigour "
    with pytest.raises(ValueError, match="200"):
        CheckPoint(title="x" * 201)


def test_a_point_that_counts_for_nothing_is_named():
    assert "weightless" in rules(checklist(0.5, 0.5, 0.0))


def test_points_alike_are_named():
    points = tuple(CheckPoint(text=text, share=0.5) for text in ("Depth of analysis", "Analysis depth"))
    assert "near-duplicate" in rules(Checklist(units=points))


def test_nuggets_should_hold_something_vital():
    nuggets = [Nugget(text=fact) for fact in FACTS]
    assert rules(Nuggets(units=tuple(nuggets))) == {"no-vital"}
    nuggets[0] = Nugget(text=FACTS[0], importance="vital")
    assert rules(Nuggets(units=tuple(nuggets))) == set()


def test_insights_alike_are_named():
    assert "near-duplicate" not in rules(Insights(units=tuple(Insight(text=fact) for fact in FACTS)))
    assert "near-duplicate" in rules(Insights(units=(Insight(text=FACTS[0]), Insight(text=FACTS[0].lower()))))


@pytest.mark.parametrize(("many", "warned"), [(7, True), (8, False), (15, False), (16, True)])
def test_letter_6_eight_to_fifteen_insights_are_asked_for(many, warned):
    units = tuple(Insight(text=f"Chamber {chr(ord('A') + at)} holds {at} litres.") for at in range(many))
    assert ("count" in rules(Insights(units=units))) is warned


def test_a_dimension_without_a_rating_is_an_error():
    units = (
        DimensionRating(text="Technical specificity", rating=4, note="Named."),
        DimensionRating(text="Application value"),
    )
    (finding,) = lint(Selection(units=units))
    assert (finding.level, finding.unit_id, finding.field) == ("error", units[1].id, "rating")


def rating(mean: int, **whole: object) -> Selection:
    units = tuple(DimensionRating(text=name, rating=mean, note="So.") for name in ("Depth", "Reach"))
    return Selection(units=units, **whole)


def test_letter_4_a_rating_without_a_reason_and_a_question_without_a_recommendation_are_remarked_on():
    bare = Selection(units=(DimensionRating(text="Depth", rating=5),))
    assert [f.rule for f in lint(bare)] == ["no-reason", "no-recommendation"]


def test_letter_4_a_recommendation_against_the_bar_is_remarked_on():
    assert rules(rating(5, recommendation="keep")) == set()
    assert rules(rating(4, recommendation="keep")) == {"recommendation"}
    assert [f.rule for f in lint(rating(4, recommendation="keep"), bar=4.0)] == []
    assert rules(rating(4, recommendation="rework")) == {"no-improvement"}
    assert rules(rating(4, recommendation="rework", improve="Name the field.")) == set()


def test_letter_4_what_is_not_said_is_not_written():
    assert rating(5).tree().keys() == {"units", "remark"}
    assert rating(5, recommendation="drop", improve="x").tree()["recommendation"] == "drop"
