"""Sources tab: the papers' metadata, publication dates and places, and citation counts of works."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QStringListModel, Signal
from PySide6.QtWidgets import QFormLayout

from annotator.actions.items import materials
from annotator.actions.items.materials import Thing
from annotator.actions.material import source_views
from annotator.actions.material.source_views import SourceLine
from annotator.gui.review.sheets import CellsModel, Column
from annotator.gui.session.page import TabPart
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import Fold, KeyButton, wrapping
from annotator.gui.widgets.basics import (
    TABLES,
    PlainArea,
    PlainLabel,
    Stack,
    StretchSpace,
    column_of,
    horizontal,
    path_button,
    push_button,
    vertical,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import LinesTable
from annotator.gui.widgets.fields import ChoiceBox, LineField, completing, offer, search_field
from annotator.gui.widgets.splitter import Splitter

if TYPE_CHECKING:
    from annotator.actions.research import CompletedWorks, NamedWorks


class MetadataField(NamedTuple):
    """A field: its name, its title, an example, and the choices if only these are allowed."""

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


class MetadataForm(Pane):
    """The fields of one thing, or of several edited together; only changed fields are saved."""

    def __init__(
        self, session: ProjectSession, thing: Thing, title: str, fields: Sequence[MetadataField]
    ) -> None:
        super().__init__(session, "card")
        self._thing = thing
        self._ids: tuple[str, ...] = ()
        self._stored: dict[str, str] = {}
        self._suggested: dict[str, QStringListModel] = {}
        self.title = PlainLabel(title, "subtitle", wrap=True)
        self.fields: dict[str, ChoiceBox | LineField] = {}
        self.save_button = push_button("Save", self.save, "primary")
        rows = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for field in fields:
            made = self._made(field)
            made.setAccessibleName(field.title)
            rows.addRow(field.title, made)
            self.fields[field.name] = made
        vertical(self.title, rows, horizontal(StretchSpace(1), self.save_button), on=self, spacing=6)
        self.show_things((), {})

    def _made(self, field: MetadataField) -> ChoiceBox | LineField:
        if field.choices:
            box = ChoiceBox(self._enable)
            offer(box, [(choice or "not stated", choice) for choice in field.choices])
            return box
        return LineField(
            placeholderText=field.example, textChanged=lambda _: self._enable(), returnPressed=self.save
        )

    def show_things(self, ids: Sequence[str], values: Mapping[str, Any]) -> None:
        """Show the values of these things, by id; unsaved input for the same things stays."""
        texts = {name: _text(values.get(name)) for name in self.fields}
        if tuple(ids) != self._ids or texts != self._stored:
            self._ids, self._stored = tuple(ids), texts
            for name, field in self.fields.items():
                if isinstance(field, ChoiceBox):
                    field.setCurrentIndex(max(0, field.findData(texts[name])))
                else:
                    field.setText(texts[name])
        self._enable()

    def suggest(self, name: str, words: Sequence[str]) -> None:
        """Suggest values while a field is being typed in; others are allowed, too."""
        field = self.fields[name]
        if isinstance(field, LineField):
            if name not in self._suggested:
                self._suggested[name] = completing(field)
            self._suggested[name].setStringList(list(words))

    @property
    def changed(self) -> dict[str, str | None]:
        """The values that were changed; None for a cleared one that has no empty value."""
        now = {
            name: str(field.currentData()) if isinstance(field, ChoiceBox) else field.text().strip()
            for name, field in self.fields.items()
        }
        return {
            name: value or (None if name in materials.WITHOUT_EMPTY else "")
            for name, value in now.items()
            if value != self._stored[name]
        }

    def save(self) -> None:
        changed = self.changed
        if self._ids and changed and self.save_button.isEnabled():
            given = {row_id: changed for row_id in self._ids}
            if self.session.do(materials.describe, self._thing, given) is not None:
                self._stored |= {name: value or "" for name, value in changed.items()}
                self._enable()

    def _enable(self) -> None:
        self.setEnabled(bool(self._ids) and not self.session.project.readonly)
        self.save_button.setEnabled(bool(self._ids) and bool(self._stored) and bool(self.changed))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


TITLE = 1
COLUMNS: Sequence[Column[SourceLine]] = (
    Column("Item", lambda one: one.key, 110, firm=True),
    Column("Source", lambda one: one.title, 220, tip=lambda one: one.identifier or one.title),
    Column("Kind", lambda one: one.kind.value, 80),
    Column("Published", lambda one: one.published, 96),
    Column("Venue", lambda one: one.venue, 130, tip=lambda one: one.venue),
    Column(
        "Citations",
        lambda one: "" if one.citations is None else f"{one.citations:,}",
        82,
        number=True,
        room=560,
    ),
)
NOTHING = (
    "No sources yet",
    "A source is the text that gold is written from: a paper or a page. Add it beside its item on the Author page.",
)


class WorksCard(Pane):
    """The works that reports and gold evidence name: what is missing of them, and where to find it."""

    came = Signal(object)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "card")
        self._known = False
        self.words = PlainLabel(role="hint", wrap=True)
        self.look = push_button(
            "Look up works",
            self.look_up,
            toolTip="Ask arXiv for missing abstracts, one request every three seconds, then OpenAlex for missing "
            "citations",
        )
        self.file = path_button(
            "From a file…",
            "Works",
            self.take,
            TABLES.replace("Tables", "Tables and replies"),
            toolTip="A table with identifier, and abstract or cited_by_count and counted_on; or replies of OpenAlex",
        )
        self.folder = path_button(
            "From a folder…",
            "Folder with works",
            self.take,
            toolTip="A folder that was collected, or one with such tables and replies",
        )
        row = wrapping(self.look, self.file, self.folder)
        vertical(
            PlainLabel("Works named by reports", "strong"),
            self.words,
            row,
            on=self,
            margins=(10, 8, 10, 8),
            spacing=6,
        )

    def fill(self) -> None:
        from annotator.actions import research

        self.session.ask_later(self._show, research.named)

    def look_up(self) -> None:
        """Look up what is missing with the online services, on another thread."""
        from annotator.actions import research

        self._free(free=False)
        self.session.do_later(self._ended, self._going, research.look_up)

    def take(self, path: Path) -> None:
        """Import metadata of works from a file or a folder, on another thread."""
        from annotator.actions import research

        self._free(free=False)
        self.session.do_later(self._ended, self._going, research.from_place, path)

    def _going(self, what: str, done: int, total: int) -> None:
        self.words.setText(
            f"{what.capitalize()}: {done:,} of {total:,}…" if total else f"{what.capitalize()}…"
        )

    def _ended(self, works: "CompletedWorks | None") -> None:
        self.came.emit(works)
        self.fill()

    def _show(self, works: "NamedWorks") -> None:
        self.words.setText(works.words())
        self._known = bool(works.titles)
        self._free(free=True)

    def _free(self, *, free: bool) -> None:
        for button in (self.look, self.file, self.folder):
            button.setEnabled(free and self._known and not self.session.project.readonly)


class SourcesView(TabPart):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._lines: Sequence[SourceLine] = ()
        self.model = CellsModel[SourceLine](COLUMNS, self)
        self.list = LinesTable(
            "Sources", self.model, self.model.widths, stretched=TITLE, moved=self._show_source
        )
        self.search = search_field("Find a source…", "Find a source", self._narrow)
        self.form = MetadataForm(session, Thing.SOURCE, "About the source", SOURCE_FIELDS)
        self.look = KeyButton(
            "Look all up",
            act="start_run",
            press=self.look_up,
            hint="Ask OpenAlex and CrossRef about every source with a DOI or an arXiv id; replies are kept",
        )
        self.file = path_button(
            "From a file…",
            "Replies of OpenAlex or CrossRef",
            self.read_file,
            "JSON (*.json)",
            toolTip="Read replies of OpenAlex or CrossRef from a JSON file; nothing is asked",
        )
        self.works = WorksCard(session)
        self.works.came.connect(self._works_came)
        self._nothing = EmptyState("folder", *NOTHING)
        self._body = Stack(self.list, self._nothing)
        sources = horizontal(self.look, self.file, StretchSpace(1))
        self.looking = Fold("Look up sources and works", sources, self.works)
        left = column_of(self.search, (self._body, 1), margins=(0, 0, 8, 0), spacing=6)
        right = column_of(self.form, self.looking, StretchSpace(1), margins=(8, 0, 0, 0), spacing=8)
        area = PlainArea("About sources", right)
        parts = Splitter("material-sources", parts=(left, area), sizes=(700, 360), stretch=(1,))
        vertical((parts, 1), on=self, margins=(0, 10, 0, 0))
        self.answer.float_over(parts)
        self.acts = {"start_run": partial(self.looking.press, self.look_up), "find": self.search.seek}
        self.focus_on = self.list

    def fill(self) -> None:
        self.session.ask_later(self._show, source_views.source_lines)
        self.works.fill()

    def look_up(self) -> None:
        from annotator.actions.material import lookups

        if self._lines and self.look.isEnabled():
            self.look.setEnabled(False)
            self.session.do_later(self._looked_up, lambda *_: None, lookups.look_up_sources, self._items())

    def read_file(self, path: Path) -> None:
        from annotator.actions.material import lookups

        result = self.session.attempt(lambda: lookups.in_file(path))
        if (
            result is not None
            and self.session.do(lookups.describe_sources, self._items(), result) is not None
        ):
            self.answer.show_message("success", result.words())

    def _items(self) -> list[str]:
        return list(dict.fromkeys(line.item_id for line in self._lines))

    def _looked_up(self, result: Any) -> None:
        self.look.setEnabled(True)
        if result is not None:
            self.answer.show_message("info" if result[1].lacking else "success", result[1].words())
            self.fill()

    def _works_came(self, works: "CompletedWorks | None") -> None:
        if works is not None:
            first, *more = works.words()
            self.answer.show_message("warning" if works.problems else "success", first, " ".join(more))
            self.session.tell_material()

    def _show(self, lines: Sequence[SourceLine]) -> None:
        self._lines = lines
        self._narrow()

    def _narrow(self) -> None:
        rows = [
            line
            for line in self._lines
            if self.search.finds(f"{line.key} {line.title} {line.kind} {line.venue} {line.identifier}")
        ]
        self.model.show(rows)
        self._body.setCurrentWidget(self.list if self._lines else self._nothing)
        self.form.setVisible(bool(self._lines))
        self.look.setEnabled(bool(self._lines) and not self.session.project.readonly)
        self.file.setEnabled(self.look.isEnabled())
        if rows and not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(self.model.index(0, TITLE))
        self._show_source()

    def _show_source(self) -> None:
        line = self.model.at(self.list.currentIndex().row())
        self.form.show_things((line.id,) if line else (), line.model_dump() if line else {})
