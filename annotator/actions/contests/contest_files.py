"""Matches in tables, played elsewhere or to be ranked elsewhere: first, second, winner, confidence, rater."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from annotator import files
from annotator.actions.contests import contest_rows, contest_tasks
from annotator.actions.contests.contest_rows import ContestRater
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import Project, record
from annotator.domain.judges.contest import LEAST, POOL, ContestFields, checked_confidence
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.pairs import FIRST, SECOND
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats.label_files import guarded, unguarded
from annotator.exchange.table_files import read_table

COLUMNS = ("first", "second", "winner", "confidence", "rater")
# The setting that tells which files were imported, by the hash of their rows.
IMPORTED = "contest_imports"
_STRIDE = 1_000


@dataclass(frozen=True, slots=True)
class ImportedMatches:
    """What came of an import, and its change; none where nothing was added."""

    matches: int
    raters: Mapping[str, int]
    again: bool = False
    change: Change | None = None

    def words(self) -> list[str]:
        if self.again:
            return ["These matches were imported before; nothing was added."]
        by = ", ".join(f"{name} {many:,}" for name, many in self.raters.items())
        return [f"Imported {counted(self.matches, 'match', 'matches')} (by {by})."]


def import_matches(project: Project, path: Path, progress: Progress | None = None) -> ImportedMatches:
    """Import all matches of a file, or none; each goes into the first round in which neither task has played yet.

    The order of the lines is the order of the matches. A file whose lines were all imported before adds nothing.
    """
    table = read_table(path, COLUMNS)
    mark = sha256("\n".join("\t".join(row.get(name, "") for name in COLUMNS) for row in table.rows))
    known = project.get(IMPORTED, {})
    if mark in known:
        return ImportedMatches(0, {}, again=True)
    ids = contest_tasks.by_name(contest_tasks.competing(project).values())
    reader = _Reader(project, ids, path.name)
    found = []
    for index, row in enumerate(table.rows):
        found.append(reader.read(table.place(index), row))
        if progress is not None and index % _STRIDE == 0:
            progress("reading matches", index, len(table.rows))
    if not found:
        raise Refusal(f"“{path.name}” has no matches.", "Choose a file with a row for each match.")
    with project.store.write() as db:
        contest_rows.add(db, found)
        project.set(IMPORTED, {**known, mark: len(found)})
        raters = dict(reader.counts)
        change = record(project, db, Change("contest", path.name, "import matches", None, raters))
    return ImportedMatches(len(found), raters, change=change)


def write_matches(project: Project, path: Path, rater: str = "") -> int:
    """Write the whole matches of a rater, or of all, round by round: imported elsewhere, they give the same ratings.

    Of two orders the mean is written. How many there are; Refusal where nobody compared any.
    """
    tasks = contest_tasks.competing(project)
    named = contest_rows.rater_named(project, rater)
    who = contest_rows.members(project, named.id) if rater else contest_rows.raters(project)
    lines = [_line(COLUMNS)]
    for one in who:
        for first, second, value in _whole(project, one, tasks):
            first, second = guarded(tasks[first].key), guarded(tasks[second].key)
            winner, sure = (first, value) if value >= LEAST else (second, 1 - value)
            lines.append(_line((first, second, winner, f"{sure:.12g}", guarded(one.name))))
    files.save(path, b"".join(lines))
    return len(lines) - 1


def _whole(project: Project, rater: ContestRater, tasks: Iterable[str]) -> Iterator[tuple[str, str, float]]:
    for one in contest_rows.meetings(project, rater.id, tasks):
        if one.value is not None:
            yield one.first, one.second, one.value


def _line(cells: Iterable[str]) -> bytes:
    line = StringIO(newline="")
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().encode()


class _Reader:
    """Reads lines, each with the round it belongs to."""

    def __init__(self, project: Project, ids: Mapping[str, str], file: str) -> None:
        self._project, self._ids, self._file = project, ids, file
        self._raters: dict[str, ContestRater] = {}
        self._last: dict[tuple[str, str], int] = {}
        self._at = now()
        self.counts = Counter[str]()

    def read(self, place: str, row: Mapping[str, str]) -> ContestFields:
        """The match of a row; Refusal names the row and what does not fit."""
        try:
            return self._match(row)
        except Refusal as refusal:
            raise Refusal(
                f"“{self._file}”, {place}: {refusal.happened}",
                f"{refusal.todo} Nothing was imported.".strip(),
            ) from None

    def _match(self, row: Mapping[str, str]) -> ContestFields:
        first, second, winner = (self._task(unguarded(row.get(name, "")), name) for name in COLUMNS[:3])
        if first == second:
            raise Refusal("a task meets itself.", "Name two tasks.")
        if winner not in (first, second):
            raise Refusal("the winner is neither of the two.", "Name one of them.")
        rater = self._rater(unguarded(row.get("rater", "")))
        self.counts[rater.name] += 1
        return ContestFields(
            pool=POOL, round=self._round(rater.id, first, second), first=first, second=second, rater_kind=rater.kind,
            rater=rater.id, value=FIRST if winner == first else SECOND,
            confidence=_confidence(row.get("confidence", "")), status=Status.OK.value, at=self._at,
        )  # fmt: skip

    def _task(self, name: str, column: str) -> str:
        if name not in self._ids:
            raise Refusal(
                f"“{name}” ({column}) is no task here." if name else f"there is no {column}.",
                "Name a task by its key or its id.",
            )
        return self._ids[name]

    def _rater(self, name: str) -> ContestRater:
        """A judge or a person of the project by name or alias; else a judge elsewhere, known by that name."""
        if not name or len(name) > 200:
            raise Refusal("the rater has no name.", "Name who compared them, in at most 200 characters.")
        if name not in self._raters:
            self._raters[name] = found = self._known(name)
            for one in contest_rows.showings(self._project, found.id):
                for task in (one.first, one.second):
                    self._last[found.id, task] = max(one.round, self._last.get((found.id, task), 0))
        return self._raters[name]

    def _known(self, name: str) -> ContestRater:
        for judge in judges.all_of(self._project):
            if judge.name == name:
                return ContestRater(judge.id, RaterKind.JUDGE, name, 0)
        for person in people.people(self._project):
            if name in (person.alias, person.id):
                return ContestRater(person.id, RaterKind.PERSON, person.alias, 0)
        return ContestRater(name, RaterKind.JUDGE, name, 0)

    def _round(self, rater: str, first: str, second: str) -> int:
        round_ = 1 + max(self._last.get((rater, first), 0), self._last.get((rater, second), 0))
        self._last[rater, first] = self._last[rater, second] = round_
        return round_


def _confidence(words: str) -> float:
    try:
        value = float(words.replace(",", "."))
    except ValueError:
        happened = f"“{words}” is no confidence." if words else "there is no confidence."
        raise Refusal(happened, "Write a number from 0.5 to 1.") from None
    return checked_confidence(value)
