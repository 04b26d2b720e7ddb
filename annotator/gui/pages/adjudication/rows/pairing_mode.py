"""Pairing by keyboard: the most similar row is preselected, arrows choose, Enter pairs."""

from collections.abc import Mapping
from difflib import SequenceMatcher

from PySide6.QtCore import QObject, Signal

from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.gui.review.ruling_words import about


class PairingMode(QObject):
    """The search of a row for its partner; `aimed` names the proposed one, an empty id the end."""

    aimed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.ruling_id = ""
        self._partners: list[str] = []
        self._at = 0

    @property
    def active(self) -> bool:
        """Whether a partner is being chosen."""
        return bool(self.ruling_id)

    @property
    def partner(self) -> str:
        """The row that is proposed."""
        return self._partners[self._at] if self.active else ""

    def begin(self, rows: Mapping[str, SheetRow], ruling_id: str) -> bool:
        """Look for partners of a row; whether there are any."""
        row = rows[ruling_id]
        partners = [name for name, other in rows.items() if name != ruling_id and can_pair(row, other)]
        if not partners:
            return False
        self.ruling_id, self._partners = ruling_id, partners
        likely = max(partners, key=lambda name: (-len(rows[name].units), _likeness(row, rows[name])))
        self._at = partners.index(likely)
        self.aimed.emit(self.partner)
        return True

    def step(self, by: int) -> None:
        """Propose the partner below (1) or above (-1), around the ends."""
        self._at = (self._at + by) % len(self._partners)
        self.aimed.emit(self.partner)

    def leave(self) -> None:
        """The search is over."""
        if self.active:
            self.ruling_id, self._partners = "", []
            self.aimed.emit("")


def can_pair(row: SheetRow, other: SheetRow) -> bool:
    """Whether units of another row find a place in this one."""
    mine, theirs = row.units.keys(), other.units.keys()
    return bool(mine and theirs) and (bool(theirs - mine) or theirs < mine)


def _likeness(row: SheetRow, other: SheetRow) -> float:
    """How alike the words of two rows look: only what is proposed first hangs on it."""
    return SequenceMatcher(None, about(row).casefold(), about(other).casefold(), autojunk=False).quick_ratio()
