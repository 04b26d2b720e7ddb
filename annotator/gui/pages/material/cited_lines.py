"""Qt model of cited pages: a row per address with its state."""

from collections.abc import Sequence

from annotator.actions.items import pages
from annotator.actions.items.cited_pages import CitedPage
from annotator.domain.material.page import PageState
from annotator.domain.texts.counting import counted
from annotator.domain.texts.moments import local
from annotator.gui.tables.cells import Column

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
    """The icon of a page's state and its colour; a text that was left out of a release is as good as never fetched."""
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
    Column("Claims", lambda page: f"{page.claims:,}" if page.claims else "none", 62, tip=_claims),
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
