"""A model's draft of the open document, visible only to the person who asked for it."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

from annotator.actions.authoring import annotating
from annotator.actions.items import sources
from annotator.actions.material import reference_material
from annotator.actions.material.reference_material import EditedDraft
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.diagnostics import Statement
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.inspirations import Inspiration
from annotator.domain.kinds.rubric import Criterion
from annotator.domain.kinds.tasks import Task
from annotator.domain.material import writer_aid as reference
from annotator.domain.material.item import Item
from annotator.domain.material.writer_aid import WriterAid
from annotator.domain.texts.counting import counted
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.focus_keeper import TYPED
from annotator.gui.forms.text_field import TextField
from annotator.gui.review.draft_asking import NO_SOURCE, DraftAsking
from annotator.gui.review.field_chips import field_chips
from annotator.gui.review.moments import moment
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.plain_area import PlainArea
from annotator.gui.widgets.reading.quote_button import QuoteButton

# One text scrolls, not two in one another.
EVERY_LINE = 100_000
NOT_YOU = "Work is handed out in this project: only a coordinator can add it to the item."
ABOUT = {
    reference_material.FROM_SOURCES: (reference.FROM_SOURCES, "What the sources say about the question."),
    reference_material.BEYOND: (reference.BEYOND_SOURCES, "What the model added. Check it or remove it."),
}


class DraftCard(QFrame):
    """A unit that may be accepted; an accepted one has no buttons."""

    entered = Signal(str)
    """The unit got the focus, by its id."""
    taken = Signal(str, bool)
    """Take the unit of this id, and go on writing in it if the second says so."""
    quote_wanted = Signal(object)
    stepped = Signal(int)
    """Go to the card below (1) or above (-1)."""

    def __init__(self, unit: Unit, number: int, *, taken: bool) -> None:
        super().__init__()
        self.unit, self.is_taken = unit, taken
        self.setProperty("role", "unit")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"{number}. {unit.text}{', taken' if taken else ''}")
        self.words = PlainLabel(unit.text, wrap=True)
        self.words.setLayoutDirection(direction_of(unit.text))
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.chips = Chips(wrap=True)
        self.chips.show_chips([*([Chip("taken", "check", "agreed")] if taken else []), *_about(unit)])
        self.take, self.edit = KeyButton("Take"), KeyButton("Take, edit", role="quiet")
        self.edit.set_hint("Take it and edit it")
        self.take.clicked.connect(lambda: self.taken.emit(unit.id, False))
        self.edit.clicked.connect(lambda: self.taken.emit(unit.id, True))
        self._lay_out(number)

    def _lay_out(self, number: int) -> None:
        column = vertical(self.words, self.chips, spacing=4)
        if self.unit.note:
            column.addWidget(PlainLabel(self.unit.note, "hint", wrap=True))
        for anchor in self.unit.anchors:
            quote = QuoteButton("chip", "Press to show it in the source.")
            quote.show_quote(anchor.quote)
            quote.clicked.connect(partial(self.quote_wanted.emit, anchor))
            row = horizontal(quote, StretchSpace(1))
            column.addLayout(row)
        if not self.is_taken:
            acts = FlowRow()
            acts.addWidget(self.take)
            acts.addWidget(self.edit)
            column.addLayout(acts)
        mark = PlainLabel(str(number), "unit-number")
        theme.scale(mark.setFixedWidth, 22)
        mark.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter)
        horizontal(mark, (column, 1), on=self, margins=(4, 8, 8, 8), spacing=4)

    def show_keys(self, take: str, edit: str) -> None:
        """Print keys on the buttons of the card at the cursor; without any on the others."""
        self.take.set_key(take)
        self.edit.set_key(edit)

    def mark_current(self, current: bool) -> None:
        if self.property("current") is not current:
            theme.set_role(self, current=current)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.entered.emit(self.unit.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows go from card to card; Enter takes this one."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in steps:
            self.stepped.emit(steps[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and keys.plain(event):
            self.take.click()
        else:
            super().keyPressEvent(event)


def _about(unit: Unit) -> list[Chip]:
    if isinstance(unit, Criterion):
        return [Chip(f"weight {unit.weight}"), *([Chip("tied to an insight")] if unit.insight_id else [])]
    if isinstance(unit, Statement):
        said = Chip("True", "check", "agreed") if unit.label else Chip("False", "cross", "disagree")
        return [said, Chip(unit.aspect.value.replace("_", " "))] if unit.aspect else [said]
    if isinstance(unit, Inspiration):
        return field_chips(Kind.INSPIRATIONS, unit)
    if isinstance(unit, Task):
        return [
            *field_chips(Kind.TASKS, unit),
            Chip(f"from {counted(len(unit.inspirations), 'inspiration')}"),
        ]
    return []


# People: an expert before a blank page, who wants ideas and no words put into their mouth.


class ModelDraft(QWidget):
    """The request above, the draft's units below, read only while visible."""

    taken = Signal(str, bool)
    """Take this unit of the draft; the second says whether to go on writing in it."""
    quote_wanted = Signal(object)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._item: Item | None = None
        self._kind = Kind.RUBRIC
        self._current = ""
        self.draft_id = ""
        self.cards: list[DraftCard] = []
        self.what = ChoiceBox()
        self.what.setAccessibleName("Document for the model to draft")
        for words, kind in (("Key insights", Kind.INSIGHTS), ("Reference material", WriterAid.REFERENCE)):
            self.what.addItem(words, kind.value)
        self.what.currentIndexChanged.connect(lambda _: self.wake())
        self.reference = ReferenceMaterialEditor(desk)
        self.reference.confirmed.connect(self._confirm)
        self.reference.hide()
        self.asking = DraftAsking(desk)
        self.asking.came.connect(self._arrived)
        self.head = PlainLabel(role="hint", wrap=True)
        self.nothing_more = KeyButton("Dismiss draft", keys.shown("refuse_draft"), "quiet")
        self.nothing_more.set_hint("Dismiss the rest of the draft; units you took stay in your document")
        self.nothing_more.clicked.connect(self.settle)
        self._inner = QWidget()
        self._units = vertical(StretchSpace(1), on=self._inner, margins=(0, 0, 4, 0), spacing=8)
        self.area = PlainArea("The draft", self._inner)
        # The panel's own colour shows between the cards.
        for ground in (self.area.viewport(), self._inner):
            ground.setAutoFillBackground(False)
        foot = horizontal(StretchSpace(1), self.nothing_more)
        whole, drafted = QVBoxLayout(self), QWidget()
        column = QVBoxLayout(drafted)
        for layout in (whole, column):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(8)
        whole.addWidget(self.what)
        whole.addWidget(self.asking)
        whole.addWidget(drafted, 1)
        self.asking.answer.float_over(drafted, below=False)
        column.addWidget(self.head)
        column.addWidget(self.area, 1)
        column.addWidget(self.reference, 1)
        column.addLayout(foot)
        column.addStretch(0)

    def follow(self, item: Item, kind: Kind) -> None:
        """Be about a kind of an item from now on."""
        self._item, self._kind = item, kind
        self.wake()

    def wake(self) -> None:
        """Read the drafts again, if the panel is seen."""
        if not self.isVisible() or self._item is None:
            return
        worked_here = self.isAncestorOf(QApplication.focusWidget() or self)
        self.what.setVisible(self._kind is Kind.INSIGHTS)
        if self.of_reference:
            self._wake_reference(self._item)
        else:
            self.reference.show_draft(None)
            self._wake_units(self._item)
        if worked_here and not self.isAncestorOf(QApplication.focusWidget() or self):
            # What had the keyboard went with the last unit.
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            self.enter()

    def _arrived(self) -> None:
        """Show the draft; the keyboard goes on with it, unless someone types."""
        self.wake()
        if self.isVisible() and not isinstance(QApplication.focusWidget(), TYPED):
            self.enter()

    @property
    def of_reference(self) -> bool:
        """Whether it is about reference material, which is chosen beside key insights."""
        return self._kind is Kind.INSIGHTS and self.what.currentData() == WriterAid.REFERENCE.value

    def _wake_reference(self, item: Item) -> None:
        waiting = self._desk.ask(reference_material.waiting, item.id)
        lacks = self._desk.ask(reference_material.lacks, item.id) or ""
        self.asking.show_item(item, WriterAid.REFERENCE, lacks=lacks, waiting=waiting is not None)
        self._show_cards([])
        self.head.hide()
        self.area.hide()
        self.reference.show_draft(waiting)
        self.draft_id = self.reference.draft_id
        self.nothing_more.setVisible(waiting is not None)

    def _wake_units(self, item: Item) -> None:
        from annotator.actions.material import drafting_by_model

        found = self._desk.ask(drafting_by_model.proposals, item.id, self._kind) or []
        draft = found[0] if found else None
        self.asking.show_item(item, self._kind, lacks=self._lacks(item), waiting=draft is not None)
        self.head.setVisible(draft is not None)
        self.nothing_more.setVisible(draft is not None)
        self.area.setVisible(draft is not None)
        self.draft_id = draft.id if draft else ""
        if draft is None:
            self._show_cards([])
            return
        named = draft.source.model or draft.source.judge
        self.head.setText(
            f"Drafted by {named} on {moment(draft.at)}: {len(draft.left):,} of {len(draft.document.units):,} not taken."
        )
        self._show_cards([(unit, unit.id in draft.taken) for unit in draft.document.units])

    def _lacks(self, item: Item) -> str:
        """What must be there before a model can draft: a source, or what units of the kind are made of."""
        from annotator.actions.material import draft_runs

        wanted = draft_runs.OFFERED.get(self._kind)
        if wanted is None or wanted.sources:
            beside = self._desk.ask(sources.sources, item.id) or []
            return "" if any(one.text.strip() and not one.drafted for one in beside) else NO_SOURCE
        there = {
            one.kind for one in self._desk.ask(annotating.artifacts_of, item.id) or [] if one.document.units
        }
        lacking = [KINDS[kind].units for kind in wanted.needs if kind not in there]
        return f"Write {lacking[0]} for this item first: a model drafts from these." if lacking else ""

    def enter(self) -> None:
        """Take the focus: the first card that may be taken, the text to be edited, or the button that asks."""
        if self.of_reference and self.draft_id:
            self.reference.enter()
            return
        card = self.current() or next((card for card in self.cards if not card.is_taken), None)
        goal: QWidget = card or self.asking.ask
        goal.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def current(self) -> DraftCard | None:
        """The card at the cursor, if it may be taken."""
        return next(
            (card for card in self.cards if card.unit.id == self._current and not card.is_taken), None
        )

    def take(self, *, edit: bool) -> None:
        """Take the unit at the cursor; the next one gets the cursor. Reference material is taken as a whole."""
        if self.of_reference:
            if edit:
                self.enter()
            elif not self.isHidden():
                self._confirm()
            return
        card = self.current()
        if card is not None and not self.isHidden():
            self.taken.emit(card.unit.id, edit)

    def settle(self) -> None:
        """Say that nothing more of the draft is wanted."""
        from annotator.actions.material import drafting_by_model

        if not self.draft_id or self.isHidden():
            return
        took = any(card.is_taken for card in self.cards)
        verb = drafting_by_model.confirm if took else drafting_by_model.refuse
        if self._desk.do(verb, self.draft_id) is not None:
            self.wake()

    def stop(self) -> None:
        self.reference.tell()

    def rebind(self) -> None:
        self.asking.rebind()
        self.reference.rebind()
        self.nothing_more.set_key(keys.shown("refuse_draft"))
        self._mark()

    def _confirm(self) -> None:
        """Put the reference material beside the item as it reads now."""
        if self.draft_id and self.reference.confirm.isEnabled():
            self.reference.tell()
            self._desk.do(reference_material.confirm, self.draft_id)

    def _show_cards(self, units: Sequence[tuple[Unit, bool]]) -> None:
        same = [(card.unit, card.is_taken) for card in self.cards] == list(units)
        if same:
            return
        inside = QApplication.focusWidget()
        focused = inside is not None and self._inner.isAncestorOf(inside)
        if focused:
            # The keyboard would go from card to card as they are put away, and the cursor with it.
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        for card in self.cards:
            self._units.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = []
        for number, (unit, taken) in enumerate(units, start=1):
            card = DraftCard(unit, number, taken=taken)
            card.entered.connect(self._enter)
            card.taken.connect(self._take)
            card.quote_wanted.connect(self.quote_wanted)
            card.stepped.connect(self._step)
            self._units.insertWidget(self._units.count() - 1, card)
            # By itself it could be given the focus only at the next idle.
            card.show()
            self.cards.append(card)
        if self.current() is None:
            ids = [card.unit.id for card in self.cards]
            place = ids.index(self._current) if self._current in ids else 0
            left = [card.unit.id for card in (*self.cards[place:], *self.cards[:place]) if not card.is_taken]
            self._current = left[0] if left else ""
        self._mark()
        if focused:
            self.enter()

    def _take(self, unit_id: str, edit: bool) -> None:
        self._current = unit_id
        self.taken.emit(unit_id, edit)

    def _enter(self, unit_id: str) -> None:
        self._current = unit_id
        self._mark()

    def _mark(self) -> None:
        take, edit = keys.shown("take_unit"), keys.shown("take_and_edit")
        for card in self.cards:
            here = card.unit.id == self._current
            card.mark_current(here)
            card.show_keys(take if here else "", edit if here else "")

    def _step(self, by: int) -> None:
        ids = [card.unit.id for card in self.cards]
        place = ids.index(self._current) if self._current in ids else 0
        goal = self.cards[max(0, min(len(ids) - 1, place + by))]
        goal.setFocus(Qt.FocusReason.OtherFocusReason)
        self.area.ensureWidgetVisible(goal)


class ReferenceMaterialEditor(QWidget):
    """Both parts, one above the other; text is stored as a draft until confirmed."""

    confirmed = Signal()
    """Put it beside the item."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.draft_id = ""
        self._kept: dict[str, str] = {}
        self.head, self.why = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.fields = {part: TextField(title, most=EVERY_LINE) for part, (title, _) in ABOUT.items()}
        self._inner = QWidget()
        self.area = PlainArea("The draft", self._inner)
        self.confirm = KeyButton("Add to the item", keys.shown("take_unit"), "primary")
        self.confirm.set_hint("Make it a source of this item for everyone, marked as drafted by a model")
        self.confirm.clicked.connect(self.confirmed)
        self._lay_out()

    def _lay_out(self) -> None:
        inside = vertical(on=self._inner, margins=(0, 0, 4, 0), spacing=4)
        for part, (title, hint) in ABOUT.items():
            field = self.fields[part]
            field.edited.connect(self._keep)
            field.cursorPositionChanged.connect(self._follow)
            inside.addWidget(PlainLabel(title, "strong"))
            inside.addWidget(PlainLabel(hint, "hint", wrap=True))
            inside.addWidget(field, 0, Qt.AlignmentFlag.AlignTop)
        inside.addStretch(1)
        # The panel's own colour shows between the fields.
        for ground in (self.area.viewport(), self._inner):
            ground.setAutoFillBackground(False)
        vertical(
            self.head,
            (self.area, 1),
            self.why,
            horizontal(StretchSpace(1), self.confirm),
            on=self,
            margins=0,
            spacing=8,
        )

    def show_draft(self, waiting: EditedDraft | None) -> None:
        """Show a draft as it was edited so far, or nothing; of the one shown already nothing is put again."""
        known, shown = self.draft_id, waiting.proposal.id if waiting else ""
        if known != shown:
            # What was typed a moment ago belongs to the draft that goes.
            self.tell()
        self.draft_id = shown
        self.setVisible(waiting is not None)
        if waiting is None:
            return
        source = waiting.proposal.source
        self.head.setText(f"Drafted by {source.name} on {moment(waiting.proposal.at)}. Only you see it.")
        allowed = self._desk.ask(reference_material.may_confirm) is True
        self.why.setText("" if allowed else NOT_YOU)
        self.why.setHidden(allowed)
        self.confirm.setEnabled(allowed and not self._desk.project.readonly)
        if known == self.draft_id:
            return
        for part, words in zip(self.fields, (waiting.from_sources, waiting.beyond), strict=True):
            self.fields[part].setReadOnly(self._desk.project.readonly)
            self.fields[part].show_value(words)
            self._kept[part] = words
        self.area.verticalScrollBar().setValue(0)

    def tell(self) -> None:
        """Keep at once what was typed and not kept yet."""
        for field in self.fields.values():
            field.tell()

    def enter(self) -> None:
        """Take the focus, in the first part."""
        self.fields[reference_material.FROM_SOURCES].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def rebind(self) -> None:
        self.confirm.set_key(keys.shown("take_unit"))

    def _keep(self) -> None:
        """Keep what differs from what was kept last."""
        for part, field in self.fields.items():
            text = field.toPlainText()
            if self.draft_id and not self._desk.project.readonly and text != self._kept.get(part):
                self._kept[part] = text
                self._desk.ask(reference_material.edit, self.draft_id, part, text)

    def _follow(self) -> None:
        field = QApplication.focusWidget()
        if isinstance(field, TextField) and field in self.fields.values():
            at = field.mapTo(self._inner, field.viewport().mapToParent(field.cursorRect().center()))
            self.area.ensureVisible(at.x(), at.y(), 0, 2 * field.fontMetrics().lineSpacing())
