"""What Goldsmith promises about projects that grow large."""

import hashlib
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.sets import reviews
from annotator.actions.validation import cards, disagreements
from annotator.actions.validation.validation import ValidationQuery
from annotator.actions.validation.validation_views import VIEWS
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
        sql.alter(project, "CREATE TEMP TABLE turned AS SELECT * FROM judgement ORDER BY random()")
        sql.alter(project, "DELETE FROM judgement")
        sql.alter(project, "INSERT INTO judgement SELECT * FROM turned")
    releases.export(project, tmp_path / "after")
    sums = [
        hashlib.sha256((tmp_path / name / "judgements.json").read_bytes()) for name in ("before", "after")
    ]
    assert sums[0].digest() == sums[1].digest()


def validated(folder: Path) -> Project:
    """A judge that differs from two people on some units."""
    project = validation_project(folder)
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes")
    judge_says(project, "J", lambda at: "yes" if at[0] % 2 else "no")
    return project


def looked_at(project: Project) -> list[Any]:
    """What the tabs of validation ask for."""
    card = cards.report(project, "J")
    return [
        # All but the rule of ResearcherBench's script, which needs stored replies.
        *(view.report(project) for view in VIEWS if view.name != "replay"),
        cards.choices(project),
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
