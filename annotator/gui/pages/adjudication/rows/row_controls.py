"""Controls of the current row: rulings with their keys, reason, confidence, and wording."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.actions.adjudication.voting import Ballot
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Reason
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.gui import keys, theme
from annotator.gui.review.field_chips import value_words
from annotator.gui.review.key_chips import KeyChips
from annotator.gui.review.ruling_words import CONFIDENCES, LETTER_ACTS, REASONS, votes_of
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.basics import PlainLabel, column_of, vertical
from annotator.gui.widgets.fields.growing_edit import GrowingEdit

ACROSS, DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
WIDE = 640


class RowControls(QWidget):
    """One set of controls for all rows, shown under the current one."""

    taken = Signal(str)
    voted = Signal(str)
    reasoned = Signal(object)
    sure = Signal(object)
    asked = Signal(str)
    """An act of the key table: pair_row, split_row, leave_open."""
    typed = Signal(str, str)
    """Field (rationale or gap) and text, with every key."""
    paused = Signal(str, str)
    left = Signal()
    """Esc was pressed in a field."""

    def __init__(self) -> None:
        super().__init__()
        self.takes: dict[str, KeyButton] = {}
        self.acts: dict[str, KeyButton] = {}
        self._letters: tuple[str, ...] = ()
        self.column = vertical(on=self, margins=(0, 4, 0, 0), spacing=6)
        self._takes_row, self._votes_row = QWidget(), QWidget()
        self._takes, self._votes = FlowRow(self._takes_row), FlowRow(self._votes_row)
        self.votes: list[QPushButton] = []
        self._votes.addWidget(PlainLabel("Your own value?", "hint"))
        self._build_explaining()

    def _build_explaining(self) -> None:
        self.reasons, self.sureness = KeyChips("Why?", REASONS), KeyChips("Confidence?", CONFIDENCES)
        self.reasons.chosen.connect(self.reasoned)
        self.sureness.chosen.connect(self.sure)
        self.rationale = self._field("rationale", "Rationale", "note", "shown to the annotators afterwards")
        self.gap = self._field("gap", "Guideline gap", "flag", "what the guideline leaves open")
        # Side by side where there is room, one above the other where it is narrow.
        self._words = QBoxLayout(ACROSS)
        self._words.setSpacing(6)
        self._words.addWidget(self.sureness, 0)
        self._words.addWidget(self.rationale, 3)
        self._words.addWidget(self.gap, 2)
        self._explaining = column_of(self.reasons, self._words, spacing=6)
        for part in (self._votes_row, self._takes_row, self._explaining):
            self.column.addWidget(part)

    def _field(self, name: str, words: str, act: str, what: str) -> GrowingEdit:
        field = GrowingEdit(least=1, most=8)
        keys.tell(field, "placeholderText", f"{words} ({{{act}}}): {what}")
        field.setAccessibleName(words)
        field.textChanged.connect(lambda: self._tell_typed(name, field))
        field.edited.connect(lambda text: self.paused.emit(name, text))
        field.left.connect(self.left)
        return field

    def _tell_typed(self, name: str, field: GrowingEdit) -> None:
        if field.hasFocus():
            self.typed.emit(name, field.toPlainText())

    def show_letters(self, letters: tuple[str, ...]) -> None:
        """Make the buttons for an item of so many letters."""
        if letters == self._letters and self.takes:
            return
        self._letters = letters
        for button in (*self.takes.values(), *self.acts.values()):
            self._takes.removeWidget(button)
            button.deleteLater()
        self.takes, self.acts = {}, {}
        for place, letter in enumerate(letters):
            act = LETTER_ACTS[place] if place < len(LETTER_ACTS) else ""
            self._take(letter, f"Take {letter}", act, "")
        both = "Both" if len(letters) == 2 else "All"
        for take, words, act, picture in (
            (BOTH, both, "take_both", ""),
            (OWN, "Own", "write_own", "author"),
            (DROP, "Drop", "drop_unit", "trash"),
        ):
            self._take(take, words, act, picture)
        for act, words, picture in (
            ("pair_row", "Pair…", "link"),
            ("split_row", "Split", ""),
            ("leave_open", "Open again", "undo"),
        ):
            self.acts[act] = self._button(words, act, picture, "quiet")
            self.acts[act].clicked.connect(lambda _=False, act=act: self.asked.emit(act))

    def _take(self, take: str, words: str, act: str, picture: str) -> None:
        button = self._button(words, act, picture)
        button.setCheckable(True)
        button.clicked.connect(lambda _=False: self.taken.emit(take))
        self.takes[take] = button

    def _button(self, words: str, act: str, picture: str, role: str = "") -> KeyButton:
        button = KeyButton(words, keys.sequences(act)[0] if act else "", role)
        # A button that took the focus would take the place in the list away, and Space would press it.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if picture:
            icons.put(button, picture, 14)
        self._takes.addWidget(button)
        return button

    def show_row(
        self,
        row: SheetRow,
        kind: Kind,
        lacks: set[str],
        ballot: Ballot | None,
        typing: Mapping[str, Any],
        *,
        locked: bool,
    ) -> None:
        """Show the ruling on a row, or the vote that comes before it; fields in `typing` hold newer words."""
        ruling, given = row.ruling, bool(KINDS[kind].given)
        self._show_votes(ballot, kind)
        self._takes_row.setVisible(ballot is None and not locked)
        for take, button in self.takes.items():
            button.setChecked(ruling.take == take)
            alone = take == BOTH and (len(row.units) < 2 or (given and not ruling.unanimous))
            button.setEnabled(not locked and not alone and (take in row.units or len(take) > 1))
        self.acts["pair_row"].setVisible(not given and bool(row.units) and not locked)
        self.acts["split_row"].setVisible(not given and len(row.units) > 1 and not locked)
        self.acts["leave_open"].setVisible(not ruling.open and not locked)
        explained = not ruling.unanimous or not ruling.open
        said = bool(ruling.reason or ruling.confidence or ruling.rationale or ruling.gap)
        self._explaining.setVisible(ballot is None and (said if locked else explained))
        self.reasons.show_value(ruling.reason, wanted="reason" in lacks, locked=locked)
        self.sureness.show_value(ruling.confidence, wanted=False, locked=locked)
        for name, field in (("rationale", self.rationale), ("gap", self.gap)):
            text = str(typing.get(name, getattr(ruling, name)))
            if text != field.toPlainText() and not (field.hasFocus() and name in typing):
                field.setPlainText(text)
            if field.isReadOnly() != locked:
                field.setReadOnly(locked)
                theme.set_role(field)
        wanted = bool(self.gap.toPlainText()) or ruling.reason is Reason.GUIDELINE_GAP or self.gap.hasFocus()
        self.gap.setVisible(wanted)
        self._takes.invalidate()

    def _show_votes(self, ballot: Ballot | None, kind: Kind) -> None:
        self._votes_row.setVisible(ballot is not None)
        for button in self.votes:
            self._votes.removeWidget(button)
            button.deleteLater()
        self.votes = []
        field = KINDS[kind].voted
        acts = {value: act for act, value in votes_of(ballot.values if ballot else ()).items()}
        for value in ballot.values if ballot else ():
            words = value_words(field, value, ballot.protocol) if field and ballot else value
            button = KeyButton(words, keys.sequences(acts[value])[0] if value in acts else "")
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.clicked.connect(lambda _=False, value=value: self.voted.emit(value))
            self._votes.addWidget(button)
            self.votes.append(button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._words.setDirection(ACROSS if self.width() >= theme.current().px(WIDE) else DOWN)

    def enter(self, name: str) -> None:
        field = self.gap if name == "gap" else self.rationale
        field.show()
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_keys(self) -> None:
        letters, self._letters = self._letters, ()
        self.show_letters(letters)
        self.reasons.show_keys()
        self.sureness.show_keys()
