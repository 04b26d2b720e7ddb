"""The commands on drafts, as far as reference material goes: asked for, listed, taken as edited, and not by unit."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.actions.authoring import artifacts
from annotator.actions.items import sources
from annotator.actions.project.file import Project
from annotator.cli.drafting import app
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import completion
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


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A project whose first item has insights, and a model that answers."""
    with drafting() as server:
        project = drafting_project(tmp_path, server)
        mine = Insights(units=(Insight(text="A block adds its input."),))
        artifacts.start(project, first_item(project), Kind.INSIGHTS, mine)
        project.close()
        yield project.path


def run(*words: str | Path) -> str:
    found = CliRunner().invoke(app, [str(word) for word in words])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == 0, found.output
    return found.output


def asked(file: Path) -> dict[str, Any]:
    run("ask", file, "--judge", JUDGE, "--kind", "reference", "--item", "1", "--progress", "none")
    (draft,) = json.loads(run("list", file, "--json"))["drafts"]
    return dict(draft)


def beside(file: Path) -> list[str]:
    project = Project.open(file)
    found = [one.text for one in sources.sources(project, first_item(project))][1:]
    project.close()
    return found


def test_reference_material_is_listed_in_its_parts_and_taken_as_drafted(file: Path) -> None:
    draft = asked(file)
    assert draft["kind"] == "reference"
    assert [(one["text"], one["beyond"]) for one in draft["units"]] == [(SAID, False), (ADDED, True)]
    assert beside(file) == []
    assert "is now a source of the item" in run("take", file, draft["id"][:8])
    assert beside(file) == [f"## From the sources\n\n{SAID}\n\n## Beyond the sources\n\n{ADDED}"]


def test_it_is_taken_as_it_was_edited_in_files(file: Path, tmp_path: Path) -> None:
    for name, words in (("said.md", "在我的话里。\n"), ("beyond.md", "")):
        (tmp_path / name).write_text(words, "utf-8")
    draft = asked(file)["id"]
    run("take", file, draft, "--text", tmp_path / "said.md", "--beyond", tmp_path / "beyond.md")
    assert beside(file) == ["## From the sources\n\n在我的话里。"]


def test_it_is_not_taken_by_unit_and_no_rubric_from_a_file(file: Path) -> None:
    reference = asked(file)["id"]
    with pytest.raises(Refusal, match="taken as a whole"):
        run("take", file, reference, "--unit", "1")
    run("ask", file, "--judge", JUDGE, "--kind", "rubric", "--item", "1", "--progress", "none")
    found = json.loads(run("list", file, "--json"))["drafts"]
    rubric = next(one["id"] for one in found if one["kind"] == "rubric")
    with pytest.raises(Refusal, match="Only reference material"):
        run("take", file, rubric, "--text", file)
    assert beside(file) == []


def test_a_kind_that_is_none_is_refused_with_those_that_are(file: Path) -> None:
    with pytest.raises(Refusal, match="“poem” is not a kind"):
        run("ask", file, "--judge", JUDGE, "--kind", "poem", "--item", "1")


def test_letter_3_a_classification_is_listed_with_its_reason_and_taken_with_another_subject(
    file: Path,
) -> None:
    run("ask", file, "--judge", JUDGE, "--kind", "classification", "--item", "1", "--progress", "none")
    assert f"{FILED[0]}, {FILED[1]}: {REASON}" in run("list", file)
    (draft,) = json.loads(run("list", file, "--json"))["drafts"]
    with pytest.raises(Refusal, match="as a whole"):
        run("take", file, draft["id"], "--unit", "1")
    assert f"Item 1: {FILED[0]}, Networks." in run("take", file, draft["id"], "--subject", "Networks")
    assert "no open drafts" in run("list", file)


def in_json(*words: str | Path) -> Any:
    """What a command says in JSON, whatever its exit code."""
    return json.loads(CliRunner().invoke(app, [*map(str, words), "--json"]).stdout)


@pytest.mark.parametrize(("kind", "least"), [("rubric", 1), ("inspirations", 7)])
def test_an_estimate_is_what_the_run_asks_and_open_drafts_are_not_counted(
    tmp_path: Path, kind: str, least: int
) -> None:
    with drafting() as server:
        draft, words = server.answer, ("--judge", JUDGE, "--item", "1", "--item", "2", "--piece-words", "100")
        server.answer = lambda body, number: (
            completion('{"inspirations": []}') if kind == "inspirations" else draft(body, number)
        )
        project = drafting_project(tmp_path, server)
        (tmp_path / "long.md").write_text(
            "\n\n".join(["Deep networks train well, and learn."] * 100), "utf-8"
        )
        sources.add_source(project, first_item(project), tmp_path / "long.md")
        project.close()
        asking = ("ask", project.path, "--kind", kind, *words)
        wanted, ended = (in_json(*asking, *more) for more in (("--estimate",), ("--progress", "none")))
        assert wanted["calls"] == ended["calls"] == len(server.bodies) >= least
        assert (wanted["units"], ended["total"], ended["failed"][0]["item"]) == (1, 2, "2")
        again = in_json(*asking, "--progress", "none")
        open_ = ["1"] if kind == "rubric" else []
        assert (again["judged"], again["total"], again["waiting"]) == (0, 2 - len(open_), open_)
