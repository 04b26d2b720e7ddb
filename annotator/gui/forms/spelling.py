"""Spelling while typing: unknown words are underlined, and a field's menu offers what may be meant."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QAction, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QMenu, QTextEdit

from annotator.domain.experts.assignment import Stage
from annotator.domain.material.item import Item
from annotator.domain.texts.refusal import Refusal
from annotator.gui import keys, theme
from annotator.gui.widgets.basics import later
from annotator.gui.widgets.fields import GrowingEdit
from annotator.gui.widgets.reading.marked_text import TextPositions

if TYPE_CHECKING:
    from annotator.actions.items.spelling import Spelling

KEY = "spelling"
# The window is at rest by then.
START_MS = 1000


class Speller(QObject):
    """What is right in the fields of an item; its dictionaries are read on another thread, when first needed."""

    learned = Signal()
    """Other words are right than before."""
    told = Signal(str)

    def __init__(self, ask: Callable[..., None], parent: QObject) -> None:
        """`ask` answers a question of the project later: it is given who hears the answer, and the question."""
        super().__init__(parent)
        self._ask = ask
        self._about: tuple[str, str, Stage] | None = None
        self._spelling: Spelling | None = None
        self._start = later(self, self._read, START_MS)
        self._asked_once = False

    @property
    def on(self) -> bool:
        return QSettings().value(KEY, "") != "off"

    def follow(self, item: Item, stage: Stage) -> None:
        """From now on what is written is about this item; also where the item has changed."""
        if self._about and self._about[1] != item.language:
            self._spelling = None
        self._about, self._asked_once = (item.id, item.language, stage), False
        self.learned.emit()

    def turn(self) -> None:
        """Check, or check no more; it is remembered."""
        QSettings().setValue(KEY, "off" if self.on else "")
        trouble = self._spelling.trouble if self.on and self._spelling else ""
        self.told.emit(trouble or ("Spelling is checked." if self.on else "Spelling is not checked."))
        self.learned.emit()

    def mistakes(self, text: str) -> list[tuple[int, int]]:
        """The words of a text that are unknown, as far as that can be said by now."""
        if not self.on or not text.strip():
            return []
        if not self._asked_once:
            self._asked_once = True
            self._start.start()
        return self._spelling.mistakes(text) if self._spelling else []

    def suggest(self, then: Callable[[list[str]], object], word: str) -> None:
        spelling = self._spelling
        self._ask(then, lambda _project: spelling.suggestions(word) if spelling else [])

    def add(self, word: str) -> None:
        """Take a word among the person's own."""
        if self._spelling:
            try:
                self._spelling.add(word)
            except (Refusal, OSError) as error:
                self.told.emit(str(error))
            self.learned.emit()

    def _read(self) -> None:
        from annotator.actions.items import spelling

        if self._about:
            item_id, _, stage = self._about
            self._ask(self._learn, spelling.of_item, item_id, stage)

    def _learn(self, spelling: "Spelling") -> None:
        if self._about and self._about[1] == spelling.language:
            self._spelling = spelling
            if spelling.trouble and keys.is_news(f"{KEY}/{spelling.language}"):
                self.told.emit(spelling.trouble)
            self.learned.emit()


class SpellMarks(QObject):
    """Underlines the unknown words of a field, but for the one that is being typed."""

    def __init__(self, field: GrowingEdit, speller: Speller) -> None:
        super().__init__(field)
        self._field, self._speller = field, speller
        self._revision, self._writing = field.document().revision(), False
        self._soon = later(self, self.mark, 0)
        field.textChanged.connect(self._soon.start)
        field.cursorPositionChanged.connect(self._moved)
        field.menu_wanted.connect(self._fill)
        field.rested.connect(self._rest)
        speller.learned.connect(self._soon.start)
        theme.watch(field, self._soon.start)
        self._soon.start()

    def mark(self) -> None:
        """Underline what is unknown now."""
        text = "" if self._field.isReadOnly() else self._field.toPlainText()
        mistakes = self._speller.mistakes(text)
        place = TextPositions(text)
        caret = self._field.textCursor().position() if self._writing else -1
        spans = [(place.to_qt(start), place.to_qt(end)) for start, end in mistakes]
        self._field.setExtraSelections([self._wave(*span) for span in spans if span[1] != caret])

    def _wave(self, start: int, end: int) -> QTextEdit.ExtraSelection:
        made, look = QTextEdit.ExtraSelection(), QTextCharFormat()
        look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        look.setUnderlineColor(theme.token("level-error"))
        made.cursor, made.format = self._over(start, end), look
        return made

    def _over(self, start: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self._field.document())
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _rest(self) -> None:
        self._writing = False
        self._soon.start()

    def _moved(self) -> None:
        """The word at the caret is being typed as long as every move comes with a change."""
        revision = self._field.document().revision()
        self._writing = revision != self._revision and self._field.hasFocus()
        self._revision = revision
        self._soon.start()

    def _fill(self, menu: QMenu, position: int) -> None:
        """Offer what may be meant by the word at a position, where it is unknown."""
        text = self._field.toPlainText()
        place = TextPositions(text)
        spans = [(place.to_qt(start), place.to_qt(end)) for start, end in self._speller.mistakes(text)]
        span = next((span for span in spans if span[0] <= position <= span[1]), None)
        if span is None or self._field.isReadOnly():
            return
        cursor = self._over(*span)
        word, first = cursor.selectedText(), menu.actions()[0]
        waiting, add = (
            QAction("Looking for suggestions…", menu, enabled=False),
            QAction("Add to my words", menu),
        )
        add.triggered.connect(lambda: self._speller.add(word))
        menu.insertActions(first, [waiting, add])
        menu.insertSeparator(first)
        self._speller.suggest(_Suggestions(menu, waiting, cursor).show, word)


class _Suggestions(QObject):
    """What takes the place of a menu's entry that waits; gone with the menu."""

    def __init__(self, menu: QMenu, waiting: QAction, cursor: QTextCursor) -> None:
        super().__init__(menu)
        self._menu, self._waiting, self._cursor = menu, waiting, cursor

    def show(self, words: list[str]) -> None:
        for word in words:
            entry = QAction(word, self._menu)
            entry.triggered.connect(partial(self._cursor.insertText, word))
            self._menu.insertAction(self._waiting, entry)
        self._waiting.setText("No suggestions")
        self._waiting.setVisible(not words)
        if words:
            self._menu.setActiveAction(self._menu.actions()[0])
