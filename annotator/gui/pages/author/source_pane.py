"""Where the sources are read: a tab for each and one for the question, with search, and quoting from what is shown."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from annotator.actions import renderings, sources
from annotator.domain import quotation
from annotator.domain.item import Item
from annotator.domain.source import Source, SourceFormat
from annotator.domain.unit import Anchor
from annotator.gui import keys, theme
from annotator.gui.desk import Desk
from annotator.gui.pages.author.quoting import PAGE_END, anchor_of, anchor_on_page
from annotator.gui.widgets import link_question
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.find_bar import FindBar
from annotator.gui.widgets.key_button import KeyButton
from annotator.gui.widgets.pdf_view import PdfView
from annotator.gui.widgets.plain import PlainLabel, tooltip
from annotator.gui.widgets.report_view import ReportView

FILES = "Papers and texts (*.pdf *.md *.markdown *.txt);;All files (*)"
TAB_WIDTH = 130


class SourcePane(QWidget):
    """The left-hand side of the page. Sources are read from the file only when their tab is looked at."""

    stirred = Signal()
    """It was scrolled: a sign of life."""
    quote_wanted = Signal()
    """The selected words are to be quoted."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._item: Item | None = None
        self._sources: Sequence[Source] = ()
        self.tabs, self.text, self.pdf, self.hint = (
            QTabBar(),
            ReportView(),
            PdfView(),
            PlainLabel(role="hint", wrap=True),
        )
        self.finder, self.add, self.as_text = (
            FindBar(self.text),
            QPushButton("Add…"),
            QPushButton("As text"),
        )
        self.quoting = KeyButton("Quote", keys.shown("evidence"), "quiet")
        self._nothing = EmptyState(
            "quote",
            "No source beside this item",
            "Add the paper or text you write from (PDF, Markdown or plain text). Then select words here and "
            "quote them into the unit at the cursor. You can also write from the question alone.",
            width=300,
        )
        self._stack = QStackedWidget()
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        self.tabs.setAccessibleName("Sources")
        self.tabs.setExpanding(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.quoting.set_hint("Give the selected words to the unit at the cursor as its quotation")
        self.quoting.clicked.connect(self.quote_wanted)
        self.as_text.setCheckable(True)
        self.as_text.setToolTip("Show the words of this PDF as plain text, which can be searched")
        self.add.setToolTip("Put a paper or text beside this item")
        self.add.setAccessibleName("Add source")
        for button in (self.add, self.as_text):
            button.setProperty("role", "quiet")
        for view in (self.text, self.pdf, self._nothing):
            self._stack.addWidget(view)
        top = QHBoxLayout()
        top.addWidget(self.tabs, 1)
        top.addWidget(self.quoting)
        top.addWidget(self.as_text)
        top.addWidget(self.add)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 0, 8)
        column.setSpacing(4)
        column.addLayout(top)
        column.addWidget(self.hint)
        column.addWidget(self.finder)
        column.addWidget(self._stack, 1)
        self.finder.hide()

    def _listen(self) -> None:
        self._nothing.add_action("Add source…", self.choose_file, primary=True)
        self.add.clicked.connect(self.choose_file)
        self.tabs.currentChanged.connect(self._show_tab)
        self.as_text.toggled.connect(self._show_tab)
        self.text.link_clicked.connect(lambda url: link_question.ask_to_open(self, url))
        for view in (self.text, self.pdf):
            view.verticalScrollBar().valueChanged.connect(self.stirred)
        self.text.marked_words.connect(self._weigh_selection)
        self.pdf.selection_changed.connect(self._weigh_selection)

    def show_item(self, item: Item, found: Sequence[Source]) -> None:
        """Show an item's sources, the first in front; of the same item only what is new."""
        before = self._item
        same = before is not None and before.id == item.id
        if same and before is not None and before.question == item.question and found == self._sources:
            return
        front = len(found) - 1 if same and len(found) > len(self._sources) else 0
        self._item, self._sources = item, found
        self._fill_tabs(front)
        readonly = self.desk.project.readonly
        self.quoting.setVisible(not readonly)
        self.add.setVisible(bool(found) and not readonly)
        self._show_tab()

    def _fill_tabs(self, front: int) -> None:
        blocked = self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        for source in self._sources:
            place = self.tabs.addTab(self._short(source.title))
            self.tabs.setTabToolTip(place, tooltip(source.title))
        if not self._sources:
            self.tabs.addTab("Sources")
        self.tabs.addTab("Question")
        self.tabs.setCurrentIndex(front)
        self.as_text.setChecked(False)
        self.tabs.blockSignals(blocked)

    def stop(self) -> None:
        """Give back the memory of a PDF."""
        self.pdf.clear()

    def rebind(self) -> None:
        """Print the keys as they now are."""
        self.quoting.set_key(keys.shown("evidence"))

    def words(self) -> str:
        """The text of all sources, for the guideline."""
        return "\n\n".join(source.text for source in self._sources)

    def quote(self) -> Anchor | None:
        """The anchor of what is selected; None where nothing is, or where the words are not in the source."""
        source = self._source()
        if self._stack.currentWidget() is self.pdf and source is not None:
            chosen = self.pdf.selected()
            return anchor_on_page(source.id, source.text, *chosen) if chosen else None
        if self._stack.currentWidget() is not self.text or self._item is None:
            return None
        _, start, end = self.text.selected_text()
        paged = source is not None and source.format is SourceFormat.PDF
        text = source.text if source else self._item.question
        return anchor_of(source.id if source else "", text, self.text.text(), start, end, paged=paged)

    def show_anchor(self, anchor: Anchor) -> bool:
        """Bring a quotation into view and mark it; whether it was found."""
        ids = [source.id for source in self._sources]
        if anchor.source_id and anchor.source_id not in ids:
            return False
        self.tabs.setCurrentIndex(ids.index(anchor.source_id) if anchor.source_id else self.tabs.count() - 1)
        if self._stack.currentWidget() is self.pdf:
            return self.pdf.show_quote(anchor.quote, anchor.page or 1)
        text = self._source_text()
        span = quotation.find_in_rendered(self.text.text(), anchor.quote, text, anchor.start)
        self.text.set_marks("evidence", [span] if span else [])
        if span:
            self.text.reveal(*span)
        return span is not None

    def open_find(self) -> None:
        """Search in the text in view; a PDF is shown as text for it."""
        if self._stack.currentWidget() is self.pdf:
            self.as_text.setChecked(True)
        if self._stack.currentWidget() is self.text:
            self.finder.open_bar(self.text.selected_text()[0])

    def enter(self) -> None:
        """Take the focus."""
        view = self._stack.currentWidget()
        if view is not None:
            view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def choose_file(self) -> None:
        """Ask for a file and put it beside the item."""
        name, _ = QFileDialog.getOpenFileName(self, "Add a source", "", FILES)
        if name and self._item is not None:
            self.desk.do(sources.add_source, self._item.id, Path(name))

    def _weigh_selection(self) -> None:
        """Only what is selected can be quoted."""
        view = self._stack.currentWidget()
        chosen = self.text.textCursor().hasSelection() if view is self.text else bool(self.pdf.selected())
        self.quoting.setEnabled(chosen and view is not self._nothing)

    def _source(self) -> Source | None:
        place = self.tabs.currentIndex()
        return self._sources[place] if 0 <= place < len(self._sources) else None

    def _source_text(self) -> str:
        source = self._source()
        return source.text if source else self._item.question if self._item else ""

    def _show_tab(self) -> None:
        source, as_question = self._source(), self.tabs.currentIndex() == self.tabs.count() - 1
        self.finder.hide()
        self._say(source.drafted if source else "")
        self.as_text.setVisible(source is not None and source.format is SourceFormat.PDF)
        if source is None and not as_question:
            self._stack.setCurrentWidget(self._nothing)
        elif source is not None and source.format is SourceFormat.PDF and not self.as_text.isChecked():
            self._show_pdf(source)
        elif source is not None and source.format is SourceFormat.MARKDOWN:
            self._show_markdown(source)
        else:
            self._show_plain(self._source_text().replace(PAGE_END, " "))
        self._weigh_selection()

    def _show_markdown(self, source: Source) -> None:
        rendered = self.desk.ask(renderings.html, source.text)
        self._stack.setCurrentWidget(self.text)
        if rendered is None or rendered.plain:
            self._show_plain(source.text)
            self._say(f"{source.drafted} {rendered.reason if rendered else ''}".strip())
        else:
            self.text.show_html(rendered.html)

    def _show_plain(self, text: str) -> None:
        self._stack.setCurrentWidget(self.text)
        self.text.show_plain(text)

    def _show_pdf(self, source: Source) -> None:
        content = self.desk.ask(sources.file_bytes, source.id)
        if content is None:
            self._show_plain(source.text.replace(PAGE_END, " "))
            self._say("The pages of this PDF did not come with the project; these are its words.")
            return
        self._stack.setCurrentWidget(self.pdf)
        self.pdf.show_pdf(content)

    def _say(self, words: str) -> None:
        self.hint.setText(words)
        self.hint.setVisible(bool(words))

    def _short(self, title: str) -> str:
        room = theme.current().px(TAB_WIDTH)
        return self.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, room).replace("&", "&&")
