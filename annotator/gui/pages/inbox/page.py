"""The Exchange page."""

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from annotator.actions.project import people
from annotator.domain.experts.person import Role
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.inbox.handing_out import HandingOut
from annotator.gui.pages.inbox.intake import ImportFiles
from annotator.gui.pages.inbox.received import Received
from annotator.gui.pages.inbox.tray_pane import TrayPane
from annotator.gui.widgets.bars.tabs import Tabs
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.layouts import stacked, vertical
from annotator.gui.widgets.plain import PlainLabel

# People: coordinators with twenty files in the mail. What annoys them elsewhere: merges by a typed name, imports that
# double or drop work without a word, no way to see beforehand what would happen, and nothing to answer the sender with.
TABS = ("Import", "Tray", "Received", "Hand out")
TAKE_IN, TRAY, RECEIVED, HAND_OUT = range(4)
SHOWN_KINDS = ("parcel", "tray", "assignment", "person", "import", "item", "setting")


class ExchangePage(Page):
    """Four tabs over the same parcels; their keys act on the one in view."""

    NAME = "Exchange"
    ICON = "import"

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
        """Show what taking these files in would do."""
        self.tabs.setCurrentIndex(TAKE_IN)
        self.intake.look_at(paths)

    def focus_first(self) -> None:
        """Work begins in the part in view."""
        pane: Any = self.tabs.currentWidget()
        if self.body.currentIndex() == 0:
            pane.focus_first()

    def on_change(self, change: Change) -> None:
        """What came and went shows at once."""
        if change.kind in SHOWN_KINDS and self.isVisible():
            self._fill()

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
