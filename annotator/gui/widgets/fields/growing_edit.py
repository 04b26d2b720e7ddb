"""Text field that grows, reports changes in pauses, and leaves Tab and Esc to the page."""

import unicodedata
from math import ceil

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QKeySequence, QResizeEvent, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from annotator.gui.widgets.fields.typed import TextBox

# What was typed is told this long after the last key, and while typing goes on at least this often.
PAUSE_MS = 400
LONGEST_MS = 1_000


class GrowingEdit(TextBox):
    """A plain-text editor between one and `most` lines high, in the direction of its first strong letter."""

    edited = Signal(str)
    """The text as it is, after a pause in typing, after a second of typing, and when the focus goes."""
    left = Signal()
    """Esc was pressed."""

    def __init__(self, least: int = 1, most: int = 12, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._least, self._most = least, most
        self._told, self._fitting = "", False
        self._composing = False
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._longest = QTimer(self, singleShot=True, interval=LONGEST_MS)
        for timer in (self._pause, self._longest):
            timer.timeout.connect(self.tell)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._changed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)

    def setPlainText(self, text: str) -> None:
        """Put a text into the field; it was not typed, so nobody is told."""
        self._told = text
        super().setPlainText(text)
        self._told = self.toPlainText()
        self._quiet()

    def tell(self) -> None:
        """Tell at once of what was typed and not yet told."""
        self._quiet()
        text = self.toPlainText()
        if text != self._told:
            self._told = text
            self.edited.emit(text)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:
        """As high as its lines, as narrow as may be."""
        return QSize(80, self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Grow or shrink when another width makes more or fewer lines."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def event(self, event: QEvent) -> bool:
        """Keep every key from the page's shortcuts while an input method composes; pass on what undo cannot do."""
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
        """Esc tells and leaves; undo and redo go on to the page where the field has nothing to take back."""
        if event.key() == Qt.Key.Key_Escape and not self._composing:
            self.tell()
            self.left.emit()
            event.ignore()
            QTimer.singleShot(0, self, self._leave)
        elif self._nothing_to(event):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Leave files to the window: a dropped task is to be opened, not to become words of the text."""
        files = source.hasUrls() and all(url.isLocalFile() for url in source.urls())
        return not files and super().canInsertFromMimeData(source)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell at once; a menu over the field does not count."""
        self._composing = False
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.tell()

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

    def _quiet(self) -> None:
        self._pause.stop()
        self._longest.stop()

    def _turn(self) -> None:
        """Write from the side on which the text's script begins."""
        wanted = direction_of(self.toPlainText())
        option = self.document().defaultTextOption()
        if option.textDirection() != wanted:
            right = wanted == Qt.LayoutDirection.RightToLeft
            option.setTextDirection(wanted)
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
        """How high the lines are as they are laid out: those of other scripts may be higher than the font's own."""
        high, block = 0.0, self.document().firstBlock()
        while block.isValid():
            high += block.layout().boundingRect().height()
            block = block.next()
        return ceil(high)

    def _fit(self) -> None:
        # With a scroll bar a text may need as many lines as have room, and one more without: it would never end.
        if self._fitting:
            return
        self._fitting = True
        try:
            self._fit_lines()
        finally:
            self._fitting = False

    def _fit_lines(self) -> None:
        self.ensurePolished()
        tall = round(self.document().size().height()) > self._most
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if tall else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if self.verticalScrollBarPolicy() != policy:
            self.setVerticalScrollBarPolicy(policy)
        if self.height() != (high := self._height()):
            self.setFixedHeight(high)


def direction_of(text: str) -> Qt.LayoutDirection:
    """The direction of a text's first strong letter; that of the surroundings when it has none."""
    for letter in text[:1000]:
        kind = unicodedata.bidirectional(letter)
        if kind == "L":
            return Qt.LayoutDirection.LeftToRight
        if kind in ("R", "AL"):
            return Qt.LayoutDirection.RightToLeft
    return Qt.LayoutDirection.LayoutDirectionAuto
