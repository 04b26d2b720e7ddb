"""Fields of the reference system: where works are searched, in how many rounds, and how many are kept."""

import os

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from annotator.actions.material import response_settings
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button
from annotator.gui.widgets.fields.number_box import NumberBox
from annotator.gui.widgets.fields.typed import LineField

# What is given to the writer, in words, by its name among the inputs, and how an order says it.
SEARCHES, ON_ARXIV, ALL_IMPORTANT = "searched", "given-arxiv", "given-all"
INPUTS = (
    ("works that it searches, filters and ranks", SEARCHES),
    ("the important references on arXiv", ON_ARXIV),
    ("all important references", ALL_IMPORTANT),
)
_ORACLES = {SEARCHES: "", ON_ARXIV: "arxiv", ALL_IMPORTANT: "all"}


class ResearchFields(QObject):
    """The collection with a button, and below it the numbers: `rows` for a form, each with its label."""

    changed = Signal()

    def __init__(self, form: QWidget) -> None:
        super().__init__(form)
        self._form = form
        usual = response_settings.SystemSettings()
        self.corpus = LineField(placeholderText="arXiv, or a folder with works.csv")
        self.corpus.setAccessibleName("Collection of works")
        self.choose = push_button("Choose…", self._choose)
        self.choose.setAccessibleName("Choose a collection of works")
        self.rounds = NumberBox(minimum=1, maximum=10, value=usual.rounds)
        self.queries = NumberBox(minimum=1, maximum=10, value=usual.queries)
        self.per_query = NumberBox(minimum=1, maximum=1000, value=usual.per_query)
        self.keep = NumberBox(minimum=1, maximum=1000, value=usual.keep)
        boxes = (self.rounds, "queries each", self.queries), (self.per_query, "keep", self.keep)
        for first, _, second in boxes:
            for box in (first, second):
                box.valueChanged.connect(lambda _: self.changed.emit())
        self.rounds.setAccessibleName("Rounds of search")
        self.queries.setAccessibleName("Queries in each round")
        self.keep.setAccessibleName("Works kept for the writer")
        self.per_query.setAccessibleName("Works looked up for each query")
        self.corpus.textChanged.connect(lambda _: self.changed.emit())
        lines = [
            horizontal(first, PlainLabel(words), second, StretchSpace(1)) for first, words, second in boxes
        ]
        self.rows = (
            ("Search in", horizontal(self.corpus, self.choose)),
            *zip(("Rounds", "Hits"), lines, strict=True),
        )

    def manner(self, wanted: str) -> str:
        """The name of the manner for one of the inputs."""
        return response_settings.research_name(
            rounds=self.rounds.value(),
            queries=self.queries.value(),
            per_query=self.per_query.value(),
            keep=self.keep.value(),
            oracle=_ORACLES[wanted],
        )

    def place(self) -> str:
        """Where works are searched; empty for arXiv."""
        return self.corpus.text().strip()

    def lacks(self, *, model: bool) -> str:
        """Why nothing can be searched as the fields are; only a `model` may search arXiv."""
        if not self.place() and not model:
            return "The baseline asks nobody: choose a collection of works to search in."
        # Unlike `Path.exists`, this takes whatever is pasted: no file has a name of 3 000 letters.
        there = not self.place() or os.path.exists(self.place())
        return "" if there else "There is no such file or folder of works."

    def _choose(self) -> None:
        name = QFileDialog.getExistingDirectory(self._form, "Folder with works.csv", self.place())
        if name:
            self.corpus.setText(name)
