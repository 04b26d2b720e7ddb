"""Home: steps and sentences that lead on, and a keyboard that stays."""

from datetime import timedelta

from PySide6.QtWidgets import QApplication, QPushButton

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.texts.canonical import now
from annotator.gui.pages.home import StepButton
from annotator.gui.parts import below, holds
from tests.projects.small_projects import empty_project


def named(part, words):
    return next(button for button in below(part, QPushButton) if words in button.accessibleName())


def shown(window, qtbot):
    page = window.page
    qtbot.waitUntil(lambda: any(below(page.steps, StepButton)))
    return page


def test_home_counts_again_after_a_change_keeps_the_keyboard_and_leads_to_each_step(
    small, window_over, qtbot
):
    window = window_over(small, "Home")
    page = shown(window, qtbot)
    assert page.title.text() == small.title
    first = next(iter(below(page.steps, StepButton)))
    assert f": {items.count(small)}" in first.accessibleName()
    first.setFocus()
    window.session.do(items.add, "One more?")
    now_there = f": {items.count(small)}"
    qtbot.waitUntil(lambda: now_there in next(iter(below(page.steps, StepButton))).accessibleName())
    assert holds(page)
    named(page.steps, now_there).click()
    assert window.page.NAME == "Items"


def test_a_reminder_for_who_is_late_is_copied(small, window_over, qtbot):
    people.add_person(small, "Ann Lee", (Role.ANNOTATOR,), "R7")
    late, first = people.known(small, "R7").id, items.ids(small)[0]
    assignments.assign_one(small, first, late, Stage.RUBRIC, due=now() - timedelta(days=2))
    window = window_over(small, "Home")
    named(shown(window, qtbot).next, "R7 is 2 days late").click()
    assert "Ann Lee" in QApplication.clipboard().text()
    assert "reminder is copied" in window.messages.text()


def test_the_first_question_is_written_at_once(tmp_path, window_over, qtbot):
    window = window_over(empty_project(tmp_path), "Home")
    named(shown(window, qtbot).next, "Add an item").click()
    assert window.page.NAME == "Items"
    assert holds(window.page.form)
    window.page.form.done.emit()
    # Only then: whoever comes back to the list finds the list.
    window.show_page("Home")
    window.show_page("Items")
    assert not window.page.form.isVisible()
