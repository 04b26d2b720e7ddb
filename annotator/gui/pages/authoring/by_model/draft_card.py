"""One unit of a model's draft: its words, its basis, and the ways to accept it."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.diagnostics import Statement
from annotator.domain.kinds.inspirations import Inspiration
from annotator.domain.kinds.rubric import Criterion
from annotator.domain.kinds.tasks import Task
from annotator.domain.kinds.unit import Unit
from annotator.domain.texts.counting import counted
from annotator.gui import keys, theme
from annotator.gui.review.field_chips import field_chips
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.layouts import StretchSpace, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.reading.quote_button import QuoteButton


class DraftCard(QFrame):
    """A unit that may be accepted; an accepted one has no buttons."""

    entered = Signal(str)
    """The unit got the focus, by its id."""
    taken = Signal(str, bool)
    """Take the unit of this id, and go on writing in it if the second says so."""
    quote_wanted = Signal(object)
    stepped = Signal(int)
    """Go to the card below (1) or above (-1)."""

    def __init__(self, unit: Unit, number: int, *, taken: bool) -> None:
        super().__init__()
        self.unit, self.is_taken = unit, taken
        self.setProperty("role", "unit")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"{number}. {unit.text}{', taken' if taken else ''}")
        self.words = PlainLabel(unit.text, wrap=True)
        self.words.setLayoutDirection(direction_of(unit.text))
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.chips = Chips(wrap=True)
        self.chips.show_chips([*([Chip("taken", "check", "agreed")] if taken else []), *_about(unit)])
        self.take, self.edit = KeyButton("Take"), KeyButton("Take, edit", role="quiet")
        self.edit.set_hint("Take it and edit it")
        self.take.clicked.connect(lambda: self.taken.emit(unit.id, False))
        self.edit.clicked.connect(lambda: self.taken.emit(unit.id, True))
        self._lay_out(number)

    def _lay_out(self, number: int) -> None:
        column = vertical(self.words, self.chips, spacing=4)
        if self.unit.note:
            column.addWidget(PlainLabel(self.unit.note, "hint", wrap=True))
        for anchor in self.unit.anchors:
            quote = QuoteButton("chip", "Press to show it in the source.")
            quote.show_quote(anchor.quote)
            quote.clicked.connect(partial(self.quote_wanted.emit, anchor))
            row = horizontal(quote, StretchSpace(1))
            column.addLayout(row)
        if not self.is_taken:
            acts = FlowRow()
            acts.addWidget(self.take)
            acts.addWidget(self.edit)
            column.addLayout(acts)
        mark = PlainLabel(str(number), "unit-number")
        theme.scale(mark.setFixedWidth, 22)
        mark.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter)
        horizontal(mark, (column, 1), on=self, margins=(4, 8, 8, 8), spacing=4)

    def show_keys(self, take: str, edit: str) -> None:
        """Print keys on the buttons of the card at the cursor; without any on the others."""
        self.take.set_key(take)
        self.edit.set_key(edit)

    def mark_current(self, current: bool) -> None:
        """Show whether the keys act on this card."""
        if self.property("current") is not current:
            theme.set_role(self, current=current)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The keys act on this card from now on."""
        super().focusInEvent(event)
        self.entered.emit(self.unit.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows go from card to card; Enter takes this one."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in steps:
            self.stepped.emit(steps[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and keys.plain(event):
            self.take.click()
        else:
            super().keyPressEvent(event)


def _about(unit: Unit) -> list[Chip]:
    if isinstance(unit, Criterion):
        return [Chip(f"weight {unit.weight}"), *([Chip("tied to an insight")] if unit.insight_id else [])]
    if isinstance(unit, Statement):
        said = Chip("True", "check", "agreed") if unit.label else Chip("False", "cross", "disagree")
        return [said, Chip(unit.aspect.value.replace("_", " "))] if unit.aspect else [said]
    if isinstance(unit, Inspiration):
        return field_chips(Kind.INSPIRATIONS, unit)
    if isinstance(unit, Task):
        return [
            *field_chips(Kind.TASKS, unit),
            Chip(f"from {counted(len(unit.inspirations), 'inspiration')}"),
        ]
    return []
