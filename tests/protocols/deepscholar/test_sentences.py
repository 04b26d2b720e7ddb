"""DeepScholar's sentences and nuggets: boundaries, coverage, precision, drafts and importance."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from uniseg.sentencebreak import sentence_boundaries

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Anchor, Kind, Unit, cell_id
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.material.extract import CitedSource, ResponsePart, Sentence, Sentences
from annotator.domain.material.item import EXEMPLAR, Item, Page, PageState, Response
from annotator.domain.texts.estimate import Estimate
from annotator.exchange.formats.deepscholar import reader
from annotator.protocols.citations import named_in
from annotator.protocols.deepscholar import coverage, importance, nuggets, precision
from annotator.protocols.deepscholar.nuggets import (
    FULL,
    NONE,
    PARTIAL,
    DrawnNuggets,
    SupportOfOne,
    SupportTogether,
    WeighedNugget,
    WeighedNuggets,
    judge,
    judge_together,
)
from annotator.protocols.deepscholar.precision import (
    CITATION,
    NO_TEXT,
    READINGS,
    RELEASED,
    SENTENCE,
    source_of,
)
from annotator.protocols.deepscholar.references import retrieved
from annotator.protocols.deepscholar.sentences import baseline, boundaries, sentences
from tests.common import ScriptedAsk
from tests.material.related_work import SHARED

ITEM = Item(
    id="i", key="2506.00001v1", question="Write the related-work section. Abstract: trees cool streets"
)
EXEMPLARS = Response(id="people", item_id="i", system_id="x", text="Trees cool.", mode=EXEMPLAR)


def report(text: str = "Trees cool streets [1].") -> Response:
    return Response(id="r", item_id="i", system_id="s", text=text)


def page(url: str, text: str, title: str) -> Page:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Page(url=url, state=PageState.OK, text=text, title=title, fetched_at=at)


def with_nuggets(*nuggets: tuple[str, str], support: str = "", text: str = "Trees cool.") -> Material:
    """A report on an item with nuggets, each given by its id and importance."""
    units = tuple(
        Nugget.model_validate(
            {"id": name, "text": f"{name} fact", "importance": importance, "support": support}
        )
        for name, importance in nuggets
    )
    return Material(ITEM, report(text), {Kind.NUGGETS: Nuggets(units=units)}, {Kind.NUGGETS: "a"})


def with_works(*works: tuple[str, str], abstracts: dict[str, str] | None = None) -> Material:
    """A report that names works, each given by its id and address; `abstracts` by normal address."""
    units = tuple(Reference(id=name, text=name, identifier=address) for name, address in works)
    pages = {url: page(url, text, "T") for url, text in (abstracts or {}).items()}
    return Material(
        ITEM,
        report(),
        parts={ResponsePart.REFERENCES: Evidence(units=units)},
        part_ids={ResponsePart.REFERENCES: "e"},
        pages=pages,
        facing=(EXEMPLARS,),
    )


# Sixty characters: no reading passes over it.
LONG = "Trees cool streets in summer, as many measurements have told"


def sentence(name: str, cites: str = "", dangling: int = 0, text: str = "", later: str = "") -> Sentence:
    """A sentence that cites works of one letter each; those in `later` stand behind another in one mark."""
    words = text or f"{LONG} {name}"
    return Sentence(
        id=name,
        text=words,
        anchor=Anchor.at(words, 0, len(words)),
        cites=tuple(CitedSource(address=f"doi:10.1000/{cite}", later=cite in later) for cite in cites),
        dangling=dangling,
        marks=len(cites) + dangling,
    )


def sentences_cut(
    sentences: Sequence[Sentence], texts: str = "", listed: str = "", window: int = 1
) -> Material:
    """A report of these sentences; `texts` are the works whose abstracts are at hand, `listed` those it refers to."""
    parts: dict[ResponsePart, Evidence | Sentences] = {
        ResponsePart.SENTENCES: Sentences(units=tuple(sentences))
    }
    if listed:
        parts[ResponsePart.REFERENCES] = Evidence(units=tuple(Reference(id=one, text=one) for one in listed))
    addresses = {text: f"doi:10.1000/{text}" for text in texts}
    pages = {url: page(url, f"Abstract {text}.", f"Title {text}") for text, url in addresses.items()}
    ids = {ResponsePart.SENTENCES: "e"}
    return Material(ITEM, report(), parts=parts, part_ids=ids, pages=pages, window=window)


def cited(name: str, work: str) -> str:
    return cell_id(name, f"doi:10.1000/{work}")


def said(**of: str) -> Mapping[str, str]:
    """Verdicts by sentence and work: `a_x="yes"`."""
    return {cited(*name.split("_")): value for name, value in of.items()}


HARD = """\
Kinetic models show this. [3][4] Later work by Smith et al. (2020) extends it [5]. See Fig. 2 for e.g. details, \
i.e. Sec. 3. vs. others [1, 2]! Is it so? Yes [7].

## What came of it

It improves by 3.5% over arXiv:2410.12876v3. Done.
"""
public = pytest.mark.skipif(not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there")


def texts(markdown: str) -> list[str]:
    return [one.text for one in sentences(markdown)]


def sources(one: Sentence) -> list[str]:
    return [cited.key for cited in one.cites]


def test_seven_sentences_and_a_heading():
    result = sentences(HARD)
    assert [one.text for one in result] == [
        "Kinetic models show this.",
        "Later work by Smith et al. (2020) extends it.",
        "See Fig. 2 for e.g. details, i.e. Sec. 3. vs. others!",
        "Is it so?",
        "Yes.",
        "It improves by 3.5% over.",
        "Done.",
    ]
    assert [one.heading for one in result] == [""] * 5 + ["What came of it"] * 2
    assert [one.marks for one in result] == [2, 1, 2, 0, 1, 1, 0]
    assert [one.dangling for one in result] == [2, 1, 2, 0, 1, 0, 0]
    assert sources(result[5]) == ["arxiv:2410.12876"]
    assert all(HARD[one.anchor.start : one.anchor.end] == one.anchor.quote for one in result)


@pytest.mark.parametrize(
    ("markdown", "wanted"),
    [
        ("# Title\n\nOne. Two.", ["One.", "Two."]),
        ("**Bold heading**\n\nOne.", ["One."]),
        ("Related Works\n\nOne.", ["One."]),
        ("- An item\n- Another one. And more.", ["An item", "Another one.", "And more."]),
        ("1. First\n2. Second", ["First", "Second"]),
        ("| a | b |\n| --- | --- |\n| c. | d. |\n\nOne.", ["One."]),
        ("```\nx = 1. y = 2.\n```\nOne.", ["One."]),
        ("A line that goes\non below. Two.", ["A line that goes on below.", "Two."]),
        ("One.\n\n---\n\nTwo.", ["One.", "Two."]),
        ("As in J. Smith's work. It ends.", ["As in J. Smith's work.", "It ends."]),
        ("See pp. 3 and No. 4. It ends.", ["See pp. 3 and No. 4.", "It ends."]),
        ("树木使街道凉爽。测量证实了这一点。", ["树木使街道凉爽。", "测量证实了这一点。"]),
        ("الأشجار تبرد الشوارع. وقد ثبت ذلك؟ نعم.", ["الأشجار تبرد الشوارع.", "وقد ثبت ذلك؟", "نعم."]),
        ("One.\n\n[3]\n\nTwo.", ["One.", "Two."]),
        ("The interval [0, 1] and $x[3]$ stay. Two.", ["The interval [0, 1] and $x[3]$ stay.", "Two."]),
        ("", []),
        ("## References\n\n[1] A work.", []),
    ],
)
def test_what_is_a_sentence_and_what_is_none(markdown, wanted):
    assert texts(markdown) == wanted


def test_the_word_references_in_a_sentence_cuts_nothing():
    assert len(texts("The References of this field vary. More follows.")) == 2


def test_a_mark_leads_to_the_list_then_to_what_came_with_the_report_then_to_nothing():
    body = "Trees cool [1]. Streets heat [2]. Roofs differ [3, 9].\n\n## References\n\n"
    listed = (
        "[1] Oaks. https://arxiv.org/abs/2001.00001v2\n[2] A work about streets in summer heat\n[3] Untraced"
    )
    known = Evidence(
        units=(
            Reference(id="a", text="Elms", note="[1]", identifier="arXiv:2002.00002"),
            Reference(id="b", text="Work about streets in summer heat", identifier="10.1000/x"),
        )
    )
    material = Material(ITEM, report(body + listed), parts={ResponsePart.REFERENCES: known})
    first, second, third = baseline(material).document.units
    assert (sources(first), sources(second)) == (["arxiv:2001.00001"], ["doi:10.1000/x"])
    assert (sources(third), third.dangling) == (["Untraced"], 1)
    bare = Material(ITEM, report("Trees cool [1]."), parts={ResponsePart.REFERENCES: known})
    assert sources(baseline(bare).document.units[0]) == ["arxiv:2002.00002"]


def test_each_row_of_a_table_that_cites_is_one_sentence():
    rows = (
        "| Tree | Effect |\n| --- | --- |\n| Oak. Elm | Cools [1] |\n| Ash | None |\n| Fir [2] | Dries. |\n"
    )
    listed = "\n## References\n\n[1] Oaks. arXiv:cs/0112017v2\n[2] Firs. math.GT/0309136\n"
    result = sentences(f"Trees differ.\n\n{rows}\nThis ends.\n{listed}")
    assert [one.text for one in result] == ["Trees differ.", "Oak. Elm | Cools", "Fir | Dries.", "This ends."]
    # Ids of before 2007 are works, too.
    assert [sources(one) for one in result] == [[], ["arxiv:cs/0112017"], ["arxiv:math/0309136"], []]
    assert not sentences(f"```\n{rows}```\n{listed}")


def test_a_citation_is_judged_by_the_passage_that_its_system_was_shown():
    shown = [
        Reference(id="a", text="TaxAI", note="[0]", passage="It simulates taxes."),
        Reference(id="b", text="TaxAI", note="[1]", passage="Its agents learn."),
        Reference(id="c", text="[2]", note="[2]", passage="Quakes are early."),
    ]
    known = {ResponsePart.REFERENCES: Evidence(units=tuple(shown))}
    text = "Taxes [0][1]. Quakes [2].\n\n## References\n\n[1] TaxAI, another passage\n[2] http://a.org/x"
    material = Material(ITEM, report(text), parts=known)
    told = [
        (one.key, source_of(material, one))
        for unit in baseline(material).document.units
        for one in unit.cites
    ]
    assert told == [
        ("[0] TaxAI", "It simulates taxes."),
        ("[1] TaxAI", "Its agents learn."),
        ("http://a.org/x", "Quakes are early."),
    ]
    assert retrieved(material) == []


def test_the_words_of_escaped_links_are_no_part_of_the_sentence():
    (result,) = sentences(
        r"Trees cool \[[A. Oak' 2020](http://arxiv.org/abs/2001.00001v1), [B](http://a.org/x)\]."
    )
    assert (result.text, sources(result)) == ("Trees cool.", ["arxiv:2001.00001", "http://a.org/x"])
    (named,) = sentences("See [the survey](http://a.org/x) for more.")
    assert (named.text, named.cites[0].title) == ("See the survey for more.", "the survey")


def test_a_source_counts_once_in_its_sentence_and_first_places_are_told():
    listed = "\n\n## References\n\n[1] http://a.org/x\n[2] http://b.org/y\n[3] http://a.org/x\n"
    (result,) = sentences(f"Trees cool [1, 2], as told [3].{listed}")
    assert [(cite.address, cite.later) for cite in result.cites] == [
        ("http://a.org/x", False),
        ("http://b.org/y", True),
    ]
    assert result.marks == 3


def test_ids_stay_when_sentences_come_before_them():
    before, after = sentences("One. Two. Two."), sentences("Zero. One. Two. Two.")
    assert [one.id for one in after[1:]] == [one.id for one in before]
    assert len({one.id for one in after}) == 4


# Public reports.


def folders() -> Iterator[Path]:
    yield from reader.folders_in(SHARED / "systems") if SHARED.is_dir() else ()


def cut(found: reader.SystemReport) -> list[Sentence]:
    """The sentences of a public report, with what its files tell of its works."""
    units = [
        Reference(
            id=f"w{place}",
            text=one.title or one.address or one.mark,
            note=one.mark,
            identifier=one.address,
            passage="" if one.address else one.abstract,
        )
        for place, one in enumerate(reader.named_works(found))
    ]
    parts = {ResponsePart.REFERENCES: Evidence(units=tuple(units))}
    return list(baseline(Material(ITEM, report(found.text), parts=parts)).document.units)


@public
@pytest.mark.parametrize(
    ("row", "letters", "links", "works", "cites"), [(0, 17_099, 71, 22, 49), (1, 13_196, 57, 22, 57)]
)
def test_links_and_works_of_the_public_reports(row, letters, links, works, cites):
    text = (SHARED / f"reports/deepscholar_base_gpt_4.1__{row}.md").read_text(encoding="utf-8")
    named = list(named_in(text))
    assert (len(text), len(named), len({one.identifier for one in named})) == (letters, links, works)
    result = sentences(text)
    assert {cited.address for one in result for cited in one.cites} == {str(one.identifier) for one in named}
    assert not any("](" in one.text or "\\[" in one.text or one.dangling for one in result)
    # Every link outside a list of references is a citation, those in tables too.
    assert sum(one.marks for one in result) == cites


@public
def test_every_layout_leads_its_marks_somewhere():
    told = {}
    for folder in folders():
        result = reader.read_folder(folder)
        units = cut(result)
        keys = [source for one in units for source in one.cites]
        told[result.system] = (
            sum(unit.marks for unit in units),
            len({key.key for key in keys}),
            len({key.address for key in keys} - {""}),
            sum(unit.dangling for unit in units),
        )
    # Counted by hand: citations before the list (deepresearcher's report stands twice in its file), different sources,
    # those with an address, and marks that lead nowhere. Of the first system's 49 links 24 stand in a table's rows.
    assert told == {
        "deepscholar_base_gpt_4.1": (49, 22, 22, 0),
        "search_ai_gpt_4.1": (11, 9, 9, 0),
        "openscholar": (17, 14, 0, 0),
        "deepresearcher": (20, 10, 0, 0),
        "storm": (12, 8, 8, 0),
    }


@public
def test_openscholars_passages_are_what_its_citations_are_judged_by_and_none_is_a_work():
    result = next(one for one in map(reader.read_folder, folders()) if one.system == "openscholar")
    (file,) = (SHARED / "systems/openscholar/0").glob("*.json")
    shown = json.loads(file.read_text("utf-8"))["ctxs"]
    cited = {source.key: source.words for one in cut(result) for source in one.cites}
    assert len(cited) == 14
    assert all(words == shown[int(key.strip("[]"))]["text"].strip() for key, words in cited.items())
    # Of all arXiv links only the report's own one counts.
    assert [named_work.address for named_work in reader.named_works(result) if named_work.address] == [
        "https://arxiv.org/abs/2004.13332"
    ]


# Something of every property but Other, of which uniseg takes a rule (SB8) otherwise than Unicode.
SOME = "aB3. .!?。;,(“)”' \t\u0301\u200dअ।字-ü"


@settings(max_examples=100, deadline=None)
@given(st.text(SOME, max_size=14))
def test_they_are_those_of_unicodes_rules(text):
    assert list(boundaries(text)) == [at for at in sentence_boundaries(text) if 0 < at < len(text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It is 3.5. So be it.", ["It is 3.5. ", "So be it."]),
        ("He said, “Are you going?” John left.", ["He said, “Are you going?” ", "John left."]),
        ("In the U.S. it rains. Yes!", ["In the U.S. it rains. ", "Yes!"]),
        ("वह आया। वह गया।", ["वह आया। ", "वह गया।"]),
    ],
)
def test_sentences_in_prose(text, wanted):
    ends = [0, *boundaries(text), len(text)]
    assert [text[a:b] for a, b in itertools.pairwise(ends)] == wanted


# The widest window of Figure 5.
WIDEST = 5
# s1 cites a, s3 cites b, s5 cites c.
FIVE = tuple(sentence(f"s{n}", cites) for n, cites in enumerate(("a", "", "b", "", "c"), start=1))
# (1, 1), (2, 3), (3, 1), (4, 1), (5, 5)
BORNE_OUT = {("s1", "s1"), ("s2", "s3"), ("s3", "s1"), ("s4", "s1"), ("s5", "s5")}
YES, NO = ({"quote": "", "rationale": "r", "supported": word} for word in ("yes", "no"))


def verdicts(window: int, yes: set[tuple[str, str]] = BORNE_OUT) -> dict[str, str]:
    return {
        cell_id(one.id, name): "yes" if (one.id, name) in yes else "no"
        for at, one in enumerate(FIVE)
        for _, place in coverage.places(FIVE, at, window)
        for name in [coverage.CONTEXT if place is None else FIVE[place].id]
    }


def figure(values: dict[str, str], window: int = 1, over_valid: bool = False) -> Estimate:
    return coverage.coverage(RatedResponse(sentences_cut(FIVE), values), over_valid, window)


def test_one_set_of_verdicts_gives_every_window_and_never_falls():
    values = verdicts(WIDEST)
    assert [figure(values, w).value for w in range(4)] == pytest.approx([0.4, 0.6, 0.8, 1.0])
    assert figure(values, WIDEST).value == 1.0
    assert coverage.as_released(RatedResponse(sentences_cut(FIVE), values)).value == pytest.approx(0.4)


def test_what_was_not_asked_since_nearer_sources_sufficed_is_no_gap():
    values = verdicts(WIDEST)
    del values[cell_id("s1", "s3")], values[cell_id("s2", "s5")]
    assert [figure(values, w).missing for w in range(WIDEST + 1)] == [0] * 6


def test_a_missing_verdict_leaves_open_only_what_it_decides():
    values = verdicts(1)
    del values[cell_id("s2", "s1")], values[cell_id("s4", "s3")]
    result = figure(values)
    assert (result.value, result.missing, result.floor, result.ceiling) == (None, 1, 3 / 5, 4 / 5)
    assert figure(values, over_valid=True).value == 3 / 4


def test_a_sentence_that_cites_nothing_may_follow_from_the_task_alone():
    values = verdicts(1, {("s2", coverage.CONTEXT)})
    assert (figure(values, 0).value, figure(values, 1).value) == (1 / 5, 1 / 5)
    assert coverage.as_released(RatedResponse(sentences_cut(FIVE), values)).value == 0.0
    bare = sentences_cut([sentence("x"), sentence("y")])
    asked = [[unit.id for unit in case.units] for case in coverage.cases(bare)]
    assert asked == [[cell_id("x", coverage.CONTEXT)], [cell_id("y", coverage.CONTEXT)]]


@pytest.mark.parametrize("metric", [*coverage.COVERAGE.metrics, *precision.PRECISION.metrics])
def test_nothing_is_told_without_sentences_or_of_what_people_wrote(metric):
    own = Material(ITEM, EXEMPLARS, parts=sentences_cut(FOUR).parts)
    values = [metric.score(RatedResponse(of, {}), True).value for of in (sentences_cut([]), own)]
    undrawn = metric.score(RatedResponse(Material(ITEM, report()), {}), True)
    assert (values, undrawn.value, "not been drawn" in undrawn.note) == ([None, None], None, True)
    assert [*coverage.cases(own), *precision.cases(own)] == []


def test_places_go_outwards_and_only_to_sentences_that_cite():
    assert list(coverage.places(FIVE, 2, 2)) == [(0, 2), (2, 0), (2, 4)]
    assert list(coverage.places(FIVE, 1, 1)) == [(0, None), (1, 0), (1, 2)]
    assert [len(case.units) for case in coverage.cases(sentences_cut(FIVE, window=WIDEST))] == [3, 4, 3, 4, 3]


async def judged(material: Material, at: int, *answers):
    case, ask = list(coverage.cases(material))[at], ScriptedAsk(*answers)
    said = await coverage.judge(case, ask)
    return [said[unit.id] for unit in case.units], [fields for _, fields, *_ in ask.asked]


@pytest.mark.anyio
async def test_the_judge_asks_outwards_and_stops_at_the_first_yes():
    said, asked = await judged(sentences_cut(FIVE, texts="abc", window=2), 2, NO, YES)
    assert [one.value or one.status for one in said] == ["no", "yes", Status.NOT_NEEDED]
    assert [one["sources"] for one in asked] == ["Title b\n\nAbstract b.", "Title a\n\nAbstract a."]
    assert {one["sentence"] for one in asked} == {FIVE[2].text}


@pytest.mark.anyio
async def test_a_failed_question_does_not_stop_the_others():
    failed = Answer(Status.TIMEOUT, cause="no answer")
    said, asked = await judged(sentences_cut(FIVE, texts="abc"), 1, failed, NO, YES)
    assert [one.value or one.status for one in said] == [Status.TIMEOUT, "no", "yes"]
    assert "alone" in asked[0]["sources"]


@pytest.mark.anyio
async def test_a_no_by_some_of_the_sources_is_open():
    two = sentences_cut([sentence("s", "ab")], texts="a")
    (no,), asked = await judged(two, 0, NO)
    assert (no.status, asked[0]["sources"]) == (Status.UNCLEAR, "Title a\n\nAbstract a.")
    (yes,), _ = await judged(two, 0, YES)
    (none,), asked = await judged(sentences_cut([sentence("s", "ab")]), 0)
    assert (yes.value, none.cause, asked) == ("yes", NO_TEXT, [])


def test_the_baseline_stops_at_the_first_yes_too():
    near = sentences_cut(
        [sentence("s", "a", text="Abstract title"), sentence("t", "b", text="Quarks collide")], texts="ab"
    )
    first, second = (coverage.baseline(case) for case in coverage.cases(near))
    assert [one.value or one.status for one in first.values()] == ["yes", Status.NOT_NEEDED]
    assert [one.value for one in second.values()] == ["no", "no"]


FOUR = (sentence("s", "abc"), sentence("t", "d"), sentence("u"), sentence("v", "e"))
VERDICTS = said(s_a="yes", s_b="yes", s_c="no", t_d="yes", v_e="no")


def precision_figure(
    reading: precision.PrecisionReading, material: Material, values: dict[str, str], over_valid: bool = False
) -> Estimate:
    return precision.precision(reading, RatedResponse(material, values), over_valid)


@pytest.mark.parametrize(
    ("reading", "value"), [(CITATION, 3 / 5), (SENTENCE, (2 / 3 + 1 + 0) / 3), (RELEASED, (2 / 3 + 1) / 4)]
)
def test_one_set_of_verdicts_is_counted_in_three_ways(reading, value):
    result = precision_figure(reading, sentences_cut(FOUR), VERDICTS)
    assert (result.value, result.floor, result.ceiling) == pytest.approx((value, value, value))
    assert round(result.value, 4) in (0.6, 0.5556, 0.4167)


SHORT = sentence("s", "a", text="Trees cool.")


@pytest.mark.parametrize(
    ("sentences", "verdicts", "values"),
    [
        # A mark that leads nowhere is wrong, and passed over as released.
        ([sentence("s", "a", dangling=1)], said(s_a="yes"), [1 / 2, 1 / 2, 1.0]),
        # As released of a mark with two numbers the first counts, and short sentences are passed over.
        ([sentence("s", "ab", later="b")], said(s_a="no", s_b="yes"), [1 / 2, 1 / 2, 0.0]),
        ([SHORT, sentence("t", "b")], said(s_a="no", t_b="yes"), [1 / 2, 1 / 2, 1.0]),
        ([SHORT], said(s_a="no"), [0.0, 0.0, None]),
    ],
)
def test_readings_of_precision_differ_in_what_they_pass_over(sentences, verdicts, values):
    material = sentences_cut(sentences)
    assert [precision_figure(one, material, verdicts).value for one in READINGS] == values


def test_a_mark_that_leads_nowhere_is_told():
    material = sentences_cut([sentence("s", "a", dangling=1)])
    assert "1 mark leads to nothing" in precision_figure(CITATION, material, said(s_a="yes")).note


@pytest.mark.parametrize(("listed", "note"), [("", "names no source"), ("x", "names sources and cites none")])
def test_a_report_that_cites_nothing_is_0_and_says_so(listed, note):
    result = precision_figure(CITATION, sentences_cut([sentence("s")], listed=listed), {})
    assert result.value == 0.0
    assert note in result.note


def test_a_missing_verdict_bounds_every_reading():
    values = {unit: value for unit, value in VERDICTS.items() if unit != cited("s", "c")}
    result = [precision_figure(one, sentences_cut(FOUR), values) for one in READINGS]
    assert [(one.value, one.missing) for one in result] == [(None, 1)] * 3
    assert [one.floor for one in result] == pytest.approx([3 / 5, 5 / 9, 5 / 12])
    assert [one.ceiling for one in result] == pytest.approx([4 / 5, 2 / 3, 1 / 2])
    assert precision_figure(CITATION, sentences_cut(FOUR), values, over_valid=True).value == 3 / 4


@pytest.mark.anyio
async def test_the_judge_sees_the_sentence_and_one_source():
    (case,) = precision.cases(sentences_cut([sentence("s", "a")], texts="a"))
    ask = ScriptedAsk({"quote": "Abstract a.", "rationale": "r", "supported": "yes"})
    (verdict,) = (await precision.judge(case, ask)).values()
    assert (verdict.value, verdict.quote, verdict.quote_start) == ("yes", "Abstract a.", None)
    ((_, fields, fenced, _),) = ask.asked
    assert fields == {"sentence": case.unit.text, "source": "Title a\n\nAbstract a."}
    assert set(fenced) == set(fields)


@pytest.mark.anyio
async def test_a_source_without_its_abstract_is_missing_without_a_call():
    (case,) = precision.cases(sentences_cut([sentence("s", "a")]))
    for verdicts in (await precision.judge(case, ScriptedAsk()), precision.baseline(case)):
        (verdict,) = verdicts.values()
        assert (verdict.status, verdict.cause) == (Status.SKIPPED, NO_TEXT)


def test_the_baseline_goes_by_the_sentences_words():
    near, far = (
        sentence("s", "a", text="Abstract titles"),
        sentence("t", "a", text="Quarks and gluons collide"),
    )
    assert [
        one.value
        for case in precision.cases(sentences_cut([near, far], texts="a"))
        for one in precision.baseline(case).values()
    ] == ["yes", "no"]


def test_a_reading_is_not_open_where_only_what_it_passes_over_is_missing():
    material = sentences_cut([sentence("s", "ab", later="b")])
    released, citation = (precision_figure(one, material, said(s_a="yes")) for one in (RELEASED, CITATION))
    assert (released.value, released.missing, released.floor, released.ceiling) == (1.0, 0, 1.0, 1.0)
    assert (citation.value, citation.missing) == (None, 1)


pytestmark = pytest.mark.anyio


# Vital: full, full, partly, not. Okay: full, partly.
HAND = [(True, FULL), (True, FULL), (True, PARTIAL), (True, NONE), (False, FULL), (False, PARTIAL)]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there")
@pytest.mark.parametrize("file", sorted((SHARED / "nuggets").glob("*.json")), ids=lambda path: path.stem)
def test_published_scores_follow_from_published_labels(file: Path) -> None:
    told = json.loads(file.read_text("utf-8"))
    labels = [(one["importance"] == "vital", one["assignment"]) for one in told["nuggets"]]
    published = told["nuggets_metrics"]
    for reading, name in (
        (nuggets.STRICT_ALL, "strict_all_score"),
        (nuggets.ALL, "all_score"),
        (nuggets.STRICT_VITAL, "strict_vital_score"),
        (nuggets.VITAL, "vital_score"),
    ):
        # Without a vital nugget the public code says 0, and we that there is none.
        assert nuggets.coverage(reading, labels).value == pytest.approx(published[name]) or not any(
            vital for vital, _ in labels
        )


@pytest.mark.parametrize(
    ("reading", "labels", "value", "note"),
    [
        (nuggets.STRICT_VITAL, HAND, 2 / 4, ""),
        (nuggets.STRICT_ALL, HAND, 3 / 6, ""),
        (nuggets.VITAL, HAND, 2.5 / 4, ""),
        (nuggets.ALL, HAND, 4 / 6, ""),
        (nuggets.STRICT_ALL, [], None, "the item has no nuggets"),
        (nuggets.VITAL, [(False, FULL)], None, "the item has no vital nuggets"),
    ],
)
def test_the_hand_case_in_four_readings_and_without_such_nuggets_no_score(
    reading: nuggets.NuggetReading, labels: list[tuple[bool, str]], value: float | None, note: str
) -> None:
    result = nuggets.coverage(reading, labels)
    assert (result.value, result.note) == (value and pytest.approx(value), note)


def test_a_missing_label_is_not_a_no() -> None:
    result = nuggets.coverage(nuggets.STRICT_ALL, [(True, FULL), (True, None), (False, NONE)])
    assert (result.floor, result.ceiling) == pytest.approx((1 / 3, 2 / 3))
    assert (result.value, result.missing) == (None, 1)
    assert nuggets.coverage(nuggets.STRICT_ALL, [(True, FULL), (True, None)], over_valid=True).value == 1


LABELS = st.lists(st.tuples(st.booleans(), st.sampled_from([FULL, PARTIAL, NONE, None])), max_size=8)


@given(LABELS, st.sampled_from(nuggets.READINGS))
def test_whatever_comes_of_what_is_missing_stays_within_the_bounds(labels, reading) -> None:  # type: ignore[no-untyped-def]
    result = nuggets.coverage(reading, labels)
    for filled in (FULL, PARTIAL, NONE):
        whole = nuggets.coverage(reading, [(vital, value or filled) for vital, value in labels])
        if whole.value is not None:
            assert result.floor is not None
            assert result.ceiling is not None
            assert result.floor - 1e-12 <= whole.value <= result.ceiling + 1e-12


def test_only_gold_nuggets_are_asked_without_their_importance() -> None:
    kept = list(nuggets.cases(with_nuggets(("a", "vital"), ("b", "okay"))))
    assert [(case.unit, case.artifact_id) for case in kept] == [
        (Unit(id="a", text="a fact"), "a"),
        (Unit(id="b", text="b fact"), "a"),
    ]
    assert list(nuggets.cases(with_nuggets(("a", "vital"), support="partial_support"))) == []


def of_exemplar(material: Material) -> Material:
    return replace(material, response=EXEMPLARS)


def test_what_the_exemplar_holds_by_construction_is_not_asked() -> None:
    drawn = of_exemplar(with_nuggets(("a", "vital"), ("b", "okay"), support=FULL))
    assert list(nuggets.cases(drawn)) == []
    assert {metric.score(RatedResponse(drawn, {}), False).value for metric in nuggets.NUGGETS.metrics} == {
        1.0
    }
    # Of what people wrote nobody has said that the exemplar holds it.
    written = of_exemplar(with_nuggets(("a", "vital")))
    assert [case.unit.id for case in nuggets.cases(written)] == ["a"]
    assert nuggets.NUGGETS.metrics[0].score(RatedResponse(written, {}), False).value is None


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there")
def test_the_public_nuggets_cost_the_exemplars_no_call() -> None:
    kept = 0
    for file in (SHARED / "nuggets").glob("*.json"):
        told = enumerate(json.loads(file.read_text("utf-8"))["nuggets"])
        units = [
            Nugget(id=str(place), text=one["text"], importance=one["importance"], support=one["assignment"])
            for place, one in told
        ]
        gold = replace(with_nuggets(), documents={Kind.NUGGETS: Nuggets(units=tuple(units))})
        kept += len(list(nuggets.cases(gold)))
        assert list(nuggets.cases(of_exemplar(gold))) == []
        assert nuggets.NUGGETS.metrics[0].score(RatedResponse(of_exemplar(gold), {}), False).value == 1.0
    assert kept == 220


def test_a_metric_reads_importance_from_the_gold() -> None:
    scored = RatedResponse(with_nuggets(("a", "vital"), ("b", "okay")), {"a": FULL, "b": NONE})
    assert {metric.name: metric.score(scored, False).value for metric in nuggets.NUGGETS.metrics} == {
        "nugget_coverage": 0.5,
        "nugget_coverage.partial": 0.5,
        "nugget_coverage.vital": 1.0,
        "nugget_coverage.vital_partial": 1.0,
    }


@pytest.mark.anyio
async def test_an_empty_report_supports_nothing_without_a_call() -> None:
    (case,) = nuggets.cases(with_nuggets(("a", "vital"), text="  "))
    for verdicts in (await judge(case, ScriptedAsk()), await judge_together(case, ScriptedAsk())):
        assert verdicts["a"].value == NONE
    assert nuggets.baseline(case)["a"].value == NONE


@pytest.mark.anyio
async def test_several_are_known_by_their_ids_alone() -> None:
    first, second = nuggets.cases(with_nuggets(("a", "vital"), ("b", "okay")))
    said = [
        {"id": "b", "quote": "", "rationale": "no", "support": NONE},
        {"id": "a", "quote": "Trees cool.", "rationale": "yes", "support": FULL},
    ]
    ask = ScriptedAsk({"answers": said})
    result = await judge_together(replace(first, units=(*first.units, *second.units)), ask)
    assert {name: verdict.value for name, verdict in result.items()} == {"a": FULL, "b": NONE}
    assert (result["a"].quote_start, "id: a\na fact" in ask.asked[0][1]["nuggets"]) == (0, True)


def test_the_baseline_goes_by_words() -> None:
    (case,) = nuggets.cases(with_nuggets(("shade", "vital"), text="A shade fact about shade."))
    verdict = nuggets.baseline(case)["shade"]
    assert (verdict.value, verdict.quote) == (FULL, "A shade fact about shade.")


class Scripted:
    """A model that draws the given nuggets, calls every third vital, and supports by their place within a call."""

    def __init__(self, *rounds: list[str]) -> None:
        self.rounds, self.asked = list(rounds), list[tuple[str, dict[str, str]]]()

    async def __call__(self, prompt: str, fields: Any, reply: Any, fenced: Any = ()) -> Answer:
        self.asked.append((prompt, dict(fields)))
        assert set(fenced) == set(fields)
        if reply is DrawnNuggets:
            return Answer(Status.OK, DrawnNuggets(nuggets=self.rounds.pop(0)))
        lines = [line.removeprefix("id: ").split(":")[0].strip() for line in fields["nuggets"].splitlines()]
        names = [line for line in lines if line[:1] == "n" and line[1:].isdigit()]
        if reply is WeighedNuggets:
            return Answer(Status.OK, WeighedNuggets(answers=list(map(self.weighed, names))))
        return Answer(Status.OK, SupportTogether(answers=list(map(self.assigned, names))))

    def weighed(self, name: str) -> WeighedNugget:
        return WeighedNugget(id=name, importance="vital" if int(name[1:]) % 3 == 0 else "okay")

    def assigned(self, name: str) -> SupportOfOne:
        said = {"n1": "partial_support", "n2": "not_support"}.get(name, "support")
        return SupportOfOne.model_validate({"id": name, "quote": "", "rationale": "So.", "support": said})


def item(*exemplars: str) -> Material:
    facing = tuple(
        EXEMPLARS.model_copy(update={"id": f"e{n}", "text": text}) for n, text in enumerate(exemplars)
    )
    return replace(Material(ITEM, report("")), facing=facing)


async def test_nuggets_are_weighed_and_assigned_in_tens_and_vital_ones_come_first() -> None:
    ask = Scripted([f"Fact {n}" for n in range(1, 13)])
    result = await nuggets.make(item("Trees cool."), ask)
    assert isinstance(result.document, Nuggets)
    units = {unit.text: (unit.importance, unit.support, unit.counts) for unit in result.document.units}
    # Places 3, 6, 9 of the first ten; of the last two none is the third.
    assert [name for name, (weighed, *_) in units.items() if weighed == "vital"] == [
        "Fact 3",
        "Fact 6",
        "Fact 9",
    ]
    assert [*units][:3] == ["Fact 3", "Fact 6", "Fact 9"]
    assert {n: units[f"Fact {n}"] for n in (1, 2, 3, 11)} == {
        1: ("okay", "partial_support", False),
        2: ("okay", "not_support", False),
        3: ("vital", "support", True),
        11: ("okay", "partial_support", False),
    }
    assert [prompt for prompt, _ in ask.asked] == [
        nuggets.DRAFT_NAME, *[nuggets.WEIGHED] * 2, *["deepscholar.nuggets.together"] * 2,
    ]  # fmt: skip
    assert result.flags == ()


async def test_more_than_ten_texts_are_read_window_by_window_with_the_list_so_far() -> None:
    ask = Scripted(["One fact"], ["One fact", "Another  fact", "One fact"])
    result = await nuggets.make(item(*(f"Text {n}." for n in range(11))), ask)
    drawn = [fields for prompt, fields in ask.asked if prompt == nuggets.DRAFT_NAME]
    assert [fields["nuggets"] for fields in drawn] == [nuggets.NONE_YET, "One fact"]
    assert (drawn[0]["documents"].count("Text"), drawn[1]["documents"]) == (10, "Text 10.")
    assert result.document is not None
    assert sorted(unit.text for unit in result.document.units) == ["Another fact", "One fact"]


async def test_thirty_stay_and_long_ones_are_flagged() -> None:
    result = await nuggets.make(item("T."), Scripted([f"{'word ' * 12}{n}" for n in range(31)]))
    assert result.document is not None
    assert (len(result.document.units), result.flags) == (30, (nuggets.CUT, nuggets.TOO_LONG))


async def test_a_nugget_that_is_left_out_or_weighed_twice_spoils_the_draft() -> None:
    class Careless(Scripted):
        def weighed(self, name: str) -> WeighedNugget:
            return WeighedNugget(id="n1", importance="vital")

    result = await nuggets.make(item("T."), Careless(["A", "B"]))
    assert (result.document, result.status) == (None, Status.INVALID)


@pytest.mark.parametrize("texts", [(), (" \n",)])
async def test_without_an_exemplar_nothing_is_asked(texts: tuple[str, ...]) -> None:
    result = await nuggets.make(item(*texts), Scripted())
    assert (result.status, result.cause) == (Status.SKIPPED, nuggets.NO_EXEMPLAR)


def test_the_plain_text_form_takes_a_nugget_a_line() -> None:
    assert DrawnNuggets.from_text("- Trees cool.\n\n* Shade helps.\n").nuggets == [
        "Trees cool.",
        "Shade helps.",
    ]


TEXT = """\
Trees are old. Shade cools streets by 3.5 K [2][1]. Others differ [1].

## References

[1] Ash, A.. Trees and heat. 2019. https://arxiv.org/abs/2001.00001

[2] Elm, B.. Shade. 2020. A hand-out
"""
GOLD = (
    Reference(id="heat", text="Trees and Heat", identifier="arXiv:2001.00001v2", importance="important"),
    Reference(id="shade", text="Shade", authors="Elm, B."),
    Reference(id="lost", text="Nowhere cited", identifier="10.1000/x"),
)


def exemplar(*units: Reference) -> Material:
    known = with_works(abstracts={"arxiv:2001.00001": "On trees\nand heat.\n\nThen more."})
    response = replace_text(TEXT)
    return replace(
        known, response=response, documents={Kind.EVIDENCE: Evidence(units=units or GOLD)},
        artifact_ids={Kind.EVIDENCE: "e"}, parts={}, facing=(),
    )  # fmt: skip


def replace_text(text: str):  # type: ignore[no-untyped-def]
    return EXEMPLARS.model_copy(update={"text": text})


def of_people(*nuggets: Nugget) -> Material:
    return Material(ITEM, EXEMPLARS, {Kind.NUGGETS: Nuggets(units=nuggets)}, {Kind.NUGGETS: "n"})


def test_a_systems_report_is_not_asked_about() -> None:
    assert list(importance.cases_of_nuggets(with_nuggets(("a", "vital")))) == []
    assert list(importance.cases_of_references(with_works(("a", "arXiv:2001.00001")))) == []


def test_a_nugget_is_asked_about_without_its_label_and_only_where_it_is_gold() -> None:
    kept = Nugget(id="a", text="Trees cool.", importance="vital", support="support")
    half = Nugget(id="b", text="Trees warm.", support="partial_support")
    (case,) = importance.cases_of_nuggets(of_people(kept, half))
    assert (case.unit, case.artifact_id) == (Unit(id="a", text="Trees cool."), "n")


def test_a_reference_is_shown_with_its_abstract_and_the_sentence_that_cites_it_first() -> None:
    heat, shade, lost = importance.cases_of_references(exemplar())
    assert heat.given == {"address": "arxiv:2001.00001", "page": "On trees and heat.\n\nThen more."}
    # A point within a number ends no sentence, and marks behind the full stop belong to it.
    assert heat.unit.anchor is not None
    assert heat.unit.anchor.quote == "Shade cools streets by 3.5 K [2][1]."
    assert TEXT[heat.unit.anchor.start : heat.unit.anchor.end] == heat.unit.anchor.quote
    assert shade.unit.anchor == heat.unit.anchor
    assert shade.given == {"address": "", "page": "", "page_state": "absent"}
    assert lost.unit.anchor is None
    assert not any(hasattr(case.unit, "importance") for case in (heat, shade, lost))


def test_an_entry_whose_mark_stands_in_the_list_alone_has_no_sentence() -> None:
    alone = exemplar(Reference(id="x", text="Shade"))
    listed = TEXT.replace(" [2][1]", "")
    (case,) = importance.cases_of_references(replace(alone, response=replace_text(listed)))
    assert case.unit.anchor is None


@pytest.mark.anyio
async def test_the_judge_of_a_reference_sees_the_section_and_what_is_known_of_the_work() -> None:
    _, shade, _ = importance.cases_of_references(exemplar())
    ask = ScriptedAsk({"rationale": "Central.", "importance": "not-important"})
    assert (await importance.judge_reference(shade, ask))["shade"].value == "not_important"
    ((prompt, fields, fenced, _),) = ask.asked
    assert (prompt, set(fenced), fields["exemplar"]) == (importance.REFERENCE, set(fields), TEXT)
    assert (fields["title"], fields["authors"], fields["abstract"]) == ("Shade", "Elm, B.", "(not known)")


@pytest.mark.anyio
async def test_the_judge_of_a_nugget_does_not_see_the_section() -> None:
    (case,) = importance.cases_of_nuggets(of_people(Nugget(id="a", text="Trees cool.")))
    ask = ScriptedAsk({"rationale": "Yes.", "importance": "vital"})
    assert (await importance.judge_nugget(case, ask))["a"].value == "vital"
    assert ask.asked[0][1] == {"question": ITEM.question, "nugget": "Trees cool."}


def test_the_baseline_goes_by_the_words_of_the_task() -> None:
    (near, far) = importance.cases_of_nuggets(
        of_people(Nugget(id="a", text="Trees cool streets."), Nugget(id="b", text="Penguins swim."))
    )
    assert [nuggets_said(case) for case in (near, far)] == ["vital", "okay"]
    heat, *_ = importance.cases_of_references(exemplar(Reference(id="p", text="Penguins")))
    assert nuggets_said(heat) == "not_important"


def nuggets_said(case: Case) -> str | None:
    (verdict,) = importance.baseline(case).values()
    assert "baseline" in verdict.rationale
    return verdict.value
