"""What an order would take: counted on another thread once its fields settle, and told while they still say so."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.orders import orders
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.later import later

if TYPE_CHECKING:
    from annotator.actions.judging.forecasts import CostEstimate
    from annotator.actions.runs.judge_cases import RunRequest

SETTLE_MS = 400


class OrderEstimate(QObject):
    """The estimate of the order that the fields of a widget make; none of what they said before is told."""

    told = Signal(object)

    def __init__(self, desk: Desk, owner: QWidget, order: "Callable[[], RunRequest | None]") -> None:
        """`order` makes the order of the owner's fields, None while something is lacking."""
        super().__init__(owner)
        self._desk, self._owner, self._order = desk, owner, order
        self._waited: RunRequest | None = None
        self._soon = later(self, self.count, SETTLE_MS)

    def count_soon(self) -> None:
        self._soon.start()

    def stop(self) -> None:
        """Count nothing more, and tell nothing of what is being counted."""
        self._soon.stop()
        self._waited = None

    def count(self) -> None:
        asked = self._order()
        if asked is not None and self._owner.isVisible():
            self._waited = asked
            self._desk.ask_later(partial(self._tell, asked), orders.forecast, asked)

    def _tell(self, asked: "RunRequest", found: "CostEstimate") -> None:
        now = self._order() if asked is self._waited else None
        # The budget is no part of what it would take.
        if now is not None and replace(now, budget_usd=None) == replace(asked, budget_usd=None):
            self.told.emit(found)
