"""The command palette by keyboard: acts, pages, items and texts, chosen without the mouse."""

from threading import Event

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.gui import keys, theme
from annotator.gui.session.session import TaskCallbacks
from annotator.gui.shell.palette import Choice, _line_of
from tests.windows.using import Typed, focus, press, settle, type_words


def typed(window, words: str) -> list[str]:
    """Open the palette, type, and read what it lists."""
    if not window._palette.isVisible():
        press("Ctrl+K")
    window._palette.field.clear()
    type_words(words)
    settle(window.page)
    return listed(window)


def listed(window) -> list[str]:
    choices = window._palette.choices
    return [choices.index(row).data() for row in range(choices.rowCount())]


def test_an_item_is_gone_to_by_words_of_its_question_and_a_unit_in_its_document(window):
    assert typed(window, "zirconium") == ["Nothing found"]
    press("Return")
    assert window._palette.isVisible()
    assert typed(window, "residual conn")[:2] == ["Items", "1 What do residual connections do? Deep learning"]
    press("Return")
    assert (window._palette.isVisible(), window.page.NAME, window.page.item.key) == (False, "Author", "1")
    typed(window, "training stability")
    press("Return")
    settle(window.page)
    unit = window.page.sheet.form.current
    assert unit is not None
    assert window.page.place()["unit_id"] == unit.unit_id
    assert focus().toPlainText() == "Compares training stability"
    # Elsewhere this key deletes to the end of the line.
    press("Home", "Ctrl+K")
    assert window._palette.isVisible()
    press("Escape")
    assert focus().toPlainText() == "Compares training stability"


def test_enter_ahead_of_the_texts_goes_to_what_comes(window):
    gathered = Event()
    window.session._tasks_behind.send(lambda _tell: gathered.wait(), TaskCallbacks(None))
    press("Ctrl+K", Typed("residual"))
    early = listed(window)
    press("Return")
    gathered.set()
    settle(window.page)
    assert (early, window.page.NAME, window.page.item.key) == (["Searching texts…"], "Author", "1")


def test_arrows_pass_over_the_names_of_kinds_and_a_click_chooses_in_a_palette_within_its_window(window):
    lines = typed(window, "re")
    choices = window._palette.choices.places()
    assert 0 not in choices
    assert len(lines) > len(choices) + 1
    walked = []
    for _ in choices:
        walked.append(window._palette.list.currentIndex().row())
        press("Down")
    assert (walked, window._palette.list.currentIndex().row()) == (choices, choices[0])
    press("Up")
    assert window._palette.list.currentIndex().row() == choices[-1]
    press("PgUp", "PgUp", "PgUp")
    assert (window._palette.list.currentIndex().row(), focus()) == (choices[0], window._palette.field)
    assert focus().accessibleDescription() == lines[choices[0]]
    press("Escape")
    window.resize(700, 480)
    typed(window, "e")
    palette = window._palette
    assert window.rect().contains(palette.geometry())
    window.resize(1200, 800)
    QApplication.processEvents()
    assert window.rect().contains(palette.geometry())
    typed(window, "residual")
    # The palette has a frame already.
    assert palette.list.frameWidth() == 0
    headline, first = (palette.list.visualRect(palette.choices.index(row)).center() for row in (0, 1))
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=headline)
    assert palette.isVisible()
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=first)
    assert window.page.NAME == "Author"


def test_it_closes_and_the_keyboard_is_where_it_was_and_with_nothing_typed_it_offers_what_was_chosen(window):
    window.page.search.setFocus()
    for key in ("Escape", "Ctrl+K"):
        press("Ctrl+K")
        assert focus() is window._palette.field
        press(key)
        assert (window._palette.isVisible(), focus()) == (False, window.page.search)
    press("Ctrl+Shift+F")
    window.page.search.setFocus()
    assert not window._palette.isVisible()
    typed(window, "who?")
    press("Return")
    window.show_page("Agreement")
    press("Ctrl+K")
    settle(window.page)
    lines = listed(window)
    assert lines[:4] == ["Recent", "2 Who? Deep learning", "Author 2  Who?", "Items"]
    assert "Acts" in lines
    press("Down", "Return")
    assert (window.page.NAME, window.page.item.key) == ("Author", "2")


def test_an_act_of_a_menu_and_one_of_the_page_are_done_where_the_focus_was(window):
    assert "View Larger Ctrl++" in typed(window, "larger")
    before = theme.current().zoom
    press("Return")
    assert theme.current().zoom > before
    theme.zoom(0)
    assert typed(window, "add an it") == ["Acts", "Items Add an item Ctrl+N"]
    press("Return")
    assert window.page.form.isVisible()
    window.show_page("Help")
    assert "Items Add an item Ctrl+N" not in typed(window, "add an it")
    # Nor among what was chosen last: that page is not in view.
    window._palette.field.clear()
    settle(window.page)
    assert listed(window)[:3] == ["Recent", "View Larger Ctrl++", "Items"]
    press("Escape")
    assert keys.rebind("zoom_in", "Ctrl+Alt+L") is None
    assert "View Larger Ctrl+Alt+L" in typed(window, "larger")
    assert "Results Ctrl+7" in typed(window, "results")
    assert "Results Agreement" in typed(window, "agreem")
    press("Return")
    assert window.page.NAME == "Agreement"


def test_what_was_listed_for_one_person_is_gone_for_the_next(window, small):
    added = items.add(small, "Which?").subject
    artifacts.start(small, added, Rubric.KIND, Rubric(units=(Criterion(text="Names iridium"),)))
    ada = people.add_person(small, "Ada").subject
    assert len(typed(window, "iridium")) == 2
    press("Return")
    window.choose_person(ada)
    press("Ctrl+K")
    settle(window.page)
    assert "iridium" not in " ".join(listed(window))
    assert typed(window, "iridium") == ["Nothing found"]


def test_acts_that_had_its_key_are_told_once_where_they_are(window):
    window.show_page("Contest", part="Keep")
    settle(window.page)
    press("Ctrl+K")
    assert "“Keep the task: make an item of it” has the key Ctrl+T now." in window._palette.news.text()
    assert window._palette.news.isVisible()
    press("Escape", "Ctrl+K")
    assert not window._palette.news.isVisible()
    press("Escape")
    # Find on a page without a search of its own finds anywhere.
    window.show_page("Help", topic="about")
    acts = (act for menu in window.menuBar().actions() for act in menu.menu().actions())
    next(act for act in acts if act.text().startswith("Find on")).trigger()
    assert window._palette.isVisible()


@pytest.mark.parametrize(("words", "right"), [("Weight of gold", False), ("وزن الذهب", True)])
def test_a_line_stands_at_the_side_where_its_script_begins(words: str, right: bool) -> None:
    layout = _line_of(Choice("Items", words, list, marks=((0, 3),)), QFont(), 500)
    assert (layout.lineAt(0).naturalTextRect().left() > 250) is right


def test_words_too_long_for_a_line_are_cut_and_marks_count_letters_beyond_the_first_plane() -> None:
    layout = _line_of(Choice("Items", f"𠮷𠮷 gold {'long ' * 200}", list, marks=((3, 7),)), QFont(), 300)
    assert layout.text().endswith("…")
    (bold,) = layout.formats()
    halves = layout.text().encode("utf-16-le")[2 * bold.start : 2 * (bold.start + bold.length)]
    assert halves.decode("utf-16-le") == "gold"
