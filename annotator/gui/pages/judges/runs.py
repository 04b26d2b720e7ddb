"""Runs tab: order form, cost estimate, live panel, queue and past runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.items import extracts
from annotator.actions.judges import judges
from annotator.actions.judging import drift, judge_runs
from annotator.actions.judging.judge_runs import (
    CHECKS,
    ExtractionOffer,
    ProtocolOffer,
    QueuedRun,
    RunSummary,
    draws,
    purpose,
)
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_records import RunLine
from annotator.domain.common import counted
from annotator.domain.judges.judge import JudgeKind, RunState
from annotator.gui.pages.judges.roster import RUNS, WAITING, compared
from annotator.gui.pages.judges.run_form import Driver, ForecastView, LivePanel, RunForm
from annotator.gui.review.sheets import CellsModel, CellsTable
from annotator.gui.session.page import PagePart
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import ActsBar, Command, FlowRow
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    StretchSpace,
    column_of,
    grow_by_width,
    horizontal,
    later,
    push_button,
    tooltip,
    vertical,
)
from annotator.gui.widgets.chips import answered_label
from annotator.gui.widgets.splitter import Splitter

NONE = "No run yet."
RUNNING = RunState.RUNNING.value


class PastRuns(Pane):
    chosen = Signal()
    read_wanted = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.runs, self.queue = CellsModel[RunLine](RUNS, self), CellsModel[QueuedRun](WAITING, self)
        self.table = CellsTable(
            "Past runs",
            self.runs,
            stretched=2,
            moved=self.chosen.emit,
            opened=lambda _: self.read_wanted.emit(),
        )
        self.waiting = CellsTable("Queued runs", self.queue, stretched=2)
        self.title, self.queue_title = PlainLabel("Past runs", "strong"), PlainLabel("", "strong")
        self.nothing = answered_label(NONE)
        self.queued = self._queue_pane()
        past = column_of(
            self.title, self.nothing, (self.table, 1), StretchSpace(0), margins=(0, 4, 0, 0), spacing=4
        )
        parts = Splitter("judges/queue", Qt.Orientation.Vertical, parts=(self.queued, past), sizes=(130, 220))
        vertical(parts, on=self, margins=0)

    def _queue_pane(self) -> QWidget:
        button = partial(chips.tool_button, enabled=not self.session.project.readonly)
        head = horizontal(
            self.queue_title,
            StretchSpace(1),
            button("Earlier", "up", lambda: self._move(-1)),
            button("Later", "down", lambda: self._move(1)),
            button("Remove from the queue", "trash", self._remove),
        )
        return column_of(head, (self.waiting, 1), margins=(0, 4, 0, 0), spacing=4)

    @property
    def waits(self) -> bool:
        return self.queue.rowCount() > 0

    def fill(self, runs: Sequence[RunLine], *, going: bool) -> None:
        """Show all runs, the newest first; one marked as running while none is `going` was killed."""
        line = self.run()
        shown = [run if going or run.state != RUNNING else replace(run, state="interrupted") for run in runs]
        self.runs.show(shown)
        self.table.setVisible(bool(shown))
        self.nothing.setVisible(not shown)
        self.table.choose(
            self.runs.place_of(lambda run: line is not None and run.id == line.id), first=bool(shown)
        )
        self.chosen.emit()

    def show_live(self, line: Mapping[str, Any]) -> bool:
        """Show the progress of the current run; whether it is in the list."""
        place = self.runs.place_of(lambda run: run.id == line.get("run"))
        if place < 0:
            return False
        runs = list(self.runs.rows)
        runs[place] = replace(
            runs[place],
            done=line["done"],
            total=line["total"],
            cost_usd=line.get("cost_usd"),
            state=RUNNING,
        )
        self.runs.show(runs)
        return True

    def run(self) -> RunLine | None:
        return self.runs.at(self.table.currentIndex().row())

    def _one(self) -> QueuedRun | None:
        return self.queue.at(max(0, self.waiting.currentIndex().row()))

    def _move(self, by: int) -> None:
        run = self._one()
        if run is None:
            return
        self.session.do(judge_runs.move, run.id, by)
        self.fill_queue()
        self.waiting.choose(self.queue.place_of(lambda other: other.id == run.id), first=True)

    def _remove(self) -> None:
        if (run := self._one()) is not None:
            self.session.do(judge_runs.remove, run.id)
            self.fill_queue()

    def fill_queue(self) -> None:
        waiting = self.session.ask(judge_runs.waiting) or []
        self.queue.show(waiting)
        self.queued.setVisible(bool(waiting))
        self.queue_title.setText(f"The queue: {len(waiting):,} waiting" if waiting else "")
        self.chosen.emit()


class Readiness(Pane):
    drawing_wanted = Signal(str)
    """The name of an extraction."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.words, self.lacks = PlainLabel("", wrap=True), PlainLabel("", "hint", wrap=True)
        self.acts = QWidget()
        grow_by_width(self.acts)
        self._row = FlowRow(self.acts, gap=6)
        vertical(self.words, self.lacks, self.acts, on=self, margins=0, spacing=4)

    def show_offer(self, offer: ProtocolOffer | ExtractionOffer | None) -> None:
        while (part := self._row.takeAt(0)) is not None:
            if (widget := part.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.words.setText(offer.words() if offer else "")
        self.words.setToolTip(tooltip("\n".join((offer.citation, *offer.departures))) if offer else "")
        lacks: list[str] = list(offer.lacks) if isinstance(offer, ProtocolOffer) else []
        if isinstance(offer, ProtocolOffer):
            lacks += [step.words() for step in offer.steps if step.without]
            self._lead(offer)
        elif offer is not None and offer.lacks:
            self._add("Import reports" if offer.things == "report" else "Import sources", self._import)
        if offer is not None and offer.prompts:
            name = offer.prompts[0]
            self._add("Its prompt", lambda: self.session.go("Judges", part="Prompts", prompt=name))
        self.lacks.show_words("\n".join(dict.fromkeys(lacks)))
        self.acts.setVisible(self._row.count() > 0)
        self.acts.updateGeometry()

    def _lead(self, offer: ProtocolOffer) -> None:
        for step in offer.steps:
            if step.without:
                self._add(f"Draw the {step.makes} first", partial(self.drawing_wanted.emit, step.name))
        if not offer.items:
            self._add("Import items", self._import)
        reasons = " ".join(offer.lacks)
        if "response" in reasons and " of a response" not in reasons:
            self._add("Import reports", self._import)
        if any(
            f"lack{s} a {kind}." in reasons
            for s in ("", "s")
            for kind in ("rubric", "plan", "diagnostics", "evidence")
        ):
            self._add("Write it on the Author page", lambda: self.session.go("Author"))

    def _import(self) -> None:
        self.session.go("Import")

    def _add(self, words: str, slot: Callable[[], object]) -> None:
        button = push_button(words, lambda: slot(), "chip")
        self._row.addWidget(button)
        button.show()


REST = (
    Command("read_replies", "Read replies", "quote", "Read the replies of the selected run, one by one"),
    Command(
        "run_compare",
        "Run again and compare",
        "restore",
        "Ask the judge for some of the selected run's verdicts again, and see which changed",
    ),
    Command(
        "drawn_waiting",
        "Extracts to confirm",
        "question",
        "Extracted by a judge or imported, not yet reviewed",
    ),
    Command("run_costs", "Costs", hint="Costs of the selected run, by criterion, question or system"),
)
LEFT = (
    Command(
        "run_again",
        "Ask for the missing",
        "restore",
        "Resume the selected run, or ask for its missing judgements",
    ),
)
RIGHT = (
    Command("start_queue", "Start queue", hint="Start the queued runs, one after the other"),
    Command("queue_run", "Queue it", hint="Add this run to the queue"),
    Command("submit", "Start", hint="Start this run now", role="primary"),
)
SETTLE_MS = 150
Offers = list[ProtocolOffer | ExtractionOffer]


class RunsPart(PagePart):
    """The Runs tab: the order on the left; running, queued and past runs on the right."""

    def __init__(self, session: ProjectSession, driver: Driver) -> None:
        super().__init__(session, ActsBar(LEFT, RIGHT, REST))
        self.driver = driver
        self._look: RunSummary | None = None
        self._new = False
        self._place: Mapping[str, Any] = {}
        self._waiting: dict[str, int] = {}
        self.form, self.ready, self.forecast = RunForm(session), Readiness(session), ForecastView(session)
        self.live, self.past = LivePanel(session, driver), PastRuns(session)
        self._soon = later(self, self._ask_look, SETTLE_MS)
        self.acts = {
            "submit": self.start,
            "queue_run": self.enqueue,
            "start_queue": self.start_queue,
            "run_again": lambda: self.again(),
            "run_compare": self.compare,
            "read_replies": self._read,
            "run_costs": self._read_costs,
            "drawn_waiting": self._confirm,
        }
        self.form.changed.connect(self._changed)
        self.ready.drawing_wanted.connect(lambda name: self.form.show_place({"protocol": name}))
        self.past.chosen.connect(self._offer)
        self.past.read_wanted.connect(self._read)
        self.driver.began.connect(lambda _: self._began())
        self.driver.progressed.connect(self._progressed)
        self.driver.ended.connect(self._ended)
        self.driver.queued.connect(self._fill_past)
        inner = column_of(self.form, self.ready, StretchSpace(1), margins=(0, 0, 10, 0), spacing=10)
        # The forecast stays in view, however long the form is.
        left = column_of(
            (PlainArea("Run settings", inner), 1), self.forecast, margins=(0, 0, 4, 0), spacing=8
        )
        right = Splitter(
            "judges/runs below", Qt.Orientation.Vertical, parts=(self.live, self.past), sizes=(330, 260)
        )
        self.lay_out(
            Splitter("judges/runs", parts=(left, right), sizes=(390, 690), stretch=(2, 3), least=(350,))
        )
        self.focus_on = self.form.judge

    def fill(self) -> None:
        """Query everything again; offers are computed on another thread."""
        self.forecast.estimating.forget()
        self._fill_past()
        self.session.ask_later(self._offered, _offers)
        self.session.ask_later(self._wait, extracts.waiting)

    def _wait(self, waiting: dict[str, int]) -> None:
        self._waiting, many = waiting, sum(waiting.values())
        self.bar.set_words("drawn_waiting", f"{counted(many, 'extract')} to confirm")
        self.bar.offer("drawn_waiting", there=many > 0)

    def _confirm(self) -> None:
        """Go to the extracts that wait for a person, of the kind with the most of them."""
        if self._waiting:
            most = max(self._waiting, key=self._waiting.__getitem__)
            self.session.go("Material", part="Extracts", waiting=most)

    def go(self, place: Any) -> None:
        self._place = place
        self.form.show_place(place)
        if place.get("again"):
            self.again(str(place["again"]))

    def stop(self) -> None:
        self.forecast.estimating.stop()

    def start(self) -> None:
        if self._look is not None and self.bar.buttons["submit"].isEnabled():
            self.carry_out(self._look.order)

    def enqueue(self) -> None:
        if self._look is None or not self.bar.buttons["queue_run"].isEnabled():
            return
        if self.driver.enqueue(self._look.order):
            after = "It starts after the current run." if self.driver.running else "Start the queue to begin."
            self.answer.show_message("success", "The run is in the queue.", after)

    def start_queue(self) -> None:
        if not self.driver.running and not self.driver.start_queue():
            self.answer.show_message("info", "The queue is empty.", "Set up a run and add it to the queue.")

    def again(self, run_id: str = "") -> None:
        """Resume a run, by default the selected one, or ask again only for what it left without a verdict."""
        runs = self.session.ask(run_records.runs) or [] if run_id else []
        run = next((run for run in runs if run.id == run_id), None) or self.past.run()
        if run is not None and run.open and not self.session.project.readonly:
            self.carry_out(run.order(**self.form.how()))

    def compare(self) -> None:
        """Show the cost of asking the selected run's judge again; the run starts only after confirmation."""
        run = self.past.run()
        if run is None or not self.bar.buttons["run_compare"].isEnabled():
            return
        judge, protocol = run.judge, run.protocol.removeprefix(CHECKS)
        if self.session.ask(drift.anchored, judge, protocol) is None:
            self.session.do(drift.anchor, judge, protocol)
        if self.session.ask(drift.anchored, judge, protocol) is not None:
            order = RunRequest(judge, CHECKS + protocol, **self.form.how())
            self.session.ask_later(self._priced, _priced, order)

    def _priced(self, priced: tuple[RunRequest, list[str]]) -> None:
        order, words = priced
        self.answer.show_message(
            "info", f"\u2068{order.judge}\u2069 can be asked again; no result changes.", " ".join(words)
        )
        self.answer.set_action("Ask again", lambda: self.carry_out(order))

    def carry_out(self, order: RunRequest) -> None:
        self.answer.clear()
        self.driver.start(order)

    def _began(self) -> None:
        self._new = True
        self._offer()

    def _progressed(self, line: dict[str, Any]) -> None:
        if not self.past.show_live(line) and self._new:
            # A run is listed as soon as it has begun.
            self._new = False
            self._fill_past()

    def _ended(self, line: dict[str, Any]) -> None:
        self.fill()
        if "drift" in line:
            drift, place = line["drift"], compared(line["drift"]["judge"], line["drift"]["protocol"])
            self.answer.show_message(
                "warning" if drift["changed"] or drift["differences"] else "success", str(line["words"][0])
            )
            self.answer.set_action("Compare", lambda: self.session.go("Validate", **place))
        self._offer()

    def _fill_past(self) -> None:
        self.past.fill_queue()
        self.session.ask_later(self._past, run_records.runs)

    def _past(self, runs: list[RunLine]) -> None:
        elsewhere = False
        if any(run.state == RunState.RUNNING.value for run in runs) and not self.driver.running:
            elsewhere = bool(self.session.ask(run_records.under_way))
        self.past.fill(runs, going=self.driver.running or elsewhere)
        self._offer()

    def _offered(self, answer: tuple[Offers, list[str]]) -> None:
        offers, systems = answer
        self.form.fill(self.session.ask(judges.all_of) or [], offers, systems)
        # The place requested before there was anything to select from.
        self.form.show_place(self._place)
        self._place = {}

    def _changed(self) -> None:
        self.ready.show_offer(self.form.offered)
        self._look = None
        self.session.forget(self._looked)
        self._offer()
        self._soon.start()

    def _ask_look(self) -> None:
        order = self.form.order()
        if order is not None and order.protocol:
            self.session.ask_newest(self._looked, judge_runs.look, order)

    def _looked(self, look: RunSummary) -> None:
        self._look = look
        known = {judge.name: judge for judge in self.session.ask(judges.all_of) or []}
        judge = known.get(look.order.judge)
        self.forecast.show_look(look, asks=judge is not None and judge.kind == JudgeKind.ENDPOINT)
        self._offer()

    def _offer(self) -> None:
        writable, look, run = not self.session.project.readonly, self._look, self.past.run()
        offered = self.form.offered
        empty = isinstance(offered, ExtractionOffer) and bool(offered.lacks)
        able = writable and look is not None and not look.refused and look.to_do > 0 and not empty
        going = self.driver.running
        judged = run is not None and purpose(run.protocol.removeprefix(CHECKS)) == "judging"
        unfinished = run is not None and run.done < run.total
        self.bar.set_words("run_again", "Resume it" if unfinished else "Ask for the missing")
        self.bar.enable_all(
            {
                "submit": able and not going,
                "queue_run": able,
                "start_queue": writable and not going and self.past.waits,
                "run_again": writable and not going and run is not None and run.open,
                "run_costs": run is not None
                and run.paid
                and not (run.protocol.startswith(CHECKS) or draws(run.protocol)),
                "run_compare": writable and not going and judged and run is not None and run.paid,
                "read_replies": run is not None,
            }
        )
        self.bar.offer("start_queue", there=self.past.waits)

    def _read(self) -> None:
        run = self.past.run()
        if run is not None and run.protocol.startswith(CHECKS):
            # A check has no judgements, but a report.
            self.session.go("Validate", **compared(run.judge, run.protocol))
        elif run is not None:
            self.session.go("Judges", part="Replies", run_id=run.id)

    def _read_costs(self) -> None:
        run = self.past.run()
        if run is not None and self.bar.buttons["run_costs"].isEnabled():
            self.session.go("Judges", part="Costs", run_id=run.id)


def _priced(project: Project, order: RunRequest) -> tuple[RunRequest, list[str]]:
    return order, orders.forecast(project, order).words()


def _offers(project: Project) -> tuple[Offers, list[str]]:
    result: Offers = [*judge_runs.in_order(judge_runs.offers(project)), *judge_runs.drawings(project)]
    return result, judge_cases.systems(project)
