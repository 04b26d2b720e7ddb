"""Reports tab: system by item, present and missing, and the order of more."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import fsum
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QTreeWidgetItem, QWidget

from annotator.actions.items import materials
from annotator.actions.items.materials import Column, ReportLine, Reports, ReportsLine, Thing
from annotator.actions.material import responding
from annotator.actions.material.responding import MissingResponse
from annotator.actions.project.file import Project
from annotator.domain.common import counted, grouped, usd
from annotator.gui import theme
from annotator.gui.pages.material.sources_view import REPORT_FIELDS, SYSTEM_FIELDS, MetadataForm
from annotator.gui.pages.material.writing_form import WritingForm
from annotator.gui.review import sheets
from annotator.gui.review.sheets import CellsModel, Index
from annotator.gui.review.verdict_words import STATUS_WORDS
from annotator.gui.session.page import TabPart
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import Fold, KeyButton, wrapping
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    RoleFrame,
    Stack,
    StretchSpace,
    check_box,
    column_of,
    horizontal,
    later,
    push_button,
    tooltip,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import LinesTable, RowsTree, line
from annotator.gui.widgets.fields import ChoiceBox, search_field, together
from annotator.gui.widgets.splitter import Splitter

END_TO_END = "end-to-end"
NONE = "–"
# The maximum number of letters of a system's name in a title.
LONGEST = 28
UNKNOWN = "not known"
# Reports are written, not judged: their own words for these statuses.
FAILED = {"skipped": "Not asked for", "too_long": "Question too long"}
PARTS = {
    "claims": ("claim", "claims"),
    "plan": ("sub-task", "sub-tasks"),
    "references": ("reference", "references"),
}
# What the cells can show, in the order of the list.
LENGTH, EXTRACTS = "Length in characters", "Extracts"
FIGURES = (LENGTH, "Time", "Report tokens", "Run tokens", "Cost", EXTRACTS)


QUESTION: "sheets.Column[ReportsLine]" = sheets.Column(
    "Item", lambda item: item.question, tip=lambda item: item.question[:1000]
)


class ReportsGrid(CellsModel[ReportsLine]):
    """The table of items by systems; `show_figure` selects what the cells show."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((QUESTION,), parent)
        self.figure = FIGURES[0]
        self._reports = Reports((), (), {})
        self._lacking: Mapping[tuple[str, Column], Sequence[MissingResponse]] = {}

    def show_reports(
        self, reports: Reports, rows: Sequence[ReportsLine], lacking: Sequence[MissingResponse]
    ) -> None:
        same = reports.columns == self._reports.columns and [row.id for row in rows] == [
            row.id for row in self._rows
        ]
        self._reports = reports
        self._lacking = grouped(((one.item_id, (one.system, one.mode)), one) for one in lacking)
        if same:
            self.take_over(rows, in_place=True)
        else:
            self.show(rows, (QUESTION, *map(self._column, reports.columns)))

    def show_figure(self, figure: str) -> None:
        self.figure = figure
        self.tell_all()

    def reports(self, row: int, column: int) -> tuple[ReportLine, ...]:
        """The reports of a cell; none for the items' own column."""
        item, of = self.at(row), self.column_of(column)
        return self._reports.lines.get((item.id, of), ()) if item and of else ()

    def lacking(self, row: int, column: int) -> Sequence[MissingResponse]:
        item, of = self.at(row), self.column_of(column)
        return self._lacking.get((item.id, of), ()) if item and of else ()

    def column_of(self, column: int) -> Column | None:
        return self._reports.columns[column - 1] if 0 < column < len(self.columns) else None

    def _column(self, column: Column) -> sheets.Column[ReportsLine]:
        def of(item: ReportsLine) -> tuple[Sequence[ReportLine], Sequence[MissingResponse]]:
            return self._reports.lines.get((item.id, column), ()), self._lacking.get((item.id, column), ())

        def words(item: ReportsLine) -> str:
            result, failed = of(item)
            missing = failed_words(failed[0].status).lower() if failed else NONE
            return in_cell(result, self.figure) if result else missing

        def look(item: ReportsLine) -> tuple[str, str]:
            result, failed = of(item)
            return ("cross", "state-disagree") if failed else ("", "text" if result else "text-disabled")

        # The full name is in the tooltip.
        title = column_words(column)
        short = f"{title[:LONGEST]}…" if len(title) > LONGEST else title
        return sheets.Column(
            short, words, tip=lambda item: explained(*of(item)), look=look, number=True, side=14
        )

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's data; figures have the colour of text, also where another run failed."""
        if role == Qt.ItemDataRole.ForegroundRole and self.reports(index.row(), index.column()):
            return None
        return super().data(index, role)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """A system's name, with a summary of its column as tooltip; beside each row the item's key."""
        if orientation == Qt.Orientation.Vertical:
            key = self._rows[section].key
            values = {Qt.ItemDataRole.DisplayRole: key, Qt.ItemDataRole.ToolTipRole: tooltip(key)}
            return values.get(Qt.ItemDataRole(role))
        if role == Qt.ItemDataRole.ToolTipRole and (column := self.column_of(section)) is not None:
            lines = [
                line for (_, one), result in self._reports.lines.items() if one == column for line in result
            ]
            return tooltip(f"{column_words(column)}\n{summed(lines, len(self._reports.items))}")
        return super().headerData(section, orientation, role)


def column_words(column: Column) -> str:
    """A system, with its mode unless it works end to end."""
    system, mode = column
    return system if mode == END_TO_END else f"{system} ({mode})"


def in_cell(lines: Sequence[ReportLine], figure: str) -> str:
    """The text of a cell: the figure of a single report, or the mean of several."""
    if figure == EXTRACTS:
        return _parts(lines[0]) if len(lines) == 1 else f"{len(lines):,} runs"
    words = _IN_CELL[figure](lines)
    return words if len(lines) == 1 else f"{words} · {len(lines):,} runs"


def explained(report_lines: Sequence[ReportLine], failed: Sequence[MissingResponse]) -> str:
    several = len(report_lines) > 1 or any(line.trial > 1 for line in report_lines)
    lines = [f"Run {line.trial}: {_took(line)}" if several else _took(line) for line in report_lines]
    lines += [
        f"Run {response.trial}: {failed_words(response.status).lower()}. {response.cause}"
        for response in failed
    ]
    return "\n".join(lines) or "There is no report."


def summed(lines: Sequence[ReportLine], items: int) -> str:
    covered = len({line.item_id for line in lines})
    cost = [line.cost_usd for line in lines if line.cost_usd is not None]
    summary = f"{counted(len(lines), 'report')} on {covered:,} of {counted(items, 'item')}"
    return f"{summary}\n{counted(len(cost), 'cost')} known: ${fsum(cost):.2f}"


def seconds_words(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if value < 100:
        return f"{value:.1f} s"
    return f"{round(value / 60)} min" if value < 6000 else f"{value / 3600:.1f} h"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _tokens(counts: Sequence[int | None]) -> str:
    mean = _mean(counts)
    return UNKNOWN if mean is None else f"{round(mean):,}"


def _cost(lines: Sequence[ReportLine]) -> str:
    mean, part = (_mean([getattr(line, name) for line in lines]) for name in ("cost_usd", "cost_part_usd"))
    return usd(mean) if mean is not None else UNKNOWN if part is None else f"at least {usd(part)}"


_IN_CELL: dict[str, Callable[[Sequence[ReportLine]], str]] = {
    LENGTH: lambda reports: f"{round(_mean([line.characters for line in reports]) or 0):,}",
    "Time": lambda reports: seconds_words(_mean([line.latency_s for line in reports])),
    "Report tokens": lambda reports: _tokens([line.tokens for line in reports]),
    "Run tokens": lambda reports: _tokens([line.run_tokens for line in reports]),
    "Cost": _cost,
}


def _took(line: ReportLine) -> str:
    known = {
        "time": seconds_words(line.latency_s),
        "report tokens": _with_unit(_tokens([line.tokens]), "report tokens"),
        "run tokens": _with_unit(_tokens([line.run_tokens]), "run tokens"),
        "cost": _cost([line]),
    }
    costs = [words for words in known.values() if words != UNKNOWN]
    lacking = [name for name, words in known.items() if words == UNKNOWN]
    summary = ", ".join((f"{line.characters:,} characters", *costs))
    return f"{summary}; not known: {', '.join(lacking)}." if lacking else f"{summary}."


def _with_unit(words: str, unit: str) -> str:
    return words if words == UNKNOWN else f"{words} {unit}"


def _parts(line: ReportLine) -> str:
    part_counts = [
        counted(line.parts[kind].units, *words) for kind, words in PARTS.items() if kind in line.parts
    ]
    return ", ".join(part_counts) or "nothing extracted"


def failed_words(status: str) -> str:
    """Why a report is missing, in a word or two."""
    return FAILED.get(status, STATUS_WORDS.get(status, status))


COLUMNS = ("Reports, number and cause",)
LEAST_HEIGHT = 120

KEY_WIDTH, ITEM_WIDTH, CELL_WIDTH, PARTS_WIDTH = 138, 230, 92, 225
FORM_WIDTH = 350
EVERY_MS = 1500
NOTHING = (
    "No reports yet",
    "A report is a system's answer to an item. Import existing reports, or have a model write them.",
)


class ReportsView(TabPart):
    """The Reports tab: the grid on the left with details of the current cell; the order form on the right."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._reports = Reports((), (), {})
        self._lacking: Sequence[MissingResponse] = ()
        self._systems: Sequence[dict[str, Any]] = ()
        # An answer may still arrive after the window has closed the file.
        self.model = ReportsGrid(self)
        self.grid = LinesTable(
            "Reports by item and system",
            self.model,
            stretched=0,
            cells=True,
            moved=self._show_cell,
            opened=self._activate,
        )
        self.grid.verticalHeader().show()
        with_properties(
            self.grid.verticalHeader(),
            maximumWidth=theme.current().px(KEY_WIDTH),
            textElideMode=Qt.TextElideMode.ElideMiddle,
        )
        self.form, self.lacking = WritingForm(session), LackingList()
        self.of_system = MetadataForm(session, Thing.SYSTEM, "About the system", SYSTEM_FIELDS)
        self.of_reports = MetadataForm(session, Thing.RESPONSE, "Where the report comes from", REPORT_FIELDS)
        self.all_reports = check_box("All reports of this system", self._show_origin)
        self.form.came.connect(self.session.tell_material)
        self.form.run.progressed.connect(self._progressed)
        self.lacking.again_wanted.connect(self.form.again)
        self._refill = later(self, self.fill, EVERY_MS)
        self.writing = Fold("Have a model write reports", self.form)
        self.origin = Fold(
            "About the system and its reports", self.of_system, self.of_reports, self.all_reports, spacing=12
        )
        right = (self._cell(), self.writing, (self.lacking, 1), self.origin, StretchSpace(0))
        area = PlainArea("The report, and writing more", column_of(*right, margins=(0, 0, 4, 0), spacing=12))
        parts = Splitter(
            "material-reports",
            parts=(self._left(), area),
            sizes=(740, FORM_WIDTH + 20),
            stretch=(1,),
            least=(0, FORM_WIDTH),
        )
        vertical((parts, 1), on=self, margins=(0, 10, 0, 0))
        self.form.answer.float_over(parts)
        self.acts = {
            "start_run": partial(self.writing.press, self.form.start),
            "find": self.search.seek,
            "read_report": self.read,
        }

    def _left(self) -> QWidget:
        self.search = search_field("Find an item…", "Find an item", self._narrow)
        self.figure = ChoiceBox(accessibleName="Content of the cells")
        self.figure.addItems(list(FIGURES))
        self.figure.currentTextChanged.connect(self._tell)
        self.open_only = check_box("Only items without a report", self._narrow)
        top = wrapping(self.search, self.open_only, together("Show", self.figure))
        self.count = PlainLabel(role="hint", wrap=True)
        self._nothing = EmptyState(
            "folder", *NOTHING, actions=[("Import…", lambda: self.session.go("Import"))]
        )
        self._no_match = EmptyState("search", "No matches", "Remove a word or the filter to see more.")
        self._body = Stack(self.grid, self._nothing, self._no_match)
        return column_of(top, self.count, (self._body, 1), margins=(0, 0, 8, 0), spacing=8)

    def _cell(self) -> QWidget:
        self.cell, self.about = PlainLabel(role="strong", wrap=True), PlainLabel(role="hint", wrap=True)
        self.open = KeyButton("Read the report and its extracts", act="read_report", press=self.read)
        self.foot = with_properties(QFrame(), role="card")
        vertical(self.cell, self.about, horizontal(self.open, StretchSpace(1)), on=self.foot)
        return self.foot

    def fill(self) -> None:
        self._refill.stop()
        self.session.ask_later(self._show, _read)

    def focus_first(self) -> None:
        """Focus the grid, or the button for writing reports if there are none."""
        (self.grid if self._reports.lines else self.writing.button).setFocus(Qt.FocusReason.OtherFocusReason)

    def read(self) -> None:
        if result := self._cell_reports():
            self.session.go("Material", item_id=result[0].item_id, response_id=result[0].id)

    def _show(self, answer: tuple[Reports, list[MissingResponse], list[dict[str, Any]]]) -> None:
        self._reports, self._lacking, self._systems = answer
        self.of_system.suggest("group", materials.group_names(self._systems))
        self._narrow()
        reports = self._reports
        systems = list(dict.fromkeys(system for system, _ in reports.columns))
        summary = f"{counted(reports.count, 'report')} of {counted(len(systems), 'system')}"
        summary += f" on {counted(len(reports.items), 'item')}."
        if reports.lacking and reports.count:
            verb = "is" if reports.lacking == 1 else "are"
            summary += f" {counted(reports.lacking, 'cell')} of the grid {verb} empty."
        without = (reports.left_out.sentence, reports.left_out.not_counted)
        self.count.setText(" ".join(filter(None, (summary, *without))))
        self.lacking.show_lacking(self._lacking)
        self.lacking.again.setEnabled(not self.form.run.running and not self.session.project.readonly)
        self.form.offer(systems, [item.key for item in reports.items], reports.left_out)

    def _narrow(self) -> None:
        rows = [
            item
            for item in self._reports.items
            if self.search.finds(f"{item.key} {item.question} {item.question_type}") and self._is_open(item)
        ]
        place = self.grid.currentIndex()
        cell = (place.row(), place.column())
        self.model.show_reports(self._reports, rows, self._lacking)
        self._size()
        nothing = not self._reports.columns
        self._body.setCurrentWidget(self._nothing if nothing else self.grid if rows else self._no_match)
        self.count.setVisible(not nothing)
        self.origin.setVisible(not nothing)
        self.foot.setVisible(not nothing and bool(rows))
        if rows and not self.grid.currentIndex().isValid():
            row = max(0, min(cell[0], len(rows) - 1))
            column = max(1, min(cell[1], len(self.model.columns) - 1))
            self.grid.setCurrentIndex(self.model.index(row, column))
        self._show_cell()

    def _is_open(self, item: ReportsLine) -> bool:
        if not self.open_only.isChecked():
            return True
        return any((item.id, column) not in self._reports.lines for column in self._reports.columns)

    def _size(self) -> None:
        least = PARTS_WIDTH if self.model.figure == EXTRACTS else CELL_WIDTH
        self.grid.widths = {0: ITEM_WIDTH} | dict.fromkeys(range(1, len(self.model.columns)), least)
        self.grid.fit()

    def _tell(self, figure: str) -> None:
        self.model.show_figure(figure)
        self._size()

    def _cell_reports(self) -> Sequence[ReportLine]:
        index = self.grid.currentIndex()
        return self.model.reports(index.row(), index.column())

    def _show_cell(self) -> None:
        index = self.grid.currentIndex()
        item = self.model.at(index.row())
        column = self.model.column_of(index.column())
        result = self._cell_reports()
        failed = self.model.lacking(index.row(), index.column())
        self.open.setEnabled(bool(result))
        self._show_origin()
        self.form.choose(item.key if item else "")
        if item is None:
            return
        if column is None:
            parts = ", ".join(f"{part.words()} ({kind})" for kind, part in item.parts.items())
            self.cell.setText(f"Item {item.key}")
            summary = (
                f"{item.question_type or 'No question type'}, {counted(item.sources, 'source')} with text"
            )
            self.about.setText(f"{summary}{f'; {parts}' if parts else ''}.")
            return
        self.cell.setText(f"{column_words(column)} on item {item.key}")
        self.about.setText("\n".join([explained(result, failed), *self._origin(result)]))

    def _show_origin(self) -> None:
        """Show the metadata of the column's system, and of the cell's reports or all of that system in that mode."""
        column = self.model.column_of(self.grid.currentIndex().column())
        cell = self._cell_reports()
        own = [line for (_, of), lines in self._reports.lines.items() if of == column for line in lines]
        system = next((row for row in self._systems if column and row["name"] == column[0]), None)
        self.of_system.show_things((system["id"],) if system else (), system or {})
        chosen = own if self.all_reports.isChecked() else list(cell)
        shown = cell or own
        self.of_reports.show_things([line.id for line in chosen], shown[0].model_dump() if chosen else {})
        self.all_reports.setEnabled(bool(own))

    def _origin(self, report_lines: Sequence[ReportLine]) -> list[str]:
        lines = [
            f"{kind.capitalize()}: {part.words()}, by {part.whose}."
            for line in report_lines[:1]
            for kind, part in line.parts.items()
        ]
        origin = self.session.ask(responding.origin_of, report_lines[0].id) if report_lines else None
        if origin is not None:
            lines += [f"Written here by {origin.returned_model or origin.requested_model}.", *origin.remarks]
        return lines

    def _activate(self, index: QModelIndex) -> None:
        if index.column():
            self.read()

    def _progressed(self, _line: dict[str, Any]) -> None:
        if not self._refill.isActive():
            self._refill.start()


def _read(project: Project) -> tuple[Reports, list[MissingResponse], list[dict[str, Any]]]:
    return materials.reports(project), responding.lacking(project), materials.systems(project)


class LackingList(RoleFrame):
    """Missing reports, grouped by system, mode and cause; hidden if there are none."""

    again_wanted = Signal(list)

    def __init__(self) -> None:
        super().__init__("card")
        self._groups: list[list[MissingResponse]] = []
        self.title = PlainLabel("Failed", "subtitle")
        self.tree = with_properties(
            RowsTree("Failed reports", COLUMNS, (300,), stretched=0, nested=True), minimumHeight=LEAST_HEIGHT
        )
        self.again = push_button(
            "Retry these", self._ask, toolTip="All failed reports of the selected system"
        )
        vertical(horizontal((self.title, 1), self.again), (self.tree, 1), on=self)
        self.hide()

    def show_lacking(self, responses: Sequence[MissingResponse]) -> None:
        row = self.tree.row()
        self._groups = [*grouped(((one.system, one.mode, one.status), one) for one in responses).values()]
        self.tree.show_lines(map(_group, self._groups), max(0, min(row, len(self._groups) - 1)))
        self.title.setText(f"{counted(len(responses), 'report')} failed")
        self.setVisible(bool(responses))

    def _ask(self) -> None:
        if (chosen := self.tree.line_of(self._groups)) is not None:
            first = chosen[0]
            alike = [
                response
                for group in self._groups
                for response in group
                if (response.system, response.mode) == (first.system, first.mode)
            ]
            self.again_wanted.emit(alike)


def _group(group: Sequence[MissingResponse]) -> QTreeWidgetItem:
    first = group[0]
    causes = responding.by_cause(group)
    why = " ".join(cause for _, cause in causes)
    words = failed_words(first.status)
    top = line((f"{column_words((first.system, first.mode))}: {len(group):,} × {words.lower()}. {why}",))
    for response in group:
        run = f", run {response.trial}" if response.trial > 1 else ""
        top.addChild(line((f"Item {response.item}{run}: {response.cause}",)))
    return top
