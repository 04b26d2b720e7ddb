"""The order form of a run (judge, protocol, systems, items and options), its forecast, and the live panel."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QSizePolicy

from annotator.actions.judging import judge_runs
from annotator.actions.judging.judge_runs import CHECKS, ExtractionOffer, ProtocolOffer, RunSummary, title
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest, units_a_call
from annotator.actions.runs.run_records import CallSubject, SystemStatus
from annotator.domain.common import Change, Refusal, counted, in_window, lasting, usd
from annotator.domain.judges.judge import Judge, JudgeKind, RunState
from annotator.gui import theme
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import causes_words, kind_of
from annotator.gui.session.page import PartedPage
from annotator.gui.session.run import CANCELLED, REFUSED, BackgroundRun, Estimating
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import Fold
from annotator.gui.widgets.basics import PlainLabel, Stack, column_of, later, vertical, with_properties
from annotator.gui.widgets.columns import TickList
from annotator.gui.widgets.fields import (
    BudgetBox,
    ChoiceBox,
    FormRow,
    LineField,
    NumberBox,
    beside,
    choose,
    form_of,
    offer,
    when_changed,
)
from annotator.gui.widgets.splitter import Splitter

INTERRUPTED = RunState.INTERRUPTED.value


class Driver(BackgroundRun):
    """A run that works through the queue.

    After a run was stopped, the queue stops. An interrupted run (the endpoint is down, the budget is spent) holds its
    judge back: runs of other judges go on.
    """

    began = Signal(object)
    """The order that was started."""
    queued = Signal()
    """The queue has changed."""

    def __init__(self, session: ProjectSession, page: PartedPage) -> None:
        super().__init__(session, "Judge run", "Judges", page, part="Runs")
        self._parts = page
        self._held_back: set[str] = set()
        self._closing = False

    @property
    def title(self) -> str:
        order = self.order
        if not isinstance(order, RunRequest):
            return super().title
        scope = ", ".join(order.systems) or "all systems"
        return f"\u2068{order.judge}\u2069 · {title(order.protocol)} · {scope}"

    def start(self, order: Any) -> bool:
        """Start a single run; whether it was started."""
        if self.running:
            return False
        self.what = "Drift check" if order.protocol.startswith(CHECKS) else "Judge run"
        if not super().start(order):
            return False
        self.began.emit(order)
        return True

    def enqueue(self, order: RunRequest) -> bool:
        """Add an order to the queue; whether that succeeded."""
        added = self._session.do(judge_runs.add, order)
        self.queued.emit()
        return added is not None

    def start_queue(self) -> bool:
        """Start the queue, including judges that were held back; whether a run was started."""
        self._held_back.clear()
        return self._next()

    def stop(self) -> None:
        self._closing = True
        super().stop()

    def _next(self) -> bool:
        while not self.running:
            order = self._session.ask(judge_runs.take, frozenset(self._held_back))
            if order is None:
                return False
            self.queued.emit()
            if self.start(order):
                return True
            # For example a key that is not allowed yet: put it back into the queue, and let the others go on.
            self._held_back.add(order.judge)
            self.enqueue(order)
        return False

    def _ended(self, line: dict[str, Any]) -> None:
        judge, stopped = getattr(self.order, "judge", ""), self.stopping
        self._session.tell(Change("judge_run", str(line.get("run", "")), "judge"))
        super()._ended(line)
        if line.get("state") == INTERRUPTED:
            self._held_back.add(judge)
        if not stopped and not self._closing:
            self._next()

    def is_seen(self) -> bool:
        here = self._parts.TABS[self._parts.tabs.currentIndex()]
        return super().is_seen() and here == self.place["part"]


DRAWS = "Draw: "
SYSTEMS = "Systems whose reports are judged"
OTHER_NUMBER = "Another number than the usual one creates a separate judge, to compare with this one"


class RunForm(Pane):
    """The order form of a run; `changed` follows every edit."""

    changed = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._judges: dict[str, Judge] = {}
        self._offers: dict[str, ProtocolOffer | ExtractionOffer] = {}
        self._usual_of = "", ""
        self.judge, self.what = ChoiceBox(letters=12), ChoiceBox(letters=12)
        self.items = LineField(placeholderText="all items; or keys, e.g. 1, 4, 7–9", clearButtonEnabled=True)
        self.systems = TickList(SYSTEMS, 2, 4)
        self.wrong = PlainLabel("", "hint", wrap=True, visible=False)
        self.together = NumberBox(minimum=1, maximum=100)
        self.trials = NumberBox(minimum=1, maximum=100)
        self.concurrency = NumberBox(minimum=1, maximum=512, value=8)
        self.timeout = NumberBox(minimum=5, maximum=3600, value=120, suffix=" s")
        self.batch = with_properties(
            QCheckBox("In batc&hes, by the provider within a day"),
            toolTip="Usually at half price. Not every server supports this.",
        )
        self.budget = BudgetBox()
        self._lay_out()
        when_changed(self._turn, self.judge, self.what)
        self.systems.ticked_anew.connect(self.changed)
        numbers = self.together, self.trials, self.concurrency, self.timeout
        when_changed(self.changed.emit, self.items, self.batch, *numbers, self.budget)

    def _lay_out(self) -> None:
        for combo in (self.judge, self.what):
            combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.form = form_of(
            (
                ("&Judge", self.judge, self.judge, "Judge", ""),
                ("&What", self.what, self.what, "What is judged or extracted", ""),
                ("&Systems", self.systems, self.systems, SYSTEMS, ""),
                ("&Items", self.items, self.items, "Items by key", ""),
                ("&Budget", self.budget, self.budget, "Budget in US dollars", ""),
            )
        )
        rows: list[FormRow] = [
            ("Units per call", beside(self.together), self.together, "Units per call", OTHER_NUMBER),
            ("&Trials", beside(self.trials), self.trials, "Trials per unit", ""),
            ("At once", beside(self.concurrency), self.concurrency, "Concurrent calls", ""),
            ("Ti&me-out", beside(self.timeout), self.timeout, "Timeout of one call, in seconds", ""),
        ]
        self.options = Fold("Options", form_of(rows), self.batch)
        vertical(self.form, self.wrong, self.options, on=self, margins=0, spacing=7)

    def fill(
        self,
        known: Sequence[Judge],
        offers: Sequence[ProtocolOffer | ExtractionOffer],
        systems: Sequence[str],
    ) -> None:
        """Offer judges, the protocols they can be asked about, and systems; the selection stays."""
        self._judges = {judge.name: judge for judge in known}
        self._offers = {one.name: one for one in offers}
        offer(self.judge, [(f"{one.name} · {one.model or kind_of(one)}", one.name) for one in known])
        # First what can be run now, then what lacks something.
        offered = [one for one in self._offers.values() if isinstance(one, ExtractionOffer) or one.by_model]
        offered.sort(key=lambda one: not judge_runs.runnable(one))
        words = (f"{DRAWS}{one.title}" if isinstance(one, ExtractionOffer) else one.title for one in offered)
        offer(self.what, [(label, one.name) for label, one in zip(words, offered, strict=True)])
        all_ticked = self.systems.ticked() == self.systems.values()
        self.systems.offer({system: system for system in systems}, ticked=all_ticked)
        self.form.setRowVisible(self.systems, bool(systems))
        self._turn()

    @property
    def offered(self) -> ProtocolOffer | ExtractionOffer | None:
        return self._offers.get(str(self.what.currentData()))

    def order(self) -> RunRequest | None:
        """The order set up in the form; None, with the reason shown, if no system is ticked or no such item exists."""
        known, ticked = self.systems.values(), self.systems.ticked()
        try:
            keys = judge_runs.keys_of(self.session.project, self.items.text())
            if known and not ticked:
                raise Refusal("No system is ticked.", "Tick those whose reports are to be judged.")
        except Refusal as refusal:
            self.wrong.show_words(f"{refusal.happened} {refusal.todo}")
            return None
        self.wrong.hide()
        judge = self._judges.get(str(self.judge.currentData()))
        endpoint = judge is not None and judge.kind == JudgeKind.ENDPOINT
        return RunRequest(
            judge=judge.name if judge else "",
            protocol=str(self.what.currentData() or ""),
            # If all are ticked, systems added later are included.
            systems=ticked if ticked != known else (),
            items=keys,
            concurrency=self.concurrency.value(),
            timeout_s=float(self.timeout.value()),
            budget_usd=self.budget.limit if endpoint else None,
            together=self.together.value() if endpoint and self.together.isEnabled() else 0,
            trials=self.trials.value() if endpoint and self.trials.isEnabled() else 1,
            batch=endpoint and self.batch.isChecked(),
        )

    def show_place(self, place: Mapping[str, Any]) -> None:
        """Select the `judge` and the `protocol` that a place names."""
        for combo, name in ((self.judge, "judge"), (self.what, "protocol")):
            choose(combo, place.get(name))

    def how(self) -> dict[str, Any]:
        """The speed and budget, for a run whose scope is known."""
        return {
            "concurrency": self.concurrency.value(),
            "timeout_s": float(self.timeout.value()),
            "budget_usd": self.budget.limit,
        }

    def _turn(self) -> None:
        judge, what = self._judges.get(str(self.judge.currentData())), self.offered
        endpoint = judge is not None and judge.kind == JudgeKind.ENDPOINT
        draws = isinstance(what, ExtractionOffer)
        self.form.setRowVisible(self.budget, endpoint)
        self.options.setVisible(endpoint)
        if judge is not None and what is not None and (judge.id, what.name) != self._usual_of:
            self._usual_of = judge.id, what.name
            self.together.setValue(units_a_call(judge, what.name))
        together = endpoint and judge is not None and not judge.settings.of
        self.together.setEnabled(together and isinstance(what, ProtocolOffer) and what.together)
        self.trials.setEnabled(not draws)
        self.changed.emit()


class ForecastView(Pane):
    """A card with the forecast; a child process counts the questions, since it must read their words."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "card")
        self._order: RunRequest | None = None
        self._budget: float | None = None
        self.estimating = Estimating(session, self, self._came)
        self.words, self.state = PlainLabel("", "strong", wrap=True), PlainLabel("", "hint", wrap=True)
        self.facts = QFormLayout(horizontalSpacing=14, verticalSpacing=2)
        vertical(
            PlainLabel("Before it starts", "hint"), self.words, self.facts, self.state, on=self, spacing=4
        )

    def show_look(self, look: RunSummary, *, asks: bool) -> None:
        """Show at once what is known; if a model is asked (`asks`), count its questions in the background."""
        self.words.setText(look.words)
        # The budget does not change what there is to ask.
        counted = replace(look.order, budget_usd=None)
        self._order, self._budget = (
            counted if asks and not look.refused and look.total else None,
            look.order.budget_usd,
        )
        self._show({})
        if self._order is None:
            self.estimating.stop()
            self.state.setText(
                "" if look.refused or asks or not look.total else "It asks no model and costs nothing."
            )
            return
        self.state.setText("Counting the questions…")
        self.estimating.ask(self._order)

    def _came(self, forecast: dict[str, Any]) -> None:
        if "error" in forecast:
            self.state.setText(in_window(forecast["error"]))
        else:
            self._show(forecast)

    def _show(self, forecast: dict[str, Any]) -> None:
        while self.facts.rowCount():
            self.facts.removeRow(0)
        for name, words in facts(forecast) if forecast else ():
            self.facts.addRow(PlainLabel(name, "hint"), PlainLabel(words, wrap=True))
        sentence = (
            "In batches it is usually half of that." if self._order is not None and self._order.batch else ""
        )
        if forecast and forecast["cost_usd"] is None:
            sentence = (
                f"The price of {forecast['model']} is not known: no budget can be kept. Enter its prices "
                "on Judges."
            )
        elif forecast and self._budget and self._budget < (forecast["smallest_usd"] or 0):
            sentence = (
                f"A budget of {usd(self._budget)} asks nothing. Give {usd(forecast['smallest_usd'])} or more."
            )
        self.state.setText(sentence if forecast else "")


def facts(forecast: dict[str, Any]) -> list[tuple[str, str]]:
    """An estimate as pairs of name and value."""
    if forecast["lacks"]:
        return [("Questions", f"none yet. {forecast['lacks']}")]
    most = "at most " if forecast["at_most"] else ""
    assumed = " (assumed)" if forecast["assumed"] else ""
    money, as_of = forecast["cost_usd"], forecast["price_as_of"]
    by = f"at prices of {as_of}" if as_of else "at the judge's own prices"
    smallest, without = forecast["smallest_usd"], forecast["without"].removeprefix("Left out: ")
    seconds, afresh = forecast["seconds"], forecast["cost_usd_afresh"]
    by_test = ", going by its test call" if forecast["by_test"] else ""
    cost = f", about {usd(afresh)}" if afresh is not None else ""
    return [
        (
            "Questions",
            f"{most}{forecast['calls'] + forecast['in_journal']:,} for {forecast['units']:,} {forecast['things']}",
        ),
        ("Cached", f"{forecast['in_journal']:,}, which cost nothing" if forecast["in_journal"] else "none"),
        ("Tokens", f"about {forecast['tokens_input']:,} in, {forecast['tokens_output']:,} out{assumed}"),
        (
            "Money",
            f"about {usd(money)}, {by}" if money is not None else "not known",
        ),
        *([("Budget", f"useful from {usd(smallest)} on")] if smallest else []),
        (
            "Time",
            f"about {lasting(seconds)}{by_test}" if seconds is not None else "known once it has answered",
        ),
        *([("Left out", without)] if without else []),
        ("If uncached", f"{forecast['calls_afresh']:,} questions{cost}"),
    ]


# Calls that take longer than this, in seconds, are marked.
LONG_S = 30.0


@dataclass(frozen=True, slots=True)
class CallProgress(CallSubject):
    """A call in progress: its subject, and for how many seconds."""

    seconds: float


PARTS: Sequence[Column[SystemStatus]] = (
    Column("System", lambda part: part.system, 150),
    Column("Came", lambda part: f"{part.came:,}", 66, number=True),
    Column(
        "Of",
        lambda part: f"{part.due:,}" if part.due else "",
        66,
        number=True,
        about="All questions of this run about the system, including those answered before.",
    ),
    Column(
        "Missing, by cause",
        lambda part: causes_words(part.missing) or "none",
        150,
        look=lambda part: ("warning", "state-unconfirmed") if part.missing else None,
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
    Column("Item", lambda call: call.item_key or "…", 70),
    Column("System", lambda call: call.system, 110),
    Column("Asked about", lambda call: call.unit, 160),
)


# The interval, in milliseconds, for counting systems and looking up the names of new calls.
LOOK_MS = 1500
IDLE = "No run in progress. Finished judgements are saved immediately; a run can be stopped and resumed."
Key = tuple[str, str]
_NO_END = 16_777_215


class LivePanel(Pane):
    """The progress of the current run: its panel above; systems and running calls side by side below."""

    def __init__(self, session: ProjectSession, driver: Driver) -> None:
        super().__init__(session, "card")
        self._driver = driver
        self._last_message = 0.0
        self._names: dict[Key, CallSubject] = {}
        self._due: dict[str, int] = {}
        self._looking = False
        self.panel = RunPanel(driver)
        self.idle = PlainLabel(IDLE, "hint", wrap=True)
        self.parts, self.calls = (
            CellsModel[SystemStatus](PARTS, self),
            CellsModel[CallProgress](CALLS, self),
        )
        self.systems = CellsTable("Systems of the run", self.parts, stretched=3)
        self.asking = CellsTable("Calls in progress", self.calls, stretched=3)
        # Lines may arrive twenty times a second; nobody reads a list of calls that fast.
        self._fresh = later(self, self._show_calls, 250)
        self._tick = later(self, self._look, LOOK_MS, again=True)
        self.under_way = PlainLabel("", "hint")
        systems = column_of(PlainLabel("By system", "hint"), (self.systems, 1), spacing=3)
        asking = column_of(self.under_way, (self.asking, 1), spacing=3)
        both = Splitter("judges/live", parts=(systems, asking))
        self.body = Stack(self.idle, column_of(self.panel, (both, 1), spacing=6))
        vertical(self.body, on=self)
        self.show_idle()
        theme.watch(self, self._settle)
        driver.began.connect(self.show_order)
        driver.progressed.connect(lambda _: self._note_progress())
        driver.ended.connect(self.show_idle)

    def show_idle(self, line: Mapping[str, Any] | None = None) -> None:
        """Show that no run is in progress; `line` is the last line of the previous one."""
        self._tick.stop()
        self._fresh.stop()
        self.idle.setText(f"{ended_words(line)}\n{IDLE}" if line else IDLE)
        self.body.setCurrentIndex(0)
        self._settle()

    def show_order(self, order: RunRequest) -> None:
        # A refused query never returned, and must not block the next run's.
        self._looking, self._due = False, {}
        self.parts.show([])
        self.calls.show([])
        self.body.setCurrentIndex(1)
        self._settle()
        self.session.ask_later(self._due.update, run_records.requested, order)
        self._tick.start()

    def _note_progress(self) -> None:
        self._last_message = time.monotonic()
        if not self._fresh.isActive():
            self._fresh.start()

    def _show_calls(self) -> None:
        since = time.monotonic() - self._last_message
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
        return CallProgress(first.item_key, first.system, words, float(call["seconds"]) + since)

    def _look(self) -> None:
        """Count the systems, and look up the subjects of new calls; one query at a time."""
        order, line = self._driver.order, self._driver.line
        if not isinstance(order, RunRequest) or self._looking or not line:
            return
        self._looking = True
        units_out = {
            (call["response"], unit) for call in line.get("under_way") or () for unit in call["units"]
        }
        new = sorted(units_out - self._names.keys())
        self.session.ask_later(self._looked, _seen, line["run"], order.protocol.removeprefix(CHECKS), new)

    def _looked(self, answer: tuple[list[SystemStatus], dict[Key, CallSubject]]) -> None:
        self._looking = False
        standings, names = answer
        self._names |= names
        for standing in standings:
            standing.due = self._due.get(standing.system, 0)
        self.parts.show(standings)
        if self._driver.running:
            self._show_calls()

    def _settle(self) -> None:
        """Take only the height of a few words while no run is in progress."""
        idle = self.body.currentIndex() == 0
        with_properties(
            self,
            maximumHeight=theme.current().px(86) if idle else _NO_END,
            minimumHeight=0 if idle else theme.current().px(215),
        )


def _seen(
    project: Project, run_id: str, protocol: str, new: list[Key]
) -> tuple[list[SystemStatus], dict[Key, CallSubject]]:
    """The progress of each system, and the subjects of new calls."""
    return (
        run_records.by_system(project, run_id, protocol),
        run_records.named(project, protocol, new) if new else {},
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
    cost = f", for {usd(line['cost_usd'])}" if line.get("cost_usd") is not None else ""
    missing = f" Missing: {causes_words(line['without'])}." if line.get("without") else ""
    cause = f" Reason for stopping: {line['cause']}" if line.get("cause") else ""
    done = f"{line['judged']:,} of {line['total']:,}{left} in {lasting(line['seconds'])}{cost}"
    return f"The last run is {line['state']}: {done}.{missing}{cause}"
