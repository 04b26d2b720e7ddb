"""Entries of a label file: one rater's value for one unit of one report, and what may be wrong with it."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.release.bundle import Problem

LONGEST_CELL = 20_000


class EntryTrouble(StrEnum):
    UNREADABLE = "unreadable"
    BAD_VALUE = "bad value"
    UNKNOWN_ITEM = "unknown item"
    UNKNOWN_SYSTEM = "unknown system"
    UNKNOWN_UNIT = "unknown unit"
    UNKNOWN_RATER = "unknown rater"
    CONFLICT = "conflict"
    REPEATED = "repeated"
    SUBMITTED = "submitted"


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """One label in a file; an empty text is a missing fact.

    `unit` are the unit's own words, of a pair the name of the system that is shown second. `peer` marks a
    benchmark's own files, which say nothing certain about the system and name raters by letters.
    """

    file: str
    row: int
    value: str
    rater: str = ""
    rater_id: str = ""
    item: str = ""
    item_id: str = ""
    dataset: str = ""
    system: str = ""
    trial: int | None = None
    mode: str = ""
    protocol: str = ""
    unit_id: str = ""
    unit: str = ""
    number: int | None = None
    quote: str = ""
    note: str = ""
    peer: bool = False

    def problem(self, trouble: EntryTrouble, reason: str, labels: int = 1, *, note: bool = False) -> Problem:
        return replace(wrong(trouble, self.file, self.row, reason), note=note, labels=labels)


@dataclass(slots=True)
class LabelFileContent:
    entries: list[LabelEntry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: "LabelFileContent") -> None:
        self.entries += other.entries
        self.problems += other.problems
        self.notes += other.notes


def wrong(trouble: EntryTrouble, file: str, row: int | None, reason: str) -> Problem:
    """A problem of a file's entry; `row` counts from 1 (a CSV file's head is row 1), None means the whole file."""
    return Problem(file, None, reason, row=row, trouble=trouble.value)


def unreadable(file: str, refusal: Refusal) -> LabelFileContent:
    return LabelFileContent(problems=[wrong(EntryTrouble.UNREADABLE, file, None, str(refusal))])


def too_long(text: str) -> str:
    """In words, why a text cannot be kept that is longer than the longest cell."""
    return f"has {len(text):,} characters; {LONGEST_CELL:,} is the most"
