"""Filters of the assignment board: words, stage, state, person."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.labelling import board
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.counting import counted
from annotator.gui.desk.naming import title
from annotator.gui.pages.people.board import INCOMPLETE, LOOKS, OVERDUE, WAITED_FOR, BoardFilter, BoardModel
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.later import later
from annotator.gui.widgets.plain import PlainLabel

SETTLE_MS = 80
ACROSS = {
    WAITED_FOR: ("clock", "state-incomplete"),
    OVERDUE: ("warning", "state-disagree"),
    INCOMPLETE: ("warning", "state-disagree"),
}


class BoardFilters(QWidget):
    """A search field, three choices, and the number of matching lines."""

    changed = Signal()

    def __init__(self, model: BoardModel) -> None:
        super().__init__()
        self._model = model
        self.search = LineField(placeholderText="Find an item or a person…", clearButtonEnabled=True)
        self.search.setAccessibleName("Find an item or a person")
        self.person_id = ""
        self.stage, self.state = ChoiceBox(), ChoiceBox()
        for combo, name, letters in (
            (self.stage, "Stage", 10),
            (self.state, "State", 16),
        ):
            combo.setAccessibleName(name)
            combo.keep_short(letters)
            combo.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.count = PlainLabel("", "hint")
        self._later = later(self, self.changed, SETTLE_MS)
        self.search.textChanged.connect(lambda _: self._later.start())
        self.setLayout(wrapping(self.search, self.stage, self.state, self.count))

    def narrowed(self) -> BoardFilter:
        """What is chosen now."""
        return BoardFilter(
            words=self.search.text(),
            person_id=self.person_id,
            stage=self.stage.currentData() or "",
            state=self.state.currentData() or "",
        )

    def fill(self, stages: Sequence[Stage]) -> None:
        """Offer these stages, and the states with how many lines each has."""
        offer(self.stage, [("All stages", ""), *((title(stage), stage.value) for stage in stages)])
        counted = {state: self._model.counted(state) for state in (*ACROSS, *board.STATES)}
        states = [(f"{state}  {count}", state) for state, count in counted.items() if count]
        offer(self.state, [("All states", ""), *states])
        for place, (_, state) in enumerate(states, start=1):
            self.state.setItemIcon(place, icon(*_look(state)))

    def choose_person(self, person_id: str) -> None:
        """Narrow to a person, or with an empty id to nobody."""
        if person_id != self.person_id:
            self.person_id = person_id
            self.changed.emit()

    def choose_state(self, state: str) -> None:
        """Narrow to a state."""
        self.state.setCurrentIndex(max(0, self.state.findData(state)))

    def clear(self) -> None:
        """Narrow to nothing."""
        self.search.clear()
        for combo in (self.stage, self.state):
            combo.setCurrentIndex(0)
        self.choose_person("")

    def show_count(self, shown: int, total: int) -> None:
        """Say how many lines are left."""
        self.count.setText(f"{shown:,} of {total:,}" if shown != total else counted(total, "piece"))


def _look(state: str) -> tuple[str, int, str]:
    name, colour = ACROSS.get(state) or LOOKS[state]
    return name, 15, colour
