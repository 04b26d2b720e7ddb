"""Costs: what judging came to, unit by unit, question by question, by system or by judge, sorted, found and saved."""

from html import escape
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QStackedWidget,
    QTextBrowser,
    QWidget,
)

from annotator.actions.judges import judges
from annotator.actions.judging import judge_costs
from annotator.actions.judging.judge_costs import Cost
from annotator.actions.project.file import Project
from annotator.actions.results import result_exports
from annotator.actions.results.result_sheets import Cell, Column
from annotator.actions.runs import run_records
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import Part
from annotator.gui.pages.judges.cost_sheets import BY, JUDGE, PURPOSE, QUESTION, RUN, SYSTEM, UNIT, sheet
from annotator.gui.pages.judges.roster.judges_model import RUNS_OFFERED, run_words
from annotator.gui.tables.sheet_widths import fit
from annotator.gui.tables.sheets import SheetModel
from annotator.gui.widgets.bars.acts_bar import ActsBar, Deed
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.labelled import together
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.plain import PlainLabel

LEFT = (
    Deed(
        "cost_definition",
        "About",
        "info",
        "Switch between the definition of the selected figure and the table",
    ),
    Deed("copy_costs", "Copy table", "export", "Copy the table for a spreadsheet, with full precision"),
    Deed("save_costs", "Save table…", "folder", "Save the table as CSV or JSON, with full precision"),
)
RIGHT = (
    Deed("read_replies", "Read its replies", hint="The judgements behind the selected row", role="primary"),
)
NOTHING = (
    "No costs yet",
    "Once an endpoint judge has run, the cost of every call is broken down here by criterion, question and "
    "system. The baseline costs nothing.",
)
SETTLE_MS = 150
Told = tuple[tuple[str, str], list[Cost], dict[tuple[str, str, str], str]]


class Costing(Part):
    """Whose costs, by what, above the table; below it what the chosen figure is."""

    replies_wanted = Signal(dict)
    run_wanted = Signal(dict)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self._wanted = ""
        self._costs: list[Cost] = []
        self._known: list[Judge] = []
        self.by, self.of = ChoiceBox(), ChoiceBox()
        self.by.setAccessibleName("Costs by")
        self.of.setAccessibleName("Whose costs")
        for combo, letters in ((self.by, 18), (self.of, 34)):
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            combo.setMinimumContentsLength(letters)
        offer(self.by, [(words, name) for name, words in BY.items()])
        self.sought = LineField(placeholderText="Find in the table…", clearButtonEnabled=True)
        self.sought.setAccessibleName("Find in the table")
        self.model = SheetModel(self)
        self.table = LinesTable("Costs", self.model, cells=True)
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicatorClearable(True)
        self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.told = PlainLabel("", "hint", wrap=True)
        self.account = QTextBrowser()
        self.account.setProperty("role", "side")
        self.account.setAccessibleName("About the selected figure")
        self._soon = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self.acts = {
            "cost_definition": self.explain,
            "copy_costs": self.copy,
            "save_costs": self._choose_file,
            "read_replies": self._read,
            "find": self._seek,
        }
        self._listen()
        self.lay_out(self._body())

    def _listen(self) -> None:
        self.by.currentIndexChanged.connect(lambda _: self._count())
        self.of.currentIndexChanged.connect(lambda _: self._count())
        self._soon.timeout.connect(self._narrow)
        self.sought.textChanged.connect(lambda _: self._soon.start())
        self.sought.returnPressed.connect(self.table.setFocus)
        self.table.activated.connect(lambda _: self._read())
        self.table.selectionModel().currentChanged.connect(lambda *_: self._turn())
        copying = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.table)
        copying.setContext(Qt.ShortcutContext.WidgetShortcut)
        copying.activated.connect(self.copy)
        theme.watch(self, self._dress)

    def _body(self) -> QWidget:
        head = FlowRow(gap=10)
        for part in (together("By", self.by), together("of", self.of), self.sought):
            head.addWidget(part)
        theme.scale(self.sought.setFixedWidth, 220)
        above, below = QWidget(), QWidget()
        vertical(head, (self.table, 1), self.told, on=above, margins=(0, 0, 0, 4), spacing=6)
        vertical(
            PlainLabel("About this figure", "strong"),
            (self.account, 1),
            on=below,
            margins=(0, 4, 0, 0),
            spacing=4,
        )
        whole = Splitter("judges/costs", Qt.Orientation.Vertical)
        whole.addWidget(above)
        whole.addWidget(below)
        whole.setSizes([380, 190])
        whole.setStretchFactor(0, 1)
        self.empty = EmptyState("results", *NOTHING)
        self.empty.add_action("To the runs", lambda: self.run_wanted.emit({}), primary=True)
        self.body = QStackedWidget()
        self.body.addWidget(whole)
        self.body.addWidget(self.empty)
        return self.body

    def fill(self) -> None:
        """Offer judges and runs anew, and count."""
        self._known = [one for one in self.desk.ask(judges.all_of) or [] if one.kind == JudgeKind.ENDPOINT]
        runs = [run for run in self.desk.ask(run_records.runs) or [] if run.paid]
        choices = [("All judges", ""), *((one.name, f"judge {one.name}") for one in self._known)]
        choices += [(run_words(run), f"run {run.id}") for run in runs[:RUNS_OFFERED]]
        offer(self.of, choices)
        wanted, self._wanted = self.of.findData(self._wanted) if self._wanted else -1, ""
        if wanted > 0 and wanted != self.of.currentIndex():
            self.of.setCurrentIndex(wanted)
            return
        self._count()

    def go(self, place: Any) -> None:
        """Show the costs of a run (`run_id`) or of a `judge` by its name."""
        self._wanted = f"run {place['run_id']}" if place.get("run_id") else ""
        self._wanted = f"judge {place['judge']}" if place.get("judge") else self._wanted
        self.fill()

    def focus_first(self) -> None:
        """Work begins in the table."""
        self.table.setFocus()

    def stop(self) -> None:
        """Ask nothing more."""
        super().stop()
        self._soon.stop()

    def _choice(self) -> tuple[str, str]:
        return str(self.by.currentData()), str(self.of.currentData() or "")

    def _count(self) -> None:
        self.told.setText("Counting…")
        self.desk.ask_later(self._counted, _told, *self._choice())

    def _counted(self, found: Told) -> None:
        choice, costs, words = found
        if self.stopped or choice != self._choice():
            return
        self._costs = costs
        self.body.setCurrentIndex(1 if not costs and not choice[1] else 0)
        before = self.model.whole.keys
        self.model.show(sheet(choice[0], costs, words))
        if before != self.model.whole.keys:
            self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.told.setText("\n".join(self.model.whole.told) or "This had no cost.")
        self._narrow()
        fit(self.table, self.model)

    def _narrow(self) -> None:
        self._soon.stop()
        row = max(0, self.table.currentIndex().row())
        self.model.seek(self.sought.text())
        if self.model.rowCount():
            column = self.model.whole.keys.index("cost_usd")
            self.table.setCurrentIndex(self.model.index(min(row, self.model.rowCount() - 1), column))
            self.table.horizontalScrollBar().setValue(0)
        self._turn()

    def _seek(self) -> None:
        self.sought.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.sought.selectAll()

    def _turn(self) -> None:
        """Tell what the chosen figure is."""
        index, there = self.table.currentIndex(), self.model.rowCount() > 0
        cell = self.model.cell(index)
        about = _account(self.model.whole.columns[index.column()], cell) if cell is not None else ""
        self.account.setHtml(about)
        for act in self.bar.buttons:
            self.bar.enable(act, there)

    def _dress(self) -> None:
        fit(self.table, self.model)
        self._turn()

    def explain(self) -> None:
        """Go to what the chosen figure is, or back to the table."""
        (self.table if self.account.hasFocus() else self.account).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def copy(self) -> None:
        """Put the lines in view on the clipboard."""
        if self.model.rowCount():
            QGuiApplication.clipboard().setText(result_exports.as_text(self.model.shown))
            self.bar.say(f"Copied {counted(self.model.rowCount(), 'line')}, with full precision.")

    def _choose_file(self) -> None:
        if not self.model.rowCount():
            return
        name, _ = QFileDialog.getSaveFileName(
            self, "Save table", "costs.csv", "Tables (*.csv);;JSON (*.json)"
        )
        if name:
            self.save(Path(name))

    def save(self, path: Path) -> None:
        """Write the lines in view as CSV or JSON."""
        try:
            result_exports.save(self.model.shown, path)
        except Refusal as refusal:
            self.desk.refused.emit(refusal)
            return
        self.bar.say(f"Saved {path.name}.")

    def _line(self) -> Cost | None:
        line = self.model.at(self.table.currentIndex().row())
        places = [id(one) for one in self.model.whole.lines]
        return self._costs[places.index(id(line))] if line is not None else None

    def _read(self) -> None:
        """Open the judgements behind the chosen line; where they are of several judges, one must be chosen first."""
        one, (by, of) = self._line(), self._choice()
        if one is None:
            return
        if not one.judgements or by == PURPOSE:
            self.answer.show_message(
                "info", "The judgements behind this row belong to several protocols.", "Choose another."
            )
            return
        kind, _, name = of.partition(" ")
        if by == RUN:
            kind, name = "run", one.name
        place: dict[str, Any] = {"run_id": name} if kind == "run" else {"protocol": one.protocol}
        if kind != "run":
            told = one.name if by == JUDGE else name
            mine = [
                judge for judge in self._known if judge.name == told or (not told and len(self._known) == 1)
            ]
            if not mine:
                self.answer.show_message(
                    "info", "This may include several judges.", "Select one above to read its replies."
                )
                self.of.setFocus()
                return
            place["judge_id"] = mine[0].id
        place |= {QUESTION: {"item": one.name}, SYSTEM: {"system": one.name}}.get(by, {})
        if by == UNIT:
            place |= {"item": one.item, "unit": one.name, "words": self._words_of_line()}
        self.answer.clear()
        self.replies_wanted.emit(place)

    def _words_of_line(self) -> str:
        line = self.model.at(self.table.currentIndex().row())
        return line.cells[1].words if line is not None else ""


def _told(project: Project, by: str, of: str) -> Told:
    """What is chosen, its costs, and what their names mean."""
    kind, _, name = of.partition(" ")
    only = {kind: name} if kind else {}
    found = judge_costs.costs(project, by, **only)
    words: dict[tuple[str, str, str], str] = {}
    if by == UNIT:
        words = judge_costs.asked_about(project, found)
    elif by == QUESTION:
        words = {(key, "", ""): question for key, question in judge_costs.questions(project).items()}
    return (by, of), found, words


def _account(head: Column, cell: Cell) -> str:
    """The chosen figure, what it stands on, and what figures of its column are."""
    said = escape(cell.words) or "–"
    parts = [f"<p dir='auto' style='font-size:large'><b>{escape(head.title)}</b><br>{said}</p>"]
    if cell.tip and cell.tip != cell.words:
        parts.append(f"<p dir='auto'>{escape(cell.tip)}</p>")
    if head.tip:
        muted = theme.token("text-muted").name()
        parts.append(f"<p><span style='color:{muted}'>{escape(head.tip)}</span></p>")
    return "".join(parts)
