"""Form for what is said of systems, reports or sources beside their words; saved in one act."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QStringListModel
from PySide6.QtWidgets import QFormLayout, QFrame

from annotator.actions.items import metadata
from annotator.actions.items.metadata import Thing
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.typed import LineField, completing


class MetadataField(NamedTuple):
    """A field: its name, its title, an example, and the choices where nothing else may be said."""

    name: str
    title: str
    example: str = ""
    choices: tuple[str, ...] = ()


GROUP = MetadataField("group", "Group", "deep research, LLM + search …")
SYSTEM_FIELDS = (GROUP, MetadataField("footnote", "Footnote"))
REPORT_FIELDS = (
    MetadataField("collected_on", "Collected on", "2025-03-24"),
    MetadataField("product_version", "Version", "of the product or model"),
    MetadataField("settings", "Settings", "modes, options, replies"),
    MetadataField("collected_by", "Collected by"),
    MetadataField("cutoff", "Cut-off", "2025-03-24"),
)
SOURCE_FIELDS = (
    MetadataField("kind", "Kind", choices=("", "research", "review")),
    MetadataField("identifier", "Identifier", "DOI, arXiv id or address"),
    MetadataField("published", "Published", "2024-05-01, 2024-05 or 2024"),
    MetadataField("venue", "Venue", "journal, conference or archive"),
    MetadataField("citations", "Citations", "a number"),
    MetadataField("citations_on", "Counted on", "2025-03-24"),
)


class MetadataForm(QFrame):
    """The fields of one thing, or of several that are to say the same; only what was changed is saved."""

    def __init__(self, desk: Desk, thing: Thing, title: str, fields: Sequence[MetadataField]) -> None:
        super().__init__()
        self._desk, self._thing = desk, thing
        self._ids: tuple[str, ...] = ()
        self._kept: dict[str, str] = {}
        self._suggested: dict[str, QStringListModel] = {}
        self.setProperty("role", "card")
        self.title = PlainLabel(title, "subtitle", wrap=True)
        self.fields: dict[str, ChoiceBox | LineField] = {}
        self.save_button = push_button("Save", self.save, "primary")
        rows = QFormLayout()
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for field in fields:
            made = self._made(field)
            made.setAccessibleName(field.title)
            rows.addRow(field.title, made)
            self.fields[field.name] = made
        vertical(self.title, rows, horizontal(StretchSpace(1), self.save_button), on=self, spacing=6)
        self.show_things((), {})

    def _made(self, field: MetadataField) -> ChoiceBox | LineField:
        if field.choices:
            box = ChoiceBox()
            offer(box, [(choice or "not stated", choice) for choice in field.choices])
            box.currentIndexChanged.connect(lambda _: self._enable())
            return box
        line = LineField(placeholderText=field.example)
        line.textChanged.connect(lambda _: self._enable())
        line.returnPressed.connect(self.save)
        return line

    def show_things(self, ids: Sequence[str], values: Mapping[str, Any]) -> None:
        """Show the values of these things, by id; what was typed and not saved for the same ones stays."""
        kept = {name: _said(values.get(name)) for name in self.fields}
        if tuple(ids) != self._ids or kept != self._kept:
            self._ids, self._kept = tuple(ids), kept
            for name, field in self.fields.items():
                if isinstance(field, ChoiceBox):
                    field.setCurrentIndex(max(0, field.findData(kept[name])))
                else:
                    field.setText(kept[name])
        self._enable()

    def suggest(self, name: str, words: Sequence[str]) -> None:
        """Offer words while a field is typed in; anything else may be said too."""
        field = self.fields[name]
        if isinstance(field, LineField):
            if name not in self._suggested:
                self._suggested[name] = completing(field)
            self._suggested[name].setStringList(list(words))

    @property
    def changed(self) -> dict[str, str | None]:
        """The values that were changed; None for what was cleared and has no empty value."""
        now = {
            name: str(field.currentData()) if isinstance(field, ChoiceBox) else field.text().strip()
            for name, field in self.fields.items()
        }
        return {
            name: value or (None if name in metadata.WITHOUT_EMPTY else "")
            for name, value in now.items()
            if value != self._kept[name]
        }

    def save(self) -> None:
        """Say the same of all of them, in one act."""
        changed = self.changed
        if self._ids and changed and self.save_button.isEnabled():
            given = {row_id: changed for row_id in self._ids}
            if self._desk.do(metadata.describe, self._thing, given) is not None:
                self._kept |= {name: value or "" for name, value in changed.items()}
                self._enable()

    def _enable(self) -> None:
        self.setEnabled(bool(self._ids) and not self._desk.project.readonly)
        self.save_button.setEnabled(bool(self._ids) and bool(self._kept) and bool(self.changed))


def _said(value: Any) -> str:
    return "" if value is None else str(value)
