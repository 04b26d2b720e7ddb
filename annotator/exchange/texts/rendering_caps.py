"""Limits on rendering foreign Markdown; beyond them it is shown as plain text.

Without them a hostile report costs the parser or the layout engine minutes; with all of them kept, none that was
tried (tests/exchange/texts/test_rendering_hostile.py) takes as long as a second.
"""

import re
import time
from collections.abc import MutableMapping, Sequence
from typing import Any

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

MAX_CHARACTERS = 300 * 1024
MAX_LINES = 10_000
MAX_TOKENS = 50_000
MAX_PARAGRAPH = 60_000
MAX_MARKS = 200
MAX_ALL_MARKS = 20_000
MAX_NESTING = 20
MAX_ROWS = 500
MAX_CELLS = 5_000
MAX_LINK = 2_000
MAX_LINKS_LENGTH = 600_000
MAX_DRAWINGS_LENGTH = 4_000_000
MAX_SECONDS = 2.0

_MARK = re.compile(r"[*_~]{1,3}|\[|`+|<")


class TooMuch(Exception):
    """A limit was exceeded; the message is the reason to show."""


def check_size(markdown: str) -> None:
    """Raises TooMuch when a text is too long to be parsed at all."""
    if len(markdown) > MAX_CHARACTERS:
        raise TooMuch(f"It is longer than {MAX_CHARACTERS // 1024} KB.")
    if markdown.count("\n") > MAX_LINES:
        raise TooMuch(f"It has more than {MAX_LINES} lines.")


def check_block(state: StateBlock, _line: int, _end: int, _silent: bool) -> bool:
    """A block rule that never matches: raises TooMuch where lists or quotes nest too deep or time runs out.

    The parser itself would drop what lies deeper without a word.
    """
    if state.level >= MAX_NESTING:
        raise TooMuch(f"Its lists or quotations nest deeper than {MAX_NESTING} levels.")
    if len(state.tokens) > MAX_TOKENS:
        raise TooMuch("It has too many blocks: paragraphs, list entries or quotations.")
    check_time(state.env)
    return False


def check_time(env: MutableMapping[str, Any]) -> None:
    """Raises TooMuch once the time that `start_clock` allowed is over."""
    if time.monotonic() > env["deadline"]:
        raise TooMuch(f"Rendering it took more than {MAX_SECONDS:.0f} seconds.")


def start_clock() -> dict[str, Any]:
    """The parser's environment, with the moment at which it must give up."""
    return {"deadline": time.monotonic() + MAX_SECONDS}


def check_marks(text: str) -> None:
    """Raises TooMuch when all paragraphs together have too many marks."""
    if _marks(text) > MAX_ALL_MARKS:
        raise TooMuch(f"It has more than {MAX_ALL_MARKS} marks for links, bold and the like.")


def check_paragraph(text: str) -> None:
    """Raises TooMuch when one paragraph, heading or cell is too long or has too many marks."""
    if len(text) > MAX_PARAGRAPH:
        raise TooMuch(f"One paragraph is longer than {MAX_PARAGRAPH} characters.")
    if len(text) > MAX_MARKS and _marks(text) > MAX_MARKS:
        raise TooMuch(f"One paragraph has more than {MAX_MARKS} marks for links, bold and the like.")


def check_code(text: str) -> None:
    """Raises TooMuch when a line of a code block is too long."""
    if len(text) > MAX_PARAGRAPH and max(map(len, text.split("\n"))) > MAX_PARAGRAPH:
        raise TooMuch(f"One line of code is longer than {MAX_PARAGRAPH} characters.")


def check_tables(tokens: Sequence[Token]) -> None:
    """Raises TooMuch when one table has too many rows or cells."""
    rows = cells = 0
    for token in tokens:
        if token.type == "table_open":
            rows = cells = 0
        elif token.type == "tr_open":
            rows += 1
        elif token.type in ("td_open", "th_open"):
            cells += 1
        if rows > MAX_ROWS or cells > MAX_CELLS:
            raise TooMuch(f"One table has more than {MAX_ROWS} rows or {MAX_CELLS} cells.")


def check_links(tokens: Sequence[Token]) -> None:
    """Raises TooMuch when a few definitions are repeated into far more text than there was."""
    length = 0
    for token in tokens:
        lengths = (len(str(child.attrs.get("href", ""))) for child in token.children or ())
        length += sum(each for each in lengths if each <= MAX_LINK)
    if length > MAX_LINKS_LENGTH:
        raise TooMuch("Its links are longer than the report itself.")


def _marks(text: str) -> int:
    return sum(1 for _ in _MARK.finditer(text))
