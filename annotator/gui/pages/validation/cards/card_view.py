"""Preview of a validity card for a judge and its labels, or what must happen first."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.sets import validation_sets
from annotator.actions.studies.result_views import CountedView, ResultView
from annotator.actions.validation import cards
from annotator.domain.judges.validation import Opening, Split
from annotator.domain.judges.validity_card import ValidityCard
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.validation import looking
from annotator.gui.pages.validation.looking import ClosedTestPart, CountedLook, TestPartGate
from annotator.gui.views.choosers import Choosers
from annotator.gui.widgets.basics import PlainLabel, horizontal, push_button, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.later import later
from annotator.gui.widgets.reading.report_view import ReportView

OPENED = "open the test part"
MAKING = "Making the card…"
NOTHING = (
    "A card compares one judge with people: all settings of the judge, the labels it was compared with, and "
    "every figure with its interval. It uses submitted labels and the judge's verdicts on the same reports."
)
PAGE, GATE, EMPTY = range(3)


class CardView(QWidget):
    """Choices above the card's page; `turned` announces another card, or none."""

    turned = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk, self._asked, self._stale, self.stopped = desk, 0, True, False
        self.card: ValidityCard | None = None
        """The card in view."""
        self._chosen: dict[str, str] = {}
        self._looks: dict[str, CountedLook] = {}
        self._closed: ClosedTestPart | None = None
        self._foreign = False
        self.choosers, self.gate = Choosers(), TestPartGate()
        self.page, self.empty = ReportView(), EmptyState("validate", "No card yet", NOTHING)
        self.page.setAccessibleName("The card's page")
        self.empty.add_action("Draw a set to label", lambda: desk.go("Validate", part="Sets"), primary=True)
        self.empty.add_action("Run a judge", lambda: desk.go("Judges"))
        self.state = PlainLabel("", "hint", wrap=True)
        self.back = push_button("Back to the judges of this project", self._back)
        self.body = stacked(self.page, self.gate, self.empty)
        self._lay_out()
        self.choosers.chosen.connect(self._chose)
        self.gate.opened.connect(self._open_test)
        self.gate.declined.connect(lambda: self.choosers.choose("part", Split.DEV.value))
        # A card that takes the place of its sketch is read on where that was.
        self._place, self._sketched = 0, False
        self.page.loaded.connect(lambda: self.page.verticalScrollBar().setValue(self._place))
        self._later = later(self, self._count, 0)

    def _lay_out(self) -> None:
        vertical(
            self.choosers,
            horizontal((self.state, 1), self.back),
            (self.body, 1),
            on=self,
            margins=(0, 0, 8, 0),
            spacing=8,
        )
        self.back.hide()

    def fill(self) -> None:
        if self._stale and not self._foreign:
            self._later.start()

    def forget(self) -> None:
        self._stale = True

    def choose(self, chosen: dict[str, str]) -> None:
        """Make a choice, as if by hand."""
        self._chosen.update(chosen)
        self._stale, self._foreign = True, False
        self.fill()

    def show_foreign(self, card: ValidityCard, name: str) -> None:
        self._foreign, self._sketched = True, False
        self._asked += 1
        self.choosers.hide()
        self._show_card(card, f"As \u2068{name}\u2069 has it.")

    def focus_first(self) -> None:
        """Work begins with a choice, or with what is to be decided first."""
        lists = [combo for combo in self.choosers.lists.values() if combo.isVisible()]
        if self.body.currentIndex() == GATE:
            self.gate.setFocus()
        elif lists and not self._foreign:
            lists[0].setFocus()
        else:
            self.page.setFocus()

    def stop(self) -> None:
        self.stopped = True
        self._later.stop()

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
        self._ask(cards.AT_ONCE)

    def _ask(self, view: ResultView) -> None:
        self._asked += 1
        asked = self._asked

        def show(found: Any) -> None:
            if asked == self._asked and not self.stopped:
                self._counted(found)

        question = looking.shown, (view,), cards.NAME, dict(self._chosen), None
        self._desk.ask_later(show, *question, dict(self._looks))

    def _counted(self, found: Any) -> None:
        self.choosers.offer(found.choices, found.chosen)
        self.choosers.setVisible(bool(found.choices))
        self.back.hide()
        if isinstance(found, CountedView):
            self._show_made(found.kept)
            return
        self.state.setText("")
        if isinstance(found, ClosedTestPart):
            self._closed = found
            self.gate.ask(found.seen)
            self.body.setCurrentIndex(GATE)
        else:
            self.empty.show_words("No card yet", f"{found.refusal.happened} {found.refusal.todo} {NOTHING}")
            self.body.setCurrentIndex(EMPTY)
        self._show(None)

    def _show_made(self, card: ValidityCard) -> None:
        """Show the card, or what is known of it, and then go on unless nobody looks."""
        if card.is_sealed:
            self._show_card(card, "Preview of the card; it is not stored in the project.")
            return
        self._show_page(cards.sketch(card))
        self._sketched = True
        if self.isVisible():
            self._ask(cards.VIEW)
        else:
            self._stale = True

    def _show_card(self, card: ValidityCard, words: str) -> None:
        self.state.setText(words)
        self.back.setVisible(self._foreign)
        self._show_page(cards.body(card))
        self._show(card)

    def _show_page(self, html: str) -> None:
        self._place = self.page.verticalScrollBar().value() if self._sketched else 0
        self.page.show_html(html)
        self.body.setCurrentIndex(PAGE)

    def _show(self, card: ValidityCard | None) -> None:
        self.card = card
        self.turned.emit()

    def _open_test(self) -> None:
        """Count the look, then make the card."""
        closed = self._closed
        if closed is None:
            return
        opening = self._desk.do(validation_sets.open_test, closed.seen.set_id, closed.seen.judges)
        if not isinstance(opening, Opening):
            return
        self._looks[closed.seen.set_id] = CountedLook(closed.seen, opening.id)
        self._closed = None
        self._desk.tell(Change(validation_sets.NAME, closed.seen.set_id, OPENED))
        self._count()
