"""What lies behind a figure: its judgements in a list, and the one chosen in full below."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from annotator.actions import results
from annotator.gui.desk import Desk
from annotator.gui.models.judgements import JudgementsModel, verdict
from annotator.gui.models.results import explained, in_words
from annotator.gui.widgets.lines_table import LinesTable
from annotator.gui.widgets.splitter import Splitter


class BehindView(QWidget):
    """A figure's judgements."""

    back = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._model = JudgementsModel(self)
        self.title, self.method = QLabel(), QLabel()
        self.title.setProperty("role", "subtitle")
        self.method.setProperty("role", "hint")
        self.method.setWordWrap(True)
        for label in (self.title, self.method):
            label.setTextFormat(Qt.TextFormat.PlainText)
        back = QPushButton("Back to the figures  Esc")
        back.setShortcut("Esc")
        back.clicked.connect(self.back)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(back)
        splitter = Splitter("behind", Qt.Orientation.Vertical)
        self.table = LinesTable("Judgements", self._model, (60, 150, 420, 70, 150, 300), stretched=2)
        self.table.selectionModel().currentRowChanged.connect(lambda index, _: self._show_detail(index.row()))
        splitter.addWidget(self.table)
        self.detail = QPlainTextEdit(readOnly=True)
        self.detail.setAccessibleName("The judgement in full")
        splitter.addWidget(self.detail)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self.method)
        column.addWidget(splitter, 1)
        self.setFocusProxy(self.table)

    def show_row(self, row: results.ResultRow) -> None:
        """Show what a figure was made of."""
        group = "all items" if row.group == results.ALL else row.group
        self.title.setText(
            f"{row.system}, {group}, judged by {row.rater}: {row.metric} {in_words(row.estimate)}"
        )
        self.method.setText(explained(row.estimate).replace("\n", " · "))
        lines = self._desk.ask(
            results.behind, row.rater_id, row.system_id, row.group_by, row.group, row.protocol
        )
        self._model.show(lines or [])
        self.detail.clear()
        if lines:
            self.table.selectRow(0)

    def _show_detail(self, row: int) -> None:
        line = self._model.at(row)
        if line is None:
            return
        said = line.judgement
        parts = [
            f"{verdict(line)} — weight {line.weight:g}",
            f"Criterion: {line.unit}",
            f"Quoted from the report: “{said.quote}”" if said.quote else "",
            f"Why: {said.rationale}" if said.rationale else "",
            f"Why there is no verdict: {said.cause}" if said.cause else "",
            f"Note: {said.note}" if said.note else "",
            f"Marks: {said.flags}" if said.flags else "",
            f"Question: {line.question}",
        ]
        self.detail.setPlainText("\n\n".join(part for part in parts if part))
