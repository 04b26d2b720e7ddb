"""Comparison of judges with one another and with people on the same units."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QListWidget, QListWidgetItem

from annotator.actions.agreement import agreement_report
from annotator.actions.judges import judges
from annotator.actions.judging import forecasts
from annotator.actions.judging.forecasts import Cost, total
from annotator.actions.judging.judge_runs import draws, title
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures
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
from annotator.actions.validation import judge_comparing
from annotator.actions.validation.judge_comparing import (
    PEOPLE,
    ComparedRater,
    JudgeComparison,
    RaterDifference,
    RaterPair,
)
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.estimate import of_items
from annotator.domain.texts.words import CutList, counted, usd
from annotator.gui.pages.judges.replies import DIFFERENCES
from annotator.gui.pages.judges.roster import RUNS_OFFERED, run_words
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import spent
from annotator.gui.session.page import PagePart
from annotator.gui.session.session import ProjectSession
from annotator.gui.views import view_pane
from annotator.gui.views.view_pane import ViewPane
from annotator.gui.widgets.bars import ActsBar, Command, FlowRow
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    Stack,
    column_of,
    horizontal,
    tooltip,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.fields import ChoiceBox, choose, offer, together, when_changed
from annotator.gui.widgets.splitter import Splitter


def whose(rater: ComparedRater) -> str:
    return f"{rater.name} (a floor)" if rater.baseline else rater.name


def second(one: RaterPair) -> str:
    """Whom the first of a pairing is compared with."""
    return "one another" if one.a is one.b else whose(one.b)


def _figure(name: str, head: str, width: int) -> Column[RaterPair]:
    def tip(one: RaterPair) -> str:
        result = one.figure(name)
        parts = [
            agreement_report.reason(result),
            f"n = {result.n:,}",
            of_items(result.method),
            *agreement_report.remarks(result),
        ]
        return "\n".join(part for part in parts if part)

    # Named where it is called otherwise than its column.
    return Column(
        head,
        lambda one: (
            f"{agreement_report.title(one.figure(name))} {agreement_report.number(one.figure(name))}".removeprefix(
                f"{agreement_report.TITLES[name]} "
            )
        ),
        width,
        tip=tip,
        about=agreement_report.ABOUT[name],
    )


WHO: Sequence[Column[RaterPair]] = (
    Column("Who", lambda one: whose(one.a), 140),
    Column("With", second, 140),
    Column(
        "Units",
        lambda one: f"{one.units:,}",
        62,
        number=True,
        about="Units that both judged; of several trials counts what most of them say.",
    ),
)
PAIRINGS: Sequence[Column[RaterPair]] = (
    *WHO,
    _figure("agreement", "Agreement [95 %]", 172),
    _figure("kappa", "κ [95 %]", 142),
    _figure("ac1", "AC1 [95 %]", 142),
)


def pairings(found: Sequence[RaterPair]) -> Sequence[Column[RaterPair]]:
    """The columns of these pairings: the figures that fit the values that were given."""
    if not found or any(each.name == "kappa" for each in found[0].figures):
        return PAIRINGS
    names = [each.name for each in found[0].figures]
    return (*WHO, *(_figure(name, f"{agreement_report.TITLES[name]} [95 %]", 142) for name in names))


def account(one: RaterPair, comparison: JudgeComparison) -> str:
    """What the figures of a pairing stand on, and what must be known of them."""
    said = [
        f"{counted(one.units, 'unit')} that both judged"
        + (f", {counted(one.pairs, 'pair')} of values" if one.pairs != one.units else "")
    ]
    if comparison.shared is not None:
        said.append(
            f"{counted(comparison.shared, 'unit was', 'units were')} judged by all that are ticked; nothing else counts"
        )
    result = next(each for name in agreement_report.MAIN for each in one.figures if each.name == name)
    said += [*filter(None, [agreement_report.reason(result)]), *agreement_report.remarks(result)]
    if one.a.baseline or one.b.baseline:
        said.append("the baseline is a floor, not a judge")
    return " ".join(
        f"{part[:1].upper() if part[0].isascii() else part[0]}{part[1:]}." for part in said if part
    )


RIGHT = (
    Command("next_item", "Next difference", hint="Next unit on which the two differ"),
    Command("read_replies", "Read the reply", hint="The judge's reply on this unit", role="primary"),
)
NOTHING = (
    "Nobody can be compared yet",
    "Let two judges judge the same reports, or a judge reports that people have labelled and submitted.",
)
# The columns of what the two said.
ONE, OTHER = 3, 5


class ComparingPart(PagePart):
    """Raters on the left; pairs on the right, above the differences of the chosen pair."""

    reply_wanted = Signal(dict)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar((), RIGHT))
        self.protocol = ChoiceBox(accessibleName="What was judged")
        self.protocol.keep_short(14)
        self.raters = with_properties(QListWidget(), accessibleName="Who is compared")
        self.raters.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.shared = QCheckBox("Only units judged by &all")
        self.pairs, self.apart = (
            CellsModel[RaterPair](PAIRINGS, self),
            CellsModel[RaterDifference](DIFFERENCES, self),
        )
        self.table = CellsTable("All pairs", self.pairs, stretched=0)
        self.differing = CellsTable("Differences", self.apart, stretched=2)
        self.account, self.count = PlainLabel("", "hint", wrap=True), ElidedLabel("", "strong")
        self._comparison: JudgeComparison | None = None
        self._known: dict[str, list[ComparedRater]] = {}
        self.acts = {
            "next_item": lambda: self._step(1),
            "previous_item": lambda: self._step(-1),
            "read_replies": self._read,
        }
        self.protocol.currentIndexChanged.connect(lambda _: self._offer_raters())
        self.raters.itemChanged.connect(lambda _: self._compare())
        self.shared.toggled.connect(lambda _: self._compare())
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        self.differing.activated.connect(lambda _: self._read())
        left = column_of(
            PlainLabel("What was judged", "hint"),
            self.protocol,
            PlainLabel("Who is compared", "hint"),
            (self.raters, 1),
            self.shared,
            self.account,
            margins=(0, 0, 8, 0),
            spacing=6,
        )
        head = horizontal((self.count, 1), PlainLabel("Enter or double-click opens the reply", "hint"))
        below = column_of(head, (self.differing, 1), margins=(0, 4, 0, 0))
        right = Splitter(
            "judges/compare below", Qt.Orientation.Vertical, parts=(self.table, below), sizes=(220, 340)
        )
        whole = Splitter("judges/compare", parts=(left, right), sizes=(250, 830), stretch=(0, 1))
        whole.grow(left, 250)
        self.empty = EmptyState("agreement", *NOTHING)
        self.empty.add_action("To the runs", lambda: self.session.go("Judges", part="Runs"), primary=True)
        self.body = Stack(whole, self.empty)
        self.lay_out(self.body)

    def fill(self) -> None:
        self.session.ask_later(self._offered, _judged)

    def _offered(self, found: dict[str, list[ComparedRater]]) -> None:
        self._known = found
        offer(self.protocol, [(title(name), name) for name in found])
        self._offer_raters()

    def go(self, place: Any) -> None:
        """Compare under a `protocol`."""
        choose(self.protocol, place.get("protocol"))

    def focus_first(self) -> None:
        self.table.setFocus()

    def _offer_raters(self) -> None:
        known = self._known.get(str(self.protocol.currentData() or ""), [])
        left_out = {entry.data(Qt.ItemDataRole.UserRole) for entry in self._entries() if not _ticked(entry)}
        with QSignalBlocker(self.raters):
            self.raters.clear()
            for rater in known:
                entry = QListWidgetItem(f"{whose(rater)} · {rater.judgements:,}")
                entry.setData(Qt.ItemDataRole.UserRole, rater.id)
                entry.setToolTip(tooltip(whose(rater)))
                state = Qt.CheckState.Unchecked if rater.id in left_out else Qt.CheckState.Checked
                entry.setCheckState(state)
                self.raters.addItem(entry)
        comparable = len(known) > 1 or any(rater.id == PEOPLE for rater in known)
        self.body.setCurrentIndex(0 if comparable else 1)
        for act in self.acts.keys() & self.bar.buttons.keys():
            self.bar.enable(act, False)
        self.session.forget(self._compared, self._differ)
        if comparable:
            self._compare()

    def _entries(self) -> list[QListWidgetItem]:
        return [self.raters.item(row) for row in range(self.raters.count())]

    def chosen(self) -> tuple[str, ...]:
        return tuple(entry.data(Qt.ItemDataRole.UserRole) for entry in self._entries() if _ticked(entry))

    def _compare(self) -> None:
        protocol, chosen = str(self.protocol.currentData() or ""), self.chosen()
        if not chosen:
            self.pairs.show([])
            self._turn()
            return
        self.count.setText("Counting…")
        self.session.ask_newest(
            self._compared, judge_comparing.compare, protocol, chosen, shared=self.shared.isChecked()
        )

    def _compared(self, comparison: JudgeComparison) -> None:
        kept = self.table.currentIndex().row()
        self._comparison = comparison
        self.pairs.show(comparison.pairings, pairings(comparison.pairings))
        if comparison.pairings:
            self.table.setCurrentIndex(self.pairs.index(min(max(0, kept), len(comparison.pairings) - 1), 0))
        self._turn()

    def _turn(self) -> None:
        one = self.pairs.at(self.table.currentIndex().row())
        self.bar.enable_all(
            {
                "read_replies": False,
                "next_item": False,
            }
        )
        if one is None or self._comparison is None:
            self.apart.show([])
            self.count.setText("Tick two to compare them.")
            self.account.setText("")
            return
        self.account.setText(account(one, self._comparison))
        self.count.setText("Looking for differences…")
        self.session.ask_newest(
            self._differ, judge_comparing.differing, self._comparison.protocol, one.a.id, one.b.id
        )

    def _differ(self, found: CutList[RaterDifference]) -> None:
        one = self.pairs.at(self.table.currentIndex().row())
        if one is None:
            return
        self.apart.show(found.rows)
        self.apart.retitle({ONE: one.a.name, OTHER: "the other" if one.a is one.b else one.b.name})
        many = found.total
        self.count.setText(
            f"{found.words} differ: first {whose(one.a)}, second {second(one)}" if many else "No differences."
        )
        if many:
            self.differing.setCurrentIndex(self.apart.index(0, 0))
        self.bar.enable_all(
            {
                "read_replies": many > 0 and one.a.id != PEOPLE,
                "next_item": many > 0,
            }
        )

    def _step(self, by: int) -> None:
        row = self.differing.currentIndex().row() + by
        if 0 <= row < self.apart.rowCount():
            self.differing.setCurrentIndex(self.apart.index(row, 0))

    def _read(self) -> None:
        """Open the reply of the side whose cell is chosen; of people there is none, so the judge's."""
        one = self.pairs.at(self.table.currentIndex().row())
        index = self.differing.currentIndex()
        apart = self.apart.at(index.row())
        if one is None or apart is None or self._comparison is None or one.a.id == PEOPLE:
            return
        other = index.column() >= OTHER and one.b.id != PEOPLE
        rater, judgement = (one.b, apart.id_b) if other else (one.a, apart.id_a)
        self.reply_wanted.emit(
            {"judge_id": rater.id, "protocol": self._comparison.protocol, "judgement_id": judgement}
        )


def _judged(project: Project) -> dict[str, list[ComparedRater]]:
    totals = run_records.totals(project)
    names = dict.fromkeys(one.protocol for one in totals if one.judgements and not draws(one.protocol))
    return {name: judge_comparing.raters(project, name) for name in names}


def _ticked(entry: QListWidgetItem) -> bool:
    return entry.checkState() == Qt.CheckState.Checked


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
RIGHT_ALIGNED = (
    Command(
        "read_replies", "Read its replies", hint="The judgements behind the selected row", role="primary"
    ),
)
NO_COSTS = (
    "No costs yet",
    "Once an endpoint judge has run, the cost of every call is broken down here by criterion, question and "
    "system. The baseline costs nothing.",
)
Told = tuple[list[Cost], dict[tuple[str, str, str], str]]


class CostsPart(PagePart):
    """Choices above the table; details of the chosen figure below."""

    replies_wanted = Signal(dict)
    run_wanted = Signal(dict)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar(LEFT, RIGHT_ALIGNED))
        self._wanted = ""
        self._costs: list[Cost] = []
        self._known: list[Judge] = []
        self.by, self.of = ChoiceBox(accessibleName="Costs by"), ChoiceBox(accessibleName="Whose costs")
        for combo, letters in ((self.by, 18), (self.of, 34)):
            combo.keep_short(letters)
        offer(self.by, [(words, name) for name, words in BY.items()])
        self.view = ViewPane(session, "judges/costs")
        self.acts = {
            "cost_definition": self.view.explain,
            "copy_costs": self.copy,
            "save_costs": self._choose_file,
            "read_replies": self._read,
            "find": self.view.seek,
        }
        when_changed(self._count, self.by, self.of)
        self.view.opened.connect(lambda *_: self._read())
        self.view.turned.connect(self._turn)
        copying = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view.table)
        copying.setContext(Qt.ShortcutContext.WidgetShortcut)
        copying.activated.connect(self.copy)
        head = FlowRow(gap=10)
        for part in (together("By", self.by), together("of", self.of)):
            head.addWidget(part)
        whole = column_of(head, (self.view, 1), spacing=6, margins=None)
        self.empty = EmptyState("results", *NO_COSTS)
        self.empty.add_action("To the runs", lambda: self.run_wanted.emit({}), primary=True)
        self.body = Stack(whole, self.empty)
        self.lay_out(self.body)

    def fill(self) -> None:
        self._known = [one for one in self.session.ask(judges.all_of) or [] if one.kind == JudgeKind.ENDPOINT]
        runs = [run for run in self.session.ask(run_records.runs) or [] if run.paid]
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

    def _choice(self) -> tuple[str, str]:
        return str(self.by.currentData()), str(self.of.currentData() or "")

    def _count(self) -> None:
        self.session.ask_newest(self._counted, _told, *self._choice())

    def _counted(self, found: Told) -> None:
        choice = self._choice()
        self._costs, words = found
        self.body.setCurrentIndex(1 if not self._costs and not choice[1] else 0)
        self.view.show_sheets((sheet(choice[0], self._costs, words),), "")
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
        self.bar.say(view_pane.copied(self.view.model.shown))

    def _choose_file(self) -> None:
        if path := view_pane.chosen_file(self, "costs"):
            self.save(path)

    def save(self, path: Path) -> None:
        self.bar.say(
            view_pane.saved(
                self.session, path, lambda: result_pictures.save_exports(self.view.model.shown, path)
            )
        )

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
            line = self.view.line()
            place |= {
                "item": one.item,
                "unit": one.name,
                "words": line.cells[1].words if line is not None else "",
            }
        self.answer.clear()
        self.replies_wanted.emit(place)


def _told(project: Project, by: str, of: str) -> Told:
    """What is chosen, its costs, and what their names mean."""
    kind, _, name = of.partition(" ")
    result = forecasts.costs(project, by, **{kind: name} if kind else {})
    words: dict[tuple[str, str, str], str] = {}
    if by == UNIT:
        words = forecasts.asked_about(project, result)
    elif by == QUESTION:
        words = {(key, "", ""): question for key, question in forecasts.questions(project).items()}
    return result, words
