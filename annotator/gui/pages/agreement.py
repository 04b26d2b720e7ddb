"""The Agreement page."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from annotator.actions.studies.result_views import ChosenView, CountedView, ResultView
from annotator.domain.common import counted, grouped, natural
from annotator.domain.experts.adjudication import Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.protocol import uncrossed
from annotator.domain.texts.difference import differences
from annotator.domain.texts.estimate import of_items
from annotator.gui import theme
from annotator.gui.review.run_panel import OrderPane, RunPanel
from annotator.gui.review.sheets import CellsModel, Column
from annotator.gui.session.run import OrderEstimate
from annotator.gui.session.session import ProjectSession, named
from annotator.gui.views.view_pane import LeavingMenu, muted
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


def columns(behind: LinesBehind) -> list[Column[LineBehind]]:
    """The columns for pairs; those empty in all lines are left out."""
    lines = behind.lines
    about = any(line.about for line in lines)
    worded = about or any(side(line).words for line in lines for side in SIDES)
    verdict = _matched if behind.row.field == UNITS else lambda line: VERDICTS[line.same]
    made: list[Column[LineBehind]] = [
        Column("Item", lambda line: line.item_key, 90, tip=lambda line: line.question),
        *([Column("Report of", lambda line: line.report, 130)] if any(line.report for line in lines) else []),
        *([Column("Judged by", lambda line: line.about, FREE)] if about else []),
        *(column for side in SIDES for column in _of_side(behind, side, 70 if worded else FREE)),
        *([Column("Similarity", _likeness, 80)] if any(_likeness(line) for line in lines) else []),
        Column("", lambda line: verdict(line)[0], 110, look=lambda line: verdict(line)[1]),
    ]
    return made if lines else []


def _of_side(
    behind: LinesBehind, side: Callable[[LineBehind], RaterSide], width: int
) -> Iterator[Column[LineBehind]]:
    units = behind.row.field == UNITS
    yield Column("Rater", lambda line: behind.report.names.alias(side(line).who), width)
    if any(side(line).words for line in behind.lines):
        yield Column("wrote", lambda line: side(line).words or "–", FREE)
    yield Column(
        "No." if units else agreement_report.field(behind.row),
        lambda line: "–" if units and side(line).value is None else value_words(side(line).value),
        90,
    )


def _likeness(line: LineBehind) -> str:
    return "" if line.likeness is None else f"{line.likeness:.2f}"


def _matched(line: LineBehind) -> tuple[str, tuple[str, str]]:
    both = line.a.value is not None and line.b.value is not None
    return ("matched", SAME) if both else ("only one", DIFFERS)


class AgreementBehindView(BehindPane):
    def __init__(self, session: ProjectSession, name: str) -> None:
        super().__init__(session, name)
        self._lines: LinesBehind | None = None
        self.model = CellsModel[LineBehind]((), self)
        self.count, self.held = PlainLabel(role="hint"), PlainLabel(role="hint", wrap=True)
        self.differing = check_box("Only where they &differ", self._fill)
        self.item = KeyButton("To the item", "Return", press=self._go)
        head = horizontal((self.title, 1), wrapping(self.count, self.differing, self.item, self.leave))
        self.table = LinesTable("Frozen values", self.model, moved=self._turn, opened=lambda _: self._go())
        self.detail = with_properties(QTextBrowser(), role="side", accessibleName="Both sides in full")
        splitter = Splitter(
            self._name, Qt.Orientation.Vertical, parts=(self.table, self.detail), sizes=(430, 190)
        )
        vertical(head, self.held, (splitter, 1), on=self, margins=0)
        theme.watch(self, self._turn)

    def look(self, line: SheetLine, _cell: SheetCell | None) -> bool:
        if not isinstance(line, RowLine):
            return False
        self._lines = None
        self.model.show((), ())
        for label in (self.title, self.count, self.held):
            label.clear()
        self.count.setText("Reading…")
        self.session.ask_later(self.show_lines, agreement_report.behind, line.report, line.row)
        return True

    def show_lines(self, behind: LinesBehind) -> None:
        self._lines, report, row = behind, behind.report, behind.row
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
        if self._lines is None:
            return
        lines, differing = self._lines.lines, self.differing.isChecked()
        shown = [line for line in lines if line.same is False or not differing]
        self.model.show(shown, columns(self._lines))
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
        result = self._lines
        if line is None or result is None:
            self.detail.clear()
            return
        units = result.row.field == UNITS
        old, new = _marked(line.a.words, line.b.words)
        parts = (
            f"<b>Item {escape(line.item_key)}</b>: {escape(line.question)}",
            f"<b>Report of</b> {escape(line.report)}" if line.report else "",
            f"<b>Judged by</b> {escape(line.about)}" if line.about else "",
            _side(result.report, line.a, old, units),
            _side(result.report, line.b, new, units),
            "" if line.likeness is None else f"Similarity by the matcher: {line.likeness:.3f}",
        )
        self.detail.setHtml("".join(f"<p dir='auto'>{part}</p>" for part in filter(None, parts)))


def _side(report: AgreementReport, side: RaterSide, marked: str, units: bool) -> str:
    person = report.names.people.get(side.who)
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
    basis, figures = provenance(report, row), _in_order(row)
    parts = (
        _head(report, row),
        *map(_figure, figures),
        _remarks(figures),
        _values(report, row, basis) if basis is not None else "",
        *(_second(second, row) for second in report.seconds),
        _source(report, row, basis),
        _meanings(figures),
    )
    return "".join(parts)


def _paragraph(*lines: str, style: str = "") -> str:
    """The lines that are not empty, one below the other."""
    words = "<br>".join(filter(None, lines))
    return f"<p{style}>{words}</p>" if words else ""


def _in_order(row: FigureRow) -> list[Figure]:
    return [result for name in agreement_report.TITLES if (result := row.figure(name))]


def _head(report: AgreementReport, row: FigureRow) -> str:
    title = f"{row.stage.value}: {agreement_report.field(row)}"
    group = "" if row.by in ("stage", VOTES) else agreement_report.group(report, row)
    return _paragraph(
        f"<b>{escape(title.capitalize())}</b>",
        escape(group),
        escape(agreement_report.names(report, row)),
        style=" style='font-size:large'",
    )


def _figure(figure: Figure) -> str:
    value = agreement_report.number(figure, 3)
    why = f" no figure: {escape(agreement_report.reason(figure))}." if figure.value is None else ""
    return _paragraph(
        f"<b>{agreement_report.title(figure)} {value}</b>{why}",
        muted(escape(f"n = {figure.n:,} · {of_items(figure.method)}")),
    )


def _remarks(figures: list[Figure]) -> str:
    """The remarks, each once, with the figures it is about unless it is about all."""
    about = grouped(
        (remark, agreement_report.title(each))
        for each in figures
        for remark in agreement_report.remarks(each)
    )
    of = {
        remark: "" if len(titles) == len(figures) else f" ({', '.join(titles)})"
        for remark, titles in about.items()
    }
    return _paragraph(*(f"{escape(_sentence(remark))}{named}" for remark, named in of.items()))


def _meanings(figures: list[Figure]) -> str:
    return "".join(
        _paragraph(f"<b>{agreement_report.title(each)}</b> {escape(agreement_report.ABOUT[each.name])}")
        for each in figures
    )


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
    given: Counter[Any] = Counter()
    for pair, times in pair_counts.items():
        for value in pair:
            given[value] += times
    del given[None]
    total = given.total()
    listed = sorted(given.items(), key=lambda each: order(each[0]))
    spread = ", ".join(f"{escape(value_words(value))}: {100 * n / total:.0f} %" for value, n in listed)
    return f"{spread} of {total:,} values"


def _table(report: AgreementReport, row: FigureRow, basis: RowBasis, listed: list[Any], ordered: bool) -> str:
    pair_counts = basis.counts if ordered else _folded(basis.counts)
    caption = "several pairs of raters: pairs of values in either order"
    if ordered:
        # The lower id comes first in every record.
        sides = [row.group[0]] if row.by == "person" else sorted(basis.raters)
        first, second = (*map(report.names.alias, sides), "the others")[:2]
        caption = f"{escape(first)} down, {escape(second)} across"
    head = "".join(f"<th>&nbsp;{escape(value_words(value))}&nbsp;</th>" for value in listed)
    lines = [f"<tr><td></td>{head}</tr>"]
    for place, a in enumerate(listed):
        cells = "".join(
            f"<td align='right'>{_times(pair_counts, a, b, ordered or listed.index(b) <= place)}&nbsp;</td>"
            for b in listed
        )
        lines.append(f"<tr><th align='left'>{escape(value_words(a))}&nbsp;</th>{cells}</tr>")
    return f"<p>{muted(escape(caption))}</p><table cellpadding='2'>{''.join(lines)}</table>"


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
    unchanged = f"{PAIRED[figures.name == BY_MODEL]} The frozen figure is unchanged."
    return _paragraph(*lines, muted(escape(unchanged)))


def _source(report: AgreementReport, row: FigureRow, basis: RowBasis | None) -> str:
    items = [report.names.items.get(item_id, item_id) for item_id in row.items]
    shown = ", ".join(items[:LISTED_ITEMS]) + (" …" if len(items) > LISTED_ITEMS else "")
    return _paragraph(
        "<b>Where it comes from</b>",
        _records(report, row, basis),
        f"Items ({len(items):,}): {escape(shown)}",
    )


def _records(report: AgreementReport, row: FigureRow, basis: RowBasis | None) -> str:
    if row.by == SELF:
        return "Labels given twice to the same reports: the silent repeat compared with the first labels."
    if row.by == VOTES or basis is None:
        return (
            "Seniors' votes before they saw A and B, compared with each rater's value; closed adjudications "
            "only."
        )
    days = sorted(f"{record.frozen_at:%Y-%m-%d}" for record in basis.records)
    span = " to ".join(dict.fromkeys((days[0], days[-1])))
    raters = ", ".join(report.names.alias(person) for person in basis.raters)
    sealed = [given for record in basis.records for given in record.inputs if given.person_id in basis.raters]
    return escape(
        f"{len(basis.records):,} frozen agreement{'s' if len(basis.records) > 1 else ''} ({span}) of {raters}. "
        f"Each was computed once, from everyone's first submission, and never changes. "
        f"{_versions('Guideline version', (given.guideline for given in sealed))}, "
        f"{_versions('form', (given.form for given in sealed))}, "
        f"{_versions('matcher', (record.matcher for record in basis.records))}, "
        f"frozen by Goldsmith {_versions('', (record.program for record in basis.records))}, "
        f"pooled by {__version__}."
    )


def _versions(what: str, versions: Iterable[str]) -> str:
    known = sorted(set(versions), key=natural)
    return f"{what}{'s' if what and len(known) > 1 else ''} {', '.join(known)}".lstrip()


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
        self._estimate = OrderEstimate(session, self, self.order, self.show_forecast)
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
        (self._estimate.count if left else self._estimate.stop)()

    def order(self) -> Any:
        from annotator.actions.agreement import assisting

        if (given := self._given) is None:
            return None
        return assisting.order(given.judge, self._stage, concurrency=AT_ONCE, budget_usd=self.budget.limit)

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


class AgreementMenu(LeavingMenu):
    ACTS = (
        ("save_picture", "Save picture…", "Save the picture as SVG or PNG, on white"),
        ("copy_table", "Copy table", "Copy the table for a spreadsheet, with full precision and aliases"),
        (
            "save_inputs",
            "Save the exact inputs…",
            "Save every frozen pair of values as CSV, the frozen records as JSON",
        ),
    )

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
    agreement_report.report,
    agreement_report.sheets,
    "People",
)


class AgreementViewer(Viewer):
    """The tables of agreement, with a judge's pairing by meaning above them."""

    ICON = "agreement"
    OTHERWISE: Lead = ("What do these figures say?", "Help", {"topic": "agreement"})
    LEAD = ("Assign work", "People", {})
    LEAVING = AgreementMenu
    BEHIND = AgreementBehindView

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, (VIEW,), "agreement", "Agreement", MOVING)
        self.view.account_of = _account
        self.assisting = AssistancePane(session)
        self.assisting.came.connect(self._count_anew)
        self.assisting.answer.float_over(self.body)
        self.column.insertWidget(1, self.assisting)

    def _count_anew(self) -> None:
        self._known.clear()
        self._count()

    def _counted(self, counted_view: ChosenView) -> None:
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
