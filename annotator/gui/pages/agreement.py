"""The Agreement page."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHeaderView,
    QTextBrowser,
)

from annotator import __version__
from annotator.actions.agreement import agreement_figures, agreement_report
from annotator.actions.agreement.agreement_figures import SELF, UNITS, FigureRow
from annotator.actions.agreement.agreement_report import (
    BY_MODEL,
    VOTES,
    AgreementReport,
    LineBehind,
    LinesBehind,
    RaterSide,
    RowBasis,
    RowLine,
    SecondFigures,
    held_back_words,
    provenance,
    value_words,
)
from annotator.actions.agreement.assisting import Assistance
from annotator.actions.results.result_sheets import ResultSheet, SheetCell, SheetLine
from annotator.actions.studies.result_views import CountedView, ResultView
from annotator.domain.experts.adjudication import Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.protocol import uncrossed
from annotator.domain.texts.difference import differences
from annotator.domain.texts.estimate import of_items
from annotator.domain.texts.words import counted
from annotator.gui import theme
from annotator.gui.review.run_panel import OrderPane, RunPanel
from annotator.gui.review.sheets import CellsModel, Column
from annotator.gui.session.session import ProjectSession, named
from annotator.gui.views.view_pane import LeavingMenu, Refused, muted
from annotator.gui.views.viewer import BehindPane, Lead, Viewer, ViewerPage
from annotator.gui.widgets.bars import KeyButton, wrapping
from annotator.gui.widgets.basics import (
    PlainLabel,
    check_box,
    choose_folder,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.columns import LinesTable
from annotator.gui.widgets.fields import BudgetBox
from annotator.gui.widgets.splitter import Splitter

SAME, DIFFERS = ("check", "state-agreed"), ("cross", "state-disagree")
# Whether both gave the same value: word, icon and colour. A missing value is no disagreement.
VERDICTS = {
    True: ("same", SAME),
    False: ("differs", DIFFERS),
    None: ("missing", ("minus", "state-missing")),
}
# A column of no width shares the remaining width.
FREE = 0
SIDES: tuple[Callable[[LineBehind], RaterSide], ...] = (lambda line: line.a, lambda line: line.b)


def columns(report: AgreementReport, behind: LinesBehind) -> list[Column[LineBehind]]:
    """The columns for pairs; those empty in all lines are left out."""
    lines, units = behind.lines, behind.row.field == UNITS
    about, likeness = any(line.about for line in lines), any(line.likeness is not None for line in lines)
    worded = about or any(side(line).words for line in lines for side in SIDES)
    made: list[Column[LineBehind]] = [
        Column("Item", lambda line: line.item_key, 90, tip=lambda line: line.question)
    ]
    if any(line.report for line in lines):
        made.append(Column("Report of", lambda line: line.report, 130))
    if about:
        made.append(Column("Judged by", lambda line: line.about, FREE))
    for side in SIDES:
        made.append(Column("Rater", _who(report, side), 70 if worded else FREE))
        if any(side(line).words for line in lines):
            made.append(Column("wrote", _words(side), FREE))
        made.append(Column("No." if units else agreement_report.field(behind.row), _value(side, units), 90))
    if likeness:
        made.append(
            Column("Similarity", lambda line: "" if line.likeness is None else f"{line.likeness:.2f}", 80)
        )
    verdict = _matched if units else lambda line: VERDICTS[line.same]
    made.append(Column("", lambda line: verdict(line)[0], 110, look=lambda line: verdict(line)[1]))
    return made if lines else []


def _who(report: AgreementReport, side: Callable[[LineBehind], RaterSide]) -> Callable[[LineBehind], str]:
    return lambda line: report.alias(side(line).who)


def _words(side: Callable[[LineBehind], RaterSide]) -> Callable[[LineBehind], str]:
    return lambda line: side(line).words or "–"


def _value(side: Callable[[LineBehind], RaterSide], units: bool) -> Callable[[LineBehind], str]:
    return lambda line: "–" if units and side(line).value is None else value_words(side(line).value)


def _matched(line: LineBehind) -> tuple[str, tuple[str, str]]:
    both = line.a.value is not None and line.b.value is not None
    return ("matched", SAME) if both else ("only one", DIFFERS)


class AgreementBehindView(BehindPane):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._report: AgreementReport | None = None
        self._lines: LinesBehind | None = None
        self.model = CellsModel[LineBehind]((), self)
        self.count, self.held = PlainLabel(role="hint"), PlainLabel(role="hint", wrap=True)
        self.differing = check_box("Only where they &differ", self._fill)
        self.item = KeyButton("To the item", "Return", press=self._go)
        head = horizontal((self.title, 1), wrapping(self.count, self.differing, self.item, self.leave))
        self.table = LinesTable("Frozen values", self.model, moved=self._turn, opened=lambda _: self._go())
        self.detail = with_properties(QTextBrowser(), role="side", accessibleName="Both sides in full")
        splitter = Splitter(
            "agreement behind", Qt.Orientation.Vertical, parts=(self.table, self.detail), sizes=(430, 190)
        )
        vertical(head, self.held, (splitter, 1), on=self, margins=0)
        theme.watch(self, self._turn)

    def look(self, line: SheetLine, _cell: SheetCell | None) -> bool:
        if not isinstance(line, RowLine):
            return False
        report, row = line.report, line.row
        self._lines = None
        self.model.show((), ())
        for label in (self.title, self.count, self.held):
            label.clear()
        self.count.setText("Reading…")
        self.session.ask_later(
            lambda lines: self.show_lines(report, lines), agreement_report.behind, report, row
        )
        return True

    def show_lines(self, report: AgreementReport, behind: LinesBehind) -> None:
        self._report, self._lines = report, behind
        row = behind.row
        group = "" if row.by in ("stage", "votes") else f", {agreement_report.group(report, row)}"
        figure = agreement_report.main(row)
        self.title.setText(
            f"{row.stage.value}: {agreement_report.field(row)}{group} — "
            f"{agreement_report.title(figure)} {agreement_report.figure_words(figure)}"
        )
        self.held.setText(held_back_words(behind))
        self.held.setVisible(bool(behind.held_back))
        self._fill()

    def _fill(self) -> None:
        if self._report is None or self._lines is None:
            return
        lines, differing = self._lines.lines, self.differing.isChecked()
        shown = [line for line in lines if line.same is False or not differing]
        self.model.show(shown, columns(self._report, self._lines))
        unlike = sum(line.same is False for line in lines)
        missing = sum(line.same is None for line in lines)
        summary = f"{counted(len(lines), 'pair')}, {unlike:,} {'differs' if unlike == 1 else 'differ'}" + (
            f", {missing:,} with a value missing" if missing else ""
        )
        if self._lines.row.field == UNITS:
            summary = f"{counted(len(lines), 'unit')}, {unlike:,} in one list only"
        self.count.setText(summary)
        header, px = self.table.horizontalHeader(), theme.current().px
        for place, width in enumerate(self.model.widths):
            mode = QHeaderView.ResizeMode.Interactive if width else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(place, mode)
            if width:
                header.resizeSection(place, px(width))
        if self.model.rowCount():
            self.table.selectRow(0)
        self._turn()

    def line(self) -> LineBehind | None:
        return self.model.at(self.table.currentIndex().row())

    def _go(self) -> None:
        if (line := self.line()) is not None:
            self.session.go("Author", item_id=line.item_id)

    def _turn(self) -> None:
        line = self.line()
        self.item.setEnabled(line is not None)
        report, result = self._report, self._lines
        if line is None or report is None or result is None:
            self.detail.clear()
            return
        units = result.row.field == UNITS
        parts = [f"<b>Item {escape(line.item_key)}</b>: {escape(line.question)}"]
        parts += [f"<b>Report of</b> {escape(line.report)}"] if line.report else []
        parts += [f"<b>Judged by</b> {escape(line.about)}"] if line.about else []
        old, new = _marked(line.a.words, line.b.words)
        parts += [_side(report, line.a, old, units), _side(report, line.b, new, units)]
        if line.likeness is not None:
            parts.append(f"Similarity by the matcher: {line.likeness:.3f}")
        self.detail.setHtml("".join(f"<p dir='auto'>{part}</p>" for part in parts))


def _side(report: AgreementReport, side: RaterSide, marked: str, units: bool) -> str:
    person = report.people.get(side.who)
    # Isolated: a right-to-left name would reverse what follows.
    who = f"\u2068{named(person.alias, person.name)}\u2069" if person else side.who
    description = value_words(side.value)
    if units:
        description = f"number {side.value}" if side.value else "no such unit"
    return f"<b>{escape(who)}</b>: {escape(description)}{'<br>' if marked else ''}{marked}"


def _marked(a: str, b: str) -> tuple[str, str]:
    """Both wordings as HTML, with what only one of them has underlined."""
    if not a or not b or a == b:
        return escape(a), escape(b)
    sides, soft = ["", ""], theme.token("state-disagree-soft").name()
    for piece in differences(a, b):
        plain, marked = escape(piece.text), f"<u style='background:{soft}'>{escape(piece.text)}</u>"
        if piece.kind != "added":
            sides[0] += plain if piece.kind == "same" else marked
        if piece.kind != "removed":
            sides[1] += plain if piece.kind == "same" else marked
    return sides[0], sides[1]


# A table of more values, or of fractions, is not readable; a scale says so itself.
MOST_VALUES = 6
LISTED_ITEMS = 80
# How units were paired: by an adjudicator, or by a model.
PAIRED = (
    "Units paired by the adjudicator, who saw both answers.",
    "Units paired by meaning by a model that saw both lists without names.",
)
CellCounts = Mapping[tuple[Any, Any], int]


def account(report: AgreementReport, row: FigureRow) -> str:
    """The details of a row as HTML, with all data escaped."""
    result = provenance(report, row)
    figures = _in_order(row)
    parts = [_head(report, row), *map(_figure, figures), _remarks(figures)]
    if result is not None:
        parts.append(_values(report, row, result))
    parts += [
        *(_second(second, row) for second in report.seconds),
        _source(report, row, result),
        _meanings(figures),
    ]
    return "".join(part for part in parts if part)


def _in_order(row: FigureRow) -> list[Figure]:
    return [result for name in agreement_report.TITLES if (result := row.figure(name))]


def _head(report: AgreementReport, row: FigureRow) -> str:
    title = f"{row.stage.value}: {agreement_report.field(row)}"
    group = "" if row.by in ("stage", VOTES) else agreement_report.group(report, row)
    lines = [
        f"<b>{escape(title.capitalize())}</b>",
        escape(group),
        escape(agreement_report.names(report, row)),
    ]
    return f"<p style='font-size:large'>{'<br>'.join(line for line in lines if line)}</p>"


def _figure(figure: Figure) -> str:
    title = agreement_report.title(figure)
    if figure.value is None:
        lines = [f"<b>{title} –</b> no figure: {escape(agreement_report.reason(figure))}."]
    else:
        lines = [f"<b>{title} {agreement_report.number(figure, 3)}</b>"]
    lines.append(muted(escape(f"n = {figure.n:,} · {of_items(figure.method)}")))
    return f"<p>{'<br>'.join(lines)}</p>"


def _remarks(figures: list[Figure]) -> str:
    """The remarks, each once, with the figures it is about unless it is about all."""
    about: dict[str, list[str]] = {}
    for each in figures:
        for remark in agreement_report.remarks(each):
            about.setdefault(remark, []).append(agreement_report.title(each))
    lines = []
    for remark, titles in about.items():
        of = "" if len(titles) == len(figures) else f" ({', '.join(titles)})"
        lines.append(f"{escape(_sentence(remark))}{of}")
    return f"<p>{'<br>'.join(lines)}</p>" if lines else ""


def _meanings(figures: list[Figure]) -> str:
    lines = (
        f"<b>{agreement_report.title(each)}</b> {escape(agreement_report.ABOUT[each.name])}"
        for each in figures
    )
    return "".join(f"<p>{line}</p>" for line in lines)


def _values(report: AgreementReport, row: FigureRow, basis: RowBasis) -> str:
    """The raters' values: a table of both if it tells more than a count, and the share of each value."""
    if row.field == UNITS:
        both, either = basis.counts.get((1, 1), 0), sum(basis.counts.values())
        return f"<p><b>Units</b><br>{both:,} matched, {either - both:,} that only one of the two has.</p>"
    scale = agreement_report.scale_of(row)
    if why := uncrossed(scale):
        return f"<p><b>Values given</b><br>{escape(why)}</p>"
    order = _order(scale.names)
    used = {value for pair in basis.counts for value in pair if value is not None}
    listed = sorted(used.union(scale.names), key=order)
    many = not scale.names and len(listed) > MOST_VALUES
    if not used or many or any(isinstance(value, float) for value in listed):
        return ""
    ordered = row.by in ("pair", "person") or len(basis.raters) == 2
    return f"<p><b>Values given</b><br>{_shares(basis.counts, order)}</p>{_table(report, row, basis, listed, ordered)}"


def _order(scale: Sequence[str]) -> Callable[[Any], tuple[bool, int, str]]:
    """The sort key of values: those of a scale in its order, then others, “unsure” last."""
    places = {value: place for place, value in enumerate(scale)}
    return lambda value: (value == "unsure", places.get(value, len(places)), str(value))


def _shares(pair_counts: CellCounts, order: Callable[[Any], Any]) -> str:
    counted: Counter[Any] = Counter()
    for pair, times in pair_counts.items():
        counted.update({value: times for value in set(pair) if value is not None})
        if pair[0] is not None and pair[0] == pair[1]:
            counted[pair[0]] += times
    total = sum(counted.values())
    listed = sorted(counted.items(), key=lambda each: order(each[0]))
    spread = ", ".join(f"{escape(value_words(value))}: {100 * n / total:.0f} %" for value, n in listed)
    return f"{spread} of {total:,} values"


def _table(report: AgreementReport, row: FigureRow, basis: RowBasis, listed: list[Any], ordered: bool) -> str:
    pair_counts = basis.counts if ordered else _folded(basis.counts)
    if ordered:
        first, second = _sides(report, row, basis)
        caption = f"{escape(first)} down, {escape(second)} across"
    else:
        caption = "several pairs of raters: pairs of values in either order"
    head = "".join(f"<th>&nbsp;{escape(value_words(value))}&nbsp;</th>" for value in listed)
    lines = [f"<tr><td></td>{head}</tr>"]
    for place, a in enumerate(listed):
        cells = "".join(
            f"<td align='right'>{_times(pair_counts, a, b, ordered or listed.index(b) <= place)}&nbsp;</td>"
            for b in listed
        )
        lines.append(f"<tr><th align='left'>{escape(value_words(a))}&nbsp;</th>{cells}</tr>")
    return f"<p>{muted(escape(caption))}</p><table cellpadding='2'>{''.join(lines)}</table>"


def _sides(report: AgreementReport, row: FigureRow, basis: RowBasis) -> tuple[str, str]:
    if row.by == "person":
        return report.alias(row.group[0]), "the others"
    # The lower id comes first in every record.
    first, second = sorted(basis.raters)
    return report.alias(first), report.alias(second)


def _folded(pair_counts: CellCounts) -> Counter[tuple[Any, Any]]:
    turned = {(b, a): times for (a, b), times in pair_counts.items() if a != b}
    return Counter(pair_counts) + Counter(turned)


def _times(pair_counts: CellCounts, a: Any, b: Any, shown: bool) -> str:
    # Symmetric: the half below the diagonal is enough.
    return f"{pair_counts.get((a, b), 0):,}" if shown else ""


def _second(figures: SecondFigures, row: FigureRow) -> str:
    pair = figures.of(row)
    if pair is None:
        return ""
    again, beside = pair
    title = escape(f"{figures.title[:1].upper()}{figures.title[1:]}")
    lines = [f"<b>{title}</b> (a second figure; {agreement_report.share(again, row)})"]
    for result in _in_order(again):
        frozen = beside.figure(result.name)
        same = f"; frozen, on these lists: {agreement_report.number(frozen)}" if frozen else ""
        lines.append(
            f"{agreement_report.title(result)} {escape(agreement_report.figure_words(result))}{same}"
        )
    lines.append(muted(escape(f"{PAIRED[figures.name == BY_MODEL]} The frozen figure is unchanged.")))
    return f"<p>{'<br>'.join(lines)}</p>"


def _source(report: AgreementReport, row: FigureRow, basis: RowBasis | None) -> str:
    items = [report.items.get(item_id, item_id) for item_id in row.items]
    shown = ", ".join(items[:LISTED_ITEMS]) + (" …" if len(items) > LISTED_ITEMS else "")
    lines = [f"<b>Where it comes from</b><br>{_records(report, row, basis)}"]
    lines.append(f"Items ({len(items):,}): {escape(shown)}")
    return f"<p>{'<br>'.join(lines)}</p>"


def _records(report: AgreementReport, row: FigureRow, basis: RowBasis | None) -> str:
    if row.by == SELF:
        return "Labels given twice to the same reports: the silent repeat compared with the first labels."
    if row.by == VOTES or basis is None:
        return (
            "Seniors' votes before they saw A and B, compared with each rater's value; closed adjudications "
            "only."
        )
    span = f"{basis.first:%Y-%m-%d}"
    if basis.last.date() != basis.first.date():
        span += f" to {basis.last:%Y-%m-%d}"
    raters = ", ".join(report.alias(person) for person in basis.raters)
    return escape(
        f"{basis.records:,} frozen agreement{'s' if basis.records > 1 else ''} ({span}) of {raters}. "
        f"Each was computed once, from everyone's first submission, and never changes. "
        f"{_versions('Guideline version', basis.guidelines)}, {_versions('form', basis.forms)}, "
        f"{_versions('matcher', basis.matchers)}, frozen by Goldsmith {', '.join(basis.programs)}, "
        f"pooled by {__version__}."
    )


def _versions(what: str, versions: tuple[str, ...]) -> str:
    return f"{what}{'s' if len(versions) > 1 else ''} {', '.join(versions)}"


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


MOST_NAMED, AT_ONCE = 3, 4


class AssistancePane(OrderPane):
    """Has a judge pair units by meaning; hidden without a chosen judge."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "", "Pairing", "Agreement")
        self._given: Assistance | None = None
        self._stage: Stage | None = None
        self.words, self.estimate = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.budget, self.begin = (
            BudgetBox(most=10_000),
            push_button("Pair what is &missing", self.start, "primary"),
        )
        row = horizontal((vertical(self.words, self.estimate), 1), self.budget, self.begin)
        vertical(row, RunPanel(self.run), on=self, margins=0)
        self.hide()

    def show_report(self, report: AgreementReport) -> None:
        before, self._given, self._stage = self._given, report.assistance, report.stage
        given = self._given
        self.setVisible(given is not None)
        if given is None or before is None or before.judge != given.judge:
            self.answer.clear()
        if given is None:
            return
        self.words.setText(given.words())
        self.estimate.clear()
        left = given.there < given.lists
        for part in (self.estimate, self.budget, self.begin):
            part.setVisible(left)
        self.begin.setEnabled(left and self.free)
        if left:
            from annotator.actions.agreement import assisting
            from annotator.actions.orders import orders

            order = assisting.order(given.judge, self._stage)
            self.session.ask_later(partial(self._show_forecast, given), orders.forecast, order)

    def order(self) -> Any:
        from annotator.actions.agreement import assisting

        if (given := self._given) is None:
            return None
        return assisting.order(given.judge, self._stage, concurrency=AT_ONCE, budget_usd=self.budget.limit)

    def _show_forecast(self, assistance: Assistance, forecast: Any) -> None:
        if assistance is self._given:
            self.estimate.setText(" ".join(forecast.words()[1:]) or forecast.words()[0])

    def tell(self, line: dict[str, Any]) -> None:
        failed = line.get("failed") or []
        if failed:
            causes = [f"Item {one['item']}, {one['stage']}: {one['cause']}" for one in failed[:MOST_NAMED]]
            more = f" And {len(failed) - MOST_NAMED:,} more." if len(failed) > MOST_NAMED else ""
            happened = f"No result for {counted(len(failed), 'pair')} of lists; excluded from the figures."
            self.answer.show_message(
                "warning", happened, f"{' '.join(causes)}{more} Run it again to retry these."
            )
        elif line["state"] != "done":
            self.answer.show_message("info", "Stopped; finished pairs are kept.", str(line["cause"]))


# Act of the key table, title, tooltip.
ACTS = (
    ("save_picture", "Save picture…", "Save the picture as SVG or PNG, on white"),
    ("copy_table", "Copy table", "Copy the table for a spreadsheet, with full precision and aliases"),
    (
        "save_inputs",
        "Save the exact inputs…",
        "Save every frozen pair of values as CSV, the frozen records as JSON",
    ),
)


class AgreementMenu(LeavingMenu):
    def commands(self) -> dict[str, Callable[[], None]]:
        return {
            "save_picture": self._choose_picture,
            "copy_table": self.copy,
            "save_inputs": self._choose_folder,
        }

    def _choose_folder(self) -> None:
        here = self._session.project.path
        choose_folder(
            self,
            "Folder for the inputs",
            lambda folder: self.save_inputs(folder / f"{here.stem}-agreement"),
            str(here.parent),
        )

    def save_inputs(self, folder: Path) -> None:
        """Write the exact inputs of every figure into a folder, as CSV and JSON."""
        if (written := self._session.ask(agreement_figures.write_inputs, folder)) is not None:
            self.reported.emit(f"Wrote {', '.join(written)} to {folder}")


# People: coordinators and statisticians. What annoys them elsewhere: agreement that is not there, so that they
# export and script it; NaN without a reason; a κ that collapses without a word; numbers that later votes have moved.
# Kinds of change that may affect a figure or its remarks.
MOVING = frozenset({
    "agreement", "artifact", "adjudication", "ruling", "assignment", "guideline", "import", "item", "judge", "labels",
    "parcel", "person", "tray",
})  # fmt: skip
FIRST = (
    "Assign an item to two or more people. Once everyone assigned to a stage has submitted, their agreement "
    "is computed once, frozen, and shown here."
)
VIEW = ResultView(
    "agreement",
    "Agreement",
    "",
    "[ ]: 95 % interval · Enter: the data behind it",
    FIRST,
    agreement_report.choices,
    agreement_report.agreement_sheet,
    agreement_report.sheets,
    "People",
)


class AgreementViewer(Viewer):
    """The tables of agreement, with a judge's pairing by meaning above them."""

    ICON = "agreement"
    OTHERWISE: Lead = ("What do these figures say?", "Help", {"topic": "agreement"})

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, (VIEW,), "agreement", "Agreement", MOVING)
        self.view.account_of = _account
        self.assisting = AssistancePane(session)
        self.assisting.came.connect(self._count_anew)
        self.assisting.answer.float_over(self.body)
        self.column.insertWidget(1, self.assisting)

    def make_behind(self) -> AgreementBehindView:
        return AgreementBehindView(self.session)

    def make_leaving(self) -> AgreementMenu:
        """The menu for copying and saving: table with aliases, picture, exact inputs."""
        return AgreementMenu(self.session, self.view, ACTS)

    def lead(self, _view: ResultView) -> Lead:
        return "Assign work", "People", {}

    def _count_anew(self) -> None:
        self._known.clear()
        self._count()

    def _counted(self, counted_view: CountedView | Refused) -> None:
        super()._counted(counted_view)
        if isinstance(counted_view, CountedView):
            self.assisting.show_report(counted_view.count)

    def show_nothing(self, view: CountedView) -> None:
        """Show what must happen first, or why there is nothing to group."""
        report = view.count
        if report.stages:
            by_criterion = "Only judgements of reports have criteria; none are shown here."
            words = by_criterion if report.by == "criterion" else "No agreement on this stage is frozen."
            self.show_empty("Nothing to group by this", words)
            return
        half = self.session.ask(agreement_report.half_sealed) or 0
        many = "1 document has" if half == 1 else f"{half} documents have"
        more = f" {many} been submitted, but only by one person or not by everyone assigned." if half else ""
        self.show_empty("No agreement has been frozen yet", FIRST + more)


def _account(
    _sheet: ResultSheet, line: SheetLine | None, _cell: SheetCell | None, _column: int, _metric: str
) -> str:
    return account(line.report, line.row) if isinstance(line, RowLine) else ""


class AgreementPage(ViewerPage):
    NAME = "Agreement"
    ABOUT = ("What do these figures say?", "agreement")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, AgreementViewer(session))
