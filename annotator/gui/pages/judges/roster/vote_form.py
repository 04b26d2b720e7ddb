"""Form for a vote: a name, and the judges whose verdicts are counted."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QWidget

from annotator.actions.judging import derived_judges
from annotator.domain.judges.judge import Judge
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.basics import PlainLabel
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.tick_list import TickList

NONE = "Tick one judge for the majority of its trials, or several for a panel."


class VoteForm(QWidget):
    """A list of judges with check boxes."""

    edited = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.name = LineField(placeholderText="a short name, e.g. panel of three")
        self.name.setAccessibleName("Name of the vote")
        self.name.textEdited.connect(lambda _: self.edited.emit())
        self.members = TickList("Judges whose verdicts are counted", 3, 8)
        self.members.ticked_anew.connect(self._say)
        self.words = PlainLabel(NONE, "hint", wrap=True)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("&Name", self.name)
        form.addRow("&Counts", self.members)
        form.addRow("", self.words)

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return bool(self.name.text().strip())

    def begin(self, known: Sequence[Judge]) -> None:
        self.name.clear()
        self.members.clear()
        self.members.offer([judge.name for judge in known])
        self._say()

    def focus_first(self) -> None:
        self.name.setFocus()

    def save(self) -> str:
        """Make the vote; its name, or nothing when it was refused."""
        name = self.name.text().strip()
        return (
            name if self._desk.do(derived_judges.add, name, list(self.members.ticked())) is not None else ""
        )

    def _say(self) -> None:
        chosen = self.members.ticked()
        if len(chosen) > 1:
            words = (
                f"The verdict of more than half of {counted(len(chosen), 'judge')}, each by its own trials."
            )
        else:
            words = f"The verdict of most trials of \u2068{chosen[0]}\u2069." if chosen else NONE
        self.words.setText(words)
        self.edited.emit()
