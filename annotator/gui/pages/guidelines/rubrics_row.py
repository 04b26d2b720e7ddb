"""By which rubrics reports are judged: the experts' own, or a named set, written by a model or imported."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QWidget

from annotator.actions.items import named_rubrics
from annotator.actions.judging import judge_offers
from annotator.actions.releases import rubric_set_files
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.material.drawing_bar import DrawingBar
from annotator.gui.widgets.basics import StretchSpace, horizontal, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer

FILES = "Tables (*.csv);;JSON (*.json)"
OWN = "the experts' own rubrics"


class RubricsRow(QWidget):
    """The choice of the set in force; only a coordinator can change it."""

    chosen = Signal(str)
    """What reports are judged by from now on, in words."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.box, self.more = ChoiceBox(), QPushButton("Add a set…")
        self.box.keep_short(22)
        self.box.setToolTip(
            "Reports are labelled, judged and scored by the chosen rubrics at once; scores change"
        )
        self.more.setCheckable(True)
        self.more.setProperty("role", "quiet")
        self.more.setToolTip(
            "Have a model write a rubric set, or import one, to compare it with the experts' rubrics"
        )
        caption = QLabel("&Judge by:")
        caption.setBuddy(self.box)
        self.box.activated.connect(lambda _: self._use())
        horizontal(caption, self.box, self.more, on=self, margins=0, spacing=6)
        self.drafting = SetDrafting(desk)
        self.drafting.hide()
        self.drafting.came.connect(lambda: self.show_sets(writable=True))
        self.more.toggled.connect(self._open)

    def show_sets(self, *, writable: bool) -> None:
        """Show what there is to judge by, and what is in force."""
        sets = self._desk.ask(named_rubrics.sets) or {}
        offer(self.box, [(OWN, ""), *((f"{name} ({len(of):,})", name) for name, of in sets.items())])
        now = named_rubrics.in_force(self._desk.project)
        self.box.setCurrentIndex(max(0, self.box.findData(now)))
        self.box.setEnabled(writable)
        self.more.setVisible(writable)
        self.drafting.setVisible(writable and self.more.isChecked() and self.isVisible())

    def _open(self, shown: bool) -> None:
        if shown:
            self.drafting.fill()
        self.drafting.setVisible(shown)

    def _use(self) -> None:
        name = str(self.box.currentData())
        if name == named_rubrics.in_force(self._desk.project):
            return
        if self._desk.do(named_rubrics.use, name) is not None:
            self.chosen.emit(f"“{name}”" if name else OWN)
        self.show_sets(writable=True)


class SetDrafting(QWidget):
    """Which set a model writes, and the run that has it written; sets that people weigh in a file."""

    came = Signal()
    """There is another set, or another version of one."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.what, self.bar = ChoiceBox(), DrawingBar(desk)
        self.save, self.bring = QPushButton("Save this set…"), QPushButton("Import a set…")
        self.save.setToolTip("Save the set that reports are judged by, so that people can weigh its criteria")
        self.bring.setToolTip(
            "A table with the columns item, criterion and weight; the file's name names the set"
        )
        self.save.clicked.connect(self._choose_place)
        self.bring.clicked.connect(self._choose_file)
        self.bar.came.connect(self.came)
        self.what.setAccessibleName("Rubric set to draft")
        self.what.currentIndexChanged.connect(lambda _: self._offer())
        files = horizontal(self.save, self.bring, StretchSpace(1), spacing=6)
        vertical(self.what, self.bar, files, self.bar.answer, on=self, margins=0, spacing=4)

    def fill(self) -> None:
        self._offers = [one for one in self._desk.ask(judge_offers.drawings) or [] if one.rubric_set]
        offer(self.what, [(one.title, one.name) for one in self._offers])
        self._offer()

    def _offer(self) -> None:
        name = self.what.currentData()
        self.bar.offer(next((one for one in self._offers if one.name == name), None), None)

    def _choose_place(self) -> None:
        name = named_rubrics.in_force(self._desk.project) or named_rubrics.OWN
        path, _ = QFileDialog.getSaveFileName(self, "Save a rubric set", f"{name} weighed.csv", FILES)
        if path:
            self.write_file(name, Path(path))

    def write_file(self, name: str, path: Path) -> None:
        if (many := self._desk.ask(rubric_set_files.write, name, path)) is not None:
            words = f"Saved {counted(many, 'criterion', 'criteria')} of “{name}” to {path.name}."
            self.bar.answer.show_message("success", words)

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, "A rubric set", "", "Tables (*.csv *.tsv *.xlsx *.json *.jsonl *.parquet)"
        )
        if path:
            self.import_file(Path(path))

    def import_file(self, path: Path) -> None:
        """Keep what a file says as a set of its name."""
        kept = self._desk.do(rubric_set_files.keep, path.stem.replace(":", " "), path)
        if kept is not None:
            self.came.emit()
            words = f"Kept “{kept.after['name']}”: {counted(kept.after['items'], 'item')}."
            self.bar.answer.show_message("success", words, "Choose it above to judge by it.")
