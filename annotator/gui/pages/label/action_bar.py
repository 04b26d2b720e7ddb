"""What never scrolls away: the labels and acts with their keys, and how much is left."""

from PySide6.QtCore import Qt, Signal

from annotator.gui.pages.label.locking import SEALED, lock
from annotator.gui.pages.label.verdicts import VERDICTS
from annotator.gui.widgets.fitting_bar import Act, FittingBar

BESIDE: tuple[Act, ...] = (
    ("evidence", "Evidence", "quote", "Mark the words selected in the report as evidence"),
    ("note", "Note", "note", "Write a note on this criterion"),
    ("flag", "Flag", "flag", "Flag this criterion for a second look"),
)
ENDS_REPORT = "Done with this report: go to the next"
ENDS_ITEM = "Submit your labels of this item; they are locked until you reopen them"


class ActionBar(FittingBar):
    """Buttons that tell which act was asked for; where there is little room, some show only their icon and key."""

    LEVELS = 5
    said = Signal(int)
    asked = Signal(str)

    def __init__(self, locked: str) -> None:
        """`locked` says why nothing can ever be changed here, if so."""
        super().__init__()
        self._locked = locked
        for place, (act, face) in enumerate(VERDICTS):
            button = self.put(act, face.words, face.icon, f"state-{face.state}")
            lock(button, locked)
            button.clicked.connect(lambda _=False, place=place: self.said.emit(place))
        self.row.addSpacing(10)
        for act, words, picture, hint in BESIDE:
            button = self.put(act, words, picture)
            button.set_hint(hint)
            lock(button, locked)
            button.clicked.connect(lambda _=False, act=act: self.asked.emit(act))
        self.row.addStretch(1)
        self.progress.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.row.addWidget(self.progress)
        for act, words, role in (("next_open", "Next open", ""), ("submit", "Done", "primary")):
            button = self.put(act, words, role=role)
            button.clicked.connect(lambda _=False, act=act: self.asked.emit(act))

    def show_progress(self, labelled: int, units: int, reports_left: int) -> None:
        """Say how far this report is and how many reports have open criteria."""
        reports = "1 report left" if reports_left == 1 else f"{reports_left} reports left"
        self.progress.setText(f"{labelled} of {units} · {reports if reports_left else 'no report left'}")
        self.fit()

    def show_standing(self, *, sealed: bool, last: bool) -> None:
        """Offer what can be done: nothing but going on while the labels are submitted; submitting at an item's end."""
        hints = {act: hint for act, _, _, hint in BESIDE} | {act: "" for act, _ in VERDICTS}
        for act, hint in hints.items() if not self._locked else ():
            self.buttons[act].setEnabled(not sealed)
            self.buttons[act].set_hint(SEALED if sealed else hint)
        submit = self.buttons["submit"]
        submit.set_words("Next" if sealed else "Submit" if last else "Done")
        submit.set_hint(ENDS_ITEM if last and not sealed else ENDS_REPORT)
        self.fit()

    def show_level(self, level: int) -> None:
        """Leave out what stands elsewhere too: the words first, the labels never."""
        self.shrink(BESIDE, level)
        self.progress.setVisible(level < 3)
        self.buttons["next_open"].setVisible(level < 4)
