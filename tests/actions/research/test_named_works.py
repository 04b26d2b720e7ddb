"""Works that reports and gold name get abstracts and citations from files or services, and keep what they had."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from annotator.actions.imports import imports
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.research import named_works, work_sources
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import PAGE
from tests.exchange.pages.page_server import Given, PageServer, serving
from tests.material import eprint_folder
from tests.material import related_work as made

OAK, ELM, ASH = "arxiv:2001.00001", "doi:10.1000/elm", "arxiv:2001.00002"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Three works: one on arXiv with an abstract, one on arXiv and one with a DOI without."""
    return naming(tmp_path, "2001.00002")


def naming(folder: Path, *ids: str) -> Project:
    """A project whose first paper also cites works with these ids."""
    project = new_project(folder / "project.goldsmith", "T")
    place = made.write(folder / "benchmark")
    more = [
        made.cited(made.FIRST, name, name, cited_paper_arxiv_link=f"http://arxiv.org/abs/{name}v1")
        for name in ids
    ]
    made.table(place / "citations.csv", [*made.CITATIONS, *more])
    imports.run(project, "deepscholar", [place], warm=False)
    return project


def kept(project: Project) -> dict[str, tuple[str, int | None, str]]:
    with project.store.read() as db:
        rows = db.execute(select(PAGE)).all()
    return {row.url: (row.text, row.citations, str(row.citations_on or "")) for row in rows}


def test_what_works_lack_is_told(project: Project) -> None:
    found = named_works.named(project)
    assert set(found.titles) == {OAK, ELM, ASH}
    assert set(found.without_abstract) == {ELM, ASH}
    assert set(found.without_citations) == {OAK, ELM, ASH}
    assert found.words().startswith(
        "3 works named by reports and gold evidence: 2 without an abstract, 3 without"
    )


def test_a_table_completes_works_and_replaces_no_text(project: Project, tmp_path: Path) -> None:
    rows = [
        {"identifier": "arXiv:2001.00001v9", "abstract": "Other.", "cited_by_count": "7", "counted_on": "2026-01-02"},
        {"identifier": "10.1000/ELM", "abstract": "Of elms.", "cited_by_count": "", "counted_on": ""},
        {"identifier": "arXiv:2001.00002", "abstract": "", "cited_by_count": "3", "counted_on": "2026-01-02"},
        {"identifier": "arXiv:2001.00002", "abstract": "", "cited_by_count": "5", "counted_on": "2026-01-02"},
        {"identifier": "arXiv:1999.00001", "abstract": "", "cited_by_count": "1", "counted_on": "2026-01-02"},
        {"identifier": "arXiv:2001.00002", "abstract": "", "cited_by_count": "inf", "counted_on": "2026-01-02"},
    ]  # fmt: skip
    made.table(tmp_path / "works.csv", rows)
    found = work_sources.from_place(project, tmp_path / "works.csv")
    assert (found.abstracts, found.citations, found.elsewhere, len(found.problems)) == (1, 2, 1, 1)
    assert found.problems[0].startswith("works.csv: row 7: ")
    assert kept(project) == {
        OAK: ("About oaks.", 7, "2026-01-02"),
        ELM: ("Of elms.", None, ""),
        # Of two records of one day the larger counts.
        ASH: ("", 5, "2026-01-02"),
    }
    again = work_sources.from_place(project, tmp_path / "works.csv")
    assert (again.abstracts, again.citations) == (0, 0)


def test_an_older_count_does_not_take_the_place_of_a_newer_one(project: Project, tmp_path: Path) -> None:
    for day, count in (("2026-01-02", "7"), ("2025-01-02", "9")):
        row = {"identifier": "arXiv:2001.00001", "cited_by_count": count, "counted_on": day}
        made.table(tmp_path / "works.csv", [row])
        work_sources.from_place(project, tmp_path / "works.csv")
    assert kept(project)[OAK][1:] == (7, "2026-01-02")


def openalex(doi: str, citations: int, words: str = "") -> dict[str, Any]:
    places = {word: [place] for place, word in enumerate(words.split())}
    return {
        "doi": f"https://doi.org/{doi}", "title": "Elms", "cited_by_count": citations,
        "abstract_inverted_index": places,
    }  # fmt: skip


def test_replies_in_a_folder_complete_works(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "replies"
    folder.mkdir()
    reply = json.dumps({"results": [openalex("10.1000/elm", 12, "Of elms in towns.")]})
    (folder / "a.json").write_text(reply, encoding="utf-8")
    (folder / "b.json").write_text(json.dumps(openalex("10.48550/arxiv.2001.00002", 4)), encoding="utf-8")
    found = work_sources.from_place(project, folder)
    assert (found.abstracts, found.citations) == (1, 2)
    assert kept(project)[ELM][:2] == ("Of elms in towns.", 12)
    assert kept(project)[ASH][1] == 4


@pytest.mark.parametrize("content", ["identifier,abstract\n", "a,b\n1,2\n", ""])
def test_a_place_without_works_is_refused(project: Project, tmp_path: Path, content: str) -> None:
    (tmp_path / "works.csv").write_text(content, encoding="utf-8")
    with pytest.raises(Refusal):
        work_sources.from_place(project, tmp_path / "works.csv")


class Services(dict[str, Any]):
    """arXiv and OpenAlex by any path; arXiv refuses a list with an id that is none."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def get(self, path: str, default: Any = None) -> Any:
        parts = urlsplit(path)
        self.asked.append(parts.path)
        if parts.path.startswith("/works/"):
            doi = parts.path.removeprefix("/works/")
            body = json.dumps(openalex(doi, 20, "Of elms." if "elm" in doi else "")).encode()
            return Given(body, content_type="application/json")
        ids = parse_qs(parts.query)["id_list"][0].split(",")
        if "2001.99999" in ids:
            return Given(
                eprint_folder.feed([eprint_folder.entry("x").replace("abs/x", "api/errors#1")]), status=400
            )
        return Given(eprint_folder.feed([eprint_folder.entry(f"{one}v1", title="Birches") for one in ids]))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    monkeypatch.setattr(work_sources, "GAP_S", 0.0)
    with serving() as running:
        running.pages = Services()
        yield running


def looked_up(project: Project, server: PageServer) -> named_works.CompletedWorks:
    return work_sources.look_up(
        project, api=server.url("/api/query"), services=[server.url("/works/{}")], allow_private=True
    )


def test_services_complete_works_and_are_asked_only_for_what_lacks(
    project: Project, server: PageServer
) -> None:
    found = looked_up(project, server)
    assert (found.abstracts, found.citations, found.problems) == (2, 3, ())
    whole = kept(project)
    assert whole[OAK][:2] == ("About oaks.", 20)
    assert whole[ELM][0] == "Of elms."
    assert whole[ASH][0]
    before = len(server.pages.asked)  # type: ignore[attr-defined]
    assert looked_up(project, server).abstracts == 0
    assert len(server.pages.asked) == before  # type: ignore[attr-defined]


def test_one_id_that_is_none_costs_no_other_work(server: PageServer, tmp_path: Path) -> None:
    project = naming(tmp_path, "2001.00002", "2001.99999")
    found = looked_up(project, server)
    assert kept(project)[ASH][0]
    assert [one.partition(":")[0] for one in found.problems] == ["arXiv"]
