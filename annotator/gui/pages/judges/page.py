"""The page of judges: seven parts over the same judges, and one run at a time that goes on whatever is in view."""

from functools import partial

from annotator.actions import people
from annotator.domain.change import Change
from annotator.domain.person import Role
from annotator.gui.desk import Desk
from annotator.gui.pages.judges.comparing import Comparing
from annotator.gui.pages.judges.costing import Costing
from annotator.gui.pages.judges.drawn_waiting import DrawnWaiting
from annotator.gui.pages.judges.drifting import Drifting
from annotator.gui.pages.judges.driver import Driver
from annotator.gui.pages.judges.prompting import Prompting
from annotator.gui.pages.judges.replies import Replies
from annotator.gui.pages.judges.roster import Roster
from annotator.gui.pages.judges.running import Running
from annotator.gui.parted_page import PartedPage

# People: coordinators who let judges work for hours on a budget. What annoys them elsewhere: errors counted as
# verdicts, no idea of money or time left, replies that cannot be read, prompts that change without a trace.
JUDGES, RUNS, REPLIES, COMPARE, PROMPTS, DRIFT, COSTS = range(7)


class JudgesPage(PartedPage):
    """A run goes on in its own process while any part, or any other page, is in view."""

    NAME = "Judges"
    ICON = "judges"
    TABS = ("Judges", "Runs", "Replies", "Compare", "Prompts", "Drift", "Costs")
    TURNS = (
        "judges_list",
        "judges_runs",
        "judges_replies",
        "judges_compare",
        "judges_prompts",
        "judges_drift",
        "judges_costs",
    )
    ABOUT = ("What do judges do?", "judges")
    DENIED = (
        "Judges are a coordinator's work",
        "Whoever labels or decides must not know what judges say of the same reports.",
    )
    AT_ONCE = frozenset({"judge", "judge_run", "prompt", "import", "item", "extract"})
    SOON = frozenset({"artifact", "judgement", "consensus", "adjudication", "labels"})

    def __init__(self, desk: Desk) -> None:
        self.driver = Driver(desk)
        self.roster, self.running = Roster(desk), Running(desk, self.driver)
        self.replies, self.comparing, self.prompting = Replies(desk), Comparing(desk), Prompting(desk)
        self.drifting, self.costing = Drifting(desk, self.driver), Costing(desk)
        super().__init__(
            desk,
            (
                self.roster, self.running, self.replies, self.comparing, self.prompting, self.drifting, self.costing,
            ),
        )  # fmt: skip
        self.driver.setParent(self)
        self.waiting = DrawnWaiting(desk)
        self.head.insertWidget(self.head.count() - 1, self.waiting)
        self.bind("drawn_waiting", self.waiting.go)
        self._listen()

    def _listen(self) -> None:
        for wanted, tab in (
            (self.roster.replies_wanted, REPLIES),
            (self.roster.run_wanted, RUNS),
            (self.roster.compare_wanted, COMPARE),
            (self.roster.checks_wanted, DRIFT),
            (self.running.replies_wanted, REPLIES),
            (self.running.prompt_wanted, PROMPTS),
            (self.running.checks_wanted, DRIFT),
            (self.running.costs_wanted, COSTS),
            (self.drifting.run_wanted, RUNS),
            (self.costing.replies_wanted, REPLIES),
            (self.costing.run_wanted, RUNS),
            (self.replies.again_wanted, RUNS),
            (self.comparing.reply_wanted, REPLIES),
        ):
            wanted.connect(partial(self.go_to, tab))

    def offered(self) -> frozenset[str]:
        """Everything to coordinators, nothing to anybody else."""
        coordinates = people.someone(self.desk.project).has(Role.COORDINATOR)
        return frozenset(self.TABS) if coordinates else frozenset()

    def on_change(self, change: Change) -> None:
        """What was drawn may wait for a person, or no longer."""
        super().on_change(change)
        if self.isVisible() and change.kind in self.AT_ONCE:
            self.waiting.fill()

    def rebind(self) -> None:
        """Take over keys that were changed, also on the button of what waits."""
        super().rebind()
        self.waiting.rebind()

    def fill(self) -> None:
        """Show the part in view and what waits as they now are."""
        super().fill()
        self.waiting.fill()

    def stop(self) -> None:
        """End a run before the window closes; what is finished is kept."""
        self.driver.stop()
        super().stop()
