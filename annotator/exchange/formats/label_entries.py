"""Entries of a label file: one rater's value for one unit of one report, and what may be wrong with it."""

from dataclasses import dataclass, field
from enum import StrEnum

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.release.bundle import Problem

LONGEST_CELL = 20_000


class EntryTrouble(StrEnum):
    """Reasons why an entry of a file cannot be imported."""

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
class EntryFinding:
    """A problem of an entry; `row` counts from 1 (a CSV file's head is row 1), None means the whole file.

    `labels` counts the entries with which the same is wrong, of which this is the first.
    """

    trouble: EntryTrouble
    file: str
    row: int | None
    reason: str
    labels: int = 1

    def __str__(self) -> str:
        place = self.file if self.row is None else f"{self.file}, row {self.row}"
        return f"{place}{f' and {self.labels - 1:,} more' if self.labels > 1 else ''}: {self.reason}"

    def as_problem(self) -> Problem:
        return Problem(self.file, None, str(self).removeprefix(self.file).lstrip(":, "))


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

    def finding(self, trouble: EntryTrouble, reason: str, labels: int = 1) -> EntryFinding:
        """What is wrong with it, and with so many in all."""
        return EntryFinding(trouble, self.file, self.row, reason, labels)


@dataclass(slots=True)
class LabelFileContent:
    """The content of label files: entries, unreadable ones, and remarks."""

    entries: list[LabelEntry] = field(default_factory=list)
    findings: list[EntryFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: "LabelFileContent") -> None:
        self.entries += other.entries
        self.findings += other.findings
        self.notes += other.notes


def unreadable(file: str, refusal: Refusal) -> LabelFileContent:
    """What a file holds that cannot be read at all."""
    return LabelFileContent(findings=[EntryFinding(EntryTrouble.UNREADABLE, file, None, str(refusal))])


def too_long(text: str) -> str:
    """In words, why a text cannot be kept that is longer than the longest cell."""
    return f"has {len(text):,} characters; {LONGEST_CELL:,} is the most"
