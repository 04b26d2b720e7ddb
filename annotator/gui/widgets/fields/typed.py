"""Text fields that reject what cannot be stored, such as a NUL."""

from typing import Any

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from annotator.domain.texts.canonical import storable


class LineField(QLineEdit):
    """A field of one line."""

    def __init__(self, parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, **properties)
        self.setValidator(_Storable(self))


class TextBox(QPlainTextEdit):
    """A field of several lines."""

    def insertFromMimeData(self, source: QMimeData) -> None:
        """What is pasted or dropped, as it may be stored."""
        text = source.text()
        if text == (clean := storable(text)):
            super().insertFromMimeData(source)
        else:
            self.textCursor().insertText(clean)


class _Storable(QValidator):
    """A validator that removes what cannot be stored."""

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """The text as it may be, and where the caret then is."""
        return QValidator.State.Acceptable, storable(text), len(storable(text[:place]))
