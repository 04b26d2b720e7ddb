"""Incoming records compared with the project's: new, same, changed, or not importable."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotator.domain.common import Refusal, counted
from annotator.domain.material.extract import Funnel
from annotator.exchange.formats.layout import LabelFileContent
from annotator.exchange.release.bundle import Bundle, Problem, in_words, record_id
from annotator.exchange.release.records import Record

CORRECT = "Correct the files, or import only the valid records."
SHOWN_PROBLEMS = 1000
# The type of a record and the id of one.
Need = tuple[str, str]
Row = dict[str, Any]
# An id holds printable ASCII only: nothing invisible, and no look-alikes.
ID = re.compile(r"[!-~]{1,36}")
# Records without ids of their own.
NAMELESS = ("judgements", "revisions")
WORDS = {
    "people": "person",
    "items": "item",
    "sources": "source",
    "systems": "system",
    "responses": "response",
    "guidelines": "guideline",
    "artifacts": "artifact",
    "revisions": "revision",
    "agreements": "agreement",
    "adjudications": "consensus version",
    "pairings": "pairing",
    "judges": "judge",
    "runs": "run",
    "extracts": "extract",
    "pages": "page",
    "prompts": "prompt",
    "judgements": "judgement",
    "labels": "label",
    "validation_sets": "validation set",
    "informed": "review or ruling",
    "tasks": "task",
    "matches": "match",
    "decisions": "decision on a task",
}
# The plural if it is not the name of the records.
SEVERAL = {
    "adjudications": "consensus versions",
    "informed": "reviews and rulings",
    "decisions": "decisions on tasks",
}


@dataclass(slots=True)
class ImportCount:
    new: int = 0
    same: int = 0
    changed: int = 0


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """The preview or the result of an import.

    If there is a problem, nothing is imported unless bad entries are skipped; a note keeps nothing out. `units` counts
    the units of new artifacts; `funnel` is the fate of each collected paper; `weights_to_allow` are those the project
    would have to allow for all criteria to fit.
    """

    format: str
    counts: dict[str, ImportCount]
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()
    units: int = 0
    funnel: Funnel | None = None
    weights_to_allow: str = ""

    @property
    def new(self) -> int:
        return sum(count.new for count in self.counts.values())

    def words(self) -> list[str]:
        lines = [f"New: {self}" if self.new else "Nothing is new."]
        for label, name in (("Already there", "same"), ("There with other content, kept", "changed")):
            numbers = {thing: getattr(count, name) for thing, count in self.counts.items()}
            if parts := _counted(numbers):
                lines.append(f"{label}: {', '.join(parts)}")
        return lines + [f"Note: {note}" for note in self.notes]

    def __str__(self) -> str:
        parts = _counted({thing: count.new for thing, count in self.counts.items()})
        if self.units:
            parts.append(counted(self.units, "unit"))
        return ", ".join(parts) or "nothing new"


def _counted(numbers: Mapping[str, int]) -> list[str]:
    return [
        counted(number, WORDS[thing], SEVERAL.get(thing, thing.replace("_", " ")))
        for thing, number in numbers.items()
        if number
    ]


@dataclass(slots=True)
class ExistingRecords:
    """Existing records of a type: their content by id, and their ids by their other unique keys."""

    prints: dict[Any, Any] = field(default_factory=dict)
    ids: dict[tuple[Any, ...], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """How records of one type are imported.

    `unique` is the key that must be unique besides the id, `content` what is compared with the project's record,
    `needs` the records that must exist first, `row` the row or rows to write by table; `row` raises ValueError for
    a record that does not fit. With `adopts`, a record that exists under another id counts as that one.
    """

    thing: str
    existing: ExistingRecords
    unique: Callable[[Any], tuple[Any, ...]]
    content: Callable[[Any], Any]
    needs: Callable[[Any], Iterable[Need]]
    row: Callable[[Any], dict[str, Any]]
    adopts: bool = False


class ForeignFiles(NamedTuple):
    """The content of files: records, problems, the speakers behind pseudonyms by source, labels, weights to allow."""

    bundle: Bundle
    problems: list[Problem]
    names: dict[str, dict[str, str]] = {}
    labels: LabelFileContent | None = None
    weights: str = ""


def by_id(record: Record) -> tuple[Any, ...]:
    return (record_id(record),)


def nothing(_: Record) -> Iterable[Need]:
    return ()


@dataclass(slots=True)
class Incoming:
    """Everything to be written, by table, with its counts.

    `new_aliases` are the new aliases, by id, of people of the project whose alias an incoming person takes.
    """

    bundle: Bundle
    rows: dict[str, list[Row]] = field(default_factory=dict)
    counts: dict[str, ImportCount] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    there: dict[str, set[str]] = field(default_factory=dict)
    new_aliases: dict[str, str] = field(default_factory=dict)
    units: int = 0

    def take(self, plan: ImportPlan, records: Iterable[Any]) -> None:
        """Sort the records of one type; types that others need must be taken first."""
        self.there[plan.thing] = set(plan.existing.prints)
        self.counts[plan.thing] = count = ImportCount()
        seen: set[Any] = set()
        for record in records:
            name, unique = record_id(record), plan.unique(record)
            existing = plan.existing.prints.get(plan.existing.ids.get(unique, name) if plan.adopts else name)
            if reason := self._refused(plan, record, name, unique, seen):
                self.refuse(plan.thing, name, reason)
            elif existing is None:
                self._add(plan, record, name, count)
            elif existing == plan.content(record):
                count.same += 1
            else:
                count.changed += 1
                self.there[plan.thing].discard(name)
                self.refuse(plan.thing, name, "differs from what the project holds, which is kept as it is")
            seen |= {name, unique}

    def refuse(self, thing: str, name: str, reason: str) -> None:
        file, index = self.bundle.place(thing, name)
        self.problems.append(Problem(file, index, reason))

    def note(self, thing: str, name: str, reason: str) -> None:
        """Add a note about a record that is imported all the same."""
        file, index = self.bundle.place(thing, name)
        self.problems.append(Problem(file, index, reason, note=True))

    def _refused(
        self, plan: ImportPlan, record: Record, name: str, unique: tuple[Any, ...], seen: set[Any]
    ) -> str:
        word = WORDS[plan.thing]
        if plan.thing not in NAMELESS and not ID.fullmatch(name):
            return f"the id of a {word} should be 1 to 36 plain letters, digits and signs without spaces"
        if name in seen or unique in seen:
            return f"this {word} stands in these files more than once"
        if not plan.adopts and plan.existing.ids.get(unique, name) != name:
            return f"the project has another {word} that is called the same"
        for thing, needed in plan.needs(record):
            if needed not in self.there[thing]:
                return f"its {WORDS[thing]} {needed[:36]} was not imported and is not in the project"
        return ""

    def _add(self, plan: ImportPlan, record: Record, name: str, count: ImportCount) -> None:
        try:
            row = plan.row(record)
        except ValueError as error:
            self.refuse(plan.thing, name, in_words(error))
            return
        for table, rows in row.items():
            self.rows.setdefault(table, []).extend(rows if isinstance(rows, list) else [rows])
        self.there[plan.thing].add(name)
        count.new += 1


def refuse_bad(bad: Sequence[Problem], skip_bad: bool, todo: str = CORRECT) -> None:
    """Refuse an import that has problems, unless they are to be skipped; the Refusal names the first."""
    if bad and not skip_bad:
        more = f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
        happened = f"{str(bad[0]).rstrip('.')}{more}. Nothing was imported."
        raise Refusal(happened, todo, tuple(map(str, bad[:SHOWN_PROBLEMS])))
