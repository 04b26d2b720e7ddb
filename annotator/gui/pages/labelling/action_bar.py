"""The action bar of the Label page: labels and acts with their keys, and how much is left."""

from PySide6.QtCore import Qt, Signal

from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.label_rows import USUAL
from annotator.domain.judges.presentation import CaseLayout
from annotator.domain.texts.counting import counted
from annotator.gui.pages.labelling.units.locking import lock
from annotator.gui.review.verdicts import ACTS, OTHERS, ZERO, Face, face, faces, places
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.fitting_bar import Act, FittingBar

BESIDE: tuple[Act, ...] = (
    ("evidence", "Evidence", "quote", "Mark the words selected in the report as evidence"),
    ("note", "Note", "note", "Write a note"),
    ("flag", "Flag", "flag", "Flag it for a second look"),
)
ENDS_REPORT = "Finish this report and go to the next"
ENDS_ALONE = "Submit these labels, so that they count, and go to the next"
ENDS_ITEM = "Submit your labels of this item; they are locked until you reopen them"


class LabellingActionBar(FittingBar):
    """Buttons that announce the chosen act; some show only icon and key where there is little room."""

    LEVELS = 6
    said = Signal(int)
    asked = Signal(str)

    def __init__(self, locked: str) -> None:
        """`locked` says why nothing can ever be changed here, if so."""
        super().__init__()
        self._locked, self._here, self._rest = locked, "", ""
        self._protocol, self._places = USUAL, dict[str, int]()
        for act in (*ACTS, *OTHERS):
            button = self.put(act, "")
            lock(button, locked)
            button.clicked.connect(lambda _=False, act=act: self.said.emit(self._places[act]))
        self._put_asking(ZERO, "Rest")
        lock(self.buttons[ZERO], locked)
        self.row.addSpacing(10)
        for act, words, picture, hint in BESIDE:
            self._put_asking(act, words, picture)
            self.buttons[act].set_hint(hint)
            lock(self.buttons[act], locked)
        self.row.addStretch(1)
        self.progress.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.row.addWidget(self.progress)
        for act, words, role in (("next_open", "Next open", ""), ("submit", "Done", "primary")):
            self._put_asking(act, words, role=role)
        self.show_protocol(USUAL)

    def _put_asking(self, act: str, words: str, picture: str = "", role: str = "") -> None:
        button = self.put(act, words, picture, role=role)
        button.clicked.connect(lambda _=False: self.asked.emit(act))

    def show_protocol(self, protocol: str) -> None:
        """Offer the verdicts of another protocol."""
        self._protocol, self._places = protocol, places(protocol)
        # What labels the rest stands behind the answers; as the first of numbers it is one of them.
        numbered = ZERO in self._places
        self.row.insertWidget(0 if numbered else len(ACTS) + len(OTHERS), self.buttons[ZERO])
        if not numbered:
            icons.put(self.buttons[ZERO], "down", color="text")
        for act, one in self._faces().items():
            icons.put(self.buttons[act], one.icon, color=f"state-{one.state}")
            self.buttons[act].set_words(one.words)
        self.show_rest("")
        self._explain()
        self.fit()

    def _faces(self) -> dict[str, Face]:
        """Act → the answer that it gives."""
        known = faces(self._protocol)
        return {act: known[place] for act, place in self._places.items()}

    def show_rest(self, value: str) -> None:
        """Offer one verdict for all that is open beside the current unit, or none."""
        self._rest = value
        if value:
            self.buttons["say_rest"].set_words(f"Rest {_lower(face(value, self._protocol))}")
        self.fit()

    def show_progress(self, labelled: int, units: int, left: int) -> None:
        """Say how far this report is and how many lines of the queue have open units."""
        one = presentation_of(self._protocol).line
        here = f"{labelled:,} of {units:,} · " if units > 1 or one == "report" else ""
        self.progress.setText(f"{here}{f'{counted(left, one)} left' if left else f'no {one} left'}")
        self.fit()

    def show_standing(self, *, locked: str, sealed: bool, last: bool, alone: bool) -> None:
        """Offer what can be done: nothing but going on while the labels are submitted; submitting at an item's end.

        `locked` says why the label at hand cannot be changed, if so; `alone`, that each report is submitted by itself.
        """
        self._here = locked
        self._explain()
        submit = self.buttons["submit"]
        submit.set_words("Next" if sealed else "Submit" if last or alone else "Done")
        submit.set_hint(ENDS_ITEM if last and not sealed else ENDS_ALONE if alone else ENDS_REPORT)
        self.fit()

    def _explain(self) -> None:
        hints = {act: hint for act, _, _, hint in BESIDE}
        hints |= {ZERO: ""} | {act: one.hint for act, one in self._faces().items()}
        for act, hint in hints.items() if not self._locked else ():
            self.buttons[act].setEnabled(not self._here)
            self.buttons[act].set_hint(self._here or hint)

    def show_level(self, level: int) -> None:
        """Leave out what stands elsewhere too: the words first, the labels never, and their keys at last."""
        self.shrink(BESIDE, level)
        # So many numbers stand on the card of the current unit, too.
        shown = self._places if level < 5 or ZERO not in self._places else {}
        for act in (*ACTS, *OTHERS):
            self.buttons[act].setVisible(act in shown)
        for act in (*ACTS, "submit"):
            self.buttons[act].show_brief(level >= 5)
        self.buttons[ZERO].setVisible(ZERO in shown or (bool(self._rest) and not self._locked))
        if presentation_of(self._protocol).layout is CaseLayout.MATRIX:
            self.buttons["evidence"].hide()
        self.progress.setVisible(level < 3)
        self.buttons["next_open"].setVisible(level < 4)


def _lower(one: Face) -> str:
    return one.words[:1].lower() + one.words[1:]
