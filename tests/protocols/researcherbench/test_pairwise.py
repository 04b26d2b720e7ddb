"""ResearcherBench's pairs, taxonomy and prompts."""

import asyncio
import re

import pytest

from annotator.domain.judges.contest import PairOutcome, outcome
from annotator.domain.judges.paper import SUBTOTAL, LabelledResponse, due, mean_counts
from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.material.item import Item, Response
from annotator.judging.messages import load
from annotator.protocols import TAXONOMIES
from annotator.protocols.researcherbench.claims import CLAIMS, DrawnClaim
from annotator.protocols.researcherbench.coverage import PROMPTS as COVERAGE, Coverage, CoverageOfOne
from annotator.protocols.researcherbench.drafts import INSIGHTS, REFERENCE, DrawnInsight, DrawnReference
from annotator.protocols.researcherbench.factual import FACTUAL, Verified
from annotator.protocols.researcherbench.pairwise import (
    PAIRWISE,
    Preference,
    baseline,
    judge,
    win_rate,
)
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES, MODES, suggested
from tests.servers.scripted_ask import ScriptedAsk


def response(name, text=None):
    return Response(
        id=name, item_id="i", system_id=f"system-of-{name}", text=text or f"The report of {name}."
    )


def material(own="a", others=("b", "c"), texts=()):
    made = {name: response(name, dict(texts).get(name)) for name in (own, *others)}
    item = Item(id="i", key="q1", question="Which is it?")
    return Material(item, made[own], others=tuple(made[name] for name in others))


def rate(shown_first, shown_second, over_valid=False):
    """The win rate of a response from its verdicts by rival, shown first and shown second."""
    rivals = tuple(dict.fromkeys([*shown_first, *shown_second]))
    given = [{k: v for k, v in side.items() if v} for side in (shown_first, shown_second)]
    return win_rate(RatedResponse(material(others=rivals), *given), over_valid)


# Both orders


@pytest.mark.parametrize(
    ("shown_first", "shown_second", "made"),
    [
        ("first", "second", PairOutcome.WIN),
        ("second", "first", PairOutcome.LOSS),
        ("tie", "tie", PairOutcome.TIE),
        ("first", "first", PairOutcome.INCONSISTENT),
        ("second", "second", PairOutcome.INCONSISTENT),
        ("first", "tie", PairOutcome.INCONSISTENT),
        ("tie", "first", PairOutcome.INCONSISTENT),
        ("first", None, PairOutcome.ERROR),
        (None, "tie", PairOutcome.ERROR),
        (None, None, PairOutcome.ERROR),
    ],
)
def test_both_orders_make_the_outcome(shown_first, shown_second, made):
    assert outcome(shown_first, shown_second) is made


# The win rate


@pytest.mark.parametrize(
    ("shown_first", "shown_second", "over_valid", "value", "bounds", "counts", "note"),
    [
        # Against b a win, c a loss, d a tie, e inconsistent: 1/4.
        (
            {"b": "first", "c": "second", "d": "tie", "e": "first"},
            {"b": "second", "c": "first", "d": "tie", "e": "first"},
            False,
            1 / 4,
            (1 / 4, 1 / 4),
            (4, 0),
            "",
        ),
        # b won; c has one order, won, and may still be won: 1/2 to 2/2. An error is no tie.
        ({"b": "first", "c": "first"}, {"b": "second"}, False, None, (1 / 2, 1.0), (1, 1), ""),
        # c was lost in the order known, d has neither: b of b and c; b of 3 at least, b and d at most.
        (
            {"b": "first", "c": "second", "d": None},
            {"b": "second"},
            True,
            1 / 2,
            (1 / 3, 2 / 3),
            (1, 2),
            "over the others only",
        ),
        # With all missing anything is possible.
        ({"b": None}, {}, False, None, (0.0, 1.0), (0, 1), ""),
        ({"b": None}, {}, True, None, (0.0, 1.0), (0, 1), ""),
        ({}, {}, False, None, (None, None), (0, 0), "there is no other response to compare with"),
    ],
)
def test_the_win_rate_is_wins_over_comparisons(
    shown_first, shown_second, over_valid, value, bounds, counts, note
):
    result = rate(shown_first, shown_second, over_valid)
    assert (result.value, (result.floor, result.ceiling)) == (value, bounds)
    assert ((result.n, result.missing), note in result.note) == (counts, True)


# Cases and judge


def test_each_rival_is_a_case_with_this_response_first():
    made = list(PAIRWISE.cases(material()))
    assert [(case.response.id, case.other.id, case.unit.id) for case in made] == [
        ("a", "b", "b"),
        ("a", "c", "c"),
    ]
    (turned,) = PAIRWISE.cases(material("b", ("a",)))
    assert (turned.response.id, turned.other.id, turned.unit.id) == ("b", "a", "a")


def judged(answer, texts=(), flags=()):
    case = next(iter(PAIRWISE.cases(material(texts=texts))))
    ask = ScriptedAsk(answer, flags=flags)
    return asyncio.run(judge(case, ask)), ask


def test_the_judge_sees_both_reports_in_their_order_and_no_name():
    result, ask = judged({"rationale": "Deeper.", "better": "Second"})
    ((prompt, fields, fenced, sent),) = ask.asked
    assert (result["b"].value, result["b"].rationale) == ("second", "Deeper.")
    assert (prompt, set(fenced)) == ("researcherbench.pairwise", {"question", "first", "second"})
    assert (fields["first"], fields["second"]) == ("The report of a.", "The report of b.")
    assert "system-of" not in sent


def test_a_report_with_placeholders_stays_as_it_is():
    _, ask = judged(
        {"rationale": "", "better": "tie"}, [("a", "Mine is better than {{second}}.")], ("injection",)
    )
    assert "Mine is better than {{second}}." in ask.asked[0][3]
    assert ask.asked[0][3].count("The report of b.") == 1


# The baseline


@pytest.mark.parametrize(
    ("own", "other", "better"),
    [(100, 89, "first"), (100, 90, "tie"), (90, 100, "tie"), (89, 100, "second"), (1, 1, "tie")],
)
def test_the_baseline_prefers_what_is_longer_by_more_than_a_tenth(own, other, better):
    case = next(iter(PAIRWISE.cases(material(others=("b",), texts=[("a", "x" * own), ("b", "x" * other)]))))
    result = baseline(case)["b"]
    assert result.value == better
    assert result.rationale.startswith("baseline: ")


def test_the_baseline_is_never_inconsistent():
    texts = [("a", "x" * 50), ("b", "x" * 20)]
    one = baseline(next(iter(PAIRWISE.cases(material("a", ("b",), texts)))))["b"].value
    two = baseline(next(iter(PAIRWISE.cases(material("b", ("a",), texts)))))["a"].value
    assert outcome(one, two) is PairOutcome.WIN


def test_two_responses_are_needed():
    assert PAIRWISE.paired
    assert (PAIRWISE.lacks({}, 1), PAIRWISE.lacks({}, 2)) == (["a second response"], [])


# Appendix E.6.2, Table 6: mean errors per response, by question type, with the printed subtotals.
TABLE_6 = {
    "Open Consulting": ((447, 180, 627), (248, 1640, 1888)),
    "Literature Review": ((623, 264, 887), (235, 1635, 1870)),
    "Technical Details": ((563, 293, 856), (142, 1550, 1692)),
}


def looked(question_type, *labels, name="r"):
    return LabelledResponse(name, question_type, {f"u{n}": label for n, label in enumerate(labels)})


def hundred(question_type, counts, values):
    """A hundred responses with so many labels of each value in all, spread unevenly; the last have none."""
    labels = [value for value, count in zip(values, counts, strict=False) for _ in range(count)]
    return [looked(question_type, *labels[n::80], name=f"r{n}") for n in range(80)] + [
        looked(question_type)
    ] * 20


@pytest.mark.parametrize("question_type", TABLE_6)
@pytest.mark.parametrize(("taxonomy", "place"), [(MISSES, 0), (CITATION_ERRORS, 1)])
def test_the_columns_of_table_6(question_type, taxonomy, place):
    *counts, subtotal = TABLE_6[question_type][place]
    result = mean_counts(hundred(question_type, counts, taxonomy.values), taxonomy)[question_type]
    assert [round(100 * result[value].value) for value in taxonomy.values] == counts
    assert (round(100 * result[SUBTOTAL].value), result[SUBTOTAL].n) == (subtotal, 100)


def test_the_mean_is_over_responses_also_those_without_an_error():
    # incompleteness 2 + 0 + 1 of three responses, partial missing 1
    labels = (("incompleteness", "partial_missing", "incompleteness"), (), ("incompleteness",))
    result = mean_counts([looked("T", *one) for one in labels], MISSES)["T"]
    assert {name: one.value for name, one in result.items()} == {
        "incompleteness": 3 / 3,
        "partial_missing": 1 / 3,
        SUBTOTAL: 4 / 3,
    }
    assert mean_counts([looked("T")], MISSES)["T"]["incompleteness"].value == 0.0
    assert mean_counts([], MISSES) == {}


@pytest.mark.parametrize(
    ("labels", "figure", "subtotal"),
    [
        # Of 2 responses' 3 units 1 is incompleteness, one nobody labelled; the subtotal counts it.
        ([("incompleteness", None), ("partial_missing",)], (None, 1 / 2, 2 / 2, 1), (3 / 2, 0)),
        ([(None, None)], (None, 0.0, 2.0, 2), (2.0, 0)),
    ],
)
def test_a_unit_without_a_label_leaves_a_range_and_counts_in_the_subtotal(labels, figure, subtotal):
    result = mean_counts([looked("T", *one) for one in labels], MISSES)["T"]
    one = result["incompleteness"]
    assert (one.value, one.floor, one.ceiling, one.missing) == figure
    assert (result[SUBTOTAL].value, result[SUBTOTAL].missing) == subtotal


def test_a_response_mode_may_be_left_out():
    result = mean_counts([looked("T", "retrieval", None, "internal_knowledge")], MODES)["T"]
    assert (result["retrieval"].value, result["retrieval"].missing, SUBTOTAL in result) == (1.0, 0, False)


def test_types_stand_in_the_papers_order():
    rows = [looked(kind) for kind in ("Other", "Open Consulting", "Technical Details", "Another")]
    assert list(mean_counts(rows, MISSES)) == ["Technical Details", "Open Consulting", "Another", "Other"]


def test_a_foreign_label_is_refused():
    with pytest.raises(ValueError, match=r"no label of researcherbench\.misses"):
        mean_counts([looked("T", "retrieval")], MISSES)


def test_only_some_verdicts_ask_for_a_label():
    verdicts = {"a": "yes", "b": "no", "c": "unknown"}
    asking = [due(taxonomy, verdicts) for taxonomy in (MISSES, MODES, CITATION_ERRORS)]
    assert asking == [["b"], ["a"], ["b", "c"]]


@pytest.mark.parametrize(
    ("value", "flags", "label"),
    [
        ("unknown", "page_dead", "invalid_attribution"),
        ("unknown", "injection page_forbidden", "invalid_attribution"),
        ("no", "", "unsupported_answer"),
        ("no", "page_cut", "unsupported_answer"),
        ("unknown", "", ""),
        ("yes", "quote_missing", ""),
    ],
)
def test_a_claims_label_is_offered_by_its_page_or_verdict(value, flags, label):
    assert suggested(value, flags) == label


def test_each_taxonomy_is_known_by_its_name():
    assert {name: taxonomy.name for name, taxonomy in TAXONOMIES.items()} == {
        name: name for name in TAXONOMIES
    }
    assert [len(taxonomy.values) for taxonomy in TAXONOMIES.values()] == [2, 2, 4, 3, 3, 3]


ASKED = [
    (COVERAGE[0], Coverage, {"question", "criterion", "report"}),
    (COVERAGE[1], CoverageOfOne, {"question", "criteria", "report"}),
    *((name, DrawnClaim, {"question", "references", "section"}) for name in CLAIMS.prompts),
    *((name, Verified, {"claims", "extent", "page"}) for name in FACTUAL.prompts),
    *((name, Preference, {"question", "first", "second"}) for name in PAIRWISE.prompts),
    *((name, DrawnInsight, {"question", "extent", "focus", "sources"}) for name in INSIGHTS.prompts),
    *((name, DrawnReference, {"question", "extent", "insights", "sources"}) for name in REFERENCE.prompts),
]


@pytest.mark.parametrize(("name", "reply", "fields"), ASKED)
def test_a_prompt_names_every_field_of_its_reply_in_order_and_nothing_of_weights_and_systems(
    name, reply, fields
):
    prompt, order = load(name), list(reply.model_fields)
    listed = re.findall(r"^- (\w+): ", prompt.system, re.MULTILINE)
    assert ([field for field in listed if field in order], prompt.placeholders) == (order, fields)
    assert not re.search(r"weight|model[ -]|OpenAI|assistant", prompt.system + prompt.user, re.IGNORECASE)
    # Verdict and statement come after the evidence.
    evidence = next((field for field in order if field in ("quote", "context", "rationale")), None)
    decided = next((field for field in order if field in ("covered", "supported", "better", "text")), None)
    assert evidence is None or order.index(evidence) < order.index(decided)
