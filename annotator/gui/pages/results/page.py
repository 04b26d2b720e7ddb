"""The page of results: views down the side, in each its tables and pictures, and the rows behind every figure."""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from annotator.actions import people, publishing, result_views
from annotator.actions.result_sheets import Cell, Line
from annotator.actions.result_views import Shown
from annotator.domain.change import Change
from annotator.domain.person import Role
from annotator.domain.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk import Desk
from annotator.gui.page import Page
from annotator.gui.pages.results import counting
from annotator.gui.pages.results.behind_view import BehindView
from annotator.gui.pages.results.choosers import Choosers
from annotator.gui.pages.results.leaving import LeavingBar
from annotator.gui.pages.results.view_list import ViewList
from annotator.gui.pages.results.view_pane import ViewPane
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.splitter import Splitter

# People: a benchmark's author, who will publish the numbers. What annoys them elsewhere: scores without n or
# interval, definitions nowhere, failures counted as answers, and no way from a number to what it was made of.
# Changes of these kinds may move a figure.
MOVING = frozenset({
    "adjudication", "artifact", "extract", "import", "item", "judge", "judge_run", "judgement", "labels", "parcel",
    "setting", "tray",
})  # fmt: skip
FIRST, WITH_LIMIT, WITH_FILE = "overview", "overview", "rubrics"
WIDE = 560


class ResultsPage(Page):
    """The list of views at the left; the one in view, what lies behind a figure, or what must happen first."""

    NAME = "Results"
    ICON = "results"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._name, self._stale, self._file, self._asked = FIRST, True, "", 0
        self._chosen: dict[str, dict[str, str]] = {}
        self._known: dict[str, Shown] = {}
        self._build()
        self._later = QTimer(self, singleShot=True, interval=1000)
        self._later.timeout.connect(self._count)
        self._bind()

    def _build(self) -> None:
        self.views, self.view, self.behind = ViewList(), ViewPane(self.desk), BehindView(self.desk)
        self.choosers, self.leaving = Choosers(), LeavingBar(self.desk, self.view)
        self.title, self.hint = PlainLabel("Results", "title"), ElidedLabel(role="hint")
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addSpacing(12)
        head.addWidget(self.hint, 1)
        head.addWidget(self.leaving)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(14, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.choosers)
        column.addWidget(self._body(), 1)
        whole = Splitter("results views")
        whole.addWidget(self.views)
        whole.addWidget(right)
        whole.setSizes([theme.current().px(178), 940])
        whole.setStretchFactor(1, 1)
        page = QVBoxLayout(self)
        page.setContentsMargins(12, 14, 20, 12)
        page.setSpacing(10)
        page.addLayout(head)
        page.addWidget(whole, 1)

    def _body(self) -> QStackedWidget:
        self.empty = EmptyState("results", "Nothing to show yet", width=WIDE)
        self._lead = self.empty.add_action("Go to the judges", self._go_on, primary=True)
        self.empty.add_action("Label reports", lambda: self.desk.go("Label"))
        self.denied = EmptyState("lock", "Shown to a coordinator", width=WIDE)
        self.body = QStackedWidget()
        for widget in (QWidget(), self.view, self.behind, self.empty, self.denied):
            self.body.addWidget(widget)
        return self.body

    def _bind(self) -> None:
        self.views.chosen.connect(self.show_view)
        self.choosers.chosen.connect(self._chose)
        self.choosers.limit_set.connect(lambda share: self.desk.do(publishing.set_limit, round(share, 4)))
        self.choosers.file_wanted.connect(self._choose_file)
        self.leaving.told.connect(self.hint.setText)
        self.view.opened.connect(self._open)
        self.view.turned.connect(self._turned)
        self.view.left.connect(self._show_response)
        self.behind.back.connect(self._back)
        for act in self.leaving.buttons:
            self.bind(act, partial(self.leaving.do, act))
        for act, slot in (
            ("next_view", partial(self.views.turn, 1)),
            ("previous_view", partial(self.views.turn, -1)),
            ("next_sheet", self.view.next_sheet),
            ("definition", self._explain),
            ("find", self._seek),
            ("other_pane", self._other_pane),
        ):
            self.bind(act, slot)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self.view.table)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self.leaving.copy)

    def arrive(self, place: dict[str, Any]) -> None:
        """Count anew when something was judged since; `view` opens a view by its name, `choose` makes its choices."""
        name = str(place.get("view") or self._name)
        if place.get("choose"):
            self._chosen.setdefault(name, {}).update(place["choose"])
            self._stale = True
        self.views.blockSignals(True)
        self.views.choose(name)
        self.views.blockSignals(False)
        if name != self._name or self._stale:
            self.show_view(name)

    def focus_first(self) -> None:
        """Work begins in the table, or goes on in the list behind it."""
        if self.body.currentWidget() is self.behind:
            self.behind.focus_list()
        elif self.body.currentWidget() is self.view:
            self.view.setFocus()
        else:
            self.views.setFocus()

    def rebind(self) -> None:
        """Take over keys that were changed since the page was made."""
        super().rebind()
        self.leaving.rebind()

    def on_change(self, change: Change) -> None:
        """What was judged, settled or imported makes the figures stale; they are counted when the page is looked at."""
        if change.kind in MOVING:
            self._stale = True
            self._known.clear()
            if self.isVisible():
                self._later.start()

    def stop(self) -> None:
        """Count nothing any more."""
        self._later.stop()

    def show_view(self, name: str) -> None:
        """Bring a view into view."""
        self._name = self.leaving.name = name
        self.view.sought.clear()
        self._count()

    def _chose(self) -> None:
        self._chosen.setdefault(self._name, {}).update(self.choosers.values())
        self._count()

    def _count(self) -> None:
        """Have the view counted with its choices; what is only set out otherwise is not counted again."""
        self._stale = False
        self._asked += 1
        asked, view = self._asked, result_views.named(self._name)
        chosen = dict(self._chosen.get(self._name, {}))
        if self._name == WITH_FILE and self._file:
            chosen["file"] = self._file
        known = self._known.get(self._name)
        same = known is not None and result_views.same_count(view, {**known.chosen, **chosen}, known.chosen)
        kept = known.kept if known is not None and same and known.sheets else None
        self.hint.setText("Counting…")

        def show(found: Shown | Refusal) -> None:
            if asked == self._asked:
                self._counted(found)

        self.desk.ask_later(show, counting.shown, self._name, chosen, kept)

    def _counted(self, found: Shown | Refusal) -> None:
        self.hint.setText("")
        if isinstance(found, Refusal):
            self._refused(found)
            return
        self._known[found.view] = found
        if self.body.currentWidget() is self.behind and not self.views.hasFocus():
            # Not taken away from under somebody's eyes: the list is of the figure that it was opened from.
            self._stale = True
            return
        view = result_views.named(found.view)
        self.choosers.offer(found.choices, found.chosen)
        self._offer_more(bool(found.sheets))
        self.title.setText(view.title)
        self.hint.setText(view.about if found.sheets else "")
        if not found.sheets:
            self.empty.show_words("Nothing to show here yet", f"{view.about} {view.lacks}")
            self._lead.setText(f"Go to {view.page}")
            self._show_body(self.empty)
            return
        self.view.show_sheets(found.sheets, found.chosen.get("metric", ""))
        self._show_body(self.view)

    def _offer_more(self, any_: bool) -> None:
        share = self.desk.ask(publishing.limit) if self._name == WITH_LIMIT and any_ else None
        self.choosers.show_limit(share, allowed=self._coordinates() and not self.desk.project.readonly)
        self.choosers.show_file(self._name == WITH_FILE, Path(self._file).stem if self._file else "")

    def _coordinates(self) -> bool:
        return people.someone(self.desk.project).has(Role.COORDINATOR)

    def _refused(self, refusal: Refusal) -> None:
        if self._file:
            # A file that cannot be read is let go of; the message bar says why.
            self._file = ""
            self.desk.refused.emit(refusal)
            self._count()
            return
        self.choosers.offer((), {})
        self._offer_more(any_=False)
        self.title.setText(result_views.named(self._name).title)
        self.denied.show_words("Not shown to you", f"{refusal.happened} {refusal.todo}")
        self._show_body(self.denied)

    def _show_body(self, widget: QWidget) -> None:
        focus = self.window().focusWidget()
        inside = focus is not None and self.body.isAncestorOf(focus)
        self.body.setCurrentWidget(widget)
        if inside:
            self.focus_first()
        # Before there is anything to choose among, lists are only in the way.
        empty = widget is self.empty and not self._chosen.get(self._name)
        self.choosers.setVisible(widget not in (self.behind, self.denied) and not empty)
        self._turned()

    def _turned(self) -> None:
        there = self.body.currentWidget() is self.view
        self.leaving.enable(
            there and self.view.model.rowCount() > 0, there and self.view.picture() is not None
        )

    def _show_response(self, response_id: str) -> None:
        """Where a view shows one response in full, that is the one that was chosen."""
        if response_id and "of" in self.choosers.lists:
            self.choosers.choose("of", response_id)

    def _open(self, line: Line, cell: Cell | None) -> None:
        source = (cell.source if cell is not None else None) or line.source
        if source is not None:
            self.behind.show_source(source, _words(line, cell))
            self._show_body(self.behind)
            self.behind.focus_list()
        elif line.item_id:
            self.desk.go("Author", item_id=line.item_id)

    def _back(self) -> None:
        self._show_body(self.view)
        self.focus_first()
        if self._stale:
            self._count()

    def _explain(self) -> None:
        if self.body.currentWidget() is self.view:
            self.view.explain()

    def _seek(self) -> None:
        if self.body.currentWidget() is self.view:
            self.view.seek()

    def _other_pane(self) -> None:
        """From the views to the table, on to its account, and round."""
        panes: list[QWidget] = [self.views]
        if self.body.currentWidget() is self.view:
            panes += [self.view.table, self.view.account]
        elif self.body.currentWidget() is self.behind:
            panes += [self.behind.table if self.behind.levels.currentIndex() else self.behind.items_table]
        here = next((place for place, pane in enumerate(panes) if pane.hasFocus()), -1)
        panes[(here + 1) % len(panes)].setFocus(Qt.FocusReason.TabFocusReason)

    def _go_on(self) -> None:
        self.desk.go(result_views.named(self._name).page)

    def _choose_file(self) -> None:
        if self._file:
            self._file = ""
            self._count()
            return
        name, _ = QFileDialog.getOpenFileName(self, "Another project", "", "Projects (*.goldsmith)")
        if name:
            self.compare_with(Path(name))

    def compare_with(self, path: Path) -> None:
        """Hold the rubrics of this project against the settled ones of another."""
        self._file = str(path)
        self._count()


def _words(line: Line, cell: Cell | None) -> str:
    """What was opened, in a line."""
    if cell is not None and cell.source is not None and cell.tip:
        return cell.tip.splitlines()[0]
    return " · ".join(one.words for one in line.cells[:3] if one.words)
