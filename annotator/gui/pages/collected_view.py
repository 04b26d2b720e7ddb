"""Collected papers before they are imported: how many each stage left, why others were refused, and each exemplar."""

from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from annotator.domain.material.collected import CollectedPaper, Funnel, RefusalStage, RefusedPaper
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.review.text_pane import TextPane
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, column_of, vertical
from annotator.gui.widgets.lists.filter_row import FilterRow
from annotator.gui.widgets.lists.rows_tree import RowsTree, line
from annotator.gui.widgets.reading.raw_text import RawText

# People: whoever makes a new edition of a benchmark from papers. What annoys them elsewhere: scrapers that drop papers
# without a word, and exemplars of which nobody sees what the cleaning took away.
LEAST_TEXT, LEAST_LIST = 130, 90
COLUMNS = ("Paper", "Title", "What came of it")


class CollectedFilter(Enum):
    """Which papers are listed: the kept ones, or those refused at a stage."""

    KEPT = "Kept"
    FILTER = "By the list"
    SOURCE = "No source"
    ASSEMBLE = "Not assembled"
    SECTION = "No section"
    CLEAN = "Unfit section"
    CITE = "Few references"


TIPS = {
    CollectedFilter.KEPT: "Papers that become items",
    CollectedFilter.FILTER: "Refused by what arXiv's list says: version, comment, withdrawn, language",
    CollectedFilter.SOURCE: "Refused because no LaTeX source could be read",
    CollectedFilter.ASSEMBLE: "Refused because its files make no whole text",
    CollectedFilter.SECTION: "Refused because there is no section on related work, or nearly nothing in it",
    CollectedFilter.CLEAN: "Refused because the section is too long, in another language, or cannot be read",
    CollectedFilter.CITE: "Refused because the section cites too few works",
}


class CollectedView(QWidget):
    """The funnel, the papers of a stage, and below them the chosen paper's LaTeX beside its exemplar."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._funnel = Funnel(0)
        self.stages = PlainLabel(role="strong", wrap=True)
        self.shown = FilterRow(CollectedFilter, CollectedFilter.KEPT)
        self.shown.show_tips(TIPS)
        self.shown.chosen.connect(self._fill)
        self.papers = RowsTree("Papers", COLUMNS, (130, 300, 320), stretched=1, firm=(0,))
        self.papers.setMinimumHeight(LEAST_LIST)
        self.papers.currentItemChanged.connect(lambda *_: self._show_paper())
        self.notes = PlainLabel(role="hint", wrap=True)
        self.latex, self.exemplar = RawText("LaTeX of the section"), TextPane(desk)
        self.exemplar.entitle("As the exemplar")
        self.texts = column_of(self.notes, (self._beside(), 1), spacing=6)
        self.halves = Splitter(
            "collected papers", Qt.Orientation.Vertical, parts=(self.papers, self.texts), sizes=(200, 300)
        )
        vertical(self.stages, self.shown, (self.halves, 1), on=self, margins=0, spacing=8)

    def _beside(self) -> Splitter:
        source = column_of(PlainLabel("In LaTeX", "strong"), (self.latex, 1), spacing=6)
        for part in (source, self.exemplar):
            part.setMinimumHeight(LEAST_TEXT)
        return Splitter("collected paper", parts=(source, self.exemplar), sizes=(1, 1))

    def show_funnel(self, funnel: Funnel) -> None:
        """Show what became of all candidates."""
        self._funnel = funnel
        refused = [one.stage for one in funnel.refused]
        left = [
            f"{many:,} after {STAGES[stage]}" for stage, many in funnel.left().items() if stage in refused
        ]
        words = [counted(funnel.candidates, "candidate"), *left, f"{len(funnel.kept):,} kept"]
        self.stages.setText(" → ".join(words))
        counts: dict[CollectedFilter, int] = {
            one: len(self._refused(one)) for one in list(CollectedFilter)[1:]
        }
        self.shown.show_counts({CollectedFilter.KEPT: len(funnel.kept), **counts})
        self.shown.hold(CollectedFilter.KEPT if funnel.kept else max(counts, key=lambda one: counts[one]))

    def _fill(self) -> None:
        self.papers.clear()
        kept = self.shown.held is CollectedFilter.KEPT
        if kept:
            lines = [(one.arxiv_id, one.title, _worth(one)) for one in self._funnel.kept]
        else:
            lines = [(one.id, one.title, one.reason) for one in self._refused(self.shown.held)]
        for cells in lines:
            self.papers.addTopLevelItem(line(cells))
        self.texts.setVisible(kept and bool(lines))
        self.papers.choose(0)

    def _refused(self, held: CollectedFilter) -> list[RefusedPaper]:
        return [one for one in self._funnel.refused if one.stage.name == held.name]

    def _show_paper(self) -> None:
        row = self.papers.row()
        if self.shown.held is not CollectedFilter.KEPT or not 0 <= row < len(self._funnel.kept):
            return
        paper = self._funnel.kept[row]
        self.notes.setText(". ".join(paper.notes))
        self.notes.setVisible(bool(paper.notes))
        self.latex.setPlainText(paper.section)
        self.exemplar.show_report(self._funnel.exemplars.get(paper.arxiv_id, ""), "exemplar")


STAGES = {
    RefusalStage.FILTER: "the list",
    RefusalStage.SOURCE: "the source",
    RefusalStage.ASSEMBLE: "assembling",
    RefusalStage.SECTION: "the section",
    RefusalStage.CLEAN: "cleaning",
    RefusalStage.CITE: "the references",
}


def _worth(paper: CollectedPaper) -> str:
    """What a paper brings: the works that it cites, those on arXiv, and those with an abstract."""
    on_arxiv = sum(bool(one.link) for one in paper.cited)
    abstracts = sum(bool(one.abstract) for one in paper.cited)
    return f"{counted(len(paper.cited), 'reference')}, {on_arxiv} on arXiv, {counted(abstracts, 'abstract')}"
