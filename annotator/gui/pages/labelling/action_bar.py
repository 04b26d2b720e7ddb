"""The action bar of the Label page: acts, and how much is left. Labels stand on the unit at hand."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QFrame, QTabBar, QToolButton, QWidget

from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.label_rows import USUAL
from annotator.actions.labelling.labels import LabelSheet
from annotator.domain.judges.protocol import CaseLayout
from annotator.domain.texts.words import counted
from annotator.gui.review.verdict_words import ZERO, face
from annotator.gui.session.page import way_to
from annotator.gui.widgets.bars import ActsBar, Command, KeyButton
from annotator.gui.widgets.basics import ElidedLabel, horizontal, show_tabs, with_properties

LOCKED = "This file is read-only; labels cannot be changed."
SEALED = "Your labels of this item are submitted; reopen them to change any."


def why_locked(sheet: LabelSheet | None, unit_id: str = "") -> str:
    """Why a unit's label cannot be changed now; empty when it can."""
    if sheet is None or sheet.sealed:
        return SEALED if sheet else ""
    given = sheet.given.get(unit_id, "")
    return f"This label was {given}: it is finished, and counts." if given else ""


def lock(widget: QWidget, why: str) -> None:
    """Disable a control and say why; an empty reason leaves it as it is."""
    if not why:
        return
    widget.setEnabled(False)
    if isinstance(widget, KeyButton):
        widget.set_hint(why)
    else:
        widget.setToolTip(why)


LEFT = (
    Command(ZERO, "Rest", "down"),
    Command("evidence", "Evidence", "quote", "Mark the words selected in the report as evidence"),
    Command("note", "Note", "note", "Write a note"),
    Command("flag", "Flag", "flag", "Flag it for a second look"),
)
RIGHT = (Command("next_open", "Next open"), Command("submit", "Done", role="primary"))
ENDS_REPORT = "Finish this report and go to the next"
ENDS_ALONE = "Submit these labels, so that they count, and go to the next"
ENDS_ITEM = "Submit your labels of this item; they are locked until you reopen them"


class LabellingActionBar(ActsBar):
    # A button that took the focus would take the place in the list away, and Space would press it.
    FOCUS = Qt.FocusPolicy.NoFocus

    def __init__(self, locked: str) -> None:
        """`locked` says why nothing can ever be changed here, if so."""
        super().__init__(LEFT, RIGHT)
        self._locked = locked
        for command in LEFT:
            lock(self.buttons[command.act], locked)
        self.show_protocol(USUAL)

    def show_protocol(self, protocol: str) -> None:
        self._protocol = protocol
        self.offer("evidence", there=presentation_of(protocol).layout is not CaseLayout.MATRIX)
        self.show_rest("")

    def show_rest(self, value: str) -> None:
        """Offer one verdict for all that is open beside the current unit, or none."""
        if value:
            words = face(value, self._protocol).words
            self.buttons[ZERO].set_words(f"Rest {words[:1].lower()}{words[1:]}")
        self.offer(ZERO, there=bool(value) and not self._locked)

    def show_progress(self, labelled: int, units: int, left: int) -> None:
        one = presentation_of(self._protocol).line
        here = f"{labelled:,} of {units:,} · " if units > 1 or one == "report" else ""
        self.say(f"{here}{f'{counted(left, one)} left' if left else f'no {one} left'}")

    def show_standing(self, *, locked: str, sealed: bool, last: bool, alone: bool) -> None:
        """Offer what can be done: nothing but going on while the labels are submitted; submitting at an item's end.

        `locked` says why the label at hand cannot be changed, if so; `alone`, that each report is submitted by itself.
        """
        for command in LEFT if not self._locked else ():
            self.enable(command.act, not locked, locked)
        self.buttons["submit"].set_hint(
            ENDS_ITEM if last and not sealed else ENDS_ALONE if alone else ENDS_REPORT
        )
        self.set_words("submit", "Next" if sealed else "Submit" if last or alone else "Done")


class ProtocolTabs(QFrame):
    picked = Signal(str)
    """A protocol was chosen by the person."""
    mending_wanted = Signal(str, dict)
    """What is missing is to be made good: on which page, and where on it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "side")
        self.tabs = with_properties(
            QTabBar(), accessibleName="Kinds of questions", expanding=False, drawBase=False
        )
        self.gap, self.mend = ElidedLabel("", "hint"), QToolButton()
        self.mend.clicked.connect(lambda _=False: self.mending_wanted.emit(*self._way))
        self._way: tuple[str, Mapping[str, str]] = ("", {})
        self._names: list[str] = []
        horizontal(self.tabs, (self.gap, 1), self.mend, on=self, margins=(8, 4, 8, 0), spacing=10)
        self.tabs.currentChanged.connect(self._tell)
        self.show_gaps((), "", {})
        self.hide()

    def offer(self, protocols: Sequence[str], chosen: str) -> None:
        """Show these protocols, one of them in front; tells nobody."""
        place = protocols.index(chosen)
        if list(protocols) != self._names:
            self._names = list(protocols)
            show_tabs(self.tabs, [(one.tab, one.about) for one in map(presentation_of, protocols)], place)
        with QSignalBlocker(self.tabs):
            self.tabs.setCurrentIndex(place)
        # The one in front is written in bold, and wider.
        self.tabs.updateGeometry()
        self.setVisible(len(self._names) > 1)

    def step(self, by: int) -> None:
        if self._names:
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + by) % len(self._names))

    def show_gaps(self, gaps: Sequence[str], page: str, place: Mapping[str, str]) -> None:
        """Say what cannot be asked although the rest can, with the way to fix it."""
        self._way = (page, place)
        self.gap.setText(" ".join(gaps))
        self.mend.setText(way_to(page))
        self.mend.setVisible(bool(gaps))

    def _tell(self, place: int) -> None:
        if 0 <= place < len(self._names):
            self.picked.emit(self._names[place])
