"""Tabs of protocols that can be labelled here, with what is still missing."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QTabBar, QToolButton

from annotator.actions.labelling.label_cases import presentation_of
from annotator.gui.widgets.basics import horizontal, tooltip
from annotator.gui.widgets.elided_label import ElidedLabel


class ProtocolTabs(QFrame):
    """Hidden while there is nothing to choose."""

    picked = Signal(str)
    """A protocol was chosen by the person."""
    mending_wanted = Signal(str, dict)
    """What is missing is to be made good: on which page, and where on it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "side")
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Kinds of questions")
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.gap, self.mend = ElidedLabel("", "hint"), QToolButton()
        self.mend.clicked.connect(lambda _=False: self.mending_wanted.emit(*self._way))
        self._way: tuple[str, Mapping[str, str]] = ("", {})
        self._names: list[str] = []
        horizontal(self.tabs, (self.gap, 1), self.mend, on=self, margins=(8, 4, 8, 0), spacing=10)
        self.tabs.currentChanged.connect(self._tell)
        self.show_gaps((), "", {})
        self.hide()

    @property
    def names(self) -> Sequence[str]:
        return self._names

    def offer(self, protocols: Sequence[str], chosen: str) -> None:
        """Show these protocols, one of them in front; tells nobody."""
        blocked = self.tabs.blockSignals(True)
        if list(protocols) != self._names:
            self._names = list(protocols)
            while self.tabs.count():
                self.tabs.removeTab(0)
            for name in self._names:
                shown = presentation_of(name)
                self.tabs.setTabToolTip(self.tabs.addTab(shown.tab), tooltip(shown.about))
        self.tabs.setCurrentIndex(self._names.index(chosen))
        self.tabs.blockSignals(blocked)
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
        self.mend.setText(f"Go to {page}")
        self.mend.setVisible(bool(gaps))

    def _tell(self, place: int) -> None:
        if 0 <= place < len(self._names):
            self.picked.emit(self._names[place])
