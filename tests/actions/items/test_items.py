"""Finding, filtering, adding and changing items."""

from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.items.items import Filter
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.undo import history
from annotator.domain.texts.refusal import Refusal


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path / "items.goldsmith")
    items.add(project, "How do transformers scale with data?", "Technical Details", "Scaling laws")
    items.add(project, "Which catalysts split water?", "Literature Review", "Chemistry")
    items.add(project, "怎样规划海水淡化厂的选址？", "Open Consulting", "水资源", language="zh")
    yield project
    project.close()


def keys(project: Project, **narrowed: str) -> list[str]:
    return [line.key for line in items.lines(project, items.ids(project, Filter(**narrowed)))]


def test_items_are_found_by_part_of_a_word_anywhere(project: Project) -> None:
    assert keys(project, words="former") == ["1"]
    assert keys(project, words="chem") == ["2"]


def test_all_words_must_be_met(project: Project) -> None:
    assert keys(project, words="water catalysts") == ["2"]
    assert keys(project, words="water transformers") == []


def test_one_or_two_letters_and_chinese_words_are_found(project: Project) -> None:
    assert keys(project, words="海水") == ["3"]
    assert keys(project, words="淡化厂") == ["3"]


def test_signs_of_the_search_language_are_only_text(project: Project) -> None:
    assert keys(project, words='water" OR "data') == []
    assert keys(project, words="100%") == []


def test_filters_narrow_by_type_subject_and_state(project: Project) -> None:
    assert keys(project, question_type="Literature Review") == ["2"]
    assert keys(project, subject="水资源") == ["3"]
    assert keys(project, state="new") == ["1", "2", "3"]
    assert keys(project, state="settled") == []


def test_a_changed_question_is_found_by_its_new_words_and_undone_with_them(project: Project) -> None:
    (first, *_) = items.ids(project)
    items.change(project, first, question="How do glaciers move?")
    assert keys(project, words="glaciers") == ["1"]
    history.undo(project)
    assert keys(project, words="glaciers") == []
    assert keys(project, words="transformers") == ["1"]


def test_a_retired_item_leaves_the_list_and_comes_back_by_undo(project: Project) -> None:
    (first, *_) = items.ids(project)
    items.change(project, first, retired=True)
    assert items.count(project) == 2
    history.undo(project)
    assert items.count(project) == 3


def test_an_empty_question_is_refused_and_nothing_changes(project: Project) -> None:
    with pytest.raises(Refusal, match="question"):
        items.add(project, "   ")
    assert items.count(project) == 3
