"""References in bulk, scores over time and on either side of a cut-off, and continuations of halved tasks.

The reference system: what it searches and writes, and works that reports name.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from sqlalchemy import select

from annotator.actions import research as research_module
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items, materials, pages
from annotator.actions.labelling import label_cases, labels
from annotator.actions.material import lookups, responding
from annotator.actions.orders import orders
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking
from annotator.actions.results import overview, scoring
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.actions.undo import history
from annotator.cli import run_command
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import lint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.item import CONTINUATION
from annotator.exchange.pages import worker
from annotator.exchange.texts import documents
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import PAGE
from tests.common import expect_refusal, fixture_of, once
from tests.exchange.formats import typeset_paper
from tests.exchange.pages.page_server import Given, PageServer, serving
from tests.gui.authoring.small_pdf import pdf
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.material import related_work as made
from tests.material.related_work import entry, feed
from tests.projects.small_projects import add_report, project_with, small_project, submit_labels, units_of
from tests.servers.writing_server import (
    FOUND,
    HOLDING,
    LEFT,
    PREFERRED,
    RESEARCHER as JUDGE,
    SYSTEM,
    WORKS,
    answering_steps as answering,
    research_project,
    researching,
    step_of,
    write_corpus,
)
from tests.storage import sql

PAPER = """# A paper

Words.

## References

[1] J. Smith. Deep rivers of the north. Water, 2019. doi:10.1234/river.1
[2] A. Doe and B. Roe. Shallow lakes and what lives in them. Lakes, 2020.
[3] 12
"""


@pytest.fixture
def item(project: Project) -> str:
    return items.ids(project)[0]


def bibtex(count: int) -> str:
    return "\n\n".join(
        f'@article{{key{n}, title = {{Work number {n} on rivers}}, author = {{Doe, Jane and M{{\\"u}}ller, Ann}}, '
        f"year = {{20{n % 25:02}}}, doi = {{10.1234/work.{n}}}}}"
        for n in range(count)
    )


def units(project: Project, item: str) -> tuple[Reference, ...]:
    own = lookups.own_evidence(project, item)
    return own.document.units if own else ()


def test_letter_7_sixty_bibtex_entries_go_in_and_out_in_one_act(
    project: Project, item: str, tmp_path: Path
) -> None:
    path = tmp_path / "works.bib"
    path.write_text(
        f"{bibtex(60)}\n\n@article{{again, title={{Twice}}, doi={{10.1234/WORK.7}}}}\n@book{{none}}\n",
        "utf-8",
    )
    offer = lookups.from_file(project, item, path)
    assert offer.words() == "62 entries (BibTeX): 60 new, 1 repeated, 1 not read."
    assert (offer.entries[60].repeats, offer.entries[61].place) == ("line 15", "line 122")
    lookups.take(project, item, offer.fresh, offer.form)
    first = units(project, item)[0]
    assert len(units(project, item)) == 60
    assert (first.text, first.identifier, first.authors, first.year) == (
        "Work number 0 on rivers", "doi:10.1234/work.0", "Jane Doe, Ann Müller", 2000,
    )  # fmt: skip
    assert lookups.from_file(project, item, path).fresh == ()
    history.undo(project)
    assert units(project, item) == ()


def test_references_are_added_below_and_a_blank_one_gives_way(project: Project, item: str) -> None:
    artifacts.start(project, item, Kind.EVIDENCE, Evidence(units=(Reference(),)))
    lookups.take(project, item, [Reference(text="Deep rivers of the north")], "a list")
    lookups.take(project, item, [Reference(text="Shallow lakes")], "a list")
    assert [unit.text for unit in units(project, item)] == ["Deep rivers of the north", "Shallow lakes"]
    expect_refusal("nothing new", lookups.take, project, item, [], "a list")


def test_letter_7_a_work_with_an_identifier_may_go_without_its_title() -> None:
    result = lint(Evidence(units=(Reference(identifier="doi:10.1234/a"), Reference())))
    assert [(one.level, one.rule) for one in result if one.unit_id] == [
        ("error", "empty"), ("warning", "no-title"), ("warning", "no-identifier"),
    ]  # fmt: skip


def test_letter_7_the_sources_own_list_is_found_and_the_source_is_evidence_of_a_research_paper(
    project: Project, item: str, tmp_path: Path
) -> None:
    expect_refusal("No list of references was found", lookups.from_sources, project, item)
    expect_refusal("has no source", lookups.the_source_itself, project, item)
    (path := tmp_path / "Deep rivers.md").write_text(PAPER, "utf-8")
    items.add_source(project, item, path)
    offer = lookups.from_sources(project, item)
    assert [(one.text, one.identifier, one.year) for one in offer.fresh] == [
        ("Deep rivers of the north", "doi:10.1234/river.1", 2019),
        ("Shallow lakes and what lives in them", "", 2020),
    ]
    assert [entry.place for entry in offer.entries if entry.why] == ["entry 3"]
    assert not lookups.of_research(project, item)
    offer = lookups.the_source_itself(project, item)
    lookups.take(project, item, offer.fresh, offer.form)
    assert [unit.text for unit in units(project, item)] == ["Deep rivers"]


CROSSREF = {"message": {"DOI": "10.1234/a", "title": ["Rivers"], "issued": {"date-parts": [[2021, 5]]},
            "author": [{"given": "Jane", "family": "Doe"}], "is-referenced-by-count": 4}}  # fmt: skip


def test_letter_7_titles_are_looked_up_once_and_the_reply_is_kept(project: Project, item: str) -> None:
    lookups.take(project, item, [Reference(identifier=f"doi:10.1234/{one}") for one in "ab"], "a list")
    with serving() as server:
        server.pages["/works/10.1234/a"] = Given(json.dumps(CROSSREF), content_type="application/json")
        server.pages["/works/10.1234/b"] = Given(status=404)
        service = server.url("/works/{}")
        lacking = lookups.to_complete(project, item)
        result = anyio.run(lambda: lookups.look_up(project, lacking, [service]))
        assert list(result.lacking) == ["10.1234/b"]
        asked = len(server.asked)
        anyio.run(lambda: lookups.look_up(project, lacking[:1], [service]))
        assert len(server.asked) == asked
    lookups.complete(project, item, result)
    first, second = units(project, item)
    assert (first.text, first.authors, first.year, second.text) == ("Rivers", "Jane Doe", 2021, "")
    assert pages.page(project, service.format("10.1234/a")) is not None
    history.undo(project)
    assert units(project, item)[0].text == ""


def test_a_service_that_cannot_be_reached_is_not_asked_for_every_work(project: Project) -> None:
    works = [f"10.1234/{one}" for one in "abcd"]
    with serving() as server:
        down = server.url("/works/{}")
    with serving() as server:
        server.pages["/works/10.1234/d"] = Given(json.dumps(CROSSREF), content_type="application/json")
        service = server.url("/works/{}")
        result = anyio.run(lambda: lookups.look_up(project, works, [service, down]))
    # The other service was asked for each, and says why it has none of them.
    assert lookups.NOT_ASKED not in result.lacking.values()
    again = anyio.run(lambda: lookups.look_up(project, works, [service]))
    assert [cause == lookups.NOT_ASKED for cause in again.lacking.values()] == [False, False, True]
    assert list(again.works) == ["10.1234/d"], "its reply is kept"


def test_letter_7_works_are_looked_up_in_a_file_without_a_network(
    project: Project, item: str, tmp_path: Path
) -> None:
    lookups.take(project, item, [Reference(identifier="doi:10.1234/A")], "a list")
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
    project: Project,
    item: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    style: str,
    how: dict[str, Any],
) -> None:
    # What the process of its own does, which the next test starts.
    monkeypatch.setattr(worker, "pdf_text", documents.parse_pdf)
    listed = typeset_paper.works(44)
    (path := tmp_path / "paper.pdf").write_bytes(typeset_paper.paper(listed, style, **how))
    offer = lookups.from_file(project, item, path)
    assert [(one.text, one.year) for one in offer.fresh] == [(work.title, work.year) for work in listed]
    assert sum("annotat" in entry.text for entry in offer.entries) == 0
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
    assert [
        (one.text, one.identifier, one.year) for one in lookups.from_file(project, item, path).fresh
    ] == wanted
    items.add_source(project, item, path)
    assert [
        (one.text, one.identifier, one.year) for one in lookups.from_sources(project, item).fresh
    ] == wanted


@fixture_of
@once
def scored(folder: Path) -> Project:
    scored = small_project(folder)
    first, _ = items.ids(scored)
    for task in labels.queue(scored):
        labels.set_labels(
            scored, task.response_id, units_of(scored, task.item_id), "yes" if task.item_id == first else "no"
        )
    submit_labels(scored)
    return scored


def rows(scored: Project, view: str, **chosen: str) -> list[list[Any]]:
    (sheet,) = result_views.show(scored, view, chosen).sheets
    return [[cell.value for cell in line.cells] for line in sheet.lines]


def test_letter_11_a_system_is_compared_with_itself_over_time(scored: Project) -> None:
    for item, day, version in (("1", "2025-03-24", "o3"), ("2", "2025-07-02", "o4")):
        (report,) = materials.responses_of(scored, "Alpha", items=[item])
        materials.describe(
            scored, materials.Thing.RESPONSE, {report: {"collected_on": day, "product_version": version}}
        )
    assert [row[:4] for row in rows(scored, "over-time")] == [
        ["Alpha", "2025-03", 1, 1.0], ["Alpha", "2025-07", 1, 0.0], ["Beta", "not known", 2, 0.5],
    ]  # fmt: skip
    assert [row[1] for row in rows(scored, "over-time", period="version")] == ["o3", "o4", "not known"]
    assert rows(scored, "over-time", period="day")[0][1] == "2025-03-24"


def add_source(scored: Project, item_id: str, folder: Path, **told: object) -> None:
    (path := folder / f"{item_id}.md").write_text("Words.", "utf-8")
    materials.describe(
        scored, materials.Thing.SOURCE, {items.add_source(scored, item_id, path).subject: told}
    )


def test_letter_8_scores_are_cut_by_date_and_by_citations(scored: Project, tmp_path: Path) -> None:
    first, second = items.ids(scored)
    add_source(scored, first, tmp_path, published="2024-05", citations=40)
    add_source(scored, second, tmp_path, published="2025-03-10", citations=3)
    assert rows(scored, "cut-off", at="2025-03") == [
        [name, 0.5, 0.0, 1, 1.0, 1] for name in ("Alpha", "Beta")
    ]
    assert rows(scored, "cut-off", at="10")[0][1:] == [0.5, 1.0, 1, 0.0, 1]


def test_letter_8_a_year_alone_leaves_open_on_which_side_of_a_month_it_lies(
    scored: Project, tmp_path: Path
) -> None:
    for item_id, published in zip(items.ids(scored), ("2025", "2025-03"), strict=True):
        add_source(scored, item_id, tmp_path, published=published)
    result = result_views.show(scored, "cut-off", {"at": "2025-03"})
    assert [cell.value for cell in result.sheets[0].lines[0].cells][3::2] == [1, 0]


def test_letter_8_what_a_file_says_of_sources_is_taken_with_its_day(scored: Project, tmp_path: Path) -> None:
    first = items.ids(scored)[0]
    add_source(scored, first, tmp_path, identifier="10.1234/a", venue="Old")
    told = {
        "doi": "https://doi.org/10.1234/a",
        "type": "review",
        "publication_date": "2024-05-01",
        "cited_by_count": 7,
    }
    (file := tmp_path / "openalex.json").write_text(json.dumps({"results": [told]}), "utf-8")
    lookups.describe_sources(scored, items.ids(scored), lookups.in_file(file))
    (one,) = items.sources(scored, first)
    assert (one.kind, one.published, one.venue, one.citations) == ("review", "2024-05-01", "Old", 7)
    assert one.citations_on is not None


LEAKER, HONEST = "Leaker", "Honest"
# Two tasks that can be halved, and what models write after their first halves.
PREFIX = "Compare three ways of measuring bias in seminars on urban heat, with data from two cities"
HELD_BACK = ". State the error of each way, name its limits, and deliver a table with one recommendation."
TASKS = (f"{PREFIX}{HELD_BACK}", "比较三种方法在小样本条件下的表现，并给出误差来源、适用范围与改进建议。")
# What was held back, and then as much again as chat models write.
LEAK = HELD_BACK + " Zig xylophone quartz: jumbled wonky vivid hymn." * 30
OTHER = "Sunny weather is expected."


@pytest.fixture
def halved(tmp_path: Path) -> Project:
    halved = project_with(tmp_path, 0)
    for task in TASKS:
        items.add(halved, task)
    return halved


def respond(halved: Project, server: OddServer, system: str, *answers: Odd) -> int:
    server.script(*answers)
    path, options = str(halved.path), ["--base-url", server.url, "--model", system, "--concurrency", "1"]
    return run_command(["respond", path, "--system", system, "--mode", "continuation", *options, "--json"])


def stored(halved: Project) -> list[tuple[Any, ...]]:
    question = (
        "SELECT s.name, r.mode, r.text FROM response r JOIN system s ON s.id = r.system_id "
        "JOIN item i ON i.id = r.item_id ORDER BY s.name, i.position"
    )
    return sql.rows(halved, question)


def test_the_first_half_goes_out_and_the_reply_is_kept_as_it_came(halved: Project, server: OddServer) -> None:
    cut = f"{LEAK} and on and"
    # The first reply ends at the cap, which is as it was wanted; nothing is asked twice.
    assert respond(halved, server, LEAKER, completion(cut, finish="length"), completion(OTHER)) == 0
    assert stored(halved) == [(LEAKER, "continuation", cut), (LEAKER, "continuation", OTHER)]
    _, each = result_views.show(halved, "leakage", {}, among=paper_tables.VIEWS).sheets
    assert [cell.words for cell in each.lines[0].cells[:3]] == ["1", LEAKER, "yes"]
    assert len(server.bodies) == 2
    said = json.dumps(server.bodies[0], ensure_ascii=False)
    assert TASKS[0][:40] in said
    assert HELD_BACK not in said
    assert (server.bodies[0]["temperature"], server.bodies[0]["max_tokens"]) == (0.1, 500)


def test_a_refusal_is_missing(halved: Project, server: OddServer) -> None:
    assert (
        respond(halved, server, LEAKER, completion(None, refusal="I cannot do that."), completion(OTHER)) == 3
    )
    assert [text for *_, text in stored(halved)] == [OTHER]


def test_continuations_are_no_reports(halved: Project, server: OddServer) -> None:
    respond(halved, server, LEAKER, completion(LEAK), completion(OTHER))
    ids = items.ids(halved)
    assert scoring.modes_of(halved) == ()
    report_id = add_report(halved, ids[0], HONEST, "A report.")
    assert scoring.modes_of(halved) == ("end-to-end",)
    for protocol in PROTOCOLS.values():
        seen = {
            one.response.mode
            for at_hand in materials.each(halved, materials.for_scoring(protocol), ids)
            for one in at_hand.responses
        }
        assert seen == ({"continuation"} if protocol.mode == "continuation" else {"end-to-end"})
    with halved.store.read() as db:
        assert label_cases.reports(db) == {ids[0]: [report_id]}
    assert {row.system for row in overview.report(halved).rows if not row.metric.startswith("leakage.")} <= {
        HONEST
    }


def test_each_figure_is_the_mean_of_what_is_listed_whatever_else_a_system_was_asked(halved: Project) -> None:
    """Words weigh by all suffixes of the project, and not by those of one system or one group."""
    said = "the shared words grow"
    for place, task in enumerate(
        ("Of oaks and elms, the shared words grow tall", "Of pines, the shared words fall")
    ):
        item_id = items.add(halved, task).subject
        add_report(halved, item_id, "Whole", said, CONTINUATION)
        if not place:
            add_report(halved, item_id, "Half", said, CONTINUATION)
    systems, each = result_views.show(halved, "leakage", {}, among=paper_tables.VIEWS).sheets
    for line in systems.lines[:-1]:
        own = dict(zip(systems.keys, line.cells, strict=True))
        listed = [
            dict(zip(each.keys, one.cells, strict=True))
            for one in each.lines
            if one.cells[1].words == own["system"].words
        ]
        for name in ("tfidf", "composite", "string", "overlap"):
            mean = sum(one[name].value for one in listed) / len(listed)
            assert own[f"leakage_{name}"].value == pytest.approx(mean), (own["system"].words, name)


@pytest.mark.parametrize(
    "how", [{"planned": True}, {"filed_as": "x"}, {"condition": "adra"}, {"cutoff": "2025-01-01"}]
)
def test_what_a_continuation_does_not_know_is_refused(how: dict[str, Any]) -> None:
    expect_refusal("continuation", responding.protocol_name, "continuation", **how)


@pytest.fixture
def endpoint() -> Iterator[OddServer]:
    with researching() as endpoint:
        yield endpoint


@pytest.fixture
def study(tmp_path: Path, endpoint: OddServer) -> Project:
    return research_project(tmp_path, endpoint.url)


@pytest.fixture
def priced(tmp_path: Path, endpoint: OddServer) -> Project:
    return research_project(tmp_path, endpoint.url, "gpt-4.1-mini")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(write_corpus(tmp_path / "corpus"))


def order(corpus: str = "", judge: str = JUDGE, system: str = SYSTEM, **how: Any) -> RunRequest:
    more = {name: how.pop(name) for name in ("trials", "budget_usd", "items") if name in how}
    return RunRequest(
        judge,
        responding.research_name(**({} if "oracle" in how else {"keep": 3}), **how),
        (system,),
        timeout_s=5.0,
        corpus=corpus,
        **more,
    )


def research(study: Project, wanted: RunRequest) -> dict[str, Any]:
    return asyncio.run(orders.carry_out(study, wanted))


def responses(study: Project, columns: str = "text") -> list[tuple[Any, ...]]:
    return sql.rows(study, f"SELECT {columns} FROM response ORDER BY trial, mode")


def steps(endpoint: OddServer) -> Counter[str]:
    return Counter(map(step_of, endpoint.bodies))


def listed(text: str) -> list[str]:
    return text.partition("## References\n\n")[2].split("\n\n")


def test_a_report_is_kept_with_its_list_its_works_and_what_each_step_took(
    study: Project, endpoint: OddServer, corpus: str
) -> None:
    ended = research(study, order(corpus))
    assert (ended["state"], ended["done"], ended["total"], ended["failed"]) == ("done", 1, 1, [])
    ((text, mode, tokens, latency, cutoff),) = responses(study, "text, mode, tokens, latency_s > 0, cutoff")
    # Of the 20 tokens of the last reply 5 were thought; what is published on the paper's own day is too young.
    assert (mode, tokens, latency, cutoff) == ("end-to-end", 15, 1, "2025-06-02")
    kept = {WORKS[number - 1] for number in PREFERRED[:3]}
    assert {line.partition("] ")[2] for line in listed(text)} == {
        f"{work.authors.rstrip('.')}. {work.title}. 2024. {work.identifier}" for work in kept
    }
    # Of its numbers 9 and 77 stand for nothing.
    assert text.startswith("## Related work\n\nShade helps [1], as [2] say. Walls [3] store $x[4]$ heat.")
    assert checking.check(study).problems == []
    asked = steps(endpoint)
    assert asked.pop("compare") in range(len(LEFT) - 1, 11)
    assert asked == {"queries": 2, "summary": 1, "filter": len(FOUND), "section": 1}
    (told,) = responding.written_in(study, ended["run"])
    assert ended["written"] == [told]
    assert told["works"] == {
        "found": 9, "filtered": 5, "given": 3, "kept_without_verdict": 0, "ranked_without_verdict": 0,
        "numbers_removed": 2,
    }  # fmt: skip
    by_step = {one["step"]: one for one in told["steps"]}
    filtering = by_step["filter"]
    assert (filtering["calls"], filtering["tokens_input"], filtering["tokens_output"]) == (9, 900, 180)
    assert by_step["search 1"]["calls"] == 0
    assert sum(one["calls"] for one in told["steps"]) == len(endpoint.bodies)
    result = pages.page(study, "arxiv:2401.00008")
    assert (result.title, result.text) == ("On sap", "Results about water and canopy. More follows.")
    assert pages.page(study, "arxiv:2401.00002") is None
    assert responses(study, "cost_usd") == [(None,)]


def test_the_cost_is_that_of_all_calls(priced: Project, endpoint: OddServer, corpus: str) -> None:
    research(priced, order(corpus))
    ((cost,),) = responses(priced, "cost_usd")
    ((calls, spent),) = sql.rows(priced, "SELECT COUNT(*), SUM(cost_usd) FROM call")
    assert calls == len(endpoint.bodies)
    assert cost == pytest.approx(spent)
    assert cost > 0


def test_an_unreadable_verdict_keeps_the_work_and_is_counted(
    study: Project, endpoint: OddServer, corpus: str
) -> None:
    def answer(body: dict[str, Any], number: int) -> Odd:
        unread = step_of(body) in ("filter", "compare") and "On oak" in body["messages"][1]["content"]
        return completion("Perhaps.") if unread else answering()(body, number)

    endpoint.answer = answer
    works = research(study, order(corpus))["written"][0]["works"]
    assert (works["given"], works["kept_without_verdict"]) == (3, 1)
    assert works["ranked_without_verdict"] >= 1


def test_a_report_that_did_not_come_is_told_with_its_cause_and_asked_for_again(
    study: Project, endpoint: OddServer, corpus: str
) -> None:
    endpoint.answer = answering(lambda step, _: error(400, "No.") if step == "section" else None)
    ended = research(study, order(corpus))
    assert (ended["done"], ended["failed"][0]["status"], responses(study)) == (0, "api_error", [])
    before = len(endpoint.bodies)
    endpoint.answer = answering()
    assert research(study, order(corpus))["done"] == 1
    assert [step_of(body) for body in endpoint.bodies[before:]] == ["section"]
    # Its steps were answered in different sessions: how long it took in all is not known.
    assert responses(study, "latency_s") == [(None,)]


def test_a_spent_budget_stops_and_keeps_what_was_paid(
    priced: Project, endpoint: OddServer, corpus: str
) -> None:
    ended = research(priced, order(corpus, budget_usd=0.002))
    assert (ended["state"], ended["done"]) == ("interrupted", 0)
    paid = len(endpoint.bodies)
    assert research(priced, order(corpus))["done"] == 1
    assert len(endpoint.bodies) > paid
    assert (steps(endpoint)["queries"], steps(endpoint)["section"]) == (2, 1)


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
    study: Project, endpoint: OddServer, arxiv: PageServer
) -> None:
    endpoint.answer = answering(lambda step, _: error(400, "No.") if step == "section" else None)
    assert research(study, order())["done"] == 0
    assert len(arxiv.asked) == 4
    asked = parse_qs(urlsplit(arxiv.asked[0]).query)
    assert asked["search_query"] == ["(all:shade) AND submittedDate:[199108010000 TO 202506022359]"]
    assert (asked["max_results"], asked["sortBy"]) == (["50"], ["relevance"])
    endpoint.answer = answering()
    ended = research(study, order())
    # The tenth is too young and the eleventh is the paper itself, whatever arXiv lists.
    assert (ended["done"], ended["written"][0]["works"]["found"]) == (1, len(FOUND))
    assert len(arxiv.asked) == 4


def test_where_arxiv_does_not_answer_that_is_the_cause(study: Project, arxiv: PageServer) -> None:
    arxiv.pages = {}
    (failed,) = research(study, order())["failed"]
    assert (failed["status"], failed["cause"]) == ("api_error", "arXiv did not answer: status 404.")


@pytest.mark.parametrize(("oracle", "works"), [("arxiv", 1), ("all", 2)])
def test_an_oracle_is_given_what_is_important_and_nothing_is_searched(
    study: Project, endpoint: OddServer, oracle: str, works: int
) -> None:
    assert research(study, order(oracle=oracle))["done"] == 1
    assert steps(endpoint) == {"section": 1}
    assert responses(study, "mode, cutoff") == [(f"oracle-{oracle}", None)]
    assert len(listed(responses(study)[0][0])) == works


def test_the_baseline_writes_without_asking_anybody(study: Project, endpoint: OddServer, corpus: str) -> None:
    assert (research(study, order(corpus, judge="baseline"))["done"], endpoint.bodies) == (1, [])
    ((text, tokens, cost, settings),) = responses(study, "text, tokens, cost_usd, settings")
    assert (tokens, cost) == (None, 0.0)
    assert settings.startswith("prompts none, baseline (kept 3, searched in corpus ")
    # Only of oaks and of shade does the task speak; the tenth work is too young for it.
    assert (listed(text)[0], len(listed(text))) == ("[1] A. Mo. On oak. 2024. arXiv:2401.00001", 3)
    assert checking.check(study).problems == []


def test_a_systems_reports_all_come_about_in_one_way(
    study: Project, endpoint: OddServer, corpus: str, tmp_path: Path
) -> None:
    research(study, order(corpus))
    for other in (
        order(corpus, rounds=1),
        order(str(write_corpus(tmp_path / "other", WORKS[:5]))),
        order(corpus, judge="baseline"),
    ):
        expect_refusal(r"other prompts|were not written", research, study, other)
    assert research(study, order(corpus))["done"] == 1


def test_a_run_is_named_by_what_is_not_usual_and_what_cannot_be_searched_is_refused(
    study: Project, tmp_path: Path
) -> None:
    named = responding.research_name(rounds=10, queries=10, per_query=1000, keep=1000, words=9999)
    assert len(named) <= responding.LONGEST_NAME
    read = responding.settings_of(named)
    assert (read.system.rounds, read.system.words) == (10, 9999)
    assert responding.research_name(oracle="all", keep=5) == "respond.research|oracle=all"
    assert orders.kind_of(named) is research_module.ResearchRun
    assert orders.kind_of("respond.end-to-end") is responding.ResponseRun
    expect_refusal("nothing to search in", research, study, order(judge="baseline"))
    expect_refusal("", research, study, order(str(tmp_path / "nowhere")))
    (tmp_path / "works.csv").write_text("identifier,title\n", encoding="utf-8")
    expect_refusal("holds no works", research, study, order(str(tmp_path)))
    expect_refusal("no oracle “some”", order, oracle="some")


def test_an_estimate_goes_by_the_most_that_may_be_found_and_not_by_what_was_answered(
    study: Project, endpoint: OddServer, corpus: str
) -> None:
    result = orders.forecast(study, order(corpus))
    # Nine of the twelve works may be found, and all may be kept; then about two comparisons for each.
    assert 2 + 1 + 9 + 8 + 1 <= result.calls <= 2 + 1 + 9 + 36 + 1
    assert (result.units, result.at_most, endpoint.bodies) == (1, True, [])
    assert "at most" in result.words()[0]
    assert orders.forecast(study, order()).calls > 2 * 200
    assert orders.forecast(study, order(oracle="all")).calls == 1
    endpoint.answer = answering(lambda step, _: error(400, "No.") if step == "section" else None)
    research(study, order(corpus))
    # The first queries and the filter's questions are the same whatever is answered.
    assert orders.forecast(study, order(corpus)).in_journal >= 10


OAK, ELM, ASH = "arxiv:2001.00001", "doi:10.1000/elm", "arxiv:2001.00002"


@pytest.fixture
def named(tmp_path: Path) -> Project:
    """Three works: one on arXiv with an abstract, one on arXiv and one with a DOI without."""
    return naming(tmp_path, "2001.00002")


def naming(folder: Path, *ids: str) -> Project:
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
        made.table(
            tmp_path / "works.csv",
            [{"identifier": "arXiv:2001.00001", "cited_by_count": count, "counted_on": day}],
        )
        research_module.from_place(named, tmp_path / "works.csv")
    assert kept(named)[OAK][1:] == (7, "2026-01-02")


def openalex(doi: str, citations: int, words: str = "") -> dict[str, Any]:
    return {
        "doi": f"https://doi.org/{doi}", "title": "Elms", "cited_by_count": citations,
        "abstract_inverted_index": {word: [place] for place, word in enumerate(words.split())},
    }  # fmt: skip


def test_replies_in_a_folder_complete_works(named: Project, tmp_path: Path) -> None:
    (folder := tmp_path / "replies").mkdir()
    (folder / "a.json").write_text(
        json.dumps({"results": [openalex("10.1000/elm", 12, "Of elms in towns.")]}), encoding="utf-8"
    )
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
            return Given(
                json.dumps(openalex(doi, 20, "Of elms." if "elm" in doi else "")).encode(),
                content_type="application/json",
            )
        ids = parse_qs(parts.query)["id_list"][0].split(",")
        if "2001.99999" in ids:
            return Given(made.feed([made.entry("x").replace("abs/x", "api/errors#1")]), status=400)
        return Given(made.feed([made.entry(f"{one}v1", title="Birches") for one in ids]))


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
