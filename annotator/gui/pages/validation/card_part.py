"""Cards tab: a judge's validity card, and another one checked against this project's judges."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QGroupBox,
    QListWidget,
)

from annotator import files
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges
from annotator.actions.judging.derived_judges import CardComparison
from annotator.actions.project.file import Project
from annotator.actions.sets.validation_ground import ClosedTestPart
from annotator.actions.studies.result_views import CountedView, ResultView
from annotator.actions.validation import validity_cards
from annotator.domain.common import Refusal, in_window
from annotator.domain.judges.validation import Difference, Split, ValidityCard
from annotator.gui import keys, theme
from annotator.gui.pages.validation import figures
from annotator.gui.pages.validation.figures import TestPartGate
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.session import page
from annotator.gui.session.page import PagePart
from annotator.gui.session.session import ANY, Pane, ProjectSession
from annotator.gui.views.view_pane import Choosers
from annotator.gui.widgets.bars import ActsBar, Command
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Stack,
    StretchSpace,
    add_entry,
    horizontal,
    later,
    open_file,
    push_button,
    vertical,
    with_properties,
    wrap_lines,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.fields import ChoiceBox, LineField, form_of, offer, together
from annotator.gui.widgets.reading.report_view import ReportView
from annotator.gui.widgets.splitter import Splitter

FILES = "Cards (*.json *.html);;All files (*)"
ABOUT = (
    "Does a card still describe a judge of this project? Choose or drop its file. The project is not changed."
)
COLUMNS: tuple[Column[Difference], ...] = (
    Column("Difference", lambda one: one.part, 120, tip=lambda one: one.todo),
    Column("On the card", lambda one: one.on_card, 116, tip=lambda one: one.on_card),
    Column("Now", lambda one: one.now, 110, tip=lambda one: one.now),
)


@dataclass(frozen=True, slots=True)
class CheckedCard:
    """A card from a file with the result of its check, or the refusal."""

    card: ValidityCard | None = None
    check: CardComparison | None = None
    refusal: Refusal | None = None


def read(project: Project, path: Path, judge: str) -> CheckedCard:
    card = None
    try:
        card = validity_cards.read(path)
        return CheckedCard(card, derived_judges.check(project, card, judge))
    except Refusal as refusal:
        return CheckedCard(card, refusal=refusal)


class CardCheck(Pane):
    turned = Signal()
    wanted = Signal(object, str)
    """A card to read, and its file's name."""
    reported = Signal(str, str)
    """What was done, and what follows from it."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._path: Path | None = None
        self.checked = CheckedCard()
        self.setAcceptDrops(True)
        self.choose = push_button("Choose a card…", self.choose_file)
        keys.tell(self.choose, "toolTip", "See how a card differs from the judges here ({check_card})")
        self.look = push_button("Read it", self._read)
        self.judge = ChoiceBox(self._hold, accessibleName="Judge compared with the card")
        self.file, self.verdict = PlainLabel("", wrap=True), PlainLabel("", "strong", wrap=True)
        self.todo, self.remarks = PlainLabel("", "hint", wrap=True), PlainLabel("", "hint", wrap=True)
        self.model = CellsModel[Difference](COLUMNS, self)
        self.table = with_properties(
            CellsTable(
                "Differences from the card",
                self.model,
                stretched=2,
                moved=self._tell_todo,
                row_height=46,
            ),
            wordWrap=True,
        )
        self.define = _Define()
        self.bound = with_properties(QListWidget(), accessibleName="Judges that are bound to a card")
        wrap_lines(self.bound)
        self.release = push_button("Release it", self._release)
        self._against, self._bound = (
            together("Compared with", self.judge), PlainLabel("Bound to their cards", "strong", wrap=True)
        )  # fmt: skip
        vertical(
            PlainLabel("Check a card", "subtitle"), PlainLabel(ABOUT, "hint", wrap=True),
            horizontal(self.choose, self.look, StretchSpace(1)), self.file, self._against, self.verdict, self.table,
            self.todo, self.remarks, self.define, StretchSpace(1), self._bound, self.bound,
            (self.release, 0, Qt.AlignmentFlag.AlignLeft), on=self, spacing=8,
        )  # fmt: skip
        theme.scale(self.bound.setMaximumHeight, 84)
        theme.scale(self.table.setMaximumHeight, 190)
        self.define.wanted.connect(self._define)
        self._show(self.checked)

    def fill(self) -> None:
        names = [judge.name for judge in self.session.ask(judges.all_of) or ()]
        offer(self.judge, [("the most similar judge", ""), *((name, name) for name in names)])
        self._fill_bound()
        self._hold()

    def choose_file(self) -> None:
        open_file(self, "A card", FILES, self.look_at)

    def look_at(self, path: Path) -> None:
        self._path = path
        self.judge.setCurrentIndex(0)
        self._hold()

    def bind(self) -> None:
        check = self.checked.check
        if check is None or not check.holds:
            return
        if self.session.do(derived_judges.bind, check.card, check.judge) is not None:
            self.reported.emit(
                f"\u2068{check.judge}\u2069 is bound to its card.",
                "A run by another model, prompt or setting is refused before a call is made.",
            )
            self._fill_bound()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _cards(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.look_at(_cards(event)[0])

    def _hold(self) -> None:
        if self._path is None:
            return
        self.session.ask_newest(self._show, read, self._path, str(self.judge.currentData() or ""))

    def _show(self, result: CheckedCard) -> None:
        self.checked = result
        card, check = result.card, result.check
        self.file.show_words(_about(card, self._path) if card else self._path.name if self._path else "")
        for widget in (self.look, self._against):
            widget.setVisible(card is not None)
        words = check.words() if check else []
        self.verdict.show_words(words[0] if words else str(result.refusal or ""))
        self.model.show(check.differences if check else ())
        self.table.setVisible(self.model.rowCount() > 0)
        if self.model.rowCount():
            self.table.selectRow(0)
        self._tell_todo()
        self.remarks.show_words("\n".join(check.remarks) if check else "")
        alone = check is not None and not check.judge
        self.define.setVisible(alone)
        if check is not None and alone:
            self.define.offer(check.card)
        self.turned.emit()

    def _tell_todo(self) -> None:
        difference = self.model.at(self.table.currentIndex().row())
        self.todo.show_words(difference.todo if difference else "")

    def _read(self) -> None:
        if self.checked.card is not None and self._path is not None:
            self.wanted.emit(self.checked.card, self._path.name)

    def _define(self, name: str, address: str, variable: str) -> None:
        card = self.checked.card
        if (
            card is not None
            and self.session.do(derived_judges.define, card, address, name, variable) is not None
        ):
            self.reported.emit(
                f"\u2068{name}\u2069 is defined.", "Add its key, if needed, on the Judges page."
            )
            self.fill()

    def _fill_bound(self) -> None:
        names = {judge.id: judge.name for judge in self.session.ask(judges.all_of) or ()}
        self.bound.clear()
        for card in self.session.ask(derived_judges.bound) or ():
            name, made = names.get(card.judge_id, card.name), f"card of {card.made_at:%Y-%m-%d}"
            add_entry(self.bound, f"\u2068{name}\u2069, {card.protocol}\n{made}, {card.sha256[:8]}", card)
        there = self.bound.count() > 0
        for widget in (self._bound, self.bound, self.release):
            widget.setVisible(there)
        if there:
            self.bound.setCurrentRow(0)

    def _release(self) -> None:
        entry = self.bound.currentItem()
        one = entry.data(Qt.ItemDataRole.UserRole) if entry is not None else None
        if (
            one is not None
            and self.session.do(derived_judges.release, one.judge_id, one.protocol) is not None
        ):
            self._fill_bound()


class _Define(QGroupBox):
    """Fields that a card lacks for its judge: name, address, and location of the API key."""

    wanted = Signal(str, str, str)

    def __init__(self) -> None:
        super().__init__("Define this judge here")
        self.about = PlainLabel("", "hint", wrap=True)
        self.name = LineField(maxLength=120)
        self.address = LineField(
            placeholderText="http://127.0.0.1:8000/v1", maxLength=2000, returnPressed=self._ask
        )
        self.variable = LineField(placeholderText="e.g. OPENAI_API_KEY", maxLength=200)
        self.add = push_button("Define it", self._ask)
        rows = (("Name", self.name), ("Endpoint", self.address), ("Key's variable", self.variable))
        form = form_of((words, field, field, words, "") for words, field in rows)
        vertical(self.about, form, (self.add, 0, Qt.AlignmentFlag.AlignLeft), on=self)

    def offer(self, card: ValidityCard) -> None:
        self.about.setText(derived_judges.to_define(card))
        if not self.name.text():
            self.name.setText(card.name)
        asks = card.judge.kind == "endpoint"
        for widget in (self.name, self.address, self.variable, self.add):
            widget.setEnabled(asks)

    def _ask(self) -> None:
        self.wanted.emit(self.name.text().strip(), self.address.text().strip(), self.variable.text().strip())


def _cards(event: QDropEvent) -> list[Path]:
    return [path for path in page.files(event) if path.suffix.lower() in validity_cards.ENDINGS]


def _about(card: ValidityCard, path: Path | None) -> str:
    name = path.name if path else ""
    return f"\u2068{name}\u2069: \u2068{card.name}\u2069, made on {card.made_at:%Y-%m-%d}, hash {card.sha256[:8]}"


MAKING = "Making the card…"
NOTHING = (
    "A card compares one judge with people: all settings of the judge, the labels it was compared with, and "
    "every figure with its interval. It uses submitted labels and the judge's verdicts on the same reports."
)
CARD_PAGE, GATE, EMPTY = range(3)


class CardView(Pane):
    """A judge's card: choices above its page; `turned` announces another card, or none."""

    turned = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._stale = True
        self.card: ValidityCard | None = None
        self._chosen: dict[str, str] = {}
        self._foreign = False
        self.choosers = Choosers()
        self.gate = TestPartGate(session, self._count, lambda: self.choosers.choose("part", Split.DEV.value))
        self.page, self.empty = (
            with_properties(ReportView(), accessibleName="The card's page"),
            EmptyState("validate", "No card yet", NOTHING),
        )
        self.empty.add_action(
            "Draw a set to label", lambda: session.go("Validate", part="Sets"), primary=True
        )
        self.empty.add_action("Run a judge", lambda: session.go("Judges"))
        self.state = PlainLabel("", "hint", wrap=True)
        self.back = push_button("Back to the judges of this project", self._back, visible=False)
        self.body = Stack(self.page, self.gate, self.empty)
        vertical(
            self.choosers,
            horizontal((self.state, 1), self.back),
            (self.body, 1),
            on=self,
            margins=(0, 0, 8, 0),
            spacing=8,
        )
        self.choosers.chosen.connect(self._chose)
        # A card that replaces its preview keeps the scroll position.
        self._place, self._sketched = 0, False
        self.page.loaded.connect(lambda: self.page.verticalScrollBar().setValue(self._place))
        self._later = later(self, self._count, 0)

    def fill(self) -> None:
        if self._stale and not self._foreign:
            self._later.start()

    def forget(self) -> None:
        self._stale = True

    def choose(self, chosen: dict[str, str]) -> None:
        self._chosen.update(chosen)
        self._stale, self._foreign = True, False
        self.fill()

    def show_foreign(self, card: ValidityCard, name: str) -> None:
        self._foreign, self._sketched = True, False
        self.session.forget(self._counted)
        self.choosers.hide()
        self._show_card(card, f"As \u2068{name}\u2069 has it.")

    def focus_first(self) -> None:
        lists = [combo for combo in self.choosers.lists.values() if combo.isVisible()]
        if self.body.currentIndex() == GATE:
            self.gate.setFocus()
        elif lists and not self._foreign:
            lists[0].setFocus()
        else:
            self.page.setFocus()

    def _chose(self) -> None:
        self._chosen.update(self.choosers.values())
        self._count()

    def _back(self) -> None:
        self._foreign = False
        self._count()

    def _count(self) -> None:
        self._stale = self._sketched = False
        self.state.setText(MAKING)
        self._show(None)
        self._ask(validity_cards.AT_ONCE)

    def _ask(self, view: ResultView) -> None:
        question = figures.shown, (view,), validity_cards.NAME, dict(self._chosen), None
        self.session.ask_newest(self._counted, *question, dict(self.gate.looks))

    def _counted(self, answer: Any) -> None:
        self.choosers.offer(answer.choices, answer.chosen)
        self.choosers.setVisible(bool(answer.choices))
        self.back.hide()
        if isinstance(answer, CountedView):
            self._show_made(answer.count)
            return
        self.state.setText("")
        if isinstance(answer.refusal, ClosedTestPart):
            self.gate.ask(answer.refusal.seen)
            self.body.setCurrentIndex(GATE)
        else:
            words = in_window(f"{answer.refusal.happened} {answer.refusal.todo}")
            self.empty.show_words("No card yet", f"{words} {NOTHING}")
            self.body.setCurrentIndex(EMPTY)
        self._show(None)

    def _show_made(self, card: ValidityCard) -> None:
        if card.is_sealed:
            self._show_card(card, "Preview of the card; it is not stored in the project.")
            return
        self._show_page(validity_cards.sketch_of(card))
        self._sketched = True
        if self.isVisible():
            self._ask(validity_cards.VIEW)
        else:
            self._stale = True

    def _show_card(self, card: ValidityCard, words: str) -> None:
        self.state.setText(words)
        self.back.setVisible(self._foreign)
        self._show_page(validity_cards.body(card))
        self._show(card)

    def _show_page(self, html: str) -> None:
        self._place = self.page.verticalScrollBar().value() if self._sketched else 0
        self.page.show_html(html)
        self.body.setCurrentIndex(CARD_PAGE)

    def _show(self, card: ValidityCard | None) -> None:
        self.card = card
        self.turned.emit()


BIND = "Refuse runs of the judge if it differs from its card"
LEFT = (Command("bind_card", "Bind the judge", "lock", BIND),)
RIGHT = (Command("submit", "Save the card…", hint="As a page, or as JSON for programs", role="primary"),)
PAGE, JSON = "A page, which programs read too (*.html)", "JSON (*.json)"
ENDINGS = {PAGE: ".html", JSON: ".json"}


class ValidityCards(PagePart):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar(LEFT, RIGHT))
        self.view, self.check = CardView(session), CardCheck(session)
        self.acts = {
            "submit": self._choose_place,
            "check_card": self.check.choose_file,
            "bind_card": self.check.bind,
        }
        self.view.turned.connect(self._offer)
        self.check.turned.connect(self._offer)
        self.check.wanted.connect(self.view.show_foreign)
        self.check.reported.connect(
            lambda happened, todo: self.answer.show_message("success", happened, todo)
        )
        # Recomputed when it is next shown, whoever changed something meanwhile.
        session.listen(lambda _: self.view.forget(), (ANY,))
        side = with_properties(PlainArea("A card to be checked", self.check), minimumWidth=320)
        self.lay_out(Splitter("validate/cards", parts=(self.view, side), sizes=(750, 350), stretch=(1,)))
        self._offer()

    def fill(self) -> None:
        """Compute the card again if something has changed, and check the other one again."""
        self.view.fill()
        self.check.fill()

    def go(self, place: Mapping[str, Any]) -> None:
        """`choose` sets choices, `card` is the file of a card to check."""
        if place.get("choose"):
            self.view.choose(dict(place["choose"]))
        if place.get("card"):
            self.check.look_at(Path(place["card"]))

    def focus_first(self) -> None:
        self.view.focus_first()

    def save(self, path: Path) -> None:
        card = self.view.card
        if card is None:
            return
        try:
            validity_cards.save(card, path)
        except Refusal as refusal:
            self.session.refused.emit(refusal)
            return
        self.answer.show_message("success", f"Wrote \u2068{path.name}\u2069.")

    def _choose_place(self) -> None:
        if self.view.card is None:
            return
        name, kind = QFileDialog.getSaveFileName(self, "Save the card", "card.html", ";;".join(ENDINGS))
        if name:
            ending = ENDINGS.get(kind, ENDINGS[PAGE])
            self.save(files.with_ending(Path(name), ending, *ENDINGS.values()))

    def _offer(self) -> None:
        there, check = self.view.card is not None, self.check.checked.check
        self.bar.enable("submit", there, "" if there else "No card is shown.")
        holds = check is not None and check.holds and not self.session.project.readonly
        self.bar.enable(
            "bind_card",
            holds,
            BIND if holds else "Check a card that holds for a judge of this project first.",
        )
