"""Sources tab: what the papers are, when and where they were published, and how often works are cited."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QWidget

from annotator.actions.items.metadata import Thing
from annotator.actions.material import lookups, source_views
from annotator.actions.material.source_views import SourceLine
from annotator.actions.research import named_works
from annotator.actions.research.named_works import CompletedWorks, NamedWorks
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.material.metadata_form import SOURCE_FIELDS, MetadataForm
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.typed import search_field
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.plain_area import PlainArea

TITLE = 1
COLUMNS: Sequence[Column[SourceLine]] = (
    Column("Item", lambda one: one.key, 110),
    Column("Source", lambda one: one.title, 220, tip=lambda one: one.identifier or one.title),
    Column("Kind", lambda one: one.kind, 80),
    Column("Published", lambda one: one.published, 96),
    Column("Venue", lambda one: one.venue, 130, tip=lambda one: one.venue),
    Column("Citations", lambda one: "" if one.citations is None else f"{one.citations:,}", 82, number=True),
)
NOTHING = (
    "No sources yet",
    "A source is the paper, transcript or page that gold is written from. Add it beside its item on the Author page.",
)


class WorksCard(QFrame):
    """The works that reports and gold evidence name: what is missing of them, and where to find it."""

    came = Signal(object)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._known = self._stopped = False
        self.setProperty("role", "card")
        self.words = PlainLabel(role="hint", wrap=True)
        self.look = push_button("Look up works", self.look_up)
        self.look.setToolTip(
            "Ask arXiv for missing abstracts, one request every three seconds, then OpenAlex for missing citations"
        )
        self.file = push_button("From a file…", self._choose_file)
        self.file.setToolTip(
            "A table with identifier, and abstract or cited_by_count and counted_on; or replies of OpenAlex"
        )
        self.folder = push_button("From a folder…", self._choose_folder)
        self.folder.setToolTip("A folder that was collected, or one with such tables and replies")
        row = FlowRow(gap=8)
        for button in (self.look, self.file, self.folder):
            row.addWidget(button)
        vertical(
            PlainLabel("Works named by reports", "strong"),
            self.words,
            row,
            on=self,
            margins=(10, 8, 10, 8),
            spacing=6,
        )

    def fill(self) -> None:
        self._desk.ask_later(self._show, named_works.named)

    def look_up(self) -> None:
        """Ask the services for what is missing, on another thread."""
        from annotator.actions.research import work_sources

        self._free(free=False)
        self._desk.do_later(self._ended, self._going, work_sources.look_up)

    def take(self, path: Path) -> None:
        """Import what a file or a folder says of them, on another thread."""
        from annotator.actions.research import work_sources

        self._free(free=False)
        self._desk.do_later(self._ended, self._going, work_sources.from_place, path)

    def stop(self) -> None:
        self._stopped = True

    def _choose_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, "Works", "", "Tables and replies (*.csv *.tsv *.xlsx *.json *.jsonl *.parquet)"
        )
        if name:
            self.take(Path(name))

    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Folder with works")
        if name:
            self.take(Path(name))

    def _going(self, what: str, done: int, total: int) -> None:
        if not self._stopped:
            self.words.setText(
                f"{what.capitalize()}: {done:,} of {total:,}…" if total else f"{what.capitalize()}…"
            )

    def _ended(self, found: CompletedWorks | None) -> None:
        if not self._stopped:
            self.came.emit(found)
            self.fill()

    def _show(self, found: NamedWorks) -> None:
        if not self._stopped:
            self.words.setText(found.words())
            self._known = bool(found.titles)
            self._free(free=True)

    def _free(self, *, free: bool) -> None:
        for button in (self.look, self.file, self.folder):
            button.setEnabled(free and self._known and not self._desk.project.readonly)


class SourcesView(QWidget):
    """The list on the left, the form of the source at the cursor on the right."""

    came = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._found: Sequence[SourceLine] = ()
        self._stopped = False
        self.model = CellsModel[SourceLine](COLUMNS, self)
        self.list = LinesTable("Sources", self.model, self.model.widths, stretched=TITLE)
        self.list.selectionModel().currentRowChanged.connect(lambda *_: self._show_source())
        self.search = search_field("Find a source…", "Find a source", self._narrow)
        self.form = MetadataForm(desk, Thing.SOURCE, "About the source", SOURCE_FIELDS)
        self.look = KeyButton("Look all up", keys.shown("start_run"))
        self.look.set_hint(
            "Ask OpenAlex and CrossRef about every source with a DOI or an arXiv id; replies are kept"
        )
        self.look.clicked.connect(self.look_up)
        self.file = push_button("From a file…", self._choose)
        self.file.setToolTip("Read replies of OpenAlex or CrossRef from a JSON file; nothing is asked")
        self.works = WorksCard(desk)
        self.works.came.connect(self._works_came)
        self.answer = MessageBar()
        self._lay_out()

    def _lay_out(self) -> None:
        self._nothing = EmptyState("folder", *NOTHING)
        self._body = stacked(self.list, self._nothing)
        left, right = QWidget(), QWidget()
        vertical(self.search, (self._body, 1), on=left, margins=(0, 0, 8, 0), spacing=6)
        vertical(
            self.form, horizontal(self.look, self.file, StretchSpace(1)), self.works, StretchSpace(1), on=right,
            margins=(8, 0, 0, 0), spacing=8,
        )  # fmt: skip
        area = PlainArea("About sources", right)
        parts = Splitter("material-sources", parts=(left, area), sizes=(700, 360), stretch=(1,))
        vertical((parts, 1), on=self, margins=(0, 10, 0, 0))
        self.answer.float_over(parts)

    def fill(self) -> None:
        self._desk.ask_later(self._show, source_views.source_lines)
        self.works.fill()

    def focus_first(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def seek(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def look_up(self) -> None:
        if self._found and self.look.isEnabled():
            self.look.setEnabled(False)
            self._desk.do_later(self._looked_up, lambda *_: None, lookups.look_up_sources, self._items())

    def read_file(self, path: Path) -> None:
        """Take what a file with replies says of the sources."""
        found = self._desk.attempt(lambda: lookups.in_file(path))
        if found is not None and self._desk.do(lookups.describe_sources, self._items(), found) is not None:
            self.answer.show_message("success", found.words())

    def stop(self) -> None:
        self._stopped = True
        self.works.stop()

    def rebind(self) -> None:
        self.look.set_key(keys.shown("start_run"))

    def _items(self) -> list[str]:
        return list(dict.fromkeys(one.item_id for one in self._found))

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Replies of OpenAlex or CrossRef", "", "JSON (*.json)")
        if name:
            self.read_file(Path(name))

    def _looked_up(self, found: Any) -> None:
        self.look.setEnabled(True)
        if found is not None:
            self.answer.show_message("info" if found[1].lacking else "success", found[1].words())
            self.fill()

    def _works_came(self, found: CompletedWorks | None) -> None:
        if found is not None:
            first, *more = found.words()
            self.answer.show_message("warning" if found.problems else "success", first, " ".join(more))
            self.came.emit()

    def _show(self, found: Sequence[SourceLine]) -> None:
        if not self._stopped:
            self._found = found
            self._narrow()

    def _narrow(self) -> None:
        words = self.search.text().casefold().split()
        rows = [one for one in self._found if all(word in _text(one) for word in words)]
        self.model.show(rows)
        self._body.setCurrentWidget(self.list if self._found else self._nothing)
        self.look.setEnabled(bool(self._found) and not self._desk.project.readonly)
        self.file.setEnabled(self.look.isEnabled())
        if rows and not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(self.model.index(0, TITLE))
        self._show_source()

    def _show_source(self) -> None:
        one = self.model.at(self.list.currentIndex().row())
        self.form.show_things((one.id,) if one else (), asdict(one) if one else {})


def _text(one: SourceLine) -> str:
    return f"{one.key} {one.title} {one.kind} {one.venue} {one.identifier}".casefold()
