"""One goes on where one left a project: the page, the item, the unit."""

from contextlib import closing

import pytest

from annotator.actions.project import people
from annotator.actions.project.file import Project, settings_of


def test_a_unit_of_a_rubric_is_come_back_to(whole_sample, opened):
    window = opened(whole_sample.path)
    whole_sample.close()
    second = window.page.sheet.form.editors[1].unit_id
    window.page.sheet.form.go(second)
    before = window.page.place()
    window.close()
    again = opened(whole_sample.path)
    assert again.page.place() == before
    assert before["unit_id"] == second


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
    assert opened(whole_sample.path).page.NAME == "Items"


def test_a_page_that_is_not_a_step_of_the_work_is_not_gone_back_to(whole_sample, opened):
    window = opened(whole_sample.path)
    whole_sample.close()
    window.show_page("Check")
    window.close()
    assert opened(whole_sample.path).page.NAME == "Items"


def test_the_place_is_not_kept_in_the_file_that_others_open_too(whole_sample, opened):
    path = whole_sample.path
    whole_sample.close()
    before = settings_of(path)
    window = opened(path)
    window.show_page("Results")
    window.close()
    assert settings_of(path) == before
