"""Small widgets, fields and messages that know no domain: each does its one thing."""

import gc
from enum import Enum
from functools import partial

import pytest
from PySide6.QtCore import (
    QEvent,
    QLocale,
    QPoint,
    QRect,
    QSize,
    QSizeF,
    Qt,
    QUrl,
)
from PySide6.QtGui import (
    QDesktopServices,
    QFont,
    QGuiApplication,
    QHelpEvent,
    QInputMethodEvent,
    QKeyEvent,
    QResizeEvent,
    QStandardItemModel,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QToolTip,
    QTreeWidget,
    QVBoxLayout,
    QWidget,
)

from annotator.actions.items import items
from annotator.actions.results.result_sheets import ResultSheet, SheetCell, SheetColumn, SheetLine, figure
from annotator.domain.texts.estimate import Estimate
from annotator.gui import theme
from annotator.gui.pages.items import ItemForm
from annotator.gui.pages.validation.attack_part import FamilyList
from annotator.gui.review.sheets import SheetModel, SheetTable, resetting
from annotator.gui.widgets import chips, message_bar
from annotator.gui.widgets.bars import FlowRow, Fold, KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainArea,
    direction_of,
    tooltip,
    vertical,
)
from annotator.gui.widgets.columns import END, FilterRow, RowsTree, TickList, line
from annotator.gui.widgets.fields import (
    AmountBox,
    BudgetBox,
    ChoiceBox,
    GrowingEdit,
    LineField,
    NumberBox,
    TextBox,
    offer,
)
from annotator.gui.widgets.message_bar import MessageBar, left_in_words
from annotator.gui.widgets.reading.find_bar import ask_to_open
from annotator.gui.widgets.reading.marked_text import MarkedText, lay_out
from annotator.gui.widgets.splitter import Splitter, SpreadBar
from tests.windows.using import inks, owned


def test_a_tooltip_shows_markup_as_text():
    assert tooltip("<img src='x'>\n&") == "<qt>&lt;img src=&#x27;x&#x27;&gt;<br>&amp;</qt>"
    assert tooltip("") == ""


def test_an_elided_label_shows_the_whole_in_its_tooltip_only_when_it_is_cut(qtbot):
    label = owned(qtbot, ElidedLabel("a question\nof many words " * 5), 120, 24)
    assert label.elided().endswith("…")
    assert "a question of many words" in label.toolTip()
    label.resize(3_000, 24)
    assert (label.elided(), label.toolTip()) == (("a question of many words " * 5).strip(), "")


def test_a_key_button_prints_the_digit_of_an_answer_and_names_any_other_key_in_its_tooltip(qtbot):
    button = owned(qtbot, KeyButton("Met & gone", "1"))
    assert button.text() == "Met && gone\u20031"
    button.set_key("Ctrl+Return")
    assert (button.text(), "(Ctrl+Enter)" in button.toolTip()) == ("Met && gone", True)
    assert (button.accessibleName(), button.shortcut().isEmpty()) == ("Met & gone, key Ctrl+Enter", True)


def test_a_fold_opens_its_parts_and_keeps_the_keyboard_when_it_closes(qtbot):
    field = QLineEdit()
    fold = owned(qtbot, Fold("Options", field))
    with qtbot.waitExposed(fold):
        fold.show()
    assert not field.isVisible()
    fold.open(field)
    qtbot.waitUntil(field.hasFocus)
    fold.button.click()
    assert (field.isVisible(), fold.button.hasFocus()) == (False, True)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (2, "a few seconds left"), (31, "about 30 s left"), (58, "about 1 min left"),
     (600, "about 10 min left"), (5_400, "about 1 h 30 min left")],
)  # fmt: skip
def test_how_long_still_is_said_in_words(seconds, words):
    assert left_in_words(seconds) == words


def test_a_spread_says_shares(qtbot):
    bar = owned(qtbot, SpreadBar())
    bar.show_parts([("3", 1), ("2", 3), ("1", 4)])
    assert bar.accessibleName() == "3: 1 (12%); 2: 3 (38%); 1: 4 (50%)"


Show = Enum("Show", {"TO_DO": "To do", "UNSURE": "Unsure", "DONE": "Done", "ALL": "All"})


def test_one_filter_holds_and_each_says_what_it_admits(qtbot):
    row = owned(qtbot, FilterRow(Show, Show.ALL))
    buttons = row.findChildren(QToolButton)
    row.show_counts({Show.TO_DO: 3, Show.DONE: 0})
    with qtbot.waitSignal(row.chosen):
        buttons[0].click()
    assert (row.held, [button.isChecked() for button in buttons]) == (Show.TO_DO, [True, False, False, False])
    assert [button.text() for button in buttons][::2] == ["To do 3", "Done"]


def test_other_choices_leave_what_was_chosen_where_it_is_still_offered(qtbot):
    combo = owned(qtbot, QComboBox())
    offer(combo, [("All", ""), ("First", "a"), ("Second", "b")])
    combo.setCurrentIndex(2)
    with qtbot.assertNotEmitted(combo.currentIndexChanged):
        offer(combo, [("All", ""), ("The second", "b")])
    assert (combo.currentText(), combo.currentData()) == ("The second", "b")
    offer(combo, [("All", "")])
    assert combo.currentText() == "All"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_long_choice_ends_in_an_ellipsis_and_is_told_whole(qtbot):
    box = owned(qtbot, ChoiceBox())
    offer(box, [("baseline (no network)", "b"), ("", "")])
    box.resize(90, 30)
    box.show()
    assert box.elided().endswith("…")
    QApplication.sendEvent(box, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), box.mapToGlobal(QPoint(5, 5))))
    assert "baseline (no network)" in QToolTip.text()
    box.resize(400, 30)
    assert box.elided() == "baseline (no network)"


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
@pytest.mark.parametrize("share", [0, 0.95], ids=["top", "bottom"])
@pytest.mark.parametrize("percent", [100, 200])
@pytest.mark.parametrize("entries", [3, 40])
def test_a_list_that_drops_down_shows_its_last_row_whole(entries, percent, share, qtbot):
    theme.zoom_to(percent)
    box = owned(qtbot, ChoiceBox())
    theme.apply_theme(box)
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


def test_what_is_ticked_stays_ticked_among_other_names(qtbot):
    ticks = owned(qtbot, TickList("Systems", 2, 3))
    ticks.offer({"a": "Alpha", "b": "Beta"})
    with qtbot.waitSignal(ticks.ticked_anew):
        ticks.item(1).setCheckState(Qt.CheckState.Checked)
    with qtbot.assertNotEmitted(ticks.ticked_anew):
        ticks.offer({"b": "Beta", "c": "Gamma", "d": "Delta"})
    assert ticks.ticked() == ("b",)
    assert [ticks.item(row).text() for row in range(ticks.count())] == ["Beta", "Gamma", "Delta"]


def test_tab_goes_through_what_stands_in_a_plain_area_and_never_stops_at_it(qtbot):
    inside = QLineEdit()
    area = owned(qtbot, PlainArea("Settings", inside))
    assert (area.accessibleName(), area.focusPolicy()) == ("Settings", Qt.FocusPolicy.NoFocus)
    assert inside.focusPolicy() == Qt.FocusPolicy.StrongFocus


@pytest.fixture(params=["de_DE", "ar_EG"])
def elsewhere(request):
    here = QLocale()
    QLocale.setDefault(QLocale(request.param))
    yield
    QLocale.setDefault(here)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("typed", ["2.5", "2,5"])
def test_an_amount_is_what_was_typed_whatever_the_system_speaks(qtbot, typed):
    box = owned(qtbot, BudgetBox())
    box.selectAll()
    qtbot.keyClicks(box, typed)
    box.interpretText()
    assert (box.limit, box.text()) == (2.5, "$ 2.50")


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("box", "said", "value"), [(AmountBox, "٢٫٥", 2.5), (NumberBox, "٢٥", 25)])
def test_digits_of_another_script_are_read(qtbot, box, said, value):
    made = owned(qtbot, box())
    made.lineEdit().selectAll()
    made.lineEdit().insert(said)
    made.interpretText()
    assert (made.value(), made.text().isascii()) == (value, True)


def test_a_row_that_breaks_lets_go_of_what_is_deleted_moved_or_taken(qtbot):
    holder, row = owned(qtbot, QWidget()), FlowRow(gap=3)
    buttons = [QPushButton(str(number)) for number in range(5)]
    for button in buttons:
        row.addWidget(button)
    QVBoxLayout(holder).addLayout(row)
    buttons[1].deleteLater()
    buttons[2].setParent(None)
    qtbot.waitUntil(lambda: row.count() == 3)
    row.removeWidget(buttons[3])
    assert row.takeAt(0).widget() is buttons[0]
    gc.collect()
    assert [row.itemAt(place).widget() for place in range(row.count())] == [buttons[4]]
    assert row.heightForWidth(100) == buttons[4].sizeHint().height()


def test_even_lines_leave_nothing_alone_on_the_last_one(qtbot):
    holder = owned(qtbot, QWidget())
    row = FlowRow(holder, gap=0, even=True)
    for _ in range(8):
        row.addWidget(QPushButton("step", maximumWidth=80, minimumWidth=80))
    row.setGeometry(QRect(0, 0, 7 * 80, 200))
    tops = [row.itemAt(place).geometry().top() for place in range(8)]
    assert [tops.count(top) for top in sorted(set(tops))] == [4, 4]


@pytest.fixture
def opened_addresses(monkeypatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: addresses.append(url.toString()))
    return addresses


@pytest.fixture
def parent(qtbot) -> QWidget:
    return owned(qtbot, QWidget(), 400, 300)


def test_the_whole_address_is_shown_before_anything_is_opened(parent, opened_addresses):
    address = "https://аpple.example/" + "a" * 300 + "?b=<i>1</i>"
    question = ask_to_open(parent, address)
    shown = QUrl(address).toString(QUrl.ComponentFormattingOption.FullyEncoded)
    assert question.findChild(QPlainTextEdit).toPlainText() == shown
    # A host of look-alike letters is shown as it is asked for.
    assert any("xn--" in label.text() for label in question.findChildren(QLabel))
    (cancel,) = [b for b in question.findChildren(QPushButton) if b.isDefault()]
    cancel.click()
    assert opened_addresses == []
    ask_to_open(parent, address).opening.click()
    assert len(opened_addresses) == 1


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "javascript:alert(1)", "ftp://x.y", "smb://x/y", "//x", "", "https://", "x"],
)
def test_only_addresses_of_the_web_are_asked_about(parent, opened_addresses, address):
    assert ask_to_open(parent, address) is None
    assert opened_addresses == []


def test_every_icon_draws_something_in_its_colour(qapp):
    for name in chips.names():
        drawn = inks(chips.pixmap(name, 48, "accent"))
        assert drawn, name
        assert name == "logo" or drawn == {theme.token("accent").name()}, name


def test_a_put_icon_takes_the_colours_of_another_scheme(qtbot):
    button = owned(qtbot, QPushButton())
    chips.put(button, "stop", 24)
    button.show()
    theme.choose("light")
    light = inks(button.icon().pixmap(24))
    theme.choose("dark")
    assert inks(button.icon().pixmap(24)) != light


ARABIC = "يشرح كيف تربط الإحالات كل ادعاء"


def test_a_folded_text_is_one_line_with_the_whole_in_its_tooltip(qtbot):
    text = owned(qtbot, MarkedText())
    text.show_text("one two three\nfour <b> " * 20)
    text.fold(True)
    assert text.heightForWidth(100) == text.fontMetrics().height()
    assert "four &lt;b&gt;" in text.toolTip()


def test_marks_count_characters_beyond_the_first_plane_once(qapp):
    layout = lay_out("𝔸 marked", QFont(), 400, [(2, 8)])
    (part,) = layout.formats()
    assert (part.start, part.length) == (3, 6)


@pytest.mark.parametrize(("words", "side"), [(ARABIC, "right"), ("left", "left")])
def test_a_text_stands_at_the_side_on_which_its_script_begins(qapp, words, side):
    layout = lay_out(words, QFont(), 600)
    drawn = layout.lineAt(0).naturalTextRect()
    assert (drawn.right() - 600 if side == "right" else drawn.left()) == pytest.approx(0, abs=2)


def test_a_word_longer_than_the_line_is_broken(qapp):
    layout = lay_out("https://example.org/" + "a" * 300, QFont(), 200)
    assert layout.lineCount() > 5
    assert layout.boundingRect().width() <= 200


@pytest.mark.parametrize("shown", [MarkedText, ElidedLabel])
def test_one_line_runs_the_way_of_its_script(qtbot, shown):
    # The block that ends an Arabic sentence stands at its left.
    line = owned(qtbot, shown())
    line.resize(500, 30)
    if shown is MarkedText:
        line.fold(True)
        line.show_text(f"{ARABIC} █")
    else:
        line.setText(f"{ARABIC} █")
    picture = line.grab().toImage()
    inked = [
        sum(picture.pixel(x, y) != picture.pixel(0, 0) for y in range(picture.height()))
        for x in range(picture.width())
    ]
    drawn = [x for x, count in enumerate(inked) if count]
    block = max(range(len(inked)), key=inked.__getitem__)
    assert block - drawn[0] < 20 < drawn[-1] - block


@pytest.fixture
def tree(qtbot):
    made = owned(qtbot, RowsTree("Rows", ("Name", "State", "Why"), (300, 100, 60), stretched=2))
    made.addTopLevelItem(line(["a < b & c", "new", "because"]))
    return made


def test_in_a_narrow_table_words_are_cut_and_numbers_stay_whole(tree):
    number = "1,234,567,890.1234"
    row = line([number, "x" * 60, "y" * 60])
    row.setTextAlignment(0, END)
    tree.addTopLevelItem(row)
    tree.show()
    tree.resize(290, 100)
    assert tree.columnWidth(0) > tree.fontMetrics().horizontalAdvance(number) + 16


def test_a_row_underneath_stands_for_the_one_above(tree):
    child = line(["piece", "", ""])
    tree.topLevelItem(0).addChild(child)
    tree.expandAll()
    tree.setCurrentItem(child)
    assert (tree.row(), tree.chosen()) == (0, [0])


HIGH, LOW, FROM, ROOM = 500, 100, 300, 200


class Contrary(QWidget):
    """Higher the wider: with the bar it would need none, without it, it would."""

    asked = 0
    high = LOW

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        high = HIGH if self.width() >= FROM else LOW
        if high != self.high:
            self.high = high
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        self.asked += 1
        return QSize(50, HIGH if self.width() >= FROM else LOW)


def test_a_bar_that_would_come_and_go_for_ever_comes_to_rest(qtbot):
    inside = Contrary()
    area = owned(qtbot, PlainArea("Contrary", inside), FROM, ROOM)
    for width in range(FROM - 3, FROM + 40):
        inside.asked = 0
        area.resize(width, ROOM)
        qtbot.wait(5)
        assert inside.asked < 50, width
        assert area.verticalScrollBar().isVisible() or inside.height() <= ROOM, width
        assert inside.width() == area.viewport().width(), width


def with_a_list(qtbot, name: str) -> Splitter:
    made = Splitter(name, parts=(QWidget(), QWidget()), sizes=(150, 400), stretch=(0, 1))
    made.grow(made.widget(0), 150)
    return owned(qtbot, made, 1600, 200)


def test_a_splitter_moves_by_the_arrow_keys(qtbot):
    splitter = owned(qtbot, Splitter("somewhere", parts=(QWidget(), QWidget())), 609, 200)
    before = splitter.sizes()[0]
    for key, width in ((Qt.Key.Key_Left, before - 24), (Qt.Key.Key_Right, before)):
        qtbot.keyClick(splitter.handle(1), key)
        assert splitter.sizes()[0] == width


def test_parts_that_lack_room_side_by_side_are_stacked_until_there_is_room(qtbot):
    around = owned(qtbot, QWidget())
    parts = Splitter("test", parts=[QWidget(minimumSize=QSize(300, 50)) for _ in range(2)])
    parts.setParent(around)
    parts.resize(700, 400)
    around.show()
    assert parts.orientation() == Qt.Orientation.Horizontal
    parts.resize(500, 400)
    assert (parts.orientation(), parts.minimumSizeHint().width()) == (Qt.Orientation.Vertical, 300)
    parts.widget(0).setMinimumWidth(100)
    qtbot.waitUntil(lambda: parts.orientation() == Qt.Orientation.Horizontal)


def test_a_list_that_was_made_wider_stays_wider_at_every_zoom_and_at_the_next_start(qtbot):
    splitter = with_a_list(qtbot, "wider")
    splitter.moveSplitter(170, 1)
    theme.zoom_to(200)
    assert (splitter.sizes()[0], with_a_list(qtbot, "wider").sizes()[0]) == (340, 340)
    theme.zoom_to(100)
    assert (with_a_list(qtbot, "wider").sizes()[0], with_a_list(qtbot, "another").sizes()[0]) == (170, 150)


@pytest.fixture
def form(qtbot) -> QWidget:
    made = QWidget()
    made.field, made.after = GrowingEdit(most=4), QLineEdit()
    vertical(QLineEdit(), made.field, made.after, on=made)
    owned(qtbot, made, 400, 300)
    made.field.setFocus()
    return made


def test_what_is_typed_is_told_after_a_pause_or_when_the_field_is_left(form, qtbot):
    told: list[str] = []
    form.field.setPlainText("from the file: ")
    # What the program writes is told to nobody.
    assert not form.field._pause.isActive()
    form.field.moveCursor(form.field.textCursor().MoveOperation.End)
    with qtbot.waitSignal(form.field.edited) as first:
        qtbot.keyClicks(form.field, "words")
    assert first.args == ["from the file: words"]
    form.field.edited.connect(told.append)
    form.field.tell()
    qtbot.keyClicks(form.field, " half a sen")
    qtbot.keyClick(form.field, Qt.Key.Key_Tab)
    assert (told, form.focusWidget()) == (["from the file: words half a sen"], form.after)
    form.field.setFocus()
    qtbot.keyClicks(form.field, "x")
    with qtbot.waitSignal(form.field.left):
        qtbot.keyClick(form.field, Qt.Key.Key_Escape)
    assert len(told) == 2
    qtbot.waitUntil(lambda: not form.field.hasFocus())


def test_it_grows_line_by_line_to_its_cap_and_then_scrolls(form):
    line, low = form.field.fontMetrics().lineSpacing(), form.field.height()
    for letters, more in (("abc", 2), ("", 0), ("abcdefghij", 3)):
        form.field.setPlainText("\n".join(letters))
        assert form.field.height() == low + more * line
    assert form.field.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAsNeeded


def test_no_shortcut_fires_while_an_input_method_composes_and_undo_while_the_field_has_its_own(form, qtbot):
    control = Qt.KeyboardModifier.ControlModifier
    QApplication.sendEvent(form.field, QInputMethodEvent("ping", []))
    assert override(form.field, Qt.Key.Key_J, control)
    assert override(form.field, Qt.Key.Key_Escape)
    QApplication.sendEvent(form.field, QInputMethodEvent("", []))
    assert not override(form.field, Qt.Key.Key_J, control)
    assert not override(form.field, Qt.Key.Key_Z, control)
    qtbot.keyClicks(form.field, "x")
    assert override(form.field, Qt.Key.Key_Z, control)


def override(field: GrowingEdit, key: Qt.Key, modifiers=Qt.KeyboardModifier.NoModifier) -> bool:
    event = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifiers)
    event.ignore()
    QApplication.sendEvent(field, event)
    return event.isAccepted()


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("(1) words", Qt.LayoutDirection.LeftToRight),
        ("12 – עברית and English", Qt.LayoutDirection.RightToLeft),
        ("هذا نص", Qt.LayoutDirection.RightToLeft),
        ("评估", Qt.LayoutDirection.LeftToRight),
        ("12 – 34", Qt.LayoutDirection.LayoutDirectionAuto),
    ],
)
def test_the_first_strong_letter_gives_the_direction(text, direction):
    assert direction_of(text) == direction


def test_text_from_right_to_left_stands_at_the_right(form):
    form.field.setPlainText("هذا نص عربي")
    form.field.moveCursor(form.field.textCursor().MoveOperation.Start)
    assert form.field.cursorRect().left() > form.field.viewport().width() // 2
    form.field.setPlainText("English")
    assert form.field.cursorRect().left() == 4


def test_lines_of_a_script_with_taller_letters_are_all_in_view(form):
    form.field._most = 100
    form.field.setPlainText("\n".join(["残差连接使深层网络更容易训练。"] * 40))
    document = form.field.document()
    blocks = map(document.findBlockByNumber, range(document.blockCount()))
    assert form.field.viewport().height() >= sum(each.layout().boundingRect().height() for each in blocks)


class Measured:
    def __init__(self, real: QTextDocument, high: float) -> None:
        self._real, self._high = real, high

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def size(self) -> QSizeF:
        return QSizeF(10, self._high)


class Wavering(GrowingEdit):
    """Its text is too high without a scroll bar, and not with one."""

    def document(self) -> Measured:
        without = self.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        return Measured(super().document(), 9.0 if without else 1.0)


def test_a_text_that_wavers_between_two_heights_comes_to_rest(form):
    form.layout().addWidget(field := Wavering(most=4))
    form.resize(300, 340)
    assert field.height() >= field.fontMetrics().lineSpacing()


def test_a_nul_among_the_words_that_are_searched_for_finds_what_the_rest_finds(small):
    assert list(items.numbers(small, items.Filter(words="wh\x00at"))) == list(
        items.numbers(small, items.Filter(words="what"))
    )


@pytest.mark.parametrize("field", [LineField, TextBox])
def test_the_caret_stays_behind_what_was_pasted(field, qtbot):
    made = owned(qtbot, field())
    QGuiApplication.clipboard().setText("a\x00\x00b")
    made.paste()
    made.paste()
    assert (made.text() if field is LineField else made.toPlainText()) == "abab"


def test_a_model_that_fails_to_answer_ends_its_reset(qtbot):
    model = QStandardItemModel()
    with qtbot.waitSignal(model.modelReset), pytest.raises(OSError, match="no answer"), resetting(model):
        raise OSError("no answer")


def test_sentences_of_a_sheet_take_what_room_there_is_and_spare_some_where_there_is_little(qtbot):
    model = SheetModel()
    words = (
        "a",
        "A sentence that is much longer than any column of a table can be, whatever the window.",
        "b",
    )
    line = SheetLine(tuple(map(SheetCell, words)))
    model.show(ResultSheet("one", "One", tuple(map(SheetColumn, "abc", "abc")), (line,)))
    table = owned(qtbot, SheetTable("Figures", model), 560, 200)
    for wide in (460, 560, 460):
        table.resize(wide, 200)
        assert 0 <= table.viewport().width() - table.horizontalHeader().length() <= 1


def test_a_figure_keeps_its_interval_where_words_are_cut_and_a_longer_title_has_two_lines(qtbot):
    model, title = SheetModel(), "Agreement with people, on units of two"
    cell = figure(Estimate(0.5, 0.4, 0.6, n=30, missing=12, floor=0.1, ceiling=0.9))
    row = SheetLine((SheetCell("a word " * 9), cell))
    model.show(ResultSheet("one", "One", (SheetColumn("a", "A"), SheetColumn("b", title)), (row,)))
    table = owned(qtbot, SheetTable("Figures", model), 360, 200)
    assert table.horizontalScrollBar().maximum() == 0
    shown, *_ = cell.words.split(" 12 missing")
    assert table.columnWidth(1) > table.fontMetrics().horizontalAdvance(shown)
    assert model.headerData(1, Qt.Orientation.Horizontal) == title.replace("people, ", "people,\n")


def test_a_nul_gets_into_no_list_that_may_be_written_into(small, window_over):
    session = window_over(small).session
    form, families = ItemForm(session), FamilyList(session)
    families.fill()
    QGuiApplication.clipboard().setText("a\x00b")
    for each in (form.type, *families.boxes.values()):
        each.lineEdit().paste()
        assert {"a", "\x00"} & {*each.currentText()} == {"a"}


@pytest.fixture
def bar(qtbot) -> MessageBar:
    return owned(qtbot, MessageBar())


def test_markup_in_a_message_is_shown_as_text(bar):
    bar.show_message("error", "The file <img src='/dev/zero'> is damaged.", "Take <b>another</b>.")
    assert bar.text() == "The file <img src='/dev/zero'> is damaged. Take <b>another</b>."
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in (bar._happened, bar._todo))
    assert bar.accessibleName().startswith("Error: ")
    bar.show_message("warning", "There is none.", "Make one. Run: goldsmith new FILE")
    assert bar.text() == "There is none. Make one."


def test_a_message_is_dismissed_and_expires_with_its_act_unless_it_lasts_or_offers_a_way_on(bar, qtbot):
    for end in (
        bar.findChild(QToolButton).click,
        partial(qtbot.keyClick, bar, Qt.Key.Key_Escape),
        bar.expire,
    ):
        bar.show_message("warning", "It cannot be done.")
        end()
        assert bar.isHidden()
    bar.show_message("error", "The disk is full.", lasting=True)
    qtbot.keyClick(bar, Qt.Key.Key_Escape)
    assert not bar.findChild(QToolButton).isVisible()
    bar.expire()
    assert bar.isVisible()
    bar.show_message("warning", "Make the sample anew?")
    bar.set_action("Reset", lambda: None)
    bar.expire()
    assert not bar.isHidden()


def test_an_act_is_offered_and_goes_with_its_message(bar):
    done: list[str] = []
    bar.show_message("error", "It is damaged.")
    bar.set_action("Restore & go on", lambda: done.append("restored"))
    act = bar.findChild(QPushButton)
    act.click()
    assert done == ["restored"]
    bar.show_message("info", "Another.")
    assert act.isHidden()


def test_a_passing_message_lies_over_the_page_moves_nothing_and_leaves_rows_their_frame(qtbot):
    window, host, bar = QWidget(), QTreeWidget(), MessageBar()
    vertical(host, on=window)
    bar.float_over(host)
    owned(qtbot, window, 900, 500)
    before, edge = host.contentsRect(), host.frameWidth()
    assert edge > 0
    assert host.rect().adjusted(edge, edge, -edge, -edge).contains(host.viewport().geometry())
    bar.show_message("warning", "It cannot be done. " * 12, "Do something else.")
    assert host.contentsRect() == before
    assert host.geometry().contains(bar.geometry())
    window.resize(500, 400)
    qtbot.waitUntil(lambda: host.width() < 500)
    assert host.geometry().contains(bar.geometry())


@pytest.mark.parametrize("level", ["success", "info"])
def test_what_only_informs_goes_away_after_its_time_and_a_refusal_stays(bar, qtbot, monkeypatch, level):
    for name, value in {"SUCCESS_MS": 1, "INFO_MS": 1, "READ_MS": 0}.items():
        monkeypatch.setattr(message_bar, name, value)
    bar.show_message(level, "The import is done.")
    bar.set_action("Show", lambda: None)
    bar.expire()
    assert not bar.isHidden()
    bar.expire(left=True)
    assert bar.isHidden()
    bar.show_message(level, "The import is done.")
    qtbot.waitUntil(bar.isHidden)
    monkeypatch.setattr(message_bar, "ACT_MS", 1)
    bar.show_message(level, "The import is done.")
    bar.set_action("Show", lambda: None)
    qtbot.waitUntil(bar.isHidden)
    bar.show_message("warning", "It cannot be done.")
    assert not bar._timer.isActive()
