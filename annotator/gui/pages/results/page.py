"""The Results page."""

from annotator.gui.desk.desk import Desk
from annotator.gui.pages.results.result_viewer import ResultViewer
from annotator.gui.views.viewer import ViewerPage


class ResultsPage(ViewerPage):
    """The page around its viewer."""

    NAME = "Results"
    ICON = "results"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ResultViewer(desk))
