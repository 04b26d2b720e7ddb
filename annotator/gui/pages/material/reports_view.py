"""Reports tab: system by item, present and missing, and ordering more."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QTreeWidgetItem,
    QWidget,
)

from annotator.actions.items import metadata, report_lines
from annotator.actions.items.metadata import Thing
from annotator.actions.items.report_lines import ReportLine, Reports, ReportsLine
from annotator.actions.material import response_journal
from annotator.actions.material.response_journal import MissingResponse
from annotator.actions.project.file import Project
from annotator.domain.texts.counting import counted
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.material import reports_grid
from annotator.gui.pages.material.metadata_form import REPORT_FIELDS, SYSTEM_FIELDS, MetadataForm
from annotator.gui.pages.material.reports_grid import ReportsGrid, column_words, failed_words
from annotator.gui.pages.material.writing_form import WritingForm
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    stacked,
    vertical,
)
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.fields.labelled import together
from annotator.gui.widgets.fields.typed import search_field
from annotator.gui.widgets.later import later
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.lists.rows_tree import RowsTree, line
from annotator.gui.widgets.plain_area import PlainArea

COLUMNS = ("Reports, number and cause",)
LEAST_HEIGHT = 120

KEY_WIDTH, ITEM_WIDTH, CELL_WIDTH, PARTS_WIDTH = 120, 230, 92, 225
FORM_WIDTH = 350
EVERY_MS = 1500
NOTHING = (
    "No reports yet",
    "A report is a system's answer to an item. Import existing reports, or have a model write them.",
)


class ReportsView(QWidget):
    """The grid on the left with details of the current cell; the order form on the right."""

    came = Signal()
    read_wanted = Signal(str, str)
    """Show this report, by its item and its id, with what was drawn from it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._found = Reports((), (), {})
        self._lacking: Sequence[MissingResponse] = ()
        self._systems: Sequence[dict[str, Any]] = ()
        # An answer may still come when the window has given the file back.
        self._stopped = False
        self.model = ReportsGrid(self)
        self.grid = LinesTable("Reports by item and system", self.model, stretched=0, cells=True)
        self.grid.selectionModel().currentChanged.connect(lambda *_: self._show_cell())
        self.grid.activated.connect(self._activate)
        self.grid.verticalHeader().show()
        self.grid.verticalHeader().setMaximumWidth(theme.current().px(KEY_WIDTH))
        self.grid.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)
        self.form, self.lacking = WritingForm(desk), LackingList()
        self.of_system = MetadataForm(desk, Thing.SYSTEM, "About the system", SYSTEM_FIELDS)
        self.of_reports = MetadataForm(desk, Thing.RESPONSE, "Where the report comes from", REPORT_FIELDS)
        self.all_reports = QCheckBox("All reports of this system")
        self.all_reports.toggled.connect(lambda _: self._show_origin())
        self.form.came.connect(self.came)
        self.form.run.progressed.connect(self._progressed)
        self.lacking.again_wanted.connect(self.form.again)
        self._refill = later(self, self.fill, EVERY_MS)
        self._lay_out()

    def _lay_out(self) -> None:
        inner = QWidget()
        vertical(
            self.form, (self.lacking, 1), self.of_system, self.of_reports, self.all_reports, StretchSpace(0), on=inner,
            margins=(0, 0, 4, 0),
        )  # fmt: skip
        area = PlainArea("Writing reports", inner)
        theme.scale(area.setMinimumWidth, FORM_WIDTH)
        parts = Splitter(
            "material-reports", parts=(self._left(), area), sizes=(740, FORM_WIDTH + 20), stretch=(1,)
        )
        vertical((parts, 1), on=self, margins=(0, 10, 0, 0))
        self.form.answer.float_over(parts)

    def _left(self) -> QWidget:
        self.search = search_field("Find an item…", "Find an item", self._narrow)
        self.told = ChoiceBox()
        self.told.setAccessibleName("Content of the cells")
        self.told.addItems(list(reports_grid.TOLD))
        self.told.currentTextChanged.connect(self._tell)
        self.open_only = QCheckBox("Only items without a report")
        self.open_only.toggled.connect(lambda _: self._narrow())
        top = wrapping(self.search, self.open_only, together("Show", self.told))
        self.count = PlainLabel(role="hint", wrap=True)
        self._nothing = EmptyState("folder", *NOTHING)
        self._nothing.add_action("Import…", lambda: self._desk.go("Import"), primary=True)
        self._no_match = EmptyState("search", "No matches", "Remove a word or the filter to see more.")
        self._body = stacked(self.grid, self._nothing, self._no_match)
        self.cell = PlainLabel(role="strong", wrap=True)
        self.about = PlainLabel(role="hint", wrap=True)
        self.open = KeyButton("Read the report and its extracts", keys.shown("read_report"))
        self.open.clicked.connect(self.read)
        self.foot = QFrame()
        self.foot.setProperty("role", "card")
        horizontal(
            (vertical(self.cell, self.about), 1), (self.open, 0, Qt.AlignmentFlag.AlignTop), on=self.foot
        )
        return column_of(top, self.count, (self._body, 1), self.foot, margins=(0, 0, 8, 0), spacing=8)

    def fill(self) -> None:
        self._refill.stop()
        self._desk.ask_later(self._show, _read)

    def focus_first(self) -> None:
        """Work begins in the grid, or where reports are written while there are none."""
        goal: QWidget = self.grid if self._found.lines else self.form.system
        goal.setFocus(Qt.FocusReason.OtherFocusReason)

    def seek(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def read(self) -> None:
        """Show the report at the cursor, with what was drawn from it."""
        found = self._cell_reports()
        if found:
            self.read_wanted.emit(found[0].item_id, found[0].id)

    def stop(self) -> None:
        self._stopped = True
        self._refill.stop()
        self.form.stop()

    def rebind(self) -> None:
        self.form.rebind()
        self.open.set_key(keys.shown("read_report"))

    def _show(self, found: tuple[Reports, list[MissingResponse], list[dict[str, Any]]]) -> None:
        if self._stopped:
            return
        self._found, self._lacking, self._systems = found
        self.of_system.suggest("group", metadata.group_names(self._systems))
        self._narrow()
        reports = self._found
        systems = list(dict.fromkeys(system for system, _ in reports.columns))
        told = f"{counted(reports.count, 'report')} of {counted(len(systems), 'system')}"
        told += f" on {counted(len(reports.items), 'item')}."
        if reports.lacking and reports.count:
            told += f" {counted(reports.lacking, 'cell')} of the grid {'is' if reports.lacking == 1 else 'are'} empty."
        without = (reports.left_out.not_asked, reports.left_out.not_counted)
        self.count.setText(" ".join(filter(None, (told, *without))))
        self.lacking.show_lacking(self._lacking)
        self.lacking.enable(not self.form.run.running and not self._desk.project.readonly)
        self.form.offer(systems, [one.key for one in reports.items], reports.left_out)

    def _narrow(self) -> None:
        words = self.search.text().casefold().split()
        rows = [one for one in self._found.items if _matches(one, words) and self._is_open(one)]
        place = self.grid.currentIndex()
        kept = (place.row(), place.column())
        self.model.show(self._found, rows, self._lacking)
        self._size()
        nothing = not self._found.columns
        self._body.setCurrentWidget(self._nothing if nothing else self.grid if rows else self._no_match)
        self.count.setVisible(not nothing)
        self.foot.setVisible(not nothing and bool(rows))
        if rows and not self.grid.currentIndex().isValid():
            row = max(0, min(kept[0], len(rows) - 1))
            column = max(1, min(kept[1], len(self.model.columns) - 1))
            self.grid.setCurrentIndex(self.model.index(row, column))
        self._show_cell()

    def _is_open(self, item: ReportsLine) -> bool:
        if not self.open_only.isChecked():
            return True
        return any((item.id, column) not in self._found.lines for column in self._found.columns)

    def _size(self) -> None:
        least = PARTS_WIDTH if self.model.told == reports_grid.DRAWN else CELL_WIDTH
        self.grid.widths = {0: ITEM_WIDTH} | dict.fromkeys(range(1, len(self.model.columns)), least)
        self.grid.fit()

    def _tell(self, told: str) -> None:
        self.model.show_told(told)
        self._size()

    def _item(self) -> ReportsLine | None:
        return self.model.at(self.grid.currentIndex().row())

    def _cell_reports(self) -> Sequence[ReportLine]:
        index = self.grid.currentIndex()
        return self.model.reports(index.row(), index.column())

    def _show_cell(self) -> None:
        index, item = self.grid.currentIndex(), self._item()
        column = self.model.column_of(index.column())
        found = self._cell_reports()
        failed = self.model.lacking(index.row(), index.column())
        self.open.setEnabled(bool(found))
        self._show_origin()
        self.form.choose(item.key if item else "")
        if item is None:
            return
        if column is None:
            parts = ", ".join(f"{drawn.words()} ({kind})" for kind, drawn in item.parts.items())
            self.cell.setText(f"Item {item.key}")
            said = f"{item.question_type or 'No question type'}, {counted(item.sources, 'source')} with text"
            self.about.setText(f"{said}{f'; {parts}' if parts else ''}.")
            return
        self.cell.setText(f"{column_words(column)} on item {item.key}")
        self.about.setText("\n".join([reports_grid.explained(found, failed), *self._origin(found)]))

    def _show_origin(self) -> None:
        """What is said of the column's system, and of the cell's reports or all of that system in that mode."""
        column = self.model.column_of(self.grid.currentIndex().column())
        cell = self._cell_reports()
        own = [one for (_, of), lines in self._found.lines.items() if of == column for one in lines]
        system = next((row for row in self._systems if column and row["name"] == column[0]), None)
        self.of_system.show_things((system["id"],) if system else (), system or {})
        chosen = own if self.all_reports.isChecked() else list(cell)
        shown = cell or own
        self.of_reports.show_things([one.id for one in chosen], asdict(shown[0]) if chosen else {})
        self.all_reports.setEnabled(bool(own))

    def _origin(self, found: Sequence[ReportLine]) -> list[str]:
        lines = [
            f"{kind.capitalize()}: {drawn.words()}, by {drawn.whose}."
            for line in found[:1]
            for kind, drawn in line.parts.items()
        ]
        origin = self._desk.ask(response_journal.origin_of, found[0].id) if found else None
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
    return report_lines.reports(project), response_journal.lacking(project), metadata.systems(project)


def _matches(item: ReportsLine, words: Sequence[str]) -> bool:
    text = f"{item.key} {item.question} {item.question_type}".casefold()
    return all(word in text for word in words)


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
