"""Unit cards of a report, grouped by cited page."""

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.labelling.label_rows import UNSURE
from annotator.actions.labelling.labels import UnitGroup
from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.units.locking import why_locked
from annotator.gui.pages.labelling.units.unit_card import CardQuestion, UnitCard
from annotator.gui.pages.labelling.units.unit_details import UnitDetails
from annotator.gui.widgets.basics import vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.keyless_area import KeylessArea

# How the state of a page that could not be read is said.
PAGES = {
    "paywall": "behind a paywall",
    "forbidden": "access refused",
    "dead": "not there",
    "not_text": "no text",
    "too_long": "too long",
    "absent": "its text is not in this project",
}


class UnitCards(KeylessArea):
    """Every unit with its state, the current one with its controls."""

    made = Signal(UnitDetails, QWidget)
    """Controls were made, for the card they stand in."""

    def __init__(self, bench: LabellingBench) -> None:
        super().__init__("Units")
        self._bench = bench
        self.rows: dict[str, UnitCard] = {}
        self.at_hand = ""
        """The unit whose controls are shown."""
        self.resized.connect(self._bring_into_view_soon)

    @property
    def current(self) -> UnitCard | None:
        return self.rows.get(self.at_hand)

    @property
    def details(self) -> UnitDetails | None:
        return self.current.details if self.current else None

    @property
    def holder(self) -> QWidget:
        return self.current or self

    def show_sheet(self, locked: str, *, weights: bool) -> None:
        """Make a card for each unit of the report that lies open."""
        self.at_hand, self.rows = "", {}
        inside = QWidget()
        column = vertical(on=inside, margins=(0, 0, 3, 8), spacing=6)
        number, total = 0, len(self._bench.units)
        for group in self._bench.sheet.groups if self._bench.sheet else ():
            if group.given.get("address"):
                column.addWidget(ElidedLabel(heading(group), "hint"))
            for unit in group.units:
                number += 1
                card = UnitCard(
                    CardQuestion(
                        self._bench.protocol, unit, number, total, (*group.values, UNSURE), group.why
                    ),
                    locked or why_locked(self._bench.sheet, unit.id),
                )
                card.pressed.connect(self._bench.move_to)
                card.details_made.connect(self._tell_made)
                self.rows[unit.id] = card
                self.show_label(unit.id)
                card.show_weight(weights)
                column.addWidget(card)
        column.addStretch(1)
        self.setWidget(inside)

    def show_current(self, unit_id: str) -> None:
        """Open the controls of a unit, and bring it into view."""
        if self.current is not None:
            self.current.set_current(False)
        self.at_hand = unit_id
        self.rows[unit_id].set_current(True)
        self._bring_into_view_soon()

    def show_label(self, unit_id: str) -> None:
        self.rows[unit_id].show_label(self._bench.kept(unit_id))

    def show_weights(self, shown: bool) -> None:
        for row in self.rows.values():
            row.show_weight(shown)

    def _tell_made(self, unit_id: str) -> None:
        card = self.rows[unit_id]
        if card.details is not None:
            self.made.emit(card.details, card)

    def _bring_into_view_soon(self) -> None:
        """The cards have their new heights only once the layout has been done."""
        QTimer.singleShot(0, self, self._bring_into_view)

    def _bring_into_view(self) -> None:
        if self.current is not None:
            self.ensureWidgetVisible(self.current, 0, 40)


def heading(group: UnitGroup) -> str:
    """A page's address without its scheme, and why it could not be read."""
    address = group.given["address"].split("://", 1)[-1]
    state = str(group.given.get("page_state", ""))
    return f"{address} — {PAGES.get(state, state)}" if state else address
