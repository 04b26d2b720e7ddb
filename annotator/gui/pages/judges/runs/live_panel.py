"""Live panel of a run: progress, speed, remaining time, cost, missing verdicts, running calls."""

import time
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from annotator.actions.judging.judge_offers import CHECKS, title
from annotator.actions.project.file import Project
from annotator.actions.runs import run_watching
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_watching import CallSubject, SystemStatus
from annotator.domain.texts.counting import counted, lasting, usd
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.judges.runs.judge_work import CALLS, PARTS, CallProgress, SystemProgress
from annotator.gui.review.judge_words import causes_words, doing
from annotator.gui.tables.cells import CellsModel
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel

# Systems are counted, and names of new calls looked up, this often.
LOOK_MS = 1500
FRESH_MS = 250
IDLE = "No run in progress. Finished judgements are saved immediately; a run can be stopped and resumed."
Key = tuple[str, str]
_NO_END = 16_777_215


class LivePanel(QFrame):
    """Progress above; systems and running calls side by side below."""

    cancelled = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._order: RunRequest | None = None
        self._line: dict[str, Any] = {}
        self._heard = 0.0
        self._names: dict[Key, CallSubject] = {}
        self._wanted: dict[str, int] = {}
        self._looking = False
        self.setProperty("role", "card")
        self.title, self.chips, self.progress = ElidedLabel("", "strong"), Chips(), ProgressRow()
        self.progress.cancelled.connect(self.cancelled)
        self.hold = KeyButton("Pause")
        self.hold.set_hint("Send no further questions until resumed; pending ones are answered")
        self.rebind()
        self.idle = PlainLabel(IDLE, "hint", wrap=True)
        self.parts, self.calls = (
            CellsModel[SystemProgress](PARTS, self),
            CellsModel[CallProgress](CALLS, self),
        )
        self.systems = CellsTable("Systems of the run", self.parts, stretched=3)
        self.asking = CellsTable("Calls in progress", self.calls, stretched=3)
        # Lines may come twenty times a second; nobody reads a list of calls that fast.
        self._fresh = QTimer(self, singleShot=True, interval=FRESH_MS)
        self._fresh.timeout.connect(self._show_calls)
        self._tick = QTimer(self, interval=LOOK_MS)
        self._tick.timeout.connect(self._look)
        self._lay_out()
        self.show_idle()

    def _lay_out(self) -> None:
        self.under_way = PlainLabel("", "hint")
        both = Splitter("judges/live")
        for words, view in ((PlainLabel("By system", "hint"), self.systems), (self.under_way, self.asking)):
            pane = QWidget()
            column = vertical(words, (view, 1), on=pane, margins=0, spacing=3)
            both.addWidget(pane)
        work = QWidget()
        head = horizontal((self.title, 1), self.hold)
        column = vertical(self.progress, self.chips, on=work, margins=0, spacing=6)
        column.insertLayout(0, head)
        column.addWidget(both, 1)
        self.body = QStackedWidget()
        self.body.addWidget(self.idle)
        self.body.addWidget(work)
        vertical(self.body, on=self)

    def show_idle(self, line: Mapping[str, Any] | None = None) -> None:
        """No run is in progress; `line` is the last one's last word."""
        self._tick.stop()
        self._fresh.stop()
        self._order = None
        self.idle.setText(f"{ended_words(line)}\n{IDLE}" if line else IDLE)
        self.body.setCurrentIndex(0)
        self._settle()
        theme.watch(self, self._settle)

    def show_order(self, order: RunRequest) -> None:
        """A run begins."""
        # A look whose question was refused never came home, and must not keep the next run from being looked at.
        self._looking = False
        self._order, self._line, self._wanted = order, {}, {}
        scope = ", ".join(order.systems) or "all systems"
        self.title.setText(f"\u2068{order.judge}\u2069 · {title(order.protocol)} · {scope}")
        self.parts.show([])
        self.calls.show([])
        self.chips.show_chips([Chip("Starting", "clock", "incomplete")])
        # Hidden and shown again: the button to cancel is good for every run again.
        self.show_held(held=False)
        self.progress.hide()
        self.progress.show_progress("Starting the judge", 0, 0)
        self.progress.show()
        self.body.setCurrentIndex(1)
        self._settle()
        self._desk.ask_later(self._count_wanted, run_watching.wanted, order)
        self._tick.start()

    def rebind(self) -> None:
        """Print the key as it now is."""
        self.hold.set_key(keys.sequences("hold_run")[0])

    def show_held(self, *, held: bool) -> None:
        """The run is held, or goes on."""
        self.hold.set_words("Resume" if held else "Pause")

    def show_stopping(self) -> None:
        """The run was asked to stop."""
        self.progress.show_stopping()

    def show_line(self, line: dict[str, Any]) -> None:
        """Show how far the run is."""
        self._line, self._heard = line, time.monotonic()
        done, total = int(line["done"]), int(line["total"])
        what = doing(line, f"{line.get('rate', 0):,.1f} a second")
        self.progress.show_progress(what, done, total, line.get("left_s"))
        self.chips.show_chips(chips(line))
        if not self._fresh.isActive():
            self._fresh.start()

    def _show_calls(self) -> None:
        since = time.monotonic() - self._heard
        under_way = self._line.get("under_way") or ()
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
        if self._order is None or self._looking or not self._line:
            return
        self._looking = True
        called = self._line.get("under_way") or ()
        asked = {(call["response"], unit) for call in called for unit in call["units"]}
        new = sorted(asked - self._names.keys())
        self._desk.ask_later(
            self._looked, _seen, self._line["run"], self._order.protocol.removeprefix(CHECKS), new
        )

    def _looked(self, found: tuple[list[SystemStatus], dict[Key, CallSubject]]) -> None:
        self._looking = False
        standings, names = found
        self._names |= names
        self.parts.show(
            [SystemProgress(standing, self._wanted.get(standing.system, 0)) for standing in standings]
        )
        if self._order is not None:
            self._show_calls()

    def _count_wanted(self, wanted: dict[str, int]) -> None:
        self._wanted = wanted

    def _settle(self) -> None:
        """Take no more room than a few words need while nothing is in progress."""
        idle = self.body.currentIndex() == 0
        self.setMaximumHeight(theme.current().px(86) if idle else _NO_END)
        self.setMinimumHeight(0 if idle else theme.current().px(190))

    def stop(self) -> None:
        """Look at nothing any more."""
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


def chips(line: Mapping[str, Any]) -> list[Chip]:
    """What a run came to so far, in pills."""
    missing = line.get("missing") or {}
    cost = line.get("cost_usd")
    made = [Chip(counted(line.get("calls", 0), "call"), "link", "missing")]
    if line.get("reused"):
        made.append(Chip(f"{line['reused']:,} from the cache", "restore", "agreed"))
    if cost is not None:
        made.append(Chip(f"{usd(cost)} spent", "info", "unconfirmed"))
    elif line.get("calls"):
        made.append(Chip("cost not known", "info", "missing"))
    came = int(line.get("judged_now", 0)) - sum(missing.values())
    made.append(Chip(f"{came:,} came now", "check", "agreed"))
    if missing:
        made.append(Chip(f"missing: {causes_words(missing)}", "warning", "unconfirmed"))
    if len(line.get("models") or ()) > 1:
        made.append(Chip(f"answers as {', '.join(line['models'])}", "warning", "disagree"))
    return made


def ended_words(line: Mapping[str, Any]) -> str:
    """How a run ended, in a sentence or two."""
    if line.get("event") == "refused":
        return f"The last run failed: {line.get('error', '')}"
    if not line.get("total"):
        return "The last run was cancelled before it started."
    left = f", {line['not_asked']:,} not asked," if line.get("not_asked") else ""
    said = f"The last run is {line['state']}: {line['judged']:,} of {line['total']:,}{left}"
    said += f" in {lasting(line['seconds'])}"
    said += f", for {usd(line['cost_usd'])}." if line.get("cost_usd") is not None else "."
    if line.get("without"):
        said += f" Missing: {causes_words(line['without'])}."
    if line.get("cause"):
        said += f" Reason for stopping: {line['cause']}"
    return said
