"""What a coordinator prepares for judging: reports, what was drawn from them and corrected, what is cited."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import event

from annotator.actions.assignments import assignments
from annotator.actions.items import extracts, items, materials, pages
from annotator.actions.items.extracts import NewExtract, PartStatus
from annotator.actions.items.materials import MaterialAtHand, MaterialRequest
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting, responding
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import by_judge, for_person
from annotator.domain.material.item import IMPORT, ExtractState, Page, PageState
from annotator.domain.material.part import Claim, Claims, ResponsePart
from annotator.protocols import PROTOCOLS
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts
from tests.projects.filled_project import add_judgement
from tests.projects.material_project import subject
from tests.projects.pairs_project import item, opened_project, who, work_as
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import answer
from tests.servers.writing_server import answering, asking_project, writing, written
from tests.storage import sql


def claims(*pairs: tuple[str, str]) -> Claims:
    return Claims(units=tuple(Claim(id=f"c{n}", text=text, url=url) for n, (text, url) in enumerate(pairs)))


def keep(project: Project, document: Claims, origin: str = IMPORT, number: int = 0) -> str:
    return drawn_extracts.keep(
        project, NewExtract(*subject(project, number), ResponsePart.CLAIMS, document, origin)
    ).subject


def take_in(project: Project, url: str, state: PageState, **told: str) -> None:
    pages.take_in(project, Page(url=url, state=state, fetched_at=datetime(2026, 1, 31, tzinfo=UTC), **told))


def test_reports_stand_by_item_and_system_for_coordinators_alone(project: Project) -> None:
    result = materials.reports(project)
    assert [item.key for item in result.items] == ["1", "2"]
    assert result.columns == (("Alpha", "end-to-end"), ("Beta", "end-to-end"))
    assert (result.count, result.lacking) == (4, 0)
    (line,) = result.lines[result.items[0].id, ("Alpha", "end-to-end")]
    assert (line.trial, line.latency_s, line.tokens, line.cost_usd) == (1, None, None, None)
    extracting.add_unit(project, subject(project), ResponsePart.PLAN, text="Establish why depth hurts.")
    result = extracting.of(project, subject(project), ResponsePart.PLAN)
    assert [unit.text for unit in result.document.units] == ["Establish why depth hurts."]
    items.add(project, "A third question?", "Open Consulting", "")
    result = materials.reports(project)
    assert (result.count, result.lacking) == (4, 2)
    people.add_person(project, "Ana", (Role.ANNOTATOR,), "R2")
    project.work_as(people.known(project, "R2"))
    for ask in (materials.reports, pages.cited_states):
        expect_refusal("Only a coordinator can prepare material", ask, project)


def test_a_report_says_what_was_drawn_from_it_and_how_far_that_is(project: Project) -> None:
    keep(project, claims(("One.", "https://a.example/x"), ("Two.", "")))
    item_id, response_id = subject(project)
    (drawn,) = extracts.standing_parts(project)[item_id, response_id].values()
    assert (drawn.kind, drawn.whose, drawn.standing) == ("claims", "import", PartStatus.IMPORTED)
    assert (drawn.units, drawn.cited) == (2, 1)


def test_a_draft_for_one_person_is_nobody_elses_material(project: Project) -> None:
    item_id = items.ids(project)[0]
    document = Insights(units=(Insight(text="Theirs alone."),))
    drawn_extracts.keep(
        project, NewExtract(item_id, "", Kind.INSIGHTS, document, for_person("judge-1", project.by, 1))
    )
    assert extracts.standing_parts(project) == {}
    assert extracting.of(project, (item_id, ""), Kind.INSIGHTS) is None


def test_a_correction_is_a_version_of_the_persons_own(project: Project) -> None:
    keep(project, claims(("One.", ""), ("Two.", "")), by_judge("judge-1"))
    extracting.change_unit(project, subject(project), ResponsePart.CLAIMS, "c0", url="https://a.example/x")
    result = extracting.of(project, subject(project), ResponsePart.CLAIMS)
    assert [(unit.id, unit.url) for unit in result.document.units] == [
        ("c0", "https://a.example/x"),
        ("c1", ""),
    ]
    whole = extracts.standing_parts(project)[subject(project)]["claims"]
    assert (whole.whose, whole.standing) == ("Me", PartStatus.EDITED)
    assert len(drawn_extracts.all_of(project, subject(project)[1])) == 2


def test_parts_are_corrected_added_and_confirmed(project: Project) -> None:
    where = subject(project), ResponsePart.CLAIMS
    keep(project, claims(("One.", ""), ("Two.", "")))
    expect_refusal("The section does not fit", extracting.change_unit, project, *where, "c0", section=0)
    expect_refusal("", extracting.remove_unit, project, *where, "gone")
    extracting.remove_unit(project, *where, "c1")
    extracting.add_unit(project, *where, "c0", text="Between.")

    def texts() -> list[str]:
        return [unit.text for unit in extracting.of(project, *where).document.units]

    assert texts() == ["One.", "Between."]
    history.undo(project)
    history.undo(project)
    assert texts() == ["One.", "Two."]
    keep(project, claims(("One.", "")), by_judge("judge-1"))
    extracting.confirm(project, *where)
    assert extracting.of(project, *where).state is ExtractState.CONFIRMED
    expect_refusal("already confirmed", extracting.confirm, project, *where)
    expect_refusal("no plan to confirm", extracting.confirm, project, subject(project), ResponsePart.PLAN)


def test_a_cited_page_is_listed_with_its_claims_before_it_was_ever_fetched(project: Project) -> None:
    keep(project, claims(("One.", "https://a.example/x#1"), ("Two.", "https://a.example/x")))
    keep(project, claims(("Three.", "https://b.example/")), number=1)
    take_in(project, "https://b.example", PageState.PAYWALL, cause="Only for subscribers.")
    cited = pages.cited_states(project)
    result = {page.url: page for page in cited.pages}
    never, kept = result["https://a.example/x"], result["https://b.example"]
    assert (never.state, never.claims, never.reports, never.fetched_at) == (None, 2, 1, None)
    assert (kept.state, kept.claims, kept.cause) == (PageState.PAYWALL, 1, "Only for subscribers.")
    (claim, _) = cited.citing["https://a.example/x"]
    assert (claim.text, claim.item, claim.system) == ("One.", "1", "Alpha")
    take_in(project, "https://a.example/x", PageState.OK, text="Words.")
    for refresh in (False, True):
        here = pages.cited_states(project).plan(refresh=refresh)
        there = pages.plan(project, pages.FetchRequest(refresh=refresh))
        assert (here.words(), len(here.to_fetch)) == (there.words(), len(there.to_fetch))


@pytest.fixture
def server() -> Iterator[OddServer]:
    with writing() as server:
        yield server


@pytest.fixture
def asking(tmp_path: Path, server: OddServer) -> Project:
    made = asking_project(tmp_path)
    judges.add(made, "pen", base_url=server.url, model="test-model")
    return made


def write(project: Project, **more: object) -> None:
    writer = judges.prepared(project, "Scribe", judges.WriterSettings("pen"))
    asyncio.run(
        responding.run(project, RunRequest(writer.name, responding.protocol_name(), ("Scribe",), **more))
    )  # type: ignore[arg-type]


def test_what_did_not_come_is_listed_with_its_cause_until_it_does(asking: Project, server: OddServer) -> None:
    server.answer = answering(lambda *_: error(400, "No."))
    write(asking, trials=2)
    lacking = responding.lacking(asking)
    assert [(one.item, one.trial) for one in lacking] == [("1", 1), ("1", 2), ("2", 1), ("2", 2)]
    assert {(one.system, one.status) for one in lacking} == {("Scribe", "api_error")}
    assert list(responding.by_cause(lacking).values()) == [4]
    server.answer = answering(written)
    write(asking, items=("1",))
    assert [(one.item, one.trial) for one in responding.lacking(asking)] == [("1", 2), ("2", 1), ("2", 2)]


def test_what_reports_would_take_is_told_without_a_call(asking: Project, server: OddServer) -> None:
    def told(**more: object) -> tuple[int, int]:
        planned = bool(more.pop("planned", False))
        order = RunRequest("pen", responding.protocol_name(planned=planned), ("Scribe",), **more)  # type: ignore[arg-type]
        result = asyncio.run(orders.foreseen(asking, order))
        return result.units, result.calls

    assert (told(), told(trials=3), told(planned=True)) == ((2, 2), (6, 6), (2, 4))
    assert server.bodies == []
    write(asking, items=("1",))
    assert told() == (1, 1)
    assert judges.all_of(asking)[-1].name == "pen"


def test_the_replies_behind_what_was_drawn_are_found_again(project: Project, server: OddServer) -> None:
    reply = json.dumps({"claims": [{"context": "", "text": "It explains.", "url": ""}]})
    server.answer = lambda *_: completion(reply)
    judges.add(project, "reader", base_url=server.url, model="test-model")
    order = RunRequest("reader", "researcherbench.claims.extract", ("Alpha",), timeout_s=5.0)
    asyncio.run(extracting.run(project, order))
    mine = [part for (_, response), part in extracts.standing_parts(project).items() if response]
    for drawn in mine:
        (reply,) = extracting.replies(project, drawn["claims"].extract_id)
        assert "It explains." in reply.call.raw
    assert len(mine) == 2
    # Behind what a person wrote there is none, and it is counted too.
    change = extracting.add_unit(
        project, subject(project), ResponsePart.PLAN, text="Establish why depth hurts."
    )
    assert extracting.replies(project, change.subject) == ()
    assert judge_runs.drawings_of(project, materials.reports(project)) == judge_runs.drawings(project)


URL = "https://example.org/paper"
BY_RUBRIC = MaterialRequest((Kind.RUBRIC,))


def at_hand(project: Project, wanted: MaterialRequest = BY_RUBRIC) -> list[MaterialAtHand]:
    return list(materials.each(project, wanted, materials.item_ids(project)))


def test_items_come_with_what_they_are_judged_by(project: Project) -> None:
    (first, second), (light, _) = (
        at_hand(project),
        at_hand(project, MaterialRequest((Kind.RUBRIC,), texts=False)),
    )
    assert {one.response.text for one in light.responses} == {""}
    assert [one.response.id for one in light.responses] == [one.response.id for one in first.responses]
    assert [first.item.key, second.item.key] == ["1", "2"]
    alpha, beta = first.responses
    assert alpha.response.text.startswith("# Alpha")
    assert [unit.weight for unit in alpha.units(Kind.RUBRIC)] == [3, 2, 1]
    assert alpha.artifact_ids == beta.artifact_ids != second.responses[0].artifact_ids
    coverage = PROTOCOLS["researcherbench.coverage"]
    assert materials.for_judging(coverage).texts
    assert not materials.for_counting(coverage).texts
    answer(project, "Gamma")
    of_gamma = "WHERE system_id = (SELECT id FROM system WHERE name = 'Gamma')"
    sql.alter(project, f"UPDATE response SET mode = 'isolated' {of_gamma}")
    alpha, beta, gamma = at_hand(project)[0].responses
    assert [other.id for other in alpha.others] == [beta.response.id]
    assert gamma.others == []


def test_parts_come_with_their_ids_and_the_pages_that_they_cite(project: Project) -> None:
    cited = claims(("One.", f"{URL}/#results"), ("Two.", "https://example.org/never-fetched"), ("Three.", ""))
    drawn = keep(project, cited)
    for url in (URL, "https://example.org/of-others"):
        take_in(project, url, PageState.OK, text="It is so.")
    alpha = at_hand(project, MaterialRequest((), pages=True))[0].responses[0]
    assert alpha.part_ids == {ResponsePart.CLAIMS: drawn}
    assert len(alpha.units(ResponsePart.CLAIMS)) == 3
    assert {url: page.state for url, page in alpha.pages.items()} == {URL: PageState.OK}
    assert at_hand(project)[0].responses[0].pages == {}


def test_an_item_by_itself_and_items_set_aside(project: Project, tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text("Depth helps.", "utf-8")
    items.add_source(project, items.ids(project)[0], tmp_path / "paper.txt")
    own = at_hand(project, MaterialRequest((Kind.RUBRIC,), sources=True))[0].own
    assert [source.text for source in own.sources] == ["Depth helps."]
    assert (own.response.id, own.response.text, len(own.units(Kind.RUBRIC))) == ("", "", 3)
    assert materials.item_ids(project, ["2"]) == items.ids(project)[1:]
    sql.alter(project, "UPDATE item SET retired = 1 WHERE key = '1'")
    assert [one.item.key for one in at_hand(project)] == ["2"]


def test_many_items_take_as_few_questions_as_one(project: Project) -> None:
    for number in range(materials.STRETCH - 2):
        items.add(project, f"Question {number}")
    asked: list[str] = []
    with project.store.read() as db:
        event.listen(db.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    assert len(at_hand(project)) == materials.STRETCH
    # Four of them say whose gold counts.
    assert len(asked) <= 9


JUDGE, OTHER = by_judge("judge-1"), by_judge("judge-2")


def plan(*steps: str) -> Plan:
    return Plan(units=tuple(Subtask(id=f"s{n}", text=text) for n, text in enumerate(steps)))


def keep_plan(project: Project, document: Plan | Claims, origin: str) -> str:
    return drawn_extracts.keep(
        project, NewExtract(*subject(project), ResponsePart.PLAN, document, origin)
    ).subject


def write_plan(project: Project, *steps: str) -> str:
    return drawn_extracts.write(project, subject(project)[1], ResponsePart.PLAN, plan(*steps)).subject


def standing(project: Project) -> list[str]:
    result = drawn_extracts.parts_of(project, subject(project)[1])[ResponsePart.PLAN]
    return [unit.text for unit in result.document.units]


def test_what_is_drawn_waits_until_it_is_confirmed(project: Project) -> None:
    extract_id = keep_plan(project, plan("Search."), JUDGE)
    (result,) = drawn_extracts.all_of(project, subject(project)[1])
    assert (result.kind, result.origin, result.state) == ("plan", JUDGE, ExtractState.PROPOSED)
    assert result.document == plan("Search.")
    assert extracts.waiting(project) == {"plan": 1}
    items.change(project, subject(project)[0], retired=True)
    assert extracts.waiting(project) == {}
    history.undo(project)
    # Of two judges the later one stands, then the confirmed one.
    keep_plan(project, plan("Second."), OTHER)
    assert standing(project) == ["Second."]
    extracts.confirm(project, extract_id)
    assert standing(project) == ["Search."]
    (result, _) = drawn_extracts.all_of(project, subject(project)[1])
    assert (result.state, result.by) == (ExtractState.CONFIRMED, project.by)
    assert extracts.waiting(project) == {}


def test_a_persons_version_stands_before_an_imported_one_before_a_judges(project: Project) -> None:
    keep_plan(project, plan("Imported."), IMPORT)
    keep_plan(project, plan("Drawn."), JUDGE)
    assert standing(project) == ["Imported."]
    write_plan(project, "Written.")
    assert standing(project) == ["Written."]
    origins = [result.origin.split(":")[0] for result in drawn_extracts.all_of(project, subject(project)[1])]
    assert origins == ["person", "import", "judge"]
    write_plan(project, "Written better.")
    history.undo(project)
    assert standing(project) == ["Written."]
    history.undo(project)
    assert standing(project) == ["Imported."]
    history.redo(project)
    assert standing(project) == ["Written."]
    assert checking.check(project).problems == []


def test_what_has_been_judged_by_is_not_taken_back(project: Project) -> None:
    item_id, response_id = subject(project)
    written = write_plan(project, "Written.")
    add_judgement(
        project, item_id=item_id, response_id=response_id, artifact_id=written, unit_id="s0", run_id=None
    )
    expect_refusal("judged since", history.undo, project)


def test_a_part_has_one_version_of_each_origin(project: Project) -> None:
    expect_refusal("cannot be a Claims", keep_plan, project, claims(("x", "")), JUDGE)
    expect_refusal("the same id", keep_plan, project, Plan(units=(Subtask(id="s"), Subtask(id="s"))), JUDGE)
    # What is drawn from an item is kept apart from its responses.
    item_id, insights = items.ids(project)[0], Insights(units=(Insight(text="Depth helps."),))
    drawn_extracts.keep(project, NewExtract(item_id, "", Kind.INSIGHTS, insights, JUDGE))
    assert drawn_extracts.of_item(project, item_id)[Kind.INSIGHTS].document == insights
    assert drawn_extracts.parts_of(project, subject(project)[1]) == {}
    expect_refusal("no longer exists", extracts.confirm, project, "nothing")
    first = keep_plan(project, plan("First."), JUDGE)
    assert keep_plan(project, plan("Second."), JUDGE) == first
    assert standing(project) == ["Second."]


def test_the_work_in_pairs_is_counted(tmp_path: Path) -> None:
    project = opened_project(tmp_path)
    work_as(project, "Cora")
    assignments.assign_one(project, item(project), who(project, "Dan"), Stage.PLAN)
    result = items.content_counts(project)
    assert [result[name] for name in ("assignments", "agreements", "adjudications")] == [1, 1, 1]
    assert (result["items"], result["artifacts"]) == (1, {"rubric": 2})
