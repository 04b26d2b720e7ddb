"""Empty states of the Label page: nothing to label yet, nothing left."""

from collections.abc import Callable

from annotator.actions.labelling import label_offers
from annotator.actions.labelling.label_cases import judged_by, presentation_of
from annotator.domain.judges.presentation import Presentation
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.counting import counted
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.empty_state import EmptyState

# The parts of the page on which reports are made ready for judging.
DRAWN, CITED = {"part": "Extracts"}, {"part": "Cited pages"}
BY_MATERIAL = "That is done on the Material page; the built-in judge does it without a network."
# What is lacking under any protocol → headline, words, the page that mends it, and the button's words.
LACKING = {
    "items": (
        "No items yet",
        "Reports are labelled item by item. Import a benchmark, or write the first item yourself.",
        "Items", "Go to Items",
    ),
    "assignments": (
        "Nothing is assigned to you to label",
        "You have other assignments. Ask the coordinator if you expected reports here.",
        "Author", "Go to Author",
    ),
    "responses": (
        "No reports yet",
        "Import the reports of the systems under test. They are shown here without system names.",
        "Import", "Import reports…",
    ),
    "rivals": (
        "No two reports to compare",
        "Reports are compared in pairs: an item needs reports by two systems, of the same trial and mode.",
        "Import", "Import reports…",
    ),
    "writing": (
        "First write your own",
        "The gold of these items stays hidden until you have submitted yours. Then you can label their "
        "reports here.",
        "Author", "Go to Author",
    ),
    "citations": (
        "No claim cites a source",
        "Only claims that cite a page can be checked. Review the extracted claims on the Material page.",
        "Material", "Go to Material",
    ),
    "pages": (
        "No cited page was fetched",
        "Claims are checked against a snapshot of the page they cite. Fetch the pages on the Material page.",
        "Material", "Go to Material",
    ),
}  # fmt: skip


def way_to_mend(protocol: str) -> tuple[str, dict[str, str]]:
    """The page, and the place on it, where what cannot be asked although the rest can is made good."""
    page = presentation_of(protocol).mended_on
    return page, DRAWN if page == "Material" else {}


def needs(protocol: str) -> str:
    """What an item needs before anything of it can be asked about, or what else can be done."""
    kind = judged_by(protocol)
    if kind is None:
        return "Choose another kind of question above."
    return f"It needs a report and submitted {KINDS[kind].units}."


def nothing_yet(desk: Desk, protocol: str, lacking: str) -> EmptyState:
    """What must come first, with the way there."""
    headline, words, page, button = LACKING.get(lacking) or _lacking(protocol, lacking)
    empty = EmptyState("label", headline, words)
    place = (CITED if lacking == "pages" else DRAWN) if page == "Material" else {}
    empty.add_action(button, lambda: desk.go(page, **place), primary=True)
    return empty


def _lacking(protocol: str, lacking: str) -> tuple[str, str, str, str]:
    """The same where a kind of artifact is lacking, a part of the reports, or something of the protocol's own."""
    if lacking in set(Kind):
        spec = KINDS[Kind(lacking)]
        words = f"Reports are labelled by {spec.units} that are submitted on the Author page."
        return f"No {spec.title.lower()} to label by", words, "Author", "Go to Author"
    if lacking.startswith(label_offers.DRAWN):
        drawn = ResponsePart(lacking.removeprefix(label_offers.DRAWN)).drawn
        return f"No {drawn} from any report", BY_MATERIAL, "Material", "Go to Material"
    shown = presentation_of(protocol)
    return *shown.lacking, shown.mended_on, f"Go to {shown.mended_on}"


class LabellingDone(EmptyState):
    """Every report is labelled; suggests what to do next."""

    def __init__(
        self,
        again: Callable[[], object],
        unsure: Callable[[], object],
        submit: Callable[[], object],
        desk: Desk,
    ) -> None:
        super().__init__("check", "All labelled")
        self._unsure = self.add_action("Review the unsure ones", unsure)
        self.add_action("Go through them again", again)
        self._results = self.add_action("See the results", lambda: desk.go("Results"))
        self._submit = self.add_action("Submit", submit, primary=True)

    def show_counts(
        self, called: Presentation, lines: int, units: int, unsure: int, unsubmitted: int
    ) -> None:
        """Say how much was done, how much of it is unsure, and of how many items it is still to be submitted."""
        where = f" in {counted(lines, called.line)}" if called.line != called.one else ""
        done = f"{called.counted(units)}{where}. Thank you."
        about = " They count as missing, never as an answer." if unsure else ""
        said = f" {unsure:,} {'is' if unsure == 1 else 'are'} marked unsure.{about}" if unsure else ""
        items = counted(unsubmitted, "item")
        waits = f" The labels of {items} are not submitted yet, and do not count." if unsubmitted else ""
        over = "All labelled" if unsubmitted else "All labelled and submitted"
        self.show_words(over, f"{done}{said}{waits}")
        self._submit.setText(f"Submit the labels of {items}")
        self._submit.setVisible(unsubmitted > 0)
        theme.set_role(self._results, role="" if unsubmitted else "primary")
        self._unsure.setVisible(unsure > 0)
