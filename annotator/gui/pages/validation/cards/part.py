"""Validity cards tab: make, read and check cards."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog

from annotator import files
from annotator.actions.validation import cards
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import ANY, Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.validation.cards.card_check import CardCheck
from annotator.gui.pages.validation.cards.card_view import CardView
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.plain_area import PlainArea

LEFT = (
    Command("check_card", "Check a card", "import", "Choose a card's file and see the differences"),
    Command(
        "bind_card",
        "Bind the judge",
        "lock",
        "Refuse runs of the judge if it differs from its card",
    ),
)
RIGHT = (Command("submit", "Save the card…", hint="As a page, or as JSON for programs", role="primary"),)
PAGE, JSON = "A page, which programs read too (*.html)", "JSON (*.json)"
ENDINGS = {PAGE: ".html", JSON: ".json"}
NO_CARD = "No card is shown."
NOT_HELD = "Check a card that holds for a judge of this project first."


class ValidityCards(PagePart):
    """The card on the left, its check on the right."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self.view, self.check = CardView(desk), CardCheck(desk)
        self.acts = {
            "submit": self._choose_place,
            "check_card": self.check.choose_file,
            "bind_card": self.check.bind,
        }
        self.view.turned.connect(self._offer)
        self.check.turned.connect(self._offer)
        self.check.wanted.connect(self.view.show_foreign)
        self.check.told.connect(lambda happened, todo: self.answer.show_message("success", happened, todo))
        # Made again when it is looked at again, no matter who changed something meanwhile.
        desk.listen(lambda _: self.view.forget(), (ANY,))
        side = PlainArea("A card to be checked", self.check)
        side.setMinimumWidth(320)
        self.lay_out(Splitter("validate/cards", parts=(self.view, side), sizes=(750, 350), stretch=(1,)))
        self._offer()

    def fill(self) -> None:
        """Make the card again where something moved; hold up the other one again."""
        self.view.fill()
        self.check.fill()

    def on_change(self, change: Change) -> None:
        self.fill()

    def go(self, place: Mapping[str, Any]) -> None:
        """`choose` makes choices, `card` is the file of a card to be held up."""
        if place.get("choose"):
            self.view.choose(dict(place["choose"]))
        if place.get("card"):
            self.check.look_at(Path(place["card"]))

    def focus_first(self) -> None:
        self.view.focus_first()

    def stop(self) -> None:
        super().stop()
        self.view.stop()
        self.check.stop()

    def save(self, path: Path) -> None:
        """Write the card in view, by the ending of the file."""
        card = self.view.card
        if card is None:
            return
        try:
            cards.save(card, path)
        except Refusal as refusal:
            self.desk.refused.emit(refusal)
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
        there, check = self.view.card is not None, self.check.found.check
        self.bar.enable("submit", there, "" if there else NO_CARD)
        holds = check is not None and check.holds and not self.desk.project.readonly
        self.bar.enable("bind_card", holds, LEFT[1].hint if holds else NOT_HELD)
