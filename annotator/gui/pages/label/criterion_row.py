"""One criterion in the list: its words and state, and its controls while it is the one at hand."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout

from annotator.domain.judgement import Judgement
from annotator.domain.unit import Unit
from annotator.gui import theme
from annotator.gui.pages.label.criterion_details import CriterionDetails
from annotator.gui.pages.label.state_chip import StateChip
from annotator.gui.pages.label.verdicts import face, said
from annotator.gui.widgets.growing_edit import direction_of
from annotator.gui.widgets.icons import pixmap
from annotator.gui.widgets.plain import PlainLabel

# What stands beside a label: its field, icon and word.
BESIDE = (("quote", "quote", "evidence"), ("note", "note", "note"), ("flags", "flag", "flagged"))


class CriterionRow(QFrame):
    """A card; it takes the focus when it becomes the one at hand."""

    pressed = Signal(str)
    """A person went to this criterion, by the mouse or by Tab: its id."""
    details_made = Signal(str)

    def __init__(self, number: int, total: int, unit: Unit, values: tuple[str, ...], locked: str) -> None:
        super().__init__()
        self.unit = unit
        self._number, self._total, self._values, self._locked = number, total, values, locked
        self._label: Judgement | None = None
        self.details: CriterionDetails | None = None
        self.setProperty("role", "card")
        self.setProperty("current", False)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._build()
        self.show_label(None)
        theme.watch(self, lambda: self.show_label(self._label))

    def _build(self) -> None:
        self.chip, self.words = StateChip(), PlainLabel(self.unit.text, wrap=True)
        self.words.setLayoutDirection(direction_of(self.unit.text))
        self.weight = PlainLabel("", "hint")
        self.weight.hide()
        self._icons = [QLabel() for _ in BESIDE]
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(PlainLabel(f"{self._number}", "hint"))
        head.addWidget(self.weight)
        head.addStretch(1)
        for picture in self._icons:
            head.addWidget(picture)
        head.addWidget(self.chip)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(8, 7, 8, 8)
        self._column.setSpacing(4)
        self._column.addLayout(head)
        self._column.addWidget(self.words)

    def show_label(self, label: Judgement | None) -> None:
        """Show what is kept about the criterion, or that nothing is."""
        self._label = label
        value = said(label)
        shown = face(value, self._values)
        self.chip.show_state(shown.words, shown.icon, shown.state)
        for picture, (field, name, words) in zip(self._icons, BESIDE, strict=True):
            there = bool(label and getattr(label, field))
            picture.setVisible(there)
            picture.setToolTip(words.capitalize())
            if there:
                size = theme.current().px(14)
                picture.setPixmap(pixmap(name, size, "text-muted", self.devicePixelRatioF()))
        self.setAccessibleName(f"Criterion {self._number} of {self._total}, {shown.words}: {self.unit.text}")
        if self.details is not None:
            self.details.show_label(label, self._place(value))

    def show_weight(self, shown: bool) -> None:
        """Show how much the criterion counts; raters see it only when they ask for it."""
        weight = getattr(self.unit, "weight", None)
        self.weight.setText(f"weight {weight}" if shown and weight else "")
        self.weight.setVisible(bool(shown and weight))

    def set_current(self, current: bool) -> None:
        """Open the controls and stand out, or close them."""
        if current and self.details is None:
            self.details = CriterionDetails(self._locked)
            self.details.show_label(self._label, self._place(said(self._label)))
            self._column.addWidget(self.details)
            self.details_made.emit(self.unit.id)
        if self.details is not None:
            self.details.setVisible(current)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if current else Qt.FocusPolicy.ClickFocus)
        theme.set_role(self, current=current)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press anywhere on the card goes to the criterion."""
        super().mousePressEvent(event)
        self.pressed.emit(self.unit.id)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The one with the focus is the one at hand."""
        super().focusInEvent(event)
        self.pressed.emit(self.unit.id)

    def _place(self, value: str) -> int:
        known = (*self._values, "unsure")
        return known.index(value) if value in known else -1
