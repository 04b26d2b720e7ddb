"""Input fields: drop-down lists, numbers, search fields, and a text field that grows and reports changes in pauses."""

import unicodedata
from collections.abc import Callable, Iterable
from math import ceil
from typing import Any

from PySide6.QtCore import (
    QEvent,
    QLocale,
    QMimeData,
    QPoint,
    QSignalBlocker,
    QSize,
    QStringListModel,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QTextOption,
    QValidator,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QCompleter,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QToolTip,
    QWidget,
)

from annotator.domain.common import storable
from annotator.gui import theme
from annotator.gui.widgets.basics import (
    Refitting,
    StretchSpace,
    direction_of,
    horizontal,
    later,
    tooltip,
    with_properties,
)

# A drop-down list has at most this many rows; its frame takes at most this many pixels.
MOST_ROWS, AROUND_ROWS = 16, 24


class ChoiceBox(QComboBox):
    """A combo box that elides long entries, with the full text as tooltip."""

    def __init__(
        self, changed: Callable[[], object] | None = None, letters: int = 0, **settings: Any
    ) -> None:
        """`changed` is called whenever another entry is selected.

        The width asked for is that of `letters` letters, by default that of the longest entry.
        """
        super().__init__(**settings)
        if changed is not None:
            self.currentIndexChanged.connect(lambda _: changed())
        if letters:
            with_properties(
                self,
                sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon,
                minimumContentsLength=letters,
            )

    def showPopup(self) -> None:
        """Show only whole rows, as many as fit, as wide as the longest entry up to the window's width."""
        screen, top = self.screen().availableGeometry(), self.mapToGlobal(QPoint(0, 0)).y()
        room = max(top - screen.top(), screen.bottom() - top - self.height()) - AROUND_ROWS
        self.setMaxVisibleItems(max(1, min(MOST_ROWS, room // max(1, self.view().sizeHintForRow(0)))))
        rows = self.view()
        rows.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        whole = rows.sizeHintForColumn(0) + AROUND_ROWS + rows.verticalScrollBar().sizeHint().width()
        rows.setMinimumWidth(min(whole, self.window().width()))
        for row in range(self.count()):
            # An elided entry has its full text as tooltip.
            if whole > self.window().width() and not self.itemData(row, Qt.ItemDataRole.ToolTipRole):
                self.setItemData(row, tooltip(self.itemText(row)), Qt.ItemDataRole.ToolTipRole)
        super().showPopup()

    def elided(self) -> str:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return option.currentText

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Have the entry painted elided to the space for it."""
        super().initStyleOption(option)
        parts, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(parts, option, part, self).width()
        option.currentText = self.fontMetrics().elidedText(
            option.currentText, Qt.TextElideMode.ElideRight, room
        )

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and not self.toolTip():
            words = self.currentText()
            QToolTip.showText(event.globalPos(), tooltip(words) if self.elided() != words else "", self)
            return True
        return super().event(event)


def offer(combo: QComboBox, choices: Iterable[tuple[str, str]]) -> None:
    """Offer choices (label, value) without emitting; the first is selected if the current one is gone."""
    current = combo.currentData()
    with QSignalBlocker(combo):
        combo.clear()
        for words, value in choices:
            combo.addItem(words, value)
        combo.setCurrentIndex(max(0, combo.findData(current)))


def choose(combo: QComboBox, value: Any) -> bool:
    """Select the entry with a value; whether there is one."""
    row = combo.findData(value)
    if row >= 0:
        combo.setCurrentIndex(row)
    return row >= 0


def when_changed(slot: Callable[[], object], *fields: QWidget) -> None:
    """Call `slot` after every change of these fields, by the user or by code."""
    for field in fields:
        if isinstance(field, QLineEdit | QPlainTextEdit):
            field.textChanged.connect(lambda *_: slot())
        elif isinstance(field, QComboBox):
            field.currentIndexChanged.connect(lambda _: slot())
        elif isinstance(field, QSpinBox | QDoubleSpinBox):
            field.valueChanged.connect(lambda _: slot())
        elif isinstance(field, QAbstractButton):
            field.toggled.connect(lambda _: slot())
        else:
            raise TypeError(f"A {type(field).__name__} tells of no change.")


def label_of(field: QWidget, words: str) -> QLabel:
    """A label whose mnemonic focuses a field that is placed elsewhere."""
    label = QLabel(words)
    label.setBuddy(field)
    return label


def beside(*parts: QWidget) -> QHBoxLayout:
    return horizontal(*parts, StretchSpace(1), spacing=8)


def together(words: str, field: QWidget, tip: str = "") -> QWidget:
    """A field after its label, kept on the same line when a row wraps."""
    made, label = QWidget(), label_of(field, words)
    for each in (label, field):
        each.setToolTip(tooltip(tip))
    horizontal(label, field, on=made, margins=0, spacing=6)
    return made


# Label, content of the row, the field in it with its accessible name, and its tooltip.
FormRow = tuple[str, QWidget | QLayout, QWidget, str, str]


def form_of(rows: Iterable[FormRow], on: QWidget | None = None, **settings: Any) -> QFormLayout:
    """Fields one below the other, each with label and tooltip; `on` is the widget that gets the layout."""
    grows = QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow
    form = QFormLayout(on, verticalSpacing=7, fieldGrowthPolicy=grows, **settings)
    form.setContentsMargins(0, 0, 0, 0)
    for words, part, field, name, tip in rows:
        with_properties(field, accessibleName=name, toolTip=tip)
        form.addRow(label_of(field, words), part)
    return form


# The margin of the text in a spin box, in pixels at 100 %: a style sheet cannot set it.
CLEAR = 7
# Decimal separators that people type in various languages.
POINTS = str.maketrans({",": ".", "٫": "."})


class NumberBox(QSpinBox):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _make(self)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        return super().validate(_digits(text), place)


class AmountBox(QDoubleSpinBox):
    """A number with decimals, after a point or a comma: “2,5” must never become 25, nor “2.5”."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _make(self)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        return super().validate(_digits(text).translate(POINTS), place)


class BudgetBox(AmountBox):
    """A budget in US dollars; 0 stands for no limit."""

    def __init__(self, most: int = 100_000) -> None:
        super().__init__(minimum=0, maximum=most, decimals=4, prefix="$ ")
        with_properties(self, specialValueText="no limit", accessibleName="Budget in US dollars")

    def textFromValue(self, value: float) -> str:
        whole, _, parts = f"{value:.4f}".partition(".")
        return f"{whole}.{parts[:2]}{parts[2:].rstrip('0')}"

    @property
    def limit(self) -> float | None:
        """The budget; None without a limit."""
        return self.value() or None


def _make(box: QAbstractSpinBox) -> None:
    # Like all other numbers of the program.
    box.setLocale(QLocale.c())
    box.lineEdit().setTextMargins(CLEAR, 0, CLEAR, 0)


def _digits(text: str) -> str:
    return "".join(str(unicodedata.decimal(sign, sign)) for sign in text)


class LineField(QLineEdit):
    def __init__(self, parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, **properties)
        self.setValidator(_Storable(self))

    def seek(self) -> None:
        """Take the focus and select the previous search words, to be typed over."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def finds(self, text: str) -> bool:
        """Whether a text contains all the search words."""
        return all(word in text.casefold() for word in self.text().casefold().split())


def search_field(prompt: str, called: str, narrow: Callable[[], object]) -> LineField:
    """A field that filters a list by its text; `called` is its accessible name."""
    made = LineField(placeholderText=prompt, clearButtonEnabled=True, accessibleName=called)
    made.textChanged.connect(lambda _: narrow())
    return made


class TextBox(QPlainTextEdit):
    def insertFromMimeData(self, source: QMimeData) -> None:
        text = source.text()
        if text == (clean := storable(text)):
            super().insertFromMimeData(source)
        else:
            self.textCursor().insertText(clean)


def completing(field: QLineEdit) -> QStringListModel:
    """Suggest words while someone types in the field; they are taken from the returned model."""
    words = QStringListModel(field)
    completer = QCompleter(words, field)
    completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    field.setCompleter(completer)
    if (popup := completer.popup()) is not None:
        # It has no parent from which it would get its style.
        theme.apply_theme(popup)
    return words


class _Storable(QValidator):
    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, storable(text), len(storable(text[:place]))


# Typed text is reported this long after the last key, and while typing goes on at least this often.
PAUSE_MS = 400
LONGEST_MS = 1_000


class GrowingEdit(Refitting, TextBox):
    """A plain-text editor between one and `most` lines high, in the direction of its first strong letter."""

    edited = Signal(str)
    """The current text, after a pause in typing, after a second of typing, and on losing the focus."""
    left = Signal()
    """Esc was pressed."""
    rested = Signal()
    """The focus was lost, or the text became read-only or editable."""
    menu_wanted = Signal(object, int)
    """A QMenu about to be shown, and the position of its character as Qt counts."""

    def __init__(
        self, least: int = 1, most: int = 12, parent: QWidget | None = None, **settings: Any
    ) -> None:
        super().__init__(parent, **settings)
        self._least, self._most = least, most
        self._announced, self._fitting = "", False
        self._composing = False
        self._pause, self._longest = later(self, self.tell, PAUSE_MS), later(self, self.tell, LONGEST_MS)
        with_properties(
            self, tabChangesFocus=True, verticalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._changed)
        self.document().documentLayout().documentSizeChanged.connect(self.refit)

    def setPlainText(self, text: str) -> None:
        """Set a text; it was not typed, so nothing is emitted."""
        self._announced = text
        super().setPlainText(text)
        self._announced = self.toPlainText()
        self._pause.stop()
        self._longest.stop()

    def tell(self) -> None:
        """Emit at once what was typed and not yet emitted."""
        self._pause.stop()
        self._longest.stop()
        text = self.toPlainText()
        if text != self._announced:
            self._announced = text
            self.edited.emit(text)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self._height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.refit()
        elif event.type() == QEvent.Type.ReadOnlyChange:
            self.rested.emit()

    def event(self, event: QEvent) -> bool:
        """Keep all keys from the page while an input method composes; pass on undo and redo without effect here."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if self._composing:
                event.accept()
                return True
            if self._nothing_to(event):
                event.ignore()
                return True
        return super().event(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc emits the text and leaves; undo and redo go to the page if the field has nothing to undo.

        Shift+F10 is handled here, because not every system turns it into a context-menu event.
        """
        if event.key() == Qt.Key.Key_Escape and not self._composing:
            self.tell()
            self.left.emit()
            event.ignore()
            QTimer.singleShot(0, self, self._leave)
        elif self._nothing_to(event):
            event.ignore()
        elif QKeySequence(event.keyCombination()) == QKeySequence("Shift+F10"):
            at = self.cursorRect().center()
            keyed = QContextMenuEvent.Reason.Keyboard
            self.contextMenuEvent(QContextMenuEvent(keyed, at, self.mapToGlobal(at)))
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Leave files to the window: a dropped task is to be opened, not inserted as text."""
        files = source.hasUrls() and all(url.isLocalFile() for url in source.urls())
        return not files and super().canInsertFromMimeData(source)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._composing = False
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.tell()
        self.rested.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the standard menu with additional entries for the word clicked on, or for that at the cursor."""
        menu = self.createStandardContextMenu(event.pos())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        keyed = event.reason() == QContextMenuEvent.Reason.Keyboard
        cursor = self.textCursor() if keyed else self.cursorForPosition(event.pos())
        self.menu_wanted.emit(menu, cursor.position())
        menu.popup(self.mapToGlobal(self.cursorRect().bottomLeft()) if keyed else event.globalPos())

    def _leave(self) -> None:
        if self.hasFocus():
            self.clearFocus()

    def _nothing_to(self, event: QKeyEvent) -> bool:
        undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
        document = self.document()
        return (event.matches(undo) and not document.isUndoAvailable()) or (
            event.matches(redo) and not document.isRedoAvailable()
        )

    def _changed(self) -> None:
        self._turn()
        self._pause.start()
        if not self._longest.isActive():
            self._longest.start()

    def _turn(self) -> None:
        """Set the text direction by the text's script."""
        direction = direction_of(self.toPlainText())
        option = self.document().defaultTextOption()
        if option.textDirection() != direction:
            right = direction == Qt.LayoutDirection.RightToLeft
            option.setTextDirection(direction)
            option.setAlignment(Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
            option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
            self.document().setDefaultTextOption(option)

    def _height(self) -> int:
        needed = round(self.document().size().height())
        lines = max(self._least, min(self._most, needed))
        margins = self.contentsMargins()
        around = margins.top() + margins.bottom() + round(2 * self.document().documentMargin())
        high = self._written() if needed <= self._most else 0
        return max(lines * self.fontMetrics().lineSpacing(), high) + around

    def _written(self) -> int:
        """The height of the lines as laid out: those of other scripts may be higher than the font's own."""
        high, block = 0.0, self.document().firstBlock()
        while block.isValid():
            high += block.layout().boundingRect().height()
            block = block.next()
        return ceil(high)

    def refit(self) -> None:
        # With a scroll bar a text may need one line more than without: refitting would never end.
        if self._fitting:
            return
        self._fitting = True
        try:
            self.ensurePolished()
            tall = round(self.document().size().height()) > self._most
            policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if tall else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            if self.verticalScrollBarPolicy() != policy:
                self.setVerticalScrollBarPolicy(policy)
            if self.height() != (high := self._height()):
                self.setFixedHeight(high)
        finally:
            self._fitting = False
