"""Pages tab: cited pages, readable or not, shown as plain text."""

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from annotator.actions.items import pages
from annotator.actions.items.pages import CitedPage, CitedPages, CitingClaim, PagesFolder
from annotator.domain.common import counted, local
from annotator.domain.material.item import PageState
from annotator.gui import theme
from annotator.gui.review.run_panel import OrderPane, RunPanel
from annotator.gui.review.sheets import CellsModel, Column
from annotator.gui.session.page import TabPart
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import Fold, KeyButton, wrapping
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    Stack,
    check_box,
    column_of,
    horizontal,
    later,
    path_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, Chips, EmptyState
from annotator.gui.widgets.columns import FilterRow, LinesTable, RowsTree
from annotator.gui.widgets.fields import LineField, search_field, together
from annotator.gui.widgets.message_bar import Level
from annotator.gui.widgets.reading.find_bar import FindBar
from annotator.gui.widgets.reading.report_view import ReportView
from annotator.gui.widgets.splitter import Splitter

READER = "https://reader.example/ — used instead of the pages' own servers"
EVERY = "Every page that a report gives is to be fetched, as key points need them."
SHOWN_PROBLEMS = 4


class FetchingBar(OrderPane):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "card", "Fetching cited pages", "Material", part="Cited pages")
        self.words = PlainLabel(wrap=True)
        self.private = with_properties(
            QCheckBox("Also from this machine and private networks"),
            toolTip="While off, addresses cited in reports cannot reach your own network",
        )
        self._pages: CitedPages | None = None
        self.anew = check_box(
            "Fetch read pages again", self.refresh, toolTip="A stored text is never replaced by an empty one"
        )
        self.every = check_box(
            "All that reports give",
            self.refresh,
            toolTip="Every page that a report gives, cited by a claim or not",
        )
        self.reader = LineField(
            placeholderText=READER, clearButtonEnabled=True, accessibleName="Reader service"
        )
        self.folder = path_button(
            "From a folder…",
            "Folder with cited pages",
            self.take_in,
            toolTip="A folder with pages.csv or pages.json, or with saved pages that name their address",
        )
        self.begin = KeyButton("Fetch", act="start_run", role="primary", press=self.start)
        self.run.progressed.connect(lambda _: self.came.emit())
        reader = together("Reader service", self.reader)
        options = wrapping(self.every, self.private, self.anew, reader, gap=14)
        row = horizontal((self.words, 1), self.folder, self.begin)
        vertical(row, options, RunPanel(self.run), on=self, margins=(10, 8, 10, 8))

    def show_plan(self, pages: CitedPages) -> None:
        self._pages = pages
        self.refresh()

    def refresh(self) -> None:
        plan = self._pages.plan(refresh=self.anew.isChecked()) if self._pages else None
        every = plan is not None and self.every.isChecked()
        self.words.setText(EVERY if every else plan.words() if plan else "")
        self.begin.setEnabled((every or bool(plan and plan.to_fetch)) and self.free)
        self.folder.setEnabled(self.free)

    def order(self) -> pages.FetchRequest:
        reader = self.reader.text().strip()
        refresh, private, every = (box.isChecked() for box in (self.anew, self.private, self.every))
        return pages.FetchRequest(refresh, private, reader, every=every)

    def take_in(self, folder: Path) -> None:
        self.carry_out(PagesFolder(str(folder)))

    def carry_out(self, order: Any) -> None:
        super().carry_out(order)
        self.folder.setEnabled(self.begin.isEnabled())

    def tell(self, line: dict[str, Any]) -> None:
        first, *more = pages.words(line)
        problems = list(line.get("problems") or [])
        left = [f"and {len(problems) - SHOWN_PROBLEMS:,} more"] * (len(problems) > SHOWN_PROBLEMS)
        details = " ".join([*more, *problems[:SHOWN_PROBLEMS], *left])
        level: Level = "warning" if line.get("state") == "interrupted" or problems else "info"
        self.answer.show_message(level, first, details)


NEVER, ELSEWHERE = "never fetched", "text left out"
# State → icon and colour.
_LOOKS: dict[PageState | None, tuple[str, str]] = {
    None: ("clock", "state-missing"),
    PageState.OK: ("check", "state-agreed"),
    PageState.PAYWALL: ("lock", "state-unconfirmed"),
    PageState.FORBIDDEN: ("cross", "state-disagree"),
    PageState.DEAD: ("cross", "state-disagree"),
    PageState.NOT_TEXT: ("info", "state-unconfirmed"),
    PageState.TOO_LONG: ("warning", "state-incomplete"),
}


def look(page: CitedPage) -> tuple[str, str]:
    """The icon and colour of a page's state; a text left out of a release counts as never fetched."""
    return _LOOKS[page.state if page.is_here or page.state is not PageState.OK else None]


def state_words(page: CitedPage) -> str:
    if page.state is None:
        return NEVER
    return ELSEWHERE if page.state is PageState.OK and not page.is_here else pages.WORDS[page.state]


def _explained(page: CitedPage) -> str:
    parts = (page.title, page.url, page.cause, f"Read through {page.by_reader}" if page.by_reader else "")
    return "\n".join(part for part in parts if part)


def _claims(page: CitedPage) -> str:
    verb = "cites" if page.claims == 1 else "cite"
    return f"{counted(page.claims, 'claim')} of {counted(page.reports, 'report')} {verb} it."


CITED: Sequence[Column[CitedPage]] = (
    Column("State", state_words, 176, tip=_explained, look=look),
    Column("Address", lambda page: page.url, 300, tip=_explained),
    Column(
        "Claims", lambda page: f"{page.claims:,}" if page.claims else "none", 62, tip=_claims, number=True
    ),
    Column(
        "Fetched",
        lambda page: f"{local(page.fetched_at):%Y-%m-%d}" if page.fetched_at else "",
        96,
        tip=_explained,
    ),
    Column(
        "Hash",
        lambda page: page.sha256[:8] if page.is_here else "",
        84,
        tip=lambda page: f"SHA-256 of its text: {page.sha256}" if page.sha256 else "",
    ),
)
ADDRESS = 1


EVERY_MS = 1000
# At most this many claims of a page are listed.
MOST = 500
NOTHING = (
    "No page is cited yet",
    "Claims extracted from reports name the addresses they cite. Extract claims first; then their pages are "
    "fetched once and stored here, so that every judge reads the same text.",
)
UNREAD = "It has no text, so it supports and contradicts nothing: claims that cite it stay unknown."


class PageFilter(Enum):
    ALL = "All"
    READ = "Read"
    UNREADABLE = "Not readable"
    NEVER = "Never fetched"


class PagesView(TabPart):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._cited = CitedPages((), {})
        self._citing: Sequence[CitingClaim] = ()
        self._goal = self._url = ""
        self._seen: object = None
        # An answer may still arrive after the window has closed the file.
        self.fetching = FetchingBar(session)
        self.fetching.came.connect(self._came)
        self.model = CellsModel[CitedPage](CITED, self)
        self.list = with_properties(
            LinesTable(
                "Cited pages", self.model, self.model.widths, stretched=ADDRESS, moved=self._show_page
            ),
            textElideMode=Qt.TextElideMode.ElideMiddle,
        )
        self.shown = FilterRow(PageFilter, PageFilter.ALL)
        self.shown.chosen.connect(self._narrow)
        self.search = search_field("Find an address…", "Find an address", self._narrow)
        self._refill = later(self, self.fill, EVERY_MS)
        self._no_match = EmptyState("search", "No matches", "Remove a word or the filter to see more.")
        self._nothing = EmptyState(
            "link",
            *NOTHING,
            actions=[("Go to the extracts", lambda: self.session.go("Material", part="Extracts"))],
        )
        self._body = Stack(self.list, self._no_match, self._nothing)
        left = column_of(self.search, self.shown, (self._body, 1), margins=(0, 0, 8, 0), spacing=6)
        self.title, self.address = PlainLabel(role="strong", wrap=True), ElidedLabel("", "hint")
        self.state, self.cause = Chips(wrap=True), PlainLabel(role="hint", wrap=True)
        self.text = with_properties(ReportView(), accessibleName="Text of the page when it was fetched")
        self.finder = FindBar(self.text)
        self.finder.hide()
        self.claims = RowsTree(
            "Claims that cite it", ("Item", "System", "Claim"), (96, 110, 200), stretched=2, firm=(0,)
        )
        theme.scale(self.claims.setMaximumHeight, 170)
        self.claims.itemActivated.connect(lambda *_: self._ask_claim())
        self.cited_by = PlainLabel("", "hint")
        self._about = column_of(
            self.title,
            self.address,
            self.state,
            self.cause,
            self.finder,
            (self.text, 1),
            self.cited_by,
            self.claims,
            margins=(8, 0, 0, 0),
            spacing=6,
        )
        parts = Splitter(
            "material-pages", parts=(left, self._about), sizes=(660, 460), stretch=(3, 2), least=(0, 340)
        )
        self.fold = Fold("Fetch pages", self.fetching)
        vertical(self.fold, (parts, 1), on=self, margins=(0, 10, 0, 0), spacing=8)
        self.fetching.answer.float_over(parts, below=False)
        self.acts = {
            "start_run": partial(self.fold.press, self.fetching.start),
            "find": self.seek,
        }

    def fill(self) -> None:
        self._refill.stop()
        self.session.ask_later(self._show, pages.cited_states)

    def focus_first(self) -> None:
        (self.list if self._cited.pages else self.fold.button).setFocus(Qt.FocusReason.OtherFocusReason)

    def seek(self) -> None:
        if self.text.hasFocus() or self.finder.isVisible():
            self.finder.open_bar("")
        else:
            self.search.seek()

    def go(self, place: Mapping[str, Any]) -> None:
        """Show a page by its `url`."""
        if place.get("url"):
            self._goal = pages.normal(str(place["url"]))
            self.search.clear()
            self.shown.hold(PageFilter.ALL)

    def _came(self) -> None:
        if self.fetching.run.running:
            if not self._refill.isActive():
                self._refill.start()
        else:
            self.session.tell_material()

    def _show(self, pages: CitedPages) -> None:
        self._cited = pages
        self.fetching.show_plan(pages)
        self.shown.show_counts({one: sum(_fits(page, one) for page in pages.pages) for one in PageFilter})
        self._narrow()

    def _narrow(self) -> None:
        rows = [
            page
            for page in self._cited.pages
            if _fits(page, self.shown.held)
            and self.search.finds(f"{page.url} {page.title} {state_words(page)}")
        ]
        self.model.show(rows)
        body = self.list if rows else self._no_match if self._cited.pages else self._nothing
        self._body.setCurrentWidget(body)
        self.shown.setVisible(body is not self._nothing)
        row = self.model.place_of(lambda page: page.url == (self._goal or self._url))
        self.list.setCurrentIndex(self.model.index(max(0, row), ADDRESS))
        if row >= 0:
            self.list.scrollTo(self.model.index(row, ADDRESS))
            self._goal = ""
        self._show_page()

    def _show_page(self) -> None:
        page = self.model.at(self.list.currentIndex().row())
        self._about.setVisible(page is not None)
        if page is None:
            self._url, self._seen = "", None
            return
        seen = (page.url, page.state, page.sha256, page.claims)
        if seen == self._seen:
            return
        self._url, self._seen = page.url, seen
        self.title.setText(page.title or page.url)
        moved = f"{page.url} → {page.final_url}" if page.final_url not in ("", page.url) else page.url
        self.address.setText("" if moved == self.title.text() else moved)
        picture, colour = look(page)
        chips = [Chip(state_words(page), picture, colour.removeprefix("state-"))]
        if page.fetched_at is not None:
            chips.append(Chip(f"{local(page.fetched_at):%Y-%m-%d %H:%M}"))
        if page.is_here:
            chips += [Chip(f"{page.characters:,} characters"), Chip(f"SHA-256 {page.sha256[:12]}")]
        self.state.show_chips(chips)
        self.cause.show_words(
            " ".join(
                part
                for part in (page.cause, UNREAD if page.state not in (None, PageState.OK) else "")
                if part
            )
        )
        result = self.session.ask(pages.page, page.url) if page.is_here else None
        self.text.show_plain(result.text if result else "Fetch pages reads it." if page.state is None else "")
        self._show_claims(page)

    def _show_claims(self, page: CitedPage) -> None:
        citing = self._cited.citing.get(page.url, ())
        self._citing = citing[:MOST]
        self.claims.show_lines(
            [(claim.item, claim.system, " ".join(claim.text.split())) for claim in self._citing]
        )
        rest = f", the first {MOST} of {len(citing):,}" if len(citing) > MOST else ""
        cited_by = f"Claims that cite it{rest} (Enter shows one in its report)"
        self.cited_by.show_words(cited_by if self._citing else "")
        self.claims.setVisible(bool(self._citing))

    def _ask_claim(self) -> None:
        if (claim := self.claims.line_of(self._citing)) is not None:
            self.session.go(
                "Material",
                kind="claims",
                item_id=claim.item_id,
                response_id=claim.response_id,
                unit_id=claim.unit_id,
            )


def _fits(page: CitedPage, shown: PageFilter) -> bool:
    fits = {
        PageFilter.ALL: True,
        PageFilter.READ: page.is_here,
        PageFilter.UNREADABLE: page.state not in (None, PageState.OK),
        PageFilter.NEVER: page.state in (None, PageState.OK) and not page.is_here,
    }
    return fits[shown]
