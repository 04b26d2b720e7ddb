"""What lies behind a row of agreement: the frozen values pair by pair, and the chosen one in full below."""

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSizePolicy,
    QTextBrowser,
    QWidget,
)

from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_behind import Behind, Found, Side, held_back_words, value_words
from annotator.actions.agreement.agreement_report import Report
from annotator.domain.texts.counting import counted
from annotator.domain.texts.difference import differences
from annotator.gui import theme
from annotator.gui.desk.naming import named
from annotator.gui.pages.agreement.behind_table import AgreementBehindModel
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.plain import PlainLabel

WIDTHS = {
    "item": 90,
    "report": 130,
    "who_a": 70,
    "who_b": 70,
    "value_a": 90,
    "value_b": 90,
    "likeness": 80,
    "same": 110,
}
WORDED = ("about", "words_a", "words_b")


class BehindView(QWidget):
    """A row's lines; `item_wanted` asks for the item of the chosen one."""

    back = Signal()
    item_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._report: Report | None = None
        self._found: Found | None = None
        self.model = AgreementBehindModel(self)
        self.title, self.count = ElidedLabel(role="subtitle"), PlainLabel(role="hint")
        self.held = PlainLabel(role="hint", wrap=True)
        self.differing = QCheckBox("Only where they &differ")
        self.differing.toggled.connect(lambda _: self._fill())
        self.item = QPushButton("To the item  ↵")
        self.item.clicked.connect(self._go)
        back = QPushButton("Back to the figures  Esc")
        back.setShortcut("Esc")
        back.clicked.connect(self.back)
        head, acts = QHBoxLayout(), QWidget()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        acts.setSizePolicy(policy)
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
        splitter = Splitter("agreement behind", Qt.Orientation.Vertical)
        splitter.addWidget(self.table)
        splitter.addWidget(self.detail)
        splitter.setSizes([430, 190])
        vertical(head, self.held, (splitter, 1), on=self, margins=0)
        self.setFocusProxy(self.table)
        theme.watch(self, self._turn)

    def show_found(self, report: Report, found: Found) -> None:
        """Show the lines behind a row."""
        self._report, self._found = report, found
        row = found.row
        group = "" if row.by in ("stage", "votes") else f", {words.group(report, row)}"
        figure = words.main(row)
        self.title.setText(
            f"{row.stage.value}: {words.field(row)}{group} — {words.TITLES[figure.name]} {words.said(figure)}"
        )
        self.held.setText(held_back_words(found))
        self.held.setVisible(bool(found.held_back))
        self._fill()

    def _fill(self) -> None:
        if self._report is None or self._found is None:
            return
        self.model.show(self._report, self._found, self.differing.isChecked())
        lines = self._found.lines
        unlike = sum(line.same is False for line in lines)
        missing = sum(line.same is None for line in lines)
        said = f"{counted(len(lines), 'pair')}, {unlike:,} {'differs' if unlike == 1 else 'differ'}" + (
            f", {missing:,} with a value missing" if missing else ""
        )
        if self.model.units:
            said = f"{counted(len(lines), 'unit')}, {unlike:,} in one list only"
        self.count.setText(said)
        self._fit()
        if self.model.rowCount():
            self.table.selectRow(0)
        self._turn()

    def _fit(self) -> None:
        header, px = self.table.horizontalHeader(), theme.current().px
        wide = [name for name in WORDED if name in self.model.columns] or ["who_a", "who_b"]
        for place, name in enumerate(self.model.columns):
            mode = QHeaderView.ResizeMode.Stretch if name in wide else QHeaderView.ResizeMode.Interactive
            header.setSectionResizeMode(place, mode)
            if name not in wide:
                header.resizeSection(place, px(WIDTHS[name]))

    def line(self) -> Behind | None:
        """The chosen line."""
        return self.model.at(self.table.currentIndex().row())

    def _go(self) -> None:
        line = self.line()
        if line is not None:
            self.item_wanted.emit(line.item_id)

    def _turn(self) -> None:
        line = self.line()
        self.item.setEnabled(line is not None)
        if line is None or self._report is None:
            self.detail.clear()
            return
        parts = [f"<b>Item {escape(line.item_key)}</b>: {escape(line.question)}"]
        parts += [f"<b>Report of</b> {escape(line.report)}"] if line.report else []
        parts += [f"<b>Judged by</b> {escape(line.about)}"] if line.about else []
        old, new = _marked(line.a.words, line.b.words)
        parts += [self._side(line.a, old), self._side(line.b, new)]
        if line.likeness is not None:
            parts.append(f"Similarity by the matcher: {line.likeness:.3f}")
        self.detail.setHtml("".join(f"<p dir='auto'>{part}</p>" for part in parts))

    def _side(self, side: Side, marked: str) -> str:
        assert self._report is not None
        person = self._report.people.get(side.who)
        # Isolated: a name that runs from right to left would draw what follows along.
        who = f"\u2068{named(person.alias, person.name)}\u2069" if person else side.who
        if self.model.units:
            said = f"number {side.value}" if side.value else "no such unit"
        else:
            said = value_words(side.value)
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
