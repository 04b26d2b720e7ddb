"""Editor of what a document says as a whole, below its units."""

from collections.abc import Collection

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QWidget

from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.spec import KindSpec, UnitField
from annotator.gui.forms import standard
from annotator.gui.forms.fields import ChoiceButtons, PickList
from annotator.gui.forms.standard import StandardField
from annotator.gui.forms.text_field import TextField


class WholeEditor(QFrame):
    """The fields of a kind's document itself; its signals are those of a unit without an id."""

    typed = Signal(str, str, object)
    paused = Signal(str, str, str)
    chosen = Signal(str, str, object)

    def __init__(self, words: KindSpec) -> None:
        super().__init__()
        self.words = words
        self.setProperty("role", "unit")
        self.fields: dict[str, TextField | StandardField] = {}
        form = QFormLayout(self)
        for field in words.whole:
            made = standard.made(field, keyed=False) if field.options else TextField(field.title)
            self._add(field, made)
            caption = QLabel(field.title)
            caption.setBuddy(made)
            form.addRow(caption, made)

    def _add(self, field: UnitField, made: TextField | StandardField) -> None:
        self.fields[field.name] = made
        if isinstance(made, ChoiceButtons | PickList):
            made.chosen.connect(lambda value: self.chosen.emit("", field.name, value))
        elif isinstance(made, TextField):
            made.stirred.connect(lambda: self.typed.emit("", field.name, made.value()))
            made.edited.connect(lambda text: self.paused.emit("", field.name, text))

    def show_document(self, document: Document[object], typing: Collection[str], *, locked: bool) -> None:  # type: ignore[type-var]
        """Show what a document says; fields named in `typing` hold newer words and are left alone."""
        for name, field in self.fields.items():
            if name not in typing:
                field.show_value(getattr(document, name))
            field.lock(locked)

    def field_of(self, widget: QWidget | None) -> str:
        """The name of the field that a widget is or lies in; empty when it is none."""
        inside = (
            name
            for name, field in self.fields.items()
            if widget and (widget is field or field.isAncestorOf(widget))
        )
        return next(inside, "")
