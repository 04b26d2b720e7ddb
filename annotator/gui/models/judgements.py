"""The judgements behind a figure, line by line."""

from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.results import Behind
from annotator.gui.models.rows import Index, RowsModel
from annotator.gui.widgets.icons import icon

COLUMNS = ("Item", "System", "Criterion", "Weight", "Verdict", "Why")
WORDS = {"yes": "Met", "no": "Not met"}
STATUS_WORDS = {
    "unclear": "Unsure",
    "invalid": "Reply not readable",
    "refused": "Model refused",
    "filtered": "Blocked by a filter",
    "truncated": "Reply cut off",
    "too_long": "Report too long",
    "timeout": "No answer in time",
    "api_error": "Endpoint failed",
    "skipped": "Not judged",
}


class JudgementsModel(RowsModel[Behind]):
    """What `results.behind` found."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)

    def show(self, lines: list[Behind]) -> None:
        """Show other lines."""
        self.beginResetModel()
        self._rows = lines
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's words; the verdict with its icon."""
        if not index.isValid():
            return None
        line = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            said = line.judgement
            why = " ".join((said.rationale or said.cause).split())
            return (line.item_key, line.system, line.unit, f"{line.weight:g}", verdict(line), why)[
                index.column()
            ]
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 4:
            return icon({"yes": "check", "no": "cross"}.get(line.judgement.value or "", "question"), 16)
        return None


def verdict(line: Behind) -> str:
    """A judgement's value, or why there is none, in a word or two."""
    said = line.judgement
    return (
        WORDS.get(said.value, said.value) if said.value else STATUS_WORDS.get(said.status, str(said.status))
    )
