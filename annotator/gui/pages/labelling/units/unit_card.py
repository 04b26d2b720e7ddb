"""One unit in the list: its words and state, and its controls while it is the current one."""

from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QLabel

from annotator.actions.labelling.label_cases import presentation_of
from annotator.domain.judges.judgement import Judgement
from annotator.domain.kinds.artifact import Unit
from annotator.gui import theme
from annotator.gui.pages.labelling.units.unit_details import UnitDetails
from annotator.gui.review.state_chip import StateChip
from annotator.gui.review.verdicts import REWORDED, UnitLabel, face, is_flagged, said
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.icons import pixmap

# What stands beside a label: its field, icon and word.
BESIDE = (("quote", "quote", "evidence"), ("note", "note", "note"), ("flags", "flag", "flagged"))
# A claim's surroundings are shown up to so many characters; the report has the rest.
CONTEXT = 600
# Surroundings that add no more than this, marks of references, are not worth a line.
MARKS = 24


@dataclass(frozen=True, slots=True)
class CardQuestion:
    """The subject of a card: its number, the total, possible values, or why there are none."""

    protocol: str
    unit: Unit
    number: int
    total: int
    allowed: tuple[str, ...]
    why: str = ""

    @property
    def words(self) -> str:
        """The unit's words, or the question where it has none."""
        return self.unit.text or presentation_of(self.protocol).ask


class UnitCard(QFrame):
    """A card that takes the focus when it becomes the current one."""

    pressed = Signal(str)
    """A person went to this unit, by the mouse or by Tab: its id."""
    details_made = Signal(str)

    def __init__(self, asked: CardQuestion, locked: str) -> None:
        super().__init__()
        self.unit, self._asked, self._locked = asked.unit, asked, locked
        self._shown = UnitLabel()
        self.details: UnitDetails | None = None
        self.setProperty("role", "card")
        self.setProperty("current", False)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._build()
        self.show_label(self._shown)
        theme.watch(self, self._show_icons)

    def _build(self) -> None:
        self.chip, self.words = StateChip(), PlainLabel(self._asked.words, wrap=True)
        self.words.setLayoutDirection(direction_of(self._asked.words))
        self._number, self._beside = horizontal(spacing=6), horizontal(spacing=6)
        if self._asked.total > 1:
            self._number.addWidget(PlainLabel(f"{self._asked.number}", "hint"))
        head = horizontal(self._number, StretchSpace(1), self._beside, self.chip, spacing=6)
        self._column = vertical(head, self.words, on=self, margins=(8, 7, 8, 8), spacing=4)
        # The question about a pair stands over the card.
        self.words.setVisible(bool(self.unit.text))

    # What most cards do without is made when it is first needed: every widget has to be dressed at each change.

    @cached_property
    def weight(self) -> PlainLabel:
        self._number.addWidget(made := PlainLabel("", "hint"))
        return made

    @cached_property
    def kind(self) -> PlainLabel:
        self._beside.addWidget(made := PlainLabel("", "hint"))
        return made

    @cached_property
    def _icons(self) -> list[QLabel]:
        made = [QLabel() for _ in BESIDE]
        for place, picture in enumerate(made):
            self._beside.insertWidget(place, picture)
        return made

    @cached_property
    def context(self) -> PlainLabel:
        """The report's words around a claim, between its own words and the controls."""
        made = PlainLabel("", "hint", wrap=True)
        made.setLayoutDirection(direction_of(self._context()))
        made.setToolTip("The report's words around the claim")
        self._column.insertWidget(2, made)
        return made

    def _context(self) -> str:
        words = " ".join(str(getattr(self.unit, "context", "")).split())
        if self.unit.text in words and len(words) < len(self.unit.text) + MARKS:
            return ""
        short = words if len(words) <= CONTEXT else f"{words[:CONTEXT].rstrip()}…"
        return f"“{short}”" if short else ""

    def show_label(self, kept: UnitLabel) -> None:
        """Show what is kept about the unit, or that nothing is, and of what kind it is."""
        self._shown, label = kept, kept.label
        shown = REWORDED if kept.outdated else face(said(label), self._asked.protocol)
        self.chip.show_state(shown.words, shown.icon, shown.state)
        self._say("kind", kept.asked.words(kept.kind) if kept.asked and kept.kind else "")
        self._show_icons()
        one = presentation_of(self._asked.protocol).one.capitalize()
        place = f"{one} {self._asked.number:,} of {self._asked.total:,}"
        self.setAccessibleName(f"{place}, {shown.words}: {self._asked.words}")
        if self.details is not None:
            self.details.show_label(kept)

    def _show_icons(self) -> None:
        label = self._shown.label
        there = [bool(label and _has(label, field)) for field, *_ in BESIDE]
        if not any(there) and "_icons" not in vars(self):
            return
        size = theme.current().px(14)
        for picture, shown, (_, name, words) in zip(self._icons, there, BESIDE, strict=True):
            picture.setVisible(shown)
            picture.setToolTip(words.capitalize())
            picture.setPixmap(pixmap(name, size, "text-muted", self.devicePixelRatioF()))

    def _say(self, hint: str, words: str) -> None:
        """Show words in a hint of the card, or put the hint away."""
        if words or hint in vars(self):
            shown: PlainLabel = getattr(self, hint)
            shown.setText(words)
            shown.setVisible(bool(words))

    def show_weight(self, shown: bool) -> None:
        """Show how much the unit counts; raters see it only when they ask for it."""
        weight = getattr(self.unit, "weight", None)
        self._say("weight", f"weight {weight}" if shown and weight is not None else "")

    def set_current(self, current: bool) -> None:
        """Open the controls and stand out, or close them."""
        if current and self.details is None:
            asked = self._asked
            self.details = UnitDetails(
                asked.protocol, asked.allowed, self._locked, asked.why, flat=not self.unit.text
            )
            self.details.show_label(self._shown)
            self._column.addWidget(self.details)
            self.details_made.emit(self.unit.id)
        if self.details is not None:
            self.details.setVisible(current)
        self._say("context", self._context() if current else "")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if current else Qt.FocusPolicy.ClickFocus)
        theme.set_role(self, current=current)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press anywhere on the card goes to the unit."""
        super().mousePressEvent(event)
        self.pressed.emit(self.unit.id)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.pressed.emit(self.unit.id)


def _has(label: Judgement, field: str) -> bool:
    # Other marks than the person's own are the page's, and shown with it.
    return is_flagged(label) if field == "flags" else bool(getattr(label, field))
