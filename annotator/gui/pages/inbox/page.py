"""The Exchange page."""

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from annotator.actions.parcels import unpacking
from annotator.actions.project import people
from annotator.domain.experts.parcel import Arrival
from annotator.domain.experts.person import Role
from annotator.domain.texts.ordering import natural
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.inbox.handing_out import HandingOut
from annotator.gui.pages.inbox.intake import CAME, ArrivalsTree, ImportFiles
from annotator.gui.pages.inbox.outcomes import plain_code
from annotator.gui.pages.inbox.tray_pane import TrayPane
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.tabs import Tabs
from annotator.gui.widgets.basics import PlainLabel, column_of, horizontal, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.typed import search_field

LEAST_CODE = 4

# People: coordinators with twenty files in the mail. What annoys them elsewhere: merges by a typed name, imports that
# double or drop work without a word, no way to see beforehand what would happen, and nothing to answer the sender with.
TABS = ("Import", "Tray", "Received", "Hand out")
TAKE_IN, TRAY, RECEIVED, HAND_OUT = range(4)


class ExchangePage(Page):
    """Four tabs over the same parcels; their keys act on the one in view."""

    NAME = "Exchange"
    ICON = "import"
    HEARS = ("parcel", "tray", "assignment", "person", "import", "item", "setting")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.intake, self.tray, self.received = ImportFiles(desk), TrayPane(desk), Received(desk)
        self.out = HandingOut(desk)
        self.tabs = Tabs("Parts of the exchange")
        for words, pane in zip(TABS, (self.intake, self.tray, self.received, self.out), strict=True):
            self.tabs.addTab(pane, words)
        self.intake.tray_wanted.connect(lambda: self._turn_to(TRAY))
        self.tray.decided.connect(self._fill)
        self.tabs.currentChanged.connect(lambda _: self._fill())
        about = PlainLabel(
            "Tasks and returned work travel as files, by mail or on a USB stick. People are identified by "
            "id, never by a typed name; existing work is never overwritten.", "hint", wrap=True,
        )  # fmt: skip
        self.body = stacked(self.tabs, self._for_others())
        vertical(PlainLabel("Exchange", "title"), about, (self.body, 1), on=self, margins=(20, 16, 20, 12))
        self._bind()

    def _for_others(self) -> QWidget:
        nothing = EmptyState(
            "lock",
            "Only a coordinator exchanges files here",
            "Work as a coordinator of this project to import work or hand out tasks.",
        )
        nothing.add_action("Team…", lambda: self.desk.go("People"), primary=True)
        return nothing

    def _bind(self) -> None:
        self.bind("choose_work", self._choose)
        self.bind("submit", self._submit)
        self.bind("accept_work", lambda: self._in_tray(self.tray.take))
        self.bind("set_work_aside", lambda: self._in_tray(self.tray.set_aside))
        self.bind("other_pane", lambda: self._turn_to((self.tabs.currentIndex() + 1) % len(TABS)))

    def arrive(self, place: dict[str, Any]) -> None:
        """Show everything as it now is; look at the files that were brought along, or open a part by its name."""
        person = self.desk.ask(people.someone)
        self.body.setCurrentIndex(0 if person is not None and person.has(Role.COORDINATOR) else 1)
        if place.get("part") in TABS:
            self.tabs.setCurrentIndex(TABS.index(place["part"]))
        self._fill()
        if files := place.get("files"):
            self.look_at([Path(file) for file in files])

    def look_at(self, paths: list[Path]) -> None:
        self.tabs.setCurrentIndex(TAKE_IN)
        self.intake.look_at(paths)

    def focus_first(self) -> None:
        pane: Any = self.tabs.currentWidget()
        if self.body.currentIndex() == 0:
            pane.focus_first()

    def rebind(self) -> None:
        """Take over keys that were changed, also on the buttons."""
        super().rebind()
        for pane in (self.intake, self.tray, self.out):
            pane.rebind()

    def _fill(self) -> None:
        if self.body.currentIndex() == 1:
            return
        waiting, received = self.tray.fill(), self.received.fill()
        self.out.fill()
        self.tabs.setTabText(TRAY, f"Tray  {waiting}" if waiting else "Tray")
        self.tabs.setTabText(RECEIVED, f"Received  {received}" if received else "Received")

    def _turn_to(self, tab: int) -> None:
        self.tabs.setCurrentIndex(tab)
        self.focus_first()

    def _choose(self) -> None:
        if self.body.currentIndex() == 0 and not self.desk.project.readonly:
            self.tabs.setCurrentIndex(TAKE_IN)
            self.intake.choose()

    def _submit(self) -> None:
        acts = {TAKE_IN: self.intake.take_in, HAND_OUT: self.out.choose_all}
        act = acts.get(self.tabs.currentIndex())
        if act is not None and self.body.currentIndex() == 0:
            act()

    def _in_tray(self, act: Any) -> None:
        if self.tabs.currentIndex() == TRAY:
            act()


class Received(QWidget):
    """Imported packages with date and code, newest first."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._all: list[Arrival] = []
        self.search = search_field(
            "Find a person, a file or a receipt code…", "Find among the received files", self._narrow
        )
        self.tree = ArrivalsTree("Received files, newest first")
        self.copy = KeyButton("Copy the receipt code", "Ctrl+C", role="primary")
        self.copy.clicked.connect(self._copy)
        self.tree.itemSelectionChanged.connect(self._offer)
        self.about = PlainLabel(role="hint")
        nothing = EmptyState(
            "import",
            "Nothing was received yet",
            "Imported files are listed here with their receipt codes. Annotators see the same code when "
            "they write their file; if the codes match, the same file arrived.",
        )
        listed = column_of(self.search, (self.tree, 1), horizontal((self.about, 1), self.copy))
        self.body = stacked(nothing, listed)
        vertical(self.body, on=self, margins=(0, 10, 0, 0))

    def fill(self) -> int:
        """Read the list again; how many there are."""
        found = self._desk.ask(unpacking.received) or []
        self._all = sorted(found, key=_newest)
        self.body.setCurrentIndex(1 if found else 0)
        self._narrow()
        return len(found)

    def focus_first(self) -> None:
        self.search.setFocus()

    def _narrow(self) -> None:
        words = self.search.text().strip()
        found = [arrival for arrival in self._all if _fits(arrival, words)]
        self.tree.show_arrivals(found, CAME)
        self.about.setText(
            f"{len(found):,} of {len(self._all):,}" if words else f"{len(self._all):,} received"
        )
        self._offer()

    def _offer(self) -> None:
        chosen = len(self.tree.chosen())
        self.copy.setEnabled(chosen > 0)
        self.copy.set_words("Copy the receipt code" if chosen < 2 else f"Copy {chosen} receipt codes")

    def _copy(self) -> None:
        words = self.tree.copy_codes()
        self.about.setText(
            f"Copied: {words}" if "\n" not in words else "Copied: a line with name and code for each."
        )


def _newest(arrival: Arrival) -> Any:
    # What came in one go stands in the order of its files.
    minute = int(arrival.at.timestamp() // 60) if arrival.at else 0
    return -minute, natural(arrival.file), arrival.receipt


def _fits(arrival: Arrival, words: str) -> bool:
    if not words:
        return True
    code = plain_code(words)
    if len(code) >= LEAST_CODE and code in plain_code(arrival.receipt):
        return True
    return any(words.casefold() in name.casefold() for name in (arrival.person_name, arrival.file))
