"""How references are read from a report without a model."""

import json
from pathlib import Path

import pytest

from annotator.domain.texts.identifier import parse
from annotator.protocols.adra.lists import is_list_heading
from annotator.protocols.adra.reading import references
from tests.material.anchors import stands_in

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


def test_a_numbered_list_gives_a_work_an_entry():
    assert read(NUMBERED) == [
        ("arxiv:2505.20416", "Graphs for Tuning Models"),
        ("https://a.org/x", ""),
        ("", "Attention in long texts"),
    ]


def test_an_entry_gives_authors_year_and_where_it_stands():
    unit = references(NUMBERED, "r").units[2]
    assert (unit.authors, unit.year) == ("A. Lee", 2021)
    assert unit.anchor.quote == "[3] A. Lee. Attention in long texts.\n    In Proc. of X, 2021."
    assert stands_in(unit.anchor, NUMBERED)
    assert unit.anchor.source_id == "r"


def test_footnotes_are_entries_wherever_they_stand():
    notes = "[^1]: https://arxiv.org/html/2410.05193v1\n\n[^b2]: Lee, A. (2020). Long texts read. X."
    report = f"It helps[^1].\n\n{notes}\n\nAnd on."
    assert read(report) == [("arxiv:2410.05193", ""), ("", "Long texts read")]


def test_links_and_names_in_the_text_are_references_once_each():
    report = (
        "So it is ([Attention in long texts](https://a.org/x#:~:text=So it,is)), and ([again](https://a.org/x/)). "
        "See doi:10.1000/182 and arXiv:2301.00001v2 and https://arxiv.org/abs/2301.00001."
    )
    assert read(report) == [
        ("https://a.org/x", "Attention in long texts"),
        ("doi:10.1000/182", ""),
        ("arxiv:2301.00001", ""),
    ]


def test_what_the_text_and_the_list_say_of_a_work_is_put_together():
    entry = "- Attention in long texts of many pages, arXiv:2301.00001, 2023"
    report = f"It helps ([arxiv.org](https://arxiv.org/abs/2301.00001)).\n\n**Sources:**\n{entry}\n"
    ((unit),) = references(report).units
    assert (unit.identifier, unit.year) == ("arxiv:2301.00001", 2023)
    assert unit.text.startswith("Attention in long texts of many pages")


def test_equal_titles_with_different_dois_are_two_works_and_an_address_is_one_of_them():
    title = "Attention in long texts of many pages"
    addresses = ("https://doi.org/10.1000/b", "https://doi.org/10.1000/c", "https://a.org/x")
    report = " ".join(f"[{title}]({address})" for address in addresses)
    assert read(report) == [("doi:10.1000/b", title), ("doi:10.1000/c", title)]


def test_an_entry_that_links_elsewhere_too_names_two():
    report = (
        "## Sources\n- Lee et al., *Attention in long texts of many pages* ([](https://arxiv.org/abs/2301.00001)) "
        "([Another page on something else](https://b.org/y))\n"
    )
    assert read(report) == [
        ("arxiv:2301.00001", "Attention in long texts of many pages"),
        ("https://b.org/y", "Another page on something else"),
    ]


def test_a_list_without_markers_is_read_by_paragraphs_or_lines():
    lines = "References:\nLee, A. (2020). Long texts read. X.\nDoe, B. (2021). Short texts read. Y.\n"
    paragraphs = lines.replace("X.\n", "X.\n\n").replace("(2020). ", "(2020).\n")
    assert read(lines) == read(paragraphs) == [("", "Long texts read"), ("", "Short texts read")]


def test_two_lists_with_the_same_numbers_are_put_together():
    report = '**Sources**:\n[1] Lee, "Long texts read"\n[2] Doe, "Short texts read"\n\n## References\n[1] https://a.org/x\n'
    assert read(report) == [("https://a.org/x", "Long texts read"), ("", "Short texts read")]


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
    assert one == other
    assert len({unit.id for unit in one.units}) == 3


def test_a_hostile_report_does_not_hang_the_reading():
    for piece in ("[", "](", "[a](https://a.org/x", "## References\n[1] [", "10.1000/", "*a ", "A. B, "):
        text = piece * 20_000
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
    found = {unit.identifier for unit in references(report).units}
    plain = {one for one in wanted if one.startswith("arxiv:")}
    assert len(plain) > 20
    assert plain <= found


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
    found = {unit.identifier: unit.text for unit in references(path.read_text(encoding="utf-8")).units}
    assert found["arxiv:1904.13276"] == "Tax Mechanisms and Gradient Flows"
    assert len(found) == 22
