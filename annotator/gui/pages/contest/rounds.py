"""Compare tab: a judge compares tasks in rounds, matches come in from a file, and who has compared so far."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QStackedWidget

from annotator.actions.contests import contest_files, contest_overview, contest_standings, contest_tasks
from annotator.actions.contests.contest_files import ImportedMatches
from annotator.actions.contests.contest_overview import RaterSoFar
from annotator.actions.contests.contest_runs import MOST_ROUNDS, ContestSettings
from annotator.actions.judges import judges
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.order_estimate import OrderEstimate
from annotator.gui.desk.part import PagePart
from annotator.gui.desk.run import REFUSED, BackgroundRun
from annotator.gui.review.judge_words import causes_words
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.tables.sheet_widths import fit
from annotator.gui.tables.sheets import SheetModel
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.basics import PlainLabel, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.labelled import together
from annotator.gui.widgets.fields.number_box import BudgetBox, NumberBox
from annotator.gui.widgets.lists.lines_table import LinesTable

# Coordinators who pay for calls. What annoys them elsewhere: a contest that needs a terminal, costs that are known
# afterwards, and rounds that go on comparing the worst with the worst.
LEFT = (
    Command(
        "import_matches", "Import matches…", "import",
        "Import comparisons made elsewhere: a CSV with the columns first, second, winner, confidence, rater",
    ),
)  # fmt: skip
RIGHT = (
    Command(
        "start_contest", "Compare", hint="Have the judge compare; pairs that it has answered are not asked again",
        role="primary",
    ),
)  # fmt: skip
NOTHING = (
    "No tasks to compare yet",
    "Tasks compete once their lists are submitted, or settled where several people wrote one. Lists made elsewhere "
    "are imported on the Import page.",
)
NO_JUDGE = "No judge can compare: add one with an endpoint on the Judges page."
RANDOM, NEAR = "random", "near"
USUAL = 2


class RoundsPart(PagePart):
    """The judge and its rounds above, with what they take; below, who has compared so far."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self._so_far: dict[str, RaterSoFar] = {}
        self._names: dict[str, str] = {}
        self.judge, self.pairs = ChoiceBox(), ChoiceBox()
        for box, name, letters in ((self.judge, "Judge that compares", 20), (self.pairs, "Who meets", 10)):
            box.setAccessibleName(name)
            box.keep_short(letters)
        self.top, self.seed = NumberBox(minimum=1, maximum=99_999), NumberBox(minimum=0, maximum=999_999_999)
        self.rounds = NumberBox(minimum=1, maximum=MOST_ROUNDS)
        for number, name in (
            (self.top, "How many are to be kept"), (self.seed, "Seed of the pairs"), (self.rounds, "Rounds in all"),
        ):  # fmt: skip
            number.setAccessibleName(name)
        self.both, self.budget = QCheckBox("In both orders"), BudgetBox()
        self.words = PlainLabel(role="hint", wrap=True)
        self.run = BackgroundRun(desk, "Comparing tasks", "Contest", self, part="Compare")
        self.model = SheetModel(self)
        self.table = LinesTable("Who has compared", self.model)
        self._estimate = OrderEstimate(desk, self, self._order)
        self._estimate.told.connect(self._show_estimate)
        self.acts = {"start_contest": self.start, "import_matches": self._choose_file}
        self.lay_out(self._body())
        self._offer_usual()
        self.run.ended.connect(self._ended)

    def _body(self) -> QStackedWidget:
        card, row = QFrame(), FlowRow(gap=10)
        card.setProperty("role", "card")
        self._cut = together("Below the best", self.top, "Only tasks within 40 points of that cut meet")
        for part in (
            together("Judge", self.judge),
            together("Rounds in all", self.rounds, "Rounds that were held count; those are not held again"),
            together("Pairs", self.pairs), self._cut, self.both,
            together("Seed", self.seed, "The same seed gives the same pairs on every system"),
            together("Budget", self.budget),
        ):  # fmt: skip
            row.addWidget(part)
        self.both.setToolTip(
            "Each pair is asked twice, so that it does not matter which task is shown first: twice as many calls"
        )
        vertical(row, self.words, RunPanel(self.run), on=card, margins=(10, 8, 10, 8), spacing=6)
        work = QFrame()
        vertical(
            card,
            PlainLabel("Who has compared so far", "subtitle"),
            (self.table, 1),
            on=work,
            margins=0,
            spacing=8,
        )
        self.empty = EmptyState("judges", *NOTHING)
        self.stack = Stack(work, self.empty)
        return self.stack

    def _offer_usual(self) -> None:
        usual = ContestSettings()
        self.both.setChecked(not usual.one_order)
        self.seed.setValue(usual.seed)
        self.rounds.setValue(usual.rounds)
        offer(self.pairs, [("at random", RANDOM), ("near the cut", NEAR)])
        self._cut.hide()
        self.judge.currentIndexChanged.connect(lambda _: self._choose_judge())
        self.pairs.currentIndexChanged.connect(lambda _: self._change())
        for number in (self.top, self.seed, self.rounds):
            number.valueChanged.connect(lambda _: self._change())
        self.both.toggled.connect(lambda _: self._change())

    def focus_first(self) -> None:
        self.judge.setFocus(Qt.FocusReason.OtherFocusReason)

    def fill(self) -> None:
        """Offer the judges, and read who has compared so far."""
        tasks = self.desk.ask(contest_tasks.tasks) or []
        self.stack.setCurrentIndex(0 if len(tasks) > 1 else 1)
        if len(tasks) > 1:
            self.top.setMaximum(len(tasks) - 1)
            if self.pairs.currentData() != NEAR:
                self.top.setValue(contest_standings.usual_top(len(tasks)))
        found = self.desk.ask(contest_overview.so_far) or []
        self._so_far = {one.id: one for one in found}
        self.model.show(contest_overview.sheet(found))
        fit(self.table, self.model)
        known = [one for one in self.desk.ask(judges.all_of) or [] if one.kind != JudgeKind.DERIVED]
        known.sort(key=lambda one: one.kind == JudgeKind.BASELINE)
        chosen = self.judge.currentData()
        offer(self.judge, [(_named(one.name, one.kind), one.id) for one in known])
        self._names = {one.id: one.name for one in known}
        if self.judge.currentData() != chosen:
            self._choose_judge()
        self._change()

    def on_change(self, change: Change) -> None:
        """While a judge compares, its own answers are counted at the end."""
        if not self.run.running:
            self.fill()

    def start(self) -> None:
        order = self._order()
        if order is not None and self.bar.buttons["start_contest"].isEnabled():
            self.answer.clear()
            self.bar.enable("start_contest", not self.run.start(order))

    def stop(self) -> None:
        super().stop()
        self._estimate.stop()
        self.run.stop()

    def _choose_judge(self) -> None:
        """Offer two rounds more than a judge has held; of those that it did not end, the rest."""
        held = self._so_far.get(str(self.judge.currentData()))
        self.rounds.setValue(USUAL if held is None else held.rounds + (0 if held.not_asked else USUAL))
        self._change()

    def _order(self) -> RunRequest | None:
        if self.judge.currentData() is None:
            return None
        settings = ContestSettings(
            self.rounds.value(), self.seed.value(), not self.both.isChecked(),
            self.top.value() if self.pairs.currentData() == NEAR else 0,
        )  # fmt: skip
        return RunRequest(
            judge=self._names[self.judge.currentData()], protocol=settings.name, budget_usd=self.budget.limit
        )

    def _change(self) -> None:
        self._cut.setVisible(self.pairs.currentData() == NEAR)
        there = self.stack.currentIndex() == 0
        free = there and self._order() is not None and not self.desk.project.readonly
        self.bar.enable("import_matches", there and not self.desk.project.readonly)
        self.bar.enable("start_contest", free and not self.run.running)
        if free:
            self._estimate.count_soon()
        else:
            self.words.setText(NO_JUDGE if self._order() is None else "")

    def _show_estimate(self, found: CostEstimate) -> None:
        more = found.units or self.run.running
        self.words.setText(
            " ".join(found.words())
            if more
            else f"{found.judge} has held these rounds; more of them go on from there."
        )
        self.bar.enable("start_contest", bool(found.units) and not self.run.running)

    def _choose_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self,
            "Matches that were played elsewhere",
            "",
            "Tables (*.csv *.tsv *.xlsx *.json *.jsonl *.parquet)",
        )
        if name:
            self.import_file(Path(name))

    def import_file(self, path: Path) -> None:
        """Import the matches of a file, all of them or none."""
        self.answer.clear()
        self.bar.enable("import_matches", False)
        self.desk.do_later(self._imported, self._say_progress, contest_files.import_matches, path)

    def _say_progress(self, what: str, done: int, total: int) -> None:
        self.bar.say(f"{what}: {done:,} of {total:,}")

    def _imported(self, found: ImportedMatches | None) -> None:
        if self.stopped:
            return
        self.bar.say("")
        if found is not None:
            if found.change is not None:
                self.desk.tell(found.change)
            self.answer.show_message("info" if found.again else "success", " ".join(found.words()))
        self.fill()

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED:
            missing = line.get("missing") or {}
            if missing:
                self.answer.show_message(
                    "warning", f"Incomplete: {causes_words(missing)}.", "Start again to retry."
                )
            elif line.get("state") == "done":
                self.answer.show_message("success", "All rounds are held. The standings are on Keep.")
            else:
                self.answer.show_message(
                    "info", "Stopped.", str(line.get("cause") or "Start again to resume.")
                )
        if not self.stopped:
            self.fill()


def _named(name: str, kind: JudgeKind) -> str:
    return f"{name} (no network)" if kind == JudgeKind.BASELINE else name
