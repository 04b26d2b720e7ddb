"""Values behind a row of agreement, pair by pair, with the chosen pair in full below."""

from collections.abc import Callable
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QTextBrowser,
    QWidget,
)

from annotator.actions.agreement import agreement_behind
from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_behind import (
    LineBehind,
    LinesBehind,
    RaterSide,
    held_back_words,
    value_words,
)
from annotator.actions.agreement.agreement_figures import UNITS
from annotator.actions.agreement.agreement_report import AgreementReport
from annotator.actions.agreement.agreement_sheets import RowLine
from annotator.actions.results.result_sheets import SheetCell, SheetLine
from annotator.domain.texts.counting import counted
from annotator.domain.texts.difference import differences
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.naming import named
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.views.behind_view import BehindPane
from annotator.gui.widgets.bars.flow_row import FlowRow, grow_by_width
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, push_button, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.lists.lines_table import LinesTable

SAME, DIFFERS = ("check", "state-agreed"), ("cross", "state-disagree")
# Whether both said the same: word, icon and colour. A value that is missing is no disagreement.
VERDICTS = {
    True: ("same", SAME),
    False: ("differs", DIFFERS),
    None: ("missing", ("minus", "state-missing")),
}
# A column of no width shares what the others leave.
FREE = 0
SIDES: tuple[Callable[[LineBehind], RaterSide], ...] = (lambda line: line.a, lambda line: line.b)


def columns(report: AgreementReport, found: LinesBehind) -> list[Column[LineBehind]]:
    """What is shown of each pair; what no line has is left out."""
    lines, units = found.lines, found.row.field == UNITS
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
        made.append(Column("No." if units else words.field(found.row), _value(side, units), 90))
    if likeness:
        made.append(Column("Similarity", _likeness, 80))
    verdict = _matched if units else _same
    made.append(Column("", lambda line: verdict(line)[0], 110, look=lambda line: verdict(line)[1]))
    return made if lines else []


def _who(report: AgreementReport, side: Callable[[LineBehind], RaterSide]) -> Callable[[LineBehind], str]:
    return lambda line: report.alias(side(line).who)


def _words(side: Callable[[LineBehind], RaterSide]) -> Callable[[LineBehind], str]:
    return lambda line: side(line).words or "–"


def _value(side: Callable[[LineBehind], RaterSide], units: bool) -> Callable[[LineBehind], str]:
    return lambda line: "–" if units and side(line).value is None else value_words(side(line).value)


def _likeness(line: LineBehind) -> str:
    return "" if line.likeness is None else f"{line.likeness:.2f}"


def _matched(line: LineBehind) -> tuple[str, tuple[str, str]]:
    both = line.a.value is not None and line.b.value is not None
    return ("matched", SAME) if both else ("only one", DIFFERS)


def _same(line: LineBehind) -> tuple[str, tuple[str, str]]:
    return VERDICTS[line.same]


class AgreementBehindView(BehindPane):
    """A row's lines, each with a link to its item."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._report: AgreementReport | None = None
        self._found: LinesBehind | None = None
        self.model = CellsModel[LineBehind]((), self)
        self.title, self.count = ElidedLabel(role="subtitle"), PlainLabel(role="hint")
        self.held = PlainLabel(role="hint", wrap=True)
        self.differing = QCheckBox("Only where they &differ")
        self.differing.toggled.connect(lambda _: self._fill())
        self.item = push_button("To the item  ↵", self._go)
        back = push_button("Back to the figures  Esc", self.back)
        back.setShortcut("Esc")
        head, acts = QHBoxLayout(), QWidget()
        grow_by_width(acts)
        row = FlowRow(acts, gap=8)
        for widget in (self.count, self.differing, self.item, back):
            row.addWidget(widget)
        head.addWidget(self.title, 1)
        head.addWidget(acts)
        self.table = LinesTable("Frozen values", self.model)
        self.table.activated.connect(lambda _: self._go())
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        self.detail = QTextBrowser()
        self.detail.setProperty("role", "side")
        self.detail.setAccessibleName("Both sides in full")
        splitter = Splitter(
            "agreement behind", Qt.Orientation.Vertical, parts=(self.table, self.detail), sizes=(430, 190)
        )
        vertical(head, self.held, (splitter, 1), on=self, margins=0)
        theme.watch(self, self._turn)

    def look(self, line: SheetLine, _cell: SheetCell | None) -> bool:
        """Read the pairs behind a row."""
        if not isinstance(line, RowLine):
            return False
        report, row = line.report, line.row
        self._found = None
        self.model.show((), ())
        for label in (self.title, self.count, self.held):
            label.clear()
        self.count.setText("Reading…")
        self._desk.ask_later(
            lambda found: self.show_found(report, found), agreement_behind.behind, report, row
        )
        return True

    def show_found(self, report: AgreementReport, found: LinesBehind) -> None:
        """Show the lines behind a row."""
        self._report, self._found = report, found
        row = found.row
        group = "" if row.by in ("stage", "votes") else f", {words.group(report, row)}"
        figure = words.main(row)
        self.title.setText(
            f"{row.stage.value}: {words.field(row)}{group} — {words.title(figure)} {words.said(figure)}"
        )
        self.held.setText(held_back_words(found))
        self.held.setVisible(bool(found.held_back))
        self._fill()

    def _fill(self) -> None:
        if self._report is None or self._found is None:
            return
        lines, differing = self._found.lines, self.differing.isChecked()
        shown = [line for line in lines if line.same is False or not differing]
        self.model.show(shown, columns(self._report, self._found))
        unlike = sum(line.same is False for line in lines)
        missing = sum(line.same is None for line in lines)
        said = f"{counted(len(lines), 'pair')}, {unlike:,} {'differs' if unlike == 1 else 'differ'}" + (
            f", {missing:,} with a value missing" if missing else ""
        )
        if self._found.row.field == UNITS:
            said = f"{counted(len(lines), 'unit')}, {unlike:,} in one list only"
        self.count.setText(said)
        self._fit()
        if self.model.rowCount():
            self.table.selectRow(0)
        self._turn()

    def _fit(self) -> None:
        header, px = self.table.horizontalHeader(), theme.current().px
        for place, width in enumerate(self.model.widths):
            mode = QHeaderView.ResizeMode.Interactive if width else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(place, mode)
            if width:
                header.resizeSection(place, px(width))

    def line(self) -> LineBehind | None:
        return self.model.at(self.table.currentIndex().row())

    def _go(self) -> None:
        line = self.line()
        if line is not None:
            self._desk.go("Author", item_id=line.item_id)

    def _turn(self) -> None:
        line = self.line()
        self.item.setEnabled(line is not None)
        report, found = self._report, self._found
        if line is None or report is None or found is None:
            self.detail.clear()
            return
        units = found.row.field == UNITS
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
    # Isolated: a name that runs from right to left would draw what follows along.
    who = f"\u2068{named(person.alias, person.name)}\u2069" if person else side.who
    said = value_words(side.value)
    if units:
        said = f"number {side.value}" if side.value else "no such unit"
    return f"<b>{escape(who)}</b>: {escape(said)}{'<br>' if marked else ''}{marked}"


def _marked(a: str, b: str) -> tuple[str, str]:
    """Both wordings as HTML, what only one of them has underlined."""
    if not a or not b or a == b:
        return escape(a), escape(b)
    sides = ["", ""]
    for piece in differences(a, b):
        plain, marked = escape(piece.text), f"<u style='background:{_soft()}'>{escape(piece.text)}</u>"
        if piece.kind != "added":
            sides[0] += plain if piece.kind == "same" else marked
        if piece.kind != "removed":
            sides[1] += plain if piece.kind == "same" else marked
    return sides[0], sides[1]


def _soft() -> str:
    return theme.token("state-disagree-soft").name()
