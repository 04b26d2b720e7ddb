"""The page of validation: may a judge stand in for people, on which criteria, at what price, and how sure is that?"""

from annotator.actions import people
from annotator.domain.person import Role
from annotator.gui.desk import Desk
from annotator.gui.pages.validate.attacking import Attacking
from annotator.gui.pages.validate.cards import Cards
from annotator.gui.pages.validate.faults import ONCE
from annotator.gui.pages.validate.figures import Figures
from annotator.gui.pages.validate.reviewing import Reviewing
from annotator.gui.pages.validate.ruling import Ruling
from annotator.gui.pages.validate.sets import Sets
from annotator.gui.parted_page import PartedPage

# People: a careful statistician who must defend a judge in print, and experts who look at its verdicts. What annoys
# them elsewhere: agreement without the human ceiling, one class called perfect, rulings that quietly become labels,
# and no way from a figure to the case behind it.
SETS, FIGURES, RULING, REVIEW, ATTACKS, CARDS = range(6)


class ValidatePage(PartedPage):
    """Reviews are for every expert; everything else shows judges beside people, which coordinators alone are shown."""

    NAME = "Validate"
    ICON = "validate"
    TABS = ("Sets", "Figures", "Disagreements", "Reviews", "Attacks", "Cards")
    TURNS = (
        "validate_sets",
        "validate_figures",
        "validate_ruling",
        "validate_reviews",
        "validate_attacks",
        "validate_cards",
    )
    ABOUT = ("How is a judge validated?", "validation")
    DENIED = (
        "Validation is a coordinator's work",
        "Whoever labels must not know what judges say of the same reports.",
    )
    AT_ONCE = frozenset({"validation set", "informed"})
    SOON = frozenset(
        {
            "judge",
            "judge_run",
            "judgement",
            "labels",
            "import",
            "item",
            "artifact",
            "person",
            "attack",
            "family",
        }
    )

    def __init__(self, desk: Desk) -> None:
        self.sets, self.figures, self.ruling = Sets(desk), Figures(desk), Ruling(desk)
        self.reviewing, self.attacking, self.cards = Reviewing(desk), Attacking(desk), Cards(desk)
        super().__init__(
            desk, (self.sets, self.figures, self.ruling, self.reviewing, self.attacking, self.cards)
        )
        for shortcut in (one for act in ONCE for one in self._shortcuts[act]):
            shortcut.setAutoRepeat(False)

    def offered(self) -> frozenset[str]:
        """Everything to coordinators, reviews to every other expert."""
        person = people.someone(self.desk.project)
        if person.has(Role.COORDINATOR):
            return frozenset(self.TABS)
        return frozenset({self.TABS[REVIEW]} if any(person.has(role) for role in Role) else ())
