import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel

from annotator.exchange.texts.rendering import render
from annotator.gui.widgets.reading.find_bar import FindBar
from annotator.gui.widgets.reading.report_view import ReportView


@pytest.fixture
def view(qtbot) -> ReportView:
    made = ReportView()
    qtbot.addWidget(made)
    made.show_html(render("One cat, two Cats.\n\nNo dog. A *c*at again (a.b).").html)
    made.show()
    return made


@pytest.fixture
def bar(view, qtbot) -> FindBar:
    made = FindBar(view)
    qtbot.addWidget(made)
    return made


def test_all_places_are_marked_and_counted(bar, view):
    bar.open_bar("cat")
    assert bar.count() == (1, 3)
    assert len(view.marks("find")) == 2
    assert [(m.start, m.end) for m in view.marks("find-current")] == [(4, 7)]


def test_enter_goes_on_around_the_end_and_shift_enter_back(bar, qtbot):
    bar.open_bar("cat")
    for expected in (2, 3, 1):
        qtbot.keyClick(bar.words, Qt.Key.Key_Return)
        assert bar.count() == (expected, 3)
    qtbot.keyClick(bar.words, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count() == (3, 3)


def test_case_counts_when_it_is_asked_for(bar):
    bar.open_bar("Cat")
    bar.findChild(QCheckBox).setChecked(True)
    assert bar.count() == (1, 1)


def test_what_is_typed_is_taken_letter_by_letter(bar):
    bar.open_bar("a.b")
    assert bar.count() == (1, 1)
    bar.open_bar("(")
    assert bar.count() == (1, 1)


def test_what_is_not_there_is_said(bar):
    bar.open_bar("giraffe")
    assert bar.count() == (0, 0)
    assert "Not found" in [label.text() for label in bar.findChildren(QLabel)]


def test_escape_closes_and_takes_the_marks_away(bar, view, qtbot):
    view.mark(0, 3, "evidence")
    bar.open_bar("cat")
    with qtbot.waitSignal(bar.closed):
        qtbot.keyClick(bar.words, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert [mark.kind for mark in view.marks()] == ["evidence"]


def test_words_on_another_page_are_found(bar, view):
    view.show_plain("word " * 15_000 + "needle")
    bar.open_bar("needle")
    assert bar.count() == (1, 1)
    assert view._page == view.pages - 1
