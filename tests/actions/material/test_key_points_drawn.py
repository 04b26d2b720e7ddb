"""Key points drawn over HTTP: a call for each page, an estimate before, nothing asked twice after a failure."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import pages
from annotator.actions.judging import forecasts
from annotator.actions.material import extracting
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.material.keypoints import KeyPoints
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.change import now
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts
from tests.material.key_points import EXTRACTION
from tests.projects.labelled_protocols import reports, retext
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge

ADDRESSES = tuple(f"https://site{n}.example/page" for n in range(3))
SAID = "Residual connections ease training."


def reply(*spans: str) -> Any:
    points = [{"spans": [span], "text": f"Point on {span}"} for span in spans]
    return completion(json.dumps({"points": points}))


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    """The first of four reports gives three pages, one of which is dead; the others give none."""
    made = small_project(tmp_path)
    retext(made, reports(made)[0], "See " + ", ".join(ADDRESSES))
    for number, address in enumerate(ADDRESSES[:2]):
        words = f"{SAID} This is page {number}."
        pages.take_in(made, Page(url=address, state=PageState.OK, text=words, fetched_at=now()))
    pages.take_in(made, Page(url=ADDRESSES[2], state=PageState.DEAD, fetched_at=now()))
    add_judge(made, server)
    yield made
    made.close()


def drawn(project: Project) -> KeyPoints:
    found = drawn_extracts.parts_of(project, reports(project)[0])[ResponsePart.KEYPOINTS].document
    assert isinstance(found, KeyPoints)
    return found


ORDER = RunRequest(JUDGE, EXTRACTION, concurrency=1)


def test_a_call_is_estimated_and_made_for_each_readable_page(project: Project, server: OddServer) -> None:
    server.script(reply(SAID))
    forecast = asyncio.run(forecasts.of(extracting.ExtractionRun(project, ORDER)))
    assert forecast.calls == 2
    assert server.bodies == []
    ended = asyncio.run(extracting.run(project, ORDER))
    assert (ended["state"], ended["done"], len(server.bodies)) == ("done", 4, 2)
    # Both pages say it in the same words.
    (point,) = drawn(project).units
    assert point.addresses == ADDRESSES[:2]
    assert (drawn(project).read, len(drawn(project).pages)) == (2, 3)


def test_a_span_that_no_page_has_is_dropped_and_flagged(project: Project, server: OddServer) -> None:
    server.script(reply("Nobody says this."))
    asyncio.run(extracting.run(project, ORDER))
    assert drawn(project).units == ()
    found = drawn_extracts.parts_of(project, reports(project)[0])[ResponsePart.KEYPOINTS]
    assert set(found.flags.split()) == {"span_not_in_page", "point_without_span"}


def test_after_a_stop_only_the_page_that_is_lacking_is_asked_about(
    project: Project, server: OddServer
) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    server.answer = lambda body, number: reply(SAID) if number < 1 else daily
    assert asyncio.run(extracting.run(project, ORDER))["state"] == "interrupted"
    assert ResponsePart.KEYPOINTS not in drawn_extracts.parts_of(project, reports(project)[0])
    before = len(server.bodies)
    server.script(reply(SAID))
    ended = asyncio.run(orders.carry_out(project, orders.unfinished(project, concurrency=1)))
    assert (ended["state"], len(server.bodies) - before) == ("done", 1)
    assert len(drawn(project).units) == 1


def test_a_page_that_was_never_fetched_keeps_its_report_waiting(project: Project, server: OddServer) -> None:
    retext(project, reports(project)[1], "See https://new.example/page")
    server.script(reply(SAID))
    ended = asyncio.run(extracting.run(project, ORDER))
    assert ended["missing"] == {"skipped": 1}
    assert len(drawn(project).units) == 1


def test_all_pages_that_reports_give_can_be_fetched(project: Project) -> None:
    assert sorted(pages.given(project)) == sorted(ADDRESSES)
    assert pages.cited(project) == {}
