"""Small widgets that know no domain: each does its one thing."""

import gc
from enum import Enum

import pytest
from PySide6.QtCore import QEvent, QLocale, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QProgressBar,
    QPushButton,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from annotator.gui import theme
from annotator.gui.forms.fields import ChoiceButtons
from annotator.gui.widgets.bars.flow_row import FlowRow, wrapping
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.progress_row import ProgressRow, left_in_words
from annotator.gui.widgets.bars.spread_bar import SpreadBar, SpreadPart
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, tooltip, wrap_lines
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.number_box import AmountBox, BudgetBox, NumberBox
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.filter_row import FilterRow
from annotator.gui.widgets.lists.tick_list import TickList
from annotator.gui.widgets.plain_area import PlainArea
from annotator.gui.widgets.reading.raw_text import RawText
from annotator.gui.widgets.reading.units import TextPositions


def test_a_label_of_data_never_reads_markup(qtbot):
    label = PlainLabel("<img src='/dev/zero'> & <b>")
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText


def test_a_tooltip_shows_markup_as_text():
    assert tooltip("<img src='x'>\n&") == "<qt>&lt;img src=&#x27;x&#x27;&gt;<br>&amp;</qt>"
    assert tooltip("") == ""


def test_an_elided_label_shows_the_whole_in_its_tooltip_only_when_it_is_cut(qtbot):
    label = ElidedLabel("a question\nof many words " * 5)
    qtbot.addWidget(label)
    label.resize(120, 24)
    label.show()
    assert label.elided().endswith("…")
    assert "a question of many words" in label.toolTip()
    label.resize(3_000, 24)
    assert label.elided() == ("a question of many words " * 5).strip()
    assert label.toolTip() == ""


def test_a_key_button_prints_its_key(qtbot):
    button = KeyButton("Met & gone", "1")
    qtbot.addWidget(button)
    assert button.text() == "Met && gone\u20031"
    button.set_key("Ctrl+Return")
    assert button.text().endswith("Ctrl+Enter")
    assert button.accessibleName() == "Met & gone, key Ctrl+Enter"
    assert button.shortcut().isEmpty()


def test_an_empty_page_offers_what_to_do(qtbot):
    went: list[str] = []
    empty = EmptyState("items", "No items yet", "Import some.")
    qtbot.addWidget(empty)
    empty.add_action("Import…", lambda: went.append("import"), primary=True)
    empty.add_action("Add…", lambda: went.append("add"))
    first, second = empty.findChildren(QPushButton)
    assert first.property("role") == "primary"
    second.click()
    first.click()
    assert went == ["add", "import"]
    assert "No items yet" in [label.text() for label in empty.findChildren(QLabel)]


def test_progress_says_what_how_many_and_how_long_still(qtbot):
    row = ProgressRow()
    qtbot.addWidget(row)
    row.show_progress("Judging", 412, 1_931, 185.0)
    assert row._count.text() == "412 of 1,931 · about 3 min left"
    assert row.findChild(QProgressBar).value() == 412
    row.show_progress("Stopping", 0, 0)
    assert row._count.text() == ""
    assert row.findChild(QProgressBar).maximum() == 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (2, "a few seconds left"), (31, "about 30 s left"), (58, "about 1 min left"),
     (600, "about 10 min left"), (5_400, "about 1 h 30 min left")],
)  # fmt: skip
def test_how_long_still_is_said_in_words(seconds, words):
    assert left_in_words(seconds) == words


def test_a_spread_says_shares_and_those_of_others(qtbot):
    bar = SpreadBar()
    qtbot.addWidget(bar)
    bar.show_parts(
        [SpreadPart("weight 3", 1, 0.1364), SpreadPart("weight 2", 3, 0.5091), SpreadPart("weight 1", 4)]
    )
    assert bar.accessibleName() == (
        "weight 3: 1 (12%, elsewhere 14%); weight 2: 3 (38%, elsewhere 51%); weight 1: 4 (50%)"
    )


def test_a_spread_that_lacks_room_leaves_out_those_of_others_first(qtbot):
    bar, part = SpreadBar(), SpreadPart("2", 3, 0.51)
    qtbot.addWidget(bar)
    advance = bar.fontMetrics().horizontalAdvance
    assert bar.label(part, 0.5, advance("2 · 50% / 51%")) == "2 · 50% / 51%"
    assert bar.label(part, 0.5, advance("2 · 50% / 51%") - 1) == "2 · 50%"


def test_a_spread_is_drawn_in_proportion(qtbot):
    bar = SpreadBar()
    qtbot.addWidget(bar)
    bar.resize(400, bar.sizeHint().height())
    bar.show_parts([SpreadPart("a", 1), SpreadPart("b", 3)])
    image = bar.grab().toImage()
    assert image.pixelColor(50, 4) == bar._colour(0)
    assert image.pixelColor(150, 4) == bar._colour(1)
    bar.show_parts([])
    bar.grab()


def test_places_beyond_the_first_plane_are_counted_as_qt_does():
    places = TextPositions("a👩b🔬c")
    assert [places.to_qt(n) for n in range(6)] == [0, 1, 3, 4, 6, 7]
    assert [places.from_qt(n) for n in (0, 1, 3, 4, 6, 7)] == [0, 1, 2, 3, 4, 5]


class Show(Enum):
    """What a list may be narrowed to."""

    TO_DO = "To do"
    UNSURE = "Unsure"
    DONE = "Done"
    ALL = "All"


@pytest.mark.parametrize(("share", "lines"), [(1.0, 1), (0.75, 2), (0.25, 4)])
def test_filters_stand_in_as_many_lines_as_they_need(qtbot, share, lines):
    pane = QWidget()
    qtbot.addWidget(pane)
    row = FilterRow(Show, Show.ALL)
    row.setParent(pane)
    pane.show()
    buttons = row.findChildren(QToolButton)
    row.resize(int(sum(button.sizeHint().width() + 2 for button in buttons) * share), 200)
    row.layout().activate()
    assert len({button.y() for button in buttons}) == lines


def test_one_filter_holds_and_each_says_what_it_admits(qtbot):
    row = FilterRow(Show, Show.ALL)
    qtbot.addWidget(row)
    row.show_counts({Show.TO_DO: 3, Show.DONE: 0})
    with qtbot.waitSignal(row.chosen):
        row.findChildren(QToolButton)[0].click()
    assert row.held is Show.TO_DO
    assert [button.isChecked() for button in row.findChildren(QToolButton)] == [True, False, False, False]
    assert [button.text() for button in row.findChildren(QToolButton)][::2] == ["To do 3", "Done"]


def test_other_choices_leave_what_was_chosen_where_it_is_still_offered(qtbot):
    combo = QComboBox()
    qtbot.addWidget(combo)
    offer(combo, [("All", ""), ("First", "a"), ("Second", "b")])
    combo.setCurrentIndex(2)
    with qtbot.assertNotEmitted(combo.currentIndexChanged):
        offer(combo, [("All", ""), ("The second", "b")])
    assert (combo.currentText(), combo.currentData()) == ("The second", "b")
    offer(combo, [("All", "")])
    assert combo.currentText() == "All"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_long_choice_ends_in_an_ellipsis_and_is_told_whole(qtbot):
    box = ChoiceBox()
    qtbot.addWidget(box)
    offer(box, [("baseline (no network)", "b"), ("", "")])
    box.resize(90, 30)
    box.show()
    assert box.elided().endswith("…")
    QApplication.sendEvent(box, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), box.mapToGlobal(QPoint(5, 5))))
    assert "baseline (no network)" in QToolTip.text()
    box.resize(400, 30)
    assert box.elided() == "baseline (no network)"


@pytest.mark.parametrize("words", ["Length in characters", "Coverage of expert criteria", "说明浓盐水排放"])
def test_a_choice_that_is_as_wide_as_its_words_shows_them_whole(words, sample, window_over):
    box = ChoiceBox(window_over(sample))
    box.addItem(words)
    box.show()
    box.resize(box.sizeHint())
    assert box.elided() == words


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
@pytest.mark.parametrize("share", [0, 0.5, 0.95], ids=["top", "middle", "bottom"])
@pytest.mark.parametrize("percent", [100, 150, 200])
@pytest.mark.parametrize("entries", [3, 14, 40])
def test_a_list_that_drops_down_shows_its_last_row_whole(entries, percent, share, qtbot):
    theme.zoom_to(percent)
    box = ChoiceBox()
    qtbot.addWidget(box)
    theme.wear(box)
    offer(box, [(f"Entry {number}", str(number)) for number in range(entries)])
    screen = box.screen().availableGeometry()
    box.show()
    box.move(screen.left(), screen.top() + int(screen.height() * share) - box.height() * round(share))
    for current in (0, entries - 1):
        box.setCurrentIndex(current)
        box.showPopup()
        rows, room = box.view(), box.view().viewport().rect()
        assert screen.contains(rows.window().geometry())
        assert room.height() % rows.sizeHintForRow(0) == 0
        rows.scrollToBottom()
        assert room.contains(QRect(0, rows.visualRect(rows.model().index(entries - 1, 0)).y(), 1, 1))
        box.hidePopup()


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
@pytest.mark.parametrize(
    "words",
    [
        "Attribution of claims to sources, as experts see it",
        "说明残差连接为何有效。" * 4,
        "يشرح سبب نجاح الوصلات. " * 4,
    ],
)
@pytest.mark.parametrize("wide", [700, 240])
def test_a_list_that_drops_down_is_as_wide_as_its_longest_entry_up_to_the_window(words, wide, qtbot):
    window, box = QWidget(), ChoiceBox()
    qtbot.addWidget(window)
    box.keep_short(6)
    offer(box, [("Short", "short"), (words, "long")])
    horizontal(box, StretchSpace(1), on=window)
    theme.wear(window)
    window.resize(wide, 200)
    window.show()
    box.showPopup()
    rows = box.view()
    whole = rows.viewport().width() >= rows.fontMetrics().horizontalAdvance(words)
    assert rows.window().width() <= max(wide, box.width())
    assert whole or rows.window().width() > wide - 20
    assert whole or words.strip() in rows.model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert whole or rows.textElideMode() != Qt.TextElideMode.ElideNone
    assert whole == (wide == 700)
    box.hidePopup()


def test_a_list_of_sentences_shows_all_of_them(qtbot):
    entries = QListWidget()
    qtbot.addWidget(entries)
    wrap_lines(entries)
    entries.addItem("Working apart: tasks and returned work")
    entries.resize(160, 200)
    entries.show()
    assert entries.visualItemRect(entries.item(0)).height() > 1.5 * entries.fontMetrics().height()
    assert entries.horizontalScrollBar().maximum() == 0


def test_what_is_ticked_stays_ticked_among_other_names(qtbot):
    ticks = TickList("Systems", 2, 3)
    qtbot.addWidget(ticks)
    ticks.offer(["Alpha", "Beta"])
    with qtbot.waitSignal(ticks.ticked_anew):
        ticks.item(1).setCheckState(Qt.CheckState.Checked)
    with qtbot.assertNotEmitted(ticks.ticked_anew):
        ticks.offer(["Beta", "Gamma", "Delta"])
    assert ticks.ticked() == ("Beta",)
    assert [ticks.item(row).text() for row in range(ticks.count())] == ["Beta", "Gamma", "Delta"]


def test_a_budget_of_nothing_is_no_limit(qtbot):
    budget = BudgetBox()
    qtbot.addWidget(budget)
    assert (budget.limit, budget.text()) == (None, "no limit")
    budget.setValue(2.5)
    assert budget.limit == 2.5


def test_tab_goes_through_what_stands_in_a_plain_area_and_never_stops_at_it(qtbot):
    inside = QLineEdit()
    area = PlainArea("Settings", inside)
    qtbot.addWidget(area)
    assert area.accessibleName() == "Settings"
    assert area.focusPolicy() == Qt.FocusPolicy.NoFocus
    assert inside.focusPolicy() == Qt.FocusPolicy.StrongFocus


def test_a_text_as_it_came_grows_with_all_others(qtbot):
    text = RawText("The reply")
    qtbot.addWidget(text)
    text.show()
    before = text.font().pointSizeF()
    theme.zoom_to(200)
    assert text.font().pointSizeF() == pytest.approx(2 * before)
    theme.zoom_to(100)


@pytest.fixture(params=["en_US", "de_DE", "fr_FR", "ar_EG"])
def elsewhere(request):
    here = QLocale()
    QLocale.setDefault(QLocale(request.param))
    yield
    QLocale.setDefault(here)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("typed", ["2.5", "2,5"])
def test_an_amount_is_what_was_typed_whatever_the_system_speaks(qtbot, typed):
    box = BudgetBox()
    qtbot.addWidget(box)
    box.selectAll()
    qtbot.keyClicks(box, typed)
    box.interpretText()
    assert (box.limit, box.text()) == (2.5, "$ 2.50")


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("box", "said"), [(AmountBox, "٢٫٥"), (NumberBox, "٢٥")])
def test_digits_of_another_script_are_read(qtbot, box, said):
    made = box()
    qtbot.addWidget(made)
    made.lineEdit().selectAll()
    made.lineEdit().insert(said)
    made.interpretText()
    assert made.value() == {AmountBox: 2.5, NumberBox: 25}[box]
    assert made.text().isascii()


def test_an_amount_with_two_points_is_not_taken(qtbot):
    box = AmountBox(value=1.0)
    qtbot.addWidget(box)
    box.lineEdit().selectAll()
    box.lineEdit().insert("1,500.00")
    box.interpretText()
    assert box.value() == 1.0


def test_a_field_takes_what_its_line_of_a_row_that_breaks_has_left(qtbot):
    holder, field, button = QWidget(), LineField(), QPushButton("A button")
    qtbot.addWidget(holder)
    holder.setLayout(wrapping(field, button, gap=10))
    holder.resize(900, 200)
    holder.show()
    beside = button.sizeHint().width()
    assert (field.width(), button.x()) == (900 - 10 - beside, 900 - beside)
    field.setMaximumWidth(400)
    qtbot.waitUntil(lambda: (field.width(), button.x()) == (400, 410))
    holder.resize(field.sizeHint().width() + 5, 200)
    assert (field.x(), button.x()) == (0, 0)
    assert button.y() > field.y()


def test_choices_that_break_into_lines_begin_and_end_each_line(qtbot):
    holder, choices = QWidget(), ChoiceButtons("Kind", [(word, word, "") for word in ("One", "Two", "Three")])
    qtbot.addWidget(holder)
    choices.setParent(holder)
    buttons = choices.findChildren(QToolButton)
    holder.show()
    choices.resize(sum(each.sizeHint().width() for each in buttons), 100)
    assert [each.property("position") for each in buttons] == ["first", "middle", "last"]
    choices.resize(sum(each.sizeHint().width() for each in buttons[:2]), 100)
    assert [each.property("position") for each in buttons] == ["first", "last", "only"]


def test_a_row_that_breaks_lets_go_of_what_is_deleted_moved_or_taken(qtbot):
    holder, row = QWidget(), FlowRow(gap=3)
    qtbot.addWidget(holder)
    buttons = [QPushButton(str(number)) for number in range(5)]
    for button in buttons:
        row.addWidget(button)
    QVBoxLayout(holder).addLayout(row)
    buttons[1].deleteLater()
    buttons[2].setParent(None)
    qtbot.waitUntil(lambda: row.count() == 3)
    row.removeWidget(buttons[3])
    taken = row.takeAt(0)
    assert taken.widget() is buttons[0]
    del taken
    gc.collect()
    assert [row.itemAt(place).widget() for place in range(row.count())] == [buttons[4]]
    assert row.heightForWidth(100) == buttons[4].sizeHint().height()
