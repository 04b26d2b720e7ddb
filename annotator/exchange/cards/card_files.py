"""Validity card files: JSON with reproducible bytes, or an HTML page that contains it."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from annotator.domain.judges.validity_card import FORMAT, FORMAT_VERSION, ValidityCard, tree_sha256
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.cards import card_pages
from annotator.exchange.folders import pretty
from annotator.exchange.reading import decoded, parse, read_bytes
from annotator.exchange.release.bundle import in_words

JSON, HTML = ENDINGS = (".json", ".html")
LARGEST = 16 * 1024 * 1024
ANOTHER = "Choose a card that Goldsmith wrote, as .json or .html; nothing was changed."
AGAIN = "Ask the card's author for it again; nothing was changed."
_CARRIED = re.compile(rf"<pre[^<>]*\bid=\"{card_pages.CARRIED}\"[^<>]*>([^<]*)</pre>")
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")


def content(card: ValidityCard, ending: str) -> bytes:
    """The bytes of a card's file, by its ending; Refusal for one that there is not."""
    refuse_ending(ending)
    text = pretty(card.tree())
    return text if ending.lower() == JSON else card_pages.page(card, text.decode()).encode()


def refuse_ending(ending: str) -> None:
    """Refusal for an ending that no card has."""
    if ending.lower() not in ENDINGS:
        raise Refusal(
            f"A card is not written as “{ending or 'a file without ending'}”.",
            f"Use one of {', '.join(ENDINGS)}.",
        )


def read(path: Path) -> ValidityCard:
    """The card of a file, whole and unchanged; Refusal where it is none, is newer, or is not as it was written."""
    name = path.name
    data = read_bytes(path, name, LARGEST)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        data = _carried(decoded(data, name), name).encode()
    return of_tree(parse(data, name, LARGEST), name)


def of_tree(tree: Any, name: str) -> ValidityCard:
    """The card of a JSON tree; Refusal as `read` gives it."""
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise Refusal(f"“{name}” is no validity card.", ANOTHER)
    _refuse_newer(str(tree.get("format_version")), name)
    if tree.get("sha256") != tree_sha256(tree):
        raise Refusal(f"“{name}” was changed since it was written: its hash is another.", AGAIN)
    try:
        card = ValidityCard.model_validate_json(orjson.dumps(tree))
    except ValidationError as error:
        raise Refusal(f"“{name}” is no whole validity card: {in_words(error)}.", AGAIN) from None
    if card.sealed().sha256 != card.sha256:
        raise Refusal(f"“{name}” is no whole validity card: something is left out of it.", AGAIN)
    return card


def _carried(text: str, name: str) -> str:
    """The JSON within a page; Refusal where there is none, or the page says something else."""
    text = text.replace("\r\n", "\n")
    found = _CARRIED.search(text)
    if found is None:
        raise Refusal(f"“{name}” is a page, but carries no validity card.", ANOTHER)
    if not card_pages.is_whole(text):
        raise Refusal(f"“{name}” was changed since it was written: the page is another.", AGAIN)
    return unescape(found[1])


def _refuse_newer(version: str, name: str) -> None:
    numbers, ours = _VERSION.fullmatch(version), _VERSION.fullmatch(FORMAT_VERSION)
    if numbers is None or ours is None:
        raise Refusal(f"“{name}” is a card of an unknown format, “{version[:20]}”.", AGAIN)
    if tuple(map(int, numbers.groups())) > tuple(map(int, ours.groups())):
        raise Refusal(
            f"“{name}” is a card of format {version}; it needs a newer Goldsmith.",
            f"This one reads cards up to {FORMAT_VERSION}; nothing was changed.",
        )
