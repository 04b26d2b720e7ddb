"""The Author page: source on the left, document on the right, item above."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QWidget,
)

from annotator.actions.adjudication import feedback
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import items, materials
from annotator.domain.common import Change
from annotator.domain.experts.assignment import stage_of
from annotator.domain.kinds.artifact import Anchor, Artifact, Kind, State
from annotator.domain.kinds.documents import KINDS, WRITTEN
from annotator.domain.material.item import Item, Source
from annotator.gui import keys, theme
from annotator.gui.pages.authoring.form import KindTabs
from annotator.gui.pages.authoring.sheet import HELPED_KINDS, AuthoringSheet
from annotator.gui.pages.authoring.side_panel import AssignedKinds, SidePanel
from annotator.gui.parts import holds
from annotator.gui.review.field_chips import frozen_words
from annotator.gui.review.source_pane import SourcePane
from annotator.gui.session.page import ANOTHER_KIND, Page, may_choose_uses
from annotator.gui.session.session import AUTHORING, Attention, Clock, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import wrapping
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    Refitting,
    StretchSpace,
    column_of,
    horizontal,
    later,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.splitter import Splitter

if TYPE_CHECKING:
    from annotator.gui.pages.authoring.model_draft import ModelDraft


# A question longer than a line, or than SHORT letters, is shortened; the whole is shown on demand, and on the left.
SHORT = 120
LONGEST = 4000


LEAST_SECONDS = 0.1
# From this width on the page shows the guideline, unless the person has closed it.
WIDE = 1400
# The minimum width of a document whose weights are on one line; at a larger zoom it asks for more by itself.
LEAST_SHEET = 430
GUIDELINE_KEY = "author/guideline"
NO_ITEMS = "No items yet", "Items are the questions that documents are written for."
NOT_YOURS = (
    "Nothing is assigned to you to write",
    "You have other assignments: see the Label and Adjudicate pages. Ask the coordinator if you expected "
    "something here.",
)


class AuthorPage(Refitting, Page):
    NAME: ClassVar[str] = "Author"
    # Kinds of change that may affect the page; judgements come by the thousand and do not.
    HEARS = BEHIND = ("artifact", "item", "source", "import", "assignment", "adjudication", "parcel")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._ids: list[str] = []
        self.item: Item | None = None
        self.header, self.tabs = ItemHeader(), KindTabs()
        self.source, self.sheet, self.side = SourcePane(session), AuthoringSheet(session), SidePanel(session)
        self.origin: materials.TaskOrigin | None = None
        self._turned, self._goal = False, ""
        self.assigned = AssignedKinds(session)
        self.clock = Clock()
        self._attention = Attention(self, self.clock)
        self._spending = later(self, self._spend, 60_000, again=True)
        self._lay_out()
        self._listen()
        self._bind()

    def _lay_out(self) -> None:
        self._parts = Splitter(
            "author", parts=(self.source, self.sheet, self.side), sizes=(500, 620, 260), stretch=(5, 6, 0)
        )
        self._parts.give_way(self.source, self.side)
        self.sheet.setMinimumWidth(LEAST_SHEET)
        if may_choose_uses(self.session):
            self.sheet.strip.guideline.menu().addAction(
                ANOTHER_KIND, lambda: self.session.go("Project", part="uses")
            )
        kinds = horizontal(self.tabs, StretchSpace(1))
        self._whole = column_of(self.header, kinds, (self._parts, 1), spacing=0)
        self._nothing = EmptyState("items", *NO_ITEMS)
        self._bring = self._nothing.add_action(
            "Import items", lambda: self.session.go("Import"), primary=True
        )
        self._nothing.add_action("See the items", lambda: self.session.go("Items"))
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._whole)
        self._stack.addWidget(self._nothing)

    def _listen(self) -> None:
        self.header.stepped.connect(self.step)
        self.tabs.picked.connect(self._pick)
        self.sheet.form.entered.connect(self.side.follow)
        self.sheet.form.entered.connect(self._show_quoted)
        self.source.stepped.connect(self.sheet.form.reveal)
        self.sheet.acts.quote_wanted.connect(self._show_quote)
        self.sheet.sealed.connect(self._submitted)
        self.sheet.strip.guideline.clicked.connect(lambda: self.side.toggle(self.side.text))
        self.header.became.clicked.connect(self._show_feedback)
        self.header.seminar.clicked.connect(self._show_seminar)
        self.sheet.strip.history.triggered.connect(lambda: self.side.toggle(self.side.history))
        self.sheet.strip.draft.triggered.connect(self._turn_draft)
        self.sheet.beginning.draft.clicked.connect(self._turn_draft)
        self.side.keep = self.sheet.saving.keep
        self.side.taken.connect(self._take)
        self.side.quote_wanted.connect(self._show_quote)
        self.side.turned.connect(self._show_side)
        theme.watch(self, self.refit)
        self.sheet.stirred.connect(self.clock.touch)
        self.source.stirred.connect(self.clock.touch)
        self.source.quoting.clicked.connect(lambda: self.sheet.change(self._quote))
        theme.watch(self, self.tabs.repaint_icons)

    def _bind(self) -> None:
        acts = self.sheet.acts
        changing: dict[str, Callable[[], object]] = {
            **{f"weight_{number}": partial(acts.choose, number) for number in (1, 2, 3)},
            "new_unit": self._new,
            "retire_unit": acts.delete,
            "unit_up": partial(acts.move, -1),
            "unit_down": partial(acts.move, 1),
            "merge_unit": acts.merge,
            "split_unit": acts.split,
            "note": acts.note,
            "evidence": self._quote,
        }
        for act, slot in changing.items():
            self.bind(act, partial(self.sheet.change, slot))
        self.bind_all(
            {
                "submit": self._submit,
                "reopen_document": self._reopen,
                "next_item": lambda: self.step(1),
                "previous_item": lambda: self.step(-1),
                "next_open": self.go_on,
                "find": self._reading(self.source.open_find),
                "next_evidence": self._reading(partial(self.source.step_evidence, 1)),
                "previous_evidence": self._reading(partial(self.source.step_evidence, -1)),
                "spelling": self.sheet.speller.turn,
                "guideline": lambda: self.side.toggle(self.side.text),
                "model_draft": self._turn_draft,
                "ask_draft": self.side.ask,
                "take_unit": self.side.take,
                "take_marks": partial(self.sheet.change, self.sheet.bar.marks.click),
                "source_itself": partial(self.sheet.change, self.side.take_source),
                "take_and_edit": partial(self._with_draft, lambda draft: draft.take(edit=True)),
                "refuse_draft": partial(self._with_draft, lambda draft: draft.settle()),
                "next_kind": lambda: self.tabs.step(1),
                "previous_kind": lambda: self.tabs.step(-1),
                "other_pane": self._change_pane,
            }
        )

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the requested item and kind, otherwise the ones shown last, otherwise the ones being worked on."""
        self._read_assigned()
        item_id = place.get("item_id") or (self.item.id if self.item else "") or self._last_item()
        if item_id not in self._ids and not (
            place.get("item_id") and self.session.ask(items.number, item_id)
        ):
            item_id = next(iter(self._ids), "")
        self._stack.setCurrentWidget(self._whole if item_id else self._nothing)
        if not item_id:
            return
        kind = Kind(place["kind"]) if "kind" in place else None
        if self.item is not None and item_id == self.item.id and kind in (None, self.sheet.kind):
            self._refresh(self._documents(item_id))
        else:
            self.go_to(item_id, kind)
        self._goal = str(place.get("unit_id", ""))

    def place(self) -> dict[str, str]:
        if self.item is None:
            return {}
        unit = self.sheet.form.current
        return {"item_id": self.item.id, "kind": self.sheet.kind.value} | (
            {"unit_id": unit.unit_id} if unit else {}
        )

    def _read_assigned(self) -> None:
        self.assigned.refresh()
        self._ids = self.assigned.items()
        other = self.assigned.something_else()
        self._nothing.show_words(*(NOT_YOURS if other else NO_ITEMS))
        self._bring.setVisible(not other)

    def leave(self) -> None:
        self.sheet.saving.keep()
        self._spend()

    def stop(self) -> None:
        """Stop saving: text that cannot become a revision is stored as a draft."""
        self.sheet.saving.follow(None, editable=False)
        self._spending.stop()
        self.source.stop()
        self.side.stop()

    def focus_first(self) -> None:
        """Focus the requested unit, otherwise the first empty one, or the button that starts the document."""
        goal, self._goal = self._goal, ""
        if self.item is not None:
            self.sheet.focus_first()
            self.sheet.form.go(goal)

    def keeps_words(self, field: QWidget) -> bool:
        return not self.sheet.isAncestorOf(field)

    def go_to(self, item_id: str, kind: Kind | None = None) -> bool:
        """Go to an item and a kind; False, without any change, if what was typed cannot be saved."""
        if not self.sheet.saving.keep():
            return False
        self._spend()
        result = self._documents(item_id)
        QSettings().setValue(self._place_key(), item_id)
        self._show_item(item_id)
        self._show_kind(kind or self.assigned.likely(item_id, result, self.sheet.kind), result)
        return True

    def step(self, by: int) -> None:
        """Go to the next (+1) or previous (-1) item, if there is one."""
        if self.item is not None and self.item.id in self._ids:
            place = self._ids.index(self.item.id) + by
            if 0 <= place < len(self._ids):
                self._begin(self._ids[place], self.sheet.kind)

    def go_on(self) -> None:
        if self.item is None:
            return
        goal = self.assigned.next(self.item.id, self.sheet.kind)
        if goal is None:
            self.sheet.say("success", self.assigned.what_waits())
        else:
            self._begin(*goal)

    def _new(self) -> None:
        """Add a unit; if there is no document yet, start one."""
        if self.sheet.artifact is None and self.sheet.beginning.start.isEnabled():
            self.sheet.start()
        else:
            self.sheet.acts.new()

    def _begin(self, item_id: str, kind: Kind) -> None:
        """Go to an item and that kind, or to another one if that is not written for the item."""
        if self.go_to(item_id, self.assigned.fitting(item_id, kind)):
            self.sheet.focus_first()

    def _submit(self) -> None:
        """Submit; if the document is submitted already, go on."""
        if self.sheet.artifact is not None and self.sheet.artifact.state is State.SEALED:
            self.go_on()
        else:
            self.sheet.change(self.sheet.submit)

    def _reopen(self) -> None:
        """Reopen a closed document; a document that is open or another person's stays as it is."""
        if self.sheet.strip.reopen.isVisible():
            self.sheet.reopen()
        else:
            self.sheet.change(lambda: None)

    def on_change(self, change: Change) -> None:
        """Show what was committed here, on another page, or by another process."""
        if self.item is None:
            return
        if change.kind == "artifact":
            if change.verb in ("seal", "reopen"):
                self.assigned.refresh()
                self.header.show_due(self.assigned.due(self.item.id))
            shown = self.sheet.artifact
            # Another wording does not change the state of a document.
            reworded = shown is not None and shown.id == change.subject and change.undoable
            self._refresh(self._documents(self.item.id), reworded=reworded)
            if not reworded:
                self._go_after(change)
        else:
            self._read_assigned()
            self._show_item(self.item.id)
            self.sheet.know(self.item, self._sources())
            self._refresh(self._documents(self.item.id))

    def _go_after(self, change: Change) -> None:
        """After undo or redo in another document, go there, so that the change is seen."""
        shown = self.sheet.artifact
        elsewhere = shown is None or shown.id != change.subject
        if elsewhere and change.undoable and change.by == self.session.project.by and self.isVisible():
            artifact = artifacts.read(self.session.project, change.subject)
            if self.go_to(artifact.item_id, artifact.kind):
                self.sheet.say("info", f"Undone or redone here: {change.verb}.")

    def _show_item(self, item_id: str) -> None:
        self.item = items.read(self.session.project, item_id)
        place = self._ids.index(item_id) + 1 if item_id in self._ids else 0
        self.header.show_item(self.item, place, len(self._ids))
        self.header.show_due(self.assigned.due(item_id))
        self.header.became.setVisible(bool(self.session.ask(feedback.has_digest, item_id)))
        self.origin = origin = self.session.ask(materials.origin, self.item)
        self.header.show_origin(origin.seminar.key if origin else "")
        beside = self.session.ask(items.beside, item_id) or []
        self.source.show_item(self.item, [*beside, *(origin.sources if origin else ())])

    def _sources(self) -> list[Source]:
        """The sources of the item itself, without those of the seminar it comes from."""
        return [
            source
            for source in self.source.sources
            if self.item is not None and source.item_id == self.item.id
        ]

    def _show_seminar(self) -> None:
        if (origin := self.origin) and self.item is not None:
            place = {"kind": Kind.TASKS.value, "unit_id": self.item.made_from}
            self.session.go("Author", item_id=origin.seminar.id, **place)

    def _documents(self, item_id: str) -> Sequence[Artifact]:
        """The documents of an item; labels have a page of their own."""
        return [
            each for each in self.session.ask(annotating.artifacts_of, item_id) or () if each.kind in WRITTEN
        ]

    def _show_kind(self, kind: Kind, artifacts: Sequence[Artifact]) -> None:
        assert self.item is not None
        kinds = self.assigned.kinds(self.item.id)
        offered = self.assigned.of_role(self.item.id) if kinds is None else kinds
        self.tabs.offer({*offered, kind, *(each.kind for each in artifacts)})
        self.tabs.show_kind(kind)
        self.tabs.show_standings(artifacts)
        self.sheet.show_kind(self.item, kind, artifacts, self._sources())
        self.side.history.follow(self.sheet.artifact)
        self.side.follow_item(self.item, kind)
        self._show_quoted()

    def _refresh(self, artifacts: Sequence[Artifact], *, reworded: bool = False) -> None:
        self.tabs.show_standings(artifacts)
        self.sheet.refresh(artifacts, reworded=reworded)
        self._show_quoted()
        self.side.history.follow(self.sheet.artifact)
        self.side.wake()

    def _pick(self, kind: Kind) -> None:
        """Switch to a kind's tab; go back if what was typed cannot be saved."""
        if self.item is None or not self.sheet.saving.keep():
            self.tabs.show_kind(self.sheet.kind)
            return
        self._spend()
        self._show_kind(kind, self._documents(self.item.id))

    def _show_feedback(self) -> None:
        if self.item is not None:
            self.session.go("Feedback", item_id=self.item.id, stage=stage_of(self.sheet.kind).value)

    def _show_side(self) -> None:
        side, self._turned = self.side, True
        QSettings().setValue(GUIDELINE_KEY, "shown" if side.shows(side.text) else "hidden")
        self.sheet.strip.show_side(
            guideline=side.shows(side.text), history=side.shows(side.history), draft=side.helps
        )

    def _turn_draft(self) -> None:
        """Show or hide the panel of a model's draft or of bulk references, if the kind has one."""
        part = self.side.helper
        if self.item is not None and (self.sheet.kind in HELPED_KINDS or self.side.shows(part)):
            self.side.toggle(part)
            if self.side.shows(part):
                part.enter()

    def _with_draft(self, act: "Callable[[ModelDraft], object]") -> None:
        """Apply an act to the shown draft; do nothing while its panel is closed."""
        if self.side.shown_draft:
            act(self.side.shown_draft)

    def _take(self, unit_id: str, edit: bool) -> None:
        if self.sheet.take(self.side.draft.draft_id, unit_id, edit=edit):
            self.side.draft.wake()

    def _reading(self, act: Callable[..., None]) -> Callable[[], None]:

        def do() -> None:
            self._show_source()
            act()

        return do

    def _show_source(self) -> None:
        """Show the source; if there is no room for both, close the side panel."""
        if self.source.isHidden():
            self.side.close_button.click()
            self.source.show()

    def _quote(self) -> None:
        """Add the words selected or found in the source to the current unit as a quotation."""
        self._show_source()
        anchor = self.source.quote()
        if anchor is None:
            self.sheet.say("info", f"Select words in the source first, then press {keys.shown('evidence')}.")
        elif not self.sheet.acts.quote(anchor):
            self.sheet.say("info", "No unit here can take a quotation.")
        else:
            self.source.forget_selection()
            self.source.show_anchor(anchor)
            self.sheet.enter_current()

    def _show_quoted(self) -> None:
        """Mark all quotations of the document; those of the current unit are highlighted."""
        artifact, current = self.sheet.artifact, self.sheet.form.current
        units = artifact.document.units if artifact else ()
        quoted = [(unit.id, anchor) for unit in units for anchor in unit.anchors]
        self.source.show_quoted(quoted, current.unit_id if current else "")
        self.source.leads.show_units(self.origin.inspirations if self.origin else self.sheet.written_from())

    def _show_quote(self, anchor: Anchor) -> None:
        """Scroll to a quotation, or say that its words are no longer in the source."""
        self._show_source()
        if not self.source.show_anchor(anchor):
            self.sheet.say("info", "These words are no longer in the source; the quotation is kept.")

    def _change_pane(self) -> None:
        if holds(self.sheet):
            self._reading(self.source.enter)()
        else:
            self.sheet.enter_current()

    def _submitted(self, artifact: Artifact) -> None:
        """Show the result of submitting, and offer where work continues; the page stays."""
        assert self.item is not None
        at = self.item.id, stage_of(artifact.kind), artifact.id, artifact.revision
        words = frozen_words(self.item.key, self.session.ask(assignments.frozen_by, *at))
        goal = self.assigned.next(self.item.id, artifact.kind)
        self.sheet.say(
            "success", "Submitted.", words if goal else f"{words} {self.assigned.what_waits()}".strip()
        )
        if goal:
            item_id, kind = goal
            there = self.session.ask(items.read, item_id)
            name = KINDS[kind].title if item_id == self.item.id or there is None else there.key
            self.sheet.messages.set_action(f"Next: {name[:40]}", partial(self._begin, item_id, kind))
        if not holds(self.sheet):
            # The button that asks for drafts has disappeared, and the focus with it.
            self.sheet.enter_current()

    def _spend(self) -> None:
        """Record the active time since the last call for the open document, or the item."""
        subject = self.sheet.artifact.id if self.sheet.artifact else self.item.id if self.item else ""
        seconds = self.clock.take()
        if subject and seconds >= LEAST_SECONDS and not self.session.project.readonly:
            self.session.ask(assignments.spend, subject, seconds)

    def _last_item(self) -> str:
        stored = str(QSettings().value(self._place_key(), ""))
        begun = (
            self.session.ask(items.ids, items.Filter(state="in progress", mine=True, stages=AUTHORING)) or []
        )
        return stored if stored in self._ids else begun[0] if begun else ""

    def _place_key(self) -> str:
        return f"author/{self.session.project.get('id', '')}"

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refit()
        self._attention.begin()
        self._spending.start()

    def refit(self) -> None:
        """Open the guideline if the page is wide or the person once opened it, but never instead of the source.

        What the person toggles here is not changed back, and is stored as their preference.
        """
        if self._turned or not self.isVisible():
            return
        chosen = QSettings().value(GUIDELINE_KEY)
        room = self.width() >= theme.current().px(WIDE) if chosen is None else chosen == "shown"
        if self.side.shows(self.side.text) != (room and not self._parts.lacks_room(self.source, self.side)):
            self.side.toggle(self.side.text)
            QSettings().setValue(GUIDELINE_KEY, chosen)
            self._turned = False

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._attention.end()
        self._spending.stop()


class ItemHeader(Refitting, QFrame):
    stepped = Signal(int)
    """Go to another item: +1 the next, -1 the previous."""

    def __init__(self) -> None:
        super().__init__()
        self._item: Item | None = None
        self.place, self.question, self.due = (
            PlainLabel(role="hint"),
            PlainLabel(wrap=True, textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse),
            PlainLabel(role="chip"),
        )
        self.key, self.about = ElidedLabel(role="subtitle"), ElidedLabel(role="hint")
        for label in (self.key, self.about):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.due.hide()
        self.became = with_properties(
            QPushButton("Feedback on my work"),
            role="quiet",
            toolTip="A consensus exists: see what changed in your work, and why",
        )
        chips.put(self.became, "eye")
        self.became.hide()
        self.seminar = with_properties(
            QPushButton(),
            role="quiet",
            toolTip="Show the task where it was written, beside its inspirations and the transcript",
        )
        self.seminar.hide()
        self.question.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.more = with_properties(QPushButton("Full question"), role="quiet", checkable=True)
        self.more.toggled.connect(self.refit)
        row = wrapping(self.key, self.about, self.due, self.seminar, self.became, self.more)
        button = partial(chips.tool_button, role="quiet", focusPolicy=Qt.FocusPolicy.NoFocus)
        top = horizontal(
            (row, 1),
            button("Previous item ({previous_item})", "left", lambda: self.stepped.emit(-1)),
            self.place,
            button("Next item ({next_item})", "right", lambda: self.stepped.emit(1)),
            spacing=8,
        )
        vertical(top, self.question, on=self, margins=(12, 8, 12, 4), spacing=4)

    def show_item(self, item: Item, place: int, count: int) -> None:
        """Show an item and its place among all, counted from 1."""
        other = self._item is None or self._item.id != item.id
        self._item = item
        self.key.setText(item.key)
        self.about.setText(" · ".join(part for part in (item.question_type, item.subject) if part))
        self.place.setText(f"{place:,} of {count:,}" if place else "not assigned to you")
        self.place.setAccessibleName(f"Item {place:,} of {count:,}" if place else "Not assigned to you")
        if other:
            self.more.setChecked(False)
        self.refit()

    def show_due(self, words: str) -> None:
        """Show the due date of the person's work on the item; empty words show nothing."""
        self.due.show_words(f"Due {words}" if words else "")
        theme.set_role(self.due, state="disagree" if "late" in words else "unconfirmed")

    def show_origin(self, seminar: str) -> None:
        """Link to the seminar with that key, whose task the item was made from; hidden if empty."""
        self.seminar.setText(f"Seminar {seminar}")
        self.seminar.setVisible(bool(seminar))

    def refit(self) -> None:
        """Show as much of the question as fits into a line, or all of it."""
        question = self._item.question.strip() if self._item else ""
        line = max(SHORT, self.width() // self.fontMetrics().averageCharWidth())
        self.more.setVisible(len(question) > line)
        most = LONGEST if self.more.isChecked() else line
        short = question if len(question) <= most else f"{question[:most].rsplit(maxsplit=1)[0]}…"
        self.question.setText(short)
        self.more.setText("Less" if self.more.isChecked() else "Full question")
