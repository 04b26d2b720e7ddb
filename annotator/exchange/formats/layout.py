"""What a layout is: the files in which a benchmark itself publishes, how they are read and how they are written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from annotator.exchange.formats.label_entries import Found
from annotator.exchange.release.bundle import Bundle, Problem
from annotator.exchange.release.records import ItemRecord

Files = tuple[dict[str, bytes], list[str]]
"""Files by path, and notes on what has no place in them."""


class Named(Protocol):
    """An item or a row of its table, as far as its number goes."""

    @property
    def id(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def dataset(self) -> str: ...


@dataclass(frozen=True, slots=True)
class KnownItem:
    """What the project already has under a question's number."""

    item_id: str
    question: str


@dataclass(frozen=True, slots=True)
class Known:
    """What the project already holds, so that responses alone can be added to it later."""

    items: Mapping[int, KnownItem] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)


class LabelledUnit(NamedTuple):
    """A unit that a report is labelled by: its words, and how much it weighs."""

    id: str
    words: str
    weight: float


class LabelledReport(NamedTuple):
    """A report as far as its labels go, with all the units that are asked about it, in their order."""

    item: ItemRecord
    system: str
    trial: int
    mode: str
    units: Sequence[LabelledUnit]


class GivenLabel(NamedTuple):
    """What a person, or a judge, says of a unit of a report; no value where they are unsure."""

    report_id: str
    unit_id: str
    rater: str
    rater_id: str
    value: str | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The labels that leave: all items, the reports by id, and what people and a judge say of them."""

    items: Sequence[ItemRecord]
    reports: Mapping[str, LabelledReport]
    people: Sequence[GivenLabel]
    judge: Sequence[GivenLabel] = ()


@dataclass(frozen=True, slots=True)
class LabelLayout:
    """How people's labels under one protocol lie in files of such a layout.

    `example` is what one of them is called. `files_of` finds them at a path, none where it holds others. `read` gives
    entries with `peer` set; `write` refuses where nothing of what leaves has a place.
    """

    protocol: str
    example: str
    files_of: Callable[[Path], list[Path]]
    read: Callable[[Sequence[Path]], Found]
    write: Callable[[Labelled], Files]


@dataclass(frozen=True, slots=True)
class Layout:
    """A benchmark's own files: what they are called where they are chosen, and how they come and go.

    `name` is also the dataset of the items that come in by it; `holds` says what its files are. `numbers` tells by
    which number its files know those items that came from there.
    """

    name: str
    title: str
    holds: str
    numbers: Callable[[Iterable[Named]], Mapping[str, int]]
    read: Callable[[Sequence[Path], Known], tuple[Bundle, list[Problem]]]
    files: Callable[[Bundle], Files]
    labels: LabelLayout | None = None
