"""The table of agreement: a row for each group and field, a column for each figure that any of them has."""

from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_figures import Row
from annotator.actions.agreement.agreement_report import BY_ADJUDICATOR, BY_MODEL, Report, Second
from annotator.domain.experts.agreement import Figure
from annotator.gui import theme
from annotator.gui.tables.rows import RIGHT, Index, RowsModel, resetting
from annotator.gui.widgets.plain import tooltip

GROUP, STAGE, FIELD, N, ITEMS, ALSO = "group", "stage", "field", "n", "items", "also"
# No row has two of these, so that they share a column where several are shown.
RARE = ("jaccard", "order_tau", "pearson")
HEADS = {
    STAGE: ("Stage", "Stage that was written or judged"),
    FIELD: (
        "Compared",
        "Basis of comparison: whether raters have the same units, or a field of matched units",
    ),
    N: ("n", "Pairs of values given by both raters; number of items where units are compared"),
    ITEMS: ("Items", "Number of items behind the figures"),
    ALSO: (
        "Also",
        "Overlap of references, order of sub-tasks, or correlation of ratings",
    ),
    BY_ADJUDICATOR: (
        "By the adjudicator's pairing",
        "A second figure, over adjudicated items, with units paired by the adjudicator. It never replaces "
        "the frozen one.",
    ),
    BY_MODEL: (
        "Model-assisted",
        "A second figure, over items with a judge's reply, with units paired by meaning by a model after "
        "the figures were frozen. It never replaces the frozen one.",
    ),
}
GROUP_HEADS = {
    "stage": "Stage",
    "pair": "Raters",
    "person": "Rater",
    "criterion": "Criterion",
    "item": "Item",
    "week": "Week frozen",
    "guideline": "Guideline",
    "self": "Rater",
    "votes": "Stage",
}


class AgreementModel(RowsModel[Row]):
    """Rows of one section of a report."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._report: Report | None = None
        self._given: list[Row] = []
        self._seconds: dict[str, Second] = {}

    def show(self, report: Report, rows: list[Row]) -> None:
        """Show other rows, in the order given."""
        with resetting(self):
            self._report, self._rows, self._given = report, list(rows), list(rows)
            stages = {row.stage for row in rows}
            by_stage = bool(rows) and rows[0].by in ("stage", "votes")
            figures = [name for name in words.TITLES if any(row.figure(name) for row in rows)]
            if len(rare := [name for name in figures if name in RARE]) > 1:
                figures = [*(name for name in figures if name not in rare), ALSO]
            several = [STAGE] if len(stages) > 1 and not by_stage else []
            items = [ITEMS] if any(len(row.items) != 1 for row in rows) else []
            self.columns = [GROUP, *several, FIELD, N, *items, *figures]
            self._seconds = {one.name: one for one in report.seconds if any(one.of(row) for row in rows)}
            self.columns += self._seconds

    def rows(self) -> list[Row]:
        """The rows in the order they are shown."""
        return list(self._rows)

    def place_of(self, row: Row) -> int:
        """Where a row stands, -1 when it does not."""
        return next((place for place, each in enumerate(self._rows) if each == row), -1)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """A column's title, and in its tip what the figure is."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        title, about = self._head(self.columns[section])
        if role == Qt.ItemDataRole.TextAlignmentRole and self.columns[section] in (N, ITEMS):
            return RIGHT
        if role == Qt.ItemDataRole.DisplayRole:
            return title
        return tooltip(about) if role == Qt.ItemDataRole.ToolTipRole and about else None

    def _head(self, name: str) -> tuple[str, str]:
        if name == GROUP:
            return GROUP_HEADS[self._rows[0].by] if self._rows else "", ""
        return HEADS.get(name) or (words.TITLES[name], words.ABOUT[name])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell in words; why a figure is undefined in the cell and its tip."""
        if not index.isValid() or self._report is None:
            return None
        row, name = self._rows[index.row()], self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(row, name)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self._tip(row, name))
        if role == Qt.ItemDataRole.TextAlignmentRole and name in (N, ITEMS):
            return RIGHT
        found = figure_in(row, name)
        if role == Qt.ItemDataRole.ForegroundRole and found is not None and found.value is None:
            return theme.token("text-muted")
        return None

    def _cell(self, row: Row, name: str) -> str:
        report = self._report
        assert report is not None
        match name:
            case "group":
                named = words.names(report, row)
                return f"{words.group(report, row)}  {named}".rstrip()
            case "stage":
                return row.stage.value
            case "field":
                return words.field(row)
            case "n":
                return f"{row.n:,}"
            case "items":
                return f"{len(row.items):,}"
        if name in self._seconds:
            return words.second(self._seconds[name], row)
        found = figure_in(row, name)
        if found is None:
            return ""
        return f"{words.TITLES[found.name]} {words.said(found)}" if name == ALSO else words.said(found)

    def _tip(self, row: Row, name: str) -> str:
        found = figure_in(row, name)
        if found is not None:
            remarks = "\n".join(words.remarks(found))
            parts = (
                words.reason(found),
                words.number(found, 3),
                f"n = {found.n:,}",
                words.spoken(found.method),
                remarks,
            )
            return "\n".join(part for part in parts if part and part != "–")
        if name in words.TITLES:
            return (
                "AC1 is shown where one value has more than 80 % of all judgements." if name == "ac1" else ""
            )
        return self._cell(row, name)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, undefined figures last; a column of -1 gives the rows' own order back."""
        self.layoutAboutToBeChanged.emit()
        held = [(index, self._rows[index.row()]) for index in self.persistentIndexList()]
        self._rows = list(self._given)
        if 0 <= column < len(self.columns):
            self._sort(self.columns[column], reverse=order == Qt.SortOrder.DescendingOrder)
        for index, row in held:
            self.changePersistentIndex(index, self.index(self.place_of(row), index.column()))
        self.layoutChanged.emit()

    def _sort(self, name: str, *, reverse: bool) -> None:
        known = [row for row in self._rows if self._worth(row, name) is not None]
        rest = [row for row in self._rows if self._worth(row, name) is None]
        if name not in (GROUP, STAGE, FIELD):
            known.sort(key=lambda row: self._worth(row, name) or 0.0, reverse=reverse)
        elif name == GROUP:
            known = known[::-1] if reverse else known
        else:
            known.sort(key=lambda row: self._cell(row, name), reverse=reverse)
        self._rows = known + rest

    def _worth(self, row: Row, name: str) -> float | None:
        if name in (GROUP, STAGE, FIELD):
            return 0.0
        if name in (N, ITEMS):
            return float(row.n if name == N else len(row.items))
        if name in self._seconds:
            pair = self._seconds[name].of(row)
            return words.main(pair[0]).value if pair else None
        found = figure_in(row, name)
        return found.value if found else None


def figure_in(row: Row, name: str) -> Figure | None:
    """The figure of a row that stands in a column."""
    if name == ALSO:
        return next((found for each in RARE if (found := row.figure(each))), None)
    return row.figure(name)
