"""Quotations of a unit: the beginning and page of each, linked to its place in the source."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QToolButton, QWidget

from annotator.domain.kinds.unit import Anchor
from annotator.gui.widgets import icons
from annotator.gui.widgets.layouts import StretchSpace, horizontal, vertical
from annotator.gui.widgets.reading.quote_button import QuoteButton


class AnchorChip(QWidget):
    """A quotation as a button."""

    def __init__(self) -> None:
        super().__init__()
        self.button = QuoteButton("chip", "Press to show it in the source.")
        self.remove = QToolButton()
        icons.put(self.remove, "close", 14)
        self.remove.setProperty("role", "tool")
        self.remove.setToolTip("Remove the quotation")
        self.remove.setAccessibleName("Remove the quotation")
        horizontal(self.button, self.remove, StretchSpace(1), on=self, margins=0, spacing=2)

    def show_anchor(self, anchor: Anchor) -> None:
        """Show a quotation."""
        self.button.show_quote(anchor.quote, anchor.place)


class AnchorChips(QWidget):
    """A unit's quotations, one below the other, by index from 0."""

    opened = Signal(int)
    removed = Signal(int)
    grown = Signal()
    """There are more than ever before: Tab has further stops."""

    def __init__(self) -> None:
        super().__init__()
        self.chips: list[AnchorChip] = []
        self._locked = False
        self._column = vertical(on=self, margins=0, spacing=2)
        self.hide()

    def show_anchors(self, anchors: Sequence[Anchor]) -> None:
        """Show quotations, or hide when there are none."""
        fresh = range(len(self.chips), len(anchors))
        for place in fresh:
            self._add(place)
        for chip, anchor in zip(self.chips, anchors, strict=False):
            chip.show_anchor(anchor)
        for place, chip in enumerate(self.chips):
            chip.setVisible(place < len(anchors))
        self.setVisible(bool(anchors))
        if fresh:
            self.grown.emit()

    def lock(self, locked: bool) -> None:
        """Keep the quotations where they are."""
        self._locked = locked
        for chip in self.chips:
            chip.remove.setVisible(not locked)

    def _add(self, place: int) -> None:
        chip = AnchorChip()
        chip.button.clicked.connect(partial(self.opened.emit, place))
        chip.remove.clicked.connect(partial(self.removed.emit, place))
        chip.remove.setVisible(not self._locked)
        self.chips.append(chip)
        self._column.addWidget(chip)
