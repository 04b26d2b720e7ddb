"""The strip of the sample leads to each place, and one goes on where one left a project."""

from contextlib import closing

from PySide6.QtWidgets import QPushButton, QToolButton

from annotator.actions.project import people
from annotator.actions.project.file import Project, settings_of
from annotator.gui import theme
from annotator.gui.shell.window import DISMISS, TRY
from tests.windows.words_shown import all_words


def test_the_sample_alone_opens_with_what_to_try_until_it_is_dismissed(
    whole_sample, small, opened, window_over
):
    whole_sample.close()
    window = opened(whole_sample.path)
    assert window.page.NAME == "Home"
    assert TRY in all_words(window)
    assert len([one for one in window.tries.findChildren(QPushButton) if one.isVisible()]) == 5
    window.tries.findChild(QToolButton).click()
    assert not window.tries.isVisible()
    window.close()
    assert not opened(whole_sample.path).tries.isVisible()
    assert window_over(small).tries is None


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


def test_one_goes_on_where_one_left_a_step_of_the_work(whole_sample, opened):
    path = whole_sample.path
    whole_sample.close()
    window = opened(path)
    for step, shows in zip(window.tries._steps_to_try[2:4], ("response_id", "item_id"), strict=True):
        window.session.go(step.page, **step.place)
        left = window.page.place()
        assert left[shows]
        window.close()
        window = opened(path)
        assert (window.page.NAME, window.page.place()) == (step.page, left)
    window.close()
    # A place is a person's own: it is not in the file that others open too.
    before = settings_of(path)
    window = opened(path)
    window.show_page("Results")
    window.close()
    assert settings_of(path) == before
    with closing(Project.open(path)) as project:
        me = project.person
        project.work_as(next(one for one in people.people(project) if one.alias == "Annotator B"))
    window = opened(path)
    assert window.page.NAME == "Author"
    window.close()
    with closing(Project.open(path)) as project:
        project.work_as(me)
    window = opened(path)
    assert window.page.NAME == "Results"
    window.show_page("Check")
    window.close()
    assert opened(path).page.NAME == "Home"
