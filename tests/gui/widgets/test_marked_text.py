"""Words with marks, pills and rows that break: as high as their lines, in the direction of their script."""

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.reading.marked_text import MarkedText, lay_out

ARABIC = "يشرح كيف تربط الإحالات كل ادعاء"


@pytest.fixture
def text(qtbot):
    made = MarkedText()
    qtbot.addWidget(made)
    return made


def test_a_narrower_text_is_higher(text):
    text.show_text("one two three four five six seven eight nine ten " * 4)
    assert text.heightForWidth(200) > text.heightForWidth(800)


def test_a_folded_text_is_one_line_with_the_whole_in_its_tooltip(text):
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
    edge = drawn.right() - 600 if side == "right" else drawn.left()
    assert edge == pytest.approx(0, abs=2)


def test_a_word_longer_than_the_line_is_broken(qapp):
    layout = lay_out("https://example.org/" + "a" * 300, QFont(), 200)
    assert layout.lineCount() > 5
    assert layout.boundingRect().width() <= 200


def test_pills_break_into_lines_and_none_hides_the_row(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    chips = Chips()
    chips.setParent(parent)
    chips.show_chips([Chip("weight 3"), Chip("words differ", "cross", "disagree")])
    assert chips.heightForWidth(80) > chips.heightForWidth(800)
    chips.show_chips([])
    assert chips.isHidden()


def test_pills_without_a_place_never_become_a_window(qtbot):
    chips = Chips()
    qtbot.addWidget(chips)
    chips.show_chips([Chip("agreed", "check", "agreed")])
    assert not chips.isVisible()


def test_a_row_of_widgets_breaks_where_it_is_narrow(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    row = FlowRow(parent, gap=10)
    for _ in range(3):
        part = QWidget()
        part.setFixedSize(100, 20)
        row.addWidget(part)
    assert row.heightForWidth(400) == 20
    assert row.heightForWidth(220) == 50
    row.setGeometry(QRect(0, 0, 220, 50))
    assert [row.itemAt(n).geometry().top() for n in range(3)] == [0, 0, 30]
    row.takeAt(0)
    assert row.count() == 2


@pytest.mark.parametrize("shown", [MarkedText, ElidedLabel])
def test_one_line_runs_the_way_of_its_script(qtbot, shown):
    """The block that ends an Arabic sentence stands at its left."""
    line = shown()
    qtbot.addWidget(line)
    line.resize(500, 30)
    if shown is MarkedText:
        line.fold(True)
        line.show_text(f"{ARABIC} █")
    else:
        line.setText(f"{ARABIC} █")
    picture = line.grab().toImage()
    ground = picture.pixel(0, 0)
    inked = [
        sum(picture.pixel(x, y) != ground for y in range(picture.height())) for x in range(picture.width())
    ]
    drawn = [x for x, count in enumerate(inked) if count]
    block = max(range(len(inked)), key=inked.__getitem__)
    assert block - drawn[0] < 20 < drawn[-1] - block
