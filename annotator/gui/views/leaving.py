"""Export from a view: table copied or saved, picture saved."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from annotator.actions.results import result_exports, result_pictures
from annotator.actions.results.result_sheets import ResultSheet
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.views.view_pane import ViewPane
from annotator.gui.widgets.bars.acts_row import Act, ActsRow

# Act of the key table, words, what it does.
ACTS = (
    (
        "copy_results",
        "Copy table",
        "Copy the table for a spreadsheet, with full precision and intervals in their own columns",
    ),
    ("save_results", "Save table…", "Save the table as CSV or JSON, with full precision"),
    ("save_results_picture", "Save picture…", "Save the picture as SVG or PNG, on white"),
)


def copied(sheet: ResultSheet, text: Callable[[ResultSheet], str] = result_exports.as_text) -> str:
    """Put a table on the clipboard; what was done, in words."""
    if not sheet.lines:
        return "No line is in view: nothing was copied."
    QGuiApplication.clipboard().setText(text(sheet))
    return f"Copied {counted(len(sheet.lines), 'line')}, with full precision."


def chosen_file(owner: QWidget, name: str) -> Path | None:
    """Where a table is to be saved; None when nobody says."""
    chosen, _ = QFileDialog.getSaveFileName(
        owner, "Save table", f"{name}.csv", "Tables (*.csv);;JSON (*.json)"
    )
    return Path(chosen) if chosen else None


def saved(desk: Desk, path: Path, write: Callable[[], object]) -> str:
    """Write a file; what was done, in words, and nothing where it was refused."""
    try:
        write()
    except Refusal as refusal:
        desk.refused.emit(refusal)
        return ""
    return f"Saved {path.name}."


class LeavingBar(ActsRow):
    """Acts on the view shown: those of the results, or `acts` of its own; `first` comes before them."""

    def __init__(
        self, desk: Desk, view: ViewPane, acts: Sequence[Act] = ACTS, first: QWidget | None = None
    ) -> None:
        super().__init__(acts, self.commands(), first)
        self._desk, self._view = desk, view
        self.name = "results"

    def commands(self) -> dict[str, Callable[[], None]]:
        return {
            "copy_results": self.copy,
            "save_results": self._choose_table,
            "save_results_picture": self._choose_picture,
        }

    def text(self, sheet: ResultSheet) -> str:
        return result_exports.as_text(sheet)

    def enable(self, table: bool, picture: bool) -> None:
        for act, button in self.buttons.items():
            button.setEnabled(picture if act.endswith("picture") else table)

    def copy(self) -> None:
        self.told.emit(copied(self._view.model.shown, self.text))

    def _choose_table(self) -> None:
        if path := chosen_file(self, self.name):
            self.save_table(path)

    def save_table(self, path: Path) -> None:
        sheet = self._view.model.shown
        self.told.emit(saved(self._desk, path, lambda: result_exports.save(sheet, path)))

    def _choose_picture(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Save picture", f"{self.name}.svg", "SVG (*.svg);;PNG (*.png)"
        )
        if name:
            self.save_picture(Path(name))

    def save_picture(self, path: Path) -> None:
        """Write the picture in view, on white, as PNG or SVG."""
        picture, differs = self._view.picture(), result_exports.departures(self._view.model.shown)
        if picture is not None:
            self._desk.ask_later(
                lambda _: self.told.emit(f"Saved {path.name}."),
                lambda _: result_pictures.save(result_pictures.printed(picture, differs), path),
            )
