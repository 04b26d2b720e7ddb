"""Choice of how many people answer each item: one, two, or more."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QToolButton,
    QWidget,
)

from annotator.gui.widgets.fields.number_box import NumberBox
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel

ALONE = "With one person there is no agreement and no adjudication."
PAIR = "Two answers make a pair: agreement is frozen when both are in."
SEVERAL = "Agreement is frozen once all of them have submitted."
MOST = 8
STRONG, BY_MOUSE = Qt.FocusPolicy.StrongFocus, Qt.FocusPolicy.ClickFocus


class OverlapChoice(QWidget):
    """Three buttons and, for more than two, a number."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._group = QButtonGroup(self)
        self.number = NumberBox()
        self.number.setRange(3, MOST)
        self.number.setAccessibleName("People per item")
        self.hint = PlainLabel("", "hint", wrap=True)
        self.same = QCheckBox("The same people write all of an item's documents")
        self.same.setChecked(True)
        row = horizontal(spacing=0)
        self.buttons = [
            self._button(words, place) for place, words in enumerate(("One", "Two", "More"), start=1)
        ]
        for button in self.buttons:
            row.addWidget(button)
        row.addSpacing(8)
        row.addWidget(self.number)
        row.addStretch(1)
        vertical(row, self.hint, self.same, on=self, margins=0, spacing=4)
        self._group.button(2).setChecked(True)
        for button in self.buttons:
            # Tab leads to the one that holds; arrows go on from there.
            button.setFocusPolicy(STRONG if button.isChecked() else BY_MOUSE)
        self._group.idToggled.connect(lambda _, on: self._tell() if on else None)
        self.number.valueChanged.connect(lambda _: self._tell())
        self.same.toggled.connect(lambda _: self._tell())
        self._show()

    def _button(self, words: str, place: int) -> QToolButton:
        button = QToolButton()
        button.setText(words)
        button.setCheckable(True)
        button.setProperty("role", "segment")
        button.setProperty("position", ("first", "", "last")[place - 1])
        self._group.addButton(button, place)
        return button

    def value(self) -> int:
        """How many people answer each item."""
        chosen = self._group.checkedId()
        return chosen if chosen < 3 else self.number.value()

    def same_people(self) -> bool:
        """Whether an item's people do all of its writing."""
        return self.same.isChecked()

    def at_most(self, people: int) -> None:
        """There are so many people."""
        self.number.setMaximum(max(3, min(MOST, people)))

    def _tell(self) -> None:
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        self.number.setVisible(self._group.checkedId() == 3)
        self.hint.setText({1: ALONE, 2: PAIR}.get(self.value(), SEVERAL))
