"""One verdict in full: the unit, both sides, reason and note."""

from collections.abc import Sequence

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QSizePolicy, QWidget

from annotator.actions.sets.verdict_readings import VerdictReading
from annotator.domain.judges.informed import Review
from annotator.gui import keys, theme
from annotator.gui.pages.validation.cases.faults import FAULTS, VerdictAnswer
from annotator.gui.pages.validation.cases.reading_pane import CaseReadingPane
from annotator.gui.pages.validation.cases.verdict_cases import CaseVoice, Key, VerdictCase
from annotator.gui.review.judge_words import flag_words
from annotator.gui.review.key_chips import KeyChips
from annotator.gui.review.kind_row import OF_VERDICT, KindRow
from annotator.gui.review.state_chip import StateChip
from annotator.gui.review.verdicts import face
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, column_of, horizontal, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.growing_edit import GrowingEdit, direction_of
from annotator.gui.widgets.keyless_area import KeylessArea
from annotator.gui.widgets.reading.quote_button import QuoteButton


class VoiceBox(QFrame):
    """One side; `quote_wanted` asks for its passage."""

    quote_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.who, self.value = ElidedLabel("", "strong"), StateChip()
        self.why, self.flags = PlainLabel("", wrap=True), PlainLabel("", "hint", wrap=True)
        self.quote = QuoteButton("quiet", "Press to show its place.")
        self.quote.clicked.connect(self.quote_wanted)
        self.quote.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        column = vertical(horizontal((self.who, 1), self.value), on=self, margins=(10, 8, 10, 8), spacing=4)
        for widget in (self.why, self.quote, self.flags):
            column.addWidget(widget)

    def show_voice(self, voice: CaseVoice, protocol: str, *, stands: bool | None) -> None:
        """Show a side; `stands` tells whether its quote is in what is read, None where it quotes nothing."""
        look = face(voice.value, protocol)
        self.who.setText(voice.who)
        self.value.show_state(look.words, look.icon, look.state)
        self.why.setText(voice.why)
        self.why.setLayoutDirection(direction_of(voice.why))
        self.why.setVisible(bool(voice.why))
        self.quote.show_quote(voice.quote)
        self.quote.setVisible(bool(voice.quote))
        said = [flag_words(flag) for flag in voice.flags if flag != "quote_missing"]
        said += ["These words are not in the text"] if stands is False else []
        said += ["No reason or passage given"] if not (voice.why or voice.quote) else []
        self.flags.setText(" · ".join(said))
        self.flags.setVisible(bool(said))
        self.setAccessibleName(f"{voice.who} says {look.words}. {voice.why}".strip())


SIDES = 2
# In a window that is lower, in pixels of the design, the verdict needs the room of what is read or chosen once.
ROOMY = 680


def is_roomy(widget: QWidget) -> bool:
    return widget.window().height() >= theme.current().px(ROOMY)


class CaseCard(QWidget):
    """Shows a case and announces the chosen act."""

    faulted = Signal(object)
    noted = Signal(str)
    quote_wanted = Signal(int)
    kind_given = Signal(int)

    def __init__(self, name: str, answers: Sequence[VerdictAnswer], waits: str, locked: str) -> None:
        """`waits` are the words of the choice to stay until a reason is given; `locked` says why nothing changes."""
        super().__init__()
        self._setting, self._locked = f"{name}/waits", locked
        self._answers = {answer.value: answer for answer in answers}
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("role", "side")
        self.where, self.state = ElidedLabel("", "hint"), StateChip()
        self.beside, self.unit = PlainLabel("", "hint", wrap=True), PlainLabel("", "subtitle", wrap=True)
        self.boxes = [VoiceBox() for _ in range(SIDES)]
        for number, box in enumerate(self.boxes):
            box.quote_wanted.connect(lambda number=number: self.quote_wanted.emit(number))
        self.kinds = KindRow(readonly=bool(locked), acts=OF_VERDICT)
        self.kinds.given.connect(self.kind_given)
        self.reasons = KeyChips("Why is the judge wrong?", FAULTS)
        self.reasons.chosen.connect(self.faulted)
        self.waiting = QCheckBox(waits)
        self.waiting.setChecked(QSettings().value(self._setting, False, bool) is True)
        self.waiting.toggled.connect(lambda on: QSettings().setValue(self._setting, on))
        self.note = GrowingEdit(least=1, most=5)
        self.note.setAccessibleName("Note")
        self._noted: Key = ()
        self.note.setReadOnly(bool(locked))
        self.note.edited.connect(self.noted)
        self.note.left.connect(lambda: self.setFocus(Qt.FocusReason.OtherFocusReason))
        self.waiting.setToolTip("After “judge wrong”, stay until a reason is given.")
        self.show_keys()
        self._lay_out()

    def _lay_out(self) -> None:
        inside = column_of(
            self.beside, self.unit, *self.boxes, StretchSpace(1), margins=(0, 0, 4, 0), spacing=8
        )
        self.area = KeylessArea("The verdict")
        self.area.setWidget(inside)
        # What is said with one key each is always whole; what it is said of scrolls.
        self.area.setMinimumHeight(24)
        column = vertical(
            horizontal((self.where, 1), self.state),
            (self.area, 1),
            on=self,
            margins=(12, 10, 10, 8),
            spacing=8,
        )
        for control in (self.kinds, self.reasons, self.waiting, self.note):
            column.addWidget(control)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """In a low window there is no room for what is chosen once."""
        self.waiting.setVisible(is_roomy(self))

    def show_case(
        self, case: VerdictCase, found: VerdictReading | None, where: str, texts: CaseReadingPane
    ) -> None:
        """Show a case with what is read before it."""
        self.where.setText(where)
        words = (found.unit if found is not None else "") or case.words
        self.unit.setText(words)
        self.unit.setLayoutDirection(direction_of(words))
        given = "\n".join(found.given) if found is not None else ""
        self.beside.setText(given)
        self.beside.setLayoutDirection(direction_of(given))
        self.beside.setVisible(bool(given))
        for number, box in enumerate(self.boxes):
            box.setVisible(number < len(case.voices))
            if number < len(case.voices):
                voice = case.voices[number]
                box.show_voice(voice, case.protocol, stands=texts.stands(voice))
        self.area.verticalScrollBar().setValue(0)

    def show_said(self, case: VerdictCase, reason: str, note: str, *, asks: bool) -> None:
        """Show what holds of the case; `asks` wants a reason aloud."""
        self._fit()
        answer = self._answers.get(case.said)
        look = (answer.words, answer.icon, answer.state) if answer else ("Open", "new", "missing")
        self.state.show_state(*look)
        held = next((fault for _, fault, _ in FAULTS if fault.value == reason), None)
        idle = bool(self._locked) or (answer is not None and not answer.asks)
        self.reasons.show_value(held, wanted=asks, locked=idle)
        rejected = answer is not None and answer.value == Review.DISAGREE.value
        asked = None if rejected else case.asked
        flags = " ".join(case.voices[0].flags) if case.voices else ""
        self.kinds.show_kind(asked, case.kind, asked.suggested(case.voices[0].value, flags) if asked else "")
        typing = self.note.hasFocus() and case.key == self._noted
        self._noted = case.key
        if note != self.note.toPlainText() and not typing:
            self.note.setPlainText(note)

    def enter_note(self) -> None:
        self.note.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_keys(self) -> None:
        self.note.setPlaceholderText(f"A note, stored with your answer ({keys.shown('note')})")
        self.reasons.show_keys()
