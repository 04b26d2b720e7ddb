"""The Agreement page."""

from annotator.actions.agreement import agreement_report, agreement_sheets
from annotator.actions.agreement.agreement_sheets import RowLine
from annotator.actions.results.result_sheets import ResultSheet, SheetCell, SheetLine
from annotator.actions.studies.result_views import CountedView, ResultView
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.agreement.account import account
from annotator.gui.pages.agreement.assisting import AssistancePane
from annotator.gui.pages.agreement.behind_view import AgreementBehindView
from annotator.gui.pages.agreement.leaving import AgreementBar
from annotator.gui.views.counting import Refused
from annotator.gui.views.viewer import Lead, Viewer, ViewerPage

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
        """The pairs of values behind a figure."""
        return AgreementBehindView(self.desk)

    def make_leaving(self) -> AgreementBar:
        """The table with people by alias, the picture, and the exact inputs."""
        return AgreementBar(self.desk, self.view)

    def lead(self, _view: ResultView) -> Lead:
        """Before anything is frozen, work must be handed out."""
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
