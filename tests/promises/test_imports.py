"""What Goldsmith promises about files of other benchmarks."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project import incoming
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.cli import run_command
from tests.material.bundles import peer_files, write_peer

PEER = "researcherbench"


def new(folder: Path) -> Project:
    return Project.create(folder / "p.goldsmith")


Words = Callable[..., tuple[int, str]]


@pytest.fixture
def goldsmith(capsys: pytest.CaptureFixture[str]) -> Words:
    """The command line: its exit code, and what it said, in one line."""

    def run(*words: object) -> tuple[int, str]:
        capsys.readouterr()
        code = run_command([str(word) for word in words])
        return code, " ".join("".join(capsys.readouterr()).split())

    return run


def said(project: Project, folder: Path) -> incoming.ImportPreview:
    return imports.run(project, PEER, [folder], warm=False)[1]


def refused(goldsmith: Words, folder: Path, files: dict[str, Any] | None = None, **texts: str) -> str:
    """What the command line says of such files; nothing is taken in."""
    new(folder).close()
    write_peer(folder / "in", files)
    for name, text in texts.items():
        (folder / "in" / f"{name}.json").write_text(text, "utf-8")
    code, words = goldsmith("import", folder / "p.goldsmith", "--format", PEER, folder / "in")
    project = Project.open(folder / "p.goldsmith", readonly=True)
    assert (code, items.count(project)) == (1, 0)
    project.close()
    return words


def public(folder: Path, files: dict[str, Any]) -> Path:
    names = {"questions.json": "eval_data/questions.json", "rubric.json": "eval_data/rubrics.json"}
    return write_peer(
        folder,
        {names.get(path) or path.replace("responses", "user_data"): tree for path, tree in files.items()},
    )


def test_the_data_folder_of_the_public_repository_is_imported_by_its_name_alone(tmp_path: Path) -> None:
    files = peer_files() | {
        "responses/test.json": [{"id": 1, "question": "What is known?", "response": "test"}]
    }
    project = new(tmp_path)
    report = said(project, public(tmp_path / "data", files))
    counts = {name: count.new for name, count in report.counts.items() if count.new}
    assert counts == {"items": 2, "systems": 1, "responses": 2, "artifacts": 2}
    assert [str(note) for note in report.notes] == [
        "responses/test.json: is the layout's example and no system's file; it was left out"
    ]


def test_a_weight_between_two_is_refused_and_the_message_ends_once(tmp_path: Path, goldsmith: Words) -> None:
    files = peer_files()
    files["rubric.json"][0]["rubric"][0]["weight"] = 2.5
    words = refused(goldsmith, tmp_path, files)
    assert "rubric.json[0]" in words
    assert ".." not in words


def keys(project: Project) -> list[str]:
    return [line.key for line in items.lines(project, items.ids(project))]


def test_a_question_whose_key_is_taken_gets_a_free_one_and_keeps_its_number_in_the_benchmarks_files(
    tmp_path: Path,
) -> None:
    project, files = new(tmp_path), peer_files()
    items.add(project, "What did we ask ourselves?")
    later = {path: tree for path, tree in files.items() if path.startswith("responses/")}
    folder = write_peer(tmp_path / "in", {path: tree for path, tree in files.items() if path not in later})
    before, report = imports.preview(project, PEER, [folder]), said(project, folder)
    assert keys(project) == ["1", "3", "2"]
    told = ["questions.json[0]: the key 1 is taken; it becomes 3"]
    assert [[str(note) for note in each.notes] for each in (before, report)] == [told, told]
    again = said(project, folder)
    assert (str(again), again.problems) == ("nothing new", ())
    assert [str(note) for note in again.notes] == ["questions.json[0]: item 1 of the files is item 3 here"]
    # Responses that come later find it.
    report = said(project, write_peer(tmp_path / "later", later))
    assert (report.counts["responses"].new, report.problems) == (2, ())
    releases.export(project, tmp_path / "out", profile=PEER)
    asked = json.loads((tmp_path / "out" / "questions.json").read_text("utf-8"))
    own = json.loads((folder / "questions.json").read_text("utf-8"))
    assert [(each["id"], each["question"]) for each in asked[1:]] == [(e["id"], e["question"]) for e in own]
    assert asked[0]["id"] == 3
    (tmp_path / "copy").mkdir()
    copy = new(tmp_path / "copy")
    said(copy, tmp_path / "out")
    assert keys(copy) == keys(project)


def test_a_release_with_keys_that_are_taken_comes_in_under_free_ones(tmp_path: Path) -> None:
    project, other = new(tmp_path), Project.create(tmp_path / "other.goldsmith")
    for number in range(3):
        items.add(other, f"Their question {number}?")
    releases.export(other, tmp_path / "release")
    items.add(project, "What did we ask ourselves?")
    imports.run(project, "goldsmith", [tmp_path / "release"], warm=False)
    assert keys(project) == ["1", "4", "2", "3"]
    again = imports.run(project, "goldsmith", [tmp_path / "release"], warm=False)[1]
    assert (str(again), again.problems) == ("nothing new", ())
    releases.export(project, tmp_path / "ours")
    written = json.loads((tmp_path / "ours" / "items.json").read_text("utf-8"))
    assert [each["key"] for each in written] == keys(project)


@pytest.mark.parametrize("seed", range(8))
def test_no_two_items_are_called_the_same_in_whatever_order_they_come(tmp_path: Path, seed: int) -> None:
    other = Project.create(tmp_path / "other.goldsmith")
    for number in range(4):
        items.add(other, f"Their question {number}?")
    releases.export(other, tmp_path / "release")
    write_peer(tmp_path / "in")
    project, chance = new(tmp_path), random.Random(seed)
    steps = ["add", "add", "add", PEER, PEER, "goldsmith", "goldsmith"]
    chance.shuffle(steps)
    for step in steps:
        if step == "add":
            items.add(project, "What did we ask ourselves?")
        else:
            folder = tmp_path / ("in" if step == PEER else "release")
            imports.run(project, step, [folder], warm=False)
    assert len(set(keys(project))) == len(keys(project)) == 3 + 2 + 4
