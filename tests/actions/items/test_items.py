"""Items are found, changed, retired and signed; what is said of them, of systems and of sources.

Cited pages: which are fetched, and that a text once read is not lost. How words of documents are spelled.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from annotator.actions.agreement import final_pass
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.items import items, materials, pages, spelling
from annotator.actions.items.items import Filter, ids
from annotator.actions.items.materials import Thing
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project, source_hash
from annotator.actions.releases import checking, releases
from annotator.actions.studies import question_views, result_views
from annotator.actions.undo import history, undo_places
from annotator.cli.saying import app
from annotator.domain.common import Change, Refusal
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.experts.publication import CHECKS
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import IMPORT, Page, PageState, SourceFormat
from tests.common import expect_refusal
from tests.exchange.pages.page_server import ARTICLE, Given, PageServer, article, fetcher, serving
from tests.exchange.texts.test_rendering import pdf
from tests.material import drawn_extracts
from tests.projects import pairs_project as pairs
from tests.projects.small_projects import DEAD, add_report, authoring_project, page, project_with
from tests.storage import sql

pytestmark = pytest.mark.anyio


@pytest.fixture
def three(tmp_path: Path) -> Project:
    three = people.new_project(tmp_path / "items.goldsmith")
    items.add(three, "How do transformers scale with data?", "Technical Details", "Scaling laws")
    items.add(three, "Which catalysts split water?", "Literature Review", "Chemistry")
    items.add(three, "怎样规划海水淡化厂的选址？", "Open Consulting", "水资源", language="zh")
    return three


def keys(three: Project, **narrowed: str) -> list[str]:
    return [line.key for line in items.lines(three, items.ids(three, Filter(**narrowed)))]


def test_items_are_found(three: Project) -> None:
    for narrowed, found in (
        ({"words": "former"}, "1"), ({"words": "chem"}, "2"), ({"words": "water catalysts"}, "2"),
        ({"words": "water transformers"}, ""), ({"words": "海水"}, "3"), ({"words": "淡化厂"}, "3"),
        ({"words": 'water" OR "data'}, ""), ({"words": "100%"}, ""), ({"question_type": "Literature Review"}, "2"),
        ({"subject": "水资源"}, "3"), ({"state": "new"}, "123"), ({"state": "settled"}, ""),
    ):  # fmt: skip
        assert "".join(keys(three, **narrowed)) == found, narrowed


def test_items_are_changed_retired_and_found_as_they_are(three: Project) -> None:
    expect_refusal("question", items.add, three, "   ")
    assert items.count(three) == 3
    (first, *_) = items.ids(three)
    items.change(three, first, question="How do glaciers move?")
    assert keys(three, words="glaciers") == ["1"]
    history.undo(three)
    assert (keys(three, words="glaciers"), keys(three, words="transformers")) == ([], ["1"])
    items.change(three, first, retired=True)
    assert items.count(three) == 2
    history.undo(three)
    assert items.count(three) == 3


def test_sources_come_back_in_order_with_their_format(project: Project, tmp_path: Path) -> None:
    item_id = ids(project)[0]
    for name, text in (("Übersicht.md", "# Rain"), ("talk.txt", "A: why?")):
        (tmp_path / name).write_text(text, "utf-8")
        items.add_source(project, item_id, tmp_path / name)
    result = items.sources(project, item_id)
    assert [(s.title, s.format, s.text, s.position) for s in result] == [
        ("Übersicht", SourceFormat.MARKDOWN, "# Rain", 0),
        ("talk", SourceFormat.PLAIN, "A: why?", 1),
    ]
    assert items.file_bytes(project, result[0].id) is None
    with pytest.raises(KeyError):
        items.add_source(project, "nothing", tmp_path / "talk.txt")


def test_a_pdf_is_kept_whole_and_a_damaged_one_refused(project: Project, tmp_path: Path) -> None:
    item_id, content = ids(project)[0], pdf("Rain falls")
    (tmp_path / "bad.pdf").write_bytes(content[:200])
    expect_refusal("is damaged", items.add_source, project, item_id, tmp_path / "bad.pdf")
    assert items.sources(project, item_id) == []
    (tmp_path / "rain.PDF").write_bytes(content)
    change = items.add_source(project, item_id, tmp_path / "rain.PDF")
    (source,) = items.sources(project, item_id)
    assert (source.format, source.text.strip()) == (SourceFormat.PDF, "Rain falls")
    assert items.file_bytes(project, change.subject) == content
    assert sql.first(project, "SELECT sha256 FROM source") == (source_hash(source.text),)


def group_of(project: Project, name: str) -> str:
    return next(row["group"] for row in materials.systems(project) if row["name"] == name)


def describe(project: Project, thing: Thing, subject: str, **told: object) -> Change:
    return materials.describe(project, thing, {subject: told})


def test_letter_11_systems_have_a_group_and_a_footnote_in_one_act(project: Project) -> None:
    ids = [materials.system_named(project, name) for name in ("Alpha", "Beta")]
    materials.describe(
        project, Thing.SYSTEM, {key: {"group": "deep research", "footnote": "in July"} for key in ids}
    )
    assert [group_of(project, name) for name in ("Alpha", "Beta")] == ["deep research"] * 2
    assert materials.group_names(materials.systems(project))[:2] == ["deep research", "LLM + search"]
    history.undo(project)
    assert [group_of(project, name) for name in ("Alpha", "Beta")] == ["", ""]
    history.redo(project)
    assert group_of(project, "Beta") == "deep research"


def test_a_value_that_does_not_fit_or_is_said_already_changes_nothing(project: Project) -> None:
    alpha = materials.system_named(project, "Alpha")
    for why, told in (
        (r"group .* does not fit", {"group": "x" * 121}), ("no “name” that can be changed", {"name": "Omega"}),
    ):  # fmt: skip
        expect_refusal(why, describe, project, Thing.SYSTEM, alpha, **told)
    assert group_of(project, "Alpha") == ""
    change = describe(project, Thing.SYSTEM, alpha, group="LLM")
    assert not describe(project, Thing.SYSTEM, alpha, group="LLM").after
    # What was changed meanwhile is not undone.
    with project.store.write() as db, pytest.raises(Refusal, match="changed elsewhere"):
        materials.restore(project, db, Thing.SYSTEM, {alpha: {"group": "other"}}, change.before)


def test_letter_11_responses_know_where_they_come_from(project: Project) -> None:
    told = {
        "collected_on": "2025-03-24", "product_version": "o3", "settings": "defaults", "collected_by": "R1",
        "cutoff": "2025-02-28",
    }  # fmt: skip
    reports = materials.responses_of(project, "Alpha")
    materials.describe(project, Thing.RESPONSE, dict.fromkeys(reports, told))
    days = "SELECT DISTINCT collected_on FROM response ORDER BY 1"
    assert sql.rows(project, days) == [(None,), ("2025-03-24",)]
    history.undo(project)
    assert sql.rows(project, days) == [(None,)]
    expect_refusal(
        "collected on “March” does not fit",
        describe,
        project,
        Thing.RESPONSE,
        reports[0],
        collected_on="March",
    )
    expect_refusal("no such reports", materials.responses_of, project, "Alpha", trial=7)


def test_letter_11_the_collection_table_has_a_line_for_each_system(project: Project) -> None:
    for system, item, day in (
        ("Alpha", "1", "2025-04-29"),
        ("Alpha", "2", "2025-03-24"),
        ("Beta", "1", "2024-12-30"),
    ):
        (report,) = materials.responses_of(project, system, items=[item])
        describe(project, Thing.RESPONSE, report, collected_on=day)
    describe(
        project,
        Thing.SYSTEM,
        materials.system_named(project, "Beta"),
        group="LLM + search",
        footnote="Search size: high.",
    )
    (sheet,) = result_views.show(project, "collection", {}).sheets
    assert [[cell.words for cell in line.cells[:5]] for line in sheet.lines] == [
        ["Beta", "30 December 2024", "2", "1", "LLM + search"], ["Alpha", "24 March – 29 April 2025", "2", "0", ""],
    ]  # fmt: skip
    assert (sheet.lines[1].cells[1].value, sheet.notes) == (
        "2025-03-24/2025-04-29", ("Beta: Search size: high.",),
    )  # fmt: skip


def sourced(project: Project, folder: Path, item: int, **told: str | int) -> str:
    (folder / f"source {item}.md").write_text("Words.", "utf-8")
    source = items.add_source(project, items.ids(project)[item], folder / f"source {item}.md").subject
    describe(project, Thing.SOURCE, source, **told)
    return source


def test_what_is_known_of_items_systems_reports_and_sources_leaves_and_comes_back(
    rated: Project, tmp_path: Path
) -> None:
    """Letters 2, 8, 9 and 11."""
    (item_id,) = pairs.candidates(rated, None)
    pairs.add_report(rated, "Alpha")
    describe(rated, Thing.SYSTEM, materials.system_named(rated, "Alpha"), group="LLM + search")
    (report,) = materials.responses_of(rated, "Alpha")
    describe(
        rated, Thing.RESPONSE, report, collected_on="2025-03-24", product_version="o3", cutoff="2025-02-28"
    )
    told = {
        "kind": "review",
        "published": "2024-05",
        "venue": "Water",
        "citations": 0,
        "citations_on": "2025-01-01",
    }
    sourced(rated, tmp_path, 0, **told)
    final_pass.sign(rated, item_id, "corrigenda", "not applicable", "Both are pages.")
    releases.export(rated, tmp_path / "release")
    with closing(people.new_project(tmp_path / "again.goldsmith")) as again:
        imports.run(again, "goldsmith", [tmp_path / "release"])
        result = items.read(again, item_id)
        assert (result.origin, result.contributor, result.collected) == ("laboratory", "K", "2025-03")
        assert group_of(again, "Alpha") == "LLM + search"
        reports = "SELECT collected_on, product_version, cutoff FROM response"
        assert sql.rows(again, reports) == [("2025-03-24", "o3", "2025-02-28")]
        assert sql.rows(again, f"SELECT {', '.join(told)} FROM source") == [tuple(told.values())]
        assert final_pass.of_item(again, item_id) == final_pass.of_item(rated, item_id)


@pytest.mark.parametrize("value", ["May 2024", "2024-13", "24"])
def test_letter_8_a_date_of_a_source_that_is_none_is_refused(
    project: Project, tmp_path: Path, value: str
) -> None:
    expect_refusal(f"published “{value}” does not fit", sourced, project, tmp_path, 0, published=value)


def test_letter_8_the_balance_says_what_is_lacking(project: Project, tmp_path: Path) -> None:
    sourced(project, tmp_path, 0, kind="research", published="2024-05", citations=12)
    sourced(project, tmp_path, 1, kind="review", published="2023", citations=3)
    for chosen, counts in (
        ({}, "11000"),
        ({"target": "5"}, "11044"),
        ({"since": "2024", "least": "10"}, "10101"),
    ):
        sheet, unmet = result_views.show(project, "sources", chosen).sheets
        assert [cell.words for cell in sheet.lines[0].cells] == ["Deep learning", *counts]
    assert [line.cells[-1].words for line in unmet.lines if line.cells[-1].words] == [
        "published before 2024, fewer than 10 citations"
    ]


@pytest.fixture
def rated(tmp_path: Path) -> Project:
    return pairs.pairs_project(tmp_path, 0)


def test_letter_2_several_items_change_in_one_act_that_is_undone(rated: Project) -> None:
    one, two, three = pairs.candidates(rated, None, None, None)
    items.change_all(rated, {one: {"subject": "NLP", "origin": "forum"}, two: {"question_type": "Survey"}})
    assert (items.read(rated, one).subject, items.read(rated, two).question_type) == ("NLP", "Survey")
    assert (
        undo_places.seen(rated, history.undo(rated)).words == "change subject, origin, question_type, 2 items"
    )
    assert [items.read(rated, each).subject for each in (one, two, three)] == ["AI"] * 3
    assert items.read(rated, one).origin == "laboratory"
    history.redo(rated)
    assert (items.read(rated, one).origin, checking.check(rated).problems) == ("forum", [])
    unchanged = items.change_all(rated, {one: {"subject": "NLP"}})
    assert (items.changed_by(unchanged), unchanged.seq) == ({}, 0)
    expect_refusal("collected does not fit", items.change_all, rated, {one: {"collected": "last May"}})
    pairs.work_as(rated, "Ada")
    expect_refusal("Only a coordinator", items.change_all, rated, {one: {"subject": "AI"}})
    assert items.read(rated, one).collected == "2025-03"


def test_letter_2_selection_is_applied_in_one_act_and_open_ratings_stay(rated: Project) -> None:
    kept, below, open_, late = pairs.candidates(rated, (5, 5), (4, 4), None, (3, 3))
    before = question_views.selection_report(rated)
    assert set(items.changed_by(question_views.apply(rated))) == {below, late}
    assert (items.ids(rated), items.ids(rated, Filter(retired=True))) == ([kept, open_], [below, late])
    # Who was left out still counts for how far raters agree.
    after = question_views.selection_report(rated)
    assert after.agreement == before.agreement
    words = [line.cells[4].words for line in question_views.selection_sheets(after)[0].lines]
    assert (words.count("kept"), words.count("left out, retired")) == (1, 2)
    expect_refusal("No item in use was rated below", question_views.apply, rated)
    history.undo(rated)
    assert items.count(rated) == 4


def test_letter_2_the_funnel_counts_by_origin_and_stage(rated: Project) -> None:
    pairs.candidates(rated, (5, 5), (4, 4), None, (5, 5))
    question_views.apply(rated)
    sheet = next(
        sheet
        for sheet in question_views.selection_sheets(question_views.selection_report(rated))
        if sheet.key == "funnel"
    )
    assert sheet.keys == ["origin", "collected", "classified", "rated", "reached", "in_use", "settled"]
    assert [[cell.words for cell in line.cells] for line in sheet.lines] == [
        ["forum", "1", "1", "0", "0", "1", "0"],
        ["interviews", "1", "1", "1", "0", "0", "0"],
        ["laboratory", "2", "2", "2", "2", "2", "0"],
        ["All", "4", "4", "3", "2", "3", "0"],
    ]


def test_letter_2_a_retired_item_is_in_nothing_that_is_scored_handed_out_or_released(
    sample: Project, tmp_path: Path
) -> None:
    (first,) = items.ids_of(sample, ["norm-placement"])
    assert "norm-placement" in said_by_views(sample, (result_views.named("items"),))
    kept = "SELECT (SELECT count(*) FROM judgement), (SELECT count(*) FROM revision)"
    before = sql.rows(sample, kept)
    items.change(sample, first, retired=True)
    said = said_by_views(sample)
    assert [key for key in ("early-warning", "norm-placement") if key in said] == ["early-warning"]
    assert items.content_counts(sample)["items"] == 2
    assert first not in {task.item_id for task in labels.queue(sample)}
    releases.export(sample, tmp_path / "release")
    assert not [path for path in (tmp_path / "release").rglob("*.json") if first in path.read_text("utf-8")]
    assert sql.rows(sample, kept) == before


def said_by_views(rated: Project, views: tuple[result_views.ResultView, ...] = result_views.VIEWS) -> str:
    """All that the views of the results say, but that of the selection, which tells of retired items too."""
    result = []
    for view in views:
        if view.name == "selection":
            continue
        with suppress(Refusal):
            for sheet in view.sheets(view.report(rated)):
                result += [cell.words for line in sheet.lines for cell in line.cells] + list(sheet.notes)
    return "\n".join(result)


QUESTION = "How far do automated citations agree with what their sources say?"


@pytest.fixture
def final(tmp_path: Path) -> Project:
    """One item with evidence of which one address is gone and one identifier is none, and a rubric that tells."""
    final = project_with(tmp_path, 2)
    item_id = items.add(final, QUESTION).subject
    works = (
        Reference(id="r1", text="A page that is gone", identifier=DEAD),
        Reference(id="r2", text="A work without a number", identifier="see the shelf"),
    )
    criteria = (
        Criterion(id="k1", text=f"Explains {QUESTION[:-1].lower()}", weight=3),
        Criterion(id="k2", text="Write to ada@example.org for more", weight=1),
    )
    for document in (Evidence(units=works), Rubric(units=criteria)):
        assignments.seal(final, artifacts.start(final, item_id, document.KIND, document).subject)
    pages.take_in(final, page(DEAD, ""))
    add_report(final, item_id)
    return final


def test_the_final_pass_notices_and_annotators_do_not_sign(final: Project) -> None:
    (one,) = final_pass.overview(final)
    assert (set(one.hints), one.open) == ({"links", "identifiers", "content", "leak"}, list(CHECKS))
    for check, words in (("identifiers", "see the shelf"), ("content", "ada@example.org")):
        assert words in one.hints[check]
    mine = items.ids(final)[0], "links", "passed"
    expect_refusal("Only coordinators", final_pass.sign, pairs.work_as(final, "Rater 2"), *mine)


def test_letter_9_a_check_is_signed_taken_back_and_undone(final: Project) -> None:
    item_id = items.ids(final)[0]
    final_pass.sign(final, item_id, "links", "passed")
    assert final_pass.of_item(final, item_id)["links"].signed == people.someone(final).alias
    expect_refusal("what the problem is", final_pass.sign, final, item_id, "leak", "problem")
    final_pass.sign(final, item_id, "leak", "problem", "The first criterion repeats the question.")
    long = item_id, "content", "passed", "x" * 2001
    expect_refusal("should have at most 2000 characters", final_pass.sign, final, *long)
    (one,) = final_pass.overview(final)
    assert one.open == ["identifiers", "content", "leak", "corrigenda"]
    history.undo(final)
    assert set(final_pass.of_item(final, item_id)) == {"links"}
    final_pass.sign(final, item_id, "links", "open")
    assert final_pass.of_item(final, item_id) == {}


def test_letter_9_the_pilot_is_summarized(final: Project, tmp_path: Path) -> None:
    expect_refusal("No pilot", final_pass.summary, final)
    item_id = items.add(final, "A pilot question").subject
    settings.write(final, Stage.RUBRIC, "Write one claim in each criterion.")
    document = Rubric(units=(Criterion(text="Names a study", weight=2, note="Which?"),))
    for name in ("Rater 2", "Rater 3"):
        assignments.assign_one(final, item_id, pairs.who(final, name), Stage.RUBRIC, purpose=Purpose.PILOT)
    for name in ("Rater 2", "Rater 3"):
        assignments.seal(
            final, artifacts.start(pairs.work_as(final, name), item_id, Kind.RUBRIC, document).subject
        )
    out, me = tmp_path / "pilot.md", people.people(final)[0].id
    app(["pilot", str(final.path), "--to", str(out), "--as", me], standalone_mode=False)
    told = out.read_text("utf-8")
    for words in (
        "1 item (2) by 2 people; 2 of 2 pieces of work handed in.", "Match F1 1", "item 2, rubric: Which?",
        # The shipped text is the first version.
        "rubric, version 2",
    ):  # fmt: skip
        assert words in told


def test_letter_9_the_command_line_lists_and_signs(
    final: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path, me = str(final.path), people.someone(final).id
    app(["final", "sign", path, "1", "--check", "content", "--as", me], standalone_mode=False)
    capsys.readouterr()
    app(["final", "list", path, "--open", "--json"], standalone_mode=False)
    (one,) = json.loads(capsys.readouterr().out)["items"]
    assert one["checks"]["content"]["state"] == "passed"
    assert "content" not in one["open"]


@pytest.fixture
def server() -> Iterator[PageServer]:
    with serving() as running:
        yield running


def claim(project: Project, *urls: str, response: int = 0) -> None:
    item_id, response_id = sql.rows(project, "SELECT item_id, id FROM response ORDER BY id")[response]
    units = tuple(Claim(text=f"Claim {number}.", url=url) for number, url in enumerate(urls, 1))
    drawn_extracts.keep(project, (item_id, response_id), ResponsePart.CLAIMS, Claims(units=units), IMPORT)


def snapshot(url: str, state: PageState = PageState.OK, text: str = "words") -> Page:
    return Page(url=url, state=state, text=text, fetched_at=datetime(2026, 1, 31, tzinfo=UTC))


async def fetched(project: Project, order: pages.FetchRequest | None = None, **rest: Any) -> dict[str, Any]:
    return await pages.fetch(project, order or pages.FetchRequest(), make=lambda _: fetcher(**rest))


async def test_addresses_are_cited_once_in_their_normal_spelling(project: Project) -> None:
    claim(project, "https://a.example/x#1", "https://a.example/x/", "", "doi:10.1000/X")
    claim(project, "https://doi.org/10.1000/x", response=1)
    assert {url: sorted(spellings) for url, spellings in pages.cited(project).items()} == {
        "https://a.example/x": ["https://a.example/x#1", "https://a.example/x/"],
        "doi:10.1000/x": ["doi:10.1000/X", "https://doi.org/10.1000/x"],
    }


async def test_what_claims_cite_is_fetched_committed_and_then_told(
    project: Project, server: PageServer
) -> None:
    server.pages |= {"/a": article("A"), "/b": Given(status=403)}
    claim(project, server.url("/a"), server.url("/b"), server.url("/a#part"))
    seen: list[tuple[str, str | None]] = []

    def tell(line: dict[str, Any]) -> None:
        if line["event"] == "progress":
            kept = pages.page(project, line["latest"]["url"])
            seen.append((line["latest"]["state"], kept.state.value if kept else None))

    ended = await pages.fetch(project, pages.FetchRequest(), tell=tell, make=lambda _: fetcher())
    assert sorted(seen) == [("forbidden", "forbidden"), ("ok", "ok")]
    assert (ended["state"], ended["done"], ended["total"], ended["by_state"]) == (
        "done", 2, 2, {"ok": 1, "forbidden": 1},
    )  # fmt: skip
    assert json.loads(json.dumps(ended)) == ended
    kept = pages.page(project, server.url("/a"))
    assert (kept.text, kept.title) == (ARTICLE.strip(), "A")


async def test_what_was_read_is_not_asked_again_and_the_rest_is(project: Project, server: PageServer) -> None:
    server.pages |= {"/a": article(), "/b": lambda number: article() if number else Given(status=500)}
    claim(project, server.url("/a"), server.url("/b"))
    first, second = await fetched(project), await fetched(project)
    assert (first["by_state"], second["by_state"], second["skipped"]) == ({"ok": 1, "dead": 1}, {"ok": 1}, 1)
    assert sorted(server.asked) == ["/a", "/b", "/b"]
    assert "All 2 cited pages are there" in pages.plan(project, pages.FetchRequest()).words()


async def test_a_refresh_asks_again_and_never_loses_a_text(project: Project, server: PageServer) -> None:
    server.pages |= {
        "/a": lambda number: article("New" if number else "Old"),
        "/b": lambda number: Given(status=404) if number else article("Kept"),
    }
    claim(project, server.url("/a"), server.url("/b"))
    await fetched(project)
    again = await fetched(project, pages.FetchRequest(refresh=True))
    assert (again["by_state"], again["kept"]) == ({"ok": 1, "dead": 1}, 1)
    assert [line.title for line in pages.lines(project)] == ["New", "Kept"]


async def test_without_a_network_nothing_is_kept_and_the_run_says_so(project: Project) -> None:
    claim(project, *(f"https://{name}.example/x" for name in "abcdefgh"))
    ended = await fetched(project, pages.FetchRequest(concurrency=1))
    assert (ended["state"], ended["done"]) == ("interrupted", 0)
    assert [line.state for line in pages.lines(project)] == [None] * 8
    assert "no network" in ended["cause"]
    assert "import the pages from a folder" in ended["cause"]


async def test_dead_names_beside_a_living_one_or_of_two_are_the_pages_own_fault(
    project: Project, server: PageServer
) -> None:
    claim(project, "https://a.example/x", "https://b.example/x")
    assert (await fetched(project))["by_state"] == {"dead": 2}
    server.pages["/a"] = article()
    claim(project, *(f"https://{name}.example/x" for name in "cde"), server.url("/a"))
    ended = await fetched(project, pages.FetchRequest(concurrency=1))
    assert (ended["state"], ended["by_state"]) == ("done", {"ok": 1, "dead": 3})
    assert (pages.summary(ended["by_state"]), pages.summary({})) == (
        "4 pages: 1 read, 3 not there.", "No pages stored yet.",
    )  # fmt: skip


async def test_a_line_cancel_stops_within_a_second_and_what_came_stays(
    project: Project, server: PageServer
) -> None:
    server.pages |= {"/a": article(), "/b": Given(held=True), "/c": Given(held=True)}
    claim(project, server.url("/a"), server.url("/b"), server.url("/c"))
    line = Event()

    class Listened(StringIO):
        def __iter__(self) -> Iterator[str]:
            line.wait()
            yield "cancel\n"

    def tell(told: dict[str, Any]) -> None:
        line.set()

    async with asyncio.timeout(10.0):
        ended = await pages.fetch(
            project, pages.FetchRequest(), tell=tell, listen=Listened(), make=lambda _: fetcher()
        )
    assert (ended["state"], ended["by_state"]) == ("cancelled", {"ok": 1})
    assert {one.state for one in pages.lines(project)} == {PageState.OK, None}


async def test_two_runs_do_not_fetch_for_one_project_at_once(project: Project, server: PageServer) -> None:
    server.pages["/a"] = Given(held=True)
    claim(project, server.url("/a"))
    first = asyncio.ensure_future(fetched(project))
    while not server.asked:
        await asyncio.sleep(0.01)
    with pytest.raises(Refusal, match="already"):
        await fetched(project)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)


async def test_a_page_taken_in_is_audited_with_its_hash_and_keeps_its_text(project: Project) -> None:
    first, second, third = (
        pages.take_in(project, snapshot("https://a.example", state, text))
        for state, text in ((PageState.DEAD, ""), (PageState.OK, "old secret"), (PageState.OK, "new secret"))
    )
    assert (first.before, second.before["sha256"]) == (None, first.after["sha256"])
    assert third.before["sha256"] == second.after["sha256"]
    assert "secret" not in json.dumps([second.after, third.before, third.after])
    assert (third.by, third.kind, third.verb) == (project.by, "page", "fetch page")
    # One without a text does not displace it.
    pages.take_in(project, snapshot("https://a.example", PageState.PAYWALL, ""))
    assert pages.page(project, "https://a.example/#x").text == "new secret"


async def test_pages_are_listed_with_who_cites_them_and_hosts_take_turns(project: Project) -> None:
    claim(project, "https://b.example", "https://b.example/")
    pages.take_in(project, snapshot("https://b.example", text="words"))
    pages.take_in(project, snapshot("https://a.example", PageState.DEAD, ""))
    assert [(line.url, line.state, line.claims, line.characters) for line in pages.lines(project)] == [
        ("https://a.example", PageState.DEAD, 0, 0),
        ("https://b.example", PageState.OK, 2, 5),
    ]
    claim(project, *(f"https://{host}.example/{n}" for host in "cd" for n in "123"))
    assert [url[8] for url in pages.plan(project, pages.FetchRequest()).to_fetch] == list("cdcdcd")


async def test_a_folder_is_taken_in_and_what_nothing_cites_is_counted(
    project: Project, tmp_path: Path
) -> None:
    (folder := tmp_path / "saved").mkdir()
    (folder / "a.html").write_text(f"<title>A</title><p>{ARTICLE}", "utf-8")
    (folder / "pages.csv").write_text("url,file\nhttps://a.example/,a.html\n", "utf-8")
    claim(project, "https://a.example")
    ended = await pages.import_folder(project, folder)
    assert (ended["by_state"], ended["uncited"]) == ({"ok": 1}, 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("annotator.places.user_data", lambda: tmp_path / "data")
    monkeypatch.setattr(spelling, "SYSTEM", ())
    made = tmp_path / "data/spelling"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def worded(tmp_path: Path, folder: Path) -> Project:
    return authoring_project(tmp_path)


def own_dictionary(folder: Path, name: str, *words: str) -> None:
    (folder / f"{name}.aff").write_text("SET UTF-8\nSFX S Y 1\nSFX S 0 s .\n", "utf-8")
    (folder / f"{name}.dic").write_text("\n".join([str(len(words)), *words]), "utf-8")


def known(worded, language: str = "", item: int = 0) -> spelling.Spelling:
    item_id = items.ids(worded)[item]
    if language:
        items.change(worded, item_id, language=language)
    return spelling.of_item(worded, item_id, Stage.RUBRIC)


def wrong(text: str, result: spelling.Spelling) -> list[str]:
    return [text[start:end] for start, end in result.mistakes(text)]


@pytest.mark.parametrize(
    ("text", "looked_up"),
    [
        ("Two words, one don’t.", ["Two", "words", "one", "don’t"]),
        ("See https://example.org/wrods or www.wrods.org", ["See", "or"]),
        ("GPT-4 and LLMs of DeepScholar in 2024", ["and", "of", "in"]),
        ("e.g. a file_name or me@wrods.org", ["or"]),
        ("It says “wrods in here” and `wrods`", ["It", "says", "and"]),
        ("> wrods quoted\nNot quoted", ["Not", "quoted"]),
        ("A pre-trained and a well-behaved one", ["and", "behaved", "one", "trained"]),
        ("An inch\" is no quotation", ["An", "inch", "is", "no", "quotation"]),
    ],
)  # fmt: skip
def test_addresses_numbers_names_and_quotations_are_not_looked_up(text: str, looked_up: list[str]):
    assert sorted(text[start:end] for start, end in spelling.words(text)) == sorted(looked_up)


def test_english_without_a_region_is_right_as_in_america_and_in_britain(worded):
    result = known(worded, "en")
    text = "The color and the colour of organised and organized benchmarks: a raport of preprints, recieved."
    assert wrong(text, result) == ["raport", "recieved"]
    assert result.suggestions("recieved")[0] == "received"
    assert wrong("The ‘残差连接’, остаток and الكتاب", result) == []
    assert wrong(text, known(worded, "en-US")) == ["colour", "organised", "raport", "recieved"]


def test_words_of_the_items_material_are_right_and_never_those_of_anothers_document(worded, tmp_path):
    item_id = items.ids(worded)[0]
    paper = tmp_path / "more.md"
    paper.write_text("Zürbelism’s heart is a gromply.", "utf-8")
    items.add_source(worded, item_id, paper)
    artifacts.start(
        worded, item_id, Kind.RUBRIC, Rubric(units=(Criterion(text="Names the fnordal school.", weight=1),))
    )
    assert wrong("Zürbelism and gromply are fnordal", known(worded)) == ["fnordal"]
    assert wrong("Zürbelism", known(worded, "en", item=1)) == ["Zürbelism"]


def test_a_word_of_ones_own_is_right_in_every_project(worded, folder):
    result = known(worded)
    assert wrong("Fnordal", result) == ["Fnordal"]
    result.add("Fnordal")
    assert wrong("Fnordal and fnordal’s", result) == []
    assert wrong("fnordal", known(worded)) == []
    assert (folder / "words.txt").read_text("utf-8") == "fnordal\n"


def test_a_dictionary_in_ones_own_folder_is_used_and_the_regions_own_comes_first(worded, folder):
    own_dictionary(folder, "eo", "vorto/S", "estas")
    assert wrong("vortos estas vorta", known(worded, "eo")) == ["vorta"]
    own_dictionary(folder, "en_AU", "arvo")
    assert [path.name for path in spelling.dictionaries("en-AU")] == ["en_AU"]
    assert wrong("arvo color", known(worded, "en-AU")) == ["color"]


@pytest.mark.parametrize(
    ("language", "trouble"),
    [("ar", "There is no spelling dictionary for the item's language (ar)."), ("zh-Hans", ""), ("ja", "")],
)
def test_a_language_without_a_dictionary_says_so_but_not_where_words_are_not_parted(
    worded, language, trouble
):
    result = known(worded, language)
    assert (result.trouble, result.mistakes("wrods")) == (trouble, [])


def test_a_dictionary_that_cannot_be_read_is_a_refusal(worded, folder):
    own_dictionary(folder, "eo", "vorto")
    (folder / "eo.aff").write_text("SFX S Y many\n", "utf-8")
    expect_refusal("eo cannot be read", known, worded, "eo")


def test_a_text_that_opens_quotations_without_end_is_read_in_no_time():
    assert list(spelling.words("“" * 5_000 + " word")) == [(5_001, 5_005)]
