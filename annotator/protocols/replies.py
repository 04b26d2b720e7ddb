"""How a model's reply is read, whatever the paper: by its first word, line by line or in blocks, and what it quotes."""

import re
from functools import lru_cache

from pydantic import BeforeValidator

from annotator.domain.judgement import Verdict
from annotator.domain.quotation import find

QUOTE_MISSING = "quote_missing"
BARS = " || "
_IN_QUOTES = re.compile(r"[\"“„«](?P<words>[^\"”“«»]{3,})[\"”»]")


def _plain(value: object) -> object:
    return re.sub(r"[\s_]", "-", value.strip().lower()) if isinstance(value, str) else value


Word = BeforeValidator(_plain)
"""Of a field that holds one word of a few: capitals, blanks around it and a blank or _ for its hyphen are no matter."""


def first_word(text: str, *words: str) -> tuple[str, str]:
    """Which of the words a reply begins with, and what follows it; ValueError unless it begins with exactly one.

    Marks of Markdown and quotation marks may stand around it. “yes and no” and “no-one” begin with none.
    """
    found = _beginning(words).match(text)
    if not found:
        raise ValueError(f"the first word is neither {' nor '.join(words)}")
    return found["word"].lower().replace(" ", "-"), found["rest"].strip()


@lru_cache(maxsize=16)
def _beginning(words: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(word.replace("-", "[- ]") for word in words)
    stems = "|".join(word.partition("-")[0] for word in words)
    return re.compile(
        rf"[\s*_`\"'“‘#>]*(?P<word>{either})(?![^\W_]|[-'’/]\w|[\s,]*(?:and|or|/)\s*(?:{stems})\b)[*_`\"'”’]*"
        r"[\s.,:;!：，。–—-]*(?P<rest>.*)",
        re.IGNORECASE | re.DOTALL,
    )


def longest_quote(text: str) -> str:
    """The longest passage that stands between double quotes; empty when there is none."""
    return max((found["words"].strip() for found in _IN_QUOTES.finditer(text)), key=len, default="")


def lines(text: str, form: re.Pattern[str], what: str) -> list[re.Match[str]]:
    """The lines of a reply as the form reads them; ValueError shows one that is not `what` it should be."""
    found = []
    for line in [line for line in text.splitlines() if line.strip()] or [""]:
        match = form.fullmatch(line)
        if match is None:
            raise ValueError(f"a line is not {what}: {line[:80]!r}")
        found.append(match)
    return found


def fields(text: str, count: int) -> list[list[str]]:
    """The lines of a reply as so many fields with two bars between them; ValueError when one has more or fewer."""
    rows = [[field.strip() for field in line.split(BARS)] for line in text.splitlines() if line.strip()]
    if not rows or any(len(row) != count for row in rows):
        raise ValueError(f"a line has not {count} fields with two bars between them")
    return rows


def blocks(text: str, *labels: str) -> list[list[str]]:
    """What stands behind the labels, block by block; ValueError names a block that is not one line for each in order.

    Empty lines stand between blocks.
    """
    form = re.compile("\n".join(f"{label}:(.*)" for label in labels))
    found = []
    for number, block in enumerate(re.split(r"\n\s*\n", text.strip()), start=1):
        match = form.fullmatch(block.strip())
        if match is None:
            raise ValueError(f"block {number} is not the lines {', '.join(labels)}")
        found.append([words.strip() for words in match.groups()])
    return found


def with_quote(
    value: str, rationale: str, quote: str, text: str, flags: tuple[str, ...], *, owed: bool
) -> Verdict:
    """A verdict whose quote, where the text has it, is the text's own wording with its place.

    It is flagged when a quote is owed and the text does not have it; the verdict stands.
    """
    span = find(text, quote)
    if span is None and owed:
        flags = (*flags, QUOTE_MISSING)
    return Verdict(
        value=value,
        rationale=rationale,
        quote=text[span[0] : span[1]] if span else quote,
        quote_start=span[0] if span else None,
        quote_end=span[1] if span else None,
        flags=" ".join(flags),
    )
