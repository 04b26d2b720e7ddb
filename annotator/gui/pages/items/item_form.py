"""Inline form for a new item, or for one that is changed."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel

from annotator.actions.authoring import question_types
from annotator.actions.items import items
from annotator.actions.material import classifying
from annotator.domain.kinds.question_types import QuestionType
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.items.type_proposal import TypeProposal
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, tooltip, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.fields.growing_edit import GrowingEdit
from annotator.gui.widgets.fields.typed import LineField

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
    """An item that is being added, or changed: question, type, subject, language, and where it comes from."""

    done = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk, self._item_id = desk, ""
        self.setProperty("role", "card")
        self.question = GrowingEdit()
        self.question.setAccessibleName("Question")
        self.question.setPlaceholderText("What the systems are asked")
        self.type = ChoiceBox(editable=True)
        self.type.setLineEdit(LineField())
        self.type.currentTextChanged.connect(self._define)
        self.definition = PlainLabel("", "hint", wrap=True)
        self._types: tuple[QuestionType, ...] = ()
        self.proposal = TypeProposal(desk)
        self.proposal.used.connect(self._file)
        self.subject, self.language = LineField(), ChoiceBox()
        for name, tag in LANGUAGES.items():
            self.language.addItem(name, tag)
        self.origin, self.contributor, self.collected = (LineField() for _ in range(3))
        self.contributor.setToolTip("An alias, not a name")
        self.collected.setPlaceholderText("YYYY-MM-DD")
        for field, name in ((self.contributor, "Contributor"), (self.collected, "Collected on")):
            field.setAccessibleName(name)
        self._more = {"origin": self.origin, "contributor": self.contributor, "collected": self.collected}
        form = QFormLayout()
        for words, shown in (
            ("Question", self.question),
            ("Type", vertical(self.type, self.definition, self.proposal, spacing=2)),
            ("Subject", self.subject),
            ("Language", self.language),
            ("Origin", self.origin),
        ):
            form.addRow(words, shown)
        form.addRow(
            "Contributor", horizontal((self.contributor, 1), QLabel("Collected on"), (self.collected, 1))
        )
        self.save = push_button("Add", self._add, "primary")
        cancel = push_button("Cancel", self.done)
        vertical(form, horizontal(StretchSpace(1), cancel, self.save), on=self)

    def begin(self, item_id: str = "") -> None:
        """Start with the fields of an item to be changed, or again with empty ones."""
        self._item_id = item_id
        self._offer_types()
        item = self._desk.ask(items.read, item_id) if item_id else None
        self.question.setPlainText(item.question if item else "")
        # What a query was settled to is changed by settling it anew.
        self.question.setReadOnly(bool(item and item.working_title))
        self.question.setToolTip(
            f"Working title: {item.working_title}" if item and item.working_title else ""
        )
        self.type.setCurrentText(item.question_type if item else "")
        self.subject.setText(item.subject if item else "")
        if item and self.language.findData(item.language) < 0:
            self.language.addItem(item.language, item.language)
        self.language.setCurrentIndex(max(0, self.language.findData(item.language if item else "en")))
        for name, field in self._more.items():
            field.setText(getattr(item, name) if item else "")
        self.proposal.show_item(item)
        self.save.setText("Save" if item_id else "Add")
        (self.type if self.question.isReadOnly() else self.question).setFocus()

    def _offer_types(self) -> None:
        """Offer the project's types, each with what it is."""
        self._types = self._desk.ask(question_types.types) or ()
        self.type.clear()
        self.type.addItem("")
        for one in self._types:
            self.type.addItem(one.name)
            self.type.setItemData(self.type.count() - 1, tooltip(one.definition), Qt.ItemDataRole.ToolTipRole)

    def _define(self, name: str) -> None:
        """Say what the chosen type is; of another one that nobody has said it."""
        found = next((one.definition for one in self._types if one.name == name.strip()), "")
        unknown = (
            f"The project does not define this type. It has: {', '.join(one.name for one in self._types)}."
        )
        self.definition.setText(found or (unknown if name.strip() else ""))

    def _file(self, name: str, subject: str) -> None:
        """Take a type and a subject over; they are set when the form is saved."""
        self.type.setCurrentText(name)
        self.subject.setText(subject)
        self.save.setFocus()

    def _add(self) -> None:
        words = (self.question.toPlainText(), self.type.currentText(), self.subject.text())
        more = {name: field.text().strip() for name, field in self._more.items()}
        if self._item_id:
            names = ("question", "question_type", "subject")
            fields = {name: text.strip() for name, text in zip(names, words, strict=True)} | more
            fields["language"] = self.language.currentData()
            if draft := self.proposal.taken:
                made = self._desk.do(classifying.confirm, draft, fields)
            else:
                made = self._desk.do(items.change_all, {self._item_id: fields})
        else:
            made = self._desk.do(items.add, *words, self.language.currentData(), more)
        if made is not None:
            self.done.emit()
