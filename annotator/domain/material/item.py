"""Items: a task, question or paper that a system must answer."""

import re
from calendar import monthrange
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

from pydantic import ConfigDict

from annotator.domain.stored import (
    END_TO_END,
    INJECTION,
    ISOLATED,
    MODES,
    ExtractState,
    ItemFields,
    PageFields,
    PageState,
    ResponseFields,
    SourceFields,
    SourceFormat,
    SourceKind,
    Stored,
)

__all__ = [
    "END_TO_END",
    "INJECTION",
    "ISOLATED",
    "ExtractState",
    "PageState",
    "SourceFormat",
    "SourceKind",
]

# The text before the last number, the number, and the text after it.
_NUMBERED = re.compile(r"(.*?)(\d*)(\D*)", re.DOTALL)
# The dataset under which transcripts and tasks of seminars are imported.
SEMINARS = "seminars"
QUESTION_TYPES = ("Technical Details", "Literature Review", "Open Consulting")


class Item(Stored, ItemFields):
    """An item as plain data, outside the database."""


def free_key(like: str, taken: Collection[str]) -> str:
    """A free key: the wanted one, or one like it whose last number is raised until it is free.

    A key without a number gets one.
    """
    key = like
    while key in taken:
        head, number, tail = _NUMBERED.fullmatch(key).groups()  # type: ignore[union-attr]
        key = f"{head}{int(number) + 1:0{len(number)}}{tail}" if number else f"{like[:110]} 2"
    return key


# The ending of the title of a source in LaTeX, from which the exemplar was made.
LATEX = "(LaTeX)"
# The title of an exemplar that is read as a source.
EXEMPLAR_TITLE = "Exemplar"


class Source(Stored, SourceFields):
    """A source as plain data, outside the database."""


# A text written by people that systems are to match; no system made it.
EXEMPLAR = "exemplar"
# A model's continuation of the first half of a task: no report, and counted only by the figures that ask for it.
CONTINUATION = "continuation"
KNOWN_MODES = (*MODES, EXEMPLAR, CONTINUATION)
# The usual names of a system's group; a project may use any other.
GROUPS = ("deep research", "LLM + search", "LLM", "open-source LLM")


def spelled(mode: str) -> str:
    """A known mode, whatever its case and the joining of its words; any other as it is."""

    def folded(words: str) -> str:
        return re.sub(r"[\W_]+", "", words).casefold()

    return next((known for known in KNOWN_MODES if folded(known) == folded(mode)), mode.strip())


class Response(Stored, ResponseFields):
    """A response as plain data, outside the database."""


@dataclass(frozen=True, slots=True)
class CatalogueWork:
    """A work as described by a catalogue; `published` is a day, a month or a year, empty if unknown."""

    identifier: str
    title: str
    abstract: str = ""
    published: str = ""
    authors: str = ""

    @property
    def year(self) -> int | None:
        return int(self.published[:4]) if self.published[:4].isdecimal() else None

    @property
    def key(self) -> str:
        """The key of the work: its identifier in its normal form, or its whole title."""
        from annotator.domain.texts.identifier import normal_title, work_named

        named = work_named(self.identifier)
        return str(named) if named else f"title {normal_title(self.title)}"

    def is_older(self, day: date) -> bool:
        """Whether it certainly appeared before a day; never if its date is unknown."""
        last = self._last_day()
        return last is not None and last < day

    def _last_day(self) -> date | None:
        try:
            year, month, day = (*map(int, self.published.split("-")), 0, 0)[:3]
            month = month or 12
            return date(year, month, day or monthrange(year, month)[1])
        except ValueError:
            return None


class Page(PageFields):
    """A page as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    sha256: str = ""


IMPORT, SET = "import", "set:"


def by_set(name: str) -> str:
    return f"{SET}{name}"
