"""Formatting attacks: bullets, emphasis, quotation marks, dashes and blank lines, with the words unchanged."""

import re
from collections.abc import Callable

from annotator.domain.judges.attack import Piece, Pieces
from annotator.judging.attacks.blocks import lines
from annotator.judging.attacks.shape import Attack, AttackInput

_BULLET = re.compile(r"(?m)^( {0,6})([-*+])(?= )")
_BOLD = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_OTHERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])"), lambda _: "’"),
    (re.compile(r"\.\.\.(?!\.)"), lambda _: "…"),
    (re.compile(r"(?<=\S) - (?=\S)"), lambda _: " – "),
    (re.compile(r"\n\n(?=[^\s>|])"), lambda _: "\n\n\n"),
)
_TURNED = {"-": "*", "*": "-", "+": "-"}
# Addresses, code and the names of tags and their attributes mean something letter by letter.
_KEPT = re.compile(r"`[^`\n]*`|<[^>\n]*>|\]\([^)\n]*\)|https?://\S+")


def _reset(given: AttackInput) -> Pieces | None:
    report = given.report
    kept = [match.span() for match in _KEPT.finditer(report)]
    kept += [(start, start + len(line)) for start, line, code in lines(report) if code]
    pieces: list[Piece] = []
    at = 0
    for start, end, words in sorted(_changes(report)):
        if start < at or any(start < last and end > first for first, last in kept):
            continue
        pieces += [(at, start), words] if start > at else [words]
        at = end
    if not pieces:
        return None
    return (*pieces, (at, len(report))) if at < len(report) else tuple(pieces)


def _changes(report: str) -> list[tuple[int, int, str]]:
    """From where to where, and what stands there now."""
    found = [(match.start(2), match.end(2), _TURNED[match[2]]) for match in _BULLET.finditer(report)]
    for match in _BOLD.finditer(report):
        found += [(match.start(), match.start() + 2, "__"), (match.end() - 2, match.end(), "__")]
    for pattern, words in _OTHERS:
        found += [(match.start(), match.end(), words(match)) for match in pattern.finditer(report)]
    return found


REFORMATTING = Attack(
    "reformatting",
    "Set in other type",
    "Bullets, emphasis, apostrophes, dashes, dots and blank lines are written otherwise; no letter and no digit "
    "changes, and neither do addresses and code.",
    ("",),
    _reset,
)
