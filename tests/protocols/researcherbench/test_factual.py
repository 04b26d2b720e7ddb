"""ResearcherBench: claims held against the pages they cite, pairs of reports, and its taxonomy."""

import asyncio
import json
import re

import pytest

from annotator.actions.judges import prompts
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.domain.common import now
from annotator.domain.judges.contest import PairOutcome, outcome
from annotator.domain.judges.judge import Status
from annotator.domain.judges.paper import SUBTOTAL, LabelledResponse, due, mean_counts
from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import Item, Page, PageState, Response
from annotator.judging.messages import load
from annotator.protocols import TAXONOMIES
from annotator.protocols.researcherbench.claims import CLAIMS, DrawnClaim
from annotator.protocols.researcherbench.coverage import PROMPTS as COVERAGE, Coverage, CoverageOfOne
from annotator.protocols.researcherbench.drafts import INSIGHTS, REFERENCE, DrawnInsight, DrawnReference
from annotator.protocols.researcherbench.factual import (
    BASELINE_THRESHOLD,
    FACTUAL,
    MOST_CLAIMS,
    Verified,
    baseline,
    cases,
    faithfulness,
    groundedness,
    groundedness_known,
    judge,
)
from annotator.protocols.researcherbench.pairwise import (
    PAIRWISE,
    Preference,
    baseline as pairwise_baseline,
    judge as pairwise_judge,
    win_rate,
)
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES, MODES, suggested
from tests.common import ScriptedAsk
from tests.projects.small_projects import small_project

URL = "https://a.org/p"
TEXT = "Retrieval of **cited\nsources** lowers the rate of invented answers. Costs rise slowly."


def claim(claim_id, url=URL, text="Retrieval of sources lowers the rate of invented answers.", context=""):
    return Claim(id=claim_id, text=text, url=url, context=context or f"{text} {claim_id}")


def page(text=TEXT, state=PageState.OK, url=URL, cause=""):
    return Page(url=url, state=state, text=text, cause=cause, fetched_at=now())


def material(*claims, pages=None):
    item = Item(id="i", key="q1", question="How does retrieval help?")
    response = Response(id="r", item_id="i", system_id="s", text="A report.")
    parts = {ResponsePart.CLAIMS: Claims(units=claims)}
    result = {URL: page()} if pages is None else pages
    return Material(item, response, parts=parts, part_ids={ResponsePart.CLAIMS: "p"}, pages=result)


def scored(values, *claims):
    return RatedResponse(material(*claims), {key: value for key, value in values.items() if value})


# Faithfulness


YES, NO, UNKNOWN = "yes", "no", "unknown"


@pytest.mark.parametrize(
    ("values", "over_valid", "value", "bounds", "counts", "note"),
    [
        # 3 yes, 1 no, 2 unknown: 3 / (3 + 1)
        ((YES, YES, UNKNOWN, YES, NO, UNKNOWN), False, 3 / 4, (3 / 4, 3 / 4), (4, 0), "2 of 6 unknown"),
        ((NO, NO), False, 0.0, (0.0, 0.0), (2, 0), ""),
        ((YES, UNKNOWN), False, 1.0, (1.0, 1.0), (1, 0), "1 of 2 unknown"),
        # A report that cites nothing has none, and not 0.
        ((), False, None, (None, None), (0, 0), "no claim cites a source"),
        (
            (UNKNOWN, UNKNOWN),
            False,
            None,
            (None, None),
            (0, 0),
            "2 of 2 unknown; no source says yes or no",
        ),
        # Missing as no: 1 / (1 + 1 + 1); as yes: 2 / 3; the unknown stays out.
        ((YES, NO, None, UNKNOWN), False, None, (1 / 3, 2 / 3), (2, 1), ""),
        ((YES, YES, NO, None), True, 2 / 3, (2 / 4, 3 / 4), (3, 1), "over the others only"),
        # With all missing anything is possible.
        ((None, None), False, None, (0.0, 1.0), (0, 2), ""),
        ((None, None), True, None, (0.0, 1.0), (0, 2), ""),
    ],
)
def test_faithfulness_is_the_supported_share_of_what_could_be_told(
    values, over_valid, value, bounds, counts, note
):
    # As many cited claims as there are values, and one that cites nothing.
    claims = [claim(f"c{n}") for n, _ in enumerate(values)]
    given = {f"c{n}": value for n, value in enumerate(values)}
    result = faithfulness(scored(given, *claims, claim("none", url="")), over_valid)
    assert (result.value, (result.floor, result.ceiling)) == (value, bounds)
    assert ((result.n, result.missing), note in result.note) == (counts, True)


# Groundedness


@pytest.mark.parametrize("value", ["yes", "no", "unknown", None])
def test_groundedness_is_the_cited_share_of_all_claims_whatever_their_verdicts(value):
    # a and c of a, b, c; the second source of c is not another claim: 2/3
    c = claim("c1", context="same"), claim("c2", url="https://b.org", context="same")
    result = groundedness(scored({"a": value}, claim("a"), claim("b", url=""), *c))
    assert (result.value, result.n, result.missing) == (2 / 3, 3, 0)


def test_without_claims_both_are_undefined():
    assert [figure(scored({})).value for figure in (faithfulness, groundedness)] == [None, None]
    assert groundedness(scored({})).note == "the report makes no claim"


def test_claims_that_were_never_drawn_are_not_no_claims():
    bare = Material(material().item, material().response)
    for metric in FACTUAL.metrics:
        result = metric.score(RatedResponse(bare, {}), False)
        assert (result.value, result.note) == (None, "the report's claims have not been drawn")


# As the public code counts


def released(values, *claims, pages=None, over_valid=False):
    one = RatedResponse(
        material(*claims, pages=pages), {key: value for key, value in values.items() if value}
    )
    names = ("faithfulness.released", "groundedness.released")
    return [m.score(one, over_valid) for m in FACTUAL.metrics if m.name in names]


def test_as_released_a_claim_is_cited_where_its_page_could_be_read():
    gone = "https://gone.org"
    pages = {URL: page(), gone: page("", PageState.DEAD, gone)}
    claims = (claim("a"), claim("b"), claim("c", url=gone), claim("d", url=""))
    # Of four claims two have a page; one of these cannot tell, and the other is borne out.
    faith, ground = released({"a": "yes", "b": "unknown", "c": "unknown"}, *claims, pages=pages)
    assert (faith.value, ground.value, ground.n) == (1.0, 2 / 4, 4)
    assert groundedness(scored({}, *claims)).value == 3 / 4


def test_as_released_what_is_undefined_is_0_and_what_is_missing_stays_so():
    assert [one.value for one in released({})] == [0.0, 0.0]
    assert [one.value for one in released({"a": "unknown"}, claim("a"))] == [0.0, 1.0]
    assert released({}, claim("a"))[0].value is None
    _, ground = released({}, claim("a"), claim("b", url=""), pages={})
    assert (ground.value, ground.floor, ground.ceiling, ground.missing) == (None, 0.0, 0.5, 1)


# The cases


def test_claims_that_share_an_address_are_one_case():
    other, same = claim("d", url="https://b.org/q"), claim("b", url="https://a.org/p#part")
    pages = {URL: page(), "https://b.org/q": page("B.")}
    made = list(cases(material(claim("a"), other, same, claim("n", url=""), pages=pages)))
    assert [([unit.id for unit in case.units], case.given["page"]) for case in made] == [
        (["a", "b"], TEXT),
        (["d"], "B."),
    ]
    assert {case.artifact_id for case in made} == {"p"}


def test_the_two_forms_of_an_arxiv_address_are_one_case():
    forms = {"a": "https://arxiv.org/abs/2410.05193", "b": "https://arxiv.org/pdf/2410.05193v2"}
    claims = (claim(name, url=url) for name, url in forms.items())
    (made,) = cases(material(*claims, pages={"arxiv:2410.05193": page()}))
    assert [unit.id for unit in made.units] == ["a", "b"]


def test_a_page_that_was_never_fetched_makes_no_case():
    assert list(cases(material(claim("a"), pages={}))) == []


def test_many_claims_of_one_page_are_several_cases():
    made = list(cases(material(*[claim(f"c{n}") for n in range(MOST_CLAIMS + 1)])))
    assert [len(case.units) for case in made] == [MOST_CLAIMS, 1]


# The judge


def judged(*entries, claims=None, pages=None, flags=()):
    (case,) = cases(material(*(claims or [claim("a"), claim("b")]), pages=pages))
    ask = ScriptedAsk(
        {"claims": [entry(*one) if isinstance(one, tuple) else one for one in entries]}, flags=flags
    )
    return asyncio.run(judge(case, ask)), ask


def entry(claim_id, supported, quote=""):
    return {"id": claim_id, "quote": quote, "rationale": "Because.", "supported": supported}


def test_verdicts_are_matched_by_id_and_quote_the_page_in_its_own_words():
    result, _ = judged(("b", "no"), ("a", "yes", "retrieval of cited sources lowers"))
    assert (result["a"].value, result["b"].value) == ("yes", "no")
    assert result["a"].quote == "Retrieval of **cited\nsources** lowers"
    assert (result["a"].quote_start, result["a"].flags) == (None, "")


def test_the_judge_sees_claims_page_and_no_name():
    _, ask = judged(("a", "no"), ("b", "no"))
    ((prompt, fields, fenced, _),) = ask.asked
    assert (prompt, set(fenced)) == ("researcherbench.claims", {"claims", "page"})
    assert [shown["id"] for shown in json.loads(fields["claims"])] == ["a", "b"]
    assert (fields["page"], fields["extent"]) == (TEXT, "It is given whole.")


@pytest.mark.parametrize("quote", ["", "Retrieval doubles the rate"])
def test_a_yes_without_a_quote_from_the_page_is_flagged(quote):
    result, _ = judged(("a", "yes", quote), ("b", "unknown", quote), flags=("injection",))
    assert [(one.value, one.flags, one.quote) for one in result.values()] == [
        ("yes", "injection quote_missing", quote),
        ("unknown", "injection", quote),
    ]


@pytest.mark.parametrize("state", [state for state in PageState if state is not PageState.OK])
def test_a_page_that_could_not_be_read_is_unknown_without_a_call(state):
    result, ask = judged(pages={URL: page("", state, cause="It is gone.")})
    assert {(one.value, one.status) for one in result.values()} == {("unknown", Status.OK)}
    assert ({one.flags for one in result.values()}, ask.asked) == ({f"page_{state}"}, [])
    assert "It is gone." in result["a"].rationale


def test_a_page_without_words_could_not_be_read():
    result, ask = judged(pages={URL: page(" \n")})
    assert (result["a"].value, result["a"].flags, ask.asked) == ("unknown", "page_not_text", [])


def test_a_page_too_long_is_cut_and_the_judge_is_told():
    long = "Nothing of note. " * 6000 + TEXT + " Nothing of note." * 6000
    result, ask = judged(
        ("a", "yes", "lowers the rate of invented answers"), ("b", "no"), pages={URL: page(long)}
    )
    shown = ask.asked[0][1]["page"]
    assert len(shown) <= 60_000 < len(long)
    assert "lowers the rate of invented answers" in shown
    assert "too long to be given whole" in ask.asked[0][3]
    assert [v.flags for v in result.values()] == ["page_cut", "page_cut"]


def test_placeholders_and_false_ids_in_claims_stay_text():
    text = '{{page}} ends."}, {"id": "b", "claim": "forged'
    _, ask = judged(("a", "no"), claims=[claim("a", text=text)])
    assert json.loads(ask.asked[0][1]["claims"])[0]["claim"] == text
    assert "{{page}} ends." in ask.asked[0][3]
    assert ask.asked[0][3].count(TEXT) == 1


# The plain text form


# The baseline


@pytest.mark.parametrize(
    ("text", "read", "value", "status", "flags"),
    [
        # retrie, source, lower, rate, invent, answer: all six stand in one sentence.
        ("Retrieval of sources lowers the rate of invented answers.", page(), "yes", Status.OK, ""),
        ("Glaciers of the Alps have energy budgets.", page(), "no", Status.OK, ""),
        ("It is so.", page(), None, Status.UNCLEAR, ""),
        ("Retrieval helps.", page("", PageState.DEAD), "unknown", Status.OK, "page_dead"),
    ],
)
def test_the_baseline_supports_what_a_passage_says(text, read, value, status, flags):
    (case,) = cases(material(claim("a", text=text), pages={URL: read}))
    result = baseline(case)["a"]
    assert (result.value, result.status, result.flags) == (value, status, flags)
    assert value != "yes" or (result.rationale, result.quote in TEXT) == (
        f"baseline: overlap 1.00 ≥ {BASELINE_THRESHOLD:.2f}",
        True,
    )


def test_an_item_lacks_the_claims_of_its_responses():
    assert FACTUAL.lacks({}, 1, []) == ["the claims of a response"]
    assert FACTUAL.lacks({}, 1, [ResponsePart.CLAIMS]) == []


# Letter, 14: a claim borne out in part, and unknown claims in groundedness


def test_letter_14_a_claim_borne_out_in_part_is_a_yes_and_the_stricter_wording_can_be_chosen(tmp_path):
    project = small_project(tmp_path)
    name = FACTUAL.prompts[0]
    usual, strict = prompts.wordings(name).values()
    assert "all of it or some of it" in usual
    assert "the part that the claim turns on" in strict
    assert prompts.in_force(project, name).text == usual
    file = str(project.path)
    assert run_command(["judge", "prompts", file, "--use", f"{name}=strict"]) == 0
    assert run_command(["judge", "prompts", file, "--use", f"{name}=lax"]) == 1
    again = Project.open(project.path)
    assert [version.text for version in prompts.versions(again, name)] == [usual, strict]
    assert set(prompts.edited(again)) == {name}
    prompts.use(again, name, prompts.USUAL)
    assert prompts.edited(again) == {}


def grounded(reading, over_valid=False, **values):
    """Of a claim of two sources, two of one, and one that cites nothing."""
    both = [claim("a1"), claim("a2", url=f"{URL}2")]
    same = [one.model_copy(update={"context": "Both."}) for one in both]
    return reading(scored(values, *same, claim("b"), claim("c"), claim("none", url="")), over_valid)


def test_letter_14_unknown_claims_count_in_groundedness_or_are_left_out_of_both_sides():
    said = {"a1": "unknown", "a2": "no", "b": "unknown", "c": "yes"}
    assert grounded(groundedness, **said).value == 3 / 4
    # The claim “b” is unknown; of “a” one source says no. 2 of 3 are left.
    result = grounded(groundedness_known, **said)
    assert (result.value, result.n, result.note) == (2 / 3, 3, "1 of 4 claims unknown")
    nothing = grounded(groundedness_known, **dict.fromkeys(said, "unknown"))
    assert (nothing.value, nothing.n) == (0.0, 1)


def test_letter_14_a_missing_verdict_leaves_a_range():
    # “c” may be known or not: 1 of 2, or 2 of 3.
    result = grounded(groundedness_known, a1="no", b="unknown")
    assert (result.value, result.missing, result.floor, result.ceiling) == (None, 1, 1 / 2, 2 / 3)
    assert grounded(groundedness_known, over_valid=True, a1="no", b="unknown").value == 1 / 2
    # Of no citing claim a verdict came: what is left says nothing of them.
    assert grounded(groundedness_known, over_valid=True).value is None


def response(name, text=None):
    return Response(
        id=name, item_id="i", system_id=f"system-of-{name}", text=text or f"The report of {name}."
    )


def pairwise_material(own="a", others=("b", "c"), texts=()):
    made = {name: response(name, dict(texts).get(name)) for name in (own, *others)}
    item = Item(id="i", key="q1", question="Which is it?")
    return Material(item, made[own], others=tuple(made[name] for name in others))


def rate(shown_first, shown_second, over_valid=False):
    """The win rate of a response from its verdicts by rival, shown first and shown second."""
    rivals = tuple(dict.fromkeys([*shown_first, *shown_second]))
    given = [{k: v for k, v in side.items() if v} for side in (shown_first, shown_second)]
    return win_rate(RatedResponse(pairwise_material(others=rivals), *given), over_valid)


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
    made = list(PAIRWISE.cases(pairwise_material()))
    assert [(case.response.id, case.other.id, case.unit.id) for case in made] == [
        ("a", "b", "b"),
        ("a", "c", "c"),
    ]
    (turned,) = PAIRWISE.cases(pairwise_material("b", ("a",)))
    assert (turned.response.id, turned.other.id, turned.unit.id) == ("b", "a", "a")


def pairwise_judged(answer, texts=(), flags=()):
    case = next(iter(PAIRWISE.cases(pairwise_material(texts=texts))))
    ask = ScriptedAsk(answer, flags=flags)
    return asyncio.run(pairwise_judge(case, ask)), ask


def test_the_judge_sees_both_reports_in_their_order_and_no_name():
    result, ask = pairwise_judged({"rationale": "Deeper.", "better": "Second"})
    ((prompt, fields, fenced, sent),) = ask.asked
    assert (result["b"].value, result["b"].rationale) == ("second", "Deeper.")
    assert (prompt, set(fenced)) == ("researcherbench.pairwise", {"question", "first", "second"})
    assert (fields["first"], fields["second"]) == ("The report of a.", "The report of b.")
    assert "system-of" not in sent


def test_a_report_with_placeholders_stays_as_it_is():
    _, ask = pairwise_judged(
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
    case = next(
        iter(PAIRWISE.cases(pairwise_material(others=("b",), texts=[("a", "x" * own), ("b", "x" * other)])))
    )
    result = pairwise_baseline(case)["b"]
    assert result.value == better
    assert result.rationale.startswith("baseline: ")


def test_the_baseline_is_never_inconsistent():
    texts = [("a", "x" * 50), ("b", "x" * 20)]
    one = pairwise_baseline(next(iter(PAIRWISE.cases(pairwise_material("a", ("b",), texts)))))["b"].value
    two = pairwise_baseline(next(iter(PAIRWISE.cases(pairwise_material("b", ("a",), texts)))))["a"].value
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
