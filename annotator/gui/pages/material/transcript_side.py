"""Beside a transcript: the chosen passage and its words, the speakers, and what was changed by whom."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QPushButton, QWidget

from annotator.actions.transcripts.correcting import OpenTranscript
from annotator.domain.material.transcript import DOUBTS, clock
from annotator.domain.texts.moments import local
from annotator.gui import keys, theme
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.empty_state import answered_label
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.growing_edit import GrowingEdit
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.layouts import StretchSpace, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel, tooltip

NOTHING = "Select words, or step through the doubtful passages."
MOST_ACTS = 200
Span = tuple[int, int]


class TranscriptSide(QWidget):
    """Asks for corrections; the view beside it has them done."""

    corrected = Signal(str)
    left_out = Signal()
    taken_back = Signal()
    renamed = Signal(str, str)
    hidden = Signal()
    """Speakers are to become S1, S2 …."""

    def __init__(self) -> None:
        super().__init__()
        self._opened: OpenTranscript | None = None
        self._kept, self._doubtful, self._excluded, self._readonly = "", False, False, True
        self.place, self.words = PlainLabel(role="hint", wrap=True), GrowingEdit(2, 8)
        self.words.setAccessibleName("Words of the passage")
        self.words.textChanged.connect(self._enable)
        self.correct = KeyButton("Correct", keys.shown("keep_drawn"))
        self.correct.set_hint("Save the words; unchanged words settle the doubt")
        self.correct.clicked.connect(self.save)
        self.leave = KeyButton("Leave out", keys.shown("remove_drawn"))
        self.leave.clicked.connect(self.turn)
        self.speaker, self.name = ChoiceBox(), LineField(placeholderText="new name, or another’s to merge")
        self.speaker.setAccessibleName("Speaker")
        self.name.setAccessibleName("New name of the speaker")
        self.speaker.currentIndexChanged.connect(lambda _: self._tell_speaker())
        self.name.textChanged.connect(lambda _: self._enable())
        self.name.returnPressed.connect(self._rename)
        self.rename, self.hide_names = QPushButton("Rename"), QPushButton("S1, S2 …")
        self.rename.clicked.connect(self._rename)
        self.hide_names.setToolTip("Replace the names of all speakers; who is who stays in this project")
        self.hide_names.clicked.connect(self.hidden)
        self.known = PlainLabel(role="hint", wrap=True)
        self.acts = QListWidget()
        self.acts.setAccessibleName("Changes, newest first")
        self.acts.setWordWrap(True)
        theme.scale(self.acts.setMinimumHeight, 130)
        self.none = answered_label("Nothing was changed yet.")
        self._lay_out()
        self.show_transcript(None, readonly=True)

    def _lay_out(self) -> None:
        passage, speakers, doing = QFrame(), QFrame(), FlowRow()
        for button in (self.correct, self.leave):
            doing.addWidget(button)
        for card in (passage, speakers):
            card.setProperty("role", "card")
        vertical(
            PlainLabel("Passage", "subtitle"), self.place, self.words, doing, on=passage, spacing=6,
        )  # fmt: skip
        vertical(
            PlainLabel("Speakers", "subtitle"), self.speaker, self.known, self.name,
            horizontal(self.rename, self.hide_names, StretchSpace(1)), on=speakers, spacing=6,
        )  # fmt: skip
        vertical(
            passage, speakers, PlainLabel("Changes", "subtitle"), self.none, (self.acts, 1), StretchSpace(0),
            on=self, margins=(8, 0, 0, 0), spacing=8,
        )  # fmt: skip

    def show_transcript(self, opened: OpenTranscript | None, *, readonly: bool) -> None:
        """Show the speakers and the history of a transcript."""
        self._opened, self._readonly = opened, readonly
        names = dict.fromkeys(opened.transcript.speakers) if opened else {}
        offer(self.speaker, [(name, name) for name in names])
        self._tell_speaker()
        self.acts.clear()
        for one in opened.history[:MOST_ACTS] if opened else ():
            undone = ", undone" if one.undone else ""
            item = QListWidgetItem(
                f"{one.verb}{undone}\n{one.by or 'nobody named'}, {local(one.at):%Y-%m-%d %H:%M}"
            )
            item.setToolTip(tooltip(f"Before: {one.before}\nAfter: {one.after}"))
            self.acts.addItem(item)
        self.none.setVisible(opened is not None and not self.acts.count())
        self.acts.setVisible(bool(self.acts.count()))

    def show_passage(self, span: Span | None) -> None:
        """Show the words of a passage, when and by whom they were said; none where nothing is chosen."""
        opened = self._opened
        rows = opened.transcript.within(*span) if opened and span else range(0)
        if opened is None or span is None or not rows:
            self._kept, self._doubtful, self._excluded = "", False, False
            self.place.setText(NOTHING)
        else:
            found = [opened.transcript.segments[row] for row in rows]
            self._kept = " ".join(opened.source.text[slice(*span)].split())
            doubts = dict.fromkeys(doubt for one in found for doubt in one.doubts)
            self._doubtful, self._excluded = bool(doubts), any(one.excluded for one in found)
            said = [clock(found[0].start), opened.transcript.name(found[0]), *(DOUBTS[one] for one in doubts)]
            self.place.setText(" · ".join(filter(None, said)) or "Its time is not known.")
        self.words.setPlainText("" if self._excluded else self._kept)
        self._enable()

    def save(self) -> None:
        """Have the words as they stand in the field kept."""
        if self.correct.isEnabled():
            self.corrected.emit(self.words.toPlainText())

    def turn(self) -> None:
        """Have the passage left out, or taken back."""
        if self.leave.isEnabled():
            (self.taken_back if self._excluded else self.left_out).emit()

    def rebind(self) -> None:
        """Print the keys as they now are."""
        self.correct.set_key(keys.shown("keep_drawn"))
        self.leave.set_key(keys.shown("remove_drawn"))

    def _rename(self) -> None:
        if self.rename.isEnabled():
            self.renamed.emit(str(self.speaker.currentData()), self.name.text())

    def _tell_speaker(self) -> None:
        name = self.speaker.currentData()
        known = self._opened.names.get(name, "") if self._opened else ""
        self.known.setText(f"{name} is {known}; only this project knows." if known else "")
        self.known.setVisible(bool(known))
        self.name.clear()
        self._enable()

    def _enable(self) -> None:
        writable, said = bool(self._kept) and not self._readonly, " ".join(self.words.toPlainText().split())
        changed = bool(said) and said != self._kept
        self.words.setEnabled(writable and not self._excluded)
        self.correct.set_words("Correct" if changed or not self._doubtful else "Heard so")
        self.correct.setEnabled(
            writable and not self._excluded and (changed or (self._doubtful and bool(said)))
        )
        self.leave.set_words("Take back" if self._excluded else "Leave out")
        self.leave.setEnabled(writable)
        speakers = self.speaker.count() > 0 and not self._readonly
        self.speaker.setEnabled(self.speaker.count() > 0)
        self.name.setEnabled(speakers)
        self.hide_names.setEnabled(speakers)
        self.rename.setEnabled(speakers and self.name.text().strip() not in ("", self.speaker.currentData()))
