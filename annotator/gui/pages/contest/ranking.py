"""Rank tab: two tasks side by side, ranked by one key, blind to seminar, model and rating."""

import time
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from annotator.actions.contests import contest_labels
from annotator.actions.contests.contest_labels import RankedPairs, ShownPair
from annotator.domain.judges.contest import STEPS
from annotator.domain.judges.pairs import FIRST, SECOND
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.basics import PlainLabel, column_of, horizontal, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.number_box import NumberBox

# Experts who decide which tasks are worth keeping: hundreds of pairs, a key each, nothing that sways them.
ABOUT = "Which is the better task to give a research assistant, and how sure are you?"
NEWS = (
    "The keys have changed.",
    "1 now says that the first task is better, nearly certain, and 5 that this is a guess; 6 to 0 are as before.",
)
FURTHER = (
    "The pairs agreed on are ranked. Further pairs still help: of your top {top:,}, {open:,} cannot be told from the "
    "one below, since their 95 % intervals overlap. Stop whenever you like."
)
SURE = ("a guess", "slightly", "fairly", "quite", "nearly certain")
SIDES: dict[str, str] = {FIRST: "The first task", SECOND: "The second task"}
TOP = "How many of the best tasks are to stand in a certain order; a tenth of all unless you say"
BACK = Command(
    "take_back", "Take the last one back", "undo", "Show the last pair again, as if it had not been ranked"
)


def act_of(side: str, step: int) -> str:
    """The act by which a side is preferred with a confidence."""
    return f"rank_{side}_{step}"


class RankingPart(PagePart):
    """A pair, five buttons for each side, and how far one is; a wrong key is taken back."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar((BACK,)))
        self._pair: ShownPair | None = None
        self._top = 0
        self._since = time.monotonic()
        steps = range(1, len(STEPS) + 1)
        self.texts = {side: self._text(name) for side, name in SIDES.items()}
        self.buttons = {(side, step): self._button(side, step) for side in SIDES for step in steps}
        ranked = {act_of(side, step): partial(self._say, side, step) for side in SIDES for step in steps}
        self.acts = {**ranked, "take_back": partial(desk.take_back, "Contest")}
        self.told = PlainLabel(role="strong", wrap=True)
        self.top = NumberBox(minimum=1, prefix="top ", keyboardTracking=False, toolTip=TOP)
        self.top.setAccessibleName("How many of the best tasks are to be in order")
        self.top.valueChanged.connect(lambda _: self._turn())
        self.top.lineEdit().returnPressed.connect(self.focus_first)
        self.empty = EmptyState("judges", "No pair is left to rank", "")
        self.stack = Stack(self._pairs(), self.empty)
        head = horizontal((self.told, 1), (self.top, 0, Qt.AlignmentFlag.AlignRight), spacing=10)
        self.lay_out(column_of(head, (self.stack, 1), spacing=8))

    def _text(self, name: str) -> QPlainTextEdit:
        field = QPlainTextEdit(readOnly=True)
        field.setProperty("role", "read")
        field.setAccessibleName(name)
        field.setTabChangesFocus(True)
        return field

    def _button(self, side: str, step: int) -> QPushButton:
        sure, confidence = SURE[step - 1], f"{STEPS[step - 1]:.2f}".removesuffix("0")
        button = QPushButton()
        keys.tell(button, "text", f"{{{act_of(side, step)}}}  {sure}")
        button.setAccessibleName(f"{SIDES[side]} is better, {sure}")
        button.setToolTip(f"{SIDES[side]} is better: {sure}, counted as {confidence}")
        button.clicked.connect(partial(self._say, side, step))
        return button

    def _answers(self, side: str) -> FlowRow:
        row, steps = FlowRow(), range(1, len(STEPS) + 1)
        for step in reversed(steps) if side == FIRST else steps:
            row.addWidget(self.buttons[side, step])
        return row

    def _pairs(self) -> QWidget:
        columns = [
            vertical(PlainLabel(name, "subtitle"), (self.texts[side], 1), self._answers(side), spacing=8)
            for side, name in SIDES.items()
        ]
        row = horizontal((columns[0], 1), (columns[1], 1), spacing=20)
        return column_of(PlainLabel(ABOUT, "hint", wrap=True), (row, 1), spacing=8)

    def focus_first(self) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def fill(self) -> None:
        """Show the pair that is being read while it is still to be ranked, otherwise the next one."""
        at = (self._pair.first.id, self._pair.second.id) if self._pair and not self.desk.turning else None
        found = self.desk.ask(contest_labels.next_pair, at, self._top)
        before, self._pair = self._pair, found if isinstance(found, ShownPair) else None
        self.stack.setCurrentIndex(0 if self._pair else 1)
        done = 0 if found is None else found.done
        self.bar.enable("take_back", done > 0 and not self.desk.project.readonly)
        left = f", {self._pair.left:,} left" if self._pair and self._pair.left else ""
        self.bar.say(f"{done:,} ranked{left}" if self._pair else "")
        self._tell(found)
        if self._pair is None:
            return
        for side, task in ((FIRST, self._pair.first), (SECOND, self._pair.second)):
            self.texts[side].setPlainText(task.shown)
        if before is None and keys.is_news("contest order") and done:
            self.answer.show_message("info", *NEWS, lasting=True)
        if before is None or (before.first, before.second) != (self._pair.first, self._pair.second):
            self._since = time.monotonic()

    def _tell(self, found: ShownPair | RankedPairs | None) -> None:
        """Beyond the pairs that were agreed on, say what further ones are for; where there are none, why."""
        top, pair = found.top if found else 0, self._pair
        self.told.setVisible(pair is not None and top > 0)
        self.top.setVisible(top > 0)
        blocked = self.top.blockSignals(True)
        if pair is not None:
            self.top.setMaximum(pair.among - 1)
            self.told.setText(FURTHER.format(open=pair.open, top=top))
        elif not isinstance(found, ShownPair):
            self.empty.show_words("No pair is left to rank", _why(found))
        self.top.setValue(top)
        self.top.blockSignals(blocked)

    def _turn(self) -> None:
        """Ask about another number of best tasks; the pair that is read gives way."""
        self._top, self._pair = self.top.value(), None
        self.fill()

    def _say(self, side: str, step: int, _checked: bool = False) -> None:
        pair = self._pair
        if pair is None:
            return
        seconds = time.monotonic() - self._since
        if self.desk.do(contest_labels.say, pair.first.id, pair.second.id, side, step, seconds) is None:
            self.fill()


def _why(found: RankedPairs | None) -> str:
    if found and found.done:
        return (
            f"You have ranked {found.done:,}; no further pair would tell more about the order of your top "
            f"{found.top:,}. The standings are among the results."
        )
    return "Tasks compete once their lists are submitted, or settled where several wrote one."
