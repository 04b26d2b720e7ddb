"""What never scrolls away: the labels and acts with their keys, and how much is left."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy

from annotator.gui import keys
from annotator.gui.pages.label.locking import SEALED, lock
from annotator.gui.pages.label.verdicts import VERDICTS
from annotator.gui.widgets import icons
from annotator.gui.widgets.key_button import KeyButton
from annotator.gui.widgets.plain import PlainLabel

# Act of the key table, words, icon, what it does.
BESIDE = (
    ("evidence", "Evidence", "quote", "Mark the words selected in the report as evidence"),
    ("note", "Note", "note", "Write a note on this criterion"),
    ("flag", "Flag", "flag", "Flag this criterion for a second look"),
)
ENDS_REPORT = "Done with this report: go to the next"
ENDS_ITEM = "Submit your labels of this item; they are locked until you reopen them"


class ActionBar(QFrame):
    """Buttons that tell which act was asked for; where there is little room, some show only their icon and key."""

    said = Signal(int)
    asked = Signal(str)

    def __init__(self, locked: str) -> None:
        """`locked` says why nothing can ever be changed here, if so."""
        super().__init__()
        self.setProperty("role", "bar")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._locked = locked
        self.buttons: dict[str, KeyButton] = {}
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(10, 7, 10, 7)
        self._row.setSpacing(6)
        for place, (act, face) in enumerate(VERDICTS):
            button = self._add(act, face.words, face.icon, f"state-{face.state}", locked)
            button.clicked.connect(lambda _=False, place=place: self.said.emit(place))
        self._row.addSpacing(10)
        for act, words, picture, hint in BESIDE:
            button = self._add(act, words, picture, "text", locked)
            button.set_hint(hint)
            lock(button, locked)
            button.clicked.connect(lambda _=False, act=act: self.asked.emit(act))
        self._row.addStretch(1)
        self.progress = PlainLabel("", "hint")
        self.progress.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(self.progress)
        for act, words, role in (("next_open", "Next open", ""), ("submit", "Done", "primary")):
            button = self._add(act, words, "", role, locked="")
            button.clicked.connect(lambda _=False, act=act: self.asked.emit(act))

    def _add(self, act: str, words: str, picture: str, look: str, locked: str) -> KeyButton:
        button = KeyButton(words, keys.sequences(act)[0], role="" if picture else look)
        # A button that took the focus would take the place in the list away, and Space would press it.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if picture:
            icons.put(button, picture, color=look)
        lock(button, locked)
        self.buttons[act] = button
        self._row.addWidget(button)
        return button

    def show_progress(self, labelled: int, units: int, reports_left: int) -> None:
        """Say how far this report is and how many reports have open criteria."""
        reports = "1 report left" if reports_left == 1 else f"{reports_left} reports left"
        self.progress.setText(f"{labelled} of {units} · {reports if reports_left else 'no report left'}")
        self._fit()

    def show_standing(self, *, sealed: bool, last: bool) -> None:
        """Offer what can be done: nothing but going on while the labels are submitted; submitting at an item's end."""
        hints = {act: hint for act, _, _, hint in BESIDE} | {act: "" for act, _ in VERDICTS}
        for act, hint in hints.items() if not self._locked else ():
            self.buttons[act].setEnabled(not sealed)
            self.buttons[act].set_hint(SEALED if sealed else hint)
        submit = self.buttons["submit"]
        submit.set_words("Next" if sealed else "Submit" if last else "Done")
        submit.set_hint(ENDS_ITEM if last and not sealed else ENDS_REPORT)
        self._fit()

    def show_keys(self) -> None:
        """Print the keys as they now are."""
        for act, button in self.buttons.items():
            button.set_key(keys.sequences(act)[0])
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """High enough for a button, as narrow as may be."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the buttons to another width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Leave out, one after the other, what stands elsewhere too, until the rest fits."""
        for level in range(5):
            self._show_beside(named=level < 1, shown=level < 2)
            self.progress.setVisible(level < 3)
            self.buttons["next_open"].setVisible(level < 4)
            self._row.activate()
            if self._row.sizeHint().width() <= self.width():
                break

    def _show_beside(self, *, named: bool, shown: bool) -> None:
        for act, words, *_ in BESIDE:
            button = self.buttons[act]
            button.set_words(words if named else "")
            button.setAccessibleName(f"{words}, key {keys.shown(act)}")
            button.setVisible(shown)
