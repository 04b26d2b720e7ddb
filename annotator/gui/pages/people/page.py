"""The People page: people, assignments and progress."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from annotator.actions.assignments import assignments, planning
from annotator.actions.assignments.planning import Load, PlannedPairing, PlannedStage, PlannedWork
from annotator.actions.items import items
from annotator.actions.labelling import board
from annotator.actions.labelling.board import AssignmentStatus
from annotator.actions.project import people
from annotator.domain.experts.assignment import Person, Purpose, Role, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.texts.canonical import Change
from annotator.domain.texts.words import counted, natural
from annotator.gui import keys, theme
from annotator.gui.pages.people.board_view import BoardView
from annotator.gui.pages.people.plan_form import PlanForm
from annotator.gui.pages.people.roster import PeopleTable
from annotator.gui.review.sheets import CellsModel, Column, Index, resetting
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession, in_order, named
from annotator.gui.widgets.bars import KeyButton, Tabs
from annotator.gui.widgets.basics import PlainArea, PlainLabel, Stack, StretchSpace, later, tooltip, vertical
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import LinesTable
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.splitter import Splitter

CELL, SQUARE_ROW = 34, 26

AGAIN = "Repeat"
# An item's key, and who is on each of its stages.
ItemPlan = tuple[str, Mapping[str, PlannedStage]]

ROW, BAR, GAP = 24, 10, 10
NAMES, WORDS = 0.25, 0.47
START = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
BEFORE, ADDED, JUDGED = "bar-1", "bar-2", "bar-3"

# So many reasons are shown; the item-by-item table has them all.
REASONS = 6
STAGE_WIDTH = 136


class PlanPreview(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.summary, self.answer = PlainLabel("", "subtitle", wrap=True), MessageBar()
        self.load = LoadBars()
        self.met, self.square = PlainLabel("", "hint", wrap=True), PairingSquare()
        self.lines = CellsModel[ItemPlan]((), self)
        self.table = LinesTable("The plan item by item", self.lines)
        self.table.horizontalHeader().setDefaultSectionSize(STAGE_WIDTH)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.tabs = self.part_tabs = Tabs("Views of the plan")
        inside = QWidget()
        self._heads = [PlainLabel("Load", "strong"), PlainLabel("Pairs", "strong")]
        vertical(
            self._heads[0],
            self.load,
            8,
            self._heads[1],
            self.met,
            self.square,
            StretchSpace(1),
            on=inside,
            margins=(0, 10, 10, 8),
            spacing=6,
        )
        self.tabs.addTab(PlainArea("Overview", inside), "Load and pairings")
        self.tabs.addTab(self.table, "Item by item")
        vertical(self.summary, self.answer, (self.tabs, 1), on=self, margins=(14, 8, 2, 0), spacing=8)

    def show_preview(self, plan: AssignmentPlan, found: PlannedWork, everybody: Sequence[Person]) -> None:
        by_alias = sorted(everybody, key=lambda person: natural(person.alias))
        known = {person.id: (person.alias, person.name) for person in by_alias}
        self.summary.setText(_summary(found))
        self._say(found)
        self.load.show_load(found.load)
        chosen = [person.id for person in by_alias if person.id in plan.annotators]
        pairs = plan.overlap > 1 and len(chosen) > 1 and bool(found.pairings)
        self.square.show_pairs(of_ids(known, chosen) if pairs else [], found.pairings)
        self.met.setText(in_a_sentence(found.pairings) if pairs else "")
        self._heads[0].setVisible(bool(found.load))
        for part in (self._heads[1], self.met, self.square):
            part.setVisible(pairs)
        aliases = {key: alias for key, (alias, _) in known.items()}
        self.lines.show(item_plans(found.lines), columns(found.lines, aliases, plan.overlap))

    def _say(self, found: PlannedWork) -> None:
        if found.refusals:
            more = len(found.refusals) - REASONS
            reasons = [*found.refusals[:REASONS], *([f"… and {more} more"] if more > 0 else [])]
            self.answer.show_message("error", "This plan cannot be met.", "\n".join(reasons), lasting=True)
        elif found.notes:
            self.answer.show_message("info", found.notes[0], "\n".join(found.notes[1:]), lasting=True)
        else:
            self.answer.clear()


def _summary(found: PlannedWork) -> str:
    if found.refusals:
        return "Nothing can be assigned yet"
    if not found.new:
        return "Nothing is left to assign"
    people = sum(1 for each in found.load if each.new)
    items = len({line.item_id for line in found.lines})
    to = counted(people, "person", "people")
    return f"{counted(found.new, 'piece')} of work for {to} on {counted(items, 'item')}"


class LoadBars(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._load: list[Load] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.watch(self, self.updateGeometry)

    def show_load(self, load: Sequence[Load]) -> None:
        self._load = sorted(load, key=lambda each: natural(each.alias))
        self.setAccessibleName("Load by person")
        self.setAccessibleDescription(
            "; ".join(f"{named(each.alias, each.name)}: {words(each)}" for each in self._load)
        )
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(360), (len(self._load) + 1) * self._row() if self._load else 0)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.current().px(200), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        most = max((each.assignments for each in self._load), default=1)
        for place, each in enumerate(self._load):
            self._draw(painter, QRect(0, place * self._row(), self.width(), self._row()), each, most)
        if self._load:
            self._draw_key(painter, QRect(0, len(self._load) * self._row(), self.width(), self._row()))

    def _row(self) -> int:
        return max(theme.current().px(ROW), self.fontMetrics().height() + theme.current().px(6))

    def _draw(self, painter: QPainter, line: QRect, each: Load, most: int) -> None:
        gap, metrics = theme.current().px(GAP), self.fontMetrics()
        names, said = int(line.width() * NAMES), int(line.width() * WORDS)
        painter.setPen(theme.token("text"))
        name = metrics.elidedText(named(each.alias, each.name), Qt.TextElideMode.ElideRight, names)
        painter.drawText(QRect(0, line.top(), names, line.height()), START, name)
        painter.setPen(theme.token("text-muted"))
        short = metrics.elidedText(words(each), Qt.TextElideMode.ElideRight, said)
        painter.drawText(QRect(line.width() - said, line.top(), said, line.height()), START, short)
        bar = QRect(names + gap, line.top(), line.width() - names - said - 2 * gap, line.height())
        self._draw_bar(painter, bar, each, most)

    def _draw_bar(self, painter: QPainter, room: QRect, each: Load, most: int) -> None:
        height = theme.current().px(BAR)
        top = room.top() + (room.height() - height) / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.token("sunken"))
        painter.drawRect(QRectF(room.left(), top, room.width(), height))
        left = float(room.left())
        for count, colour in parts(each):
            wide = room.width() * count / most
            painter.setBrush(theme.token(colour))
            painter.drawRect(QRectF(left, top, max(0.0, wide - 1), height))
            left += wide

    def _draw_key(self, painter: QPainter, line: QRect) -> None:
        px, metrics = theme.current().px, self.fontMetrics()
        left, dot = px(0), px(9)
        for said, colour in (
            ("already assigned", BEFORE),
            ("added by this plan", ADDED),
            ("to adjudicate", JUDGED),
        ):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.token(colour))
            painter.drawRect(QRect(left, line.center().y() - dot // 2, dot, dot))
            painter.setPen(theme.token("text-muted"))
            painter.drawText(QRect(left + dot + px(5), line.top(), line.width(), line.height()), START, said)
            left += dot + px(20) + metrics.horizontalAdvance(said)


def parts(each: Load) -> tuple[tuple[int, str], ...]:
    """A person's load cut up: what they had, what is added, and what of both is adjudication."""
    writing = each.assignments - each.adjudications
    added = min(each.new, writing)
    return (writing - added, BEFORE), (added, ADDED), (each.adjudications, JUDGED)


def words(each: Load) -> str:
    said = [counted(each.items, "item")] if each.items else []
    if each.assignments > each.adjudications:
        said.append(counted(each.assignments - each.adjudications, "piece"))
    if each.adjudications:
        said.append(f"{each.adjudications:,} to adjudicate")
    if each.repeats:
        said.append(counted(each.repeats, "repeat"))
    return " · ".join(said)


def item_plans(lines: Iterable[PlannedStage]) -> list[ItemPlan]:
    result: dict[str, tuple[str, dict[str, PlannedStage]]] = {}
    for line in lines:
        result.setdefault(line.item_id, (line.item_key, {}))[1][_stage(line)] = line
    return list(result.values())


def columns(
    lines: Iterable[PlannedStage], aliases: Mapping[str, str], wanted: int
) -> Sequence[Column[ItemPlan]]:
    """The stages of these lines; a cell with fewer than the `wanted` people carries a mark and says so."""
    there = set(map(_stage, lines))
    stages = [name for name in (*(stage.value for stage in Stage), AGAIN) if name in there]
    return (
        Column("Item", lambda plan: plan[0], tip=lambda _: ""),
        *(_column(name, aliases, wanted) for name in stages),
    )


def _column(name: str, aliases: Mapping[str, str], wanted: int) -> Column[ItemPlan]:
    def people(ids: Iterable[str]) -> str:
        return ", ".join(sorted((aliases.get(person, "?") for person in ids), key=natural))

    def words(plan: ItemPlan) -> str:
        line = plan[1].get(name)
        if line is None:
            return "–"
        return f"{people(line.people)} and nobody else" if _short(line, wanted) else people(line.people)

    def tip(plan: ItemPlan) -> str:
        line = plan[1].get(name)
        if line is None:
            return ""
        pilot = "A pilot item, assigned to everyone. " if line.purpose is Purpose.PILOT else ""
        return f"{pilot}{f'New: {people(line.new)}.' if line.new else 'All of them have it already.'}"

    def look(plan: ItemPlan) -> tuple[str, str] | None:
        line = plan[1].get(name)
        if line is not None and _short(line, wanted):
            return "warning", "state-disagree"
        return ("", "text-muted") if line is not None and not line.new else None

    return Column(name.capitalize(), words, tip=tip, look=look)


def _short(line: PlannedStage, wanted: int) -> bool:
    shared = line.trial == 1 and line.stage is not Stage.ADJUDICATION
    return shared and len(line.people) < wanted


def _stage(line: PlannedStage) -> str:
    return AGAIN if line.trial > 1 else line.stage.value


class PairingSquare(QTableView):
    """People down and across; where they are too many, it scrolls sideways."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = PairingsModel(self)
        self.setModel(self.pairs)
        self.setItemDelegate(_Tinted(self))
        self.setAccessibleName("Number of shared items per pair of people")
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.watch(self, self.fit)

    def show_pairs(self, people: Sequence[tuple[str, str, str]], pairings: Sequence[PlannedPairing]) -> None:
        self.pairs.show(people, pairings)
        self.fit()

    def fit(self) -> None:
        """Cells that hold an alias each, and room for all of them where there is any."""
        px, people = theme.current().px, self.pairs.rowCount()
        names = [str(self.pairs.headerData(n, Qt.Orientation.Horizontal)) for n in range(people)]
        titles = (self.horizontalHeader().sectionSizeHint(number) for number in range(people))
        wide = max(px(CELL), *titles) if names else px(CELL)
        self.horizontalHeader().setDefaultSectionSize(wide)
        self.verticalHeader().setDefaultSectionSize(px(SQUARE_ROW))
        head = self.horizontalHeader().sizeHint().height()
        self.setMaximumWidth(self._names_width(names) + wide * people + 2 * self.frameWidth() + 2)
        self.setFixedHeight(head + px(SQUARE_ROW) * people + px(14))

    def _names_width(self, names: Sequence[str]) -> int:
        """The room for the aliases down the side, which the header itself tells only once it is shown."""
        wide = max((self.fontMetrics().horizontalAdvance(name) for name in names), default=0)
        self.verticalHeader().setFixedWidth(wide + theme.current().px(28))
        return wide + theme.current().px(28)


class _Tinted(QStyledItemDelegate):
    """A style sheet leaves no background of a cell's own: it is drawn here."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if (tint := index.data(Qt.ItemDataRole.BackgroundRole)) is not None:
            painter.fillRect(option.rect, tint)
        super().paint(painter, option, index)


class PairingsModel(QAbstractTableModel):
    """Cells are tinted by how often the two meet; those who never do show a dash."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._people: list[tuple[str, str, str]] = []
        self._items: dict[frozenset[str], int] = {}

    def show(self, people: Sequence[tuple[str, str, str]], pairings: Sequence[PlannedPairing]) -> None:
        with resetting(self):
            self._people = list(people)
            self._items = {frozenset((pair.a, pair.b)): pair.items for pair in pairings}

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._people)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._people)

    def headerData(
        self, section: int, _orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        _, alias, name = self._people[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return alias
        return tooltip(name) if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() == index.column():
            return None
        items = self._count(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return str(items) if items else "–"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignCenter)
        if role == Qt.ItemDataRole.BackgroundRole:
            most = max(self._items.values(), default=0)
            if not items or not most:
                return None
            colour = QColor(theme.token("bar-1"))
            colour.setAlphaF(0.15 + 0.5 * items / most)
            return colour
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.token("text" if items else "text-muted")
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            a, b = self._people[index.row()][2], self._people[index.column()][2]
            words = f"{a} and {b}: {items} {'item' if items == 1 else 'items'} together"
            return tooltip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        return None

    def _count(self, index: Index) -> int:
        return self._items.get(frozenset((self._people[index.row()][0], self._people[index.column()][0])), 0)


def in_a_sentence(pairings: Sequence[PlannedPairing]) -> str:
    met = [pair.items for pair in pairings if pair.items]
    if not met:
        return "No two people answer the same item."
    often = str(min(met)) if min(met) == max(met) else f"{min(met)} to {max(met)}"
    often += " item" if max(met) == 1 else " items"
    never = len(pairings) - len(met)
    if not never:
        return f"Each pair shares {often}."
    return f"{len(met):,} of {len(pairings):,} possible pairs share items, {often} each."


def of_ids(known: Mapping[str, tuple[str, str]], ids: Sequence[str]) -> list[tuple[str, str, str]]:
    """(id, alias, name) of each of these people, in their order."""
    return [(person_id, *known[person_id]) for person_id in ids if person_id in known]


PLAN_SETTLE_MS = 150

# People: a coordinator who used to keep this in a spreadsheet and found out late that a pair was never complete.
TABS = ("Team", "Hand out", "Progress")
ROSTER, HAND_OUT, BOARD = range(3)
AT_ONCE = ("person", "assignment", "item", "import", "setting")
SETTLE_MS = 400


class PeoplePage(Page):
    """Three tabs over the same people and the same assignments; the keys act on the one in view."""

    NAME = "People"
    TABS = TABS
    ICON = "annotator"
    HEARS = (*AT_ONCE, "artifact", "agreement", "adjudication", "ruling", "dispute", "parcel", "tray")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.roster, self.out, self.board = PeopleTable(session), HandOut(session), BoardView(session)
        self.tabs = self.part_tabs = Tabs()
        for words, pane in zip(TABS, (self.roster, self.out, self.board), strict=True):
            self.tabs.addTab(pane, words)
        self.tabs.currentChanged.connect(lambda _: self._fill())
        self._later = later(self, self._fill, SETTLE_MS)
        vertical((self.tabs, 1), on=self, margins=(20, 16, 20, 12))
        for act, tab, slot in (
            ("rename_person", ROSTER, self.roster.begin_renaming),
            ("leave_or_return", ROSTER, self.roster.leave_or_return),
            ("submit", HAND_OUT, self.out.submit),
            ("withdraw", BOARD, self.board.withdraw),
            ("change_due", BOARD, self.board.open_due),
            ("reassign", BOARD, self.board.offer_people),
            ("find", BOARD, self.board.seek),
            ("next_open", BOARD, self.board.next_trouble),
        ):
            self.bind(act, partial(self._in_tab, tab, slot))
        self.bind("other_pane", lambda: self._turn(1))

    def _in_tab(self, tab: int, slot: Callable[[], object]) -> None:
        if self.tabs.currentIndex() == tab:
            slot()

    def navigate(self, place: dict[str, Any]) -> None:
        """Show everything as it now is; `part` opens a tab by its name, `state` narrows who is where."""
        if place.get("part") in TABS:
            self.tabs.setCurrentIndex(TABS.index(place["part"]))
        self._fill()
        if place.get("state"):
            self.board.show_state(str(place["state"]))

    def focus_first(self) -> None:
        pane: Any = self.tabs.currentWidget()
        pane.focus_first()

    def on_change(self, change: Change) -> None:
        if change.kind in AT_ONCE:
            self._fill()
        else:
            self._later.start()

    def _turn(self, by: int) -> None:
        places = [place for place in range(len(TABS)) if self.tabs.isTabVisible(place)]
        here = places.index(self.tabs.currentIndex())
        self.tabs.setCurrentIndex(places[(here + by) % len(places)])
        self.focus_first()

    def _fill(self) -> None:
        self._later.stop()
        me = self.session.ask(people.someone)
        coordinates = me is not None and me.has(Role.COORDINATOR)
        everybody = in_order(self.session.ask(people.people) or [])
        lines = self.session.ask(board.board) or []
        self.tabs.setTabVisible(HAND_OUT, coordinates)
        late = sum(line.overdue for line in lines)
        name = TABS[BOARD] if coordinates else "My work"
        self.tabs.setTabText(BOARD, f"{name}  {late} late" if late else name)
        tab = self.tabs.currentIndex()
        if tab == ROSTER:
            work = {total.key: total for total in board.per_person(lines)}
            self.roster.fill(everybody, work, coordinates=coordinates)
        elif tab == HAND_OUT:
            self.out.fill(everybody, lines)
        else:
            self.board.fill(lines, coordinates=coordinates)


class HandOut(QWidget):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__()
        self._session = session
        self._people: Sequence[Person] = ()
        self.answer = MessageBar()
        self.form, self.preview = PlanForm(session, self.answer), PlanPreview()
        self._later = later(self, self.work_out, PLAN_SETTLE_MS)
        self.form.changed.connect(self._later.start)
        self.assign = KeyButton("Assign", act="submit", role="primary", press=self.submit)
        self.nothing = EmptyState(
            "items",
            "No items to hand out",
            "Work is handed out item by item. Import a benchmark, or write the first item yourself.",
        )
        self.nothing.add_action("Import…", lambda: session.go("Import"), primary=True)
        self.nothing.add_action("Go to Items", lambda: session.go("Items"))
        area = PlainArea("Work to hand out", self.form)
        parts = Splitter("people/hand out", parts=(area, self.preview), sizes=(470, 600), stretch=(2, 3))
        foot = QHBoxLayout()
        foot.addWidget(PlainLabel(
            "Existing assignments stay and are counted; the adjudicator of an item is never one of its "
            "annotators.", "hint", wrap=True,
        ), 1)  # fmt: skip
        foot.addWidget(self.assign)
        work = QWidget()
        column = vertical((parts, 1), on=work, margins=(0, 6, 0, 0), spacing=6)
        self.answer.float_over(parts)
        column.addLayout(foot)
        self.body = Stack(self.nothing, work)
        vertical(self.body, on=self, margins=0)

    def focus_first(self) -> None:
        if self.body.currentIndex() == 1:
            self.form.focus_first()

    def fill(self, everybody: Sequence[Person], lines: Sequence[AssignmentStatus]) -> None:
        self._people = everybody
        taken: defaultdict[Stage, set[str]] = defaultdict(set)
        for line in lines:
            taken[line.stage].add(line.item_id)
        self.body.setCurrentIndex(1 if self._session.ask(items.count) else 0)
        self.form.fill(everybody, taken)
        self.work_out()

    def work_out(self) -> None:
        self._later.stop()
        plan = self.form.plan()
        if (result := self._session.ask(planning.preview, plan)) is not None:
            self.preview.show_preview(plan, result, self._people)
            # One that cannot be met may be pressed, too: it then says why.
            wanted = bool(result.new or result.refusals)
            self.assign.setEnabled(wanted and not self._session.project.readonly)

    def submit(self) -> None:
        """Assign the plan; one that cannot be met says why, where it is shown."""
        if self._later.isActive():
            self.work_out()
        if self.body.currentIndex() == 0 or not self.assign.isEnabled():
            return
        self.answer.clear()
        change = self._session.do(assignments.assign, self.form.plan())
        self.work_out()
        if change is not None:
            made = counted(len(change.after["rows"]), "piece")
            self.answer.show_message(
                "success", f"Assigned {made} of work.", f"{keys.shown('undo')} undoes it."
            )
            self.answer.set_action("See progress", lambda: self._session.go("People", part="Progress"))
