"""Kinds of errors and response modes on the label page: by keys, when wished, never in the way of labelling."""

import pytest

from annotator.actions.labelling import label_sealing, label_tasks, labels, second_looks
from annotator.gui.pages.labelling import LabelPage
from annotator.protocols import TAXONOMIES
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES, MODES
from tests.projects.labelled_protocols import CLAIMS, one_item
from tests.windows.labelling_keys import press

PROJECT = one_item


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Label")


def given(page, taxonomy) -> list[str]:
    """The kinds of the open report as the file has them, in the order of the units."""
    found = second_looks.of_report(page.desk.project, page.bench.response_id, taxonomy.name)
    return [found.get(unit.id, "") for unit in page.bench.units]


def offered(page) -> list[str]:
    return [
        button.text().split("\u2003")[0]
        for button in page.criteria.details.kinds.buttons
        if button.isVisible()
    ]


def test_every_kind_has_words():
    for one in TAXONOMIES.values():
        assert one.head
        assert all(kind.words and kind.hint for kind in one.kinds)


def test_nothing_is_asked_before_a_label_and_other_kinds_after_each(page):
    assert not page.criteria.details.kinds.isVisible()
    press("2")
    press("Up")
    assert offered(page) == ["All of it", "A part"]
    press("1")
    press("Up")
    assert offered(page) == ["Retrieved", "Known", "One source", "Several sources"]
    press("-")
    press("Up")
    assert not page.criteria.details.kinds.isVisible()


def test_the_fast_path_is_as_fast_as_ever(page):
    press("2")
    assert page.bench.unit_id == page.bench.units[1].id


def test_a_key_gives_the_kind_shows_it_and_takes_it_back(page):
    press("2")
    press("Up")
    press("Alt+2")
    assert given(page, MISSES) == ["partial_missing", ""]
    assert page.criteria.row.kind.text() == "A part"
    press("Alt+2")
    assert given(page, MISSES) == ["", ""]
    assert not page.criteria.row.kind.isVisible()
    assert page.bench.unit_id == page.bench.units[0].id


def test_whoever_wishes_stays_until_the_kind_is_said(page):
    page.criteria.waiting.setChecked(True)
    press("2")
    assert page.bench.unit_id == page.bench.units[0].id
    press("Alt+1")
    assert page.bench.unit_id == page.bench.units[1].id
    press("1")
    assert "All 2 criteria" in page.messages.text()
    assert LabelPage(page.desk).flow.waits_for_kinds


def test_undo_takes_the_kind_back_first_then_the_label(page):
    press("2")
    press("Up")
    press("Alt+1")
    press("Ctrl+Z")
    assert (given(page, MISSES), page.criteria.row.chip.words()) == (["", ""], "Not met")
    press("Ctrl+Z")
    assert page.criteria.row.chip.words() == "Open"


def test_a_kind_outlives_a_slip_of_the_verdict_but_shows_only_where_it_fits(page):
    press("2")
    press("Up")
    press("Alt+1")
    press("1")
    press("Up")
    assert not page.criteria.row.kind.isVisible()
    press("Alt+4")
    assert given(page, MODES) == ["multi_source_synthesis", ""]
    press("2")
    press("Up")
    assert page.criteria.row.kind.text() == "All of it"


def test_a_claim_whose_page_is_gone_is_suggested_to_be_an_invalid_attribution(page):
    page.window().show_page("Label", protocol=CLAIMS)
    press("Down", 2)
    press("3")
    press("Down", 2)
    assert offered(page) == ["Invalid attribution?", "Unsupported"]
    press("Alt+1")
    assert given(page, CITATION_ERRORS) == ["", "", "invalid_attribution"]
    assert offered(page) == ["Invalid attribution", "Unsupported"]


def test_kinds_of_submitted_labels_can_still_be_given(project, page_over):
    item_id = label_tasks.queue(project)[0].item_id
    for response_id, unit_id in label_sealing.missing(project, item_id):
        labels.set_label(project, response_id, unit_id, "no")
    label_sealing.submit(project, item_id)
    page = page_over(project, "Label", item_id=item_id)
    press("Alt+1")
    assert given(page, MISSES) == ["incompleteness", ""]


def test_coming_back_shows_what_was_given(page):
    press("2")
    press("Up")
    press("Alt+2")
    press("Ctrl+PgDown")
    press("Ctrl+PgUp")
    assert page.criteria.rows[page.bench.units[0].id].kind.text() == "A part"
