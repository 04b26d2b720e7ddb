"""Reports written and drafted by models, and how reports cite: works, passages, sources and shared words."""

import asyncio
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Material
from annotator.domain.kinds.artifact import Kind, read
from annotator.domain.kinds.diagnostics import Aspect
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.item import Item, Page, PageState, Response, Source
from annotator.domain.texts.words import terms
from annotator.judging.messages import load
from annotator.protocols import reports
from annotator.protocols.citations import (
    MASK,
    fetchable,
    marks_in,
    named_in,
    normal,
    read as citations_read,
    trimmed,
)
from annotator.protocols.drafts import (
    DIAGNOSTICS,
    RUBRIC,
    DraftedCriterion,
    DraftedDiagnostics,
    DraftedRubric,
    DraftedStatement,
    draft_diagnostics,
    draft_rubric,
)
from annotator.protocols.merging import Overlap, best_passage
from annotator.protocols.reports import LONGEST_QUOTED, PASSAGE, anchored, excerpt, with_text
from annotator.protocols.researcherbench.claims import LONGEST_SECTION, sections
from tests.common import ScriptedAsk, stands_in

ITEM = Item(id="i", key="1", question="Why? {{plan}}")
PLAN = Plan(units=(Subtask(text="Establish why."), Subtask(text="Conclude.")))
URL = "https://example.org/a"


def material(*works, sources=(), pages=None):
    silent = Response(id="", item_id="i", system_id="", text="")
    return Material(ITEM, silent, {Kind.EVIDENCE: Evidence(units=works)}, sources=sources, pages=pages or {})


def page(text, state=PageState.OK):
    return Page(url=URL, state=state, text=text, fetched_at=datetime.now(UTC))


def asked(plan=None, evidence=""):
    ask = ScriptedAsk({"text": "# R"})
    asyncio.run(reports.ask_for_report(ITEM, ask, plan, evidence))
    return ask.asked[0]


def test_each_prompt_has_a_place_for_what_is_given_and_for_nothing_else():
    places = {
        name: load(name).placeholders
        for name in (reports.PLAN, reports.REPORT, reports.PLANNED, reports.GROUNDED)
    }
    assert list(places.values()) == [
        {"question"},
        {"question"},
        {"question", "plan"},
        {"question", "plan", "evidence"},
    ]


def test_left_to_itself_a_model_is_given_the_question_alone():
    prompt, fields, fenced, said = asked()
    assert (prompt, fields, fenced) == (reports.REPORT, {"question": ITEM.question}, ())
    # A placeholder inside the question stays text.
    assert said.endswith("Why? {{plan}}")


def test_a_plan_is_numbered_and_the_evidence_fenced():
    prompt, fields, fenced, _ = asked(PLAN, "[1] A work")
    assert (prompt, fenced) == (reports.GROUNDED, ("evidence",))
    assert fields["plan"] == "1. Establish why.\n2. Conclude."


def test_a_plan_loses_its_marks_and_blank_lines():
    said = reports.Subtasks.from_text("1. First step.\n\n2) Second step.\n- Third.\n(4) Fourth.")
    assert said.subtasks == ["First step.", "Second step.", "Third.", "Fourth."]


@pytest.mark.parametrize(
    ("said", "status", "steps"),
    [
        ({"subtasks": [" A  b. ", " "]}, Status.OK, ["A b."]),
        # No plan comes of an answer that failed.
        (Answer(Status.TIMEOUT, cause="Late."), Status.TIMEOUT, None),
    ],
)
def test_a_plan_comes_of_an_answer(said, status, steps):
    answer, plan = asyncio.run(reports.ask_for_plan(ITEM, ScriptedAsk(said)))
    assert (answer.status, plan and [step.text for step in plan.units]) == (status, steps)


@pytest.mark.parametrize(
    ("came", "kept"),
    [
        ("# R\n", "# R"),
        ("```markdown\n# R\n\nText.\n```", "# R\n\nText."),
        ("```\n# R\n```", "# R"),
        ("```python\nx\n```\nand\n```\ny\n```", "```python\nx\n```\nand\n```\ny\n```"),
    ],
)
def test_a_fence_around_the_whole_is_taken_off_and_no_other(came, kept):
    assert reports.Report.from_text(came).text == kept


def test_an_empty_report_is_none():
    with pytest.raises(ValueError, match="empty"):
        reports.Report.from_text("```markdown\n\n```")


RESIDUAL = Reference(text="Deep Residual Learning for Image Recognition", identifier="1512.03385")
ON_ARXIV = "[1] Deep Residual Learning for Image Recognition. 1512.03385"
WORDS = {"id": "s", "item_id": "i", "text": "Words."}


@pytest.mark.parametrize(
    ("work", "given", "told"),
    [
        (
            Reference(text="Deep nets", authors="A. Author", year=2016, identifier="arXiv:1512.03385"),
            {},
            "[1] Deep nets. A. Author. 2016. arXiv:1512.03385",
        ),
        (Reference(), {}, ""),
        # A work's text comes from the item's source, by identifier or by title.
        (
            RESIDUAL,
            {"sources": (Source(title="Other", identifier="https://arxiv.org/abs/1512.03385v2", **WORDS),)},
            f"{ON_ARXIV}\n\nWords.",
        ),
        (
            RESIDUAL,
            {"sources": (Source(title="Deep residual learning for image recognition", **WORDS),)},
            f"{ON_ARXIV}\n\nWords.",
        ),
        # Or from the page at its address, if that could be read.
        (
            Reference(text="A page", identifier=URL),
            {"pages": {URL: page("Read.")}},
            f"[1] A page. {URL}\n\nRead.",
        ),
        (
            Reference(text="A page", identifier=URL),
            {"pages": {URL: page("Please pay.", PageState.PAYWALL)}},
            f"[1] A page. {URL}",
        ),
    ],
)
def test_evidence_is_told_with_all_that_is_known_of_it(work, given, told):
    assert reports.evidence_of(material(work, **given)) == told


def test_texts_share_the_room_there_is():
    works = [Reference(text=f"Page {n}", identifier=f"{URL}{n}") for n in range(2)]
    pages = {f"{URL}{n}": page("y" * reports.LONGEST_EVIDENCE) for n in range(2)}
    told = reports.evidence_of(material(*works, pages=pages))
    assert (told.count("y"), told.count("the rest is left out")) == (reports.LONGEST_EVIDENCE, 2)


PAPER = "Depth **hurts** plain networks. A shortcut adds the input to the output."
INSIGHTS = Insights(units=(Insight(text="Depth hurts."), Insight(text="A shortcut helps.")))


def draft_material(*texts, insights=None):
    item = Item(id="i", key="1", question="Why do residual connections help?")
    sources = tuple(Source(id=f"s{n}", item_id="i", title=f"Paper {n}", text=t) for n, t in enumerate(texts))
    silent = Response(id="", item_id="i", system_id="", text="")
    return Material(item, silent, documents={Kind.INSIGHTS: insights} if insights else {}, sources=sources)


def criterion(**rest):
    return {
        "quote": "Depth hurts plain networks",
        "insight": 1,
        "text": "Explains the loss.",
        "weight": 3,
    } | rest


def drafted(draw, answer, *texts, insights=None):
    ask = ScriptedAsk(answer)
    return asyncio.run(draw(draft_material(*(texts or (PAPER,)), insights=insights), ask)), ask


def test_a_criterion_stands_on_the_source_and_on_the_insight_it_was_written_from():
    result, _ = drafted(draft_rubric, {"criteria": [criterion(insight=2)]}, insights=INSIGHTS)
    (unit,) = result.document.units
    assert (unit.text, unit.weight, unit.insight_id) == ("Explains the loss.", 3, INSIGHTS.units[1].id)
    assert (unit.anchor.quote, unit.anchor.source_id) == ("Depth **hurts** plain networks", "s0")
    assert (stands_in(unit.anchor, PAPER), result.flags) == (True, ("draft",))


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({"insight": 0}, ("draft",)),
        ({"insight": 3}, ("draft",)),
        ({"insight": 0, "quote": "Words of nobody"}, ("draft", "quote_missing")),
    ],
)
def test_an_insight_or_a_quotation_that_is_not_there_ties_nothing(given, flags):
    result, _ = drafted(draft_rubric, {"criteria": [criterion(**given)]}, insights=INSIGHTS)
    (unit,) = result.document.units
    assert (unit.insight_id, unit.anchor is None, result.flags) == ("", "quote" in given, flags)


def test_its_importance_becomes_a_weight_that_the_project_allows():
    at_hand = replace(draft_material(PAPER), weights=read("-2 to 10"))
    answer = {"criteria": [criterion(weight=weight) for weight in (3, 2, 1)]}
    result = asyncio.run(draft_rubric(at_hand, ScriptedAsk(answer)))
    assert [unit.weight for unit in result.document.units] == [10, 5, 1]


def test_a_statement_has_the_label_and_part_it_was_given():
    said = {"quote": "adds the input", "text": "Input is added.", "label": False, "aspect": "results"}
    result, _ = drafted(draft_diagnostics, {"statements": [said]})
    (unit,) = result.document.units
    assert (unit.label, unit.aspect) == (False, Aspect.RESULTS)


def test_sources_are_fenced_and_too_long_ones_are_cut_evenly_and_it_is_said():
    long = "x" * reports.LONGEST_SOURCES
    _, ask = drafted(draft_rubric, {"criteria": [criterion()]}, long, "short")
    ((_, fields, fenced, _),) = ask.asked
    assert "sources" in fenced
    assert fields["extent"] == "Of each the first 100,000 characters are shown."
    assert fields["sources"].count("x") == 100_000
    assert fields["sources"].endswith("Source 2: Paper 1\n\nshort")


@pytest.mark.parametrize("draw", [draft_rubric, draft_diagnostics])
@pytest.mark.parametrize(
    ("answer", "texts", "status", "cause"),
    [
        ({"criteria": []}, (PAPER,), Status.UNCLEAR, ""),
        (Answer(Status.REFUSED, cause="No."), (PAPER,), Status.REFUSED, "No."),
        # Without a source nobody is asked.
        (None, (" ",), Status.SKIPPED, ""),
    ],
)
def test_a_draft_of_nothing_and_a_refusal_are_no_documents(draw, answer, texts, status, cause):
    nothing = {"statements": []} if draw is draft_diagnostics else {"criteria": []}
    result, ask = drafted(draw, nothing if isinstance(answer, dict) else answer, *texts)
    assert (result.document, result.status, cause in result.cause) == (None, status, True)
    assert bool(ask.asked) is (answer is not None)


def test_plain_text_is_read_by_its_four_lines():
    text = "QUOTE: a\nINSIGHT: 1\nCRITERION: Explains a.\nWEIGHT: 2\n\nQUOTE:\nINSIGHT: 0\nCRITERION: B.\nWEIGHT: 1"
    assert [(c.quote, c.insight, c.text, c.weight) for c in DraftedRubric.from_text(text).criteria] == [
        ("a", 1, "Explains a.", 2),
        ("", 0, "B.", 1),
    ]
    one = DraftedDiagnostics.from_text("QUOTE: q\nSTATEMENT: S.\nLABEL: false\nASPECT: problem").statements[0]
    assert (one.label, one.aspect) == (False, Aspect.PROBLEM)
    with pytest.raises(ValueError, match="block 2 is not the lines QUOTE, INSIGHT, CRITERION, WEIGHT"):
        DraftedRubric.from_text(text.replace("QUOTE:\n", ""))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ("QUOTE: a\nINSIGHT: one\nCRITERION: c\nWEIGHT: 2", "insight"),
        ("QUOTE: a\nINSIGHT: 1\nCRITERION: c\nWEIGHT: 4", "weight"),
        ("QUOTE: a\nINSIGHT: 1\nCRITERION: c\nWEIGHT: core", "weight"),
        ("QUOTE: a\nINSIGHT: 1\nCRITERION:\nWEIGHT: 2", "text"),
    ],
)
def test_plain_text_that_does_not_fit_names_the_field(wrong, field):
    with pytest.raises(ValidationError, match=rf"criteria\.0\.{field}"):
        DraftedRubric.from_text(wrong)


@pytest.mark.parametrize(
    ("name", "reply", "fields"),
    [
        (RUBRIC, DraftedCriterion, {"question", "insights", "sources", "extent"}),
        (DIAGNOSTICS, DraftedStatement, {"question", "sources", "extent"}),
    ],
)
def test_the_prompts_name_the_fields_in_their_order_with_the_evidence_first(name, reply, fields):
    prompt = load(name)
    places = [prompt.system.index(f"\n- {field}: ") for field in reply.model_fields]
    assert places == sorted(places)
    assert next(iter(reply.model_fields)) == "quote"
    assert prompt.placeholders == fields


PUBLIC = Path(__file__).parents[2] / "../shared/data/researcherbench/responses"


def cited(report):
    return [(report[c.start : c.end], c.urls) for c in citations_read(report).citations]


# Addresses


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("HTTP://Example.org/a/#top", "http://example.org/a"),
        (
            "https://arxiv.org/html/2408.00727v1#:~:text=Question answering",
            "https://arxiv.org/html/2408.00727v1",
        ),
        ("arXiv:2505.20416", "https://arxiv.org/abs/2505.20416"),
        ("10.1145/3637528.3671872", "https://doi.org/10.1145/3637528.3671872"),
        ("https://example.org/" + "a" * 2000, ""),
        ("978-3-16-148410-0", ""),
        ("see above", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_an_address_is_kept_as_one_that_can_be_fetched(given, kept):
    assert fetchable(given) == kept


def test_two_addresses_of_one_paper_are_one_page():
    assert normal("https://arxiv.org/abs/2410.05193") == normal("https://arxiv.org/pdf/2410.05193v2.pdf")
    assert normal("no address") == ""


@pytest.mark.parametrize(
    ("found", "address"),
    [
        ("https://a.org/x).", "https://a.org/x"),
        ("https://a.org/wiki/X_(y))", "https://a.org/wiki/X_(y)"),
        ("https://a.org/x**", "https://a.org/x"),
    ],
)
def test_what_closes_around_an_address_is_no_part_of_it(found, address):
    assert trimmed(found) == address


# Citations


@pytest.mark.parametrize(
    ("report", "citations", "left"),
    [
        # A link between parentheses leaves the sentence, one in the sentence keeps its words.
        (
            "Recall falls ([A [v2] title](https://a.org/p#:~:text=Some words (with, brackets) here)).",
            [
                (
                    "([A [v2] title](https://a.org/p#:~:text=Some words (with, brackets) here))",
                    ("https://a.org/p",),
                )
            ],
            "Recall falls .",
        ),
        (
            "As [the survey](https://a.org/s) shows, it works.",
            [("[the survey](https://a.org/s)", ("https://a.org/s",))],
            "As the survey shows, it works.",
        ),
    ],
)
def test_a_link_is_a_citation(report, citations, left):
    assert (cited(report), citations_read(report).masked.replace(MASK, "")) == (citations, left)


@pytest.mark.parametrize(
    ("report", "citations"),
    [
        pytest.param(
            "It works[1][2]. It scales [1-3].\n\n## References\n[1] https://a.org/1\n"
            "[2] B. Author, https://b.org/2.\n[3]\nhttps://c.org/3",
            [
                ("[1]", ("https://a.org/1",)),
                ("[2]", ("https://b.org/2",)),
                ("[1-3]", ("https://a.org/1", "https://b.org/2", "https://c.org/3")),
            ],
            id="marks lead where the reference list says",
        ),
        pytest.param(
            'It works [5].\n\n**References**\n\n[5] T. Gao, "Factuality," arXiv preprint arXiv:2501.06521, 2025.',
            [("[5]", ("https://arxiv.org/abs/2501.06521",))],
            id="a reference without an address leads to its arXiv id",
        ),
        pytest.param(
            "The array x[0] holds [9] items.\n\n## References\n[1] https://a.org",
            [],
            id="a number that the list does not know is no citation",
        ),
        pytest.param(
            "So [1](https://a.org/x)[2](https://b.org/y) and https://c.org/z.",
            [
                ("[1](https://a.org/x)", ("https://a.org/x",)),
                ("[2](https://b.org/y)", ("https://b.org/y",)),
                ("https://c.org/z", ("https://c.org/z",)),
            ],
            id="numbered links and bare addresses cite",
        ),
    ],
)
def test_what_a_report_cites(report, citations):
    result = cited(report)
    assert result == citations
    # Every address is known by its normal spelling.
    assert {normal(url) for _, urls in result for url in urls} <= set(citations_read(report).addresses)


def test_footnotes_are_defined_anywhere():
    report = "It works[^7].\n\n[^7]: https://a.org/7\n\nIt scales[^8]."
    result = citations_read(report)
    assert cited(report) == [("[^7]", ("https://a.org/7",)), ("[^8]", ())]
    assert [report[slice(*span)].strip() for span in result.body] == ["It works[^7].", "It scales[^8]."]


def test_a_reference_list_ends_with_the_next_heading():
    report = "One.\n\n## Sources\n- [T](https://a.org)\n\n## Appendix\nTwo."
    assert [report[slice(*span)] for span in citations_read(report).body] == ["One.\n\n", "## Appendix\nTwo."]


def test_wide_brackets_and_ranges_name_their_marks():
    assert marks_in("So 【3†source】, [1, 4–6] and [^note], again [1].") == ["3", "1", "4", "5", "6", "note"]


@pytest.mark.parametrize("report", ["", "](https://a.org", "[" * 5000, "[x](https://a.org", "x" + MASK])
def test_odd_reports_are_read_without_citations(report):
    result = citations_read(report)
    assert len(result.masked) == len(report)
    assert all(not c.label for c in result.citations)


# Sections


@pytest.mark.parametrize(
    ("report", "longest", "parts"),
    [
        pytest.param(
            "# Title\n\nAlpha beta.\n\nGamma delta.\n\n## Next\n\nEpsilon.", 26,
            ["# Title\n\nAlpha beta.", "Gamma delta.", "## Next\n\nEpsilon."], id="whole paragraphs",
        ),
        pytest.param(
            "One two three four. Five six seven eight. Nine ten.", 30,
            ["One two three four. ", "Five six seven eight. ", "Nine ten."], id="a long one at the end of a sentence",
        ),
        pytest.param("x" * 12_000, 5000, ["x" * 5000, "x" * 5000, "x" * 2000], id="what never ends"),
        pytest.param("", 5000, [], id="nothing"),
        pytest.param("  \n\n ", 5000, [], id="blanks"),
        pytest.param("# Only a heading", 5000, ["# Only a heading"], id="a heading"),
    ],
)  # fmt: skip
def test_sections_are_cut_up_to_the_length(report, longest, parts):
    spans = sections(report, [(0, len(report))], longest=longest)
    assert [report[slice(*span)] for span in spans] == parts


def test_sections_of_public_reports_hold_all_their_words():
    if not PUBLIC.exists():
        pytest.skip("the public data of ResearcherBench are not beside this checkout")
    for path in sorted(PUBLIC.glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8"))[:10]:
            result = citations_read(entry["response"])
            spans = sections(result.report, result.body)
            assert all(b - a <= LONGEST_SECTION for a, b in spans)
            kept = "".join(result.report[a:b] for a, b in spans)
            body = "".join(result.report[a:b] for a, b in result.body)
            assert "".join(kept.split()) == "".join(body.split())


def named(text):
    return [(str(one.identifier), one.words) for one in named_in(text)]


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("see https://a.org/x.", "https://a.org/x"),
        ("(https://a.org/x)", "https://a.org/x"),
        ("(https://en.wikipedia.org/wiki/Tree_(graph)).", "https://en.wikipedia.org/wiki/Tree_(graph)"),
        ("https://a.org/x#:~:text=Some words,here", "https://a.org/x"),
        ("https://a.org/x?utm_source=openai", "https://a.org/x"),
        ("https://a.org/x?id=3&utm_source=openai", "https://a.org/x?id=3"),
        ("<https://a.org/x>", "https://a.org/x"),
        ("doi:10.1000/182, and", "doi:10.1000/182"),
        ("https://doi.org/10.1016/S0140-6736(20)30183-5)", "doi:10.1016/s0140-6736(20)30183-5"),
        ("https://link.springer.com/article/10.1007/s10462-024-1?a=b", "doi:10.1007/s10462-024-1"),
        (
            "https://www.frontiersin.org/articles/10.3389/frai.2021.622364/full",
            "doi:10.3389/frai.2021.622364",
        ),
        ("https://www.biorxiv.org/content/10.1101/2024.01.02.573v2.full.pdf", "doi:10.1101/2024.01.02.573"),
        ("https://www.nature.com/articles/s41586-024-07421-0", "doi:10.1038/s41586-024-07421-0"),
        ("https://aclanthology.org/2023.findings-acl.441.pdf", "doi:10.18653/v1/2023.findings-acl.441"),
        ("https://aclanthology.org/P18-1209.pdf", "doi:10.18653/v1/p18-1209"),
        ("https://aclanthology.org/P15-1209.pdf", "https://aclanthology.org/P15-1209.pdf"),
        ("https://arxiv.org/html/2408.00727v1#S2", "arxiv:2408.00727"),
        ("https://ar5iv.labs.arxiv.org/html/2305.20050", "arxiv:2305.20050"),
        ("https://huggingface.co/papers/2305.20050", "arxiv:2305.20050"),
        ("arXiv preprint arXiv:2505.20416, 2025", "arxiv:2505.20416"),
        ("(arXiv 2501.12948)", "arxiv:2501.12948"),
        ("ISBN 978-0-306-40615-7", "isbn:9780306406157"),
    ],
)
def test_a_name_is_read_in_its_normal_spelling(text, identifier):
    assert named(text) == [(identifier, "")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no names",
        "version 10.2/3",
        "ISBN 978-0-306-40615-8",
        "https://",
        "arXiv 20250",
        "![chart](https://a.org/x.png)",
        # An address too long to keep.
        "https://a.org/" + "x" * 2000,
    ],
)
def test_what_names_nothing_is_passed_over(text):
    assert named(text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("([A title](https://a.org/x))", "A title"),
        ("[A [nested] title](https://a.org/x)", "A [nested] title"),
        ("[[2305.20050\\] A title](https://a.org/x)", "2305.20050\\] A title"),
        ("[A title](<https://a.org/x>)", "A title"),
        ("[](https://a.org/x)", ""),
        ("broken\ntitle](https://a.org/x)", ""),
    ],
)
def test_a_link_speaks_in_its_words(text, words):
    assert named(text) == [("https://a.org/x", words)]


def test_a_link_stands_where_its_words_begin_and_links_side_by_side_are_two():
    (one,) = named_in("See [it](https://a.org/x) there.")
    assert (one.start, one.end) == (4, 4 + len("[it](https://a.org/x"))
    both = [("https://a.org/x", "A"), ("https://b.org/y", "B")]
    assert named("([A](https://a.org/x))([B](https://b.org/y))") == both


FILLER = "Nothing of any note stands here. " * 60


def test_what_fits_is_given_whole():
    result = excerpt("A short page.", ["anything"])
    assert (result.text, result.cut, result.shown, result.whole) == ("A short page.", False, 13, 13)
    assert result.extent == "It is given whole."


def test_the_beginning_and_the_nearest_passages_are_kept_in_order():
    text = f"Title of the page. {FILLER} Glaciers lose mass. {FILLER} Retrieval helps models. {FILLER}"
    result = excerpt(text, ["retrieval helps", "glaciers lose"], longest=4500)
    assert re.search(r"Title.*Glaciers.*Retrieval", result.text, re.DOTALL)
    assert (result.cut, "[…]" in result.text) == (True, True)


def test_each_of_what_is_wanted_has_its_turn():
    text = "Start. " + FILLER + "alpha " * 2000 + FILLER + " omega once. " + FILLER
    result = excerpt(text, ["alpha", "omega"], longest=4 * PASSAGE)
    assert ("alpha" in result.text, "omega once" in result.text) == (True, True)


@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 10_000, "\n" * 50_000, "字" * 50_000])
def test_nothing_is_longer_than_allowed_and_the_reader_is_told_how_much_is_shown(text):
    result = excerpt(text, ["word"], longest=3000)
    assert (len(result.text) <= 3000, result.cut) == (True, True)
    assert f"of 50,000 characters {result.shown:,} are shown" in result.extent


def source(source_id, text, drafted=""):
    return Source(id=source_id, item_id="i", title=source_id, text=text, drafted=drafted)


def test_a_source_without_text_and_one_that_a_model_drafted_are_not_shown():
    sources = (source("a", " \n"), source("b", "Costs rise."), source("c", "Costs fall.", "by a model"))
    item = Item(id="i", key="q1", question="Which?")
    material = Material(item, Response(id="", item_id="i", system_id="", text=""), sources=sources)
    assert [one.id for one in with_text(material)] == ["b"]


def test_a_quote_stands_in_the_first_source_that_has_it():
    sources = (source("a", "Prices."), source("b", "So costs rise."), source("c", "Costs rise."))
    result = anchored(sources, "costs rise")
    assert (result.source_id, result.start, result.end, result.quote) == ("b", 3, 13, "costs rise")
    assert stands_in(result, sources[1].text)


@pytest.mark.parametrize("quote", ["", "costs fall"])
def test_a_quote_that_no_source_has_stands_nowhere(quote):
    assert anchored([source("a", "Costs rise.")], quote) is None


def test_a_long_quote_is_anchored_by_its_beginning():
    text = "word " * LONGEST_QUOTED
    assert len(anchored([source("a", text)], text).quote) == LONGEST_QUOTED


@pytest.mark.parametrize(
    ("report", "wanted", "share", "passage"),
    [
        pytest.param(
            "Alpha is here. Alpha and beta meet. Gamma rests.", {"alpha", "beta"}, 1.0, "Alpha and beta meet.",
            id="most terms",
        ),
        pytest.param(
            "Alpha is here. Nothing more. Beta rests. Delta.", {"alpha", "beta"}, 1.0,
            "Alpha is here. Nothing more. Beta rests.", id="neighbours are one passage",
        ),
        pytest.param("Alpha. One. Two. Beta.", {"alpha", "beta"}, 0.5, "Alpha.", id="those further apart are not"),
        pytest.param(
            "Alpha.\nBeta.\nAlpha and beta.", {"alpha", "beta"}, 1.0, "Alpha and beta.", id="of equals the shortest"
        ),
        pytest.param("Alpha one.\nAlpha two.", {"alpha"}, 1.0, "Alpha one.", id="of equals the first"),
        pytest.param(
            "Alpha." + " " * 200_000 + "beta", {"beta"}, 1.0, "beta", id="a long run of white space is read at once"
        ),
    ],
)  # fmt: skip
def test_the_best_passage_holds_most_terms(report, wanted, share, passage):
    result = best_passage(report, frozenset(wanted))
    assert (result.share, report[result.start : result.end]) == (share, passage)


def test_nothing_found_has_no_place():
    assert best_passage("Gamma.", frozenset({"alpha"})) == Overlap(0.0, 0, 0)
    assert best_passage("", frozenset({"alpha"})) == Overlap(0.0, 0, 0)


def test_nothing_wanted_is_refused():
    with pytest.raises(ValueError, match="no terms"):
        best_passage("Gamma.", frozenset())


def test_a_line_without_end_is_cut():
    result = best_passage(" | ".join(f"word{i}" for i in range(400)), terms("word0000 word399"))
    assert result.end - result.start <= 600
