"""Empty states of the Adjudicate page: nothing to do yet, nothing begun, nothing left."""

from annotator.actions.adjudication.adjudicating import QueueLine
from annotator.actions.adjudication.settled import Lacking
from annotator.gui.desk.desk import Desk
from annotator.gui.review.adjudication_queue import agreement_words
from annotator.gui.widgets.empty_state import EmptyState

# What is lacking → headline, words, the page that mends it, and the button's words.
LACKING: dict[Lacking, tuple[str, str, str, str]] = {
    "role": (
        "You are not an adjudicator of this project",
        "You can adjudicate if you have the role or an item is assigned to you. Work as a person who has "
        "it, or ask the coordinator for the role.",
        "People",
        "See the team",
    ),
    "items": (
        "No items yet",
        "Two people answer each item, then a third person merges their answers into one document. Import a "
        "benchmark, or write "
        "the first item yourself.",
        "Items",
        "Go to Items",
    ),
    "answers": (
        "Nobody has submitted anything yet",
        "An item appears here once everyone assigned to it has submitted. Import returned work, or wait "
        "until the annotators finish on the Author page.",
        "Items",
        "See the items",
    ),
    "seals": (
        "No agreement is frozen yet",
        "Some work is submitted, but not by everyone assigned. Once the last one is submitted, agreement is "
        "computed and frozen, and the item appears here.",
        "Items",
        "See the items",
    ),
    "own": (
        "You have answered all of these items yourself",
        "Someone else must adjudicate them: nobody adjudicates their own answers.",
        "People",
        "See the team",
    ),
    "others": (
        "Nothing is left for you to adjudicate",
        "Every item that is ready is assigned to others, started by others, or answered by you. The "
        "coordinator can reassign an item to you.",
        "People",
        "See the team",
    ),
}


def nothing_yet(desk: Desk, lacking: Lacking) -> EmptyState:
    """What must come first, with the way there."""
    headline, words, page, button = LACKING[lacking]
    empty = EmptyState("adjudicate", headline, words)
    place = {"part": "Team"} if page == "People" else {}
    way = empty.add_action(button, lambda: desk.go(page, **place), primary=True)
    way.setAutoDefault(True)
    empty.setFocusProxy(way)
    return empty


class AdjudicationStart(EmptyState):
    """Conflicts wait and none is begun: the first ruling assigns one to this person."""

    def __init__(self) -> None:
        super().__init__("adjudicate", "")
        self.begin = self.add_action("Begin", _elsewhere, primary=True)
        self.begin.setAutoDefault(True)

    def show_first(self, line: QueueLine, conflicts: int) -> None:
        """Say what waits, and what comes first."""
        wait = "1 conflict waits for you" if conflicts == 1 else f"{conflicts} conflicts wait for you"
        first = f"First comes item \u2068{line.item_key}\u2069, {line.stage.value} ({agreement_words(line.agreement)})."
        masked = (
            "Letters stand for the people who wrote, shuffled for each item. Their agreement figure is "
            "frozen; your rulings do not change it."
        )
        self.show_words(wait, f"{first} {masked}")


class AdjudicationDone(EmptyState):
    """No conflict is left; suggests what to do next."""

    def __init__(self, desk: Desk) -> None:
        super().__init__("check", "No conflict is left")
        self.look = self.add_action("Check the drawn items", _elsewhere)
        self.confirm = self.add_action("Confirm the unanimous ones…", _elsewhere)
        self.release = self.add_action("Go to Release", lambda: desk.go("Release"), primary=True)
        self.release.setAutoDefault(True)
        self.setFocusProxy(self.release)

    def show_counts(self, closed: int, drawn: int, agreed: int) -> None:
        """Say how much was done, and what is not closed yet."""
        parts = [f"{closed} {'is' if closed == 1 else 'are'} closed"]
        parts += (
            [f"{agreed} unanimous {'one is' if agreed == 1 else 'ones are'} not yet confirmed"]
            if agreed
            else []
        )
        parts += [f"{drawn} {'was' if drawn == 1 else 'were'} drawn for a spot check"] if drawn else []
        self.show_words("No conflict is left", f"{'; '.join(parts)}. Thank you.")
        self.look.setVisible(drawn > 0)
        self.confirm.setVisible(agreed > 0)


def _elsewhere() -> None:
    """What the button does is connected where its doing is known."""
