"""Qt model of a growing consensus: its units in order, each with its row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt

from annotator.domain.experts.adjudication import Provenance
from annotator.domain.kinds.unit import Unit
from annotator.gui.tables.rows import Index, resetting

LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1


@dataclass(frozen=True, slots=True)
class ConsensusLine:
    """One unit: its number, its words (for a label those of what is judged), and the row it was ruled in."""

    number: int
    unit: Unit
    provenance: Provenance
    words: str
    row: int


class ConsensusModel(QAbstractListModel):
    """The units made so far."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: tuple[ConsensusLine, ...] = ()

    def show(self, lines: Sequence[ConsensusLine]) -> None:
        """Take over the units as they now are."""
        if tuple(lines) == self._lines:
            return
        with resetting(self):
            self._lines = tuple(lines)

    def last_of(self, ruling_id: str) -> QModelIndex:
        """Where the last unit of a ruling is shown; an invalid index when it made none."""
        for row in range(len(self._lines) - 1, -1, -1):
            if self._lines[row].provenance.ruling_id == ruling_id:
                return self.index(row)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many units there are."""
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a line shows; the delegate takes the line itself."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{line.number}  {line.words}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{line.number}, from row {line.row}: {line.words}"
        return None
