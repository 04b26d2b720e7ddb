"""The judgements behind a figure, line by line."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.results.results_behind import Behind
from annotator.gui import theme
from annotator.gui.review.judge_words import value_look, value_words
from annotator.gui.tables.rows import Index, RowsModel, resetting
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.plain import tooltip

COLUMNS = ("Item", "System", "Verdict", "Asked about", "Weight", "By", "Why")
VERDICT = 2


class JudgementsModel(RowsModel[Behind]):
    """What `results_behind.of_source` found."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)

    def show(self, lines: Sequence[Behind]) -> None:
        """Show other lines."""
        with resetting(self):
            self._rows = lines

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
            picture, _ = value_look(line.judgement.protocol, line.judgement.value)
            return icon(picture, theme.current().px(16)) if picture else None
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
    # Of a pair the one that is better, by name.
    named = {"first": line.system, "second": line.unit}
    return named.get(said.value or "") or value_words(said.protocol, said.value, said.status)
