"""Tabs of document kinds, each with this person's progress."""

from collections.abc import Collection, Mapping

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QTabBar

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS, WRITTEN
from annotator.gui import theme
from annotator.gui.pages.authoring.work_status import NONE, WorkStatus
from annotator.gui.widgets.icons import icon


class KindTabs(QTabBar):
    """One tab per kind; every coloured mark also has a word."""

    picked = Signal(object)
    """A Kind was chosen by the person."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Kinds of document")
        self.setExpanding(False)
        self.setDrawBase(False)
        self._standings: Mapping[Kind, WorkStatus] | None = None
        for kind in WRITTEN:
            self.addTab(KINDS[kind].title)
        self._telling = True
        self.currentChanged.connect(self._tell)

    @property
    def kind(self) -> Kind:
        return WRITTEN[self.currentIndex()]

    def show_kind(self, kind: Kind) -> None:
        """Bring a tab to the front; tells nobody."""
        self._telling = False
        self.setCurrentIndex(WRITTEN.index(kind))
        self._telling = True

    def offer(self, kinds: Collection[Kind]) -> None:
        """Show the tabs of these kinds alone."""
        self._telling = False
        for place, kind in enumerate(WRITTEN):
            self.setTabVisible(place, kind in kinds)
        self._telling = True

    def step(self, by: int) -> None:
        places = [place for place in range(len(WRITTEN)) if self.isTabVisible(place)]
        if self.currentIndex() in places:
            self.setCurrentIndex(places[(places.index(self.currentIndex()) + by) % len(places)])

    def show_standings(self, standings: Mapping[Kind, WorkStatus]) -> None:
        """Mark every tab with how far its document is; another wording of a unit marks none anew."""
        if standings != self._standings:
            self._standings = standings
            self.repaint_icons()

    def repaint_icons(self) -> None:
        standings, size = self._standings or {}, theme.current().px(16)
        self.setIconSize(QSize(size, size))
        for place, kind in enumerate(WRITTEN):
            words, standing = KINDS[kind], standings.get(kind, NONE)
            self.setTabText(place, f"{words.title}  {standing.units}" if standing.units else words.title)
            self.setTabIcon(place, icon(standing.icon, size, standing.colour) if standing.icon else QIcon())
            said = f"{words.title}: {standing.word}"
            said += f", {words.counted(standing.units)}" if standing.units else ""
            self.setTabToolTip(place, f"{said}.\n{words.what}")
            self.setAccessibleTabName(place, said)

    def _tell(self, place: int) -> None:
        if self._telling and place >= 0:
            self.picked.emit(WRITTEN[place])
