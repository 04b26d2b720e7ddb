"""Boundaries of sentences by the rules of Unicode (UAX #29), in one pass over a text.

uniseg knows the property of each character; its own pass over a paragraph takes longer than judging it by words.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

# A letter for each property; paragraphs are told apart before.
_LETTERS = {
    "SP": "s", "LOWER": "l", "UPPER": "u", "OLETTER": "o", "NUMERIC": "n", "ATERM": "a", "STERM": "t",
    "SCONTINUE": "c", "CLOSE": "q", "SEP": "p", "CR": "p", "LF": "p", "EXTEND": "e", "FORMAT": "e",
}  # fmt: skip
# A stop with what closes and parts behind it (SB9, SB10), but between digits (SB6); what may go before it (SB7).
_STOP = re.compile(r"(?:(?P<letter>[ul]e*)?(?P<full>ae*+)(?!n)|te*)(?P<behind>(?:qe*)*(?:se*)*p?)")
# A full stop before a lower-case letter ends nothing, whatever stands between that is no letter (SB8).
_GOES_ON = re.compile(r"[^oulpat]*l")


def boundaries(text: str) -> Iterator[int]:
    """Where a sentence ends and the next begins; neither of the ends of the text."""
    kinds = "".join(map(_kind, text))
    for stop in _STOP.finditer(kinds):
        at = stop.end()
        following = kinds[at : at + 1]
        initials = stop["letter"] and not stop["behind"] and following == "u"
        goes_on = stop["full"] and _GOES_ON.match(kinds, at)
        if following and following not in "cat" and not initials and not goes_on:
            yield at


@lru_cache(maxsize=8192)
def _kind(character: str) -> str:
    from uniseg.sentencebreak import sentence_break

    return _LETTERS.get(sentence_break(character).name, "x")
