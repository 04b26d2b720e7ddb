"""Fields of a unit besides its text (buttons, lists, lines, numbers), and spell checking while typing."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QSettings, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QKeyEvent,
    QKeySequence,
    QRegularExpressionValidator,
    QTextCharFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QButtonGroup, QMenu, QTextEdit, QToolButton, QWidget

from annotator.domain.common import Refusal, shortened
from annotator.domain.experts.assignment import Stage
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.theme import set_role
from annotator.gui.widgets.bars import FlowRow
from annotator.gui.widgets.basics import Refitting, check_only, later, tooltip, with_properties
from annotator.gui.widgets.fields import AmountBox, ChoiceBox, GrowingEdit, LineField
from annotator.gui.widgets.reading.marked_text import TextPositions, painted_over, words_between

if TYPE_CHECKING:
    from annotator.actions.items.spelling import Spelling


# Milliseconds after the last key until a typed line is stored.
PAUSE_MS = 600
# A list shows at least this many letters of its value if space is short.
SHOWN_LETTERS = 8
AROUND_LIST = 46


class FormField:
    """What the fields of a unit do alike, before the class of Qt that each of them is."""

    def lock(self, locked: bool) -> None:
        self.setEnabled(not locked)  # type: ignore[attr-defined]

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)  # type: ignore[attr-defined]

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the page, never change the value."""
        event.ignore()


class ChoiceButtons(Refitting, FormField, QWidget):
    """Buttons of which at most one is checked; digits and arrows choose while it has the focus."""

    chosen = Signal(object)

    def __init__(self, name: str, options: Sequence[tuple[Any, str, str]]) -> None:
        """`options` are (value, label, meaning as `keys.tell` takes it)."""
        super().__init__()
        self.setAccessibleName(name)
        self._values = [value for value, _, _ in options]
        self._group = QButtonGroup(self)
        row = FlowRow(self, gap=0)
        for place, (_, label, meaning) in enumerate(options):
            button = self._button(name, label, meaning, _position(place == 0, place == len(options) - 1))
            self._group.addButton(button, place)
            row.addWidget(button)
        self._group.idClicked.connect(lambda _: self.chosen.emit(self.value()))
        self._skip_unchecked()

    def _button(self, name: str, label: str, meaning: str, position: str) -> QToolButton:
        button = with_properties(QToolButton(self), text=label, checkable=True)
        keys.tell(button, "toolTip", meaning)
        with_properties(
            button,
            accessibleName=f"{name}: {label}",
            role="segment",
            position=position,
            focusPolicy=Qt.FocusPolicy.StrongFocus,
        )
        return button

    def value(self) -> Any:
        place = self._group.checkedId()
        return self._values[place] if place >= 0 else None

    def show_value(self, value: Any) -> None:
        """Check the button of a value, or uncheck all, without emitting."""
        if value == self.value():
            return
        place = -1 if value is None or value not in self._values else self._values.index(value)
        check_only(self._group, self._group.button(place))
        self._skip_unchecked()

    def choose(self, number: int) -> None:
        """Choose an option by its number, counted from 1, as if it had been clicked."""
        if 1 <= number <= len(self._values):
            self._group.button(number - 1).click()
            self._skip_unchecked()

    def enter(self) -> None:
        (self._group.checkedButton() or self._group.button(0)).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def refit(self) -> None:
        """When the row wraps, style both ends of each line like those of a whole row."""
        buttons = self._group.buttons()
        breaks = [True, *(one.y() != other.y() for one, other in pairwise(buttons)), True]
        for button, (first, last) in zip(buttons, pairwise(breaks), strict=True):
            if button.property("position") != (position := _position(first, last)):
                theme.set_role(button, position=position)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text().isdigit() and keys.plain(event):
            self.choose(int(event.text()))
        else:
            event.ignore()

    def _skip_unchecked(self) -> None:
        """Let Tab stop once: at the checked button, or at the first."""
        stop = max(0, self._group.checkedId())
        for place in range(len(self._values)):
            policy = Qt.FocusPolicy.StrongFocus if place == stop else Qt.FocusPolicy.ClickFocus
            self._group.button(place).setFocusPolicy(policy)


def _position(first: bool, last: bool) -> str:
    if first and last:
        return "only"
    return "first" if first else "last" if last else "middle"


class PickList(FormField, ChoiceBox):
    """One value from a list, whose first entry stands for no value if that is allowed."""

    chosen = Signal(object)

    def __init__(self, name: str, none: str, no_value: Any = None, letters: int = SHOWN_LETTERS) -> None:
        """`none` is the entry for `no_value`, empty if a value is required; at least `letters` letters are shown."""
        super().__init__()
        with_properties(self, accessibleName=name, focusPolicy=Qt.FocusPolicy.StrongFocus, role="readable")
        self._letters = letters
        self._none, self._no_value = none, no_value
        self._offered: Sequence[tuple[Any, str]] | None = None
        self.offer(())
        self.activated.connect(lambda _: self.chosen.emit(self.value()))

    def sizeHint(self) -> QSize:
        """Wide enough for the minimum of letters: long entries are elided instead of widening the page."""
        letters = self._letters * self.fontMetrics().averageCharWidth()
        return QSize(letters + theme.current().px(AROUND_LIST), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def offer(self, options: Sequence[tuple[Any, str]]) -> None:
        """Offer other entries (value, label), keeping the value if it is still offered."""
        if self._offered == options:
            return
        self._offered, before = options, self.value()
        self.clear()
        if self._none:
            self.addItem(self._none, self._no_value)
        for value, label in options:
            self.addItem(label, value)
            self.setItemData(self.count() - 1, label, Qt.ItemDataRole.ToolTipRole)
        self.show_value(before)

    def value(self) -> Any:
        return self.currentData()

    def show_value(self, value: Any) -> None:
        """Show a value without emitting; a value that is not offered shows as none."""
        none = 0 if self._none else -1
        place = none if value in (None, "") else max(none, self.findData(value))
        if place != self.currentIndex():
            self.setCurrentIndex(place)
        self.setToolTip("" if place == none else tooltip(self.currentText()))


class TextLine(FormField, LineField):
    stirred = Signal()
    edited = Signal(str)

    def __init__(self, name: str, prompt: str = "") -> None:
        super().__init__(accessibleName=name, placeholderText=prompt)
        self._pause = later(self, lambda: self.edited.emit(self.text()), PAUSE_MS)
        self.finished = self.returnPressed
        self.textEdited.connect(self._on_typed)

    def _on_typed(self) -> None:
        self._pause.start()
        self.stirred.emit()

    def value(self) -> Any:
        return self.text()

    def show_value(self, value: Any) -> None:
        text = "" if value is None else str(value)
        if text != self.text():
            place = self.cursorPosition()
            self.setText(text)
            self.setCursorPosition(min(place, len(text)) if self.hasFocus() else 0)

    def lock(self, locked: bool) -> None:
        self.setReadOnly(locked)


class YearField(TextLine):
    def __init__(self) -> None:
        super().__init__("Year", "Year")
        self._restored: int | None = None
        with_properties(self, maxLength=4, maximumWidth=self.fontMetrics().horizontalAdvance("88888888"))
        self.setValidator(QRegularExpressionValidator("[0-9]*", self))

    def value(self) -> int | None:
        """The year, or None if the field is empty; while the text is not a year, the last valid one."""
        if self.unfit():
            return self._restored
        return int(self.text()) if self.text() else None

    def show_value(self, value: Any) -> None:
        """Show a year; text that is not a year stays while the year it was to replace is the same."""
        if not (self.unfit() and value == self._restored):
            super().show_value(value)
        self._restored = value

    def unfit(self) -> bool:
        """Whether the text is not a year."""
        return bool(self.text()) and not 1000 <= int(self.text()) <= 2200


class ShareField(FormField, AmountBox):
    stirred = Signal()

    def __init__(self) -> None:
        super().__init__(
            accessibleName="Share",
            decimals=4,
            singleStep=0.05,
            maximum=1.0,
            focusPolicy=Qt.FocusPolicy.StrongFocus,
        )
        self.valueChanged.connect(lambda _: self.stirred.emit())

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "f", 2 if round(value, 2) == round(value, 4) else 4)

    def show_value(self, value: Any) -> None:
        with QSignalBlocker(self):
            self.setValue(float(value))

    def lock(self, locked: bool) -> None:
        self.setReadOnly(locked)

    def enter(self) -> None:
        super().enter()
        self.selectAll()


class TextField(GrowingEdit):
    """A text of any length, script and direction."""

    stirred = Signal()
    """A key changed the text."""
    finished = Signal()
    """Enter was pressed outside of input-method composition: typing in this field is finished."""

    def __init__(self, name: str, prompt: str = "", *, most: int = 12) -> None:
        super().__init__(most=most, accessibleName=name, placeholderText=prompt)
        self._putting = False
        self._last = ""
        self.goes_on = False
        """Whether Enter moves on, so that only Shift+Enter breaks the line."""
        self.textChanged.connect(self._on_typed)

    def event(self, event: QEvent) -> bool:
        """Leave the page's own keys to the page, also those that a text field would handle itself."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.modifiers() & keys.COMMANDS
            and not self._composing
            and _belongs_to_page(QKeySequence(event.keyCombination()))
        ):
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        entered = event.key() in keys.ENTER and not self._composing and not self.isReadOnly()
        if entered and self.goes_on and keys.plain(event):
            self.finished.emit()
        elif entered and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
        else:
            super().keyPressEvent(event)

    def _on_typed(self) -> None:
        # An input method that composes changes the layout before the text.
        text, before = self.toPlainText(), self._last
        self._last = text
        if text != before and not self._putting:
            self.stirred.emit()

    def value(self) -> Any:
        return self.toPlainText()

    def show_value(self, value: Any) -> None:
        """Show the text of a revision, keeping the cursor, without emitting.

        Clears the field's undo history: from now on the page's undo takes the change back.
        """
        text = str(value or "")
        if text == self.toPlainText():
            self.document().clearUndoRedoStacks()
            return
        place = self.textCursor().position()
        self._putting = True
        self.setPlainText(text)
        self._putting = False
        cursor = self.textCursor()
        cursor.setPosition(min(place, len(text)) if self.hasFocus() else 0)
        self.setTextCursor(cursor)

    def lock(self, locked: bool) -> None:
        if self.isReadOnly() != locked:
            self.setReadOnly(locked)
            set_role(self)

    def enter(self) -> None:
        if not self.hasFocus():
            self.moveCursor(QTextCursor.MoveOperation.End)
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)


def _belongs_to_page(key: QKeySequence) -> bool:
    acts = [binding.act for binding in keys.BINDINGS if binding.page == "Author"]
    return any(key in keys.sequences(act) for act in acts)


LETTERS = 70


class ToggleButtons(ChoiceButtons):
    """Buttons of which any number may be checked; a digit toggles one."""

    def __init__(self, name: str, options: Sequence[tuple[Any, str, str]]) -> None:
        super().__init__(name, options)
        self._group.setExclusive(False)

    def value(self) -> tuple[Any, ...]:
        return tuple(
            value for place, value in enumerate(self._values) if self._group.button(place).isChecked()
        )

    def show_value(self, value: Any) -> None:
        """Check the buttons of exactly these values, without emitting."""
        for place, known in enumerate(self._values):
            self._group.button(place).setChecked(known in value)


class MarkMenu(FormField, QToolButton):
    """A menu of checkable entries; the button shows the numbers of the checked ones."""

    chosen = Signal(object)

    def __init__(self, name: str, none: str) -> None:
        """`none` is the button's text while nothing is checked."""
        super().__init__()
        self._name, self._none = name, none
        self._value: tuple[Any, ...] = ()
        self._menu = with_properties(QMenu(self), toolTipsVisible=True)
        self._menu.triggered.connect(self._toggle)
        self.setMenu(self._menu)
        with_properties(
            self,
            popupMode=QToolButton.ToolButtonPopupMode.InstantPopup,
            role="segment",
            position="only",
            focusPolicy=Qt.FocusPolicy.StrongFocus,
        )
        self.show_value(())

    def offer(self, options: Sequence[tuple[Any, str]]) -> None:
        """Offer other entries (value, words), each with its number."""
        self._menu.clear()
        for number, (value, words) in enumerate(options, start=1):
            short = shortened(words, LETTERS).replace("&", "&&")
            entry = self._menu.addAction(f"{'&' if number < 10 else ''}{number}  {short}")
            entry.setCheckable(True)
            entry.setData(value)
            entry.setToolTip(tooltip(words))
        self.show_value(self._value)

    def value(self) -> tuple[Any, ...]:
        """The checked values, including those no longer offered."""
        return self._value

    def show_value(self, value: Any) -> None:
        self._value = tuple(value)
        numbers = []
        for number, entry in enumerate(self._menu.actions(), start=1):
            entry.setChecked(entry.data() in self._value)
            numbers += [str(number)] * entry.isChecked()
        words = f"{self._name} {', '.join(numbers)}" if numbers else self._none
        self.setText(words)
        self.setAccessibleName(words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in keys.ENTER and keys.plain(event):
            self.showMenu()
        else:
            super().keyPressEvent(event)

    def _toggle(self, entry: QAction) -> None:
        rest = tuple(value for value in self._value if value != entry.data())
        self.show_value((*rest, entry.data()) if entry.isChecked() else rest)
        self.chosen.emit(self._value)


SPELLING = "spelling"
# By then the window is idle.
START_MS = 1000


class Speller(QObject):
    """Spell checking for an item's fields; dictionaries are read on another thread when first needed."""

    learned = Signal()
    """The set of known words has changed."""
    reported = Signal(str)

    def __init__(self, ask: Callable[..., None], parent: QObject) -> None:
        """`ask` runs a project query in the background: it takes the callback, the query and its arguments."""
        super().__init__(parent)
        self._ask = ask
        self._about: tuple[str, str, Stage] | None = None
        self._spelling: Spelling | None = None
        self._start = later(self, self._read, START_MS)
        self._asked_once = False

    @property
    def on(self) -> bool:
        return QSettings().value(SPELLING, "") != "off"

    def follow(self, item: Item, stage: Stage) -> None:
        """Check spelling in this item's language from now on; also called when the item has changed."""
        if self._about and self._about[1] != item.language:
            self._spelling = None
        self._about, self._asked_once = (item.id, item.language, stage), False
        self.learned.emit()

    def turn(self) -> None:
        """Turn spell checking on or off; the setting is stored."""
        QSettings().setValue(SPELLING, "off" if self.on else "")
        trouble = self._spelling.trouble if self.on and self._spelling else ""
        self.reported.emit(trouble or ("Spelling is checked." if self.on else "Spelling is not checked."))
        self.learned.emit()

    def mistakes(self, text: str) -> list[tuple[int, int]]:
        """The spans of unknown words in a text; empty until the dictionary is loaded."""
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
        """Add a word to the person's own dictionary."""
        if self._spelling:
            try:
                self._spelling.add(word)
            except (Refusal, OSError) as error:
                self.reported.emit(str(error))
            self.learned.emit()

    def _read(self) -> None:
        from annotator.actions.items import spelling

        if self._about:
            item_id, _, stage = self._about
            self._ask(self._learn, spelling.of_item, item_id, stage)

    def _learn(self, spelling: "Spelling") -> None:
        if self._about and self._about[1] == spelling.language:
            self._spelling = spelling
            if spelling.trouble and keys.is_news(f"{SPELLING}/{spelling.language}"):
                self.reported.emit(spelling.trouble)
            self.learned.emit()


class SpellMarks(QObject):
    """Underlines the unknown words of a field, except the one being typed."""

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
        text = "" if self._field.isReadOnly() else self._field.toPlainText()
        mistakes = self._speller.mistakes(text)
        place = TextPositions(text)
        caret = self._field.textCursor().position() if self._writing else -1
        spans = [(place.to_qt(start), place.to_qt(end)) for start, end in mistakes]
        self._field.setExtraSelections([self._wave(*span) for span in spans if span[1] != caret])

    def _wave(self, start: int, end: int) -> QTextEdit.ExtraSelection:
        look = QTextCharFormat()
        look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        look.setUnderlineColor(theme.token("level-error"))
        return painted_over(words_between(self._field.document(), start, end), look)

    def _rest(self) -> None:
        self._writing = False
        self._soon.start()

    def _moved(self) -> None:
        """Regard the word at the caret as being typed as long as every caret move comes with a text change."""
        revision = self._field.document().revision()
        self._writing = revision != self._revision and self._field.hasFocus()
        self._revision = revision
        self._soon.start()

    def _fill(self, menu: QMenu, position: int) -> None:
        """Offer suggestions for the word at a position, if it is unknown."""
        text = self._field.toPlainText()
        place = TextPositions(text)
        spans = [(place.to_qt(start), place.to_qt(end)) for start, end in self._speller.mistakes(text)]
        span = next((span for span in spans if span[0] <= position <= span[1]), None)
        if span is None or self._field.isReadOnly():
            return
        cursor = words_between(self._field.document(), *span)
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
    """Replaces the waiting entry of a menu by suggestions; deleted with the menu."""

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
