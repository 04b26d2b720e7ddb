"""A refusal is never shown as a fault, whatever asked for what was refused: a menu, a key, a button."""

from functools import partial

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog

from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.page import Page
from annotator.gui.shell import bugs, menus, projects
from annotator.gui.shell.window import ASIDE, STEPS
from tests.gui.shell.test_window import EVERY_PAGE
from tests.windows.labelling_keys import be_active

SAID = Refusal("It cannot be done.", "Do something else.")


def refuse(*_: object) -> None:
    raise SAID


def acts_of(window):
    return [
        action for menu in window.menuBar().actions() for action in menu.menu().actions() if action.text()
    ]


def test_every_entry_of_every_menu_tells_a_refusal(small, window_over, qtbot, monkeypatch):
    table = menus.menus
    monkeypatch.setattr(
        menus,
        "menus",
        lambda window: [
            (title, [entry and (entry[0], entry[1], refuse) for entry in entries])
            for title, entries in table(window)
        ],
    )
    window = window_over(small)
    entries: list[QAction] = acts_of(window)
    assert len(entries) > 25
    for action in entries:
        window.messages.clear()
        with qtbot.captureExceptions() as raised:
            action.trigger()
        assert (raised, window.messages.text()) == ([], str(SAID)), action.text()


@pytest.mark.slow
def test_every_key_of_every_page_tells_a_refusal(sample, window_over, qtbot, monkeypatch):
    bind = Page.bind
    monkeypatch.setattr(
        Page, "bind", lambda page, act, slot, widget=None: bind(page, act, partial(refuse, slot), widget)
    )
    window = window_over(sample)
    pressed = 0
    for name in EVERY_PAGE:
        page = window.show_page(name)
        for act, shortcuts in page._shortcuts.items():
            for shortcut in shortcuts:
                window.messages.clear()
                with qtbot.captureExceptions() as raised:
                    shortcut.activated.emit()
                assert (raised, window.messages.text()) == ([], str(SAID)), (name, act)
                pressed += 1
    assert len(EVERY_PAGE) == len(STEPS) + len(ASIDE)
    assert pressed > 100


@pytest.mark.parametrize("there", ["a project", "a folder that cannot be written", "a name too long"])
def test_a_new_project_that_cannot_be_made_is_refused_in_words(there, small, window_over, monkeypatch, qtbot):
    place = {
        "a project": small.path,
        "a folder that cannot be written": small.path / "new.goldsmith",
        "a name too long": small.path.parent / ("n" * 300),
    }[there]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(place), ""))
    window = window_over(small)
    with qtbot.captureExceptions() as raised:
        next(action for action in acts_of(window) if action.text() == "New project…").trigger()
    assert raised == []
    assert window.messages.level == "warning"
    assert window.messages.text()


def test_a_new_project_is_called_as_was_typed(tmp_path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "study 1.2"), ""))
    assert projects.create_by_dialog(None) == tmp_path / "study 1.2.goldsmith"
    assert (tmp_path / "study 1.2.goldsmith").exists()


def test_a_refusal_that_nobody_caught_is_told_in_the_window_and_is_no_fault(
    small, window_over, qtbot, monkeypatch
):
    monkeypatch.setattr(bugs, "_shown", [])
    window = window_over(small)
    be_active(window, qtbot)
    bugs.report(Refusal, SAID, None)
    assert window.messages.text() == str(SAID)
    assert bugs._shown == []
