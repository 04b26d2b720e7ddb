"""Tasks made elsewhere, one a line: read as the settled tasks of their seminars, and written again."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from annotator.domain.common import counted, derived_id, now
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.tasks import WORDS, Difficulty, Family, Phase, Task, Tasks, task_key
from annotator.domain.material.item import SEMINARS
from annotator.domain.texts.words import word_count
from annotator.exchange.formats.layout import ExistingItems, Files
from annotator.exchange.release.bundle import Bundle, BundleReader, Problem, in_words, settled
from annotator.exchange.release.records import ArtifactRecord, DecisionRecord, ItemRecord
from annotator.exchange.table_files import Table, cell_text, read_tables

NAME, DATASET, FILE = "arena", SEMINARS, "tasks.jsonl"
# The item for tasks of no known seminar.
ELSEWHERE = "tasks"
# The names of a field here and elsewhere, ours first.
CALLED = {
    "id": ("id", "task_id"),
    "task": ("task", "text", "question"),
    "phase": ("phase",),
    "family": ("family", "task_type", "task type"),
    "difficulty": ("difficulty",),
    "seminar": ("seminar", "seminar_id", "transcript"),
    "subject": ("subject", "discipline"),
}
CHOICES: Mapping[str, type[StrEnum]] = {"phase": Phase, "family": Family, "difficulty": Difficulty}
LONGEST_KEY, LONGEST_ID = 100, 80
# An id made by the program.
_MADE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read(paths: Sequence[Path], known: ExistingItems | None = None) -> tuple[Bundle, list[Problem]]:
    """The tasks of files with one a line (JSON, or a table), and all problems with them, row by row."""
    reader = _TaskReader({item.key: item for item in (known or ExistingItems()).items.values()}, now())
    tables, problems = read_tables(paths, unknown_as=".jsonl")
    reader.problems += problems
    for table in tables:
        reader.problems += [Problem(table.name, None, note, note=True) for note in table.notes]
        if not {name.strip().lower() for name in table.columns}.intersection(CALLED["task"]):
            reader.problem(table.name, None, "nothing in it is called “task”")
            continue
        for index in range(len(table.rows)):
            reader.take(table, index)
    return reader.finished(), reader.problems


class _TaskReader(BundleReader):
    """A reader that collects the tasks of each seminar and the problems, line by line."""

    def __init__(self, known: Mapping[str, ItemRecord], at: datetime) -> None:
        super().__init__()
        self.known, self.at = known, at
        self.tasks: dict[str, list[Task]] = {}
        self.subjects: dict[str, str] = {}
        self.seen: dict[str, str] = {}
        self.places: dict[str, tuple[str, int]] = {}

    def take(self, table: Table, index: int) -> None:
        try:
            fields = _named_fields(table.rows[index])
            task = _task(fields)
            if task.id in self.seen:
                raise ValueError(f"the id {task.id} stands before, in {self.seen[task.id]}")
        except ValueError as error:
            self.problems.append(table.problem(index, in_words(error)))
            return
        self.seen[task.id] = f"{table.name}, {table.place(index)}"
        seminar = fields["seminar"][:LONGEST_KEY] or ELSEWHERE
        self.tasks.setdefault(seminar, []).append(task)
        self.subjects[seminar] = self.subjects.get(seminar) or (
            fields["subject"] if fields["seminar"] else ""
        )
        self.places.setdefault(seminar, (table.name, index))
        if (count := word_count(task.text)) > WORDS:
            note = table.problem(index, f"{count} words; at most {WORDS} are asked for")
            self.problems.append(replace(note, note=True))

    def finished(self) -> Bundle:
        for position, (seminar, tasks) in enumerate(self.tasks.items()):
            before = self.known.get(seminar)
            own = before.id if before else derived_id(NAME, "seminar", seminar)
            title = "Tasks of no known seminar" if seminar == ELSEWHERE else f"Seminar {seminar}"
            item = ItemRecord(
                id=own,
                key=seminar,
                dataset=DATASET,
                question=before.question if before else title,
                question_type=before.question_type if before else "",
                subject=before.subject if before else self.subjects[seminar],
                position=position,
            )
            document = Tasks(units=tuple(tasks))
            record = ArtifactRecord.settled(derived_id(own, Kind.TASKS.value), own, document, self.at)
            self.add("items", item, *self.places[seminar])
            self.add("artifacts", record, *self.places[seminar])
        absent = Counter(
            name
            for tasks in self.tasks.values()
            for task in tasks
            for name in CHOICES
            if getattr(task, name) is None
        )
        for name, count in absent.items():
            self.note(FILE, f"{counted(count, 'task')} without {name}")
        return self.bundle


def _named_fields(entry: Mapping[str, Any]) -> dict[str, str]:
    """The fields of an entry by our names; ValueError for a value that is no text."""
    plain = {
        name.strip().lower(): cell_text(value) if isinstance(value, str) else value
        for name, value in entry.items()
    }
    cells = {
        ours: next((plain[name] for name in names if plain.get(name)), "") for ours, names in CALLED.items()
    }
    for name, value in cells.items():
        if not isinstance(value, str | int):
            raise ValueError(f"“{name}” is not a text")
    return {name: str(value).strip() for name, value in cells.items()}


def _task(cells: Mapping[str, str]) -> Task:
    """The task of an entry; ValueError names what does not fit."""
    chosen: dict[str, Any] = {}
    for name, choice in CHOICES.items():
        try:
            chosen[name] = choice(cells[name]) if cells[name] else None
        except ValueError:
            menu = ", ".join(choice)
            raise ValueError(f"“{cells[name][:60]}” is no {name}; there are: {menu}") from None
    family: Family | None = chosen["family"]
    if family is not None:
        chosen["phase"] = chosen["phase"] or family.phase
        if chosen["phase"] is not family.phase:
            raise ValueError(f"{family.value} belongs to the phase {family.phase}, not {chosen['phase']}")
    if not cells["task"]:
        raise ValueError("there is no task")
    own = cells["id"] if 0 < len(cells["id"]) <= LONGEST_ID else ""
    own = own or derived_id(NAME, "task", cells["seminar"], cells["id"], cells["task"])
    return Task(id=own, text=cells["task"], **chosen)


def files(bundle: Bundle) -> Files:
    lines, left, decided = list[bytes](), 0, {decision.task_id: decision for decision in bundle.decisions}
    for item in sorted(bundle.items, key=lambda record: (record.position, record.key, record.id)):
        own = [
            artifact
            for artifact in bundle.artifacts
            if artifact.item_id == item.id and artifact.kind is Kind.TASKS
        ]
        chosen = settled(own)
        left += bool(own) and chosen is None
        for place, unit in enumerate(chosen.document["units"] if chosen else (), start=1):
            entry = _line(item, unit, task_key(item.key, place))
            entry |= _decision(decided.get(unit["id"])) if decided else {}
            lines.append(orjson.dumps(entry) + b"\n")
    notes = [f"Left out: {counted(left, 'seminar')} with tasks that are not adjudicated."] if left else []
    return {FILE: b"".join(lines)}, notes


def _decision(record: DecisionRecord | None) -> dict[str, Any]:
    """Whether a task is kept and at which rank, or why it is held back; one without a decision is not kept."""
    values = {"rank": record.rank, "reason": record.reason} if record else {}
    return {"kept": bool(record and record.kept)} | {name: values[name] for name in values if values[name]}


def _line(item: ItemRecord, unit: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A task with its original id; one made by the program is replaced by the task's key."""
    own = key if _MADE.fullmatch(unit["id"]) else unit["id"]
    entry = {"id": own, "task": unit["text"], **{name: unit[name] for name in CHOICES if unit[name]}}
    if (item.dataset, item.key) == (DATASET, ELSEWHERE):
        return entry
    return entry | {"seminar": item.key, **({"subject": item.subject} if item.subject else {})}
