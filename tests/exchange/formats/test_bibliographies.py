"""Bibliographies in every form: what is read from each entry, and what is said of those that cannot be read."""

import json

import pytest

from annotator.domain.material.source import SourceKind
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats import bibliographies, works
from annotator.exchange.formats.bibliographies import Bibliography


def read_from(found: Bibliography) -> list[tuple[str, str, int | None]]:
    return [(one.text, one.identifier, one.year) for entry in found.entries if (one := entry.reference)]


def whys(found: Bibliography) -> list[str]:
    return [f"{entry.place}: {entry.why}" for entry in found.entries if entry.why]


NOTHING = "Neither a title nor an identifier was found in it."


def test_letter_7_a_broken_bibtex_entry_keeps_no_other_out() -> None:
    text = """@string{nat = "Nature"}
@article{a, title={{Deep} rivers of M{\\"u}nster}, author={Doe, Jane}, year=2024, eprint={2301.00001}, journal=nat}
@article{broken, title={No end
@book{a, title="Same key", date={2021-03-01}, isbn={978-3-16-148410-0}}
"""
    found = bibliographies.read(text)
    assert found.form == "BibTeX"
    assert read_from(found) == [
        ("Deep rivers of Münster", "arxiv:2301.00001", 2024), ("Same key", "isbn:9783161484100", 2021),
    ]  # fmt: skip
    assert whys(found) == ["line 3: This is no complete BibTeX entry."]


def test_letter_7_what_was_pasted_between_entries_of_bibtex_is_read_or_told() -> None:
    text = """% made by a program
10.1126/sciadv.aaq0504
arXiv:2002.04745, 10.1000/y
Doe, J. A work in words
@article{a, title={On trees}, year={2020}, doi={10.1000/x}}
@comment{kept by a program}
10.1000/after
"""
    found = bibliographies.read(text)
    assert [one.identifier for entry in found.entries if (one := entry.reference)] == [
        "doi:10.1126/sciadv.aaq0504", "arxiv:2002.04745", "doi:10.1000/y", "doi:10.1000/x", "doi:10.1000/after",
    ]  # fmt: skip
    assert whys(found) == ["line 4: It stands outside of the BibTeX entries."]


def test_letter_7_ris_is_read_record_by_record() -> None:
    whole = "TY  - JOUR\nTI  - Deep rivers\nAU  - Doe, J\nPY  - 2020/03/01\nDO  - 10.1234/x\nER  - \n"
    text = f"{whole}\nTY  - BOOK\nER  -\n"
    found = bibliographies.read(text)
    assert (found.form, read_from(found)) == ("RIS", [("Deep rivers", "doi:10.1234/x", 2020)])
    assert whys(found) == [f"line 8: {NOTHING}"]


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_letter_7_csv_is_read_by_its_columns(sign: str) -> None:
    rows = [
        ("Title", "Author", "DOI", "Year"),
        ("Deep rivers", "Doe", "10.1234/x", "2020"),
        ("", "Roe", "", ""),
    ]
    found = bibliographies.read("\r\n".join(sign.join(row) for row in rows))
    assert (found.form, read_from(found)) == ("CSV", [("Deep rivers", "doi:10.1234/x", 2020)])
    assert whys(found) == [f"line 3: {NOTHING}"]


def test_letter_7_latex_is_read_from_its_bibitems() -> None:
    text = r"""\begin{thebibliography}{9}
\bibitem{a} J. Doe. \newblock {\em Deep rivers of the north}. \newblock Water, 2020.
\bibitem[Roe]{b} A. Roe. \newblock M\"uller's lakes. 2021. \url{https://doi.org/10.1234/lake}
\end{thebibliography} After it."""
    assert read_from(bibliographies.read(text)) == [
        ("Deep rivers of the north", "", 2020), ("Müller's lakes", "doi:10.1234/lake", 2021),
    ]  # fmt: skip


def test_letter_7_several_identifiers_may_share_a_line() -> None:
    found = bibliographies.read("10.1234/a, arXiv:2301.00001\n10.1234/b")
    assert [(entry.place, entry.reference and entry.reference.identifier) for entry in found.entries] == [
        ("line 1", "doi:10.1234/a"), ("line 1", "arxiv:2301.00001"), ("line 2", "doi:10.1234/b"),
    ]  # fmt: skip


def test_letter_7_identifiers_and_worded_entries_stand_in_one_list() -> None:
    text = "10.1234/a\n10.1234/b\nsee above\n[3] J. Smith. Deep rivers of the north. Water, 2020.\nhttps://doi.org/10.1234/c\n"
    found = bibliographies.read(text)
    assert read_from(found) == [
        ("", "doi:10.1234/a", None), ("", "doi:10.1234/b", None), ("Deep rivers of the north", "doi:10.1234/c", 2020),
    ]  # fmt: skip
    assert whys(found) == [f"line 3: {NOTHING}"]


def test_letter_7_a_papers_own_list_is_read_across_lines_and_pages() -> None:
    text = (
        "Intro.\nReferences\nSmith, J. (2020). Deep rivers and\nseas. Water, 3, 1-2.\n"
        "Doe, A., & Roe, B. (2021). A long ti-\ntle. Lakes, 2. https://doi.org/10.1234/\nabc\n\n\f\n12\n"
        "Zorn, C. (2019). A third thing. Cell 4.\n"
    )
    assert read_from(bibliographies.own_list(text)) == [
        ("Deep rivers and seas", "", 2020), ("A long title", "doi:10.1234/abc", 2021), ("A third thing", "", 2019),
    ]  # fmt: skip


def test_letter_7_the_record_of_a_source_at_crossref_gives_its_references() -> None:
    listed = [{"DOI": "10.1234/R", "article-title": "Rivers", "author": "Roe", "year": "2019a"}, {"key": "x"}]
    found = bibliographies.read(
        json.dumps({"message": {"DOI": "10.1234/s", "title": ["S"], "reference": listed}})
    )
    assert read_from(found) == [("Rivers", "doi:10.1234/r", 2019)]
    assert whys(found) == [f"entry 2: {NOTHING}"]


def test_letter_8_openalex_tells_date_venue_citations_and_kind() -> None:
    told = {
        "doi": "https://doi.org/10.1234/A", "title": "Rivers", "publication_date": "2024-05-01", "type": "review",
        "primary_location": {"source": {"display_name": "Water"}}, "cited_by_count": 0,
        "authorships": [{"author": {"display_name": "Jane Doe"}}], "publication_year": 2024,
    }  # fmt: skip
    (work,) = works.works_of({"results": [told]})
    assert work.metadata() == {
        "kind": SourceKind.REVIEW, "published": "2024-05-01", "venue": "Water", "citations": 0,
    }  # fmt: skip
    assert (work.reference.identifier, work.reference.authors) == ("doi:10.1234/a", "Jane Doe")


@pytest.mark.parametrize("text", ["", "   \n", "[]"])
def test_letter_7_an_empty_list_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="Nothing is listed"):
        bibliographies.read(text)
