"""The Import page: choose files, preview, import."""

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
)

from annotator.actions.imports import imports
from annotator.actions.imports.imports import ImportOptions
from annotator.actions.project.incoming import ImportPreview
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.collected_view import CollectedView
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.layouts import StretchSpace, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.push_button import push_button

# People: coordinators with a folder of JSON. What annoys them elsewhere: half-imported files, rows dropped
# without a word, and not knowing whether importing again makes everything double.
SHOWN_PROBLEMS = 500
# So many of a layout's words are seen where there is no room for all.
LETTERS = 20
TRANSCRIPTS = f"Transcripts (*{' *'.join(imports.TRANSCRIPT_ENDINGS)})"


class ImportPage(Page):
    """A preview first; then everything or nothing, unless bad rows are skipped."""

    NAME = "Import"
    ICON = "import"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._paths: list[Path] = []
        self._taking: list[Path] = []
        self._found: ImportPreview | None = None
        title = PlainLabel("Import", "title")
        hint = PlainLabel(
            "Nothing is changed until you press Import. Existing records are recognised and not added "
            "twice; differences are listed and left unchanged. New gold scores its items at once.",
            "hint",
            wrap=True,
        )
        self.preview = QPlainTextEdit(readOnly=True)
        self.preview.setAccessibleName("To be imported")
        self.preview.setMaximumHeight(220)
        self.problems = QListWidget()
        self.problems.setAccessibleName("Problems")
        self.problem_title = PlainLabel("Problems", "subtitle")
        self.progress = ProgressRow()
        self.progress.hide()
        self.collected = CollectedView(desk)
        self._column = vertical(
            title, hint, self._choosing(), self.preview, (self.collected, 1), self.problem_title, self.problems,
            self.progress, self._foot(), StretchSpace(1), on=self, margins=(20, 16, 20, 12), spacing=10,
        )  # fmt: skip
        self._look()
        self._clear()

    def _choosing(self) -> FlowRow:
        self.format = ChoiceBox()
        self.format.setAccessibleName("Layout of the files")
        self.format.setMinimumContentsLength(LETTERS)
        for name, words in imports.offered().items():
            self.format.addItem(words, name)
        self.format.setCurrentIndex(self.format.findData(self.desk.ask(imports.usual)))
        self.format.currentIndexChanged.connect(lambda _: self._look())
        self.pseudonyms = QCheckBox("Call speakers S1, S2 …")
        self.pseudonyms.setToolTip("Names are left out of the text; who is who stays in this project")
        self.pseudonyms.toggled.connect(lambda _: self._look())
        self.folder = push_button("Choose a folder…", self._choose_folder)
        self.files = push_button("Choose files…", self._choose_files)
        self.chosen = PlainLabel("Nothing chosen yet", "hint")
        row = FlowRow(gap=10)
        for widget in (self.format, self.folder, self.files, self.pseudonyms, self.chosen):
            row.addWidget(widget)
        return row

    def _foot(self) -> QHBoxLayout:
        self.skip = QCheckBox("Skip what cannot be read and import the rest")
        self.skip.toggled.connect(lambda _: self._enable())
        self.go = push_button("Import", self._import, "primary")
        return horizontal(self.skip, StretchSpace(1), self.go)

    def focus_first(self) -> None:
        self.folder.setFocus()

    def look_at(self, paths: list[Path]) -> None:
        self._paths = paths
        self.chosen.setText(", ".join(path.name for path in paths[:4]) + (" …" if len(paths) > 4 else ""))
        self._look()

    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Folder to import")
        if name:
            self.look_at([Path(name)])

    def _choose_files(self) -> None:
        offered = f"{TRANSCRIPTS if self._of_transcripts else 'JSON (*.json)'};;All files (*)"
        names, _ = QFileDialog.getOpenFileNames(self, "Files to import", "", offered)
        if names:
            self.look_at([Path(name) for name in names])

    @property
    def _of_transcripts(self) -> bool:
        return bool(self.format.currentData() == imports.TRANSCRIPTS)

    @property
    def _options(self) -> ImportOptions:
        return ImportOptions(pseudonyms=self._of_transcripts and self.pseudonyms.isChecked())

    def _look(self) -> None:
        self.pseudonyms.setVisible(self._of_transcripts)
        if not self._paths:
            return
        collected = self.format.findData(imports.COLLECTED)
        if imports.are_collected(self._paths) and self.format.currentIndex() != collected:
            # To choose it looks again.
            self.format.setCurrentIndex(collected)
            return
        self._clear()
        self.preview.setPlainText("Reading…")
        self.preview.show()
        self.desk.ask_later(
            self._show, imports.preview, self.format.currentData(), self._paths, self._options
        )

    def _show(self, found: ImportPreview) -> None:
        self._found = found
        self.preview.setPlainText("\n".join(found.words()))
        self.preview.setVisible(found.funnel is None)
        self.collected.setVisible(found.funnel is not None)
        # The rest of the page is the list's where there is one.
        self._column.setStretch(self._column.count() - 1, int(found.funnel is None))
        if found.funnel is not None:
            self.collected.show_funnel(found.funnel)
        self.problems.clear()
        for problem in found.problems[:SHOWN_PROBLEMS]:
            self.problems.addItem(str(problem))
        more = len(found.problems) - SHOWN_PROBLEMS
        if more > 0:
            self.problems.addItem(f"… and {more:,} more")
        for widget in (self.problems, self.problem_title, self.skip):
            widget.setVisible(bool(found.problems))
        self.problem_title.setText(f"Problems ({len(found.problems):,})")
        self._enable()

    def _clear(self) -> None:
        self._found = None
        for widget in (self.preview, self.collected, self.problems, self.problem_title, self.skip):
            widget.hide()
        self._column.setStretch(self._column.count() - 1, 1)
        self._enable()

    def _enable(self) -> None:
        found = self._found
        fits = found is not None and found.new > 0 and (not found.problems or self.skip.isChecked())
        self.go.setEnabled(fits and not self.desk.project.readonly)

    def _import(self) -> None:
        self.go.setEnabled(False)
        self._taking = self._paths
        self.progress.show()
        self.desk.do_later(
            self._imported,
            self.progress.show_progress,
            imports.run,
            self.format.currentData(),
            self._paths,
            self._options,
            skip_bad=self.skip.isChecked(),
        )

    def _imported(self, result: Any) -> None:
        self.progress.hide()
        if result is None:
            self._enable()
            return
        if self._paths == self._taking:
            self._paths = []
            self.chosen.setText("Nothing chosen yet")
            self._clear()
        self.desk.tell_end(f"The import is done: {result[1]}.", "Items")
