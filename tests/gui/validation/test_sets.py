"""Validation sets in the window: drawn, looked at, locked; labels that come in by files and leave."""

import csv
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.domain.experts.person import Role
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.storage import sql
from tests.windows.judges_window import cells, choose
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


def type_name(page, words: str) -> None:
    page.sets.form.name.setText(words)
    settle(page)


def test_a_set_is_drawn_by_keyboard_and_dealt(project, show):
    page = show(project)
    page.sets.form.by_size.setChecked(True)
    page.sets.form.reports.setValue(4)
    type_name(page, NAME)
    assert page.sets.form.told.text().startswith(
        "4 responses of 4 items with 8 units, drawn from 8 responses"
    )
    QTest.keyClick(page.sets.form.name, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(page)
    assert cells(page.sets.table, 0) == [NAME]
    assert cells(page.sets.table, 4) == ["8 shares of work open"]
    assert page.sets.view.lines.count() == 8
    assert validation_sets.named(project, NAME).content.draw.raters == 2


def test_what_cannot_be_drawn_says_why_and_is_not_offered(project, show):
    page = show(project)
    assert page.sets.form.told.text() == "Name the set to see what would be drawn."
    assert not page.sets.bar.buttons["submit"].isEnabled()
    page.sets.acts["submit"]()
    assert validation_sets.sets(project) == []


def test_what_a_wish_comes_to_is_counted_for_whoever_sees_it(project, show):
    drawn(project)
    page = show(project, set=NAME)
    assert not page.sets.form.isVisible()
    page.sets.form.name.setText("Autumn")
    assert not page.sets.form._later.isActive()
    page.sets.acts["new_set"]()
    settle(page)
    assert page.sets.form.told.text().startswith("8 responses of 4 items with 16 units")


def test_a_set_is_locked_only_when_all_its_labels_are_in(project, show):
    drawn(project)
    page = show(project, set=NAME)
    assert not page.sets.bar.buttons["lock_set"].isEnabled()
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes" if at[2] == 1 else "no")
    page.sets.fill()
    settle(page)
    assert page.sets.view.heading.text() == "All labels are submitted: they can be locked."
    QTest.keyClick(page.sets.table, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    settle(page)
    assert validation_sets.named(project, NAME).locked_at is not None
    assert len(validation_sets.named(project, NAME).first_labels) == 16
    assert page.sets.bar.buttons["see_figures"].isEnabled()


def test_looks_at_the_test_part_are_listed(project, show):
    drawn(project)
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes")
    judge_says(project, "J", lambda at: "yes")
    validation_sets.lock(project, NAME)
    validation_sets.open_test(project, NAME, ["J"])
    page = show(project, set=NAME)
    assert cells(page.sets.table, 5) == ["1"]
    assert page.sets.view.lines.item(0).text().endswith("R1: J")


def test_labels_come_in_from_a_file_once_it_is_said_whose_they_are(project, show, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("item,system,unit,rater,value\n1,Alpha,Criterion 1 of 1,Zoe,yes\n", "utf-8")
    page = show(project)
    page.sets.acts["labels_in"]()
    page.sets.files.look_at([file])
    settle(page)
    assert not page.sets.bar.buttons["submit"].isEnabled()
    choose(page.sets.files._raters["Zoe"], person(project, "R2").id)
    settle(page)
    assert page.sets.files.told.toPlainText().startswith("New: 1 label, finished work that counts at once\n")
    page.sets.acts["submit"]()
    settle(page)
    rows = sql.rows(project, "SELECT rater_id, value FROM judgement")
    assert [tuple(row) for row in rows] == [(person(project, "R2").id, "yes")]


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


def test_submitted_labels_are_saved_as_a_table(project, show, tmp_path):
    drawn(project)
    person_says(project, "R2", lambda at: "yes")
    page = show(project)
    page.sets.save_labels(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert {row["value"] for row in rows} == {"yes"}


def test_whoever_only_labels_is_shown_reviews_alone(project, show):
    people.add_person(project, "Cho", (Role.ANNOTATOR,))
    project.work_as(person(project, "R4"))
    page = show(project)
    offered = [words for number, words in enumerate(page.TABS) if page.tabs.isTabVisible(number)]
    assert offered == ["Reviews"]
    assert page.part is page.reviewing
