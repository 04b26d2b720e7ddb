"""Inline form for a new item."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QFrame, QPushButton

from annotator.actions.items import items
from annotator.domain.material.item import QUESTION_TYPES
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.fields.growing_edit import GrowingEdit
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.layouts import StretchSpace, horizontal, vertical

LANGUAGES = {
    "English": "en",
    "中文": "zh",
    "العربية": "ar",
    "Deutsch": "de",
    "Español": "es",
    "Français": "fr",
    "日本語": "ja",
    "한국어": "ko",
    "עברית": "he",
    "Português": "pt",
    "Русский": "ru",
}


class ItemForm(QFrame):
    """Question, type, subject and language of an item that is being added."""

    done = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.setProperty("role", "card")
        self.question = GrowingEdit()
        self.question.setAccessibleName("Question")
        self.question.setPlaceholderText("What the systems are asked")
        self.type = QComboBox(editable=True)
        self.type.setLineEdit(LineField())
        self.type.addItems(["", *QUESTION_TYPES])
        self.subject = LineField()
        self.language = ChoiceBox()
        for name, tag in LANGUAGES.items():
            self.language.addItem(name, tag)
        form = QFormLayout()
        for words, field in (
            ("Question", self.question),
            ("Type", self.type),
            ("Subject", self.subject),
            ("Language", self.language),
        ):
            form.addRow(words, field)
        add = QPushButton("Add")
        add.setProperty("role", "primary")
        add.clicked.connect(self._add)
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.done)
        vertical(form, horizontal(StretchSpace(1), cancel, add), on=self)

    def begin(self) -> None:
        """Start again with empty fields."""
        self.question.setPlainText("")
        self.subject.clear()
        self.question.setFocus()

    def _add(self) -> None:
        made = self._desk.do(
            items.add,
            self.question.toPlainText(),
            self.type.currentText(),
            self.subject.text(),
            self.language.currentData(),
        )
        if made is not None:
            self.done.emit()
