"""Whatever is pasted into a field, it is stored, or looked for, and no page breaks of it."""

import re

import pytest
from PySide6.QtCore import QAbstractTableModel, QModelIndex
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit, QPlainTextEdit

from annotator.actions.items import items
from annotator.gui.pages.items.item_form import ItemForm
from annotator.gui.pages.validation.attacks.part import FamilyList
from annotator.gui.tables.rows import resetting
from annotator.gui.widgets.fields.typed import LineField, TextBox
from tests.gui.shell.test_window import EVERY_PAGE
from tests.house.reading import HERE
from tests.windows.settling import settle

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
@pytest.mark.parametrize("name", EVERY_PAGE)
def test_what_cannot_be_stored_gets_into_no_field_of_the_page(name, sample, window_over):
    QGuiApplication.clipboard().setText(ODD)
    window = window_over(sample, name)
    settle(window.page)
    for field in written_into(window.page):
        field.paste()
        words = field.text() if isinstance(field, QLineEdit) else field.toPlainText()
        assert "\x00" not in words, field.accessibleName()
    settle(window.page)
    window.show_page("Items")
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


@pytest.mark.parametrize(
    ("made", "where"),
    [
        (r"beginResetModel\(", {"tables/rows.py"}),
        (r"(?<![\w.])QLineEdit(\(|\):)", {"widgets/fields/typed.py"}),
        (
            r"(?<![\w.])QPlainTextEdit(\((?!.*readOnly=True)|\):)",
            # The others show what nobody writes into.
            {
                "widgets/fields/typed.py",
                "widgets/reading/link_question.py",
                "pages/authoring/side_panel.py",
            },
        ),
    ],
)
def test_every_reset_and_every_field_goes_through_the_one_gate(made, where):
    gui = HERE / "annotator" / "gui"
    found = {
        path.relative_to(gui).as_posix()
        for path in gui.rglob("*.py")
        if re.search(made, path.read_text("utf-8"))
    }
    assert found == where


def test_every_list_that_may_be_written_into_has_a_field_that_takes_no_nul():
    made, given = 0, 0
    for path in (HERE / "annotator" / "gui").rglob("*.py"):
        text = path.read_text("utf-8")
        made += len(re.findall(r"editable=True|setEditable\(True\)", text))
        given += len(re.findall(r"\.setLineEdit\(", text))
    assert made == given > 0


def test_a_nul_gets_into_no_list_that_may_be_written_into(small, window_over):
    desk = window_over(small).desk
    QGuiApplication.clipboard().setText(ODD)
    form, families = ItemForm(desk), FamilyList(desk)
    families.fill()
    lists = [one for one in (form.type, *families.boxes.values()) if one.isEditable()]
    assert len(lists) > 1
    for one in lists:
        one.lineEdit().paste()
        assert "a" in one.currentText()
        assert "\x00" not in one.currentText()
