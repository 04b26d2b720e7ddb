"""What an order still needs, with links to provide it."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from annotator.actions.judging.judge_offers import ExtractionOffer, ProtocolOffer
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.bars.flow_row import FlowRow, grow_by_width
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel, tooltip
from annotator.gui.widgets.push_button import push_button


class Readiness(QFrame):
    """Words about the chosen order, and buttons to provide what is missing."""

    drawing_wanted = Signal(str)
    """An extraction by name."""
    prompt_wanted = Signal(str)

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.words, self.lacks = PlainLabel("", wrap=True), PlainLabel("", "hint", wrap=True)
        self.acts = QWidget()
        grow_by_width(self.acts)
        self._row = FlowRow(self.acts, gap=6)
        vertical(self.words, self.lacks, self.acts, on=self, margins=0, spacing=4)

    def show_offer(self, offer: ProtocolOffer | ExtractionOffer | None) -> None:
        """Show how far the project allows it."""
        while (part := self._row.takeAt(0)) is not None:
            if (widget := part.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.words.setText(offer.words() if offer else "")
        self.words.setToolTip(tooltip("\n".join((offer.citation, *offer.departures))) if offer else "")
        lacks: list[str] = list(offer.lacks) if isinstance(offer, ProtocolOffer) else []
        if isinstance(offer, ProtocolOffer):
            lacks += [step.words() for step in offer.steps if step.missing]
            self._lead(offer)
        elif offer is not None and offer.lacks:
            self._add("Import reports" if offer.things == "report" else "Import sources", self._import)
        if offer is not None and offer.prompts:
            name = offer.prompts[0]
            self._add("Its prompt", lambda: self.prompt_wanted.emit(name))
        self.lacks.setText("\n".join(dict.fromkeys(lacks)))
        self.lacks.setVisible(bool(lacks))
        self.acts.setVisible(self._row.count() > 0)
        self.acts.updateGeometry()

    def _lead(self, offer: ProtocolOffer) -> None:
        for step in offer.steps:
            if step.missing:
                want = partial(self.drawing_wanted.emit, step.extraction)
                self._add(f"Draw the {step.part.value} first", want)
        if not offer.items:
            self._add("Import items", self._import)
        said = " ".join(offer.lacks)
        if "response" in said and " of a response" not in said:
            self._add("Import reports", self._import)
        if any(
            f"lack{s} a {kind}." in said
            for s in ("", "s")
            for kind in ("rubric", "plan", "diagnostics", "evidence")
        ):
            self._add("Write it on the Author page", lambda: self._desk.go("Author"))

    def _import(self) -> None:
        self._desk.go("Import")

    def _add(self, words: str, slot: Callable[[], object]) -> None:
        button = push_button(words, lambda: slot(), "chip")
        self._row.addWidget(button)
        button.show()
