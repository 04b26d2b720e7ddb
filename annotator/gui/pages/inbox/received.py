"""List of all imported files, searchable by person, file or receipt code."""

from typing import Any

from PySide6.QtWidgets import QWidget

from annotator.actions.parcels import unpacking
from annotator.domain.experts.parcel import Arrival
from annotator.domain.texts.ordering import natural
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.inbox.arrivals_tree import CAME, ArrivalsTree
from annotator.gui.pages.inbox.naming import plain_code
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.typed import search_field
from annotator.gui.widgets.layouts import column_of, horizontal, stacked, vertical
from annotator.gui.widgets.plain import PlainLabel

LEAST_CODE = 4


class Received(QWidget):
    """Imported packages with date and code, newest first."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._all: list[Arrival] = []
        self.search = search_field(
            "Find a person, a file or a receipt code…", "Find among the received files", self._narrow
        )
        self.tree = ArrivalsTree("Received files, newest first")
        self.copy = KeyButton("Copy the receipt code", "Ctrl+C", role="primary")
        self.copy.clicked.connect(self._copy)
        self.tree.itemSelectionChanged.connect(self._offer)
        self.about = PlainLabel(role="hint")
        nothing = EmptyState(
            "import",
            "Nothing was received yet",
            "Imported files are listed here with their receipt codes. Annotators see the same code when "
            "they write their file; if the codes match, the same file arrived.",
        )
        listed = column_of(self.search, (self.tree, 1), horizontal((self.about, 1), self.copy))
        self.body = stacked(nothing, listed)
        vertical(self.body, on=self, margins=(0, 10, 0, 0))

    def fill(self) -> int:
        """Read the list again; how many there are."""
        found = self._desk.ask(unpacking.received) or []
        self._all = sorted(found, key=_newest)
        self.body.setCurrentIndex(1 if found else 0)
        self._narrow()
        return len(found)

    def focus_first(self) -> None:
        """Work begins with looking for one."""
        self.search.setFocus()

    def _narrow(self) -> None:
        words = self.search.text().strip()
        found = [arrival for arrival in self._all if _fits(arrival, words)]
        self.tree.show_arrivals(found, CAME)
        self.about.setText(
            f"{len(found):,} of {len(self._all):,}" if words else f"{len(self._all):,} received"
        )
        self._offer()

    def _offer(self) -> None:
        chosen = len(self.tree.chosen())
        self.copy.setEnabled(chosen > 0)
        self.copy.set_words("Copy the receipt code" if chosen < 2 else f"Copy {chosen} receipt codes")

    def _copy(self) -> None:
        words = self.tree.copy_codes()
        self.about.setText(
            f"Copied: {words}" if "\n" not in words else "Copied: a line with name and code for each."
        )


def _newest(arrival: Arrival) -> Any:
    # What came in one go stands in the order of its files.
    minute = int(arrival.at.timestamp() // 60) if arrival.at else 0
    return -minute, natural(arrival.file), arrival.receipt


def _fits(arrival: Arrival, words: str) -> bool:
    if not words:
        return True
    code = plain_code(words)
    if len(code) >= LEAST_CODE and code in plain_code(arrival.receipt):
        return True
    return any(words.casefold() in name.casefold() for name in (arrival.person_name, arrival.file))
