"""Import of labels: choose files, name the raters, preview, import."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QListWidget,
    QPlainTextEdit,
    QWidget,
)

from annotator.actions.imports import label_exports, label_files
from annotator.actions.imports.label_files import LabelImportOptions, LabelImportPreview
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.naming import in_order, named
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.basics import PlainLabel, push_button, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer

ABOUT = (
    "Tables (CSV, JSON) with item, system, unit, rater and value, or {files}. Nothing is changed before you "
    "import them; either all are imported, or none. They are finished work: they count immediately, and "
    "name their file."
)
AS_SAID = "as the files say"
FILES = "Labels (*.csv *.json *.jsonl);;All files (*)"
SHOWN_PROBLEMS = 500


def looked(project: Project, paths: list[Path], options: LabelImportOptions) -> LabelImportPreview | Refusal:
    """What an import would do, or why it cannot be."""
    try:
        return label_files.preview(project, paths, options)
    except Refusal as refusal:
        return refusal


class LabelsIn(QWidget):
    """Files, raters, system; the preview, and entries that cannot be imported."""

    ready = Signal(bool)
    taken = Signal(str)
    """What came in, in words."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk, self._asked, self.stopped = desk, 0, False
        self._paths: list[Path] = []
        self._taking: list[Path] = []
        self._raters: dict[str, QComboBox] = {}
        self.choose = push_button("Choose files…", self._choose)
        self.chosen = PlainLabel("Nothing chosen yet", "hint", wrap=True)
        self.system = ChoiceBox()
        self.system.setAccessibleName("System that wrote the reports, if the files do not say")
        self.skip = QCheckBox("Skip invalid labels and import the rest")
        self.replace = QCheckBox("Replace existing labels of the same person")
        self.drafts = QCheckBox("As drafts: they count once their rater has submitted them")
        self.told = QPlainTextEdit(readOnly=True)
        self.told.setAccessibleName("To be imported")
        self.told.setMaximumHeight(130)
        self.problems = QListWidget()
        self.problems.setAccessibleName("Invalid labels")
        self.progress = ProgressRow()
        self._lay_out()
        self.system.currentIndexChanged.connect(lambda _: self._look())
        self.skip.toggled.connect(lambda _: self._look())
        self.replace.toggled.connect(lambda _: self._look())
        self.drafts.toggled.connect(lambda _: self._look())
        self.begin()

    def _lay_out(self) -> None:
        column = vertical(
            PlainLabel("Labels from files", "subtitle"),
            PlainLabel(ABOUT.format(files=label_exports.known_files()), "hint", wrap=True),
            (self.choose, 0, Qt.AlignmentFlag.AlignLeft),
            self.chosen,
            on=self,
            margins=0,
            spacing=8,
        )
        self.form = QFormLayout()
        self.form.setVerticalSpacing(7)
        self.form.addRow("Reports of", self.system)
        column.addLayout(self.form)
        for widget in (self.skip, self.replace, self.drafts, self.told, self.problems, self.progress):
            column.addWidget(widget)
        column.addStretch(1)

    def begin(self) -> None:
        """Nothing chosen."""
        self._paths = []
        self.chosen.setText("Nothing chosen yet")
        self._forget_raters()
        for widget in (
            self.told, self.problems, self.progress, self.skip, self.replace, self.drafts, self.system
        ):  # fmt: skip
            widget.hide()
        self.form.setRowVisible(0, False)
        self.ready.emit(False)

    def focus_first(self) -> None:
        self.choose.setFocus()

    def look_at(self, paths: Sequence[Path]) -> None:
        """Show what importing these would do."""
        self._paths = list(paths)
        names = ", ".join(path.name for path in paths[:4])
        self.chosen.setText(names + (f" and {len(paths) - 4:,} more" if len(paths) > 4 else ""))
        systems = [(name, name) for name in self._desk.ask(judge_cases.systems) or ()]
        offer(self.system, [(AS_SAID, ""), *systems])
        self.form.setRowVisible(0, True)
        self.system.show()
        self._forget_raters()
        self._look()

    def _choose(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, "Files of labels", "", FILES)
        if names:
            self.look_at([Path(name) for name in names])

    def options(self) -> LabelImportOptions:
        """Whose labels these are, and how much may be done."""
        raters = {
            name: str(combo.currentData()) for name, combo in self._raters.items() if combo.currentData()
        }
        return LabelImportOptions(
            raters, str(self.system.currentData() or ""), skip_bad=self.skip.isChecked(),
            replace=self.replace.isChecked(), drafts=self.drafts.isChecked(),
        )  # fmt: skip

    def _look(self) -> None:
        if not self._paths:
            return
        self._asked += 1
        asked = self._asked
        self.ready.emit(False)

        def show(found: Any) -> None:
            if asked == self._asked and not self.stopped:
                self._show(found)

        self._desk.ask_later(show, looked, list(self._paths), self.options())

    def _show(self, found: LabelImportPreview | Refusal) -> None:
        self.told.show()
        self.problems.clear()
        for widget in (self.skip, self.replace, self.drafts):
            widget.setVisible(isinstance(found, LabelImportPreview))
        if isinstance(found, Refusal):
            self.problems.hide()
            self.told.setPlainText(f"{found.happened}\n{found.todo}")
            return
        self.told.setPlainText("\n".join(found.words()))
        self.problems.setVisible(bool(found.problems))
        # Who a rater is, is answered in the rows above, not by an option of the command line.
        self.problems.addItems(
            [str(one).partition(", as in --as")[0] for one in found.problems[:SHOWN_PROBLEMS]]
        )
        if len(found.problems) > SHOWN_PROBLEMS:
            self.problems.addItem(f"… and {len(found.problems) - SHOWN_PROBLEMS:,} more")
        self._ask_whose(found.strangers)
        anything = found.new or found.filled or found.replaced
        self.ready.emit(bool(anything) and (not found.problems or self.skip.isChecked()))

    def _ask_whose(self, names: Sequence[str]) -> None:
        """A row for each name that nobody has said whose it is; those that were answered stay."""
        everybody = in_order(people.people(self._desk.project))
        for name in names:
            if name in self._raters:
                continue
            combo = ChoiceBox()
            combo.setAccessibleName(f"Who {name} is")
            offer(combo, [
                ("choose who that is", ""),
                *((named(one.alias, one.name), one.id) for one in everybody),
                (f"a new person, {name[:40]}", name),
            ])  # fmt: skip
            combo.currentIndexChanged.connect(lambda _: self._look())
            self._raters[name] = combo
            label = PlainLabel(f"“{name[:40]}” is")
            label.setBuddy(combo)
            self.form.addRow(label, combo)

    def _forget_raters(self) -> None:
        while self.form.rowCount() > 1:
            self.form.removeRow(1)
        self._raters.clear()

    def take(self) -> None:
        self.ready.emit(False)
        self.progress.show()
        self._taking = list(self._paths)
        self._desk.do_later(
            self._taken, self.progress.show_progress, label_files.run, list(self._paths), self.options()
        )

    def _taken(self, result: tuple[Change, LabelImportPreview] | None) -> None:
        if self.stopped:
            return
        self.progress.hide()
        if result is None:
            self._look()
            return
        words = "; ".join(result[1].words()[:3])
        if self._paths == self._taking:
            self.begin()
        self.taken.emit(words)

    def stop(self) -> None:
        self.stopped = True
