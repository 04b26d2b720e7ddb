"""What Goldsmith promises about projects that grow large."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.sets import reviews
from annotator.actions.validation import disagreements, validity_cards
from annotator.actions.validation.validation import ValidationQuery
from annotator.actions.validation.validation_views import VIEWS
from tests.house import reading
from tests.projects import judged_project
from tests.projects.validation_project import judge_says, person_says, validation_project
from tests.storage import sql


def judged(folder: Path, judges: int, items: int = 10) -> Project:
    """So many judges' verdicts on 100 criteria of each item's only report."""
    folder.mkdir()
    source = judged_project.peer_folder(folder / "peer", items, 100, 1)
    project = judged_project.imported(folder / "judged.goldsmith", source)
    judged_project.judge_everything(project, judges)
    return project


@pytest.mark.slow
def test_the_memory_of_an_export_does_not_grow_with_its_judgements(tmp_path: Path) -> None:
    few, many = (str(judged(tmp_path / str(judges), judges).path) for judges in (2, 4))
    first = str(judged(tmp_path / "first", 1, 1).path)
    # A process that has run thousands of tests follows its memory ten times as slowly as a fresh one.
    peaks = subprocess.check_output(
        [sys.executable, "-m", "tests.promises.peaks", first, few, many], cwd=reading.HERE, encoding="utf-8"
    )
    _, of_few, of_many = json.loads(peaks)
    # What two more judges and their scores take, and nothing for each of their 2 000 judgements.
    assert {name: (of_many[name] - of_few[name]) / 2_000 < 500 for name in of_many} == dict.fromkeys(
        releases.PROFILES, True
    )


def test_a_release_is_the_same_to_the_byte_however_its_judgements_came_in(tmp_path: Path) -> None:
    project = judged(tmp_path / "made", 2, 2)
    releases.export(project, tmp_path / "before")
    with project.store.write():
        sql.alter(project, "CREATE TEMP TABLE turned AS SELECT * FROM judgement ORDER BY random()")
        sql.alter(project, "DELETE FROM judgement")
        sql.alter(project, "INSERT INTO judgement SELECT * FROM turned")
    releases.export(project, tmp_path / "after")
    sums = [
        hashlib.sha256((tmp_path / name / "judgements.json").read_bytes()) for name in ("before", "after")
    ]
    assert sums[0].digest() == sums[1].digest()


def validated(folder: Path) -> Project:
    project = validation_project(folder)
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes")
    judge_says(project, "J", lambda at: "yes" if at[0] % 2 else "no")
    return project


def looked_at(project: Project) -> list[Any]:
    card = validity_cards.report(project, "J")
    return [
        # All but the rule of ResearcherBench's script, which needs stored replies.
        *(view.report(project) for view in VIEWS),
        validity_cards.choices(project),
        card,
        disagreements.outlook(project, ValidationQuery()),
        reviews.outlook(project, "J"),
    ]


def test_a_tab_of_validation_that_is_opened_again_counts_nothing_again(tmp_path: Path) -> None:
    project = validated(tmp_path)
    first = looked_at(project)
    with sql.traced(project) as said:
        again = looked_at(project)
    assert [words for words in said if words != "PRAGMA data_version"] == []
    assert again == first


def test_a_tab_of_validation_shows_what_was_written_since(tmp_path: Path) -> None:
    project = validated(tmp_path)
    before = looked_at(project)
    judge_says(project, "K", lambda at: "no")
    assert len(disagreements.outlook(project, ValidationQuery()).shown) == len(before[-2].shown) + 32
