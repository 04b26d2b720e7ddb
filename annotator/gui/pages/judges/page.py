"""The Judges page: six tabs, and one run at a time that continues whichever is in view."""

from functools import cached_property, partial
from typing import Any, TypeVar

from annotator.actions.items import drawn_parts
from annotator.actions.project import people
from annotator.domain.experts.person import Role
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.desk.parted_page import PartedPage
from annotator.gui.pages.judges.comparing import ComparingPart
from annotator.gui.pages.judges.costing import CostsPart
from annotator.gui.pages.judges.prompts.part import PromptsPart
from annotator.gui.pages.judges.replies import RepliesPart
from annotator.gui.pages.judges.roster.part import JudgesPart
from annotator.gui.pages.judges.runs.driver import Driver
from annotator.gui.pages.judges.runs.part import RunsPart
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.icons import put

ACT = "drawn_waiting"


class DrawnWaiting(KeyButton):
    """A button with the number of waiting extracts; hidden when there are none."""

    def __init__(self, desk: Desk) -> None:
        super().__init__("", keys.sequences(ACT)[0], "quiet")
        self._desk = desk
        self._waiting: dict[str, int] = {}
        put(self, "question", color="state-unconfirmed")
        self.clicked.connect(self.go)
        self.hide()

    def fill(self) -> None:
        self._desk.ask_later(self._found, drawn_parts.waiting)

    def go(self) -> None:
        """Show what waits, of the kind of which most does."""
        if self._waiting:
            most = max(self._waiting, key=lambda kind: self._waiting[kind])
            self._desk.go("Material", part="Extracts", waiting=most)

    def rebind(self) -> None:
        self.set_key(keys.sequences(ACT)[0])

    def _found(self, waiting: dict[str, int]) -> None:
        self._waiting = waiting
        many = sum(waiting.values())
        said = ", ".join(f"{kind} {count:,}" for kind, count in sorted(waiting.items()))
        self.set_words(f"{counted(many, 'extract')} to confirm")
        self.set_hint(f"Extracted by a judge or imported, not yet reviewed: {said}")
        self.setVisible(many > 0)


# People: coordinators who let judges work for hours on a budget. What annoys them elsewhere: errors counted as
# verdicts, no idea of money or time left, replies that cannot be read, prompts that change without a trace.
JUDGES, RUNS, REPLIES, COMPARE, PROMPTS, COSTS = range(6)
# Where a part leads: its signal, and the tab that is opened.
WANTED = (
    (JUDGES, "replies_wanted", REPLIES),
    (JUDGES, "run_wanted", RUNS),
    (RUNS, "replies_wanted", REPLIES),
    (RUNS, "prompt_wanted", PROMPTS),
    (RUNS, "costs_wanted", COSTS),
    (COSTS, "replies_wanted", REPLIES),
    (COSTS, "run_wanted", RUNS),
    (REPLIES, "again_wanted", RUNS),
    (COMPARE, "reply_wanted", REPLIES),
)
P = TypeVar("P", bound=PagePart)


class JudgesPage(PartedPage):
    """A run continues in its own process whichever tab or page is in view."""

    NAME = "Judges"
    ICON = "judges"
    TABS = ("Judges", "Runs", "Replies", "Compare", "Prompts", "Costs")
    PARTS = ("roster", "running", "replies", "comparing", "prompting", "costing")
    TURNS = (
        "judges_list",
        "judges_runs",
        "judges_replies",
        "judges_compare",
        "judges_prompts",
        "judges_costs",
    )
    ABOUT = ("What do judges do?", "judges")
    DENIED = (
        "Judges are for coordinators",
        "People who label or adjudicate must not know judges' verdicts on the same reports.",
    )
    AT_ONCE = frozenset({"judge", "judge_run", "prompt", "import", "item", "extract"})
    HEARS = AT_ONCE | frozenset({"artifact", "judgement", "consensus", "adjudication", "labels"})

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.driver = Driver(desk, self)
        self.waiting = DrawnWaiting(desk)
        self.head.insertWidget(self.head.count() - 1, self.waiting)
        self.bind("drawn_waiting", self.waiting.go)

    def put(self, tab: int, part: P) -> P:
        """Put a part into its tab, and open others where it leads."""
        for source, signal, target in WANTED:
            if source == tab:
                wanted: Any = getattr(part, signal)
                wanted.connect(partial(self.go_to, target))
        return super().put(tab, part)

    @cached_property
    def roster(self) -> JudgesPart:
        return self.put(JUDGES, JudgesPart(self.desk))

    @cached_property
    def running(self) -> RunsPart:
        return self.put(RUNS, RunsPart(self.desk, self.driver))

    @cached_property
    def replies(self) -> RepliesPart:
        return self.put(REPLIES, RepliesPart(self.desk))

    @cached_property
    def comparing(self) -> ComparingPart:
        return self.put(COMPARE, ComparingPart(self.desk))

    @cached_property
    def prompting(self) -> PromptsPart:
        return self.put(PROMPTS, PromptsPart(self.desk))

    @cached_property
    def costing(self) -> CostsPart:
        return self.put(COSTS, CostsPart(self.desk))

    def offered(self) -> frozenset[str]:
        coordinates = people.someone(self.desk.project).has(Role.COORDINATOR)
        return frozenset(self.TABS) if coordinates else frozenset()

    def on_change(self, change: Change) -> None:
        """What was drawn may wait for a person, or no longer."""
        super().on_change(change)
        if change.kind in self.AT_ONCE:
            self.waiting.fill()

    def rebind(self) -> None:
        """Take over keys that were changed, also on the button of what waits."""
        super().rebind()
        self.waiting.rebind()

    def fill(self) -> None:
        """Show the part in view and what waits as they now are."""
        super().fill()
        self.waiting.fill()
