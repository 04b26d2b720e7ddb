"""Text fields that reject what cannot be stored, such as a NUL."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QMimeData, QStringListModel, Qt
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QCompleter, QLineEdit, QPlainTextEdit, QWidget

from annotator.domain.texts.canonical import storable
from annotator.gui import theme


class LineField(QLineEdit):
    """A field of one line."""

    def __init__(self, parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, **properties)
        self.setValidator(_Storable(self))


def search_field(prompt: str, called: str, narrow: Callable[[], object]) -> LineField:
    """A field that narrows a list to what is typed; `called` is its name for those who hear it."""
    made = LineField(placeholderText=prompt, clearButtonEnabled=True)
    made.setAccessibleName(called)
    made.textChanged.connect(lambda _: narrow())
    return made


class TextBox(QPlainTextEdit):
    """A field of several lines."""

    def insertFromMimeData(self, source: QMimeData) -> None:
        """What is pasted or dropped, as it may be stored."""
        text = source.text()
        if text == (clean := storable(text)):
            super().insertFromMimeData(source)
        else:
            self.textCursor().insertText(clean)


def completing(field: QLineEdit) -> QStringListModel:
    """Offer words below a field while one types in it; the model that comes back holds them."""
    words = QStringListModel(field)
    completer = QCompleter(words, field)
    completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    field.setCompleter(completer)
    if (popup := completer.popup()) is not None:
        # It has no parent to be dressed with.
        theme.wear(popup)
    return words


class _Storable(QValidator):
    """A validator that removes what cannot be stored."""

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """The text as it may be, and where the caret then is."""
        return QValidator.State.Acceptable, storable(text), len(storable(text[:place]))
