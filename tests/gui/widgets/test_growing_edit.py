"""Fields: what is typed is told and kept, and whatever is pasted breaks no page."""

import pytest
from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPoint, QSizeF, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QKeyEvent, QTextDocument
from PySide6.QtWidgets import QApplication, QKeySequenceEdit, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from annotator.actions.items import items
from annotator.gui.pages.items import ItemForm
from annotator.gui.pages.validation.attack_part import FamilyList
from annotator.gui.review.sheets import resetting
from annotator.gui.widgets.basics import direction_of
from annotator.gui.widgets.fields import GrowingEdit, LineField, TextBox
from tests.gui.shell.test_window import EVERY_PAGE
from tests.windows.settling import settle


@pytest.fixture
def form(qtbot) -> QWidget:
    """A field between two others."""
    made = QWidget()
    made.resize(400, 300)
    column = QVBoxLayout(made)
    made.before, made.field, made.after = QLineEdit(), GrowingEdit(most=4), QLineEdit()
    for widget in (made.before, made.field, made.after):
        column.addWidget(widget)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    made.field.setFocus()
    return made


def heard_from(field: GrowingEdit) -> list[str]:
    told: list[str] = []
    field.edited.connect(told.append)
    return told


def test_it_grows_line_by_line_to_its_cap_and_then_scrolls(form):
    line = form.field.fontMetrics().lineSpacing()
    low = form.field.height()
    form.field.setPlainText("a\nb\nc")
    assert form.field.height() == low + 2 * line
    form.field.setPlainText("\n".join("abcdefghij"))
    assert form.field.height() == low + 3 * line
    assert form.field.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAsNeeded
    form.field.setPlainText("")
    assert form.field.height() == low


def test_typing_is_told_after_a_pause(form, qtbot):
    with qtbot.waitSignal(form.field.edited) as told:
        qtbot.keyClicks(form.field, "words")
    assert told.args == ["words"]


def test_what_the_program_writes_is_told_to_nobody(form, qtbot):
    told = heard_from(form.field)
    form.field.setPlainText("from the file")
    assert not form.field._pause.isActive()
    form.field.tell()
    assert told == []


def test_leaving_by_tab_tells_at_once_and_goes_on(form, qtbot):
    told = heard_from(form.field)
    qtbot.keyClicks(form.field, "half a sen")
    qtbot.keyClick(form.field, Qt.Key.Key_Tab)
    assert told == ["half a sen"]
    assert form.focusWidget() is form.after


def test_escape_tells_and_leaves(form, qtbot):
    told = heard_from(form.field)
    qtbot.keyClicks(form.field, "x")
    with qtbot.waitSignal(form.field.left):
        qtbot.keyClick(form.field, Qt.Key.Key_Escape)
    assert told == ["x"]
    qtbot.waitUntil(lambda: not form.field.hasFocus())


def composing(field: GrowingEdit, preedit: str) -> None:
    QApplication.sendEvent(field, QInputMethodEvent(preedit, []))


def override(field: GrowingEdit, key: Qt.Key, modifiers=Qt.KeyboardModifier.NoModifier) -> bool:
    event = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifiers)
    event.ignore()
    QApplication.sendEvent(field, event)
    return event.isAccepted()


def test_no_shortcut_fires_while_an_input_method_composes(form):
    control = Qt.KeyboardModifier.ControlModifier
    assert not override(form.field, Qt.Key.Key_J, control)
    composing(form.field, "ping")
    assert override(form.field, Qt.Key.Key_J, control)
    assert override(form.field, Qt.Key.Key_Escape)
    composing(form.field, "")
    assert not override(form.field, Qt.Key.Key_J, control)


def test_undo_reaches_the_page_once_the_field_has_nothing_to_take_back(form, qtbot):
    control = Qt.KeyboardModifier.ControlModifier
    assert not override(form.field, Qt.Key.Key_Z, control)
    qtbot.keyClicks(form.field, "x")
    assert override(form.field, Qt.Key.Key_Z, control)


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
    assert form.field.cursorRect().topLeft().x() > form.field.viewport().width() // 2
    form.field.setPlainText("English")
    form.field.moveCursor(form.field.textCursor().MoveOperation.Start)
    assert form.field.cursorRect().topLeft() == QPoint(4, form.field.cursorRect().top())


def test_lines_of_a_script_with_taller_letters_are_all_in_view(form):
    form.field._most = 100
    form.field.setPlainText("\n".join(["残差连接使深层网络更容易训练。"] * 40))
    block, high = form.field.document().firstBlock(), 0.0
    while block.isValid():
        high += block.layout().boundingRect().height()
        block = block.next()
    assert form.field.viewport().height() >= high


class Measured:
    """A document that tells another height."""

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
    field = Wavering(most=4)
    form.layout().addWidget(field)
    field.show()
    form.resize(300, 340)
    assert field.height() >= field.fontMetrics().lineSpacing()


ODD = "a\x00b \x01\u200f\u2028 深度 باحث"


def written_into(widget):
    """The fields of a widget into which somebody may write, those of forms that are not shown among them."""
    fields = [*widget.findChildren(QLineEdit), *widget.findChildren(QPlainTextEdit)]
    return [
        field
        for field in fields
        if not field.isReadOnly() and not isinstance(field.parentWidget(), QKeySequenceEdit)
    ]


@pytest.mark.slow
def test_what_cannot_be_stored_gets_into_no_field_of_a_page(sample, window_over):
    window = window_over(sample)
    for name in EVERY_PAGE:
        QGuiApplication.clipboard().setText(ODD)
        settle(window.show_page(name))
        for field in written_into(window.page):
            field.paste()
            words = field.text() if isinstance(field, QLineEdit) else field.toPlainText()
            assert "\x00" not in words, (name, field.accessibleName())
        settle(window.page)
    for name in EVERY_PAGE:
        window.show_page(name)


def test_a_nul_among_the_words_that_are_searched_for_finds_what_the_rest_finds(small):
    assert list(items.numbers(small, items.Filter(words="wh\x00at"))) == list(
        items.numbers(small, items.Filter(words="what"))
    )
    small.close()


@pytest.mark.parametrize("field", [LineField, TextBox])
def test_the_caret_stays_behind_what_was_pasted(field, qtbot):
    made = field()
    qtbot.addWidget(made)
    QGuiApplication.clipboard().setText("a\x00\x00b")
    made.paste()
    made.paste()
    assert (made.text() if field is LineField else made.toPlainText()) == "abab"


class Failing(QAbstractTableModel):
    """Fails to answer."""

    def rowCount(self, parent=QModelIndex()):
        return 0

    def columnCount(self, parent=QModelIndex()):
        return 0

    def fill(self):
        with resetting(self):
            raise OSError("no answer")


def test_a_model_that_fails_to_answer_ends_its_reset(qtbot):
    model = Failing()
    with pytest.raises(OSError, match="no answer"), qtbot.waitSignal(model.modelReset):
        model.fill()


def test_a_nul_gets_into_no_list_that_may_be_written_into(small, window_over):
    session = window_over(small).session
    QGuiApplication.clipboard().setText(ODD)
    form, families = ItemForm(session), FamilyList(session)
    families.fill()
    lists = [one for one in (form.type, *families.boxes.values()) if one.isEditable()]
    assert len(lists) > 1
    for one in lists:
        one.lineEdit().paste()
        assert "a" in one.currentText()
        assert "\x00" not in one.currentText()
