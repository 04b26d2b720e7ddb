"""Validation sets for people who work in files of their own: only what was drawn travels, and it comes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.labelling import label_tasks
from annotator.actions.parcels import packing, returning, tasking, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.domain.experts.person import Role
from tests.actions.parcels.test_exchange_labels import label_all, three_reports
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Two items with three reports each, of which three are drawn for Ada and Ben."""
    project = three_reports(tmp_path / "home")
    both = tuple(
        people.add_person(project, name, (Role.ANNOTATOR,), alias).subject
        for name, alias in (("Ada", "Z1"), ("Ben", "Z2"))
    )
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=3))
    yield project
    project.close()


def test_only_what_was_drawn_travels_and_the_set_is_locked_when_it_is_back(
    project: Project, tmp_path: Path
) -> None:
    drawn = validation_sets.named(project, "Spring")
    for alias in ("Z1", "Z2"):
        folder = tmp_path / alias
        folder.mkdir()
        theirs = tasking.take_task(
            packing.task(project, people.known(project, alias).id, folder).path
        ).project
        assert len(label_tasks.queue(theirs)) == len(drawn.responses()) == 3
        reports = sql.first(theirs, "SELECT count(*) FROM response")[0]
        assert reports == 3
        label_all(theirs, "number 1")
        work = returning.work(theirs).path
        theirs.close()
        unpacking.take_in(project, [work])
    assert validation_sets.lacking(project, drawn) == []
    validation_sets.lock(project, "Spring")
    found = validation_sets.named(project, "Spring")
    assert {one.response_id for one in found.first_labels} == drawn.responses()
    # Three criteria, three reports, two people.
    assert len(found.first_labels) == 18
