"""Fields of a unit beside its text: button choice, list choice, line, number."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QToolButton,
    QWidget,
)

from annotator.gui import keys, theme
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.basics import tooltip
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.fields.number_box import AmountBox
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.later import later

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
        button = QToolButton(self)
        button.setText(label)
        button.setCheckable(True)
        keys.tell(button, "toolTip", meaning)
        button.setAccessibleName(f"{name}: {label}")
        button.setProperty("role", "segment")
        button.setProperty("position", position)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def value(self) -> Any:
        """The chosen value, or None."""
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
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._letters = letters
        self.setProperty("role", "readable")
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
        """The chosen value, or the one that stands for none."""
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
    """A single line of text."""

    stirred = Signal()
    edited = Signal(str)

    def __init__(self, name: str, prompt: str = "") -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(prompt)
        self._pause = later(self, lambda: self.edited.emit(self.text()), PAUSE_MS)
        self.textEdited.connect(self._stir)

    def _stir(self) -> None:
        self._pause.start()
        self.stirred.emit()

    def value(self) -> Any:
        return self.text()

    def show_value(self, value: Any) -> None:
        """Write a value, keeping the cursor; tells nobody."""
        text = "" if value is None else str(value)
        if text != self.text():
            place = self.cursorPosition()
            self.setText(text)
            self.setCursorPosition(min(place, len(text)) if self.hasFocus() else 0)

    def lock(self, locked: bool) -> None:
        """Let the text be read and copied but not changed."""
        self.setReadOnly(locked)

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)


class YearField(TextLine):
    """A year of four digits, or nothing."""

    def __init__(self) -> None:
        super().__init__("Year", "Year")
        self._kept: int | None = None
        self.setMaxLength(4)
        self.setMaximumWidth(self.fontMetrics().horizontalAdvance("88888888"))
        self.setValidator(_Digits(self))

    def value(self) -> int | None:
        """The year, or None when nothing is written; while what is written is no year, the year as it was."""
        if self.unfit():
            return self._kept
        return int(self.text()) if self.text() else None

    def show_value(self, value: Any) -> None:
        """Write a year; what is no year is left standing while the year it was to replace is the same."""
        if not (self.unfit() and value == self._kept):
            super().show_value(value)
        self._kept = value

    def unfit(self) -> bool:
        """Whether something is written that is not a year."""
        return bool(self.text()) and not 1000 <= int(self.text()) <= 2200


class _Digits(QValidator):
    """A validator that accepts digits and the empty text."""

    def validate(self, text: str, place: int) -> object:
        """Whether only digits are there."""
        fits = not text or (text.isascii() and text.isdigit())
        return (QValidator.State.Acceptable if fits else QValidator.State.Invalid, text, place)


class ShareField(AmountBox):
    """A share of the whole, from 0 to 1."""

    stirred = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Share")
        self.setRange(0.0, 1.0)
        self.setDecimals(4)
        self.setSingleStep(0.05)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.valueChanged.connect(lambda _: self.stirred.emit())

    def textFromValue(self, value: float) -> str:
        """At least two digits, more only where the share has them."""
        return self.locale().toString(value, "f", 2 if round(value, 2) == round(value, 4) else 4)

    def show_value(self, value: Any) -> None:
        """Show a share; tells nobody."""
        blocked = self.blockSignals(True)
        self.setValue(float(value))
        self.blockSignals(blocked)

    def lock(self, locked: bool) -> None:
        self.setReadOnly(locked)

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """A wheel turned over the field scrolls the page; it never changes the value."""
        event.ignore()
