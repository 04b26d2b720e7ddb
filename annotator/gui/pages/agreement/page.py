"""The page of agreement: figures of what was frozen, what lies behind each, or what must happen first."""

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from annotator.actions.agreement import agreement_behind, agreement_report, assisted
from annotator.actions.agreement.agreement_behind import Found
from annotator.actions.agreement.agreement_figures import Row
from annotator.actions.agreement.agreement_report import Report
from annotator.actions.project import people
from annotator.domain.experts.person import Role
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.agreement.assisting import Assisting
from annotator.gui.pages.agreement.behind_view import BehindView
from annotator.gui.pages.agreement.choosers import Choosers
from annotator.gui.pages.agreement.figures_view import FiguresView
from annotator.gui.pages.agreement.leaving import LeavingBar
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.layouts import Stretch, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel

# People: coordinators and statisticians. What annoys them elsewhere: agreement that is not there, so that they
# export and script it; NaN without a reason; a κ that collapses without a word; numbers that later votes have moved.
# Changes of these kinds may move a figure, or what is said beside it.
MOVING = frozenset({
    "agreement", "artifact", "adjudication", "ruling", "assignment", "guideline", "import", "item", "judge", "labels",
    "parcel", "person", "tray",
})  # fmt: skip
FIRST = (
    "Assign an item to two or more people. Once everyone assigned to a stage has submitted, their agreement "
    "is computed once, frozen, and shown here."
)
WIDE = 560


class AgreementPage(Page):
    """Choosers above; the figures, what lies behind one, or what must happen first below."""

    NAME = "Agreement"
    ICON = "agreement"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._report: Report | None = None
        self._stale, self._usual = True, ""
        self._build()
        self._later = QTimer(self, singleShot=True, interval=1000)
        self._later.timeout.connect(self._count)
        for act in self.leaving.buttons:
            self.bind(act, partial(self.leaving.do, act))
        self.bind("other_pane", self.view.other_pane, self.view)

    def _build(self) -> None:
        self.view, self.behind = FiguresView(), BehindView()
        self.leaving, self.choosers = LeavingBar(self.desk, self.view), Choosers()
        self.assisting = Assisting(self.desk)
        self.hint = ElidedLabel(role="hint")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        vertical(
            horizontal(PlainLabel("Agreement", "title"), Stretch(1), self.leaving),
            horizontal(self.choosers, 12, (self.hint, 1)),
            self.assisting,
            (self._body(), 1),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=10,
        )
        self.assisting.answer.float_over(self.body)
        self._listen()
        self.leaving.enable(False)

    def _body(self) -> Stack:
        self.empty = EmptyState("agreement", "No agreement has been frozen yet", FIRST, width=WIDE)
        self.empty.add_action("Hand out work", lambda: self.desk.go("People"), primary=True)
        self.empty.add_action("What do these figures say?", self._explain)
        self.none = EmptyState("search", "Nothing to group by this")
        self.none.add_action("Show all by stage", lambda: self.choosers.choose("stage"))
        self.denied = EmptyState(
            "lock",
            "Agreement is shown to a coordinator",
            "These figures reveal how others answered. Annotators and adjudicators work without knowing "
            "that.",
        )
        self.body = Stack()
        for widget in (QWidget(), self.view, self.behind, self.none, self.empty, self.denied):
            self.body.addWidget(widget)
        return self.body

    def _listen(self) -> None:
        self.choosers.asked.connect(self._count)
        self.choosers.turned.connect(self._show)
        self.assisting.came.connect(self._count)
        self.leaving.told.connect(self.hint.setText)
        self.leaving.asked.connect(self._explain)
        self.view.opened.connect(self._open)
        self.behind.back.connect(self._back)
        self.behind.item_wanted.connect(lambda item_id: self.desk.go("Author", item_id=item_id))
        copy = QShortcut(QKeySequence.StandardKey.Copy, self.view.table)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self.leaving.copy)

    def arrive(self, place: dict[str, Any]) -> None:
        """Count anew when something was sealed or adjudicated since."""
        if self._stale:
            self._count()

    def focus_first(self) -> None:
        """Work begins in the table, or goes on in the list behind it."""
        (self.body.currentWidget() or self).setFocus()

    def rebind(self) -> None:
        """Take over keys that were changed since the page was made."""
        super().rebind()
        self.leaving.rebind()

    def on_change(self, change: Change) -> None:
        """New seals and rulings make the figures stale; they are counted when the page is looked at."""
        if change.kind in MOVING:
            self._stale = True
            if self.isVisible():
                self._later.start()

    def stop(self) -> None:
        """End what a judge was asked for."""
        self.assisting.progress.stop()

    def _count(self) -> None:
        self._stale = False
        if not people.someone(self.desk.project).has(Role.COORDINATOR):
            self._show_body(self.denied)
            return
        self.choosers.offer_judges(self.desk.ask(assisted.offered) or [])
        self.hint.setText("Counting…")
        self.desk.ask_later(self._counted, agreement_report.report, *self.choosers.asks)

    def _counted(self, report: Report) -> None:
        judge = report.assistance.judge if report.assistance else ""
        if (report.by, report.stage, judge) != self.choosers.asks:
            return
        if self.body.currentWidget() is self.behind:
            # Not taken away from under somebody's eyes: the list is of the figure that it was opened from.
            self._stale = True
            return
        self._report = report
        self.choosers.offer(report)
        self.assisting.show_report(report)
        if report.stage is self.choosers.stage:
            self._show()
        else:
            self._count()

    def _show(self) -> None:
        report = self._report
        if report is None:
            return
        rows = self.choosers.rows(report)
        if rows:
            self.view.show_rows(report, rows)
            self._show_body(self.view)
            undefined = sum(found.value is None for row in rows for found in row.figures)
            told = f"{undefined} undefined, with the reason · " if undefined else ""
            self._usual = f"{told}[ ]: 95 % interval · Enter: the data behind it"
            self.hint.setText(self._usual)
        elif report.stages:
            by_criterion = "Only judgements of reports have criteria; none are shown here."
            nothing = "No agreement on this stage is frozen."
            words = by_criterion if report.by == "criterion" else nothing
            self.none.show_words("Nothing to group by this", words)
            self._show_body(self.none)
        else:
            self._say_what_first()

    def _say_what_first(self) -> None:
        half = self.desk.ask(agreement_report.half_sealed) or 0
        many = "1 document has" if half == 1 else f"{half} documents have"
        more = f" {many} been submitted, but only by one person or not by everyone assigned." if half else ""
        self.empty.show_words("No agreement has been frozen yet", FIRST + more)
        self._show_body(self.empty)

    def _show_body(self, widget: QWidget) -> None:
        focus = self.window().focusWidget()
        inside = focus is None or self.body.isAncestorOf(focus)
        self.body.setCurrentWidget(widget)
        if inside:
            # What is shown takes the keyboard over from what was.
            widget.setFocus()
        self.leaving.enable(widget is self.view)
        self.choosers.enable(widget in (self.view, self.none))
        if widget is not self.view:
            self.hint.setText("")

    def _open(self, row: Row) -> None:
        if self._report is not None:
            self.hint.setText("Reading…")
            self.desk.ask_later(self._opened, agreement_behind.behind, self._report, row)

    def _opened(self, found: Found) -> None:
        if self._report is not None:
            self.behind.show_found(self._report, found)
            self._show_body(self.behind)

    def _back(self) -> None:
        self._show_body(self.view)
        self.hint.setText(self._usual)
        self.focus_first()
        if self._stale:
            self._count()

    def _explain(self) -> None:
        self.desk.go("Help", topic="agreement")
