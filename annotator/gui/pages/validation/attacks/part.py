"""Attacks tab: test a judge, success rates per attack, and every case."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QWidget

from annotator.actions.attacks import attack_cases, attack_figures, attack_offers, families
from annotator.actions.attacks.attack_cases import AttackCase, AttackCaseLine
from annotator.actions.attacks.attack_figures import AttackFigures
from annotator.actions.attacks.attack_offers import AttackableJudge
from annotator.actions.attacks.families import NONE, FamilyMember
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import explained, percent
from annotator.actions.runs import run_records
from annotator.domain.judges.families import STEMS
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate, decimal, interval
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.desk.run import REFUSED, BackgroundRun
from annotator.gui.pages.validation.attacks.attack_form import AttackForm
from annotator.gui.pages.validation.attacks.attack_reader import AttackReader
from annotator.gui.review.judge_words import flag_words, value_look, value_words
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState, answered_label
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.later import later
from annotator.gui.widgets.plain_area import PlainArea

ABOUT = (
    "A judge may favour reports of its own family. By default the family is inferred from the name of the "
    "model or system; choose or type another, or “none”. The Bias view is updated."
)
BY_NAME = "by its name"


class FamilyList(QWidget):
    """A row for each system and judge with its family, to choose or type."""

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.boxes: dict[str, QComboBox] = {}
        self.area = PlainArea("Families")
        vertical(
            PlainLabel("Families", "subtitle"),
            PlainLabel(ABOUT, "hint", wrap=True),
            (self.area, 1),
            on=self,
            margins=0,
        )

    def fill(self) -> None:
        """Show everybody as they now are."""
        inner, grid = QWidget(), QGridLayout()
        self.boxes = {}
        for row, one in enumerate(self._desk.ask(families.members) or []):
            kind = "judge" if one.judge else "system"
            model = f" · {one.model}" if one.model else ""
            box = self._box(one)
            self.boxes[one.name] = box
            grid.addWidget(ElidedLabel(one.name), row, 0)
            grid.addWidget(ElidedLabel(f"{kind}{model}", "hint"), row, 1)
            grid.addWidget(box, row, 2)
        for place, stretch in enumerate((3, 3, 4)):
            grid.setColumnStretch(place, stretch)
        vertical(grid, StretchSpace(1), on=inner)
        self.area.setWidget(inner)

    def _box(self, one: FamilyMember) -> QComboBox:
        box = ChoiceBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        line = LineField()
        box.setLineEdit(line)
        box.setAccessibleName(f"Family of {one.name}")
        told = f": {one.family or 'none known'}" if not one.said else ""
        box.addItem(f"{BY_NAME}{told}", "")
        box.addItem(NONE, NONE)
        for family in sorted({*STEMS, *([one.family] if one.family else [])}):
            box.addItem(family, family)
        place = box.findData(one.family or NONE) if one.said else 0
        box.setCurrentIndex(max(0, place))
        box.setEnabled(not self._desk.project.readonly)
        box.activated.connect(lambda _: self._say(one.name, box))
        line.editingFinished.connect(lambda: self._say(one.name, box))
        return box

    def _say(self, name: str, box: QComboBox) -> None:
        """Keep what was chosen or written, where that is something else."""
        words = box.currentText().strip()
        row = box.findText(words)
        family = str(box.itemData(row)) if row >= 0 else words
        known = {one.name: one for one in self._desk.ask(families.members) or []}
        one = known.get(name)
        kept = "" if one is None or not one.said else one.family or NONE
        if one is not None and family != kept:
            self._desk.do(families.set_family, name, family)
            self.changed.emit()


def _rate(found: Estimate | None) -> str:
    """A share in percent with its interval: “33 % [11, 65]”."""
    if found is None or found.value is None:
        return "–"
    span = interval(found, lambda bound: decimal(100 * bound, 0))
    return f"{percent(found.value)}  {span}".rstrip()


def _tip(found: Estimate | None, none: str = "") -> str:
    return "\n".join(explained(found)) if found is not None else none


def _look(line: AttackFigures) -> tuple[str, str] | None:
    found = line.failed
    if found.value is None:
        return "question", "state-missing"
    if not found.value:
        return "check", "state-agreed"
    return "warning", "state-disagree" if found.value >= 0.1 else "state-unconfirmed"


def _causes(line: AttackFigures) -> str:
    return ", ".join(f"{many:,} × {cause.replace('_', ' ')}" for cause, many in line.missing.items())


def _base(line: AttackFigures) -> str:
    if not line.already:
        return ""
    return (
        f"{counted(line.already, 'verdict was', 'verdicts were')} the demanded verdict already and are "
        "excluded."
    )


LINES: Sequence[Column[AttackFigures]] = (
    Column("Attack", lambda line: line.title, 190, look=_look, tip=lambda line: f"{line.title}\n{line.about}"),
    Column("Judge", lambda line: line.judge.name, 80),
    Column(
        "Failure rate, 95 %", lambda line: _rate(line.failed), 132, tip=lambda line: _tip(line.failed), firm=True,
        about="Share of the verdicts that the attack could change and did change; where a verdict is "
        "demanded, verdicts that already had that value are excluded. Interval clustered by item.",
    ),
    Column(
        "n", lambda line: f"{line.failed.n:,}", 42, number=True, firm=True, tip=_base,
        about="Verdicts that the attack could change, with one on the copy.",
    ),
    Column(
        "To, from yes", lambda line: f"{line.up:,}, {line.down:,}", 92, number=True, firm=True,
        about="Verdicts that became the value an injection demands (yes, true, or the first), and verdicts "
        "that lost that value.",
    ),
    Column(
        "Beyond chance", lambda line: _rate(line.beyond), 112, firm=True,
        tip=lambda line: _tip(line.beyond, "Unchanged reports were not judged again."),
        about="Failure rate minus that of unchanged reports judged again, on the same questions.",
    ),
    Column(
        "Noticed", lambda line: _rate(line.noticed), 96, firm=True,
        tip=lambda line: _tip(line.noticed, "Flags apply only to planted text judged by a model."),
        about="Copies flagged as addressing the judge.",
    ),
    Column("Missing", _causes, 90, about="Copies without a verdict, by cause."),
)  # fmt: skip
MISSING = len(LINES) - 1


def _now(case: AttackCaseLine) -> str:
    changed = case.value not in (None, case.before)
    return f"{value_words(case.protocol, case.value, case.status)}{', changed' if changed else ''}"


def _look_of_case(case: AttackCaseLine) -> tuple[str, str]:
    if case.value not in (None, case.before):
        return "warning", "state-disagree"
    return value_look(case.protocol, case.value)


CASES: Sequence[Column[AttackCaseLine]] = (
    Column("Item", lambda case: case.item_key, 48, fitted=True),
    Column("System", lambda case: case.system, 108),
    Column("Asked about", lambda case: case.unit, 180),
    Column("Variant", lambda case: case.variant or "–", 124),
    Column("Own verdict", lambda case: value_words(case.protocol, case.before), 100, firm=True,
           look=lambda case: value_look(case.protocol, case.before)),
    Column("On the copy", _now, 118, firm=True, look=_look_of_case),
    Column("Flags", lambda case: ", ".join(map(flag_words, case.flags)), 100),
)  # fmt: skip


# Without icons: which of them are shown goes by what is in view.
LEFT = (
    Command("attack_back", "Back to the table", hint="Back to the attacks and their rates"),
    Command("attack_families", "Families", hint="Developer of the model behind each system and judge"),
)
RIGHT = (
    Command("previous_item", "Back", hint="The case before"),
    Command("next_item", "Next", hint="The next case"),
    Command("attack_read", "Read the case", hint="The report beside the attacked copy, and both verdicts"),
    Command("submit", "Start", hint="Test the judge", role="primary"),
)
NOTHING = (
    "No judge has judged a report yet",
    "Attacks use copies of reports that the judge has already judged. Run a judge on some reports first; "
    "the baseline judge needs no key and no network.",
)
NO_TEST = "No judge was tested yet. Verdicts on copies do not count in any score or release."
SETTLE_MS = 150
WORK, READER, FAMILIES, EMPTY = range(4)
IN_WORK = frozenset({"attack_families", "attack_read", "submit"})
IN_READER = frozenset({"attack_back", "previous_item", "next_item"})
AWAY = frozenset({"attack_back", "attack_families"})


class AttacksPart(PagePart):
    """The order on the left, rates above cases on the right; a case or the families fill the page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self._wanted, self._running = "", False
        self.form, self.run = (
            AttackForm(desk),
            BackgroundRun(desk, "Attacks", "Validate", self, part="Attacks"),
        )
        self.reader, self.families = AttackReader(), FamilyList(desk)
        self.lines, self.cases = (
            CellsModel[AttackFigures](LINES, self),
            CellsModel[AttackCaseLine](CASES, self),
        )
        self.rates = CellsTable("Attacks and failure rates", self.lines, stretched=0)
        self.list = CellsTable("Verdicts on copies", self.cases, stretched=2)
        self.nothing, self.count = answered_label(NO_TEST), PlainLabel("", "strong", wrap=True)
        self._soon = later(self, self._ask_cases, SETTLE_MS)
        self.acts = {
            "submit": self.start,
            "attack_read": self.read,
            "attack_back": self.back,
            "attack_families": self.show_families,
            "next_item": lambda: self._step(1),
            "previous_item": lambda: self._step(-1),
        }
        self._listen()
        self.lay_out(self._body())

    def _listen(self) -> None:
        self.form.changed.connect(self._offer)
        self.run.ended.connect(self._ended)
        self.rates.selectionModel().currentRowChanged.connect(lambda *_: self._soon.start())
        self.list.selectionModel().currentRowChanged.connect(lambda *_: self._offer())
        self.list.activated.connect(lambda _: self.read())
        self.rates.activated.connect(lambda _: self.list.setFocus())

    def _body(self) -> QWidget:
        area = PlainArea("Attack settings", self.form)
        below = _column(self.count, self.list)
        right = Splitter(
            "validate/attacks below",
            Qt.Orientation.Vertical,
            parts=(_column(RunPanel(self.run), self.nothing, self.rates), below),
            sizes=(300, 260),
        )
        work = Splitter("validate/attacks", parts=(area, right), sizes=(340, 740), stretch=(0, 1))
        self.empty = EmptyState("validate", *NOTHING)
        self.empty.add_action("To the judges", lambda: self.desk.go("Judges", part="Runs"), primary=True)
        self.body = Stack(work, self.reader, self.families, self.empty)
        return self.body

    def fill(self) -> None:
        if self.body.currentIndex() == FAMILIES:
            self.families.fill()
        self.desk.ask_later(self._filled, _found)

    def go(self, place: Mapping[str, Any]) -> None:
        """`judge` chooses whom to test, `families` opens whose models are behind whom."""
        self.form.show_place(str(place.get("judge", "")))
        if place.get("families"):
            self.show_families()

    def focus_first(self) -> None:
        self.form.judge.setFocus()

    def stop(self) -> None:
        super().stop()
        self._soon.stop()
        self.form.stop()

    def start(self) -> None:
        """Put the judge to the test."""
        order = self.form.order()
        if order is None or not self.bar.buttons["submit"].isEnabled():
            return
        self.answer.clear()
        self.run.start(order)
        self._offer()

    def read(self) -> None:
        case = self.cases.at(self.list.currentIndex().row())
        if case is not None:
            self.desk.ask_later(self._read, attack_cases.told, case.id)

    def back(self) -> None:
        if self.body.currentIndex() in (READER, FAMILIES):
            self.body.setCurrentIndex(WORK if self.form.offered else EMPTY)
            self.list.setFocus()
            self._offer()

    def show_families(self) -> None:
        self.families.fill()
        self.body.setCurrentIndex(FAMILIES)
        self._offer()

    def _filled(self, found: tuple[Sequence[AttackableJudge], Sequence[AttackFigures], bool]) -> None:
        if self.stopped:
            return
        offers, lines, self._running = found
        kept = self.lines.at(self.rates.currentIndex().row())
        self.form.fill(offers)
        self.lines.show(lines)
        self.rates.hide_columns({MISSING: not any(line.missing for line in lines)})
        self.rates.setVisible(bool(lines))
        self.nothing.setVisible(not lines)
        if self.body.currentIndex() in (WORK, EMPTY):
            self.body.setCurrentIndex(WORK if offers else EMPTY)
        if lines:
            place = self.lines.place_of(
                lambda one: kept is not None and (one.judge.id, one.attack) == (kept.judge.id, kept.attack)
            )
            self.rates.setCurrentIndex(self.lines.index(max(0, place), 0))
        self._ask_cases()
        self._offer()

    def _ask_cases(self) -> None:
        line = self.lines.at(self.rates.currentIndex().row())
        self._wanted = f"{line.test_id}/{line.attack}" if line is not None else ""
        if line is None:
            self.cases.show([])
            self.count.setText("")
            return
        self.desk.ask_later(self._listed, _listed, line.test_id, line.attack)

    def _listed(self, found: tuple[str, Sequence[AttackCaseLine]]) -> None:
        line = self.lines.at(self.rates.currentIndex().row())
        if self.stopped or line is None or found[0] != self._wanted:
            return
        self.cases.show(found[1])
        changed = sum(one.value not in (None, one.before) for one in found[1])
        self.count.setText(
            f"{line.title}, {line.judge.name}: {changed:,} of {len(found[1]):,} verdicts changed"
        )
        if found[1] and not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(self.cases.index(0, 0))
        self._offer()

    def _read(self, told: AttackCase) -> None:
        if not self.stopped:
            self.reader.show_told(told)
            self.body.setCurrentIndex(READER)
            self.reader.copy.setFocus()
            self._offer()
            QTimer.singleShot(0, self.reader, self.reader.reveal)

    def _step(self, by: int) -> None:
        row = self.list.currentIndex().row() + by
        if 0 <= row < self.cases.rowCount():
            self.list.setCurrentIndex(self.cases.index(row, 0))
            if self.body.currentIndex() == READER:
                self.read()

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED:
            done, missing = int(line["done"]), sum((line.get("missing") or {}).values())
            said = f"{done:,} of {int(line['total']):,} {line['deed']}."
            more = f" {missing:,} did not come; start again to ask for those." if missing else ""
            self.answer.show_message(
                "success" if line["state"] == "done" else "info", said + more, line.get("cause", "")
            )
        self.desk.tell(Change("attack", str(line.get("test", "")), "attack"))
        self.fill()

    def _offer(self) -> None:
        """What can be done with what is in view."""
        going, place = self.run.running, self.body.currentIndex()
        case = self.cases.at(self.list.currentIndex().row())
        able = self.form.request() is not None and not self.desk.project.readonly and place == WORK
        why = "Another run is in progress in this project." if self._running and not going else ""
        shown = {WORK: IN_WORK, READER: IN_READER}.get(place, AWAY)
        for act, button in self.bar.buttons.items():
            button.setVisible(act in shown)
        self.bar.fit()
        self.bar.enable("submit", able and not going and not why, why)
        self.bar.enable("attack_read", place == WORK and case is not None)
        self.bar.enable("attack_back", place in (READER, FAMILIES))
        self.bar.enable("attack_families", place != FAMILIES)
        row = self.list.currentIndex().row()
        self.bar.enable("previous_item", place in (WORK, READER) and row > 0)
        self.bar.enable("next_item", place in (WORK, READER) and row < self.cases.rowCount() - 1)


def _column(*widgets: QWidget) -> QWidget:
    made = QWidget()
    column = vertical(on=made, margins=(4, 0, 0, 4), spacing=5)
    for widget in widgets:
        column.addWidget(widget, 1 if widget is widgets[-1] else 0)
    column.addStretch(0)
    return made


def _found(
    project: Project,
) -> tuple[Sequence[AttackableJudge], Sequence[AttackFigures], bool]:
    lines = [
        line
        for protocol in attack_offers.protocols(project)
        for line in attack_figures.report(project, protocol).lines
    ]
    return (
        attack_offers.offers(project),
        lines,
        run_records.under_way(project),
    )


def _listed(project: Project, test_id: str, attack: str) -> tuple[str, Sequence[AttackCaseLine]]:
    return f"{test_id}/{attack}", attack_cases.listed(project, test_id, attack)
