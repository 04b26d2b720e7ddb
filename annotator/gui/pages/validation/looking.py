"""Looks at the test part of a set: confirmed before it is shown, because each is counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import ViewChoice
from annotator.actions.sets import set_looks
from annotator.actions.sets.set_looks import SetLook
from annotator.actions.studies.result_views import CountedView, ResultView, offered
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui.views import counting
from annotator.gui.views.counting import Refused
from annotator.gui.widgets.basics import vertical
from annotator.gui.widgets.empty_state import EmptyState

WIDE = 600
RULE = (
    "Anyone who tunes a judge or its prompt on the dev part must report how often the test part was viewed. "
    "So each view is counted and shown beside the figures. One view covers all tables and choices, until "
    "this window is closed, a label changes, or a judge gives new verdicts on these reports."
)


@dataclass(frozen=True, slots=True)
class CountedLook:
    """A look counted in this window: what it showed, and its id."""

    seen: SetLook
    opening: str


@dataclass(frozen=True, slots=True)
class ClosedTestPart:
    """A view of the test part that was not opened yet."""

    view: str
    seen: SetLook
    choices: tuple[ViewChoice, ...]
    chosen: Mapping[str, str]


def shown(
    project: Project, among: tuple[ResultView, ...], name: str, chosen: Mapping[str, str], kept: Any,
    looks: Mapping[str, CountedLook],
) -> CountedView | Refused | ClosedTestPart:  # fmt: skip
    """A view with its choices; what shows the test part, only under a look that was counted and still covers it."""
    try:
        choices, fitting = offered(project, name, chosen, among)
        if not set_looks.is_closed(fitting.get("set", ""), fitting.get("part", "")):
            return counting.shown(project, among, name, chosen, kept)
        seen = set_looks.seen(project, fitting["set"])
    except Refusal as refusal:
        return counting.refused(project, among, name, chosen, refusal)
    look = looks.get(seen.set_id)
    if look is None or not set_looks.covers(look.seen, seen):
        return ClosedTestPart(name, seen, choices, fitting)
    return counting.shown(project, among, name, {**chosen, "opening": look.opening}, kept)


def _apart(name: str) -> str:
    return f"\u2068{name}\u2069"


class TestPartGate(QWidget):
    """Explains opening the test part, and asks for confirmation."""

    opened = Signal()
    declined = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = EmptyState("eye", "Open the test part?", width=WIDE)
        self.stay = self.words.add_action("Stay with the dev part", self.declined.emit, primary=True)
        self.open = self.words.add_action("Open", self.opened.emit)
        vertical(self.words, on=self, margins=0)
        self.setFocusProxy(self.stay)

    def ask(self, seen: SetLook) -> None:
        before = f"It was viewed {counted(seen.openings, 'time')}." if seen.openings else (
            "Nobody has viewed it yet."
        )  # fmt: skip
        judges = f" This view shows {', '.join(map(_apart, seen.judges))}." if seen.judges else ""
        self.words.show_words(f"Open the test part of {_apart(seen.name)}?", f"{before}{judges} {RULE}")
        self.open.setText(f"Open it: look {seen.openings + 1:,}")
