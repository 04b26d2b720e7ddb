"""Figures tab: judges compared with people, with the rows behind every figure."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from annotator.actions.sets import validation_sets
from annotator.actions.studies.result_views import ResultView
from annotator.actions.validation.validation_views import VIEWS
from annotator.domain.judges.validation import Opening, Split
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.validation import looking
from annotator.gui.pages.validation.looking import ClosedTestPart, CountedLook, TestPartGate
from annotator.gui.views.viewer import Lead, Viewer
from annotator.gui.widgets.bars.acts_bar import ActsBar
from annotator.gui.widgets.later import later

# Changes of these kinds may move a figure.
MOVING = frozenset({
    "adjudication", "artifact", "attack", "import", "informed", "item", "judge", "judge_run", "judgement", "labels",
    "parcel", "person", "setting", "tray", validation_sets.NAME,
})  # fmt: skip
TELLING = frozenset({"against", "judge", "protocol", "set"})
OPENED = "open the test part"
SETS = ("Draw a set to label", "Validate", {"part": "Sets"})
LEADS: dict[str, Lead] = {
    "rulings": ("Rule on disagreements", "Validate", {"part": "Disagreements"}),
    "reviews": ("Review verdicts", "Validate", {"part": "Reviews"}),
}


class ValidationViewer(Viewer):
    """Views of validation; counted looks are remembered until the window closes."""

    ICON = "validate"
    OTHERWISE = ("Run a judge", "Judges", {})

    def __init__(self, desk: Desk) -> None:
        self._looks: dict[str, CountedLook] = {}
        self._closed: ClosedTestPart | None = None
        super().__init__(desk, VIEWS, "validation", "Judges beside people", MOVING)
        self.gate = TestPartGate()
        self.body.addWidget(self.gate)
        self.gate.opened.connect(self.open_test)
        self.gate.declined.connect(self._decline)

    def lead(self, view: ResultView) -> Lead:
        """To where labels, rulings or reviews are made; replies come from the judges."""
        if view.page == "Label":
            return LEADS.get(view.name, SETS)
        return super().lead(view)

    def question(self) -> Callable[..., Any]:
        """Figures, unless they are of a test part that nobody asked to see."""
        return partial(looking.shown, looks=dict(self._looks))

    def refuse(self, found: Any) -> None:
        """Ask before the test part is opened; anything else is work that is still to be done."""
        self.title.setText(self.named(found.view).title)
        self.choosers.offer(found.choices, found.chosen, found.view)
        if isinstance(found, ClosedTestPart):
            self._closed = found
            self.gate.ask(found.seen)
            self.show_body(self.gate)
            self.gate.setFocus()
            return
        self.show_empty("Nothing to show here yet", f"{found.refusal.happened} {found.refusal.todo}")
        # Where there is nothing to hold anyone against, other choices would only be in the way.
        telling = [choice for choice in found.choices if choice.name in TELLING and len(choice.values) > 1]
        self.choosers.setVisible(bool(telling))

    def open_test(self) -> None:
        """Count the look, then show."""
        closed = self._closed
        if closed is None:
            return
        opening = self.desk.do(validation_sets.open_test, closed.seen.set_id, closed.seen.judges)
        if not isinstance(opening, Opening):
            return
        self._looks[closed.seen.set_id] = CountedLook(closed.seen, opening.id)
        self._closed = None
        # Others show how often the test part was looked at.
        self.desk.tell(Change(validation_sets.NAME, closed.seen.set_id, OPENED))
        self._count()

    def on_change(self, change: Change) -> None:
        if (change.kind, change.verb) != (validation_sets.NAME, OPENED):
            super().on_change(change)

    def _decline(self) -> None:
        self.choosers.choose("part", Split.DEV.value)

    def focus_first(self) -> None:
        """At the gate the answer that opens nothing has the keyboard."""
        if self.body.currentWidget() is self.gate:
            self.gate.setFocus()
        else:
            super().focus_first()


class FiguresPart(PagePart):
    """The tab around its viewer, with acts at the top as on the Results page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(()))
        self.viewer = ValidationViewer(desk)
        self.bar.hide()
        # The page keeps F6 for itself: it goes from part to part.
        self.acts = {act: slot for act, slot in self.viewer.acts().items() if act != "other_pane"}
        # A place to go to comes right after; counting what nobody will look at would only hold that up.
        self._soon = later(self, lambda: self.viewer.arrive({}), 0)
        self.lay_out(self.viewer)

    def fill(self) -> None:
        self._soon.start()

    def go(self, place: Mapping[str, Any]) -> None:
        """`view` opens a view by its name, `choose` makes its choices."""
        self.viewer.arrive(dict(place))

    def on_change(self, change: Change) -> None:
        """The viewer hears of every change itself, also while another part is in view."""

    def focus_first(self) -> None:
        self.viewer.focus_first()

    def rebind(self) -> None:
        super().rebind()
        self.viewer.leaving.rebind()

    def stop(self) -> None:
        super().stop()
        self._soon.stop()
        self.viewer.stop()
