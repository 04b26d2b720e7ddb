"""Fields of a unit beside its text: button choice, list choice, line, number."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QResizeEvent, QTextCursor, QValidator, QWheelEvent
from PySide6.QtWidgets import QButtonGroup, QMenu, QToolButton, QWidget

from annotator.gui import keys, theme
from annotator.gui.theme import set_role
from annotator.gui.widgets.bars import FlowRow
from annotator.gui.widgets.basics import later, tooltip, with_properties
from annotator.gui.widgets.fields import AmountBox, ChoiceBox, GrowingEdit, LineField

# A typed line is kept in the file this long after the last key.
PAUSE_MS = 600
# A list shows at least this much of its value where room is short.
SHOWN_LETTERS = 8
AROUND_LIST = 46


class ChoiceButtons(QWidget):
    """Buttons of which at most one is down; digits and arrows choose while it has the focus."""

    chosen = Signal(object)

    def __init__(self, name: str, options: Sequence[tuple[Any, str, str]]) -> None:
        """`options` are (value, label, what it means, as `keys.tell` takes it)."""
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
        """Press the button of a value, or release all; tells nobody."""
        if value == self.value():
            return
        self._group.setExclusive(False)
        for place, known in enumerate(self._values):
            self._group.button(place).setChecked(known == value and value is not None)
        self._group.setExclusive(True)
        self._skip_unchecked()

    def choose(self, number: int) -> None:
        """Choose the option of a number, counted from 1, as if it had been clicked."""
        if 1 <= number <= len(self._values):
            self._group.button(number - 1).click()
            self._skip_unchecked()

    def lock(self, locked: bool) -> None:
        self.setEnabled(not locked)

    def enter(self) -> None:
        (self._group.checkedButton() or self._group.button(0)).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where the row breaks, each of its lines begins and ends as a whole row does."""
        super().resizeEvent(event)
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
        """Let Tab stop once: at the chosen button, or at the first."""
        stop = max(0, self._group.checkedId())
        for place in range(len(self._values)):
            policy = Qt.FocusPolicy.StrongFocus if place == stop else Qt.FocusPolicy.ClickFocus
            self._group.button(place).setFocusPolicy(policy)


def _position(first: bool, last: bool) -> str:
    if first and last:
        return "only"
    return "first" if first else "last" if last else "middle"


class PickList(ChoiceBox):
    """One value from a list, whose first entry stands for none where there may be none."""

    chosen = Signal(object)

    def __init__(self, name: str, none: str, no_value: Any = None, letters: int = SHOWN_LETTERS) -> None:
        """`none` stands there for `no_value`, empty where one must be chosen; so many `letters` are seen where room is
        short.
        """
        super().__init__()
        with_properties(self, accessibleName=name, focusPolicy=Qt.FocusPolicy.StrongFocus, role="readable")
        self._letters = letters
        self._none, self._no_value = none, no_value
        self._offered: Sequence[tuple[Any, str]] | None = None
        self.offer(())
        self.activated.connect(lambda _: self.chosen.emit(self.value()))

    def sizeHint(self) -> QSize:
        """As wide as its least letters: long entries are cut short where room is, not the page widened for them."""
        letters = self._letters * self.fontMetrics().averageCharWidth()
        return QSize(letters + theme.current().px(AROUND_LIST), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def offer(self, options: Sequence[tuple[Any, str]]) -> None:
        """Give the list other entries, (value, label), keeping the value where it is still offered."""
        if self._offered == options:
            return
        self._offered, kept = options, self.value()
        self.clear()
        if self._none:
            self.addItem(self._none, self._no_value)
        for value, label in options:
            self.addItem(label, value)
            self.setItemData(self.count() - 1, label, Qt.ItemDataRole.ToolTipRole)
        self.show_value(kept)

    def value(self) -> Any:
        return self.currentData()

    def show_value(self, value: Any) -> None:
        """Show a value; one that is not offered shows as none. Tells nobody."""
        none = 0 if self._none else -1
        place = none if value in (None, "") else max(none, self.findData(value))
        if place != self.currentIndex():
            self.setCurrentIndex(place)
        self.setToolTip("" if place == none else tooltip(self.currentText()))

    def lock(self, locked: bool) -> None:
        self.setEnabled(not locked)

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """A wheel turned over the field scrolls the page; it never changes the value."""
        event.ignore()


class TextLine(LineField):
    stirred = Signal()
    edited = Signal(str)

    def __init__(self, name: str, prompt: str = "") -> None:
        super().__init__()
        with_properties(self, accessibleName=name, placeholderText=prompt)
        self._pause = later(self, lambda: self.edited.emit(self.text()), PAUSE_MS)
        self.finished = self.returnPressed
        self.textEdited.connect(self._stir)

    def _stir(self) -> None:
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

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)


class YearField(TextLine):
    def __init__(self) -> None:
        super().__init__("Year", "Year")
        self._restored: int | None = None
        with_properties(self, maxLength=4, maximumWidth=self.fontMetrics().horizontalAdvance("88888888"))
        self.setValidator(_Digits(self))

    def value(self) -> int | None:
        """The year, or None when nothing is written; while what is written is no year, the year as it was."""
        if self.unfit():
            return self._restored
        return int(self.text()) if self.text() else None

    def show_value(self, value: Any) -> None:
        """Write a year; what is no year is left standing while the year it was to replace is the same."""
        if not (self.unfit() and value == self._restored):
            super().show_value(value)
        self._restored = value

    def unfit(self) -> bool:
        """Whether something is written that is not a year."""
        return bool(self.text()) and not 1000 <= int(self.text()) <= 2200


class _Digits(QValidator):
    def validate(self, text: str, place: int) -> object:
        fits = not text or (text.isascii() and text.isdigit())
        return (QValidator.State.Acceptable if fits else QValidator.State.Invalid, text, place)


class ShareField(AmountBox):
    stirred = Signal()

    def __init__(self) -> None:
        super().__init__()
        with_properties(
            self, accessibleName="Share", decimals=4, singleStep=0.05, focusPolicy=Qt.FocusPolicy.StrongFocus
        )
        self.setRange(0.0, 1.0)
        self.valueChanged.connect(lambda _: self.stirred.emit())

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "f", 2 if round(value, 2) == round(value, 4) else 4)

    def show_value(self, value: Any) -> None:
        with QSignalBlocker(self):
            self.setValue(float(value))

    def lock(self, locked: bool) -> None:
        self.setReadOnly(locked)

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """A wheel turned over the field scrolls the page; it never changes the value."""
        event.ignore()


class TextField(GrowingEdit):
    """A text of any length, script and direction."""

    stirred = Signal()
    """A key changed the text."""
    finished = Signal()
    """Enter was pressed, and no input method composes: what is written here is done."""

    def __init__(self, name: str, prompt: str = "", *, most: int = 12) -> None:
        super().__init__(most=most)
        with_properties(self, accessibleName=name, placeholderText=prompt)
        self._putting = False
        self._last = ""
        self.goes_on = False
        """Whether Enter goes on from here, and breaks the line with Shift alone."""
        self.textChanged.connect(self._stir)

    def event(self, event: QEvent) -> bool:
        """Leave the page's own keys to the page, also those that a text field would take for itself."""
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

    def _stir(self) -> None:
        # An input method that composes changes the layout before it changes the text.
        text, before = self.toPlainText(), self._last
        self._last = text
        if text != before and not self._putting:
            self.stirred.emit()

    def value(self) -> Any:
        return self.toPlainText()

    def show_value(self, value: Any) -> None:
        """Write the text of a revision, keeping the cursor; tells nobody.

        Taking back what led to it is the page's undo from now on, no longer the field's.
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
    """Buttons of which any number may be down; a digit toggles one."""

    def __init__(self, name: str, options: Sequence[tuple[Any, str, str]]) -> None:
        super().__init__(name, options)
        self._group.setExclusive(False)

    def value(self) -> tuple[Any, ...]:
        return tuple(
            value for place, value in enumerate(self._values) if self._group.button(place).isChecked()
        )

    def show_value(self, value: Any) -> None:
        """Press the buttons of these values alone; tells nobody."""
        for place, known in enumerate(self._values):
            self._group.button(place).setChecked(known in value)


class MarkMenu(QToolButton):
    """A menu in which any number of entries are marked; the button shows their numbers."""

    chosen = Signal(object)

    def __init__(self, name: str, none: str) -> None:
        """`none` stands on the button where nothing is marked."""
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
        """Give the menu other entries, (value, words), each with its number."""
        self._menu.clear()
        for number, (value, words) in enumerate(options, start=1):
            short = words if len(words) <= LETTERS else f"{words[: LETTERS - 1]}…"
            entry = self._menu.addAction(f"{'&' if number < 10 else ''}{number}  {short.replace('&', '&&')}")
            entry.setCheckable(True)
            entry.setData(value)
            entry.setToolTip(tooltip(words))
        self.show_value(self._value)

    def value(self) -> tuple[Any, ...]:
        """The marked values, those that are not offered among them."""
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

    def lock(self, locked: bool) -> None:
        self.setEnabled(not locked)

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in keys.ENTER and keys.plain(event):
            self.showMenu()
        else:
            super().keyPressEvent(event)

    def _toggle(self, entry: QAction) -> None:
        rest = tuple(value for value in self._value if value != entry.data())
        self.show_value((*rest, entry.data()) if entry.isChecked() else rest)
        self.chosen.emit(self._value)
