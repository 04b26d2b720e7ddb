"""What the page shows when there is nothing to label yet, or nothing left."""

from collections.abc import Callable

from annotator.domain.counting import counted
from annotator.gui import theme
from annotator.gui.desk import Desk
from annotator.gui.widgets.empty_state import EmptyState

# What is lacking → headline, words, the page that mends it, and the button's words.
LACKING = {
    "items": (
        "No items yet",
        "Reports are labelled item by item. Import a benchmark, or write the first item yourself.",
        "Items",
        "Go to Items",
    ),
    "assignments": (
        "Nothing is assigned to you to label",
        "What was assigned to you is other work. Ask the coordinator if you expected reports here.",
        "Author",
        "Go to Author",
    ),
    "responses": (
        "No reports yet",
        "Import the reports of the systems under test. They are shown here without their names.",
        "Import",
        "Import reports…",
    ),
    "rubric": (
        "No rubric to label by",
        "A report is labelled by the criteria of a submitted rubric. Submit a rubric on the Author page first.",
        "Author",
        "Go to Author",
    ),
}


def nothing_yet(desk: Desk, lacking: str) -> EmptyState:
    """What must come first, with the way there."""
    headline, words, page, button = LACKING[lacking]
    empty = EmptyState("label", headline, words)
    empty.add_action(button, lambda: desk.go(page), primary=True)
    return empty


class AllDone(EmptyState):
    """Every report is labelled: said quietly, with what may come next."""

    def __init__(
        self,
        again: Callable[[], object],
        unsure: Callable[[], object],
        submit: Callable[[], object],
        desk: Desk,
    ) -> None:
        super().__init__("check", "All labelled")
        self._unsure = self.add_action("Look at the unsure ones", unsure)
        self.add_action("Go through them again", again)
        self._results = self.add_action("See the results", lambda: desk.go("Results"))
        self._submit = self.add_action("Submit", submit, primary=True)

    def show_counts(self, reports: int, criteria: int, unsure: int, unsubmitted: int) -> None:
        """Say how much was done, how much of it is unsure, and of how many items it is still to be submitted."""
        done = f"{criteria:,} criteria in {reports:,} {'report' if reports == 1 else 'reports'}. Thank you."
        about = " They count as missing, never as not met." if unsure else ""
        said = f" {unsure:,} {'is' if unsure == 1 else 'are'} marked unsure.{about}" if unsure else ""
        items = counted(unsubmitted, "item")
        waits = f" The labels of {items} are not submitted yet." if unsubmitted else ""
        self.show_words(
            "All labelled" if unsubmitted else "All labelled and submitted", f"{done}{said}{waits}"
        )
        self._submit.setText(f"Submit the labels of {items}")
        self._submit.setVisible(unsubmitted > 0)
        theme.set_role(self._results, role="" if unsubmitted else "primary")
        self._unsure.setVisible(unsure > 0)
