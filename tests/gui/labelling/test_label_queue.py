"""The queue of reports to be labelled: its model, and where it folds."""

import pytest
from PySide6.QtCore import QModelIndex, QSettings, Qt

from annotator.actions.labelling.label_tasks import LabelTask
from annotator.gui import theme
from annotator.gui.pages.labelling.label_queue import ROW_ROLE, ItemGroup, LabelQueue, ReportFilter
from tests.projects.labelling_project import labelling_project

PROJECT = labelling_project


def task(item: int, letter: str, labelled: int = 0, unsure: int = 0, units: int = 4) -> LabelTask:
    question = f"Question {item} on attribution" if item % 2 else f"Frage {item} zur Zuschreibung"
    return LabelTask(
        f"i{item}", str(item), question, f"{item}{letter}", f"Report {letter}", units, labelled, unsure
    )


@pytest.fixture
def queue(qapp):
    made = LabelQueue()
    made.fill([task(1, "A", 4), task(1, "B", 2), task(2, "A", 4, 1), task(2, "B"), task(3, "A")])
    return made


def shown(queue: LabelQueue) -> list[str]:
    rows = [queue.index(n).data(ROW_ROLE) for n in range(queue.rowCount())]
    return [row.item_key if isinstance(row, ItemGroup) else row.response_id for row in rows]


def test_the_model_keeps_qts_contract(queue, qtmodeltester):
    qtmodeltester.check(queue)


def test_reports_stand_under_their_items(queue):
    assert shown(queue) == ["1", "1A", "1B", "2", "2A", "2B", "3", "3A"]


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        (ReportFilter.TO_DO, ["1", "1B", "2", "2B", "3", "3A"]),
        (ReportFilter.UNSURE, ["2", "2A"]),
        (ReportFilter.DONE, ["1", "1A", "2", "2A"]),
    ],
)
def test_a_filter_leaves_reports_in_its_state_and_their_items(queue, show, expected):
    queue.narrow(show, "", "")
    assert shown(queue) == expected


def test_search_looks_at_the_items_words_in_any_case_and_order(queue):
    queue.narrow(ReportFilter.ALL, "ATTRIBUTION question 3", "")
    assert shown(queue) == ["3", "3A"]


def test_the_open_report_stays_whatever_the_filter(queue):
    queue.narrow(ReportFilter.DONE, "", "3A")
    assert shown(queue) == ["1", "1A", "2", "2A", "3", "3A"]


def test_a_report_that_is_done_keeps_its_line_until_the_list_is_narrowed_anew(queue, qtbot):
    queue.narrow(ReportFilter.TO_DO, "", "")
    with qtbot.waitSignal(queue.dataChanged):
        queue.count("1B", 4, 0)
    assert "1B" in shown(queue)
    queue.narrow(ReportFilter.TO_DO, "", "")
    assert "1B" not in shown(queue)


def test_the_keys_pass_over_the_lines_of_items(queue):
    assert queue.flags(queue.index(0)) == Qt.ItemFlag.NoItemFlags
    assert queue.flags(queue.index(1)) & Qt.ItemFlag.ItemIsSelectable


def test_next_open_wraps_around_and_ignores_the_filter(queue):
    queue.narrow(ReportFilter.DONE, "", "")
    assert [queue.next_open(at).response_id for at in ("1A", "2A", "3A")] == ["1B", "2B", "1B"]


def test_next_open_is_none_when_everything_is_labelled(qapp):
    queue = LabelQueue()
    queue.fill([task(1, "A", 4), task(1, "B", 4)])
    assert queue.next_open("1A") is None


def test_the_only_open_report_comes_after_itself(queue):
    for report in ("2B", "3A"):
        queue.count(report, 4, 0)
    assert queue.next_open("1B").response_id == "1B"


def test_neighbours_are_those_that_are_shown_and_end_at_the_ends(queue):
    queue.narrow(ReportFilter.TO_DO, "", "")
    assert queue.neighbour("1B", 1).response_id == "2B"
    assert queue.neighbour("1B", -1) is None
    assert queue.neighbour("3A", 1) is None


def test_what_is_left_counts_reports_with_open_criteria(queue):
    assert (queue.left, queue.counted(ReportFilter.UNSURE)) == (3, 1)


def test_a_question_that_looks_like_markup_is_shown_letter_by_letter(qapp):
    queue = LabelQueue()
    queue.fill([LabelTask("i", "1", '<img src="file:///x">', "r", "Report A", 1, 0, 0)])
    assert (
        queue.index(0).data(Qt.ItemDataRole.ToolTipRole) == "<qt>&lt;img src=&quot;file:///x&quot;&gt;</qt>"
    )


def test_ten_thousand_reports_are_listed_with_their_items(qapp):
    queue = LabelQueue()
    queue.fill([task(item, letter) for item in range(2000) for letter in "ABCDE"])
    assert queue.rowCount() == 12_000
    assert queue.rowCount(queue.index(3)) == 0
    assert queue.place("1999E").row() == 11_999
    assert queue.place("none") == QModelIndex()


def test_the_list_folds_where_there_is_no_room_for_it_at_this_size(project, page_over, qtbot):
    # The version before kept this at every start.
    QSettings().setValue("label/queue", True)
    page = page_over(project, "Label")
    for wide, shown in ((1000, False), (1700, True)):
        page.window().resize(wide, 800)
        qtbot.waitUntil(lambda shown=shown: page.queue_pane.isVisible() is shown)
    theme.zoom_to(150)
    assert not page.queue_pane.isVisible()
    theme.zoom(0)
    assert page.queue_pane.isVisible()
