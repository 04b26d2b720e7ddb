"""The Results page."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox

from annotator.actions.authoring import annotating
from annotator.actions.papers import paper_tables
from annotator.actions.papers.paper_tables import VIEW, VIEWS, MissingStep
from annotator.actions.project import people
from annotator.actions.results import results
from annotator.actions.studies.result_views import AGREEMENT, CountedView, ResultView
from annotator.domain.common import in_window
from annotator.gui.session.page import way_to
from annotator.gui.session.session import ProjectSession
from annotator.gui.views.view_pane import Refused
from annotator.gui.views.viewer import Lead, Viewer, ViewerPage
from annotator.gui.widgets.basics import open_file, push_button, tooltip, with_properties
from annotator.gui.widgets.fields import AmountBox, together

# People: a benchmark's author, who will publish the numbers. What annoys them elsewhere: scores without n or
# interval, definitions nowhere, failures counted as answers, and no way from a number to what it was made of.
# Kinds of change that may affect a figure.
MOVING = frozenset({
    "adjudication", "artifact", "extract", "import", "item", "judge", "judge_run", "judgement", "labels", "parcel",
    "setting", "tray",
})  # fmt: skip
WITH_LIMIT, WITH_FILE = "overview", "rubrics"
BESIDE, COMPARED = "Beside another project…", "Compare with the settled rubrics of another project file."
UNADJUDICATED = (
    "What several people wrote of an item scores before it is adjudicated, by the document that scored first, else by "
    "that of the first alias. Without it, such items are left out."
)


class ResultViewer(Viewer):
    """Opens on the table of the paper that the project follows."""

    HIDES = True
    LEADS = {AGREEMENT: ("Of people", "Agreement", {})}

    def __init__(self, session: ProjectSession) -> None:
        self._file = ""
        self._steps: tuple[MissingStep, ...] = ()
        super().__init__(session, VIEWS, "results", "Results", MOVING)
        if paper_tables.in_use(session.project):
            self._name = VIEW.name
        self.limit = AmountBox(
            decimals=1,
            minimum=0.0,
            maximum=100.0,
            singleStep=1.0,
            suffix=" % missing",
            accessibleName="Largest share of missing judgements for a publishable figure",
            keyboardTracking=False,
            valueChanged=lambda value: session.do(results.set_limit, round(value / 100, 4)),
        )
        self._limit = together(
            "Max. missing", self.limit, "Figures with more missing judgements than this are marked."
        )
        self.file = push_button(BESIDE, self._choose_file, toolTip=COMPARED)
        self.unadjudicated = with_properties(
            QCheckBox("Count unadjudicated gold"), toolTip=tooltip(UNADJUDICATED)
        )
        self.unadjudicated.clicked.connect(lambda on: session.do(annotating.count_unadjudicated, on))
        self.choosers.add(self._limit, self.unadjudicated, self.file)

    def more(self) -> dict[str, str]:
        return {"file": self._file} if self._name == WITH_FILE and self._file else {}

    def offer_more(self, any_: bool) -> None:
        project = self.session.project
        whole, allowed = self._name == WITH_LIMIT, people.coordinates(project) and not project.readonly
        counts = self.session.ask(annotating.unadjudicated_counts) if whole else None
        share = self.session.ask(results.limit) if whole and any_ else None
        with QSignalBlocker(self.limit):
            self.limit.setValue(100 * (share or 0.0))
        self.unadjudicated.setChecked(bool(counts))
        for field in (self.limit, self.unadjudicated):
            field.setEnabled(allowed)
        name = Path(self._file).stem if self._file else ""
        self.file.setText(f"Stop comparing with {name}".replace("&", "&&") if name else BESIDE)
        self.choosers.show_part(self._limit, share is not None)
        self.choosers.show_part(self.unadjudicated, counts is not None)
        self.choosers.show_part(self.file, self._name == WITH_FILE)

    def show_nothing(self, view: CountedView) -> None:
        """Show what a view lacks; for a paper's table, the steps missing in this project."""
        self._steps = ()
        super().show_nothing(view)
        if view.view == VIEW.name:
            self.session.ask_later(partial(self._show_steps, view), paper_tables.lacking, view.chosen)

    def _show_steps(self, view: CountedView, steps: tuple[MissingStep, ...]) -> None:
        if self.body.currentWidget() is self.empty and self._known.get(view.view) is view and steps:
            self._steps = steps
            self.show_empty("Nothing to show here yet", "\n".join(in_window(words) for words, _ in steps))

    def lead(self, view: ResultView) -> Lead:
        page = self._steps[0][1] if self._steps and view is VIEW else view.page
        return way_to(page), page, {}

    def refuse(self, refused: Refused) -> None:
        """Drop a file that cannot be read; the message bar says why."""
        if self._file and refused.view == WITH_FILE:
            self.session.refused.emit(refused.refusal)
            self.compare_with(None)
            return
        super().refuse(refused)

    def _choose_file(self) -> None:
        if self._file:
            self.compare_with(None)
        else:
            open_file(self, "Another project", "Projects (*.goldsmith)", self.compare_with)

    def compare_with(self, path: Path | None) -> None:
        self._file = str(path or "")
        self._count()


class ResultsPage(ViewerPage):
    NAME = "Results"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ResultViewer(session))
