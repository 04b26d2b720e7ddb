"""Validation sets in the window: drawn, looked at, locked; labels that come in by files and leave."""

from pathlib import Path

import pytest

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.domain.experts.assignment import Role
from tests.projects.validation_project import person, validation_project
from tests.storage import sql
from tests.windows.settling import settle

NAME = "Spring 秋 ربيع"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Four items, two systems, two criteria; R1 coordinates, R2 and R3 label."""
    return validation_project(tmp_path)


@pytest.fixture
def show(page_over):

    def make(project: Project, **place: object):
        page = page_over(project, "Validate", part="Sets", **place)
        page.focus_first()
        settle(page)
        return page

    return make


def drawn(project: Project, size: int = 4) -> None:
    people_ids = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest(NAME, people_ids, size=size))


def test_a_file_that_holds_no_labels_is_refused_in_its_place(project, show, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("nothing\n", "utf-8")
    page = show(project)
    page.sets.acts["labels_in"]()
    page.sets.files.look_at([file])
    settle(page)
    assert page.sets.files.told.toPlainText()
    assert not page.sets.bar.buttons["submit"].isEnabled()
    assert sql.first(project, "SELECT count(*) FROM judgement")[0] == 0


def test_whoever_only_labels_is_shown_reviews_alone(project, show):
    people.add_person(project, "Cho", (Role.ANNOTATOR,))
    project.work_as(person(project, "R4"))
    page = show(project)
    offered = [words for number, words in enumerate(page.TABS) if page.tabs.isTabVisible(number)]
    assert offered == ["Reviews"]
    assert page.part is page.reviewing
