"""The queue, and the results of past runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from annotator.actions.judging import judge_queue
from annotator.actions.judging.judge_queue import QueuedRun
from annotator.actions.runs.run_records import RunLine
from annotator.domain.judges.judge import RunState
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.judges.roster.judges_model import RUNS, WAITING
from annotator.gui.tables.cells import CellsModel
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.layouts import StretchSpace, column_of, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel

NONE = "No run yet."
COSTS = "run_costs"
RUNNING = RunState.RUNNING.value


class PastRuns(QWidget):
    """The queue above the past runs; hidden when empty."""

    chosen = Signal()
    read_wanted = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.runs, self.queue = CellsModel[RunLine](RUNS, self), CellsModel[QueuedRun](WAITING, self)
        self.table = CellsTable("Past runs", self.runs, stretched=2)
        self.waiting = CellsTable("Queued runs", self.queue, stretched=2)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self.chosen.emit())
        self.table.activated.connect(lambda _: self.read_wanted.emit())
        self.title, self.queue_title = PlainLabel("Past runs", "strong"), PlainLabel("", "strong")
        self.nothing = PlainLabel(NONE, "hint", wrap=True)
        self.costs = KeyButton("Costs", keys.sequences(COSTS)[0], "quiet")
        self.costs.set_hint("Costs of the selected run, by criterion, question or system")
        head = horizontal(self.title, StretchSpace(1), self.costs)
        self.queued = self._queue_pane()
        past = column_of(
            head, self.nothing, (self.table, 1), StretchSpace(0), margins=(0, 4, 0, 0), spacing=4
        )
        parts = Splitter("judges/queue", Qt.Orientation.Vertical, parts=(self.queued, past), sizes=(130, 220))
        vertical(parts, on=self, margins=0)

    def _queue_pane(self) -> QWidget:
        pane, head = QWidget(), QHBoxLayout()
        head.addWidget(self.queue_title)
        head.addStretch(1)
        for name, picture, slot in (
            ("Earlier", "up", lambda: self._move(-1)),
            ("Later", "down", lambda: self._move(1)),
            ("Remove from the queue", "trash", self._remove),
        ):
            button = QToolButton()
            icons.put(button, picture)
            button.setToolTip(name)
            button.setAccessibleName(name)
            button.setEnabled(not self._desk.project.readonly)
            button.clicked.connect(lambda _=False, slot=slot: slot())
            head.addWidget(button)
        vertical(head, (self.waiting, 1), on=pane, margins=(0, 4, 0, 0), spacing=4)
        return pane

    def rebind(self) -> None:
        """Print the key as it now is."""
        self.costs.set_key(keys.sequences(COSTS)[0])

    @property
    def waits(self) -> bool:
        """Whether anything waits."""
        return self.queue.rowCount() > 0

    def fill(self, runs: Sequence[RunLine], *, going: bool) -> None:
        """Show all runs, the newest first; one that is `running` while none is `going` was killed."""
        kept = self.run()
        shown = [run if going or run.state != RUNNING else replace(run, state="interrupted") for run in runs]
        self.runs.show(shown)
        self.table.setVisible(bool(shown))
        self.nothing.setVisible(not shown)
        self.costs.setVisible(bool(shown))
        place = self.runs.place_of(lambda run: kept is not None and run.id == kept.id)
        if shown:
            self.table.setCurrentIndex(self.runs.index(max(0, place), 0))
        self.chosen.emit()

    def show_live(self, line: Mapping[str, Any]) -> bool:
        """Show how far the run that goes on is; whether it stands in the list."""
        place = self.runs.place_of(lambda run: run.id == line.get("run"))
        if place < 0:
            return False
        told = {
            "done": line["done"],
            "total": line["total"],
            "cost_usd": line.get("cost_usd"),
            "state": RUNNING,
        }
        runs = list(self.runs.rows)
        runs[place] = replace(runs[place], **told)
        self.runs.show(runs)
        return True

    def run(self) -> RunLine | None:
        """The chosen run."""
        return self.runs.at(self.table.currentIndex().row())

    def _one(self) -> QueuedRun | None:
        return self.queue.at(max(0, self.waiting.currentIndex().row()))

    def _move(self, by: int) -> None:
        one = self._one()
        if one is None:
            return
        self._desk.do(judge_queue.move, one.id, by)
        self.fill_queue()
        place = self.queue.place_of(lambda other: other.id == one.id)
        self.waiting.setCurrentIndex(self.queue.index(max(0, place), 0))

    def _remove(self) -> None:
        one = self._one()
        if one is not None:
            self._desk.do(judge_queue.remove, one.id)
            self.fill_queue()

    def fill_queue(self) -> None:
        """Show what waits."""
        waiting = self._desk.ask(judge_queue.waiting) or []
        self.queue.show(waiting)
        self.queued.setVisible(bool(waiting))
        self.queue_title.setText(f"The queue: {len(waiting):,} waiting" if waiting else "")
        self.chosen.emit()
