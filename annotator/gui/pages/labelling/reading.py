"""Arrangement of text and units: side by side, stacked, or with the report hidden."""

from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtWidgets import QWidget

from annotator.actions.labelling.label_cases import presentation_of
from annotator.domain.judges.presentation import CaseLayout
from annotator.gui import theme
from annotator.gui.widgets.bars.splitter import Splitter

ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
LEAST_REPORT, LEAST_UNITS, LEAST_STRIP = 260, 250, 136
STRIP_WITH_GUIDELINE = 260
REPORT = "label/report"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """An arrangement: its settings key, orientation and first sizes; `report` can be hidden."""

    name: str
    orientation: Qt.Orientation
    sizes: tuple[int, int]
    optional_report: bool = False


ARRANGEMENTS: dict[CaseLayout, Arrangement] = {
    CaseLayout.LIST: Arrangement("label/reading", ACROSS, (715, 395)),
    CaseLayout.MATRIX: Arrangement("label/reading-plan", ACROSS, (380, 640), optional_report=True),
    CaseLayout.PAIR: Arrangement("label/reading-pairs", DOWN, (10_000, 1)),
}


class ReadingSplitter(Splitter):
    """Two parts: the text, and the units with the guideline."""

    def __init__(self, report: QWidget, units: QWidget, guideline: QWidget) -> None:
        super().__init__("label/reading")
        self._report, self._guideline = report, guideline
        self._now = ARRANGEMENTS[CaseLayout.LIST]
        self._side = Splitter("label/side", DOWN, parts=(units, guideline), sizes=(420, 280), stretch=(1,))
        guideline.hide()
        self.addWidget(report)
        self.addWidget(self._side)
        self.setStretchFactor(0, 3)
        self.setStretchFactor(1, 2)
        self.setSizes(list(self._now.sizes))
        # Less than what they would like: large type must not push the window over the edge of the screen.
        report.setMinimumWidth(LEAST_REPORT)
        self._side.setMinimumWidth(LEAST_UNITS)

    def arrange(self, protocol: str) -> None:
        """Stand as a protocol asks for it, with the sizes it was left with."""
        wanted = ARRANGEMENTS[presentation_of(protocol).layout]
        if wanted.name != self._now.name:
            self._now = wanted
            self.rename(wanted.name)
            self.setOrientation(wanted.orientation)
            down = wanted.orientation == DOWN
            # Below two reports there is room for the guideline only beside the question.
            self._side.setOrientation(ACROSS if down else DOWN)
            self.setStretchFactor(1, 0 if down else 2)
            self._side.setMinimumHeight(0)
            stored = QSettings().value(f"splitter/{wanted.name}")
            if not (isinstance(stored, QByteArray) and self.restoreState(stored)):
                self.setSizes(list(wanted.sizes))
            if down:
                self._make_room()
        self._report.setVisible(not wanted.optional_report or QSettings().value(REPORT, False, bool) is True)

    def toggle_guideline(self) -> None:
        """Show the guideline beside the units, or put it away; below two reports it needs room to be read."""
        shown = self._guideline.isHidden()
        self._guideline.setVisible(shown)
        if self._now.orientation == DOWN:
            self._make_room()
            self.setSizes([10_000, 1])

    def _make_room(self) -> None:
        """What stands below two reports has its height, however long the guideline beside it."""
        least = LEAST_STRIP if self._guideline.isHidden() else STRIP_WITH_GUIDELINE
        self._side.setMinimumHeight(theme.current().px(least))

    def toggle_report(self) -> None:
        """Show the report beside a matrix, or put it away; elsewhere it always stands there."""
        if self._now.optional_report:
            shown = self._report.isHidden()
            QSettings().setValue(REPORT, shown)
            self._report.setVisible(shown)
