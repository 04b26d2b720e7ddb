"""ADRA's retrieval and reasoning: counts, figures, the judge, and how references are read."""

import asyncio
import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, strategies as st

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.identifier import parse
from annotator.protocols.adra.counts import CountTally, estimate, f1, jaccard, precision, recall
from annotator.protocols.adra.reading import LONGEST_QUOTE, is_list_heading, references
from annotator.protocols.adra.reasoning import (
    ACCURACY,
    BASELINE_THRESHOLD,
    F1,
    PRECISION,
    REASONING,
    RECALL,
    SILENCE_AS_FALSE,
    STRICT,
    OneTold,
    Together,
    Told,
    accuracy,
    aspect,
    baseline as reasoning_baseline,
    judge,
    judge_together,
    score,
)
from annotator.protocols.adra.retrieval import RETRIEVAL, Listed, References, baseline, compare, extract
from annotator.protocols.citations import LONGEST_IDENTIFIER
from tests.common import stands_in

ITEM = Item(id="i", key="q1", question="How does retrieval help?")


class Ask:
    def __init__(self, reply=None, status=Status.OK, cause="", flags=()):
        self.answer = Answer(status, reply, cause=cause, flags=flags)
        self.asked = []

    async def __call__(self, prompt, fields, reply, fenced=()):
        self.asked.append((prompt, fields, reply, tuple(fenced)))
        return self.answer


def run(coroutine):
    return asyncio.run(coroutine)


def response(text="", **fields):
    return Response(id="r", item_id="i", system_id="s", text=text, **fields)


def material(text="", documents=None, parts=None, **fields):
    documents = documents or {}
    artifact_ids = {kind: f"artifact of {kind.value}" for kind in documents}
    return Material(ITEM, response(text, **fields), documents, artifact_ids, parts or {})


def plan(letter, texts):
    """A plan whose sub-tasks have the ids p1, p2 …"""
    return Plan(units=tuple((Subtask(id=f"{letter}{n}", text=text) for n, text in enumerate(texts, start=1))))


def plans(predicted, gold):
    """Material with so many predicted and gold sub-tasks; None for no plan at all."""
    parts = {} if predicted is None else {ResponsePart.PLAN: plan("p", ["x"] * predicted)}
    return material(documents={Kind.PLAN: plan("g", ["y"] * gold)}, parts=parts)


def scored_matrix(rows, gold=None):
    """A matrix of 1, 0 and None (missing) as a rater's values on a predicted and a gold plan."""
    values = {
        f"p{i}~g{j}": "relevant" if cell else "not"
        for i, row in enumerate(rows, start=1)
        for j, cell in enumerate(row, start=1)
        if cell is not None
    }
    return RatedResponse(plans(len(rows), len(rows[0]) if gold is None else gold), values)


def works(*pairs):
    return tuple(Reference(id=f"w{n}", identifier=i, text=title) for n, (i, title) in enumerate(pairs))


def evidence(retrieved, gold):
    """Material with retrieved and gold references; None for references that are not known."""
    parts = {} if retrieved is None else {ResponsePart.REFERENCES: Evidence(units=retrieved)}
    return material(documents={Kind.EVIDENCE: Evidence(units=gold)}, parts=parts)


def statements(*labels):
    """Diagnostics with these gold labels, of ids s0, s1 …"""
    return Diagnostics(
        units=tuple(Statement(id=f"s{n}", text=f"Claim {n}.", label=label) for n, label in enumerate(labels))
    )


def metric(protocol, name):
    (result,) = (metric for metric in protocol.metrics if metric.name == name)
    return result


FIGURES = ("jaccard", "precision", "recall", "f1", "hit")
DOI, ARXIV = "10.1000/one", "arXiv:2301.00001"
LONG = "A survey of attention in long documents"


def scores(retrieved, gold):
    scored = RatedResponse(evidence(retrieved, gold), {})
    return [metric(RETRIEVAL, f"retrieval.{name}").score(scored, False) for name in FIGURES]


def values(retrieved, gold):
    return [result.value for result in scores(retrieved, gold)]


# The keys of appendix G and the protocols page, in their order


@pytest.mark.parametrize(
    ("retrieved", "gold", "by", "key"),
    [
        (("https://doi.org/10.1000/ONE", ""), (DOI, LONG), "doi", "10.1000/one"),
        (("https://arxiv.org/pdf/2301.00001v3", ""), (ARXIV, LONG), "arxiv", "2301.00001"),
        (("10.48550/arXiv.2301.00001", ""), ("2301.00001v1", ""), "arxiv", "2301.00001"),
        (
            ("", "Attention in Long Documénts!"),
            ("", "attention in long documents: part II"),
            "title",
            "attention in long do",
        ),
        ((ARXIV, LONG), (DOI, LONG), "title", "a survey of attentio"),
        (("", "BERT, again"), ("", "Bert again"), "title", "bert again"),
    ],
)
def test_a_match_tells_by_which_key(retrieved, gold, by, key):
    (match,) = compare(works(retrieved), works(gold)).matches
    assert (match.by, match.key) == (by, key)


@pytest.mark.parametrize(
    ("retrieved", "gold"),
    [
        ((DOI, ""), ("10.1000/two", "")),
        (("", "A survey of attentive readers"), ("", LONG)),
        # Fewer than 20 normal characters match only when equal.
        (("", "Attention"), ("", "Attention in long documents")),
        (("", ""), ("", "")),
        (("https://a.org/x", ""), ("https://a.org/x", "")),
    ],
)
def test_what_no_key_joins_is_superfluous_and_lacking(retrieved, gold):
    result = compare(works(retrieved), works(gold))
    assert (len(result.matches), len(result.superfluous), len(result.lacking)) == (0, 1, 1)


def test_a_doi_goes_before_a_title():
    result = compare(works(("", LONG), (DOI, "Another title")), works((DOI, LONG)))
    assert [(match.retrieved.id, match.by) for match in result.matches] == [("w1", "doi")]
    assert [reference.id for reference in result.superfluous] == ["w0"]


def test_a_gold_work_is_found_once_however_often_it_is_retrieved():
    result = compare(works((DOI, ""), (DOI, "")), works((DOI, ""), ("10.1000/two", "")))
    assert (len(result.matches), len(result.superfluous), len(result.lacking)) == (1, 1, 1)


# What that is worth


def test_a_hand_made_list_of_references():
    # 4 retrieved, 3 gold, 2 the same: J 2/5, P 2/4, R 2/3, F1 4/7; with three gold sources no hit is defined.
    retrieved = works((DOI, ""), (ARXIV, ""), ("10.1/x", ""), ("10.1/y", ""))
    result = scores(retrieved, works((ARXIV, LONG), (DOI, ""), ("10.1/z", "")))
    assert [one.value for one in result] == [2 / 5, 2 / 4, 2 / 3, 4 / 7, None]
    assert result[4].note == "there are several gold sources"
    assert (result[0].n, result[0].missing, result[0].floor, result[0].ceiling) == (3, 0, 2 / 5, 2 / 5)
    assert result[0].note == "2 found of 3, 4 retrieved"


def test_one_gold_source_is_hit_or_not():
    # Among three retrieved: hit 1, J 1/3, P 1/3, R 1, F1 2/4.
    retrieved = works(("10.1/x", ""), (DOI, ""), ("10.1/y", ""))
    assert values(retrieved, works((DOI, ""))) == [1 / 3, 1 / 3, 1, 2 / 4, 1]
    assert values(retrieved, works((ARXIV, ""))) == [0, 0, 0, 0, 0]


def test_table_2_averages_hits_of_research_papers_with_jaccard_of_reviews():
    # Table 2, retrieval, OpenAI: research 62.00, review 0.69, Avg. 31.35.
    one, other = works((DOI, "")), works((ARXIV, ""))
    assert fmean([fmean([values(one, one)[4]] * 62 + [values(other, one)[4]] * 38), 0.0069]) == pytest.approx(
        0.3135, abs=5.1e-5
    )


def test_no_references_find_nothing():
    assert values((), works((DOI, ""))) == [0, 0, 0, 0, 0]
    # Of two reports one cites nothing: the mean is 1/2 or that of the other alone, by the reading.
    both = [RatedResponse(evidence(one, works((DOI, ""))), {}) for one in ((), works((DOI, "")))]
    citing, precision = (
        [metric(RETRIEVAL, name).score(scored, False) for scored in both]
        for name in ("retrieval.precision.citing", "retrieval.precision")
    )
    assert [[one.value for one in result] for result in (citing, precision)] == [[None, 1], [0, 1]]
    assert citing[0].note == "nothing was predicted"


@pytest.mark.parametrize(
    ("retrieved", "gold", "note"),
    [
        (None, works((DOI, "")), "the references of this response are not known"),
        (works((DOI, "")), (), "the item has no gold evidence"),
    ],
)
def test_where_references_are_not_known_nothing_is_defined(retrieved, gold, note):
    assert {(one.value, one.floor, one.note) for one in scores(retrieved, gold)} == {(None, None, note)}


def test_no_judge_is_asked():
    nobody = (RETRIEVAL.judge, RETRIEVAL.baseline, RETRIEVAL.values, RETRIEVAL.unit_kind)
    assert nobody == (None, None, (), None)
    assert list(RETRIEVAL.cases(evidence((), works((DOI, ""))))) == []
    assert RETRIEVAL.lacks({}, 1, ()) == [f"a {Kind.EVIDENCE.value}", "the references of a response"]


REPORT = "It helps (Lee 2020).\n\n## References\n1. Lee, A. (2020). Long texts read. arXiv:2001.00001.\n"
ENTRY = "Lee, A. (2020). Long texts read. arXiv:2001.00001."


def one(quote=ENTRY, title="Long texts read", identifier="arXiv:2001.00001", authors="Lee, A.", year=2020):
    return Listed(quote=quote, title=title, identifier=identifier, authors=authors, year=year)


def drawn(*listed, flags=()):
    return run(extract(material(REPORT), Ask(References(references=list(listed)), flags=flags)))


def test_the_model_sees_the_report_behind_a_fence():
    ask = Ask(References(references=[]))
    run(extract(material(REPORT), ask))
    assert ask.asked == [("adra.references", {"report": REPORT}, References, ("report",))]


def test_a_reference_is_kept_with_its_place_in_the_report():
    result = drawn(one())
    (unit,) = result.document.units
    known = (unit.text, unit.identifier, unit.authors, unit.year)
    assert known == ("Long texts read", "arxiv:2001.00001", "Lee, A.", 2020)
    assert (stands_in(unit.anchor, REPORT), result.status, result.flags) == (True, Status.OK, ())


INVENTED = "Attention is all you need"


@pytest.mark.parametrize(
    ("listed", "kept", "flag"),
    [
        (one(quote="Doe, B. (2021). Never cited."), [], "quote_missing"),
        (one(identifier="10.1000/invented"), [("", "Long texts read")], "identifier_missing"),
        (one(title=INVENTED), [("arxiv:2001.00001", "")], "title_missing"),
        (one(title=INVENTED, identifier=""), [], "title_missing"),
    ],
)
def test_what_the_report_does_not_hold_is_left_out_and_flagged(listed, kept, flag):
    result = drawn(listed, flags=("injection",))
    assert [(unit.identifier, unit.text) for unit in result.document.units] == kept
    assert result.flags == ("injection", flag)


def test_a_title_in_other_letters_or_over_a_line_break_is_the_reports():
    report = "It helps [1].\n\n[1] Lee, A. *Long texts\n  read*. 2020.\n"
    listed = one(quote="Lee, A. Long texts read. 2020.", title="Long Texts Read", identifier="")
    result = run(extract(material(report), Ask(References(references=[listed]))))
    assert ([unit.text for unit in result.document.units], result.flags) == (["Long Texts Read"], ())


def test_the_same_work_twice_is_one_and_an_impossible_year_none():
    assert len(drawn(one(), one(), one(title="", identifier="")).document.units) == 1
    assert drawn(one(year=20)).document.units[0].year is None


def test_a_quote_and_an_address_too_long_to_keep_spoil_no_reference():
    address = f"https://a.org/{'x' * LONGEST_IDENTIFIER}"
    report = f"{ENTRY} {address} {'word ' * LONGEST_QUOTE}"
    listed = one(quote=report, identifier=address)
    (unit,) = run(extract(material(report), Ask(References(references=[listed])))).document.units
    assert (unit.text, unit.identifier) == ("Long texts read", "")
    assert unit.anchor.quote == report[:LONGEST_QUOTE]


def test_the_plain_text_form_has_four_fields_a_line():
    (result,) = References.from_text(f"{ENTRY} || Long texts read || - || Lee, A.\n\n").references
    assert result == one(identifier="", year=None)
    for text in ("", "a || b", "There are none."):
        with pytest.raises(ValueError, match="4 fields"):
            References.from_text(text)


def test_the_baseline_reads_by_rule_and_says_so():
    result = baseline(material(REPORT))
    (unit,) = result.document.units
    assert (unit.identifier, unit.text, unit.id) == (
        "arxiv:2001.00001",
        "Long texts read",
        drawn(one()).document.units[0].id,
    )
    assert result.document.remark.startswith("baseline: ")


def test_an_empty_list_is_an_answer():
    for result in (drawn(), baseline(material("Nothing."))):
        assert (result.document.units, result.status) == ((), Status.OK)


PUBLIC = Path(__file__).parents[3] / "../shared/data"
NUMBERED = """# A report

It helps [1], they say [2][3].

## References

[1] Z. Chen et al., "Graphs for Tuning Models," arXiv:2505.20416, 2025.
[2] https://a.org/x
[3] A. Lee. Attention in long texts.
    In Proc. of X, 2021.

## Appendix

[9] is no entry.
"""


def read(report):
    return [(unit.identifier, unit.text) for unit in references(report).units]


LONG_TITLE = "Attention in long texts of many pages"


@pytest.mark.parametrize(
    ("report", "wanted"),
    [
        pytest.param(
            NUMBERED,
            [
                ("arxiv:2505.20416", "Graphs for Tuning Models"),
                ("https://a.org/x", ""),
                ("", "Attention in long texts"),
            ],
            id="an entry of a numbered list is a work",
        ),
        pytest.param(
            "It helps[^1].\n\n[^1]: https://arxiv.org/html/2410.05193v1\n\n"
            "[^b2]: Lee, A. (2020). Long texts read. X.\n\nAnd on.",
            [("arxiv:2410.05193", ""), ("", "Long texts read")],
            id="footnotes are entries wherever they stand",
        ),
        pytest.param(
            "So it is ([Attention in long texts](https://a.org/x#:~:text=So it,is)), and ([again](https://a.org/x/)). "
            "See doi:10.1000/182 and arXiv:2301.00001v2 and https://arxiv.org/abs/2301.00001.",
            [
                ("https://a.org/x", "Attention in long texts"),
                ("doi:10.1000/182", ""),
                ("arxiv:2301.00001", ""),
            ],
            id="links and names in the text count once each",
        ),
        pytest.param(
            f"[{LONG_TITLE}](https://doi.org/10.1000/b) [{LONG_TITLE}](https://doi.org/10.1000/c) "
            f"[{LONG_TITLE}](https://a.org/x)",
            [("doi:10.1000/b", LONG_TITLE), ("doi:10.1000/c", LONG_TITLE)],
            id="equal titles with different DOIs are two works, and an address is one of them",
        ),
        pytest.param(
            f"## Sources\n- Lee et al., *{LONG_TITLE}* ([](https://arxiv.org/abs/2301.00001)) "
            "([Another page on something else](https://b.org/y))\n",
            [("arxiv:2301.00001", LONG_TITLE), ("https://b.org/y", "Another page on something else")],
            id="an entry that links elsewhere too names two",
        ),
        pytest.param(
            '**Sources**:\n[1] Lee, "Long texts read"\n[2] Doe, "Short texts read"\n\n'
            "## References\n[1] https://a.org/x\n",
            [("https://a.org/x", "Long texts read"), ("", "Short texts read")],
            id="two lists with the same numbers are put together",
        ),
    ],
)
def test_a_report_is_read_for_the_works_that_it_names(report, wanted):
    assert read(report) == wanted


def test_an_entry_gives_authors_year_and_where_it_stands():
    unit = references(NUMBERED, "r").units[2]
    assert (unit.authors, unit.year, unit.anchor.source_id) == ("A. Lee", 2021, "r")
    assert unit.anchor.quote == "[3] A. Lee. Attention in long texts.\n    In Proc. of X, 2021."
    assert stands_in(unit.anchor, NUMBERED)


def test_what_the_text_and_the_list_say_of_a_work_is_put_together():
    entry = "- Attention in long texts of many pages, arXiv:2301.00001, 2023"
    report = f"It helps ([arxiv.org](https://arxiv.org/abs/2301.00001)).\n\n**Sources:**\n{entry}\n"
    ((unit),) = references(report).units
    assert (unit.identifier, unit.year) == ("arxiv:2301.00001", 2023)
    assert unit.text.startswith("Attention in long texts of many pages")


def test_a_list_without_markers_is_read_by_paragraphs_or_lines():
    lines = "References:\nLee, A. (2020). Long texts read. X.\nDoe, B. (2021). Short texts read. Y.\n"
    paragraphs = lines.replace("X.\n", "X.\n\n").replace("(2020). ", "(2020).\n")
    assert read(lines) == read(paragraphs) == [("", "Long texts read"), ("", "Short texts read")]


@pytest.mark.parametrize(
    "heading",
    ["## References", "**Sources**:", "### 7. Works Cited", "__Bibliography__", "Quellen:", "## 参考文献"],
)
def test_a_list_is_known_by_its_heading(heading):
    assert read(f"Text.\n\n{heading}\n\n1. Attention in long texts, 2021\n") == [
        ("", "Attention in long texts")
    ]


@pytest.mark.parametrize("heading", ["Sources of error", "Reference frames", "Related literature", "1."])
def test_other_headings_begin_no_list(heading):
    assert not is_list_heading(heading)
    assert read(f"## {heading}\n\n1. Attention in long texts, 2021\n") == []


@pytest.mark.parametrize("report", ["", "Nothing is cited here.", "## References\n\n", "## References"])
def test_a_report_without_references_has_none(report):
    assert references(report).units == ()


def test_the_same_report_gives_the_same_references_with_the_same_ids():
    one, other = references(NUMBERED), references(NUMBERED)
    assert (one, len({unit.id for unit in one.units})) == (other, 3)


def test_a_hostile_report_does_not_hang_the_reading():
    for piece in ("[", "](", "[a](https://a.org/x", "## References\n[1] [", "10.1000/", "*a ", "A. B, "):
        text = piece * (100_000 // len(piece))
        assert all(len(unit.text) < len(text) for unit in references(text).units)


# The public reports


@pytest.fixture
def public():
    folder = PUBLIC / "researcherbench" / "responses"
    if not folder.exists():
        pytest.skip("the public data of ResearcherBench are not beside this checkout")
    return {
        path.stem: [entry["response"] for entry in json.loads(path.read_text(encoding="utf-8"))]
        for path in sorted(folder.glob("*.json"))
    }


def test_every_footnote_of_the_public_reports_is_read(public):
    # Perplexity's reports end in footnotes of one bare address each.
    report = public["Perplexity"][0]
    wanted = {str(parse(line.split("]: ")[1])) for line in report.splitlines() if line.startswith("[^")}
    result = {unit.identifier for unit in references(report).units}
    plain = {one for one in wanted if one.startswith("arxiv:")}
    assert len(plain) > 20
    assert plain <= result


def test_the_public_report_with_an_ieee_list_is_read_as_it_is_printed(public):
    first = [
        (unit.identifier, unit.text[:40], unit.year)
        for unit in references(public["gpt-4o-search-preview"][0]).units
    ]
    assert ("arxiv:2505.20416", "GraphGen: Enhancing Supervised Fine-Tuni", 2025) in first
    assert ("arxiv:2409.02098", "CRAFT Your Dataset: Task-Specific Synthe", 2024) in first
    assert len([one for one in first if one[0].startswith("arxiv:")]) == 5


def test_reports_without_links_have_next_to_no_references(public):
    # Claude's 65 reports hold no address and three mentions of arXiv.
    assert sum(len(references(report).units) for report in public["Claude"]) <= 3


def test_a_list_of_links_by_author_and_date_gives_the_titles_beside_them():
    path = PUBLIC / "deepscholar" / "reports" / "deepscholar_base_gpt_4.1__0.md"
    if not path.exists():
        pytest.skip("the public data of DeepScholar are not beside this checkout")
    result = {unit.identifier: unit.text for unit in references(path.read_text(encoding="utf-8")).units}
    assert (result["arxiv:1904.13276"], len(result)) == ("Tax Mechanisms and Gradient Flows", 22)


@pytest.mark.parametrize(
    ("tally", "expected"),
    [
        # TP 3, FP 2, FN 1: P 3/5, R 3/4, F1 6/9, J 3/6.
        (CountTally(predicted=5, right=3, gold=4, found=3), (3 / 5, 3 / 4, 6 / 9, 3 / 6)),
        # P 2/4, R 3/3: 2 · ½ · 1 / (3/2) = 2/3, the harmonic mean; J: found 3, FP 2, FN 0: 3/5.
        (CountTally(predicted=4, right=2, gold=3, found=3), (2 / 4, 3 / 3, pytest.approx(2 / 3), 3 / 5)),
        (CountTally(predicted=0, right=0, gold=4, found=0), (None, 0, 0, 0)),
        (CountTally(0, 0, 0, 0), (None, None, None, None)),
    ],
)
def test_the_four_figures_of_one_tally(tally, expected):
    assert (precision(tally), recall(tally), f1(tally), jaccard(tally)) == expected


def test_what_is_undefined_bounds_nothing():
    result = estimate(None, [None, 0.5, 0.25], n=1, missing=2, method="m", note="why")
    assert (result.floor, result.ceiling) == (0.25, 0.5)
    assert estimate(None, [None], n=0, missing=0, method="m", note="why").floor is None


# Table 2, planning, Gemini, Avg.: P 27.91, R 28.23, F1 27.56 and Table 12, Avg.: the paper averages over items, so
# the F1 of its averages is not its F1; but its accuracy equals its precision, which Eq. 13 forbids:
def test_the_papers_planning_accuracy_cannot_equal_its_precision():
    # J = P only when FN = 0, that is R = 1; with P and R as printed J = 1 / (1/P + 1/R − 1) = .1633, not .2791.
    p, r = 0.2791, 0.2823
    result = jaccard(CountTally(predicted=28230, right=7879, gold=27910, found=7879))
    assert result == pytest.approx(1 / (1 / p + 1 / r - 1), abs=1e-4)
    assert result == pytest.approx(0.1633, abs=1e-4)


REASONING_FIGURES = (ACCURACY, PRECISION, RECALL, F1)
VALUES = ("true", "false", "cannot-tell")
PAIRS = st.tuples(st.booleans(), st.sampled_from([*VALUES, None]))
T, F, C = VALUES


def reasoning_scores(pairs, over_valid=False):
    return [score(figure, pairs, over_valid) for figure in REASONING_FIGURES]


def reasoning_values(pairs, over_valid=False):
    return [result.value for result in reasoning_scores(pairs, over_valid)]


def test_a_hand_made_set_of_statements():
    # Gold true: T T C F (TP 2, FN 2); gold false: F F T C (TN 2, FP 1). Accuracy 4/8, P 2/3, R 2/4, F1 4/7.
    pairs = [(True, v) for v in (T, T, C, F)] + [(False, v) for v in (F, F, T, C)]
    assert reasoning_values(pairs) == [4 / 8, 2 / 3, 2 / 4, 4 / 7]
    assert {(result.n, result.missing, result.note) for result in reasoning_scores(pairs)} == {(8, 0, "")}


def test_letter_13_the_same_judgements_are_read_strictly_and_with_silence_as_false():
    # A perfect report on 11 true and 6 unsupported statements: 11/17 where silence is never right, 17/17 where the
    # gold label of what the source does not say is False.
    pairs = [(True, T)] * 11 + [(False, C)] * 6
    assert score(ACCURACY, pairs, reading=STRICT).value == 11 / 17
    assert score(ACCURACY, pairs, reading=SILENCE_AS_FALSE).value == 1
    # Silence on a true statement is wrong in both.
    assert score(ACCURACY, [(True, C), (False, F)], reading=SILENCE_AS_FALSE).value == 1 / 2


def test_letter_13_both_readings_are_metrics_that_say_which_they_are():
    held = material(documents={Kind.DIAGNOSTICS: statements(*(n < 11 for n in range(17)))})
    said = RatedResponse(held, {f"s{n}": T if n < 11 else C for n in range(17)})
    strict, silent = (metric(REASONING, f"{name}.accuracy") for name in ("reasoning", "reasoning_silence"))
    assert [one.score(said, False).value for one in (strict, silent)] == [11 / 17, 1]
    assert "silence as false" in silent.title
    assert "never correct" in strict.definition
    assert any("Silence as false" in words for words in REASONING.departures)


@given(st.lists(PAIRS, min_size=1, max_size=12))
def test_letter_13_silence_as_false_never_scores_less_and_stays_within_its_bounds(pairs):
    strict, silent = (score(ACCURACY, pairs, True, reading) for reading in (STRICT, SILENCE_AS_FALSE))
    if strict.value is not None:
        assert silent.value is not None
        assert strict.value <= silent.value
        assert silent.floor <= silent.value <= silent.ceiling


def test_the_printed_row_of_table_2_cannot_come_from_the_formulas():
    # OpenAI, reasoning, Avg.: accuracy 59.18, precision 61.59, recall 40.22; 64.71 % of statements are true (H.1).
    # Of 10 000: TP .4022 · 6471 = 2603; FP = TP · (1/.6159 − 1) = 1623; at best all other 3529 − 1623 are TN.
    result = reasoning_values(
        [(True, T)] * 2603 + [(True, C)] * 3868 + [(False, T)] * 1623 + [(False, F)] * 1906
    )
    assert result[1:3] == pytest.approx([0.6159, 0.4022], abs=1e-4)
    assert result[0] == (2603 + 1906) / 10_000 < 0.5918


def test_saying_true_of_all_of_the_papers_statements():
    # H.1: 2 200 of 3 400 are true: accuracy and precision 2200/3400 = 64.71 %, recall 1, F1 4400/5600.
    result = reasoning_values([(True, T)] * 2200 + [(False, T)] * 1200)
    assert result == [2200 / 3400, 2200 / 3400, 1, 4400 / 5600]
    assert result[0] == pytest.approx(0.6471, abs=5e-5)


@pytest.mark.parametrize(
    ("pairs", "expected", "place", "note"),
    [
        # Cannot-tell is never correct and no false positive: TP 1, accuracy 1/4, P 1/1, R 1/2, F1 2/3.
        ([(True, T), (True, C), (False, C), (False, C)], [1 / 4, 1, 1 / 2, 2 / 3], 0, ""),
        ([(True, F), (False, T)], [0, 0, 0, 0], 0, ""),
        ([(True, F), (False, C)], [0, None, 0, 0], 1, "no statement was said to be true"),
        ([(False, T), (False, F)], [1 / 2, 0, None, 0], 2, "no statement is true"),
        (
            [(False, F), (False, C)],
            [1 / 2, None, None, None],
            3,
            "no statement is true and none was said to be",
        ),
    ],
)
def test_what_is_defined_of_few_statements(pairs, expected, place, note):
    result = reasoning_scores(pairs)
    assert [one.value for one in result] == expected
    assert result[place].note == note


def test_without_labelled_statements_nothing_is_defined():
    assert {(result.value, result.note) for result in reasoning_scores([])} == {
        (None, "there is no statement with a gold label")
    }


# What is missing


def test_a_missing_judgement_leaves_a_range_and_over_valid_it_is_left_out():
    # TP 1, FN 1 and a true statement missing: recall 1/3 … 2/3; accuracy 1/3 … 2/3; precision 1 either way.
    pairs = [(True, T), (True, C), (True, None)]
    result, valid = reasoning_scores(pairs), reasoning_scores(pairs, over_valid=True)
    assert [one.value for one in result] == [None] * 4
    assert [(one.floor, one.ceiling) for one in result][:3] == [(1 / 3, 2 / 3), (1, 1), (1 / 3, 2 / 3)]
    assert (result[0].n, result[0].missing, result[0].note) == (2, 1, "1 of 3 judgements are missing")
    assert [one.value for one in valid] == [1 / 2, 1, 1 / 2, 2 / 3]
    assert (valid[0].floor, valid[0].ceiling, "over the others only" in valid[0].note) == (1 / 3, 2 / 3, True)


@pytest.mark.parametrize("over_valid", [False, True])
def test_with_nothing_judged_anything_is_possible(over_valid):
    for result in reasoning_scores([(True, None), (False, None)], over_valid):
        assert (result.value, result.floor, result.ceiling, result.n, result.missing) == (None, 0, 1, 0, 2)


@given(st.lists(PAIRS, min_size=1, max_size=5))
def test_the_range_is_that_of_all_ways_to_fill_what_is_missing(pairs):
    gaps = [place for place, (_, value) in enumerate(pairs) if value is None]
    could_be = [[] for _ in REASONING_FIGURES]
    for filling in product(VALUES, repeat=len(gaps)):
        full = list(pairs)
        for place, value in zip(gaps, filling, strict=True):
            full[place] = (pairs[place][0], value)
        for own, value in zip(could_be, reasoning_values(full), strict=True):
            own.extend([] if value is None else [value])
    for own, result in zip(could_be, reasoning_scores(pairs), strict=True):
        assert (result.floor, result.ceiling) == (min(own, default=None), max(own, default=None))


def test_accuracy_needs_statements():
    with pytest.raises(TypeError, match="statements"):
        accuracy(CountTally(1, 1, 1, 1))


# The protocol


def test_the_metrics_read_the_labels_of_the_item():
    # s0 true said true, s1 false said true, s2 without a label: accuracy 1/2.
    held = material(documents={Kind.DIAGNOSTICS: statements(True, False, None)})
    result = metric(REASONING, "reasoning.accuracy").score(
        RatedResponse(held, {"s0": T, "s1": T, "s2": F}), False
    )
    assert (result.value, result.n, result.missing) == (1 / 2, 2, 0)
    assert metric(REASONING, "reasoning.f1").score(RatedResponse(held, {"s0": T}), False).missing == 1


def test_a_case_is_a_labelled_statement_without_its_label():
    anchor = Anchor(quote="from the paper")
    gold = Diagnostics(
        units=(
            Statement(id="a", text="It is.", label=True, aspect=Aspect.RESULTS, note="true!", anchor=anchor),
            Statement(id="b", text="Undecided."),
        )
    )
    (case,) = REASONING.cases(material(documents={Kind.DIAGNOSTICS: gold}))
    assert case.units == (Statement(id="a", text="It is.", aspect=Aspect.RESULTS),)
    assert case.artifact_id == "artifact of diagnostics"


def test_the_facet_is_the_aspect():
    assert REASONING.facet(Statement(text="x", aspect=Aspect.FUTURE)) == "future directions"
    assert aspect(Statement(text="x")) == ""
    with pytest.raises(TypeError, match="Subtask"):
        aspect(Subtask(text="x"))


def test_an_item_without_diagnostics_lacks_them():
    assert (REASONING.lacks({}, 1, ()), list(REASONING.cases(material()))) == (["a diagnostics"], [])


REASONING_REPORT = (
    "# Findings\n\nRetrieval **lowers\nthe rate** of invented answers by a third.\n\nCosts rise slowly."
)
CLAIM = "Retrieval lowers the rate of invented answers."


def cases(*texts, report=REASONING_REPORT):
    units = tuple(Statement(id=f"u{n}", text=text, label=True) for n, text in enumerate(texts, start=1))
    return list(REASONING.cases(material(report, {Kind.DIAGNOSTICS: Diagnostics(units=units)})))


def together(*texts):
    result = cases(*texts)
    return replace(result[0], units=tuple(case.unit for case in result))


def told(verdict, quote=""):
    return Told(quote=quote, rationale="Because.", verdict=verdict)


def judged(verdict, quote="", flags=()):
    return run(judge(cases(CLAIM)[0], Ask(told(verdict, quote), flags=flags)))["u1"]


def test_the_judge_sees_the_report_and_the_statement_and_nothing_else():
    ask = Ask(told("cannot-tell"))
    run(judge(cases(CLAIM)[0], ask))
    ((prompt, fields, form, fenced),) = ask.asked
    assert (prompt, form, fenced) == ("adra.reasoning", Told, ("report",))
    assert fields == {"statement": CLAIM, "report": REASONING_REPORT}


@pytest.mark.parametrize("verdict", ["true", "false"])
def test_a_quote_that_is_found_is_given_in_the_reports_own_words_with_its_place(verdict):
    result = judged(verdict, "lowers the rate of invented answers")
    assert (
        result.quote
        == REASONING_REPORT[result.quote_start : result.quote_end]
        == "lowers\nthe rate** of invented answers"
    )
    assert (result.value, result.status, result.flags) == (verdict, Status.OK, "")


@pytest.mark.parametrize("verdict", ["true", "false"])
@pytest.mark.parametrize("quote", ["", "Retrieval doubles the rate"])
def test_a_true_or_false_without_a_quote_from_the_report_is_flagged(verdict, quote):
    result = judged(verdict, quote, flags=("injection",))
    assert (result.value, result.flags, result.quote, result.quote_start) == (
        verdict,
        "injection quote_missing",
        quote,
        None,
    )


def test_who_cannot_tell_need_not_quote():
    assert (judged("cannot-tell").value, judged("cannot-tell").flags) == ("cannot-tell", "")


# Several in one call


def answers(*said):
    return Together(
        answers=[OneTold(id=name, told=told(verdict, "Costs rise slowly")) for name, verdict in said]
    )


def test_several_statements_are_told_apart_by_name():
    ask = Ask(answers(("s2", "false"), ("s1", "true")))
    result = run(judge_together(together("One.", "Two\nlines."), ask))
    assert {unit: verdict.value for unit, verdict in result.items()} == {"u1": "true", "u2": "false"}
    assert result["u1"].quote == "Costs rise slowly"
    ((prompt, fields, form, fenced),) = ask.asked
    assert (prompt, form, fenced) == ("adra.reasoning.together", Together, ("report",))
    assert fields == {"statements": "s1: One.\ns2: Two lines.", "report": REASONING_REPORT}


# The plain text form


# The baseline


IN_CHINESE = "概述。\n检索增强生成降低了模型的幻觉率。\n成本较高。"


@pytest.mark.parametrize(
    ("statement", "report", "value", "status", "rationale"),
    [
        # Of retrie, lower, rate, invent, answer the passage holds all.
        (CLAIM, REASONING_REPORT, "true", Status.OK, f"baseline: overlap 1.00 ≥ {BASELINE_THRESHOLD:.2f}"),
        (
            "Glaciers in the Alps lose mass.",
            REASONING_REPORT,
            "cannot-tell",
            Status.OK,
            "baseline: overlap 0.00 < ",
        ),
        # There is nothing to look for.
        ("It is so.", REASONING_REPORT, None, Status.UNCLEAR, ""),
        ("检索增强生成降低幻觉率。", IN_CHINESE, "true", Status.OK, "baseline: overlap "),
    ],
)
def test_the_baseline_finds_true_what_a_passage_says(statement, report, value, status, rationale):
    result = reasoning_baseline(cases(statement, report=report)[0])["u1"]
    assert (result.value, result.status, result.quote_start is not None) == (value, status, value == "true")
    assert result.rationale.startswith(rationale)
    assert value != "true" or result.quote == report[result.quote_start : result.quote_end]
