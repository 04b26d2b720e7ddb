"""Qt model of verdicts to rule on or review: both sides, and the answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, cached_property
from itertools import chain, repeat
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt

from annotator.actions.labelling import second_looks
from annotator.actions.sets.validation_units import UnitPlace
from annotator.actions.sets.verdict_readings import ReadingSide
from annotator.domain.judges.taxonomy import Taxonomy
from annotator.gui.tables.rows import Index, resetting

CASE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
# How the quotes of either side are marked.
JUDGE, PERSON = "judge", "evidence"
PAIR = "Which report is better?"
# What a case is known by.
Key = tuple[str, ...]


class CaseFilter(Enum):
    """Filter of the list of cases."""

    OPEN = "Open"
    DONE = "Done"
    ALL = "All"

    def admits(self, said: str) -> bool:
        """Whether a case of which that was said is shown under this filter."""
        return self is CaseFilter.ALL or bool(said) == (self is CaseFilter.DONE)


@dataclass(frozen=True, slots=True)
class CaseVoice:
    """One side: rater, value, reason, quote, and its place in the report.

    `rater` is the id by which what it gave beside its value is asked for; `mark` the kind of mark that its quote has.
    """

    who: str
    rater: str
    value: str
    mark: str = JUDGE
    why: str = ""
    quote: str = ""
    start: int | None = None
    flags: tuple[str, ...] = ()

    def with_side(self, side: ReadingSide) -> "CaseVoice":
        """The same with what was given beside the value; only of a judge it is told what is odd about it."""
        flags = tuple(side.flags.split()) if self.mark == JUDGE else ()
        return replace(self, why=side.why, quote=side.quote, start=side.quote_start, flags=flags)


@dataclass(frozen=True, slots=True)
class VerdictCase:
    """A verdict with those who differ from it, and this person's answer; `said` is empty while it is open."""

    key: Key
    protocol: str
    place: UnitPlace
    voices: tuple[CaseVoice, ...]
    said: str = ""
    reason: str = ""
    note: str = ""
    kind: str = ""

    @property
    def asked(self) -> Taxonomy | None:
        """By what a judge's verdict that is reviewed is looked at again, if by anything."""
        return second_looks.after(self.protocol, self.voices[0].value) if len(self.voices) == 1 else None

    @property
    def words(self) -> str:
        return self.place.words or PAIR

    def with_sides(self, sides: Mapping[str, ReadingSide]) -> "VerdictCase":
        """The same with what each side gave beside its value."""
        voices = (voice.with_side(sides.get(voice.rater, ReadingSide())) for voice in self.voices)
        return replace(self, voices=tuple(voices))


class Cases:
    """Lines that become cases when accessed: there may be very many, and few are looked at.

    `said` is what was said of each; `number_of` finds one by the key of its case, `place_of` tells what it is about.
    """

    def __init__(
        self,
        lines: Sequence[Any],
        said: list[str],
        number_of: Callable[[Key], int | None],
        place_of: Callable[[int], UnitPlace],
        case_of: Callable[[Any], VerdictCase],
    ) -> None:
        self.lines, self.said, self.number_of = lines, said, number_of
        self.place_of, self.case_of = place_of, case_of

    @cached_property
    def texts(self) -> Sequence[str]:
        """What each is found by; reports of one item share its criteria."""
        text = cache(lambda item, words: f"{item} {words or PAIR}".casefold())
        places = map(self.place_of, range(len(self)))
        return [text(place.item_key, place.words) for place in places]

    def __len__(self) -> int:
        return len(self.said)


NO_CASES = Cases((), [], lambda _: None, lambda number: ()[number], lambda line: line)


class VerdictCases(QAbstractListModel):
    """All cases in order; rows are those that match filter and search."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all = NO_CASES
        self._said: dict[int, VerdictCase] = {}
        self._rows: Sequence[int] = ()
        self._places: Mapping[int, int] | None = None
        self.faces: Mapping[str, tuple[str, str, str]] = {}
        """What was said → its words, icon and state."""

    def _made(self, number: int) -> VerdictCase:
        return self._said.get(number) or self._all.case_of(self._all.lines[number])

    def line(self, key: Key) -> Any:
        """What a case was made of; None when there is none of that key."""
        number = self.number(key)
        return None if number is None else self._all.lines[number]

    def number(self, key: Key) -> int | None:
        """The place of a case among all of them, from 0."""
        return self._all.number_of(key)

    def case(self, key: Key) -> VerdictCase | None:
        number = self.number(key)
        return None if number is None else self._made(number)

    def counted(self, show: CaseFilter) -> int:
        every, still_open = len(self._all), self._all.said.count("")
        return {CaseFilter.ALL: every, CaseFilter.OPEN: still_open, CaseFilter.DONE: every - still_open}[show]

    def fill(self, cases: Cases) -> None:
        """Take over the cases as they now are; which are shown is said by `narrow`."""
        with resetting(self):
            self._all, self._said, self._rows, self._places = cases, {}, range(len(cases)), None

    def narrow(self, show: CaseFilter, words: str, keep: Key) -> None:
        """Show only what matches; the case in `keep` stays whatever the filter, so that no one loses their place."""
        sought = words.casefold().split()
        if show is CaseFilter.ALL and not sought and self._places is None:
            return
        with resetting(self):
            if show is CaseFilter.ALL and not sought:
                self._rows, self._places = range(len(self._all)), None
            else:
                self._rows = [*self._admitted(show, sought, self.number(keep))]
                self._places = {number: row for row, number in enumerate(self._rows)}

    def _admitted(self, show: CaseFilter, sought: Sequence[str], keep: int | None) -> Iterator[int]:
        matches = cache(lambda text: all(word in text for word in sought))
        texts: Iterable[str] = self._all.texts if sought else repeat("", len(self._all))
        for number, (said, text) in enumerate(zip(self._all.said, texts, strict=True)):
            if number == keep or (show.admits(said) and matches(text)):
                yield number

    def say(self, key: Key, said: str, reason: str, note: str, kind: str = "") -> None:
        """Something was said of a case; it stays where it is until the list is narrowed again."""
        number = self.number(key)
        assert number is not None
        self._said[number] = replace(self._made(number), said=said, reason=reason, note=note, kind=kind)
        self._all.said[number] = said
        index = self.place(key)
        if index.isValid():
            self.dataChanged.emit(index, index)

    def place(self, key: Key) -> QModelIndex:
        """Where a case is shown; an invalid index when it is not."""
        row = self._row(key)
        return QModelIndex() if row is None else self.index(row)

    def _row(self, key: Key) -> int | None:
        number = self.number(key)
        if self._places is None or number is None:
            return number
        return self._places.get(number)

    def first(self) -> Key:
        """The first case; an empty key where there is none."""
        return self._made(0).key if len(self._all) else ()

    def neighbour(self, key: Key, step: int) -> VerdictCase | None:
        """The case shown next (1) or before (-1); None at the ends."""
        here = self._row(key)
        row = (here if here is not None else -1 if step > 0 else 0) + step
        return self._made(self._rows[row]) if 0 <= row < len(self._rows) else None

    def next_open(self, key: Key) -> Key | None:
        """The next open case, shown or not, from the top again after the last; None when all are done."""
        here = self.number(key)
        at = 0 if here is None else here + 1
        around = chain(range(at, len(self._all)), range(at))
        number = next((number for number in around if not self._all.said[number]), None)
        return None if number is None else self._made(number).key

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a line shows; the delegate takes the case itself."""
        if not index.isValid():
            return None
        case = self._made(self._rows[index.row()])
        if role == CASE_ROLE:
            return case
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{case.place.item_key}  {case.words}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = self.faces[case.said][0] if case.said in self.faces else "open"
            return f"Item {case.place.item_key}, {said}: {case.words}"
        return None
