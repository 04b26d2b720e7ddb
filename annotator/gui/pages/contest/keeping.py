"""Keep tab: the standings by one rater, the chosen task in full, and what is decided of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from annotator.actions.contests import contest_keeping, contest_standings, contest_tasks
from annotator.actions.contests.contest_keeping import KeptTask
from annotator.actions.contests.contest_standings import ContestReport
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.tables.sheet_widths import fit
from annotator.gui.tables.sheets import SheetModel
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.basics import PlainLabel, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.labelled import together
from annotator.gui.widgets.fields.number_box import NumberBox
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.lines_table import LinesTable

# Coordinators who make a benchmark of hundreds of tasks. What annoys them elsewhere: a ranking in one program, the
# items in another, and nobody who remembers why a good task was left out.
LEFT = (
    Command("keep_task", "Keep", "check", "Make an item of the selected task"),
    Command(
        "hold_task", "Hold back", "", "Leave the selected task out, for the reason given; its item is retired"
    ),
    Command("release_task", "Decide later", "", "Forget why the selected task is held back"),
)
RIGHT = (
    Command(
        "keep_best", "Keep the best", hint="Make items of the best tasks; near-duplicates and what is beyond a limit "
        "are held back with their reason", role="primary",
    ),
)  # fmt: skip
NOTHING = (
    "No standings yet",
    "They need two tasks or more that were compared: by people on Rank, by a judge on Compare, or elsewhere, with a "
    "file of matches imported there.",
)
MOST_OF_ONE = 1_000


class KeepingPart(PagePart):
    """By whom, how many and how many of one seminar above the table; the task's words and the reason below."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self.found: ContestReport | None = None
        self.rater = ChoiceBox()
        self.rater.setAccessibleName("Whose comparisons")
        self.rater.keep_short(18)
        self.rater.currentIndexChanged.connect(lambda _: self._count())
        self.top = NumberBox(minimum=0, prefix="top ", keyboardTracking=False)
        self.top.setSpecialValueText("a tenth")
        self.top.setAccessibleName("How many are kept")
        self.top.setToolTip("Any number of tasks; a tenth of them, at most 100, unless you give one")
        self.top.valueChanged.connect(lambda _: self._count())
        self.of_one = NumberBox(minimum=0, maximum=MOST_OF_ONE)
        self.of_one.setSpecialValueText("no limit")
        self.of_one.setAccessibleName("At most of one seminar")
        self.model = SheetModel(self)
        self.table = LinesTable("Standings", self.model)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        self.words = QPlainTextEdit(readOnly=True)
        self.words.setProperty("role", "read")
        self.words.setAccessibleName("The selected task")
        self.words.setTabChangesFocus(True)
        self._reasoned: tuple[str, ...] = ()
        self.reason = LineField(placeholderText="Why it is held back")
        self.reason.setAccessibleName("Why the task is held back")
        self.reason.returnPressed.connect(self.hold_one)
        self.told = PlainLabel("", "hint", wrap=True)
        self.acts = {
            "keep_task": self.keep_one, "hold_task": self.hold_one, "release_task": self.release_one,
            "keep_best": self.keep_best,
        }  # fmt: skip
        self.lay_out(self._body())

    def _body(self) -> QWidget:
        head, above, below = FlowRow(gap=10), QWidget(), QWidget()
        for part in (
            together("By", self.rater), together("keep", self.top),
            together("at most of one seminar", self.of_one),
        ):  # fmt: skip
            head.addWidget(part)
        vertical(head, (self.table, 1), self.told, on=above, margins=0, spacing=6)
        vertical((self.words, 1), self.reason, on=below, margins=0, spacing=6)
        self.parts = Splitter(
            "contest-keep", Qt.Orientation.Vertical, parts=(above, below), sizes=(420, 170), stretch=(2, 1)
        )
        self.empty = EmptyState("results", *NOTHING)
        self.stack = Stack(self.parts, self.empty)
        return self.stack

    def fill(self) -> None:
        """Offer whose comparisons there are, and read the standings on another thread."""
        found = self.desk.ask(contest_standings.choices) or ()
        if found:
            offer(self.rater, found[0].values)
            self.top.setMaximum(len(self.desk.ask(contest_tasks.tasks) or ()))
        self.stack.setCurrentWidget(self.parts if found else self.empty)
        for act in self.acts:
            self.bar.enable(act, False)
        self._count()

    def on_change(self, change: Change) -> None:
        """Of a task that was decided on, its decision; of anything else, everything."""
        if change.kind == "item" and self.found is not None:
            self._decided()
        elif change.kind != "contest":
            self.fill()

    def focus_first(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _chosen(self) -> dict[str, str]:
        return {"rater": str(self.rater.currentData() or ""), "top": str(self.top.value() or "")}

    def _count(self) -> None:
        chosen = self._chosen()
        self.desk.ask_later(lambda found: self._show(found, chosen), contest_standings.view, **chosen)

    def _show(self, found: ContestReport | None, chosen: Mapping[str, str]) -> None:
        if self.stopped or chosen != self._chosen():
            return
        self.found = found
        self.stack.setCurrentWidget(self.parts if found else self.empty)
        self._refresh()

    def _refresh(self) -> None:
        if self.found is None:
            return
        row = max(0, self.table.currentIndex().row())
        sheet = contest_standings.sheets(self.found)[0]
        self.model.show(sheet)
        self.told.setText("\n".join(sheet.told))
        fit(self.table, self.model)
        self.table.setCurrentIndex(self.model.index(min(row, self.model.rowCount() - 1), 0))
        self._turn()

    def _row(self) -> Any:
        row = self.table.currentIndex().row()
        return self.found.ranking.rows[row] if self.found is not None and row >= 0 else None

    def _turn(self) -> None:
        row = self._row()
        if row is None or self.found is None:
            return
        one, free = self.found.decided.get(row.id), not self.desk.project.readonly
        self.words.setPlainText(self.found.tasks[row.id].shown)
        self._tell_reason(row.id, one.reason if one is not None else "")
        self.bar.enable("keep_task", free and not (one and one.kept))
        self.bar.enable("hold_task", free)
        self.bar.enable("release_task", free and one is not None and not one.kept)
        self.bar.enable("keep_best", free)

    def _tell_reason(self, *told: str) -> None:
        """Show why a task is held back; what somebody is typing about the same task stays."""
        if told != self._reasoned:
            self._reasoned = told
            self.reason.setText(told[-1])

    def keep_one(self) -> None:
        if (row := self._row()) is not None:
            self._keep([KeptTask(row.id, True, rank=row.rank)])

    def keep_best(self) -> None:
        if self.found is None:
            return
        self.bar.enable("keep_best", False)
        self.desk.ask_later(self._keep, _best, self.found, self.of_one.value())

    def _keep(self, chosen: list[KeptTask]) -> None:
        if self.stopped or self.found is None:
            return
        self.bar.enable("keep_best", not self.desk.project.readonly)
        done = self.desk.do(contest_keeping.keep, chosen, self.found.tasks)
        if done is None:
            return
        change, new = done
        self.desk.tell(replace(change, kind="item"))
        kept = sum(one.kept for one in chosen)
        held = f", {counted(len(chosen) - kept, 'task')} held back" if len(chosen) > kept else ""
        named = f": {', '.join(new[:5])}{' …' if len(new) > 5 else ''}" if new else ""
        told = f"{counted(kept, 'task')} kept{held}; {counted(len(new), 'new item')}{named}."
        self.answer.show_message("info", told)

    def hold_one(self) -> None:
        """Hold the selected task back; without a reason, ask for one."""
        if not self.reason.text().strip():
            self.reason.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.answer.show_message("info", "Say why the task is held back.")
            return
        self._hold(self.reason.text())

    def release_one(self) -> None:
        self._hold("")

    def _hold(self, reason: str) -> None:
        row = self._row()
        if row is not None and (done := self.desk.do(contest_keeping.hold, row.id, reason, row.rank)):
            self.desk.tell(replace(done[0], kind="item"))
            self.answer.clear()
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _decided(self) -> None:
        decided = self.desk.ask(contest_keeping.decisions)
        if decided is not None and self.found is not None:
            self.found = replace(self.found, decided=decided)
            self._refresh()


def _best(_project: object, found: ContestReport, of_one: int) -> list[KeptTask]:
    """The best within the limit; of thousands of tasks it takes seconds to look for near-duplicates."""
    limits = contest_keeping.quotas(of_one or None)
    return contest_keeping.chosen(found.ranking, found.tasks, found.ranking.top, limits, found.decided)
