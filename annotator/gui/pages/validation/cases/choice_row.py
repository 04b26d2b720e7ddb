"""Labelled choices side by side, wrapped to the available width."""

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from annotator.gui import theme
from annotator.gui.widgets.bars.flow_row import FlowRow, grow_by_width
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.layouts import horizontal
from annotator.gui.widgets.plain import PlainLabel

_WIDEST = 260


class ChoiceRow(QWidget):
    """A box for each name; `changed` comes after each choice."""

    changed = Signal()

    def __init__(self, names: Mapping[str, str]) -> None:
        """`names` are what each choice is known by, with its words."""
        super().__init__()
        self.boxes: dict[str, QComboBox] = {}
        row = FlowRow(self, gap=10)
        grow_by_width(self)
        for name, words in names.items():
            box = self.boxes[name] = ChoiceBox()
            box.setAccessibleName(words)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            theme.scale(box.setMaximumWidth, _WIDEST)
            box.activated.connect(lambda _: self.changed.emit())
            row.addWidget(_named(words, box))

    def value(self, name: str) -> str:
        """What is chosen."""
        return str(self.boxes[name].currentData() or "")

    def offer(self, name: str, options: Iterable[tuple[str, str]], held: str) -> None:
        """Offer options, one of which holds, and tell nobody."""
        box = self.boxes[name]
        offer(box, options)
        place = box.findData(held)
        if place >= 0 and place != box.currentIndex():
            with QSignalBlocker(box):
                box.setCurrentIndex(place)

    def offer_all(self, options: Mapping[str, Sequence[tuple[str, str]]], held: Mapping[str, str]) -> None:
        """Offer options for several choices at once."""
        for name, some in options.items():
            self.offer(name, some, held[name])


def _named(words: str, box: QComboBox) -> QWidget:
    made = QWidget()
    horizontal(PlainLabel(words, "hint"), box, on=made, margins=0, spacing=5)
    return made
