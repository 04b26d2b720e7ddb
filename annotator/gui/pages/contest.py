"""The Contest page: two tasks side by side, ranked by one key, blind to seminar, model and rating."""

import time
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QStackedWidget, QWidget

from annotator.actions.contests import contest_labels
from annotator.actions.contests.contest_labels import ShownPair
from annotator.domain.judges.contest import STEPS
from annotator.domain.judges.pairs import FIRST, SECOND
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.layouts import StretchSpace, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel

# Experts who decide which tasks are worth keeping: hundreds of pairs, a key each, nothing that sways them.
ABOUT = "Which is the better task to give a research assistant, and how sure are you?"
SURE = ("a guess", "slightly", "fairly", "quite", "nearly certain")
SIDES: dict[str, str] = {FIRST: "The first task", SECOND: "The second task"}


def act_of(side: str, step: int) -> str:
    """The act by which a side is preferred with a confidence."""
    return f"rank_{side}_{step}"


class ContestPage(Page):
    """A pair, five buttons for each side, and how far one is; a wrong key is taken back."""

    NAME = "Contest"
    ICON = "judges"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._pair: ShownPair | None = None
        self._since = time.monotonic()
        self.texts = {side: self._text(name) for side, name in SIDES.items()}
        self.buttons = {
            (side, step): self._button(side, step) for side in SIDES for step in range(1, len(STEPS) + 1)
        }
        self.far = PlainLabel("", "hint")
        self.back = QPushButton("Take the last one back")
        self.back.clicked.connect(self._take_back)
        keys.tell(
            self.back, "toolTip", "Show the last pair again, as if it had not been ranked ({rank_back})"
        )
        self.bind("rank_back", self._take_back)
        self.empty = EmptyState("judges", "No pair is left to rank", "")
        self._lay_out()

    def _text(self, name: str) -> QPlainTextEdit:
        field = QPlainTextEdit(readOnly=True)
        field.setAccessibleName(name)
        field.setTabChangesFocus(True)
        return field

    def _button(self, side: str, step: int) -> QPushButton:
        act, sure = act_of(side, step), f"{STEPS[step - 1]:.2f}".removesuffix("0")
        button = QPushButton()
        keys.tell(button, "text", f"{{{act}}}  {sure}")
        button.setAccessibleName(f"{SIDES[side]} is better, {SURE[step - 1]} ({sure})")
        button.setToolTip(f"{SIDES[side]} is better: {SURE[step - 1]}")
        button.clicked.connect(partial(self._say, side, step))
        self.bind(act, partial(self._say, side, step))
        return button

    def _answers(self, side: str) -> FlowRow:
        row = FlowRow()
        for step in range(1, len(STEPS) + 1):
            row.addWidget(self.buttons[side, step])
        return row

    def _lay_out(self) -> None:
        pair, self.stack = QWidget(), QStackedWidget()
        columns = [
            vertical(PlainLabel(name, "subtitle"), (self.texts[side], 1), self._answers(side), spacing=8)
            for side, name in SIDES.items()
        ]
        row = horizontal((columns[0], 1), (columns[1], 1), spacing=20)
        foot = horizontal(self.far, StretchSpace(1), self.back)
        vertical((row, 1), foot, on=pair, margins=0, spacing=10)
        self.stack.addWidget(pair)
        self.stack.addWidget(self.empty)
        title: QLabel = PlainLabel("Contest of tasks", "title")
        vertical(
            title,
            PlainLabel(ABOUT, "hint", wrap=True),
            (self.stack, 1),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=8,
        )

    def arrive(self, place: dict[str, Any]) -> None:
        """Show the next pair of the person working."""
        self._show()

    def focus_first(self) -> None:
        """The keyboard belongs to the page: digits decide."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        found = self.desk.ask(contest_labels.next_pair)
        self._pair = found if isinstance(found, ShownPair) else None
        self.stack.setCurrentIndex(0 if self._pair else 1)
        done = 0 if found is None else found.done
        self.back.setEnabled(bool(done) and not self.desk.project.readonly)
        if self._pair is None:
            self.empty.show_words("No pair is left to rank", _why(done))
            return
        for side, task in ((FIRST, self._pair.first), (SECOND, self._pair.second)):
            self.texts[side].setPlainText(task.shown)
        self.far.setText(f"{self._pair.done:,} ranked, {self._pair.left:,} left")
        self._since = time.monotonic()

    def _say(self, side: str, step: int, _checked: bool = False) -> None:
        pair = self._pair
        if pair is None:
            return
        seconds = time.monotonic() - self._since
        if self.desk.ask(contest_labels.say, pair.first.id, pair.second.id, side, step, seconds) is not None:
            self._show()

    def _take_back(self, _checked: bool = False) -> None:
        if self.desk.ask(contest_labels.take_back):
            self._show()


def _why(done: int) -> str:
    if done:
        return f"You have ranked {done:,}. The standings are among the results."
    return "Tasks compete once their lists are submitted, or settled where several wrote one."
