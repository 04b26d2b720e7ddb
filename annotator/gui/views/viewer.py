"""A list of views, the current one with its choices and figures, and the data behind a figure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from html import escape
from itertools import groupby
from typing import Any

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QTableView,
    QTextBrowser,
    QWidget,
)

from annotator.actions.results.result_sheets import FigureSource, ResultSheet, SheetCell, SheetLine
from annotator.actions.results.results_behind import JudgementBehind, by_person
from annotator.actions.runs import journal
from annotator.actions.runs.journal import JudgementDetail
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ChosenView, CountedView, ResultView
from annotator.domain.common import Change, Refusal, counted, in_window
from annotator.gui import theme
from annotator.gui.parts import focused, go_round
from annotator.gui.review.reply_detail import ReplyDetail
from annotator.gui.review.sheets import CellsModel, Column, SheetModel, SheetTable, hide_alike
from annotator.gui.review.verdict_words import value_look, value_words
from annotator.gui.session.page import ANOTHER_KIND, Page, TabPart, may_choose_uses, way_to
from annotator.gui.session.session import Pane, ProjectSession, or_refusal
from annotator.gui.views import view_pane
from annotator.gui.views.view_pane import Choosers, LeavingMenu, ViewPane
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    Stack,
    column_of,
    horizontal,
    later,
    tooltip,
    vertical,
    with_properties,
    wrap_lines,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import LinesTable
from annotator.gui.widgets.fields import search_field
from annotator.gui.widgets.splitter import Splitter

SETTLE_MS = 120
# Columns of items and of judgements that are left out if all lines are alike in them.
ALIKE = ("system", "run", "missing", "range", "weight", "given_by", "said_by")
SAME = (0, 1, 4, 5)
DEEPER = "Enter: the judgements behind a line."
COMPUTED = "This figure is computed from the response itself, without judgements."


class BehindPane(Pane):
    """The data behind a figure, shown in place of the figures until `back`; subclasses provide the table."""

    back = Signal()
    table: QTableView

    def __init__(self, session: ProjectSession, name: str) -> None:
        """`name` is that of the viewer, under which sizes are remembered."""
        super().__init__(session)
        self._name = f"{name} behind"
        self.title = ElidedLabel(role="subtitle")
        self.leave = KeyButton("Back", "Esc", press=self.leave_level)
        self.leave.setShortcut("Esc")

    def leave_level(self) -> None:
        """Go back one level, or to the figures."""
        self.back.emit()

    @property
    def pane(self) -> QTableView:
        return self.table

    def look(self, _line: SheetLine, _cell: SheetCell | None) -> bool:
        """Query and show the data behind a cell or its line; False if there is none."""
        return False

    def focus_list(self) -> None:
        self.pane.setFocus()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_list()


class FigureBehindView(BehindPane):
    """The data behind a figure on two levels; Esc goes back one level."""

    def __init__(self, session: ProjectSession, name: str) -> None:
        super().__init__(session, name)
        self._deeper, self._whole = False, ""
        self._soon = later(self, self._show_detail, SETTLE_MS)
        self.note = PlainLabel("", "hint", wrap=True)
        self.items, self.judgements = SheetModel(self), CellsModel[JudgementBehind](JUDGEMENTS, self)
        self.items_table = with_properties(
            SheetTable("Items behind the figure", self.items, opened=self._enter), sortingEnabled=True
        )
        self.items_table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.items_table.horizontalHeader().setSortIndicatorClearable(True)
        self.table = LinesTable(
            "Judgements", self.judgements, self.judgements.widths, stretched=3, moved=self._soon.start
        )
        self.replies = ReplyDetail(self.session)
        self.reply = with_properties(QTextBrowser(), role="side", accessibleName="Full judgement")
        self.detail = Stack(self.reply, self.replies)
        self.levels = Stack(
            self.items_table,
            Splitter(self._name, parts=(self.table, self.detail), sizes=(660, 420), stretch=(3, 2)),
        )
        vertical(horizontal((self.title, 1), self.leave), self.note, (self.levels, 1), on=self, margins=0)

    @property
    def pane(self) -> QTableView:
        return self.table if self.levels.currentIndex() else self.items_table

    def look(self, line: SheetLine, cell: SheetCell | None) -> bool:
        """Query the data behind a cell or its line: its items, or the judgements on its item."""
        source = (cell.source if cell is not None else None) or line.source
        if source is None:
            return False
        self._whole, self._deeper = source.words or _words(line, cell), False
        self.title.setText(self._whole)
        self._ask(source)
        return True

    def _ask(self, source: FigureSource) -> None:
        self.note.setText("Reading…")
        if not source.item_id:
            self.levels.setCurrentIndex(0)
        self.session.ask_newest(self._show, view_pane.behind, source)

    def _show(self, answer: ResultSheet | list[JudgementBehind] | Refusal) -> None:
        if isinstance(answer, Refusal):
            self.items.show(ResultSheet("", "", (), ()))
            self.note.setText(str(answer))
        elif isinstance(answer, ResultSheet):
            self._show_items(answer)
        else:
            self._show_judgements(answer)

    def _show_items(self, answer: ResultSheet) -> None:
        self.items.show(answer)
        self.note.setText(" ".join([*answer.notes, DEEPER]))
        hide_alike(self.items_table, self.items, ALIKE)
        if self.items.rowCount():
            self.items_table.selectRow(0)
        self.focus_list()

    def _enter(self, index: QModelIndex) -> None:
        line = self.items.at(index.row())
        if line is None:
            return
        if line.source is None:
            self.note.setText(COMPUTED)
            return
        self._deeper = True
        self.title.setText(f"{self._whole} · item {line.cells[0].words}, {line.cells[2].words}")
        self._ask(line.source)

    def _show_judgements(self, answer: list[JudgementBehind]) -> None:
        self.judgements.show(answer)
        for place in SAME:
            texts = {str(self.judgements.index(row, place).data()) for row in range(len(answer))}
            self.table.setColumnHidden(place, len(texts) < 2)
        missing = sum(line.judgement.value is None for line in answer)
        gaps = f", {missing:,} without a verdict" if missing else ""
        self.note.setText(
            f"{counted(len(answer), 'judgement')}{gaps}." if answer else "Nobody has judged this."
        )
        self.levels.setCurrentIndex(1)
        if answer:
            self.table.selectRow(0)
        self._show_detail()
        self.focus_list()

    def leave_level(self) -> None:
        if self._deeper and self.levels.currentIndex():
            self._deeper = False
            self.session.forget(self._show)
            self.levels.setCurrentIndex(0)
            self.title.setText(self._whole)
            self.note.setText(" ".join([*self.items.whole.notes, DEEPER]))
            self.focus_list()
            return
        super().leave_level()

    def line(self) -> JudgementBehind | None:
        return self.judgements.at(self.table.currentIndex().row())

    def _show_detail(self) -> None:
        line = self.line()
        self.detail.setCurrentIndex(0)
        if line is None:
            self.reply.clear()
            return
        self.reply.setHtml(_in_full(line))
        if not by_person(line):
            self.session.ask_later(
                self._show_judgement, or_refusal, journal.judgement_detail, line.judgement.id
            )

    def _show_judgement(self, detail: JudgementDetail | Refusal) -> None:
        """Show a judgement with its replies; it is refused if it has been judged again since."""
        line = self.line()
        if isinstance(detail, JudgementDetail) and line is not None and detail.line.id == line.judgement.id:
            self.replies.show_detail(detail)
            self.detail.setCurrentIndex(1)


def _words(line: SheetLine, cell: SheetCell | None) -> str:
    if cell is not None and cell.source is not None and cell.tip:
        return cell.tip.splitlines()[0]
    return " · ".join(one.words for one in line.cells[:3] if one.words)


def _in_full(line: JudgementBehind) -> str:
    judgement = line.judgement
    parts = (
        ("", f"{verdict(line)} (weight {line.weight:g}), by {line.rater}"),
        ("Asked about", line.unit),
        ("Quoted from the report", judgement.quote),
        ("Why", judgement.rationale),
        ("Why there is no verdict", judgement.cause),
        ("Note", judgement.note),
        ("Marks", judgement.flags),
        ("Question", line.question),
    )
    return "".join(
        f"<p dir='auto'><b>{escape(head)}</b> {escape(words)}</p>"
        if head
        else f"<h3 dir='auto'>{escape(words)}</h3>"
        for head, words in parts
        if words
    )


def verdict(line: JudgementBehind) -> str:
    judgement = line.judgement
    # Of a pair, the name of the better one.
    named = {"first": line.system, "second": line.unit}
    return named.get(judgement.value or "") or value_words(
        judgement.protocol, judgement.value, judgement.status
    )


JUDGEMENTS: Sequence[Column[JudgementBehind]] = (
    Column("Item", lambda line: line.item_key, 60, tip=lambda line: line.question),
    Column("System", lambda line: line.system, 120),
    Column(
        "Verdict", verdict, 110, look=lambda line: value_look(line.judgement.protocol, line.judgement.value)
    ),
    Column("Asked about", lambda line: line.unit, 300),
    Column("Weight", lambda line: f"{line.weight:g}", 66),
    Column("By", lambda line: line.rater, 100),
    Column("Why", lambda line: line.judgement.rationale or line.judgement.cause, 120),
)


WIDE = 560
# A label, a page, and the place on it.
Lead = tuple[str, str, dict[str, Any]]


class Viewer(TabPart):
    """Shows `views`, computed on another thread; `moving` names the kinds of change that may affect figures.

    Subclasses override `lead`, `question`, `offer_more` and `refuse` for other links, queries and choices.
    """

    ICON = "results"
    OTHERWISE: Lead = ("Label reports", "Label", {})
    # Where a view without data leads, if it is the same for all; otherwise to the view's own page.
    LEAD: Lead | None = None
    # What Enter shows from a cell, in words.
    DEEPER = ""
    LATER_MS = 1000
    # Whether views without data are left out of the list, and other pages that its groups lead to.
    HIDES = False
    LEADS: Mapping[str, Lead] = {}
    UNMOVED_BY = ("", "")
    """The kind and verb of the change that leaves the figures as they are, although others of its kind do not."""
    LEAVING: type[LeavingMenu] = LeavingMenu
    BEHIND: type[BehindPane] = FigureBehindView
    # Acts without keys here.
    WITHOUT: Collection[str] = ()

    def __init__(
        self,
        session: ProjectSession,
        views: tuple[ResultView, ...],
        name: str,
        title: str,
        moving: Collection[str],
    ) -> None:
        super().__init__(session)
        self.among = views
        self._key, self._name, self._stale = name, views[0].name, True
        self._chosen: dict[str, dict[str, str]] = {}
        self._known: dict[str, CountedView] = {}
        self._build(name, title)
        self._later = later(self, self._count, self.LATER_MS)
        # Usually a place to go to follows at once; computing a view that nobody will look at would only delay it.
        self._soon = later(self, lambda: self.go({}), 0)
        self.acts = {act: slot for act, slot in self._acts().items() if act not in self.WITHOUT}
        self.views.chosen.connect(self.show_view)
        self.choosers.chosen.connect(self._chose)
        self.leaving.reported.connect(self.hint.setText)
        self.view.opened.connect(self.open_behind)
        self.view.turned.connect(self._turned)
        self.view.left.connect(self._show_response)
        copy = QShortcut(
            QKeySequence.StandardKey.Copy, self.view.table, context=Qt.ShortcutContext.WidgetShortcut
        )
        copy.activated.connect(self.leaving.copy)
        session.listen(self.moved, moving)

    def _build(self, name: str, title: str) -> None:
        self.views = ViewList(
            self.among, f"Views of {name}", self.session if self.HIDES else None, self.LEADS
        )
        left = column_of(self.views.sought, (self.views, 1), spacing=6)
        self.views.sought.setVisible(self.HIDES)
        self.view = ViewPane(self.session, name)
        self.choosers, self.leaving = Choosers(), self.LEAVING(self.session, self.view)
        self.title, self.hint = PlainLabel(title, "title"), ElidedLabel(role="hint")
        head = horizontal(self.title, 12, (self.hint, 1), self.leaving)
        right = QWidget()
        side = 14 if len(self.among) > 1 else 0
        self.empty = EmptyState(self.ICON, "Nothing to show yet", width=WIDE, role="")
        self._lead = self.empty.add_action("", self._go_on, primary=True)
        words, page, place = self.OTHERWISE
        self._other = self.empty.add_action(words, lambda: self.session.go(page, **place))
        self.denied = EmptyState("lock", "Not available to you", width=WIDE, role="")
        self.body = Stack(QWidget(), self.view, self.empty, self.denied)
        self.column = vertical(self.choosers, (self.body, 1), on=right, margins=(side, 0, 0, 0), spacing=8)
        whole = Splitter(f"{name} views", parts=(left, right), sizes=(178, 940), stretch=(0, 1))
        whole.grow(left, 178)
        left.setVisible(len(self.among) > 1)
        vertical(head, (whole, 1), on=self, margins=(0, 8, 0, 0), spacing=10)

    @cached_property
    def behind(self) -> BehindPane:
        """The pane of data behind a figure; built when first needed, so that it follows no zoom or colours before."""
        pane = self.BEHIND(self.session, self._key)
        pane.back.connect(self._back)
        self.body.addWidget(pane)
        return pane

    def _acts(self) -> Mapping[str, Callable[[], object]]:
        turns = {"next_view": partial(self.views.turn, 1), "previous_view": partial(self.views.turn, -1)}
        return {act: button.trigger for act, button in self.leaving.buttons.items()} | {
            **(turns if len(self.among) > 1 else {}),
            **({"all_views": self.views.turn_all} if self.HIDES else {}),
            "next_sheet": self.view.next_sheet,
            "definition": self._explain,
            "find": self._seek,
        }

    def lead(self, view: ResultView) -> Lead:
        return self.LEAD or (way_to(view.page), view.page, {})

    def question(self) -> Callable[..., Any]:
        """The query run on another thread: takes project, views, a view's name, its choices and the cached count."""
        return view_pane.shown

    def more(self) -> dict[str, str]:
        return {}

    def offer_more(self, any_: bool) -> None:
        """Show or hide what is offered beside the lists; `any_` says whether there are figures."""

    def refuse(self, refused: Any) -> None:
        """Show why there is no figure; `refused` is the answer of `question` in place of a view.

        If another choice may have figures, the lists stay in view.
        """
        self.offer_more(any_=False)
        words = in_window(f"{refused.refusal.happened} {refused.refusal.todo}")
        if refused.choices:
            self.show_empty("Nothing to show here yet", words)
            self.choosers.show()
            return
        self.denied.show_words("Not available to you", words)
        self.show_body(self.denied)

    def fill(self) -> None:
        self._soon.start()

    def go(self, place: Mapping[str, Any]) -> None:
        """Recompute if something has changed; `view` in `place` opens a view by its name, `choose` sets its choices."""
        name = str(place.get("view") or self._name)
        if place.get("choose"):
            self._chosen.setdefault(name, {}).update(place["choose"])
            self._stale = True
        with QSignalBlocker(self.views):
            self.views.choose(name)
        if name != self._name or self._stale:
            self.show_view(name)

    def focus_first(self) -> None:
        here = self.body.currentWidget()
        if isinstance(here, BehindPane):
            here.focus_list()
        elif here is self.view:
            self.view.setFocus()
        else:
            (self.views if len(self.among) > 1 else here or self).setFocus()

    def on_change(self, change: Change) -> None:
        """Do nothing: it listens to every change itself, also while another part is in view."""

    def moved(self, change: Change) -> None:
        """Mark figures as stale after a change to judgements, rulings or imports; they are recomputed when visible."""
        if (change.kind, change.verb) == self.UNMOVED_BY:
            return
        self._stale = True
        self._known.clear()
        if self.isVisible():
            self._later.start()

    def named(self, name: str) -> ResultView:
        return result_views.named(name, self.among)

    def show_view(self, name: str) -> None:
        self._name = name
        self.view.sought.clear()
        self._count()

    def _chose(self) -> None:
        """Store a choice with the view it was made in, which may no longer be the current one."""
        self._chosen.setdefault(self.choosers.of, {}).update(self.choosers.values())
        if self.choosers.of == self._name:
            self._count()

    def _count(self) -> None:
        """Compute the view with its choices; choices that only affect its presentation reuse the last count."""
        if self._stale and self.HIDES:
            self.session.ask_later(self.views.offer, result_views.in_use, self.among)
        self._stale = False
        view = self.named(self._name)
        chosen = self._chosen.get(self._name, {}) | self.more()
        known = self._known.get(self._name)
        same = known is not None and result_views.same_count(view, {**known.chosen, **chosen}, known.chosen)
        computed = known.count if known is not None and same and known.sheets else None
        self.hint.setText("Counting…")
        self.session.ask_newest(self._counted, self.question(), self.among, self._name, chosen, computed)

    def _counted(self, answer: ChosenView) -> None:
        self.hint.setText("")
        if isinstance(answer, CountedView):
            self._known[answer.view] = answer
            if isinstance(self.body.currentWidget(), BehindPane) and not self.views.hasFocus():
                # Do not replace the list someone is reading: it belongs to the figure it was opened from.
                self._stale = True
                return
        view = self.named(answer.view)
        self.choosers.offer(answer.choices, answer.chosen, answer.view)
        self.title.setText(view.title)
        if not isinstance(answer, CountedView):
            self.refuse(answer)
            return
        self.offer_more(bool(answer.sheets))
        self.hint.setText(f"{view.about} {self.DEEPER}" if answer.sheets else "")
        if not answer.sheets:
            self.show_nothing(answer)
            return
        self.leaving.name = answer.view
        self.view.show_sheets(answer.sheets, answer.chosen.get("metric", ""))
        self.show_body(self.view)

    def show_nothing(self, counted_view: CountedView) -> None:
        view = self.named(counted_view.view)
        self.show_empty("Nothing to show here yet", f"{view.about} {view.lacks}")

    def show_empty(self, headline: str, words: str) -> None:
        self.empty.show_words(headline, words)
        words, *to = self.lead(self.named(self._name))
        self._lead.setText(words)
        self._other.setVisible(to != list(self.OTHERWISE[1:]))
        self.show_body(self.empty)

    def show_body(self, widget: QWidget) -> None:
        """Show the figures, the data behind them, or the message in their place."""
        focus = focused(self.window())
        inside = focus is not None and self.body.isAncestorOf(focus)
        self.body.setCurrentWidget(widget)
        if inside:
            self.focus_first()
        # Without figures and without a choice made, the lists are only in the way.
        empty = widget is self.empty and not self._chosen.get(self._name)
        self.choosers.setVisible(not (empty or widget is self.denied or isinstance(widget, BehindPane)))
        self._turned()

    def _turned(self) -> None:
        there = self.body.currentWidget() is self.view
        self.leaving.enable(
            there and self.view.model.rowCount() > 0, there and self.view.pictures.picture() is not None
        )

    def _show_response(self, response_id: str) -> None:
        if response_id and "of" in self.choosers.lists:
            self.choosers.choose("of", response_id)

    def open_behind(self, line: SheetLine, cell: SheetCell | None) -> None:
        """Show what a cell or its line is based on, or go to the page where the item is worked on."""
        if self.behind.look(line, cell):
            self.show_body(self.behind)
            self.behind.focus_list()
        elif line.item_id:
            self.session.go("Author", item_id=line.item_id)

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
        panes: list[QWidget] = [self.views] if len(self.among) > 1 else []
        here = self.body.currentWidget()
        if here is self.view:
            panes += [self.view.table, self.view.account]
        elif isinstance(here, BehindPane):
            panes += [here.pane]
        go_round([(pane, partial(pane.setFocus, Qt.FocusReason.TabFocusReason)) for pane in panes])

    def _go_on(self) -> None:
        _, page, place = self.lead(self.named(self._name))
        self.session.go(page, **place)


class ViewerPage(Page):
    def __init__(self, session: ProjectSession, viewer: Viewer) -> None:
        super().__init__(session)
        self.viewer = viewer
        vertical(viewer, on=self, margins=(20, 6, 20, 12))
        self.bind_all(viewer.acts)
        self.bind("other_pane", viewer.other_pane)

    def navigate(self, place: dict[str, Any]) -> None:
        self.viewer.go(place)

    def focus_first(self) -> None:
        self.viewer.focus_first()


GROUPS = dict.fromkeys((result_views.REPORTS, result_views.BENCHMARK), "More")
NAME, ACT = int(Qt.ItemDataRole.UserRole), int(Qt.ItemDataRole.UserRole) + 1


class ViewList(QListWidget):
    """One line for each view under the heading of its group; `chosen` emits the name of the selected one.

    With a `session`, views without data are left out, and shown muted on demand or when `sought`; a line at the end
    shows them all, another leads to the choice of what the project uses.
    """

    chosen = Signal(str)

    def __init__(
        self,
        views: Sequence[ResultView],
        words: str,
        session: ProjectSession | None = None,
        leads: Mapping[str, Lead] | None = None,
    ) -> None:
        """`leads` are other pages listed first in a group, by the group's name."""
        super().__init__()
        with_properties(self, frameShape=QFrame.Shape.NoFrame, accessibleName=words)
        wrap_lines(self)
        self.sought = search_field("Find a view…", "Find a view", self._fill)
        self._heads: list[QListWidgetItem] = []
        self._among, self.is_whole = {view.name: view for view in views}, False
        self._rests: Mapping[str, bool] | None = None if session is None else {}
        for group, of in groupby(views, lambda view: GROUPS.get(view.part, view.part)):
            if group:
                self._heads.append(self._add(group, Qt.ItemFlag.NoItemFlags))
            if session is not None and leads and group and group in leads:
                label, page, place = leads[group]
                self._add_act(label, partial(session.go, page, **place))
            for view in of:
                self._add(view.title).setData(NAME, view.name)
        if session is not None:
            self._every = self._add_act("", self.turn_all)
            if may_choose_uses(session):
                self._add_act(ANOTHER_KIND, partial(session.go, "Project", part="uses"))
        theme.follow(self, self._restyle)
        self.currentItemChanged.connect(self._changed)
        self.itemClicked.connect(self._act)

    def _add(self, words: str, flags: Qt.ItemFlag | None = None) -> QListWidgetItem:
        line = QListWidgetItem(words)
        if flags is not None:
            line.setFlags(flags)
        self.addItem(line)
        return line

    def _add_act(self, words: str, act: Callable[[], object]) -> QListWidgetItem:
        """A line that triggers a function when it is clicked."""
        line = self._add(words, Qt.ItemFlag.ItemIsEnabled)
        line.setData(ACT, act)
        return line

    def _lines(self) -> list[QListWidgetItem]:
        return [self.item(place) for place in range(self.count())]

    def offer(self, rests: Mapping[str, bool]) -> None:
        """Set the views in use, by name, each with whether it has data."""
        self._rests = rests
        self._fill()

    def turn_all(self) -> None:
        """Show all views in use, or only those with data."""
        self.is_whole = not self.is_whole
        self._fill()

    def _fill(self) -> None:
        rests, current, head = self._rests, self.currentItem(), None
        for line in self._lines():
            view = self._among.get(line.data(NAME) or "")
            if view is None:
                head = line if line in self._heads else head
                line.setHidden(line is head)
                if head is not None and line is not head:
                    head.setHidden(False)
                continue
            there, known = (
                rests is None or rests.get(view.name, False),
                rests is not None and view.name in rests,
            )
            matching = self.sought.finds(f"{view.title} {view.about}")
            offered = there or (known and (self.is_whole or bool(self.sought.text().strip())))
            line.setHidden(not ((offered and matching) or line is current))
            line.setToolTip(tooltip(view.about if there else f"{view.about} {view.lacks}"))
            line.setForeground(theme.token("text" if there else "text-muted"))
            if head is not None and not line.isHidden():
                head.setHidden(False)
        if rests is not None:
            without = sum(not there for there in rests.values())
            self._every.setText("Only views with data" if self.is_whole else f"Show {without:,} more views")
            self._every.setHidden(not without)

    def _restyle(self) -> None:
        for line in self._lines():
            if line.data(ACT):
                line.setForeground(theme.token("accent"))
        for line in self._heads:
            line.setForeground(theme.token("text-muted"))
            font = line.font()
            font.setBold(True)
            font.setPointSizeF(theme.current().points * 0.88)
            line.setFont(font)
        self._fill()
        px = theme.current().px
        self.setMinimumWidth(px(120))
        # Sixteen views must fit into a small window.
        self.setStyleSheet(
            "QListWidget { background: transparent; border: none; }"
            f"QListWidget::item {{ padding: {px(4)}px {px(8)}px; }}"
        )

    def _changed(self, line: QListWidgetItem | None) -> None:
        if line is not None and line.data(NAME):
            self.chosen.emit(line.data(NAME))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._act(self.currentItem())

    def _act(self, line: QListWidgetItem | None) -> None:
        if line is not None and (act := line.data(ACT)):
            act()

    def choose(self, name: str) -> None:
        for line in self._lines():
            if line.data(NAME) == name:
                self.setCurrentItem(line)
                self._fill()

    def turn(self, by: int) -> None:
        here = self.currentRow()
        for step in range(1, self.count() + 1):
            line = self.item((here + by * step) % self.count())
            if line.data(NAME) and not line.isHidden():
                self.setCurrentItem(line)
                return
