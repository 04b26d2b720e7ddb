"""How a validity card is kept as a file and read again; nothing of it enters the project."""

from pathlib import Path

from annotator import files
from annotator.domain.judges.validity_card import ValidityCard
from annotator.domain.texts.redaction import held, looks_like_key
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.cards import card_files, card_pages

ENDINGS = card_files.ENDINGS


def refuse_place(path: Path) -> None:
    """Refusal where no card could be written, so that it is known before a look at the test part is counted."""
    card_files.refuse_ending(path.suffix)
    if not path.parent.is_dir():
        raise Refusal(f"There is no folder “{path.parent.name}” for the card.", "Choose another folder.")


def save(card: ValidityCard, path: Path) -> Path:
    """Write a card as JSON or as a page, by the ending of `path`; whole or not at all."""
    content = card_files.content(card, path.suffix)
    text = content.decode("utf-8", "replace")
    if looks_like_key(text) or any(key in text for key in held()):
        raise Refusal("The card would contain a key.", "Remove it from the judge's settings first.")
    return files.save(path, content)


def read(path: Path) -> ValidityCard:
    """The card of a file; Refusal where it is none, is newer, or was changed."""
    return card_files.read(path)


def body(card: ValidityCard) -> str:
    """What the card's page says, as simple HTML."""
    return card_pages.body(card)


def sketch(card: ValidityCard) -> str:
    """The same of a card that is still being made."""
    return card_pages.sketch(card)
