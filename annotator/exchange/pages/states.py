"""Addresses of pages in their normal form, and page states: readable, or unreadable with the cause."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from annotator.domain.material.item import PageState
from annotator.domain.texts import identifier

# More than the longest context of a common judge.
LONGEST_TEXT = 2_000_000
# A notice is short; an article that merely mentions one is not.
_NOTICE, _TEASER = 1_500, 6_000

_REFUSED = {
    401: "The server asks for a name and a password.",
    403: "The server refuses to show it (403).",
    407: "A proxy asks for a name and a password.",
    429: "The server asks to come less often (429).",
    451: "The server withholds it for legal reasons (451).",
    999: "The server refuses programs (999).",
}
_PAYWALL = re.compile(
    r"subscribe (?:now )?to (?:continue|keep|unlock|read)|subscri(?:bers?|ption)[- ]only|(?:for|to) subscribers? only"
    r"|already a subscriber|(?:purchase|buy|rent) (?:this article|access|pdf|instant access)|get (?:full )?access to th"
    r"|access through your (?:institution|organi[sz]ation)|log ?in (?:via|through) your institution"
    r"|(?:create|register for) (?:a|your) free account to (?:continue|read)|this is a preview of subscription content"
    r"|to (?:read|continue reading)(?: the full (?:article|story|text))?,? (?:please )?(?:subscribe|sign in|log ?in)"
    r"|nur für abonnent|article réservé aux abonnés|solo para suscriptores|会员专享|订阅后",
    re.IGNORECASE,
)
_ROBOT = re.compile(
    r"just a moment|checking (?:if the site connection is secure|your browser)"
    r"|verify(?:ing)? (?:that )?you are (?:a )?human"
    r"|are you a robot|not a robot|complete the captcha|unusual (?:traffic|activity)|enable javascript and cookies"
    r"|access (?:to this page has been |is )?denied|request (?:unsuccessful|blocked)|pardon our interruption"
    r"|attention required",
    re.IGNORECASE,
)
_GONE = re.compile(
    r"\b404\b|\b410\b|(?:page|article|document|file|content|resource)(?: you(?: a|')re looking for)?"
    r"(?: (?:was|is|could|can|cannot|can't|has|does|been|be|not|no longer|moved or))* "
    r"(?:not found|not be found|found|available|exist|removed|deleted)|doi not found"
    r"|seite (?:wurde )?nicht gefunden|page introuvable|página no encontrada|页面不存在",
    re.IGNORECASE,
)


class UnreadablePage(Exception):
    """A page without readable text: its state, and the cause as a sentence."""

    def __init__(self, state: PageState, cause: str) -> None:
        super().__init__(cause)
        self.state, self.cause = state, cause


@dataclass(frozen=True, slots=True)
class PageReading:
    """The text read from a document; `unreadable` says in words why there is none.

    `too_much` if reading was stopped because of its cost; `free` is the page's own declaration of being free to read;
    `refresh` the address it redirects its visitor to, `canonical` the one it calls its own.
    """

    text: str = ""
    title: str = ""
    unreadable: str = ""
    too_much: bool = False
    free: bool | None = None
    refresh: str = ""
    canonical: str = ""


def check_status(status: int, headers: Mapping[str, str]) -> None:
    """Raises UnreadablePage unless a server's answer is the page itself."""
    if 200 <= status < 300 and status not in (204, 205):
        return
    if headers.get("cf-mitigated", "").lower() == "challenge":
        raise UnreadablePage(
            PageState.FORBIDDEN, "The server lets in browsers with a person before them only."
        )
    if status in _REFUSED:
        raise UnreadablePage(PageState.FORBIDDEN, _REFUSED[status])
    if status == 402:
        raise UnreadablePage(PageState.PAYWALL, "The server asks for payment (402).")
    raise UnreadablePage(PageState.DEAD, _gone(status))


def _gone(status: int) -> str:
    if status in (404, 410):
        return f"There is no such page any more ({status})."
    if status in (204, 205):
        return f"The server sent nothing ({status})."
    if status >= 500:
        return f"The server failed ({status}); it may work again later."
    return f"The server did not give the page ({status})."


def check_reading(reading: PageReading, *, by_a_person: bool = False) -> None:
    """Raises UnreadablePage unless the page's own text was read; pages saved by a person are trusted.

    A notice in place of a page (of a paywall, of a check for robots, of a page that is gone) is recognised by its
    words and by being short.
    """
    if reading.unreadable:
        state = PageState.TOO_LONG if reading.too_much else PageState.NOT_TEXT
        raise UnreadablePage(state, reading.unreadable)
    if not reading.text.strip():
        raise UnreadablePage(PageState.NOT_TEXT, "It shows no words without running its scripts.")
    if len(reading.text) > LONGEST_TEXT:
        millions = LONGEST_TEXT // 1_000_000
        raise UnreadablePage(PageState.TOO_LONG, f"Its text is longer than {millions} million characters.")
    if not by_a_person:
        _check_notice(reading)


def _check_notice(reading: PageReading) -> None:
    length, shown = len(reading.text), f"{reading.title}\n{reading.text}"
    gone = length < _NOTICE and _GONE.search(reading.title or reading.text[:200])
    for notice, state, cause in (
        (gone, PageState.DEAD, "It only says that there is no such page."),
        (
            length < _NOTICE and _ROBOT.search(shown),
            PageState.FORBIDDEN,
            "It only asks its visitor to prove to be a person.",
        ),
        (
            length < _TEASER and reading.free is False,
            PageState.PAYWALL,
            "It declares that it is not free to read, and shows its beginning only.",
        ),
        (
            length < _TEASER and _PAYWALL.search(shown),
            PageState.PAYWALL,
            "It shows its beginning only and asks to subscribe, buy or sign in.",
        ),
    ):
        if notice:
            raise UnreadablePage(state, cause)


def normal(cited: str) -> str:
    """The normal form under which the page of a citation is stored; a text that is no identifier stays as it is."""
    result = identifier.parse(cited)
    return str(result) if result else cited.strip()


def is_address(text: str) -> bool:
    """Whether a text leads to a page: an address, a DOI or an arXiv id."""
    result = identifier.parse(text)
    return result.scheme != "isbn" if result else text.strip().lower().startswith(("http://", "https://"))
