"""`share` on the command line: the folder chosen, tasks out, six words compared, work in."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.parcels import known_keys
from annotator.actions.project.file import Project
from annotator.cli import run_command
from tests.material.sent_apart import coordinated, write_rubric


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    capsys.readouterr()
    code = run_command(["share", *words, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else {"refused": said.err}


def test_a_study_goes_round_through_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(coordinated(tmp_path / "home")) as project:
        file = str(project.path)
    folder, theirs = tmp_path / "synced", str(tmp_path / "own.goldsmith")
    assert told(capsys, file)[0] == 1
    assert "no folder" in told(capsys, file, str(folder))[1]["refused"]
    folder.mkdir()
    code, sent = told(capsys, file, str(folder), "--send")
    assert (code, len(sent["packages"]), sent["folder"]) == (0, 2, str(folder))

    (task,) = (folder / "R2").glob("*.goldsmith-task")
    assert run_command(["unpack", theirs, str(task)]) == 0
    with closing(Project.open(Path(theirs))) as project:
        write_rubric(project, items.ids(project)[0], "Explains the weight of gold")
        words = known_keys.own_words(project)
    code, back = told(capsys, theirs)
    assert (code, len(back["receipt"])) == (0, 9)

    code, waits = told(capsys, file)
    assert (code, waits["arrivals"], waits["keys"][0]["words"]) == (0, [], words)
    assert told(capsys, file, "--trust", "not these")[0] == 1
    code, came = told(capsys, file, "--trust", words)
    assert (code, came["arrivals"][0]["receipt"], len(came["packages"])) == (0, back["receipt"], 1)
    assert told(capsys, theirs)[1]["new_items"] == 0

    assert told(capsys, file, "--off", "--send")[0] == 1
    assert told(capsys, file, "--off") == (0, {"folder": None})
    assert told(capsys, file)[0] == 1


def test_what_is_wrong_is_told_in_words_and_by_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(coordinated(tmp_path / "home")) as project:
        file = str(project.path)
    folder = tmp_path / "synced"
    folder.mkdir()
    assert told(capsys, file, str(folder), "--send")[0] == 0
    (folder / "half.goldsmith-work").write_bytes(b"PK\x03\x04 and no more")
    assert run_command(["share", file]) == 0
    assert "1 file not whole yet" in capsys.readouterr().out
    (folder / "half.goldsmith-work").unlink()
    folder.rename(tmp_path / "unplugged")
    assert run_command(["share", file]) == 3
    assert "cannot be reached" in capsys.readouterr().out
