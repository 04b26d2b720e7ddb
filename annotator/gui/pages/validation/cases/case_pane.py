"""List of verdicts: search, and filter by whether they are done."""

from PySide6.QtCore import QModelIndex, Signal

from annotator.gui import theme
from annotator.gui.pages.validation.cases.case_delegate import CaseDelegate, height
from annotator.gui.pages.validation.cases.verdict_cases import (
    CASE_ROLE,
    CaseFilter,
    Key,
    VerdictCase,
    VerdictCases,
)
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.lists.sought_list import SoughtList


class CasePane(SoughtList[CaseFilter]):
    """Search, filters, and the list; `done` is the word for a finished case."""

    chosen = Signal(object)
    """The key of the case that a person went to."""

    def __init__(self, cases: VerdictCases, lists: str, done: str) -> None:
        table = LinesTable(lists, cases, stretched=0)
        table.horizontalHeader().hide()
        table.setAlternatingRowColors(False)
        # The delegate paints what lies under a line.
        table.setProperty("role", "list")
        super().__init__(
            CaseFilter,
            CaseFilter.ALL,
            finds="Find an item or a criterion by its words",
            lists=lists,
            view=table,
        )
        self.cases, self._done, self._table = cases, done, table
        self._open: Key = ()
        self.search.setPlaceholderText("Find a criterion…")
        self.list.setItemDelegate(CaseDelegate(self.list))
        self.narrowed.connect(self._narrow)
        self.entered.connect(self._choose)
        theme.watch(self, self._dress)
        self._dress()

    def _dress(self) -> None:
        self._table.verticalHeader().setDefaultSectionSize(height(self._table.fontMetrics()))

    def show_open(self, key: Key) -> None:
        """Mark the case that lies open, and bring it into view."""
        self._open = key
        if not self.cases.place(key).isValid():
            self._narrow()
        self.mark(self.cases.place(key))

    def refill(self) -> None:
        """Show the cases as they now are."""
        self._narrow()
        self.recount()

    def recount(self) -> None:
        """Say how much is done, on the filters and below the list."""
        self.filters.show_counts({show: self.cases.counted(show) for show in CaseFilter})
        self.left.setText(self.progress())

    def progress(self) -> str:
        """How many of how many are done, in words."""
        return (
            f"{self.cases.counted(CaseFilter.DONE):,} of {self.cases.counted(CaseFilter.ALL):,} {self._done}"
        )

    def _narrow(self) -> None:
        self.cases.narrow(self.filters.held, self.search.text(), self._open)
        self.mark(self.cases.place(self._open))

    def _choose(self, index: QModelIndex) -> None:
        case = index.data(CASE_ROLE)
        if isinstance(case, VerdictCase):
            self.chosen.emit(case.key)
