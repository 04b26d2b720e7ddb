"""The page of results: systems with their intervals, and the judgements behind every figure."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from annotator.actions import figures, results
from annotator.domain.change import Change
from annotator.domain.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk import Desk
from annotator.gui.models.results import ResultsModel
from annotator.gui.page import Page
from annotator.gui.pages.behind import BehindView
from annotator.gui.widgets.choices import offer
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.figure_view import FigureView
from annotator.gui.widgets.lines_table import LinesTable
from annotator.gui.widgets.splitter import Splitter

# People: coordinators and readers of a benchmark. What annoys them elsewhere: scores without n or interval,
# failures counted as answers, and no way from a number to what it was made of.
GROUPINGS = (("By question type", "question_type"), ("By subject", "subject"))


class ResultsPage(Page):
    """A picture above, a table below; double-click goes to the judgements."""

    NAME = "Results"
    ICON = "results"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._rows: list[results.ResultRow] = []
        self._stale = True
        self.body = QStackedWidget()
        self._build()
        self._later = QTimer(self, singleShot=True, interval=1000)
        self._later.timeout.connect(self._count)
        theme.watch(self, self._draw)

    def _build(self) -> None:
        self.rater, self.grouping = QComboBox(), QComboBox()
        self.rater.setAccessibleName("Whose judgements")
        self.rater.setMinimumContentsLength(14)
        self.rater.currentIndexChanged.connect(lambda _: self._count())
        self.grouping.setAccessibleName("Grouped by")
        for words, name in GROUPINGS:
            self.grouping.addItem(words, name)
        self.grouping.currentIndexChanged.connect(lambda _: self._show())
        self.save = QPushButton("Save picture…")
        self.save.clicked.connect(self._save)
        self.about = QPushButton("What is this figure?")
        self.about.setProperty("role", "quiet")
        self.about.clicked.connect(lambda: self.desk.go("Help", topic="coverage"))
        title = QLabel("Results")
        title.setProperty("role", "title")
        head = QHBoxLayout()
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(self.about)
        head.addWidget(QLabel("Judged by"))
        for chooser in (self.rater, self.grouping):
            head.addWidget(chooser)
        head.addWidget(self.save)
        self.hint = QLabel("Double-click a figure to see the judgements behind it.")
        self.hint.setProperty("role", "hint")
        self.empty = EmptyState(
            "results",
            "No judgements yet",
            "Run the baseline judge (it needs no key and no network), or label reports.",
        )
        self.empty.add_action("Go to the judges", lambda: self.desk.go("Judges"), primary=True)
        self.empty.add_action("Label reports", lambda: self.desk.go("Label"))
        self.behind = BehindView(self.desk)
        self.behind.back.connect(lambda: self.body.setCurrentIndex(0))
        for widget in (self._figures(), self.behind, self.empty):
            self.body.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 12)
        column.addLayout(head)
        column.addWidget(self.body, 1)

    def _figures(self) -> QWidget:
        self.picture = FigureView()
        self.picture.row_chosen.connect(self._picture_row)
        self._model = ResultsModel(self)
        self.table = LinesTable("Figures: systems down, groups across", self._model, cells=True)
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentColumnChanged.connect(lambda *_: self._draw())
        splitter = Splitter("results", Qt.Orientation.Vertical)
        splitter.addWidget(self.picture)
        below = QWidget()
        column = QVBoxLayout(below)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.table, 1)
        column.addWidget(self.hint)
        splitter.addWidget(below)
        splitter.setSizes([430, 250])
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        return splitter

    def arrive(self, place: dict[str, Any]) -> None:
        """Count anew when something was judged since."""
        if self._stale:
            self._fill_raters()
            self._count()

    def focus_first(self) -> None:
        """Work begins in the table."""
        self.table.setFocus()

    def on_change(self, change: Change) -> None:
        """New judgements make the figures stale; they are counted when the page is looked at."""
        if change.kind in ("judgement", "judge_run", "import", "item", "artifact"):
            self._stale = True
            if self.isVisible():
                self._later.start()

    def _fill_raters(self) -> None:
        raters = self.desk.ask(results.raters) or []
        offer(self.rater, [(f"{rater.name} ({rater.judgements:,})", rater.id) for rater in raters])

    def _count(self) -> None:
        self._stale = False
        if self.rater.count() == 0:
            self._fill_raters()
        rater = self.rater.currentData()
        if rater is None:
            self._rows = []
            self.body.setCurrentWidget(self.empty)
            return
        self.hint.setText("Counting…")
        self.desk.ask_later(self._counted, results.rows, rater)

    def _counted(self, rows: list[results.ResultRow]) -> None:
        self._rows = rows
        self.body.setCurrentIndex(0)
        self._show()

    def _show(self) -> None:
        self._model.show(self._rows, self.grouping.currentData())
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setMinimumSectionSize(120)
        header.resizeSection(0, 200)
        for section in range(1, self._model.columnCount()):
            header.resizeSection(section, 215)
        header.setStretchLastSection(True)
        if self._model.rowCount():
            self.table.setCurrentIndex(self._model.index(0, 1))
        self._draw()
        missing = sum(row.estimate.missing for row in self._model.of_group(1))
        told = f" {missing:,} judgements are missing; hollow marks are incomplete." if missing else ""
        self.hint.setText(f"Double-click a figure to see the judgements behind it.{told}")

    def _draw(self) -> None:
        rows = self._model.of_group(self.table.currentIndex().column())
        if rows:
            group = "all items" if rows[0].group == results.ALL else rows[0].group
            title = f"Coverage, {group}, judged by {rows[0].rater}"
            self.picture.show_figure(figures.coverage(rows, title, _ink()))

    def _open(self, index: QModelIndex) -> None:
        row = self._model.row_at(index)
        if row is not None:
            self.behind.show_row(row)
            self.body.setCurrentWidget(self.behind)
            self.behind.setFocus()

    def _picture_row(self, place: int) -> None:
        column = max(1, self.table.currentIndex().column())
        rows = self._model.of_group(column)
        ordered = sorted(rows, key=lambda r: (r.estimate.value is None, -(r.estimate.value or 0), r.system))
        if 0 <= place < len(ordered):
            self.behind.show_row(ordered[place])
            self.body.setCurrentWidget(self.behind)

    def _save(self) -> None:
        rows = self._model.of_group(self.table.currentIndex().column())
        if not rows:
            return
        name, _ = QFileDialog.getSaveFileName(self, "Save picture", "coverage.svg", "Pictures (*.svg *.png)")
        if name:
            self.save_picture(Path(name))

    def save_picture(self, path: Path) -> None:
        """Write the picture in view, on white, as PNG or SVG."""
        rows = self._model.of_group(self.table.currentIndex().column())
        group = "all items" if rows[0].group == results.ALL else rows[0].group
        try:
            figures.save(figures.coverage(rows, f"Coverage, {group}, judged by {rows[0].rater}"), path)
        except Refusal as refusal:
            self.desk.refused.emit(refusal)
            return
        self.hint.setText(f"Saved {path.name}.")


def _ink() -> figures.Ink:
    """The window's own colours."""
    names = {"paper": "window", "text": "text", "faint": "text-muted", "grid": "border", "mark": "accent"}
    return figures.Ink(**{part: theme.token(name).name() for part, name in names.items()})
