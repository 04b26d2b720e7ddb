"""Viewer: a list of views, the current one with its choices and figures, or what must happen first."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QFrame, QListWidget, QListWidgetItem, QWidget

from annotator.actions.results.result_sheets import SheetCell, SheetLine
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import CountedView, ResultView
from annotator.domain.texts.change import Change
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.parts import focused
from annotator.gui.views import counting
from annotator.gui.views.behind_view import BehindPane, FigureBehindView
from annotator.gui.views.choosers import Choosers
from annotator.gui.views.counting import Refused
from annotator.gui.views.leaving import LeavingBar
from annotator.gui.views.view_pane import ViewPane
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.basics import PlainLabel, horizontal, tooltip, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.later import later

WIDE = 560
# A page by its name, and where on it to go.
Lead = tuple[str, str, dict[str, Any]]


class Viewer(QWidget):
    """Shows `views`, computed on another thread; `moving` names the kinds of change that may affect figures.

    Anyone who has more to choose, to lead to or to ask first says so in `lead`, `question`, `offer_more` and `refuse`.
    """

    ICON = "results"
    OTHERWISE: Lead = ("Label reports", "Label", {})
    LATER_MS = 1000
    # Whether views that rest on nothing are left out of the list.
    HIDES = False

    def __init__(
        self, desk: Desk, views: tuple[ResultView, ...], name: str, title: str, moving: Collection[str]
    ) -> None:
        super().__init__()
        self.desk, self.among = desk, views
        self._name, self._stale, self._asked = views[0].name, True, 0
        self._chosen: dict[str, dict[str, str]] = {}
        self._known: dict[str, CountedView] = {}
        self._build(name, title)
        self._later = later(self, self._count, self.LATER_MS)
        self._listen()
        desk.listen(self.on_change, moving)

    def _build(self, name: str, title: str) -> None:
        self.views, self.every = (
            ViewList(self.among, f"Views of {name}", hides=self.HIDES),
            QCheckBox("Show all views"),
        )
        self.every.setToolTip(
            tooltip("Also those that rest on nothing in this project, each with what it lacks")
        )
        self.every.toggled.connect(self.views.show_all)
        self.every.hide()
        left = QWidget()
        vertical((self.views, 1), self.every, on=left, margins=0, spacing=4)
        self.view, self.behind = ViewPane(self.desk, name), self.make_behind(name)
        self.choosers, self.leaving = Choosers(), self.make_leaving()
        self.title, self.hint = PlainLabel(title, "title"), ElidedLabel(role="hint")
        head = horizontal(self.title, 12, (self.hint, 1), self.leaving)
        right = QWidget()
        side = 14 if len(self.among) > 1 else 0
        self.column = vertical(self.choosers, (self._body(), 1), on=right, margins=(side, 0, 0, 0), spacing=8)
        whole = Splitter(f"{name} views", parts=(left, right), sizes=(178, 940), stretch=(0, 1))
        whole.grow(left, 178)
        left.setVisible(len(self.among) > 1)
        vertical(head, (whole, 1), on=self, margins=0, spacing=10)

    def make_behind(self, name: str) -> BehindPane:
        return FigureBehindView(self.desk, name)

    def make_leaving(self) -> LeavingBar:
        return LeavingBar(self.desk, self.view)

    def _body(self) -> Stack:
        self.empty = EmptyState(self.ICON, "Nothing to show yet", width=WIDE, role="")
        self._lead = self.empty.add_action("", self._go_on, primary=True)
        words, page, place = self.OTHERWISE
        self._other = self.empty.add_action(words, lambda: self.desk.go(page, **place))
        self.denied = EmptyState("lock", "Not available to you", width=WIDE, role="")
        self.body = Stack(QWidget(), self.view, self.behind, self.empty, self.denied)
        return self.body

    def _listen(self) -> None:
        self.views.chosen.connect(self.show_view)
        self.choosers.chosen.connect(self._chose)
        self.leaving.told.connect(self.hint.setText)
        self.view.opened.connect(self._open)
        self.view.turned.connect(self._turned)
        self.view.left.connect(self._show_response)
        self.behind.back.connect(self._back)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self.view.table)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self.leaving.copy)

    def acts(self) -> dict[str, Callable[[], object]]:
        turns = {"next_view": partial(self.views.turn, 1), "previous_view": partial(self.views.turn, -1)}
        return {act: partial(self.leaving.do, act) for act in self.leaving.buttons} | {
            **(turns if len(self.among) > 1 else {}),
            **({"all_views": self.every.toggle} if self.HIDES else {}),
            "next_sheet": self.view.next_sheet,
            "definition": self._explain,
            "find": self._seek,
            "other_pane": self.other_pane,
        }

    def lead(self, view: ResultView) -> Lead:
        """Where to go when a view has nothing to show: words, a page, and where on it."""
        return f"Go to {view.page}", view.page, {}

    def question(self) -> Callable[..., Any]:
        """What is asked on another thread: of the project, with the views, one of them, its choices, what is kept."""
        return counting.shown

    def more(self) -> dict[str, str]:
        """What is chosen in the view in view otherwise than from its lists."""
        return {}

    def offer_more(self, any_: bool) -> None:
        """Offer what is not a list: `any_` tells whether there is anything to show."""

    def refuse(self, found: Any) -> None:
        """Say why there is no figure; `found` is what `question` answered in the place of a view.

        Where another choice may have figures, the lists stay in view.
        """
        self.choosers.offer(found.choices, found.chosen, found.view)
        self.offer_more(any_=False)
        self.title.setText(self.named(found.view).title)
        words = f"{found.refusal.happened} {found.refusal.todo}"
        if found.choices:
            self.show_empty("Nothing to show here yet", words)
            self.choosers.show()
            return
        self.denied.show_words("Not available to you", words)
        self.show_body(self.denied)

    def arrive(self, place: dict[str, Any]) -> None:
        """Count again when something moved since; `view` opens a view by its name, `choose` makes its choices."""
        name = str(place.get("view") or self._name)
        if place.get("choose"):
            self._chosen.setdefault(name, {}).update(place["choose"])
            self._stale = True
        with QSignalBlocker(self.views):
            self.views.choose(name)
        if name != self._name or self._stale:
            self.show_view(name)

    def _offer(self, held: Collection[str]) -> None:
        """List the views that rest on what the project holds; the others while all are asked for."""
        self.views.offer(held)
        self.every.setVisible(not all(view.rests(held) for view in self.among))

    def focus_first(self) -> None:
        """Work begins in the table, or goes on in the list behind it."""
        if self.body.currentWidget() is self.behind:
            self.behind.focus_list()
        elif self.body.currentWidget() is self.view:
            self.view.setFocus()
        else:
            (self.views if len(self.among) > 1 else self.body.currentWidget() or self).setFocus()

    def on_change(self, change: Change) -> None:
        """What was judged, settled or imported makes the figures stale; they are counted when they are looked at."""
        self._stale = True
        self._known.clear()
        if self.isVisible():
            self._later.start()

    def stop(self) -> None:
        """Count nothing any more; what is in progress comes home to nobody."""
        self._later.stop()
        self._asked += 1
        self.view.stop()
        self.behind.stop()

    def named(self, name: str) -> ResultView:
        return result_views.named(name, self.among)

    def show_view(self, name: str) -> None:
        self._name = name
        self.view.sought.clear()
        self._count()

    def _chose(self) -> None:
        """A choice belongs to the view it was made in, which may be on its way out of view."""
        self._chosen.setdefault(self.choosers.of, {}).update(self.choosers.values())
        if self.choosers.of == self._name:
            self._count()

    def _count(self) -> None:
        """Have the view counted with its choices; what is only set out otherwise is not counted again."""
        if self._stale and self.HIDES:
            self.desk.ask_later(self._offer, result_views.held)
        self._stale = False
        self._asked += 1
        asked, view = self._asked, self.named(self._name)
        chosen = self._chosen.get(self._name, {}) | self.more()
        known = self._known.get(self._name)
        same = known is not None and result_views.same_count(view, {**known.chosen, **chosen}, known.chosen)
        kept = known.kept if known is not None and same and known.sheets else None
        self.hint.setText("Counting…")

        def show(found: Any) -> None:
            if asked == self._asked:
                self._counted(found)

        self.desk.ask_later(show, self.question(), self.among, self._name, chosen, kept)

    def _counted(self, found: CountedView | Refused) -> None:
        self.hint.setText("")
        if not isinstance(found, CountedView):
            self.refuse(found)
            return
        self._known[found.view] = found
        if self.body.currentWidget() is self.behind and not self.views.hasFocus():
            # Not taken away from under someone's eyes: the list is of the figure that it was opened from.
            self._stale = True
            return
        view = self.named(found.view)
        self.choosers.offer(found.choices, found.chosen, found.view)
        self.offer_more(bool(found.sheets))
        self.title.setText(view.title)
        self.hint.setText(view.about if found.sheets else "")
        if not found.sheets:
            self.show_nothing(found)
            return
        self.leaving.name = found.view
        self.view.show_sheets(found.sheets, found.chosen.get("metric", ""))
        self.show_body(self.view)

    def show_nothing(self, found: CountedView) -> None:
        view = self.named(found.view)
        self.show_empty("Nothing to show here yet", f"{view.about} {view.lacks}")

    def show_empty(self, headline: str, words: str) -> None:
        """Say why there is nothing to show, and where to go on."""
        self.empty.show_words(headline, words)
        words, *to = self.lead(self.named(self._name))
        self._lead.setText(words)
        self._other.setVisible(to != list(self.OTHERWISE[1:]))
        self.show_body(self.empty)

    def show_body(self, widget: QWidget) -> None:
        """Bring the figures, what lies behind them, or what is said in their place into view."""
        focus = focused(self.window())
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

    def _open(self, line: SheetLine, cell: SheetCell | None) -> None:
        if self.behind.look(line, cell):
            self.show_body(self.behind)
            self.behind.focus_list()
        elif line.item_id:
            self.desk.go("Author", item_id=line.item_id)

    def _back(self) -> None:
        self.show_body(self.view)
        self.focus_first()
        if self._stale:
            self._count()

    def _explain(self) -> None:
        if self.body.currentWidget() is self.view:
            self.view.explain()

    def _seek(self) -> None:
        if self.body.currentWidget() is self.view:
            self.view.seek()

    def other_pane(self) -> None:
        """From the views to the table, on to its account, and round."""
        panes: list[QWidget] = [self.views] if len(self.among) > 1 else []
        if self.body.currentWidget() is self.view:
            panes += [self.view.table, self.view.account]
        elif self.body.currentWidget() is self.behind:
            panes += [self.behind.pane]
        here = next((place for place, pane in enumerate(panes) if pane.hasFocus()), -1)
        if panes:
            panes[(here + 1) % len(panes)].setFocus(Qt.FocusReason.TabFocusReason)

    def _go_on(self) -> None:
        _, page, place = self.lead(self.named(self._name))
        self.desk.go(page, **place)


class ViewerPage(Page):
    """A page around its viewer."""

    def __init__(self, desk: Desk, viewer: Viewer) -> None:
        super().__init__(desk)
        self.viewer = viewer
        vertical(self.viewer, on=self, margins=(12, 14, 20, 12))
        for act, slot in self.viewer.acts().items():
            self.bind(act, slot)

    def arrive(self, place: dict[str, Any]) -> None:
        """Count again when something moved since; `view` opens a view by its name, `choose` makes its choices."""
        self.viewer.arrive(place)

    def focus_first(self) -> None:
        """Work begins in the table, or goes on in the list behind it."""
        self.viewer.focus_first()

    def rebind(self) -> None:
        """Take over keys that were changed since the page was made."""
        super().rebind()
        self.viewer.leaving.rebind()

    def stop(self) -> None:
        self.viewer.stop()


class ViewList(QListWidget):
    """One line for each view; `chosen` names the one selected."""

    chosen = Signal(str)

    def __init__(self, views: Sequence[ResultView], words: str, *, hides: bool = False) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(words)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._heads: list[QListWidgetItem] = []
        part = ""
        for view in views:
            if view.part != part:
                part = view.part
                self._add_head(part)
            line = QListWidgetItem(view.title)
            line.setData(Qt.ItemDataRole.UserRole, view.name)
            self.addItem(line)
        self._among, self._all = {view.name: view for view in views}, False
        self._held: Collection[str] | None = () if hides else None
        self._dress()
        theme.watch(self, self._dress)
        self.currentItemChanged.connect(self._changed)

    def offer(self, held: Collection[str] | None) -> None:
        """List views that rest on what is held, and the current one; muted the others, while all are shown."""
        self._held, current, head = held, self.currentItem(), None
        for line in (self.item(place) for place in range(self.count())):
            name = line.data(Qt.ItemDataRole.UserRole)
            if not name:
                head = line
                head.setHidden(True)
                continue
            view = self._among[name]
            rests = held is None or view.rests(held)
            line.setHidden(not (rests or self._all or line is current))
            line.setToolTip(tooltip(view.about if rests else f"{view.about} {view.missing}"))
            line.setForeground(theme.token("text" if rests else "text-muted"))
            if head is not None and not line.isHidden():
                head.setHidden(False)

    def show_all(self, every: bool) -> None:
        self._all = every
        self.offer(self._held)

    def _add_head(self, words: str) -> None:
        line = QListWidgetItem(words)
        line.setFlags(Qt.ItemFlag.NoItemFlags)
        self.addItem(line)
        self._heads.append(line)

    def _dress(self) -> None:
        for line in self._heads:
            line.setForeground(theme.token("text-muted"))
            font = line.font()
            font.setBold(True)
            font.setPointSizeF(theme.current().points * 0.88)
            line.setFont(font)
        self.offer(self._held)
        px = theme.current().px
        self.setMinimumWidth(px(120))
        # Sixteen views are to be seen at once in a small window.
        self.setStyleSheet(
            "QListWidget { background: transparent; border: none; }"
            f"QListWidget::item {{ padding: {px(4)}px {px(8)}px; }}"
        )

    def _changed(self, line: QListWidgetItem | None) -> None:
        if line is not None and line.data(Qt.ItemDataRole.UserRole):
            self.chosen.emit(line.data(Qt.ItemDataRole.UserRole))

    def choose(self, name: str) -> None:
        for place in range(self.count()):
            if self.item(place).data(Qt.ItemDataRole.UserRole) == name:
                self.setCurrentRow(place)
                self.offer(self._held)

    def turn(self, by: int) -> None:
        """Go to the next view, or to the one before, round and round."""
        here = self.currentRow()
        for step in range(1, self.count() + 1):
            line = self.item((here + by * step) % self.count())
            if line.data(Qt.ItemDataRole.UserRole) and not line.isHidden():
                self.setCurrentItem(line)
                return
