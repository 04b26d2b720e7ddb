"""Cited pages as Qt shows them: a row for each address with its state, in a word and an icon."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.items import pages
from annotator.actions.items.cited_pages import CitedPage
from annotator.domain.material.page import PageState
from annotator.domain.texts.counting import counted
from annotator.gui import theme
from annotator.gui.tables.rows import Index, RowsModel
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.plain import tooltip

COLUMNS = ("State", "Address", "Claims", "Fetched", "Hash")
STATE, ADDRESS, CLAIMS, FETCHED, HASH = range(len(COLUMNS))
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


class CitedModel(RowsModel[CitedPage]):
    """The addresses that claims cite, and pages that are kept without one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)

    def show(self, rows: Sequence[CitedPage]) -> None:
        """Show other pages, in place where they are the same addresses."""
        self.take_over(rows, in_place=[row.url for row in rows] == [row.url for row in self._rows])

    def row_of(self, url: str) -> int:
        """The row of an address; -1 where it is not shown."""
        return next((n for n, row in enumerate(self._rows) if row.url == url), -1)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid():
            return None
        page, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _words(page)[column]
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            picture, colour = look(page)
            return icon(picture, theme.current().px(14), colour)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(_explained(page, column))
        return None


def look(page: CitedPage) -> tuple[str, str]:
    """The icon of a page's state and its colour; a text that was left out of a release is as good as never fetched."""
    return _LOOKS[page.state if page.is_here or page.state is not PageState.OK else None]


def state_words(page: CitedPage) -> str:
    """A page's state as people say it."""
    if page.state is None:
        return NEVER
    return ELSEWHERE if page.state is PageState.OK and not page.is_here else pages.WORDS[page.state]


def _words(page: CitedPage) -> tuple[str, ...]:
    fetched = f"{page.fetched_at.astimezone():%Y-%m-%d}" if page.fetched_at else ""
    digest = page.sha256[:8] if page.is_here else ""
    claims = f"{page.claims:,}" if page.claims else "none"
    return (state_words(page), page.url, claims, fetched, digest)


def _explained(page: CitedPage, column: int) -> str:
    if column == HASH:
        return f"SHA-256 of its text: {page.sha256}" if page.sha256 else ""
    if column == CLAIMS:
        verb = "cites" if page.claims == 1 else "cite"
        return f"{counted(page.claims, 'claim')} of {counted(page.reports, 'report')} {verb} it."
    parts = (page.title, page.url, page.cause, f"Read through {page.by_reader}" if page.by_reader else "")
    return "\n".join(part for part in parts if part)
