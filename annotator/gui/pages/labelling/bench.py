"""State of the Label page: the open report, the current unit, and the labels so far."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from annotator.actions.assignments import times
from annotator.actions.labelling import label_rows, labels
from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.label_rows import USUAL
from annotator.actions.labelling.label_writing import SEVERAL
from annotator.actions.labelling.labels import LabelSheet, UnitGroup
from annotator.actions.labelling.second_looks import TAXONOMIES
from annotator.domain.judges.judgement import Judgement, RaterKind
from annotator.domain.judges.presentation import CaseLayout
from annotator.domain.kinds.artifact import Unit
from annotator.domain.texts.change import Change
from annotator.gui.desk.attention import Clock
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.labelling.kinds import Kinds
from annotator.gui.pages.labelling.label_queue import LabelQueue
from annotator.gui.review.verdicts import UnitLabel, answers, is_flagged, said


@dataclass(frozen=True, slots=True)
class LabelChanged:
    """The subject of a change of this person's labels; `protocol` is that of the question."""

    protocol: str
    response_id: str
    unit_id: str


class LabellingBench(QObject):
    """The open report; all labels and their changes pass through here."""

    leaving = Signal()
    """The open report is about to be left: what is being typed must be kept now."""
    opened = Signal()
    """Another report lies open, or none."""
    moved = Signal(str)
    """The unit at hand has changed: its id."""
    told = Signal(str)
    """What is said of a unit has changed: its id."""

    def __init__(self, desk: Desk, queue: LabelQueue, clock: Clock, page: QObject) -> None:
        super().__init__(page)
        self._desk, self._queue, self._clock = desk, queue, clock
        self._unspent = 0.0
        self.kinds = Kinds(desk, self._do, self.said)
        self.protocol = USUAL
        self.sheet: LabelSheet | None = None
        self.unit_id = ""

    @property
    def task_id(self) -> str:
        return self.sheet.id if self.sheet else ""

    @property
    def response_id(self) -> str:
        """The open report (of a pair the first), or nothing."""
        return self.sheet.response_id if self.sheet else ""

    @property
    def units(self) -> Sequence[Unit]:
        return self.sheet.units if self.sheet else ()

    @property
    def open_units(self) -> list[str]:
        return [unit.id for unit in self.units if not self.said(unit.id)]

    @property
    def group(self) -> UnitGroup | None:
        groups = self.sheet.groups if self.sheet else ()
        return next((group for group in groups if self.unit_id in {unit.id for unit in group.units}), None)

    @property
    def unit(self) -> Unit | None:
        return next((unit for unit in self.units if unit.id == self.unit_id), None)

    def label(self, unit_id: str) -> Judgement | None:
        """What is kept about a unit, if anything."""
        return self.sheet.labels.get(unit_id) if self.sheet else None

    def said(self, unit_id: str) -> str:
        """What is said of a unit: a value, “unsure”, or nothing."""
        return said(self.label(unit_id))

    def _outdated(self, unit_id: str) -> str:
        """What was said of a unit when its words were others, unless it was said again since."""
        if self.sheet is None or (self.said(unit_id) and not self.sheet.sealed):
            return ""
        return said(self.sheet.outdated.get(unit_id))

    def kept(self, unit_id: str) -> UnitLabel:
        kinds = self.kinds
        origin = self.sheet.given.get(unit_id, "") if self.sheet else ""
        return UnitLabel(
            self.label(unit_id),
            kinds.asked(unit_id),
            kinds.of(unit_id),
            self._outdated(unit_id),
            origin,
            tuple(kinds.all_asked(unit_id)[1:]),
        )

    def take_up(self, protocol: str) -> None:
        """Another question is asked from now on; nothing lies open."""
        self.leaving.emit()
        self.put_down()
        self.protocol, self.sheet, self.unit_id = protocol, None, ""

    def open(self, task_id: str, unit_id: str = "") -> bool:
        """Lay out a report or a pair at a unit, by default its first open one; whether that could be done."""
        self.leaving.emit()
        self.put_down()
        task = self._queue.task(task_id)
        response_id, other_id = (task.response_id, task.other_id) if task else (task_id, "")
        sheet = self._desk.ask(labels.sheet, response_id, self.protocol, other_id)
        if sheet is None:
            return False
        self.sheet, self.unit_id = sheet, ""
        self.kinds.look_up(self.protocol, response_id)
        self.opened.emit()
        ids = [unit.id for unit in self.units]
        waiting = self.open_units or ids
        if ids:
            self.move_to(unit_id if unit_id in ids else waiting[0])
        return True

    def put_down(self) -> None:
        """The report is left: the active time spent on it is kept."""
        self._unspent += self._clock.take()
        if self.sheet and not self._desk.project.readonly and self._unspent >= 0.1:
            self._desk.ask(times.spend, self.sheet.response_id, self._unspent)
        self._unspent = 0.0

    def move_to(self, unit_id: str) -> None:
        if unit_id != self.unit_id:
            self.unit_id = unit_id
            self.moved.emit(unit_id)

    def say(self, place: int) -> bool:
        """Give the current unit the label of a place in the order of the keys; whether it is now so labelled."""
        known = answers(self.protocol) if self.sheet else ()
        if not self.unit_id or place >= len(known):
            return False
        value = known[place]
        if self.said(self.unit_id) == value:
            return True
        seconds = self._clock.take()
        self._unspent += seconds
        before = self.label(self.unit_id)
        earlier = (before.seconds or 0.0) if before else 0.0
        return self._do(
            labels.set_label, self.unit_id, value, seconds=earlier + seconds, protocol=self.protocol
        )

    def say_rest(self) -> bool:
        """Say of all that is open beside the current unit what is mostly said; whether anything was."""
        rest, group = self.rest(), self.group
        if not rest or group is None:
            return False
        waiting = [unit.id for unit in group.units if not self.said(unit.id)]
        return self._do(labels.set_labels, waiting, rest, protocol=self.protocol)

    def rest(self) -> str:
        """What can be said in one go of all that is open beside the current unit; empty when nothing."""
        shown, group = presentation_of(self.protocol), self.group
        value = shown.rest
        # A list is answered together only where there is but one answer.
        alone = group is not None and (shown.layout is CaseLayout.MATRIX or group.values == (value,))
        return value if alone and group and any(not self.said(unit.id) for unit in group.units) else ""

    def note(self, unit_id: str, words: str) -> None:
        label = self.label(unit_id)
        if words != (label.note if label else ""):
            self._do(labels.set_note, unit_id, words, self.protocol)

    def flag(self) -> None:
        """Flag the current unit for a second look, or take the flag away."""
        if self.unit_id:
            self._do(labels.set_flag, self.unit_id, not is_flagged(self.label(self.unit_id)), self.protocol)

    def mark(self, unit_id: str, quote: str, start: int | None, end: int | None) -> bool:
        """Keep a passage of what is read as a unit's evidence; an empty quote takes it away."""
        return self._do(labels.set_evidence, unit_id, quote, start, end, self.protocol)

    def take_in(self, change: Change) -> LabelChanged | None:
        """Take over a change of this person's own labels; what it is about.

        Judgements of other raters pass unseen: then it is None.
        """
        told = None
        for before, after in _each(change):
            tree = after or before
            if tree and self._is_mine(tree):
                told = self._take_in_one(tree["protocol"], before, after, told)
        return told

    def _take_in_one(
        self, protocol: str, before: Mapping[str, Any], after: Mapping[str, Any], told: LabelChanged | None
    ) -> LabelChanged:
        tree = after or before
        response_id, unit_id = str(tree["response_id"]), str(tree["unit_id"])
        taxonomy = TAXONOMIES.get(protocol)
        here = LabelChanged(taxonomy.of if taxonomy else protocol, response_id, unit_id)
        open_here = response_id == self.response_id and here.protocol == self.protocol
        if taxonomy and open_here:
            self.kinds.take_in(protocol, unit_id, after)
        elif not taxonomy and here.protocol == self.protocol:
            self._take_label(here, before, after)
        if open_here and any(unit.id == unit_id for unit in self.units):
            self.told.emit(unit_id)
        return told or here

    def _take_label(self, here: LabelChanged, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        now, was = self._as_it_counts(here, after), said(self._as_it_counts(here, before))
        waits = label_rows.is_waiting(after.get("flags", ""))
        if self.sheet and here.response_id == self.response_id:
            self.sheet.labels.pop(here.unit_id, None)
            if now is not None:
                self.sheet.labels[here.unit_id] = now
            waits = any(label_rows.is_waiting(one.flags) for one in self.sheet.labels.values())
        self._recount(here, was, said(now), waits=waits)

    def _as_it_counts(self, here: LabelChanged, image: Mapping[str, Any]) -> Judgement | None:
        label = Judgement(**image) if image else None
        if self.sheet is None or label is None or here.response_id != self.response_id:
            return label
        return self.sheet.as_it_counts(label)

    def _do(self, verb: Callable[..., Change], *args: object, **kwargs: object) -> bool:
        self._clock.touch()
        return self._desk.do(verb, self.response_id, *args, **kwargs) is not None

    def _is_mine(self, tree: Mapping[str, object]) -> bool:
        person = self._desk.project.person
        mine = tree.get("rater_kind") == RaterKind.PERSON.value and person is not None
        return mine and person is not None and tree.get("rater_id") == person.id

    def _recount(self, here: LabelChanged, before: str, now: str, *, waits: bool) -> None:
        task = self._queue.about(here.response_id, here.unit_id)
        if task is not None:
            labelled = task.labelled + bool(now) - bool(before)
            unsure = task.unsure + (now == label_rows.UNSURE) - (before == label_rows.UNSURE)
            self._queue.count(task.id, labelled, unsure, waits=waits)


def _each(change: Change) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """What each label was and is, in a change of one or of several."""
    before, after = change.before or {}, change.after or {}
    if SEVERAL not in before and SEVERAL not in after:
        yield before, after
        return
    one, other = before.get(SEVERAL, {}), after.get(SEVERAL, {})
    for label_id in one | other:
        yield one.get(label_id) or {}, other.get(label_id) or {}
