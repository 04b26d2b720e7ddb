"""Side panel of the Author page: guideline, revisions, a model's draft, or references to take."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from annotator.actions.authoring import artifacts, guidelines
from annotator.actions.authoring.artifacts import RevisionLine
from annotator.actions.items import renderings
from annotator.actions.project import people
from annotator.domain.experts.assignment import stage_of
from annotator.domain.kinds.artifact import Artifact, Kind
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.forms import kind_guideline
from annotator.gui.review.revision_text import as_text, line
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical
from annotator.gui.widgets.later import later
from annotator.gui.widgets.reading.report_view import ReportView

if TYPE_CHECKING:
    from annotator.gui.pages.authoring.bulk_evidence import BulkEvidence
    from annotator.gui.pages.authoring.by_model.model_draft import ModelDraft


# While typing goes on the list is not read again at every revision.
SETTLE_MS = 800

LEAST_WIDTH, DRAFT_WIDTH = 230, 330
H = TypeVar("H", "ModelDraft", "BulkEvidence")


class SidePanel(QFrame):
    """One panel at a time, or none; what helps with writing is loaded and made when it is first asked for."""

    turned = Signal()
    """Another part is shown, or none."""
    taken = Signal(str, bool)
    """Take this unit of the model's draft; the second says whether to go on writing in it."""
    quote_wanted = Signal(object)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._helpers: list[ModelDraft | BulkEvidence] = []
        self._titles: dict[QWidget, str] = {}
        self._item: Item | None = None
        self.keep: Callable[[], bool] = lambda: True
        """Keeps what is being typed into the form; False when it cannot be kept."""
        self.setProperty("role", "side")
        self.title, self.close_button = PlainLabel(role="subtitle"), QToolButton()
        self.all = QPushButton("Show all")
        self.all.setProperty("role", "quiet")
        self.all.setCheckable(True)
        self.all.toggled.connect(self._show_guideline)
        icons.put(self.close_button, "close", 14)
        self.close_button.setToolTip("Close this panel")
        self.close_button.setAccessibleName("Close this panel")
        self.close_button.clicked.connect(self._close)
        self.text, self.history = ReportView(), HistoryList(desk)
        self.text.setProperty("role", "side")
        self.text.setAccessibleName("Guideline")
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
        self._fit()
        theme.watch(self, self._fit)
        self.hide()

    @cached_property
    def draft(self) -> "ModelDraft":
        """A model's draft of the document."""
        from annotator.gui.pages.authoring.by_model.model_draft import ModelDraft

        made = self._add_helper(ModelDraft(self.desk), "A model's draft")
        made.taken.connect(self.taken)
        made.quote_wanted.connect(self.quote_wanted)
        return made

    @cached_property
    def references(self) -> "BulkEvidence":
        from annotator.gui.pages.authoring.bulk_evidence import BulkEvidence

        made = self._add_helper(BulkEvidence(self.desk), "References to take")
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
        """The part that stands here now; None while the panel is closed."""
        return None if self.isHidden() else self._stack.currentWidget()

    def _close(self) -> None:
        self.toggle(self._stack.currentWidget())

    def toggle(self, part: QWidget | None) -> None:
        """Show a part, such as `text` or `history`, or hide the panel where that part is shown already."""
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
        """Read again what helps with writing, if it is seen."""
        for part in self._helpers:
            part.wake()

    @property
    def helper(self) -> "ModelDraft | BulkEvidence":
        """What helps with the present kind: a model's draft, or references in bulk."""
        return self.references if self._kind is Kind.EVIDENCE else self.draft

    @property
    def shown_draft(self) -> "ModelDraft | None":
        return self.draft if self.helps and self._kind is not Kind.EVIDENCE else None

    def take(self) -> None:
        """Take the draft's unit at the cursor, or the references that were read."""
        if self.shown_draft:
            self.shown_draft.take(edit=False)
        elif self.helps:
            self.references.take()

    def take_source(self) -> None:
        """Take the source itself, where evidence is written."""
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
        """Whether a draft or references stand here now."""
        return self.shown in self._helpers

    def shows(self, part: QWidget) -> bool:
        """Whether a part is what stands here now."""
        return self.shown is part

    def follow(self, kind: Kind, field: str) -> None:
        """Say what the guideline says on the field that has the focus now."""
        self._kind, self._field = kind, field or "text"
        self._show_guideline()

    def follow_item(self, item: Item, kind: Kind) -> None:
        """Be about a kind of an item from now on; one kind's help gives way to another's."""
        self._item = item
        self.follow(kind, "text")
        for helper in self._helpers:
            helper.follow(item, kind)
        if self.helps and not self.shows(self.helper):
            self.toggle(self.helper)

    def follow_artifact(self, artifact: Artifact | None) -> None:
        self.history.follow(artifact)

    def stop(self) -> None:
        for part in self._helpers:
            part.stop()

    def rebind(self) -> None:
        for part in self._helpers:
            part.rebind()

    def _show_guideline(self) -> None:
        if self.shown is not self.text:
            return
        text = self.desk.ask(guidelines.text_in_force, stage_of(self._kind)) or ""
        words = (
            kind_guideline.whole(self._kind, text)
            if self.all.isChecked()
            else kind_guideline.on_field(self._kind, self._field, text)
        )
        if words != self._shown:
            self._shown = words
            rendered = self.desk.ask(renderings.html, keys.in_words(words))
            if rendered is not None:
                self.text.show_html(rendered.html)


class HistoryList(QWidget):
    """The revisions of an artifact, read only while visible."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._artifact: Artifact | None = None
        self._revisions: list[RevisionLine] = []
        self.list, self.words = QListWidget(), QPlainTextEdit()
        self.list.setAccessibleName("Revisions, newest first")
        self.list.currentRowChanged.connect(self._show_words)
        self.words.setReadOnly(True)
        self.words.setTabChangesFocus(True)
        self.words.setAccessibleName("Text of the selected revision")
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        parts.addWidget(self.list)
        parts.addWidget(self.words)
        vertical(parts, on=self, margins=0)
        self._settle = later(self, self.wake, SETTLE_MS)

    def follow(self, artifact: Artifact | None) -> None:
        """List this artifact's revisions from now on."""
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
        """Read the revisions again, if the list is seen."""
        if not self.isVisible():
            return
        found = self.desk.ask(artifacts.revision_lines, self._artifact.id) if self._artifact else []
        if [r.id for r in found or []] == [r.id for r in self._revisions]:
            return
        self._revisions = found or []
        aliases = {person.id: person.alias for person in self.desk.ask(people.people) or []}
        self.list.clear()
        for revision in self._revisions:
            entry = QListWidgetItem(line(revision, aliases.get(revision.by, "")))
            if revision.sealed:
                entry.setIcon(icons.icon("lock", theme.current().px(16), "state-agreed"))
            self.list.addItem(entry)
        self.list.setCurrentRow(0)

    def _show_words(self, row: int) -> None:
        words = ""
        if self._artifact is not None and 0 <= row < len(self._revisions):
            numbers = (self._revisions[row].number,)
            for whole in self.desk.ask(artifacts.revisions, self._artifact.id, numbers) or ():
                words = as_text(self._artifact.kind, whole)
        self.words.setPlainText(words)
