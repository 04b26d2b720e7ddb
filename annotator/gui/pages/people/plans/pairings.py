"""Qt model of the square: how often every two people meet on an item."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from annotator.actions.assignments.planning import PlannedPairing
from annotator.gui import theme
from annotator.gui.tables.rows import Index, resetting
from annotator.gui.widgets.plain import tooltip


class PairingsModel(QAbstractTableModel):
    """Cells are tinted by how often the two meet; those who never do show a dash."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._people: list[tuple[str, str, str]] = []
        self._items: dict[frozenset[str], int] = {}

    def show(self, people: Sequence[tuple[str, str, str]], pairings: Sequence[PlannedPairing]) -> None:
        """Show people (id, alias, name) in this order and how often each two of them meet."""
        with resetting(self):
            self._people = list(people)
            self._items = {frozenset((pair.a, pair.b)): pair.items for pair in pairings}

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """One row a person."""
        return 0 if parent.isValid() else len(self._people)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """One column a person."""
        return 0 if parent.isValid() else len(self._people)

    def headerData(
        self, section: int, _orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Aliases, with names as the tip."""
        _, alias, name = self._people[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return alias
        return tooltip(name) if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """On how many items two people meet."""
        if not index.isValid() or index.row() == index.column():
            return None
        items = self._count(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return str(items) if items else "–"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignCenter)
        if role == Qt.ItemDataRole.BackgroundRole:
            return self._tint(items)
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.token("text" if items else "text-muted")
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            a, b = self._people[index.row()][2], self._people[index.column()][2]
            words = f"{a} and {b}: {items} {'item' if items == 1 else 'items'} together"
            return tooltip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        return None

    def _count(self, index: Index) -> int:
        return self._items.get(frozenset((self._people[index.row()][0], self._people[index.column()][0])), 0)

    def _tint(self, items: int) -> QColor | None:
        most = max(self._items.values(), default=0)
        if not items or not most:
            return None
        colour = QColor(theme.token("bar-1"))
        colour.setAlphaF(0.15 + 0.5 * items / most)
        return colour


def in_a_sentence(pairings: Sequence[PlannedPairing]) -> str:
    """How evenly people meet."""
    met = [pair.items for pair in pairings if pair.items]
    if not met:
        return "No two people answer the same item."
    often = str(min(met)) if min(met) == max(met) else f"{min(met)} to {max(met)}"
    often += " item" if max(met) == 1 else " items"
    never = len(pairings) - len(met)
    if not never:
        return f"Each pair shares {often}."
    return f"{len(met):,} of {len(pairings):,} possible pairs share items, {often} each."


def of_ids(known: Mapping[str, tuple[str, str]], ids: Sequence[str]) -> list[tuple[str, str, str]]:
    """(id, alias, name) of each of these people, in their order."""
    return [(person_id, *known[person_id]) for person_id in ids if person_id in known]
