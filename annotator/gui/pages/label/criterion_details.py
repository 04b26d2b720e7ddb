"""What opens under the criterion at hand: its labels with their keys, its evidence, its flag and its note."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from annotator.domain.judgement import Judgement
from annotator.gui import keys
from annotator.gui.pages.label.locking import lock
from annotator.gui.pages.label.verdict_buttons import VerdictButtons
from annotator.gui.widgets import icons
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.growing_edit import GrowingEdit
from annotator.gui.widgets.quote_button import QuoteButton


class CriterionDetails(QWidget):
    """The controls of one criterion. They only tell what was asked for; what holds is shown by `show_label`."""

    said = Signal(int)
    """A label, by its place in the order of the keys."""
    evidence_wanted = Signal()
    """The passage is to be brought into view."""
    evidence_cleared = Signal()
    flag_wanted = Signal()
    noted = Signal(str)
    left = Signal()
    """Esc was pressed in the note."""

    def __init__(self, locked: str) -> None:
        """`locked` says why nothing can be changed, if so."""
        super().__init__()
        self._locked = locked
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(6)
        self.verdicts = VerdictButtons(locked)
        self.verdicts.said.connect(self.said)
        column.addWidget(self.verdicts)
        column.addLayout(self._evidence())
        column.addLayout(self._notes())
        self.setTabOrder(self.show_evidence, self.clear_evidence)
        self.setTabOrder(self.clear_evidence, self.note)
        self.setTabOrder(self.note, self.flag)

    def _evidence(self) -> QHBoxLayout:
        self.show_evidence = QuoteButton("quiet", "Press to see it in the report.")
        self.clear_evidence = QToolButton()
        self.show_evidence.clicked.connect(self.evidence_wanted)
        icons.put(self.clear_evidence, "close", 14)
        self.clear_evidence.setText("Clear")
        self.clear_evidence.setToolTip("Take the evidence away")
        self.clear_evidence.setAccessibleName("Clear the evidence")
        self.clear_evidence.clicked.connect(self.evidence_cleared)
        lock(self.clear_evidence, self._locked)
        self._no_evidence = ElidedLabel(
            f"No evidence yet: select words in the report, then {keys.shown('evidence')}", "hint"
        )
        row = QHBoxLayout()
        row.setSpacing(2)
        row.addWidget(self.show_evidence)
        row.addWidget(self.clear_evidence)
        row.addWidget(self._no_evidence, 1)
        row.addStretch(0)
        return row

    def _notes(self) -> QHBoxLayout:
        self.note = GrowingEdit(least=1, most=8)
        self.note.setPlaceholderText(f"Note ({keys.shown('note')})")
        self.note.setAccessibleName("Note on this criterion")
        self.note.edited.connect(self.noted)
        self.note.left.connect(self.left)
        self.note.setReadOnly(bool(self._locked))
        self.flag = QToolButton()
        self.flag.setCheckable(True)
        icons.put(self.flag, "flag")
        self.flag.setToolTip(f"Flag for a second look ({keys.shown('flag')})")
        self.flag.setAccessibleName("Flag for a second look")
        self.flag.clicked.connect(lambda _=False: self.flag_wanted.emit())
        lock(self.flag, self._locked)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.note, 1)
        row.addWidget(self.flag, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def show_label(self, label: Judgement | None, place: int) -> None:
        """Show the label at a place in the order of the keys (-1: none), and what stands beside it."""
        self.verdicts.show_place(place)
        quote = label.quote if label else ""
        self.show_evidence.show_quote(quote)
        for widget in (self.show_evidence, self.clear_evidence):
            widget.setVisible(bool(quote))
        self._no_evidence.setVisible(not quote)
        self.flag.setChecked(label is not None and "flagged" in label.flags.split())
        note = label.note if label else ""
        if note != self.note.toPlainText():
            self.note.setPlainText(note)
