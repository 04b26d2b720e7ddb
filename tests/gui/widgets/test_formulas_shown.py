"""Formulas in what is read: drawn in the size and colour of the words, found, quoted and copied as their source."""

import pytest
from PySide6.QtGui import QImage, QTextCursor
from PySide6.QtWidgets import QApplication

from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.domain.texts import difference
from annotator.exchange.texts.rendering import render
from annotator.gui import theme
from annotator.gui.widgets.reading.find_bar import FindBar
from annotator.gui.widgets.reading.marked_text import OBJECT, TextPositions
from annotator.gui.widgets.reading.report_view import ReportView
from tests.material.anchors import stands_in
from tests.projects.authoring_project import begun_project, mine
from tests.projects.labelling_project import add_report, labelling_project
from tests.windows.labelling_keys import press

FORMULA = r"$\theta_i^2$"
TEXT = f"The 😀 angle {FORMULA} and \\(x\\) turn.\n\n这里 $$E=mc^2$$ 有公式。\n\nهذا $y$ نص.\n"
SHOWN = f"The 😀 angle {FORMULA} and \\(x\\) turn.\n这里 $$E=mc^2$$ 有公式。\nهذا $y$ نص."


@pytest.fixture
def view(qtbot) -> ReportView:
    made = ReportView()
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.show_html(render(TEXT).html)
    made.show()
    qtbot.waitExposed(made)
    return made


def ink(view: ReportView, words: str) -> set[str]:
    start = view.text().index(words)
    box = view.cursorRect(view._cursor(start, start))
    end = view.cursorRect(view._cursor(start + len(words), start + len(words)))
    grabbed: QImage = view.viewport().grab(box.united(end).adjusted(1, 0, -1, 0)).toImage()
    seen = {grabbed.pixelColor(x, y).name() for x in range(grabbed.width()) for y in range(grabbed.height())}
    return seen - {view.palette().base().color().name()}


def test_the_text_holds_each_formula_as_it_is_written(view):
    assert OBJECT in view.document().toPlainText()
    assert view.text() == SHOWN


@pytest.mark.parametrize(
    "words", [FORMULA, f"angle {FORMULA} and", "$$E=mc^2$$ 有", "$y$", "turn.\n这里 $$E=mc^2$$", "نص"]
)
def test_words_are_selected_and_told_across_formulas(view, words):
    start = SHOWN.index(words)
    view.select(start, start + len(words))
    assert view.selected_text() == (words, start, start + len(words))


def test_a_part_of_a_formula_selects_all_of_it(view):
    start = SHOWN.index("theta")
    view.select(start, start + 5)
    assert view.selected_text()[0] == FORMULA


def test_words_in_a_formula_are_found(view, qtbot):
    bar = FindBar(view)
    qtbot.addWidget(bar)
    bar.open_bar("mc^2")
    assert bar.count() == (1, 1)
    bar.close_bar()
    assert view.selected_text()[0] == "$$E=mc^2$$"


def test_formulas_are_copied_as_their_source(view):
    start = SHOWN.index("angle")
    view.select(start, SHOWN.index(" and"))
    view.copy()
    assert QApplication.clipboard().text() == f"angle {FORMULA}"


def test_a_mark_over_a_formula_covers_it(view):
    start = SHOWN.index(FORMULA)
    view.mark(start, start + len(FORMULA), "evidence")
    (selection,) = view.extraSelections()
    cursor: QTextCursor = selection.cursor
    assert cursor.selectionEnd() - cursor.selectionStart() == 1
    assert theme.token("mark-evidence").name() in ink(view, FORMULA)


def test_a_formula_wider_than_the_page_is_made_to_fit(qtbot):
    made = ReportView()
    qtbot.addWidget(made)
    made.resize(300, 300)
    made.show_html(render(f"$$ {' + '.join(f'x_{{{n}}}' for n in range(40))} $$").html)
    made.show()
    assert made.document().size().width() <= made.viewport().width()


@pytest.mark.parametrize("objects", [(), ((2, 6),), ((0, 3), (3, 5), (6, 9))])
def test_places_go_there_and_back(objects):
    text = "ab😀cd😀ef😀"
    places = TextPositions(text, objects)
    inside = {n for start, end in objects for n in range(start + 1, end)}
    told = [places.to_qt(n) for n in range(len(text) + 1) if n not in inside]
    assert told == sorted(set(told))
    assert [places.from_qt(position) for position in told] == [
        n for n in range(len(text) + 1) if n not in inside
    ]
    for start, end in objects:
        assert {places.to_qt(n) for n in range(start, end)} == {places.to_qt(start)}
        assert places.to_qt(start + 1, end=True) == places.to_qt(end)


def test_a_quotation_across_a_formula_keeps_its_offsets_in_the_source(tmp_path, page_over):
    project = begun_project(tmp_path)
    paper = "# On angles\n\nThe **angle** $\\theta$ and the angle $\\theta$ are `equal`, as $\\theta$ is.\n"
    path = tmp_path / "angles.md"
    path.write_text(paper, "utf-8")
    items.add_source(project, items.ids(project)[0], path)
    page = page_over(project, "Author")
    page.source.tabs.setCurrentIndex(1)
    shown = page.source.text.text()
    start = shown.rindex("angle $")
    page.source.text.select(start, shown.index(" are") + 4)
    press("Ctrl+E")
    anchor = mine(project).document.units[0].anchor
    assert anchor.start == paper.rindex("angle $")
    assert anchor.quote == "angle $\\theta$ are"
    assert stands_in(anchor, paper)
    (mark,) = page.source.text.marks("evidence")
    assert (mark.start, mark.end) == (start, shown.index(" are") + 4)


def test_evidence_that_is_a_formula_is_marked_where_it_stands(tmp_path, page_over):
    project = labelling_project(tmp_path)
    page = page_over(project, "Label")
    text = "First \\(x^2\\), then \\(x^2\\) again, and \\(\\unknown\\) last."
    response_id = add_report(project, page.queue.lines[3].item_id, "formulas", text)
    page.window().show_page("Label", response_id=response_id)
    assert "could not be drawn" in page.report_pane.banner.text()
    at = page.report_pane.report.text().rindex("\\(x^2\\)")
    page.report_pane.report.select(at, at + 7)
    press("Ctrl+E")
    label = labels.sheet(project, response_id).labels[page.bench.units[0].id]
    assert (label.quote, label.quote_start) == ("\\(x^2\\)", text.rindex("\\(x^2\\)"))
    (shown,) = page.report_pane.report.extraSelections()
    covered = page.report_pane.report._places.from_qt
    assert (covered(shown.cursor.selectionStart()), covered(shown.cursor.selectionEnd())) == (at, at + 7)


def test_a_quotation_that_is_a_formula_holds_its_brackets():
    text = "One **bold** word, \\(x_1\\), then \\(x_1\\) and $y$."
    shown = text.replace("**", "")
    start = shown.rindex("\\(x_1")
    span = difference.locate(text, shown, start, start + 7)
    assert span == (text.rindex("\\(x_1"), text.rindex("\\(x_1") + 7)
