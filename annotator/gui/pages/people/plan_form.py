"""Form of an assignment plan."""

from collections.abc import Mapping, Sequence, Set as AbstractSet

from PySide6.QtCore import QDate, QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDateEdit,
    QPushButton,
    QWidget,
)

from annotator.actions.items import items
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import USUAL
from annotator.actions.project import profile
from annotator.domain.common import counted, words_that_hold
from annotator.domain.experts.assignment import Person, Role, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.gui import keys, theme
from annotator.gui.pages.people.roster import add_named
from annotator.gui.review.people_choice import PeopleChoice
from annotator.gui.session.page import another_kind
from annotator.gui.session.session import Pane, ProjectSession, end_of_day, title
from annotator.gui.widgets.bars import Fold, wrapping
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    later,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.columns import TickList
from annotator.gui.widgets.fields import ChoiceBox, LineField, NumberBox, offer, search_field, when_changed
from annotator.gui.widgets.message_bar import MessageBar

BOTH_ORDERS_HINT = (
    "Each person gives twice as many verdicts; in return you can measure whether they favour the report "
    "shown first, and the win rate is free of that bias. The setting applies to everyone immediately; "
    "existing verdicts stay, and the other order is still to be labelled."
)

ALONE = "With one person there is no agreement and no adjudication."
PAIR = "Two answers make a pair: agreement is frozen when both are in."
SEVERAL = "Agreement is frozen once all of them have submitted."
MOST = 8
# At most this many stages are in view at once.
MOST_ROWS = 6
# The space between questions, in addition to that between a question and its text.
GAP = 6

# More items are found by searching.
LISTED = 200
SETTLE_MS = 120
HEIGHT = 170

FORTNIGHT = 14
# The summary of the options if none is set.
OPTIONS = "pilot, reviewed drafts, repeats, seed"
MOST_SEEDS = 999_999
REPEATS = (
    "A few of a person's own reports are repeated later under another name. This measures how far they "
    "agree with themselves, an upper limit for their agreement with others."
)


class PlanForm(Pane):
    """The form of an assignment plan; `changed` follows every edit.

    People: a coordinator who hands out two or three times in a study, each time asking who does what, on which items
    and until when. What annoys them: a date below the end of the page, and settings of one study in a hundred above it.
    """

    changed = Signal()

    def __init__(self, session: ProjectSession, answer: MessageBar) -> None:
        """`answer` shows what was set at once, independently of the plan."""
        super().__init__(session)
        self.pairs = PairOrders(session, answer)
        self.stages, self.labels = (
            TickList("Stages", 1, MOST_ROWS),
            TickList("What is labelled", 1, MOST_ROWS),
        )
        self.reviewed = QCheckBox("One drafts and the others review the draft, not blind")
        self.overlap = NumberBox(minimum=1, maximum=MOST, value=2, accessibleName="People per item")
        self.overlap_hint = PlainLabel(role="hint", wrap=True)
        self.same = with_properties(
            QCheckBox("The same people write all of an item's documents"), checked=True
        )
        self.annotators = PeopleChoice("Annotators", "Nobody has the role of annotator.")
        self.adjudicators = PeopleChoice(
            "Adjudicators", "Nobody has the role of adjudicator; without one, there is no consensus."
        )
        self.items = ItemsChoice(session)
        self.has_due, self.due = (
            QCheckBox("Due by the end of"),
            with_properties(
                QDateEdit(QDate.currentDate().addDays(FORTNIGHT)),
                accessibleName="Due date",
                calendarPopup=True,
                displayFormat="ddd d MMM yyyy",
            ),
        )
        self.share, self.after, self.seed = (
            NumberBox(
                maximum=50,
                suffix=" %",
                specialValueText="none",
                accessibleName="Share of a person's labelling to repeat, per cent",
            ),
            NumberBox(
                minimum=1,
                maximum=365,
                value=10,
                suffix=" days later",
                accessibleName="Days before a repeat",
            ),
            NumberBox(maximum=MOST_SEEDS, accessibleName="Seed of the draw"),
        )
        self.new = {
            role: LineField(
                placeholderText="Add names: Ana Silva; Li Wei",
                accessibleName=f"New {role.value}s",
                editingFinished=self.add_people,
            )
            for role in (Role.ANNOTATOR, Role.ADJUDICATOR)
        }
        self._lay_out()
        self.stages.ticked_anew.connect(self._edited)
        self.labels.ticked_anew.connect(self._edited)
        when_changed(
            self._edited,
            self.overlap,
            self.has_due,
            self.reviewed,
            self.same,
            self.share,
            self.after,
            self.seed,
        )
        for part in (self.annotators, self.adjudicators, self.items):
            part.changed.connect(self._edited)
        self.due.dateChanged.connect(lambda _: self._edited())
        self._edited()

    def _lay_out(self) -> None:
        people_of_roles = horizontal(
            (column_of(self.annotators, self.new[Role.ANNOTATOR]), 1),
            (column_of(self.adjudicators, self.new[Role.ADJUDICATOR]), 1),
            spacing=12,
        )
        self.labelled = column_of(PlainLabel("What is labelled", "strong"), self.labels, spacing=6)
        work = column_of(self.stages, self.labelled, wrapping(another_kind(self.session)), spacing=4)
        self.options = Fold(
            "Options",
            self.items.pilot,
            self.reviewed,
            self.same,
            column_of(
                PlainLabel("Silent repeats of labelling", "strong"),
                wrapping(self.share, self.after),
                PlainLabel(REPEATS, "hint", wrap=True),
                spacing=6,
            ),
            self.pairs,
            wrapping(PlainLabel("Seed"), self.seed, PlainLabel("the same seed draws the same plan", "hint")),
            spacing=12,
        )
        vertical(
            PlainLabel("Stages, in the order of the work", "strong"), work, GAP,
            PlainLabel("Number of people who answer each item, blind to one another", "strong"),
            horizontal(self.overlap, (self.overlap_hint, 1)), GAP,
            people_of_roles, GAP, self.items, GAP, wrapping(self.has_due, self.due), GAP, self.options, StretchSpace(1),
            on=self, margins=(2, 8, 14, 12), spacing=6,
        )  # fmt: skip

    def fill(self, everybody: Sequence[Person], taken: Mapping[Stage, AbstractSet[str]]) -> None:
        """Offer the current people and items; the selection stays."""
        self._offer()
        self.pairs.fill()
        active = [person for person in everybody if person.active]
        annotators = [person for person in active if person.has(Role.ANNOTATOR)]
        adjudicators = [person for person in active if person.has(Role.ADJUDICATOR)]
        # Coordinators would see their partner's progress: they are preselected only if there are few others.
        others = [person for person in annotators if not person.has(Role.COORDINATOR)]
        usual = others if len(others) >= self.overlap.value() else annotators
        self.annotators.fill(annotators, frozenset(person.id for person in usual))
        self.adjudicators.fill(adjudicators, frozenset(person.id for person in adjudicators))
        self.overlap.setMaximum(max(2, min(MOST, len(annotators))))
        self.items.fill(taken)

    def _offer(self) -> None:
        """Offer the stages and protocols in use; if none is ticked, tick the usual one, otherwise the first."""
        stages = self.session.ask(profile.stages) or ()
        protocols = self.session.ask(label_cases.labelled) or ()
        self.stages.offer({stage: title(stage) for stage in stages if stage is not Stage.ADJUDICATION})
        self.labels.offer({name: label_cases.presentation_of(name).tab for name in protocols})
        for ticks, usual in ((self.stages, Stage.RUBRIC), (self.labels, USUAL)):
            used = ticks.values()
            if used and not ticks.ticked():
                ticks.tick([usual if usual in used else used[0]])

    def _ticked(self) -> tuple[Stage, ...]:
        return tuple(map(Stage, self.stages.ticked()))

    def plan(self) -> AssignmentPlan:
        date = self.due.date()
        stages = self._ticked()
        # Labels and ratings are given blind, whatever else is assigned with them.
        reviewed = tuple(stage for stage in stages if stage not in (Stage.LABELLING, Stage.SELECTION))
        return AssignmentPlan(
            stages=stages,
            reviewed=reviewed if self.reviewed.isChecked() else (),
            overlap=self.overlap.value(),
            annotators=self.annotators.chosen(),
            adjudicators=self.adjudicators.chosen(),
            items=self.items.chosen(),
            due=end_of_day(date) if self.has_due.isChecked() else None,
            seed=self.seed.value(),
            pilot_items=self.items.pilot.chosen(),
            repeat_share=self.share.value() / 100 if self.share.isEnabled() else 0.0,
            repeat_after_days=self.after.value(),
            same_people=self.same.isChecked(),
            protocols=self.labels.ticked(),
        )

    def focus_first(self) -> None:
        enough = len(self.annotators.chosen()) >= self.overlap.value()
        (self.stages if enough else self.new[Role.ANNOTATOR]).setFocus()

    def add_people(self) -> bool:
        """Add the people named in the fields, with their roles; False if one was refused, whose name stays."""
        # Someone who looks up a name in another program has not finished typing it.
        if self.isActiveWindow():
            for role, field in self.new.items():
                add_named(self.session, field, (role,))
        return not any(field.text() for field in self.new.values())

    def _edited(self) -> None:
        self.due.setEnabled(self.has_due.isChecked())
        self.overlap_hint.setText({1: ALONE, 2: PAIR}.get(self.overlap.value(), SEVERAL))
        labelling = Stage.LABELLING in self._ticked()
        self.labelled.setVisible(labelling)
        self.share.setEnabled(labelling)
        self.after.setEnabled(labelling and self.share.value() > 0)
        self.items.for_stages(self._ticked())
        self._say_options()
        self.changed.emit()

    def _say_options(self) -> None:
        pilot, share, seed = self.items.pilot.chosen(), self.share.value(), self.seed.value()
        there = {
            counted(len(pilot), "pilot item"): pilot,
            "drafts reviewed": self.reviewed.isChecked(),
            "other people for each document": not self.same.isChecked(),
            f"{share} % repeated": share if self.share.isEnabled() else 0,
            f"seed {seed}": seed,
        }
        self.options.say(", ".join(words_that_hold(there)) or OPTIONS)


class ItemsChoice(Pane):
    """All items, or in a fold those of a type and subject and unassigned ones; and the pilot items."""

    changed = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._taken: Mapping[Stage, AbstractSet[str]] = {}
        self._stages: tuple[Stage, ...] = ()
        self.type, self.subject = (
            ChoiceBox(letters=12, accessibleName=name) for name in ("Question type", "Subject")
        )
        self.fresh = QCheckBox("Only items not yet assigned at these stages")
        when_changed(self._tell, self.type, self.subject, self.fresh)
        self.fold = Fold("", horizontal((self.type, 1), (self.subject, 1)), self.fresh, apart=True)
        self.pilot = PilotChoice(session)
        self.pilot.changed.connect(self.changed)
        head = horizontal(PlainLabel("Items", "strong"), self.fold.button, StretchSpace(1))
        vertical(head, self.fold, on=self, margins=0)

    def fill(self, taken: Mapping[Stage, AbstractSet[str]]) -> None:
        """Offer the available items; `taken` are the items already assigned, by stage."""
        self._taken = taken
        types, subjects = self.session.ask(items.choices) or ([], [])
        for combo, first, values in (
            (self.type, "All types", types),
            (self.subject, "All subjects", subjects),
        ):
            offer(combo, [(first, ""), *((value, value) for value in values)])
        self.pilot.fill()
        self._count()

    def for_stages(self, stages: tuple[Stage, ...]) -> None:
        """Set the stages to which “nobody has it yet” refers."""
        self._stages = stages
        self._count()

    def chosen(self) -> tuple[str, ...]:
        narrowed = items.Filter(
            question_type=self.type.currentData() or "", subject=self.subject.currentData() or ""
        )
        result = self.session.ask(items.ids, narrowed) or []
        if self.fresh.isChecked():
            had = set().union(*(self._taken.get(stage, set()) for stage in self._stages))
            result = [item_id for item_id in result if item_id not in had]
        return tuple(result)

    def _tell(self) -> None:
        self._count()
        self.changed.emit()

    def _count(self) -> None:
        total, chosen = self.session.ask(items.count) or 0, len(self.chosen())
        every = counted(total, "item")
        words = f"All {every}" if chosen == total else f"{chosen:,} of {every}"
        self.fold.button.setText(words)
        self.fold.button.setAccessibleName(f"Items: {words}")


class PilotChoice(Pane):
    """Items picked one by one; picked ones stay at the top whatever is searched."""

    changed = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._picked: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._later = later(self, self._list_items, SETTLE_MS)
        self.search = search_field("Search items…", "Search items for the pilot", self._later.start)
        self.list = TickList("Items for the pilot; Space ticks one")
        self.list.setFixedHeight(theme.current().px(HEIGHT))
        self.list.ticked_anew.connect(self._tick)
        self.more = PlainLabel("", "hint")
        self.fold = Fold("Pilot items", self.search, self.list, self.more, spacing=4)
        self.fold.button.toggled.connect(self._unfold)
        vertical(self.fold, on=self, margins=0)
        self._say()

    def chosen(self) -> tuple[str, ...]:
        return tuple(self._picked)

    def fill(self) -> None:
        there = {line.id: line.key for line in self.session.ask(items.lines, list(self._picked)) or []}
        self._picked = {item_id: there[item_id] for item_id in self._picked if item_id in there}
        self._say()
        if self.fold.is_open:
            self._list_items()

    def _unfold(self, shown: bool) -> None:
        if shown:
            self._list_items()
            self.search.setFocus()

    def _list_items(self) -> None:
        result = self.session.ask(items.ids, items.Filter(words=self.search.text())) or []
        rest = [item_id for item_id in result if item_id not in self._picked]
        with QSignalBlocker(self.list):
            self.list.clear()
            for line in self.session.ask(items.lines, [*self._picked, *rest[:LISTED]]) or []:
                words = f"{line.key}  {' '.join(line.question.split())[:200]}"
                self._keys[line.id] = line.key
                self.list.add(line.id, words, line.question[:600], ticked=line.id in self._picked)
        self.more.show_words(
            f"The first {LISTED} of {len(rest):,}; search to see others." if len(rest) > LISTED else ""
        )

    def _tick(self, item_id: str, on: bool) -> None:
        if on:
            self._picked[item_id] = self._keys[item_id]
        else:
            self._picked.pop(item_id, None)
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        keys = ", ".join(self._picked.values())
        self.fold.say(f"{len(self._picked):,} assigned to everyone: {keys}" if keys else "none")


class PairOrders(Pane):
    """For each kind of pair question a check box and the number of pairs drawn; and a sentence on cost and benefit."""

    def __init__(self, session: ProjectSession, answer: MessageBar) -> None:
        super().__init__(session)
        self._answer = answer
        self.boxes: dict[str, QCheckBox] = {}
        self.draws: dict[str, tuple[NumberBox, NumberBox, QPushButton]] = {}
        column = vertical(on=self, margins=0, spacing=6)
        column.addWidget(PlainLabel("Labelling of pairs, in every plan", "strong"))
        for name, words in label_cases.paired():
            box = self.boxes[name] = with_properties(
                QCheckBox(f"{words}: in both orders"), accessibleDescription=BOTH_ORDERS_HINT
            )
            box.clicked.connect(lambda wished, name=name: self._ask(name, wished))
            column.addWidget(box)
            if label_cases.can_draw(name):
                column.addWidget(self._draw_row(name, words))
        column.addWidget(PlainLabel(BOTH_ORDERS_HINT, "hint", wrap=True))

    def _draw_row(self, name: str, title: str) -> QWidget:
        many = NumberBox(maximum=1_000_000, accessibleName=f"{title}: pairs to draw")
        seed = NumberBox(
            maximum=10_000_000, value=1, accessibleName=f"{title}: seed of the draw", prefix="seed "
        )
        button = push_button("Draw", lambda: self._draw(name, many.value(), seed.value()))
        with_properties(many, specialValueText="all pairs are asked", suffix=" pairs, drawn at random")
        self.draws[name] = many, seed, button
        return column_of(wrapping(many, seed, button, gap=6), margins=(22, 0, 0, 0))

    def _draw(self, name: str, many: int, seed: int) -> None:
        if self.session.do(label_cases.draw_pairs, name, many, seed) is not None:
            pairs = len(label_cases.sampling(self.session.project, name).get("pairs", ()))
            message = (
                f"{counted(pairs, 'pair')} drawn; only these are asked." if many else "All pairs are asked."
            )
            self._answer.show_message("success", message, f"{keys.shown('undo')} undoes it.")
        self.fill()

    def fill(self) -> None:
        used = dict(self.session.ask(label_cases.paired) or ())
        self.setVisible(bool(used))
        for name, (many, seed, button) in self.draws.items():
            for part in (many, seed, button):
                part.setVisible(name in used)
            result = label_cases.sampling(self.session.project, name)
            many.setValue(len(result.get("pairs", ())))
            seed.setValue(result.get("seed", 1))
            button.setEnabled(not self.session.project.readonly)
        for name, box in self.boxes.items():
            box.setVisible(name in used)
            box.setChecked(bool(self.session.ask(label_cases.both_orders, name)))
            box.setEnabled(not self.session.project.readonly)

    def _ask(self, name: str, wished: bool) -> None:
        if self.session.do(label_cases.ask_both_orders, name, wished) is not None:
            order_words = "in both orders" if wished else "in one order"
            title = dict(label_cases.paired())[name]
            self._answer.show_message(
                "success", f"{title}: pairs are now asked {order_words}.", f"{keys.shown('undo')} undoes it."
            )
        self.fill()
