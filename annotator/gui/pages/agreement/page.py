"""The Agreement page."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from annotator.actions.agreement import agreement_inputs, agreement_report, agreement_sheets
from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_report import AgreementReport
from annotator.actions.agreement.agreement_sheets import RowLine
from annotator.actions.agreement.assisted import Assistance
from annotator.actions.results.result_sheets import ResultSheet, SheetCell, SheetLine
from annotator.actions.studies.result_views import CountedView, ResultView
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.run import BackgroundRun
from annotator.gui.pages.agreement.account import account
from annotator.gui.pages.agreement.behind_view import AgreementBehindView
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.views.counting import Refused
from annotator.gui.views.leaving import LeavingBar
from annotator.gui.views.view_pane import ViewPane
from annotator.gui.views.viewer import Lead, Viewer, ViewerPage
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.basics import PlainLabel, push_button, vertical
from annotator.gui.widgets.fields.number_box import BudgetBox

TOLD, AT_ONCE = 3, 4


class AssistancePane(QFrame):
    """Hidden without a chosen judge; `came` reports the end of a run."""

    came = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._given: Assistance | None = None
        self._stage: Stage | None = None
        self.words, self.estimate = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.budget, self.ask = BudgetBox(most=10_000), QPushButton("Pair what is &missing")
        self.ask.setProperty("role", "primary")
        self.ask.clicked.connect(self.start)
        self.run, self.answer = BackgroundRun(desk, "Pairing", "Agreement", self), MessageBar()
        self.run.ended.connect(self._ended)
        said, row = QVBoxLayout(), QHBoxLayout()
        for label in (self.words, self.estimate):
            said.addWidget(label)
        row.addLayout(said, 1)
        for part in (self.budget, self.ask):
            row.addWidget(part)
        vertical(row, RunPanel(self.run), on=self, margins=0)
        self.hide()

    def show_report(self, report: AgreementReport) -> None:
        """Say how much there is of the chosen judge's pairing, and offer to ask for the rest."""
        before, self._given, self._stage = self._given, report.assistance, report.stage
        given = self._given
        self.setVisible(given is not None)
        if given is None or before is None or before.judge != given.judge:
            self.answer.clear()
        if given is None:
            return
        self.words.setText(given.words())
        self.estimate.clear()
        left = given.there < given.lists
        for part in (self.estimate, self.budget, self.ask):
            part.setVisible(left)
        self.ask.setEnabled(left and not self._desk.project.readonly and not self.run.running)
        if left:
            from annotator.actions.agreement import assisting
            from annotator.actions.orders import orders

            order = assisting.order(given.judge, self._stage)
            self._desk.ask_later(partial(self._show_forecast, given), orders.forecast, order)

    def start(self) -> None:
        """Ask the chosen judge for what is missing, in a process of its own."""
        from annotator.actions.agreement import assisting

        given = self._given
        if given is None or not self.ask.isEnabled():
            return
        self.answer.clear()
        order = assisting.order(given.judge, self._stage, concurrency=AT_ONCE, budget_usd=self.budget.limit)
        self.ask.setEnabled(not self.run.start(order))

    def _show_forecast(self, asked: Assistance, forecast: Any) -> None:
        if asked is self._given:
            self.estimate.setText(" ".join(forecast.words()[1:]) or forecast.words()[0])

    def _ended(self, line: dict[str, Any]) -> None:
        failed = line.get("failed") or []
        if failed:
            causes = [f"Item {one['item']}, {one['stage']}: {one['cause']}" for one in failed[:TOLD]]
            more = f" And {len(failed) - TOLD:,} more." if len(failed) > TOLD else ""
            happened = f"No result for {counted(len(failed), 'pair')} of lists; excluded from the figures."
            self.answer.show_message(
                "warning", happened, f"{' '.join(causes)}{more} Run it again to retry these."
            )
        elif line.get("event") == "ended" and line["state"] != "done":
            self.answer.show_message("info", "Stopped; finished pairs are kept.", str(line["cause"]))
        self.came.emit()


# Act of the key table, words, what it does.
ACTS = (
    ("save_picture", "Save picture…", "Save the picture as SVG or PNG, on white"),
    ("copy_table", "Copy table", "Copy the table for a spreadsheet, with full precision and aliases"),
    (
        "save_inputs",
        "Save the exact inputs…",
        "Save every frozen pair of values as CSV, the frozen records as JSON",
    ),
)


class AgreementBar(LeavingBar):
    """A choice and three acts on the figures shown."""

    def __init__(self, desk: Desk, view: ViewPane) -> None:
        about = push_button("What do these figures say?", lambda: desk.go("Help", topic="agreement"), "quiet")
        super().__init__(desk, view, ACTS, about)

    def commands(self) -> dict[str, Callable[[], None]]:
        return {
            "save_picture": self._choose_picture,
            "copy_table": self.copy,
            "save_inputs": self._choose_folder,
        }

    def text(self, sheet: ResultSheet) -> str:
        lines = [line for line in sheet.lines if isinstance(line, RowLine)]
        return words.copied(lines[0].report, [line.row for line in lines])

    def _choose_folder(self) -> None:
        here = self._desk.project.path
        name = QFileDialog.getExistingDirectory(self, "Folder for the inputs", str(here.parent))
        if name:
            self.save_inputs(Path(name) / f"{here.stem}-agreement")

    def save_inputs(self, folder: Path) -> None:
        """Write the exact inputs of every figure into a folder, as CSV and JSON."""
        written = self._desk.ask(agreement_inputs.write_inputs, folder)
        if written is not None:
            self.told.emit(f"Wrote {', '.join(written)} to {folder}")


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
VIEW = ResultView(
    "agreement",
    "Agreement",
    "",
    "[ ]: 95 % interval · Enter: the data behind it",
    FIRST,
    agreement_sheets.choices,
    agreement_sheets.report,
    agreement_sheets.sheets,
    "People",
)


class AgreementViewer(Viewer):
    """The tables of agreement, with a judge's pairing by meaning above them."""

    ICON = "agreement"
    OTHERWISE: Lead = ("What do these figures say?", "Help", {"topic": "agreement"})

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, (VIEW,), "agreement", "Agreement", MOVING)
        self.view.account_of = _account
        self.assisting = AssistancePane(desk)
        self.assisting.came.connect(self._count_anew)
        self.assisting.answer.float_over(self.body)
        self.column.insertWidget(1, self.assisting)

    def make_behind(self, _name: str) -> AgreementBehindView:
        return AgreementBehindView(self.desk)

    def make_leaving(self) -> AgreementBar:
        """The table with people by alias, the picture, and the exact inputs."""
        return AgreementBar(self.desk, self.view)

    def lead(self, _view: ResultView) -> Lead:
        return "Hand out work", "People", {}

    def _count_anew(self) -> None:
        self._known.clear()
        self._count()

    def _counted(self, found: CountedView | Refused) -> None:
        super()._counted(found)
        if isinstance(found, CountedView):
            self.assisting.show_report(found.kept)

    def show_nothing(self, found: CountedView) -> None:
        """Say what must happen first, or why nothing can be grouped so."""
        report = found.kept
        if report.stages:
            by_criterion = "Only judgements of reports have criteria; none are shown here."
            words = by_criterion if report.by == "criterion" else "No agreement on this stage is frozen."
            self.show_empty("Nothing to group by this", words)
            return
        half = self.desk.ask(agreement_report.half_sealed) or 0
        many = "1 document has" if half == 1 else f"{half} documents have"
        more = f" {many} been submitted, but only by one person or not by everyone assigned." if half else ""
        self.show_empty("No agreement has been frozen yet", FIRST + more)


def _account(
    _sheet: ResultSheet, line: SheetLine | None, _cell: SheetCell | None, _column: int, _metric: str
) -> str:
    return account(line.report, line.row) if isinstance(line, RowLine) else ""


class AgreementPage(ViewerPage):
    """The page around its viewer."""

    NAME = "Agreement"
    ICON = "agreement"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, AgreementViewer(desk))
