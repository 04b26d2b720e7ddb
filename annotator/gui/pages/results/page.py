"""The Results page."""

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from annotator.actions.authoring import annotating
from annotator.actions.papers import paper_tables
from annotator.actions.papers.paper_tables import VIEW, VIEWS, MissingStep
from annotator.actions.project import people
from annotator.actions.results import results
from annotator.actions.studies.result_views import CountedView, ResultView
from annotator.domain.experts.assignment import Role
from annotator.gui.session.session import ProjectSession
from annotator.gui.views.view_pane import Refused
from annotator.gui.views.viewer import Lead, Viewer, ViewerPage

# People: a benchmark's author, who will publish the numbers. What annoys them elsewhere: scores without n or
# interval, definitions nowhere, failures counted as answers, and no way from a number to what it was made of.
# Changes of these kinds may move a figure.
MOVING = frozenset({
    "adjudication", "artifact", "extract", "import", "item", "judge", "judge_run", "judgement", "labels", "parcel",
    "setting", "tray",
})  # fmt: skip
WITH_LIMIT, WITH_FILE = "overview", "rubrics"


class ResultViewer(Viewer):
    HIDES = True

    def __init__(self, session: ProjectSession) -> None:
        self._file = ""
        self._steps: tuple[MissingStep, ...] = ()
        super().__init__(session, VIEWS, "results", "Results", MOVING)
        self.choosers.limit_set.connect(lambda share: session.do(results.set_limit, round(share, 4)))
        self.choosers.file_wanted.connect(self._choose_file)
        self.choosers.unadjudicated_set.connect(lambda on: session.do(annotating.count_unadjudicated, on))

    def more(self) -> dict[str, str]:
        return {"file": self._file} if self._name == WITH_FILE and self._file else {}

    def offer_more(self, any_: bool) -> None:
        counts = self.session.ask(annotating.unadjudicated_counts) if self._name == WITH_LIMIT else None
        self.choosers.show_unadjudicated(
            counts, allowed=self._coordinates() and not self.session.project.readonly
        )
        share = self.session.ask(results.limit) if self._name == WITH_LIMIT and any_ else None
        self.choosers.show_limit(share, allowed=self._coordinates() and not self.session.project.readonly)
        self.choosers.show_file(self._name == WITH_FILE, Path(self._file).stem if self._file else "")

    def show_nothing(self, found: CountedView) -> None:
        """Say what a view lacks; of a paper's table, the steps that are missing in this project."""
        self._steps = ()
        super().show_nothing(found)
        if found.view == VIEW.name:
            self.session.ask_later(partial(self._show_steps, found), paper_tables.lacking, found.chosen)

    def _show_steps(self, found: CountedView, steps: tuple[MissingStep, ...]) -> None:
        if self.body.currentWidget() is self.empty and self._known.get(found.view) is found and steps:
            self._steps = steps
            self.show_empty("Nothing to show here yet", "\n".join(words for words, _ in steps))

    def lead(self, view: ResultView) -> Lead:
        page = self._steps[0][1] if self._steps and view is VIEW else view.page
        return f"Go to {page}", page, {}

    def _coordinates(self) -> bool:
        return people.someone(self.session.project).has(Role.COORDINATOR)

    def refuse(self, found: Refused) -> None:
        """A file that cannot be read is let go of; the message bar says why."""
        if self._file and found.view == WITH_FILE:
            self._file = ""
            self.session.refused.emit(found.refusal)
            self._count()
            return
        super().refuse(found)

    def _choose_file(self) -> None:
        if self._file:
            self._file = ""
            self._count()
            return
        name, _ = QFileDialog.getOpenFileName(self, "Another project", "", "Projects (*.goldsmith)")
        if name:
            self.compare_with(Path(name))

    def compare_with(self, path: Path) -> None:
        self._file = str(path)
        self._count()


class ResultsPage(ViewerPage):
    NAME = "Results"
    ICON = "results"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ResultViewer(session))
