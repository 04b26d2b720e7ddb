"""Label buttons with their keys, wrapped to the available width."""

from collections.abc import Collection

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.gui import keys
from annotator.gui.pages.labelling.units.locking import lock
from annotator.gui.review.verdicts import answers, faces, places
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton


class VerdictButtons(QWidget):
    """One button per label; the current one is down."""

    said = Signal(int)
    """A label, by its place in the order of the keys."""

    def __init__(self, protocol: str, allowed: Collection[str], why: str, locked: str) -> None:
        """`allowed` are the values that may be given here, `why` no other; `locked` says why none can, if so."""
        super().__init__()
        self.buttons: list[KeyButton] = []
        row = FlowRow(self)
        acts = {place: act for act, place in places(protocol).items()}
        for place, (value, face) in enumerate(zip(answers(protocol), faces(protocol), strict=True)):
            button = KeyButton(face.words, keys.sequences(acts[place])[0] if place in acts else "")
            button.set_hint(face.hint)
            button.setCheckable(True)
            # Space on a focused button would be a label by a stray key; the digits do the same.
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            icons.put(button, face.icon, color=f"state-{face.state}")
            button.clicked.connect(lambda _=False, place=place: self.said.emit(place))
            lock(button, locked or ("" if value in allowed else why))
            self.buttons.append(button)
            row.addWidget(button)

    def show_place(self, place: int) -> None:
        """Press down the label of a place, and only that; -1 releases all."""
        for number, button in enumerate(self.buttons):
            button.setChecked(number == place)
