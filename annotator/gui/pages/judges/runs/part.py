"""Runs tab: order form, cost estimate, live panel, queue and past runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QWidget

from annotator.actions.judges import judges
from annotator.actions.judging import drift, judge_offers, judge_planning, judge_queue
from annotator.actions.judging.judge_offers import CHECKS, ExtractionOffer, ProtocolOffer, draws, purpose
from annotator.actions.judging.judge_planning import RunSummary
from annotator.actions.judging.judge_queue import QueuedRun
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_records import RunLine
from annotator.domain.judges.judge import JudgeKind, RunState
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.judges.roster.judges_model import RUNS, WAITING, compared
from annotator.gui.pages.judges.runs.driver import Driver
from annotator.gui.pages.judges.runs.forecast_view import ForecastView
from annotator.gui.pages.judges.runs.live_panel import LivePanel
from annotator.gui.pages.judges.runs.run_form import RunForm
from annotator.gui.tables.cells import CellsModel
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.flow_row import FlowRow, grow_by_width
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    tooltip,
    vertical,
)
from annotator.gui.widgets.empty_state import answered_label
from annotator.gui.widgets.later import later
from annotator.gui.widgets.plain_area import PlainArea

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
        self.nothing = answered_label(NONE)
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


class Readiness(QFrame):
    """Words about the chosen order, and buttons to provide what is missing."""

    drawing_wanted = Signal(str)
    """An extraction by name."""
    prompt_wanted = Signal(str)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.words, self.lacks = PlainLabel("", wrap=True), PlainLabel("", "hint", wrap=True)
        self.acts = QWidget()
        grow_by_width(self.acts)
        self._row = FlowRow(self.acts, gap=6)
        vertical(self.words, self.lacks, self.acts, on=self, margins=0, spacing=4)

    def show_offer(self, offer: ProtocolOffer | ExtractionOffer | None) -> None:
        """Show how far the project allows it."""
        while (part := self._row.takeAt(0)) is not None:
            if (widget := part.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.words.setText(offer.words() if offer else "")
        self.words.setToolTip(tooltip("\n".join((offer.citation, *offer.departures))) if offer else "")
        lacks: list[str] = list(offer.lacks) if isinstance(offer, ProtocolOffer) else []
        if isinstance(offer, ProtocolOffer):
            lacks += [step.words() for step in offer.steps if step.missing]
            self._lead(offer)
        elif offer is not None and offer.lacks:
            self._add("Import reports" if offer.things == "report" else "Import sources", self._import)
        if offer is not None and offer.prompts:
            name = offer.prompts[0]
            self._add("Its prompt", lambda: self.prompt_wanted.emit(name))
        self.lacks.setText("\n".join(dict.fromkeys(lacks)))
        self.lacks.setVisible(bool(lacks))
        self.acts.setVisible(self._row.count() > 0)
        self.acts.updateGeometry()

    def _lead(self, offer: ProtocolOffer) -> None:
        for step in offer.steps:
            if step.missing:
                want = partial(self.drawing_wanted.emit, step.extraction)
                self._add(f"Draw the {step.part.value} first", want)
        if not offer.items:
            self._add("Import items", self._import)
        said = " ".join(offer.lacks)
        if "response" in said and " of a response" not in said:
            self._add("Import reports", self._import)
        if any(
            f"lack{s} a {kind}." in said
            for s in ("", "s")
            for kind in ("rubric", "plan", "diagnostics", "evidence")
        ):
            self._add("Write it on the Author page", lambda: self._desk.go("Author"))

    def _import(self) -> None:
        self._desk.go("Import")

    def _add(self, words: str, slot: Callable[[], object]) -> None:
        button = push_button(words, lambda: slot(), "chip")
        self._row.addWidget(button)
        button.show()


LEFT = (
    Command(
        "run_again",
        "Ask for the missing",
        "restore",
        "Resume the selected run, or ask for its missing judgements",
    ),
    Command(
        "run_compare",
        "Run again and compare",
        "restore",
        "Ask the judge for some of the selected run's verdicts again, and see which changed",
    ),
    Command("read_replies", "Read replies", "quote", "Read the replies of the selected run, one by one"),
)
RIGHT = (
    Command("start_queue", "Start queue", hint="Start the queued runs, one after the other"),
    Command("queue_run", "Queue it", hint="Add this run to the queue"),
    Command("submit", "Start", hint="Start this run now", role="primary"),
)
SETTLE_MS = 150
Offers = list[ProtocolOffer | ExtractionOffer]


class RunsPart(PagePart):
    """The order on the left; running, queued and past runs on the right."""

    replies_wanted = Signal(dict)
    prompt_wanted = Signal(dict)
    costs_wanted = Signal(dict)

    def __init__(self, desk: Desk, driver: Driver) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self.driver = driver
        self._look: RunSummary | None = None
        self._new = False
        self.form, self.ready, self.forecast = RunForm(desk), Readiness(desk), ForecastView(desk)
        self.live, self.past = LivePanel(desk, driver), PastRuns(desk)
        self._soon = later(self, self._ask_look, SETTLE_MS)
        self.acts = {
            "submit": self.start,
            "queue_run": self.enqueue,
            "start_queue": self.start_queue,
            "run_again": lambda: self.again(),
            "run_compare": self.compare,
            "read_replies": self._read,
            "run_costs": self._read_costs,
        }
        self._listen()
        self.lay_out(self._body())

    def _body(self) -> QWidget:
        inner = column_of(self.form, self.ready, StretchSpace(1), margins=(0, 0, 10, 0), spacing=10)
        # What it would cost stays in view, however long the form is.
        left = column_of(
            (PlainArea("Run settings", inner), 1), self.forecast, margins=(0, 0, 4, 0), spacing=8
        )
        theme.scale(left.setMinimumWidth, 350)
        right = Splitter(
            "judges/runs below", Qt.Orientation.Vertical, parts=(self.live, self.past), sizes=(330, 260)
        )
        return Splitter("judges/runs", parts=(left, right), sizes=(390, 690), stretch=(2, 3))

    def _listen(self) -> None:
        self.form.changed.connect(self._changed)
        self.ready.drawing_wanted.connect(lambda name: self.form.show_place({"protocol": name}))
        self.ready.prompt_wanted.connect(lambda name: self.prompt_wanted.emit({"prompt": name}))
        self.past.chosen.connect(self._offer)
        self.past.read_wanted.connect(self._read)
        self.past.costs.clicked.connect(self._read_costs)
        self.driver.began.connect(lambda _: self._began())
        self.driver.progressed.connect(self._progressed)
        self.driver.ended.connect(self._ended)
        self.driver.queued.connect(self._fill_past)

    def fill(self) -> None:
        """Read everything again; offers are counted on another thread."""
        self.forecast.forget()
        self._fill_past()
        self.desk.ask_later(self._offered, _offers)

    def go(self, place: Any) -> None:
        """Choose a judge or what is judged, or ask again for the missing of a run."""
        self.form.show_place(place)
        if place.get("again"):
            self.again(str(place["again"]))

    def rebind(self) -> None:
        super().rebind()
        self.past.rebind()

    def focus_first(self) -> None:
        self.form.judge.setFocus()

    def stop(self) -> None:
        super().stop()
        self._soon.stop()
        self.forecast.stop()
        self.live.stop()

    def start(self) -> None:
        if self._look is not None and self.bar.buttons["submit"].isEnabled():
            self.carry_out(self._look.order)

    def enqueue(self) -> None:
        """Let what is put together wait."""
        if self._look is None or not self.bar.buttons["queue_run"].isEnabled():
            return
        if self.driver.enqueue(self._look.order):
            after = "It starts after the current run." if self.driver.running else "Start the queue to begin."
            self.answer.show_message("success", "The run is in the queue.", after)

    def start_queue(self) -> None:
        if not self.driver.running and not self.driver.start_queue():
            self.answer.show_message("info", "The queue is empty.", "Set up a run and add it to the queue.")

    def again(self, run_id: str = "") -> None:
        """Go on with a run, the chosen one by default, or ask for what it left without a verdict, and for no more."""
        runs = self.desk.ask(run_records.runs) or [] if run_id else []
        run = next((run for run in runs if run.id == run_id), None) or self.past.run()
        if run is not None and run.open and not self.desk.project.readonly:
            self.carry_out(run.order(**self.form.how()))

    def compare(self) -> None:
        """Say what it takes to ask the chosen run's judge again; that starts only when it is confirmed."""
        run = self.past.run()
        if run is None or not self.bar.buttons["run_compare"].isEnabled():
            return
        judge, protocol = run.judge, run.protocol.removeprefix(CHECKS)
        if self.desk.ask(drift.anchored, judge, protocol) is None:
            self.desk.do(drift.anchor, judge, protocol)
        if self.desk.ask(drift.anchored, judge, protocol) is not None:
            order = RunRequest(judge, CHECKS + protocol, **self.form.how())
            self.desk.ask_later(self._priced, _priced, order)

    def _priced(self, found: tuple[RunRequest, list[str]]) -> None:
        order, words = found
        if not self.stopped:
            self.answer.show_message(
                "info", f"\u2068{order.judge}\u2069 can be asked again; no result changes.", " ".join(words)
            )
            self.answer.set_action("Ask again", lambda: self.carry_out(order))

    def carry_out(self, order: RunRequest) -> None:
        """Start an order, unless a run is in progress."""
        self.answer.clear()
        self.driver.start(order)

    def _began(self) -> None:
        self._new = True
        self._offer()

    def _progressed(self, line: dict[str, Any]) -> None:
        if not self.past.show_live(line) and self._new:
            # The run has its place in the list as soon as it has begun.
            self._new = False
            self._fill_past()

    def _ended(self, line: dict[str, Any]) -> None:
        self.fill()
        if "drift" in line:
            told, place = line["drift"], compared(line["drift"]["judge"], line["drift"]["protocol"])
            self.answer.show_message(
                "warning" if told["changed"] or told["differences"] else "success", str(line["words"][0])
            )
            self.answer.set_action("Compare", lambda: self.desk.go("Validate", **place))
        self._offer()

    def _fill_past(self) -> None:
        self.past.fill_queue()
        self.desk.ask_later(self._past, run_records.runs)

    def _past(self, runs: list[RunLine]) -> None:
        if self.stopped:
            return
        elsewhere = False
        if any(run.state == RunState.RUNNING.value for run in runs) and not self.driver.running:
            elsewhere = bool(self.desk.ask(run_records.under_way))
        self.past.fill(runs, going=self.driver.running or elsewhere)
        self._offer()

    def _offered(self, found: tuple[Offers, list[str]]) -> None:
        if self.stopped:
            return
        offers, systems = found
        self.form.fill(self.desk.ask(judges.all_of) or [], offers, systems)

    def _changed(self) -> None:
        self.ready.show_offer(self.form.offered)
        self._look = None
        self._offer()
        self._soon.start()

    def _ask_look(self) -> None:
        order = self.form.order()
        if order is not None and order.protocol:
            self.desk.ask_later(self._looked, judge_planning.look, order)

    def _looked(self, look: RunSummary) -> None:
        if self.stopped or look.order != self.form.order():
            return
        self._look = look
        known = {judge.name: judge for judge in self.desk.ask(judges.all_of) or []}
        judge = known.get(look.order.judge)
        self.forecast.show_look(look, asks=judge is not None and judge.kind == JudgeKind.ENDPOINT)
        self._offer()

    def _offer(self) -> None:
        writable, look, run = not self.desk.project.readonly, self._look, self.past.run()
        offered = self.form.offered
        empty = isinstance(offered, ExtractionOffer) and bool(offered.lacks)
        able = writable and look is not None and not look.refused and look.to_do > 0 and not empty
        going = self.driver.running
        self.bar.enable("submit", able and not going)
        self.bar.enable("queue_run", able)
        self.bar.enable("start_queue", writable and not going and self.past.waits)
        self.bar.enable("run_again", writable and not going and run is not None and run.open)
        self.bar.set_words("run_again", again_words(run))
        judged = run is not None and purpose(run.protocol.removeprefix(CHECKS)) == "judging"
        self.bar.enable("run_compare", writable and not going and judged and run is not None and run.paid)
        self.bar.enable("read_replies", run is not None)
        self.past.costs.setEnabled(run is not None and run.paid and _judged(run))

    def _read(self) -> None:
        run = self.past.run()
        if run is not None and run.protocol.startswith(CHECKS):
            # Of a check there are no judgements, but a report.
            self.desk.go("Validate", **compared(run.judge, run.protocol))
        elif run is not None:
            self.replies_wanted.emit({"run_id": run.id})

    def _read_costs(self) -> None:
        run = self.past.run()
        if run is not None and self.past.costs.isEnabled():
            self.costs_wanted.emit({"run_id": run.id})


def again_words(run: RunLine | None) -> str:
    return "Resume it" if run is not None and run.done < run.total else "Ask for the missing"


def _priced(project: Project, order: RunRequest) -> tuple[RunRequest, list[str]]:
    return order, orders.forecast(project, order).words()


def _judged(run: RunLine) -> bool:
    """Whether judgements came of a run, on which its cost can be laid."""
    return not run.protocol.startswith(CHECKS) and not draws(run.protocol)


def _offers(project: Project) -> tuple[Offers, list[str]]:
    found: Offers = [*judge_offers.in_order(judge_offers.offers(project)), *judge_offers.drawings(project)]
    return found, judge_cases.systems(project)
