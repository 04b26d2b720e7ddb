"""The commands for items, on a project of rated candidates."""

import io
import json
from pathlib import Path

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.cli import run_command
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import candidates


def candidates_file(folder: Path) -> str:
    project = pairs.pairs_project(folder, 0)
    candidates(project, (5, 5), (4, 4), (2, 2))
    project.close()
    return str(project.path)


def test_letter_2_items_are_listed_edited_retired_and_restored(tmp_path: Path, capsys) -> None:
    file = candidates_file(tmp_path)
    assert run_command(["items", "edit", file, "1", "2", "--subject", "NLP", "--type", "Survey"]) == 0
    assert "2 items changed." in capsys.readouterr().out
    assert run_command(["items", "retire", file, "3"]) == 0
    capsys.readouterr()
    assert run_command(["items", "list", file, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["items"]
    assert [(one["key"], one["subject"], one["origin"]) for one in listed] == [
        ("1", "NLP", "laboratory"),
        ("2", "NLP", "interviews"),
    ]
    assert run_command(["items", "edit", file, "1", "--phase", "Design", "--difficulty", "basic"]) == 0
    assert run_command(["items", "edit", file, "1", "--difficulty", ""]) == 0
    assert run_command(["items", "edit", file, "1", "--phase", "sleep"]) == 1
    assert "“sleep” is no phase." in capsys.readouterr().err
    assert run_command(["items", "list", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"][0]["traits"] == {"phase": "design"}
    assert run_command(["items", "restore", file, "3"]) == 0
    assert run_command(["items", "retire", file, "9"]) == 1
    assert "There is no item “9”." in capsys.readouterr().err
    project = Project.open(Path(file))
    assert items.count(project) == 3
    project.close()


def test_an_item_is_added_once_under_its_key(tmp_path: Path, capsys, monkeypatch) -> None:
    file, filed = (
        candidates_file(tmp_path),
        ["--type", "Survey", "--subject", "Rivers", "--language", "en-GB"],
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("河流为何弯曲？\n  Two lines.\n"))
    for words, code, said in (
        (["Why do rivers meander?", "--key", "R-007", *filed], 0, "Added item R-007."),
        (["Why do rivers meander?", "--key", "R-007"], 0, "Item R-007 has this question: nothing was added."),
        (["Why do rivers meander?"], 0, "Item R-007 has this question: nothing was added."),
        (["Why not?", "--key", "R-007"], 1, "The key “R-007” is taken by another question."),
        (["-"], 0, "Added item 5."),
    ):
        assert run_command(["items", "add", file, "--question", *words]) == code
        assert said in "".join(capsys.readouterr())
    assert run_command(["items", "list", file, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["items"][3:]
    assert [first[name] for name in ("key", "question_type", "subject", "language")] == [
        "R-007",
        *filed[1::2],
    ]
    assert second["question"] == "河流为何弯曲？\n  Two lines."


def test_letter_2_selection_is_applied_and_the_funnel_printed(tmp_path: Path, capsys) -> None:
    file = candidates_file(tmp_path)
    assert run_command(["items", "apply-selection", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"retired": ["2", "3"], "in_use": 1}
    assert run_command(["items", "apply-selection", file]) == 1
    capsys.readouterr()
    assert run_command(["items", "funnel", file, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)["funnel"][-1]
    assert (whole["collected"], whole["reached"], whole["in_use"]) == (3, 1, 1)
    assert run_command(["items", "funnel", file]) == 0
    assert "laboratory" in capsys.readouterr().out


def test_letter_4_the_bar_is_shown_and_set(tmp_path: Path, capsys) -> None:
    file = candidates_file(tmp_path)
    assert run_command(["items", "bar", file, "--set", "4"]) == 0
    assert "kept at 4 or more" in capsys.readouterr().out
    assert run_command(["items", "apply-selection", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"retired": ["3"], "in_use": 2}
    assert run_command(["items", "bar", file, "--set", "many"]) == 1
    capsys.readouterr()
    assert run_command(["items", "bar", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"bar": 4.0}
