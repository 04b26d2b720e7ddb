"""Fields of the units of each kind of extract, and their editors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from annotator.domain.kinds.unit import Unit
from annotator.gui.widgets.fields.growing_edit import GrowingEdit
from annotator.gui.widgets.fields.typed import LineField


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field by name: its label and maximum height; one line has no line breaks."""

    name: str
    words: str
    lines: int = 1
    whole_number: bool = False


TEXT = {
    "claims": "Claim",
    "plan": "Sub-task",
    "references": "Title",
    "sentences": "Sentence",
    "key points": "Key point",
    "common pool": "Key point",
    "insights": "Insight",
}
MORE: dict[str, tuple[FieldSpec, ...]] = {
    "claims": (
        FieldSpec("url", "Cites"),
        FieldSpec("context", "In the report", 3),
        FieldSpec("section", "Section", whole_number=True),
    ),
    "references": (
        FieldSpec("identifier", "Identifier"),
        FieldSpec("authors", "Authors"),
        FieldSpec("year", "Year", whole_number=True),
    ),
    "sentences": (FieldSpec("heading", "Under"),),
    "key points": (FieldSpec("spans", "In the page", 4), FieldSpec("note", "Note", 3)),
    "common pool": (FieldSpec("spans", "In the page", 4),),
    "insights": (FieldSpec("note", "Why", 3),),
}


def specs(kind: str) -> tuple[FieldSpec, ...]:
    """The fields of a unit of the kind, its words first."""
    return (FieldSpec("text", TEXT.get(kind, "Words"), 4), *MORE.get(kind, ()))


class UnitFields(QWidget):
    """The fields of one unit; `changed` announces unsaved edits."""

    edited = Signal()

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.unit: Unit | None = None
        self._specs = specs(kind)
        self.fields: dict[str, GrowingEdit | QLineEdit] = {}
        # As it was put into the field: a line break that the field drops is nothing that was typed.
        self._shown: dict[str, str] = {}
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for spec in self._specs:
            field: GrowingEdit | QLineEdit = GrowingEdit(1, spec.lines) if spec.lines > 1 else LineField()
            field.setAccessibleName(spec.words)
            field.textChanged.connect(lambda *_: self.edited.emit())
            self.fields[spec.name] = field
            form.addRow(spec.words, field)

    def show_unit(self, unit: Unit | None) -> None:
        """Show a unit, or empty fields."""
        self.unit = unit
        for name, field in self.fields.items():
            value = getattr(unit, name, "") if unit is not None else ""
            shown = "" if value is None else str(value)
            blocked = field.blockSignals(True)
            field.setPlainText(shown) if isinstance(field, GrowingEdit) else field.setText(shown)
            field.blockSignals(blocked)
            self._shown[name] = _text(field)

    def changed(self) -> dict[str, Any]:
        """Field → what was typed, of those that are not as they were."""
        if self.unit is None:
            return {}
        return {
            spec.name: self._typed(spec)
            for spec in self._specs
            if _text(self.fields[spec.name]) != self._shown[spec.name]
        }

    def lock(self, locked: bool) -> None:
        """Let the unit be read but not changed."""
        for field in self.fields.values():
            field.setReadOnly(locked)

    def stops(self) -> Sequence[QWidget]:
        """Where the keyboard stops."""
        return list(self.fields.values())

    def _typed(self, spec: FieldSpec) -> Any:
        text = _text(self.fields[spec.name])
        if spec.whole_number:
            # What is no number is left for the rules of the kind to refuse, in words.
            return int(text) if text.strip().isdecimal() else (text.strip() or None)
        return text.strip()


def _text(field: GrowingEdit | QLineEdit) -> str:
    return field.toPlainText() if isinstance(field, GrowingEdit) else field.text()
