"""Judges tab: the judges, their totals, and the settings of the chosen one."""

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.judges import judges
from annotator.actions.judging import judge_offers
from annotator.actions.judging.judge_offers import CHECKS
from annotator.actions.runs import judge_totals
from annotator.actions.runs.judge_totals import JudgeTotal
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.judges.roster.judge_side import JudgeSide
from annotator.gui.pages.judges.roster.judges_model import JUDGES, TOTALS, JudgeLine, compared
from annotator.gui.tables.cells import CellsModel
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, column_of
from annotator.gui.widgets.empty_state import answered_label

LEFT = (
    Command("new_judge", "Add a judge", "plus", "Add a judge behind an endpoint"),
    Command(
        "new_vote", "Add a vote", "adjudicate", "Add the majority of several judges, or of one judge's trials"
    ),
    Command("retire_judge", "Retire", "trash", "Remove the judge from the lists; its judgements stay"),
)
RIGHT = (
    Command("read_replies", "Read its replies", hint="Read the judge's replies, one by one"),
    Command("test_judge", "Test", hint="Make one call to see the endpoint's features, speed and price"),
    Command("submit", "Save", hint="Save the settings of the judge", role="primary"),
)
NOTHING = "No judgements yet. Start a run ({})."


class JudgesPart(PagePart):
    """The table of judges, totals of the chosen one below, its settings on the right.

    Nothing is kept of settings that were not saved: half a judge is none.
    """

    replies_wanted = Signal(dict)
    run_wanted = Signal(dict)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self.side = JudgeSide(desk)
        self.model, self.totals = CellsModel[JudgeLine](JUDGES, self), CellsModel[JudgeTotal](TOTALS, self)
        self.table = CellsTable("Judges", self.model, stretched=0)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        self.table.activated.connect(lambda _: self.side.focus_first())
        self.came = CellsTable("Results of the selected judge", self.totals, stretched=0)
        self.came.activated.connect(lambda index: self._read(index.row()))
        self.nothing = answered_label()
        self.side.saved.connect(self._saved)
        self.side.edited.connect(self._offer)
        self._found: list[JudgeTotal] | None = None
        self.acts = {
            "new_judge": self._begin,
            "new_vote": self._begin_vote,
            "retire_judge": self._retire,
            "read_replies": lambda: self._read(self.came.currentIndex().row()),
            "test_judge": self.side.test,
            "submit": self.side.save,
        }
        self._say_nothing()
        self.lay_out(self._body())

    def _body(self) -> QWidget:
        self.came_title = PlainLabel("", "strong")
        came = self.came_title, self.nothing, (self.came, 1), StretchSpace(0)
        below = column_of(*came, margins=(0, 6, 0, 0), spacing=4)
        left = Splitter("judges/totals", Qt.Orientation.Vertical, parts=(self.table, below), sizes=(330, 200))
        return Splitter("judges/list", parts=(left, self.side), sizes=(690, 400), stretch=(3, 2))

    def fill(self) -> None:
        """Read the judges again, and a moment later what they came to; the chosen one stays chosen."""
        self._show_all()
        self.desk.ask_later(self._counted, judge_totals.totals)

    def _counted(self, found: list[JudgeTotal]) -> None:
        self._found = found
        if not self.stopped:
            self._show_all()

    def _show_all(self) -> None:
        kept = self.judge()
        known = self.desk.ask(judges.all_of) or []
        self.model.show(
            [JudgeLine(judge, judge_totals.summed(self._found or [], judge.id)) for judge in known]
        )
        place = self.model.place_of(lambda row: kept is not None and row.judge.id == kept.id)
        self.table.setCurrentIndex(self.model.index(max(0, place), 0))
        self._turn()

    def judge(self) -> Judge | None:
        row = self.model.at(self.table.currentIndex().row())
        return row.judge if row else None

    def go(self, place: Any) -> None:
        row = self.model.place_of(lambda one: one.judge.name == place.get("judge"))
        if row >= 0:
            self.table.selectRow(row)

    def focus_first(self) -> None:
        self.table.setFocus()

    def _turn(self) -> None:
        judge = self.judge()
        if judge is None:
            return
        if not self.side.beginning or self.table.hasFocus():
            self.side.show_judge(judge)
        came = [total for total in self._found or () if total.judge_id == judge.id]
        self.came_title.setText(f"What \u2068{judge.name}\u2069 has come to")
        self.totals.show(came)
        self.came.setVisible(bool(came))
        self.nothing.setVisible(self._found is not None and not came)
        if came and self.came.currentIndex().row() < 0:
            self.came.selectRow(0)
        self._offer()

    def _offer(self) -> None:
        judge, writable = self.judge(), not self.desk.project.readonly
        new = self.side.beginning
        endpoint = new or (judge is not None and judge.kind == JudgeKind.ENDPOINT)
        kept = judge is not None and judge.kind != JudgeKind.BASELINE and not new
        for act in ("new_judge", "new_vote"):
            self.bar.enable(act, writable)
        self.bar.enable("retire_judge", writable and kept)
        self.bar.enable("read_replies", not new and self.totals.rowCount() > 0)
        self.bar.enable("test_judge", endpoint and not self.side.voting and not self.side.testing)
        self.bar.enable("submit", writable and self.side.dirty)
        self.bar.say("not saved yet" if self.side.dirty else "")

    def _begin(self) -> None:
        self.side.begin()
        self._offer()

    def _begin_vote(self) -> None:
        self.side.begin_vote([row.judge for row in self.model.rows])
        self._offer()

    def _saved(self, name: str) -> None:
        self.fill()
        self.go({"judge": name})

    def _retire(self) -> None:
        judge = self.judge()
        if judge is None or not self.bar.buttons["retire_judge"].isEnabled():
            return
        if self.desk.do(judges.retire, judge.id) is not None:
            self.fill()
            self.answer.show_message("info", f"\u2068{judge.name}\u2069 is retired.", "Its judgements stay.")
            self.answer.set_action("Bring it back", lambda: self._bring_back(judge))

    def _bring_back(self, judge: Judge) -> None:
        if self.desk.do(judges.bring_back, judge.id) is not None:
            self.answer.clear()
            self._saved(judge.name)

    def _read(self, row: int) -> None:
        total = self.totals.at(row)
        if total is None:
            return
        judge = self.judge()
        if judge is not None and total.protocol.startswith(CHECKS):
            self.desk.go("Validate", **compared(judge.name, total.protocol))
        elif judge is not None and not judge_offers.draws(total.protocol):
            self.replies_wanted.emit({"judge_id": judge.id, "protocol": total.protocol})
        else:
            self.run_wanted.emit({})

    def rebind(self) -> None:
        super().rebind()
        self._say_nothing()

    def _say_nothing(self) -> None:
        self.nothing.setText(NOTHING.format(keys.shown("judges_runs")))

    def stop(self) -> None:
        super().stop()
        self.side.stop()
