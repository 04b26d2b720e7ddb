"""The strip of the sample: it leads to each place, and is gone once dismissed."""

from contextlib import closing

import pytest
from PySide6.QtWidgets import QPushButton, QToolButton

from annotator.actions.project.file import Project
from annotator.gui import theme
from annotator.gui.shell.try_strip import DISMISS, TRY
from tests.windows.words_shown import all_words


def steps(window):
    return [one for one in window.tries.findChildren(QPushButton) if one.isVisible()]


def test_the_sample_opens_where_the_first_step_is(whole_sample, opened):
    whole_sample.close()
    window = opened(whole_sample.path)
    assert (window.page.NAME, window.page.item.key) == ("Author", "street-trees")
    assert TRY in all_words(window)
    assert len(steps(window)) == 5


@pytest.mark.parametrize("number", range(5))
def test_each_step_leads_to_its_place(whole_sample, window_over, number):
    window = window_over(whole_sample)
    steps(window)[number].click()
    said = all_words(window.page)
    page, item = [
        ("Author", "street-trees"),
        ("Author", "street-trees"),
        ("Label", "item school-start"),
        ("Adjudicate", "Rubric · item night-trains"),
        ("Judges", "Past runs"),
    ][number]
    assert page == window.page.NAME
    assert item in said


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
