"""The sources of an item: a tab for each and one for the question, with search and quoting."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QTabBar, QWidget

from annotator.actions.items import items, materials
from annotator.domain.common import counted, sha256
from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.material.item import Item, Source, SourceFormat
from annotator.domain.material.transcript import LEFT_OUT, moments, of_source, time_words
from annotator.domain.texts import difference
from annotator.gui import theme
from annotator.gui.forms.unit_editor import AnchorChips
from annotator.gui.session.page import files
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainArea,
    PlainLabel,
    StretchSpace,
    column_of,
    direction_of,
    horizontal,
    open_file,
    push_button,
    show_tabs,
    vertical,
    with_properties,
)
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.reading.find_bar import FindBar, ask_to_open
from annotator.gui.widgets.reading.pdf_view import PdfView
from annotator.gui.widgets.reading.report_view import ReportView
from annotator.gui.widgets.splitter import Splitter

Span = tuple[int, int]
EVIDENCE, KEPT_QUOTE = "evidence", "kept"
LONGEST_SOUGHT = 100


class TextPane(Pane):
    """Shows a report, a source or a page. Offsets refer to the stored text, not to the rendered one."""

    scrolled = Signal()
    stepped = Signal(str)
    """The id of the unit whose passage was stepped to."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.text = ""
        """The stored text of what is shown."""
        self._placed: dict[tuple[str, int | None], Span | None] = {}
        self.head = ElidedLabel("", "strong")
        self.banner, self.report = MessageBar(), ReportView()
        self.report.link_clicked.connect(lambda url: ask_to_open(self, url))
        self.report.verticalScrollBar().valueChanged.connect(lambda _: self.scrolled.emit())
        self.find_bar = FindBar(self.report)
        self.find_bar.closed.connect(lambda: self.report.setFocus(Qt.FocusReason.OtherFocusReason))
        self.steps = EvidenceSteps()
        self.steps.wanted.connect(self._show_passage)
        vertical(
            self.head, self.banner, (self.report, 1), self.steps, self.find_bar, on=self, margins=0, spacing=6
        )
        self.head.hide()

    def entitle(self, words: str) -> None:
        """Set the heading of the text; it is always visible."""
        self.head.show_words(words)

    def show_report(self, text: str, what: str = "report") -> None:
        """Show Markdown, or plain text if it cannot be rendered safely."""
        self._begin(text)
        rendered = self.session.ask(materials.html, text)
        if rendered is None or rendered.plain:
            reason = rendered.reason if rendered else ""
            self.banner.show_message("info", f"This {what} is shown as plain text.", reason, lasting=True)
            self.report.show_plain(text)
        else:
            self.report.show_html(rendered.html)
            if rendered.reason:
                self.banner.show_message("info", rendered.reason)
        self.report.verticalScrollBar().setValue(0)

    def show_words(self, text: str, unread: str = "", moments: Sequence[tuple[int, str]] = ()) -> None:
        """Show plain text; `unread` says why there is none. Page breaks of a PDF are shown as spaces.

        `moments` are printed beside the lines that begin there.
        """
        self._begin(text)
        if unread:
            self.banner.show_message("warning", unread, lasting=True)
        self.report.show_plain(text.replace("\f", " "), moments)
        self.report.verticalScrollBar().setValue(0)

    def _begin(self, text: str) -> None:
        self.text = text
        self._placed.clear()
        self.find_bar.hide()
        self.banner.clear()
        self.steps.show_passages([], "")

    def seek(self) -> None:
        self.find_bar.open_bar(sought(self.report.selected_text()[0]))

    def chosen(self) -> Span | None:
        """The selected span of the rendered text.

        While the find bar is open and nothing is selected, the current match counts as selected.
        """
        words, *span = self.report.selected_text()
        result = self.report.marks("find-current")
        if words.strip():
            return span[0], span[1]
        return (result[0].start, result[0].end) if result else None

    def selection(self) -> tuple[str, int | None, int | None]:
        """The selected words as stored, with their offsets in the stored text if they are found there."""
        chosen = self.chosen()
        if chosen is None:
            return "", None, None
        span = difference.locate(self.text, self.report.text(), *chosen)
        words = self.report.text()[chosen[0] : chosen[1]].strip()
        return (self.text[span[0] : span[1]], *span) if span else (words, None, None)

    def forget_selection(self) -> None:
        cursor = self.report.textCursor()
        cursor.clearSelection()
        self.report.setTextCursor(cursor)

    def place(self, quote: str, start: int | None) -> Span | None:
        """The span of a quotation in the rendered text; `start` is its offset in the stored text, if known."""
        if not quote:
            return None
        if (quote, start) not in self._placed:
            self._placed[quote, start] = difference.find_in_rendered(
                self.report.text(), quote, self.text, -1 if start is None else start
            )
        return self._placed[quote, start]

    def mark(self, kind: str, span: Span | None, *, reveal: bool) -> None:
        """Set or clear the only mark of a kind, and bring it into view if `reveal`."""
        self.report.set_marks(kind, [span] if span else [])
        if span is not None and reveal:
            self.report.reveal(*span)

    def show_evidence(self, passages: Sequence[tuple[str, Span]], at_hand: str, *, reveal: bool) -> None:
        """Mark all passages, each given with its unit; those of the current unit are highlighted."""
        mine = [span for whose, span in passages if whose == at_hand]
        self.report.set_marks(KEPT_QUOTE, [span for whose, span in passages if whose != at_hand])
        self.report.set_marks(EVIDENCE, mine)
        self.steps.show_passages(passages, at_hand)
        if mine and reveal:
            self.report.reveal(*mine[0])

    def _show_passage(self, whose: str, span: Span) -> None:
        self.report.reveal(*span)
        self.stepped.emit(whose)

    def turn(self, screens: int) -> None:
        bar = self.report.verticalScrollBar()
        bar.setValue(bar.value() + screens * bar.pageStep())


class ReadingPane(QWidget):
    """The question above one or two texts: `first` is a report, `beside` a second one or a cited source."""

    LINES, LEAST, SIDE_BY_SIDE = 3, 160, 640
    """Lines of the question shown, its minimum assumed width, and the width from which two texts are side by side."""

    def __init__(self, session: ProjectSession, name: str, area: PlainArea) -> None:
        super().__init__()
        self.first, self.beside = TextPane(session), TextPane(session)
        self.question = with_properties(
            PlainLabel("", wrap=True),
            textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
            alignment=Qt.AlignmentFlag.AlignTop,
        )
        self.area = area
        area.setWidget(self.question)
        self.texts = Splitter(name, parts=(self.first, self.beside))
        self.beside.hide()

    @property
    def panes(self) -> list[TextPane]:
        return [self.first] if self.beside.isHidden() else [self.first, self.beside]

    def show_question(self, words: str) -> None:
        self.question.setText(words)
        self.question.setLayoutDirection(direction_of(words))
        self.fit_question()

    def fit_question(self) -> None:
        """Make the question area as high as the question, up to a few lines; a longer question scrolls."""
        wide = max(self.LEAST, self.area.viewport().width())
        most = self.question.fontMetrics().lineSpacing() * self.question_lines()
        self.area.setFixedHeight(min(self.question.heightForWidth(wide) + 4, most))

    def question_lines(self) -> int:
        return self.LINES

    def standing(self, quote: str, start: int | None) -> tuple[TextPane, Span] | None:
        """The pane and span of a quotation, None if not found; without `start`, the second text is searched first."""
        for pane in self.panes[::-1] if start is None else self.panes:
            span = pane.place(quote, start if pane is self.first else None)
            if span is not None:
                return pane, span
        return None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange two texts one above the other if the pane is narrow."""
        super().resizeEvent(event)
        self.fit_question()
        wide = self.width() >= theme.current().px(self.SIDE_BY_SIDE)
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.texts.orientation() != orientation:
            self.texts.setOrientation(orientation)


class EvidenceSteps(QWidget):
    """The current passage and the number of passages, with buttons for next and previous."""

    wanted = Signal(str, tuple)
    """A passage to show: its unit and its span."""

    def __init__(self) -> None:
        super().__init__()
        self._passages: list[tuple[str, Span]] = []
        self._at = -1
        self.count, no_focus = PlainLabel(role="hint"), Qt.FocusPolicy.NoFocus
        self.before, self.after = (
            chips.tool_button(
                "Previous passage ({previous_evidence})", "up", lambda: self.step(-1), focusPolicy=no_focus
            ),
            chips.tool_button(
                "Next passage ({next_evidence})", "down", lambda: self.step(1), focusPolicy=no_focus
            ),
        )
        horizontal(self.count, self.before, self.after, StretchSpace(1), on=self, margins=0, spacing=4)
        self.hide()

    def show_passages(self, passages: Sequence[tuple[str, Span]], at_hand: str) -> None:
        """Step through these passages from now on, in text order; hidden for fewer than two."""
        passage = self._passages[self._at] if self._at >= 0 else None
        self._passages = sorted(passages, key=lambda one: one[1])
        first = next((n for n, (whose, _) in enumerate(self._passages) if whose == at_hand), -1)
        same = (n for n, one in enumerate(self._passages) if one == passage and one[0] == at_hand)
        self._at = next(same, first)
        self.setVisible(len(self._passages) > 1)
        self._tell()

    def step(self, way: int) -> None:
        """Go to the next passage (1) or the previous one (-1), wrapping around."""
        if self._passages:
            self._at = (self._at + way) % len(self._passages) if self._at >= 0 else min(way, 0)
            self._tell()
            self.wanted.emit(*self._passages[self._at])

    def _tell(self) -> None:
        many = len(self._passages)
        self.count.setText(
            f"Passage {self._at + 1} of {many}" if self._at >= 0 else f"{many} passages marked"
        )


def sought(words: str) -> str:
    """Selected words as a search term, if they are short enough and on one line; otherwise empty."""
    return words if len(words) <= LONGEST_SOUGHT and "\n" not in words else ""


# The page separator in the text of a PDF (as stored by actions.sources).
PAGE_END = "\f"
LONGEST_QUOTE = 20_000

ENDINGS = (".pdf", ".md", ".markdown", ".txt")
FILES = f"Papers and texts ({' '.join(f'*{one}' for one in ENDINGS)});;All files (*)"
QUESTION = "Question"
TAB_WIDTH, WIDEST_TAB, AROUND_TITLE = 90, 340, 40


class LeadsPane(PlainArea):
    """The inspirations a task is written from, each with its quotations and their times."""

    wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__("Inspirations of this task")
        self._units: Sequence[Unit] = ()
        theme.scale(self.setMaximumHeight, 190)
        self.hide()

    def show_units(self, units: Sequence[Unit]) -> None:
        """Show these inspirations; hide the pane if there are none."""
        if list(units) == list(self._units):
            return
        self._units = units
        heading = f"{counted(len(units), 'inspiration')} of this task"
        self.setWidget(column_of(PlainLabel(heading, "strong"), *map(self._row, units), margins=(0, 4, 4, 4)))
        self.setVisible(bool(units))

    def _row(self, unit: Unit) -> QWidget:
        chips = AnchorChips()
        row = column_of(chips, PlainLabel(unit.text, wrap=True), spacing=4)
        chips.lock(True)
        # Shown without a parent they would be a window of their own, which takes the focus.
        chips.show_anchors(unit.anchors)
        chips.opened.connect(lambda place: self.wanted.emit(unit.anchors[place]))
        return row


class SourcePane(Pane):
    """The sources of an item, beside the work. A source is read from the file when its tab is first shown."""

    stirred = Signal()
    """The text was scrolled, which counts as activity."""
    stepped = Signal(str)
    """The id of the unit whose marked passage was stepped to."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._item: Item | None = None
        self.sources: Sequence[Source] = ()
        self._quoted: Sequence[tuple[str, Anchor]] = ()
        # Whether a passage is marked that the document does not quote.
        self._at_hand, self._foreign = "", False
        self.tabs, self.pane, self.pdf, self.hint = (
            QTabBar(),
            TextPane(session),
            PdfView(),
            PlainLabel(role="hint", wrap=True),
        )
        self.text = self.pane.report
        self.pdf_finder, self.pdf_steps = FindBar(self.pdf), EvidenceSteps()
        self.add, self.as_text, self.quoting = (
            push_button(
                "Add…",
                self.choose_file,
                "quiet",
                toolTip="Add a paper or text to this item",
                accessibleName="Add source",
            ),
            with_properties(
                QPushButton("As text"),
                role="quiet",
                checkable=True,
                toolTip="Show the words of this PDF as plain text",
            ),
            KeyButton(
                "Quote",
                act="evidence",
                role="quiet",
                hint="Quote the selected or found words in the current unit",
            ),
        )
        self._nothing = chips.EmptyState(
            "quote",
            "No source for this item",
            "Add the paper or text you write from (PDF, Markdown or plain text), or drop it here. Then select "
            "words and quote them into the unit at the cursor. You can also write from the question alone.",
            width=300,
        )
        self._stack, self.leads = QStackedWidget(), LeadsPane()
        self.leads.wanted.connect(self.show_anchor)
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        self.setAcceptDrops(True)
        with_properties(
            self.tabs, accessibleName="Sources", expanding=False, elideMode=Qt.TextElideMode.ElideNone
        )
        for view in (
            self.pane,
            column_of((self.pdf, 1), self.pdf_steps, self.pdf_finder, spacing=6),
            self._nothing,
        ):
            self._stack.addWidget(view)
        vertical(
            horizontal((self.tabs, 1), self.quoting, self.as_text, self.add),
            self.hint,
            (self._stack, 1),
            self.leads,
            on=self,
            margins=(8, 4, 0, 8),
            spacing=4,
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.tabs and event.type() == QEvent.Type.Resize:
            for place, source in enumerate(self.sources):
                self.tabs.setTabText(place, self._short(source.title).replace("&", "&&"))
        return super().eventFilter(watched, event)

    @property
    def _in_pdf(self) -> bool:
        return self._stack.currentIndex() == 1

    def _listen(self) -> None:
        self._first = self._nothing.add_action("Add source…", self.choose_file, primary=True)
        self.tabs.installEventFilter(self)
        self.tabs.currentChanged.connect(self._show_tab)
        self.as_text.toggled.connect(self._show_tab)
        self.pane.report.loaded.connect(self._mark_quoted)
        self.pane.stepped.connect(self.stepped)
        self.pdf_steps.wanted.connect(self._step_in_pdf)
        self.pdf_finder.closed.connect(lambda: self.pdf.setFocus(Qt.FocusReason.OtherFocusReason))
        for view in (self.text, self.pdf):
            view.verticalScrollBar().valueChanged.connect(self.stirred)
        self.text.marked_words.connect(self._weigh_selection)
        self.pdf.selection_changed.connect(self._weigh_selection)
        for finder in (self.pdf_finder, self.pane.find_bar):
            finder.moved.connect(self._weigh_selection)

    def show_item(self, item: Item, sources: Sequence[Source]) -> None:
        """Show an item's sources, the first one selected; for the item already shown, a newly added one."""
        before = self._item
        same = before is not None and before.id == item.id
        if same and before is not None and before.question == item.question and sources == self.sources:
            return
        front = len(sources) - 1 if same and len(sources) > len(self.sources) else 0
        self._item, self.sources = item, sources
        tabs = [(self._short(source.title), source.title) for source in sources] or [("Sources", "")]
        show_tabs(self.tabs, [*tabs, (QUESTION, "")], front)
        self.as_text.setChecked(False)
        readonly = self.session.project.readonly
        self._first.setVisible(not readonly)
        self.quoting.setVisible(not readonly)
        self.add.setVisible(bool(sources) and not readonly)
        self._show_tab()

    def stop(self) -> None:
        self.pdf.clear()

    def quote(self) -> Anchor | None:
        """The anchor of the selection; None if nothing is selected, or if the words are not in the source."""
        source = self._source()
        if self._in_pdf and source is not None:
            chosen = self.pdf.chosen()
            return anchor_on_page(source.id, source.text, *chosen) if chosen else None
        span = self.pane.chosen()
        if self._stack.currentWidget() is not self.pane or self._item is None or span is None:
            return None
        return anchor_of(source, source.text if source else self._item.question, self.text.text(), *span)

    def show_quoted(self, quoted: Sequence[tuple[str, Anchor]], at_hand: str) -> None:
        """Mark all quotations, each given with its unit; those of the current unit are highlighted."""
        if self._foreign or (quoted, at_hand) != (self._quoted, self._at_hand):
            self._quoted, self._at_hand = quoted, at_hand
            self._mark_quoted()

    def show_anchor(self, anchor: Anchor) -> bool:
        """Bring a quotation into view and mark it; whether it was found."""
        ids = [source.id for source in self.sources]
        if anchor.source_id and anchor.source_id not in ids:
            return False
        self.tabs.setCurrentIndex(ids.index(anchor.source_id) if anchor.source_id else self.tabs.count() - 1)
        span = self._place(anchor)
        if span is None:
            self.pdf.go_to_page(anchor.page or 1)
            return False
        if not any(anchor == one for _, one in self._quoted):
            self._foreign = True
            self._view.set_marks("evidence", [span])
        self._view.reveal(*span)
        return True

    def step_evidence(self, way: int) -> None:
        (self.pdf_steps if self._in_pdf else self.pane.steps).step(way)

    def forget_selection(self) -> None:
        self.pane.forget_selection()
        self.pdf.forget_selection()

    def open_find(self) -> None:
        if self._in_pdf:
            chosen = self.pdf.selected()
            self.pdf_finder.open_bar(sought(chosen[0]) if chosen else "")
        elif self._stack.currentWidget() is self.pane:
            self.pane.seek()

    @property
    def _view(self) -> PdfView | ReportView:
        return self.pdf if self._in_pdf else self.text

    def _place(self, anchor: Anchor) -> Span | None:
        """The span of a quotation in the view; None if it belongs to another source or is not found."""
        source = self._source()
        if anchor.source_id != (source.id if source else ""):
            return None
        if self._in_pdf:
            return self.pdf.place(anchor.quote, anchor.page or 1)
        return self.pane.place(anchor.quote, anchor.start)

    def _mark_quoted(self) -> None:
        if not self._in_pdf and self.text.loading:
            # Marked once loading is complete: locating the passages now would force the rest to load at once.
            return
        self._foreign = False
        placed = [(whose, self._place(anchor)) for whose, anchor in self._quoted]
        passages = [(whose, span) for whose, span in placed if span is not None]
        if not self._in_pdf:
            self.pane.show_evidence(passages, self._at_hand, reveal=False)
            self.text.set_marks("other", self._doubtful())
            return
        for kind, mine in (("kept", False), ("evidence", True)):
            self.pdf.set_marks(kind, [span for whose, span in passages if (whose == self._at_hand) is mine])
        self.pdf_steps.show_passages(passages, self._at_hand)

    def _step_in_pdf(self, whose: str, span: Span) -> None:
        self.pdf.reveal(*span)
        self.stepped.emit(whose)

    def enter(self) -> None:
        nothing = self._stack.currentWidget() is self._nothing
        (self._nothing if nothing else self._view).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def choose_file(self) -> None:
        open_file(self, "Add a source", FILES, lambda path: self._add([path]))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept papers and texts as sources of the item; leave any other file to the window."""
        given = {path.suffix.lower() for path in files(event)}
        fit = self._item is not None and not self.session.project.readonly
        event.setAccepted(fit and bool(given) and given.issubset(ENDINGS))

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self._add(files(event))

    def _add(self, paths: Sequence[Path]) -> None:
        for path in paths:
            change = self.session.do(items.add_source, self._item.id, path) if self._item else None
            if change is not None and not change.seq:
                self.hint.show_words("The item has this source already; nothing was added.")

    def _weigh_selection(self) -> None:
        chosen = self.pdf.chosen() if self._in_pdf else self.pane.chosen()
        self.quoting.setEnabled(chosen is not None and self._stack.currentWidget() is not self._nothing)

    def _source(self) -> Source | None:
        place = self.tabs.currentIndex()
        return self.sources[place] if 0 <= place < len(self.sources) else None

    def _doubtful(self) -> list[Span]:
        """The passages of a transcript that may never have been said."""
        source = self._source()
        result = of_source(source) if source else None
        return (
            [(segment.first, segment.last) for segment in result.segments if segment.doubts] if result else []
        )

    def _show_tab(self) -> None:
        source, as_question = self._source(), self.tabs.currentIndex() == self.tabs.count() - 1
        self.pdf_finder.hide()
        many = len(self._doubtful())
        doubts = (
            f"{counted(many, 'passage')} dotted: speech recognition may have invented them." if many else ""
        )
        self.hint.show_words(source.drafted or doubts if source else "")
        self.as_text.setVisible(source is not None and source.format is SourceFormat.PDF)
        if source is None and not as_question:
            self._stack.setCurrentWidget(self._nothing)
        elif source is not None and source.format is SourceFormat.PDF and not self.as_text.isChecked():
            self._show_pdf(source)
        else:
            self._stack.setCurrentWidget(self.pane)
            if source is not None and source.format is SourceFormat.MARKDOWN:
                self.pane.show_report(source.text, "source")
            else:
                result = of_source(source) if source else None
                text = source.text if source else self._item.question if self._item else ""
                self.pane.show_words(text, moments=moments(text, result) if result else ())
        self._mark_quoted()
        self._weigh_selection()

    def _show_pdf(self, source: Source) -> None:
        content = self.session.ask(items.file_bytes, source.id)
        if content is None:
            self._stack.setCurrentWidget(self.pane)
            self.pane.show_words(source.text)
            self.hint.show_words("The project does not include the pages of this PDF; this is its text.")
            return
        self._stack.setCurrentIndex(1)
        self.pdf.show_pdf(content)

    def _short(self, title: str) -> str:
        px, around = theme.current().px, theme.current().px(AROUND_TITLE)
        left = self.tabs.width() - self.fontMetrics().horizontalAdvance(QUESTION) - around
        room = max(px(TAB_WIDTH), min(px(WIDEST_TAB), left // max(1, len(self.sources)) - around))
        return self.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, room)


def anchor_of(source: Source | None, text: str, shown: str, start: int, end: int) -> Anchor | None:
    """The anchor of the words at [start, end) of the rendered text, or None if they are not found in `text`.

    `text` is the stored text. Form feeds separate the pages of a PDF; a transcript supplies the time.
    """
    words = shown[start:end]
    start, end = end - len(words.lstrip()), start + len(words.rstrip())
    span = difference.locate(text, shown, start, end) if start < end else None
    paged = source is not None and source.format is SourceFormat.PDF
    result = _anchor(source.id if source else "", text, span, paged=paged)
    if result is None or source is None or not source.transcript:
        return result
    return (
        None if LEFT_OUT in result.quote else result.model_copy(update={"said": time_words(source, result)})
    )


def anchor_on_page(source_id: str, text: str, quote: str, page: int) -> Anchor:
    """The anchor of words selected on a page of a PDF; without offsets if its text does not contain them."""
    pages = text.split(PAGE_END)
    before = sum(len(earlier) + 1 for earlier in pages[: page - 1])
    span = difference.find(pages[page - 1], quote) if page <= len(pages) else None
    result = _anchor(source_id, text, (span[0] + before, span[1] + before) if span else None, paged=True)
    if result is None or result.page != page:
        return Anchor(quote=quote[:LONGEST_QUOTE], source_id=source_id, page=page, text_sha256=sha256(text))
    return result


def _anchor(source_id: str, text: str, span: tuple[int, int] | None, *, paged: bool) -> Anchor | None:
    if span is None or not text[span[0] : span[1]].strip():
        return None
    start, end = span[0], min(span[1], span[0] + LONGEST_QUOTE)
    page = text.count(PAGE_END, 0, start) + 1 if paged else None
    return Anchor(
        quote=text[start:end], source_id=source_id, start=start, end=end, page=page, text_sha256=sha256(text)
    )
