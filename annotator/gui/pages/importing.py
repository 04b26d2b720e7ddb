"""The Import page: choose or drop files, see what their columns hold, import."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QWidget

from annotator.actions.imports import imports, matching
from annotator.actions.imports.imports import ImportOptions
from annotator.actions.imports.matching import ImportLook, Refused
from annotator.actions.project.people import people as everybody
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.naming import in_order
from annotator.gui.desk.page import Page
from annotator.gui.pages.collected_view import CollectedView
from annotator.gui.pages.matching_view import MatchingView
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.flow_row import FlowRow, wrapping
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    vertical,
)
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.growing_edit import GrowingEdit

# People: coordinators with files of their lab's or of another tool, once a month, who do not know our words. What
# annoys them elsewhere: half-imported files, rows dropped without a word, not knowing whether importing again makes
# everything double, a format to be named before the program has looked, columns to be renamed in the file first, and
# the same matching done anew every month.
# So many of a layout's words are seen where there is no room for all.
LETTERS = 20
TRANSCRIPTS = f"Transcripts (*{' *'.join(imports.TRANSCRIPT_ENDINGS)})"


class ImportPage(Page):
    """A preview first; then everything or nothing, unless refused rows are left out knowingly."""

    NAME = "Import"
    ICON = "import"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._paths: list[Path] = []
        self._taking: list[Path] = []
        self._mapping: Any = None
        self._found: ImportLook | None = None
        title = PlainLabel("Import", "title")
        self.hint = PlainLabel(
            "Nothing is changed until you press Import. Existing records are recognised and not added "
            "twice; differences are listed and left unchanged. New gold scores its items at once.",
            "hint",
            wrap=True,
        )
        self.chosen = ElidedLabel("", "hint")
        self.preview = GrowingEdit(least=2, most=5)
        self.preview.setReadOnly(True)
        self.preview.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.preview.setAccessibleName("To be imported")
        self.progress = ProgressRow()
        self.progress.hide()
        self.collected = CollectedView(desk)
        self.matching = MatchingView(desk)
        self.matching.matched.connect(self._match)
        self._column = vertical(
            title, self.hint, self._choosing(), self.chosen, self.matching, self.preview, (self.collected, 1),
            (self._wrong(), 1), self.progress, self._foot(), StretchSpace(1), on=self, margins=(20, 16, 20, 12),
            spacing=10,
        )  # fmt: skip
        desk.refused.connect(self._stay)
        self._begin()

    def _choosing(self) -> FlowRow:
        self.format = ChoiceBox()
        self.format.setAccessibleName("Layout of the files")
        self.format.keep_short(LETTERS)
        self.format.addItem("By content", "")
        for name, words in imports.offered().items():
            self.format.addItem(words, name)
        self.format.currentIndexChanged.connect(lambda _: self.add([]))
        self.pseudonyms = QCheckBox("Call speakers S1, S2 …")
        self.pseudonyms.setToolTip("Names are left out of the text; who is who stays in this project")
        self.pseudonyms.toggled.connect(lambda _: self._look())
        self.folder = push_button("Choose a folder…", self._choose_folder)
        self.files = push_button("Choose files…", self._choose_files)
        self.clear = push_button("Clear", lambda: self.look_at([]))
        return wrapping(self.files, self.folder, self.clear, self.format, self.pseudonyms, gap=10)

    def _wrong(self) -> QWidget:
        columns: list[Column[Refused]] = [
            Column("File", lambda one: one[0], 160),
            Column("Row", lambda one: one[1], 90),
            Column("Reason", lambda one: one[2], 300),
        ]
        self.refused: CellsModel[Refused] = CellsModel(columns, self)
        self.problems = CellsTable("Problems", self.refused, stretched=2)
        self.problem_title = PlainLabel("Problems", "subtitle")
        above = horizontal(
            self.problem_title, StretchSpace(1), push_button("Save as CSV…", self._save_problems)
        )
        self.wrong = column_of(above, (self.problems, 1), spacing=6)
        return self.wrong

    def _foot(self) -> Any:
        self.skip = QCheckBox()
        self.skip.toggled.connect(lambda _: self._enable())
        # Weights that the project does not allow yet are asked about here, and nowhere else.
        self.weights = QCheckBox()
        self.weights.toggled.connect(lambda _: self._look())
        self.author = ChoiceBox()
        self.author.setAccessibleName("Whose criteria and other gold these are")
        self.author.activated.connect(lambda _: self._look())
        self.go = push_button("Import", self._import, "primary")
        return horizontal((wrapping(self.author, self.weights, self.skip, gap=16), 1), self.go)

    def focus_first(self) -> None:
        self.files.setFocus()

    def arrive(self, place: dict[str, Any]) -> None:
        if "files" in place:
            self.add(place["files"])

    def look_at(self, paths: list[Path]) -> None:
        self._paths, self._mapping = [], None
        self.add(paths)

    def add(self, paths: list[Path]) -> None:
        self._paths = list(dict.fromkeys([*self._paths, *paths]))
        self._begin()
        self._look()

    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Folder to import")
        if name:
            self.add([Path(name)])

    def _choose_files(self) -> None:
        offered = f"Tables (*{' *'.join(matching.ENDINGS)});;{TRANSCRIPTS};;All files (*)"
        names, _ = QFileDialog.getOpenFileNames(self, "Files to import", "", offered)
        if names:
            self.add([Path(name) for name in names])

    def _match(self, mapping: Any) -> None:
        self._mapping = mapping
        self._look()

    def _options(self) -> ImportOptions:
        return ImportOptions(
            pseudonyms=self.pseudonyms.isChecked(),
            mapping=self._mapping,
            allow_weights=self.weights.isChecked(),
            author=str(self.author.currentData() or ""),
        )

    def _look(self) -> None:
        if not self._paths:
            return
        self._found = None
        self._enable()
        self.chosen.setText("Reading…")
        self.desk.ask_later(
            self._show, matching.look, self.format.currentData(), self._paths, self._options()
        )

    def _show(self, found: ImportLook) -> None:
        if found.paths is not self._paths:
            return
        self._found, funnel, many = found, found.preview.funnel, len(found.refused)
        self.chosen.setText(f"Recognised: {imports.offered()[found.format]} — {self._names()}")
        for widget, shown in (
            (self.pseudonyms, found.format == imports.TRANSCRIPTS),
            (self.matching, bool(found.tables)),
            (self.preview, funnel is None),
            (self.collected, funnel is not None),
            (self.wrong, bool(many)),
            (self.skip, bool(many and found.preview.new)),
            (self.author, bool(found.tables and found.preview.units)),
        ):
            widget.setVisible(shown)
        people = in_order(self.desk.ask(everybody) or ())
        drafts = [(f"Drafts of {one.alias}", one.id) for one in people if one.active]
        offer(self.author, [("Gold from outside", ""), *drafts])
        self.matching.show_tables(found.tables, found.refused)
        self.preview.setPlainText("\n".join(found.preview.words()))
        if funnel is not None:
            self.collected.show_funnel(funnel)
        # The rest of the page is the lists' where there is one.
        self._column.setStretch(self._column.count() - 1, int(funnel is None and not many))
        self.refused.show(found.refused)
        self.problem_title.setText(f"Problems ({many:,})")
        self.skip.setChecked(False)
        # A row that is refused for two reasons is one.
        self.skip.setText(
            f"Import the rest without "
            f"{counted(len({one[:2] if one[1] else one for one in found.refused}), 'refused row')}"
        )
        if odd := found.preview.weights_to_allow:
            self.weights.setText(f"Allow weights {odd} in this project")
        self.weights.setVisible(bool(odd) or self.weights.isChecked())
        self._enable()

    def _names(self) -> str:
        return ", ".join(path.name for path in self._paths)

    def _begin(self) -> None:
        self._found = None
        self.chosen.setText(
            "Choose files and folders, or drop them anywhere in this window: several come in together."
        )
        self.hint.setVisible(not self._paths)
        self.clear.setVisible(bool(self._paths))
        self.weights.setChecked(False)
        for widget in (
            self.matching, self.preview, self.collected, self.wrong, self.skip, self.weights, self.author,
            self.pseudonyms,
        ):  # fmt: skip
            widget.hide()
        self._column.setStretch(self._column.count() - 1, 1)
        self._enable()

    def _stay(self, _refusal: Any) -> None:
        if self._paths and self._found is None:
            self.chosen.setText(f"Not read: {self._names()}")

    def _enable(self) -> None:
        self.go.setEnabled(
            self._found is not None
            and self._found.preview.new > 0
            and (not self._found.refused or self.skip.isChecked())
            and not self.desk.project.readonly
        )

    def _save_problems(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save problems", "problems.csv", "Tables (*.csv)")
        if name:
            self.desk.attempt(lambda: matching.save_problems(Path(name), self.refused.rows))

    def _import(self) -> None:
        self.go.setEnabled(False)
        self._taking = self._paths
        self.progress.show()
        self.desk.do_later(
            self._imported,
            self.progress.show_progress,
            imports.run,
            self._found.format if self._found else "",
            self._paths,
            self._options(),
            skip_bad=self.skip.isChecked(),
        )

    def _imported(self, result: Any) -> None:
        self.progress.hide()
        if result is None:
            self._enable()
            return
        if self._paths == self._taking:
            self.look_at([])
        self.desk.tell_end(f"The import is done: {result[1]}.", "Items")
