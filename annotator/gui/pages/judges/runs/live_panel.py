"""Live panel of a run: its systems and running calls, or how the last one ended."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame

from annotator.actions.judging.judge_offers import CHECKS
from annotator.actions.project.file import Project
from annotator.actions.runs import run_watching
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_watching import CallSubject, SystemStatus
from annotator.domain.texts.counting import counted, lasting, usd
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.run import CANCELLED, REFUSED
from annotator.gui.pages.judges.runs.driver import Driver
from annotator.gui.review.judge_words import causes_words
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, column_of, stacked, vertical
from annotator.gui.widgets.later import later

# A call that takes longer than this is marked.
LONG_S = 30.0


@dataclass(frozen=True, slots=True)
class SystemProgress:
    """A system's part of the run; `wanted` is 0 until it is counted."""

    standing: SystemStatus
    wanted: int


@dataclass(frozen=True, slots=True)
class CallProgress:
    """A running call: subject, attempt, and seconds so far."""

    item_key: str
    system: str
    unit: str
    trial: int
    seconds: float


PARTS: Sequence[Column[SystemProgress]] = (
    Column("System", lambda part: part.standing.system, 150),
    Column("Came", lambda part: f"{part.standing.came:,}", 66, number=True),
    Column(
        "Of",
        lambda part: f"{part.wanted:,}" if part.wanted else "",
        66,
        number=True,
        about="All questions of this run about the system, including those answered before.",
    ),
    Column(
        "Missing, by cause",
        lambda part: causes_words(part.standing.missing) or "none",
        150,
        look=lambda part: ("warning", "state-unconfirmed") if part.standing.missing else None,
    ),
)
CALLS: Sequence[Column[CallProgress]] = (
    Column(
        "Since",
        lambda call: lasting(call.seconds),
        96,
        number=True,
        look=lambda call: ("clock", "state-unconfirmed") if call.seconds > LONG_S else None,
    ),
    Column("Item", lambda call: call.item_key or "…", 48, fitted=True),
    Column("System", lambda call: call.system, 110),
    Column("Asked about", lambda call: call.unit, 160),
)


# Systems are counted, and names of new calls looked up, this often.
LOOK_MS = 1500
FRESH_MS = 250
IDLE = "No run in progress. Finished judgements are saved immediately; a run can be stopped and resumed."
Key = tuple[str, str]
_NO_END = 16_777_215


class LivePanel(QFrame):
    """The run's panel above; systems and running calls side by side below."""

    def __init__(self, desk: Desk, driver: Driver) -> None:
        super().__init__()
        self._desk, self._driver = desk, driver
        self._heard = 0.0
        self._names: dict[Key, CallSubject] = {}
        self._wanted: dict[str, int] = {}
        self._looking = False
        self.setProperty("role", "card")
        self.panel = RunPanel(driver)
        self.idle = PlainLabel(IDLE, "hint", wrap=True)
        self.parts, self.calls = (
            CellsModel[SystemProgress](PARTS, self),
            CellsModel[CallProgress](CALLS, self),
        )
        self.systems = CellsTable("Systems of the run", self.parts, stretched=3)
        self.asking = CellsTable("Calls in progress", self.calls, stretched=3)
        # Lines may come twenty times a second; nobody reads a list of calls that fast.
        self._fresh = later(self, self._show_calls, FRESH_MS)
        self._tick = QTimer(self, interval=LOOK_MS)
        self._tick.timeout.connect(self._look)
        self._lay_out()
        self.show_idle()
        theme.watch(self, self._settle)
        driver.began.connect(self.show_order)
        driver.progressed.connect(lambda _: self._hear())
        driver.ended.connect(self.show_idle)

    def _lay_out(self) -> None:
        self.under_way = PlainLabel("", "hint")
        both = Splitter("judges/live")
        for words, view in ((PlainLabel("By system", "hint"), self.systems), (self.under_way, self.asking)):
            pane = column_of(words, (view, 1), spacing=3)
            both.addWidget(pane)
        work = column_of(self.panel, (both, 1), spacing=6)
        self.body = stacked(self.idle, work)
        vertical(self.body, on=self)

    def show_idle(self, line: Mapping[str, Any] | None = None) -> None:
        """No run is in progress; `line` is the last one's last word."""
        self.stop()
        self.idle.setText(f"{ended_words(line)}\n{IDLE}" if line else IDLE)
        self.body.setCurrentIndex(0)
        self._settle()

    def show_order(self, order: RunRequest) -> None:
        """A run begins."""
        # A look whose question was refused never came home, and must not keep the next run from being looked at.
        self._looking, self._wanted = False, {}
        self.parts.show([])
        self.calls.show([])
        self.body.setCurrentIndex(1)
        self._settle()
        self._desk.ask_later(self._count_wanted, run_watching.wanted, order)
        self._tick.start()

    def _hear(self) -> None:
        self._heard = time.monotonic()
        if not self._fresh.isActive():
            self._fresh.start()

    def _show_calls(self) -> None:
        since = time.monotonic() - self._heard
        under_way = self._driver.line.get("under_way") or ()
        called = [self._calling(call, since) for call in under_way]
        self.calls.show(sorted(called, key=lambda call: -call.seconds))
        self.under_way.setText(
            f"{counted(len(called), 'call')} in progress" if called else "No pending calls"
        )

    def _calling(self, call: Mapping[str, Any], since: float) -> CallProgress:
        units = call["units"]
        known = [self._names[key] for unit in units if (key := (call["response"], unit)) in self._names]
        first = known[0] if known else CallSubject("", "", "")
        words = " · ".join(one.unit for one in known if one.unit) or (
            counted(len(units), "unit") if len(units) > 1 else "…"
        )
        return CallProgress(
            first.item_key, first.system, words, int(call["trial"]), float(call["seconds"]) + since
        )

    def _look(self) -> None:
        """Count the systems, and look up what new calls are about; one look at a time."""
        order, line = self._driver.order, self._driver.line
        if not isinstance(order, RunRequest) or self._looking or not line:
            return
        self._looking = True
        asked = {(call["response"], unit) for call in line.get("under_way") or () for unit in call["units"]}
        new = sorted(asked - self._names.keys())
        self._desk.ask_later(self._looked, _seen, line["run"], order.protocol.removeprefix(CHECKS), new)

    def _looked(self, found: tuple[list[SystemStatus], dict[Key, CallSubject]]) -> None:
        self._looking = False
        standings, names = found
        self._names |= names
        self.parts.show(
            [SystemProgress(standing, self._wanted.get(standing.system, 0)) for standing in standings]
        )
        if self._driver.running:
            self._show_calls()

    def _count_wanted(self, wanted: dict[str, int]) -> None:
        self._wanted = wanted

    def _settle(self) -> None:
        """Take no more room than a few words need while nothing is in progress."""
        idle = self.body.currentIndex() == 0
        self.setMaximumHeight(theme.current().px(86) if idle else _NO_END)
        self.setMinimumHeight(0 if idle else theme.current().px(215))

    def stop(self) -> None:
        self._tick.stop()
        self._fresh.stop()


def _seen(
    project: Project, run_id: str, protocol: str, new: list[Key]
) -> tuple[list[SystemStatus], dict[Key, CallSubject]]:
    """How far each system is, and what new calls are about."""
    return (
        run_watching.by_system(project, run_id, protocol),
        run_watching.named(project, protocol, new) if new else {},
    )


def ended_words(line: Mapping[str, Any]) -> str:
    """How a run ended, in a sentence or two."""
    if line.get("event") == REFUSED:
        stopped = line.get("state") == CANCELLED
        return (
            "The last run was stopped before it began."
            if stopped
            else f"The last run failed: {line['error']}"
        )
    left = f", {line['not_asked']:,} not asked," if line.get("not_asked") else ""
    said = f"The last run is {line['state']}: {line['judged']:,} of {line['total']:,}{left}"
    said += f" in {lasting(line['seconds'])}"
    said += f", for {usd(line['cost_usd'])}." if line.get("cost_usd") is not None else "."
    if line.get("without"):
        said += f" Missing: {causes_words(line['without'])}."
    if line.get("cause"):
        said += f" Reason for stopping: {line['cause']}"
    return said
