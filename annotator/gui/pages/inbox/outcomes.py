"""Outcomes of returned work: a word, an icon and a colour each."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtGui import QColor, QIcon

from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.parcel import (
    REFUSED,
    TRAYED,
    Arrival,
    ParcelOutcome,
    ReturnedPiece,
    Signed,
    TrayEntry,
)
from annotator.domain.texts.ordering import natural
from annotator.gui import theme
from annotator.gui.widgets.icons import icon

_STAGES = list(Stage)
_READ_AS = str.maketrans("OIL", "011")

# Icon and state colour; the word is the outcome's own.
_LOOKS: dict[ParcelOutcome, tuple[str, str]] = {
    ParcelOutcome.NEW: ("plus", "agreed"),
    ParcelOutcome.NEWER: ("up", "agreed"),
    ParcelOutcome.DUPLICATE: ("minus", "missing"),
    ParcelOutcome.CONFLICT: ("cross", "disagree"),
    ParcelOutcome.LATE: ("clock", "unconfirmed"),
    ParcelOutcome.FOREIGN: ("question", "incomplete"),
    ParcelOutcome.DOUBTFUL: ("clock", "disagree"),
    ParcelOutcome.OTHER_KEY: ("lock", "disagree"),
    ParcelOutcome.DAMAGED: ("error", "disagree"),
}
_GOES_IN = (ParcelOutcome.NEW, ParcelOutcome.NEWER)
_ORDER = tuple(ParcelOutcome)
# What happened to each once the import is done.
_HAPPENED = {
    **dict.fromkeys(_GOES_IN, "imported"),
    **dict.fromkeys(TRAYED, "waiting in the tray"),
    **dict.fromkeys(REFUSED, "refused"),
    ParcelOutcome.DUPLICATE: "here already",
}
# Outcomes that someone has to look at.
ATTENTION = (*TRAYED, *REFUSED)


def picture(outcome: ParcelOutcome, size: int = 16) -> QIcon:
    name, state = _LOOKS[outcome]
    return icon(name, size, f"state-{state}")


def colour(outcome: ParcelOutcome) -> QColor:
    return theme.token(f"state-{_LOOKS[outcome][1]}")


def piece_words(piece: ReturnedPiece) -> str:
    """What a piece is: “Item 3 · rubric · revision 2”."""
    parts = (
        f"Item {piece.item_key}" if piece.item_key else "",
        piece.stage.value if piece.stage else "",
        f"revision {piece.revision}" if piece.revision else "",
    )
    return " · ".join(part for part in parts if part) or "The whole file"


def pieces_words(pieces: Sequence[ReturnedPiece]) -> str:
    """The outcomes of several pieces in one line: “13 pieces: 12 new, 1 conflicting”."""
    found = {piece.outcome for piece in pieces}
    number = "1 piece" if len(pieces) == 1 else f"{len(pieces):,} pieces"
    if len(found) == 1:
        return f"{number}, {'all ' if len(pieces) > 1 else ''}{pieces[0].outcome.value}"
    return f"{number}: {_counted(piece.outcome for piece in pieces)}"


def total_words(arrivals: Sequence[Arrival], *, done: bool = False) -> str:
    """What the files come to: “20 files: 17 new, 2 duplicate”; once that is `done`, “17 imported, 2 not needed”."""
    files = "1 file" if len(arrivals) == 1 else f"{len(arrivals):,} files"
    return f"{files}: {_counted((arrival.outcome for arrival in arrivals), _HAPPENED if done else {})}"


def urgency(arrival: Arrival) -> tuple[bool, tuple[tuple[int, str], ...]]:
    """What files are sorted by: those that someone has to look at first, then by name as people count."""
    noticed = any(piece.outcome in ATTENTION for piece in arrival.pieces) or arrival.outcome in ATTENTION
    return not noticed, natural(arrival.file)


def goes_in(arrivals: Iterable[Arrival]) -> int:
    """How many pieces of these are taken into the project."""
    return sum(piece.outcome in _GOES_IN for arrival in arrivals for piece in arrival.pieces)


def goes_to_tray(arrivals: Iterable[Arrival]) -> int:
    """How many pieces of these wait in the tray until someone decides."""
    return sum(piece.outcome in TRAYED for arrival in arrivals for piece in arrival.pieces)


def key_words(arrival: Arrival) -> str:
    """What someone should do about how a file is signed."""
    name = arrival.person_name
    if arrival.signed is Signed.FIRST:
        return f"“{arrival.words}”: ask {name} whether their Send page shows these six words"
    if arrival.signed is Signed.OTHER:
        return f"“{arrival.words}”: ask {name} whether they have a new key"
    return "An older Goldsmith wrote it; anyone who saw the task could have"


def why_waiting(entry: TrayEntry, *, known_item: bool) -> str:
    """Why a piece waits, and what accepting it would do."""
    if entry.reason is ParcelOutcome.CONFLICT:
        return (
            "A different text arrived for a revision that already exists; one of the two was changed by "
            "hand or in a second copy. Accepting adds the new text as the newest revision; the existing one "
            "stays in the history."
        )
    if entry.reason is ParcelOutcome.LATE:
        return (
            "It arrived after the consensus was closed. Accepting adds it to its author's work; the "
            "consensus, the frozen agreement and every release stay unchanged."
        )
    if entry.reason is ParcelOutcome.DOUBTFUL:
        return (
            "Its submission date lies in the future, or it reports an impossible number of hours. Accepting "
            "adds it as its author's newest revision, dated now and without those hours."
        )
    if not known_item:
        return (
            "It belongs to another project, and its content was not read from the file. Import the file in "
            "that project, and set this entry aside."
        )
    return (
        "This stage of the item was not assigned to this person, or they adjudicate it. Accepting adds it "
        "as their work anyway."
    )


def _counted(outcomes: Iterable[ParcelOutcome], called: Mapping[ParcelOutcome, str] | None = None) -> str:
    counts = Counter(
        (called or {}).get(outcome, outcome.value) for outcome in sorted(outcomes, key=_ORDER.index)
    )
    return ", ".join(f"{count} {words}" for words, count in counts.items())


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
