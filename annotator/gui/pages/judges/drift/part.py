"""Drift tab: verdicts frozen once and asked for again later, to see whether a judge has changed."""

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.judging import drift
from annotator.actions.judging.drift import DriftStatus
from annotator.actions.judging.judge_planning import RunSummary
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.domain.judges.judge import RunState
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.judges.drift.anchor_form import AnchorForm
from annotator.gui.pages.judges.drift.drift_found import DriftFound
from annotator.gui.pages.judges.drift.drifts import STANDINGS
from annotator.gui.pages.judges.runs.driver import CHECK, Driver
from annotator.gui.pages.judges.runs.forecast_view import ForecastView
from annotator.gui.review.judge_words import when
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.tables.cells import CellsModel
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.later import later
from annotator.gui.widgets.layouts import StretchSpace, column_of, vertical
from annotator.gui.widgets.plain_area import PlainArea

LEFT = (
    Command(
        "freeze_anchor",
        "Freeze verdicts",
        "lock",
        "Freeze some of the judge's verdicts to check later; makes no call and costs nothing",
    ),
)
RIGHT = (
    Command("previous_item", "Back", hint="The changed verdict before"),
    Command("next_item", "Next changed", hint="The next verdict that changed"),
    Command("submit", "Check now", hint="Judge the frozen units again and compare", role="primary"),
)
NOTHING = (
    "No judge can be checked yet",
    "A check asks an endpoint judge again for earlier verdicts. Run one first. The baseline needs no check: "
    "its verdicts never change.",
)
SETTLE_MS = 150
NONE_FROZEN = "Freeze verdicts first; a check judges them again."


class DriftPart(PagePart):
    """Judges and their anchor sets on the left, above the check's options; results on the right."""

    run_wanted = Signal(dict)

    def __init__(self, desk: Desk, driver: Driver) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self.driver = driver
        self._place: dict[str, Any] = {}
        self.model = CellsModel[DriftStatus](STANDINGS, self)
        self.table = CellsTable("Judges and their frozen verdicts", self.model, stretched=0)
        self.form, self.forecast, self.found = AnchorForm(desk), ForecastView(desk), DriftFound(desk)
        self.panel = RunPanel(driver, CHECK)
        self._soon = later(self, self._look, SETTLE_MS)
        self.acts = {
            "freeze_anchor": self.freeze,
            "submit": self.start,
            "next_item": lambda: self.found.step(1),
            "previous_item": lambda: self.found.step(-1),
        }
        self._listen()
        self.lay_out(self._body())

    def _listen(self) -> None:
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        self.form.changed.connect(self._soon.start)
        self.found.freeze_wanted.connect(self.freeze)
        self.found.check_wanted.connect(self.start)
        self.found.turned.connect(self._offer)
        self.driver.began.connect(lambda _: self._offer())
        self.driver.ended.connect(self._ended)

    def _body(self) -> QWidget:
        inner = column_of(self.form, StretchSpace(1), margins=(0, 0, 10, 0))
        below = QWidget()
        column = vertical(
            (PlainArea("Frozen verdicts and the check", inner), 1), on=below, margins=(0, 4, 4, 0), spacing=8
        )
        # What it would cost stays in view, however long the form is.
        for widget in (self.forecast, self.panel):
            column.addWidget(widget)
        left = Splitter(
            "judges/drift form", Qt.Orientation.Vertical, parts=(self.table, below), sizes=(120, 440)
        )
        theme.scale(left.setMinimumWidth, 380)
        whole = Splitter("judges/drift", parts=(left, self.found), sizes=(476, 604), stretch=(0, 1))
        self.empty = EmptyState("judges", *NOTHING)
        self.empty.add_action("To the runs", lambda: self.run_wanted.emit({}), primary=True)
        self.body = Stack(whole, self.empty)
        return self.body

    def fill(self) -> None:
        """Read again how every judge stands."""
        self.forecast.forget()
        self.desk.ask_later(self._told, _read)

    def go(self, place: Any) -> None:
        """Choose a `judge` by its name, under a `protocol`."""
        self._place = dict(place)
        self.fill()

    def focus_first(self) -> None:
        """Work begins in the list of judges."""
        (self.table if self.body.currentIndex() == 0 else self.empty).setFocus()

    def stop(self) -> None:
        """Look at nothing any more."""
        super().stop()
        self._soon.stop()
        self.forecast.stop()
        self.found.stop()

    def standing(self) -> DriftStatus | None:
        """The chosen judge under a protocol."""
        return self.model.at(self.table.currentIndex().row())

    def _told(self, found: tuple[list[DriftStatus], list[str]]) -> None:
        if self.stopped:
            return
        kept, (standings, systems) = self.standing(), found
        self.form.systems.offer(systems)
        self.model.show(standings)
        self.body.setCurrentIndex(0 if standings else 1)
        place, self._place = self._place, {}
        wanted = (place.get("judge"), place.get("protocol"))
        row = self.model.place_of(lambda one: (one.judge, one.protocol) == wanted)
        if row < 0 and kept is not None:
            row = self.model.place_of(
                lambda one: (one.judge_id, one.protocol) == (kept.judge_id, kept.protocol)
            )
        if standings:
            self.table.setCurrentIndex(self.model.index(max(0, row), 0))
        self._turn()

    def _turn(self) -> None:
        one = self.standing()
        if one is not None:
            self.form.show_standing(one)
            self.found.show_standing(one)
            self._soon.start()
        self._offer()

    def _look(self) -> None:
        one = self.standing()
        if one is None or self.stopped:
            return
        order, words = self.form.order(one), f"{counted(one.frozen, 'verdict')} will be asked for again."
        if one.stopped is not None:
            done, total = one.stopped.done, one.stopped.total
            words = f"A check was stopped at {done:,} of {total:,}. Started again, it goes on and asks nothing twice."
        if one.frozen_at is None:
            self.forecast.show_look(RunSummary(order, NONE_FROZEN, refused=True), asks=True)
        else:
            self.forecast.show_look(RunSummary(order, words, one.frozen, one.frozen), asks=True)

    def _offer(self) -> None:
        one, writable = self.standing(), not self.desk.project.readonly
        frozen, going = one is not None and one.frozen_at is not None, self.driver.running
        changed = self.found.changed.rowCount() > 0 and bool(one and one.checks)
        self.bar.set_words("freeze_anchor", "Freeze again" if frozen else "Freeze verdicts")
        self.bar.enable("freeze_anchor", writable and one is not None)
        self.bar.enable("submit", writable and frozen and not going)
        for act in ("next_item", "previous_item"):
            self.bar.enable(act, changed)
        for button in (self.found.freeze, self.found.check):
            button.setEnabled(writable and not going)
        other = going and not self.driver.checking
        self.bar.say("A run is under way; a check can start after it." if other else "")

    def freeze(self) -> None:
        """Freeze verdicts of the chosen judge; where some are frozen, only once that was confirmed."""
        one = self.standing()
        if one is None or not self.bar.buttons["freeze_anchor"].isEnabled():
            return
        if one.frozen_at is None:
            self._freeze(one)
            return
        self.form.choose_anew()
        self.answer.show_message(
            "warning",
            f"{counted(one.frozen, 'verdict')} of \u2068{one.judge}\u2069 are frozen since {when(one.frozen_at)}.",
            "Replacing them restarts the comparison from today; earlier checks stay readable.",
        )
        self.answer.set_action("Freeze again", lambda: self._freeze(one))

    def _freeze(self, one: DriftStatus) -> None:
        keys = self.form.keys()
        if isinstance(keys, Refusal):
            self.answer.show_message("error", keys.happened, keys.todo)
            self.form.items.setFocus()
            return
        self.answer.clear()
        change = self.desk.do(
            drift.anchor,
            one.judge,
            one.protocol,
            self.form.many.value(),
            again=one.frozen_at is not None,
            systems=self.form.systems.ticked(),
            items=keys,
        )
        if change is not None:
            frozen = counted(len(change.after["units"]), "verdict")
            self.answer.show_message(
                "success",
                f"{frozen} of \u2068{one.judge}\u2069 are frozen.",
                "You can check against them at any time.",
            )

    def start(self) -> None:
        """Start a check of the chosen judge, in a process of its own."""
        one = self.standing()
        if one is not None and self.bar.buttons["submit"].isEnabled():
            self.answer.clear()
            self.driver.start(self.form.order(one))

    def _ended(self, line: dict[str, Any]) -> None:
        self._offer()
        if "drift" in line:
            told = line["drift"]
            changed = told["changed"] or told["differences"]
            self.answer.show_message("warning" if changed else "success", str(line["words"][0]))
        elif str(line.get("deed", "")) == drift.DEED and line.get("state") != RunState.DONE.value:
            self.answer.show_message(
                "info",
                "The check was stopped before it finished.",
                f"{line['cause']} Start it again to resume.".strip(),
            )
        if self.isVisible():
            self.fill()


def _read(project: Project) -> tuple[list[DriftStatus], list[str]]:
    return drift.standings(project), judge_cases.systems(project)
