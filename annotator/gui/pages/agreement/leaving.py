"""Export from the Agreement page: table, picture, and the exact inputs for recomputing."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from annotator.actions.agreement import agreement_inputs
from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_sheets import RowLine
from annotator.actions.results.result_sheets import ResultSheet
from annotator.gui.desk.desk import Desk
from annotator.gui.views.leaving import LeavingBar
from annotator.gui.views.view_pane import ViewPane
from annotator.gui.widgets.push_button import push_button

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


class AgreementBar(LeavingBar):
    """A choice and three acts on the figures shown."""

    def __init__(self, desk: Desk, view: ViewPane) -> None:
        about = push_button("What do these figures say?", lambda: desk.go("Help", topic="agreement"), "quiet")
        super().__init__(desk, view, ACTS, about)

    def commands(self) -> dict[str, Callable[[], None]]:
        """What each act does."""
        return {
            "save_picture": self._choose_picture,
            "copy_table": self.copy,
            "save_inputs": self._choose_folder,
        }

    def text(self, sheet: ResultSheet) -> str:
        """The table with people by alias alone."""
        lines = [line for line in sheet.lines if isinstance(line, RowLine)]
        return words.copied(lines[0].report, [line.row for line in lines])

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
