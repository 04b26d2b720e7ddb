"""What a coordinator prepares for judging: which reports are there, what was drawn and corrected, what is cited."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotator.actions.items import cited_pages, drawn_parts, items, page_fetching, pages, report_lines
from annotator.actions.items.drawn_parts import PartStatus
from annotator.actions.items.extracts import NewExtract, Subject
from annotator.actions.judges import judges, writers
from annotator.actions.judging import judge_offers
from annotator.actions.material import (
    extracting,
    part_edits,
    part_replies,
    responding,
    response_journal,
    response_settings,
)
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.material.extract import IMPORT, ExtractState, by_judge, for_person
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.part import Claim, Claims, ResponsePart
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts
from tests.servers.writing_server import answering, asking_project, writing, written
from tests.storage import sql


def subject(project: Project, number: int = 0) -> Subject:
    question = "SELECT item_id, id FROM response ORDER BY rowid"
    item_id, response_id = sql.rows(project, question)[number]
    return item_id, response_id


def claims(*pairs: tuple[str, str]) -> Claims:
    return Claims(units=tuple(Claim(id=f"c{n}", text=text, url=url) for n, (text, url) in enumerate(pairs)))


def keep(project: Project, document: Claims, origin: str = IMPORT, number: int = 0) -> str:
    return drawn_extracts.keep(
        project, NewExtract(*subject(project, number), ResponsePart.CLAIMS, document, origin)
    ).subject


# Reports


def test_reports_stand_by_item_and_system_in_a_mode(project: Project) -> None:
    found = report_lines.reports(project)
    assert [item.key for item in found.items] == ["1", "2"]
    assert found.columns == (("Alpha", "end-to-end"), ("Beta", "end-to-end"))
    assert (found.count, found.lacking) == (4, 0)
    (line,) = found.lines[found.items[0].id, ("Alpha", "end-to-end")]
    assert (line.trial, line.latency_s, line.tokens, line.cost_usd) == (1, None, None, None)


def test_an_item_without_a_report_of_a_system_lacks_it(project: Project) -> None:
    items.add(project, "A third question?", "Open Consulting", "")
    found = report_lines.reports(project)
    assert (found.count, found.lacking) == (4, 2)


def test_only_a_coordinator_is_told_which_system_wrote_what(project: Project) -> None:
    people.add_person(project, "Ana", (Role.ANNOTATOR,), "R2")
    project.work_as(people.known(project, "R2"))
    for ask in (report_lines.reports, cited_pages.cited):
        with pytest.raises(Refusal, match="Only a coordinator can prepare material"):
            ask(project)


def test_a_report_says_what_was_drawn_from_it_and_how_far_that_is(project: Project) -> None:
    keep(project, claims(("One.", "https://a.example/x"), ("Two.", "")))
    item_id, response_id = subject(project)
    (drawn,) = drawn_parts.standing(project)[item_id, response_id].values()
    assert (drawn.kind, drawn.whose, drawn.standing) == ("claims", "import", PartStatus.IMPORTED)
    assert (drawn.units, drawn.cited) == (2, 1)


def test_a_draft_for_one_person_is_nobody_elses_material(project: Project) -> None:
    item_id = items.ids(project)[0]
    document = Insights(units=(Insight(text="Theirs alone."),))
    drawn_extracts.keep(
        project, NewExtract(item_id, "", Kind.INSIGHTS, document, for_person("judge-1", project.by, 1))
    )
    assert drawn_parts.standing(project) == {}
    assert part_edits.of(project, (item_id, ""), Kind.INSIGHTS) is None


# Corrections


def test_a_correction_is_a_version_of_the_persons_own(project: Project) -> None:
    keep(project, claims(("One.", ""), ("Two.", "")), by_judge("judge-1"))
    part_edits.change_unit(project, subject(project), ResponsePart.CLAIMS, "c0", url="https://a.example/x")
    found = part_edits.of(project, subject(project), ResponsePart.CLAIMS)
    assert found is not None
    assert [(unit.id, unit.url) for unit in found.document.units] == [
        ("c0", "https://a.example/x"),
        ("c1", ""),
    ]
    whole = drawn_parts.standing(project)[subject(project)]["claims"]
    assert (whole.whose, whole.standing) == ("Me", PartStatus.EDITED)
    assert len(drawn_extracts.all_of(project, subject(project)[1])) == 2


def test_units_are_added_and_taken_out_and_undo_brings_them_back(project: Project) -> None:
    keep(project, claims(("One.", ""), ("Two.", "")))
    where = subject(project)
    part_edits.remove_unit(project, where, ResponsePart.CLAIMS, "c1")
    part_edits.add_unit(project, where, ResponsePart.CLAIMS, "c0", text="Between.")

    def texts() -> list[str]:
        found = part_edits.of(project, where, ResponsePart.CLAIMS)
        return [unit.text for unit in found.document.units] if found else []

    assert texts() == ["One.", "Between."]
    history.undo(project)
    history.undo(project)
    assert texts() == ["One.", "Two."]


def test_what_nobody_drew_can_be_written(project: Project) -> None:
    part_edits.add_unit(project, subject(project), ResponsePart.PLAN, text="Establish why depth hurts.")
    found = part_edits.of(project, subject(project), ResponsePart.PLAN)
    assert found is not None
    assert [unit.text for unit in found.document.units] == ["Establish why depth hurts."]


def test_what_does_not_fit_is_refused_in_words(project: Project) -> None:
    keep(project, claims(("One.", "")))
    with pytest.raises(Refusal, match="The section does not fit"):
        part_edits.change_unit(project, subject(project), ResponsePart.CLAIMS, "c0", section=0)
    with pytest.raises(Refusal, match="no longer exists"):
        part_edits.remove_unit(project, subject(project), ResponsePart.CLAIMS, "gone")


def test_what_was_drawn_is_confirmed_once(project: Project) -> None:
    keep(project, claims(("One.", "")), by_judge("judge-1"))
    part_edits.confirm(project, subject(project), ResponsePart.CLAIMS)
    found = part_edits.of(project, subject(project), ResponsePart.CLAIMS)
    assert found is not None
    assert found.state is ExtractState.CONFIRMED
    with pytest.raises(Refusal, match="already confirmed"):
        part_edits.confirm(project, subject(project), ResponsePart.CLAIMS)
    with pytest.raises(Refusal, match="no plan to confirm"):
        part_edits.confirm(project, subject(project), ResponsePart.PLAN)


# Cited pages


def test_a_cited_page_is_listed_before_it_was_ever_fetched(project: Project) -> None:
    keep(project, claims(("One.", "https://a.example/x#1"), ("Two.", "https://a.example/x")))
    keep(project, claims(("Three.", "https://b.example/")), number=1)
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    pages.take_in(
        project,
        Page(
            url="https://b.example", state=PageState.PAYWALL, cause="Only for subscribers.", fetched_at=moment
        ),
    )
    found = {page.url: page for page in cited_pages.cited(project).pages}
    never, kept = found["https://a.example/x"], found["https://b.example"]
    assert (never.state, never.claims, never.reports, never.fetched_at) == (None, 2, 1, None)
    assert (kept.state, kept.claims, kept.cause) == (PageState.PAYWALL, 1, "Only for subscribers.")


def test_a_page_tells_which_claims_cite_it(project: Project) -> None:
    keep(project, claims(("One.", "https://a.example/x#1"), ("Two.", "")))
    (found,) = cited_pages.cited(project).citing["https://a.example/x"]
    assert (found.text, found.item, found.system) == ("One.", "1", "Alpha")


# Reports that a model writes


@pytest.fixture
def server() -> Iterator[OddServer]:
    with writing() as server:
        yield server


@pytest.fixture
def asking(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    made = asking_project(tmp_path)
    judges.add(made, "pen", base_url=server.url, model="test-model")
    yield made
    made.close()


def write(project: Project, **more: object) -> None:
    writer = writers.prepared(project, "Scribe", writers.WriterSettings("pen"))
    asyncio.run(
        responding.run(
            project, RunRequest(writer.name, response_settings.protocol_name(), ("Scribe",), **more)
        )
    )  # type: ignore[arg-type]


def test_what_did_not_come_is_listed_with_its_cause_until_it_does(asking: Project, server: OddServer) -> None:
    server.answer = answering(lambda *_: error(400, "No."))
    write(asking, trials=2)
    found = response_journal.lacking(asking)
    assert [(one.item, one.system, one.trial, one.status) for one in found] == [
        ("1", "Scribe", 1, "api_error"),
        ("1", "Scribe", 2, "api_error"),
        ("2", "Scribe", 1, "api_error"),
        ("2", "Scribe", 2, "api_error"),
    ]
    assert list(response_journal.by_cause(found).values()) == [4]
    server.answer = answering(written)
    write(asking, items=("1",))
    assert [(one.item, one.trial) for one in response_journal.lacking(asking)] == [
        ("1", 2),
        ("2", 1),
        ("2", 2),
    ]


def test_what_reports_would_take_is_told_without_a_call(asking: Project, server: OddServer) -> None:
    def told(**more: object) -> tuple[int, int]:
        planned = bool(more.pop("planned", False))
        order = RunRequest("pen", response_settings.protocol_name(planned=planned), ("Scribe",), **more)  # type: ignore[arg-type]
        found = asyncio.run(orders.foreseen(asking, order))
        return found.units, found.calls

    assert (told(), told(trials=3), told(planned=True)) == ((2, 2), (6, 6), (2, 4))
    assert server.bodies == []
    write(asking, items=("1",))
    assert told() == (1, 1)
    assert judges.all_of(asking)[-1].name == "pen"


# The replies behind it


def test_the_replies_behind_what_was_drawn_are_found_again(project: Project, server: OddServer) -> None:
    def answer(body: dict[str, object], _: int):
        return completion(json.dumps({"claims": [{"context": "", "text": "It explains.", "url": ""}]}))

    server.answer = answer
    judges.add(project, "reader", base_url=server.url, model="test-model")
    order = RunRequest("reader", "researcherbench.claims.extract", ("Alpha",), timeout_s=5.0)
    asyncio.run(extracting.run(project, order))
    mine = [part for (_, response), part in drawn_parts.standing(project).items() if response]
    for drawn in mine:
        (reply,) = part_replies.replies(project, drawn["claims"].extract_id)
        assert "It explains." in reply.call.raw
    assert len(mine) == 2


def test_what_a_person_wrote_has_no_reply_behind_it(project: Project) -> None:
    change = part_edits.add_unit(
        project, subject(project), ResponsePart.PLAN, text="Establish why depth hurts."
    )
    assert part_replies.replies(project, change.subject) == ()


def test_what_can_be_drawn_is_counted_as_the_judges_page_counts_it(project: Project) -> None:
    keep(project, claims(("One.", "")))
    assert judge_offers.drawings_of(report_lines.reports(project)) == judge_offers.drawings(project)


def test_fetching_is_planned_as_the_command_plans_it(project: Project) -> None:
    keep(project, claims(("One.", "https://a.example/x"), ("Two.", "https://b.example/y")))
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    read = Page(url="https://a.example/x", state=PageState.OK, text="Words.", fetched_at=moment)
    pages.take_in(project, read)
    for refresh in (False, True):
        here = cited_pages.cited(project).plan(refresh=refresh)
        there = page_fetching.plan(project, page_fetching.FetchRequest(refresh=refresh))
        assert (here.words(), len(here.to_fetch)) == (there.words(), len(there.to_fetch))
