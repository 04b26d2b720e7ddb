"""Side panel of the Author page: guideline, revisions, a model's draft, or references to take."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFrame,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from annotator.actions.authoring import guidelines
from annotator.actions.items import renderings
from annotator.domain.experts.assignment import stage_of
from annotator.domain.kinds.artifact import Artifact, Kind
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.forms import kind_guideline
from annotator.gui.pages.authoring.bulk_evidence import BulkEvidence
from annotator.gui.pages.authoring.by_model.model_draft import ModelDraft
from annotator.gui.pages.authoring.history_list import HistoryList
from annotator.gui.widgets import icons
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.reading.report_view import ReportView

LEAST_WIDTH, DRAFT_WIDTH = 230, 330


class SidePanel(QFrame):
    """One panel at a time, or none."""

    turned = Signal()
    """Another part is shown, or none."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
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
        self._stack.addWidget(self.text)
        self.draft, self.references = ModelDraft(desk), BulkEvidence(desk)
        for part in (self.history, self.draft, self.references):
            self._stack.addWidget(part)
        self._titles: dict[QWidget, str] = {
            self.text: "Guideline", self.history: "Revisions", self.draft: "A model's draft",
            self.references: "References to take",
        }  # fmt: skip
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
        self.draft.wake()
        self.references.wake()
        self.turned.emit()

    @property
    def helper(self) -> ModelDraft | BulkEvidence:
        """What helps with the present kind: a model's draft, or references in bulk."""
        return self.references if self._kind is Kind.EVIDENCE else self.draft

    def take(self) -> None:
        """Take the draft's unit at the cursor, or the references that were read."""
        if self.shows(self.references):
            self.references.take()
        elif self.shows(self.draft):
            self.draft.take(edit=False)

    def take_source(self) -> None:
        """Take the source itself, where evidence is written."""
        if self._kind is Kind.EVIDENCE:
            self.references.take_source()

    def ask(self) -> None:
        """Ask for a draft, or for what references lack."""
        if self.shows(self.references):
            self.references.look_up()
        elif self.shows(self.draft):
            self.draft.asking.start()

    def _fit(self) -> None:
        least = DRAFT_WIDTH if self._stack.currentWidget() in (self.draft, self.references) else LEAST_WIDTH
        self.setMinimumWidth(theme.current().px(least))

    def shows(self, part: QWidget) -> bool:
        """Whether a part is what stands here now."""
        return not self.isHidden() and self._stack.currentWidget() is part

    def follow(self, kind: Kind, field: str) -> None:
        """Say what the guideline says on the field that has the focus now."""
        self._kind, self._field = kind, field or "text"
        self._show_guideline()

    def follow_item(self, item: Item, kind: Kind) -> None:
        """Be about a kind of an item from now on; one kind's help gives way to another's."""
        self.follow(kind, "text")
        self.draft.follow(item, kind)
        self.references.follow(item)
        helps = (self.draft, self.references)
        if not self.isHidden() and self._stack.currentWidget() in helps and not self.shows(self.helper):
            self.toggle(self.helper)

    def follow_artifact(self, artifact: Artifact | None) -> None:
        """List the revisions of this artifact from now on."""
        self.history.follow(artifact)

    def stop(self) -> None:
        """Ask and read nothing more."""
        self.draft.stop()
        self.references.stop()

    def rebind(self) -> None:
        """Print the keys as they now are."""
        self.draft.rebind()
        self.references.rebind()

    def _show_guideline(self) -> None:
        if self.isHidden() or self._stack.currentWidget() is not self.text:
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
