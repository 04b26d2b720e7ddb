"""How figures leave the page: the table copied, the picture saved, and the exact inputs for whoever computes anew."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QPushButton

from annotator.actions.agreement import agreement_inputs
from annotator.actions.agreement import agreement_words as words
from annotator.actions.results import result_pictures
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.agreement.figures_view import FiguresView
from annotator.gui.widgets.bars.acts_row import ActsRow

# Act of the key table, words, what it does.
ACTS = (
    ("save_picture", "Save picture…", "Save the picture as SVG or PNG, on white"),
    ("copy_table", "Copy table", "Copy the table for a spreadsheet, with full precision and aliases"),
    (
        "save_inputs",
        "Save the exact inputs…",
        "Save every frozen pair of values as CSV, the frozen records as JSON",
    ),
)


class LeavingBar(ActsRow):
    """A question and three acts with the figures that are shown."""

    asked = Signal()
    """What the figures say is to be explained."""

    def __init__(self, desk: Desk, view: FiguresView) -> None:
        about = QPushButton("What do these figures say?")
        about.setProperty("role", "quiet")
        deeds = {
            "save_picture": self._choose_picture,
            "copy_table": self.copy,
            "save_inputs": self._choose_folder,
        }
        super().__init__(ACTS, deeds, about)
        self._desk, self._view = desk, view
        about.clicked.connect(self.asked)

    def enable(self, enabled: bool) -> None:
        """Offer the acts, or not."""
        for button in self.buttons.values():
            button.setEnabled(enabled)

    def copy(self) -> None:
        """Put the table on the clipboard."""
        if self._view.report is not None:
            rows = self._view.model.rows()
            QGuiApplication.clipboard().setText(words.copied(self._view.report, rows))
            self.told.emit(f"Copied {counted(len(rows), 'row')}, with full precision and aliases.")

    def _choose_picture(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save picture", "agreement.svg", "Pictures (*.svg *.png)")
        if name:
            self.save_picture(Path(name))

    def save_picture(self, path: Path) -> None:
        """Write the picture in view, on white, as PNG or SVG."""
        printed = self._view.printed()
        if printed is not None:
            self._desk.ask_later(
                lambda _: self.told.emit(f"Saved {path.name}."),
                lambda _: result_pictures.save(printed(), path),
            )

    def _choose_folder(self) -> None:
        here = self._desk.project.path
        name = QFileDialog.getExistingDirectory(self, "Folder for the inputs", str(here.parent))
        if name:
            self.save_inputs(Path(name) / f"{here.stem}-agreement")

    def save_inputs(self, folder: Path) -> None:
        """Write the exact inputs of every figure into a folder, as CSV and JSON."""
        written = self._desk.ask(agreement_inputs.write_inputs, folder)
        if written is not None:
            self.told.emit(f"Wrote {', '.join(written)} to {folder}")
