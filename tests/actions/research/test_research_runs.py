"""The reference system run on a project: what is kept of a report, what it took, and that nothing is asked twice."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from annotator.actions.items import materials, pages
from annotator.actions.material import response_journal, response_settings
from annotator.actions.material.responding import ResponseRun
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.research import work_search
from annotator.actions.research.research_runs import ResearchRun
from annotator.actions.research.work_search import ArxivSearch
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.texts.refusal import Refusal
from annotator.protocols.deepscholar import references
from tests.exchange.pages.page_server import Given, PageServer, serving
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.material.eprint_folder import entry, feed
from tests.material.twelve_works import FOUND, HOLDING, LEFT, PREFERRED, WORKS
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
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    project = research_project(tmp_path, server.url)
    yield project
    project.close()


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(write_corpus(tmp_path / "corpus"))


def order(corpus: str = "", judge: str = JUDGE, system: str = SYSTEM, **how: Any) -> RunRequest:
    more = {name: how.pop(name) for name in ("trials", "budget_usd", "items") if name in how}
    manner = response_settings.research_name(**({} if "oracle" in how else {"keep": 3}), **how)
    return RunRequest(judge, manner, (system,), timeout_s=5.0, corpus=corpus, **more)


def research(project: Project, wanted: RunRequest) -> dict[str, Any]:
    return asyncio.run(orders.carry_out(project, wanted))


def responses(project: Project, columns: str = "text") -> list[tuple[Any, ...]]:
    return sql.rows(project, f"SELECT {columns} FROM response ORDER BY trial, mode")


def material_of(project: Project) -> Material:
    (response,) = [id_ for (id_,) in responses(project, "id")]
    found = materials.of_response(project, materials.for_scoring(references.REFERENCES), response)
    assert found is not None
    return found


def steps(server: OddServer) -> Counter[str]:
    return Counter(map(step_of, server.bodies))


def listed(text: str) -> list[str]:
    return text.partition("## References\n\n")[2].split("\n\n")


# What comes of it


def test_a_report_is_kept_with_its_list_and_what_it_took(
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


def test_as_many_calls_are_made_as_the_steps_need(project: Project, server: OddServer, corpus: str) -> None:
    research(project, order(corpus))
    asked = steps(server)
    assert asked.pop("compare") in range(len(LEFT) - 1, 11)
    assert asked == {"queries": 2, "summary": 1, "filter": len(FOUND), "section": 1}


def test_the_journal_tells_what_each_step_took(project: Project, server: OddServer, corpus: str) -> None:
    ended = research(project, order(corpus))
    (told,) = response_journal.written_in(project, ended["run"])
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
    assert ResearchRun.words(ended)[-1] == (
        "Item 1, trial 1: works 9 found, 5 filtered, 3 given, 2 false numbers removed."
    )


def test_the_works_of_a_report_can_be_judged_without_a_network(
    project: Project, server: OddServer, corpus: str
) -> None:
    research(project, order(corpus))
    found = pages.page(project, "arxiv:2401.00008")
    assert found is not None
    assert (found.title, found.text) == ("On sap", "Results about water and canopy. More follows.")
    assert pages.page(project, "arxiv:2401.00002") is None


def test_the_cost_is_that_of_all_calls(tmp_path: Path, server: OddServer, corpus: str) -> None:
    (tmp_path / "priced").mkdir()
    project = research_project(tmp_path / "priced", server.url, "gpt-4.1-mini")
    research(project, order(corpus))
    ((cost,),) = responses(project, "cost_usd")
    ((calls, spent),) = sql.rows(project, "SELECT COUNT(*), SUM(cost_usd) FROM call")
    project.close()
    assert calls == len(server.bodies)
    assert cost == pytest.approx(spent)
    assert cost > 0


def test_without_a_price_the_cost_is_not_known(project: Project, corpus: str) -> None:
    research(project, order(corpus))
    assert responses(project, "cost_usd") == [(None,)]


# What cannot be read


def test_an_unreadable_verdict_keeps_the_work_and_is_counted(
    project: Project, server: OddServer, corpus: str
) -> None:
    def answer(body: dict[str, Any], number: int) -> Odd:
        unread = step_of(body) in ("filter", "compare") and "On oak" in body["messages"][1]["content"]
        return completion("Perhaps.") if unread else answering()(body, number)

    server.answer = answer
    works = research(project, order(corpus))["written"][0]["works"]
    assert (works["given"], works["kept_without_verdict"]) == (3, 1)
    assert works["ranked_without_verdict"] >= 1


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


def test_where_nothing_is_old_enough_no_more_is_asked(
    project: Project, server: OddServer, tmp_path: Path
) -> None:
    young = str(write_corpus(tmp_path / "young", WORKS[9:11]))
    (failed,) = research(project, order(young))["failed"]
    assert (failed["status"], failed["cause"]) == ("skipped", "The search found no work that is old enough.")
    assert steps(server) == {"queries": 2, "summary": 1}


def test_a_spent_budget_stops_and_keeps_what_was_paid(tmp_path: Path, server: OddServer, corpus: str) -> None:
    (tmp_path / "priced").mkdir()
    project = research_project(tmp_path / "priced", server.url, "gpt-4.1-mini")
    ended = research(project, order(corpus, budget_usd=0.002))
    assert (ended["state"], ended["done"]) == ("interrupted", 0)
    paid = len(server.bodies)
    assert research(project, order(corpus))["done"] == 1
    project.close()
    assert len(server.bodies) > paid
    assert (steps(server)["queries"], steps(server)["section"]) == (2, 1)


# arXiv


@pytest.fixture
def arxiv(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    with serving() as running:
        running.pages = Catalogue()
        search = partial(ArxivSearch, api=running.url("/api/query"), allow_private=True)
        monkeypatch.setattr(ResearchRun, "service", staticmethod(search))
        monkeypatch.setattr(work_search, "GAP_S", 0.0)
        yield running


class Catalogue(dict[str, Any]):
    """The twelve works as arXiv lists them, by the words of the query."""

    def get(self, path: str, default: Any = None) -> Given:
        asked = parse_qs(urlsplit(path).query)["search_query"][0]
        found = [
            one for one in WORKS if any(f"all:{word}" in asked and word in one.abstract for word in HOLDING)
        ]
        entries = [
            entry(
                one.identifier.removeprefix("arXiv:"),
                title=one.title,
                summary=one.abstract,
                published=f"{one.published}T00:00:00Z",
            )
            for one in found
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


def test_where_arxiv_does_not_answer_that_is_the_cause(project: Project, arxiv: PageServer) -> None:
    arxiv.pages = {}
    (failed,) = research(project, order())["failed"]
    assert (failed["status"], failed["cause"]) == ("api_error", "arXiv did not answer: status 404.")


def test_what_is_no_list_of_arxiv_is_told(project: Project, arxiv: PageServer) -> None:
    class Odder(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Given:
            return Given(b"<html></html>")

    arxiv.pages = Odder()
    (failed,) = research(project, order())["failed"]
    assert "is not a feed of arXiv" in failed["cause"]


# What is given


@pytest.mark.parametrize(("oracle", "works"), [("arxiv", 1), ("all", 2)])
def test_an_oracle_is_given_what_is_important_and_finds_all_of_it(
    project: Project, server: OddServer, oracle: str, works: int
) -> None:
    ended = research(project, order(oracle=oracle))
    assert ended["done"] == 1
    assert steps(server) == {"section": 1}
    assert responses(project, "mode, cutoff") == [(f"oracle-{oracle}", None)]
    assert len(listed(responses(project)[0][0])) == works
    coverage = references.reference_coverage(RatedResponse(material_of(project), {}))
    assert (coverage.value, coverage.n) == (1.0, 1)


# No model


def test_the_baseline_writes_without_asking_anybody(project: Project, server: OddServer, corpus: str) -> None:
    ended = research(project, order(corpus, judge="baseline"))
    assert (ended["done"], server.bodies) == (1, [])
    ((text, tokens, cost, settings),) = responses(project, "text, tokens, cost_usd, settings")
    assert (tokens, cost) == (None, 0.0)
    assert settings.startswith("prompts none, baseline (kept 3, searched in corpus ")
    # Only of oaks and of shade does the task speak; the tenth work is too young for it.
    assert listed(text)[0] == "[1] A. Mo. On oak. 2024. arXiv:2401.00001"
    assert len(listed(text)) == 3
    assert checking.check(project).problems == []


# Orders


def test_a_systems_reports_all_come_about_in_one_way(
    project: Project, server: OddServer, corpus: str, tmp_path: Path
) -> None:
    research(project, order(corpus))
    for other in (
        order(corpus, rounds=1),
        order(str(write_corpus(tmp_path / "other", WORKS[:5]))),
        order(corpus, judge="baseline"),
    ):
        with pytest.raises(Refusal, match=r"other prompts|were not written"):
            research(project, other)
    assert research(project, order(corpus))["done"] == 1


def test_what_cannot_be_searched_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="nothing to search in"):
        research(project, order(judge="baseline"))
    with pytest.raises(Refusal):
        research(project, order(str(tmp_path / "nowhere")))
    (tmp_path / "works.csv").write_text("identifier,title\n", encoding="utf-8")
    with pytest.raises(Refusal, match="holds no works"):
        research(project, order(str(tmp_path)))
    with pytest.raises(Refusal, match="no oracle “some”"):
        order(oracle="some")


def test_the_name_of_a_run_holds_what_is_not_usual() -> None:
    named = response_settings.research_name(rounds=10, queries=10, per_query=1000, keep=1000, words=9999)
    assert len(named) <= response_settings.LONGEST_NAME
    read = response_settings.settings_of(named)
    assert isinstance(read, response_settings.ResearchSettings)
    assert (read.system.rounds, read.system.words) == (10, 9999)
    assert response_settings.research_name(oracle="all", keep=5) == "respond.research|oracle=all"
    assert orders.kind_of(named) is ResearchRun
    assert orders.kind_of("respond.end-to-end") is ResponseRun


def test_an_estimate_goes_by_the_most_that_may_be_found(
    project: Project, server: OddServer, corpus: str
) -> None:
    found = orders.forecast(project, order(corpus))
    # Nine of the twelve works may be found, and all may be kept; then about two comparisons for each.
    assert 2 + 1 + 9 + 8 + 1 <= found.calls <= 2 + 1 + 9 + 36 + 1
    assert (found.units, found.at_most, server.bodies) == (1, True, [])
    assert "at most" in found.words()[0]
    assert orders.forecast(project, order()).calls > 2 * 200
    assert orders.forecast(project, order(oracle="all")).calls == 1


def test_what_was_answered_is_not_counted_again(project: Project, server: OddServer, corpus: str) -> None:
    server.answer = answering(lambda step, _: error(400, "No.") if step == "section" else None)
    research(project, order(corpus))
    found = orders.forecast(project, order(corpus))
    # The first queries and the filter's questions are the same whatever is answered.
    assert found.in_journal >= 10
    assert isinstance(server.bodies[0], dict)
