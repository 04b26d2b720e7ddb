"""Layouts: the files in which a benchmark publishes its data, with their reader and writer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.extract import CollectedPaper
from annotator.domain.texts.canonical import Text
from annotator.exchange.formats.label_entries import LabelFileContent
from annotator.exchange.release.bundle import Bundle, Problem
from annotator.exchange.release.records import ItemRecord

Files = tuple[dict[str, bytes], list[str]]
"""Files by path, and notes on what has no place in them."""


# Written only where numbers or file names cannot say everything: which item or system each stands for.
MAPPING = "goldsmith.json"


class LayoutEntry(BaseModel):
    """An entry of any of a layout's JSON files."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class MappedSystem(LayoutEntry):
    """The system that a file or folder is of."""

    file: Text
    name: Annotated[Text, Field(min_length=1, max_length=200)]


class SystemNames(LayoutEntry):
    """The systems whose names their folders cannot have, as `goldsmith.json` tells them."""

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
class KnownItem:
    item_id: str
    question: str
    key: str = ""
    question_type: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ExistingItems:
    items: Mapping[int, KnownItem] = field(default_factory=dict)
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
    """A person's, or a judge's, label on a unit; no value where they are unsure."""

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
    """The place of people's labels under one protocol in files of a layout.

    `example` is what one of them is called. `files_of` finds them at a path, none where it holds others. `read` gives
    entries with `peer` set; `write` refuses where nothing of what leaves has a place.
    """

    protocol: str
    example: str
    files_of: Callable[[Path], list[Path]]
    read: Callable[[Sequence[Path]], LabelFileContent]
    write: Callable[[Labelled], Files]


@dataclass(frozen=True, slots=True)
class FileLayout:
    """A benchmark's own files: their name in menus, reader and writer.

    `dataset` is that of the items that come in by it, where it is not the `name`; `holds` says what its files are.
    `numbers` tells by which number its files know those items that came from there. `of_papers` makes items of
    collected papers, where the benchmark's items are papers. Files are of this layout where all of one of `marks` are
    among them. One that is `scored` holds what each report comes to. Projects whose experts write its `kind` of
    document use it; all do where it names none.
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
