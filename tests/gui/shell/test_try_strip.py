"""The strip of the sample leads to each place, and one goes on where one left a project."""

from contextlib import closing

import pytest
from PySide6.QtWidgets import QPushButton, QToolButton

from annotator.actions.project import people
from annotator.actions.project.file import Project, settings_of
from annotator.gui import theme
from annotator.gui.shell.window import DISMISS, TRY
from tests.windows.words_shown import all_words


def steps(window):
    return [one for one in window.tries.findChildren(QPushButton) if one.isVisible()]


def test_the_sample_opens_at_home_with_what_to_try(whole_sample, opened):
    whole_sample.close()
    window = opened(whole_sample.path)
    assert window.page.NAME == "Home"
    assert TRY in all_words(window)
    assert len(steps(window)) == 5


def test_once_dismissed_it_does_not_come_back(whole_sample, window_over):
    window = window_over(whole_sample)
    window.tries.findChild(QToolButton).click()
    assert not window.tries.isVisible()
    window.close()
    with closing(Project.open(whole_sample.path)) as again:
        assert not window_over(again).tries.isVisible()


def test_in_a_low_window_the_steps_are_in_a_menu_below_the_page(whole_sample, window_over):
    window = window_over(whole_sample)
    window.resize(960, 600)
    assert not window.tries.isVisible()
    button = window.tries.button
    assert button.isVisible()
    button.menu().aboutToShow.emit()
    entries = button.menu().actions()
    assert [entry.text() for entry in entries if entry.text()] == [
        "1  Write a criterion", "2  Quote the source", "3  Label a report", "4  Settle a conflict",
        "5  Finish the judge's run", DISMISS,
    ]  # fmt: skip
    entries[3].trigger()
    assert window.page.NAME == "Adjudicate"
    theme.zoom_to(80)
    assert window.tries.isVisible()
    theme.zoom_to(100)
    entries[-1].trigger()
    assert not button.isVisible()
    window.resize(1280, 760)
    assert not window.tries.isVisible()


def test_no_other_project_has_the_strip(small, window_over):
    assert window_over(small).tries is None


@pytest.mark.parametrize(("number", "page"), [(2, "Label"), (3, "Adjudicate")])
def test_the_work_of_another_page_is_come_back_to(whole_sample, opened, number, page):
    window = opened(whole_sample.path)
    whole_sample.close()
    window.tries._go(number)
    before = window.page.place()
    window.close()
    again = opened(whole_sample.path)
    assert (again.page.NAME, again.page.place()) == (page, before)
    assert before["item_id" if page == "Adjudicate" else "response_id"]


def test_each_person_has_a_place_of_their_own(whole_sample, opened):
    window = opened(whole_sample.path)
    whole_sample.close()
    window.show_page("Results")
    window.close()
    with closing(Project.open(whole_sample.path)) as project:
        project.work_as(next(one for one in people.people(project) if one.alias == "Annotator B"))
    assert opened(whole_sample.path).page.NAME == "Author"


def test_a_page_that_is_not_a_step_of_the_work_is_not_gone_back_to(whole_sample, opened):
    window = opened(whole_sample.path)
    whole_sample.close()
    window.show_page("Check")
    window.close()
    assert opened(whole_sample.path).page.NAME == "Home"


def test_the_place_is_not_kept_in_the_file_that_others_open_too(whole_sample, opened):
    path = whole_sample.path
    whole_sample.close()
    before = settings_of(path)
    window = opened(path)
    window.show_page("Results")
    window.close()
    assert settings_of(path) == before
