"""Comparison of judges with one another and with people on the same units."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from annotator.actions.agreement import agreement_words as words
from annotator.actions.judging.judge_offers import draws, title
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_totals
from annotator.actions.validation import judge_comparing
from annotator.actions.validation.judge_comparing import (
    PEOPLE,
    ComparedRater,
    JudgeComparison,
    RaterDifference,
    RaterPair,
)
from annotator.domain.texts.counting import CutList, counted
from annotator.domain.texts.estimate import of_items
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.judges.reply_lines import DIFFERENCES
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.basics import PlainLabel, column_of, horizontal, tooltip
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.choices import ChoiceBox, offer


def whose(rater: ComparedRater) -> str:
    """A rater by name, the baseline as the floor that it is."""
    return f"{rater.name} (a floor)" if rater.baseline else rater.name


def second(one: RaterPair) -> str:
    """Whom the first of a pairing is compared with."""
    return "one another" if one.a is one.b else whose(one.b)


def _figure(name: str, head: str, width: int) -> Column[RaterPair]:
    def tip(one: RaterPair) -> str:
        found = one.figure(name)
        parts = [words.reason(found), f"n = {found.n:,}", of_items(found.method), *words.remarks(found)]
        return "\n".join(part for part in parts if part)

    # Named where it is called otherwise than its column.
    return Column(
        head,
        lambda one: f"{words.title(one.figure(name))} {words.number(one.figure(name))}".removeprefix(
            f"{words.TITLES[name]} "
        ),
        width,
        tip=tip,
        about=words.ABOUT[name],
    )


WHO: Sequence[Column[RaterPair]] = (
    Column("Who", lambda one: whose(one.a), 140),
    Column("With", second, 140),
    Column(
        "Units",
        lambda one: f"{one.units:,}",
        62,
        number=True,
        about="Units that both judged; of several trials counts what most of them say.",
    ),
)
PAIRINGS: Sequence[Column[RaterPair]] = (
    *WHO,
    _figure("agreement", "Agreement [95 %]", 172),
    _figure("kappa", "κ [95 %]", 142),
    _figure("ac1", "AC1 [95 %]", 142),
)


def pairings(found: Sequence[RaterPair]) -> Sequence[Column[RaterPair]]:
    """The columns of these pairings: the figures that fit the values that were given."""
    if not found or any(each.name == "kappa" for each in found[0].figures):
        return PAIRINGS
    names = [each.name for each in found[0].figures]
    return (*WHO, *(_figure(name, f"{words.TITLES[name]} [95 %]", 142) for name in names))


def account(one: RaterPair, comparison: JudgeComparison) -> str:
    """What the figures of a pairing stand on, and what must be known of them."""
    said = [
        f"{counted(one.units, 'unit')} that both judged"
        + (f", {counted(one.pairs, 'pair')} of values" if one.pairs != one.units else "")
    ]
    if comparison.shared is not None:
        said.append(
            f"{counted(comparison.shared, 'unit was', 'units were')} judged by all that are ticked; nothing else counts"
        )
    found = next(each for name in words.MAIN for each in one.figures if each.name == name)
    said += [*filter(None, [words.reason(found)]), *words.remarks(found)]
    if one.a.baseline or one.b.baseline:
        said.append("the baseline is a floor, not a judge")
    return " ".join(
        f"{part[:1].upper() if part[0].isascii() else part[0]}{part[1:]}." for part in said if part
    )


RIGHT = (
    Command("next_item", "Next difference", hint="Next unit on which the two differ"),
    Command("read_replies", "Read the reply", hint="The judge's reply on this unit", role="primary"),
)
NOTHING = (
    "Nobody can be compared yet",
    "Let two judges judge the same reports, or a judge reports that people have labelled and submitted.",
)
# The columns of what the two said.
ONE, OTHER = 3, 5


class ComparingPart(PagePart):
    """Raters on the left; pairs on the right, above the differences of the chosen pair."""

    reply_wanted = Signal(dict)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar((), RIGHT))
        self.protocol = ChoiceBox()
        self.protocol.setAccessibleName("What was judged")
        self.protocol.keep_short(14)
        self.raters = QListWidget()
        self.raters.setAccessibleName("Who is compared")
        self.raters.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.shared = QCheckBox("Only units judged by &all")
        self.pairs, self.apart = (
            CellsModel[RaterPair](PAIRINGS, self),
            CellsModel[RaterDifference](DIFFERENCES, self),
        )
        self.table = CellsTable("All pairs", self.pairs, stretched=0)
        self.differing = CellsTable("Differences", self.apart, stretched=2)
        self.account, self.count = PlainLabel("", "hint", wrap=True), ElidedLabel("", "strong")
        self._comparison: JudgeComparison | None = None
        self._known: dict[str, list[ComparedRater]] = {}
        self.acts = {
            "next_item": lambda: self._step(1),
            "previous_item": lambda: self._step(-1),
            "read_replies": self._read,
        }
        self._listen()
        self.lay_out(self._body())

    def _listen(self) -> None:
        self.protocol.currentIndexChanged.connect(lambda _: self._offer_raters())
        self.raters.itemChanged.connect(lambda _: self._compare())
        self.shared.toggled.connect(lambda _: self._compare())
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        self.differing.activated.connect(lambda _: self._read())

    def _body(self) -> QWidget:
        left = column_of(
            PlainLabel("What was judged", "hint"),
            self.protocol,
            PlainLabel("Who is compared", "hint"),
            (self.raters, 1),
            self.shared,
            self.account,
            margins=(0, 0, 8, 0),
            spacing=6,
        )
        head = horizontal((self.count, 1), PlainLabel("Enter or double-click opens the reply", "hint"))
        below = column_of(head, (self.differing, 1), margins=(0, 4, 0, 0))
        right = Splitter(
            "judges/compare below", Qt.Orientation.Vertical, parts=(self.table, below), sizes=(220, 340)
        )
        whole = Splitter("judges/compare", parts=(left, right), sizes=(250, 830), stretch=(0, 1))
        whole.grow(left, 250)
        self.empty = EmptyState("agreement", *NOTHING)
        self.empty.add_action("To the runs", lambda: self.desk.go("Judges", part="Runs"), primary=True)
        self.body = Stack(whole, self.empty)
        return self.body

    def fill(self) -> None:
        self.desk.ask_later(self._offered, _judged)

    def _offered(self, found: dict[str, list[ComparedRater]]) -> None:
        if self.stopped:
            return
        self._known = found
        offer(self.protocol, [(title(name), name) for name in found])
        self._offer_raters()

    def go(self, place: Any) -> None:
        """Compare under a `protocol`."""
        row = self.protocol.findData(place.get("protocol"))
        if row >= 0:
            self.protocol.setCurrentIndex(row)

    def focus_first(self) -> None:
        self.table.setFocus()

    def _offer_raters(self) -> None:
        protocol = str(self.protocol.currentData() or "")
        known = self._known.get(protocol, [])
        left_out = {entry.data(Qt.ItemDataRole.UserRole) for entry in self._entries() if not _ticked(entry)}
        with QSignalBlocker(self.raters):
            self.raters.clear()
            for rater in known:
                entry = QListWidgetItem(f"{whose(rater)} · {rater.judgements:,}")
                entry.setData(Qt.ItemDataRole.UserRole, rater.id)
                entry.setToolTip(tooltip(whose(rater)))
                state = Qt.CheckState.Unchecked if rater.id in left_out else Qt.CheckState.Checked
                entry.setCheckState(state)
                self.raters.addItem(entry)
        comparable = len(known) > 1 or any(rater.id == PEOPLE for rater in known)
        self.body.setCurrentIndex(0 if comparable else 1)
        for act in self.acts.keys() & self.bar.buttons.keys():
            self.bar.enable(act, False)
        if comparable:
            self._compare()

    def _entries(self) -> list[QListWidgetItem]:
        return [self.raters.item(row) for row in range(self.raters.count())]

    def chosen(self) -> tuple[str, ...]:
        return tuple(entry.data(Qt.ItemDataRole.UserRole) for entry in self._entries() if _ticked(entry))

    def _compare(self) -> None:
        protocol, chosen = str(self.protocol.currentData() or ""), self.chosen()
        if not chosen:
            self.pairs.show([])
            self._turn()
            return
        self.count.setText("Counting…")
        self.desk.ask_later(self._compared, _comparison, protocol, chosen, self.shared.isChecked())

    def _compared(self, found: tuple[tuple[str, ...], bool, JudgeComparison]) -> None:
        chosen, shared, comparison = found
        if self.stopped or (chosen, shared, comparison.protocol) != (
            self.chosen(),
            self.shared.isChecked(),
            self.protocol.currentData(),
        ):
            return
        kept = self.table.currentIndex().row()
        self._comparison = comparison
        self.pairs.show(comparison.pairings, pairings(comparison.pairings))
        if comparison.pairings:
            self.table.setCurrentIndex(self.pairs.index(min(max(0, kept), len(comparison.pairings) - 1), 0))
        self._turn()

    def _turn(self) -> None:
        one = self.pairs.at(self.table.currentIndex().row())
        self.bar.enable("read_replies", False)
        self.bar.enable("next_item", False)
        if one is None or self._comparison is None:
            self.apart.show([])
            self.count.setText("Tick two to compare them.")
            self.account.setText("")
            return
        self.account.setText(account(one, self._comparison))
        self.count.setText("Looking for differences…")
        self.desk.ask_later(self._differ, _differing, self._comparison.protocol, one.a.id, one.b.id)

    def _differ(self, found: tuple[str, str, CutList[RaterDifference]]) -> None:
        one = self.pairs.at(self.table.currentIndex().row())
        if one is None or (one.a.id, one.b.id) != found[:2]:
            return
        self.apart.show(found[2].rows)
        self.apart.retitle({ONE: one.a.name, OTHER: "the other" if one.a is one.b else one.b.name})
        many = found[2].total
        self.count.setText(
            f"{found[2].words} differ: first {whose(one.a)}, second {second(one)}"
            if many
            else "No differences."
        )
        if many:
            self.differing.setCurrentIndex(self.apart.index(0, 0))
        self.bar.enable("read_replies", many > 0 and one.a.id != PEOPLE)
        self.bar.enable("next_item", many > 0)

    def _step(self, by: int) -> None:
        row = self.differing.currentIndex().row() + by
        if 0 <= row < self.apart.rowCount():
            self.differing.setCurrentIndex(self.apart.index(row, 0))

    def _read(self) -> None:
        """Open the reply of the side whose cell is chosen; of people there is none, so the judge's."""
        one = self.pairs.at(self.table.currentIndex().row())
        index = self.differing.currentIndex()
        apart = self.apart.at(index.row())
        if one is None or apart is None or self._comparison is None or one.a.id == PEOPLE:
            return
        other = index.column() >= OTHER and one.b.id != PEOPLE
        rater, judgement = (one.b, apart.id_b) if other else (one.a, apart.id_a)
        self.reply_wanted.emit(
            {"judge_id": rater.id, "protocol": self._comparison.protocol, "judgement_id": judgement}
        )


def _judged(project: Project) -> dict[str, list[ComparedRater]]:
    """Protocol → who has judged by it."""
    totals = judge_totals.totals(project)
    names = dict.fromkeys(one.protocol for one in totals if one.judgements and not draws(one.protocol))
    return {name: judge_comparing.raters(project, name) for name in names}


def _ticked(entry: QListWidgetItem) -> bool:
    return entry.checkState() == Qt.CheckState.Checked


def _comparison(
    project: Project, protocol: str, chosen: tuple[str, ...], shared: bool
) -> tuple[tuple[str, ...], bool, JudgeComparison]:
    return chosen, shared, judge_comparing.compare(project, protocol, chosen, shared=shared)


def _differing(project: Project, protocol: str, a: str, b: str) -> tuple[str, str, CutList[RaterDifference]]:
    return a, b, judge_comparing.differing(project, protocol, a, b)
