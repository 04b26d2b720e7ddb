"""The Feedback page."""

from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QApplication, QTabBar, QWidget

from annotator.actions.adjudication import feedback
from annotator.actions.adjudication.feedback import Digest, DigestLine
from annotator.actions.items import items
from annotator.actions.labelling import label_tasks
from annotator.domain.experts.adjudication import DisputeState
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.change import Change
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.naming import title
from annotator.gui.desk.page import Page
from annotator.gui.pages.feedback.objection import Objection
from annotator.gui.pages.feedback.stage_view import StageView
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.layouts import stacked, vertical
from annotator.gui.widgets.lists.rows_tree import RowsTree, line
from annotator.gui.widgets.plain import PlainLabel

# People: experts who handed in weeks ago and, elsewhere, never learnt what the curator made of it.
SHOWN_KINDS = ("adjudication", "dispute", "artifact", "import", "person", "parcel")
LEAST_LIST, LEAST_ANSWER = 200, 300
# Where the list is narrow, an item's key is cut, and whole in its tip; so much of the window is the list's at most.
LEAST_KEY, SHARE = 80, 0.38
OBJECTIONS = {DisputeState.OPEN: "waits", DisputeState.ANSWERED: "answered", None: ""}


class FeedbackPage(Page):
    """Items with a consensus on the left; the stages of one, row by row, on the right."""

    NAME = "Feedback"
    ICON = "eye"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._lines: list[DigestLine] = []
        self._item_id, self._digest = "", Digest("", (), may_dispute=False)
        self._reports: dict[str, str] = {}
        self.list = RowsTree(
            "Items with a consensus", ("Item", "Changed", "Objection"), (90, 74, 84), 0, least=LEAST_KEY
        )
        self.list.currentItemChanged.connect(lambda *_: self._choose(self.list.row()))
        self.question, self.stages, self.view = ElidedLabel("", "subtitle"), QTabBar(), StageView()
        self.stages.setDrawBase(False)
        self.stages.setExpanding(False)
        self.stages.setAccessibleName("Stages of the item")
        self.stages.currentChanged.connect(lambda _: self._show_stage())
        project = desk.project
        self.objection = Objection(
            str(project.get("id", "")), from_task=project.from_task, readonly=project.readonly
        )
        self.objection.sent.connect(self._object)
        self.answer = MessageBar()
        self.view.guideline_wanted.connect(lambda stage: self.desk.go("Guidelines", stage=stage.value))
        self._lay_out()
        self._bind()

    def _lay_out(self) -> None:
        right = QWidget()
        inside = vertical(
            self.question, self.stages, (self.view, 1), on=right, margins=(8, 0, 0, 0), spacing=6
        )
        self.answer.float_over(self.view)
        inside.addWidget(self.objection)
        for part, least in ((self.list, LEAST_LIST), (right, LEAST_ANSWER)):
            theme.scale(part.setMinimumWidth, least)
        parts = Splitter("feedback", parts=(self.list, right), sizes=(296, 795), stretch=(0, 1))
        parts.grow(self.list, 296, SHARE)
        self.nothing = EmptyState(
            "eye",
            "No consensus yet",
            "Once an adjudicator has made a consensus from your work and others', you see here, unit by "
            "unit, what was changed in yours and why. You can object once per item.",
        )
        self.nothing.add_action("Go to Author", lambda: self.desk.go("Author"), primary=True)
        self.body = stacked(self.nothing, parts)
        vertical(
            PlainLabel("Feedback on my work", "title"),
            (self.body, 1),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=8,
        )

    def _bind(self) -> None:
        self.bind("submit", self.objection.submit)
        self.bind("note", self.objection.enter)
        self.bind("next_item", lambda: self._step(1))
        self.bind("previous_item", lambda: self._step(-1))
        self.bind("next_open", self._next_changed)
        self.bind("guideline", lambda: self.desk.go("Guidelines", stage=self._stage.value))
        self.bind("other_pane", self._other_pane)

    def arrive(self, place: dict[str, Any]) -> None:
        """Show every item there is something to say of; `item_id` and `stage` say where to look."""
        self._item_id = str(place.get("item_id") or self._item_id)
        self.answer.clear()
        self._fill(str(place.get("stage", "")))

    def leave(self) -> None:
        """Keep what is being typed."""
        self.objection.field.tell()

    def focus_first(self) -> None:
        """Work begins in the list."""
        if self.body.currentIndex() == 1:
            self.list.setFocus()

    def on_change(self, change: Change) -> None:
        """A new version or an answer shows at once."""
        if change.kind in SHOWN_KINDS and self.isVisible():
            self._fill(self._stage.value)

    def rebind(self) -> None:
        """Take over keys that were changed, also on the buttons."""
        super().rebind()
        self.objection.rebind()

    @property
    def _stage(self) -> Stage:
        """The stage in view."""
        place = self.stages.currentIndex()
        return self._digest.stages[place].stage if 0 <= place < len(self._digest.stages) else Stage.RUBRIC

    def _fill(self, stage: str = "") -> None:
        self._lines = self.desk.ask(feedback.items_with_digest) or []
        self.body.setCurrentIndex(1 if self._lines else 0)
        ids = [each.item_id for each in self._lines]
        with QSignalBlocker(self.list):
            self.list.clear()
            for each in self._lines:
                self.list.addTopLevelItem(
                    line((each.item_key, str(each.changed or "–"), OBJECTIONS[each.dispute]))
                )
            place = ids.index(self._item_id) if self._item_id in ids else 0
            self.list.choose(place)
        if self._lines:
            self._show_item(ids[place], stage)

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self._lines) and self._lines[row].item_id != self._item_id:
            self.answer.clear()
            self._show_item(self._lines[row].item_id)

    def _show_item(self, item_id: str, stage: str = "") -> None:
        found = self.desk.ask(feedback.digest, item_id)
        if found is None or not found.stages:
            return
        self._item_id, self._digest = item_id, found
        item = items.read(self.desk.project, item_id)
        self.question.setText(f"{item.key} · {item.question}")
        if any(each.stage is Stage.LABELLING for each in found.stages):
            self._reports = {task.response_id: task.name for task in self.desk.ask(label_tasks.queue) or []}
        with QSignalBlocker(self.stages):
            while self.stages.count():
                self.stages.removeTab(0)
            for each in found.stages:
                self.stages.addTab(title(each.stage))
            places = [place for place, each in enumerate(found.stages) if each.stage.value == stage]
            self.stages.setCurrentIndex(next(iter(places), 0))
        self._show_stage()

    def _show_stage(self) -> None:
        place = self.stages.currentIndex()
        if 0 <= place < len(self._digest.stages):
            self.view.show_stage(self._digest.stages[place], self._reports)
            self.objection.show_item(self._digest, self._stage)

    def _object(self, words: str) -> None:
        if self.desk.do(feedback.dispute, self._item_id, self._stage, words) is not None:
            self.objection.forget(self._item_id)
            self._fill(self._stage.value)
            self.answer.show_message("success", "Your objection was sent.", "The answer will appear here.")

    def _step(self, by: int) -> None:
        self.list.choose(self.list.row() + by)

    def _next_changed(self) -> None:
        """The next item of which something did not stay as it was, around the end."""
        rows = len(self._lines)
        for step in range(1, rows + 1):
            row = (self.list.row() + step) % rows
            if self._lines[row].changed:
                self.list.choose(row)
                return

    def _other_pane(self) -> None:
        """From the list to the rows, from there to the objection, and round again."""
        here = QApplication.focusWidget() or self
        if self.list is here:
            self.view.area.setFocus()
        elif self.view.isAncestorOf(here) and self.objection.field.isVisible():
            self.objection.enter()
        else:
            self.list.setFocus()
