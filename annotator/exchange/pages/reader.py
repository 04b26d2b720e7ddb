"""Reader services: the service's address is put before the page's, and text comes back."""

import re
from urllib.parse import quote, urlsplit

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.pages.states import PageReading, check_status

PLACE = "{url}"
# What such services put before the text: a title, the address, the day, and warnings of what they met.
_HEAD = re.compile(
    r"\A(?:Title: (?P<title>[^\n]*)\n+)?(?P<rest>(?:[A-Z][\w ]{1,40}: [^\n]*\n+)*)Markdown Content:\s*\n"
)
_WARNING = re.compile(r"^Warning: Target URL returned error (\d{3})", re.MULTILINE)


def checked_prefix(reader: str) -> str:
    """A reader service's address; Refusal when it cannot be one."""
    reader = reader.strip()
    try:
        parts = urlsplit(reader)
        usable = (
            parts.scheme in ("http", "https")
            and parts.hostname
            and "@" not in parts.netloc
            and parts.port != 0
        )
    except ValueError:
        usable = False
    if not usable or reader.count(PLACE) > 1:
        raise Refusal(
            "The address of the reader service cannot be used.",
            f"Enter one like https://reader.example/, or with {PLACE} where the page's address belongs.",
        )
    return reader


def named(reader: str) -> str:
    """What a reader service is called in a project: its address without what follows the host, which may hold a key."""
    parts = urlsplit(reader)
    return f"{parts.scheme}://{parts.netloc}" if reader else ""


def through(reader: str, address: str) -> str:
    """The address at which the reader service gives a page: the page's follows it, or stands at its `{url}`."""
    if PLACE in reader:
        return reader.replace(PLACE, quote(address, safe=""))
    if reader.endswith("="):
        return reader + quote(address, safe="")
    return f"{reader.rstrip('/')}/{address}"


def unwrapped(reading: PageReading) -> PageReading:
    """The page itself in what a reader service gave; Unreadable when it says that the page could not be had."""
    head = _HEAD.match(reading.text)
    if head is None:
        return reading
    warned = _WARNING.search(head["rest"])
    if warned:
        check_status(int(warned[1]), {})
    return PageReading(
        text=reading.text[head.end() :].strip(), title=(head["title"] or reading.title).strip()[:1000]
    )
