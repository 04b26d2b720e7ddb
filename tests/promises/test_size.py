"""What Goldsmith promises about projects that grow large."""

import hashlib
import tracemalloc
from pathlib import Path

import pytest

from annotator.actions import releases
from annotator.actions.project import Project
from tests import judged_project


def judged(folder: Path, judges: int, items: int = 10) -> Project:
    """So many judges' verdicts on 100 criteria of each item's only report."""
    folder.mkdir()
    source = judged_project.peer_folder(folder / "peer", items, 100, 1)
    project = judged_project.imported(folder / "judged.goldsmith", source)
    judged_project.judge_everything(project, judges)
    return project


def peak(project: Project, profile: str, to: Path) -> int:
    """The most bytes that an export holds at once."""
    releases.export(project, to / "first", profile)
    tracemalloc.start()
    releases.export(project, to / "second", profile)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.slow
@pytest.mark.parametrize("profile", releases.PROFILES)
def test_the_memory_of_an_export_does_not_grow_with_its_judgements(tmp_path: Path, profile: str) -> None:
    few, many = (judged(tmp_path / str(count), count) for count in (2, 6))
    grown = peak(many, profile, tmp_path / "many") - peak(few, profile, tmp_path / "few")
    # What four more judges and their scores take, and nothing for each of their 4 000 judgements.
    assert grown / 4_000 < 500


def test_a_release_is_the_same_to_the_byte_however_its_judgements_came_in(tmp_path: Path) -> None:
    project = judged(tmp_path / "made", 2, 2)
    releases.export(project, tmp_path / "before")
    with project.store.write():
        project.store.raw.execute("CREATE TEMP TABLE turned AS SELECT * FROM judgement ORDER BY random()")
        project.store.raw.execute("DELETE FROM judgement")
        project.store.raw.execute("INSERT INTO judgement SELECT * FROM turned")
    releases.export(project, tmp_path / "after")
    sums = [
        hashlib.sha256((tmp_path / name / "judgements.json").read_bytes()) for name in ("before", "after")
    ]
    assert sums[0].digest() == sums[1].digest()
