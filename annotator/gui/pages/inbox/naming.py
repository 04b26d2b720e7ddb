"""Names from outside, and the order of pieces of work."""

import unicodedata

from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.parcel import ReturnedPiece
from annotator.domain.texts.ordering import natural

_STAGES = list(Stage)
_READ_AS = str.maketrans("OIL", "011")


def shown(name: str) -> str:
    """A name on one line, what would turn or hide its letters written out as ⟨U+202E⟩."""
    return " ".join("".join(_visible(letter) for letter in name).split())


def _visible(letter: str) -> str:
    hides = unicodedata.category(letter) in ("Cf", "Cc") and letter not in "\u200c\u200d\n\t"
    return f"⟨U+{ord(letter):04X}⟩" if hides else letter


def in_order(piece: ReturnedPiece) -> tuple[tuple[tuple[int, str], ...], int, int]:
    """Items as people count them, then the stages as they follow each other, then revisions."""
    stage = _STAGES.index(piece.stage) if piece.stage else -1
    return natural(piece.item_key), stage, piece.revision


def plain_code(text: str) -> str:
    """A receipt code as it is compared: however it was typed, spaced, or with O for 0 and I or L for 1."""
    return "".join(filter(str.isalnum, text.upper())).translate(_READ_AS)
