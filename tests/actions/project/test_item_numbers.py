"""Items by row number: the same items as by id, in the same order, for lists of any length."""

from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.items.items import Filter
from annotator.actions.project.file import Project
from tests.projects.labelling_project import project_with


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = project_with(tmp_path)
    for question, subject in (
        ("What is entropy?", "物理"),
        ("Why 100 % sure?", "Logic"),
        ("What is a_b?", "Logic"),
    ):
        items.add(made, question, subject=subject)
    yield made
    made.close()


def found(project: Project, words: str) -> list[str]:
    return [line.key for line in items.lines_at(project, items.numbers(project, Filter(words=words)))]


@pytest.mark.parametrize("words", ["", "what", "is what", "zebra"])
def test_numbers_name_the_same_items_as_ids(project: Project, words: str) -> None:
    sought = Filter(words=words)
    by_number = items.lines_at(project, items.numbers(project, sought))
    assert by_number == items.lines(project, items.ids(project, sought))


def test_only_as_many_as_were_asked_for_are_read(project: Project) -> None:
    assert list(items.numbers(project, most=2)) == list(items.numbers(project))[:2]


def test_lines_come_in_the_order_of_their_numbers(project: Project) -> None:
    backwards = items.numbers(project)[::-1]
    assert [line.key for line in items.lines_at(project, backwards)] == ["3", "2", "1"]


def test_an_item_has_the_number_it_is_listed_under(project: Project) -> None:
    last = items.ids(project)[-1]
    assert items.number(project, last) == items.numbers(project)[-1]
    assert items.number(project, "nowhere") == 0


def test_parts_of_one_or_two_letters_are_found_in_any_script(project: Project) -> None:
    assert found(project, "物") == ["1"]
    assert found(project, "HA") == ["1", "3"]
    assert found(project, "ha 物理 ent") == ["1"]


def test_signs_of_a_pattern_stand_for_themselves(project: Project) -> None:
    assert (found(project, "%"), found(project, "_b"), found(project, "0 %")) == (["2"], ["3"], ["2"])


def test_a_retired_item_is_listed_among_the_retired_only(project: Project) -> None:
    first = items.ids(project)[0]
    items.change(project, first, retired=True)
    assert items.number(project, first) not in items.numbers(project)
    assert list(items.numbers(project, Filter(retired=True))) == [items.number(project, first)]
