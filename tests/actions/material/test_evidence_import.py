"""References in bulk: from lists and files, from the source's own list, looked up, and in one act."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.items import items, pages, sources
from annotator.actions.material import evidence_import, lookups
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import lint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.texts.refusal import Refusal
from tests.exchange.formats import typeset_paper
from tests.exchange.pages.page_server import Given, serving
from tests.gui.authoring.small_pdf import pdf
from tests.projects.small_project import small_project

PAPER = """# A paper

Words.

## References

[1] J. Smith. Deep rivers of the north. Water, 2019. doi:10.1234/river.1
[2] A. Doe and B. Roe. Shallow lakes and what lives in them. Lakes, 2020.
[3] 12
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with closing(small_project(tmp_path)) as project:
        yield project


@pytest.fixture
def item(project: Project) -> str:
    return items.ids(project)[0]


def bibtex(count: int) -> str:
    entries = (
        f'@article{{key{n}, title = {{Work number {n} on rivers}}, author = {{Doe, Jane and M{{\\"u}}ller, Ann}}, '
        f"year = {{20{n % 25:02}}}, doi = {{10.1234/work.{n}}}}}"
        for n in range(count)
    )
    return "\n\n".join(entries)


def units(project: Project, item: str) -> tuple[Reference, ...]:
    own = evidence_import.own_evidence(project, item)
    return own.document.units if own else ()


def test_letter_7_sixty_bibtex_entries_go_in_and_out_in_one_act(
    project: Project, item: str, tmp_path: Path
) -> None:
    path = tmp_path / "works.bib"
    path.write_text(
        f"{bibtex(60)}\n\n@article{{again, title={{Twice}}, doi={{10.1234/WORK.7}}}}\n@book{{none}}\n",
        "utf-8",
    )
    offer = evidence_import.from_file(project, item, path)
    assert offer.words() == "62 entries (BibTeX): 60 new, 1 repeated, 1 not read."
    assert (offer.entries[60].repeats, offer.entries[61].place) == ("line 15", "line 122")
    evidence_import.take(project, item, offer.fresh, offer.form)
    first = units(project, item)[0]
    assert len(units(project, item)) == 60
    assert (first.text, first.identifier, first.authors, first.year) == (
        "Work number 0 on rivers", "doi:10.1234/work.0", "Jane Doe, Ann Müller", 2000,
    )  # fmt: skip
    assert evidence_import.from_file(project, item, path).fresh == ()
    history.undo(project)
    assert units(project, item) == ()


def test_letter_7_a_pasted_list_of_dois_says_what_repeats_and_what_is_not_read(
    project: Project, item: str
) -> None:
    listed = [f"https://doi.org/10.1234/work.{n}" for n in range(20)]
    offer = evidence_import.from_text(project, item, "\n".join([*listed, "doi:10.1234/work.3", "see above"]))
    assert offer.words() == "22 entries (a list): 20 new, 1 repeated, 1 not read."
    assert offer.entries[20].repeats == "line 4"
    assert (offer.entries[21].place, offer.entries[21].said) == ("line 22", "see above")


def test_letter_7_a_work_with_an_identifier_may_go_without_its_title() -> None:
    found = lint(Evidence(units=(Reference(identifier="doi:10.1234/a"), Reference())))
    assert [(one.level, one.rule) for one in found if one.unit_id] == [
        ("error", "empty"), ("warning", "no-title"), ("warning", "no-identifier"),
    ]  # fmt: skip


def test_letter_7_the_sources_own_list_is_found(project: Project, item: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="No list of references was found"):
        evidence_import.from_sources(project, item)
    (path := tmp_path / "paper.md").write_text(PAPER, "utf-8")
    sources.add_source(project, item, path)
    offer = evidence_import.from_sources(project, item)
    assert [(one.text, one.identifier, one.year) for one in offer.fresh] == [
        ("Deep rivers of the north", "doi:10.1234/river.1", 2019),
        ("Shallow lakes and what lives in them", "", 2020),
    ]
    assert [one.place for one in offer.entries if one.why] == ["entry 3"]


def test_letter_7_the_source_itself_is_the_evidence_of_a_research_paper(
    project: Project, item: str, tmp_path: Path
) -> None:
    with pytest.raises(Refusal, match="has no source"):
        evidence_import.the_source_itself(project, item)
    (path := tmp_path / "Deep rivers.md").write_text(PAPER, "utf-8")
    sources.add_source(project, item, path)
    assert not evidence_import.of_research(project, item)
    offer = evidence_import.the_source_itself(project, item)
    evidence_import.take(project, item, offer.fresh, offer.form)
    assert [one.text for one in units(project, item)] == ["Deep rivers"]


def test_letter_7_what_is_blank_gives_way_and_what_is_written_stays(project: Project, item: str) -> None:
    artifacts.start(project, item, Kind.EVIDENCE, Evidence(units=(Reference(),)))
    evidence_import.take(project, item, [Reference(text="Deep rivers of the north")], "a list")
    evidence_import.take(project, item, [Reference(text="Shallow lakes")], "a list")
    assert [one.text for one in units(project, item)] == ["Deep rivers of the north", "Shallow lakes"]
    with pytest.raises(Refusal, match="nothing new"):
        evidence_import.take(project, item, [], "a list")


CROSSREF = {"message": {"DOI": "10.1234/a", "title": ["Rivers"], "issued": {"date-parts": [[2021, 5]]},
            "author": [{"given": "Jane", "family": "Doe"}], "is-referenced-by-count": 4}}  # fmt: skip


def test_letter_7_titles_are_looked_up_once_and_the_reply_is_kept(project: Project, item: str) -> None:
    evidence_import.take(
        project, item, [Reference(identifier=f"doi:10.1234/{one}") for one in "ab"], "a list"
    )
    with serving() as server:
        server.pages["/works/10.1234/a"] = Given(json.dumps(CROSSREF), content_type="application/json")
        server.pages["/works/10.1234/b"] = Given(status=404)
        service = server.url("/works/{}")
        lacking = lookups.to_complete(project, item)
        found = anyio.run(lambda: lookups.asked(project, lacking, [service]))
        assert list(found.lacking) == ["10.1234/b"]
        asked = len(server.asked)
        anyio.run(lambda: lookups.asked(project, lacking[:1], [service]))
        assert len(server.asked) == asked
    lookups.complete(project, item, found)
    first, second = units(project, item)
    assert (first.text, first.authors, first.year, second.text) == ("Rivers", "Jane Doe", 2021, "")
    assert pages.page(project, service.format("10.1234/a")) is not None
    history.undo(project)
    assert units(project, item)[0].text == ""


def test_letter_7_works_are_looked_up_in_a_file_without_a_network(
    project: Project, item: str, tmp_path: Path
) -> None:
    evidence_import.take(project, item, [Reference(identifier="doi:10.1234/A")], "a list")
    (path := tmp_path / "crossref.json").write_text(json.dumps([CROSSREF]), "utf-8")
    lookups.complete(project, item, lookups.in_file(path))
    assert units(project, item)[0].text == "Rivers"


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("style", "how"),
    [
        ("ieee", {"mark": "[{}]"}),
        ("plain", {"mark": "{}.", "by_rows": True, "after": "plain"}),
        ("acl", {"after": "list"}),
        ("icml", {"hanging": False, "by_rows": True}),
        ("apa", {"after": "plain"}),
        ("plain", {"hanging": False, "after": "list"}),
    ],
)
def test_the_list_of_a_paper_in_two_columns_comes_in_whole_without_its_appendix(
    project: Project, item: str, tmp_path: Path, style: str, how: dict[str, Any]
) -> None:
    listed = typeset_paper.works(44)
    (path := tmp_path / "paper.pdf").write_bytes(typeset_paper.paper(listed, style, **how))
    offer = evidence_import.from_file(project, item, path)
    assert [(one.text, one.year) for one in offer.fresh] == [(work.title, work.year) for work in listed]
    assert sum("annotat" in one.said for one in offer.entries) == 0
    assert len(offer.doubtful) == (6 if how.get("after") == "list" else 0)


def test_letter_7_a_pdfs_own_list_goes_in_over_lines_and_pages(
    project: Project, item: str, tmp_path: Path
) -> None:
    pages = (
        ("A paper on rivers", "It rests on [1] and [2].", "References",
         "[1] J. Smith. Deep rivers of the", "north. Water, 2019."),
        ("[2] A. Doe and B. Roe. Shallow lakes and what lives in", "them. Lakes, 2020. doi:10.1234/lakes.2", "7"),
    )  # fmt: skip
    (path := tmp_path / "paper.pdf").write_bytes(pdf(pages))
    wanted = [
        ("Deep rivers of the north", "", 2019),
        ("Shallow lakes and what lives in them", "doi:10.1234/lakes.2", 2020),
    ]
    from_file = evidence_import.from_file(project, item, path)
    assert [(one.text, one.identifier, one.year) for one in from_file.fresh] == wanted
    sources.add_source(project, item, path)
    from_source = evidence_import.from_sources(project, item)
    assert [(one.text, one.identifier, one.year) for one in from_source.fresh] == wanted
