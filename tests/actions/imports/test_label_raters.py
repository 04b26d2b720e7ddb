"""Whose the labels of a file are: said by an id, by a coordinator, or by a name or alias that the project knows."""

from pathlib import Path

import pytest

from annotator.actions.imports import label_files, label_raters
from annotator.actions.imports.label_files import LabelImportOptions
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.texts.refusal import Refusal
from tests.material.labels_in_files import (
    ANN,
    SECOND,
    TOLD,
    ann,
    every,
    look,
    project_of_two,
    refused,
    stored,
    take,
    written,
)

PROJECT = project_of_two


def test_an_id_alone_says_who_a_rater_is(project: Project, tmp_path: Path) -> None:
    person = people.known(project, ANN)
    report = take(
        project, written(tmp_path, {"rater": "whoever", "rater_id": person.id}), LabelImportOptions()
    )
    assert [(rater.name, rater.person.id, rater.new) for rater in report.raters] == [
        ("whoever", person.id, False)
    ]


def test_an_alias_that_nobody_has_makes_a_person(project: Project, tmp_path: Path) -> None:
    report = take(project, written(tmp_path, {}, {"unit": SECOND}), LabelImportOptions({"Ann": "Expert A"}))
    assert [(rater.person.alias, rater.new) for rater in report.raters] == [("Expert A", True)]
    made = people.known(project, "Expert A")
    assert (made.name, made.roles) == ("Ann", "annotator")
    assert {row["rater_id"] for row in stored(project)} == {made.id}
    # The same words mean the same person the next time.
    assert take(project, written(tmp_path, *every()), LabelImportOptions({"Ann": "expert a"})).new == 10
    assert len(people.people(project)) == 3


def test_an_unknown_id_comes_in_with_a_free_alias(project: Project, tmp_path: Path) -> None:
    rows = [{"rater": "R1", "rater_id": "theirs-1"}, {"rater": "R9", "rater_id": "theirs-2"}]
    take(project, written(tmp_path, *rows), LabelImportOptions())
    # R1 is somebody else here.
    assert {person.id: person.alias for person in people.people(project)}.items() >= {
        ("theirs-1", "R3"),
        ("theirs-2", "R9"),
    }


@pytest.mark.parametrize("rater_id", ["x" * 37, "a b", "\u200b", "é"])
def test_what_can_be_nobodys_id_is_refused(project: Project, tmp_path: Path, rater_id: str) -> None:
    assert "no id of a person" in refused(
        project, written(tmp_path, {"rater_id": rater_id, "rater": "X"}), LabelImportOptions()
    )


def test_two_names_may_be_one_new_person(project: Project, tmp_path: Path) -> None:
    path = written(tmp_path, {}, {"rater": "A. Other", "unit": SECOND})
    take(project, path, LabelImportOptions({"Ann": "E1", "A. Other": "E1"}))
    assert len({row["rater_id"] for row in stored(project)}) == 1


def test_a_name_that_stands_in_no_file_is_said(project: Project, tmp_path: Path) -> None:
    report = look(project, written(tmp_path, {}), LabelImportOptions({"Ann": ANN, "Anne": ANN}))
    assert "no rater in the files is called “Anne”" in report.notes


@pytest.mark.parametrize("words", [["A"], ["=R1"], ["A="], ["A=R1", "A=R2"]], ids=str)
def test_who_is_whom_is_said_clearly(words: list[str]) -> None:
    with pytest.raises(Refusal):
        label_raters.told(words)


def test_only_a_coordinator_takes_in_the_labels_of_others(project: Project, tmp_path: Path) -> None:
    path = written(tmp_path, {})
    ann(project)
    for act in (label_files.preview, label_files.run):
        with pytest.raises(Refusal, match="Only a coordinator"):
            act(project, [path], TOLD)


@pytest.mark.parametrize("name", ["R2", "r2", "Ann Other", "ann other"])
def test_a_name_or_alias_of_the_project_says_who_a_rater_is(
    project: Project, tmp_path: Path, name: str
) -> None:
    report = take(project, written(tmp_path, {"rater": name}), LabelImportOptions())
    assert [(rater.person.alias, rater.new) for rater in report.raters] == [("R2", False)]


def test_a_name_that_two_people_have_is_asked_about_once(project: Project, tmp_path: Path) -> None:
    people.add_person(project, "Ann Other")
    path = written(tmp_path, *every(rater="Ann Other"))
    (finding,) = look(project, path, LabelImportOptions()).problems
    assert (finding.labels, finding.row) == (12, 2)
    assert "which 2 people here are called" in refused(project, path, LabelImportOptions())
