"""One document of an item: state above, units in the middle, actions below."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QToolButton

from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.judges import judges
from annotator.actions.material import model_drafts
from annotator.actions.project.file import Project
from annotator.domain.common import Refusal, counted
from annotator.domain.experts.assignment import stage_of
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.kinds.artifact import (
    Artifact,
    Document,
    Finding,
    Kind,
    KindSpec,
    State,
    Unit,
    Weights,
    hinders,
)
from annotator.domain.kinds.checklist import Checklist, shared_rest
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.question_types import BAR, QuestionType
from annotator.domain.kinds.rubric import Rubric, counted_weights
from annotator.domain.material.item import Item, Source
from annotator.gui import keys, theme
from annotator.gui.forms import forms
from annotator.gui.forms.fields import MarkMenu, Speller
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.pages.authoring.form import (
    Saving,
    UnitActs,
    UnitsForm,
    as_typed,
    copied,
    fresh,
    standing_of,
)
from annotator.gui.pages.authoring.side_panel import AuthoringStart
from annotator.gui.review.field_chips import moment
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    RoleFrame,
    Stack,
    StretchSpace,
    horizontal,
    later,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Picture
from annotator.gui.widgets.fields import ChoiceBox, LineField
from annotator.gui.widgets.message_bar import Level, MessageBar, MissingPanel
from annotator.gui.widgets.splitter import SpreadBar

if TYPE_CHECKING:
    from annotator.actions.sets.validation_ground import OfferedMarks

REOPEN, EDIT = "Reopen", "Edit consensus"
BY_MODEL = "Draft of a model…"
IN_BULK = "References from a list, a file or the sources…"


class StateStrip(QFrame):
    def __init__(self) -> None:
        super().__init__()
        self.icon, self.words, self.versions = (
            Picture(),
            ElidedLabel(),
            ChoiceBox(accessibleName="Document to show"),
        )
        self.reopen = KeyButton(
            REOPEN,
            act="reopen_document",
            role="quiet",
            hint="Continue in a new revision; the submitted one counts until you submit again",
        )
        self.copy = with_properties(
            QPushButton("Copy to my own"),
            toolTip="Start your own with the same text; this one stays unchanged",
            role="quiet",
        )
        self.guideline = with_properties(
            QToolButton(),
            text="Guideline",
            role="quiet",
            checkable=True,
            popupMode=QToolButton.ToolButtonPopupMode.MenuButtonPopup,
        )
        keys.tell(self.guideline, "toolTip", "Show or hide the guideline ({guideline})")
        self.guideline.setMenu(QMenu(self.guideline))
        self.history, self.draft = (self.guideline.menu().addAction(words) for words in ("History", "Model"))
        for each in (self.history, self.draft):
            each.setCheckable(True)
        self._more = ""
        self._mine = self._editable = False
        shown = self.versions, self.reopen, self.copy, self.guideline
        horizontal(self.icon, (self.words, 1), *shown, on=self, margins=(12, 4, 8, 4), spacing=6)

    def show_nothing(self, words: str) -> None:
        self.words.setText(words)
        for part in (self.icon, self.versions, self.reopen, self.copy, self.history, self.draft):
            part.setVisible(False)

    def show_artifact(
        self,
        artifact: Artifact,
        versions: Sequence[Artifact],
        me: str,
        *,
        editable: bool,
        readonly: bool,
        drafted: bool,
        reopens: bool,
    ) -> None:
        """Show the state of an artifact; `versions` are all visible ones of its kind, `readonly` says whether the file
        is.

        `drafted`: a model may be asked for a draft; `reopens`: it is closed and may be reopened.
        """
        standing, mine = standing_of(artifact), artifact.author_id == me
        self._mine, self._editable = mine, editable
        self.icon.show_icon(standing.icon, standing.colour)
        self.icon.setVisible(bool(standing.icon))
        self._more = "this file is read-only" if readonly else ""
        self.show_revision(artifact)
        self.reopen.setVisible(reopens)
        self.reopen.set_words(EDIT if artifact.state is State.CONSENSUS else REOPEN)
        self.copy.setVisible(not any(version.author_id == me for version in versions) and not readonly)
        self.draft.setVisible(drafted and mine and editable)
        in_bulk = artifact.kind is Kind.EVIDENCE
        keys.tell(self.draft, "text", f"{IN_BULK if in_bulk else BY_MODEL}\t{{model_draft}}")
        self.history.setVisible(True)
        self.versions.setVisible(len(versions) > 1)
        self.versions.clear()
        for version in versions:
            self.versions.addItem(_version_words(version, me), version.id)
        self.versions.setCurrentIndex(self.versions.findData(artifact.id))

    def show_revision(self, artifact: Artifact) -> None:
        words = f"Imported{'' if self._editable else ', read only'} · revision {artifact.revision}"
        if artifact.state is State.SEALED:
            words = f"Submitted on {moment(artifact.sealed_at)}" if artifact.sealed_at else "Submitted"
        elif artifact.state is State.CONSENSUS:
            words = "Consensus, being edited" if self._editable else "Consensus, read only"
        elif self._mine:
            words = f"Your {KINDS[artifact.kind].title.lower()}, draft · revision {artifact.revision}"
        self.words.setText(" · ".join(filter(None, (words, self._more))))

    def show_side(self, *, guideline: bool, history: bool, draft: bool) -> None:
        self.guideline.setChecked(guideline)
        self.history.setChecked(history)
        self.draft.setChecked(draft)


def _version_words(artifact: Artifact, me: str) -> str:
    if artifact.author_id == me:
        return "Mine"
    return "Consensus" if artifact.state is State.CONSENSUS else "Imported"


class AuthoringActionBar(RoleFrame):
    def __init__(self) -> None:
        super().__init__("bar")
        self.counts, self.spread = PlainLabel(wrap=True), SpreadBar()
        self._shown: tuple[Document[Any], Weights, float, bool, bool] | None = None
        self.share = with_properties(
            QPushButton("Share the rest"),
            role="quiet",
            toolTip="Points without a share get equal parts of what the others leave of 1",
        )
        self.remarks = with_properties(QPushButton(), role="quiet", toolTip="List the guideline's remarks")
        self.new, self.submit = (
            KeyButton("New", act="new_unit"),
            KeyButton("Submit", act="submit", role="primary"),
        )
        # How submitting affects scores.
        self.consequence = PlainLabel(role="hint", wrap=True)
        self.offered: OfferedMarks | None = None
        self.marks = KeyButton("", act="take_marks", role="quiet")
        self._shown_findings: tuple[Sequence[Finding], int] = (), -1
        vertical(
            horizontal((self.counts, 1), (self.spread, 2), self.share, self.remarks, spacing=10),
            horizontal(self.marks, StretchSpace(1)),
            horizontal((self.consequence, 1), self.new, self.submit, spacing=10),
            on=self,
            margins=(12, 6, 12, 8),
            spacing=4,
        )
        theme.watch(self, lambda: self._tell_findings(*self._shown_findings))

    def show_document(
        self, document: Document[Any], weights: Weights, bar: float, *, locked: bool, given: bool
    ) -> None:
        """Show the counts of a document as currently typed; a `locked` one takes no new units and cannot be submitted.

        `weights` are those the project allows, `bar` is its threshold for questions.
        """
        shown = document, weights, bar, locked, given
        if shown != self._shown:
            self._shown = shown
            self._tell(*shown[:3])
            self._show_offer()
            self.new.set_words(f"New {KINDS[document.KIND].under(weights).unit}")
            self.new.setVisible(not locked and not given)
            self.submit.setVisible(not locked)
            self.remarks.setVisible(not locked)
            units = document.units if isinstance(document, Checklist) and not locked else ()
            self.share.setVisible(bool(units))
            self.share.setEnabled(shared_rest(units) != tuple(units))

    def offer(self, offered: "OfferedMarks | None") -> None:
        self.offered = offered
        self._show_offer()

    def _show_offer(self) -> None:
        left = self.offered.left(self._shown[0]) if self.offered and self._shown else {}
        self.marks.setVisible(bool(left))
        # The key works through the button, visible or not.
        self.marks.setEnabled(bool(left))
        if self.offered and left:
            counts = Counter(value.replace("_", " ") for one in left.values() for value in one.values())
            self.marks.set_words(f"Take over {counted(len(left), 'mark')} of {self.offered.judge[:40]}")
            self.marks.set_hint(
                ", ".join(f"{many} {words}" for words, many in counts.items()) + "; yours stay"
            )

    def _tell(self, document: Document[Any], weights: Weights, bar: float) -> None:
        words = KINDS[document.KIND].under(weights)
        summary = words.summary(document, bar) if document.units else ""
        self.counts.setText(" · ".join(filter(None, (words.counted(len(document.units)), summary))))
        weighed = isinstance(document, Rubric) and weights.usual
        self.spread.setVisible(weighed)
        if isinstance(document, Rubric) and weighed:
            self.spread.show_parts(
                [(str(weight), many) for weight, many in counted_weights([document]).items()]
            )

    def show_findings(self, findings: Sequence[Finding], to_come: int = 0) -> None:
        """Show the number of errors and of warnings; `to_come` also counts findings not shown yet."""
        if self._shown_findings != (findings, to_come):
            self._shown_findings = findings, to_come
            self._tell_findings(findings, to_come)

    def _tell_findings(self, findings: Sequence[Finding], to_come: int) -> None:
        errors = sum(finding.level == "error" for finding in findings)
        warnings = len(findings) - errors
        parts = [f"{errors} to fix"] if errors else []
        parts += [f"{warnings} to check"] if warnings else []
        self.remarks.setEnabled(bool(findings))
        self.remarks.setText(", ".join(parts) or ("No remarks yet" if to_come else "No remarks"))
        picture, colour = ("error", "level-error") if errors else ("warning", "level-warning")
        if not findings:
            picture, colour = ("clock", "text-muted") if to_come else ("check", "level-success")
        self.remarks.setIcon(chips.icon(picture, theme.current().px(16), colour))


ROWS_SHOWN = 6


class SubmitPanel(MissingPanel):
    """The findings that hinder submitting: errors and warnings; warnings can be overridden with a reason."""

    overridden = Signal(str)
    """Submit despite the warnings, for this reason."""

    def __init__(self) -> None:
        super().__init__("Missing fields and remarks", "Close")
        with_properties(
            self.entries, wordWrap=True, horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.reason = LineField(
            accessibleName="Reason for submitting it unchanged",
            placeholderText="Why may it stay unchanged?",
            textChanged=self._judge_reason,
            returnPressed=self._override,
        )
        self.anyway = push_button("Submit anyway", self._override)
        vertical(
            horizontal((self.title, 1), self.close_button),
            self.entries,
            horizontal((self.reason, 1), self.anyway),
            on=self,
            margins=(10, 8, 10, 8),
        )

    def show_findings(self, findings: Sequence[Finding], units: Sequence[Unit], words: KindSpec) -> None:
        errors = sum(finding.level == "error" for finding in findings)
        self.title.setText(_title(words, errors, len(findings) - errors))
        entries = [
            (finding.level, finding.words(words.unit, units), (finding.unit_id, finding.field))
            for finding in findings
        ]
        self.show_entries(entries, self.fontMetrics().height() * 2, ROWS_SHOWN)
        for part in (self.reason, self.anyway):
            part.setVisible(bool(findings) and not errors)
        self._judge_reason()

    def enter(self) -> None:
        self.show()
        self.entries.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _judge_reason(self) -> None:
        self.anyway.setEnabled(bool(self.reason.text().strip()))

    def _override(self) -> None:
        if reason := self.reason.text().strip():
            self.reason.clear()
            self.overridden.emit(reason)


def _title(words: KindSpec, errors: int, warnings: int) -> str:
    name = words.title.lower()
    if errors:
        rest = f" and {warnings} to check" if warnings else ""
        return f"The {name} cannot be submitted yet: {errors} to fix{rest}. Enter goes to the field."
    if warnings:
        return (
            "1 remark is left: fix it, or give a reason below why it may stay."
            if warnings == 1
            else f"{warnings} remarks are left: fix them, or give a reason below why they may stay."
        )
    return f"Nothing is left to fix: the {name} can be submitted."


# Kinds for which a model may be asked for a draft.
DRAFTED_KINDS = frozenset(
    (Kind.INSIGHTS, Kind.INSPIRATIONS, Kind.TASKS, Kind.RUBRIC, Kind.DIAGNOSTICS, Kind.CHECKLIST)
)
LONGEST_VERB = 60
# Findings are computed at most once per pause in typing.
DELAY_MS = 150
# Kinds with a help panel: a model's draft, or bulk references.
HELPED_KINDS = DRAFTED_KINDS | {Kind.EVIDENCE}
# Available without a model, too: the baseline copies sentences of the transcript.
OFFLINE_HELP = frozenset((Kind.EVIDENCE, Kind.INSPIRATIONS))


@cache
def _maker(kind: Kind, weights: Weights) -> Callable[[], UnitEditor]:
    """Compares equal for equal arguments, so that existing editors are used again."""
    return partial(forms.editor, kind, weights)


class AuthoringSheet(Pane):
    """The right-hand side of the page: the open artifact, or the button to start one."""

    stirred = Signal()
    """Something was typed, chosen or scrolled, which counts as activity."""
    sealed = Signal(object)
    """The Artifact that was just submitted."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.item: Item | None = None
        self.kind = Kind.RUBRIC
        self._documents: Sequence[Artifact] = ()
        self._requested = ""
        self._drafted: tuple[str, ...] = ()
        self.closed: Refusal | None = None
        """Why the document in view cannot be changed now; None if it can."""
        # The arguments of the last check, and the guideline's findings on them.
        self._checked: tuple[object, ...] = ()
        self._remarked: list[Finding] = []
        self._sources: Sequence[Source] = ()
        self.saving = Saving(session, self)
        self.speller = Speller(session.ask_newest, self)
        self.strip, self.bar = StateStrip(), AuthoringActionBar()
        self.form = UnitsForm(self.saving.draft, self.speller)
        self.panel, self.messages, self.beginning = SubmitPanel(), MessageBar(), AuthoringStart()
        self.findings: list[Finding] = []
        self._check_soon = later(self, self.check, DELAY_MS)
        self.acts = UnitActs(session, self.form, self.saving, partial(self.say, "success"), self)
        self._stack = Stack(self.form, self.beginning)
        vertical(self.strip, (self._stack, 1), self.panel, self.bar, on=self, margins=0, spacing=0)
        self.messages.float_over(self._stack)
        form, saving, bar = self.form, self.saving, self.bar
        form.typed.connect(self._typed)
        form.chosen.connect(lambda unit_id, field, value: saving.put(unit_id, **{field: value}))
        form.left.connect(saving.keep)
        form.left.connect(self._check_soon.start)
        form.verticalScrollBar().valueChanged.connect(self.stirred)
        self.panel.jumped.connect(self._jump)
        self.panel.overridden.connect(self.seal)
        self.speller.reported.connect(lambda words: self.say("info", words))
        self.panel.closed.connect(self.enter_current)
        bar.new.clicked.connect(self.acts.new)
        bar.share.clicked.connect(self.acts.share_rest)
        bar.marks.clicked.connect(self.take_marks)
        bar.submit.clicked.connect(self.submit)
        bar.remarks.clicked.connect(self.show_remarks)
        self.strip.reopen.clicked.connect(self.reopen)
        self.strip.copy.clicked.connect(self.start_copy)
        self.strip.versions.activated.connect(lambda _: self._show_version())
        self.beginning.start.clicked.connect(self.start)

    @property
    def artifact(self) -> Artifact | None:
        return self.saving.artifact

    def show_kind(
        self, item: Item, kind: Kind, artifacts: Sequence[Artifact], sources: Sequence[Source]
    ) -> None:
        """Go to a kind of an item; `artifacts` are the item's visible ones. Save what was typed before."""
        self._requested, self._drafted = "", ()
        self.panel.hide()
        self.form.begin()
        self.kind = kind
        self.know(item, sources)
        self.refresh(artifacts)
        self.form.verticalScrollBar().setValue(0)
        self.check()

    def know(self, item: Item, sources: Sequence[Source]) -> None:
        """Take over a changed item or changed sources, which may change the findings."""
        self.item, self._sources, self._checked = item, sources, ()
        self.speller.follow(item, stage_of(self.kind))

    def refresh(self, documents: Sequence[Artifact], *, reworded: bool = False) -> None:
        """Show the current state of the open artifact in place; `reworded` if only its units have changed."""
        assert self.item is not None
        self._documents = documents
        versions = [artifact for artifact in documents if artifact.kind is self.kind]
        artifact = next((v for v in versions if v.id == self._requested), versions[0] if versions else None)
        if artifact is not None and reworded:
            self.saving.follow(artifact, editable=self.saving.editable)
            self.strip.show_revision(artifact)
            self._show_document(artifact)
            return
        readonly = self.session.project.readonly
        self.closed = self._closed(artifact) if artifact is not None else None
        self.saving.follow(artifact, editable=artifact is not None and self.closed is None)
        self._stack.setCurrentWidget(self.beginning if artifact is None else self.form)
        self.bar.setVisible(artifact is not None)
        drafted = self.kind in OFFLINE_HELP or (
            self.kind in DRAFTED_KINDS
            and any(judge.kind is JudgeKind.ENDPOINT for judge in self.session.ask(judges.all_of) or [])
        )
        if artifact is None:
            self.strip.show_nothing("")
            words = KINDS[self.kind].under(self._weights)
            rated = self.kind is not Kind.SELECTION or self._rated_as is not None
            untyped = [] if rated else [one.name for one in self._types]
            self.beginning.show_kind(words, readonly=readonly, drafted=drafted, untyped=untyped)
            return
        me, closed = self.session.project.by, self.closed is not None and not readonly
        self.strip.show_artifact(
            artifact, versions, me, editable=self.saving.editable, readonly=readonly, drafted=drafted,
            reopens=closed and self.session.ask(artifacts.refusal_of_others, artifact) is None,
        )  # fmt: skip
        consequence = annotating.consequence(self.session.project, artifact) if self.saving.editable else ""
        self.bar.consequence.setText(consequence)
        self.form.take_on(_maker(self.kind, self._weights))
        self.form.offer(self.item, [(unit.id, unit.text) for unit in self._units_made_of()], self._rated_as)
        self._show_document(artifact)
        offered = self.kind is Kind.EVIDENCE and self.saving.editable
        self.bar.offer(self.session.ask(_offered_marks, artifact) if offered else None)

    def take_marks(self) -> None:
        """Fill in a judge's labels where the author has chosen nothing."""
        offer, artifact = self.bar.offered, self.artifact
        if offer is not None and artifact is not None and self.saving.keep():
            verb = f"{offer.field} by {offer.judge}"[:LONGEST_VERB]
            self.session.do(artifacts.change_units, artifact.id, offer.left(artifact.document), verb)
            self.say("success", f"Taken over; {keys.shown('undo')} takes the marks back.")

    def _show_document(self, artifact: Artifact) -> None:
        self.form.show_document(artifact.document, self.saving.typed, locked=not self.saving.editable)
        # A unit taken from a draft is a new one: another wording of a unit changes nothing here.
        units = (artifact.id, *(unit.id for unit in artifact.document.units))
        if units != self._drafted:
            self._drafted = units
            drafted = self.session.ask(model_drafts.drafted, artifact.id) or {}
            self.form.show_drafted({unit: f"From {source.name}'s draft" for unit, source in drafted.items()})
        self._tell()
        self._check_soon.start()

    def check(self) -> list[Finding]:
        """Compute and show the guideline's findings; while typing, at most once per pause."""
        self._check_soon.stop()
        self.findings = self._remarks()
        self.form.show_findings(self.findings)
        self.bar.show_findings(self.form.due(self.findings), len(self.findings))
        if self.panel.isVisible():
            self._list(self.findings)
        return self.findings

    def submit(self) -> None:
        if not self.saving.editable or not self.saving.keep():
            return
        self.form.complain()
        if findings := self.check():
            self._list(findings)
            self.panel.enter()
        else:
            self.seal()

    def show_remarks(self) -> None:
        self.form.complain()
        self._list(self.check())
        self.panel.enter()

    def seal(self, reason: str = "") -> None:
        """Submit; `reason` says why warnings are overridden. Errors are listed instead."""
        artifact = self.artifact
        if artifact is None or not self.saving.keep():
            return
        findings = self.check()
        if hinders(findings, reason):
            self._list(findings)
            self.panel.enter()
        elif self.session.do(assignments.seal, artifact.id, reason) is not None:
            self.panel.hide()
            self.sealed.emit(self.artifact)

    def _list(self, findings: list[Finding]) -> None:
        if (artifact := self.artifact) is not None:
            self.panel.show_findings(findings, artifact.document.units, KINDS[artifact.kind])

    def _jump(self, unit_id: str, field: str) -> None:
        current = self.form.current
        if goal := unit_id or (current.unit_id if current else ""):
            self.form.go(goal, field if unit_id else "text")

    def focus_first(self) -> None:
        """Focus the first empty unit, otherwise the first one, otherwise the start button."""
        if self.artifact is None:
            self.beginning.enter()
        elif self.form.editors:
            empty = (editor for editor in self.form.editors if not editor.text.value())
            self.form.go(next(empty, self.form.editors[0]).unit_id)
        else:
            self.form.setFocus()

    def enter_current(self) -> None:
        current = self.form.current
        if self.artifact is not None and current is not None:
            self.form.go(current.unit_id)
        else:
            self.focus_first()

    def say(self, level: Level, words: str, todo: str = "") -> None:
        """Show a temporary message above the actions."""
        self.messages.show_message(level, words, todo)

    def start(self) -> None:
        if self.item is not None:
            if self.session.ask(reviewing.is_mine, self.item.id, self.kind):
                self.session.do(reviewing.begin, self.item.id, self.kind)
            else:
                self.session.do(artifacts.start, self.item.id, self.kind, fresh(self.kind, self._rated_as))
            self.focus_first()

    def start_copy(self) -> None:
        if self.item is not None and self.artifact is not None:
            document = copied(self.artifact.document)
            self._requested = ""
            self.session.do(artifacts.start, self.item.id, self.kind, document)
            self.focus_first()

    def reopen(self) -> None:
        if self.artifact is not None and self.session.do(assignments.reopen, self.artifact.id) is not None:
            self.focus_first()

    def change(self, act: Callable[[], object]) -> None:
        """Run an act that changes the document; if it is closed, say so instead."""
        if self.closed is None:
            act()
        else:
            way = f"({keys.shown('reopen_document')})" if self.strip.reopen.isVisible() else ""
            self.say("info", f"{self.closed.happened} {self.closed.todo} {way}".strip())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Answer typing that no field accepted because the document is closed."""
        if self.artifact is not None and self.closed is not None and _writes(event):
            self.change(lambda: None)
        else:
            super().keyPressEvent(event)

    def _closed(self, artifact: Artifact) -> Refusal | None:
        if self.session.project.readonly:
            return Refusal("This file is read-only.")
        return self.session.ask(artifacts.objection, artifact)

    def take(self, draft_id: str, unit_id: str, *, edit: bool) -> bool:
        """Add a unit of a model's draft below the current one; with `edit`, focus it."""
        if not self.saving.keep():
            return False
        current = self.form.current
        after = current.unit_id if current is not None and self.artifact is not None else ""
        change = self.session.do(model_drafts.take, draft_id, (unit_id,), after)
        made = "" if change is None else next(iter(change.after["from_draft"]["units"]))
        if made and edit:
            self.form.go(made)
        elif made:
            self.form.reveal(made)
        return bool(made)

    def _show_version(self) -> None:
        if self.saving.keep():
            self._requested = self.strip.versions.currentData()
            self.refresh(self._documents)

    def _typed(self, unit_id: str, field: str, value: object) -> None:
        self.saving.type(unit_id, field, value)
        self._check_soon.start()
        self.stirred.emit()

    @property
    def _types(self) -> tuple[QuestionType, ...]:
        # No other kind is rated; the query takes longer than saving a unit.
        return settings.types(self.session.project) if self.kind is Kind.SELECTION else ()

    @property
    def _bar(self) -> float:
        return settings.bar(self.session.project) if self.kind is Kind.SELECTION else BAR

    @property
    def _rated_as(self) -> QuestionType | None:
        return next((one for one in self._types if self.item and one.name == self.item.question_type), None)

    @property
    def _weights(self) -> Weights:
        return settings.allowed(self.session.project)

    def written_from(self) -> list[Unit]:
        current = self.form.current
        menu = current.fields.get("inspirations") if current is not None else None
        if not isinstance(menu, MarkMenu):
            return []
        return [unit for unit in self._units_made_of() if unit.id in menu.value()]

    def _units_made_of(self) -> list[Unit]:
        _, kind = KINDS[self.kind].made_of or ("", None)
        result = [artifact for artifact in self._documents if artifact.kind is kind]
        settled = [artifact for artifact in result if artifact.state is State.CONSENSUS]
        units = [unit for artifact in settled or result for unit in artifact.document.units]
        return [unit for unit in units if unit.text.strip()]

    def _remarks(self) -> list[Finding]:
        """The guideline's findings on the document as currently typed; none if it cannot be edited."""
        if self.artifact is None or self.item is None or not self.saving.editable:
            return []
        self._tell()
        document = as_typed(self.artifact.document, self.saving.typed)
        if self._checked != (document, self._weights, self._bar):
            self._checked = document, self._weights, self._bar
            self._remarked = assignments.remarks(self.session.project, document, self.item, self._sources)
        return [*self.form.unfit(), *self._remarked]

    def _tell(self) -> None:
        if self.artifact is not None:
            document = as_typed(self.artifact.document, self.saving.typed)
            given = bool(KINDS[self.kind].given)
            self.bar.show_document(
                document, self._weights, self._bar, locked=not self.saving.editable, given=given
            )


def _offered_marks(project: Project, artifact: Artifact) -> "OfferedMarks | None":
    """Loaded with the first evidence list, because it looks into every protocol."""
    from annotator.actions.sets import validation_ground

    return validation_ground.offered(project, artifact)


def _writes(event: QKeyEvent) -> bool:
    erases = event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
    return erases or (event.text().isprintable() and bool(event.text()))
