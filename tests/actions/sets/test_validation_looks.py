"""Looks at the test part of a set: when one that was counted still covers what is to be seen, and when it does not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.actions.sets import set_looks, validation_sets
from annotator.domain.texts.refusal import Refusal
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A locked set of all reports, half of them its test part, and one judge."""
    project = validation_project(tmp_path)
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8))
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes" if at[1] == "Alpha" else "no")
    judge_says(project, "small", lambda _: "yes")
    validation_sets.lock(project, "Spring")
    yield project
    project.close()


def test_the_same_labels_and_verdicts_are_covered(project: Project) -> None:
    before = set_looks.seen(project, "Spring")
    validation_sets.open_test(project, "Spring", before.judges)
    after = set_looks.seen(project, "Spring")
    assert before.judges == ("small",)
    assert (before.openings, after.openings) == (0, 1)
    assert set_looks.covers(before, after)


def test_another_judge_is_not_covered(project: Project) -> None:
    before = set_looks.seen(project, "Spring")
    judge_says(project, "other", lambda _: "no")
    assert not set_looks.covers(before, set_looks.seen(project, "Spring"))


def test_another_wording_is_not_covered(project: Project) -> None:
    before = set_looks.seen(project, "Spring")
    sql.alter(project, "UPDATE run SET prompt_sha256 = 'p2'")
    assert not set_looks.covers(before, set_looks.seen(project, "Spring"))


@pytest.mark.parametrize(
    ("name", "part", "closed"),
    [("", "test", False), ("S", "", False), ("S", "dev", False), ("S", "test", True), ("S", "whole", True)],
)
def test_only_what_holds_the_test_part_of_a_set_is_closed(name: str, part: str, closed: bool) -> None:
    assert set_looks.is_closed(name, part) is closed


def test_before_labels_are_locked_nothing_is_opened(project: Project) -> None:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Autumn", both, size=2))
    with pytest.raises(Refusal, match="not locked"):
        set_looks.seen(project, "Autumn")
