"""Test items that leave a project encrypted, or not at all."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.agreement import final_pass
from annotator.actions.imports import imports, samples
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.cli import run_command
from annotator.domain.experts.publication import SplitAccess
from annotator.exchange.release import encryption
from tests.cli.commands import refused, told
from tests.material.bundles import found, tree
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project
from tests.promises.test_releases import without_inspect

# What says that the texts are encrypted, and how they are decoded.
TOLD = {"README.md", "SHA256SUMS"}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample project with an encrypted and a plain release of the same number."""
    folder = tmp_path_factory.mktemp("encrypted")
    samples.create(folder / "one.goldsmith", to_work_in=False).close()
    shutil.copy(folder / "one.goldsmith", folder / "other.goldsmith")
    for name, access in (("one", SplitAccess.ENCRYPTED), ("other", SplitAccess.AS_IS)):
        project = Project.open(folder / f"{name}.goldsmith")
        releases.export(project, folder / access.value, test_items=access)
        project.close()
    return folder


def test_the_decoder_in_the_folder_gives_the_plain_release_byte_for_byte(
    sample: Path, tmp_path: Path
) -> None:
    # Without this project's packages.
    run = [sys.executable, "-I", sample / "encrypted" / "decode.py", tmp_path / "decoded"]
    subprocess.run(run, check=True, capture_output=True)
    decoded, plain = found(tmp_path / "decoded"), found(sample / "as-is")
    assert {path for path in decoded | plain if decoded.get(path) != plain.get(path)} == TOLD
    sums = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=tmp_path / "decoded", check=False)
    assert sums.returncode == 0
    again = subprocess.run(run, check=False, capture_output=True, encoding="utf-8")
    assert (again.returncode, "is there already" in again.stderr) == (1, True)


def test_an_encrypted_release_leaks_nothing_and_comes_back_whole(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project.open(sample / "other.goldsmith")
    plain = checking.find_copies(project, [sample / "as-is"])
    assert len(plain.copies) == plain.texts - plain.short > 100
    # They are found in what is encrypted, too; in the texts as they lie there are none.
    assert len(checking.find_copies(project, [sample / "encrypted"]).copies) == len(plain.copies)
    with monkeypatch.context() as without:
        without.setattr(checking, "plain_text", lambda text, _canaries: text)
        assert checking.find_copies(project, [sample / "encrypted"]).copies == ()
    card = (sample / "encrypted" / "README.md").read_text("utf-8")
    assert all(words in card for words in ("3 test items are encrypted", "It is no secret", "decode.py"))
    other = Project.create(tmp_path / "back.goldsmith", project.title)
    imports.run(other, "goldsmith", [sample / "encrypted"], warm=False)
    releases.export(other, tmp_path / "again")
    assert found(tmp_path / "again") == found(sample / "as-is")
    releases.export(other, tmp_path / "repeat", test_items=SplitAccess.ENCRYPTED)
    assert found(tmp_path / "repeat")["data/items.jsonl"] == found(sample / "encrypted")["data/items.jsonl"]
    bare = Project.create(tmp_path / "bare.goldsmith")
    rows = sample / "encrypted" / "data" / "items.jsonl"
    expect_refusal("import the whole folder", imports.run, bare, "tables", [rows], warm=False)


@pytest.mark.parametrize(("path", "reader"), [("inspect_task.py", "samples"), ("lm_eval/utils.py", "rows")])
def test_a_harness_does_not_ask_about_encrypted_texts(sample: Path, path: str, reader: str) -> None:
    task = without_inspect(sample / "encrypted" / path)
    given = (task["SAMPLES"],) if "SAMPLES" in task else ()
    with pytest.raises(ValueError, match=r"python decode\.py FOLDER"):
        task[reader](*given)


def marked(folder: Path) -> tuple[Project, str]:
    """Two items with criteria and reports, the second marked as test."""
    project = small_project(folder)
    second = items.read(project, items.ids(project)[1])
    assert run_command(["items", "edit", str(project.path), second.key, "--split", "test"]) == 0
    return project, second.question


def questions(folder: Path) -> list[str]:
    return [item["question"] for item in tree(folder, "items.json")]


def test_items_that_are_marked_as_test_are_encrypted_without_being_asked_for(
    tmp_path: Path, capsys: Any
) -> None:
    project, question = marked(tmp_path)
    releases.export(project, tmp_path / "out")
    first, second = questions(tmp_path / "out")
    assert (first, second[:20]) == ("What do residual connections do?", "goldsmith-encrypted:")
    assert encryption.plain_text(second, [releases.published(project).canary]) == question
    others = encryption.Encryption((), "another canary").value("é" * 40)
    assert encryption.plain_text(others, [releases.published(project).canary]) == others
    assert tree(tmp_path / "out", "manifest.json")["test_items"] == "encrypted"
    assert "can be read by everybody" in str(releases.export(project, tmp_path / "csv", "csv").notes)
    expect_refusal(
        "cannot hold encrypted",
        releases.export,
        project,
        tmp_path / "no",
        "csv",
        test_items=SplitAccess.ENCRYPTED,
    )
    path = project.path
    project.close()
    plain = told(capsys, "export", path, "--to", tmp_path / "plain", "--test-items", "as-is")
    assert (questions(tmp_path / "plain")[1], plain["number"]) == (question, 2)
    assert "decode.py" not in plain["files"]


def test_what_corrections_and_signatures_say_of_a_test_item_is_encrypted_too(tmp_path: Path) -> None:
    project, _ = marked(tmp_path)
    _, second = items.ids(project)
    releases.export(project, tmp_path / "before", test_items=SplitAccess.AS_IS)
    items.change(project, second, question="Which of them was the last to leave?")
    releases.add_erratum(project, "A question was unclear.", tmp_path / "before")
    final_pass.sign(project, second, "leak", "passed", "Nobody wrote that it was the last to leave.")
    releases.export(project, tmp_path / "out")
    files = found(tmp_path / "out")
    assert [path for path, content in files.items() if b"the last to leave" in content] == []
    assert b"A question was unclear." in files["CHANGELOG.md"]
    other = Project.create(tmp_path / "back.goldsmith", project.title)
    imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)
    assert "the last to leave" in str(releases.published(other).errata)
    assert releases.published(other) == releases.published(project)
    assert final_pass.of_item(other, second) == final_pass.of_item(project, second)


def test_items_that_are_left_out_are_in_no_file_and_their_scores_stay(tmp_path: Path, capsys: Any) -> None:
    project, question = marked(tmp_path)
    _, second = items.ids(project)
    releases.add_erratum(project, "A typing mistake.")
    for name, access in (("whole", SplitAccess.AS_IS), ("part", SplitAccess.LEFT_OUT)):
        releases.export(project, tmp_path / name, test_items=access)
    whole, part = (found(tmp_path / name) for name in ("whole", "part"))
    assert [path for path, content in whole.items() if second.encode() in content] != []
    assert [path for path, content in part.items() if second.encode() in content] == []
    assert part["scores.json"] == whole["scores.json"]
    assert b"1 test item and all that belongs to them are left out" in part["README.md"].replace(b"\n", b" ")
    items.change(project, second, traits={})
    path = project.path
    project.close()
    nothing = refused(capsys, "export", path, "--to", tmp_path / "no", "--test-items", "left-out")
    assert "Every item is a test item" in nothing
    assert not (tmp_path / "no").exists()
    assert json.loads(part["items.json"])[0]["question"] != question
