"""The Contest page: pairs to rank, and for coordinators a judge's rounds and the standings to keep tasks from."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.contests.contest_rows import (
    MOST_ROUNDS,
    ContestRater,
    ContestSettings,
    ImportedMatches,
    RankedPairs,
    ShownPair,
)
from annotator.actions.contests.contest_standings import ContestReport, TaskDecision
from annotator.actions.items import items
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import Change, counted
from annotator.domain.judges.contest import FIRST, SECOND, STEPS
from annotator.gui import keys
from annotator.gui.review.run_panel import RunPanel, judges_to_ask, say_ended
from annotator.gui.review.sheets import SheetModel, SheetTable
from annotator.gui.review.verdict_words import with_network
from annotator.gui.session.page import PagePart, PartedPage, Tab
from annotator.gui.session.run import REFUSED, BackgroundRun, OrderEstimate
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import ActsBar, Command, FlowRow, wrapping
from annotator.gui.widgets.basics import (
    TABLES,
    PlainLabel,
    Stack,
    column_of,
    horizontal,
    open_file,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.fields import (
    BudgetBox,
    ChoiceBox,
    LineField,
    NumberBox,
    offer,
    together,
    when_changed,
)
from annotator.gui.widgets.splitter import Splitter

# Coordinators who make a benchmark of hundreds of tasks. What annoys them elsewhere: a ranking in one program, the
# items in another, and nobody who remembers why a good task was left out.
STANDINGS_LEFT = (
    Command("keep_task", "Keep", "check", "Make an item of the selected task"),
    Command(
        "hold_task", "Hold back", "", "Leave the selected task out, for the reason given; its item is retired"
    ),
    Command("release_task", "Decide later", "", "Forget why the selected task is held back"),
)
STANDINGS_RIGHT = (
    Command(
        "keep_best", "Keep the best", hint="Make items of the best tasks; near-duplicates and what is beyond a limit "
        "are held back with their reason", role="primary",
    ),
)  # fmt: skip
NO_STANDINGS = (
    "No standings yet",
    "They need two tasks or more that were compared: by people (Label, Rank tasks), by a judge (Rounds beside it), or "
    "elsewhere, with a file of matches imported there.",
)


class KeepingPart(PagePart):
    """The Keep tab: whose ranking, how many tasks and how many per seminar above the table; text and reason below."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar(STANDINGS_LEFT, STANDINGS_RIGHT))
        self.report: ContestReport | None = None
        self.rater = ChoiceBox(self._count, letters=18, accessibleName="Whose comparisons")
        self.top = NumberBox(
            minimum=0,
            prefix="top ",
            keyboardTracking=False,
            specialValueText="a tenth",
            accessibleName="How many are kept",
            toolTip="Any number of tasks; a tenth of them, at most 100, unless you give one",
            valueChanged=lambda _: self._count(),
        )
        self.of_one = NumberBox(
            minimum=0,
            maximum=1_000,
            specialValueText="no limit",
            accessibleName="At most of one seminar",
        )
        self.model = SheetModel(self)
        self.table = SheetTable("Standings", self.model, moved=self._turn)
        self.words = with_properties(
            QPlainTextEdit(readOnly=True),
            role="read",
            accessibleName="The selected task",
            tabChangesFocus=True,
        )
        self._reasoned: tuple[str, ...] = ()
        self.reason = LineField(
            placeholderText="Why it is held back",
            accessibleName="Why the task is held back",
            returnPressed=self.hold_one,
        )
        self.note = PlainLabel("", "hint", wrap=True)
        self.acts = {
            "keep_task": self.keep_one, "hold_task": self.hold_one, "release_task": lambda: self._hold(""),
            "keep_best": self.keep_best,
        }  # fmt: skip
        above = column_of(
            wrapping(
                together("By", self.rater),
                together("keep", self.top),
                together("at most of one seminar", self.of_one),
                gap=10,
            ),
            (self.table, 1),
            self.note,
            spacing=6,
        )
        below = column_of((self.words, 1), self.reason, spacing=6)
        self.parts = Splitter(
            "contest-keep", Qt.Orientation.Vertical, parts=(above, below), sizes=(420, 170), stretch=(2, 1)
        )
        self.empty = EmptyState("results", *NO_STANDINGS)
        self.stack = Stack(self.parts, self.empty)
        self.lay_out(self.stack)
        self.focus_on = self.table

    def fill(self) -> None:
        result = self.session.ask(contest_standings.choices) or ()
        if result:
            offer(self.rater, result[0].values)
            self.top.setMaximum(len(self.session.ask(contest_rows.tasks) or ()))
        self.stack.setCurrentWidget(self.parts if result else self.empty)
        for act in self.acts:
            self.bar.enable(act, False)
        self._count()

    def on_change(self, change: Change) -> None:
        """For a decision on a task, update the decisions; for any other change, everything."""
        if change.kind == "item" and self.report is not None:
            decided = self.session.ask(contest_standings.decisions)
            if decided is not None and self.report is not None:
                self.report = replace(self.report, decided=decided)
                self._refresh()
        elif change.kind != "contest":
            self.fill()

    def _count(self) -> None:
        rater, top = str(self.rater.currentData() or ""), str(self.top.value() or "")
        self.session.ask_newest(self._show, contest_standings.view, rater, top)

    def _show(self, report: ContestReport | None) -> None:
        self.report = report
        self.stack.setCurrentWidget(self.parts if report else self.empty)
        self._refresh()

    def _refresh(self) -> None:
        if self.report is None:
            return
        row = max(0, self.table.currentIndex().row())
        sheet = contest_standings.sheets(self.report)[0]
        self.model.show(sheet)
        self.note.setText("\n".join(sheet.notes))
        self.table.setCurrentIndex(self.model.index(min(row, self.model.rowCount() - 1), 0))
        self._turn()

    def _row(self) -> Any:
        row = self.table.currentIndex().row()
        return self.report.ranking.rows[row] if self.report is not None and row >= 0 else None

    def _turn(self) -> None:
        row = self._row()
        if row is None or self.report is None:
            return
        task, free = self.report.decided.get(row.id), not self.session.project.readonly
        self.words.setPlainText(self.report.tasks[row.id].shown)
        reasoned = (row.id, task.reason if task is not None else "")
        # Text being typed about the same task stays.
        if reasoned != self._reasoned:
            self._reasoned = reasoned
            self.reason.setText(reasoned[-1])
        self.bar.enable_all(
            {
                "keep_task": free and not (task and task.kept),
                "hold_task": free,
                "release_task": free and task is not None and not task.kept,
                "keep_best": free,
            }
        )

    def keep_one(self) -> None:
        if (row := self._row()) is not None:
            self._keep([TaskDecision(row.id, True, rank=row.rank)])

    def keep_best(self) -> None:
        if self.report is None:
            return
        self.bar.enable("keep_best", False)
        self.session.ask_later(self._keep, _best, self.report, self.of_one.value())

    def _keep(self, chosen: list[TaskDecision]) -> None:
        if self.report is None:
            return
        self.bar.enable("keep_best", not self.session.project.readonly)
        done = self.session.do(contest_standings.keep_tasks, chosen, self.report.tasks)
        if done is None:
            return
        change, new = done
        self.session.tell(replace(change, kind="item"))
        number = sum(task.kept for task in chosen)
        held = f", {counted(len(chosen) - number, 'task')} held back" if len(chosen) > number else ""
        named = f": {', '.join(new[:5])}{' …' if len(new) > 5 else ''}" if new else ""
        sentence = f"{counted(number, 'task')} kept{held}; {counted(len(new), 'new item')}{named}."
        self.answer.show_message("info", sentence)
        if new:
            item_ids = self.session.ask(items.ids_of, new[:1]) or []
            self.answer.set_action("Write for them", partial(self.session.go, "Author", item_id=item_ids[0]))

    def hold_one(self) -> None:
        """Hold the selected task back; without a reason, ask for one."""
        if not self.reason.text().strip():
            self.reason.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.answer.show_message("info", "Say why the task is held back.")
            return
        self._hold(self.reason.text())

    def _hold(self, reason: str) -> None:
        row = self._row()
        if row is not None and (done := self.session.do(contest_standings.hold, row.id, reason, row.rank)):
            self.session.tell(replace(done[0], kind="item"))
            self.answer.clear()
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)


def _best(_project: object, report: ContestReport, of_one: int) -> list[TaskDecision]:
    """The best tasks within the limit; finding near-duplicates among thousands of tasks takes seconds."""
    limits = contest_standings.quotas(of_one or None)
    return contest_standings.chosen(report.ranking, report.tasks, report.ranking.top, limits, report.decided)


# Experts who decide which tasks are worth keeping: hundreds of pairs, a key each, nothing that sways them.
ABOUT = "Which is the better task to give a research assistant, and how sure are you?"
NEWS = (
    "The keys have changed.",
    "1 now says that the first task is better, nearly certain, and 5 that this is a guess; 6 to 0 are as before.",
)
FURTHER = (
    "The pairs agreed on are ranked. Further pairs still help: of your top {top:,}, {open:,} cannot be told from the "
    "one below, since their 95 % intervals overlap. Stop whenever you like."
)
SURE = ("a guess", "slightly", "fairly", "quite", "nearly certain")
SIDES: dict[str, str] = {FIRST: "The first task", SECOND: "The second task"}
TOP = "How many of the best tasks are to stand in a certain order; a tenth of all unless you say"
BACK = Command(
    "take_back", "Take the last one back", "undo", "Show the last pair again, as if it had not been ranked"
)


def act_of(side: str, step: int) -> str:
    """The act that prefers a side with a confidence."""
    return f"rank_{side}_{step}"


class RankingPart(PagePart):
    """The Rank tab: a pair, five buttons for each side, and the progress; a wrong answer can be undone."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar((BACK,)))
        self._pair: ShownPair | None = None
        self._top = 0
        self._since = time.monotonic()
        steps = range(1, len(STEPS) + 1)
        self.texts = {
            side: with_properties(
                QPlainTextEdit(readOnly=True), role="read", accessibleName=name, tabChangesFocus=True
            )
            for side, name in SIDES.items()
        }
        self.buttons = {(side, step): self._button(side, step) for side in SIDES for step in steps}
        ranked = {act_of(side, step): partial(self._say, side, step) for side in SIDES for step in steps}
        self.acts = {**ranked, "take_back": partial(session.take_back, "Contest")}
        self.summary = PlainLabel(role="strong", wrap=True)
        self.top = NumberBox(
            minimum=1,
            prefix="top ",
            keyboardTracking=False,
            toolTip=TOP,
            accessibleName="How many of the best tasks are to be in order",
            valueChanged=lambda _: self._turn(),
        )
        self.top.lineEdit().returnPressed.connect(self.focus_first)
        self.empty = EmptyState("judges", "No pair is left to rank", "")
        self.stack = Stack(self._pairs(), self.empty)
        head = horizontal((self.summary, 1), (self.top, 0, Qt.AlignmentFlag.AlignRight), spacing=10)
        self.lay_out(column_of(head, (self.stack, 1), spacing=8))

    def _button(self, side: str, step: int) -> QPushButton:
        sure, confidence = SURE[step - 1], f"{STEPS[step - 1]:.2f}".removesuffix("0")
        button = push_button("", partial(self._say, side, step))
        keys.tell(button, "text", f"{{{act_of(side, step)}}}  {sure}")
        with_properties(
            button,
            accessibleName=f"{SIDES[side]} is better, {sure}",
            toolTip=f"{SIDES[side]} is better: {sure}, counted as {confidence}",
        )
        return button

    def _answers(self, side: str) -> FlowRow:
        steps = range(1, len(STEPS) + 1)
        return wrapping(
            *(self.buttons[side, step] for step in (reversed(steps) if side == FIRST else steps)), gap=6
        )

    def _pairs(self) -> QWidget:
        columns = [
            vertical(PlainLabel(name, "subtitle"), (self.texts[side], 1), self._answers(side), spacing=8)
            for side, name in SIDES.items()
        ]
        row = horizontal((columns[0], 1), (columns[1], 1), spacing=20)
        return column_of(PlainLabel(ABOUT, "hint", wrap=True), (row, 1), spacing=8)

    def focus_first(self) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def fill(self) -> None:
        """Show the current pair while it is still to be ranked, otherwise the next one."""
        at = (self._pair.first.id, self._pair.second.id) if self._pair and not self.session.turning else None
        result = self.session.ask(contest_rows.next_pair, at, self._top)
        before, self._pair = self._pair, result if isinstance(result, ShownPair) else None
        self.stack.setCurrentIndex(0 if self._pair else 1)
        done = 0 if result is None else result.done
        self.bar.enable("take_back", done > 0 and not self.session.project.readonly)
        left = f", {self._pair.left:,} left" if self._pair and self._pair.left else ""
        self.bar.say(f"{done:,} ranked{left}" if self._pair else "")
        self._tell(result)
        if self._pair is None:
            return
        for side, task in ((FIRST, self._pair.first), (SECOND, self._pair.second)):
            self.texts[side].setPlainText(task.shown)
        if before is None and keys.is_news("contest order") and done:
            self.answer.show_message("info", *NEWS, lasting=True)
        if before is None or (before.first, before.second) != (self._pair.first, self._pair.second):
            self._since = time.monotonic()

    def _tell(self, shown: ShownPair | RankedPairs | None) -> None:
        """For pairs beyond the agreed ones, say what they are for; if there is no pair, say why."""
        top, pair = shown.top if shown else 0, self._pair
        self.summary.setVisible(pair is not None and top > 0)
        self.top.setVisible(top > 0)
        if not isinstance(shown, ShownPair):
            self.empty.show_words("No pair is left to rank", _why(shown))
        with QSignalBlocker(self.top):
            if pair is not None:
                self.top.setMaximum(pair.among - 1)
                self.summary.setText(FURTHER.format(open=pair.open, top=top))
            self.top.setValue(top)

    def _turn(self) -> None:
        """Change the number of best tasks; the current pair is replaced."""
        self._top, self._pair = self.top.value(), None
        self.fill()

    def _say(self, side: str, step: int, _checked: bool = False) -> None:
        pair = self._pair
        if pair is None:
            return
        seconds = time.monotonic() - self._since
        if self.session.do(contest_rows.say, pair.first.id, pair.second.id, side, step, seconds) is None:
            self.fill()


def _why(pairs: RankedPairs | None) -> str:
    if pairs and pairs.done:
        return (
            f"You have ranked {pairs.done:,}; no further pair would tell more about the order of your top "
            f"{pairs.top:,}. The standings are among the results."
        )
    return "Tasks compete once their lists are submitted, or settled where several wrote one."


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
    """The Compare tab: the judge and its rounds above, with the estimate; below, who has compared so far."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar(LEFT, RIGHT))
        self._so_far: dict[str, ContestRater] = {}
        self._names: dict[str, str] = {}
        self.judge = ChoiceBox(self._choose_judge, letters=20, accessibleName="Judge that compares")
        self.pairs = ChoiceBox(letters=10, accessibleName="Who meets")
        usual = ContestSettings()
        self.top, self.seed, self.rounds = (
            NumberBox(minimum=1, maximum=99_999, accessibleName="How many are to be kept"),
            NumberBox(minimum=0, maximum=999_999_999, value=usual.seed, accessibleName="Seed of the pairs"),
            NumberBox(minimum=1, maximum=MOST_ROUNDS, value=usual.rounds, accessibleName="Rounds in all"),
        )
        self.both, self.budget = (
            with_properties(
                QCheckBox("In both orders"),
                checked=not usual.one_order,
                toolTip="Each pair is asked twice, so that it does not matter which task is shown first: "
                "twice as many calls",
            ),
            BudgetBox(),
        )
        self.words = PlainLabel(role="hint", wrap=True)
        self.run = BackgroundRun(session, "Comparing tasks", "Contest", self, part="Compare")
        self.model = SheetModel(self)
        self.table = SheetTable("Who has compared", self.model)
        self._estimate = OrderEstimate(session, self, self._order, self._show_estimate)
        choose_file = partial(open_file, self, "Matches that were played elsewhere", TABLES, self.import_file)
        self.acts = {"start_contest": self.start, "import_matches": choose_file}
        card = with_properties(QFrame(), role="card")
        self._cut = together("Below the best", self.top, "Only tasks within 40 points of that cut meet")
        vertical(
            wrapping(
                together("Judge", self.judge),
                together(
                    "Rounds in all", self.rounds, "Rounds that were held count; those are not held again"
                ),
                together("Pairs", self.pairs),
                self._cut,
                self.both,
                together("Seed", self.seed, "The same seed gives the same pairs on every system"),
                together("Budget", self.budget),
                gap=10,
            ),
            self.words,
            RunPanel(self.run),
            on=card,
            margins=(10, 8, 10, 8),
            spacing=6,
        )
        work = column_of(card, PlainLabel("Who has compared so far", "subtitle"), (self.table, 1), spacing=8)
        self.empty = EmptyState("judges", *NOTHING)
        self.stack = Stack(work, self.empty)
        self.lay_out(self.stack)
        offer(self.pairs, [("at random", RANDOM), ("near the cut", NEAR)])
        self._cut.hide()
        when_changed(self._change, self.pairs, self.top, self.seed, self.rounds, self.both)
        self.run.ended.connect(self._ended)
        self.focus_on = self.judge

    def fill(self) -> None:
        tasks = self.session.ask(contest_rows.tasks) or []
        self.stack.setCurrentIndex(0 if len(tasks) > 1 else 1)
        if len(tasks) > 1:
            self.top.setMaximum(len(tasks) - 1)
            if self.pairs.currentData() != NEAR:
                self.top.setValue(contest_rows.usual_top(len(tasks)))
        result = self.session.ask(contest_rows.raters) or []
        self._so_far = {rater.id: rater for rater in result}
        self.model.show(contest_rows.sheet(result))
        known = judges_to_ask(self.session, baseline=True)
        chosen = self.judge.currentData()
        offer(self.judge, [(with_network(one), one.id) for one in known])
        self._names = {one.id: one.name for one in known}
        if self.judge.currentData() != chosen:
            self._choose_judge()
        self._change()

    def on_change(self, change: Change) -> None:
        if not self.run.running:
            self.fill()

    def start(self) -> None:
        order = self._order()
        if order is not None and self.bar.buttons["start_contest"].isEnabled():
            self.answer.clear()
            self.bar.enable("start_contest", not self.run.start(order))

    def _choose_judge(self) -> None:
        """Offer USUAL rounds more than the judge has held; for rounds it did not finish, the rest of them."""
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
        free = there and self._order() is not None and not self.session.project.readonly
        self.bar.enable_all(
            {
                "import_matches": there and not self.session.project.readonly,
                "start_contest": free and not self.run.running,
            }
        )
        if free:
            self._estimate.count_soon()
        else:
            self.words.setText(NO_JUDGE if self._order() is None else "")

    def _show_estimate(self, estimate: CostEstimate) -> None:
        more = estimate.units or self.run.running
        self.words.setText(
            " ".join(estimate.words())
            if more
            else f"{estimate.judge} has held these rounds; more of them go on from there."
        )
        self.bar.enable("start_contest", bool(estimate.units) and not self.run.running)

    def import_file(self, path: Path) -> None:
        self.answer.clear()
        self.bar.enable("import_matches", False)
        self.session.do_later(self._imported, self._say_progress, contest_rows.import_matches, path)

    def _say_progress(self, what: str, done: int, total: int) -> None:
        self.bar.say(f"{what}: {done:,} of {total:,}")

    def _imported(self, matches: ImportedMatches | None) -> None:
        self.bar.say("")
        if matches is not None:
            if matches.change is not None:
                self.session.tell(matches.change)
            self.answer.show_message("info" if matches.again else "success", " ".join(matches.words()))
        self.fill()

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED and say_ended(self.answer, line, "All rounds are held."):
            self.answer.set_action("Keep tasks", partial(self.session.go, ContestPage.NAME, part="Keep"))
        self.fill()


class ContestPage(PartedPage):
    """The Contest page: people who rank see no standings; those who decide what is kept see them all."""

    NAME = "Contest"
    ONCE = frozenset(binding.act for binding in keys.BINDINGS)
    TABS = ("Rank", "Compare", "Keep")
    OPEN = TABS[:1]
    PARTS = ("ranking", "comparing", "keeping")
    TURNS = ("contest_rank", "contest_compare", "contest_keep")
    ABOUT = ("What is a contest?", "seminar")
    DENIED = ("Rank tasks", "")
    AT_ONCE = frozenset({"contest", "item", "import"})
    HEARS = AT_ONCE | frozenset({"artifact", "consensus", "adjudication", "judge"})

    ranking = Tab(__name__, "RankingPart")
    comparing = Tab(__name__, "RoundsPart")
    keeping = Tab(__name__, "KeepingPart")
