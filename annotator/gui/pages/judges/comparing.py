"""Comparison of judges with one another and with people on the same units, and their costs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from PySide6.QtWidgets import QWidget

from annotator.actions.agreement import agreement_report
from annotator.actions.judges import judges
from annotator.actions.judging import forecasts
from annotator.actions.judging.forecasts import Cost, total
from annotator.actions.judging.judge_runs import draws, title
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import PEOPLE, ResultRater
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetLine,
    ViewChoice,
    columns,
    count,
    text,
)
from annotator.actions.runs import run_records
from annotator.actions.studies.result_views import BENCHMARK, ResultView
from annotator.actions.validation import disagreements
from annotator.actions.validation.disagreements import JudgeComparison, RaterDifference, RaterPair
from annotator.domain.common import CutList, counted, usd
from annotator.domain.experts.adjudication import Figure
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.estimate import of_items
from annotator.gui.pages.judges.replies import DIFFERENCES
from annotator.gui.pages.judges.roster import RUNS_OFFERED, run_words
from annotator.gui.review.sheets import CellsModel, CellsTable
from annotator.gui.review.verdict_words import spent
from annotator.gui.session.session import ProjectSession
from annotator.gui.views.viewer import BehindPane, Lead, Viewer
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical


def whose(rater: ResultRater) -> str:
    return f"{rater.name} (a lower bound)" if rater.floor else rater.name


def second(pair: RaterPair) -> str:
    """The second side of a pairing, in words."""
    return "one another" if pair.a is pair.b else whose(pair.b)


def account(pair: RaterPair, comparison: JudgeComparison) -> str:
    """The basis of a pairing's figures, and the remarks on them."""
    result = next(each for name in agreement_report.MAIN for each in pair.figures if each.name == name)
    values = f", {counted(pair.pairs, 'pair')} of values" if pair.pairs != pair.units else ""
    by_all = "" if comparison.shared is None else counted(comparison.shared, "unit was", "units were")
    sentences = (
        f"{counted(pair.units, 'unit')} that both judged{values}",
        f"{by_all} judged by all that are ticked; nothing else counts" if by_all else "",
        agreement_report.reason(result),
        *agreement_report.remarks(result),
        "the baseline is a lower bound, not a judge" if pair.a.floor or pair.b.floor else "",
    )
    return " ".join(
        f"{part[:1].upper() if part[0].isascii() else part[0]}{part[1:]}." for part in sentences if part
    )


def compare_choices(project: Project) -> tuple[ViewChoice, ...]:
    """The choices: what two or more raters judged, or a judge and people, and which units count."""
    known = {name: disagreements.raters(project, name) for name in _judged(project)}
    there = [name for name, of in known.items() if len(of) > 1 or any(rater.id == PEOPLE for rater in of)]
    return (
        ViewChoice("protocol", "What was judged", tuple((title(name), name) for name in there)),
        ViewChoice("units", "Units", (("All units", ""), ("Judged by all", SHARED))),
    )


def compare_report(project: Project, protocol: str = "", units: str = "") -> JudgeComparison:
    if not protocol:
        return JudgeComparison("", ())
    return disagreements.compare(project, protocol, shared=units == SHARED)


def compare_sheets(comparison: JudgeComparison) -> tuple[ResultSheet, ...]:
    """A line for every pair, with a note on its basis."""
    if not comparison.pairings:
        return ()
    names = [each.name for each in comparison.pairings[0].figures]
    figures = (
        (name, f"{agreement_report.TITLES[name]} [95 %]", agreement_report.ABOUT[name]) for name in names
    )
    heads = columns(("who", "Who"), ("with", "With"), ("units", "Units", BOTH), *figures)
    lines = tuple(
        PairLine(
            (text(whose(pair.a)), text(second(pair)), count(pair.units), *map(_figure, pair.figures)),
            pair=pair,
            comparison=comparison,
        )
        for pair in comparison.pairings
    )
    return (ResultSheet("compare", "Judges compared", heads, lines),)


def _figure(figure: Figure) -> SheetCell:
    """A figure, with its name if it differs from the column's, and the remarks in the tooltip."""
    words = f"{agreement_report.title(figure)} {agreement_report.number(figure)}"
    tip = [agreement_report.reason(figure), f"n = {figure.n:,}", of_items(figure.method)]
    return SheetCell(
        words.removeprefix(f"{agreement_report.TITLES[figure.name]} "),
        figure.value,
        "\n".join(filter(None, [*tip, *agreement_report.remarks(figure)])),
        value=figure.value,
    )


def _judged(project: Project) -> Iterable[str]:
    totals = run_records.totals(project)
    return dict.fromkeys(total.protocol for total in totals if total.judgements and not draws(total.protocol))


SHARED = "shared"
BOTH = "Units that both judged; of several trials counts what most of them say."
COMPARE = ResultView(
    "compare",
    "Compare",
    BENCHMARK,
    "How far judges agree with one another and with people.",
    "Let two judges judge the same reports, or a judge reports that people have labelled and submitted.",
    compare_choices,
    compare_report,
    compare_sheets,
)
# The columns of the two raters' values.
ONE, OTHER = 3, 5
# Kinds of change that may affect a figure or a cost.
MOVING = frozenset(
    {"attack", "extract", "import", "item", "judge", "judge_run", "judgement", "labels", "prompt"}
)
TO_RUNS: Lead = ("To the runs", "Judges", {"part": "Runs"})
# One sheet, no pictures; Ctrl+T tests a judge here.
NO_PICTURES = ("next_sheet", "save_results_picture")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine(SheetLine):
    pair: RaterPair
    comparison: JudgeComparison


class DifferencesView(BehindPane):
    """The units on which two raters differ; Enter opens the reply of the side whose cell is selected."""

    def __init__(self, session: ProjectSession, name: str) -> None:
        super().__init__(session, name)
        self._line: PairLine | None = None
        self.apart = CellsModel[RaterDifference](DIFFERENCES, self)
        self.table = CellsTable("Differences", self.apart, stretched=2, opened=lambda _: self._read())
        hint = PlainLabel("Enter or double-click opens the reply", "hint")
        vertical(horizontal((self.title, 1), hint, self.leave), (self.table, 1), on=self, margins=0)

    def look(self, line: SheetLine, _cell: SheetCell | None) -> bool:
        if not isinstance(line, PairLine):
            return False
        self._line = line
        self.apart.show([])
        self.title.setText("Looking for differences…")
        pair = line.pair
        self.session.ask_newest(
            self._show, disagreements.differing, line.comparison.protocol, pair.a.id, pair.b.id
        )
        return True

    def _show(self, cut_list: CutList[RaterDifference]) -> None:
        if self._line is None:
            return
        pair = self._line.pair
        self.apart.show(cut_list.rows)
        self.apart.retitle({ONE: pair.a.name, OTHER: "the other" if pair.a is pair.b else pair.b.name})
        self.title.setText(
            f"{cut_list.words} differ: first {whose(pair.a)}, second {second(pair)}"
            if cut_list.total
            else "No differences."
        )
        if cut_list.total:
            self.table.setCurrentIndex(self.apart.index(0, 0))

    def _read(self) -> None:
        """Open the reply of the side whose cell is selected; people have none, so then the judge's."""
        index = self.table.currentIndex()
        apart = self.apart.at(index.row())
        if self._line is None or apart is None or self._line.pair.a.id == PEOPLE:
            return
        pair = self._line.pair
        other = index.column() >= OTHER and pair.b.id != PEOPLE
        rater, judgement = (pair.b, apart.id_b) if other else (pair.a, apart.id_a)
        place = {"judge_id": rater.id, "protocol": apart.protocol, "judgement_id": judgement}
        self.session.go("Judges", part="Replies", **place)


def _account(
    _sheet: ResultSheet, line: SheetLine | None, cell: SheetCell | None, _column: int, _metric: str
) -> str:
    if not isinstance(line, PairLine):
        return ""
    tip = escape(cell.tip if cell else "").replace("\n", "<br>")
    return f"<p>{escape(account(line.pair, line.comparison))}</p><p>{tip}</p>"


class CompareViewer(Viewer):
    """Every pair of raters with common units; behind each pair, where they differ."""

    ICON, OTHERWISE, LEAD, WITHOUT = "agreement", TO_RUNS, TO_RUNS, NO_PICTURES
    DEEPER = "Enter: the units on which the two differ"
    BEHIND = DifferencesView

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, (COMPARE,), "judges/compare", "Judges compared", MOVING)
        self.view.account_of = _account

    def go(self, place: Mapping[str, Any]) -> None:
        """Compare under a `protocol`, if the place names one."""
        super().go({"choose": {"protocol": place["protocol"]}} if place.get("protocol") else place)


UNIT, QUESTION, SYSTEM, JUDGE = "criterion", "question", "system", "judge"
PURPOSE, RUN = "purpose", "run"
# What costs are grouped by, in words.
BY: Mapping[str, str] = {
    UNIT: "Criterion or other unit",
    QUESTION: "Question",
    SYSTEM: "System",
    JUDGE: "Judge",
    PURPOSE: "Purpose",
    RUN: "Run",
}
# The columns of costs and their purpose, after those that name a line.
FIGURES = (
    ("protocol", "What it judged"),
    ("judgements", "Judgements", "Judgements from a call, with or without a verdict."),
    (
        "cost_usd",
        "Cost",
        "US dollars for all calls, including failed and repeated ones, at the prices on the day of the call. "
        "If several judgements share a call, because units were asked together or a reply was reused, its cost "
        "is split evenly. Costs that belong to no single question, system or criterion (drift checks, attacks, "
        "extraction, test calls) have their own row. An interrupted request counts at the typical cost of its "
        "run.",
    ),
    ("each_usd", "A judgement", "Cost divided by the number of judgements with known cost."),
    (
        "unpriced",
        "Cost unknown",
        "Judgements from a call of unknown cost: its model has no price in the table, or the server did not "
        "report tokens. Unknown is never zero: the total is a lower bound.",
    ),
)
HEADS: Mapping[str, tuple[tuple[str, str], ...]] = {
    UNIT: (("item", "Item"), ("unit", "Asked about")),
    QUESTION: (("item", "Item"), ("question", "Question")),
    SYSTEM: (("system", "System"),),
    JUDGE: (("judge", "Judge"),),
    PURPOSE: (("purpose", "Purpose"),),
    RUN: (("run", "Run"),),
}


# Costs, the words for each (item's key, protocol, unit) or (item's key) that they name, and what they are grouped by.
Costs = tuple[list[Cost], dict[tuple[str, str, str], str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine(SheetLine):
    cost: Cost


def cost_sheets(answer: Costs) -> tuple[ResultSheet, ...]:
    """A line for each cost, the highest first."""
    costs, words, by = answer
    lines = tuple(CostLine((*_named(by, cost, words), *_figures(cost)), cost=cost) for cost in costs)
    heads, title = columns(*HEADS[by], *FIGURES), f"Costs by {BY[by].casefold()}"
    return (ResultSheet("costs", title, heads, lines, cost_notes(costs)),) if costs else ()


def _named(by: str, cost: Cost, words: Mapping[tuple[str, str, str], str]) -> tuple[SheetCell, ...]:
    if not cost.name or by == RUN:
        return tuple(text(part) for part in (replace(cost, protocol="").words(by), "")[: len(HEADS[by])])
    if by == UNIT:
        label = words.get((cost.item, cost.protocol, cost.name), cost.name)
        return text(cost.item), text(label, label)
    if by == QUESTION:
        label = " ".join(words.get((cost.name, "", ""), "").split())
        return text(cost.name), text(label, label)
    return (text(cost.name),)


def _figures(cost: Cost) -> tuple[SheetCell, ...]:
    known = cost.judgements - cost.unpriced if cost.judgements else 0
    each = cost.cost_usd / known if cost.cost_usd is not None and known else None
    rest = f"the cost of {cost.unpriced:,} is not known" if cost.unpriced else "the cost of all is known"
    guess = f"; {cost.guessed:,} requests without an answer count at the usual cost" if cost.guessed else ""
    tip = f"{counted(cost.judgements, 'judgement')}; {rest}{guess}."
    return (
        text(title(cost.protocol)),
        count(cost.judgements),
        _money(cost.cost_usd, spent(cost.cost_usd, 1, cost.unpriced), tip),
        _money(each, usd(each) if each is not None else "–", tip),
        SheetCell(
            f"{cost.unpriced:,}",
            cost.unpriced,
            state="incomplete" if cost.unpriced else "",
            value=cost.unpriced,
        ),
    )


def _money(amount: float | None, words: str, tip: str) -> SheetCell:
    return SheetCell(words, amount, tip, "missing" if amount is None else "", value=amount)


def cost_notes(costs: Sequence[Cost]) -> tuple[str, ...]:
    judgements, unpriced = (sum(getattr(cost, name) for cost in costs) for name in ("judgements", "unpriced"))
    if not costs:
        return ("This had no cost.",)
    whole = f"{spent(total(costs), 1, unpriced)} for {counted(judgements, 'judgement')}"
    rest = f"; the cost of {unpriced:,} is not known" if unpriced else ""
    return (f"Together {whole}{rest}. The cost of a shared call is split evenly.",)


def cost_choices(project: Project) -> tuple[ViewChoice, ...]:
    """The choices: what costs are grouped by, and whose they are (a judge's behind an endpoint, or a run's)."""
    named = ((judge.name, f"judge {judge.name}") for judge in _endpoints(project))
    paid = [run for run in run_records.runs(project) if run.paid][:RUNS_OFFERED]
    runs = ((run_words(run), f"run {run.id}") for run in paid)
    by = tuple((words, name) for name, words in BY.items())
    return ViewChoice("by", "By", by), ViewChoice("of", "of", (("All judges", ""), *named, *runs))


def cost_report(project: Project, by: str = UNIT, of: str = "") -> Costs:
    """The costs of a choice, the meanings of their names, and what they are grouped by."""
    people.refuse_others(project, "can see what judges cost")
    kind, _, name = of.partition(" ")
    result = forecasts.costs(project, by, **{kind: name} if kind else {})
    words: dict[tuple[str, str, str], str] = {}
    if by == UNIT:
        words = forecasts.unit_words(project, result)
    elif by == QUESTION:
        words = {(key, "", ""): question for key, question in forecasts.questions(project).items()}
    return result, words, by


def _endpoints(project: Project) -> list[Judge]:
    return [judge for judge in judges.all_of(project) if judge.kind == JudgeKind.ENDPOINT]


COSTS = ResultView(
    "costs",
    "Costs",
    BENCHMARK,
    "What was spent on calls.",
    "Once an endpoint judge has run, the cost of every call is broken down here by criterion, question and system. The "
    "baseline costs nothing.",
    cost_choices,
    cost_report,
    cost_sheets,
)
SEVERAL = "The judgements behind this line belong to several protocols: choose another."
WHOSE = "This may include several judges: choose one above to read its replies."


class CostsViewer(Viewer):
    """The costs of calls; behind a line, its replies."""

    OTHERWISE, LEAD, WITHOUT = TO_RUNS, TO_RUNS, NO_PICTURES
    DEEPER = "Enter: the judgements behind a line"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, (COSTS,), "judges/costs", "Costs", MOVING)

    def go(self, place: Mapping[str, Any]) -> None:
        """Show the costs of a run (`run_id`) or of a `judge` by its name."""
        scope = f"run {place['run_id']}" if place.get("run_id") else f"judge {place.get('judge', '')}"
        super().go({"choose": {"of": scope}} if place.keys() & {"run_id", "judge"} else place)

    def show_body(self, widget: QWidget) -> None:
        """When the costs are first shown, select the column of money."""
        super().show_body(widget)
        index = self.view.table.currentIndex()
        if widget is self.view and not index.column():
            self.view.table.setCurrentIndex(
                index.siblingAtColumn(self.view.model.whole.keys.index("cost_usd"))
            )
            self.view.table.horizontalScrollBar().setValue(0)

    def open_behind(self, line: SheetLine, cell: SheetCell | None) -> None:
        """Open the judgements behind a line; if they are of several judges, one must be chosen first."""
        by, of = self.choosers.values()["by"], self.choosers.values()["of"]
        if not isinstance(line, CostLine) or not line.cost.judgements or by == PURPOSE:
            self.hint.setText(SEVERAL)
            return
        cost = line.cost
        kind, _, name = ("run", "", cost.name) if by == RUN else of.partition(" ")
        place: dict[str, Any] = {"run_id": name} if kind == "run" else {"protocol": cost.protocol}
        if kind != "run":
            known, judge_name = _endpoints(self.session.project), cost.name if by == JUDGE else name
            mine = [
                judge for judge in known if judge.name == judge_name or (not judge_name and len(known) == 1)
            ]
            if not mine:
                self.hint.setText(WHOSE)
                return
            place["judge_id"] = mine[0].id
        place |= {QUESTION: {"item": cost.name}, SYSTEM: {"system": cost.name}}.get(by, {})
        if by == UNIT:
            place |= {"item": cost.item, "unit": cost.name, "words": line.cells[1].words}
        self.session.go("Judges", part="Replies", **place)
