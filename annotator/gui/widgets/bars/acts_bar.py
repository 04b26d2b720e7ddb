"""What never scrolls away at the foot of a part of a page: what can be done in it, with its keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton

from annotator.gui import keys
from annotator.gui.widgets.bars.fitting_bar import Act, FittingBar


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that can be done: the act of the key table, its words, its icon, what it does, and its looks."""

    act: str
    words: str
    icon: str = ""
    hint: str = ""
    role: str = ""


class ActsBar(FittingBar):
    """Deeds at the left and, after `progress`, the main ones at the right; `asked` names the act wanted."""

    asked = Signal(str)

    def __init__(self, left: Sequence[Deed], right: Sequence[Deed] = ()) -> None:
        super().__init__()
        self._words = {deed.act: deed.words for deed in (*left, *right)}
        self._withheld: set[str] = set()
        self._left: list[Act] = [(deed.act, deed.words, deed.icon, deed.hint) for deed in left]
        for deed in left:
            self._add(deed)
        self.progress.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.row.addWidget(self.progress, 1)
        for deed in right:
            self._add(deed)
        # What goes behind “…” where there is no room: from the left group's end, then all on the right but the last.
        self._spare = [deed.act for deed in (*reversed(left), *right[:-1])]
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

    def _add(self, deed: Deed) -> None:
        button = self.put(deed.act, deed.words, deed.icon, role=deed.role)
        # It must be reached by whoever does not know the key.
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.set_hint(deed.hint or deed.words)
        button.clicked.connect(lambda: self.asked.emit(deed.act))

    def enable(self, act: str, enabled: bool, why: str = "") -> None:
        """Offer a deed, or say in its tip why it cannot be done now."""
        button = self.buttons[act]
        button.setEnabled(enabled)
        if why:
            button.set_hint(why)

    def offer(self, act: str, *, there: bool) -> None:
        """Have a deed in the bar, or not at all."""
        (self._withheld.discard if there else self._withheld.add)(act)
        self.buttons[act].setVisible(there)
        self.fit()

    def set_words(self, act: str, words: str) -> None:
        """Call a deed otherwise."""
        self._words[act] = words
        self._left = [(each[0], words, *each[2:]) if each[0] == act else each for each in self._left]
        self.fit()

    def say(self, words: str) -> None:
        """Say something between the deeds."""
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
