"""The labels of a criterion as buttons with their keys: side by side, or one above the other where it is narrow."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from annotator.gui import keys
from annotator.gui.pages.label.locking import lock
from annotator.gui.pages.label.verdicts import VERDICTS
from annotator.gui.widgets import icons
from annotator.gui.widgets.key_button import KeyButton

ACROSS, DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom


class VerdictButtons(QWidget):
    """One button per label; the one that holds is down."""

    said = Signal(int)
    """A label, by its place in the order of the keys."""

    def __init__(self, locked: str) -> None:
        """`locked` says why nothing can be changed, if so."""
        super().__init__()
        self.buttons: list[KeyButton] = []
        self._box = QBoxLayout(ACROSS, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(6)
        for place, (act, face) in enumerate(VERDICTS):
            button = KeyButton(face.words, keys.sequences(act)[0])
            button.setCheckable(True)
            # Space on a focused button would be a label by a stray key; the digits do the same.
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            icons.put(button, face.icon, color=f"state-{face.state}")
            button.clicked.connect(lambda _=False, place=place: self.said.emit(place))
            lock(button, locked)
            self.buttons.append(button)
            self._box.addWidget(button)
        self._box.addStretch(1)

    def show_place(self, place: int) -> None:
        """Press down the label of a place, and only that; -1 releases all."""
        for number, button in enumerate(self.buttons):
            button.setChecked(number == place)

    def minimumSizeHint(self) -> QSize:
        """As narrow as the widest button."""
        widest = max(button.minimumSizeHint().width() for button in self.buttons)
        return QSize(widest, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side where there is room."""
        super().resizeEvent(event)
        wide = sum(button.sizeHint().width() + self._box.spacing() for button in self.buttons)
        wanted = ACROSS if wide <= self.width() else DOWN
        if self._box.direction() != wanted:
            self._box.setDirection(wanted)
            self.updateGeometry()
