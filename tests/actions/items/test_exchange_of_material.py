"""What scores are computed from leaves with a release and comes back; named rubric sets too."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items, materials, pages
from annotator.actions.items.extracts import NewExtract
from annotator.actions.judges import judges, prompts
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import rubric_views
from annotator.actions.undo import history
from annotator.cli import run_command
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import by_judge, for_person
from annotator.domain.material.item import Page, PageState
from annotator.domain.material.part import Claim, Claims, ResponsePart
from annotator.domain.texts.canonical import sha256
from annotator.exchange.release import release
from annotator.protocols import PROTOCOLS
from tests.cli.commands import refused
from tests.judging.odd_server import OddServer
from tests.material import drawn_extracts
from tests.material.bundles import change_json, without_manifest
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql

READ, DEAD = "https://a.example/x", "https://b.example/y"
TEXT = "Residual connections let gradients pass through deep networks."
CLAIMS = "researcherbench.claims"


def page(url: str, state: PageState, text: str = "") -> Page:
    moment, cause = datetime(2026, 1, 31, tzinfo=UTC), "" if text else "Gone."
    return Page(url=url, state=state, text=text, title="A study", cause=cause, fetched_at=moment)


def subjects(cited: Project) -> list[tuple[str, str]]:
    return sql.rows(cited, "SELECT item_id, id FROM response ORDER BY rowid")


@pytest.fixture
def cited(tmp_path: Path) -> Project:
    """Two claims of each report, one of them corrected by a person; two cited pages; judged by the baseline."""
    made = small_project(tmp_path)
    units = (Claim(id="c0", text=TEXT, url=READ), Claim(id="c1", text="Depth hurts.", url=DEAD))
    judges.stored(made, judges.BASELINE)
    for subject in subjects(made):
        drawn = NewExtract(*subject, ResponsePart.CLAIMS, Claims(units=units), by_judge(judges.BASELINE.id))
        drawn_extracts.keep(made, drawn)
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
    """What the import of a release says."""
    return str(imports.run(project, "goldsmith", [folder], warm=False)[1])


@pytest.fixture
def taken(tmp_path: Path) -> Iterator[Project]:
    """An empty project that takes releases in."""
    with closing(Project.create(tmp_path / "taken.goldsmith", "small")) as made:
        yield made


def scores(cited: Project) -> list[tuple[Any, ...]]:
    rows = results.rows(cited, judges.BASELINE.id, CLAIMS)
    return [(row.metric, row.system, row.group, row.estimate.value, row.estimate.missing) for row in rows]


def test_a_release_of_material_comes_back_once_with_its_scores(
    cited: Project, taken: Project, tmp_path: Path
) -> None:
    out, bare = released(cited, tmp_path / "out", page_texts=True), released(cited, tmp_path / "bare")
    take(taken, out)
    assert scores(cited)
    assert scores(taken) == scores(cited)
    assert checking.check(taken).problems == []
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
    assert TEXT not in card
    assert "2 cited pages" in card
    assert "Their texts are not included" in card
    assert "The texts of 1 of these are included" in other
    # What nobody cites, and what was drawn for one person, stays.
    pages.take_in(cited, page("https://c.example/z", PageState.OK, "Uncited."))
    document, origin = (
        Insights(units=(Insight(text="Theirs alone."),)),
        for_person(judges.BASELINE.id, cited.by, 1),
    )
    drawn_extracts.keep(cited, NewExtract(items.ids(cited)[0], "", Kind.INSIGHTS, document, origin))
    bundle, _ = releases.gather(cited)
    assert {one.url for one in bundle.pages} == {READ, DEAD}
    assert {extract.kind for extract in bundle.extracts} == {"claims"}


def test_without_texts_scores_are_the_same_and_texts_that_come_later_are_filled_in(
    cited: Project, taken: Project, tmp_path: Path
) -> None:
    bare, whole = released(cited, tmp_path / "bare"), released(cited, tmp_path / "whole", page_texts=True)
    take(taken, bare)
    assert scores(taken) == scores(cited)
    assert checking.check(taken).problems == []
    assert take(taken, bare) == "nothing new"
    again = released(taken, tmp_path / "again")
    for name in ("pages.json", "README.md"):
        assert (again / name).read_bytes() == (bare / name).read_bytes()
    assert take(taken, whole) == "1 page"
    assert pages.page(taken, READ).text == TEXT
    assert checking.check(taken).problems == []


def test_a_page_whose_text_is_elsewhere_is_fetched_and_not_guessed_at(
    cited: Project, taken: Project, tmp_path: Path
) -> None:
    take(taken, released(cited, tmp_path / "bare"))
    assert pages.plan(taken, pages.FetchRequest()).to_fetch == (READ, DEAD)
    sql.alter(taken, "DELETE FROM judgement")
    asyncio.run(judge_runs.run(taken, RunRequest("baseline", CLAIMS)))
    result = sql.rows(taken, "SELECT DISTINCT value, status, cause FROM judgement WHERE unit_id = 'c0'")
    assert result == [(None, "skipped", "Its text is not in this project; fetch the page first.")]


def test_without_any_of_it_a_release_has_no_such_files(project: Project, tmp_path: Path) -> None:
    files = {path.name for path in released(project, tmp_path / "plain").iterdir()}
    assert not {"extracts.json", "pages.json", "prompts.json"} & files


def test_cells_of_a_plan_matrix_leave_with_their_plans(tmp_path: Path) -> None:
    with closing(small_project(tmp_path)) as cited:
        item_id, response_id = subjects(cited)[0]
        gold = Plan(units=(Subtask(id="g1", text="Establish why depth hurts."),))
        assignments.seal(cited, artifacts.start(cited, item_id, Kind.PLAN, gold).subject)
        own = Plan(units=(Subtask(id="p1", text="Find why depth hurts."),))
        drawn_extracts.write(cited, response_id, ResponsePart.PLAN, own)
        asyncio.run(judge_runs.run(cited, RunRequest("baseline", "adra.plan")))
        bundle, notes = releases.gather(cited)
    assert [record.unit_id for record in bundle.judgements] == ["p1~g1"]
    assert notes == []


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


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("pages.json", lambda tree: tree[0].update(text="Other words."), "not the one its checksum"),
        ("pages.json", lambda tree: tree[0].update(sha256="none"), "checksum of the text that stayed"),
        ("extracts.json", lambda tree: tree[0].update(response_id=""), "which response"),
        ("extracts.json", lambda tree: tree[0]["document"]["units"][0].update(text="Other."), "its checksum"),
        ("extracts.json", lambda tree: tree[0].update(item_id="elsewhere"), "was not imported"),
    ],
)
def test_what_was_altered_is_not_taken_in(
    cited: Project, taken: Project, tmp_path: Path, name: str, change: Callable[[Any], None], said: str
) -> None:
    folder = without_manifest(released(cited, tmp_path / "out"))
    change_json(folder / name, change)
    assert any(said in str(problem) for problem in imports.preview(taken, "goldsmith", [folder]).problems)
    assert release.read([folder])[0].items


LAX = {"1": Rubric(units=(Criterion(text="Is a report", weight=1), Criterion(text="Is a report", weight=3)))}


def asked(project: Project) -> list[list[str]]:
    wanted = materials.for_judging(PROTOCOLS["researcherbench.coverage"])
    result = materials.each(project, wanted, materials.item_ids(project))
    return [[unit.text for unit in one.own.units(Kind.RUBRIC)] for one in result]


def test_rubric_sets_are_kept_and_used_until_undone(project: Project) -> None:
    for name, rubrics in (("", LAX), ("settled", LAX), ("a:b", LAX), ("x", {"9": LAX["1"]})):
        expect_refusal("", rubric_views.keep_set, project, name, rubrics)
    odd = {"1": Rubric(units=(Criterion(text="Is a report", weight=7),))}
    expect_refusal("weight 7", rubric_views.keep_set, project, "odd", odd)
    expect_refusal("There is no rubric set “odd”", rubric_views.use, project, "odd")
    assert rubric_views.named_sets(project) == {}
    before = asked(project)
    rubric_views.keep_set(project, "lax", LAX)
    assert asked(project) == before
    rubric_views.use(project, "lax")
    # An item that the set lacks is judged by nothing.
    assert asked(project) == [["Is a report", "Is a report"], []]
    history.undo(project)
    assert asked(project) == before
    assert checking.check(project).problems == []
    # A criterion keeps its id as long as its words stay.
    first = units_of_set(project, "lax")
    assert first[0].id != first[1].id
    changed = Rubric(units=(*LAX["1"].units[:1], Criterion(text="Is long", weight=2)))
    rubric_views.keep_set(project, "lax", {"1": changed})
    same, new = units_of_set(project, "lax")
    assert same.id in {unit.id for unit in first}
    assert new.id not in {unit.id for unit in first}


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
