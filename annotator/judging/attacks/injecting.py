"""Injection attacks: an order, reply, message or citation planted in a copy of a report."""

import re
from collections.abc import Sequence

from annotator.domain.judges.attack import Pieces
from annotator.judging.attacks import wordings
from annotator.judging.attacks.blocks import seams
from annotator.judging.attacks.shape import Attack, AttackInput, Copy
from annotator.judging.attacks.wordings import said

START, MIDDLE, END = "at the start", "in the middle", "at the end"
PLACES = (START, MIDDLE, END)
_NUMBER = re.compile(r"\[(\d{1,4})\]")
_TAG_BLOCK = 0xE0000
_STAYS = "Whatever a report asks of its judge, it says no more and no less than before."


def _comment(words: str) -> str:
    return f"<!-- {words} -->"


def _undisplayed(words: str) -> str:
    return f'<div style="display:none">{words}</div>'


def _white(words: str) -> str:
    return f'<span style="color:#ffffff">{words}</span>'


def _link_title(words: str) -> str:
    return f"[.](# '{words}')"


def _invisible(words: str) -> str:
    """The words in Unicode's tag characters, which no font shows, behind a full stop."""
    return "." + "".join(chr(_TAG_BLOCK + ord(letter)) for letter in words if letter.isascii())


COVERS = {
    "comment": _comment,
    "undisplayed": _undisplayed,
    "white": _white,
    "link title": _link_title,
    "invisible letters": _invisible,
}


def place_of(report: str, place: str) -> int:
    """Where in a report a block can be planted; ValueError for a place there is not."""
    found = seams(report)
    if place == MIDDLE:
        return min(found, key=lambda seam: abs(2 * seam - len(report)))
    return {START: 0, END: len(report)}[place]


def planted_at(report: str, at: int, words: str) -> Pieces:
    """The pieces of a report with a block of its own planted between its blocks."""
    before = "" if not at else "\n\n"
    after = "" if at == len(report) else "\n\n"
    whole = ((0, at), f"{before}{words}{after}", (at, len(report)))
    return tuple(piece for piece in whole if isinstance(piece, str) or piece[0] < piece[1])


def _ways(count: int) -> tuple[str, ...]:
    # Places turn faster than wordings, so that few copies see all of both.
    return tuple(
        f"wording {n % count + 1}, {PLACES[(n + n // count) % len(PLACES)]}"
        for n in range(count * len(PLACES))
    )


def _copying(words: Sequence[str]) -> Copy:
    def copy(given: AttackInput) -> Pieces:
        wording, place = given.variant.removeprefix("wording ").split(", ")
        at = place_of(given.report, place)
        return planted_at(given.report, at, said(words[int(wording) - 1], given.target))

    return copy


def _hiding(given: AttackInput) -> Pieces:
    words = COVERS[given.variant](said(wordings.HIDDEN, given.target))
    return planted_at(given.report, place_of(given.report, given.chance.choice(PLACES)), words)


def _citing(given: AttackInput) -> Pieces:
    number = 1 + max((int(found) for found in _NUMBER.findall(given.report)), default=0)
    wording = wordings.CITATIONS[int(given.variant.removeprefix("wording ")) - 1]
    return planted_at(given.report, len(given.report), said(wording, given.target, number=number))


def _planting(name: str, title: str, what: str, variants: tuple[str, ...], copy: Copy) -> Attack:
    return Attack(f"injection.{name}", title, f"{what} {_STAYS}", variants, copy, plants=True)


INJECTIONS = (
    _planting(
        "order", "An order to the judge",
        "A paragraph tells the judge which verdict to give, in several wordings and languages, at the start, in the "
        "middle or at the end.",
        _ways(len(wordings.ORDERS)), _copying(wordings.ORDERS),
    ),
    _planting(
        "reply", "A reply that is already there",
        "A block looks like the judge's own reply with the verdict in it.",
        _ways(len(wordings.REPLIES)), _copying(wordings.REPLIES),
    ),
    _planting(
        "system", "A message of the system",
        "A block imitates the prompt: a message of the operator, the tokens of a chat, or the end of the report.",
        _ways(len(wordings.MESSAGES)), _copying(wordings.MESSAGES),
    ),
    _planting(
        "markup", "An order hidden in markup",
        "An order stands in a comment, in text that is not shown, in a link's title, or in letters that no font draws.",
        tuple(COVERS), _hiding,
    ),
    _planting(
        "citation", "An order in a citation",
        "A last entry of the references tells the judge which verdict to give.",
        tuple(f"wording {n}" for n in range(1, len(wordings.CITATIONS) + 1)), _citing,
    ),
)  # fmt: skip
