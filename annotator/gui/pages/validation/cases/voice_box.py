"""One side's answer on a unit: who, value, reason, and quoted passage."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QSizePolicy

from annotator.gui.pages.validation.cases.verdict_cases import CaseVoice
from annotator.gui.review.judge_words import flag_words
from annotator.gui.review.state_chip import StateChip
from annotator.gui.review.verdicts import face
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
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
