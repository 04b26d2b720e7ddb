"""Judges compared with people; the test part is confirmed before it is shown, because each look is counted."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from annotator.actions.project.file import Project
from annotator.actions.sets import validation_ground, validation_sets
from annotator.actions.sets.validation_ground import ClosedTestPart, SetLook
from annotator.actions.studies.result_views import CountedView, ResultView, offered
from annotator.actions.validation.validation_views import VIEWS
from annotator.domain.common import Change, Refusal, counted, in_window
from annotator.domain.judges.validation import Opening, Split
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.views import view_pane
from annotator.gui.views.view_pane import Refused
from annotator.gui.views.viewer import Lead, Viewer
from annotator.gui.widgets.basics import vertical
from annotator.gui.widgets.chips import EmptyState

WIDE = 600
RULE = (
    "Anyone who tunes a judge or its prompt on the dev part must report how often the test part was viewed. "
    "So each view is counted and shown beside the figures. One view covers all tables and choices, until "
    "this window is closed, a label changes, or a judge gives new verdicts on these reports."
)


NO_CHOICE: Mapping[str, Any] = MappingProxyType({})


def opened(project: Project, set_name: str, part: str, looks: Mapping[str, SetLook]) -> str:
    """The id of the counted look that covers a part of a set, empty if it needs none; raises ClosedTestPart."""
    if not validation_ground.is_closed(set_name, part):
        return ""
    seen = validation_ground.seen(project, set_name)
    look = looks.get(seen.set_id)
    if look is None or not validation_ground.covers(look, seen):
        raise ClosedTestPart(seen)
    return look.opening


def shown(
    project: Project, among: tuple[ResultView, ...] = VIEWS, name: str = VIEWS[0].name,
    chosen: Mapping[str, str] = NO_CHOICE, computed: Any = None, looks: Mapping[str, SetLook] = NO_CHOICE,
) -> CountedView | Refused:  # fmt: skip
    """A view with its choices; of the test part only under a counted look that still covers it."""
    try:
        _, fitting = offered(project, name, chosen, among)
        opening = opened(project, fitting.get("set", ""), fitting.get("part", ""), looks)
    except Refusal as refusal:
        return view_pane.refused(project, among, name, chosen, refusal)
    more = {"opening": opening} if opening else {}
    return view_pane.shown(project, among, name, {**chosen, **more}, computed)


def _apart(name: str) -> str:
    return f"\u2068{name}\u2069"


class TestPartGate(Pane):
    """Asks before a test part is opened, and counts the look; `looks` are those counted here, by set."""

    def __init__(
        self, session: ProjectSession, opened: Callable[[], object], declined: Callable[[], object]
    ) -> None:
        super().__init__(session)
        self._opened = opened
        self._seen: SetLook | None = None
        self.looks: dict[str, SetLook] = {}
        self.words = EmptyState("eye", "Open the test part?", width=WIDE)
        self.stay = self.words.add_action("Stay with the dev part", declined, primary=True)
        self.open = self.words.add_action("Open", self._open)
        vertical(self.words, on=self, margins=0)
        self.setFocusProxy(self.stay)

    def ask(self, seen: SetLook) -> None:
        self._seen = seen
        before = f"It was viewed {counted(seen.openings, 'time')}." if seen.openings else (
            "Nobody has viewed it yet."
        )  # fmt: skip
        judges = f" This view shows {', '.join(map(_apart, seen.judges))}." if seen.judges else ""
        self.words.show_words(f"Open the test part of {_apart(seen.name)}?", f"{before}{judges} {RULE}")
        self.open.setText(f"Open it: look {seen.openings + 1:,}")

    def _open(self) -> None:
        seen = self._seen
        opening = self.session.do(validation_sets.open_test, seen.set_id, seen.judges) if seen else None
        if seen is not None and isinstance(opening, Opening):
            self._seen, self.looks[seen.set_id] = None, replace(seen, opening=opening.id)
            # Other pages show how often the test part was looked at.
            self.session.tell(Change(validation_sets.NAME, seen.set_id, OPENED))
            self._opened()


# Kinds of change that may affect figures.
MOVING = frozenset({
    "adjudication", "artifact", "attack", "import", "informed", "item", "judge", "judge_run", "judgement", "labels",
    "parcel", "person", "setting", "tray", validation_sets.NAME,
})  # fmt: skip
TELLING = frozenset({"against", "judge", "protocol", "set"})
OPENED = "open the test part"
SET_FIGURES = ("Draw a set to label", "Validate", {"part": "Sets"})
LEADS: dict[str, Lead] = {
    "rulings": ("Rule on disagreements", "Validate", {"part": "Disagreements"}),
    "reviews": ("Review verdicts", "Validate", {"part": "Reviews"}),
}


class ValidationViewer(Viewer):
    """Views of validation; counted looks are remembered until the window closes."""

    ICON = "validate"
    OTHERWISE = ("Run a judge", "Judges", {})
    UNMOVED_BY = (validation_sets.NAME, OPENED)

    def __init__(self, session: ProjectSession) -> None:
        self.gate = TestPartGate(session, self._count, lambda: self.choosers.choose("part", Split.DEV.value))
        super().__init__(session, VIEWS, "validation", "Judges beside people", MOVING)
        self.body.addWidget(self.gate)

    def lead(self, view: ResultView) -> Lead:
        """The page where labels, rulings or reviews are made; for replies, Judges."""
        if view.page == "Label":
            return LEADS.get(view.name, SET_FIGURES)
        return super().lead(view)

    def question(self) -> Callable[..., Any]:
        return partial(shown, looks=dict(self.gate.looks))

    def refuse(self, refused: Any) -> None:
        """Ask before the test part is opened; for any other refusal, show what is still to be done."""
        if isinstance(refused.refusal, ClosedTestPart):
            self.gate.ask(refused.refusal.seen)
            self.show_body(self.gate)
            self.gate.setFocus()
            return
        words = in_window(f"{refused.refusal.happened} {refused.refusal.todo}")
        self.show_empty("Nothing to show here yet", words)
        # Without anything to compare, other choices would only be in the way.
        telling = [choice for choice in refused.choices if choice.name in TELLING and len(choice.values) > 1]
        self.choosers.setVisible(bool(telling))

    def focus_first(self) -> None:
        if self.body.currentWidget() is self.gate:
            self.gate.setFocus()
        else:
            super().focus_first()
