"""An Adjudicate page for tests: opened over a project, at its first row, with words to find rows by."""

from annotator.actions.adjudication.adjudicating import SheetRow
from annotator.actions.project.file import Project
from annotator.gui.pages.adjudication.page import AdjudicatePage
from annotator.gui.pages.adjudication.row_card import RowCard
from annotator.gui.review.field_chips import about
from tests.projects.pairs_project import letter_of
from tests.windows.using import be_active

# How rows of `rubrics_project` begin: contested ones, and what one person alone wrote.
COMPARES, NAMES, DESCRIBES = "Compares synthetic", "Names at least one", "Describes"
COST, OPEN, FUTURE = "Discusses the cost", "Identifies open", "Outlines future"


def adjudicate(project: Project, window_over, qtbot, *, begin: bool = True) -> AdjudicatePage:
    """The page in a window of its own, with its first conflict opened."""
    window = be_active(window_over(project, "Adjudicate"), qtbot)
    window.page.focus_first()
    if begin:
        window.page.frame.beginning.begin.click()
    return window.page


def row_of(page: AdjudicatePage, words: str) -> SheetRow:
    """The row whose first unit begins with these words."""
    return next(row for row in page.bench.rows.values() if about(row).startswith(words))


def card_of(page: AdjudicatePage, words: str) -> RowCard:
    return page.rows.cards[row_of(page, words).ruling.id]


def go(page: AdjudicatePage, words: str) -> SheetRow:
    row = row_of(page, words)
    page.bench.move_to(row.ruling.id)
    return row


def key_of(page: AdjudicatePage, name: str) -> str:
    return "12"["AB".index(letter(page, name))]


def letter(page: AdjudicatePage, name: str) -> str:
    return page.bench.ask(lambda project, adjudication_id: letter_of(project, adjudication_id, name))


def state(page: AdjudicatePage, words: str) -> str:
    return card_of(page, words).state.words()[0]
