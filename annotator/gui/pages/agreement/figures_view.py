"""The figures of agreement: the table above, below it the picture around the chosen row and that row's account."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QScrollArea,
    QTextBrowser,
    QWidget,
)

from annotator.actions.agreement import agreement_words as pictures
from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_figures import Row
from annotator.actions.agreement.agreement_report import BY_ADJUDICATOR, BY_MODEL, Report, key_of
from annotator.gui import theme
from annotator.gui.ink import ink
from annotator.gui.pages.agreement.account import account
from annotator.gui.pages.agreement.figures_table import GROUP, AgreementModel
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.figure_view import FigureView
from annotator.gui.widgets.layouts import Stretch, horizontal, vertical
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.plain import PlainLabel

# A column is as wide as what stands in it, but a reason or a long name may end in “…”.
WIDEST, WIDEST_NAME, MEASURED = 232, 330, 200
WIDE = (GROUP, BY_ADJUDICATOR, BY_MODEL)
# A picture of many groups takes a third of a second; whoever walks through the rows does not wait for each.
SETTLE_MS = 120
# A picture may be pressed together to this share of the height it is drawn for.
LEAST_OF_AN_INCH, LEAST_INCHES = 0.6, 5.2


class FiguresView(Splitter):
    """Shows one section of a report; `opened` asks for what lies behind a row."""

    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__("agreement", Qt.Orientation.Vertical)
        self.report: Report | None = None
        self._rows: list[Row] = []
        self._name, self._wanted = "", ""
        self._drawn: list[Row] = []
        self._soon = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._soon.timeout.connect(self._draw)
        self.model = AgreementModel(self)
        self.table = LinesTable("Figures of agreement", self.model)
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicatorClearable(True)
        self.table.activated.connect(lambda index: self._open(index.row()))
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        below = Splitter("agreement below")
        below.addWidget(self._picture())
        below.addWidget(self._account())
        below.setSizes([560, 520])
        self.addWidget(self.table)
        self.addWidget(below)
        self.setSizes([300, 380])
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 1)
        self.setFocusProxy(self.table)
        theme.watch(self, self._dress)

    def _picture(self) -> QWidget:
        self.figure = ChoiceBox()
        self.figure.setAccessibleName("Figure in the picture")
        self.figure.activated.connect(self._choose_figure)
        label = QLabel("Pi&cture of")
        label.setBuddy(self.figure)
        head = horizontal(label, self.figure, Stretch(1))
        self.picture = FigureView()
        self.picture.row_chosen.connect(self._open_drawn)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self.picture)
        area.setMinimumWidth(320)
        return _column(head, area)

    def _account(self) -> QWidget:
        self.account = QTextBrowser()
        self.account.setProperty("role", "side")
        self.account.setAccessibleName("Sources of the selected figure")
        self.account.setMinimumWidth(280)
        return _column(PlainLabel("About this figure", "strong"), self.account)

    def show_rows(self, report: Report, rows: list[Row]) -> None:
        """Show a section; the row that was chosen before stays chosen if it is still there."""
        kept, (name, order) = self.row(), self._sorted_by()
        self.report, self._rows, self._drawn = report, rows, []
        self.model.show(report, rows)
        column = self.model.columns.index(name) if name in self.model.columns else -1
        self.table.horizontalHeader().setSortIndicator(column, order)
        self._fit()
        same = (row for row in self.model.rows() if kept and key_of(row) == key_of(kept))
        place = self.model.place_of(next(same, rows[0])) if rows else -1
        if place >= 0:
            self.table.setCurrentIndex(self.model.index(place, 0))
        self._turn()

    def _sorted_by(self) -> tuple[str, Qt.SortOrder]:
        header = self.table.horizontalHeader()
        section, columns = header.sortIndicatorSection(), self.model.columns
        return (columns[section] if 0 <= section < len(columns) else ""), header.sortIndicatorOrder()

    def row(self) -> Row | None:
        """The chosen row."""
        return self.model.at(self.table.currentIndex().row())

    def other_pane(self) -> None:
        """From the table to the account of the chosen row, and back."""
        (self.account if self.table.hasFocus() else self.table).setFocus()

    def _fit(self) -> None:
        header, px = self.table.horizontalHeader(), theme.current().px
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        metrics, measured = self.table.fontMetrics(), min(MEASURED, self.model.rowCount())
        for place, name in enumerate(self.model.columns):
            shown = (str(self.model.index(n, place).data()) for n in range(measured))
            widest = max(map(metrics.horizontalAdvance, shown), default=0) + px(24)
            most = px(WIDEST_NAME if name in WIDE else WIDEST)
            header.resizeSection(place, max(header.sectionSizeHint(place), min(most, widest)))

    def _turn(self) -> None:
        """Another row is chosen."""
        row, report = self.row(), self.report
        if row is None or report is None:
            self.account.clear()
            return
        self.account.setHtml(account(report, row))
        names = pictures.drawable(self._rows, row)
        # A figure that was asked for stays as long as there is one; otherwise each row shows its own.
        self._choose(self._wanted if self._wanted in names else names[0])
        self.figure.clear()
        for name in names:
            self.figure.addItem(words.TITLES[name], name)
        self.figure.setCurrentIndex(names.index(self._name))

    def _choose_figure(self) -> None:
        self._wanted = str(self.figure.currentData())
        self._choose(self._wanted)

    def _choose(self, name: str) -> None:
        """Draw a figure around the chosen row, unless that very picture is in view."""
        row = self.row()
        if row is None:
            return
        drawn = pictures.drawn(self._rows, row, name)
        if (name, drawn) != (self._name, self._drawn):
            self._name, self._drawn = name, drawn
            self._soon.start()

    def _draw(self) -> None:
        if self.report is not None and self._drawn:
            made = pictures.picture(self.report, self._drawn, self._name, ink())
            # Its letters grow with all others as long as names leave room for the figures.
            dots = max(100, min(theme.current().zoom, round(self.picture.width() / LEAST_INCHES)))
            made.set_dpi(dots)
            self.picture.setMinimumHeight(round(made.get_figheight() * LEAST_OF_AN_INCH * dots))
            self.picture.show_figure(made)

    def _dress(self) -> None:
        self._fit()
        self._turn()
        self._draw()

    def printed(self) -> Callable[[], object] | None:
        """What draws the picture in view on white, on any thread; None while there is none."""
        if self.report is None or not self._drawn:
            return None
        return partial(pictures.picture, self.report, self._drawn, self._name)

    def _open(self, place: int) -> None:
        row = self.model.at(place)
        if row is not None:
            self.opened.emit(row)

    def _open_drawn(self, place: int) -> None:
        # Over weeks the height says nothing of the row.
        if 0 <= place < len(self._drawn) and self._drawn[place].by != "week":
            self.opened.emit(self._drawn[place])


def _column(*parts: QHBoxLayout | QWidget) -> QWidget:
    made = QWidget()
    column = vertical(on=made, margins=(0, 4, 4, 0), spacing=4)
    for part in parts:
        if isinstance(part, QWidget):
            column.addWidget(part, 1 if part is parts[-1] else 0)
        else:
            column.addLayout(part)
    return made
