"""Unclear criteria: how often, in which cases, and rewording each as a new version."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import rejudging, rewording, verdict_readings
from annotator.actions.sets.rejudging import StaleJudgements
from annotator.actions.sets.verdict_readings import ReadingSide
from annotator.actions.validation.disagreements import Disagreement, UnclearCriterion
from annotator.domain.judges.informed import InformedRuling
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.review.verdicts import face
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    stacked,
    vertical,
)
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.growing_edit import GrowingEdit, direction_of
from annotator.gui.widgets.keyless_area import KeylessArea

KEPT = (
    "The criterion keeps its place, weight and id. Judges are asked again about this criterion only; "
    "verdicts on the old wording no longer count. People label it again once they reopen their labels."
)
WHOLE = "Which report is better?"
NONE = (
    "No criterion is unclear",
    "Criteria you rule unclear are listed here, to be reworded in their rubric.",
)


class UnclearPanel(QWidget):
    """The list on the left, the chosen criterion with cases and rewording on the right, rejudging below."""

    settled = Signal(object)
    """A criterion was worded anew: the Unclear."""
    ordered = Signal(object)
    """An order was put into the queue of runs."""
    closed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk, self._protocol = desk, ""
        self._unclear: Sequence[UnclearCriterion] = ()
        self._cases: Sequence[Disagreement] = ()
        self._found: tuple[str, Sequence[UnclearCriterion], Sequence[Disagreement]] | None = None
        """What is still to be shown: it comes with every look, also while the panel is out of view."""
        self._again: Sequence[StaleJudgements] = ()
        self._typed: dict[str, str] = {}
        self._make()
        self._lay_out()
        self.list.currentRowChanged.connect(lambda _: self._show_chosen())

    def _make(self) -> None:
        self.list = QListWidget()
        self.list.setAccessibleName("Unclear criteria")
        self.list.setWordWrap(True)
        self.back = push_button("Back to the disagreements", self.closed)
        self.title, self.unit = PlainLabel("", "hint"), PlainLabel("", "subtitle", wrap=True)
        self.cases = PlainLabel("", wrap=True)
        self.words = GrowingEdit(least=2, most=8)
        self.words.setAccessibleName("Reword it")
        self.words.edited.connect(self._keep)
        self.words.left.connect(lambda: self.list.setFocus(Qt.FocusReason.OtherFocusReason))
        self.refused = PlainLabel("", "hint", wrap=True)
        self.settle_button = KeyButton("Save the new wording", keys.sequences("submit")[0], "primary")
        self.settle_button.clicked.connect(self.settle)
        self.open_button = push_button("Open the rubric", self._open)
        self.again = PlainLabel("", wrap=True)
        self.judge_button = KeyButton("Judge it again", keys.sequences("judge_anew")[0])
        self.judge_button.clicked.connect(self.judge_again)

    def _lay_out(self) -> None:
        inside = QWidget()
        column = vertical(on=inside, margins=(12, 4, 8, 8), spacing=8)
        heading = PlainLabel("Reword it", "strong")
        for widget in (
            self.title,
            self.unit,
            self.cases,
            heading,
            self.words,
            PlainLabel(KEPT, "hint", wrap=True),
        ):
            column.addWidget(widget)
        column.addWidget(self.refused)
        acts = horizontal(self.settle_button, self.open_button, StretchSpace(1))
        column.addLayout(acts)
        column.addStretch(1)
        area = KeylessArea("The criterion")
        area.setWidget(inside)
        self.nothing = EmptyState("check", *NONE)
        self.right = stacked(area, self.nothing)
        left = column_of((self.list, 1), self.back)
        parts = Splitter("validate/unclear", parts=(left, self.right), sizes=(380, 720))
        vertical((parts, 1), horizontal((self.again, 1), self.judge_button), on=self, margins=0)

    def show_found(
        self,
        protocol: str,
        unclear: Sequence[UnclearCriterion],
        cases: Sequence[Disagreement],
        again: Sequence[StaleJudgements],
    ) -> None:
        """Show what is unclear, the cases that were ruled so, and what waits to be judged again."""
        self._found, self._again = (protocol, unclear, cases), again
        self.again.setText(
            f"To be judged again: {' '.join(one.words() for one in again)}"
            if again
            else "Nothing needs to be judged again."
        )
        self.judge_button.setEnabled(bool(again) and not self._desk.project.readonly)
        if self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        """Show what was found while the panel was out of view."""
        super().showEvent(event)
        self._fill()

    def _fill(self) -> None:
        if self._found is None:
            return
        kept = self._chosen.unit_id if self._chosen is not None else ""
        (self._protocol, unclear, self._cases), self._found = self._found, None
        self._unclear = unclear
        with QSignalBlocker(self.list):
            self.list.clear()
            for one in unclear:
                entry = QListWidgetItem(
                    f"{one.times:,} ×  item {one.item_key}: \u2068{one.words or WHOLE}\u2069"
                )
                self.list.addItem(entry)
            ids = [one.unit_id for one in unclear]
            self.list.setCurrentRow(ids.index(kept) if kept in ids else 0)
        self._show_chosen()

    @property
    def _chosen(self) -> UnclearCriterion | None:
        row = self.list.currentRow()
        return self._unclear[row] if 0 <= row < len(self._unclear) else None

    def _show_chosen(self) -> None:
        one = self._chosen
        self.right.setCurrentIndex(0 if one is not None else 1)
        self.settle_button.setEnabled(one is not None)
        if one is None:
            return
        self.title.setText(f"Item {one.item_key} · ruled unclear {counted(one.times, 'time')}")
        self.unit.setText(one.words or WHOLE)
        self.unit.setLayoutDirection(direction_of(one.words))
        self.cases.setText("\n".join(self._told(self._cases_of(one))))
        self.words.setPlainText(self._typed.get(one.unit_id, one.words))
        way = self._desk.ask(rewording.way, self._protocol, one.item_id, one.unit_id)
        refused = way.refused if way is not None else ""
        readonly = self._desk.project.readonly
        self.refused.setText(refused)
        self.refused.setVisible(bool(refused))
        self.words.setReadOnly(bool(refused) or readonly)
        self.settle_button.setEnabled(not refused and not readonly)
        self.open_button.setVisible(bool(way and way.page))

    def _cases_of(self, one: UnclearCriterion) -> list[Disagreement]:
        wanted = (one.item_id, one.unit_id)
        return [
            case
            for case in self._cases
            if (case.place.item_id, case.place.unit_id) == wanted
            and case.ruling == InformedRuling.UNCLEAR.value
        ]

    def _told(self, cases: Sequence[Disagreement]) -> Iterator[str]:
        """Each case in a line or two: what each side says and why, and what the ruling noted."""
        raters = {rater for case in cases for rater in (case.judge.id, case.person_id)}
        places = {case.place.key for case in cases}
        found = self._desk.ask(verdict_readings.sides, self._protocol, raters, places) or {}
        for case in cases:
            said = (
                (case.judge.id, case.judge.name, case.judge_value),
                (case.person_id, case.alias, case.label_value),
            )
            sides = "; ".join(
                f"{name} says “{face(value, self._protocol).words}”"
                f"{_because(found.get((rater, case.place.key), ReadingSide()).why)}"
                for rater, name, value in said
            )
            yield f"• {sides}.{f' Noted: {case.note}' if case.note else ''}"

    def _keep(self, words: str) -> None:
        if self._chosen is not None:
            self._typed[self._chosen.unit_id] = words

    def settle(self) -> None:
        """Make the typed words those of the criterion, as a new sealed version."""
        one = self._chosen
        if one is None or not self.settle_button.isEnabled():
            return
        self.words.tell()
        notes = "; ".join(case.note for case in self._cases_of(one) if case.note)
        why = f"{rewording.WHY} {notes}".strip()
        done = self._desk.do(
            rewording.word, self._protocol, one.item_id, one.unit_id, self.words.toPlainText(), why
        )
        if done is not None:
            self._typed.pop(one.unit_id, None)
            self.settled.emit(one)

    def judge_again(self) -> None:
        """Put an order for each judge concerned into the queue of runs."""
        if not self.judge_button.isEnabled():
            return
        made: list[RunRequest] = []
        for one in self._again:
            order = self._desk.do(rejudging.queue_up, one.order.judge, one.order.protocol)
            made += [order] if order is not None else []
        if made:
            self.ordered.emit(made)

    def _open(self) -> None:
        one = self._chosen
        way = self._desk.ask(rewording.way, self._protocol, one.item_id, one.unit_id) if one else None
        if way is not None:
            self._desk.go(way.page, **way.place)

    def take_focus(self) -> None:
        """Work begins in the new words, or in the list."""
        if self._chosen is not None and not self.words.isReadOnly():
            self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            (self.list if self._unclear else self.back).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leads back to the disagreements; in the words, to the list."""
        if event.key() == Qt.Key.Key_Escape and not self.words.hasFocus():
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def show_keys(self) -> None:
        self.settle_button.set_key(keys.sequences("submit")[0])
        self.judge_button.set_key(keys.sequences("judge_anew")[0])


def _because(why: str) -> str:
    return f": {' '.join(why.split())}".rstrip(".") if why else ""
