"""Sentences of reports: where they end, what is none, and what their marks lead to."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.part import ResponsePart, Sentence
from annotator.exchange.formats.deepscholar import system_folders
from annotator.exchange.formats.deepscholar.system_folders import SystemReport
from annotator.protocols.deepscholar.entailment import source_of
from annotator.protocols.deepscholar.retrieved import retrieved
from annotator.protocols.deepscholar.sentences import baseline, sentences
from annotator.protocols.works import named_in
from tests.material.related_work import SHARED
from tests.protocols.deepscholar.related_work_material import ITEM, report

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
    found = sentences(HARD)
    assert [one.text for one in found] == [
        "Kinetic models show this.",
        "Later work by Smith et al. (2020) extends it.",
        "See Fig. 2 for e.g. details, i.e. Sec. 3. vs. others!",
        "Is it so?",
        "Yes.",
        "It improves by 3.5% over.",
        "Done.",
    ]
    assert [one.heading for one in found] == [""] * 5 + ["What came of it"] * 2
    assert [one.marks for one in found] == [2, 1, 2, 0, 1, 1, 0]
    assert [one.dangling for one in found] == [2, 1, 2, 0, 1, 0, 0]
    assert sources(found[5]) == ["arxiv:2410.12876"]
    assert all(HARD[one.anchor.start : one.anchor.end] == one.anchor.quote for one in found)


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
    assert sources(first) == ["arxiv:2001.00001"]
    assert sources(second) == ["doi:10.1000/x"]
    assert (sources(third), third.dangling) == (["Untraced"], 1)
    bare = Material(ITEM, report("Trees cool [1]."), parts={ResponsePart.REFERENCES: known})
    assert sources(baseline(bare).document.units[0]) == ["arxiv:2002.00002"]


def test_each_row_of_a_table_that_cites_is_one_sentence():
    rows = (
        "| Tree | Effect |\n| --- | --- |\n| Oak. Elm | Cools [1] |\n| Ash | None |\n| Fir [2] | Dries. |\n"
    )
    listed = "\n## References\n\n[1] Oaks. arXiv:cs/0112017v2\n[2] Firs. math.GT/0309136\n"
    found = sentences(f"Trees differ.\n\n{rows}\nThis ends.\n{listed}")
    assert [one.text for one in found] == ["Trees differ.", "Oak. Elm | Cools", "Fir | Dries.", "This ends."]
    # Ids of before 2007 are works, too.
    assert [sources(one) for one in found] == [[], ["arxiv:cs/0112017"], ["arxiv:math/0309136"], []]
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
    (found,) = sentences(
        r"Trees cool \[[A. Oak' 2020](http://arxiv.org/abs/2001.00001v1), [B](http://a.org/x)\]."
    )
    assert found.text == "Trees cool."
    assert sources(found) == ["arxiv:2001.00001", "http://a.org/x"]
    (named,) = sentences("See [the survey](http://a.org/x) for more.")
    assert (named.text, named.cites[0].title) == ("See the survey for more.", "the survey")


def test_a_source_counts_once_in_its_sentence_and_first_places_are_told():
    listed = "\n\n## References\n\n[1] http://a.org/x\n[2] http://b.org/y\n[3] http://a.org/x\n"
    (found,) = sentences(f"Trees cool [1, 2], as told [3].{listed}")
    assert [(one.address, one.later) for one in found.cites] == [
        ("http://a.org/x", False),
        ("http://b.org/y", True),
    ]
    assert found.marks == 3


def test_ids_stay_when_sentences_come_before_them():
    before, after = sentences("One. Two. Two."), sentences("Zero. One. Two. Two.")
    assert [one.id for one in after[1:]] == [one.id for one in before]
    assert len({one.id for one in after}) == 4


# Public reports.


def folders() -> Iterator[Path]:
    yield from system_folders.folders_in(SHARED / "systems") if SHARED.is_dir() else ()


def cut(found: SystemReport) -> list[Sentence]:
    """The sentences of a public report, with what its files tell of its works."""
    units = [
        Reference(
            id=f"w{place}",
            text=one.title or one.address or one.mark,
            note=one.mark,
            identifier=one.address,
            passage="" if one.address else one.abstract,
        )
        for place, one in enumerate(system_folders.named_works(found))
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
    found = sentences(text)
    assert {cited.address for one in found for cited in one.cites} == {str(one.identifier) for one in named}
    assert not any("](" in one.text or "\\[" in one.text or one.dangling for one in found)
    # Every link outside a list of references is a citation, those in tables too.
    assert sum(one.marks for one in found) == cites


@public
def test_every_layout_leads_its_marks_somewhere():
    told = {}
    for folder in folders():
        found = system_folders.read_folder(folder)
        units = cut(found)
        keys = [source for one in units for source in one.cites]
        told[found.system] = (
            sum(one.marks for one in units),
            len({one.key for one in keys}),
            len({one.address for one in keys} - {""}),
            sum(one.dangling for one in units),
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
    found = next(one for one in map(system_folders.read_folder, folders()) if one.system == "openscholar")
    (file,) = (SHARED / "systems/openscholar/0").glob("*.json")
    shown = json.loads(file.read_text("utf-8"))["ctxs"]
    cited = {source.key: source.words for one in cut(found) for source in one.cites}
    assert len(cited) == 14
    assert all(words == shown[int(key.strip("[]"))]["text"].strip() for key, words in cited.items())
    # Of all arXiv links only the report's own one counts.
    addresses = [one.address for one in system_folders.named_works(found) if one.address]
    assert addresses == ["https://arxiv.org/abs/2004.13332"]
