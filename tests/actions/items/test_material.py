"""What reports are judged by: gathered, drawn and corrected, cited; it leaves with a release and comes back, as do
named rubric sets.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from annotator.actions.imports import imports
from annotator.actions.items import extracts, items, materials, pages
from annotator.actions.judges import judges, prompts
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting, responding
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import rubric_views
from annotator.actions.undo import history
from annotator.cli import run_command
from annotator.domain.common import sha256
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.kind import Kind, Role
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import Claim, Claims, ResponsePart, by_judge, for_person
from annotator.domain.material.item import IMPORT, ExtractState, Page, PageState
from annotator.exchange.release import release
from annotator.protocols import PROTOCOLS
from tests.cli.commands import refused
from tests.common import expect_refusal, fixture_of, once
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts
from tests.material.bundles import change_json, without_manifest
from tests.material.labelled_sections import subject
from tests.projects.filled_project import add_judgement
from tests.projects.small_projects import answer, small_project
from tests.servers.served import JUDGE, add_judge
from tests.servers.writing_server import answering, asking_project, writing, written
from tests.storage import sql

READ, DEAD = "https://a.example/x", "https://b.example/y"
TEXT = "Residual connections let gradients pass through deep networks."
CLAIMS = "researcherbench.claims"


def page(url: str, state: PageState, text: str = "", cause: str = "Gone.") -> Page:
    return Page(
        url=url,
        state=state,
        text=text,
        title="A study",
        cause="" if text else cause,
        fetched_at=datetime(2026, 1, 31, tzinfo=UTC),
    )


def subjects(cited: Project) -> list[tuple[str, str]]:
    return sql.rows(cited, "SELECT item_id, id FROM response ORDER BY rowid")


@fixture_of
@once
def cited(folder: Path) -> Project:
    """Two claims of each report, one of them corrected by a person; two cited pages; judged by the baseline."""
    made = small_project(folder)
    units = (Claim(id="c0", text=TEXT, url=READ), Claim(id="c1", text="Depth hurts.", url=DEAD))
    judges.stored(made, judges.BASELINE)
    for ids in subjects(made):
        drawn_extracts.keep(
            made,
            ids,
            ResponsePart.CLAIMS,
            Claims(units=units),
            by_judge(judges.BASELINE.id),
        )
    extracting.change_unit(
        made, subjects(made)[0], ResponsePart.CLAIMS, "c1", text="Depth hurts plain networks."
    )
    pages.take_in(made, page(READ, PageState.OK, TEXT))
    pages.take_in(made, page(DEAD, PageState.DEAD))
    asyncio.run(judge_runs.run(made, RunRequest("baseline", CLAIMS)))
    return made


def released(cited: Project, folder: Path, **how: Any) -> Path:
    releases.export(cited, folder, **how)
    return folder


def take(project: Project, folder: Path) -> str:
    return str(imports.run(project, "goldsmith", [folder], warm=False)[1])


@pytest.fixture
def taken(tmp_path: Path) -> Project:
    return Project.create(tmp_path / "taken.goldsmith", "small")


def scores(cited: Project) -> list[tuple[Any, ...]]:
    return [
        (row.metric, row.system, row.group, row.estimate.value, row.estimate.missing)
        for row in results.rows(cited, judges.BASELINE.id, CLAIMS)
    ]


def test_a_release_of_material_comes_back_once_with_its_scores(
    cited: Project, taken: Project, tmp_path: Path
) -> None:
    out, bare = released(cited, tmp_path / "out", page_texts=True), released(cited, tmp_path / "bare")
    take(taken, out)
    assert scores(cited)
    assert (scores(taken), checking.check(taken).problems) == (scores(cited), [])
    for _, response_id in subjects(cited):
        here, there = (
            drawn_extracts.parts_of(one, response_id)[ResponsePart.CLAIMS] for one in (cited, taken)
        )
        assert (there.document, there.origin, there.state) == (here.document, here.origin, here.state)
    read, dead = pages.page(taken, READ), pages.page(taken, DEAD)
    assert (read.state, read.text, read.fetched_at.year) == (PageState.OK, TEXT, 2026)
    assert (dead.state, dead.cause) == (PageState.DEAD, "Gone.")
    assert take(taken, out) == "nothing new"
    again = released(taken, tmp_path / "again", page_texts=True)
    for name in ("extracts.json", "pages.json", "judgements.json"):
        assert (again / name).read_bytes() == (out / name).read_bytes()
    # A page without text takes no text away.
    assert take(taken, bare) == "nothing new"
    assert pages.take_in(taken, page(READ, PageState.OK)) is None
    assert pages.page(taken, READ).text == TEXT


def test_page_texts_stay_unless_asked_for(cited: Project, tmp_path: Path) -> None:
    bare, whole = released(cited, tmp_path / "bare"), released(cited, tmp_path / "whole", page_texts=True)
    told = {load["url"]: load for load in json.loads((bare / "pages.json").read_text("utf-8"))}
    assert {url: load["text"] for url, load in told.items()} == {READ: "", DEAD: ""}
    assert (told[READ]["title"], told[READ]["state"], told[READ]["sha256"]) == ("A study", "ok", sha256(TEXT))
    assert told[READ]["fetched_at"].startswith("2026-01-31")
    card, other = ((folder / "README.md").read_text("utf-8") for folder in (bare, whole))
    assert (TEXT in card, "Their texts are not included" in card) == (False, True)
    assert "The texts of 1 of these are included" in other
    # What nobody cites, and what was drawn for one person, stays.
    pages.take_in(cited, page("https://c.example/z", PageState.OK, "Uncited."))
    draft_for_whoever_works(cited)
    bundle, _ = releases.gather(cited)
    assert {one.url for one in bundle.pages} == {READ, DEAD}
    assert {extract.kind for extract in bundle.extracts} == {"claims"}


def test_without_texts_scores_are_the_same_and_texts_that_come_later_are_filled_in(
    cited: Project, taken: Project, tmp_path: Path
) -> None:
    bare, whole = released(cited, tmp_path / "bare"), released(cited, tmp_path / "whole", page_texts=True)
    take(taken, bare)
    assert (scores(taken), checking.check(taken).problems) == (scores(cited), [])
    assert take(taken, bare) == "nothing new"
    again = released(taken, tmp_path / "again")
    for name in ("pages.json", "README.md"):
        assert (again / name).read_bytes() == (bare / name).read_bytes()
    assert take(taken, whole) == "1 page"
    assert (pages.page(taken, READ).text, checking.check(taken).problems) == (TEXT, [])


def test_a_page_whose_text_is_elsewhere_is_fetched_and_not_guessed_at(
    cited: Project, taken: Project, tmp_path: Path
) -> None:
    take(taken, released(cited, tmp_path / "bare"))
    assert pages.plan(taken, pages.FetchRequest()).to_fetch == (READ, DEAD)
    sql.alter(taken, "DELETE FROM judgement")
    asyncio.run(judge_runs.run(taken, RunRequest("baseline", CLAIMS)))
    result = sql.rows(taken, "SELECT DISTINCT value, status, cause FROM judgement WHERE unit_id = 'c0'")
    assert result == [(None, "skipped", "Its text is not in this project; fetch the page first.")]


def test_the_wording_that_judges_were_asked_by_comes_back(
    cited: Project, taken: Project, server: OddServer, tmp_path: Path
) -> None:
    add_judge(cited, server)
    name = "researcherbench.coverage"
    prompts.write(cited, name, prompts.shipped(name).replace("# user", "Be strict.\n\n# user"), "stricter")
    asyncio.run(judge_runs.run(cited, RunRequest(JUDGE)))
    out = released(cited, tmp_path / "out")
    take(taken, out)
    here, there = (prompts.in_force(project, name) for project in (cited, taken))
    assert (there.text, there.note) == (here.text, "stricter")
    assert take(taken, out) == "nothing new"
    assert name in [load["name"] for load in json.loads((out / "prompts.json").read_text("utf-8"))]


ALTERED: tuple[tuple[str, Callable[[Any], None], str], ...] = (
    ("pages.json", lambda tree: tree[0].update(text="Other words."), "not the one its checksum"),
    ("pages.json", lambda tree: tree[0].update(sha256="none"), "checksum of the text that stayed"),
    ("extracts.json", lambda tree: tree[0].update(response_id=""), "which response"),
    ("extracts.json", lambda tree: tree[0]["document"]["units"][0].update(text="Other."), "its checksum"),
    ("extracts.json", lambda tree: tree[0].update(item_id="elsewhere"), "was not imported"),
)


def test_what_was_altered_is_not_taken_in(cited: Project, taken: Project, tmp_path: Path) -> None:
    folder = without_manifest(released(cited, tmp_path / "out"))
    for name, change, said in ALTERED:
        before = (folder / name).read_bytes()
        change_json(folder / name, change)
        report = imports.preview(taken, "goldsmith", [folder])
        assert any(said in str(problem) for problem in report.problems), said
        assert release.read([folder])[0].items
        (folder / name).write_bytes(before)


LAX = {"1": Rubric(units=(Criterion(text="Is a report", weight=1), Criterion(text="Is a report", weight=3)))}


def asked(project: Project) -> list[list[str]]:
    result = materials.each(
        project, materials.for_judging(PROTOCOLS["researcherbench.coverage"]), materials.item_ids(project)
    )
    return [[unit.text for unit in one.own.units(Kind.RUBRIC)] for one in result]


def test_rubric_sets_are_kept_and_used_until_undone(project: Project) -> None:
    for name, rubrics in (("", LAX), ("settled", LAX), ("a:b", LAX), ("x", {"9": LAX["1"]})):
        expect_refusal("", rubric_views.keep_set, project, name, rubrics)
    expect_refusal(
        "weight 7",
        rubric_views.keep_set,
        project,
        "odd",
        {"1": Rubric(units=(Criterion(text="Is a report", weight=7),))},
    )
    expect_refusal("There is no rubric set “odd”", rubric_views.use, project, "odd")
    assert rubric_views.named_sets(project) == {}
    before = asked(project)
    rubric_views.keep_set(project, "lax", LAX)
    assert asked(project) == before
    rubric_views.use(project, "lax")
    # An item that the set lacks is judged by nothing.
    assert asked(project) == [["Is a report", "Is a report"], []]
    history.undo(project)
    assert (asked(project), checking.check(project).problems) == (before, [])
    # A criterion keeps its id as long as its words stay.
    first = {unit.id for unit in units_of_set(project, "lax")}
    assert len(first) == 2
    rubric_views.keep_set(
        project, "lax", {"1": Rubric(units=(*LAX["1"].units[:1], Criterion(text="Is long", weight=2)))}
    )
    assert [unit.id in first for unit in units_of_set(project, "lax")] == [True, False]


def units_of_set(project: Project, name: str) -> Sequence[Criterion]:
    return rubric_views.named_sets(project)[name]["1"].units


def test_a_release_carries_the_sets_and_scores_by_the_experts_rubrics(
    project: Project, taken: Project, tmp_path: Path
) -> None:
    rubric_views.keep(project, "as it was", "settled")
    one = released(project, tmp_path / "one")
    assert (one / "extracts.json").is_file()
    rubric_views.use(project, "as it was")
    take(taken, one)
    assert rubric_views.named_sets(taken) == rubric_views.named_sets(project)
    two = released(taken, tmp_path / "two")
    for path in one.rglob("*.json"):
        assert path.read_bytes() == (two / path.relative_to(one)).read_bytes()


def test_a_set_comes_from_a_file_on_the_command_line(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "lax.json"
    path.write_text(json.dumps({"1": [{"text": "Is a report", "weight": 1}]}), "utf-8")
    file = str(project.path)
    assert run_command(["rubrics", "keep", file, "lax", "--from", str(path)]) == 0
    assert run_command(["rubrics", "keep", file, "copy", "--of", "settled"]) == 0
    assert {name: len(of) for name, of in rubric_views.named_sets(project).items()} == {"copy": 2, "lax": 1}
    path.write_text("[]", "utf-8")
    assert run_command(["rubrics", "keep", file, "lax", "--from", str(path)]) == 1


def test_letter_18_people_weigh_a_set_in_a_table_and_it_is_kept_beside_the_first(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rubric_views.keep_set(project, "lax", {"1": Rubric(units=(Criterion(text="=Is, a “report”", weight=1),))})
    file, path = str(project.path), tmp_path / "weighed.csv"
    assert run_command(["rubrics", "write", file, "lax", "--to", str(path)]) == 0
    table = path.read_text("utf-8-sig")
    assert table.splitlines()[1].endswith(",1")
    path.write_text(table.replace(",1\r\n", ",3\r\n").replace(",1\n", ",3\n"), "utf-8", newline="")
    assert run_command(["rubrics", "keep", file, "weighed", "--from", str(path)]) == 0
    (unit,) = units_of_set(project, "weighed")
    assert (unit.text, unit.weight) == ("=Is, a “report”", 3)
    assert [one.weight for one in units_of_set(project, "lax")] == [1]
    assert run_command(["rubrics", "write", file, "none", "--to", str(path)]) == 1
    path.write_text("item,criterion,weight\n1,Is a report,much\n", "utf-8")
    assert "“much” is no weight" in refused(capsys, "rubrics", "keep", file, "weighed", "--from", str(path))


def claims(*pairs: tuple[str, str]) -> Claims:
    return Claims(units=tuple(Claim(id=f"c{n}", text=text, url=url) for n, (text, url) in enumerate(pairs)))


def keep(project: Project, document: Claims, origin: str = IMPORT, number: int = 0) -> str:
    return drawn_extracts.keep(
        project, subject(project, number), ResponsePart.CLAIMS, document, origin
    ).subject


def test_reports_stand_by_item_and_system_for_coordinators_alone(project: Project) -> None:
    result = materials.reports(project)
    assert ([item.key for item in result.items], result.columns, result.count, result.lacking) == (
        ["1", "2"], (("Alpha", "end-to-end"), ("Beta", "end-to-end")), 4, 0,
    )  # fmt: skip
    (line,) = result.lines[result.items[0].id, ("Alpha", "end-to-end")]
    assert (line.trial, line.latency_s, line.tokens, line.cost_usd) == (1, None, None, None)
    extracting.add_unit(project, subject(project), ResponsePart.PLAN, text="Establish why depth hurts.")
    assert [
        unit.text for unit in extracting.of(project, subject(project), ResponsePart.PLAN).document.units
    ] == ["Establish why depth hurts."]
    items.add(project, "A third question?", "Open Consulting", "")
    result = materials.reports(project)
    assert (result.count, result.lacking) == (4, 2)
    people.add_person(project, "Ana", (Role.ANNOTATOR,), "R2")
    project.work_as(people.known(project, "R2"))
    for ask in (materials.reports, pages.cited_states):
        expect_refusal("Only a coordinator can prepare material", ask, project)


def draft_for_whoever_works(project: Project) -> None:
    origin, document = for_person("judge-1", project.by, 1), Insights(units=(Insight(text="Theirs alone."),))
    drawn_extracts.keep(project, (items.ids(project)[0], ""), Kind.INSIGHTS, document, origin)


def test_a_report_says_what_was_drawn_and_a_draft_for_one_person_is_nobody_elses(project: Project) -> None:
    keep(project, claims(("One.", "https://a.example/x"), ("Two.", "")))
    draft_for_whoever_works(project)
    ((where, parts),) = extracts.standing_parts(project).items()
    (drawn,) = parts.values()
    assert (where, drawn.kind, drawn.whose, drawn.standing, drawn.units, drawn.cited) == (
        subject(project), "claims", "import", extracts.PartStatus.IMPORTED, 2, 1,
    )  # fmt: skip
    assert extracting.of(project, (where[0], ""), Kind.INSIGHTS) is None


def test_parts_are_corrected_added_and_confirmed(project: Project) -> None:
    where = subject(project), ResponsePart.CLAIMS
    keep(project, claims(("One.", ""), ("Two.", "")))
    expect_refusal("The section does not fit", extracting.change_unit, project, *where, "c0", section=0)
    expect_refusal("", extracting.remove_unit, project, *where, "gone")
    extracting.remove_unit(project, *where, "c1")
    drawn = extracts.standing_parts(project)[subject(project)]["claims"]
    assert (drawn.whose, drawn.standing) == ("Me", extracts.PartStatus.EDITED)
    extracting.add_unit(project, *where, "c0", text="Between.")

    def texts() -> list[str]:
        return [unit.text for unit in extracting.of(project, *where).document.units]

    assert texts() == ["One.", "Between."]
    for _ in range(2):
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
    pages.take_in(project, page("https://b.example", PageState.PAYWALL, cause="Only for subscribers."))
    cited = pages.cited_states(project)
    result = {page.url: page for page in cited.pages}
    never, kept = result["https://a.example/x"], result["https://b.example"]
    assert (never.state, never.claims, never.reports, never.fetched_at) == (None, 2, 1, None)
    assert (kept.state, kept.claims, kept.cause) == (PageState.PAYWALL, 1, "Only for subscribers.")
    (claim, _) = cited.citing["https://a.example/x"]
    assert (claim.text, claim.item, claim.system) == ("One.", "1", "Alpha")
    pages.take_in(project, page("https://a.example/x", PageState.OK, "Words."))
    for refresh in (False, True):
        here = pages.cited_states(project).plan(refresh=refresh)
        there = pages.plan(project, pages.FetchRequest(refresh=refresh))
        assert (here.words(), len(here.to_fetch)) == (there.words(), len(there.to_fetch))


@pytest.fixture
def writer() -> Iterator[OddServer]:
    with writing() as writer:
        yield writer


@pytest.fixture
def asking(tmp_path: Path, writer: OddServer) -> Project:
    made = asking_project(tmp_path)
    judges.add(made, "pen", base_url=writer.url, model="test-model")
    return made


def write(project: Project, **more: object) -> None:
    writer = judges.prepared(project, "Scribe", judges.WriterSettings("pen"))
    asyncio.run(
        responding.run(project, RunRequest(writer.name, responding.protocol_name(), ("Scribe",), **more))
    )  # type: ignore[arg-type]


def test_what_did_not_come_is_listed_with_its_cause_until_it_does(asking: Project, writer: OddServer) -> None:
    writer.answer = answering(lambda *_: error(400, "No."))
    write(asking, trials=2)
    lacking = responding.lacking(asking)
    assert [(one.item, one.trial) for one in lacking] == [("1", 1), ("1", 2), ("2", 1), ("2", 2)]
    assert {(one.system, one.status) for one in lacking} == {("Scribe", "api_error")}
    assert list(responding.by_cause(lacking).values()) == [4]
    writer.answer = answering(written)
    write(asking, items=("1",))
    assert [(one.item, one.trial) for one in responding.lacking(asking)] == [("1", 2), ("2", 1), ("2", 2)]


def test_the_replies_behind_what_was_drawn_are_found_again(project: Project, writer: OddServer) -> None:
    reply = json.dumps({"claims": [{"context": "", "text": "It explains.", "url": ""}]})
    writer.answer = lambda *_: completion(reply)
    judges.add(project, "reader", base_url=writer.url, model="test-model")
    asyncio.run(
        extracting.run(
            project, RunRequest("reader", "researcherbench.claims.extract", ("Alpha",), timeout_s=5.0)
        )
    )
    mine = [part for (_, response), part in extracts.standing_parts(project).items() if response]
    for drawn in mine:
        (reply,) = extracting.replies(project, drawn["claims"].extract_id)
        assert "It explains." in reply.call.raw
    assert len(mine) == 2
    # Behind what a person wrote there is none, and it is counted too.
    assert extracting.replies(project, write_plan(project, "Establish why depth hurts.")) == ()
    assert judge_runs.drawings_of(project, materials.reports(project)) == judge_runs.drawings(project)


URL = "https://example.org/paper"


def at_hand(
    project: Project, wanted: materials.MaterialRequest | None = None
) -> list[materials.MaterialAtHand]:
    return list(
        materials.each(
            project, wanted or materials.MaterialRequest((Kind.RUBRIC,)), materials.item_ids(project)
        )
    )


def test_items_come_with_what_they_are_judged_by(project: Project) -> None:
    (first, second), (light, _) = (
        at_hand(project),
        at_hand(project, materials.MaterialRequest((Kind.RUBRIC,), texts=False)),
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
    assert ([other.id for other in alpha.others], gamma.others) == ([beta.response.id], [])


def test_parts_come_with_their_ids_and_the_pages_that_they_cite(project: Project) -> None:
    cited = claims(("One.", f"{URL}/#results"), ("Two.", "https://example.org/never-fetched"), ("Three.", ""))
    drawn = keep(project, cited)
    for url in (URL, "https://example.org/of-others"):
        pages.take_in(project, page(url, PageState.OK, "It is so."))
    alpha = at_hand(project, materials.MaterialRequest((), pages=True))[0].responses[0]
    assert (alpha.part_ids, len(alpha.units(ResponsePart.CLAIMS))) == ({ResponsePart.CLAIMS: drawn}, 3)
    assert {url: page.state for url, page in alpha.pages.items()} == {URL: PageState.OK}
    assert at_hand(project)[0].responses[0].pages == {}


def test_an_item_by_itself_and_items_set_aside(project: Project, tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text("Depth helps.", "utf-8")
    items.add_source(project, items.ids(project)[0], tmp_path / "paper.txt")
    own = at_hand(project, materials.MaterialRequest((Kind.RUBRIC,), sources=True))[0].own
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


DRAWN_BY = by_judge("judge-1")


def plan(*steps: str) -> Plan:
    return Plan(units=tuple(Subtask(id=f"s{n}", text=text) for n, text in enumerate(steps)))


def keep_plan(project: Project, document: Plan | Claims, origin: str) -> str:
    return drawn_extracts.keep(project, subject(project), ResponsePart.PLAN, document, origin).subject


def write_plan(project: Project, *steps: str) -> str:
    return drawn_extracts.write(project, subject(project)[1], ResponsePart.PLAN, plan(*steps)).subject


def standing(project: Project) -> list[str]:
    return [
        unit.text
        for unit in drawn_extracts.parts_of(project, subject(project)[1])[ResponsePart.PLAN].document.units
    ]


def test_what_is_drawn_waits_until_it_is_confirmed(project: Project) -> None:
    extract_id = keep_plan(project, plan("Search."), DRAWN_BY)
    (result,) = drawn_extracts.all_of(project, subject(project)[1])
    assert (result.kind, result.origin, result.state, result.document) == (
        "plan", DRAWN_BY, ExtractState.PROPOSED, plan("Search."),
    )  # fmt: skip
    assert extracts.waiting(project) == {"plan": 1}
    items.change(project, subject(project)[0], retired=True)
    assert extracts.waiting(project) == {}
    history.undo(project)
    # Of two judges the later one stands, then the confirmed one.
    keep_plan(project, plan("Second."), by_judge("judge-2"))
    assert standing(project) == ["Second."]
    extracts.confirm(project, extract_id)
    assert standing(project) == ["Search."]
    (result, _) = drawn_extracts.all_of(project, subject(project)[1])
    assert (result.state, result.by) == (ExtractState.CONFIRMED, project.by)
    assert extracts.waiting(project) == {}


def test_a_persons_version_stands_before_an_imported_one_before_a_judges(project: Project) -> None:
    keep_plan(project, plan("Imported."), IMPORT)
    keep_plan(project, plan("Drawn."), DRAWN_BY)
    assert standing(project) == ["Imported."]
    write_plan(project, "Written.")
    assert standing(project) == ["Written."]
    assert [
        result.origin.split(":")[0] for result in drawn_extracts.all_of(project, subject(project)[1])
    ] == ["person", "import", "judge"]
    write_plan(project, "Written better.")
    history.undo(project)
    assert standing(project) == ["Written."]
    history.undo(project)
    assert standing(project) == ["Imported."]
    history.redo(project)
    assert (standing(project), checking.check(project).problems) == (["Written."], [])


def test_what_has_been_judged_by_is_not_taken_back(project: Project) -> None:
    item_id, response_id = subject(project)
    add_judgement(
        project,
        item_id=item_id,
        response_id=response_id,
        artifact_id=write_plan(project, "Written."),
        unit_id="s0",
        run_id=None,
    )
    expect_refusal("judged since", history.undo, project)


def test_a_part_has_one_version_of_each_origin(project: Project) -> None:
    expect_refusal("cannot be a Claims", keep_plan, project, claims(("x", "")), DRAWN_BY)
    expect_refusal(
        "the same id", keep_plan, project, Plan(units=(Subtask(id="s"), Subtask(id="s"))), DRAWN_BY
    )
    # What is drawn from an item is kept apart from its responses.
    item_id, insights = items.ids(project)[0], Insights(units=(Insight(text="Depth helps."),))
    drawn_extracts.keep(project, (item_id, ""), Kind.INSIGHTS, insights, DRAWN_BY)
    assert drawn_extracts.of_item(project, item_id)[Kind.INSIGHTS].document == insights
    assert drawn_extracts.parts_of(project, subject(project)[1]) == {}
    expect_refusal("no longer exists", extracts.confirm, project, "nothing")
    first = keep_plan(project, plan("First."), DRAWN_BY)
    assert keep_plan(project, plan("Second."), DRAWN_BY) == first
    assert standing(project) == ["Second."]
