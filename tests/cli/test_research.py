"""Commands for research papers, on a made folder."""

import json
from pathlib import Path

import pytest

from annotator.cli import run_command
from tests.material import eprint_folder as made

FIRST, SECOND = "2506.00001v1", "2506.00002v1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = made.folder(tmp_path / "papers", {FIRST: made.whole(), SECOND: b"%PDF-1.5"})
    made.works(place)
    return place


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().out)


def test_papers_are_built_once_and_refusals_are_told(
    tmp_path: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "p.goldsmith")
    assert run_command(["new", file]) == 0
    capsys.readouterr()
    wanted = {"candidates": 2, "kept": 1, "items": 1, "references": 5, "works": 2}
    refused = [{"id": SECOND, "stage": "source", "reason": "Only a PDF was submitted, no LaTeX."}]
    for words in (["--dry-run"], []):
        assert run_command(["research", "build", file, str(place), "--json", *words]) == 0
        found = told(capsys)
        assert {name: found[name] for name in wanted} == wanted
        assert found["refused"] == refused
        assert found["rules"]["least_references"] == 5
    assert run_command(["research", "build", file, str(place), "--json"]) == 0
    found = told(capsys)
    assert (found["kept"], found["items"], found["references"], found["works"]) == (1, 0, 0, 0)
    assert run_command(["research", "build", file, str(place)]) == 0
    said = capsys.readouterr().out
    assert "2 candidates: 2 after filter, 1 after source" in said
    assert f"{SECOND}  source: Only a PDF was submitted" in said


def test_what_is_no_collected_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "p.goldsmith")
    assert run_command(["new", file]) == 0
    assert run_command(["research", "build", file, str(tmp_path)]) == 1
    assert "has no folder “feeds”" in capsys.readouterr().err
