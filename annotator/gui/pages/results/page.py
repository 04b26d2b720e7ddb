"""The page of results: views down the side, in each its tables and pictures, and the rows behind every figure."""

from typing import Any

from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.results.result_viewer import ResultViewer
from annotator.gui.widgets.layouts import vertical


class ResultsPage(Page):
    """Nothing but its viewer."""

    NAME = "Results"
    ICON = "results"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.viewer = ResultViewer(desk)
        vertical(self.viewer, on=self, margins=(12, 14, 20, 12))
        for act, slot in self.viewer.acts().items():
            self.bind(act, slot)

    def arrive(self, place: dict[str, Any]) -> None:
        """Count anew when something was judged since; `view` opens a view by its name, `choose` makes its choices."""
        self.viewer.arrive(place)

    def focus_first(self) -> None:
        """Work begins in the table, or goes on in the list behind it."""
        self.viewer.focus_first()

    def rebind(self) -> None:
        """Take over keys that were changed since the page was made."""
        super().rebind()
        self.viewer.leaving.rebind()

    def on_change(self, change: Change) -> None:
        """What was judged, settled or imported makes the figures stale."""
        self.viewer.on_change(change)

    def stop(self) -> None:
        """Count nothing any more."""
        self.viewer.stop()
