"""Bar at the foot of a tab: commands with their keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton

from annotator.gui import keys
from annotator.gui.widgets.bars.fitting_bar import Act, FittingBar


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its act in the key table, words, icon, hint and role."""

    act: str
    words: str
    icon: str = ""
    hint: str = ""
    role: str = ""


class ActsBar(FittingBar):
    """Commands on the left and, after `progress`, the main ones on the right; `asked` names the chosen act."""

    asked = Signal(str)

    def __init__(self, left: Sequence[Command], right: Sequence[Command] = ()) -> None:
        super().__init__()
        self._words = {command.act: command.words for command in (*left, *right)}
        self._withheld: set[str] = set()
        self._left: list[Act] = [(command.act, command.words, command.icon, command.hint) for command in left]
        for command in left:
            self._add(command)
        self.progress.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.row.addWidget(self.progress, 1)
        for command in right:
            self._add(command)
        # What goes behind “…” where there is no room: from the left group's end, then all on the right but the last.
        self._spare = [command.act for command in (*reversed(left), *right[:-1])]
        self.LEVELS = 3 + len(self._spare)
        self.more = QToolButton()
        self.more.setText("…")
        self.more.setToolTip("More actions")
        self.more.setAccessibleName("More actions")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.more)
        menu.aboutToShow.connect(self._fill_menu)
        self.more.setMenu(menu)
        self.row.insertWidget(len(left), self.more)
        self.more.hide()

    def _fill_menu(self) -> None:
        menu = self.more.menu()
        menu.clear()
        for act in reversed(self._spare):
            button = self.buttons[act]
            if button.isHidden() and act not in self._withheld:
                entry = menu.addAction(
                    f"{self._words[act]}\t{keys.shown(act)}", partial(self.asked.emit, act)
                )
                entry.setEnabled(button.isEnabled())

    def _add(self, command: Command) -> None:
        button = self.put(command.act, command.words, command.icon, role=command.role)
        # It must be reached by the person who does not know the key.
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.set_hint(command.hint or command.words)
        button.clicked.connect(lambda: self.asked.emit(command.act))

    def enable(self, act: str, enabled: bool, why: str = "") -> None:
        """Offer a command, or say in its tip why it cannot be done now."""
        button = self.buttons[act]
        button.setEnabled(enabled)
        if why:
            button.set_hint(why)

    def offer(self, act: str, *, there: bool) -> None:
        """Have a command in the bar, or not at all."""
        (self._withheld.discard if there else self._withheld.add)(act)
        self.buttons[act].setVisible(there)
        self.fit()

    def set_words(self, act: str, words: str) -> None:
        self._words[act] = words
        self._left = [(each[0], words, *each[2:]) if each[0] == act else each for each in self._left]
        self.fit()

    def say(self, words: str) -> None:
        self.progress.setText(words)
        self.fit()

    def show_level(self, level: int) -> None:
        """Leave out what is said, then the keys of those at the left, then put one after the other away."""
        self.shrink(self._left, 1 if level > 1 else 0)
        self.progress.setVisible(level < 1)
        away = self._spare[: max(0, level - 2)]
        for act in self._spare:
            self.buttons[act].setVisible(act not in away and act not in self._withheld)
        self.more.setVisible(bool(away))
