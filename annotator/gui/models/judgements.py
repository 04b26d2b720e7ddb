"""The judgements behind a figure, line by line."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.results_behind import Behind
from annotator.gui import theme
from annotator.gui.models.rows import Index, RowsModel
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.plain import tooltip

COLUMNS = ("Item", "System", "Verdict", "Asked about", "Weight", "By", "Why")
VERDICT = 2
COVERAGE = "researcherbench.coverage"
WORDS = {"yes": "Met", "no": "Not met"}
PICTURES = {
    "yes": "check",
    "no": "cross",
    "relevant": "check",
    "not": "cross",
    "true": "check",
    "false": "cross",
}
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
    """What `results_behind.of_source` found."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)

    def show(self, lines: Sequence[Behind]) -> None:
        """Show other lines."""
        self.beginResetModel()
        self._rows = lines
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's words; the verdict with its icon."""
        if not index.isValid():
            return None
        line, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(line)[column]
        if role == Qt.ItemDataRole.ToolTipRole and COLUMNS[column] in ("Item", "Asked about", "Why"):
            return tooltip(line.question if column == 0 else self._words(line)[column])
        if role == Qt.ItemDataRole.DecorationRole and column == VERDICT:
            said = line.judgement.value
            return icon(PICTURES.get(said or "", "right" if said else "question"), theme.current().px(16))
        if role == Qt.ItemDataRole.ForegroundRole and line.judgement.value is None and column == VERDICT:
            return theme.token("text-muted")
        return None

    def _words(self, line: Behind) -> tuple[str, ...]:
        said = line.judgement
        why = " ".join((said.rationale or said.cause).split())
        return line.item_key, line.system, verdict(line), line.unit, f"{line.weight:g}", line.rater, why


def verdict(line: Behind) -> str:
    """A judgement's value, or why there is none, in a word or two."""
    said = line.judgement
    if not said.value:
        return STATUS_WORDS.get(said.status, str(said.status))
    if said.protocol == COVERAGE:
        return WORDS.get(said.value, said.value)
    # Of a pair the one that is better, by name.
    named = {"first": line.system, "second": line.unit, "tie": "Neither"}
    return named.get(said.value, said.value.replace("_", " ").capitalize())
