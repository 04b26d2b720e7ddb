"""How parts are drawn from responses by the same run as judging; key points drawn from pages, reviewed and pooled."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import materials, pages
from annotator.actions.judging import forecasts
from annotator.actions.material import extracting
from annotator.actions.orders import orders
from annotator.actions.papers import human_agreement
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Extracted
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.material.extract import KeyPoints, ResponsePart
from annotator.domain.material.item import Page, PageState
from annotator.domain.texts.canonical import now
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts
from tests.material.extraction import TINY_PLAN
from tests.material.key_points import EXTRACTION
from tests.material.points_project import COOLER, DEAD, ONE, RENT, REPORTS, TWO, WATER, points_project
from tests.projects.material_project import subject
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import reports, retext, small_project
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql

STEP = completion('{"step": "Search."}')


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.script(STEP)
    return server


@pytest.fixture
def tiny(tmp_path: Path, server: OddServer, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, TINY_PLAN)
    tiny = small_project(tmp_path)
    add_judge(tiny, server)
    return tiny


def run(tiny: Project, judge: str = JUDGE, **how: Any) -> dict[str, Any]:
    return asyncio.run(extracting.run(tiny, RunRequest(judge, TINY_PLAN.name, **how)))


def steps(tiny: Project) -> list[list[str]]:
    rows = sql.rows(tiny, "SELECT content FROM extract ORDER BY rowid")
    return [[unit["text"] for unit in json.loads(content)["units"]] for (content,) in rows]


def test_every_response_is_drawn_from_with_as_many_calls_as_it_takes(
    tiny: Project, server: OddServer
) -> None:
    ended = run(tiny)
    assert (ended["state"], ended["done"], ended["total"], ended["missing"]) == ("done", 4, 4, {})
    # Each of the four reports has a title and one paragraph.
    assert (len(server.bodies), steps(tiny)) == (8, [["Search.", "Search."]] * 4)
    (origin, run_id, flags) = sql.first(tiny, "SELECT origin, run_id, flags FROM extract")
    assert (origin.split(":")[0], run_id, flags) == ("judge", ended["run"], "noted")
    assert sql.first(tiny, "SELECT count(*) FROM call")[0] == ended["calls"]
    assert sql.first(tiny, "SELECT count(*) FROM judgement")[0] == 0
    assert checking.check(tiny).problems == []


def test_a_finished_one_is_not_asked_again(tiny: Project, server: OddServer) -> None:
    run(tiny, systems=("Alpha",))
    asked = len(server.bodies)
    plan = extracting.plan(tiny, RunRequest(JUDGE, TINY_PLAN.name))
    assert (plan.total, plan.to_do, plan.things) == (4, 2, "reports")
    assert run(tiny)["judged_now"] == 2
    assert len(server.bodies) == 2 * asked


def test_what_fails_leaves_its_calls_and_is_drawn_by_the_next_run(tiny: Project, server: OddServer) -> None:
    server.answer = lambda body, number: (
        STEP if number != 1 else error(400, "too much", code="context_length_exceeded")
    )
    assert (run(tiny, concurrency=1)["missing"], len(steps(tiny))) == ({"too_long": 1}, 3)
    (line,) = run_records.runs(tiny)
    assert (line.done, line.total, line.open) == (3, 4, True)
    server.script(STEP)
    again = run(tiny)
    assert (again["judged_now"], again["reused"], len(steps(tiny))) == (1, 1, 4)


def test_a_run_that_was_stopped_is_gone_on_with(tiny: Project, server: OddServer) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    server.answer = lambda body, number: STEP if number < 3 else daily
    assert run(tiny, concurrency=1)["state"] == "interrupted"
    server.script(STEP)
    before = len(server.bodies)
    ended = asyncio.run(orders.carry_out(tiny, orders.unfinished(tiny, concurrency=1)))
    assert (ended["state"], ended["reused"], len(steps(tiny))) == ("done", 1, 4)
    # Of eight steps three were drawn before.
    assert len(server.bodies) - before == 5
    assert [line.state for line in run_records.runs(tiny)] == ["done"]


def test_the_baseline_draws_without_a_call_and_whoever_corrects_it_has_the_last_word(
    tiny: Project, server: OddServer
) -> None:
    run(tiny, "baseline")
    assert server.bodies == []
    assert steps(tiny)[0][0] == "# Alpha"
    response = sql.first(tiny, "SELECT response_id FROM extract")[0]
    drawn = drawn_extracts.parts_of(tiny, response)[ResponsePart.PLAN].document
    drawn_extracts.write(tiny, response, ResponsePart.PLAN, drawn.with_units(drawn.units[:1]))
    run(tiny)
    assert len(drawn_extracts.parts_of(tiny, response)[ResponsePart.PLAN].document.units) == 1


def test_what_is_drawn_from_items_is_drawn_once_each(tiny: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def insight(material: Any) -> Extracted:
        return Extracted(Insights(units=(Insight(text=material.item.question),)))

    of_items = replace(TINY_PLAN, name="tiny.insights", makes=Kind.INSIGHTS, baseline=insight)
    monkeypatch.setitem(EXTRACTIONS, of_items.name, of_items)
    order = RunRequest("baseline", of_items.name)
    ended = asyncio.run(extracting.run(tiny, order))
    assert (ended["done"], ended["deed"]) == (2, "items read for steps")
    assert steps(tiny) == [["What do residual connections do?"], ["Who?"]]
    assert extracting.plan(tiny, order).to_do == 0


def test_what_cannot_be_drawn_is_refused_or_missing_with_its_cause(
    tiny: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = replace(TINY_PLAN, baseline=lambda _: Extracted(None, Status.UNCLEAR, "There is no plan in it."))
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, empty)
    assert run(tiny, "baseline")["missing"] == {"unclear": 4}
    assert steps(tiny) == []
    expect_refusal(
        "There is no extraction “nowhere”", asyncio.run, extracting.run(tiny, RunRequest(JUDGE, "nowhere"))
    )
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, replace(TINY_PLAN, baseline=None))
    expect_refusal("no baseline", run, tiny, "baseline")


PROJECT = points_project

ADDRESSES = tuple(f"https://site{n}.example/page" for n in range(3))
SAID = "Residual connections ease training."


def reply(*spans: str) -> Any:
    points = [{"spans": [span], "text": f"Point on {span}"} for span in spans]
    return completion(json.dumps({"points": points}))


@pytest.fixture
def paged(tmp_path: Path, server: OddServer) -> Project:
    """The first of four reports gives three pages, one of which is dead; the others give none."""
    made = small_project(tmp_path)
    retext(made, reports(made)[0], "See " + ", ".join(ADDRESSES))
    for number, address in enumerate(ADDRESSES[:2]):
        words = f"{SAID} This is page {number}."
        pages.take_in(made, Page(url=address, state=PageState.OK, text=words, fetched_at=now()))
    pages.take_in(made, Page(url=ADDRESSES[2], state=PageState.DEAD, fetched_at=now()))
    add_judge(made, server)
    return made


def drawn(paged: Project) -> KeyPoints:
    result = drawn_extracts.parts_of(paged, reports(paged)[0])[ResponsePart.KEYPOINTS].document
    assert isinstance(result, KeyPoints)
    return result


ORDER = RunRequest(JUDGE, EXTRACTION, concurrency=1)


def test_a_call_is_estimated_and_made_for_each_readable_page(paged: Project, server: OddServer) -> None:
    server.script(reply(SAID))
    assert asyncio.run(forecasts.of(extracting.ExtractionRun(paged, ORDER))).calls == 2
    assert server.bodies == []
    ended = asyncio.run(extracting.run(paged, ORDER))
    assert (ended["state"], ended["done"], len(server.bodies)) == ("done", 4, 2)
    # Both pages say it in the same words.
    (point,) = drawn(paged).units
    assert point.addresses == ADDRESSES[:2]
    assert (drawn(paged).read, len(drawn(paged).pages)) == (2, 3)


def test_a_span_that_no_page_has_is_dropped_and_flagged(paged: Project, server: OddServer) -> None:
    server.script(reply("Nobody says this."))
    asyncio.run(extracting.run(paged, ORDER))
    assert drawn(paged).units == ()
    result = drawn_extracts.parts_of(paged, reports(paged)[0])[ResponsePart.KEYPOINTS]
    assert set(result.flags.split()) == {"span_not_in_page", "point_without_span"}


def test_after_a_stop_only_the_page_that_is_lacking_is_asked_about(paged: Project, server: OddServer) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    server.answer = lambda body, number: reply(SAID) if number < 1 else daily
    assert asyncio.run(extracting.run(paged, ORDER))["state"] == "interrupted"
    assert ResponsePart.KEYPOINTS not in drawn_extracts.parts_of(paged, reports(paged)[0])
    before = len(server.bodies)
    server.script(reply(SAID))
    ended = asyncio.run(orders.carry_out(paged, orders.unfinished(paged, concurrency=1)))
    assert (ended["state"], len(server.bodies) - before) == ("done", 1)
    assert len(drawn(paged).units) == 1


def test_pages_of_reports_are_fetched_and_waited_for(paged: Project, server: OddServer) -> None:
    assert sorted(pages.given(paged)) == sorted(ADDRESSES)
    assert pages.cited(paged) == {}
    retext(paged, reports(paged)[1], "See https://new.example/page")
    server.script(reply(SAID))
    assert asyncio.run(extracting.run(paged, ORDER))["missing"] == {"skipped": 1}
    assert len(drawn(paged).units) == 1


KIND = ResponsePart.KEYPOINTS


def points(project: Project, number: int = 0) -> KeyPoints:
    result = extracting.of(project, subject(project, number), KIND)
    assert isinstance(result.document, KeyPoints)
    return result.document


def change(project: Project, unit: str, number: int = 0, **fields: object) -> None:
    extracting.change_unit(project, subject(project, number), KIND, unit, **fields)


def review(project: Project) -> list[tuple[int, int, int, int]]:
    return sorted(
        (one.accepted, one.edited, one.rejected, one.waiting) for one in human_agreement.reviews(project)
    )


def test_points_are_reviewed_one_by_one_and_confirming_accepts_what_is_left(project: Project) -> None:
    assert review(project) == [(0, 0, 0, 2), (0, 0, 0, 3)]
    assert human_agreement.reviews_sheets(human_agreement.reviews_report(project)) == ()
    change(project, "k1", accepted=True)
    change(project, "k2", text="Roots need soil that is open.")
    assert review(project) == [(0, 0, 0, 2), (2, 1, 0, 1)]
    extracting.remove_unit(project, subject(project), KIND, "k3")
    assert review(project) == [(0, 0, 0, 2), (2, 1, 1, 0)]
    (sheet,) = human_agreement.reviews_sheets(human_agreement.reviews_report(project))
    # Two of three that were decided.
    assert sheet.lines[0].cells[1].value == pytest.approx(2 / 3)
    assert [cell.value for cell in sheet.lines[0].cells[2:]] == [2, 1, 1, 0, 1]
    assert all(
        isinstance(one, human_agreement.PointReview) and one.judge_id
        for one in human_agreement.reviews(project)
    )
    change(project, "k4", number=REPORTS[1], accepted=True)
    extracting.confirm(project, subject(project, REPORTS[1]), KIND)
    assert review(project) == [(2, 0, 0, 0), (2, 1, 1, 0)]
    expect_refusal("already confirmed", extracting.confirm, project, subject(project, REPORTS[1]), KIND)


def test_an_edit_keeps_which_pages_were_read_and_spans_must_stand_in_one(project: Project) -> None:
    change(project, "k1", vital=True)
    document = points(project)
    assert [page.address for page in document.pages] == [ONE, TWO, DEAD]
    assert (document.unit("k1").vital, document.unit("k1").accepted, document.unit("k2").accepted) == (
        True, True, False,
    )  # fmt: skip
    before = points(project)
    expect_refusal(
        r"“Trees raise the sea\.” stands in no page",
        change,
        project,
        "k1",
        spans=f"{COOLER}\nTrees raise the sea.",
    )
    assert points(project) == before
    change(project, "k1", spans=f"{COOLER}\n{WATER.upper()}")
    anchors = points(project).unit("k1").anchors
    assert [(anchor.source_id, anchor.quote) for anchor in anchors] == [(ONE, COOLER), (TWO, WATER)]


def test_merged_points_are_parted_and_one_by_hand_counts_once_it_has_words_of_a_page(
    project: Project,
) -> None:
    extracting.part_unit(project, subject(project), KIND, "k1")
    units = points(project).units
    assert [unit.id for unit in units] == ["k1", "k9", "k2", "k3"]
    assert [unit.addresses for unit in units[:2]] == [(ONE,), (TWO,)]
    expect_refusal("Nothing was merged", extracting.part_unit, project, subject(project), KIND, "k1")
    extracting.add_unit(project, subject(project), KIND, text="Rents rise.")
    (own,) = [unit for unit in points(project).units if unit.text == "Rents rise."]
    assert (own.counts, own.accepted) == (False, True)
    change(project, own.id, spans=RENT)
    assert points(project).unit(own.id).counts


def pool(project: Project) -> KeyPoints | None:
    item_id, _ = subject(project)
    result = extracting.of(project, (item_id, ""), ResponsePart.POOL)
    return result.document if result else None  # type: ignore[return-value]


def test_a_pool_holds_the_accepted_points_of_all_reports_each_once(project: Project) -> None:
    change(project, "k1", accepted=True)
    extracting.confirm(project, subject(project, REPORTS[1]), KIND)
    done = human_agreement.freeze(project)
    # k1 and k4: k5 is of the place of k1, and k2 and k3 are still open. Of the other item nothing was drawn.
    assert (done.items, done.points, done.before) == (1, 2, 0)
    result = pool(project)
    assert sorted(unit.id for unit in result.units) in (["k1", "k4"], ["k4", "k5"])
    assert {other.id for one in result.units for other in (one, *one.merged)} == {"k1", "k4", "k5", "k9"}


def test_a_pool_is_frozen_once_something_is_accepted_and_stays_as_it_is(project: Project) -> None:
    expect_refusal("No key point was accepted", human_agreement.freeze, project)
    extracting.confirm(project, subject(project, REPORTS[1]), KIND)
    human_agreement.freeze(project)
    history.undo(project)
    assert pool(project) is None
    history.redo(project)
    before = pool(project)
    protocol = PROTOCOLS["arena.keypoints.common"]
    item_id, _ = subject(project)
    (at_hand,) = materials.each(project, materials.for_judging(protocol), [item_id])
    # Every report is asked about the points of others' sources.
    asked = [sorted(case.unit.id for case in protocol.cases(response)) for response in at_hand.responses]
    assert asked == [["k4", "k5"], ["k4", "k5"]]
    extracting.confirm(project, subject(project), KIND)
    again = human_agreement.freeze(project)
    assert (again.items, again.before, pool(project)) == (0, 1, before)
    expect_refusal(
        "frozen", extracting.remove_unit, project, (item_id, ""), ResponsePart.POOL, before.units[0].id
    )
