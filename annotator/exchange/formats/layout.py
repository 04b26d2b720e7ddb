"""Layouts: the files in which a benchmark publishes its data, with their reader and writer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol

from pydantic import BaseModel, Field

from annotator.domain.common import Refusal, Text
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.extract import CollectedPaper
from annotator.exchange.release.bundle import Bundle, Problem
from annotator.exchange.release.records import ItemRecord

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
    """One label in a file; empty texts are missing.

    `unit` are the unit's own words, for a pair the name of the system shown second. `peer` marks a benchmark's own
    files, which are not certain about the system and name raters by letters.
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
    """A problem of a file's entry; `row` counts from 1 (a CSV file's header is row 1), None means the whole file."""
    return Problem(file, None, reason, row=row, trouble=trouble.value)


def unreadable(file: str, refusal: Refusal) -> LabelFileContent:
    return LabelFileContent(problems=[wrong(EntryTrouble.UNREADABLE, file, None, str(refusal))])


def too_long(text: str) -> str:
    """In words, why a text longer than the longest cell cannot be stored."""
    return f"has {len(text):,} characters; {LONGEST_CELL:,} is the most"


# Files by path, and notes on data without a place in them.
Files = tuple[dict[str, bytes], list[str]]


# Written only if numbers or file names are not enough: the item or system of each.
MAPPING = "goldsmith.json"


class LayoutEntry(BaseModel, strict=True, extra="forbid", frozen=True, defer_build=True):
    """An entry of any of a layout's JSON files."""


class MappedSystem(LayoutEntry):
    """The system of a file or folder."""

    file: Text
    name: Annotated[Text, Field(min_length=1, max_length=200)]


class SystemNames(LayoutEntry):
    """The systems whose names cannot be folder names, as listed in `goldsmith.json`."""

    systems: list[MappedSystem] = []


class HasNumber(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def dataset(self) -> str: ...


def in_order(items: Iterable[HasNumber]) -> dict[str, int]:
    return {item.id: number for number, item in enumerate(items)}


@dataclass(frozen=True, slots=True)
class ExistingItems:
    items: Mapping[int, ItemRecord] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)


class LabelledUnit(NamedTuple):
    id: str
    words: str
    weight: float


class LabelledReport(NamedTuple):
    item: ItemRecord
    system: str
    trial: int
    mode: str
    units: Sequence[LabelledUnit]


class GivenLabel(NamedTuple):
    """A person's, or a judge's, label on a unit; no value if they are unsure."""

    report_id: str
    unit_id: str
    rater: str
    rater_id: str
    value: str | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels to export: all items, the reports by id, and the labels of people and a judge."""

    items: Sequence[ItemRecord]
    reports: Mapping[str, LabelledReport]
    people: Sequence[GivenLabel]
    judge: Sequence[GivenLabel] = ()


@dataclass(frozen=True, slots=True)
class LabelLayout:
    """How people's labels under one protocol are stored in files of a layout.

    `example` is the name of one of them. `files_of` finds them at a path, empty if it holds others. `read` returns
    entries with `peer` set; `write` refuses if none of the exported labels has a place.
    """

    protocol: str
    example: str
    files_of: Callable[[Path], list[Path]]
    read: Callable[[Sequence[Path]], LabelFileContent]
    write: Callable[[Labelled], Files]


@dataclass(frozen=True, slots=True)
class FileLayout:
    """A benchmark's own files: their name in menus, reader and writer.

    `dataset` is that of the imported items, if it is not the `name`; `holds` describes its files. `numbers` maps
    items that came from there to their numbers in its files. `of_papers` makes items of collected papers, if the
    benchmark's items are papers. Files are of this layout if all of one of `marks` are among them. One that is
    `scored` holds each report's scores. Projects whose experts write its `kind` of document use it; all do if it
    names none.
    """

    name: str
    title: str
    holds: str
    read: Callable[[Sequence[Path], ExistingItems], tuple[Bundle, list[Problem]]]
    files: Callable[[Bundle], Files]
    numbers: Callable[[Iterable[HasNumber]], Mapping[str, int]] = in_order
    labels: LabelLayout | None = None
    of_papers: Callable[[Sequence[CollectedPaper]], tuple[Bundle, list[Problem]]] | None = None
    dataset: str = ""
    marks: tuple[tuple[str, ...], ...] = ()
    scored: bool = False
    kind: Kind | None = None
