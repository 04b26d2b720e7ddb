"""Texts to read: the question, and the report alone, beside a second one, or beside a cited page."""

from collections.abc import Callable

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QToolButton, QWidget

from annotator.actions.labelling.dealing import together
from annotator.actions.labelling.label_cases import presentation_of
from annotator.domain.judges.judgement import Judgement
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.linked_scrolling import LinkedScrolling
from annotator.gui.pages.labelling.units.cards import PAGES
from annotator.gui.review.text_pane import Span, TextPane
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.plain_area import PlainArea

QUESTION, TOGETHER = "label/question", "label/together"
QUESTION_LINES, BESIDE_LINES = 7, 3
NARROW, SIDE_BY_SIDE = 400, 700
CONTEXT = "other"
# No page has this address.
UNSHOWN: tuple[str | None, str | None] = ("\n", None)
EVIDENCE_STEPS = {"next_evidence": 1, "previous_evidence": -1}


class ReportPane(QWidget):
    """Question and texts; `first` is the report, `beside` a second report or a page."""

    scrolled = Signal()
    stepped = Signal(int)
    """The next report (1) or the one before (-1) was asked for."""

    def __init__(self, desk: Desk, bench: LabellingBench) -> None:
        super().__init__()
        self._bench = bench
        self._fresh, self._page = False, UNSHOWN
        self.first, self.beside = TextPane(desk), TextPane(desk)
        self.report, self.banner, self.find_bar = self.first.report, self.first.banner, self.first.find_bar
        self._build()
        self._linked = LinkedScrolling(self.report, self.beside.report)
        self.together.setChecked(QSettings().value(TOGETHER, True, bool) is True)
        for pane in (self.first, self.beside):
            pane.loaded.connect(self._loaded)
            pane.scrolled.connect(self.scrolled)
            pane.stepped.connect(bench.move_to)
        bench.opened.connect(self._show_texts)
        bench.moved.connect(lambda _: self._show_unit())
        bench.told.connect(lambda _: self._show_evidence(reveal=False))

    def _build(self) -> None:
        self.title, self.name = ElidedLabel("", "hint"), PlainLabel("", "subtitle")
        self.folded, self.question = ElidedLabel("", "hint"), PlainLabel("", wrap=True)
        self.question.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.question.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._question_area = PlainArea("The question", self.question)
        self.fold = _button("", "down", lambda: self._fold(self._question_area.isHidden()))
        theme.watch(self.fold, self._dress_fold)
        self.texts = Splitter("label/texts", parts=(self.first, self.beside), stretch=(1, 1))
        self.beside.hide()
        vertical(self._head(), self._asked(), (self.texts, 1), on=self, margins=(8, 10, 4, 0), spacing=6)
        self._fold(QSettings().value(QUESTION, True, bool) is True)

    def _head(self) -> QHBoxLayout:
        self.queue_shown = QToolButton()
        icons.put(self.queue_shown, "items")
        self.queue_shown.setCheckable(True)
        keys.tell(self.queue_shown, "toolTip", "Show or hide the list of reports ({queue})")
        self.queue_shown.setAccessibleName("List of reports")
        self.together = _button("Scroll both reports together", "link", lambda: None)
        self.together.setCheckable(True)
        self.together.toggled.connect(self._scroll_together)
        self._spare: list[QToolButton] = []
        row = horizontal(self.queue_shown, self.name, (self.title, 1), self.together, spacing=4)
        for words, picture, act in (
            ("Smaller report (Ctrl and the wheel)", "minus", lambda: self._zoom(-1)),
            ("Larger report (Ctrl and the wheel)", "plus", lambda: self._zoom(1)),
            ("Previous report ({previous_item})", "left", lambda: self.stepped.emit(-1)),
            ("Next report ({next_item})", "right", lambda: self.stepped.emit(1)),
        ):
            button = _button(words, picture, act)
            row.addWidget(button)
            self._spare += [button] if picture in ("minus", "plus") else []
        return row

    def _asked(self) -> QHBoxLayout:
        return horizontal(
            (self.fold, 0, Qt.AlignmentFlag.AlignTop), (self.folded, 1), (self._question_area, 1), spacing=4
        )

    @property
    def panes(self) -> list[TextPane]:
        return [self.first] if self.beside.isHidden() else [self.first, self.beside]

    @property
    def _is_pair(self) -> bool:
        return bool(self._bench.sheet and self._bench.sheet.other_id)

    @property
    def _instead(self) -> bool:
        """Whether something is read in the place of the report, in which no offset stands."""
        return bool(self._bench.sheet and presentation_of(self._bench.sheet.protocol).text)

    @property
    def in_hand(self) -> TextPane:
        """The text that has the keyboard; otherwise the one that decides: the page of a claim, or the report."""
        here = QApplication.focusWidget()
        for pane in self.panes:
            if here is not None and pane.isAncestorOf(here):
                return pane
        return self.first if self._is_pair else self.panes[-1]

    def seek(self) -> None:
        self.in_hand.seek()

    def selection(self) -> tuple[str, int | None, int | None]:
        """The words selected in the text in hand, or in the other; offsets are given for the first report alone."""
        for pane in sorted(self.panes, key=lambda pane: pane is not self.in_hand):
            quote, start, end = pane.selection()
            if quote:
                return (
                    (quote, start, end) if pane is self.first and not self._instead else (quote, None, None)
                )
        return "", None, None

    def forget_selection(self) -> None:
        """Take the selections away, so that a mark in their place can be seen."""
        for pane in self.panes:
            pane.forget_selection()

    def show_evidence(self) -> None:
        self._show_evidence(reveal=True)

    def turn(self, screens: int) -> None:
        """Scroll the text in hand by screens; two reports go together where that is wished."""
        self.in_hand.turn(screens)

    def _show_texts(self) -> None:
        sheet = self._bench.sheet
        if sheet is None:
            return
        pair = bool(sheet.other_id)
        name = presentation_of(sheet.protocol).called or sheet.name
        self.name.setText(together(sheet.name, sheet.other_name) if pair else name)
        self.title.setText(f"item {sheet.item.key}")
        self.question.setText(sheet.item.question)
        self.question.setLayoutDirection(direction_of(sheet.item.question))
        self.folded.setText(sheet.item.question)
        self._page = UNSHOWN
        self.together.setVisible(pair)
        self._linked.on = False
        paged = any("page" in group.given for group in sheet.groups)
        self.beside.setVisible(pair or paged)
        if self.texts.is_fresh:
            self.texts.setSizes([10_000, 10_000])
        self._fit_question()
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
        """Two texts side by side both say what they are; one above a page is named over the question already."""
        sheet, across = self._bench.sheet, self.texts.orientation() == Qt.Orientation.Horizontal
        if sheet is not None:
            alone = self.beside.isHidden() or not across
            self.first.entitle(
                f"First — {sheet.name}" if sheet.other_id else "" if alone else self.name.text()
            )

    def _show_unit(self) -> None:
        """What the current unit is read by: its page, its place in the report, its evidence."""
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
        """A whole text is there, for the first time or in other colours; only the first time moves it."""
        self._show_context()
        self._show_evidence(reveal=self._fresh)

    def _show_context(self) -> None:
        """Where the claim at hand stands in the report; looked for once all of it is there."""
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
        # A page is quoted by its own claims alone.
        for unit in group.units if group and "page" in group.given else self._bench.units:
            label = self._bench.label(unit.id)
            for pane, span in self._places(label).items() if label and label.quote else ():
                passages[pane].append((unit.id, span))
        for pane, found in passages.items():
            pane.show_evidence(found, self._bench.unit_id, reveal=reveal)

    def step_evidence(self, way: int) -> None:
        """To the next passage that is marked in the text in hand, or the one before."""
        self.in_hand.steps.step(way)

    def _places(self, label: Judgement) -> dict[TextPane, Span]:
        """In which text the evidence stands, and where: with offsets in the first, without in the one beside it."""
        panes = self.panes if label.quote_start is not None else self.panes[::-1]
        for pane in panes:
            span = pane.place(label.quote, label.quote_start if pane is self.first else None)
            if span is not None:
                return {pane: span}
        return {}

    def _zoom(self, step: int) -> None:
        for pane in self.panes:
            pane.report.zoom_text(step)

    def _scroll_together(self, on: bool) -> None:
        QSettings().setValue(TOGETHER, on)
        self._linked.on = on and self._is_pair

    def _fold(self, shown: bool) -> None:
        QSettings().setValue(QUESTION, shown)
        self._question_area.setVisible(shown)
        self.folded.setVisible(not shown)
        words = "Collapse the question" if shown else "Show the full question"
        self.fold.setToolTip(words)
        self.fold.setAccessibleName(words)
        self._dress_fold()

    def _dress_fold(self) -> None:
        name = "right" if self._question_area.isHidden() else "down"
        self.fold.setIcon(icons.icon(name, theme.current().px(14)))

    def _fit_question(self) -> None:
        """As high as the question, up to a few lines; a longer one scrolls by itself."""
        wide = max(200, self._question_area.viewport().width())
        lines = QUESTION_LINES if self.beside.isHidden() else BESIDE_LINES
        most = self.question.fontMetrics().lineSpacing() * lines
        self._question_area.setFixedHeight(min(self.question.heightForWidth(wide), most) + 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the question to another width; two texts stand above each other where it is narrow."""
        super().resizeEvent(event)
        self._fit_question()
        for button in self._spare:
            button.setVisible(self.width() >= theme.current().px(NARROW))
        wide = self.width() >= theme.current().px(SIDE_BY_SIDE)
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.texts.orientation() != wanted:
            self.texts.setOrientation(wanted)
            self._entitle()


def _button(words: str, picture: str, act: Callable[[], object]) -> QToolButton:
    """A button that leaves the focus where the work is."""
    button = QToolButton()
    icons.put(button, picture)
    keys.tell(button, "toolTip", words)
    button.setAccessibleName(words.partition(" (")[0])
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.clicked.connect(lambda _=False: act())
    return button
