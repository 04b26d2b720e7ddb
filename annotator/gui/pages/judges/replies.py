"""Replies tab: judgements of a run or judge, filtered by cause, flag and system, one in full."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.judges import judges
from annotator.actions.judging import reparse
from annotator.actions.judging.judge_runs import draws, title
from annotator.actions.project.file import Project
from annotator.actions.runs import journal, judge_cases, run_records
from annotator.actions.runs.journal import (
    ALL,
    FLAGGED,
    NO_VERDICT,
    JudgementLine,
    JudgementLines,
    JudgementQuery,
    Reply,
)
from annotator.actions.runs.run_records import JudgeTotal, RunLine
from annotator.actions.validation.disagreements import RaterDifference
from annotator.domain.common import CutList, counted, local
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.gui.pages.judges.roster import RUNS_OFFERED, run_words
from annotator.gui.review.reply_detail import ReplyDetail
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import STATUS_WORDS, flag_words, spent, value_look, value_words
from annotator.gui.session.page import PagePart
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import ActsBar, Command, wrapping
from annotator.gui.widgets.basics import PlainLabel, Stack, column_of, grow_by_width, later
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.fields import ChoiceBox, choose, offer, search_field, when_changed
from annotator.gui.widgets.splitter import Splitter

LINES: Sequence[Column[JudgementLine]] = (
    Column("Item", lambda line: line.item_key, 70),
    Column("System", lambda line: line.system, 124),
    Column("Asked about", lambda line: line.unit, 150),
    Column(
        "Verdict",
        lambda line: value_words(line.protocol, line.value, line.status),
        150,
        tip=lambda line: line.cause or value_words(line.protocol, line.value, line.status),
        look=lambda line: value_look(line.protocol, line.value),
    ),
    Column(
        "Flags",
        lambda line: ", ".join(map(flag_words, line.flags)),
        130,
        look=lambda line: ("flag", "state-unconfirmed") if line.flags else None,
    ),
    Column("Trial", lambda line: str(line.trial), 44, number=True),
)
CALLS: Sequence[Column[Reply]] = (
    Column("At", lambda reply: f"{local(reply.at):%H:%M:%S}", 74),
    Column(
        "Result",
        lambda reply: "Readable" if reply.call.status == "ok" else STATUS_WORDS.get(reply.call.status, ""),
        130,
        look=lambda reply: (
            ("check", "state-agreed") if reply.call.status == "ok" else ("question", "state-missing")
        ),
    ),
    Column("Tries", lambda reply: str(reply.call.attempts), 48, number=True),
    Column("Cost", lambda reply: spent(reply.call.bill_usd, 1), 78, number=True),
    Column("Reply", lambda reply: reply.call.raw or reply.call.cause, 180),
)
DIFFERENCES: Sequence[Column[RaterDifference]] = (
    Column("Item", lambda one: one.item_key, 70),
    Column("System", lambda one: one.system, 110),
    Column("Asked about", lambda one: one.unit, 220),
    Column(
        "First",
        lambda one: value_words(one.protocol, one.value_a),
        90,
        look=lambda one: value_look(one.protocol, one.value_a),
    ),
    Column("Why", lambda one: one.why_a, 150),
    Column(
        "Second",
        lambda one: value_words(one.protocol, one.value_b),
        90,
        look=lambda one: value_look(one.protocol, one.value_b),
    ),
    Column("Why", lambda one: one.why_b, 150),
)


RUN, OF = "run", "of"
# The prefixes of the filters by cause and by flag.
CAUSE, FLAG = "cause:", "flag:"


class ReplyFilters(QWidget):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.source, self.which, self.system, self.place = (
            ChoiceBox(letters=11, accessibleName=name)
            for name in ("Whose judgements", "Which", "System", "Item, or what was asked about")
        )
        self._places: list[tuple[str, str]] = [("", "")]
        self.search = search_field("Find in replies…", "Find in replies", self.changed.emit)
        when_changed(self.changed.emit, self.source, self.which, self.system, self.place)
        self.source.setMinimumContentsLength(34)
        self.search.setMinimumWidth(200)
        grow_by_width(self)
        wrapping(self.source, self.which, self.system, self.place, self.search, gap=6, on=self)
        self.place.hide()

    def offer_sources(
        self, totals: Iterable[JudgeTotal], runs: Sequence[RunLine], known: Mapping[str, Judge]
    ) -> bool:
        """Offer the judges' current judgements, then their runs; whether there are any."""
        choices = [
            (
                f"{known[total.judge_id].name} · {title(total.protocol)} · all runs",
                f"{OF} {total.judge_id} {total.protocol}",
            )
            for total in totals
            if total.judge_id in known and total.judgements
        ]
        choices += [(run_words(run), f"{RUN} {run.id}") for run in runs[:RUNS_OFFERED]]
        offer(self.source, choices)
        return bool(choices)

    def offer_kinds(self, lines: JudgementLines, systems: Sequence[str]) -> None:
        """Offer the available filters, each with its count."""
        counts = lines.counts
        sorts = [
            ("All", ALL, counts[ALL]),
            ("Without a verdict", NO_VERDICT, counts[NO_VERDICT]),
            *((STATUS_WORDS.get(name, name), CAUSE + name, many) for name, many in lines.causes.items()),
            ("With a flag", FLAGGED, counts[FLAGGED]),
            *((flag_words(name), FLAG + name, many) for name, many in lines.flags.items()),
        ]
        offer(self.which, [(f"{words} ({many:,})", which) for words, which, many in sorts])
        offer(self.system, [("All systems", ""), *((name, name) for name in systems)])

    def go(self, place: Mapping[str, Any]) -> bool:
        """Select the run or the judge that a place names; whether it names one.

        Filters are cleared except for the place's `system`, `item` (its key) and `unit` (its id, with its `words`).
        """
        source_key = f"{RUN} {place['run_id']}" if place.get("run_id") else ""
        if place.get("judge_id"):
            source_key = f"{OF} {place['judge_id']} {place.get('protocol', '')}"
        if there := choose(self.source, source_key):
            self.clear()
            self._narrow(place)
        return there

    def _narrow(self, place: Mapping[str, Any]) -> None:
        item, unit, system = (str(place.get(name, "")) for name in ("item", "unit", "system"))
        if item:
            self._places = [("", ""), (item, "")] + ([(item, unit)] if unit else [])
            words = ["All items", f"Item {item}", f"Item {item}: {place.get('words', unit)}"]
            offer(self.place, [(words[n], str(n)) for n in range(len(self._places))])
            self.place.setCurrentIndex(len(self._places) - 1)
            self.place.show()
        if system:
            # All systems are offered once the judgements are read.
            offer(self.system, [("All systems", ""), (system, system)])
            self.system.setCurrentIndex(1)

    def clear(self) -> None:
        for combo in (self.which, self.system):
            combo.setCurrentIndex(0)
        self._places = [("", "")]
        self.place.clear()
        self.place.hide()
        self.search.clear()

    def enable(self, *, enabled: bool) -> None:
        for widget in (self.which, self.system, self.place, self.search):
            widget.setEnabled(enabled)

    def query(self) -> JudgementQuery:
        kind, _, rest = str(self.source.currentData() or "").partition(" ")
        judge_id, _, protocol = rest.partition(" ") if kind == OF else ("", "", "")
        which = str(self.which.currentData() or ALL)
        cause, flag = (which.removeprefix(mark) if which.startswith(mark) else "" for mark in (CAUSE, FLAG))
        return JudgementQuery(
            "" if kind == OF else rest,
            judge_id,
            protocol,
            ALL if cause or flag else which,
            cause,
            str(self.system.currentData() or ""),
            flag,
            self.search.text().strip(),
            *self._places[max(0, self.place.currentIndex())],
        )


RIGHT = (
    Command("next_open", "Next missing", hint="The next judgement without a verdict"),
    Command("run_again", "Ask for the missing", hint="Ask again for the missing judgements", role="primary"),
)
REST = (
    Command(
        "reread",
        "Parse replies again",
        "restore",
        "Parse stored replies with the current rules, without a call",
    ),
)
# Stepping through the list does not load every judgement on the way.
SETTLE_MS, LINE_MS = 250, 60
FLAGS, TRIAL = 4, 5


class RepliesPart(PagePart):
    """The Replies tab: filters above the list; on the right the judgement with its replies and the prompt."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar((), RIGHT, REST))
        self._runs: list[RunLine] = []
        self._current_id, self._requested_id = "", ""
        self._place: dict[str, Any] = {}
        self._line_soon = later(self, self._show_line, LINE_MS)
        self._soon = later(self, self._ask, SETTLE_MS)
        self.lines, self.calls = CellsModel[JudgementLine](LINES, self), CellsModel[Reply](CALLS, self)
        self.list = CellsTable("Judgements", self.lines, stretched=2, moved=self._line_soon.start)
        self.call_table = CellsTable("Calls of the run", self.calls, stretched=4, moved=self._show_call)
        self.detail = ReplyDetail(session)
        self.count = PlainLabel("", "hint", wrap=True)
        self.filters = ReplyFilters()
        self.filters.changed.connect(self._soon.start)
        self.acts = {
            "next_item": lambda: self._view().step(1),
            "previous_item": lambda: self._view().step(-1),
            "next_open": lambda: self.list.choose_next(lambda row: self.lines.rows[row].value is None),
            "run_again": self._again,
            "reread": self._reread,
            "find": self.filters.search.seek,
        }
        self.nothing = EmptyState("check", "No matches", "", width=320)
        self.show_all = self.nothing.add_action("Show all", self.filters.clear)
        self.lists = Stack(self.list, self.call_table, self.nothing)
        left = column_of(self.count, (self.lists, 1), spacing=5)
        parts = Splitter("judges/replies", parts=(left, self.detail), sizes=(600, 480))
        work = column_of(self.filters, (parts, 1), spacing=6)
        self.empty = EmptyState(
            "judges",
            "No replies yet",
            "Start a run; every reply is stored and shown here.",
        )
        self.empty.add_action("To the runs", lambda: session.go("Judges", part="Runs"), primary=True)
        self.body = Stack(work, self.empty)
        self.lay_out(self.body)

    def fill(self) -> None:
        self.session.ask_later(self._offered, _sources)

    def _offered(self, offer: tuple[list[RunLine], list[JudgeTotal]]) -> None:
        self._runs, totals = offer
        known = {judge.id: judge for judge in self.session.ask(judges.all_of) or []}
        anything = self.filters.offer_sources(totals, self._runs, known)
        self.body.setCurrentIndex(0 if anything else 1)
        if not anything:
            self._offer(None)
        place, self._place = self._place, {}
        if self.filters.go(place):
            self._requested_id = str(place.get("judgement_id", ""))
        self._ask()

    def go(self, place: Any) -> None:
        """Go to a run (`run_id`), to a judge under a protocol, and there to one judgement (`judgement_id`)."""
        self._place = dict(place)
        self.fill()

    def run(self) -> RunLine | None:
        run_id = self.filters.query().run_id
        return next((run for run in self._runs if run.id == run_id), None)

    def _ask(self) -> None:
        self._soon.stop()
        run, query = self.run(), self.filters.query()
        if not (query.run_id or query.judge_id):
            return
        self.filters.enable(enabled=run is None or not draws(run.protocol))
        if run is not None and draws(run.protocol):
            self.session.ask_later(self._called, journal.calls, run.id)
            return
        self.count.setText("Reading…")
        self.session.ask_later(self._show_lines, _read, query)

    def _show_lines(self, answer: tuple[JudgementQuery, JudgementLines, list[str]]) -> None:
        query, lines, systems = answer
        if query != self.filters.query():
            return
        self.filters.offer_kinds(lines, systems)
        if query != self.filters.query():
            # The filters no longer apply to these judgements.
            self._ask()
            return
        judgement_id = self._requested_id or self._current_id
        self.lines.show(lines.lines)
        self.list.hide_columns(
            {
                FLAGS: not any(line.flags for line in lines.lines),
                TRIAL: all(line.trial == 1 for line in lines.lines),
            }
        )
        self.count.setText(_counted(lines))
        self.lists.setCurrentWidget(self.list if lines.lines else self.nothing)
        self.nothing.show_words("No matches", "No judgement matches the filters.")
        self._offer(lines)
        self.list.choose(self.lines.place_of(lambda line: line.id == judgement_id), first=bool(lines.lines))
        self.list.scrollTo(self.list.currentIndex())
        self._requested_id = ""
        self._show_line()

    def _offer(self, lines: JudgementLines | None) -> None:
        writable, missing = not self.session.project.readonly, bool(lines and lines.counts[NO_VERDICT])
        shown = bool(lines and lines.lines)
        self.bar.enable_all(
            {
                "next_open": shown and missing,
                "run_again": writable and missing,
                "reread": writable and bool(lines and lines.counts[ALL]) and self._judge_asks(),
            }
        )

    def _judge_asks(self) -> bool:
        judge = self._judge()
        return judge is not None and judge.kind == JudgeKind.ENDPOINT

    def _judge(self) -> Judge | None:
        run = self.run()
        judge_id = run.judge_id if run else self.filters.query().judge_id
        return next((judge for judge in self.session.ask(judges.all_of) or [] if judge.id == judge_id), None)

    def _called(self, calls: CutList[Reply]) -> None:
        self.calls.show(calls.rows)
        many = "1 call" if calls.total == 1 else f"{calls.words} calls"
        self.count.setText(
            f"{many}: calls of an extraction, newest first. Its results are shown with each report."
        )
        self.lists.setCurrentWidget(self.call_table if calls.rows else self.nothing)
        self.nothing.show_words(
            "No call was made", "The baseline makes no calls, or nothing was left to ask."
        )
        self._offer(None)
        if calls.rows:
            self.call_table.setCurrentIndex(self.calls.index(0, 0))
        self._show_call()

    def _show_line(self) -> None:
        line = self.lines.at(self.list.currentIndex().row())
        if self.lists.currentWidget() is not self.list or line is None:
            if self.lists.currentWidget() is not self.call_table:
                self.detail.clear()
            return
        self._current_id = line.id
        self.session.ask_newest(self.detail.show_detail, journal.judgement_detail, line.id)

    def _show_call(self) -> None:
        reply = self.calls.at(self.call_table.currentIndex().row())
        if self.lists.currentWidget() is self.call_table and reply is not None:
            self.detail.show_reply(reply)
        elif self.lists.currentWidget() is self.nothing:
            self.detail.clear()

    def focus_first(self) -> None:
        self._view().setFocus()

    def _view(self) -> CellsTable:
        return self.call_table if self.lists.currentWidget() is self.call_table else self.list

    def _again(self) -> None:
        run, judge = self.run(), self._judge()
        if not self.bar.buttons["run_again"].isEnabled():
            return
        if run is not None:
            self.session.go("Judges", part="Runs", again=run.id)
        else:
            name, protocol = judge.name if judge else "", self.filters.query().protocol
            self.session.go("Judges", part="Runs", judge=name, protocol=protocol)

    def _reread(self, *, everything: bool = False) -> None:
        judge, run = self._judge(), self.run()
        if judge is None or not self.bar.buttons["reread"].isEnabled():
            return
        protocol = run.protocol if run else self.filters.query().protocol
        self.answer.show_message(
            "info", "Parsing the stored replies again…", "No call is made.", lasting=True
        )
        self.session.do_later(self._read_again, lambda *_: None, _read_anew, judge.name, protocol, everything)

    def _read_again(self, report: reparse.RereadReport | None) -> None:
        self.answer.clear()
        if report is not None:
            self.answer.show_message(
                "info" if report.otherwise else "success", report.words(), report.offer()
            )
            if report.otherwise:
                self.answer.set_action("Change verdicts", partial(self._reread, everything=True))
            self.session.tell_end("The stored replies were parsed again.", "Judges", self, part="Replies")
            self.fill()


def _sources(project: Project) -> tuple[list[RunLine], list[JudgeTotal]]:
    return run_records.runs(project), run_records.totals(project)


def _read(project: Project, query: JudgementQuery) -> tuple[JudgementQuery, JudgementLines, list[str]]:
    return query, journal.lines(project, query), judge_cases.systems(project)


def _read_anew(
    project: Project,
    judge: str,
    protocol: str,
    everything: bool,
    *,
    progress: Callable[[str, int, int], None],
) -> reparse.RereadReport:
    import asyncio

    progress("Reading", 0, 0)
    return asyncio.run(reparse.again(project, judge, protocol, everything=everything))


def _counted(lines: JudgementLines) -> str:
    shown = len(lines.lines)
    summary = f"{shown:,} of {counted(lines.counts[ALL], 'judgement')}"
    if lines.left_off:
        summary = f"The first {shown:,} of {shown + lines.left_off:,}: narrow the list to see the others"
    missing = lines.counts[NO_VERDICT]
    return f"{summary} · {missing:,} without a verdict; these never count as “no”" if missing else summary
