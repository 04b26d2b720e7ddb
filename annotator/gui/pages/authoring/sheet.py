"""One document of an item: state above, units between, actions below."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from annotator.actions.assignments import reviewing, submitting
from annotator.actions.authoring import artifacts, criterion_weights, editable, gold, question_types
from annotator.actions.material import drafting_by_model
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Artifact, Kind, State, Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.finding import Finding
from annotator.domain.kinds.question_types import BAR, QuestionType
from annotator.domain.kinds.weights import Weights
from annotator.domain.material.item import Item
from annotator.domain.material.source import Source
from annotator.domain.texts.refusal import Refusal
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.forms import forms
from annotator.gui.forms.marks import MarkMenu
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.pages.authoring.action_bar import AuthoringActionBar
from annotator.gui.pages.authoring.beginning import AuthoringStart
from annotator.gui.pages.authoring.checking import Checking
from annotator.gui.pages.authoring.drafting import as_typed, copied, fresh
from annotator.gui.pages.authoring.form import UnitsForm
from annotator.gui.pages.authoring.saving import Saving
from annotator.gui.pages.authoring.state_strip import StateStrip
from annotator.gui.pages.authoring.submission import Submission
from annotator.gui.pages.authoring.submit_panel import SubmitPanel
from annotator.gui.pages.authoring.unit_acts import UnitActs
from annotator.gui.widgets.bars.message_bar import Level, MessageBar
from annotator.gui.widgets.basics import stacked, vertical

if TYPE_CHECKING:
    from annotator.actions.sets.settled_fields import OfferedMarks

# What a model may be asked to draft.
DRAFTED_KINDS = frozenset(
    (Kind.INSIGHTS, Kind.INSPIRATIONS, Kind.TASKS, Kind.RUBRIC, Kind.DIAGNOSTICS, Kind.CHECKLIST)
)
LONGEST_VERB = 60
# What has a panel of help: a model's draft, or references in bulk.
HELPED_KINDS = DRAFTED_KINDS | {Kind.EVIDENCE}


@cache
def _maker(kind: Kind, weights: Weights) -> Callable[[], UnitEditor]:
    """The same for the same, so that editors which were made are used again."""
    return partial(forms.editor, kind, weights)


class AuthoringSheet(QWidget):
    """The right-hand side of the page: the artifact in hand, or the way to begin one."""

    stirred = Signal()
    """Something was typed, chosen or scrolled: a sign of life."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.item: Item | None = None
        self.kind = Kind.RUBRIC
        self._found: Sequence[Artifact] = ()
        self._wanted = ""
        self._drafted: tuple[str, ...] = ()
        self.closed: Refusal | None = None
        """Why the document in view cannot be changed now, if so."""
        # What was checked last, and what the guideline remarks on it.
        self._checked: tuple[object, ...] = ()
        self._remarked: list[Finding] = []
        self._sources: Sequence[Source] = ()
        self.saving = Saving(desk, self)
        self.strip, self.form, self.bar = StateStrip(), UnitsForm(self.saving.draft), AuthoringActionBar()
        self.panel, self.messages, self.beginning = SubmitPanel(), MessageBar(), AuthoringStart()
        self.checking = Checking(self._remarks, self)
        self.acts = UnitActs(desk, self.form, self.saving, self)
        self.submission = Submission(desk, self.form, self.saving, self.checking, self.panel, self)
        self._stack = stacked(self.form, self.beginning)
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        column = vertical(self.strip, (self._stack, 1), on=self, margins=0, spacing=0)
        for part in (self.panel, self.bar):
            column.addWidget(part)
        self.messages.float_over(self._stack)

    def _listen(self) -> None:
        form, saving, bar = self.form, self.saving, self.bar
        form.typed.connect(self._typed)
        form.chosen.connect(lambda unit_id, field, value: saving.put(unit_id, **{field: value}))
        form.left.connect(saving.keep)
        form.left.connect(self.checking.soon)
        form.verticalScrollBar().valueChanged.connect(self.stirred)
        self.checking.found.connect(form.show_findings)
        self.checking.found.connect(lambda found: bar.show_findings(form.due(found), len(found)))
        self.acts.told.connect(lambda words: self.say("success", words))
        self.panel.closed.connect(self.enter_current)
        bar.new_wanted.connect(self.acts.new)
        bar.share.clicked.connect(self.acts.share_rest)
        bar.marks.clicked.connect(self.take_marks)
        bar.submit_wanted.connect(self.submission.submit)
        bar.remarks_wanted.connect(self.submission.show_remarks)
        self.strip.reopen_wanted.connect(self.reopen)
        self.strip.copy_wanted.connect(self.start_copy)
        self.strip.version_wanted.connect(self._show_version)
        self.beginning.started.connect(self.start)

    @property
    def artifact(self) -> Artifact | None:
        return self.saving.artifact

    def show_kind(self, item: Item, kind: Kind, found: Sequence[Artifact], sources: Sequence[Source]) -> None:
        """Go to a kind of an item; `found` are the item's artifacts that may be seen. Keep typing before."""
        self._wanted, self._drafted = "", ()
        self.panel.hide()
        self.form.begin()
        self.know(item, sources)
        self.kind = kind
        self.refresh(found)
        self.form.verticalScrollBar().setValue(0)
        self.checking.check()

    def know(self, item: Item, sources: Sequence[Source]) -> None:
        """The item or its sources have changed: what the guideline says may change with them."""
        self.item, self._sources, self._checked = item, sources, ()

    def refresh(self, found: Sequence[Artifact], *, reworded: bool = False) -> None:
        """Show the artifact in hand as it is now, in place; `reworded` where nothing but its units has changed."""
        assert self.item is not None
        self._found = found
        versions = [artifact for artifact in found if artifact.kind is self.kind]
        artifact = next((v for v in versions if v.id == self._wanted), versions[0] if versions else None)
        if artifact is not None and reworded:
            self.saving.follow(artifact, editable=self.saving.editable)
            self.strip.show_revision(artifact)
            self._show_document(artifact)
            return
        readonly = self.desk.project.readonly
        self.closed = self._closed(artifact) if artifact is not None else None
        self.saving.follow(artifact, editable=artifact is not None and self.closed is None)
        self._stack.setCurrentWidget(self.beginning if artifact is None else self.form)
        self.bar.setVisible(artifact is not None)
        drafted = self.kind in HELPED_KINDS
        if artifact is None:
            self.strip.show_nothing("")
            words = KINDS[self.kind].under(self._weights)
            untyped = [one.name for one in self._types] if self._untyped else []
            self.beginning.show_kind(words, readonly=readonly, drafted=drafted, untyped=untyped)
            return
        me = self.desk.project.by
        self.strip.show_artifact(
            artifact, versions, me, editable=self.saving.editable, readonly=readonly, drafted=drafted,
            reopens=self.closed is not None and self._reopens(artifact),
            consequence=gold.consequence(self.desk.project, artifact) if self.saving.editable else "",
        )  # fmt: skip
        self.form.take_on(_maker(self.kind, self._weights))
        self.form.offer(self.item, self._made_of(), self._rated_as)
        self._show_document(artifact)
        wanted = self.kind is Kind.EVIDENCE and self.saving.editable
        self.bar.offer(self.desk.ask(_offered_marks, artifact) if wanted else None)

    def take_marks(self) -> None:
        """Put what a judge labelled into the document, where its author has said nothing."""
        offer, artifact = self.bar.offered, self.artifact
        if offer is not None and artifact is not None and self.saving.keep():
            verb = f"{offer.field} by {offer.judge}"[:LONGEST_VERB]
            self.desk.do(artifacts.change_units, artifact.id, offer.left(artifact.document), verb)
            self.say("success", f"Taken over; {keys.shown('undo')} takes the marks back.")

    def _show_document(self, artifact: Artifact) -> None:
        self.form.show_document(artifact.document, self.saving.typed, locked=not self.saving.editable)
        self._show_drafted(artifact)
        self._tell()
        self.checking.soon()

    def focus_first(self) -> None:
        """Put the keyboard where work begins: the first empty unit, else the first, else the start button."""
        if self.artifact is None:
            self.beginning.enter()
        elif self.form.editors:
            empty = (editor for editor in self.form.editors if not editor.text.value())
            self.form.go(next(empty, self.form.editors[0]).unit_id)
        else:
            self.form.setFocus()

    def enter_current(self) -> None:
        """Put the keyboard back into the unit at the cursor."""
        current = self.form.current
        if self.artifact is not None and current is not None:
            self.form.go(current.unit_id)
        else:
            self.focus_first()

    def say(self, level: Level, words: str) -> None:
        """Say a word above the actions; it goes away by itself."""
        self.messages.show_message(level, words)

    def start(self) -> None:
        """Begin this person's artifact of the kind."""
        if self.item is not None:
            if self.desk.ask(reviewing.is_mine, self.item.id, self.kind):
                self.desk.do(reviewing.begin, self.item.id, self.kind)
            else:
                self.desk.do(artifacts.start, self.item.id, self.kind, fresh(self.kind, self._rated_as))
            self.focus_first()

    def start_copy(self) -> None:
        """Begin this person's artifact with the words of the one in view."""
        if self.item is not None and self.artifact is not None:
            document = copied(self.artifact.document)
            self._wanted = ""
            self.desk.do(artifacts.start, self.item.id, self.kind, document)
            self.focus_first()

    def reopen(self) -> None:
        """Go on editing what was sealed, or begin to edit the consensus."""
        if self.artifact is not None and self.desk.do(submitting.reopen, self.artifact.id) is not None:
            self.focus_first()

    def change(self, act: Callable[[], object]) -> None:
        """Do what changes the document; one that is closed says so instead."""
        if self.closed is None:
            act()
        else:
            self.say("info", f"{self.closed.happened} {self.closed.todo} {self._way()}".strip())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Typing that no field took, because the document is closed, is answered too."""
        if self.artifact is not None and self.closed is not None and _writes(event):
            self.change(lambda: None)
        else:
            super().keyPressEvent(event)

    def _way(self) -> str:
        return f"({keys.shown('reopen_document')})" if self.strip.reopen.isVisible() else ""

    def _closed(self, artifact: Artifact) -> Refusal | None:
        if self.desk.project.readonly:
            return Refusal("This file is read-only.")
        return self.desk.ask(editable.objection, artifact)

    def _reopens(self, artifact: Artifact) -> bool:
        theirs = self.desk.ask(editable.refusal_of_others, artifact) is None
        return theirs and not self.desk.project.readonly

    def rebind(self) -> None:
        self.bar.rebind()
        self.strip.rebind()
        self.beginning.rebind()

    def take(self, draft_id: str, unit_id: str, *, edit: bool) -> bool:
        """Put a unit of a model's draft below the one at the cursor; `edit` goes on writing in it."""
        if not self.saving.keep():
            return False
        current = self.form.current
        after = current.unit_id if current is not None and self.artifact is not None else ""
        change = self.desk.do(drafting_by_model.take, draft_id, (unit_id,), after)
        made = "" if change is None else next(iter(change.after["from_draft"]["units"]))
        if made and edit:
            self.form.go(made)
        elif made:
            self.form.reveal(made)
        return bool(made)

    def _show_drafted(self, artifact: Artifact) -> None:
        # What is taken from a draft is a new unit: another wording of one changes nothing here.
        units = (artifact.id, *(unit.id for unit in artifact.document.units))
        if units == self._drafted:
            return
        self._drafted = units
        found = self.desk.ask(drafting_by_model.drafted, artifact.id) or {}
        self.form.show_drafted({unit: f"From {source.name}'s draft" for unit, source in found.items()})

    def _show_version(self, artifact_id: str) -> None:
        if self.saving.keep():
            self._wanted = artifact_id
            self.refresh(self._found)

    def _typed(self, unit_id: str, field: str, value: object) -> None:
        self.saving.type(unit_id, field, value)
        self.checking.soon()
        self.stirred.emit()

    @property
    def _types(self) -> tuple[QuestionType, ...]:
        # No other kind is rated; asking takes longer than saving a unit.
        return question_types.types(self.desk.project) if self.kind is Kind.SELECTION else ()

    @property
    def _bar(self) -> float:
        return question_types.bar(self.desk.project) if self.kind is Kind.SELECTION else BAR

    @property
    def _rated_as(self) -> QuestionType | None:
        """The type of the item's question, if it is one of the project's."""
        return next((one for one in self._types if self.item and one.name == self.item.question_type), None)

    @property
    def _untyped(self) -> bool:
        return self.kind is Kind.SELECTION and self._rated_as is None

    @property
    def _weights(self) -> Weights:
        return criterion_weights.allowed(self.desk.project)

    def written_from(self) -> list[Unit]:
        """The inspirations that the task at the cursor is made of."""
        menu = current.fields.get("inspirations") if (current := self.form.current) is not None else None
        chosen = menu.value() if isinstance(menu, MarkMenu) else ()
        return [unit for unit in chosen and self._units_made_of() if unit.id in chosen]

    def _made_of(self) -> list[tuple[str, str]]:
        return [(unit.id, unit.text) for unit in self._units_made_of()]

    def _units_made_of(self) -> list[Unit]:
        _, kind = KINDS[self.kind].made_of or ("", None)
        found = [one for one in self._found if one.kind is kind]
        settled = [one for one in found if one.state is State.CONSENSUS]
        units = [unit for one in settled or found for unit in one.document.units]
        return [unit for unit in units if unit.text.strip()]

    def _remarks(self) -> list[Finding]:
        """What the guideline remarks on what stands in the fields just now; nothing on what is not edited."""
        if self.artifact is None or self.item is None or not self.saving.editable:
            return []
        self._tell()
        document = as_typed(self.artifact.document, self.saving.typed)
        if self._checked != (document, self._weights, self._bar):
            self._checked = document, self._weights, self._bar
            self._remarked = submitting.remarks(self.desk.project, document, self.item, self._sources)
        return [*self.form.unfit(), *self._remarked]

    def _tell(self) -> None:
        if self.artifact is not None:
            document = as_typed(self.artifact.document, self.saving.typed)
            given = bool(KINDS[self.kind].given)
            self.bar.show_document(
                document, self._weights, self._bar, locked=not self.saving.editable, given=given
            )


def _offered_marks(project: Project, artifact: Artifact) -> "OfferedMarks | None":
    """Loaded with the first evidence: it looks into every protocol."""
    from annotator.actions.sets import settled_fields

    return settled_fields.offered(project, artifact)


def _writes(event: QKeyEvent) -> bool:
    """Whether the key would change a text that can be written in."""
    erases = event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
    return erases or (event.text().isprintable() and bool(event.text()))
