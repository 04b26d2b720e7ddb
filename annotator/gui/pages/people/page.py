"""The People page: people, assignments and progress."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import (
    QWidget,
)

from annotator.actions.assignments import assignments, planning
from annotator.actions.assignments.planning import Load, PlannedPairing, PlannedStage, PlannedWork
from annotator.actions.items import items
from annotator.domain.common import Change, counted, grouped, natural, words_that_hold
from annotator.domain.experts.assignment import Person, Purpose, Role, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.gui import keys, theme
from annotator.gui.pages.people.plan_form import PlanForm
from annotator.gui.pages.people.roster import TeamWork
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.session.page import PartedPage, Tab, TabPart
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import KeyButton, Tabs
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Stack,
    column_of,
    horizontal,
    later,
    push_button,
    vertical,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.splitter import Splitter

if TYPE_CHECKING:
    from annotator.gui.pages.inbox.page import HandingOut

AGAIN = "Repeat"
# An item's key, and the people planned for each of its stages.
ItemPlan = tuple[str, Mapping[str, PlannedStage]]

# At most this many reasons are shown; the item-by-item table has them all.
REASONS = 6
STAGE_WIDTH = 136


class PlanPreview(QWidget):
    def __init__(self, add_people: Callable[[], object]) -> None:
        super().__init__()
        self._add_people = add_people
        self.summary, self.answer = PlainLabel("", "subtitle", wrap=True), MessageBar()
        self.met = PlainLabel("", "hint", wrap=True)
        self.load, self.lines = CellsModel[Load]((), self), CellsModel[ItemPlan]((), self)
        self.loads = CellsTable("Load by person, and how many items each pair shares", self.load, 0)
        self.table = CellsTable("The plan item by item", self.lines, 0)
        self.tabs = self.part_tabs = Tabs("Views of the plan")
        overview = column_of(self.met, (self.loads, 1), margins=(0, 10, 0, 0), spacing=6)
        self.tabs.addTab(overview, "Load and pairings")
        self.tabs.addTab(self.table, "Item by item")
        vertical(self.summary, self.answer, (self.tabs, 1), on=self, margins=(14, 8, 2, 0), spacing=8)

    def show_preview(self, plan: AssignmentPlan, work: PlannedWork, everybody: Sequence[Person]) -> None:
        aliases = {
            person.id: person.alias for person in sorted(everybody, key=lambda person: natural(person.alias))
        }
        self.summary.setText(_summary(work))
        self._say(work)
        chosen = [person_id for person_id in aliases if person_id in plan.annotators]
        pairs = plan.overlap > 1 and len(chosen) > 1 and bool(work.pairings)
        # If all pairs share equally many items, the sentence is complete.
        uneven = len({pair.items for pair in work.pairings}) > 1
        counting = " The columns of people count them." if uneven else ""
        self.met.show_words(f"{in_a_sentence(work.pairings)}{counting}" if pairs else "")
        loads = sorted(work.load, key=lambda each: natural(each.alias))
        met = {frozenset((pair.a, pair.b)): pair.items for pair in work.pairings}
        beside = [_met(person_id, aliases[person_id], met) for person_id in chosen if pairs and uneven]
        filled = [
            column
            for column in LOADS
            if not column.number or any(column.words(each) != "0" for each in loads)
        ]
        self.load.show(loads, (*filled, *beside))
        self.lines.show(item_plans(work.lines), columns(work.lines, aliases, plan.overlap))

    def _say(self, work: PlannedWork) -> None:
        if work.refusals:
            more = len(work.refusals) - REASONS
            reasons = [*work.refusals[:REASONS], *([f"… and {more} more"] if more > 0 else [])]
            self.answer.show_message("error", "This plan cannot be met.", "\n".join(reasons), lasting=True)
            self.answer.set_action("Add people", self._add_people)
        elif work.notes:
            self.answer.show_message("info", work.notes[0], "\n".join(work.notes[1:]), lasting=True)
        else:
            self.answer.clear()


def _summary(work: PlannedWork) -> str:
    to = counted(sum(bool(each.new) for each in work.load), "person", "people")
    items = counted(len({line.item_id for line in work.lines if line.new}), "item")
    return words_that_hold({
        "Nothing can be assigned yet": work.refusals,
        "Nothing is left to assign": not work.new,
        f"{counted(work.new, 'piece')} of work for {to} on {items}": True,
    })[0]  # fmt: skip


LOADS: Sequence[Column[Load]] = (
    Column("Person", lambda each: each.alias, tip=lambda each: each.name, firm=True),
    Column("Items", lambda each: f"{each.items:,}", number=True, about="Items that they write or label for"),
    Column("Had", lambda each: f"{each.assignments - each.new:,}", number=True, about="Already assigned"),
    Column("New", lambda each: f"{each.new:,}", number=True, about="Added by this plan"),
    Column("Adjudicates", lambda each: f"{each.adjudications:,}", number=True),
    Column("Repeats", lambda each: f"{each.repeats:,}", number=True),
)


def _met(person_id: str, alias: str, met: Mapping[frozenset[str], int]) -> Column[Load]:
    def words(each: Load) -> str:
        items = met.get(frozenset((each.person_id, person_id)), 0)
        return f"{items:,}" if items else "" if each.person_id == person_id else "–"

    return Column(alias, words, number=True, about=f"Items that both they and {alias} answer")


def item_plans(lines: Iterable[PlannedStage]) -> list[ItemPlan]:
    result: dict[str, tuple[str, dict[str, PlannedStage]]] = {}
    for line in lines:
        result.setdefault(line.item_id, (line.item_key, {}))[1][_stage(line)] = line
    return list(result.values())


def columns(
    lines: Iterable[PlannedStage], aliases: Mapping[str, str], overlap: int
) -> Sequence[Column[ItemPlan]]:
    """The columns for the stages of these lines; a cell with too few people is marked and says so."""
    there = set(map(_stage, lines))
    stages = [name for name in (*(stage.value for stage in Stage), AGAIN) if name in there]
    return (
        Column("Item", lambda plan: plan[0], tip=lambda _: ""),
        *(_column(name, aliases, overlap) for name in stages),
    )


def _column(name: str, aliases: Mapping[str, str], overlap: int) -> Column[ItemPlan]:
    def people(ids: Iterable[str]) -> str:
        return ", ".join(sorted((aliases.get(person, "?") for person in ids), key=natural))

    def words(plan: ItemPlan) -> str:
        line = plan[1].get(name)
        if line is None:
            return "–"
        return f"{people(line.people)} and nobody else" if _short(line, overlap) else people(line.people)

    def tip(plan: ItemPlan) -> str:
        line = plan[1].get(name)
        if line is None:
            return ""
        pilot = "A pilot item, assigned to everyone. " if line.purpose is Purpose.PILOT else ""
        return f"{pilot}{f'New: {people(line.new)}.' if line.new else 'All of them have it already.'}"

    def look(plan: ItemPlan) -> tuple[str, str] | None:
        line = plan[1].get(name)
        if line is not None and _short(line, overlap):
            return "warning", "state-disagree"
        return ("", "text-muted") if line is not None and not line.new else None

    return Column(name.capitalize(), words, STAGE_WIDTH, tip=tip, look=look)


def _short(line: PlannedStage, overlap: int) -> bool:
    shared = line.trial == 1 and line.stage is not Stage.ADJUDICATION
    return shared and len(line.people) < overlap


def _stage(line: PlannedStage) -> str:
    return AGAIN if line.trial > 1 else line.stage.value


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


PLAN_SETTLE_MS = 150

# People: a coordinator who used to keep this in a spreadsheet and found out late that a pair was never complete.
HERE = "annotator.gui.pages.people"


class PeoplePage(PartedPage):
    NAME = "People"
    TABS = ("Team", "Hand out", "Progress")
    PARTS = ("roster", "out", "board")
    OPEN = ("Team", "Progress")
    ABOVE = 16
    AT_ONCE = frozenset({"person", "assignment", "item", "import", "setting"})
    HEARS = AT_ONCE | frozenset(
        {"artifact", "agreement", "adjudication", "ruling", "dispute", "parcel", "tray"}
    )

    def __init__(self, session: ProjectSession) -> None:
        self.team = TeamWork()
        super().__init__(session)

    roster = Tab(f"{HERE}.roster", "PeopleTable", "team")
    out = Tab(f"{HERE}.page", "HandOut", "team")
    board = Tab(f"{HERE}.board_view", "BoardView", "team")

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the current state; `part` opens a tab by its name, `state` filters the board."""
        if isinstance(self.part, HandOut):
            self.part.begin()
        super().navigate(place)

    def on_change(self, change: Change) -> None:
        if change.kind in self.AT_ONCE:
            self._fill()
        else:
            super().on_change(change)

    def fill(self) -> None:
        team = self.team
        team.read(self.session)
        self._offer(self.offered())
        late = sum(line.overdue for line in team.lines)
        name = self.TABS[BOARD] if team.coordinates else "My work"
        self.tabs.setTabText(BOARD, f"{name}  {late} late" if late else name)
        super().fill()


# Indexes of Assign's stack, beside the empty project's message: the plan, and the task files.
PLAN, TASKS = 1, 2
BOARD = 2


class HandOut(TabPart):
    def __init__(self, session: ProjectSession, team: TeamWork) -> None:
        super().__init__(session)
        self._team, self._pieces = team, 0
        self.acts = {"submit": self.submit}
        self.form = PlanForm(session, self.answer)
        self.preview = PlanPreview(self.form.new[Role.ANNOTATOR].setFocus)
        self._later = later(self, self.work_out, PLAN_SETTLE_MS)
        self.form.changed.connect(self._later.start)
        self.assign = KeyButton("Assign", act="submit", role="primary", press=self.submit)
        self.nothing = EmptyState(
            "items",
            "No items to assign",
            "Work is assigned item by item. Import a benchmark, or write the first item yourself.",
            actions=[("Import…", lambda: session.go("Import")), ("Go to Items", lambda: session.go("Items"))],
        )
        area = PlainArea("Work to hand out", self.form)
        parts = Splitter("people/hand out", parts=(area, self.preview), sizes=(500, 580), stretch=(2, 3))
        about = PlainLabel(
            "Existing assignments stay and are counted; the adjudicator of an item is never one of its annotators.",
            "hint",
            wrap=True,
        )
        foot = horizontal((about, 1), self.assign)
        work = column_of((parts, 1), foot, margins=(0, 6, 0, 0), spacing=6)
        self.answer.float_over(parts)
        self.body = Stack(self.nothing, work)
        vertical(self.body, on=self, margins=0)

    @cached_property
    def tasks(self) -> "HandingOut":
        """The task files, shown in place of the plan once it is assigned."""
        from annotator.gui.pages.inbox.page import HandingOut

        made, self.assigned = HandingOut(self.session), PlainLabel("", "subtitle", wrap=True)
        more = push_button("Assign more…", self.begin)
        head = horizontal((self.assigned, 1), more, margins=(0, 10, 0, 0))
        self.body.addWidget(shown := column_of(head, (made, 1)))
        theme.apply_theme(shown)
        return made

    def begin(self) -> None:
        """Show the plan, whatever was assigned before."""
        if self.body.currentIndex() == TASKS:
            self.body.setCurrentIndex(PLAN)
            self.work_out()

    def focus_first(self) -> None:
        if self.body.currentIndex() == TASKS:
            self.tasks.all.setFocus()
        elif self.body.currentIndex() == PLAN:
            self.form.focus_first()

    def fill(self) -> None:
        lines = self._team.lines
        items_of = grouped((line.stage, line.item_id) for line in lines)
        taken = {stage: set(item_ids) for stage, item_ids in items_of.items()}
        # Assignments may be withdrawn again.
        before, self._pieces = self._pieces, len(lines)
        if self.body.currentIndex() == TASKS and len(lines) >= before:
            self.tasks.fill()
        else:
            self.body.setCurrentIndex(PLAN if self.session.ask(items.count) else 0)
        self.form.fill(self._team.everybody, taken)
        self.work_out()

    def work_out(self) -> None:
        self._later.stop()
        plan = self.form.plan()
        if (result := self.session.ask(planning.preview, plan)) is not None:
            self.preview.show_preview(plan, result, self._team.everybody)
            # The button stays enabled for a plan that cannot be met, to say why.
            useful = bool(result.new or result.refusals)
            self.assign.setEnabled(useful and not self.session.project.readonly)

    def submit(self) -> None:
        """Assign the plan, and offer its task files; if it cannot be met, show why."""
        if self.body.currentIndex() == TASKS:
            self.tasks.choose_all()
            return
        if self.body.currentIndex() == 0 or not self.form.add_people():
            return
        if self._later.isActive():
            self.work_out()
        if not self.assign.isEnabled():
            return
        self.answer.clear()
        change = self.session.do(assignments.assign, self.form.plan())
        self.work_out()
        if change is not None:
            made = counted(len(change.after["rows"]), "piece")
            self.tasks.fill()
            self.assigned.setText(f"Assigned {made} of work; {keys.shown('undo')} undoes it. Now send it.")
            self.body.setCurrentIndex(TASKS)
            self.focus_first()
