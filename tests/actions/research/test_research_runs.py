"""The reference system: what it searches and writes, and works that reports name."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from annotator.actions.imports import imports
from annotator.actions.items import materials, pages
from annotator.actions.material import responding
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking
from annotator.actions.research import research as research_module
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.protocols.deepscholar import references
from annotator.storage.tables import PAGE
from tests.exchange.pages.page_server import Given, PageServer, serving
from tests.judging.odd_server import OddServer, error
from tests.material import eprint_folder, related_work as made
from tests.material.eprint_folder import entry, feed
from tests.material.twelve_works import FOUND, HOLDING, LEFT, PREFERRED, WORKS
from tests.projects.refusals import expect_refusal
from tests.servers.research_server import (
    JUDGE,
    SYSTEM,
    answering,
    research_project,
    researching,
    step_of,
    write_corpus,
)
from tests.storage import sql


@pytest.fixture
def server() -> Iterator[OddServer]:
    with researching() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    return research_project(tmp_path, server.url)


@pytest.fixture
def priced(tmp_path: Path, server: OddServer) -> Project:
    return research_project(tmp_path, server.url, "gpt-4.1-mini")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(write_corpus(tmp_path / "corpus"))


def order(corpus: str = "", judge: str = JUDGE, system: str = SYSTEM, **how: Any) -> RunRequest:
    more = {name: how.pop(name) for name in ("trials", "budget_usd", "items") if name in how}
    manner = responding.research_name(**({} if "oracle" in how else {"keep": 3}), **how)
    return RunRequest(judge, manner, (system,), timeout_s=5.0, corpus=corpus, **more)


def research(project: Project, wanted: RunRequest) -> dict[str, Any]:
    return asyncio.run(orders.carry_out(project, wanted))


def responses(project: Project, columns: str = "text") -> list[tuple[Any, ...]]:
    return sql.rows(project, f"SELECT {columns} FROM response ORDER BY trial, mode")


def material_of(project: Project) -> Material:
    (response,) = [id_ for (id_,) in responses(project, "id")]
    result = materials.of_response(project, materials.for_scoring(references.REFERENCES), response)
    assert result is not None
    return result


def steps(server: OddServer) -> Counter[str]:
    return Counter(map(step_of, server.bodies))


def listed(text: str) -> list[str]:
    return text.partition("## References\n\n")[2].split("\n\n")


def test_a_report_is_kept_with_its_list_its_works_and_what_each_step_took(
    project: Project, server: OddServer, corpus: str
) -> None:
    ended = research(project, order(corpus))
    assert (ended["state"], ended["done"], ended["total"], ended["failed"]) == ("done", 1, 1, [])
    ((text, mode, tokens, latency, cutoff),) = responses(project, "text, mode, tokens, latency_s > 0, cutoff")
    # Of the 20 tokens of the last reply 5 were thought; what is published on the paper's own day is too young.
    assert (mode, tokens, latency, cutoff) == ("end-to-end", 15, 1, "2025-06-02")
    kept = {WORKS[number - 1] for number in PREFERRED[:3]}
    assert {line.partition("] ")[2] for line in listed(text)} == {
        f"{work.authors.rstrip('.')}. {work.title}. 2024. {work.identifier}" for work in kept
    }
    # Of its numbers 9 and 77 stand for nothing.
    assert text.startswith("## Related work\n\nShade helps [1], as [2] say. Walls [3] store $x[4]$ heat.")
    assert checking.check(project).problems == []
    asked = steps(server)
    assert asked.pop("compare") in range(len(LEFT) - 1, 11)
    assert asked == {"queries": 2, "summary": 1, "filter": len(FOUND), "section": 1}
    (told,) = responding.written_in(project, ended["run"])
    assert ended["written"] == [told]
    assert told["works"] == {
        "found": 9, "filtered": 5, "given": 3, "kept_without_verdict": 0, "ranked_without_verdict": 0,
        "numbers_removed": 2,
    }  # fmt: skip
    by_step = {one["step"]: one for one in told["steps"]}
    filtering = by_step["filter"]
    assert (filtering["calls"], filtering["tokens_input"], filtering["tokens_output"]) == (9, 900, 180)
    assert by_step["search 1"]["calls"] == 0
    assert sum(one["calls"] for one in told["steps"]) == len(server.bodies)
    assert research_module.ResearchRun.words(ended)[-1] == (
        "Item 1, trial 1: works 9 found, 5 filtered, 3 given, 2 false numbers removed."
    )
    result = pages.page(project, "arxiv:2401.00008")
    assert (result.title, result.text) == ("On sap", "Results about water and canopy. More follows.")
    assert pages.page(project, "arxiv:2401.00002") is None
    assert responses(project, "cost_usd") == [(None,)]


def test_the_cost_is_that_of_all_calls(priced: Project, server: OddServer, corpus: str) -> None:
    research(priced, order(corpus))
    ((cost,),) = responses(priced, "cost_usd")
    ((calls, spent),) = sql.rows(priced, "SELECT COUNT(*), SUM(cost_usd) FROM call")
    assert calls == len(server.bodies)
    assert cost == pytest.approx(spent)
    assert cost > 0


def test_a_report_that_did_not_come_is_told_with_its_cause_and_asked_for_again(
    project: Project, server: OddServer, corpus: str
) -> None:
    server.answer = answering(lambda step, _: error(400, "No.") if step == "section" else None)
    ended = research(project, order(corpus))
    assert (ended["done"], ended["failed"][0]["status"], responses(project)) == (0, "api_error", [])
    before = len(server.bodies)
    server.answer = answering()
    assert research(project, order(corpus))["done"] == 1
    assert [step_of(body) for body in server.bodies[before:]] == ["section"]
    # Its steps were answered in different sessions: how long it took in all is not known.
    assert responses(project, "latency_s") == [(None,)]


def test_a_spent_budget_stops_and_keeps_what_was_paid(
    priced: Project, server: OddServer, corpus: str
) -> None:
    ended = research(priced, order(corpus, budget_usd=0.002))
    assert (ended["state"], ended["done"]) == ("interrupted", 0)
    paid = len(server.bodies)
    assert research(priced, order(corpus))["done"] == 1
    assert len(server.bodies) > paid
    assert (steps(server)["queries"], steps(server)["section"]) == (2, 1)


@pytest.fixture
def arxiv(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    with serving() as running:
        running.pages = Catalogue()
        search = partial(research_module.ArxivSearch, api=running.url("/api/query"), allow_private=True)
        monkeypatch.setattr(research_module.ResearchRun, "service", staticmethod(search))
        monkeypatch.setattr(research_module, "SEARCH_GAP_S", 0.0)
        yield running


class Catalogue(dict[str, Any]):
    """The twelve works as arXiv lists them, by the words of the query."""

    def get(self, path: str, default: Any = None) -> Given:
        asked = parse_qs(urlsplit(path).query)["search_query"][0]
        result = [
            one for one in WORKS if any(f"all:{word}" in asked and word in one.abstract for word in HOLDING)
        ]
        entries = [
            entry(
                one.identifier.removeprefix("arXiv:"),
                title=one.title,
                summary=one.abstract,
                published=f"{one.published}T00:00:00Z",
            )
            for one in result
        ]
        return Given(feed(entries), content_type="application/atom+xml")


def test_arxiv_is_asked_once_for_each_query_and_never_again(
    project: Project, server: OddServer, arxiv: PageServer
) -> None:
    server.answer = answering(lambda step, _: error(400, "No.") if step == "section" else None)
    assert research(project, order())["done"] == 0
    assert len(arxiv.asked) == 4
    asked = parse_qs(urlsplit(arxiv.asked[0]).query)
    assert asked["search_query"] == ["(all:shade) AND submittedDate:[199108010000 TO 202506022359]"]
    assert (asked["max_results"], asked["sortBy"]) == (["50"], ["relevance"])
    server.answer = answering()
    ended = research(project, order())
    # The tenth is too young and the eleventh is the paper itself, whatever arXiv lists.
    assert (ended["done"], ended["written"][0]["works"]["found"]) == (1, len(FOUND))
    assert len(arxiv.asked) == 4


def test_where_arxiv_does_not_answer_or_answers_with_no_list_that_is_the_cause(
    project: Project, arxiv: PageServer
) -> None:
    arxiv.pages = {}
    (failed,) = research(project, order())["failed"]
    assert (failed["status"], failed["cause"]) == ("api_error", "arXiv did not answer: status 404.")

    class Odder(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Given:
            return Given(b"<html></html>")

    arxiv.pages = Odder()
    (failed,) = research(project, order())["failed"]
    assert "is not a feed of arXiv" in failed["cause"]


@pytest.mark.parametrize(("oracle", "works"), [("arxiv", 1), ("all", 2)])
def test_an_oracle_is_given_what_is_important_and_finds_all_of_it(
    project: Project, server: OddServer, oracle: str, works: int
) -> None:
    assert research(project, order(oracle=oracle))["done"] == 1
    assert steps(server) == {"section": 1}
    assert responses(project, "mode, cutoff") == [(f"oracle-{oracle}", None)]
    assert len(listed(responses(project)[0][0])) == works
    coverage = references.reference_coverage(RatedResponse(material_of(project), {}))
    assert (coverage.value, coverage.n) == (1.0, 1)


def test_the_baseline_writes_without_asking_anybody(project: Project, server: OddServer, corpus: str) -> None:
    assert (research(project, order(corpus, judge="baseline"))["done"], server.bodies) == (1, [])
    ((text, tokens, cost, settings),) = responses(project, "text, tokens, cost_usd, settings")
    assert (tokens, cost) == (None, 0.0)
    assert settings.startswith("prompts none, baseline (kept 3, searched in corpus ")
    # Only of oaks and of shade does the task speak; the tenth work is too young for it.
    assert (listed(text)[0], len(listed(text))) == ("[1] A. Mo. On oak. 2024. arXiv:2401.00001", 3)
    assert checking.check(project).problems == []


def test_a_systems_reports_all_come_about_in_one_way(
    project: Project, server: OddServer, corpus: str, tmp_path: Path
) -> None:
    research(project, order(corpus))
    for other in (
        order(corpus, rounds=1),
        order(str(write_corpus(tmp_path / "other", WORKS[:5]))),
        order(corpus, judge="baseline"),
    ):
        expect_refusal(r"other prompts|were not written", research, project, other)
    assert research(project, order(corpus))["done"] == 1


def test_a_run_is_named_by_what_is_not_usual_and_what_cannot_be_searched_is_refused(
    project: Project, tmp_path: Path
) -> None:
    named = responding.research_name(rounds=10, queries=10, per_query=1000, keep=1000, words=9999)
    assert len(named) <= responding.LONGEST_NAME
    read = responding.settings_of(named)
    assert (read.system.rounds, read.system.words) == (10, 9999)
    assert responding.research_name(oracle="all", keep=5) == "respond.research|oracle=all"
    assert orders.kind_of(named) is research_module.ResearchRun
    assert orders.kind_of("respond.end-to-end") is responding.ResponseRun
    expect_refusal("nothing to search in", research, project, order(judge="baseline"))
    expect_refusal("", research, project, order(str(tmp_path / "nowhere")))
    (tmp_path / "works.csv").write_text("identifier,title\n", encoding="utf-8")
    expect_refusal("holds no works", research, project, order(str(tmp_path)))
    expect_refusal("no oracle “some”", order, oracle="some")


def test_an_estimate_goes_by_the_most_that_may_be_found_and_not_by_what_was_answered(
    project: Project, server: OddServer, corpus: str
) -> None:
    result = orders.forecast(project, order(corpus))
    # Nine of the twelve works may be found, and all may be kept; then about two comparisons for each.
    assert 2 + 1 + 9 + 8 + 1 <= result.calls <= 2 + 1 + 9 + 36 + 1
    assert (result.units, result.at_most, server.bodies) == (1, True, [])
    assert "at most" in result.words()[0]
    assert orders.forecast(project, order()).calls > 2 * 200
    assert orders.forecast(project, order(oracle="all")).calls == 1
    server.answer = answering(lambda step, _: error(400, "No.") if step == "section" else None)
    research(project, order(corpus))
    # The first queries and the filter's questions are the same whatever is answered.
    assert orders.forecast(project, order(corpus)).in_journal >= 10


OAK, ELM, ASH = "arxiv:2001.00001", "doi:10.1000/elm", "arxiv:2001.00002"


@pytest.fixture
def named(tmp_path: Path) -> Project:
    """Three works: one on arXiv with an abstract, one on arXiv and one with a DOI without."""
    return naming(tmp_path, "2001.00002")


def naming(folder: Path, *ids: str) -> Project:
    """A project whose first paper also cites works with these ids."""
    named = new_project(folder / "project.goldsmith", "T")
    place = made.write(folder / "benchmark")
    more = [
        made.cited(made.FIRST, name, name, cited_paper_arxiv_link=f"http://arxiv.org/abs/{name}v1")
        for name in ids
    ]
    made.table(place / "citations.csv", [*made.CITATIONS, *more])
    imports.run(named, "deepscholar", [place], warm=False)
    return named


def kept(named: Project) -> dict[str, tuple[str, int | None, str]]:
    with named.store.read() as db:
        rows = db.execute(select(PAGE)).all()
    return {row.url: (row.text, row.citations, str(row.citations_on or "")) for row in rows}


def test_a_table_completes_works_and_replaces_no_text(named: Project, tmp_path: Path) -> None:
    result = research_module.named(named)
    assert (set(result.titles), set(result.without_abstract)) == ({OAK, ELM, ASH}, {ELM, ASH})
    assert set(result.without_citations) == {OAK, ELM, ASH}
    assert result.words().startswith("3 works named by reports and gold: 2 without an abstract, 3 without")
    rows = [
        {"identifier": "arXiv:2001.00001v9", "abstract": "Other.", "cited_by_count": "7", "counted_on": "2026-01-02"},
        {"identifier": "10.1000/ELM", "abstract": "Of elms.", "cited_by_count": "", "counted_on": ""},
        {"identifier": "arXiv:2001.00002", "abstract": "", "cited_by_count": "3", "counted_on": "2026-01-02"},
        {"identifier": "arXiv:2001.00002", "abstract": "", "cited_by_count": "5", "counted_on": "2026-01-02"},
        {"identifier": "arXiv:1999.00001", "abstract": "", "cited_by_count": "1", "counted_on": "2026-01-02"},
        {"identifier": "arXiv:2001.00002", "abstract": "", "cited_by_count": "inf", "counted_on": "2026-01-02"},
    ]  # fmt: skip
    made.table(tmp_path / "works.csv", rows)
    result = research_module.from_place(named, tmp_path / "works.csv")
    assert (result.abstracts, result.citations, result.elsewhere, len(result.problems)) == (1, 2, 1, 1)
    assert result.problems[0].startswith("works.csv: row 7: ")
    assert kept(named) == {
        OAK: ("About oaks.", 7, "2026-01-02"),
        ELM: ("Of elms.", None, ""),
        # Of two records of one day the larger counts.
        ASH: ("", 5, "2026-01-02"),
    }
    again = research_module.from_place(named, tmp_path / "works.csv")
    assert (again.abstracts, again.citations) == (0, 0)


def test_an_older_count_does_not_take_the_place_of_a_newer_one(named: Project, tmp_path: Path) -> None:
    for day, count in (("2026-01-02", "7"), ("2025-01-02", "9")):
        row = {"identifier": "arXiv:2001.00001", "cited_by_count": count, "counted_on": day}
        made.table(tmp_path / "works.csv", [row])
        research_module.from_place(named, tmp_path / "works.csv")
    assert kept(named)[OAK][1:] == (7, "2026-01-02")


def openalex(doi: str, citations: int, words: str = "") -> dict[str, Any]:
    places = {word: [place] for place, word in enumerate(words.split())}
    return {
        "doi": f"https://doi.org/{doi}", "title": "Elms", "cited_by_count": citations,
        "abstract_inverted_index": places,
    }  # fmt: skip


def test_replies_in_a_folder_complete_works(named: Project, tmp_path: Path) -> None:
    (folder := tmp_path / "replies").mkdir()
    reply = json.dumps({"results": [openalex("10.1000/elm", 12, "Of elms in towns.")]})
    (folder / "a.json").write_text(reply, encoding="utf-8")
    (folder / "b.json").write_text(json.dumps(openalex("10.48550/arxiv.2001.00002", 4)), encoding="utf-8")
    result = research_module.from_place(named, folder)
    assert (result.abstracts, result.citations) == (1, 2)
    assert (kept(named)[ELM][:2], kept(named)[ASH][1]) == (("Of elms in towns.", 12), 4)


@pytest.mark.parametrize("content", ["identifier,abstract\n", "a,b\n1,2\n", ""])
def test_a_place_without_works_is_refused(named: Project, tmp_path: Path, content: str) -> None:
    (tmp_path / "works.csv").write_text(content, encoding="utf-8")
    expect_refusal("", research_module.from_place, named, tmp_path / "works.csv")


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
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    monkeypatch.setattr(research_module, "WORKS_GAP_S", 0.0)
    with serving() as running:
        running.pages = Services()
        yield running


def looked_up(named: Project, services: PageServer) -> research_module.CompletedWorks:
    return research_module.look_up(
        named, api=services.url("/api/query"), services=[services.url("/works/{}")], allow_private=True
    )


def test_services_complete_works_and_are_asked_only_for_what_lacks(
    named: Project, services: PageServer
) -> None:
    result = looked_up(named, services)
    assert (result.abstracts, result.citations, result.problems) == (2, 3, ())
    whole = kept(named)
    assert (whole[OAK][:2], whole[ELM][0]) == (("About oaks.", 20), "Of elms.")
    assert whole[ASH][0]
    before = len(services.pages.asked)  # type: ignore[attr-defined]
    assert looked_up(named, services).abstracts == 0
    assert len(services.pages.asked) == before  # type: ignore[attr-defined]


def test_one_id_that_is_none_costs_no_other_work(services: PageServer, tmp_path: Path) -> None:
    named = naming(tmp_path, "2001.00002", "2001.99999")
    result = looked_up(named, services)
    assert kept(named)[ASH][0]
    assert [problem.partition(":")[0] for problem in result.problems] == ["arXiv"]
