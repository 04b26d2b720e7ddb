"""Figures tab: judges compared with people, with the rows behind every figure."""

from collections.abc import Mapping
from typing import Any

from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.validation.validation_viewer import ValidationViewer
from annotator.gui.widgets.bars.acts_bar import ActsBar
from annotator.gui.widgets.later import later


class FiguresPart(PagePart):
    """The tab around its viewer, with acts at the top as on the Results page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(()))
        self.viewer = ValidationViewer(desk)
        self.bar.hide()
        # The page keeps F6 for itself: it goes from part to part.
        self.acts = {act: slot for act, slot in self.viewer.acts().items() if act != "other_pane"}
        # A place to go to comes right after; counting what nobody will look at would only hold that up.
        self._soon = later(self, lambda: self.viewer.arrive({}), 0)
        desk.changed.connect(self.viewer.on_change)
        self.lay_out(self.viewer)

    def fill(self) -> None:
        """Count again when something moved since."""
        self._soon.start()

    def go(self, place: Mapping[str, Any]) -> None:
        """`view` opens a view by its name, `choose` makes its choices."""
        self.viewer.arrive(dict(place))

    def on_change(self, change: Change) -> None:
        """The viewer hears of every change itself, also while another part is in view."""

    def focus_first(self) -> None:
        """Work begins in the table."""
        self.viewer.focus_first()

    def rebind(self) -> None:
        """Take over keys that were changed."""
        super().rebind()
        self.viewer.leaving.rebind()

    def stop(self) -> None:
        """Count nothing any more."""
        super().stop()
        self._soon.stop()
        self.viewer.stop()
