"""The Contest page: pairs to rank, and for coordinators a judge's rounds and the standings to keep tasks from."""

from collections.abc import Callable
from functools import cached_property

from PySide6.QtWidgets import QWidget

from annotator.actions.project import people
from annotator.domain.experts.person import Role
from annotator.gui.desk.parted_page import PartedPage
from annotator.gui.pages.contest.keeping import KeepingPart
from annotator.gui.pages.contest.ranking import RankingPart
from annotator.gui.pages.contest.rounds import RoundsPart

RANK, COMPARE, KEEP = range(3)


class ContestPage(PartedPage):
    """Whoever ranks sees no standing; who decides what is kept sees them all."""

    NAME = "Contest"
    ICON = "judges"
    TABS = ("Rank", "Compare", "Keep")
    PARTS = ("ranking", "comparing", "keeping")
    TURNS = ("contest_rank", "contest_compare", "contest_keep")
    ABOUT = ("What is a contest?", "seminar")
    DENIED = ("Contest of tasks", "")
    AT_ONCE = frozenset({"contest", "item", "import"})
    HEARS = AT_ONCE | frozenset({"artifact", "consensus", "adjudication", "judge"})

    @cached_property
    def ranking(self) -> RankingPart:
        return self.put(RANK, RankingPart(self.desk))

    @cached_property
    def comparing(self) -> RoundsPart:
        return self.put(COMPARE, RoundsPart(self.desk))

    @cached_property
    def keeping(self) -> KeepingPart:
        return self.put(KEEP, KeepingPart(self.desk))

    def bind(self, act: str, slot: Callable[[], object], widget: QWidget | None = None) -> None:
        super().bind(act, slot, widget)
        for shortcut in self._shortcuts[act]:
            shortcut.setAutoRepeat(False)

    def offered(self) -> frozenset[str]:
        coordinates = people.someone(self.desk.project).has(Role.COORDINATOR)
        return frozenset(self.TABS if coordinates else self.TABS[:1])
