"""What the keys of the Author page do to units: weights, order, new ones, retired ones, and nothing else."""

import pytest

from annotator.actions.items import items
from annotator.actions.project.people import new_project
from annotator.domain.kinds.documents import WRITTEN
from annotator.gui.forms.finding_lines import FindingLines
from annotator.gui.pages.authoring.action_bar import AuthoringActionBar
from tests.projects.authoring_project import TEXTS, begun_project, mine, texts
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = begun_project
FIRST, SECOND, THIRD = TEXTS


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Author")


def weights(project) -> list[int]:
    return [unit.weight for unit in mine(project).document.units]


def test_alt_and_a_digit_set_the_weight_of_the_criterion_at_the_cursor(page, project):
    press("Alt+1")
    page.sheet.form.editors[2].text.setFocus()
    press("Alt+2")
    assert weights(project) == [1, 2, 2]


def test_digits_and_letters_only_write_while_a_text_has_the_focus(page, project):
    type_words(" 1 2 3 iure")
    press("Tab")
    assert (weights(project), texts(project)[0]) == ([3, 2, 1], f"{FIRST} 1 2 3 iure")


def test_a_digit_sets_the_weight_while_the_weights_have_the_focus(page, project):
    press("Tab")
    press("1")
    assert weights(project)[0] == 1


def test_alt_and_an_arrow_move_the_criterion_and_the_focus_goes_with_it(page, project):
    field = focus()
    press("Alt+Down")
    assert texts(project) == [SECOND, FIRST, THIRD]
    assert focus() is field
    press("Alt+Down", 2)
    assert texts(project) == [SECOND, THIRD, FIRST]
    press("Alt+Up")
    assert texts(project) == [SECOND, FIRST, THIRD]
    assert [editor.number.text() for editor in page.sheet.form.editors] == ["1", "2", "3"]


def test_tab_goes_through_the_criteria_in_their_new_order(page):
    press("Alt+Down")
    page.sheet.form.editors[0].text.setFocus()
    for _ in range(12):
        if focus() is page.sheet.form.editors[1].text:
            break
        press("Tab")
    assert focus().toPlainText() == FIRST


def test_a_new_criterion_comes_below_with_the_focus_in_it(page, project):
    press("Ctrl+N")
    assert texts(project) == [FIRST, "", SECOND, THIRD]
    type_words("Provides an example.")
    page.leave()
    assert texts(project)[1] == "Provides an example."


def test_retiring_takes_the_criterion_out_and_undo_brings_it_back(page, project):
    press("Ctrl+Backspace")
    assert texts(project) == [SECOND, THIRD]
    assert focus().toPlainText() == SECOND
    press("Ctrl+Z")
    assert texts(project) == [FIRST, SECOND, THIRD]
    assert [editor.text.toPlainText() for editor in page.sheet.form.editors] == [FIRST, SECOND, THIRD]


def test_the_last_criterion_can_be_retired_and_a_new_one_begun(page, project):
    press("Ctrl+Backspace", 3)
    assert texts(project) == []
    press("Ctrl+N")
    assert texts(project) == [""]
    assert focus() is page.sheet.form.editors[0].text


def test_esc_leaves_the_field_arrows_go_from_unit_to_unit_and_enter_goes_in(page):
    press("Esc")
    assert focus() is page.sheet.form.editors[0]
    press("Down")
    assert focus() is page.sheet.form.editors[1]
    press("Return")
    assert focus() is page.sheet.form.editors[1].text


def test_a_unit_is_kept_as_its_own_widget_when_others_come_and_go(page):
    editors = list(page.sheet.form.editors)
    press("Ctrl+N")
    press("Ctrl+Z")
    assert page.sheet.form.editors == editors


def test_the_spread_of_the_weights_follows_every_choice(page):
    press("Alt+1")
    parts = [(part.label, part.count) for part in page.sheet.bar.spread._parts]
    assert parts == [("1", 2), ("2", 1), ("3", 0)]


def test_letter_6_what_other_benchmarks_came_to_stands_beside_once_it_is_asked_for(page, qtbot):
    bar = page.sheet.bar
    assert [part.norm for part in bar.spread._parts] == [None] * 3
    assert "elsewhere" not in bar.counts.text()
    bar.elsewhere.setFocus()
    press("Space")
    assert [part.norm for part in bar.spread._parts] == [0.3545, 0.5091, 0.1364]
    assert "elsewhere, of 931: 35 / 51 / 14 %" in bar.counts.text()
    again = AuthoringActionBar()
    qtbot.addWidget(again)
    assert again.elsewhere.isChecked()


def test_the_wheel_over_a_list_changes_nothing(page, project, qtbot):
    from PySide6.QtCore import QPoint, QPointF, Qt
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtWidgets import QApplication

    page.sheet.form.offer(page.item, [("a", "One"), ("b", "Two")])
    combo = page.sheet.form.editors[0].fields["insight_id"]
    turn = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(combo, turn)
    assert combo.currentIndex() == 0


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_form_opens_without_a_remark_and_makes_them_once_it_is_to_be_submitted(kind, tmp_path, page_over):
    project = new_project(tmp_path / "new.goldsmith")
    item_id = items.add(project, "What is basalt?").subject
    page = page_over(project, "Author", item_id=item_id, kind=kind.value)
    page.sheet.start()
    page.sheet.checking.check()
    assert [line for line in page.sheet.form.findChildren(FindingLines) if line.isVisible()] == []
    assert "to fix" not in page.sheet.bar.remarks.text()
    page.sheet.submission.submit()
    assert "to fix" in page.sheet.bar.remarks.text()
