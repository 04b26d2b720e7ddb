"""The page of judges: seven parts over the same judges, and one run at a time that goes on whatever is in view."""

from functools import partial
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from annotator.actions import people
from annotator.domain.change import Change
from annotator.domain.person import Role
from annotator.gui.desk import Desk
from annotator.gui.page import Page
from annotator.gui.pages.judges.comparing import Comparing
from annotator.gui.pages.judges.costing import Costing
from annotator.gui.pages.judges.drawn_waiting import DrawnWaiting
from annotator.gui.pages.judges.drifting import Drifting
from annotator.gui.pages.judges.driver import Driver
from annotator.gui.pages.judges.part import Part
from annotator.gui.pages.judges.prompting import Prompting
from annotator.gui.pages.judges.replies import Replies
from annotator.gui.pages.judges.roster import Roster
from annotator.gui.pages.judges.running import Running
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.plain import PlainLabel

# People: coordinators who let judges work for hours on a budget. What annoys them elsewhere: errors counted as
# verdicts, no idea of money or time left, replies that cannot be read, prompts that change without a trace.
TABS = ("Judges", "Runs", "Replies", "Compare", "Prompts", "Drift", "Costs")
TURNS = (
    "judges_list", "judges_runs", "judges_replies", "judges_compare", "judges_prompts", "judges_drift", "judges_costs",
)  # fmt: skip
JUDGES, RUNS, REPLIES, COMPARE, PROMPTS, DRIFT, COSTS = range(len(TABS))
AT_ONCE = frozenset({"judge", "judge_run", "prompt", "import", "item", "extract"})
SOON = frozenset({"artifact", "judgement", "consensus", "adjudication", "labels"})
SETTLE_MS = 500
DENIED = (
    "Judges are a coordinator's work",
    "Whoever labels or decides must not know what judges say of the same reports.",
)


class JudgesPage(Page):
    """Tabs; the keys act on the part in view."""

    NAME = "Judges"
    ICON = "judges"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.driver = Driver(desk, self)
        self.roster, self.running = Roster(desk), Running(desk, self.driver)
        self.replies, self.comparing, self.prompting = Replies(desk), Comparing(desk), Prompting(desk)
        self.drifting, self.costing = Drifting(desk, self.driver), Costing(desk)
        self.parts: tuple[Part, ...] = (
            self.roster,
            self.running,
            self.replies,
            self.comparing,
            self.prompting,
            self.drifting,
            self.costing,
        )
        self._later = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._later.timeout.connect(self._fill)
        self._lay_out()
        self._listen()
        self._bind()

    def _lay_out(self) -> None:
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.setAccessibleName("Parts of the page")
        for words, part in zip(TABS, self.parts, strict=True):
            self.tabs.addTab(part, words)
        self.waiting = DrawnWaiting(self.desk)
        about = QPushButton("What do judges do?")
        about.setProperty("role", "quiet")
        about.clicked.connect(lambda: self.desk.go("Help", topic="judges"))
        head = QHBoxLayout()
        head.addWidget(PlainLabel("Judges", "title"))
        head.addStretch(1)
        head.addWidget(self.waiting)
        head.addWidget(about)
        work = QWidget()
        column = QVBoxLayout(work)
        column.setContentsMargins(20, 16, 20, 12)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.tabs, 1)
        self.denied = EmptyState("lock", *DENIED)
        self.body = QStackedWidget()
        self.body.addWidget(work)
        self.body.addWidget(self.denied)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.body)

    def _listen(self) -> None:
        self.tabs.currentChanged.connect(lambda _: self._fill())
        self.roster.replies_wanted.connect(partial(self._go, REPLIES))
        self.roster.run_wanted.connect(partial(self._go, RUNS))
        self.roster.compare_wanted.connect(partial(self._go, COMPARE))
        self.roster.checks_wanted.connect(partial(self._go, DRIFT))
        self.running.replies_wanted.connect(partial(self._go, REPLIES))
        self.running.prompt_wanted.connect(partial(self._go, PROMPTS))
        self.running.checks_wanted.connect(partial(self._go, DRIFT))
        self.running.costs_wanted.connect(partial(self._go, COSTS))
        self.drifting.run_wanted.connect(partial(self._go, RUNS))
        self.costing.replies_wanted.connect(partial(self._go, REPLIES))
        self.costing.run_wanted.connect(partial(self._go, RUNS))
        self.replies.again_wanted.connect(partial(self._go, RUNS))
        self.comparing.reply_wanted.connect(partial(self._go, REPLIES))

    def _bind(self) -> None:
        for act in sorted({act for part in self.parts for act in part.acts}):
            self.bind(act, partial(self._act, act))
        for place, act in enumerate(TURNS):
            self.bind(act, partial(self._turn, place))
        self.bind("drawn_waiting", self.waiting.go)
        self.bind("other_pane", lambda: self._turn((self.tabs.currentIndex() + 1) % len(TABS)))

    def _act(self, act: str) -> None:
        slot = self.part.acts.get(act)
        if slot is not None and self.body.currentIndex() == 0:
            slot()

    @property
    def part(self) -> Part:
        """The part in view."""
        return self.parts[self.tabs.currentIndex()]

    def arrive(self, place: dict[str, Any]) -> None:
        """Show everything as it now is; `part` opens a tab by its name, the rest is for that part."""
        coordinates = people.someone(self.desk.project).has(Role.COORDINATOR)
        self.body.setCurrentIndex(0 if coordinates else 1)
        if place.get("part") in TABS:
            self.tabs.setCurrentIndex(TABS.index(place["part"]))
        self._fill()
        if coordinates and place:
            self.part.go(place)

    def leave(self) -> None:
        """Keep what is being typed."""
        for part in self.parts:
            part.keep()

    def focus_first(self) -> None:
        """Work begins in the part in view."""
        self.part.focus_first()

    def on_change(self, change: Change) -> None:
        """Judges, runs and prompts that changed show at once; what people do, soon."""
        if not self.isVisible() or self.body.currentIndex() == 1:
            return
        if change.kind in AT_ONCE:
            self.waiting.fill()
            self.part.on_change(change)
        elif change.kind in SOON:
            self._later.start()

    def rebind(self) -> None:
        """Take over keys that were changed, also on the buttons."""
        super().rebind()
        self.waiting.rebind()
        for part in self.parts:
            part.rebind()

    def stop(self) -> None:
        """End a run before the window closes; what is finished is kept."""
        self._later.stop()
        self.driver.stop()
        for part in self.parts:
            part.stop()

    def _turn(self, place: int) -> None:
        self.tabs.setCurrentIndex(place)
        self.part.focus_first()

    def _go(self, tab: int, place: dict[str, Any]) -> None:
        self.tabs.setCurrentIndex(tab)
        self.part.go(place)
        self.part.focus_first()

    def _fill(self) -> None:
        self._later.stop()
        if self.body.currentIndex() == 0:
            self.waiting.fill()
            self.part.fill()
