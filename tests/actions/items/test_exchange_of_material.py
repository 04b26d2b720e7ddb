"""What scores are computed from leaves with a release and comes back; named rubric sets too."""

import asyncio
import json
from collections.abc import Callable, Iterator
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
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql

READ, DEAD = "https://a.example/x", "https://b.example/y"
TEXT = "Residual connections let gradients pass through deep networks."
CLAIMS = "researcherbench.claims"


def page(url: str, state: PageState, text: str = "") -> Page:
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    return Page(
        url=url, state=state, text=text, title="A study", cause="" if text else "Gone.", fetched_at=moment
    )


def subjects(cited: Project) -> list[tuple[str, str]]:
    result = sql.rows(cited, "SELECT item_id, id FROM response ORDER BY rowid")
    return [(item_id, response_id) for item_id, response_id in result]


@pytest.fixture
def cited(tmp_path: Path) -> Project:
    """Two claims of each report, one of them corrected by a person; two cited pages; judged by the baseline."""
    made = small_project(tmp_path)
    units = (Claim(id="c0", text=TEXT, url=READ), Claim(id="c1", text="Depth hurts.", url=DEAD))
    judges.kept(made, judges.BASELINE)
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


@pytest.fixture
def taken(cited: Project, tmp_path: Path) -> Iterator[Project]:
    """An empty project that took the release in."""
    releases.export(cited, tmp_path / "out", page_texts=True)
    with empty(tmp_path) as made:
        imports.run(made, "goldsmith", [tmp_path / "out"], warm=False)
        yield made


def empty(folder: Path) -> Any:
    return closing(Project.create(folder / "taken.goldsmith", "small"))


def page_texts(folder: Path) -> dict[str, str]:
    return {load["url"]: load["text"] for load in json.loads((folder / "pages.json").read_text("utf-8"))}


def scores(cited: Project) -> list[tuple[Any, ...]]:
    rows = results.rows(cited, judges.BASELINE.id, CLAIMS)
    return [(row.metric, row.system, row.group, row.estimate.value, row.estimate.missing) for row in rows]


def test_a_release_of_material_comes_back_once_with_its_scores(
    cited: Project, taken: Project, tmp_path: Path
) -> None:
    assert scores(cited)
    assert scores(taken) == scores(cited)
    assert checking.check(taken).problems == []
    for subject in subjects(cited):
        here, there = (
            drawn_extracts.parts_of(one, subject[1])[ResponsePart.CLAIMS] for one in (cited, taken)
        )
        assert (there.document, there.origin, there.state) == (here.document, here.origin, here.state)
    read, dead = pages.page(taken, READ), pages.page(taken, DEAD)
    assert (read.state, read.text, read.fetched_at.year) == (PageState.OK, TEXT, 2026)
    assert (dead.state, dead.cause) == (PageState.DEAD, "Gone.")
    assert str(imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"


def test_the_same_content_leaves_as_the_same_files(cited: Project, taken: Project, tmp_path: Path) -> None:
    releases.export(taken, tmp_path / "again", page_texts=True)
    for name in ("extracts.json", "pages.json", "judgements.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_page_texts_stay_unless_asked_for(cited: Project, tmp_path: Path) -> None:
    releases.export(cited, tmp_path / "bare")
    assert page_texts(tmp_path / "bare") == {READ: "", DEAD: ""}
    (read,) = [
        load
        for load in json.loads((tmp_path / "bare" / "pages.json").read_text("utf-8"))
        if load["url"] == READ
    ]
    assert (read["title"], read["state"], read["sha256"]) == ("A study", "ok", sha256(TEXT))
    assert read["fetched_at"].startswith("2026-01-31")
    assert TEXT not in (tmp_path / "bare" / "README.md").read_text("utf-8")
    releases.export(cited, tmp_path / "whole", page_texts=True)
    bare, whole = ((tmp_path / name / "README.md").read_text("utf-8") for name in ("bare", "whole"))
    assert "2 cited pages" in bare
    assert "Their texts are not included" in bare
    assert "The texts of 1 of these are included" in whole
    pages.take_in(cited, page("https://c.example/z", PageState.OK, "Uncited."))
    document = Insights(units=(Insight(text="Theirs alone."),))
    origin = for_person(judges.BASELINE.id, cited.by, 1)
    drawn_extracts.keep(cited, NewExtract(items.ids(cited)[0], "", Kind.INSIGHTS, document, origin))
    bundle, _ = releases.gather(cited)
    assert {one.url for one in bundle.pages} == {READ, DEAD}
    assert {extract.kind for extract in bundle.extracts} == {"claims"}


@pytest.fixture
def bare(cited: Project, tmp_path: Path) -> Iterator[Project]:
    """An empty project that took the release without texts in."""
    releases.export(cited, tmp_path / "bare")
    with empty(tmp_path) as made:
        imports.run(made, "goldsmith", [tmp_path / "bare"], warm=False)
        yield made


def test_without_texts_scores_are_computed_again_and_the_release_again_the_same(
    cited: Project, bare: Project, tmp_path: Path
) -> None:
    assert scores(bare) == scores(cited)
    assert checking.check(bare).problems == []
    assert str(imports.run(bare, "goldsmith", [tmp_path / "bare"], warm=False)[1]) == "nothing new"
    releases.export(bare, tmp_path / "again")
    for name in ("pages.json", "README.md"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "bare" / name).read_bytes()


def test_a_page_without_text_takes_no_text_away(taken: Project, cited: Project, tmp_path: Path) -> None:
    releases.export(cited, tmp_path / "bare")
    assert str(imports.run(taken, "goldsmith", [tmp_path / "bare"], warm=False)[1]) == "nothing new"
    assert pages.take_in(taken, page(READ, PageState.OK)) is None
    assert pages.page(taken, READ).text == TEXT  # type: ignore[union-attr]


def test_texts_that_come_later_are_filled_in(bare: Project, cited: Project, tmp_path: Path) -> None:
    releases.export(cited, tmp_path / "whole", page_texts=True)
    assert str(imports.run(bare, "goldsmith", [tmp_path / "whole"], warm=False)[1]) == "1 pages"
    assert pages.page(bare, READ).text == TEXT  # type: ignore[union-attr]
    assert checking.check(bare).problems == []


def test_a_page_whose_text_is_elsewhere_is_fetched_and_not_guessed_at(bare: Project) -> None:
    assert pages.plan(bare, pages.FetchRequest()).to_fetch == (READ, DEAD)
    sql.alter(bare, "DELETE FROM judgement")
    asyncio.run(judge_runs.run(bare, RunRequest("baseline", CLAIMS)))
    result = sql.rows(bare, "SELECT DISTINCT value, status, cause FROM judgement WHERE unit_id = 'c0'")
    assert [tuple(row) for row in result] == [
        (None, "skipped", "Its text is not in this project; fetch the page first.")
    ]


def test_without_any_of_it_a_release_has_no_such_files(tmp_path: Path) -> None:
    with closing(small_project(tmp_path)) as plain:
        releases.export(plain, tmp_path / "plain")
    assert not {"extracts.json", "pages.json", "prompts.json"} & {
        one.name for one in (tmp_path / "plain").iterdir()
    }


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
    cited: Project, server: OddServer, tmp_path: Path
) -> None:
    add_judge(cited, server)
    name = "researcherbench.coverage"
    prompts.write(cited, name, prompts.shipped(name).replace("# user", "Be strict.\n\n# user"), "stricter")
    asyncio.run(judge_runs.run(cited, RunRequest(JUDGE)))
    releases.export(cited, tmp_path / "out")
    with closing(Project.create(tmp_path / "taken.goldsmith", "small")) as taken:
        imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)
        assert prompts.in_force(taken, name).text == prompts.in_force(cited, name).text
        assert prompts.in_force(taken, name).note == "stricter"
        assert str(imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"
    names = [load["name"] for load in json.loads((tmp_path / "out" / "prompts.json").read_text("utf-8"))]
    assert name in names


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
    cited: Project, tmp_path: Path, name: str, change: Callable[[Any], None], said: str
) -> None:
    releases.export(cited, tmp_path / "out")
    folder = without_manifest(tmp_path / "out")
    change_json(folder / name, change)
    with closing(Project.create(tmp_path / "taken.goldsmith", "small")) as taken:
        report = imports.preview(taken, "goldsmith", [folder])
    assert any(said in str(problem) for problem in report.problems)
    assert release.read([folder])[0].items


LAX = {"1": Rubric(units=(Criterion(text="Is a report", weight=1), Criterion(text="Is a report", weight=3)))}


def asked(project: Project) -> list[list[str]]:
    wanted = materials.for_judging(PROTOCOLS["researcherbench.coverage"])
    result = materials.each(project, wanted, materials.item_ids(project))
    return [[unit.text for unit in one.own.units(Kind.RUBRIC)] for one in result]


def test_a_criterion_keeps_its_id_as_long_as_its_words_stay(project: Project) -> None:
    rubric_views.keep_set(project, "lax", LAX)
    first = [unit.id for unit in rubric_views.named_sets(project)["lax"]["1"].units]
    assert len(set(first)) == 2
    changed = Rubric(units=(*LAX["1"].units[:1], Criterion(text="Is long", weight=2)))
    rubric_views.keep_set(project, "lax", {"1": changed})
    second = [unit.id for unit in rubric_views.named_sets(project)["lax"]["1"].units]
    assert [one in first for one in second] == [True, False]


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


def test_a_release_carries_the_sets_and_scores_by_the_experts_rubrics(
    project: Project, tmp_path: Path
) -> None:
    rubric_views.keep(project, "as it was", "settled")
    releases.export(project, tmp_path / "one")
    rubric_views.use(project, "as it was")
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)
    assert rubric_views.named_sets(other) == rubric_views.named_sets(project)
    releases.export(other, tmp_path / "two")
    assert "extracts.json" in sorted(path.name for path in (tmp_path / "one").rglob("*") if path.is_file())
    for path in (tmp_path / "one").rglob("*.json"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


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
    (unit,) = rubric_views.named_sets(project)["weighed"]["1"].units
    assert (unit.text, unit.weight) == ("=Is, a “report”", 3)
    assert [one.weight for one in rubric_views.named_sets(project)["lax"]["1"].units] == [1]
    assert run_command(["rubrics", "write", file, "none", "--to", str(path)]) == 1
    path.write_text("item,criterion,weight\n1,Is a report,much\n", "utf-8")
    assert "“much” is no weight" in refused(capsys, "rubrics", "keep", file, "weighed", "--from", str(path))
