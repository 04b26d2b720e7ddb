"""Gaps panel: points that the guidelines leave open, collected while adjudicating."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from annotator.actions.consensus import remarks
from annotator.actions.consensus.remarks import Gap
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.push_button import push_button


class GapList(QWidget):
    """One line for each gap; Enter goes to its row."""

    chosen = Signal(str, str)
    """Adjudication and row."""

    def __init__(self, desk: Desk, bench: AdjudicationBench) -> None:
        super().__init__()
        self._desk = desk
        self._gaps: list[Gap] = []
        self.list = QListWidget()
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName("Guideline gaps")
        self.list.itemActivated.connect(self._choose)
        self.list.itemClicked.connect(self._choose)
        self.nothing = PlainLabel(
            "No gap yet. Where the guideline does not say how to decide, give the reason “Guideline gap” "
            "and describe what it leaves open.",
            "hint",
            wrap=True,
        )
        self.copy = push_button("Copy the list", self._copy)
        self.setFocusProxy(self.list)
        vertical(
            self.nothing, (self.list, 1), (self.copy, 0, Qt.AlignmentFlag.AlignRight), on=self, margins=0
        )

    def show_item(self) -> None:
        """List what was found in the whole project."""
        found = self._desk.ask(remarks.gaps) or []
        if found == self._gaps and self.list.count():
            return
        self._gaps = found
        self.list.clear()
        for gap in found:
            entry = QListWidgetItem(_words(gap))
            entry.setData(Qt.ItemDataRole.UserRole, (gap.adjudication_id, gap.ruling_id))
            self.list.addItem(entry)
        for part in (self.list, self.copy):
            part.setVisible(bool(found))
        self.nothing.setVisible(not found)

    def show_row(self) -> None:
        """The gaps are those of all rows."""

    def _choose(self, entry: QListWidgetItem) -> None:
        self.chosen.emit(*entry.data(Qt.ItemDataRole.UserRole))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(_words(gap) for gap in self._gaps))


def _words(gap: Gap) -> str:
    said = " ".join(gap.text.split()) or "not described yet"
    return f"Item {gap.item_key}, {gap.stage.value}: {said}"
