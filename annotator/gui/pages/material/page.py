"""The Material page: reports, extracts, cited pages, sources and transcripts, present and missing."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QStackedLayout, QWidget

from annotator.actions.project import people
from annotator.domain.experts.person import Role
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.material.pages_view import PagesView
from annotator.gui.pages.material.parts_view import PartsView
from annotator.gui.pages.material.reports_view import ReportsView
from annotator.gui.pages.material.sources_view import SourcesView
from annotator.gui.pages.material.transcripts_view import TranscriptsView
from annotator.gui.widgets.bars.tabs import Tabs
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.later import later
from annotator.gui.widgets.layouts import StretchSpace, column_of, horizontal
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.push_button import push_button

# People: a coordinator who prepares what is judged. What annoys them elsewhere: cited pages that die between two
# runs, claims that a model got wrong and nobody can correct, and no way to see what is missing.
TABS = ("Reports", "Extracts", "Cited pages", "Sources", "Transcripts")
REPORTS, PARTS, PAGES, SOURCES, TRANSCRIPTS = range(5)
SHOWN_KINDS = (
    "extract",
    "page",
    "import",
    "judge",
    "judge_run",
    "item",
    "source",
    "response",
    "artifact",
    "metadata",
    "transcript",
)
SETTLE_MS = 250
NOT_YOURS = (
    "For coordinators only",
    "This page shows which system wrote which report, so people who label blind cannot see it.",
)


class MaterialPage(Page):
    """Five tabs; only the visible one reads data."""

    NAME = "Material"
    ICON = "folder"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.reports, self.parts, self.pages = ReportsView(desk), PartsView(desk), PagesView(desk)
        self.sources, self.transcripts = SourcesView(desk), TranscriptsView(desk)
        self.tabs = Tabs()
        for words, pane in zip(TABS, self._panes(), strict=True):
            self.tabs.addTab(pane, words)
            pane.came.connect(self._came)
        # Act → by tab, what its keys do there.
        self._acts: dict[str, dict[int, Callable[[], object]]] = {}
        self._later = later(self, self._fill, SETTLE_MS)
        self._lay_out()
        self._listen()
        self._bind()

    def _panes(self) -> tuple[Any, ...]:
        return self.reports, self.parts, self.pages, self.sources, self.transcripts

    def _lay_out(self) -> None:
        help_ = push_button("How this works", lambda: self.desk.go("Help", topic="material"), "quiet")
        head = horizontal(PlainLabel("Material", "title"), StretchSpace(1), help_)
        self._whole = column_of(head, (self.tabs, 1), margins=(20, 16, 20, 12), spacing=6)
        self._closed = EmptyState("lock", *NOT_YOURS)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._whole)
        self._stack.addWidget(self._closed)

    def _listen(self) -> None:
        self.tabs.currentChanged.connect(lambda _: self._fill())
        self.reports.read_wanted.connect(self._read)
        self.parts.page_wanted.connect(self._show_cited)
        self.pages.claim_wanted.connect(self._read_claim)

    def _bind(self) -> None:
        for act, tab, slot in (
            ("start_run", REPORTS, self.reports.form.start),
            ("start_run", PARTS, self.parts.drawing.start),
            ("start_run", PAGES, self.pages.fetching.start),
            ("start_run", SOURCES, self.sources.look_up),
            ("find", SOURCES, self.sources.seek),
            ("find", TRANSCRIPTS, self.transcripts.seek),
            ("next_evidence", TRANSCRIPTS, partial(self.transcripts.step, 1)),
            ("previous_evidence", TRANSCRIPTS, partial(self.transcripts.step, -1)),
            ("keep_drawn", TRANSCRIPTS, self.transcripts.side.save),
            ("remove_drawn", TRANSCRIPTS, self.transcripts.side.turn),
            ("find", REPORTS, self.reports.seek),
            ("find", PARTS, self.parts.seek),
            ("find", PAGES, self.pages.seek),
            ("read_report", REPORTS, self.reports.read),
            ("next_open", PARTS, self.parts.next_open),
            ("new_drawn", PARTS, self.parts.editor.add),
            ("remove_drawn", PARTS, self.parts.editor.remove),
            ("confirm_drawn", PARTS, self.parts.editor.confirm),
            ("accept_drawn", PARTS, self.parts.editor.accept),
            ("vital_drawn", PARTS, self.parts.editor.turn_vital),
            ("part_drawn", PARTS, self.parts.editor.part),
            ("keep_drawn", PARTS, self.parts.editor.keep),
            ("raw_replies", PARTS, self.parts.turn_replies),
        ):
            self._acts.setdefault(act, {})[tab] = slot
        for act in self._acts:
            self.bind(act, partial(self._do, act))
        self.bind("other_pane", self._turn)

    def _do(self, act: str) -> None:
        slot = self._acts[act].get(self.tabs.currentIndex())
        if slot is not None and self._stack.currentWidget() is self._whole:
            slot()

    def arrive(self, place: dict[str, Any]) -> None:
        """Show everything as it now is; `part` opens a tab by its name, `response_id` and `url` go to a place on it.

        `waiting` names the kind of which only what waits to be confirmed is to be listed.
        """
        me = self.desk.ask(people.someone)
        coordinates = me is not None and (me.has(Role.COORDINATOR) or self.desk.project.person is None)
        self._stack.setCurrentWidget(self._whole if coordinates else self._closed)
        if place.get("part") in TABS:
            self.tabs.setCurrentIndex(TABS.index(place["part"]))
        if place.get("response_id"):
            self._read(str(place.get("item_id", "")), str(place["response_id"]), str(place.get("kind", "")))
        if place.get("waiting"):
            self.parts.show_open(str(place["waiting"]))
        if place.get("url"):
            self._show_cited(str(place["url"]))
        self._fill()

    def leave(self) -> None:
        """Keep what is being typed into a unit."""
        self.parts.editor.keep()

    def stop(self) -> None:
        """End the runs that were started here; what is finished is kept."""
        self._later.stop()
        for pane in self._panes():
            pane.stop()

    def focus_first(self) -> None:
        """Work begins in the part in view."""
        pane: Any = self.tabs.currentWidget()
        pane.focus_first()

    def on_change(self, change: Change) -> None:
        """Whatever came or was corrected shows soon."""
        if change.kind in SHOWN_KINDS and self.isVisible():
            self._later.start()

    def keeps_words(self, field: QWidget) -> bool:
        """In a unit's own fields the key removes the unit."""
        return not self.parts.editor.isAncestorOf(field)

    def rebind(self) -> None:
        """Take over keys that were changed, also on the buttons."""
        super().rebind()
        for pane in self._panes():
            pane.rebind()

    def _turn(self) -> None:
        self.tabs.setCurrentIndex((self.tabs.currentIndex() + 1) % len(TABS))
        self.focus_first()

    def _fill(self) -> None:
        self._later.stop()
        if self._stack.currentWidget() is self._whole:
            pane: Any = self.tabs.currentWidget()
            pane.fill()

    def _came(self) -> None:
        """A run brought something: other pages count reports as they do after an import."""
        self.desk.tell(Change("import", "", "bring material"))

    def _read(self, item_id: str, response_id: str, kind: str = "") -> None:
        self.tabs.setCurrentIndex(PARTS)
        self.parts.go_to(item_id, response_id, kind)

    def _read_claim(self, item_id: str, response_id: str, unit_id: str) -> None:
        self.tabs.setCurrentIndex(PARTS)
        self.parts.go_to(item_id, response_id, "claims", unit_id)

    def _show_cited(self, url: str) -> None:
        self.tabs.setCurrentIndex(PAGES)
        self.pages.go_to(url)
