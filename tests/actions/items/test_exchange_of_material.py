"""What scores are computed from leaves with a release and comes back: drawn parts, cited pages, prompts."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items, page_fetching, pages
from annotator.actions.items.extracts import NewExtract
from annotator.actions.judges import judges, prompts
from annotator.actions.judging import judge_runs
from annotator.actions.material import part_edits
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import by_judge, for_person
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.part import Claim, Claims, ResponsePart
from annotator.domain.texts.canonical import sha256
from annotator.exchange.release import release
from tests.judging.odd_server import OddServer
from tests.material import drawn_extracts
from tests.material.bundles import change_json, without_manifest
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


def subjects(project: Project) -> list[tuple[str, str]]:
    found = sql.rows(project, "SELECT item_id, id FROM response ORDER BY rowid")
    return [(item_id, response_id) for item_id, response_id in found]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Two claims of each report, one of them corrected by a person; two cited pages; judged by the baseline."""
    made = small_project(tmp_path)
    units = (Claim(id="c0", text=TEXT, url=READ), Claim(id="c1", text="Depth hurts.", url=DEAD))
    judges.kept(made, judges.BASELINE)
    for subject in subjects(made):
        drawn = NewExtract(*subject, ResponsePart.CLAIMS, Claims(units=units), by_judge(judges.BASELINE.id))
        drawn_extracts.keep(made, drawn)
    part_edits.change_unit(
        made, subjects(made)[0], ResponsePart.CLAIMS, "c1", text="Depth hurts plain networks."
    )
    pages.take_in(made, page(READ, PageState.OK, TEXT))
    pages.take_in(made, page(DEAD, PageState.DEAD))
    asyncio.run(judge_runs.run(made, RunRequest("baseline", CLAIMS)))
    yield made
    made.close()


@pytest.fixture
def taken(project: Project, tmp_path: Path) -> Iterator[Project]:
    """An empty project that took the release in."""
    releases.export(project, tmp_path / "out", page_texts=True)
    with empty(tmp_path) as made:
        imports.run(made, "goldsmith", [tmp_path / "out"], warm=False)
        yield made


def empty(folder: Path) -> Any:
    return closing(Project.create(folder / "taken.goldsmith", "small"))


def page_texts(folder: Path) -> dict[str, str]:
    return {one["url"]: one["text"] for one in json.loads((folder / "pages.json").read_text("utf-8"))}


def scores(project: Project) -> list[tuple[Any, ...]]:
    rows = results.rows(project, judges.BASELINE.id, CLAIMS)
    return [(row.metric, row.system, row.group, row.estimate.value, row.estimate.missing) for row in rows]


def test_scores_of_what_was_drawn_can_be_computed_again(project: Project, taken: Project) -> None:
    assert scores(project)
    assert scores(taken) == scores(project)
    assert checking.check(taken).problems == []


def test_a_persons_correction_stands_after_the_journey(project: Project, taken: Project) -> None:
    for subject in subjects(project):
        here, there = (
            drawn_extracts.parts_of(one, subject[1])[ResponsePart.CLAIMS] for one in (project, taken)
        )
        assert (there.document, there.origin, there.state) == (here.document, here.origin, here.state)


def test_pages_come_back_as_judges_read_them(taken: Project) -> None:
    read, dead = pages.page(taken, READ), pages.page(taken, DEAD)
    assert read is not None
    assert dead is not None
    assert (read.state, read.text, read.fetched_at.year) == (PageState.OK, TEXT, 2026)
    assert (dead.state, dead.cause) == (PageState.DEAD, "Gone.")


def test_a_second_import_brings_nothing_new(taken: Project, tmp_path: Path) -> None:
    assert str(imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"


def test_the_same_content_leaves_as_the_same_files(project: Project, taken: Project, tmp_path: Path) -> None:
    releases.export(taken, tmp_path / "again", page_texts=True)
    for name in ("extracts.json", "pages.json", "judgements.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_a_page_that_nothing_cites_and_a_draft_for_one_person_stay(project: Project) -> None:
    pages.take_in(project, page("https://c.example/z", PageState.OK, "Uncited."))
    document = Insights(units=(Insight(text="Theirs alone."),))
    origin = for_person(judges.BASELINE.id, project.by, 1)
    drawn_extracts.keep(project, NewExtract(items.ids(project)[0], "", Kind.INSIGHTS, document, origin))
    bundle, _ = releases.gather(project)
    assert {one.url for one in bundle.pages} == {READ, DEAD}
    assert {one.kind for one in bundle.extracts} == {"claims"}


def test_a_pages_text_stays_and_all_else_of_it_leaves(project: Project, tmp_path: Path) -> None:
    releases.export(project, tmp_path / "bare")
    assert page_texts(tmp_path / "bare") == {READ: "", DEAD: ""}
    (read,) = [
        one for one in json.loads((tmp_path / "bare" / "pages.json").read_text("utf-8")) if one["url"] == READ
    ]
    assert (read["title"], read["state"], read["sha256"]) == ("A study", "ok", sha256(TEXT))
    assert read["fetched_at"].startswith("2026-01-31")
    assert TEXT not in (tmp_path / "bare" / "data_card.md").read_text("utf-8")


def test_the_data_card_says_whether_the_texts_are_included(project: Project, tmp_path: Path) -> None:
    releases.export(project, tmp_path / "bare")
    releases.export(project, tmp_path / "whole", page_texts=True)
    bare, whole = ((tmp_path / name / "data_card.md").read_text("utf-8") for name in ("bare", "whole"))
    assert "2 cited pages" in bare
    assert "Their texts are not included" in bare
    assert "The texts of 1 of these are included" in whole


@pytest.fixture
def bare(project: Project, tmp_path: Path) -> Iterator[Project]:
    """An empty project that took the release without texts in."""
    releases.export(project, tmp_path / "bare")
    with empty(tmp_path) as made:
        imports.run(made, "goldsmith", [tmp_path / "bare"], warm=False)
        yield made


def test_without_texts_scores_are_computed_again_and_the_release_again_the_same(
    project: Project, bare: Project, tmp_path: Path
) -> None:
    assert scores(bare) == scores(project)
    assert checking.check(bare).problems == []
    assert str(imports.run(bare, "goldsmith", [tmp_path / "bare"], warm=False)[1]) == "nothing new"
    releases.export(bare, tmp_path / "again")
    for name in ("pages.json", "data_card.md"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "bare" / name).read_bytes()


def test_a_page_without_text_takes_no_text_away(taken: Project, project: Project, tmp_path: Path) -> None:
    releases.export(project, tmp_path / "bare")
    assert str(imports.run(taken, "goldsmith", [tmp_path / "bare"], warm=False)[1]) == "nothing new"
    assert pages.take_in(taken, page(READ, PageState.OK)) is None
    assert pages.page(taken, READ).text == TEXT  # type: ignore[union-attr]


def test_texts_that_come_later_are_filled_in(bare: Project, project: Project, tmp_path: Path) -> None:
    releases.export(project, tmp_path / "whole", page_texts=True)
    assert str(imports.run(bare, "goldsmith", [tmp_path / "whole"], warm=False)[1]) == "1 pages"
    assert pages.page(bare, READ).text == TEXT  # type: ignore[union-attr]
    assert checking.check(bare).problems == []


def test_a_page_whose_text_is_elsewhere_is_fetched_and_not_guessed_at(bare: Project) -> None:
    assert page_fetching.plan(bare, page_fetching.FetchRequest()).to_fetch == (READ, DEAD)
    sql.alter(bare, "DELETE FROM judgement")
    asyncio.run(judge_runs.run(bare, RunRequest("baseline", CLAIMS)))
    found = sql.rows(bare, "SELECT DISTINCT value, status, cause FROM judgement WHERE unit_id = 'c0'")
    assert [tuple(row) for row in found] == [
        (None, "skipped", "Its text is not in this project; fetch the page first.")
    ]


def test_without_any_of_it_a_release_has_no_such_files(tmp_path: Path) -> None:
    with closing(small_project(tmp_path)) as plain:
        releases.export(plain, tmp_path / "plain")
    assert not {"extracts.json", "pages.json", "prompts.json"} & {
        one.name for one in (tmp_path / "plain").iterdir()
    }


def test_cells_of_a_plan_matrix_leave_with_their_plans(tmp_path: Path) -> None:
    with closing(small_project(tmp_path)) as project:
        item_id, response_id = subjects(project)[0]
        gold = Plan(units=(Subtask(id="g1", text="Establish why depth hurts."),))
        submitting.seal(project, artifacts.start(project, item_id, Kind.PLAN, gold).subject)
        own = Plan(units=(Subtask(id="p1", text="Find why depth hurts."),))
        drawn_extracts.write(project, response_id, ResponsePart.PLAN, own)
        asyncio.run(judge_runs.run(project, RunRequest("baseline", "adra.plan")))
        bundle, notes = releases.gather(project)
    assert [record.unit_id for record in bundle.judgements] == ["p1~g1"]
    assert notes == []


# Prompts


def test_the_wording_that_judges_were_asked_by_comes_back(
    project: Project, server: OddServer, tmp_path: Path
) -> None:
    add_judge(project, server)
    name = "researcherbench.coverage"
    prompts.write(project, name, prompts.shipped(name).replace("# user", "Be strict.\n\n# user"), "stricter")
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    releases.export(project, tmp_path / "out")
    with closing(Project.create(tmp_path / "taken.goldsmith", "small")) as taken:
        imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)
        assert prompts.in_force(taken, name).text == prompts.in_force(project, name).text
        assert prompts.in_force(taken, name).note == "stricter"
        assert str(imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"
    names = [one["name"] for one in json.loads((tmp_path / "out" / "prompts.json").read_text("utf-8"))]
    assert name in names


# What is not what it says


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
    project: Project, tmp_path: Path, name: str, change: Callable[[Any], None], said: str
) -> None:
    releases.export(project, tmp_path / "out")
    folder = without_manifest(tmp_path / "out")
    change_json(folder / name, change)
    with closing(Project.create(tmp_path / "taken.goldsmith", "small")) as taken:
        report = imports.preview(taken, "goldsmith", [folder])
    assert any(said in str(problem) for problem in report.problems)
    assert release.read([folder])[0].items
