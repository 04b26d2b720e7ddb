"""Attacks tab: order a test of a judge, success rates per attack, and every case."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QSizePolicy,
    QTextBrowser,
    QWidget,
)

from annotator.actions.attacks import attack_figures, attacking
from annotator.actions.attacks.attack_figures import AttackCase, AttackFigures, AttackVerdict
from annotator.actions.attacks.attacking import (
    NONE,
    AttackableJudge,
    FamilyMember,
)
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import explained, percent
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import WIDTH, AttackRequest, AttackRunRequest
from annotator.domain.common import Change, counted
from annotator.domain.judges.judge import STEMS, Verdict
from annotator.domain.judges.validation import PlantedText
from annotator.domain.texts.estimate import Estimate, decimal, interval
from annotator.domain.texts.rendered import BREAK
from annotator.gui import theme
from annotator.gui.pages.validation.case_cards import swatch
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import flag_words, value_look, value_words
from annotator.gui.session.page import PagePart
from annotator.gui.session.run import REFUSED, BackgroundRun, Estimating
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import ActsBar, Command, Fold
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainArea,
    PlainLabel,
    Stack,
    StretchSpace,
    column_of,
    later,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState, answered_label
from annotator.gui.widgets.columns import TickList
from annotator.gui.widgets.fields import (
    AmountBox,
    BudgetBox,
    ChoiceBox,
    FormRow,
    LineField,
    NumberBox,
    beside,
    choose,
    form_of,
    offer,
    when_changed,
)
from annotator.gui.widgets.reading.report_view import ReportView
from annotator.gui.widgets.splitter import Splitter

USED = "Number of the judge's verdicts used for each attack"
WIDEST = "Largest width of a failure rate's 95 % interval"


class AttackForm(Pane):
    """The order form of an attack: choices above, estimate below; `changed` follows every new estimate."""

    changed = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._offers: dict[str, AttackableJudge] = {}
        self._left_out: set[str] = set()
        self.estimating = Estimating(session, self, self._came)
        self.judge, self.what = (
            ChoiceBox(self._offer_protocols, letters=10),
            ChoiceBox(self._offer_attacks, letters=10),
        )
        self.attacks = with_properties(TickList(), role="ticks")
        self.many = NumberBox(minimum=0, maximum=100_000, specialValueText="by the width")
        self.span = AmountBox(minimum=0.02, maximum=0.9, decimals=2, singleStep=0.05, value=WIDTH)
        self.seed = NumberBox(minimum=1, maximum=999_999, value=1)
        self.concurrency = NumberBox(minimum=1, maximum=512, value=8)
        self.budget = BudgetBox()
        self.summary, self.cost = PlainLabel("", wrap=True), PlainLabel("", "strong", wrap=True)
        self._lay_out()
        self.attacks.ticked_anew.connect(self._ticked)
        when_changed(self._turn, self.many, self.seed, self.span)

    def _lay_out(self) -> None:
        for combo in (self.judge, self.what):
            combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.form = form_of(
            (
                ("&Judge", self.judge, self.judge, "The judge to test", ""),
                ("&What", self.what, self.what, "What it judged", ""),
                ("&Attacks", self.attacks, self.attacks, "Attacks", ""),
                ("&Budget", self.budget, self.budget, "Budget in US dollars", ""),
            )
        )
        rows: list[FormRow] = [
            ("&Verdicts", beside(self.many), self.many, "How many verdicts", USED),
            ("W&idth", beside(self.span), self.span, "Largest width of a rate's interval", WIDEST),
            (
                "Seed",
                beside(self.seed),
                self.seed,
                "Seed of the draw",
                "The same seed draws the same verdicts",
            ),
            ("At &once", beside(self.concurrency), self.concurrency, "Concurrent calls", ""),
        ]
        self.options = Fold("Options", form_of(rows))
        card = with_properties(QFrame(), role="card")
        vertical(PlainLabel("Before it starts", "hint"), self.cost, self.summary, on=card, spacing=4)
        vertical(self.form, self.options, StretchSpace(1), card, on=self, margins=(0, 0, 8, 0), spacing=10)

    def fill(self, judges: Sequence[AttackableJudge]) -> None:
        self._offers = {judge.judge.name: judge for judge in judges}
        offer(self.judge, [(judge.judge.name, judge.judge.name) for judge in judges])
        self.estimating.forget()
        self._offer_protocols()

    def show_place(self, judge: str) -> None:
        choose(self.judge, judge)

    @property
    def offered(self) -> AttackableJudge | None:
        return self._offers.get(str(self.judge.currentData()))

    def order(self) -> AttackRunRequest | None:
        """The order set up in the form; None if there is no judge to ask or nothing is ticked."""
        result, attacks = self.offered, self.attacks.ticked()
        if result is None or not attacks:
            return None
        request = AttackRequest(
            result.judge.name, str(self.what.currentData()), attacks, self.many.value() or None,
            round(self.span.value(), 2), self.seed.value(),
        )  # fmt: skip
        budget = self.budget.limit if result.asks else None
        return attacking.order(request, concurrency=self.concurrency.value(), budget_usd=budget)

    def _offer_protocols(self) -> None:
        result = self.offered
        offer(
            self.what,
            [(f"{words} · {many:,}", name) for name, words, many in (result.protocols if result else ())],
        )
        self.form.setRowVisible(self.budget, bool(result and result.asks))
        self._offer_attacks()

    def _offer_attacks(self) -> None:
        result = self.offered
        with QSignalBlocker(self.attacks):
            self.attacks.clear()
            what = str(self.what.currentData())
            for attack, lacks in attacking.attacks_on(result.judge, what) if result else ():
                about = f"{attack.about}\n{lacks}".strip()
                ticked = attack.name not in self._left_out
                entry = self.attacks.add(attack.name, attack.title, about, ticked=ticked)
                if lacks:
                    entry.setData(Qt.ItemDataRole.CheckStateRole, None)
                    entry.setFlags(
                        entry.flags() & ~(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable)
                    )
                    entry.setData(Qt.ItemDataRole.AccessibleDescriptionRole, lacks)
        self._turn()

    def _ticked(self, name: str, on: bool) -> None:
        self._left_out = self._left_out - {name} if on else self._left_out | {name}
        self._turn()

    def _turn(self) -> None:
        self.span.setEnabled(self.many.value() == 0)
        order = self.order()
        if order is None:
            self.estimating.stop()
            self.cost.setText("")
            self.summary.setText("Tick an attack." if self.offered else "")
        else:
            self.cost.setText("Counting the questions…")
            self.summary.setText("")
            # Neither speed nor budget changes what there is to ask.
            self.estimating.ask(attacking.order(order.request))
        self.changed.emit()

    def _came(self, forecast: dict[str, Any]) -> None:
        self.cost.setText("" if "error" in forecast else cost_words(forecast))
        self.summary.setText(forecast["error"] if "error" in forecast else "\n".join(forecast["words"]))
        self.changed.emit()


def cost_words(forecast: dict[str, Any]) -> str:
    judging, money = forecast["judging"], forecast["cost_usd"]
    verdicts = f"{counted(judging['units'], 'verdict')} on copies"
    if not judging["model"]:
        return f"{verdicts}; no model is called, and there is no cost."
    calls = counted(judging["calls"], "call")
    return f"{verdicts} by {calls}; {'at an unknown price' if money is None else f'about ${money:,.2f}'}."


PUT_IN, MOVED, LACKING = "judge", "other", "evidence"
LEGEND = {PUT_IN: "inserted in the copy", MOVED: "moved in the report", LACKING: "not in the copy"}


class AttackReader(QWidget):
    """An attacked case: the change above; below it report and copy as plain text, each with its verdict."""

    def __init__(self) -> None:
        super().__init__()
        self._case: AttackCase | None = None
        self.head, self.done = PlainLabel("", "subtitle", wrap=True), PlainLabel("", wrap=True)
        self.about, self.unit = PlainLabel("", "hint", wrap=True), PlainLabel("", wrap=True)
        for label in (self.head, self.done, self.unit):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.legend = with_properties(QLabel(), textFormat=Qt.TextFormat.RichText)
        self.report, self.copy = (
            with_properties(ReportView(), accessibleName="The original report"),
            with_properties(ReportView(), accessibleName="The attacked copy"),
        )
        self._first: dict[ReportView, tuple[int, int]] = {}
        self.own, self.again = (
            _verdict_view("The judge's own verdict"),
            _verdict_view("Its verdict on the copy"),
        )
        report = PlainLabel("The original report", "strong"), self.own, (self.report, 1)
        copy = PlainLabel("The attacked copy", "strong"), self.again, (self.copy, 1)
        texts = Splitter(
            "validate/attack texts", parts=(column_of(*report, spacing=4), column_of(*copy, spacing=4))
        )
        vertical(
            self.head,
            self.unit,
            self.done,
            self.about,
            self.legend,
            (texts, 1),
            on=self,
            margins=0,
            spacing=5,
        )
        theme.watch(self, self._restyle)

    def show_case(self, case: AttackCase) -> None:
        self._case, line = case, case.line
        way = f" · {line.variant}" if line.variant else ""
        self.head.setText(f"{case.title}{way} · {case.judge}")
        self.unit.setText(
            f"Item {line.item_key} · {line.system} · asked about: {line.unit or 'a unit that is gone'}"
        )
        self.done.setText(" ".join(case.done))
        self.about.setText(case.about)
        self._show(self.report, case.report, case.gaps, LACKING)
        self._show(self.copy, case.copy, case.marks, PUT_IN)
        self._restyle()

    def _show(self, view: ReportView, text: str, marks: tuple[PlantedText, ...], kind: str) -> None:
        view.show_plain(text)
        places = shown_places(text, view.text())
        spans = [(places[mark.start], places[mark.end]) for mark in marks]
        view.clear_marks()
        for moved in (False, True):
            chosen = [span for span, mark in zip(spans, marks, strict=True) if mark.moved is moved]
            view.set_marks(MOVED if moved else kind, chosen)
        self._first[view] = spans[0] if spans else (0, 0)

    def reveal(self) -> None:
        """Scroll both texts to the first change; a text out of view cannot be scrolled."""
        for view, span in self._first.items():
            view.reveal(*span)

    def _restyle(self) -> None:
        case = self._case
        if case is None:
            return
        changed = case.again.value not in (None, case.own.value)
        self.own.setHtml(_verdict(case.line.protocol, case.own))
        self.again.setHtml(_verdict(case.line.protocol, case.again, changed=changed))
        kinds = [MOVED if mark.moved else PUT_IN for mark in case.marks] + [LACKING for _ in case.gaps]
        swatches = "\u2003".join(swatch(kind, LEGEND[kind]) for kind in dict.fromkeys(kinds))
        self.legend.setText(
            f"Marked: {swatches}" if swatches else "Nothing is marked: both texts are the same."
        )
        self.legend.setAccessibleName(
            ", ".join(LEGEND[kind] for kind in dict.fromkeys(kinds)) or "Nothing is marked"
        )


def shown_places(text: str, shown: str) -> Sequence[int]:
    """The place in the text that is shown of each place in a text, whose line ends were normalised and long lines
    broken.
    """
    if text == shown:
        return range(len(text) + 1)
    places, at = list[int](), 0
    for place, letter in enumerate(text):
        while shown[at : at + 1] == BREAK and letter != BREAK:
            at += 1
        places.append(at)
        at += not (letter == "\r" and shown[at : at + 1] == text[place + 1 : place + 2] == "\n")
    return [*places, len(shown)]


def _verdict_view(name: str) -> QTextBrowser:
    made = with_properties(QTextBrowser(), role="side", accessibleName=name, openLinks=False)
    theme.scale(made.setFixedHeight, 84)
    return made


def _verdict(protocol: str, verdict: Verdict, *, changed: bool = False) -> str:
    colour = theme.token(value_look(protocol, verdict.value)[1]).name()
    words = escape(value_words(protocol, verdict.value, verdict.status))
    differs, marked = (theme.token(f"state-{name}").name() for name in ("disagree", "unconfirmed"))
    flags = escape(", ".join(flag_words(flag) for flag in verdict.flags.split()))
    explanation = escape(verdict.cause if verdict.value is None else verdict.rationale)
    parts = (
        (True, f"<b style='color:{colour}'>{words}</b>"),
        (changed, f"<b style='color:{differs}'> · ⚠ another verdict</b>"),
        (flags, f"<span style='color:{marked}'> · ⚑ {flags}</span>"),
        (explanation, f"<p dir='auto'>{explanation}</p>"),
        (verdict.quote, f"<p dir='auto'><b>Quote</b> {escape(verdict.quote)}</p>"),
    )
    return "".join(html for there, html in parts if there)


ABOUT = (
    "A judge may favour reports of its own family. By default the family is inferred from the name of the "
    "model or system; choose or type another, or “none”. The Bias view is updated."
)


class FamilyList(Pane):
    changed = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
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
        inner, grid = QWidget(), QGridLayout()
        self.boxes = {}
        for row, member in enumerate(self.session.ask(attacking.members) or []):
            kind = "judge" if member.judge else "system"
            model = f" · {member.model}" if member.model else ""
            box = self._box(member)
            self.boxes[member.name] = box
            grid.addWidget(ElidedLabel(member.name), row, 0)
            grid.addWidget(ElidedLabel(f"{kind}{model}", "hint"), row, 1)
            grid.addWidget(box, row, 2)
        for place, stretch in enumerate((3, 3, 4)):
            grid.setColumnStretch(place, stretch)
        vertical(grid, StretchSpace(1), on=inner)
        self.area.setWidget(inner)

    def _box(self, member: FamilyMember) -> QComboBox:
        box: ChoiceBox = ChoiceBox(
            editable=True,
            insertPolicy=QComboBox.InsertPolicy.NoInsert,
            accessibleName=f"Family of {member.name}",
            enabled=not self.session.project.readonly,
            activated=lambda _: self._say(member.name, box),
        )
        box.setLineEdit(LineField(editingFinished=lambda: self._say(member.name, box)))
        guess = f": {member.family or 'none known'}" if not member.entered else ""
        box.addItem(f"by its name{guess}", "")
        box.addItem(NONE, NONE)
        for family in sorted({*STEMS, *([member.family] if member.family else [])}):
            box.addItem(family, family)
        box.setCurrentIndex(max(0, box.findData(member.family or NONE) if member.entered else 0))
        return box

    def _say(self, name: str, box: QComboBox) -> None:
        words = box.currentText().strip()
        row = box.findText(words)
        family = str(box.itemData(row)) if row >= 0 else words
        member = {one.name: one for one in self.session.ask(attacking.members) or []}.get(name)
        stored = "" if member is None or not member.entered else member.family or NONE
        if member is not None and family != stored:
            self.session.do(attacking.set_family, name, family)
            self.changed.emit()


def _rate(estimate: Estimate | None) -> str:
    """A share in percent with its interval: “33 % [11, 65]”."""
    if estimate is None or estimate.value is None:
        return "–"
    span = interval(estimate, lambda bound: decimal(100 * bound, 0))
    return f"{percent(estimate.value)}  {span}".rstrip()


def _tip(estimate: Estimate | None, none: str = "") -> str:
    return "\n".join(explained(estimate)) if estimate is not None else none


def _look(line: AttackFigures) -> tuple[str, str] | None:
    result = line.failed
    if result.value is None:
        return "question", "state-missing"
    if not result.value:
        return "check", "state-agreed"
    return "warning", "state-disagree" if result.value >= 0.1 else "state-unconfirmed"


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
        "To, from yes", lambda line: f"{line.up:,}, {line.down:,}", 92, number=True, firm=True, room=620,
        about="Verdicts that became the value an injection demands (yes, true, or the first), and verdicts "
        "that lost that value.",
    ),
    Column(
        "Beyond chance", lambda line: _rate(line.beyond), 112, firm=True,
        tip=lambda line: _tip(line.beyond, "Unchanged reports were not judged again."),
        about="Failure rate minus that of unchanged reports judged again, on the same questions.",
    ),
    Column(
        "Noticed", lambda line: _rate(line.noticed), 96, firm=True, room=720,
        tip=lambda line: _tip(line.noticed, "Flags apply only to planted text judged by a model."),
        about="Copies flagged as addressing the judge.",
    ),
    Column(
        "Missing",
        lambda line: ", ".join(f"{many:,} × {cause.replace('_', ' ')}" for cause, many in line.missing.items()),
        90,
        about="Copies without a verdict, by cause.",
    ),
)  # fmt: skip
MISSING = len(LINES) - 1


def _now(case: AttackVerdict) -> str:
    return f"{value_words(case.protocol, case.value, case.status)}{', changed' if case.failed else ''}"


def _look_of_case(case: AttackVerdict) -> tuple[str, str]:
    if case.failed:
        return "warning", "state-disagree"
    return value_look(case.protocol, case.value)


CASES: Sequence[Column[AttackVerdict]] = (
    Column("Item", lambda case: case.item_key, 70),
    Column("System", lambda case: case.system, 108),
    Column("Asked about", lambda case: case.unit, 180),
    Column("Variant", lambda case: case.variant or "–", 124, room=560),
    Column("Own verdict", lambda case: value_words(case.protocol, case.before), 100, firm=True,
           look=lambda case: value_look(case.protocol, case.before)),
    Column("On the copy", _now, 118, firm=True, look=_look_of_case),
    Column("Flags", lambda case: ", ".join(map(flag_words, case.flags)), 100),
)  # fmt: skip


# Without icons: which of the commands are shown depends on the view.
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
WORK, READER, FAMILIES, EMPTY = range(4)
IN_WORK = frozenset({"attack_families", "attack_read", "submit"})
IN_READER = frozenset({"attack_back", "previous_item", "next_item"})
AWAY = frozenset({"attack_back", "attack_families"})


class AttacksPart(PagePart):
    """The Attacks tab: the order on the left, rates above cases on the right; a case or the families fill the page."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar(LEFT, RIGHT))
        self._running = False
        self.form, self.run = (
            AttackForm(session),
            BackgroundRun(session, "Attacks", "Validate", self, part="Attacks"),
        )
        self.reader, self.families = AttackReader(), FamilyList(session)
        self.lines, self.cases = (
            CellsModel[AttackFigures](LINES, self),
            CellsModel[AttackVerdict](CASES, self),
        )
        self._soon = later(self, self._ask_cases, 150)
        self.rates = CellsTable(
            "Attacks and failure rates",
            self.lines,
            stretched=0,
            moved=self._soon.start,
            opened=lambda _: self.list.setFocus(),
        )
        self.list = CellsTable(
            "Verdicts on copies", self.cases, stretched=2, moved=self._offer, opened=lambda _: self.read()
        )
        self.nothing, self.count = answered_label(NO_TEST), PlainLabel("", "strong", wrap=True)
        self.acts = {
            "submit": self.start,
            "attack_read": self.read,
            "attack_back": self.back,
            "attack_families": self.show_families,
            "next_item": lambda: self._step(1),
            "previous_item": lambda: self._step(-1),
        }
        self.form.changed.connect(self._offer)
        self.run.ended.connect(self._ended)
        area = PlainArea("Attack settings", self.form)
        self.below = _column(self.count, self.list)
        right = Splitter(
            "validate/attacks below",
            Qt.Orientation.Vertical,
            parts=(_column(RunPanel(self.run), self.nothing, self.rates), self.below),
            sizes=(300, 260),
        )
        work = Splitter("validate/attacks", parts=(area, right), sizes=(340, 740), stretch=(0, 1))
        self.empty = EmptyState("validate", *NOTHING)
        self.empty.add_action("To the judges", lambda: self.session.go("Judges", part="Runs"), primary=True)
        self.body = Stack(work, self.reader, self.families, self.empty)
        self.lay_out(self.body)
        self.focus_on = self.form.judge

    def fill(self) -> None:
        if self.body.currentIndex() == FAMILIES:
            self.families.fill()
        self.session.ask_later(self._filled, _read_all)

    def go(self, place: Mapping[str, Any]) -> None:
        """`judge` selects the judge to test, `families` opens the developers of the models."""
        self.form.show_place(str(place.get("judge", "")))
        if place.get("families"):
            self.show_families()

    def stop(self) -> None:
        self.form.estimating.stop()

    def start(self) -> None:
        order = self.form.order()
        if order is None or not self.bar.buttons["submit"].isEnabled():
            return
        self.answer.clear()
        self.run.start(order)
        self._offer()

    def read(self) -> None:
        if (case := self.cases.at(self.list.currentIndex().row())) is not None:
            self.session.ask_later(self._read, attack_figures.attack_case, case)

    def back(self) -> None:
        if self.body.currentIndex() in (READER, FAMILIES):
            self.body.setCurrentIndex(WORK if self.form.offered else EMPTY)
            (self.list if self.list.isVisible() else self.form.judge).setFocus()
            self._offer()

    def show_families(self) -> None:
        self.families.fill()
        self.body.setCurrentIndex(FAMILIES)
        self._offer()

    def _filled(self, answer: tuple[Sequence[AttackableJudge], Sequence[AttackFigures], bool]) -> None:
        offers, lines, self._running = answer
        figures = self.lines.at(self.rates.currentIndex().row())
        self.form.fill(offers)
        self.lines.show(lines)
        self.rates.hide_columns({MISSING: not any(line.missing for line in lines)})
        for shown in (self.rates, self.below):
            shown.setVisible(bool(lines))
        self.nothing.setVisible(not lines)
        if self.body.currentIndex() in (WORK, EMPTY):
            self.body.setCurrentIndex(WORK if offers else EMPTY)
        place = self.lines.place_of(
            lambda one: (
                figures is not None and (one.judge.id, one.attack) == (figures.judge.id, figures.attack)
            )
        )
        self.rates.choose(place, first=bool(lines))
        self._ask_cases()
        self._offer()

    def _ask_cases(self) -> None:
        line = self.lines.at(self.rates.currentIndex().row())
        if line is None:
            self.cases.show([])
            self.count.setText("")
            return
        self.session.ask_newest(self._listed, attack_figures.listed, line.test, line.attack)

    def _listed(self, lines: Sequence[AttackVerdict]) -> None:
        line = self.lines.at(self.rates.currentIndex().row())
        if line is None:
            return
        self.cases.show(lines)
        changed = sum(one.value not in (None, one.before) for one in lines)
        self.count.setText(f"{line.title}, {line.judge.name}: {changed:,} of {len(lines):,} verdicts changed")
        if lines and not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(self.cases.index(0, 0))
        self._offer()

    def _read(self, case: AttackCase) -> None:
        self.reader.show_case(case)
        self.body.setCurrentIndex(READER)
        self.reader.copy.setFocus()
        self._offer()
        QTimer.singleShot(0, self.reader, self.reader.reveal)

    def _step(self, by: int) -> None:
        if self.list.step(by) and self.body.currentIndex() == READER:
            self.read()

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED:
            done, missing = int(line["done"]), sum((line.get("missing") or {}).values())
            summary = f"{done:,} of {int(line['total']):,} {line['deed']}."
            more = f" {missing:,} did not come; start again to ask for those." if missing else ""
            self.answer.show_message(
                "success" if line["state"] == "done" else "info", summary + more, line.get("cause", "")
            )
        self.session.tell(Change("attack", str(line.get("test", "")), "attack"))
        self.fill()

    def _offer(self) -> None:
        going, place = self.run.running, self.body.currentIndex()
        case = self.cases.at(self.list.currentIndex().row())
        able = self.form.order() is not None and not self.session.project.readonly and place == WORK
        why = "Another run is in progress in this project." if self._running and not going else ""
        shown = {WORK: IN_WORK, READER: IN_READER}.get(place, AWAY)
        for act in self.bar.buttons:
            self.bar.offer(act, there=act in shown)
        self.bar.enable("submit", able and not going and not why, why)
        row = self.list.currentIndex().row()
        self.bar.enable_all(
            {
                "attack_read": place == WORK and case is not None,
                "attack_back": place in (READER, FAMILIES),
                "attack_families": place != FAMILIES,
                "previous_item": place in (WORK, READER) and row > 0,
                "next_item": place in (WORK, READER) and row < self.cases.rowCount() - 1,
            }
        )


def _column(*widgets: QWidget) -> QWidget:
    *above, last = widgets
    return column_of(*above, (last, 1), StretchSpace(0), margins=(4, 0, 0, 4), spacing=5)


def _read_all(
    project: Project,
) -> tuple[Sequence[AttackableJudge], Sequence[AttackFigures], bool]:
    lines = [
        line for protocol in attacking.protocols(project) for line in attack_figures.report(project, protocol)
    ]
    return (
        attacking.offers(project),
        lines,
        run_records.under_way(project),
    )
