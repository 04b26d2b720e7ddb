"""The base class of the parts of a page."""

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.bars.acts_bar import ActsBar
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.basics import vertical


class PagePart(QWidget):
    """A tab of a page: messages above, body, bar below. `acts` maps acts of the key table to methods."""

    def __init__(self, desk: Desk, bar: ActsBar) -> None:
        super().__init__()
        self.desk, self.bar, self.answer = desk, bar, MessageBar()
        self.stopped = False
        """Whether the page is taken down: what comes home now must not ask the project any more."""
        self.acts: Mapping[str, Callable[[], object]] = {}
        bar.asked.connect(lambda act: self.acts[act]())

    def lay_out(self, body: QWidget) -> None:
        vertical((body, 1), self.bar, on=self, margins=(0, 8, 0, 0), spacing=8)
        self.answer.float_over(body, below=False)

    def fill(self) -> None:
        """Show everything as it now is."""

    def go(self, place: Mapping[str, Any]) -> None:
        """Go to a place in this part."""

    def on_change(self, change: Change) -> None:
        self.fill()

    def focus_first(self) -> None:
        """Put the keyboard where work in this part begins."""

    def rebind(self) -> None:
        self.bar.show_keys()

    def keep(self) -> None:
        """Keep what is being typed."""

    def stop(self) -> None:
        self.stopped = True
