"""Pages tab: cited pages, readable or not, shown as plain text."""

from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.items import cited_pages, pages
from annotator.actions.items.cited_pages import CitedPage, CitedPages, CitingClaim
from annotator.domain.material.page import PageState
from annotator.domain.texts.moments import local
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.material.cited_lines import ADDRESS, CITED, look, state_words
from annotator.gui.pages.material.fetching_bar import FetchingBar
from annotator.gui.tables.cells import CellsModel
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, stacked, vertical
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.typed import search_field
from annotator.gui.widgets.later import later
from annotator.gui.widgets.lists.filter_row import FilterRow
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.lists.rows_tree import RowsTree, line
from annotator.gui.widgets.reading.find_bar import FindBar
from annotator.gui.widgets.reading.report_view import ReportView

EVERY_MS = 1000
# More claims of one page are not listed.
MOST = 500
NOTHING = (
    "No page is cited yet",
    "Claims extracted from reports name the addresses they cite. Extract claims first; then their pages are "
    "fetched once and stored here, so that every judge reads the same text.",
)
UNREAD = "It has no text, so it supports and contradicts nothing: claims that cite it stay unknown."


class PageFilter(Enum):
    """Filter of the list of pages."""

    ALL = "All"
    READ = "Read"
    UNREADABLE = "Not readable"
    NEVER = "Never fetched"


class PagesView(QWidget):
    """Fetching above, list on the left, text and citing claims on the right."""

    came = Signal()
    claim_wanted = Signal(str, str, str)
    """Show this claim: item, report, unit."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._cited = CitedPages((), {})
        self._citing: Sequence[CitingClaim] = ()
        self._goal = self._url = ""
        self._seen: object = None
        # An answer may still come when the window has given the file back.
        self._stopped = False
        self.fetching = FetchingBar(desk)
        self.fetching.came.connect(self._came)
        self.model = CellsModel[CitedPage](CITED, self)
        self.list = LinesTable("Cited pages", self.model, self.model.widths, stretched=ADDRESS)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.selectionModel().currentRowChanged.connect(lambda *_: self._show_page())
        self.shown = FilterRow(PageFilter, PageFilter.ALL)
        self.shown.chosen.connect(self._narrow)
        self.search = search_field("Find an address…", "Find an address", self._narrow)
        self._refill = later(self, self.fill, EVERY_MS)
        self._lay_out()

    def _lay_out(self) -> None:
        left = QWidget()
        side = vertical(self.search, self.shown, on=left, margins=(0, 0, 8, 0), spacing=6)
        self._no_match = EmptyState("search", "No matches", "Remove a word or the filter to see more.")
        self._nothing = EmptyState("link", *NOTHING)
        self._nothing.add_action(
            "Go to the extracts", lambda: self._desk.go("Material", part="Extracts"), primary=True
        )
        self._body = stacked(self.list, self._no_match, self._nothing)
        side.addWidget(self._body, 1)
        parts = Splitter("material-pages", parts=(left, self._right()), sizes=(660, 460), stretch=(3, 2))
        vertical(self.fetching, (parts, 1), on=self, margins=(0, 10, 0, 0), spacing=8)
        self.fetching.answer.float_over(parts, below=False)

    def _right(self) -> QWidget:
        self.title, self.address = PlainLabel(role="strong", wrap=True), ElidedLabel("", "hint")
        self.state, self.cause = Chips(wrap=True), PlainLabel(role="hint", wrap=True)
        self.text = ReportView()
        self.text.setAccessibleName("Text of the page when it was fetched")
        self.finder = FindBar(self.text)
        self.finder.hide()
        self.claims = RowsTree(
            "Claims that cite it", ("Item", "System", "Claim"), (96, 110, 200), stretched=2, firm=(0,)
        )
        theme.scale(self.claims.setMaximumHeight, 170)
        self.claims.itemActivated.connect(lambda *_: self._ask_claim())
        right = QWidget()
        theme.scale(right.setMinimumWidth, 340)
        column = vertical(
            self.title,
            self.address,
            self.state,
            self.cause,
            self.finder,
            (self.text, 1),
            on=right,
            margins=(8, 0, 0, 0),
            spacing=6,
        )
        self.cited_by = PlainLabel("", "hint")
        column.addWidget(self.cited_by)
        column.addWidget(self.claims)
        return right

    def fill(self) -> None:
        self._refill.stop()
        self._desk.ask_later(self._show, cited_pages.cited)

    def focus_first(self) -> None:
        goal: QWidget = self.list if self._cited.pages else self.fetching.begin
        goal.setFocus(Qt.FocusReason.OtherFocusReason)

    def seek(self) -> None:
        """Find words in the page when its text has the focus, else an address."""
        if self.text.hasFocus() or self.finder.isVisible():
            self.finder.open_bar("")
            return
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def go_to(self, url: str) -> None:
        """Show the page that an address leads to, as soon as it is read."""
        self._goal = pages.normal(url)
        self.search.clear()
        self.shown.hold(PageFilter.ALL)

    def stop(self) -> None:
        self._stopped = True
        self._refill.stop()

    def rebind(self) -> None:
        self.fetching.rebind()

    def _came(self) -> None:
        if self.fetching.run.running:
            if not self._refill.isActive():
                self._refill.start()
        else:
            self.came.emit()

    def _show(self, found: CitedPages) -> None:
        if self._stopped:
            return
        self._cited = found
        self.fetching.show_plan(found)
        self.shown.show_counts({one: sum(_fits(page, one) for page in found.pages) for one in PageFilter})
        self._narrow()

    def _narrow(self) -> None:
        words = self.search.text().casefold().split()
        rows = [page for page in self._cited.pages if _fits(page, self.shown.held) and _matches(page, words)]
        self.model.show(rows)
        body = self.list if rows else self._no_match if self._cited.pages else self._nothing
        self._body.setCurrentWidget(body)
        row = self.model.place_of(lambda page: page.url == (self._goal or self._url))
        if rows:
            self.list.setCurrentIndex(self.model.index(max(0, row), ADDRESS))
            if row >= 0:
                self.list.scrollTo(self.model.index(row, ADDRESS))
        if row >= 0:
            self._goal = ""
        self._show_page()

    def _show_page(self) -> None:
        page = self.model.at(self.list.currentIndex().row())
        for widget in (self.title, self.address, self.state, self.text, self.claims, self.cited_by):
            widget.setVisible(page is not None)
        if page is None:
            self.cause.setVisible(False)
            self._url, self._seen = "", None
            return
        seen = (page.url, page.state, page.sha256, page.claims)
        if seen == self._seen:
            return
        self._url, self._seen = page.url, seen
        self.title.setText(page.title or page.url)
        self.address.setText(
            page.url if not page.final_url or page.final_url == page.url else f"{page.url} → {page.final_url}"
        )
        picture, colour = look(page)
        chips = [Chip(state_words(page), picture, colour.removeprefix("state-"))]
        if page.fetched_at is not None:
            chips.append(Chip(f"{local(page.fetched_at):%Y-%m-%d %H:%M}"))
        if page.is_here:
            chips += [Chip(f"{page.characters:,} characters"), Chip(f"SHA-256 {page.sha256[:12]}")]
        self.state.show_chips(chips)
        self.cause.setText(
            " ".join(
                part
                for part in (page.cause, UNREAD if page.state not in (None, PageState.OK) else "")
                if part
            )
        )
        self.cause.setVisible(bool(self.cause.text()))
        found = self._desk.ask(pages.page, page.url) if page.is_here else None
        self.text.show_plain(found.text if found else "Never fetched." if page.state is None else "")
        self._show_claims(page)

    def _show_claims(self, page: CitedPage) -> None:
        citing = self._cited.citing.get(page.url, ())
        self._citing = citing[:MOST]
        self.claims.clear()
        for one in self._citing:
            self.claims.addTopLevelItem(line((one.item, one.system, " ".join(one.text.split()))))
        rest = f", the first {MOST} of {len(citing):,}" if len(citing) > MOST else ""
        self.cited_by.setText(f"Claims that cite it{rest} (Enter shows one in its report)")
        self.cited_by.setVisible(bool(self._citing))
        self.claims.setVisible(bool(self._citing))

    def _ask_claim(self) -> None:
        row = self.claims.row()
        if 0 <= row < len(self._citing):
            one = self._citing[row]
            self.claim_wanted.emit(one.item_id, one.response_id, one.unit_id)


def _fits(page: CitedPage, shown: PageFilter) -> bool:
    if shown is PageFilter.READ:
        return page.is_here
    if shown is PageFilter.NEVER:
        return page.state is None or (page.state is PageState.OK and not page.is_here)
    return shown is PageFilter.ALL or page.state not in (None, PageState.OK)


def _matches(page: CitedPage, words: Sequence[str]) -> bool:
    text = f"{page.url} {page.title} {state_words(page)}".casefold()
    return all(word in text for word in words)
