"""The Judges page: six tabs, and one run at a time that continues whichever is in view."""

from annotator.gui.pages.judges.run_form import Driver
from annotator.gui.session.page import PartedPage, Tab
from annotator.gui.session.session import ProjectSession

HERE = "annotator.gui.pages.judges"


# People: coordinators who let judges work for hours on a budget. What annoys them elsewhere: errors counted as
# verdicts, no idea of money or time left, replies that cannot be read, prompts that change without a trace.
class JudgesPage(PartedPage):
    """The Judges page; a run continues in its own process whichever tab or page is in view."""

    NAME = "Judges"
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
    OPEN = ()
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

    roster = Tab(f"{HERE}.roster", "JudgesPart")
    running = Tab(f"{HERE}.runs", "RunsPart", "driver")
    replies = Tab(f"{HERE}.replies", "RepliesPart")
    comparing = Tab(f"{HERE}.comparing", "CompareViewer")
    prompting = Tab(f"{HERE}.prompts", "PromptsPart")
    costing = Tab(f"{HERE}.comparing", "CostsViewer")
