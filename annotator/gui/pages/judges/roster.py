"""Judges tab: the judges, their totals, and the settings of the selected one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal

from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import derived_judges, judge_runs
from annotator.actions.judging.derived_judges import ProbeRequest
from annotator.actions.judging.judge_runs import CHECKS, QueuedRun, title
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_records import JudgeTotal, RunLine
from annotator.domain.common import usd
from annotator.domain.judges.judge import Judge, JudgeKind, RunState
from annotator.gui.pages.judges.endpoint_form import AllowedKeys, EndpointForm, ProbeView, VoteForm
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import STATE_LOOKS, causes_words, day, kind_of, spent, spent_tip, when
from annotator.gui.session.page import PagePart
from annotator.gui.session.run import Child
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import ActsBar, Command
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, answered_label
from annotator.gui.widgets.splitter import Splitter

# The number of past runs offered.
RUNS_OFFERED = 40


@dataclass(frozen=True, slots=True)
class JudgeLine:
    judge: Judge
    total: JudgeTotal


def _missing_look(total: JudgeTotal) -> tuple[str, str] | None:
    return ("warning", "state-unconfirmed") if total.missing else None


def _afresh(total: JudgeTotal) -> str:
    return usd(total.afresh_usd) if total.afresh_usd is not None else "not known" if total.calls else "–"


JUDGES: Sequence[Column[JudgeLine]] = (
    Column("Judge", lambda row: row.judge.name, 150),
    Column("Kind", lambda row: kind_of(row.judge), 78),
    Column("Model", lambda row: row.judge.model or "–", 120),
    Column("Endpoint", lambda row: row.judge.base_url or "–", 130, room=560),
    Column(
        "Verdicts", lambda row: f"{row.total.verdicts:,}" if row.total.judgements else "", 74, number=True
    ),
    Column(
        "Missing",
        lambda row: f"{row.total.missing.total():,}" if row.total.judgements else "",
        72,
        tip=lambda row: causes_words(row.total.missing) or "Nothing is missing.",
        look=lambda row: _missing_look(row.total),
        number=True,
        about="Judgements that were asked for and have no verdict. They never count as “no”.",
    ),
    Column(
        "Cost",
        lambda row: spent(row.total.spent_usd, row.total.calls, row.total.unpriced),
        84,
        tip=lambda row: spent_tip(row.total.spent_usd, row.total.calls, row.total.unpriced),
        number=True,
    ),
)
TOTALS: Sequence[Column[JudgeTotal]] = (
    Column("What it judged", lambda total: title(total.protocol), 190),
    Column("Items", lambda total: f"{total.items:,}", 54, number=True),
    Column("Verdicts", lambda total: f"{total.verdicts:,}", 74, number=True),
    Column(
        "Missing, by cause",
        lambda total: causes_words(total.missing) or "none",
        140,
        look=_missing_look,
    ),
    Column(
        "No quote",
        lambda total: f"{total.quotes_missing:,}",
        74,
        number=True,
        about="Verdicts whose quote is not found in the report: to be checked by people.",
        room=600,
    ),
    Column("Calls", lambda total: f"{total.calls:,}", 56, number=True),
    Column(
        "Spent",
        lambda total: spent(total.spent_usd, total.calls, total.unpriced),
        80,
        tip=lambda total: spent_tip(total.spent_usd, total.calls, total.unpriced),
        number=True,
    ),
    Column(
        "Uncached",
        _afresh,
        84,
        number=True,
        about="Cost of the calls behind its current judgements, as if nothing had been cached.",
        room=680,
    ),
)


def _run_cost(run: RunLine) -> str:
    return "–" if not run.paid else "not known" if run.cost_usd is None else usd(run.cost_usd)


def _scope(order: RunLine | RunRequest) -> str:
    parts = (
        ", ".join(order.systems) or "all systems",
        f"items {', '.join(order.items)}" if order.items else "all items",
        f"{order.together} units together" if order.together > 1 else "",
        f"{order.trials} trials" if order.trials > 1 else "",
    )
    return " · ".join(filter(None, parts))


def run_words(run: RunLine) -> str:
    return f"Run {when(run.started_at)} · {run.judge} · {title(run.protocol)}"


RUNS: Sequence[Column[RunLine]] = (
    Column("Started", lambda run: day(run.started_at), 98, tip=lambda run: when(run.started_at), firm=True),
    Column("Judge", lambda run: run.judge, 128),
    Column(
        "What", lambda run: title(run.protocol), 150, tip=lambda run: f"{title(run.protocol)}\n{_scope(run)}"
    ),
    Column(
        "Outcome",
        lambda run: "in progress" if run.state == RunState.RUNNING.value else run.state,
        98,
        firm=True,
        look=lambda run: STATE_LOOKS.get(run.state),
    ),
    Column(
        "Judged",
        lambda run: f"{run.judged:,} of {run.total:,}",
        96,
        tip=lambda run: f"Missing: {causes_words(run.missing) or 'none'}\nNot asked: {run.left:,}",
        number=True,
        firm=True,
    ),
    Column(
        "Missing",
        lambda run: f"{sum(run.missing.values()):,}" if run.missing else "none",
        76,
        tip=lambda run: causes_words(run.missing) or "none",
        number=True,
        firm=True,
        room=560,
        look=lambda run: ("warning", "state-unconfirmed") if run.missing else None,
    ),
    Column(
        "Not asked",
        lambda run: f"{run.left:,}" if run.left else "none",
        78,
        number=True,
        firm=True,
        about="Questions that the run has not asked, because it was stopped or is still running. For "
        "extraction: reports not yet processed.",
        room=720,
    ),
    Column("Cost", _run_cost, 74, number=True, room=640),
)


WAITING: Sequence[Column[QueuedRun]] = (
    Column("Judge", lambda one: one.order.judge, 130),
    Column("What", lambda one: title(one.order.protocol), 160),
    Column("Of", lambda one: _scope(one.order), 180),
    Column(
        "Budget",
        lambda one: usd(one.order.budget_usd) if one.order.budget_usd else "no limit",
        80,
        number=True,
    ),
)


def compared(judge: str, protocol: str) -> dict[str, Any]:
    """The place on Validate where a judge's checks are compared with its first verdicts."""
    choose = {"judge": judge, "protocol": protocol.removeprefix(CHECKS)}
    return {"part": "Figures", "view": "again", "choose": choose}


class JudgeSide(Pane):
    """A form for a judge behind an endpoint, one for a new vote, or a text about other judges."""

    saved = Signal(str)
    """The name of the judge that was saved."""
    edited = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._judge: Judge | None = None
        self._child = Child(session, self)
        self._child.ended.connect(self._tested)
        self.beginning = self.voting = False
        self.title, self.about = PlainLabel("", "subtitle", wrap=True), PlainLabel("", wrap=True)
        self.endpoint, self.vote, self.probe = EndpointForm(session), VoteForm(session), ProbeView()
        self.allowed = AllowedKeys(session)
        self.endpoint.edited.connect(self.edited)
        self.endpoint.allowed.connect(self.allowed.fill)
        self.allowed.withdrawn.connect(self.endpoint.show_place)
        self.vote.edited.connect(self.edited)
        self.probe.accept.clicked.connect(self._accept)
        self._form: EndpointForm | VoteForm | None = None
        inner = column_of(
            self.title,
            self.about,
            self.endpoint,
            self.vote,
            self.probe,
            self.allowed,
            StretchSpace(1),
            margins=(10, 0, 6, 0),
            spacing=10,
        )
        area = with_properties(PlainArea("The chosen judge", inner), minimumWidth=340)
        vertical(area, on=self, margins=0)
        self._show(None)

    @property
    def dirty(self) -> bool:
        return self._form is not None and self._form.dirty

    @property
    def testing(self) -> bool:
        return self._child.running

    def show_judge(self, judge: Judge) -> None:
        """Show a judge; unsaved input stays if it is the same one."""
        same = not self.beginning and self._judge is not None and self._judge.id == judge.id
        if same and (self.dirty or judge == self._judge):
            return
        if not same:
            self.probe.clear()
        self._judge, self.beginning, self.voting = judge, False, False
        self.allowed.fill()
        self.title.setText(judge.name)
        if judge.kind == JudgeKind.ENDPOINT:
            self.endpoint.show_judge(judge)
            self._show(self.endpoint)
        else:
            self.about.setText(self._words(judge))
            self._show(None)
        self.edited.emit()

    def _words(self, judge: Judge) -> str:
        if judge.kind == JudgeKind.BASELINE:
            return (
                "The baseline needs no key and no network, and always gives the same verdict. It counts the words that "
                "a unit shares with the report and understands nothing. It is a lower bound that every real judge "
                "should clearly beat, not a judge to trust."
            )
        names = self.session.ask(derived_judges.members, judge) or []
        whom = f"It counts the trials of {names[0]}." if len(names) == 1 else f"It counts {', '.join(names)}."
        return (
            f"{whom}\n\nA vote makes no calls. Its verdict is the majority of its members, or of one judge's repeated "
            "trials (of ordered values their median); without a majority, its judgement is missing and lists the "
            "votes. Count it again when its members have judged more."
        )

    def begin(self) -> None:
        self._judge, self.beginning, self.voting = None, True, False
        self.title.setText("A new judge")
        self.endpoint.begin()
        self._show_new(self.endpoint)

    def begin_vote(self, known: list[Judge]) -> None:
        self._judge, self.beginning, self.voting = None, True, True
        self.title.setText("A new vote")
        self.vote.begin([judge for judge in known if judge.kind != JudgeKind.DERIVED])
        self._show_new(self.vote)

    def _show_new(self, form: EndpointForm | VoteForm) -> None:
        self.probe.clear()
        self._show(form)
        form.focus_first()
        self.edited.emit()

    def _show(self, form: EndpointForm | VoteForm | None) -> None:
        self._form = form
        for part in (self.about, self.endpoint, self.vote):
            part.setVisible(part is (form or self.about))

    def focus_first(self) -> None:
        if self._form is not None:
            self._form.focus_first()

    def save(self) -> bool:
        if self._form is None or not self._form.dirty:
            return False
        name = self._form.save()
        if name:
            self.beginning = self.voting = False
            self._judge = None
            self.saved.emit(name)
        return bool(name)

    def test(self) -> None:
        """Make one call to the endpoint with the settings as saved."""
        if self.testing or self.voting or (self.dirty and not self.save()):
            return
        if self._judge is None or self._judge.kind != JudgeKind.ENDPOINT:
            return
        if self._child.start(ProbeRequest(self._judge.name)):
            self.probe.wait()
            # Its key may have been allowed since the test was refused.
            self.endpoint.show_place()
            self.allowed.fill()
        self.edited.emit()

    def _tested(self, result: dict[str, Any]) -> None:
        if "error" in result:
            result = {"ok": False, "words": f"{result['error']} {result['todo']}".strip()}
        self.probe.show_result(result)
        self.edited.emit()
        self.session.tell_end("The endpoint has been tested.", "Judges", self, part="Judges")

    def _accept(self) -> None:
        if self._judge is not None and self.session.do(kept_keys.accept, self._judge) is not None:
            self.probe.accept.hide()
            self.probe.state.show_chips([Chip("Failed its test; used all the same", "warning", "incomplete")])

    def stop(self) -> None:
        self._child.stop_now()


LEFT = (Command("new_judge", "Add a judge", "plus", "Add a judge behind an endpoint"),)
REST = (
    Command("read_replies", "Read its replies", hint="Read the judge's replies, one by one"),
    Command(
        "new_vote", "Add a vote", "adjudicate", "Add the majority of several judges, or of one judge's trials"
    ),
    Command("retire_judge", "Retire", "trash", "Remove the judge from the lists; its judgements stay"),
)
RIGHT = (
    Command("test_judge", "Test", hint="Make one call to see the endpoint's features, speed and price"),
    Command("submit", "Save", hint="Save the settings of the judge", role="primary"),
)


class JudgesPart(PagePart):
    """The Judges tab: the table of judges, the totals of the selected one below, its settings on the right.

    Unsaved settings are discarded: half a judge is none.
    """

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar(LEFT, RIGHT, REST))
        self.side = JudgeSide(session)
        self.model, self.totals = CellsModel[JudgeLine](JUDGES, self), CellsModel[JudgeTotal](TOTALS, self)
        self.table = CellsTable(
            "Judges", self.model, stretched=0, moved=self._turn, opened=lambda _: self.side.focus_first()
        )
        self.came = CellsTable(
            "Results of the selected judge",
            self.totals,
            stretched=0,
            opened=lambda index: self._read(index.row()),
        )
        self.nothing = answered_label("No judgements yet.")
        self.begin_run = push_button("Start a run", self._begin_run)
        self.side.saved.connect(self._saved)
        self.side.edited.connect(self._offer)
        self._totals: list[JudgeTotal] | None = None
        self.acts = {
            "new_judge": self.side.begin,
            "new_vote": lambda: self.side.begin_vote([row.judge for row in self.model.rows]),
            "retire_judge": self._retire,
            "read_replies": lambda: self._read(self.came.currentIndex().row()),
            "test_judge": self.side.test,
            "submit": self.side.save,
        }
        self.came_title = PlainLabel("", "strong")
        start = horizontal(self.begin_run, StretchSpace(1))
        came = self.came_title, self.nothing, start, (self.came, 1), StretchSpace(0)
        below = column_of(*came, margins=(0, 6, 0, 0), spacing=4)
        left = Splitter("judges/totals", Qt.Orientation.Vertical, parts=(self.table, below), sizes=(330, 200))
        self.lay_out(Splitter("judges/list", parts=(left, self.side), sizes=(690, 400), stretch=(3, 2)))
        self.focus_on = self.table

    def fill(self) -> None:
        """Query the judges again, and their totals in the background; the selection stays."""
        self._show_all()
        self.session.ask_later(self._counted, run_records.totals)

    def _counted(self, totals: list[JudgeTotal]) -> None:
        self._totals = totals
        self._show_all()

    def _show_all(self) -> None:
        current = self.judge()
        known = self.session.ask(judges.all_of) or []
        self.model.show(
            [JudgeLine(judge, run_records.summed(self._totals or [], judge.id)) for judge in known]
        )
        self.table.choose(
            self.model.place_of(lambda row: current is not None and row.judge.id == current.id), first=True
        )
        self._turn()

    def judge(self) -> Judge | None:
        row = self.model.at(self.table.currentIndex().row())
        return row.judge if row else None

    def go(self, place: Any) -> None:
        self.table.choose(self.model.place_of(lambda line: line.judge.name == place.get("judge")))

    def _turn(self) -> None:
        judge = self.judge()
        if judge is None:
            return
        if not self.side.beginning or self.table.hasFocus():
            self.side.show_judge(judge)
        came = [total for total in self._totals or () if total.judge_id == judge.id]
        self.came_title.setText(f"Verdicts of \u2068{judge.name}\u2069 so far")
        self.totals.show(came)
        self.came.setVisible(bool(came))
        for part in (self.nothing, self.begin_run):
            part.setVisible(self._totals is not None and not came)
        if came and self.came.currentIndex().row() < 0:
            self.came.selectRow(0)
        self._offer()

    def _offer(self) -> None:
        judge, writable = self.judge(), not self.session.project.readonly
        new = self.side.beginning
        endpoint = new or (judge is not None and judge.kind == JudgeKind.ENDPOINT)
        editable = judge is not None and judge.kind != JudgeKind.BASELINE and not new
        self.bar.enable_all(
            {
                "new_judge": writable,
                "new_vote": writable,
                "retire_judge": writable and editable,
                "read_replies": not new and self.totals.rowCount() > 0,
                "test_judge": endpoint and not self.side.voting and not self.side.testing,
                "submit": writable and self.side.dirty,
            }
        )
        self.bar.say("not saved yet" if self.side.dirty else "")

    def _begin_run(self) -> None:
        if (judge := self.judge()) is not None:
            self.session.go("Judges", part="Runs", judge=judge.name)

    def _saved(self, name: str) -> None:
        self.fill()
        self.go({"judge": name})

    def _retire(self) -> None:
        judge = self.judge()
        if judge is None or not self.bar.buttons["retire_judge"].isEnabled():
            return
        if self.session.do(judges.retire, judge.id) is not None:
            self.fill()
            self.answer.show_message("info", f"\u2068{judge.name}\u2069 is retired.", "Its judgements stay.")
            self.answer.set_action("Bring it back", lambda: self._bring_back(judge))

    def _bring_back(self, judge: Judge) -> None:
        if self.session.do(judges.bring_back, judge.id) is not None:
            self.answer.clear()
            self._saved(judge.name)

    def _read(self, row: int) -> None:
        total = self.totals.at(row)
        if total is None:
            return
        judge = self.judge()
        if judge is not None and total.protocol.startswith(CHECKS):
            self.session.go("Validate", **compared(judge.name, total.protocol))
        elif judge is not None and not judge_runs.draws(total.protocol):
            self.session.go("Judges", part="Replies", judge_id=judge.id, protocol=total.protocol)
        else:
            self.session.go("Judges", part="Runs")

    def stop(self) -> None:
        self.side.stop()
