"""Which weights a criterion may have in this project, as the coordinator says it beside the rubric's guideline."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QWidget

from annotator.actions.authoring import criterion_weights
from annotator.domain.kinds.weights import HOW
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.layouts import horizontal

NO_LONGER_THAN = 160


class WeightsRow(QWidget):
    """A line for the allowed weights; only a coordinator can change it."""

    allowed = Signal(str)
    """The weights that are allowed from now on, in words."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.field, self.set = LineField(), QPushButton("Set")
        self.field.setMaximumWidth(NO_LONGER_THAN)
        self.field.setToolTip(HOW)
        caption = QLabel("Weights of &criteria:")
        caption.setBuddy(self.field)
        self.field.returnPressed.connect(self._allow)
        self.field.textChanged.connect(self._offer)
        self.set.clicked.connect(self._allow)
        horizontal(caption, self.field, self.set, on=self, margins=0, spacing=6)
        # A few numbers need no more room, however much there is.
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def show_allowed(self, *, writable: bool) -> None:
        """Show what is allowed now."""
        self.field.setText(criterion_weights.allowed(self._desk.project).text)
        self.field.setReadOnly(not writable)
        self.set.setVisible(writable)
        self._offer()

    def _offer(self) -> None:
        now = criterion_weights.allowed(self._desk.project).text
        self.set.setEnabled(self.field.text().strip() != now)

    def _allow(self) -> None:
        if self.set.isEnabled() and not self.field.isReadOnly():
            if self._desk.do(criterion_weights.allow, self.field.text()) is None:
                return
            self.show_allowed(writable=True)
            self.allowed.emit(self.field.text())
