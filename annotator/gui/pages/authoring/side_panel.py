"""Side panel of the Author page: guideline, revisions, a model's draft, or bulk references; and what is assigned."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.authoring.artifacts import RevisionLine
from annotator.actions.items import items, materials
from annotator.actions.project import people, profile
from annotator.domain.common import grouped
from annotator.domain.kinds.artifact import Artifact, Kind, KindSpec, State
from annotator.domain.kinds.documents import WRITTEN
from annotator.domain.kinds.kind import ItemRole, Stage, stage_of
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.forms import forms
from annotator.gui.review.field_chips import as_text, line
from annotator.gui.session.session import AUTHORING, Pane, ProjectSession, due_of_items
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import PlainLabel, horizontal, later, vertical, with_properties
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.reading.report_view import ReportView

if TYPE_CHECKING:
    from annotator.gui.pages.authoring.model_draft import BulkEvidence, ModelDraft


# While typing goes on, the list is not queried at every revision.
SETTLE_MS = 800

LEAST_WIDTH, DRAFT_WIDTH = 230, 330
H = TypeVar("H", "ModelDraft", "BulkEvidence")


class SidePanel(Pane):
    """One panel at a time, or none; the helpers are imported and built when first needed."""

    turned = Signal()
    """Another part is shown, or none."""
    taken = Signal(str, bool)
    """Take this unit of the model's draft; the second value says whether to go on editing it."""
    quote_wanted = Signal(object)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "side")
        self._helpers: list[ModelDraft | BulkEvidence] = []
        self._titles: dict[QWidget, str] = {}
        self._item: Item | None = None
        self.keep: Callable[[], bool] = lambda: True
        """Saves what is being typed into the form; False if it cannot be saved."""
        self.title = PlainLabel(role="subtitle")
        self.close_button = chips.tool_button(
            "Close this panel", "close", lambda: self.toggle(self._stack.currentWidget()), 14
        )
        self.all = with_properties(QPushButton("Show all"), role="quiet", checkable=True)
        self.all.toggled.connect(self._show_guideline)
        self.text, self.history = ReportView(), HistoryList(session)
        with_properties(self.text, role="side", accessibleName="Guideline")
        self._stack = QStackedWidget()
        self._add(self.text, "Guideline")
        self._add(self.history, "Revisions")
        self._kind, self._field, self._shown = Kind.RUBRIC, "text", ""
        vertical(
            horizontal((self.title, 1), self.all, self.close_button),
            (self._stack, 1),
            on=self,
            margins=(10, 6, 8, 8),
        )
        theme.follow(self, self._fit)
        self.hide()

    @cached_property
    def draft(self) -> "ModelDraft":
        from annotator.gui.pages.authoring.model_draft import ModelDraft

        made = self._add_helper(ModelDraft(self.session), "A model's draft")
        made.taken.connect(self.taken)
        made.quote_wanted.connect(self.quote_wanted)
        return made

    @cached_property
    def references(self) -> "BulkEvidence":
        from annotator.gui.pages.authoring.model_draft import BulkEvidence

        made = self._add_helper(BulkEvidence(self.session), "References to take")
        made.keep = self.keep
        return made

    def _add(self, part: QWidget, title: str) -> None:
        self._stack.addWidget(part)
        self._titles[part] = title

    def _add_helper(self, made: H, title: str) -> H:
        self._add(made, title)
        self._helpers.append(made)
        if self._item is not None:
            made.follow(self._item, self._kind)
        return made

    @property
    def shown(self) -> QWidget | None:
        """The part shown; None while the panel is closed."""
        return None if self.isHidden() else self._stack.currentWidget()

    def toggle(self, part: QWidget | None) -> None:
        """Show a part, such as `text` or `history`, or hide the panel if that part is already shown."""
        if part is None:
            return
        shown = self.shows(part)
        self._stack.setCurrentWidget(part)
        self.setVisible(not shown)
        self.all.setVisible(part is self.text)
        self.title.setText(self._titles[part])
        self._fit()
        self._show_guideline()
        self.history.wake()
        self.wake()
        self.turned.emit()

    def wake(self) -> None:
        for part in self._helpers:
            part.wake()

    @property
    def helper(self) -> "ModelDraft | BulkEvidence":
        """The helper for the current kind: a model's draft, or bulk references."""
        return self.references if self._kind is Kind.EVIDENCE else self.draft

    @property
    def shown_draft(self) -> "ModelDraft | None":
        return self.draft if self.helps and self._kind is not Kind.EVIDENCE else None

    def take(self) -> None:
        if self.shown_draft:
            self.shown_draft.take(edit=False)
        elif self.helps:
            self.references.take()

    def take_source(self) -> None:
        """Take the source itself as a reference, if evidence is being written."""
        if self._kind is Kind.EVIDENCE:
            self.references.take_source()

    def ask(self) -> None:
        if self.shown_draft:
            self.shown_draft.asking.start()
        elif self.helps:
            self.references.look_up()

    def _fit(self) -> None:
        least = DRAFT_WIDTH if self._stack.currentWidget() in self._helpers else LEAST_WIDTH
        self.setMinimumWidth(theme.current().px(least))

    @property
    def helps(self) -> bool:
        return self.shown in self._helpers

    def shows(self, part: QWidget) -> bool:
        return self.shown is part

    def follow(self, field: str) -> None:
        """Show the guideline on a field of the current kind; an empty name stands for the unit's text."""
        self._field = field or "text"
        self._show_guideline()

    def follow_item(self, item: Item, kind: Kind) -> None:
        """Switch to a kind of an item; a helper shown for one kind is replaced by that of the other."""
        self._item, self._kind = item, kind
        self.follow("text")
        for helper in self._helpers:
            helper.follow(item, kind)
        if self.helps and not self.shows(self.helper):
            self.toggle(self.helper)

    def stop(self) -> None:
        for part in self._helpers:
            part.stop()

    def _show_guideline(self) -> None:
        if self.isHidden() or self._stack.currentWidget() is not self.text:
            return
        text = self.session.ask(settings.text_in_force, stage_of(self._kind)) or ""
        words = (
            forms.whole(self._kind, text)
            if self.all.isChecked()
            else forms.on_field(self._kind, self._field, text)
        )
        if words != self._shown:
            self._shown = words
            rendered = self.session.ask(materials.html, keys.in_words(words))
            if rendered is not None:
                self.text.show_html(rendered.html)


class HistoryList(Pane):
    """The revisions of an artifact; queried only while visible."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._artifact: Artifact | None = None
        self._revisions: list[RevisionLine] = []
        self.list, self.words = (
            with_properties(QListWidget(), accessibleName="Revisions, newest first"),
            QPlainTextEdit(),
        )
        self.list.currentRowChanged.connect(self._show_words)
        with_properties(
            self.words, readOnly=True, tabChangesFocus=True, accessibleName="Text of the selected revision"
        )
        parts = with_properties(QSplitter(Qt.Orientation.Vertical), childrenCollapsible=False)
        for part in (self.list, self.words):
            parts.addWidget(part)
        vertical(parts, on=self, margins=0)
        self._settle = later(self, self.wake, SETTLE_MS)

    def follow(self, artifact: Artifact | None) -> None:
        other = self._artifact is None or artifact is None or artifact.id != self._artifact.id
        self._artifact = artifact
        if other:
            self.wake()
        else:
            self._settle.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.wake()

    def wake(self) -> None:
        if not self.isVisible():
            return
        result = self.session.ask(artifacts.revision_lines, self._artifact.id) if self._artifact else []
        if [r.id for r in result or []] == [r.id for r in self._revisions]:
            return
        self._revisions = result or []
        aliases = {person.id: person.alias for person in self.session.ask(people.people) or []}
        self.list.clear()
        for revision in self._revisions:
            entry = QListWidgetItem(line(revision, aliases.get(revision.by, "")))
            if revision.sealed:
                entry.setIcon(chips.icon("lock", theme.current().px(16), "state-agreed"))
            self.list.addItem(entry)
        self.list.setCurrentRow(0)

    def _show_words(self, row: int) -> None:
        words = ""
        if self._artifact is not None and 0 <= row < len(self._revisions):
            numbers = (self._revisions[row].number,)
            for whole in self.session.ask(artifacts.revisions, self._artifact.id, numbers) or ():
                words = as_text(self._artifact.kind, whole)
        self.words.setPlainText(words)


Place = tuple[str, Kind]


class AssignedKinds:
    """The person's assigned work, read when the page is shown and when assignments change.

    Someone without any assignment is offered every item and every kind.
    """

    def __init__(self, session: ProjectSession) -> None:
        self._session = session
        self._offered: dict[str, set[Stage]] | None = None
        self._due: dict[str, str] = {}

    def refresh(self) -> None:
        self._offered = self._session.ask(assignments.offered)
        self._due = due_of_items(self._session, AUTHORING) if self._offered is not None else {}

    def items(self) -> list[str]:
        return self._session.ask(items.ids, items.Filter(mine=True, stages=AUTHORING)) or []

    def something_else(self) -> bool:
        """Whether there are items, but none for this person to write for."""
        return self._offered is not None and bool(self._session.ask(items.count))

    def kinds(self, item_id: str) -> frozenset[Kind] | None:
        """The kinds assigned to the person for an item; None if all are open to them."""
        if self._offered is None:
            return None
        stages = self._offered.get(item_id, set())
        return frozenset(kind for kind in WRITTEN if stage_of(kind) in stages)

    def of_role(self, item_id: str) -> list[Kind]:
        role = self._session.ask(items.of, item_id) or ItemRole.QUESTION
        return list(self._session.ask(profile.kinds, role) or ())

    def fitting(self, item_id: str, kind: Kind) -> Kind | None:
        """The kind, if it is written for the item; otherwise None."""
        return kind if kind in self.of_role(item_id) else None

    def due(self, item_id: str) -> str:
        """The due date in words; empty if there is none or nothing is left to submit."""
        return self._due.get(item_id, "")

    def likely(self, item_id: str, artifacts: Sequence[Artifact], present: Kind) -> Kind:
        """The kind to resume on an item: an own draft, otherwise an assigned kind, otherwise an existing document."""
        me = self._session.project.by
        mine = {each.kind: each for each in artifacts if each.author_id == me}
        drafts = [kind for kind, each in mine.items() if each.state is State.DRAFT]
        assigned = self.kinds(item_id) or frozenset()
        open_ = [kind for kind in assigned if kind not in mine]
        for kinds in (drafts, open_, [*mine, *assigned], [each.kind for each in artifacts]):
            if present in kinds:
                return present
            if kinds:
                return min(kinds, key=WRITTEN.index)
        return self.fitting(item_id, present) or self.of_role(item_id)[0]

    def what_waits(self) -> str:
        """A message about the person's other waiting work, with the counts beside the pages."""
        from annotator.actions.parcels import waiting

        left = self._session.ask(waiting.counts) or {}
        own = left.get("Author", 0)
        rest = [f"{page} {count:,}" for page, count in left.items() if count and page != "Author"]
        here = (
            "No other open documents; this one is not submitted yet."
            if own
            else "Everything is submitted here."
        )
        if rest:
            return f"{here} Waiting on other pages: {', '.join(rest)}."
        return here if own else "Nothing else to do: every item is submitted."

    def next(self, item_id: str, kind: Kind) -> Place | None:
        """The item and kind where work continues after a kind of an item; None if nothing else waits.

        Another open kind of the item comes first, then the next item with any: there the same kind, if it is open.
        """
        open_ = self._open(item_id, kind)
        if here := [other for other in open_.get(item_id, ()) if other is not kind]:
            after = (other for other in here if WRITTEN.index(other) > WRITTEN.index(kind))
            return item_id, next(after, here[0])
        ids = self.items()
        place = ids.index(item_id) + 1 if item_id in ids else 0
        order = (each for each in (*ids[place:], *ids[:place]) if each != item_id)
        goal = next(filter(open_.get, order), "")
        return (goal, kind if kind in open_[goal] else open_[goal][0]) if goal else None

    def _open(self, item_id: str, kind: Kind) -> dict[str, list[Kind]]:
        """Item → the kinds still to be submitted, in the order of the tabs.

        Without assignments these are, of this item, the kinds begun; of every other that waits, the same kind, or the
        kinds begun if that is submitted.
        """
        if self._offered is not None:
            result = self._session.ask(assignments.of_person, self._session.project.by) or []
            left = grouped(
                (one.item_id, one.stage.kind) for one in result if one.trial == 1 and one.submitted_at is None
            )
            return {each: [own for own in WRITTEN if own in kinds] for each, kinds in left.items()}
        own_states = self._session.ask(annotating.own_states) or {}
        begun: dict[str, list[Kind]] = {
            each: [own for own in WRITTEN if states.get(own) is State.DRAFT]
            for each, states in own_states.items()
        }
        submitted = {each for each, states in own_states.items() if states.get(kind) is State.SEALED}
        waiting = [
            each
            for state in ("in progress", "new")
            for each in self._session.ask(items.ids, items.Filter(state=state)) or ()
        ]
        others = {each: (begun[each] if each in submitted else []) or [kind] for each in waiting}
        return others | {item_id: begun.get(item_id, [])}


NO_TYPE = "This item has no question type with dimensions to rate. Choose one on the Items page: "
READ_ONLY = "This file is read-only."


class AuthoringStart(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._empty = EmptyState("author", "", width=380)
        self.start = with_properties(QPushButton("Start"), role="primary", autoDefault=True)
        self._empty.add_button(self.start)
        self.draft = KeyButton("Ask a model for a draft", act="model_draft")
        self._empty.add_button(self.draft)
        vertical(self._empty, on=self)

    def show_kind(
        self, words: KindSpec, *, readonly: bool, drafted: bool = False, untyped: Sequence[str] = ()
    ) -> None:
        """Explain a kind without a document; `drafted` offers to ask a model for a draft.

        `untyped` names the question types of which the item must have one first.
        """
        more = f"{NO_TYPE}{', '.join(untyped)}." if untyped else READ_ONLY if readonly else ""
        self._empty.show_words(f"No {words.title.lower()} yet", f"{words.what} {more}".strip())
        self.start.setText(f"Start {words.title.lower()}")
        self.start.setVisible(not readonly and not untyped)
        self.draft.setVisible(drafted and not readonly)
        self.draft.set_words("Take references" if words.kind is Kind.EVIDENCE else "Ask a model for a draft")

    def enter(self) -> None:
        self.start.setFocus(Qt.FocusReason.OtherFocusReason)
