"""Qt model of reports: a row per item, a column per system and mode."""

from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.items.report_lines import Column, ReportLine, Reports, ReportsLine
from annotator.actions.material.response_journal import MissingResponse
from annotator.domain.texts.counting import counted, usd
from annotator.gui import theme
from annotator.gui.review.judge_words import STATUS_WORDS
from annotator.gui.tables.rows import Index, RowsModel, resetting
from annotator.gui.widgets.basics import tooltip
from annotator.gui.widgets.icons import icon

END_TO_END = "end-to-end"
NONE = "–"
UNKNOWN = "not known"
# A report is written or not; words of judging would not fit.
FAILED = {"skipped": "Not asked for", "too_long": "Question too long"}
PARTS = {
    "claims": ("claim", "claims"),
    "plan": ("sub-task", "sub-tasks"),
    "references": ("reference", "references"),
}
# What the cells may tell, in the order of the choice.
LENGTH, DRAWN = "Length in characters", "Extracts"
TOLD = (LENGTH, "Time", "Report tokens", "Run tokens", "Cost", DRAWN)


class ReportsGrid(RowsModel[ReportsLine]):
    """`show_told` chooses what the cells show."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(("Item",), parent)
        self.told = TOLD[0]
        self._found = Reports((), (), {})
        self._lacking: Mapping[tuple[str, Column], Sequence[MissingResponse]] = {}

    def show(self, found: Reports, rows: Sequence[ReportsLine], lacking: Sequence[MissingResponse]) -> None:
        """Show these rows of what was found, and what did not come."""
        by_cell: dict[tuple[str, Column], list[MissingResponse]] = {}
        for one in lacking:
            by_cell.setdefault((one.item_id, (one.system, one.mode)), []).append(one)
        columns = ("Item", *(column_words(column) for column in found.columns))
        if columns == self.columns and [row.id for row in rows] == [row.id for row in self._rows]:
            self._found, self._lacking = found, by_cell
            self.take_over(rows, in_place=True)
            return
        with resetting(self):
            self._found, self._rows, self._lacking, self.columns = found, rows, by_cell, columns

    def show_told(self, told: str) -> None:
        self.told = told
        self.tell_all()

    def reports(self, row: int, column: int) -> tuple[ReportLine, ...]:
        """The reports of a cell; none for the items' own column."""
        if not column or not 0 <= row < len(self._rows):
            return ()
        return self._found.lines.get((self._rows[row].id, self._found.columns[column - 1]), ())

    def lacking(self, row: int, column: int) -> Sequence[MissingResponse]:
        """What was asked for in a cell and did not come."""
        if not column or not 0 <= row < len(self._rows):
            return ()
        return self._lacking.get((self._rows[row].id, self._found.columns[column - 1]), ())

    def column_of(self, column: int) -> Column | None:
        return self._found.columns[column - 1] if 0 < column < len(self.columns) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if not index.column():
            return self._of_item(self._rows[index.row()], role)
        found = self.reports(index.row(), index.column())
        failed = self.lacking(index.row(), index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return in_cell(found, self.told) if found else _failed(failed) or NONE
        if role == Qt.ItemDataRole.DecorationRole and failed:
            return icon("cross", theme.current().px(14), "state-disagree")
        if role == Qt.ItemDataRole.ForegroundRole and not found:
            return theme.token("state-disagree" if failed else "text-disabled")
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(explained(found, failed))
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """A system's name, its tooltip summing its column up; beside each row the item's key."""
        if orientation == Qt.Orientation.Vertical:
            key = self._rows[section].key
            told = {Qt.ItemDataRole.DisplayRole: key, Qt.ItemDataRole.ToolTipRole: tooltip(key)}
            return told.get(Qt.ItemDataRole(role))
        if role == Qt.ItemDataRole.ToolTipRole and orientation == Qt.Orientation.Horizontal and section:
            column = self._found.columns[section - 1]
            lines = [line for (_, one), found in self._found.lines.items() if one == column for line in found]
            return tooltip(f"{column_words(column)}\n{summed(lines, len(self._found.items))}")
        return super().headerData(section, orientation, role)

    def _of_item(self, item: ReportsLine, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return " ".join(item.question.split())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(item.question[:1000])
        return None


def column_words(column: Column) -> str:
    """A system, with the mode where gold is given to it."""
    system, mode = column
    return system if mode == END_TO_END else f"{system} ({mode})"


def in_cell(found: Sequence[ReportLine], told: str) -> str:
    """What a cell tells of its reports: of one as it is, of several the mean."""
    if told == DRAWN:
        return _parts(found[0]) if len(found) == 1 else f"{len(found):,} runs"
    words = _IN_CELL[told](found)
    return words if len(found) == 1 else f"{words} · {len(found):,} runs"


def explained(found: Sequence[ReportLine], failed: Sequence[MissingResponse]) -> str:
    several = len(found) > 1 or any(line.trial > 1 for line in found)
    lines = [f"Run {line.trial}: {_took(line)}" if several else _took(line) for line in found]
    lines += [f"Run {one.trial}: {failed_words(one.status).lower()}. {one.cause}" for one in failed]
    return "\n".join(lines) or "There is no report."


def summed(lines: Sequence[ReportLine], items: int) -> str:
    covered = len({line.item_id for line in lines})
    cost = [line.cost_usd for line in lines if line.cost_usd is not None]
    told = f"{counted(len(lines), 'report')} on {covered:,} of {counted(items, 'item')}"
    return f"{told}\n{counted(len(cost), 'cost')} known: ${fsum(cost):.2f}"


def seconds_words(value: float | None) -> str:
    """A duration as one reads it."""
    if value is None:
        return UNKNOWN
    if value < 100:
        return f"{value:.1f} s"
    return f"{round(value / 60)} min" if value < 6000 else f"{value / 3600:.1f} h"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _tokens(found: Sequence[int | None]) -> str:
    mean = _mean(found)
    return UNKNOWN if mean is None else f"{round(mean):,}"


def _cost(found: Sequence[ReportLine]) -> str:
    mean, part = (_mean([getattr(line, name) for line in found]) for name in ("cost_usd", "cost_part_usd"))
    return usd(mean) if mean is not None else UNKNOWN if part is None else f"at least {usd(part)}"


_IN_CELL: dict[str, Callable[[Sequence[ReportLine]], str]] = {
    LENGTH: lambda found: f"{round(_mean([line.characters for line in found]) or 0):,}",
    "Time": lambda found: seconds_words(_mean([line.latency_s for line in found])),
    "Report tokens": lambda found: _tokens([line.tokens for line in found]),
    "Run tokens": lambda found: _tokens([line.run_tokens for line in found]),
    "Cost": _cost,
}


def _took(line: ReportLine) -> str:
    """What one report took, as far as it is known."""
    known = {
        "time": seconds_words(line.latency_s),
        "report tokens": _with_unit(_tokens([line.tokens]), "report tokens"),
        "run tokens": _with_unit(_tokens([line.run_tokens]), "run tokens"),
        "cost": _cost([line]),
    }
    told = [words for words in known.values() if words != UNKNOWN]
    lacking = [name for name, words in known.items() if words == UNKNOWN]
    said = ", ".join((f"{line.characters:,} characters", *told))
    return f"{said}; not known: {', '.join(lacking)}." if lacking else f"{said}."


def _with_unit(words: str, unit: str) -> str:
    return words if words == UNKNOWN else f"{words} {unit}"


def _parts(line: ReportLine) -> str:
    told = [counted(line.parts[kind].units, *words) for kind, words in PARTS.items() if kind in line.parts]
    return ", ".join(told) or "nothing extracted"


def _failed(failed: Sequence[MissingResponse]) -> str:
    return failed_words(failed[0].status).lower() if failed else ""


def failed_words(status: str) -> str:
    """Why a report did not come, in a word or two."""
    return FAILED.get(status, STATUS_WORDS.get(status, status))
