"""Reports that models failed to write, by system and cause, with a retry button."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QTreeWidgetItem

from annotator.actions.material import response_journal
from annotator.actions.material.response_journal import MissingResponse
from annotator.domain.texts.counting import counted
from annotator.gui.pages.material.reports_grid import column_words, failed_words
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.lists.rows_tree import RowsTree, line
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.push_button import push_button

COLUMNS = ("Reports, number and cause",)
LEAST_HEIGHT = 120


class LackingList(QFrame):
    """Missing reports, grouped by system, mode and cause; hidden when there are none."""

    again_wanted = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self._groups: list[list[MissingResponse]] = []
        self.setProperty("role", "card")
        self.title = PlainLabel("Failed", "subtitle")
        self.tree = RowsTree("Failed reports", COLUMNS, (300,), stretched=0, nested=True)
        self.tree.setMinimumHeight(LEAST_HEIGHT)
        self.again = push_button("Retry these", self._ask)
        self.again.setToolTip("All failed reports of the selected system")
        vertical(horizontal((self.title, 1), self.again), (self.tree, 1), on=self)
        self.hide()

    def show_lacking(self, found: Sequence[MissingResponse]) -> None:
        """Show what is lacking now."""
        groups: dict[tuple[str, str, str], list[MissingResponse]] = {}
        for one in found:
            groups.setdefault((one.system, one.mode, one.status), []).append(one)
        row = self.tree.row()
        self._groups = list(groups.values())
        self.tree.clear()
        for group in self._groups:
            self.tree.addTopLevelItem(_group(group))
        self.tree.choose(max(0, min(row, len(self._groups) - 1)))
        self.title.setText(f"{counted(len(found), 'report')} failed")
        self.setVisible(bool(found))

    def enable(self, free: bool) -> None:
        """Nothing can be asked for while a run goes on."""
        self.again.setEnabled(free)

    def _ask(self) -> None:
        row = self.tree.row()
        if 0 <= row < len(self._groups):
            first = self._groups[row][0]
            alike = [
                one
                for group in self._groups
                for one in group
                if (one.system, one.mode) == (first.system, first.mode)
            ]
            self.again_wanted.emit(alike)


def _group(group: Sequence[MissingResponse]) -> QTreeWidgetItem:
    first = group[0]
    causes = response_journal.by_cause(group)
    why = " ".join(cause for _, cause in causes)
    words = failed_words(first.status)
    top = line((f"{column_words((first.system, first.mode))}: {len(group):,} × {words.lower()}. {why}",))
    for one in group:
        run = f", run {one.trial}" if one.trial > 1 else ""
        top.addChild(line((f"Item {one.item}{run}: {one.cause}",)))
    return top
