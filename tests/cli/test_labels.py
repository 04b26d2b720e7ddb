"""Labels in files, and documents that are submitted, from the command line: what is said, in words and in JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.project import drafts
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from tests.material.labels_in_files import FIRST, every, project_of_two, stored, written
from tests.projects.pairs_project import ADA, item, pairs_project, rubric, work_as


@pytest.fixture
def file(tmp_path: Path) -> str:
    project = project_of_two(tmp_path)
    project.close()
    return str(project.path)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run_command([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def labels_in(file: str) -> list[dict[str, Any]]:
    project = Project.open(Path(file))
    found = stored(project)
    project.close()
    return found


def test_labels_go_in_after_a_look_at_them(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("labels", "import", file, str(written(tmp_path, *every())), "--as", "Ann=R2")
    looked = told(capsys, *words, "--dry-run")
    assert (looked["dry_run"], looked["new"], labels_in(file)) == (True, 12, [])
    assert looked["raters"][0] | {"id": ""} == {"name": "Ann", "id": "", "alias": "R2", "new": False}
    assert told(capsys, *words)["new"] == 12
    again = told(capsys, *words)
    assert (again["new"], again["same"], len(labels_in(file))) == (0, 12, 12)


def test_what_keeps_labels_out_is_said_with_its_row(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(written(tmp_path, {}, {"item": "9"}, {"value": "perhaps"}))
    assert run_command(["labels", "import", file, path, "--as", "Ann=R2"]) == 1
    said = capsys.readouterr().err
    assert "labels.csv, row 3: there is no item “9” (and 1 more). Nothing was imported." in said
    assert "labels.csv, row 4: “perhaps” is not a valid value here" in said
    found = told(capsys, "labels", "import", file, path, "--as", "Ann=R2", "--skip-bad")
    assert (found["new"], found["counts"]) == (1, {"unknown item": 1, "bad value": 1})
    assert found["problems"][0] == {
        "trouble": "unknown item", "file": "labels.csv", "row": 3, "reason": "there is no item “9”", "labels": 1,
    }  # fmt: skip


def test_a_label_takes_the_place_of_another_only_when_told_to(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("labels", "import", file)
    told(capsys, *words, str(written(tmp_path, {})), "--as", "Ann=R2")
    other = str(written(tmp_path, {"value": "no"}))
    assert run_command([*words, other, "--as", "Ann=R2"]) == 1
    found = told(capsys, *words, other, "--as", "Ann=R2", "--replace")
    assert [one["reason"] for one in found["replaced"]] == ["R2 said “yes” here, the file says “no”"]
    assert [row["value"] for row in labels_in(file)] == ["no"]


def test_human_files_of_two_systems_come_in_and_leave_again(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*every(), *every(rater="Ben", value="no")]
    told(capsys, "labels", "import", file, str(written(tmp_path, *rows)), "--as", "Ann=R2", "--as", "Ben=R3")
    found = told(capsys, "labels", "export", file, "--to", str(tmp_path / "out"))
    assert (found["labels"], found["raters"]) == (24, ["R2", "R3"])
    folder = tmp_path / "out" / "Beta"
    assert json.loads((folder / "Q1_result_R3.json").read_text("utf-8"))["rubric_eval"][0] == {
        "point": FIRST,
        "covered": False,
    }
    back = told(
        capsys,
        "labels",
        "import",
        file,
        str(folder),
        "--as",
        "R2=R2",
        "--system",
        "1=Beta",
        "--system",
        "Beta",
    )
    assert (back["new"], back["same"]) == (0, 12)


def test_the_ending_of_the_path_says_which_format(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "labels", "import", file, str(written(tmp_path, *every())), "--as", "Ann=R2")
    for name in ("out.csv", "out.json"):
        assert run_command(["labels", "export", file, "--to", str(tmp_path / name), "--person", "R2"]) == 0
        assert "Wrote 12 labels of R2" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "out.json").read_text("utf-8"))["labels"]) == 12


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "R1", "--as", "R2"), "Only one person can be at work."),
        (("--as", "Ann="), "does not identify a rater"),
        (("--system", "Alpha", "--system", "Beta"), "Only one system can be named for all reports."),
        (("--as", "R2"), "Only a coordinator can import other people's labels."),
        ((), "choose who that is, as in --as “Ann=ALIAS”"),
    ],
    ids=str,
)
def test_what_is_said_unclearly_is_refused(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert run_command(["labels", "import", file, str(written(tmp_path, {})), *words]) == 1
    assert said in capsys.readouterr().err
    assert labels_in(file) == []


def test_a_person_submits_their_own_documents_and_hears_what_keeps_others_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, told = pairs_project(tmp_path, 3), []
    asking = (("Is this a criterion that asks about the residual stream?", 3), *ADA[1:])
    for place, name, criteria in ((0, "Ben", ADA), (1, "Ada", asking), (2, "Ada", ()), (0, "Ada", ADA)):
        begun = artifacts.start(
            work_as(project, name), item(project, place), Kind.RUBRIC, rubric(criteria, "a")
        ).subject
    drafts.save(project, begun, "a1", "text", "Explains how attribution works")
    work_as(project, "Cora").close()
    for words in ("R2 2 --kind plan", "R2", "R2 1 2", "R2 2 --reason Wanted", "R3"):
        code = run_command(["authoring", "submit", str(project.path), "--json", "--as", *words.split()])
        found = json.loads(capsys.readouterr().out)
        told.append((code, found["submitted"], [one["reasons"][0][:13] for one in found["not_submitted"]]))
    first, second = ([{"item": key, "kind": "rubric"}] for key in "12")
    assert told == [
        (3, [], ["You have no o"]),
        (3, first, ["Criterion 1: ", "Whole documen"]),
        (3, [], ["You have no o", "Criterion 1: "]),
        (0, second, []),
        (0, first, []),
    ]
    project = Project.open(project.path)
    assert artifacts.read(project, begun).document.units[0].text == "Explains how attribution works"
    project.close()


def test_points_of_ones_own_checklist_share_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = pairs_project(tmp_path, 1)
    points = tuple(
        CheckPoint(title=f"T{n}", text="Is it so?", share=share) for n, share in enumerate((0.4, 0, 0))
    )
    begun = artifacts.start(
        work_as(project, "Ada"), item(project, 0), Kind.CHECKLIST, Checklist(units=points)
    ).subject
    work_as(project, "Cora").close()
    command = ("authoring", "share-rest", str(project.path), "1")
    assert run_command([*command]) == 1
    assert "You have no checklist for item 1." in capsys.readouterr().err
    assert run_command([*command, "--as", "R2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "0.4000  T0: Is it so?", "0.3000  T1: Is it so?", "0.3000  T2: Is it so?",
    ]  # fmt: skip
    assert run_command([*command, "--as", "R2"]) == 1
    assert "Nothing is left to share." in capsys.readouterr().err
    project = Project.open(project.path)
    assert [unit.share for unit in artifacts.read(project, begun).document.units] == pytest.approx(
        [0.4, 0.3, 0.3]
    )
    project.close()
