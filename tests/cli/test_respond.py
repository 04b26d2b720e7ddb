"""Models that write from the command line: reports, drafts and related work, and that nothing is paid twice."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.cli.items import respond_app
from annotator.cli.ruling import drafting_app
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from tests.cli.commands import invoked, printed, refused, told
from tests.judging.odd_server import OddServer, completion, error
from tests.material import eprint_folder as made
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project
from tests.servers.drafting_server import (
    ADDED,
    FILED,
    JUDGE,
    REASON,
    SAID,
    drafting,
    drafting_project,
    first_item,
)
from tests.servers.research_server import (
    JUDGE as RESEARCHER,
    SYSTEM,
    research_project,
    researching,
    step_of,
    write_corpus,
)
from tests.servers.writing_server import QUESTIONS, answering, asking_project, writing, written
from tests.storage import sql


@pytest.fixture
def server() -> Iterator[OddServer]:
    with writing() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return asking_project(tmp_path).path


def words(file: Path, server: OddServer, *more: str) -> list[str]:
    return [str(file), "--system", "Scribe", "--base-url", server.url, "--model", "test-model", *more]


def run(*words: object) -> tuple[int, str]:
    return invoked(respond_app, *words)


def reports(file: Path) -> list[tuple[str, int]]:
    question = "SELECT i.key, r.trial FROM response r JOIN item i ON i.id = r.item_id ORDER BY 1, 2"
    return sql.rows(Project.open(file, readonly=True), question)


def test_what_was_written_and_what_failed_is_said(file: Path, server: OddServer) -> None:
    server.answer = answering(
        lambda question, _: error(400, "No.") if question == QUESTIONS[1] else written(question)
    )
    code, out = run(*words(file, server))
    assert (code, out.startswith("1 of 2 reports written (done")) == (3, True)
    assert "1 report failed. Run the same command again" in out
    assert "Item 2, trial 1: api error. The server answered 400: No." in out
    result = json.loads(run(*words(file, server, "--trials", "2", "--json"))[1])
    assert (result["done"], result["total"], result["missing"]) == (2, 4, {"api_error": 2})
    failed = [(one["item"], one["trial"], one["status"]) for one in result["failed"]]
    assert failed == [("2", trial, "api_error") for trial in (1, 2)]


def test_the_writer_of_last_time_goes_on_without_being_named(file: Path, server: OddServer) -> None:
    run(*words(file, server, "--item", "1"))
    done = json.loads(run(str(file), "--system", "Scribe", "--json")[1])["done"]
    assert (done, reports(file)) == (2, [("1", 1), ("2", 1)])


def test_modes_and_plans_are_chosen_by_option(file: Path, server: OddServer) -> None:
    run(*words(file, server, "--item", "1", "--mode", "gold-plan-injection"))
    run(*words(file, server, "--item", "1", "--plan"))
    assert len(server.bodies) == 3
    expect_refusal("the gold plan is given", run, *words(file, server, "--mode", "isolated", "--plan"))


def test_a_report_that_is_empty_is_asked_for_once_more(file: Path, server: OddServer) -> None:
    server.script(completion(""), written(QUESTIONS[0]))
    run(*words(file, server, "--item", "1"))
    assert "Write the whole report." in server.bodies[1]["messages"][-1]["content"]
    assert reports(file) == [("1", 1)]


def test_what_it_would_take_is_told_and_nobody_is_asked(file: Path, server: OddServer) -> None:
    judges.add(Project.open(file), "pen", base_url=server.url, model="test-model")
    asked = (file, "--system", "Scribe", "--judge", "pen", "--trials", "3", "--estimate", "--json")
    result = json.loads(run(*asked)[1])
    assert (result["units"], result["calls"], result["things"]) == (6, 6, "reports")
    assert (server.bodies, reports(file)) == ([], [])


def test_letter_11_reports_get_their_origin_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = small_project(tmp_path).path
    origin = ("--system", "Alpha", "--collected-on", "2025-03-24", "--settings", "defaults")
    assert printed(capsys, "responses", "set", file, *origin) == "2 responses changed.\n"
    group = ("--system", "Alpha", "--group", "deep research")
    assert printed(capsys, "systems", "set", file, *group) == "1 system changed.\n"
    assert told(capsys, "systems", "list", file)["systems"][0]["group"] == "deep research"
    collection = printed(capsys, "results", file, "--view", "collection", "--json")
    assert "2025-03-24/2025-03-24" in collection


@pytest.fixture
def insightful(tmp_path: Path) -> Iterator[Path]:
    """A project whose first item has insights, and a model that answers."""
    with drafting() as server:
        project = drafting_project(tmp_path, server)
        mine = Insights(units=(Insight(text="A block adds its input."),))
        artifacts.start(project, first_item(project), Kind.INSIGHTS, mine)
        yield project.path


def drafts(*words: str | Path) -> str:
    code, out = invoked(drafting_app, *words)
    assert code == 0, out
    return out


def asked(insightful: Path) -> dict[str, Any]:
    drafts("ask", insightful, "--judge", JUDGE, "--kind", "reference", "--item", "1", "--progress", "none")
    (draft,) = json.loads(drafts("list", insightful, "--json"))["drafts"]
    return dict(draft)


def beside(insightful: Path) -> list[str]:
    project = Project.open(insightful)
    return [source.text for source in items.sources(project, first_item(project))][1:]


def test_reference_material_is_listed_in_its_parts_and_taken_as_drafted(insightful: Path) -> None:
    draft = asked(insightful)
    assert draft["kind"] == "reference"
    assert [(one["text"], one["beyond"]) for one in draft["units"]] == [(SAID, False), (ADDED, True)]
    assert beside(insightful) == []
    assert "is now a source of the item" in drafts("take", insightful, draft["id"][:8])
    assert beside(insightful) == [f"## From the sources\n\n{SAID}\n\n## Beyond the sources\n\n{ADDED}"]


def test_it_is_taken_as_it_was_edited_in_files(insightful: Path, tmp_path: Path) -> None:
    for name, words in (("said.md", "在我的话里。\n"), ("beyond.md", "")):
        (tmp_path / name).write_text(words, "utf-8")
    draft = asked(insightful)["id"]
    drafts("take", insightful, draft, "--text", tmp_path / "said.md", "--beyond", tmp_path / "beyond.md")
    assert beside(insightful) == ["## From the sources\n\n在我的话里。"]


def test_drafts_are_taken_as_what_they_are(insightful: Path) -> None:
    expect_refusal("taken as a whole", drafts, "take", insightful, asked(insightful)["id"], "--unit", "1")
    drafts("ask", insightful, "--judge", JUDGE, "--kind", "rubric", "--item", "1", "--progress", "none")
    result = json.loads(drafts("list", insightful, "--json"))["drafts"]
    rubric = next(one["id"] for one in result if one["kind"] == "rubric")
    expect_refusal("Only reference material", drafts, "take", insightful, rubric, "--text", insightful)
    assert beside(insightful) == []
    expect_refusal(
        "“poem” is not a kind", drafts, "ask", insightful, "--judge", JUDGE, "--kind", "poem", "--item", "1"
    )


def test_letter_3_a_classification_is_listed_with_its_reason_and_taken_with_another_subject(
    insightful: Path,
) -> None:
    drafts(
        "ask", insightful, "--judge", JUDGE, "--kind", "classification", "--item", "1", "--progress", "none"
    )
    assert f"{FILED[0]}, {FILED[1]}: {REASON}" in drafts("list", insightful)
    (draft,) = json.loads(drafts("list", insightful, "--json"))["drafts"]
    expect_refusal("as a whole", drafts, "take", insightful, draft["id"], "--unit", "1")
    assert f"Item 1: {FILED[0]}, Networks." in drafts(
        "take", insightful, draft["id"], "--subject", "Networks"
    )
    assert "no open drafts" in drafts("list", insightful)


FIRST, SECOND = "2506.00001v1", "2506.00002v1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = made.folder(tmp_path / "papers", {FIRST: made.whole(), SECOND: b"%PDF-1.5"})
    made.works(place)
    return place


def test_papers_are_built_once_and_refusals_are_told(
    tmp_path: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "p.goldsmith")
    printed(capsys, "new", file)
    wanted = {"candidates": 2, "kept": 1, "items": 1, "references": 5, "works": 2}
    refused = [{"id": SECOND, "stage": "source", "reason": "Only a PDF was submitted, no LaTeX."}]
    for words in (["--dry-run"], []):
        result = told(capsys, "research", "build", file, str(place), *words)
        assert ({name: result[name] for name in wanted}, result["refused"]) == (wanted, refused)
        assert result["rules"]["least_references"] == 5
    result = told(capsys, "research", "build", file, str(place))
    assert (result["kept"], result["items"], result["references"], result["works"]) == (1, 0, 0, 0)
    said = printed(capsys, "research", "build", file, str(place))
    assert "2 candidates: 2 after filter, 1 after source" in said
    assert f"{SECOND}  source: Only a PDF was submitted" in said


def test_what_is_no_collected_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "p.goldsmith")
    printed(capsys, "new", file)
    assert "has no folder “feeds”" in refused(capsys, "research", "build", file, str(tmp_path))


def test_research_is_estimated_and_written_with_its_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = ("--keep", "3", "--corpus", write_corpus(tmp_path / "corpus"))
    with researching() as server:
        file = research_project(tmp_path, server.url).path
        words = ("research", "write", file, "--judge", RESEARCHER, "--system")
        estimate = printed(capsys, *words, SYSTEM, *corpus, "--estimate")
        assert re.match("1 report by at most .*The price of test-model is not known", estimate, re.DOTALL)
        assert server.bodies == []
        out = printed(capsys, *words, SYSTEM, *corpus)
        assert out.startswith("1 of 1 reports written (done")
        assert "Item 1, trial 1: works 9 found, 5 filtered, 3 given, 2 false numbers removed." in out
        assert "There is no oracle “best”" in refused(capsys, *words, "Given", "--oracle", "best")
        asked = len(server.bodies)
        printed(capsys, *words, "Given", "--oracle", "arxiv")
        assert [step_of(body) for body in server.bodies[asked:]] == ["section"]
    plain = ("research", "write", file, "--judge", "baseline", "--system", "Plain")
    assert told(capsys, *plain, *corpus)["written"][0]["works"]["given"] == 3
