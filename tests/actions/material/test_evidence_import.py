"""References in bulk, scores over time and on either side of a cut-off, and continuations of halved tasks."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.items import items, materials, pages
from annotator.actions.labelling import label_cases, labels
from annotator.actions.material import lookups, responding
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.results import overview, scoring
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
from tests.exchange.formats import typeset_paper
from tests.exchange.pages.page_server import Given, serving
from tests.gui.authoring.small_pdf import pdf
from tests.judging.odd_server import Odd, OddServer, completion
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import add_report, project_with, small_project, submit_labels, units_of
from tests.storage import sql
from tests.templates import fixture_of, once

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
    entries = (
        f'@article{{key{n}, title = {{Work number {n} on rivers}}, author = {{Doe, Jane and M{{\\"u}}ller, Ann}}, '
        f"year = {{20{n % 25:02}}}, doi = {{10.1234/work.{n}}}}}"
        for n in range(count)
    )
    return "\n\n".join(entries)


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
    assert sum("annotat" in entry.said for entry in offer.entries) == 0
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
    from_file = lookups.from_file(project, item, path)
    assert [(one.text, one.identifier, one.year) for one in from_file.fresh] == wanted
    items.add_source(project, item, path)
    from_source = lookups.from_sources(project, item)
    assert [(one.text, one.identifier, one.year) for one in from_source.fresh] == wanted


@fixture_of
@once
def scored(folder: Path) -> Project:
    """Alpha covers all of item 1 and nothing of item 2."""
    scored = small_project(folder)
    first, _ = items.ids(scored)
    for task in labels.queue(scored):
        units = units_of(scored, task.item_id)
        labels.set_labels(scored, task.response_id, units, "yes" if task.item_id == first else "no")
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
    source = items.add_source(scored, item_id, path).subject
    materials.describe(scored, materials.Thing.SOURCE, {source: told})


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
    assert result.sheets[0].notes[0].endswith("of 1 item this is not known.")


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
    assert len(server.bodies) == 2
    said = json.dumps(server.bodies[0], ensure_ascii=False)
    assert TASKS[0][:40] in said
    assert HELD_BACK not in said
    assert (server.bodies[0]["temperature"], server.bodies[0]["max_tokens"]) == (0.1, 500)


def test_a_refusal_is_missing(halved: Project, server: OddServer) -> None:
    refused = completion(None, refusal="I cannot do that.")
    assert respond(halved, server, LEAKER, refused, completion(OTHER)) == 3
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
    rows = overview.report(halved).rows
    assert {row.system for row in rows if not row.metric.startswith("leakage.")} <= {HONEST}


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
