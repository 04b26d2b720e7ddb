"""Texts to read: the question, and one report, two reports, or a report beside a cited page."""

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QByteArray, QObject, QSettings, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QHBoxLayout, QToolButton, QWidget

from annotator.actions.labelling.label_cases import presentation_of, together
from annotator.domain.judges.protocol import CaseLayout
from annotator.gui import theme
from annotator.gui.pages.labelling.bench import LabellingModel
from annotator.gui.pages.labelling.unit_card import PAGES
from annotator.gui.parts import holds
from annotator.gui.review.source_pane import ReadingPane, Span, TextPane
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainArea,
    PlainLabel,
    horizontal,
    vertical,
    with_properties,
)
from annotator.gui.widgets.splitter import Splitter

ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
LEAST_REPORT, LEAST_UNITS, LEAST_STRIP = 260, 250, 136
STRIP_WITH_GUIDELINE = 260
REPORT = "label/report"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """An arrangement: its settings key, orientation and initial sizes; `report` can be hidden."""

    name: str
    orientation: Qt.Orientation
    sizes: tuple[int, int]
    optional_report: bool = False


ARRANGEMENTS: dict[CaseLayout, Arrangement] = {
    CaseLayout.LIST: Arrangement("label/reading", ACROSS, (715, 395)),
    CaseLayout.MATRIX: Arrangement("label/reading-plan", ACROSS, (380, 640), optional_report=True),
    CaseLayout.PAIR: Arrangement("label/reading-pairs", DOWN, (10_000, 1)),
}


class ReadingSplitter(Splitter):
    def __init__(self, report: QWidget, units: QWidget, guideline: QWidget) -> None:
        super().__init__("label/reading")
        self._report, self._guideline = report, guideline
        self._now = ARRANGEMENTS[CaseLayout.LIST]
        self._side = Splitter("label/side", DOWN, parts=(units, guideline), sizes=(420, 280), stretch=(1,))
        guideline.hide()
        self.addWidget(report)
        self.addWidget(self._side)
        self.setStretchFactor(0, 3)
        self.setStretchFactor(1, 2)
        self.setSizes(list(self._now.sizes))
        # Less than they ask for: large type must not push the window over the edge of the screen.
        report.setMinimumWidth(LEAST_REPORT)
        self._side.setMinimumWidth(LEAST_UNITS)

    def arrange(self, protocol: str) -> None:
        """Use the arrangement of a protocol, with the sizes it had last."""
        arrangement = ARRANGEMENTS[presentation_of(protocol).layout]
        if arrangement.name != self._now.name:
            self._now = arrangement
            self.rename(arrangement.name)
            self.setOrientation(arrangement.orientation)
            down = arrangement.orientation == DOWN
            # Below two reports there is room for the guideline only beside the question.
            self._side.setOrientation(ACROSS if down else DOWN)
            self.setStretchFactor(1, 0 if down else 2)
            self._side.setMinimumHeight(0)
            stored = QSettings().value(f"splitter/{arrangement.name}")
            if not (isinstance(stored, QByteArray) and self.restoreState(stored)):
                self.setSizes(list(arrangement.sizes))
            if down:
                self._make_room()
        self._report.setVisible(
            not arrangement.optional_report or QSettings().value(REPORT, False, bool) is True
        )

    def toggle_guideline(self) -> None:
        """Show the guideline beside the units, or hide it; below two reports it gets the height to be read."""
        self._guideline.setVisible(self._guideline.isHidden())
        if self._now.orientation == DOWN:
            self._make_room()
            self.setSizes([10_000, 1])

    def _make_room(self) -> None:
        """Fix the height of the strip below two reports, however long the guideline beside it."""
        least = LEAST_STRIP if self._guideline.isHidden() else STRIP_WITH_GUIDELINE
        self._side.setMinimumHeight(theme.current().px(least))

    def toggle_report(self) -> None:
        """Show or hide the report beside a matrix; in other arrangements it is always visible."""
        if self._now.optional_report:
            shown = self._report.isHidden()
            QSettings().setValue(REPORT, shown)
            self._report.setVisible(shown)


class LinkedScrolling(QObject):
    """Links the vertical scroll bars of two areas while it is `on`."""

    def __init__(self, area: QAbstractScrollArea, other: QAbstractScrollArea) -> None:
        super().__init__(area)
        self.on = False
        self._busy = False
        # PySide may lose a bar before Qt does: ask the area for it each time.
        self._areas = area, other
        area.verticalScrollBar().valueChanged.connect(self._one_moved)
        other.verticalScrollBar().valueChanged.connect(self._other_moved)
        # A closing pane loses its areas one after the other, and the first may still scroll.
        other.destroyed.connect(self._part)

    def _one_moved(self) -> None:
        self._follow(*self._areas)

    def _other_moved(self) -> None:
        self._follow(*reversed(self._areas))

    def _part(self) -> None:
        self.on = False

    def _follow(self, leader: QAbstractScrollArea, follower: QAbstractScrollArea) -> None:
        if not self.on or self._busy:
            return
        self._busy = True
        bar, other = leader.verticalScrollBar(), follower.verticalScrollBar()
        other.setValue(round(bar.value() / max(1, bar.maximum()) * other.maximum()))
        self._busy = False


QUESTION, TOGETHER = "label/question", "label/together"
QUESTION_LINES, NARROW = 7, 400
CONTEXT = "other"
# No page has this address.
UNSHOWN: tuple[str | None, str | None] = ("\n", None)
EVIDENCE_STEPS = {"next_evidence": 1, "previous_evidence": -1}


class ReportPane(ReadingPane):
    """The question and the texts; `beside` is a second report or a page."""

    LEAST, SIDE_BY_SIDE = 200, 700

    scrolled = Signal()
    stepped = Signal(int)
    """Go to the next report (1) or the previous one (-1)."""

    def __init__(self, session: ProjectSession, bench: LabellingModel) -> None:
        super().__init__(session, "label/texts", PlainArea("The question"))
        self._bench = bench
        self._fresh, self._page = False, UNSHOWN
        self.report, self.banner, self.find_bar = self.first.report, self.first.banner, self.first.find_bar
        self.title, self.name = ElidedLabel("", "hint"), PlainLabel("", "subtitle")
        self.folded = ElidedLabel("", "hint")
        self.fold = chips.tool_button(
            "", "down", lambda: self._fold(self.area.isHidden()), focusPolicy=Qt.FocusPolicy.NoFocus
        )
        theme.watch(self.fold, self._dress_fold)
        for place in range(2):
            self.texts.setStretchFactor(place, 1)
        fold = self.fold, 0, Qt.AlignmentFlag.AlignTop
        layout = horizontal(fold, (self.folded, 1), (self.area, 1), spacing=4)
        vertical(self._head(), layout, (self.texts, 1), on=self, margins=(8, 10, 4, 0), spacing=6)
        self._fold(QSettings().value(QUESTION, True, bool) is True)
        self._linked = LinkedScrolling(self.report, self.beside.report)
        self.together.setChecked(QSettings().value(TOGETHER, True, bool) is True)
        for pane in (self.first, self.beside):
            pane.report.loaded.connect(self._loaded)
            pane.scrolled.connect(self.scrolled)
            pane.stepped.connect(bench.move_to)
        bench.opened.connect(self._show_texts)
        bench.moved.connect(lambda _: self._show_unit())
        bench.answer_changed.connect(lambda _: self._show_evidence(reveal=False))
        bench.evidence_wanted.connect(lambda: self._show_evidence(reveal=True))

    def _head(self) -> QHBoxLayout:
        self.queue_shown = chips.tool_button(
            "Show or hide the list of reports ({queue})",
            "items",
            checkable=True,
            accessibleName="List of reports",
        )
        # These buttons do not take the focus.
        picture_button = partial(chips.tool_button, focusPolicy=Qt.FocusPolicy.NoFocus)
        self.together = picture_button("Scroll both reports together", "link", checkable=True)
        self.together.toggled.connect(self._scroll_together)
        self._spare: list[QToolButton] = []
        row = horizontal(self.queue_shown, self.name, (self.title, 1), self.together, spacing=4)
        for words, picture, act in (
            ("Smaller report (Ctrl and the wheel)", "minus", lambda: self._zoom(-1)),
            ("Larger report (Ctrl and the wheel)", "plus", lambda: self._zoom(1)),
            ("Previous report ({previous_item})", "left", lambda: self.stepped.emit(-1)),
            ("Next report ({next_item})", "right", lambda: self.stepped.emit(1)),
        ):
            button = picture_button(words, picture, act)
            row.addWidget(button)
            self._spare += [button] if picture in ("minus", "plus") else []
        return row

    @property
    def _is_pair(self) -> bool:
        return bool(self._bench.sheet and self._bench.sheet.other_id)

    @property
    def _instead(self) -> bool:
        """Whether another text replaces the report, so that offsets into the report do not apply."""
        return bool(self._bench.sheet and presentation_of(self._bench.sheet.protocol).text)

    @property
    def in_hand(self) -> TextPane:
        """The focused text; otherwise the one that decides: the page of a claim, or the report."""
        default = self.first if self._is_pair else self.panes[-1]
        return next((pane for pane in self.panes if holds(pane)), default)

    def seek(self) -> None:
        self.in_hand.seek()

    def selection(self) -> tuple[str, int | None, int | None]:
        """The words selected in the current text, or in the other; with offsets only for the first report."""
        for pane in sorted(self.panes, key=lambda pane: pane is not self.in_hand):
            quote, start, end = pane.selection()
            if quote:
                return (
                    (quote, start, end) if pane is self.first and not self._instead else (quote, None, None)
                )
        return "", None, None

    def forget_selection(self) -> None:
        """Clear the selections, so that a mark in their place can be seen."""
        for pane in self.panes:
            pane.forget_selection()

    def _show_texts(self) -> None:
        sheet = self._bench.sheet
        if sheet is None:
            return
        pair = bool(sheet.other_id)
        name = presentation_of(sheet.protocol).called or sheet.name
        self.name.setText(together(sheet.name, sheet.other_name) if pair else name)
        self.title.setText(f"item {sheet.item.key}")
        self.folded.setText(sheet.item.question)
        self._page = UNSHOWN
        self.together.setVisible(pair)
        self._linked.on = False
        self.beside.setVisible(pair or any("page" in group.given for group in sheet.groups))
        if self.texts.is_fresh:
            self.texts.setSizes([10_000, 10_000])
        self.show_question(sheet.item.question)
        self.report.setAccessibleName(f"{name} on item {sheet.item.key}")
        self._fresh = True
        self._entitle()
        self.first.show_report(sheet.report)
        if pair:
            self.beside.entitle(f"Second — {sheet.other_name}")
            self.beside.report.setAccessibleName(f"{sheet.other_name} on item {sheet.item.key}")
            self.beside.show_report(sheet.other)
        self._linked.on = pair and self.together.isChecked()

    def _entitle(self) -> None:
        """Give both texts headings if they are side by side; one above a page is named over the question already."""
        sheet, across = self._bench.sheet, self.texts.orientation() == Qt.Orientation.Horizontal
        if sheet is not None:
            alone = self.beside.isHidden() or not across
            self.first.entitle(
                f"First — {sheet.name}" if sheet.other_id else "" if alone else self.name.text()
            )

    def _show_unit(self) -> None:
        """Show what the current unit is judged by: its page, its place in the report, its evidence."""
        group = self._bench.group
        address, page = (group.given.get(name) for name in ("address", "page")) if group else (None, None)
        if group is not None and page is not None and (address, page) != self._page:
            self._page = address, page
            state, cause = str(group.given.get("page_state", "")), group.given.get("page_cause", "")
            read = presentation_of(self._bench.protocol).read
            why = f"This {read} could not be read: {PAGES.get(state, state)}." if state else ""
            what = "Cited page" if read == "page" else read.capitalize()
            self.beside.entitle(f"{what}: {address}" if address else what)
            self.beside.report.setAccessibleName(f"The {read} {address or ''}".strip())
            self.beside.show_words(page, " ".join(filter(None, (why, cause))))
        self._show_context()
        self._show_evidence(reveal=True)

    def _loaded(self) -> None:
        """Mark a text once it is loaded; scroll only the first time, not after a change of colours."""
        self._show_context()
        self._show_evidence(reveal=self._fresh)

    def _show_context(self) -> None:
        """Mark the current claim in the report, once the report is loaded."""
        if self.first.report.loading:
            return
        anchor = getattr(self._bench.unit, "anchor", None)
        words = anchor.quote if anchor else str(getattr(self._bench.unit, "context", ""))
        start = anchor.start if anchor and anchor.start >= 0 else None
        self.first.mark(CONTEXT, self.first.place(words, start) if words else None, reveal=True)

    def _show_evidence(self, reveal: bool) -> None:
        if any(pane.report.loading for pane in self.panes):
            self._fresh = self._fresh or reveal
            return
        self._fresh = False
        passages: dict[TextPane, list[tuple[str, Span]]] = {pane: [] for pane in self.panes}
        group = self._bench.group
        # A page is quoted only by its own claims.
        for unit in group.units if group and "page" in group.given else self._bench.units:
            label = self._bench.label(unit.id)
            if label and (there := self.standing(label.quote, label.quote_start)) is not None:
                passages[there[0]].append((unit.id, there[1]))
        for pane, result in passages.items():
            pane.show_evidence(result, self._bench.current_id, reveal=reveal)

    def step_evidence(self, way: int) -> None:
        self.in_hand.steps.step(way)

    def _zoom(self, step: int) -> None:
        for pane in self.panes:
            pane.report.zoom_text(step)

    def _scroll_together(self, on: bool) -> None:
        QSettings().setValue(TOGETHER, on)
        self._linked.on = on and self._is_pair

    def _fold(self, shown: bool) -> None:
        QSettings().setValue(QUESTION, shown)
        self.area.setVisible(shown)
        self.folded.setVisible(not shown)
        words = "Collapse the question" if shown else "Show the full question"
        with_properties(self.fold, toolTip=words, accessibleName=words)
        self._dress_fold()

    def _dress_fold(self) -> None:
        name = "right" if self.area.isHidden() else "down"
        self.fold.setIcon(chips.icon(name, theme.current().px(14)))

    def question_lines(self) -> int:
        return QUESTION_LINES if self.beside.isHidden() else self.LINES

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for button in self._spare:
            button.setVisible(self.width() >= theme.current().px(NARROW))
        self._entitle()
