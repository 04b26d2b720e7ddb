"""The figures of the house are counted as they are said."""

from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.people import new_project
from tests.house import figures
from tests.windows import walks


@pytest.mark.slow
def test_there_is_no_circle_and_every_figure_is_told() -> None:
    table = figures.table()
    assert table["packages with a circle"] == "0"
    assert all(table.values())


def test_a_paper_is_named_by_its_name_or_package() -> None:
    assert figures.PAPER.search("from annotator.protocols.adra import counts")
    assert figures.PAPER.search("ResearcherBench's questions")
    assert not figures.PAPER.search("quadratic weights")


def test_a_module_that_is_come_back_to_is_a_return() -> None:
    assert walks.returns(["people", "items", "people", "labels", "items"]) == 2


def test_the_way_to_the_disk_is_told_from_the_outermost_call(tmp_path: Path) -> None:
    project = new_project(tmp_path / "p.goldsmith", "P")
    found: list[walks.Called] = []
    with walks.to_disk(found):
        items.add(project, "Why?")
    project.close()
    assert found[0] == ("actions/items/items.py", "add")
    assert found[-1] == walks.DISK


def test_modules_that_are_handed_the_project_are_stays(tmp_path: Path) -> None:
    project = new_project(tmp_path / "p.goldsmith", "P")
    found: list[str] = []
    with walks.stays(found):
        items.count(project)
        people.people(project)
        people.people(project)
        items.count(project)
    project.close()
    assert found == ["actions/items/items.py", "actions/project/people.py", "actions/items/items.py"]
