"""Pairs on the label page: two reports side by side that scroll together, one key for the verdict."""

import pytest
import shiboken6
from PySide6.QtWidgets import QPlainTextEdit

from annotator.actions.items import items
from annotator.actions.labelling import label_cases, labels
from annotator.gui.pages.labelling import LabelPage
from annotator.gui.pages.labelling.linked_scrolling import LinkedScrolling
from annotator.gui.widgets.basics import PlainLabel
from tests.projects.labelled_protocols import PAIRS, kept, one_item, reports, retext
from tests.projects.labelling_project import SYSTEMS, add_report
from tests.windows.labelling_keys import focus, press

PROJECT = one_item


@pytest.fixture
def page(project, page_over):
    add_report(project, items.ids(project)[0], SYSTEMS[2], "# A third\n\nShort.")
    return page_over(project, "Label", protocol=PAIRS)


def test_two_reports_stand_side_by_side_without_names_of_systems(page):
    sheet = page.bench.sheet
    first, second = page.report_pane.first, page.report_pane.beside
    assert (first.text, second.text) == (sheet.report, sheet.other)
    assert (first.head.text(), second.head.text()) == (
        f"First — {sheet.name}",
        f"Second — {sheet.other_name}",
    )
    assert first.mapTo(page, first.rect().topLeft()).y() == second.mapTo(page, second.rect().topLeft()).y()
    assert abs(first.width() - second.width()) < 40


def test_one_key_gives_the_verdict_and_the_next_pair_lies_open(page):
    first, second, _ = page.queue.tasks
    press("2")
    assert page.bench.task_id == second.id
    sheet = labels.sheet(page.desk.project, first.response_id, PAIRS, first.other_id)
    assert sheet.labels[first.other_id].value == "second"
    assert page.queue.task(first.id).labelled == 1


def test_undo_returns_to_the_pair(page):
    first = page.bench.task_id
    press("1")
    press("Ctrl+Z")
    assert (page.bench.task_id, kept(page)) == (first, {})


def test_the_last_pair_ends_it(page):
    press("1")
    press("3")
    press("-")
    assert page.done.isVisible()
    assert "3 pairs. Thank you. 1 is marked unsure." in page.done.findChildren(PlainLabel)[1].text()


def test_evidence_of_either_report_is_found_again(page):
    for pane in page.report_pane.panes:
        view = pane.report
        view.select(0, 5)
        press("Ctrl+E")
        assert [m.end - m.start for m in view.marks("evidence")] == [5]
        others = [one.report.marks("evidence") for one in page.report_pane.panes if one is not pane]
        assert others == [[]]


def test_recent_pairs_lead_back(page):
    first = page.bench.task_id
    press("3")
    menu = page.recent()
    assert [action.text().split(" — ")[0] for action in menu.actions()] == ["Tie"]
    menu.actions()[0].trigger()
    assert page.bench.task_id == first


def test_both_orders_are_two_lines_of_the_queue(page):
    page.desk.do(label_cases.ask_both_orders, PAIRS, True)
    page.window().show_page("Label")
    assert len(page.queue.tasks) == 6
    one = page.queue.tasks[0]
    page._open(f"{one.other_id}~{one.response_id}")
    assert page.report_pane.first.text == page.bench.sheet.report
    press("1")
    assert page.queue.task(one.id).labelled == 0


@pytest.fixture
def long(project, page_over, qtbot):
    for number, response_id in enumerate(reports(project), 1):
        retext(project, response_id, "A paragraph of filling.\n\n" * 150 * number)
    long = page_over(project, "Label", protocol=PAIRS)
    bars = [pane.report.verticalScrollBar() for pane in long.report_pane.panes]
    qtbot.waitUntil(lambda: all(bar.maximum() > 0 for bar in bars))
    return long


def share(pane) -> float:
    bar = pane.report.verticalScrollBar()
    return bar.value() / bar.maximum()


def test_two_reports_scroll_to_the_same_share_of_their_lengths(long):
    one, other = long.report_pane.panes
    bar = one.report.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    assert share(other) == pytest.approx(0.5, abs=0.02)
    other.report.verticalScrollBar().setValue(0)
    assert bar.value() == 0


def test_page_keys_scroll_both_from_the_verdict(long):
    press("PgDown")
    assert all(share(pane) > 0 for pane in long.report_pane.panes)
    assert long.criteria.isAncestorOf(focus())


def test_they_can_be_parted_and_stay_so(long):
    long.report_pane.together.click()
    press("PgDown")
    assert [share(pane) > 0 for pane in long.report_pane.panes] == [True, False]
    assert not LabelPage(long.desk).report_pane.together.isChecked()


def test_the_guideline_beside_a_pair_has_room_to_be_read(page):
    press("F2")
    assert page.guideline.height() > 200
    assert page.guideline.mapTo(page, page.guideline.rect().topLeft()).x() >= page.criteria.width()
    press("F2")
    assert not page.guideline.isVisible()


@pytest.fixture
def areas(qapp):
    """Two linked texts, of which a test may delete either."""
    areas = QPlainTextEdit(), QPlainTextEdit()
    for area, lines in zip(areas, (100, 200), strict=True):
        area.setPlainText("line\n" * lines)
        area.show()
    LinkedScrolling(*areas).on = True
    yield areas
    for area in filter(shiboken6.isValid, areas):
        shiboken6.delete(area)


@pytest.mark.parametrize("first_gone", [0, 1])
def test_of_two_linked_texts_the_one_that_is_left_still_moves(areas, first_gone):
    areas[0].verticalScrollBar().setValue(areas[0].verticalScrollBar().maximum())
    assert areas[1].verticalScrollBar().value() == areas[1].verticalScrollBar().maximum() > 0
    shiboken6.delete(areas[first_gone])
    left = areas[1 - first_gone].verticalScrollBar()
    left.setValue(20)
    assert left.value() == 20


def test_linked_texts_ask_for_their_bars_anew(areas):
    for area in areas:
        shiboken6.invalidate(area.verticalScrollBar())
    areas[1].verticalScrollBar().setValue(areas[1].verticalScrollBar().maximum())
    assert areas[0].verticalScrollBar().value() == areas[0].verticalScrollBar().maximum() > 0
