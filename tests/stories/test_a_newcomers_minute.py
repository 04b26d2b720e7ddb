"""A newcomer's first minute, who knows only what the screen says: from the first page to a conflict ruled on."""

import re

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QPlainTextEdit, QWidget

from annotator.gui.shell.start import Goldsmith
from tests.windows.using import be_active, in_view

KEY = re.compile(r"[\u2003(]((?:Ctrl|Alt|Shift|\+)*(?:F?\d+|[A-Z]|Enter))\)?(?:$|<)")


class Newcomer:
    """Reads what is shown, presses what it says, and types."""

    def __init__(self, program: Goldsmith, qtbot) -> None:
        self._program, self._qtbot = program, qtbot
        self.keys = 0

    @property
    def window(self) -> QWidget:
        return self._program.shown()

    def reads(self) -> list[str]:
        seen = list(in_view(self.window))
        texts = [one.text() for one in seen if isinstance(one, QAbstractButton | QLabel | QLineEdit)]
        return [*texts, *(one.toPlainText() for one in seen if isinstance(one, QPlainTextEdit))]

    def waits_to_read(self, words: str) -> None:
        self._qtbot.waitUntil(lambda: any(words in text for text in self.reads()))

    def button(self, words: str) -> QAbstractButton:
        self.waits_to_read(words)
        buttons = (one for one in in_view(self.window) if isinstance(one, QAbstractButton))
        return next(one for one in buttons if one.isEnabled() and words in one.text())

    def clicks(self, words: str) -> None:
        QTest.mouseClick(self.button(words), Qt.MouseButton.LeftButton)
        if self.window.isVisible():
            be_active(self.window, self._qtbot)

    def presses_the_key_of(self, words: str) -> None:
        """The digit that an answer shows, or the key in the tooltip of any other button."""
        self.waits_to_read(words)
        shown = [one for one in in_view(self.window) if isinstance(one, QAbstractButton)]
        texts = (
            text for one in shown if one.text().startswith(words) for text in (one.text(), one.toolTip())
        )
        self.presses(next(match[1] for text in texts if (match := KEY.search(text))))

    def presses_the_key_in_the_menu_at(self, words: str) -> None:
        acts = [act for title in self.window.menuBar().actions() for act in title.menu().actions()]
        self.presses(next(act.text() for act in acts if act.text().startswith(words)).split("\t")[1])

    def presses(self, key: str) -> None:
        stroke = QKeySequence(key)[0]
        QTest.keyClick(self._focused(), stroke.key(), stroke.keyboardModifiers())
        self.keys += 1

    def types(self, words: str) -> None:
        QTest.keyClicks(self._focused(), words)

    def _focused(self) -> QWidget:
        return QApplication.focusWidget() or self.window


@pytest.fixture
def newcomer(qapp, qtbot, tmp_path, monkeypatch):
    qapp.setOrganizationName("goldsmith")
    qapp.setApplicationName("goldsmith-newcomer")
    QSettings().clear()
    monkeypatch.setattr("annotator.gui.shell.navigation.user_data", lambda: tmp_path)
    program = Goldsmith(qapp)
    be_active(program.show(None), qtbot)
    yield Newcomer(program, qtbot)
    program.close()
    QSettings().clear()


def test_a_newcomer_writes_quotes_labels_and_rules_by_what_the_screen_says(newcomer):
    newcomer.clicks("Open the sample project")
    newcomer.waits_to_read("Try this:")

    newcomer.clicks("Write a criterion")
    newcomer.presses_the_key_of("New criterion")
    newcomer.types("Explains how much open soil a tree needs to keep cooling")

    # Whoever goes on has written it.
    newcomer.clicks("Quote the source")
    newcomer.presses_the_key_in_the_menu_at("Find on this page")
    newcomer.types("twelve square metres")
    newcomer.presses("Enter")
    newcomer.presses("Esc")
    newcomer.presses_the_key_of("Quote")
    newcomer.waits_to_read("“twelve square metres”")

    newcomer.clicks("Label a report")
    newcomer.presses_the_key_of("Not met")

    newcomer.clicks("Settle a conflict")
    newcomer.presses_the_key_of("Take A")
    assert newcomer.keys <= 7
