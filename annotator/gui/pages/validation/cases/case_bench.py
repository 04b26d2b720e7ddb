"""Workbench for verdicts: list on the left, text in the middle, verdict on the right."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from annotator.actions.sets import verdict_readings
from annotator.domain.judges.informed import Fault, Review
from annotator.gui import keys, theme
from annotator.gui.desk import flow
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.validation.cases.case_card import CaseCard
from annotator.gui.pages.validation.cases.case_pane import CasePane
from annotator.gui.pages.validation.cases.faults import FAULTS, VerdictAnswer
from annotator.gui.pages.validation.cases.reading_pane import CaseReadingPane
from annotator.gui.pages.validation.cases.verdict_cases import (
    CaseFilter,
    Cases,
    Key,
    VerdictCase,
    VerdictCases,
)
from annotator.gui.widgets.bars.splitter import Splitter

SCREENS = {int(Qt.Key.Key_PageDown): 1, int(Qt.Key.Key_PageUp): -1}
READONLY = "This file is read-only."


@dataclass(frozen=True, slots=True)
class BenchWords:
    """Words of a bench: settings key, list name, done, and waiting."""

    name: str
    lists: str
    done: str
    waits: str


# Keeps what was said of a case: its answer, its reason, its note, its kind of error; whether it was kept.
Keep = Callable[[VerdictCase, str, str, str, str], bool]


LEAST_CARD = 330


class CaseBench(Splitter):
    """One case at a time; every answer goes through `keep`."""

    moved = Signal()
    """Another case lies open, or what is said of it has changed."""
    told = Signal(str)
    """What a key did where the case in view does not show it, or why it did nothing."""
    finished = Signal()
    """Nothing is open any more."""

    def __init__(self, desk: Desk, words: BenchWords, answers: Sequence[VerdictAnswer], keep: Keep) -> None:
        super().__init__(words.name)
        self._desk, self._answers, self._keep = desk, answers, keep
        self.cases = VerdictCases(self)
        self.cases.faces = {one.value: (one.words, one.icon, one.state) for one in answers}
        self.key: Key = ()
        self._asks = self._replaced = False
        self._reasons: dict[Key, str] = {}
        self._notes: dict[Key, str] = {}
        self.pane = CasePane(self.cases, words.lists, words.done)
        self.reading = CaseReadingPane(desk, words.name)
        locked = READONLY if desk.project.readonly else ""
        self.card = CaseCard(words.name, answers, words.waits, locked)
        self.flow = _Flow(self)
        self.pane.chosen.connect(self.open)
        self.card.faulted.connect(self._give_reason_here)
        self.card.kind_given.connect(self.give_kind)
        self.card.noted.connect(self._note)
        self.card.quote_wanted.connect(self.reading.show_quote)
        for part, least in ((self.pane, 150), (self.reading, 260)):
            part.setMinimumWidth(least)
            self.addWidget(part)
        self.addWidget(self.card)
        self._dress()
        theme.watch(self, self._dress)
        self.setStretchFactor(1, 1)
        self.setSizes([225, 640, 345])
        self.grow(self.pane, 225)

    def _dress(self) -> None:
        # Its reasons stand in few enough lines to be seen with everything else.
        theme.scale(self.card.setMinimumWidth, LEAST_CARD)

    @property
    def case(self) -> VerdictCase | None:
        return self.cases.case(self.key)

    def show_cases(self, cases: Cases, wanted: Key = (), *, chosen: bool = False) -> None:
        """Take the cases over as they now are; the current one stays, otherwise the first open one comes.

        `chosen`: whether they are others because the person chose others.
        """
        self.cases.fill(cases)
        there = [key for key in (wanted, self.key) if self.cases.number(key) is not None]
        # The person may be about to answer the case that is gone: the next key is not for another one.
        self._replaced = bool(self.key) and not there and not chosen
        self.key = there[0] if there else self.cases.next_open(()) or self.cases.first()
        self.pane.show_open(self.key)
        self.pane.refill()
        self._show()

    def open(self, key: Key) -> None:
        """Lay a case open."""
        self.flow.touched()
        self.card.note.tell()
        if key != self.key and self.cases.number(key) is not None:
            self.key, self._asks, self._replaced = key, False, False
            self.pane.show_open(key)
            self._show()

    def _show(self) -> None:
        case = self.case
        if case is None:
            self.moved.emit()
            return
        raters = [voice.rater for voice in case.voices]
        found = self._desk.ask(verdict_readings.reading, case.protocol, case.place, raters)
        if found is not None:
            case = case.with_sides(found.sides)
        self.reading.show_reading(found, case.voices)
        number, every = (self.cases.number(case.key) or 0) + 1, self.cases.counted(CaseFilter.ALL)
        where = (
            f"Item \u2068{case.place.item_key}\u2069 · weight {case.place.weight:g} · {number:,} of {every:,}"
        )
        self.card.show_case(case, found, where, self.reading)
        self._show_said()

    def _show_said(self) -> None:
        case = self.case
        if case is not None:
            reason = self._reasons.get(case.key, case.reason)
            self.card.show_said(case, reason, self._notes.get(case.key, case.note), asks=self._asks)
        self.moved.emit()

    def say(self, place: int) -> None:
        """Answer, then on to the next open case, unless a reason is waited for."""
        case = self.case
        if case is None or self._desk.project.readonly or self._is_held(case, place):
            return
        self.card.note.tell()
        answer = self._answers[place]
        reason = self._reasons.get(case.key, case.reason) if answer.asks else ""
        again = self._asks and case.said == answer.value
        if not again and not self._kept(case, answer.value, reason):
            return
        self._asks = answer.asks and not reason and not again and self.card.waiting.isChecked()
        self._show_said()
        self.flow.said = case.key
        if not self._asks:
            self.flow.advance()

    def _is_held(self, case: VerdictCase, place: int) -> bool:
        """Whether a key decides nothing: it was typed for another case, or this one is answered and stays."""
        back = keys.shown("take_back")
        if self._replaced:
            self._replaced = False
            self.told.emit("The list has changed: this is another case. Read it, then answer.")
        elif self._asks and self._answers[place].value != case.said:
            self.told.emit(f"This answer waits for a reason. {back} takes it back.")
        elif case.said and self.flow.is_spent(case.key) and not self._asks:
            self.told.emit(f"This was the last open case. {back} takes your answer back.")
        else:
            return False
        return True

    def give_reason(self, fault: Fault) -> None:
        """Say why, before or after the answer; the same reason again undoes it.

        It is for the case answered last until another is touched: going on by itself does not take it away.
        """
        last = self.cases.case(self.flow.said)
        case = last if last is not None and self._asking(last.said) else self.case
        if case is None or self._desk.project.readonly:
            return
        held = self._reasons.get(case.key, case.reason)
        reason = "" if held == fault.value else fault.value
        if not case.said:
            self._reasons[case.key] = reason
            self._show_said()
            return
        if not self._asking(case.said):
            return
        here = case.key == self.key
        going = here and self._asks
        if self._kept(case, case.said, reason):
            self._asks = self._asks and not here
            self._show_said()
            if not here:
                words = next((words for _, one, words in FAULTS if one == reason), "no reason")
                self.told.emit(f"Item {case.place.item_key}, answered before: {words}.")
            elif going and reason:
                self.flow.advance()

    def give_kind(self, place: int) -> None:
        """Say of what kind the error is that the verdict tells of, which accepts it; then on to the next open case."""
        case = self.case
        asked = case.asked if case is not None and not self._desk.project.readonly else None
        if case is None or asked is None or place >= len(asked.values):
            return
        self.card.note.tell()
        if self._kept(case, Review.AGREE.value, "", kind=asked.values[place]):
            self._asks, self.flow.said = False, case.key
            self._show_said()
            self.flow.advance()

    def _give_reason_here(self, fault: Fault) -> None:
        """A reason was pressed on the card of the current case, and is meant for that one."""
        self.flow.touched()
        self.give_reason(fault)

    def _asking(self, said: str) -> bool:
        return any(answer.value == said and answer.asks for answer in self._answers)

    def _note(self, note: str) -> None:
        case = self.case
        if case is None:
            return
        if not case.said or not self._kept(case, case.said, case.reason, note):
            self._notes[case.key] = note

    def _kept(
        self, case: VerdictCase, said: str, reason: str, note: str | None = None, kind: str = ""
    ) -> bool:
        told = self._notes.get(case.key, case.note) if note is None else note
        if not self._keep(case, said, reason, told, kind):
            return False
        self._reasons.pop(case.key, None)
        self._notes.pop(case.key, None)
        self.cases.say(case.key, said, reason, told, kind or case.kind)
        self.pane.recount()
        return True

    def step(self, by: int) -> None:
        case = self.cases.neighbour(self.key, by)
        if case is not None:
            self.open(case.key)

    def next_open(self) -> None:
        """The next open case, from the top again after the last, or say that there is none."""
        key = self.cases.next_open(self.key)
        if key is None:
            self.finished.emit()
        else:
            self.open(key)

    def is_at_hand(self) -> bool:
        """Whether the keyboard is here, so that its digits are meant for the case."""
        here = QApplication.focusWidget()
        return here is not None and self.isAncestorOf(here)

    def take_focus(self) -> None:
        self.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leads back to the case; from there the arrows step through the list and the page keys scroll the text."""
        steps = {int(Qt.Key.Key_Down): 1, int(Qt.Key.Key_Up): -1}
        if event.key() == Qt.Key.Key_Escape:
            self.take_focus()
        elif self.card.hasFocus() and event.key() in SCREENS:
            self.reading.turn(SCREENS[event.key()])
        elif self.card.hasFocus() and event.key() in steps:
            self.step(steps[event.key()])
        else:
            super().keyPressEvent(event)

    def stop(self) -> None:
        self.card.note.tell()


class _Flow(flow.Flow):
    """Advances to the next open case."""

    def __init__(self, bench: CaseBench) -> None:
        super().__init__(bench)
        self._bench = bench

    def _go_on(self) -> None:
        self._bench.next_open()
