"""The Judges page: six tabs, and one run at a time that continues whichever is in view."""

from annotator.actions.items import extracts
from annotator.actions.project import people
from annotator.domain.experts.assignment import Role
from annotator.domain.texts.canonical import Change
from annotator.domain.texts.words import counted
from annotator.gui.pages.judges.run_form import Driver
from annotator.gui.session.page import PartedPage, Tab
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.chips import put

ACT = "drawn_waiting"
HERE = "annotator.gui.pages.judges"


class DrawnWaiting(KeyButton):
    """A button with the number of waiting extracts; hidden when there are none."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__("", act=ACT, role="quiet")
        self._session = session
        self._waiting: dict[str, int] = {}
        put(self, "question", color="state-unconfirmed")
        self.clicked.connect(self.go)
        self.hide()

    def fill(self) -> None:
        self._session.ask_later(self._found, extracts.waiting)

    def go(self) -> None:
        if self._waiting:
            most = max(self._waiting, key=lambda kind: self._waiting[kind])
            self._session.go("Material", part="Extracts", waiting=most)

    def _found(self, waiting: dict[str, int]) -> None:
        self._waiting = waiting
        many = sum(waiting.values())
        said = ", ".join(f"{kind} {count:,}" for kind, count in sorted(waiting.items()))
        self.set_words(f"{counted(many, 'extract')} to confirm")
        self.set_hint(f"Extracted by a judge or imported, not yet reviewed: {said}")
        self.setVisible(many > 0)


# People: coordinators who let judges work for hours on a budget. What annoys them elsewhere: errors counted as
# verdicts, no idea of money or time left, replies that cannot be read, prompts that change without a trace.


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

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.driver = Driver(session, self)
        self.waiting = DrawnWaiting(session)
        self.head.addWidget(self.waiting)
        self._top.show()
        self.bind("drawn_waiting", self.waiting.go)

    roster = Tab(f"{HERE}.roster", "JudgesPart")
    running = Tab(f"{HERE}.runs", "RunsPart", "driver")
    replies = Tab(f"{HERE}.replies", "RepliesPart")
    comparing = Tab(f"{HERE}.comparing", "ComparingPart")
    prompting = Tab(f"{HERE}.prompts", "PromptsPart")
    costing = Tab(f"{HERE}.comparing", "CostsPart")

    def offered(self) -> frozenset[str]:
        coordinates = people.someone(self.session.project).has(Role.COORDINATOR)
        return frozenset(self.TABS) if coordinates else frozenset()

    def on_change(self, change: Change) -> None:
        """What was drawn may wait for a person, or no longer."""
        super().on_change(change)
        if change.kind in self.AT_ONCE:
            self.waiting.fill()

    def fill(self) -> None:
        super().fill()
        self.waiting.fill()
