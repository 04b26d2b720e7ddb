"""How a report cites."""

import json
from pathlib import Path

import pytest

from annotator.protocols.citations import MASK, marks_in, read
from annotator.protocols.reference_lists import fetchable, normal, trimmed
from annotator.protocols.researcherbench.claims import LONGEST_SECTION, sections

PUBLIC = Path(__file__).parents[2] / "../shared/data/researcherbench/responses"


def cited(report):
    return [(report[c.start : c.end], c.urls) for c in read(report).citations]


def left(report):
    return read(report).masked.replace(MASK, "")


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


def test_a_link_between_parentheses_is_a_citation_and_leaves_the_sentence():
    report = "Recall falls ([A [v2] title](https://a.org/p#:~:text=Some words (with, brackets) here))."
    assert cited(report) == [(report[13:-1], ("https://a.org/p",))]
    assert left(report) == "Recall falls ."


def test_a_link_in_the_sentence_keeps_its_words():
    report = "As [the survey](https://a.org/s) shows, it works."
    assert left(report) == "As the survey shows, it works."
    assert [c.urls for c in read(report).citations] == [("https://a.org/s",)]


def test_marks_lead_where_the_reference_list_says():
    report = "It works[1][2]. It scales [1-3].\n\n## References\n[1] https://a.org/1\n[2] B. Author, https://b.org/2.\n[3]\nhttps://c.org/3"
    a, b, c = "https://a.org/1", "https://b.org/2", "https://c.org/3"
    assert cited(report) == [("[1]", (a,)), ("[2]", (b,)), ("[1-3]", (a, b, c))]


def test_footnotes_are_defined_anywhere():
    report = "It works[^7].\n\n[^7]: https://a.org/7\n\nIt scales[^8]."
    found = read(report)
    assert cited(report) == [("[^7]", ("https://a.org/7",)), ("[^8]", ())]
    assert [report[slice(*span)].strip() for span in found.body] == ["It works[^7].", "It scales[^8]."]


def test_a_reference_without_an_address_leads_to_its_arxiv_id():
    report = (
        'It works [5].\n\n**References**\n\n[5] T. Gao, "Factuality," arXiv preprint arXiv:2501.06521, 2025.'
    )
    assert cited(report) == [("[5]", ("https://arxiv.org/abs/2501.06521",))]
    assert "arxiv:2501.06521" in read(report).addresses


def test_a_number_in_brackets_that_the_list_does_not_know_is_no_citation():
    assert cited("The array x[0] holds [9] items.\n\n## References\n[1] https://a.org") == []


def test_numbered_links_and_bare_addresses_cite():
    assert cited("So [1](https://a.org/x)[2](https://b.org/y) and https://c.org/z.") == [
        ("[1](https://a.org/x)", ("https://a.org/x",)),
        ("[2](https://b.org/y)", ("https://b.org/y",)),
        ("https://c.org/z", ("https://c.org/z",)),
    ]


def test_a_reference_list_ends_with_the_next_heading():
    report = "One.\n\n## Sources\n- [T](https://a.org)\n\n## Appendix\nTwo."
    assert [report[slice(*span)] for span in read(report).body] == ["One.\n\n", "## Appendix\nTwo."]


def test_wide_brackets_and_ranges_name_their_marks():
    assert marks_in("So 【3†source】, [1, 4–6] and [^note], again [1].") == ["3", "1", "4", "5", "6", "note"]


@pytest.mark.parametrize("report", ["", "](https://a.org", "[" * 5000, "[x](https://a.org", "x" + MASK])
def test_odd_reports_are_read_without_citations(report):
    found = read(report)
    assert len(found.masked) == len(report)
    assert all(not c.label for c in found.citations)


# Sections


def test_sections_are_whole_paragraphs_up_to_the_length():
    report = "# Title\n\nAlpha beta.\n\nGamma delta.\n\n## Next\n\nEpsilon."
    spans = sections(report, [(0, len(report))], longest=26)
    assert [report[slice(*span)] for span in spans] == [
        "# Title\n\nAlpha beta.",
        "Gamma delta.",
        "## Next\n\nEpsilon.",
    ]


def test_a_long_paragraph_is_cut_at_the_end_of_a_sentence():
    report = "One two three four. Five six seven eight. Nine ten."
    spans = sections(report, [(0, len(report))], longest=30)
    assert [report[slice(*span)] for span in spans] == [
        "One two three four. ",
        "Five six seven eight. ",
        "Nine ten.",
    ]


@pytest.mark.parametrize("report", ["", "  \n\n ", "# Only a heading"])
def test_next_to_nothing_makes_at_most_one_section(report):
    assert len(sections(report, [(0, len(report))])) == bool(report.strip())


def test_what_never_ends_is_cut_anyway():
    assert [b - a for a, b in sections("x" * 12_000, [(0, 12_000)])] == [5000, 5000, 2000]


def test_sections_of_public_reports_hold_all_their_words():
    if not PUBLIC.exists():
        pytest.skip("the public data of ResearcherBench are not beside this checkout")
    for path in sorted(PUBLIC.glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8"))[:10]:
            found = read(entry["response"])
            spans = sections(found.report, found.body)
            assert all(b - a <= LONGEST_SECTION for a, b in spans)
            kept = "".join(found.report[a:b] for a, b in spans)
            body = "".join(found.report[a:b] for a, b in found.body)
            assert "".join(kept.split()) == "".join(body.split())
