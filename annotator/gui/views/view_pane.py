"""A view: description, tables, picture, and details of the selected cell."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from textwrap import shorten
from typing import Any, ClassVar

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication, QImage, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QTabBar,
    QTextBrowser,
    QToolButton,
    QWidget,
)

from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures, results_behind, scoring
from annotator.actions.results.result_pictures import Ink
from annotator.actions.results.result_sheets import (
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    explained,
)
from annotator.actions.results.results_behind import JudgementBehind
from annotator.actions.results.scoring import MetricInfo
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ChosenView, CountedView, ResultView
from annotator.actions.validation import validation
from annotator.actions.validation.validation import HeldRater
from annotator.domain.common import Refusal, counted, in_window
from annotator.domain.texts.estimate import interval
from annotator.gui import keys, theme
from annotator.gui.review.sheets import SheetModel, SheetTable
from annotator.gui.session.session import Pane, ProjectSession, or_refusal
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import FlowRow, Fold, RowAct
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Refitting,
    column_of,
    grow_by_width,
    horizontal,
    later,
    save_file,
    show_tabs,
    tooltip,
    vertical,
    with_properties,
)
from annotator.gui.widgets.fields import ChoiceBox, choose, label_of, offer, search_field, together
from annotator.gui.widgets.splitter import Splitter

_TOKENS = ("window", "text", "text-muted", "border", "accent")

# Milliseconds without a change before a picture is made: stepping through cells or dragging a divider makes none.
PICTURE_SETTLE_MS = 120
PER_INCH = 96
# Below the minimum, letters overlap; above the maximum, a picture only gets larger.
LEAST_INCHES, MOST_INCHES = 4.2, 8.6


class PicturePane(Pane):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._pictures: tuple[SheetPicture, ...] = ()
        self._soon = later(self, self._draw, PICTURE_SETTLE_MS)
        self.list = ChoiceBox(self._soon.start, letters=18, accessibleName="Picture")
        self._head = column_of(horizontal(label_of(self.list, "Pi&cture"), (self.list, 1)))
        self.view = PictureView("The picture")
        self.none = PlainLabel("There is nothing to draw here.", "hint")
        self.view.resized.connect(self._soon.start)
        vertical(self._head, self.none, (self.view, 1), on=self, margins=(0, 4, 4, 0), spacing=4)
        theme.scale(self.setMinimumWidth, 280)
        theme.watch(self, self._soon.start)

    def offer(self, pictures: Sequence[SheetPicture]) -> None:
        """Offer other pictures; the selected one stays selected if its name is still there."""
        self._pictures = tuple(pictures)
        offer(self.list, [(picture.title, picture.name) for picture in pictures])
        # A single picture needs no list.
        self._head.setVisible(len(pictures) > 1)
        self.none.setVisible(not pictures)
        if not pictures:
            self.view.show_image(None)
        self._soon.start()

    def choose(self, name: str) -> None:
        if name:
            choose(self.list, name)

    def picture(self) -> SheetPicture | None:
        place = self.list.currentIndex()
        return self._pictures[place] if 0 <= place < len(self._pictures) else None

    def _draw(self) -> None:
        picture = self.picture()
        if picture is None or not self.isVisible():
            return
        zoom = theme.current().zoom / 100
        room = self.view.viewport().width() - 4
        inches = min(MOST_INCHES, max(LEAST_INCHES, room / (PER_INCH * zoom)))
        # Letters have the same size whatever the picture's width, and are sharp on any screen.
        dots = PER_INCH * zoom * self.devicePixelRatioF()
        self._title = picture.title
        self.session.ask_newest(self._show, result_pictures.dots, picture, ink(inches), dots)

    def _show(self, dots: tuple[int, int, bytes]) -> None:
        width, height, rgba = dots
        image = QImage(rgba, width, height, 4 * width, QImage.Format.Format_RGBA8888)
        self.view.show_image(image.copy(), self._title)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._soon.start()


class PictureView(PlainArea):
    """Shows one picture, no wider than the area; `resized` asks for it in another width."""

    resized = Signal()

    def __init__(self, name: str) -> None:
        self.image: QImage | None = None
        self._shown = QLabel(alignment=Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._shown.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        super().__init__(name, self._shown)

    def show_image(self, image: QImage | None, words: str = "") -> None:
        """Show another picture, or none; `words` is its description for screen readers."""
        self.image = image
        self._shown.setAccessibleName(words)
        ratio = self.devicePixelRatioF()
        wide = round(self.viewport().width() * ratio)
        if image is not None and image.width() > wide:
            image = image.scaledToWidth(wide, Qt.TransformationMode.SmoothTransformation)
        pixels = QPixmap() if image is None else QPixmap.fromImage(image)
        pixels.setDevicePixelRatio(ratio)
        self._shown.setPixmap(pixels)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.resized.emit()


def ink(width: float | None = None) -> Ink:
    paper, text, faint, grid, mark = (theme.token(name).name() for name in _TOKENS)
    made = Ink(paper, text, faint, grid, mark)
    return made if width is None else replace(made, width=width)


NOT = "not publishable"


def account(
    sheet: ResultSheet, line: SheetLine | None, cell: SheetCell | None, column: int, metric: str
) -> str:
    """The details of a cell as HTML, with all data escaped; `metric` is the view's metric."""
    name = (cell.metric if cell is not None else "") or metric
    info = next((one for one in scoring.described() if one.name == name), None)
    parts = (
        *(_of_cell(sheet, line, cell, column) if line is not None and cell is not None else ()),
        *(_definition(info) if info is not None else ()),
        *_departures(result_pictures.departures(replace(sheet, lines=(), metrics=(name,)))),
    )
    return "".join(parts)


def _of_cell(sheet: ResultSheet, line: SheetLine, cell: SheetCell, column: int) -> Iterator[str]:
    head = sheet.columns[column]
    unit = next((info.unit for info in scoring.described() if info.name == cell.metric), "")
    yield f"<p dir='auto' style='font-size:large'><b>{escape(head.title)}</b><br>{_apart(cell.words)}</p>"
    if cell.estimate is not None:
        result = cell.estimate
        remarks = [muted(escape(part)) for part in explained(result, unit)]
        span = interval(result, lambda bound: f"{bound + 0.0:.4g}".replace("-", "−"))
        low_high = f"95 % interval {span}<br>" if span else ""
        value = "undefined" if result.value is None else f"{result.value:.6g}".replace("-", "−")
        yield f"<p>value {value} {escape(unit)}<br>{low_high}{'<br>'.join(remarks)}</p>"
        known = explained(result, unit)
        # The first line repeats the figure's name, which is shown above.
        rest = [part for part in cell.tip.splitlines()[1:] if part not in known and not part.startswith(NOT)]
        if rest:
            yield f"<p>{'<br>'.join(map(escape, rest))}</p>"
    elif cell.tip and cell.tip != cell.words:
        yield f"<p dir='auto'>{_lines(cell.tip)}</p>"
    if cell.state == "unfit":
        yield f"<p><b>Not publishable</b>{_lines(cell.tip.splitlines()[-1].removeprefix(NOT))}.</p>"
    if head.tip:
        yield f"<p>{muted(_lines(head.tip))}</p>"
    for title, words in line.more:
        yield f"<p dir='auto'><b>{escape(title)}</b> {_lines(words)}</p>"


def _definition(info: MetricInfo) -> Iterator[str]:
    yield f"<hr><p style='font-size:large'><b>What {escape(info.title)} is</b></p>"
    yield scoring.html(info.definition)
    better = "Higher is better." if info.higher_is_better else "Lower is better."
    yield f"<p>{better} {muted(escape(f'{info.protocol_title}. {info.citation}.'))}</p>"


def _departures(known: Sequence[str]) -> Iterator[str]:
    if known:
        listed = "".join(f"<li>{escape(one)}</li>" for one in known)
        yield f"<p><b>Differences from the paper</b></p><ul>{listed}</ul>"


def _apart(words: str) -> str:
    """The parts of a cell's text, separated: HTML would run figure, interval and marks together."""
    return escape(" · ".join(part.strip() for part in words.split("  ") if part.strip())) or "–"


def _lines(words: str) -> str:
    return escape(words).replace("\n", "<br>")


def muted(html: str) -> str:
    return f"<span style='color:{theme.token('text-muted').name()}'>{html}</span>"


SETTLE_MS = 150
FEW = 6
# In design pixels: the height of a low window, and of one row with the bar below it.
LOW, ONE_ROW = 640, 44
# The number of conditions shown without “more”, in a low window and in others.
FIRST, ENOUGH = 2, 4


class ViewPane(Refitting, Splitter):
    """Sheets of a view, one at a time; `opened` asks for the data behind a cell."""

    opened = Signal(object, object)
    left = Signal(str)
    """Another sheet is shown; the response selected in the one before, or an empty string."""
    turned = Signal()
    """Another sheet, cell or order is shown."""

    def __init__(self, session: ProjectSession, name: str) -> None:
        super().__init__(name, Qt.Orientation.Vertical)
        self._name = name
        self._sheets: tuple[ResultSheet, ...] = ()
        self._metric = ""
        self.account_of: Callable[[ResultSheet, SheetLine | None, SheetCell | None, int, str], str] = account
        """Returns the details of a cell as HTML, from sheet, line, cell, its column, and the view's metric."""
        self.model = SheetModel(self)
        self.table = with_properties(
            SheetTable("Figures", self.model, cells=True, opened=self._open), sortingEnabled=True
        )
        self.table.horizontalHeader().setSortIndicatorClearable(True)
        self.table.selectionModel().currentChanged.connect(lambda *_: self._describe())
        self.tabs = with_properties(
            QTabBar(), accessibleName="Tables of this view", drawBase=False, expanding=False
        )
        self.tabs.currentChanged.connect(self._change_sheet)
        seek_soon = later(self, self._seek, SETTLE_MS).start
        self.sought = search_field("Find in the table…", "Find in the table", seek_soon)
        theme.scale(self.sought.setMaximumWidth, 240)
        self.sought.returnPressed.connect(self.table.setFocus)
        copied = Qt.TextInteractionFlag.TextSelectableByMouse
        self.answers = PlainLabel(wrap=True, textInteractionFlags=copied)
        self.notes = PlainLabel("", "hint", wrap=True, textInteractionFlags=copied)
        self._answers, self._conditions = list[str](), list[str]()
        self.more = with_properties(
            QPushButton(), role="quiet", toolTip="What these figures rest on", checkable=True
        )
        self.more.toggled.connect(lambda _: self.refit())
        self.pictures = PicturePane(session)
        words = vertical(self.answers, self.notes, spacing=4)
        above = column_of(
            horizontal((self.tabs, 1), self.sought),
            (self.table, 1),
            horizontal((words, 1), (self.more, 0, Qt.AlignmentFlag.AlignBottom), spacing=4),
            margins=(0, 0, 0, 4),
            spacing=4,
        )
        self.hold((above, self._below()), stretch=(1, 1))
        self.setFocusProxy(self.table)
        theme.watch(self, self._describe)

    def _below(self) -> QWidget:
        self.account = with_properties(
            QTextBrowser(),
            role="side",
            accessibleName="About the selected figure and its sources",
            openLinks=False,
        )
        right = column_of(
            PlainLabel("About this figure", "strong"), (self.account, 1), margins=(4, 4, 0, 0), spacing=4
        )
        return Splitter(f"{self._name} below", parts=(self.pictures, right), sizes=(600, 440), least=(0, 260))

    def show_sheets(self, sheets: tuple[ResultSheet, ...], metric: str) -> None:
        """Show a view's sheets; the sheet with the same key and the cell selected before stay selected."""
        sheet_key = self.model.whole.key
        self._sheets, self._metric = sheets, metric
        known = [sheet.key for sheet in sheets]
        show_tabs(
            self.tabs,
            [(f"{sheet.title} ({len(sheet.lines):,})", "") for sheet in sheets],
            known.index(sheet_key) if sheet_key in known else 0,
        )
        self._show_sheet(self.tabs.currentIndex())
        self.share_room()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self.share_room)

    def refit(self) -> None:
        """Always show the first answer; limit the rest to leave room for the figures, unless all is asked for."""
        titles = self.table.horizontalHeader().sizeHint().height()
        self.table.setMinimumHeight(titles + theme.current().px(ONE_ROW))
        low = self.window().height() < theme.current().px(LOW)
        answers = 1 if low else len(self._answers)
        first = ENOUGH if not low else 0 if self._answers else FIRST
        left = max(0, len(self._answers) - answers) + max(0, len(self._conditions) - first)
        if self.more.isChecked():
            answers, first = len(self._answers), len(self._conditions)
        self.answers.show_words("\n".join(self._answers[:answers]))
        self.notes.show_words("\n".join(self._conditions[:first]))
        self.more.setText("Show fewer" if self.more.isChecked() else f"Show {left:,} more")
        self.more.setVisible(left > 0)
        self.share_room()

    def share_room(self) -> None:
        """Give a short table no more than it needs, as long as nobody has moved the divider."""
        if not self.is_fresh or not self.isVisible():
            return
        px, whole = theme.current().px, self.height()
        shown = [label for label in (self.answers, self.notes) if not label.isHidden()]
        words = sum(label.heightForWidth(label.width()) for label in shown)
        if not self.more.isHidden():
            words = max(words, self.more.sizeHint().height())
        # The table's header, a line for its horizontal scroll bar, and the tabs above it.
        line = self.table.verticalHeader().defaultSectionSize()
        head = self.table.horizontalHeader().sizeHint().height()
        around = words + px(6) + head + (px(44) if len(self._sheets) > 1 else 0)
        needed = around + line * (self.model.rowCount() + 1)
        # Without a picture the details are short. All notes are shown, and at least two rows of the table.
        part = 0.67 if self.pictures.isHidden() else 0.56
        above = max(px(150), min(needed, max(round(part * whole), around + 3 * line)))
        self.setSizes([above, whole - above])

    def _change_sheet(self, place: int) -> None:
        line = self.line()
        self._show_sheet(place)
        self.share_room()
        self.left.emit(line.response_id if line is not None else "")

    def _show_sheet(self, place: int) -> None:
        if not 0 <= place < len(self._sheets):
            return
        sheet, index = self._sheets[place], self.table.currentIndex()
        same = sheet.keys == self.model.whole.keys
        row, column = (max(0, index.row()), index.column()) if same else (0, -1)
        self.model.show(sheet)
        self.table.setAccessibleName(sheet.title)
        # A sentence that begins with a right-to-left name is still read from the left.
        notes = [f"\u200e{in_window(words)}" for words in sheet.notes]
        self._answers, self._conditions = notes[: sheet.answers], notes[sheet.answers :]
        self.more.setChecked(self.more.isChecked() and same)
        self.refit()
        # A search field over at most FEW rows would only take space.
        self.sought.setVisible(len(sheet.lines) > FEW or bool(self.sought.text()))
        self.tabs.setVisible(len(self._sheets) > 1 or len(sheet.lines) > FEW)
        self._seek()
        section, order = self.model.sorted_by
        header = self.table.horizontalHeader()
        with QSignalBlocker(header):
            header.setSortIndicator(section, order)
        pictures = next((one.pictures for one in (sheet, *self._sheets) if one.pictures), ())
        self.pictures.offer(pictures)
        self.pictures.setVisible(bool(pictures))
        if self.model.rowCount():
            first = column if 0 <= column < self.model.columnCount() else _first_figure(sheet)
            self.table.setCurrentIndex(self.model.index(min(row, self.model.rowCount() - 1), first))
            if not same:
                # The first column names what the lines are about.
                self.table.horizontalScrollBar().setValue(0)
        self._describe()

    def _seek(self) -> None:
        self.model.seek(self.sought.text())
        if self.model.rowCount() and not self.table.currentIndex().isValid():
            self.table.setCurrentIndex(self.model.index(0, _first_figure(self.model.whole)))
        self.turned.emit()

    def seek(self) -> None:
        self.sought.show()
        self.sought.seek()

    def next_sheet(self) -> None:
        if self.tabs.count():
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + 1) % self.tabs.count())

    def line(self) -> SheetLine | None:
        return self.model.at(self.table.currentIndex().row())

    def cell(self) -> SheetCell | None:
        return self.model.cell(self.table.currentIndex())

    def explain(self) -> None:
        (self.table if self.account.hasFocus() else self.account).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _describe(self) -> None:
        line, cell = self.line(), self.cell()
        self.account.setHtml(
            self.account_of(self.model.whole, line, cell, self.table.currentIndex().column(), self._metric)
        )
        self.pictures.choose((cell.picture if cell else "") or (line.picture if line else ""))
        self.turned.emit()

    def _open(self, index: QModelIndex) -> None:
        line, cell = self.model.at(index.row()), self.model.cell(index)
        if line is not None:
            self.opened.emit(line, cell)


def _first_figure(sheet: ResultSheet) -> int:
    for place in range(len(sheet.columns)):
        if any(line.cells[place].estimate is not None for line in sheet.lines):
            return place
    return 0


WIDEST, LETTERS = 190, 8
# The titles of papers' tables differ at their ends.
WIDE_FROM, WIDER = 40, 340
# The number of lists outside the fold, and of letters used to summarise those inside.
IN_VIEW, SPOKEN_LETTERS = 3, 60


class Choosers(QWidget):
    """A list for each choice: the first ones in view, the others in a fold whose button summarises their values.

    `chosen` announces another value.
    """

    chosen = Signal()

    def __init__(self, first: int = IN_VIEW) -> None:
        """`first` is the number of lists in view."""
        super().__init__()
        self.of = ""
        """The view whose choices these are; another view may already be being computed."""
        self.lists: dict[str, QComboBox] = {}
        self._first, self._front = first, list[str]()
        self._parts, self._added = dict[str, QWidget](), list[QWidget]()
        self._kinds: tuple[tuple[str, str, bool], ...] = ()
        self._row, self._folded = FlowRow(gap=12), FlowRow(gap=12)
        self.fold = Fold("", self._folded, apart=True)
        self._row.addWidget(self.fold.button)
        vertical(self._row, self.fold, on=self, margins=0)
        grow_by_width(self)
        self._tell()

    def add(self, *parts: QWidget) -> None:
        """Add widgets to the fold, hidden until they are needed."""
        for part in parts:
            self._folded.addWidget(part)
            part.hide()
        self._added += parts

    def show_part(self, part: QWidget, shown: bool) -> None:
        part.setVisible(shown)
        self._tell()

    def offer(self, choices: Sequence[ViewChoice], chosen: Mapping[str, str], of: str = "") -> None:
        """Offer a view's choices with their current values, without emitting."""
        self.of = of
        kinds = tuple((choice.name, choice.words, len(choice.values) > 1) for choice in choices)
        if kinds != self._kinds:
            self._build(choices)
            self._kinds = kinds
        for choice in choices:
            combo = self.lists[choice.name]
            offer(combo, choice.values)
            with QSignalBlocker(combo):
                combo.setCurrentIndex(max(0, combo.findData(chosen.get(choice.name))))
            combo.setToolTip(tooltip(choice.tip or combo.currentText()))
            self._parts[choice.name].setVisible(len(choice.values) > 1)
        self._tell()

    def _build(self, choices: Sequence[ViewChoice]) -> None:
        for part in self._parts.values():
            for row in (self._row, self._folded):
                row.removeWidget(part)
            part.hide()
            part.deleteLater()
        self.lists, self._parts = {}, {}
        self._front = [choice.name for choice in choices if len(choice.values) > 1][: self._first]
        for choice in choices:
            combo = ChoiceBox(
                self.chosen.emit,
                accessibleName=choice.words,
                minimumContentsLength=LETTERS,
                sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents,
            )
            longest = max((len(words) for words, _ in choice.values), default=0)
            theme.scale(combo.setMaximumWidth, WIDER if longest > WIDE_FROM else WIDEST)
            self.lists[choice.name] = combo
            part = self._parts[choice.name] = together(choice.words, combo, choice.tip)
            if choice.name in self._front:
                self._row.insert(self._front.index(choice.name), part)
            else:
                self._folded.addWidget(part)

    def _tell(self) -> None:
        """Summarise the choices inside the fold on its button, and show the button only if there are any."""
        behind = [name for name in self.lists if name not in self._front]
        shown = [name for name in behind if not self._parts[name].isHidden()]
        words = " · ".join(
            f"{self.lists[name].accessibleName()}: {self.lists[name].currentText()}" for name in shown
        )
        short = shorten(words, SPOKEN_LETTERS, placeholder="…").replace("&", "&&")
        with_properties(self.fold.button, text=short or "Options", toolTip=tooltip(words))
        self.fold.button.setVisible(bool(shown) or any(not part.isHidden() for part in self._added))
        self.updateGeometry()

    def values(self) -> dict[str, str]:
        return {name: str(combo.currentData() or "") for name, combo in self.lists.items()}

    def choose(self, name: str, value: str) -> None:
        choose(self.lists[name], value)


@dataclass(frozen=True, slots=True)
class Refused(ChosenView):
    """The refusal of a view with these choices, and the choices offered instead."""

    refusal: Refusal


def shown(
    project: Project, among: tuple[ResultView, ...], name: str, chosen: Mapping[str, str], computed: Any
) -> CountedView | Refused:
    try:
        return result_views.show(project, name, chosen, computed, among)
    except Refusal as refusal:
        return refused(project, among, name, chosen, refusal)


def refused(
    project: Project, among: tuple[ResultView, ...], name: str, chosen: Mapping[str, str], refusal: Refusal
) -> Refused:
    """The refusal with the choices still offered; none if those are refused, too."""
    try:
        choices, fitting = result_views.offered(project, name, chosen, among)
    except Refusal:
        choices, fitting = (), {}
    return Refused(name, fitting, choices, refusal)


def behind(project: Project, source: FigureSource) -> ResultSheet | list[JudgementBehind] | Refusal:
    """The items behind a figure, or the judgements on the source's item."""
    if source.item_id:
        return or_refusal(project, results_behind.of_source, source)
    question = validation.units if isinstance(source, HeldRater) else results_behind.behind
    return or_refusal(project, question, source)


class LeavingMenu(QToolButton):
    """A menu of what can be copied or saved of the view."""

    # Act of the key table, title, hint.
    ACTS: ClassVar[Sequence[RowAct]] = (
        (
            "copy_results",
            "Copy table",
            "Copy the table for a spreadsheet, with full precision and intervals in their own columns",
        ),
        ("save_results", "Save table…", "Save the table as CSV or JSON, with full precision"),
        ("save_results_picture", "Save picture…", "Save the picture as SVG or PNG, on white"),
    )
    reported = Signal(str)
    """A message about what was copied or saved."""

    def __init__(self, session: ProjectSession, view: ViewPane) -> None:
        super().__init__()
        self._session, self._view = session, view
        self.name = "results"
        with_properties(
            self,
            text="Copy or save",
            toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon,
            popupMode=QToolButton.ToolButtonPopupMode.InstantPopup,
        )
        chips.put(self, "export")
        menu = with_properties(QMenu(self), toolTipsVisible=True)
        self.setMenu(menu)
        commands = self.commands()
        self.buttons: dict[str, QAction] = {}
        for act, words, hint in self.ACTS:
            self.buttons[act] = action = QAction(self, toolTip=hint)
            keys.tell(action, "text", f"{words}\t{{{act}}}")
            action.triggered.connect(commands[act])
            menu.addAction(action)

    def commands(self) -> dict[str, Callable[[], None]]:
        return {
            "copy_results": self.copy,
            "save_results": self._choose_table,
            "save_results_picture": self._choose_picture,
        }

    def enable(self, table: bool, picture: bool) -> None:
        for act, button in self.buttons.items():
            button.setEnabled(picture if act.endswith("picture") else table)

    def copy(self) -> None:
        sheet = self._view.model.shown
        if sheet.lines:
            QGuiApplication.clipboard().setText(result_pictures.as_text(sheet))
        copied = f"Copied {counted(len(sheet.lines), 'line')}, with full precision."
        self.reported.emit(copied if sheet.lines else "No line is in view: nothing was copied.")

    def _choose_table(self) -> None:
        save_file(self, "Save table", f"{self.name}.csv", "Tables (*.csv);;JSON (*.json)", self.save_table)

    def save_table(self, path: Path) -> None:
        try:
            result_pictures.save_exports(self._view.model.shown, path)
        except Refusal as refusal:
            self._session.refused.emit(refusal)
        else:
            self.reported.emit(f"Saved {path.name}.")

    def _choose_picture(self) -> None:
        save_file(self, "Save picture", f"{self.name}.svg", "SVG (*.svg);;PNG (*.png)", self.save_picture)

    def save_picture(self, path: Path) -> None:
        picture, differs = self._view.pictures.picture(), result_pictures.departures(self._view.model.shown)
        if picture is not None:
            self._session.ask_later(
                lambda _: self.reported.emit(f"Saved {path.name}."),
                lambda _: result_pictures.save(result_pictures.printed(picture, differs), path),
            )
