"""ADRA's retrieval: counts, reading and extraction of references."""

import json
from pathlib import Path
from statistics import fmean

import pytest

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.identifier import parse
from annotator.protocols.adra.counts import CountTally, estimate, f1, jaccard, precision, recall
from annotator.protocols.adra.reading import LONGEST_QUOTE, is_list_heading, references
from annotator.protocols.adra.retrieval import RETRIEVAL, Listed, References, baseline, compare, extract
from annotator.protocols.citations import LONGEST_IDENTIFIER
from tests.material.anchors import stands_in
from tests.protocols.adra.adra_material import Ask, evidence, material, metric, run, works

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
    retrieved = works(("", LONG), (DOI, "Another title"))
    result = compare(retrieved, works((DOI, LONG)))
    assert [(match.retrieved.id, match.by) for match in result.matches] == [("w1", "doi")]
    assert [reference.id for reference in result.superfluous] == ["w0"]


def test_a_gold_work_is_found_once_however_often_it_is_retrieved():
    result = compare(works((DOI, ""), (DOI, "")), works((DOI, ""), ("10.1000/two", "")))
    assert (len(result.matches), len(result.superfluous), len(result.lacking)) == (1, 1, 1)


# What that is worth


def test_a_hand_made_list_of_references():
    # 4 retrieved, 3 gold, 2 the same: J 2/5, P 2/4, R 2/3, F1 4/7; with three gold sources no hit is defined.
    retrieved = works((DOI, ""), (ARXIV, ""), ("10.1/x", ""), ("10.1/y", ""))
    gold = works((ARXIV, LONG), (DOI, ""), ("10.1/z", ""))
    result = scores(retrieved, gold)
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
    research = fmean([values(one, one)[4]] * 62 + [values(other, one)[4]] * 38)
    assert fmean([research, 0.0069]) == pytest.approx(0.3135, abs=5.1e-5)


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
