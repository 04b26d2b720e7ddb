"""Form for gold plans: sub-tasks in order, with a live word count."""

from PySide6.QtCore import Qt

from annotator.domain.kinds.checks import CHARACTERS_PER_WORD
from annotator.domain.kinds.plan import WORDS
from annotator.domain.texts.words import unspaced, word_count
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.theme import set_role
from annotator.gui.widgets.basics import PlainLabel


class SubtaskEditor(UnitEditor):
    """A sub-task and its count of words."""

    def build(self) -> None:
        self.count = PlainLabel("0 words", "chip")
        self.row.addWidget(self.count, 0, Qt.AlignmentFlag.AlignVCenter)
        self.text.stirred.connect(self.refresh)

    def refresh(self) -> None:
        """Count the words and say whether there are too few or too many."""
        text = self.text.value()
        count, (least, most), noun = word_count(text), WORDS, "word"
        if unspaced(text):
            most, noun = most * CHARACTERS_PER_WORD, "character"
        fits = least <= count <= most
        verdict = "" if not count else " ✓" if fits else ": too few" if count < least else ": too many"
        self.count.setText(f"{count} {noun}{'s' * (count != 1)}{verdict}")
        self.count.setToolTip(f"The guideline asks for {least} to {most} {noun}s.")
        set_role(self.count, state="agreed" if fits else "unconfirmed" if count else "")
