"""Points of a checklist on the Label page: rated from 0 to 10 by keyboard, with the four bands at hand."""

import pytest

from annotator.actions.items import items
from tests.material.rated_tasks import NAME, rated_tasks
from tests.projects.labelling_project import add_report
from tests.windows.labelling_keys import press

PROJECT = rated_tasks


@pytest.fixture
def page(project, page_over):
    response_id = add_report(project, items.ids(project)[0], "Gamma")
    return page_over(project, "Label", protocol=NAME, response_id=response_id)


def test_ratings_are_given_by_keys_and_10_has_one_of_its_own(page):
    assert page.tabs.tabs.tabText(page.tabs.tabs.currentIndex()) == "Checklist"
    rated = page.bench.sheet.response_id
    for key in ("7", "=", "0"):
        press(key)
    assert page.bench.sheet.response_id == rated
    points = [unit.id for group in page.bench.sheet.groups for unit in group.units]
    assert [page.bench.said(unit) for unit in points] == ["7", "10", "0"]


def test_the_guideline_names_the_four_bands(page):
    press("F2")
    told = page.guideline.text.toPlainText()
    for words in ("mastery", "basic", "inadequate", "nothing on this point"):
        assert words in told
