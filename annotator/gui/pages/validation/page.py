"""The Validate page: may a judge stand in for people, on which criteria, at what price, and how certainly?"""

import sys
from importlib import import_module
from typing import Any

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Role
from annotator.gui.pages.validation.case_cards import ONCE
from annotator.gui.session.page import PartedPage, Tab

# People: a careful statistician who must defend a judge in print, and experts who look at its verdicts. What annoys
# them elsewhere: agreement without the human ceiling, one class called perfect, rulings that quietly become labels,
# and no way from a figure to the case behind it.
COUNTS = "annotator.actions.validation.validity_cards"
HERE = "annotator.gui.pages.validation"
REVIEWS = "Reviews"
# Module → the first query of its part; the queries these run are cached for all parts.
FIRST_LOOKS = {"figures": "shown", "ruling": "look", "reviewing": "look"}


class ValidatePage(PartedPage):
    """The Validate page: reviews are for every expert, everything else for coordinators only.

    The modules that compute are loaded with the part that shows their results.
    """

    NAME = "Validate"
    ONCE = ONCE
    TABS = ("Sets", "Figures", "Disagreements", REVIEWS, "Attacks", "Cards")
    PARTS = ("sets", "figures", "ruling", "reviewing", "attacking", "cards")
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
        "Validation is for coordinators",
        "People who label must not know judges' verdicts on the same reports.",
    )
    AT_ONCE = frozenset({"validation set", "informed"})
    HEARS = AT_ONCE | frozenset(
        {
            "judge",
            "judge_run",
            "judgement",
            "setting",
            "labels",
            "import",
            "item",
            "artifact",
            "person",
            "attack",
            "family",
        }
    )

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the current state; the first time, prepare the parts' first queries in the background."""
        super().navigate(place)
        if COUNTS not in sys.modules:
            self.session.prepare(_load)
            for module, question in FIRST_LOOKS.items():
                self.session.prepare(_look, module, question)

    sets = Tab(f"{HERE}.set_part", "SetsPart")
    figures = Tab(f"{HERE}.figures", "ValidationViewer")
    ruling = Tab(f"{HERE}.ruling", "RulingPart")
    reviewing = Tab(f"{HERE}.reviewing", "ReviewsPart")
    attacking = Tab(f"{HERE}.attack_part", "AttacksPart")
    cards = Tab(f"{HERE}.card_part", "ValidityCards")

    def offered(self) -> frozenset[str]:
        person = people.someone(self.session.project)
        if person.has(Role.COORDINATOR):
            return frozenset(self.TABS)
        return frozenset({REVIEWS} if any(person.has(role) for role in Role) else ())


def _load(_project: Project) -> None:
    """Import the module that computes, on the other thread: its libraries take a while."""
    import_module(COUNTS)


def _look(project: Project, module: str, question: str) -> None:
    getattr(import_module(f"{HERE}.{module}"), question)(project)
