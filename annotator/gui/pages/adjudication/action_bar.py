"""The action bar of the Adjudicate page: rulings and acts with their keys, and how much is left."""

from PySide6.QtCore import Signal

from annotator.gui.review.ruling_words import LETTER_ACTS
from annotator.gui.widgets.bars.fitting_bar import Act, FittingBar
from annotator.gui.widgets.bars.key_button import KeyButton

RULINGS: tuple[Act, ...] = (
    ("take_a", "A", "", "Take what A wrote"),
    ("take_b", "B", "", "Take what B wrote"),
    ("take_c", "C", "", "Take what C wrote"),
    ("take_d", "D", "", "Take what D wrote"),
    ("take_both", "Both", "", "Keep both wordings"),
    ("write_own", "Own", "author", "Write your own wording"),
    ("drop_unit", "Drop", "trash", "Leave it out of the consensus"),
)
BESIDE: tuple[Act, ...] = (
    ("note", "Rationale", "note", "Explain the reason"),
    ("flag", "Gap", "flag", "Describe what the guideline leaves open"),
    ("new_row", "New row", "plus", "Add a unit that nobody wrote"),
)


class AdjudicationActionBar(FittingBar):
    """Buttons that announce the chosen act; some show less where there is little room."""

    LEVELS = 7
    asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._letters = 2
        self._agreed = 0
        for part in (RULINGS, BESIDE):
            for act, words, picture, hint in part:
                self._add(act, words, picture).set_hint(hint)
            self.row.addSpacing(8)
        self.row.addStretch(1)
        self.row.addWidget(self.progress)
        self._add("confirm_unanimous", "Confirm agreed rows", "question", "state-unconfirmed")
        self._add("next_open", "Next open", "")
        self._add("submit", "Close item", "", role="primary").set_hint(
            "Close this item and go to the next conflict"
        )

    def _add(self, act: str, words: str, picture: str, colour: str = "text", role: str = "") -> KeyButton:
        button = self.put(act, words, picture, colour, role)
        button.clicked.connect(lambda _=False: self.asked.emit(act))
        return button

    def show_item(self, letters: int, *, locked: bool) -> None:
        """Fit the buttons to an item of so many letters."""
        self._letters = letters
        for act, *_ in BESIDE:
            self.buttons[act].setEnabled(not locked)
        self.buttons["take_both"].set_words("Both" if letters == 2 else "All")
        self.buttons["submit"].set_words("Next conflict" if locked else "Close item")
        self.fit()

    def show_row(self, *, voting: bool, locked: bool) -> None:
        """While a vote is wanted its keys are those of the rulings, and no button may say otherwise."""
        for act, *_ in RULINGS:
            self.buttons[act].setEnabled(not locked and not voting)

    def show_progress(self, decided: int, rows: int, left: int, agreed: int, conflicts: int) -> None:
        """Say how far this item is, how many of its conflicts are left, and in how many items."""
        self._agreed = agreed
        words = f"{decided:,} of {rows:,} decided"
        words += f" · {left} to settle" if left else ""
        items = "1 item" if conflicts == 1 else f"{conflicts} items"
        self.progress.setText(words)
        self.progress.setToolTip(f"{words}; {items} in conflict")
        self.fit()

    def show_level(self, level: int) -> None:
        """Leave out what stands elsewhere too: the words first, the rulings last."""
        confirm = self.buttons["confirm_unanimous"]
        confirm.setVisible(self._agreed > 0)
        self.shrink(BESIDE, level)
        self.progress.setVisible(level < 3)
        confirm.set_words(f"Confirm {self._agreed} agreed" if level < 4 else f"{self._agreed}")
        self.buttons["next_open"].setVisible(level < 5)
        for place, (act, *_) in enumerate(RULINGS):
            there = place < self._letters or place >= len(LETTER_ACTS)
            self.buttons[act].setVisible(there and level < 6)
