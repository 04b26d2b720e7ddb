"""The label page under every protocol: claims with their pages, pairs, a matrix, statements, kinds."""

from functools import partial

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.results import result_raters
from annotator.domain.kinds.artifact import Unit
from annotator.gui.pages.labelling.page import LabelPage
from annotator.gui.pages.labelling.report_pane import LinkedScrolling
from annotator.gui.pages.labelling.units_pane import Matrix
from annotator.gui.widgets.basics import PlainLabel
from annotator.protocols import PROTOCOLS, USUAL
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES
from tests.material.rated_tasks import NAME, rated_tasks
from tests.projects.small_projects import (
    ALL,
    CLAIMS,
    GOLD,
    GOOD,
    PAGE,
    PAIRS,
    PLAN,
    PREDICTED,
    PREFERENCE,
    REASONING,
    SYSTEMS,
    add_report,
    kept,
    labelling_project,
    one_item,
    reports,
    retext,
)
from tests.windows.using import focus, press, type_words

PROJECT = one_item


@pytest.fixture
def show(project, page_over):
    return partial(page_over, project, "Label")


def test_a_project_with_one_protocol_shows_no_choice(tmp_path, page_over):
    (folder := tmp_path / "plain").mkdir()
    assert not page_over(labelling_project(folder, reports=1), "Label").tabs.isVisible()


def test_every_protocol_has_its_tab_and_letter_17_three_respects_are_chosen_beside_the_whole(show):
    page = show(protocol=USUAL)
    assert [page.tabs.tabs.tabText(n) for n in range(page.tabs.tabs.count())] == [
        PROTOCOLS[name].presentation.tab for name in ALL
    ]
    met = []
    for _ in ALL:
        press("Ctrl+Tab")
        met.append(page.bench.protocol)
    assert met == [*ALL[1:], ALL[0]]
    press("Ctrl+Shift+Tab")
    assert page.bench.protocol == PREFERENCE
    press("Ctrl+Shift+Tab")
    assert page.bench.protocol == REASONING
    press("Ctrl+PgDown", "Down")
    there = (page.bench.task_id, page.bench.unit_id)
    press("1", "Ctrl+Tab", "Ctrl+Z")
    assert (page.bench.protocol, page.bench.task_id, page.bench.unit_id, kept(page)) == (
        REASONING,
        *there,
        {},
    )
    press("Ctrl+Tab", "Ctrl+Shift+Tab")
    assert (page.bench.task_id, page.bench.unit_id) == there
    assert page.criteria.isAncestorOf(focus())
    press("Ctrl+Tab")
    assert page.bench.protocol == PREFERENCE
    details = page.criteria.details
    assert [row.isVisible() for row in details.kind_rows] == [False] * 3
    page.flow.waits_for_kinds = True
    press("1")
    rows = page.criteria.details.kind_rows
    assert [row.head.text() for row in rows if row.isVisible()] == [
        "Factuality",
        "Comprehensiveness",
        "Coherence",
    ]
    press("Alt+2", "Alt+4")
    rows[2].buttons[2].click()
    project, response_id = page.session.project, page.bench.response_id
    unit = page.bench.units[0].id
    result = {
        one.title: label_sealing.of_report(project, response_id, one.name)
        for one in label_sealing.TAXONOMIES.values()
    }
    assert [result[name] for name in ("Factuality", "Comprehensiveness", "Coherence")] == [
        {unit: "second"}, {unit: "first"}, {unit: "tie"},
    ]  # fmt: skip


LACKING = (
    ("drawn plan", "No plan is drawn", ["Material", {"part": "Extracts"}]),
    ("drawn claims", "No claims are drawn", ["Material", {"part": "Extracts"}]),
    ("citations", "No claim cites", ["Material", {"part": "Extracts"}]),
    ("pages", "No cited page", ["Material", {"part": "Cited pages"}]),
    ("checklist", "No checklist to label by", ["Author", {}]),
    ("nothing asked", "No statement has its gold label", ["Author", {}]),
    ("writing", "First write your own", ["Author", {}]),
    ("rivals", "No two reports", ["Import", {}]),
)


def test_gaps_and_everything_that_can_be_lacking_have_words_and_a_way(show, monkeypatch, qtbot):
    page = show(protocol=CLAIMS)
    assert page.tabs.gap.text() == "No claims are drawn from 1 of 2 reports yet."
    page.session.wanted.disconnect()
    with qtbot.waitSignal(page.session.wanted) as wanted:
        page.tabs.mend.click()
    assert wanted.args == ["Material", {"part": "Extracts"}]
    page.criteria.take_focus()
    press("Ctrl+Tab")
    assert (page.bench.protocol, page.tabs.gap.text(), page.tabs.mend.isVisible()) == (PAIRS, "", False)
    monkeypatch.setattr(labels, "outlook", lambda project, protocol: labels.LabelTasks([]))
    for lacking, headline, way in LACKING:
        monkeypatch.setattr(labels, "lacking", lambda *_, lacking=lacking: lacking)
        page.navigate({"protocol": REASONING})
        empty = page.whole.currentWidget()
        assert empty.findChildren(PlainLabel)[0].text().startswith(headline)
        with qtbot.waitSignal(page.session.wanted) as wanted:
            empty.findChildren(QPushButton)[0].click()
        assert wanted.args == way


@pytest.fixture
def claims_page(project, page_over):
    return page_over(project, "Label", protocol=CLAIMS)


def test_a_claim_its_context_and_the_words_of_its_page_are_in_view_together(claims_page):
    card, beside = claims_page.criteria.row, claims_page.report_pane.beside
    assert card.words.text() == "The first study measured 75 %."
    assert card.context.isVisible()
    assert card.context.text() == "“The *first* study measured 75 % citation accuracy.”"
    assert beside.isVisible()
    assert beside.report.text() == PAGE
    assert beside.head.text() == f"Cited page: {GOOD}"
    press("F6", 2)
    assert focus() is beside.report
    press("Ctrl+F")
    type_words("75 %")
    press("Return", "Ctrl+E")
    label = claims_page.bench.label("c1")
    assert (label.quote, label.quote_start) == ("75 %", None)
    assert [beside.report.text()[mark.start : mark.end] for mark in beside.report.marks("evidence")] == [
        "75 %"
    ]
    assert claims_page.report_pane.report.marks("evidence") == []
    claims_page.criteria.take_focus()
    press("Down", 2)
    assert beside.banner.text() == "This page could not be read: not there. 404"
    enabled = [button.isEnabled() for button in claims_page.criteria.details.verdicts.buttons]
    assert enabled == [False, False, True, True]
    assert claims_page.bar.buttons["say_rest"].isVisible()
    press("0")
    assert claims_page.bench.label("c3").value == "unknown"


def test_what_was_not_handed_out_is_submitted_report_by_report_and_stays_open(claims_page):
    press("1", 2, "3")
    assert "All 3 claims of this report are labelled." in claims_page.messages.text()
    assert claims_page.bar.buttons["submit"].text().startswith("Submit")
    assert "people" not in [rater.name for rater in result_raters.raters(claims_page.session.project, CLAIMS)]
    press("Ctrl+Return")
    assert [rater.name for rater in result_raters.raters(claims_page.session.project, CLAIMS)] == ["people"]
    assert claims_page.done.isVisible()
    words = [label.text() for label in claims_page.done.findChildren(PlainLabel)]
    assert words[:2] == ["All labelled and submitted", "3 claims in 1 report. Thank you."]
    assert not any(b.isVisible() and "Submit" in b.text() for b in claims_page.done.findChildren(QPushButton))


@pytest.fixture
def kinds_page(project, page_over):
    return page_over(project, "Label")


def given(page, taxonomy) -> list[str]:
    """The kinds of the open report as the file has them, in the order of the units."""
    result = label_sealing.of_report(page.session.project, page.bench.response_id, taxonomy.name)
    return [result.get(unit.id, "") for unit in page.bench.units]


def offered(page) -> list[str]:
    return [
        button.text().split("\u2003")[0]
        for button in page.criteria.details.kinds.buttons
        if button.isVisible()
    ]


def test_a_key_gives_the_kind_and_one_of_a_claim_whose_page_is_gone_is_suggested(kinds_page):
    first, second = kinds_page.bench.units
    press("2", "Up", "Alt+2")
    assert given(kinds_page, MISSES) == ["partial_missing", ""]
    assert kinds_page.criteria.row.kind.text() == "A part"
    press("Alt+2")
    assert given(kinds_page, MISSES) == ["", ""]
    assert not kinds_page.criteria.row.kind.isVisible()
    assert kinds_page.bench.unit_id == first.id
    kinds_page.criteria.waiting.setChecked(True)
    press("2")
    assert kinds_page.bench.unit_id == first.id
    press("Alt+1")
    assert kinds_page.bench.unit_id == second.id
    press("1")
    assert "All 2 criteria" in kinds_page.messages.text()
    assert LabelPage(kinds_page.session).flow.waits_for_kinds
    kinds_page.criteria.waiting.setChecked(False)
    kinds_page.window().show_page("Label", protocol=CLAIMS)
    press("Down", 2, "3", "Down", 2)
    assert offered(kinds_page) == ["Invalid attribution?", "Unsupported"]
    press("Alt+1")
    assert given(kinds_page, CITATION_ERRORS) == ["", "", "invalid_attribution"]
    assert offered(kinds_page) == ["Invalid attribution", "Unsupported"]


@pytest.fixture
def matrix_page(project, page_over):
    return page_over(project, "Label", protocol=PLAN)


def at(page) -> str:
    return page.bench.unit_id


def test_gold_goes_down_predicted_across_from_cell_to_cell_and_digits_fill_a_column_whose_rest_is_said_by_one_key(
    matrix_page, qtbot
):
    matrix = matrix_page.criteria.matrix
    assert (matrix.model.rowCount(), matrix.model.columnCount()) == (3, 3)
    assert [matrix.model.index(n, 0).data() for n in range(3)] == list(GOLD)
    assert (matrix.predicted.text(), matrix.words.text()) == ("Predicted 1 of 2", PREDICTED[0])
    assert focus() is matrix.table
    press("Down", "Right")
    assert at(matrix_page) == "p2~g2"
    assert matrix.words.text() == PREDICTED[1]
    press("Left", 3, "Up", 5)
    assert at(matrix_page) == "p1~g1"
    # Of words alone nothing is chosen.
    for column in (2, 0):
        place = matrix.table.visualRect(matrix.model.index(2, column)).center()
        qtbot.mouseClick(matrix.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert at(matrix_page) == "p2~g3"
    press("Left", 3, "Up", 5)
    press("Down", "1")
    assert matrix_page.bar.buttons["say_rest"].text().startswith("Rest not relevant")
    press("0")
    assert kept(matrix_page) == {"p1~g1": "not", "p1~g2": "relevant", "p1~g3": "not"}
    assert at(matrix_page) == "p2~g1"
    press("Ctrl+Z")
    assert kept(matrix_page) == {"p1~g2": "relevant"}
    assert matrix_page.queue.lines[0].labelled == 1
    press("Right", "Up", 2)
    assert at(matrix_page) == "p2~g1"
    for key in ("1", "2", "-", "4"):
        press(key)
    assert kept(matrix_page) == {"p1~g2": "relevant", "p2~g1": "relevant", "p2~g2": "not", "p2~g3": None}


def test_a_plan_drawn_from_a_report_is_never_read_as_markup(qapp):
    model = Matrix()
    unit = Unit(id="c", text="Gold")
    group = labels.UnitGroup((unit,), {"predicted": "<img src='file:///secret.png'>"}, ())
    model.lay_out(PLAN, [group], lambda _: "", lambda _: "")
    tip = model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "&lt;img" in tip
    assert "<img" not in tip


@pytest.fixture
def pairs_page(project, page_over):
    add_report(project, items.ids(project)[0], SYSTEMS[2], "# A third\n\nShort.")
    return page_over(project, "Label", protocol=PAIRS)


def test_two_reports_stand_side_by_side_without_names_of_systems(pairs_page):
    sheet = pairs_page.bench.sheet
    first, second = pairs_page.report_pane.first, pairs_page.report_pane.beside
    assert (first.text, second.text) == (sheet.report, sheet.other)
    assert (first.head.text(), second.head.text()) == (
        f"First — {sheet.name}",
        f"Second — {sheet.other_name}",
    )
    assert (
        first.mapTo(pairs_page, first.rect().topLeft()).y()
        == second.mapTo(pairs_page, second.rect().topLeft()).y()
    )
    assert abs(first.width() - second.width()) < 40


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


def test_two_reports_scroll_to_the_same_share_of_their_lengths_until_they_are_parted(long):
    one, other = long.report_pane.panes
    bar = one.report.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    assert share(other) == pytest.approx(0.5, abs=0.02)
    other.report.verticalScrollBar().setValue(0)
    assert bar.value() == 0
    long.report_pane.together.click()
    press("PgDown")
    assert [share(pane) > 0 for pane in long.report_pane.panes] == [True, False]
    assert not LabelPage(long.session).report_pane.together.isChecked()


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


@pytest.fixture
def ratings_page(tmp_path, page_over):
    project = rated_tasks(tmp_path)
    response_id = add_report(project, items.ids(project)[0], "Gamma")
    return page_over(project, "Label", protocol=NAME, response_id=response_id)


def test_ratings_are_given_by_keys_and_10_has_one_of_its_own(ratings_page):
    assert ratings_page.tabs.tabs.tabText(ratings_page.tabs.tabs.currentIndex()) == "Checklist"
    rated = ratings_page.bench.sheet.response_id
    for key in ("7", "=", "0"):
        press(key)
    assert ratings_page.bench.sheet.response_id == rated
    points = [unit.id for group in ratings_page.bench.sheet.groups for unit in group.units]
    assert [ratings_page.bench.value_of(unit) for unit in points] == ["7", "10", "0"]
