"""Controls of the current unit: labels with their keys, kind, evidence, flag and note."""

from collections.abc import Iterator
from itertools import accumulate

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QToolButton, QWidget

from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.second_looks import TAXONOMIES
from annotator.gui import keys
from annotator.gui.pages.labelling.units.locking import LOCKED, lock
from annotator.gui.pages.labelling.units.verdict_buttons import VerdictButtons
from annotator.gui.review.kind_row import ACTS, USUAL, KindRow
from annotator.gui.review.verdicts import UnitLabel, answers, face, is_flagged, said
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.growing_edit import GrowingEdit
from annotator.gui.widgets.reading.quote_button import QuoteButton

_ACROSS, _DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom


class UnitDetails(QWidget):
    """Controls of one unit. They announce the chosen act; `show_label` shows the state."""

    said = Signal(int)
    """A label, by its place in the order of the keys."""
    kind_given = Signal(int)
    evidence_wanted = Signal()
    """The passage is to be brought into view."""
    evidence_cleared = Signal()
    flag_wanted = Signal()
    noted = Signal(str)
    left = Signal()
    """Esc was pressed in the note."""

    def __init__(
        self, protocol: str, allowed: tuple[str, ...], locked: str, why: str = "", *, flat: bool = False
    ) -> None:
        """`allowed` are the values that may be given, `why` no other; `locked` says why none can, if so.

        `flat` controls stand in one line.
        """
        super().__init__()
        self._protocol, self._locked = protocol, locked
        whole = vertical(on=self, margins=(0, 2, 0, 0), spacing=6)
        self.outdated, self.origin = PlainLabel("", "hint", wrap=True), PlainLabel("", "hint", wrap=True)
        whole.addWidget(self.outdated)
        whole.addWidget(self.origin)
        column = QBoxLayout(_ACROSS if flat else _DOWN)
        column.setSpacing(6)
        whole.addLayout(column)
        self.verdicts = VerdictButtons(protocol, allowed, why, locked)
        self.verdicts.said.connect(self.said)
        self.kind_rows = list(self._kind_rows())
        column.addWidget(self.verdicts)
        for row in self.kind_rows:
            column.addWidget(row)
        # In one line the hint would take the note's room.
        self._quotes = not flat
        column.addLayout(self._evidence())
        column.addLayout(self._notes(), 1 if flat else 0)
        self.setTabOrder(self.show_evidence, self.clear_evidence)
        self.setTabOrder(self.clear_evidence, self.note)
        self.setTabOrder(self.note, self.flag)

    def _kind_rows(self) -> Iterator[KindRow]:
        """A row for each thing that is asked beside a label; otherwise one, for the kind that its value asks for."""
        known = [one for one in TAXONOMIES.values() if one.of == self._protocol and one.beside]
        many = [len(one.values) for one in known] or [USUAL]
        for start, count in zip(accumulate(many, initial=0), many, strict=False):
            row = KindRow(readonly=self._locked == LOCKED, acts=ACTS[start : start + count])
            row.given.connect(lambda place, start=start: self.kind_given.emit(start + place))
            yield row

    @property
    def kinds(self) -> KindRow:
        return self.kind_rows[0]

    def _evidence(self) -> QHBoxLayout:
        self.show_evidence = QuoteButton("quiet", "Press to show its place.")
        self.clear_evidence = QToolButton()
        self.show_evidence.clicked.connect(self.evidence_wanted)
        icons.put(self.clear_evidence, "close", 14)
        self.clear_evidence.setText("Clear")
        self.clear_evidence.setToolTip("Remove the evidence")
        self.clear_evidence.setAccessibleName("Clear the evidence")
        self.clear_evidence.clicked.connect(self.evidence_cleared)
        lock(self.clear_evidence, self._locked)
        read = presentation_of(self._protocol).read
        self._no_evidence = ElidedLabel(
            f"No evidence yet: select words in the {read}, then {keys.shown('evidence')}", "hint"
        )
        return horizontal(
            self.show_evidence, self.clear_evidence, (self._no_evidence, 1), StretchSpace(0), spacing=2
        )

    def _notes(self) -> QHBoxLayout:
        self.note = GrowingEdit(least=1, most=8)
        self.note.setPlaceholderText(f"Note ({keys.shown('note')})")
        self.note.setAccessibleName(f"Note on this {presentation_of(self._protocol).one}")
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
        return horizontal((self.note, 1), (self.flag, 0, Qt.AlignmentFlag.AlignTop), spacing=4)

    def show_label(self, kept: UnitLabel) -> None:
        """Show what is kept, and of what kind it is where that is asked."""
        label, asked = kept.label, kept.asked
        value, known = said(label), answers(self._protocol)
        self.verdicts.show_place(known.index(value) if value in known else -1)
        suggested = asked.suggested(label.value or "", label.flags) if asked and label else ""
        self.kinds.show_kind(asked, kept.kind, suggested)
        for number, row in enumerate(self.kind_rows[1:]):
            if number < len(kept.more):
                row.show_kind(*kept.more[number], "")
            else:
                row.show_kind(None, "", "")
        self._show_outdated(kept.outdated)
        self.origin.setText(f"{kept.origin[:1].upper()}{kept.origin[1:]}")
        self.origin.setVisible(bool(kept.origin))
        quote = label.quote if label else ""
        self.show_evidence.show_quote(quote)
        for widget in (self.show_evidence, self.clear_evidence):
            widget.setVisible(bool(quote))
        self._no_evidence.setVisible(not quote and self._quotes)
        self.flag.setChecked(is_flagged(label))
        note = label.note if label else ""
        if note != self.note.toPlainText():
            self.note.setPlainText(note)

    def _show_outdated(self, value: str) -> None:
        self.outdated.setVisible(bool(value))
        before = f"Reworded since you said “{face(value, self._protocol).words}”"
        again = "that no longer counts. Reopen your labels to label it again."
        self.outdated.setText(
            f"{before}: {again}" if self._locked else f"{before}. Read it again and label it."
        )
