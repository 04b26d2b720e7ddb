"""The test part of a set: asked for in plain words before it is shown, because each look is counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import Choice
from annotator.actions.sets import validation_looks
from annotator.actions.sets.validation_looks import Seen
from annotator.actions.studies.result_views import Shown, View, offered
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui.views import counting
from annotator.gui.views.counting import Refused
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.layouts import vertical

WIDE = 600
RULE = (
    "Anyone who tunes a judge or its prompt on the dev part must report how often the test part was viewed. "
    "So each view is counted and shown beside the figures. One view covers all tables and choices, until "
    "this window is closed, a label changes, or a judge gives new verdicts on these reports."
)


@dataclass(frozen=True, slots=True)
class Look:
    """A look that was counted in this window: what was to be seen then, and the id it was counted under."""

    seen: Seen
    opening: str


@dataclass(frozen=True, slots=True)
class Closed:
    """A view that would show the test part, before that was asked for."""

    view: str
    seen: Seen
    choices: tuple[Choice, ...]
    chosen: Mapping[str, str]


def shown(
    project: Project, among: tuple[View, ...], name: str, chosen: Mapping[str, str], kept: Any,
    looks: Mapping[str, Look],
) -> Shown | Refused | Closed:  # fmt: skip
    """A view with its choices; what shows the test part, only under a look that was counted and still covers it."""
    try:
        choices, fitting = offered(project, name, chosen, among)
        if not validation_looks.is_closed(fitting.get("set", ""), fitting.get("part", "")):
            return counting.shown(project, among, name, chosen, kept)
        seen = validation_looks.seen(project, fitting["set"])
    except Refusal as refusal:
        return counting.refused(project, among, name, chosen, refusal)
    look = looks.get(seen.set_id)
    if look is None or not validation_looks.covers(look.seen, seen):
        return Closed(name, seen, choices, fitting)
    return counting.shown(project, among, name, {**chosen, "opening": look.opening}, kept)


def _apart(name: str) -> str:
    """A name that keeps its direction to itself."""
    return f"\u2068{name}\u2069"


class Gate(QWidget):
    """Says what opening the test part means, and asks whether to."""

    opened = Signal()
    declined = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = EmptyState("eye", "Open the test part?", width=WIDE)
        self.stay = self.words.add_action("Stay with the dev part", self.declined.emit, primary=True)
        self.open = self.words.add_action("Open", self.opened.emit)
        vertical(self.words, on=self, margins=0)
        self.setFocusProxy(self.stay)

    def ask(self, seen: Seen) -> None:
        """Ask about a set."""
        before = f"It was viewed {counted(seen.openings, 'time')}." if seen.openings else (
            "Nobody has viewed it yet."
        )  # fmt: skip
        judges = f" This view shows {', '.join(map(_apart, seen.judges))}." if seen.judges else ""
        self.words.show_words(f"Open the test part of {_apart(seen.name)}?", f"{before}{judges} {RULE}")
        self.open.setText(f"Open it: look {seen.openings + 1:,}")
