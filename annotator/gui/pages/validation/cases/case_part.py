"""Base class of the tabs that go through verdicts one by one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QApplication, QComboBox, QStackedWidget, QWidget

from annotator.domain.judges.informed import Fault
from annotator.domain.texts.change import Change
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.validation.cases.case_bench import BenchWords, CaseBench, Keep
from annotator.gui.pages.validation.cases.faults import FAULTS, VerdictAnswer
from annotator.gui.pages.validation.cases.verdict_cases import Key
from annotator.gui.review.kind_row import OF_VERDICT
from annotator.gui.widgets.bars.acts_bar import ActsBar
from annotator.gui.widgets.bars.flow_row import FlowRow, grow_by_width
from annotator.gui.widgets.basics import PlainLabel, column_of, horizontal
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.later import later

_WIDEST = 260


class ChoiceRow(QWidget):
    """A box for each name; `changed` comes after each choice."""

    changed = Signal()

    def __init__(self, names: Mapping[str, str]) -> None:
        """`names` are what each choice is known by, with its words."""
        super().__init__()
        self.boxes: dict[str, QComboBox] = {}
        row = FlowRow(self, gap=10)
        grow_by_width(self)
        for name, words in names.items():
            box = self.boxes[name] = ChoiceBox()
            box.setAccessibleName(words)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            theme.scale(box.setMaximumWidth, _WIDEST)
            box.activated.connect(lambda _: self.changed.emit())
            row.addWidget(_named(words, box))

    def value(self, name: str) -> str:
        return str(self.boxes[name].currentData() or "")

    def offer(self, name: str, options: Iterable[tuple[str, str]], held: str) -> None:
        """Offer options, one of which holds, and tell nobody."""
        box = self.boxes[name]
        offer(box, options)
        place = box.findData(held)
        if place >= 0 and place != box.currentIndex():
            with QSignalBlocker(box):
                box.setCurrentIndex(place)

    def offer_all(self, options: Mapping[str, Sequence[tuple[str, str]]], held: Mapping[str, str]) -> None:
        for name, some in options.items():
            self.offer(name, some, held[name])


def _named(words: str, box: QComboBox) -> QWidget:
    made = QWidget()
    horizontal(PlainLabel(words, "hint"), box, on=made, margins=0, spacing=5)
    return made


RECOUNT_MS, PAINTED_MS = 700, 30
WORK = 0
"""Where the cases stand in the stack."""


class CasePart(PagePart):
    """Choices above a stack with the cases; figures are recomputed after a pause."""

    NAMES: ClassVar[Mapping[str, str]]
    """What can be chosen, with its words."""
    ANSWERS: ClassVar[Sequence[str]]
    """The acts whose keys answer, in the order of the answers."""
    OF_LABELS: ClassVar[bool]
    """Whether a case sets a verdict against a person's label."""

    def __init__(
        self, desk: Desk, bar: ActsBar, words: BenchWords, answers: Sequence[VerdictAnswer], keep: Keep
    ) -> None:
        super().__init__(desk, bar)
        self.choices, self.stack = ChoiceRow(self.NAMES), QStackedWidget()
        self.bench = CaseBench(desk, words, answers, keep)
        self.bench.told.connect(lambda words: self.answer.show_message("info", words))
        self.recount = QTimer(self, singleShot=True)
        # What counts on another thread holds up painting: what there is is painted first.
        self._soon = later(self, self.look, 0)
        self.go_to: Key = ()
        """The case to be laid open when the cases come."""
        self.asked = 0
        """How often the cases were wanted: what answers an earlier query is nothing any more."""
        self._acting = False

    def stand(self, *above: QWidget) -> None:
        """Put the choices, what belongs to them, and the stack below one another."""
        whole = column_of(self.choices, *above, (self.stack, 1), spacing=6)
        self.lay_out(whole)

    def case_acts(self) -> Mapping[str, Callable[[], object]]:
        return {
            **{act: partial(self._say, place) for place, act in enumerate(self.ANSWERS)},
            **{act: partial(self._give_reason, fault) for act, fault, _ in FAULTS},
            **{act: partial(self._give_kind, place) for place, act in enumerate(OF_VERDICT)},
            "take_back": self._take_back,
            "next_open": self.bench.next_open,
            "next_item": partial(self._step, 1),
            "previous_item": partial(self._step, -1),
            "note": self.bench.card.enter_note,
            "find": self._seek,
        }

    @property
    def at_work(self) -> bool:
        """Whether the cases are in view."""
        return self.stack.currentIndex() == WORK

    def offer_answers(self, some: bool) -> None:
        """Offer what can be done with a case, where there are some."""
        for act in ("previous_item", "next_item", "next_open"):
            self.bar.enable(act, some)
        for act in self.ANSWERS:
            self.bar.enable(act, some and not self.desk.project.readonly)

    def turn(self, place: int) -> None:
        """Turn to a view; the keyboard goes along when it was in the one that goes away."""
        held, moved = holds(self.stack), self.stack.currentIndex() != place
        self.stack.setCurrentIndex(place)
        if moved and held:
            self.focus_first()

    def keep_by(self, act: Callable[..., object], *words: object, **more: object) -> bool:
        """Keep what was said; it shows already, so that only the figures are counted again. Whether it was kept."""
        self._acting = True
        done = self.desk.do(act, *words, **more) is not None
        self._acting = False
        if done:
            self.recount.start(RECOUNT_MS)
        return done

    def on_change(self, change: Change) -> None:
        """What is said here shows already; what is undone or redone is brought before the person."""
        if self._acting:
            return
        about: Mapping[str, Any] = (change.after or change.before or {}) if change.kind == "informed" else {}
        if about and self.desk.turning and bool(about.get("label_of")) == self.OF_LABELS:
            self.bench.flow.touched()
            names = ("judge_id", "response_id", "unit_id", "label_of")
            self.go_to = tuple(str(about.get(name) or "") for name in names)
        self.fill()

    def _say(self, place: int) -> None:
        if self.at_work and self.bench.is_at_hand():
            self.answer.clear()
            self.bench.say(place)

    def _give_reason(self, fault: Fault) -> None:
        if self.at_work and self.bench.is_at_hand():
            self.bench.give_reason(fault)

    def _give_kind(self, place: int) -> None:
        if self.at_work and self.bench.is_at_hand():
            self.bench.give_kind(place)

    def _take_back(self) -> None:
        if self.at_work and self.bench.is_at_hand():
            self.desk.take_back("Validate")

    def _step(self, by: int) -> None:
        if self.at_work:
            self.bench.step(by)

    def _seek(self) -> None:
        (self.bench.pane if holds(self.bench.pane) else self.bench.reading).seek()

    def rebind(self) -> None:
        super().rebind()
        self.bench.card.show_keys()

    def fill(self) -> None:
        """Read everything again; the current case stays."""
        self.asked += 1
        self.recount.stop()
        self._soon.start()

    def look(self) -> None:
        """Ask for the cases as they now are."""

    def keep(self) -> None:
        self.bench.stop()

    def stop(self) -> None:
        super().stop()
        self.bench.stop()
        self.recount.stop()
        self._soon.stop()


def holds(widget: QWidget) -> bool:
    """Whether the keyboard is in it."""
    here = QApplication.focusWidget()
    return here is not None and widget.isAncestorOf(here)
