"""Behind a figure: its items, and the judgements and replies of one of them."""

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QTableView, QTextBrowser, QWidget

from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import FigureSource, ResultSheet, SheetCell, SheetLine
from annotator.actions.results.results_behind import JudgementBehind, by_person
from annotator.actions.runs import judgement_replies
from annotator.actions.runs.judgement_replies import JudgementDetail
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.review.judge_words import value_look, value_words
from annotator.gui.review.reply_detail import ReplyDetail
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.sheet_widths import fit, hide_alike
from annotator.gui.tables.sheets import SheetModel
from annotator.gui.views import counting
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, horizontal, push_button, stacked, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.later import later
from annotator.gui.widgets.lists.lines_table import LinesTable

SETTLE_MS = 120
# Columns of the items, and of the judgements, that say nothing where all lines are alike.
ALIKE = ("system", "run", "missing", "range", "weight", "given_by", "said_by")
SAME = (0, 1, 4, 5)
DEEPER = "Enter: the judgements behind a line."
COMPUTED = "This figure is computed from the response itself, without judgements."


class BehindPane(QWidget):
    """The data behind a figure, in place of the figures until `back`."""

    back = Signal()
    table: QTableView

    @property
    def pane(self) -> QTableView:
        return self.table

    def look(self, _line: SheetLine, _cell: SheetCell | None) -> bool:
        """Read what a cell or its line is based on and show it; False where nothing lies behind it."""
        return False

    def stop(self) -> None:
        """Show nothing that comes from now on."""

    def focus_list(self) -> None:
        self.pane.setFocus()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_list()


class FigureBehindView(BehindPane):
    """Two levels; Esc goes back by one."""

    def __init__(self, desk: Desk, name: str) -> None:
        super().__init__()
        self._desk, self._name = desk, name
        self._asked = 0
        self._deeper, self._whole = False, ""
        self._soon = later(self, self._show_detail, SETTLE_MS)
        self.title, self.note = ElidedLabel(role="subtitle"), PlainLabel("", "hint", wrap=True)
        self.leave = push_button("Back  Esc", self._back)
        self.leave.setShortcut("Esc")
        self.items, self.judgements = SheetModel(self), CellsModel[JudgementBehind](JUDGEMENTS, self)
        self.items_table = LinesTable("Items behind the figure", self.items)
        self.items_table.setSortingEnabled(True)
        self.items_table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.items_table.horizontalHeader().setSortIndicatorClearable(True)
        self.items_table.activated.connect(self._enter)
        self.table = LinesTable("Judgements", self.judgements, self.judgements.widths, stretched=3)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._soon.start())
        self.levels = stacked(self.items_table, self._lower())
        vertical(horizontal((self.title, 1), self.leave), self.note, (self.levels, 1), on=self, margins=0)

    def _lower(self) -> QWidget:
        self.replies = ReplyDetail(self._desk)
        self.said = QTextBrowser()
        self.said.setProperty("role", "side")
        self.said.setAccessibleName("Full judgement")
        self.detail = stacked(self.said, self.replies)
        return Splitter(
            f"{self._name} behind", parts=(self.table, self.detail), sizes=(660, 420), stretch=(3, 2)
        )

    def stop(self) -> None:
        self._asked += 1
        self._soon.stop()

    @property
    def pane(self) -> QTableView:
        return self.table if self.levels.currentIndex() else self.items_table

    def look(self, line: SheetLine, cell: SheetCell | None) -> bool:
        """Read what a cell or its line is based on: its items, or the judgements on its item."""
        source = (cell.source if cell is not None else None) or line.source
        if source is None:
            return False
        words = source.words or _words(line, cell)
        self._whole = words
        self._deeper = False
        self.title.setText(words)
        if source.item_id:
            self._ask_judgements(source)
        else:
            self.note.setText("Reading…")
            self.levels.setCurrentIndex(0)
            self._asked += 1
            asked = self._asked
            self._desk.ask_later(lambda found: self._show_items(found, asked), counting.items, source)
        return True

    def _show_items(self, found: ResultSheet | Refusal, asked: int) -> None:
        if asked != self._asked:
            return
        if isinstance(found, Refusal):
            self._refuse(found)
            return
        self.items.show(found)
        self.note.setText(" ".join([*found.told, DEEPER]))
        self._fit()
        if self.items.rowCount():
            self.items_table.selectRow(0)
        self.focus_list()

    def _fit(self) -> None:
        hide_alike(self.items_table, self.items, ALIKE)
        fit(self.items_table, self.items)

    def _enter(self, index: QModelIndex) -> None:
        line = self.items.at(index.row())
        if line is None:
            return
        if line.source is None:
            self.note.setText(COMPUTED)
            return
        self._deeper = True
        self.title.setText(f"{self._whole} · {_named(line)}")
        self._ask_judgements(line.source)

    def _ask_judgements(self, source: FigureSource) -> None:
        self.note.setText("Reading…")
        self._asked += 1
        asked = self._asked
        self._desk.ask_later(lambda found: self._show_judgements(found, asked), counting.judgements, source)

    def _show_judgements(self, found: list[JudgementBehind] | Refusal, asked: int) -> None:
        if asked != self._asked:
            return
        if isinstance(found, Refusal):
            self._refuse(found)
            return
        self.judgements.show(found)
        for place in SAME:
            said = {str(self.judgements.index(row, place).data()) for row in range(len(found))}
            self.table.setColumnHidden(place, len(said) < 2)
        missing = sum(line.judgement.value is None for line in found)
        gaps = f", {missing:,} without a verdict" if missing else ""
        self.note.setText(
            f"{counted(len(found), 'judgement')}{gaps}." if found else "Nobody has judged this."
        )
        self.levels.setCurrentIndex(1)
        if found:
            self.table.selectRow(0)
        self._show_detail()
        self.focus_list()

    def _refuse(self, refusal: Refusal) -> None:
        self.items.show(ResultSheet("", "", (), ()))
        self.note.setText(str(refusal))

    def _back(self) -> None:
        if self._deeper and self.levels.currentIndex():
            self._deeper = False
            self._asked += 1
            self.levels.setCurrentIndex(0)
            self.title.setText(self._whole)
            self.note.setText(" ".join([*self.items.whole.told, DEEPER]))
            self.focus_list()
            return
        self.back.emit()

    def line(self) -> JudgementBehind | None:
        return self.judgements.at(self.table.currentIndex().row())

    def _show_detail(self) -> None:
        line = self.line()
        self.detail.setCurrentIndex(0)
        if line is None:
            self.said.clear()
            return
        self.said.setHtml(_in_full(line))
        if not by_person(line):
            self._desk.ask_later(self._show_told, _told, line.judgement.id)

    def _show_told(self, told: JudgementDetail | None) -> None:
        line = self.line()
        if told is not None and line is not None and told.line.id == line.judgement.id:
            self.replies.show_told(told)
            self.detail.setCurrentIndex(1)


def _told(project: Project, judgement_id: str) -> JudgementDetail | None:
    """A judgement with its replies; None when it was made again since."""
    try:
        return judgement_replies.told(project, judgement_id)
    except Refusal:
        return None


def _words(line: SheetLine, cell: SheetCell | None) -> str:
    if cell is not None and cell.source is not None and cell.tip:
        return cell.tip.splitlines()[0]
    return " · ".join(one.words for one in line.cells[:3] if one.words)


def _named(line: SheetLine) -> str:
    return ", ".join((f"item {line.cells[0].words}", line.cells[2].words))


def _in_full(line: JudgementBehind) -> str:
    said = line.judgement
    parts = (
        ("", f"{verdict(line)} (weight {line.weight:g}), by {line.rater}"),
        ("Asked about", line.unit),
        ("Quoted from the report", said.quote),
        ("Why", said.rationale),
        ("Why there is no verdict", said.cause),
        ("Note", said.note),
        ("Marks", said.flags),
        ("Question", line.question),
    )
    return "".join(
        f"<p dir='auto'><b>{escape(head)}</b> {escape(words)}</p>"
        if head
        else f"<h3 dir='auto'>{escape(words)}</h3>"
        for head, words in parts
        if words
    )


def verdict(line: JudgementBehind) -> str:
    """A judgement's value, or why there is none, in a word or two."""
    said = line.judgement
    # Of a pair the one that is better, by name.
    named = {"first": line.system, "second": line.unit}
    return named.get(said.value or "") or value_words(said.protocol, said.value, said.status)


JUDGEMENTS: Sequence[Column[JudgementBehind]] = (
    Column("Item", lambda line: line.item_key, 60, tip=lambda line: line.question),
    Column("System", lambda line: line.system, 120),
    Column(
        "Verdict", verdict, 110, look=lambda line: value_look(line.judgement.protocol, line.judgement.value)
    ),
    Column("Asked about", lambda line: line.unit, 300),
    Column("Weight", lambda line: f"{line.weight:g}", 66),
    Column("By", lambda line: line.rater, 100),
    Column("Why", lambda line: line.judgement.rationale or line.judgement.cause, 120),
)
