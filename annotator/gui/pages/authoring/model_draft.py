"""Help with writing: a model's draft (visible only to who asked for it), reference material, bulk references."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.actions.material import lookups, model_drafts
from annotator.actions.material.lookups import EvidenceOffer, OfferedReference
from annotator.actions.material.model_drafts import EditedDraft
from annotator.domain.common import counted
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.diagnostics import Statement
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.evidence import Reference
from annotator.domain.kinds.inspirations import Inspiration
from annotator.domain.kinds.rubric import Criterion
from annotator.domain.kinds.tasks import Task
from annotator.domain.material.extract import BEYOND_SOURCES, FROM_SOURCES, WriterAid
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.forms.fields import TextField
from annotator.gui.parts import holds
from annotator.gui.review.field_chips import field_chips, moment
from annotator.gui.review.run_panel import NO_SOURCE, DraftAsking
from annotator.gui.session.session import TYPED, Pane, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import KeyButton, wrapping
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    StretchSpace,
    column_of,
    direction_of,
    horizontal,
    later,
    path_button,
    push_button,
    take_out,
    tooltip,
    vertical,
    with_properties,
    wrap_lines,
)
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.fields import ChoiceBox, TextBox
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.reading.marked_text import QuoteButton

# Higher than any text, so that only the surrounding area scrolls.
EVERY_LINE = 100_000
NOT_YOU = "Work is handed out in this project: only a coordinator can add it to the item."
ABOUT = {
    model_drafts.FROM_SOURCES: (FROM_SOURCES, "What the sources say about the question."),
    model_drafts.BEYOND: (BEYOND_SOURCES, "What the model added. Check it or remove it."),
}


class DraftCard(QFrame):
    """A unit of a draft that can be taken; a taken one has no buttons."""

    def __init__(self, draft: "ModelDraft", unit: Unit, number: int, *, taken: bool) -> None:
        super().__init__()
        self._draft, self.unit, self.is_taken = draft, unit, taken
        with_properties(
            self,
            role="unit",
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            accessibleName=f"{number}. {unit.text}{', taken' if taken else ''}",
        )
        self.words = with_properties(
            PlainLabel(unit.text, wrap=True),
            layoutDirection=direction_of(unit.text),
            textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
        )
        self.chips = Chips(wrap=True)
        self.chips.show_chips([*([Chip("taken", "check", "agreed")] if taken else []), *_about(unit)])
        self.take, self.edit = (
            KeyButton("Take", act="take_unit", press=partial(draft.take_unit, unit.id)),
            KeyButton(
                "Take, edit",
                act="take_and_edit",
                role="quiet",
                hint="Take it and edit it",
                press=partial(draft.take_unit, unit.id, edit=True),
            ),
        )
        column = vertical(self.words, self.chips, spacing=4)
        if unit.note:
            column.addWidget(PlainLabel(unit.note, "hint", wrap=True))
        for anchor in unit.anchors:
            quote = QuoteButton("chip", "Press to show it in the source.")
            quote.show_quote(anchor.quote)
            quote.clicked.connect(partial(draft.quote_wanted.emit, anchor))
            column.addLayout(horizontal(quote, StretchSpace(1)))
        if not taken:
            column.addLayout(wrapping(self.take, self.edit, gap=6))
        mark = PlainLabel(str(number), "unit-number")
        theme.scale(mark.setFixedWidth, 22)
        mark.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter)
        horizontal(mark, (column, 1), on=self, margins=(4, 8, 8, 8), spacing=4)

    def mark_current(self, current: bool) -> None:
        if self.property("current") is not current:
            theme.set_role(self, current=current)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._draft.mark(self.unit.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows go from card to card; Enter takes this one."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in steps:
            self._draft.step(steps[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and keys.plain(event):
            self.take.click()
        else:
            super().keyPressEvent(event)


def _about(unit: Unit) -> list[Chip]:
    if isinstance(unit, Criterion):
        return [Chip(f"weight {unit.weight}"), *([Chip("tied to an insight")] if unit.insight_id else [])]
    if isinstance(unit, Statement):
        chip = Chip("True", "check", "agreed") if unit.label else Chip("False", "cross", "disagree")
        return [chip, Chip(unit.aspect.value.replace("_", " "))] if unit.aspect else [chip]
    if isinstance(unit, Inspiration):
        return field_chips(Kind.INSPIRATIONS, unit)
    if isinstance(unit, Task):
        return [
            *field_chips(Kind.TASKS, unit),
            Chip(f"from {counted(len(unit.inspirations), 'inspiration')}"),
        ]
    return []


# People: an expert before a blank page, who wants ideas and no words put into their mouth.


class ModelDraft(Pane):
    """A model's draft: the request above, its units below; queried only while visible."""

    taken = Signal(str, bool)
    """Take this unit of the draft; the second value says whether to go on editing it."""
    quote_wanted = Signal(object)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._item: Item | None = None
        self._kind = Kind.RUBRIC
        self._current = ""
        self.draft_id = ""
        self.cards: list[DraftCard] = []
        self.what = ChoiceBox(self.wake, accessibleName="Document for the model to draft")
        for words, kind in (("Key insights", Kind.INSIGHTS), ("Reference material", WriterAid.REFERENCE)):
            self.what.addItem(words, kind.value)
        self.reference = ReferenceMaterialEditor(session)
        self.reference.confirm.clicked.connect(self._confirm)
        self.reference.hide()
        self.asking = DraftAsking(session)
        self.asking.came.connect(self._arrived)
        self.head = PlainLabel(role="hint", wrap=True)
        self.nothing_more = KeyButton(
            "Dismiss draft",
            act="refuse_draft",
            role="quiet",
            hint="Dismiss the rest of the draft; units you took stay in your document",
            press=self.settle,
        )
        self._inner = QWidget()
        self._units = vertical(StretchSpace(1), on=self._inner, margins=(0, 0, 4, 0), spacing=8)
        self.area = PlainArea("The draft", self._inner)
        # The panel's own colour is visible between the cards.
        for ground in (self.area.viewport(), self._inner):
            ground.setAutoFillBackground(False)
        foot = horizontal(StretchSpace(1), self.nothing_more)
        drafted = column_of(self.head, (self.area, 1), (self.reference, 1), foot, StretchSpace(0), spacing=8)
        vertical(self.what, self.asking, (drafted, 1), on=self, margins=0, spacing=8)
        self.asking.answer.float_over(drafted, below=False)

    def follow(self, item: Item, kind: Kind) -> None:
        self._item, self._kind = item, kind
        self.wake()

    def wake(self) -> None:
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
            # The focused widget disappeared with the last unit.
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            self.enter()

    def _arrived(self) -> None:
        """Show the draft and move the focus to it, unless someone types."""
        self.wake()
        if self.isVisible() and not isinstance(QApplication.focusWidget(), TYPED):
            self.enter()

    @property
    def of_reference(self) -> bool:
        """Whether the draft is of reference material, which is offered beside key insights."""
        return self._kind is Kind.INSIGHTS and self.what.currentData() == WriterAid.REFERENCE.value

    def _wake_reference(self, item: Item) -> None:
        waiting = self.session.ask(model_drafts.waiting, item.id)
        lacks = self.session.ask(model_drafts.lacks, item.id) or ""
        self.asking.show_item(item, WriterAid.REFERENCE, lacks=lacks, waiting=waiting is not None)
        self._show_cards([])
        self.head.hide()
        self.area.hide()
        self.reference.show_draft(waiting)
        self.draft_id = self.reference.draft_id
        self.nothing_more.setVisible(waiting is not None)

    def _wake_units(self, item: Item) -> None:
        result = self.session.ask(model_drafts.proposals, item.id, self._kind) or []
        draft = result[0] if result else None
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
        """What a model needs before it can draft, a source or the units that this kind is made of; empty if nothing."""

        extraction = model_drafts.OFFERED.get(self._kind)
        if extraction is None or extraction.sources:
            beside = self.session.ask(items.sources, item.id) or []
            return "" if any(source.text.strip() and not source.drafted for source in beside) else NO_SOURCE
        there = {
            artifact.kind
            for artifact in self.session.ask(annotating.artifacts_of, item.id) or []
            if artifact.document.units
        }
        lacking = [KINDS[kind].units for kind in extraction.needs if kind not in there]
        return f"Write {lacking[0]} for this item first: a model drafts from these." if lacking else ""

    def enter(self) -> None:
        """Focus the first card that can be taken, the text to edit, or the button that asks."""
        if self.of_reference and self.draft_id:
            self.reference.enter()
            return
        card = self.current() or next((card for card in self.cards if not card.is_taken), None)
        goal: QWidget = card or self.asking.begin
        goal.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def current(self) -> DraftCard | None:
        return next(
            (card for card in self.cards if card.unit.id == self._current and not card.is_taken), None
        )

    def take(self, *, edit: bool) -> None:
        """Take the current unit and make the next one current. Reference material is taken as a whole."""
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
        if not self.draft_id or self.isHidden():
            return
        took = any(card.is_taken for card in self.cards)
        if self.session.do(model_drafts.confirm if took else model_drafts.refuse, self.draft_id) is not None:
            self.wake()

    def stop(self) -> None:
        self.reference.tell()

    def _confirm(self) -> None:
        if self.draft_id and self.reference.confirm.isEnabled():
            self.reference.tell()
            self.session.do(model_drafts.confirm_material, self.draft_id)

    def _show_cards(self, units: Sequence[tuple[Unit, bool]]) -> None:
        if [(card.unit, card.is_taken) for card in self.cards] == list(units):
            return
        focused = holds(self._inner)
        if focused:
            # Otherwise the focus would go from card to card as they are hidden, and with it the current unit.
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        for card in self.cards:
            card.hide()
            take_out(self._units, card)
        self.cards = []
        for number, (unit, taken) in enumerate(units, start=1):
            card = DraftCard(self, unit, number, taken=taken)
            self._units.insertWidget(self._units.count() - 1, card)
            # Left to Qt, it could be focused only when the event loop runs again.
            card.show()
            self.cards.append(card)
        if self.current() is None:
            ids = [card.unit.id for card in self.cards]
            place = ids.index(self._current) if self._current in ids else 0
            left = [card.unit.id for card in (*self.cards[place:], *self.cards[:place]) if not card.is_taken]
            self._current = left[0] if left else ""
        self.mark(self._current)
        if focused:
            self.enter()

    def take_unit(self, unit_id: str, *, edit: bool = False) -> None:
        self._current = unit_id
        self.taken.emit(unit_id, edit)

    def mark(self, unit_id: str) -> None:
        """Make this unit the current one."""
        self._current = unit_id
        for card in self.cards:
            card.mark_current(card.unit.id == unit_id)

    def step(self, by: int) -> None:
        """Go to the card below (1) or above (-1)."""
        ids = [card.unit.id for card in self.cards]
        place = ids.index(self._current) if self._current in ids else 0
        goal = self.cards[max(0, min(len(ids) - 1, place + by))]
        goal.setFocus(Qt.FocusReason.OtherFocusReason)
        self.area.ensureWidgetVisible(goal)


class ReferenceMaterialEditor(Pane):
    """Editor of drafted reference material: both parts, one above the other; stored as a draft until confirmed."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.draft_id = ""
        self._stored: dict[str, str] = {}
        self.head, self.why = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.fields = {part: TextField(title, most=EVERY_LINE) for part, (title, _) in ABOUT.items()}
        self._inner = QWidget()
        self.area = PlainArea("The draft", self._inner)
        self.confirm = KeyButton(
            "Add to the item",
            act="take_unit",
            role="primary",
            hint="Make it a source of this item for everyone, marked as drafted by a model",
        )
        inside = vertical(on=self._inner, margins=(0, 0, 4, 0), spacing=4)
        for part, (title, hint) in ABOUT.items():
            field = self.fields[part]
            field.edited.connect(self._keep)
            field.cursorPositionChanged.connect(self._follow)
            inside.addWidget(PlainLabel(title, "strong"))
            inside.addWidget(PlainLabel(hint, "hint", wrap=True))
            inside.addWidget(field, 0, Qt.AlignmentFlag.AlignTop)
        inside.addStretch(1)
        # The panel's own colour is visible between the fields.
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
        """Show a draft as edited so far, or nothing; the texts of a draft already shown are not set again."""
        known, shown = self.draft_id, waiting.proposal.id if waiting else ""
        if known != shown:
            # Text typed just now belongs to the draft that is being replaced.
            self.tell()
        self.draft_id = shown
        self.setVisible(waiting is not None)
        if waiting is None:
            return
        source = waiting.proposal.source
        self.head.setText(f"Drafted by {source.name} on {moment(waiting.proposal.at)}. Only you see it.")
        allowed = self.session.ask(model_drafts.may_confirm) is True
        self.why.show_words("" if allowed else NOT_YOU)
        self.confirm.setEnabled(allowed and not self.session.project.readonly)
        if known == self.draft_id:
            return
        for part, words in zip(self.fields, (waiting.from_sources, waiting.beyond), strict=True):
            self.fields[part].setReadOnly(self.session.project.readonly)
            self.fields[part].show_value(words)
            self._stored[part] = words
        self.area.verticalScrollBar().setValue(0)

    def tell(self) -> None:
        for field in self.fields.values():
            field.tell()

    def enter(self) -> None:
        self.fields[model_drafts.FROM_SOURCES].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _keep(self) -> None:
        for part, field in self.fields.items():
            text = field.toPlainText()
            if self.draft_id and not self.session.project.readonly and text != self._stored.get(part):
                self._stored[part] = text
                self.session.ask(model_drafts.edit, self.draft_id, part, text)

    def _follow(self) -> None:
        field = QApplication.focusWidget()
        if isinstance(field, TextField) and field in self.fields.values():
            at = field.mapTo(self._inner, field.viewport().mapToParent(field.cursorRect().center()))
            self.area.ensureVisible(at.x(), at.y(), 0, 2 * field.fontMetrics().lineSpacing())


_TICKED = Qt.CheckState.Checked
FILES = "References (*.bib *.ris *.nbib *.enw *.ciw *.csv *.tsv *.txt *.tex *.bbl *.json *.pdf *.md);;All files (*)"
HOW = "Paste references, or take them from a file or the item's sources."
RESEARCH = "The source is a research paper: its evidence is the source itself."


class BulkEvidence(Pane):
    """Adds references to a gold evidence list in bulk: the input above, the parsed references below."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._item: Item | None = None
        self._offer = EvidenceOffer("", ())
        self.keep: Callable[[], bool] = lambda: True
        """Saves what is being typed into the form; False if it cannot be saved."""
        self.about, self.summary = PlainLabel(HOW, "hint", wrap=True), PlainLabel(role="strong", wrap=True)
        self.text = with_properties(
            TextBox(placeholderText="A list of works, BibTeX, RIS, CSV, DOIs or arXiv ids"),
            accessibleName="References to take",
            tabChangesFocus=True,
        )
        theme.scale(self.text.setFixedHeight, 90)
        self.file = path_button("File…", "References", self.read_file, FILES)
        self.listed = push_button(
            "The source's list",
            lambda: self._ask(lookups.from_sources),
            toolTip="The references at the end of the item's sources",
        )
        self.itself = KeyButton("The source itself", act="source_itself")
        self.entries = with_properties(QListWidget(), accessibleName="References that were read")
        self.take_all = KeyButton("Take", act="take_unit", role="primary")
        self.look = KeyButton(
            "Look up titles",
            act="ask_draft",
            hint="Ask OpenAlex and CrossRef for lacking titles, authors and years; replies are kept",
        )
        self.tick = push_button(
            "Tick the doubtful", self._tick_doubtful, toolTip="Each can be ticked by itself in the list above"
        )
        self.answer = MessageBar()
        self._soon = later(self, self._read_pasted, 300)
        row = wrapping(self.file, self.listed, self.itself)
        acts = wrapping(self.take_all, self.tick, self.look)
        wrap_lines(self.entries)
        vertical(
            self.about, self.text, row, self.summary, (self.entries, 1), acts, on=self, margins=0, spacing=8,
        )  # fmt: skip
        self.answer.float_over(self.entries)
        self.text.textChanged.connect(self._soon.start)
        self.itself.clicked.connect(self.take_source)
        self.take_all.clicked.connect(self.take)
        self.entries.itemChanged.connect(self._count)
        self.look.clicked.connect(self.look_up)
        self._show(self._offer)

    def follow(self, item: Item, _kind: Kind) -> None:
        if self._item is None or self._item.id != item.id:
            self.text.clear()
            self._show(EvidenceOffer("", ()))
        self._item = item
        self.wake()

    def wake(self) -> None:
        if self.isVisible() and self._item is not None:
            self.about.setText(RESEARCH if self.session.ask(lookups.of_research, self._item.id) else HOW)

    def enter(self) -> None:
        self.wake()
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def read_file(self, path: Path) -> None:
        self._ask(lookups.from_file, path)

    def take(self) -> None:
        """Add the new references and the ticked doubtful ones to the evidence, in one act."""
        chosen = self._chosen()
        if self._item is None or not chosen or not self.keep():
            return
        if self.session.do(lookups.take, self._item.id, chosen, self._offer.form) is not None:
            self._report(f"{counted(len(chosen), 'reference')} taken; {keys.shown('undo')} takes them back.")

    def take_source(self) -> None:
        if self._item is None:
            return
        offer = self.session.ask(lookups.the_source_itself, self._item.id)
        if offer is not None:
            self._show(offer)
            self.take()

    def look_up(self) -> None:
        """Look up what is missing with the online services, on another thread."""
        if self._item is not None and self.keep():
            self.look.setEnabled(False)
            self.session.do_later(self._looked_up, lambda *_: None, lookups.look_up_evidence, self._item.id)

    def stop(self) -> None:
        self._soon.stop()

    def _looked_up(self, result: Any) -> None:
        self.look.setEnabled(True)
        if result is not None:
            self.answer.show_message("info" if result[1].lacking else "success", result[1].words())

    def _report(self, words: str) -> None:
        self.text.clear()
        self._soon.stop()
        self._show(EvidenceOffer("", ()))
        # In the text field, the undo key would bring the pasted text back.
        self.entries.setFocus(Qt.FocusReason.OtherFocusReason)
        self.answer.show_message("success", words)

    def _read_pasted(self) -> None:
        text = self.text.toPlainText()
        if text.strip():
            self._ask(lookups.from_text, text)
        else:
            self._show(EvidenceOffer("", ()))

    def _ask(self, question: Callable[..., EvidenceOffer], *more: Any) -> None:
        if self._item is not None:
            # Text typed just before must not be parsed over this query's answer.
            self._soon.stop()
            item_id = self._item.id
            self.session.ask_later(lambda offer: self._arrived(item_id, offer), question, item_id, *more)

    def _arrived(self, item_id: str, offer: EvidenceOffer) -> None:
        if self._item is not None and self._item.id == item_id:
            self._show(offer)

    def _show(self, offer: EvidenceOffer) -> None:
        self._offer = offer
        with QSignalBlocker(self.entries):
            self.entries.clear()
            for entry in offer.entries:
                self.entries.addItem(_line(entry))
        doubts = " Tick those of the doubtful that are right." if offer.doubtful else ""
        self.summary.show_words(f"{offer.words()}{doubts}" if offer.entries else "")
        self.tick.setVisible(bool(doubts))
        self._count()

    def _chosen(self) -> list[Reference]:
        """The references that would be taken: the new ones, and the doubtful ones that are ticked."""
        ticked = [self.entries.item(row).checkState() == _TICKED for row in range(self.entries.count())]
        return [
            reference.reference
            for reference, chosen in zip(self._offer.entries, ticked, strict=True)
            if reference.reference is not None and (reference.fresh or chosen)
        ]

    def _tick_doubtful(self) -> None:
        for row, reference in enumerate(self._offer.entries):
            if reference.doubtful:
                self.entries.item(row).setCheckState(_TICKED)

    def _count(self) -> None:
        count = len(self._chosen())
        self.take_all.set_words(f"Take {counted(count, 'reference')}" if count else "Take")
        self.take_all.setEnabled(bool(count) and not self.session.project.readonly)


def _line(reference: OfferedReference) -> QListWidgetItem:
    picture, colour = ("check", "level-success") if reference.fresh else ("warning", "level-warning")
    line = QListWidgetItem(chips.icon(picture, theme.current().px(14), colour), reference.words())
    line.setToolTip(tooltip(f"{reference.why or reference.doubt} {reference.text}".strip()))
    if reference.doubtful:
        line.setFlags(line.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        line.setCheckState(Qt.CheckState.Unchecked)
    return line
