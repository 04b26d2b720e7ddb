"""Unknown words are underlined while one writes, a menu offers what is meant, and a key turns it off."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from annotator.actions.items import items, spelling
from annotator.gui.forms.spelling import SpellMarks
from tests.projects.authoring_project import begun_project, texts
from tests.windows.labelling_keys import focus, press, type_words
from tests.windows.settling import settle

PROJECT = begun_project
# A menu that pops up has the offscreen platform speak of what it has not.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("annotator.places.user_data", lambda: tmp_path / "data")
    monkeypatch.setattr(spelling, "SYSTEM", ())
    monkeypatch.setattr("annotator.gui.forms.spelling.START_MS", 0)


@pytest.fixture
def page(project, page_over):
    made = page_over(project, "Author")
    settle(made)
    return made


def marked(field) -> list[str]:
    settle(field.window().page)
    return [one.cursor.selectedText() for one in field.extraSelections()]


def menu_at(field, word: str = "") -> QMenu:
    """The menu of the key, or of a click on a word."""
    if word:
        cursor = field.document().find(word)
        at = field.cursorRect(cursor).center() - QPoint(3, 0)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, field.viewport().mapToGlobal(at))
        QApplication.sendEvent(field.viewport(), event)
    else:
        press("Shift+F10")
    settle(field.window().page)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def offered(menu: QMenu) -> list[str]:
    return [entry.text() for entry in menu.actions() if entry.isVisible() and not entry.isSeparator()]


def choose(menu: QMenu, words: str) -> None:
    next(entry for entry in menu.actions() if entry.text() == words).trigger()
    menu.close()


def test_a_word_is_underlined_once_it_is_ended(page):
    field = focus()
    press("Ctrl+A")
    type_words("It cites a wrod")
    assert marked(field) == []
    type_words(" and")
    assert marked(field) == ["wrod"]
    press("Left", times=len(" and"))
    assert marked(field) == ["wrod"]


def test_the_last_word_is_underlined_when_the_field_is_left(page):
    field = focus()
    type_words(" wrod")
    assert marked(field) == []
    press("Tab")
    assert marked(field) == ["wrod"]


def test_what_stands_there_already_and_a_note_are_checked_too(page, project):
    press("Ctrl+M")
    type_words("A scetch of it")
    assert marked(focus()) == ["scetch"]


def test_words_beyond_the_basic_plane_keep_the_line_under_the_right_word(page):
    field = focus()
    press("Ctrl+A")
    field.insertPlainText("𝒳 and 😀 are wrod here")
    assert marked(field) == ["wrod"]


@pytest.mark.parametrize("by_mouse", [False, True])
def test_the_menu_offers_what_is_meant_and_the_choice_is_kept_like_typing(page, project, by_mouse):
    field = focus()
    press("Ctrl+A")
    type_words("It recieved")
    menu = menu_at(field, "recieved" if by_mouse else "")
    assert offered(menu)[0] == "received"
    assert "Add to my words" in offered(menu)
    choose(menu, "received")
    press("Tab")
    assert texts(project)[0] == "It received"
    assert marked(field) == []


def test_a_word_that_is_right_has_the_usual_menu_alone(page):
    press("Ctrl+A")
    type_words("right")
    menu = menu_at(focus())
    assert "Add to my words" not in offered(menu)
    menu.close()


def test_a_word_of_ones_own_is_underlined_in_no_field_any_more(page):
    first, second = (editor.text for editor in page.sheet.form.editors[:2])
    for field in (first, second):
        field.setFocus()
        press("Ctrl+A")
        type_words("A gromply is here")
    assert marked(first) == marked(second) == ["gromply"]
    choose(menu_at(second, "gromply"), "Add to my words")
    assert marked(first) == marked(second) == []


def test_one_key_turns_it_off_and_that_is_remembered(page, project, page_over):
    field = focus()
    type_words(" wrod and")
    assert marked(field) == ["wrod"]
    press("F7")
    assert marked(field) == []
    assert page.sheet.messages.text() == "Spelling is not checked."
    assert not page_over(project, "Author").sheet.speller.on
    press("F7")


def test_a_language_without_a_dictionary_is_told_once_and_quietly(page, project):
    first = items.ids(project)[0]
    page.session.do(items.change, first, language="ar")
    settle(page)
    assert page.sheet.messages.text() == "No spelling dictionary for ar."
    page.sheet.messages.hide()
    page.session.do(items.change, first, subject="Another")
    settle(page)
    assert not page.sheet.messages.isVisible()
    assert marked(page.sheet.form.editors[0].text) == []


def test_what_is_closed_is_not_checked(page):
    page.sheet.form.editors[0].lock(True)
    page.sheet.form.editors[0].text.setPlainText("wrod")
    assert marked(page.sheet.form.editors[0].text) == []
    assert page.sheet.form.editors[0].text.findChildren(SpellMarks)
