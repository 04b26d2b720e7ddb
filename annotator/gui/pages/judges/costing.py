"""Costs tab: by unit, question, system or judge; sorted, searched and exported."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QWidget,
)

from annotator.actions.judges import judges
from annotator.actions.judging import judge_costs
from annotator.actions.judging.judge_costs import Cost, total
from annotator.actions.judging.judge_offers import title
from annotator.actions.project.file import Project
from annotator.actions.results import result_exports
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    columns,
    count,
    text,
)
from annotator.actions.runs import run_records
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.counting import counted, usd
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.judges.roster.judges_model import RUNS_OFFERED, run_words
from annotator.gui.review.judge_words import spent
from annotator.gui.views import leaving
from annotator.gui.views.view_pane import ViewPane
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.basics import column_of
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.labelled import together

UNIT, QUESTION, SYSTEM, JUDGE = "criterion", "question", "system", "judge"
PURPOSE, RUN = "purpose", "run"
# What costs are told by, in words.
BY: Mapping[str, str] = {
    UNIT: "Criterion or other unit",
    QUESTION: "Question",
    SYSTEM: "System",
    JUDGE: "Judge",
    PURPOSE: "Purpose",
    RUN: "Run",
}
COST = (
    "US dollars for all calls, including failed and repeated ones, at the prices on the day of the call. "
    "If several judgements share a call, because units were asked together or a reply was reused, its cost "
    "is split evenly. Costs that belong to no single question, system or criterion (drift checks, attacks, "
    "extraction, test calls) have their own row. An interrupted request counts at the typical cost of its "
    "run."
)
EACH = "Cost divided by the number of judgements with known cost."
UNKNOWN = (
    "Judgements from a call of unknown cost: its model has no price in the table, or the server did not "
    "report tokens. Unknown is never zero: the total is a lower bound."
)
JUDGEMENTS = "Judgements from a call, with or without a verdict."
# The columns of money and of what it was for, after those that name a line.
FIGURES = (
    ("protocol", "What it judged"),
    ("judgements", "Judgements", JUDGEMENTS),
    ("cost_usd", "Cost", COST),
    ("each_usd", "A judgement", EACH),
    ("unpriced", "Cost unknown", UNKNOWN),
)
HEADS: Mapping[str, tuple[tuple[str, str], ...]] = {
    UNIT: (("item", "Item"), ("unit", "Asked about")),
    QUESTION: (("item", "Item"), ("question", "Question")),
    SYSTEM: (("system", "System"),),
    JUDGE: (("judge", "Judge"),),
    PURPOSE: (("purpose", "Purpose"),),
    RUN: (("run", "Run"),),
}


def sheet(by: str, found: Sequence[Cost], words: Mapping[tuple[str, str, str], str]) -> ResultSheet:
    """Costs by one of `BY`, the dearest first; `words` says what (item's key, protocol, unit) or (item's key) means."""
    heads: tuple[SheetColumn, ...] = columns(*HEADS[by], *FIGURES)
    lines = tuple(SheetLine((*_named(by, one, words), *_figures(one)), unit_id=one.name) for one in found)
    return ResultSheet("costs", f"Costs by {BY[by].casefold()}", heads, lines, told(found))


def _named(by: str, one: Cost, words: Mapping[tuple[str, str, str], str]) -> tuple[SheetCell, ...]:
    if not one.name or by == RUN:
        return tuple(text(said) for said in (replace(one, protocol="").words(by), "")[: len(HEADS[by])])
    if by == UNIT:
        said = words.get((one.item, one.protocol, one.name), one.name)
        return text(one.item), text(said, said)
    if by == QUESTION:
        said = " ".join(words.get((one.name, "", ""), "").split())
        return text(one.name), text(said, said)
    return (text(one.name),)


def _figures(one: Cost) -> tuple[SheetCell, ...]:
    known = one.judgements - one.unpriced if one.judgements else 0
    each = one.cost_usd / known if one.cost_usd is not None and known else None
    rest = f"the cost of {one.unpriced:,} is not known" if one.unpriced else "the cost of all is known"
    guess = f"; {one.guessed:,} requests without an answer count at the usual cost" if one.guessed else ""
    tip = f"{counted(one.judgements, 'judgement')}; {rest}{guess}."
    return (
        text(title(one.protocol)),
        count(one.judgements),
        _money(one.cost_usd, spent(one.cost_usd, 1, one.unpriced), tip),
        _money(each, usd(each) if each is not None else "–", tip),
        SheetCell(
            f"{one.unpriced:,}", one.unpriced, state="incomplete" if one.unpriced else "", value=one.unpriced
        ),
    )


def _money(amount: float | None, words: str, tip: str) -> SheetCell:
    return SheetCell(words, amount, tip, "missing" if amount is None else "", value=amount)


def told(found: Sequence[Cost]) -> tuple[str, ...]:
    """What all lines come to together."""
    judgements, unpriced = (sum(getattr(one, name) for one in found) for name in ("judgements", "unpriced"))
    if not found:
        return ("This had no cost.",)
    whole = f"{spent(total(found), 1, unpriced)} for {counted(judgements, 'judgement')}"
    rest = f"; the cost of {unpriced:,} is not known" if unpriced else ""
    return (f"Together {whole}{rest}. The cost of a shared call is split evenly.",)


LEFT = (
    Command(
        "cost_definition",
        "About",
        "info",
        "Switch between the definition of the selected figure and the table",
    ),
    Command("copy_costs", "Copy table", "export", "Copy the table for a spreadsheet, with full precision"),
    Command("save_costs", "Save table…", "folder", "Save the table as CSV or JSON, with full precision"),
)
RIGHT = (
    Command(
        "read_replies", "Read its replies", hint="The judgements behind the selected row", role="primary"
    ),
)
NOTHING = (
    "No costs yet",
    "Once an endpoint judge has run, the cost of every call is broken down here by criterion, question and "
    "system. The baseline costs nothing.",
)
Told = tuple[tuple[str, str], list[Cost], dict[tuple[str, str, str], str]]


class CostsPart(PagePart):
    """Choices above the table; details of the chosen figure below."""

    replies_wanted = Signal(dict)
    run_wanted = Signal(dict)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self._wanted = ""
        self._costs: list[Cost] = []
        self._known: list[Judge] = []
        self.by, self.of = ChoiceBox(), ChoiceBox()
        self.by.setAccessibleName("Costs by")
        self.of.setAccessibleName("Whose costs")
        for combo, letters in ((self.by, 18), (self.of, 34)):
            combo.keep_short(letters)
        offer(self.by, [(words, name) for name, words in BY.items()])
        self.view = ViewPane(desk, "judges/costs")
        self.acts = {
            "cost_definition": self.view.explain,
            "copy_costs": self.copy,
            "save_costs": self._choose_file,
            "read_replies": self._read,
            "find": self.view.seek,
        }
        self._listen()
        self.lay_out(self._body())

    def _listen(self) -> None:
        self.by.currentIndexChanged.connect(lambda _: self._count())
        self.of.currentIndexChanged.connect(lambda _: self._count())
        self.view.opened.connect(lambda *_: self._read())
        self.view.turned.connect(self._turn)
        copying = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view.table)
        copying.setContext(Qt.ShortcutContext.WidgetShortcut)
        copying.activated.connect(self.copy)

    def _body(self) -> QWidget:
        head = FlowRow(gap=10)
        for part in (together("By", self.by), together("of", self.of)):
            head.addWidget(part)
        whole = column_of(head, (self.view, 1), spacing=6, margins=None)
        self.empty = EmptyState("results", *NOTHING)
        self.empty.add_action("To the runs", lambda: self.run_wanted.emit({}), primary=True)
        self.body = Stack(whole, self.empty)
        return self.body

    def fill(self) -> None:
        """Offer judges and runs again, and count."""
        self._known = [one for one in self.desk.ask(judges.all_of) or [] if one.kind == JudgeKind.ENDPOINT]
        runs = [run for run in self.desk.ask(run_records.runs) or [] if run.paid]
        choices = [("All judges", ""), *((one.name, f"judge {one.name}") for one in self._known)]
        choices += [(run_words(run), f"run {run.id}") for run in runs[:RUNS_OFFERED]]
        offer(self.of, choices)
        wanted, self._wanted = self.of.findData(self._wanted) if self._wanted else -1, ""
        if wanted > 0 and wanted != self.of.currentIndex():
            self.of.setCurrentIndex(wanted)
            return
        self._count()

    def go(self, place: Any) -> None:
        """Show the costs of a run (`run_id`) or of a `judge` by its name."""
        self._wanted = f"run {place['run_id']}" if place.get("run_id") else ""
        self._wanted = f"judge {place['judge']}" if place.get("judge") else self._wanted
        self.fill()

    def focus_first(self) -> None:
        self.view.table.setFocus()

    def stop(self) -> None:
        super().stop()
        self.view.stop()

    def _choice(self) -> tuple[str, str]:
        return str(self.by.currentData()), str(self.of.currentData() or "")

    def _count(self) -> None:
        self.desk.ask_later(self._counted, _told, *self._choice())

    def _counted(self, found: Told) -> None:
        choice, costs, words = found
        if self.stopped or choice != self._choice():
            return
        self._costs = costs
        self.body.setCurrentIndex(1 if not costs and not choice[1] else 0)
        self.view.show_sheets((sheet(choice[0], costs, words),), "")
        index = self.view.table.currentIndex()
        if index.isValid() and not index.column():
            self.view.table.setCurrentIndex(
                index.siblingAtColumn(self.view.model.whole.keys.index("cost_usd"))
            )
            self.view.table.horizontalScrollBar().setValue(0)

    def _turn(self) -> None:
        for act in self.bar.buttons:
            self.bar.enable(act, self.view.model.rowCount() > 0)

    def copy(self) -> None:
        self.bar.say(leaving.copied(self.view.model.shown))

    def _choose_file(self) -> None:
        if path := leaving.chosen_file(self, "costs"):
            self.save(path)

    def save(self, path: Path) -> None:
        self.bar.say(leaving.saved(self.desk, path, lambda: result_exports.save(self.view.model.shown, path)))

    def _line(self) -> Cost | None:
        line = self.view.line()
        places = [id(one) for one in self.view.model.whole.lines]
        return self._costs[places.index(id(line))] if line is not None else None

    def _read(self) -> None:
        """Open the judgements behind the chosen line; where they are of several judges, one must be chosen first."""
        one, (by, of) = self._line(), self._choice()
        if one is None:
            return
        if not one.judgements or by == PURPOSE:
            self.answer.show_message(
                "info", "The judgements behind this row belong to several protocols.", "Choose another."
            )
            return
        kind, _, name = of.partition(" ")
        if by == RUN:
            kind, name = "run", one.name
        place: dict[str, Any] = {"run_id": name} if kind == "run" else {"protocol": one.protocol}
        if kind != "run":
            told = one.name if by == JUDGE else name
            mine = [
                judge for judge in self._known if judge.name == told or (not told and len(self._known) == 1)
            ]
            if not mine:
                self.answer.show_message(
                    "info", "This may include several judges.", "Select one above to read its replies."
                )
                self.of.setFocus()
                return
            place["judge_id"] = mine[0].id
        place |= {QUESTION: {"item": one.name}, SYSTEM: {"system": one.name}}.get(by, {})
        if by == UNIT:
            place |= {"item": one.item, "unit": one.name, "words": self._words_of_line()}
        self.answer.clear()
        self.replies_wanted.emit(place)

    def _words_of_line(self) -> str:
        line = self.view.line()
        return line.cells[1].words if line is not None else ""


def _told(project: Project, by: str, of: str) -> Told:
    """What is chosen, its costs, and what their names mean."""
    kind, _, name = of.partition(" ")
    only = {kind: name} if kind else {}
    found = judge_costs.costs(project, by, **only)
    words: dict[tuple[str, str, str], str] = {}
    if by == UNIT:
        words = judge_costs.asked_about(project, found)
    elif by == QUESTION:
        words = {(key, "", ""): question for key, question in judge_costs.questions(project).items()}
    return (by, of), found, words
