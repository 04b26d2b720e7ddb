"""References put into a gold evidence list in one go: pasted, from a file, or looked up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
)

from annotator.actions.material import lookups
from annotator.actions.material.lookups import EvidenceOffer, OfferedReference
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.item import Item
from annotator.domain.texts.words import counted
from annotator.gui import keys, theme
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import KeyButton, wrapping
from annotator.gui.widgets.basics import (
    PlainLabel,
    later,
    open_file,
    push_button,
    tooltip,
    vertical,
    with_properties,
    wrap_lines,
)
from annotator.gui.widgets.fields import TextBox
from annotator.gui.widgets.message_bar import MessageBar

EVIDENCE_SETTLE_MS = 300
_TICKED = Qt.CheckState.Checked
PASTE_HEIGHT = 90
FILES = "References (*.bib *.ris *.nbib *.enw *.ciw *.csv *.tsv *.txt *.tex *.bbl *.json *.pdf *.md);;All files (*)"
ABOUT = "Paste references, or take them from a file or the item's sources."
RESEARCH = "The source is a research paper: its evidence is the source itself."


class BulkEvidence(Pane):
    """The panel: where references come from above, what was read below."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._item: Item | None = None
        self._offer = EvidenceOffer("", ())
        self.keep: Callable[[], bool] = lambda: True
        """Keeps what is being typed into the form; False when it cannot be kept."""
        self.about, self.summary = PlainLabel(ABOUT, "hint", wrap=True), PlainLabel(role="strong", wrap=True)
        self.text = with_properties(
            TextBox(placeholderText="A list of works, BibTeX, RIS, CSV, DOIs or arXiv ids"),
            accessibleName="References to take",
            tabChangesFocus=True,
        )
        theme.scale(self.text.setFixedHeight, PASTE_HEIGHT)
        self.file = push_button("File…", self._choose)
        self.listed = push_button(
            "The source's list",
            lambda: self._ask(lookups.from_sources),
            toolTip="The references at the end of the item's sources",
        )
        self.itself = KeyButton("The source itself", act="source_itself")
        self.entries = with_properties(QListWidget(), accessibleName="References that were read")
        self.take_all = KeyButton("Take", act="take_unit", role="primary")
        self.look = KeyButton(
            "Look up titles",
            act="ask_draft",
            hint="Ask OpenAlex and CrossRef for lacking titles, authors and years; replies are kept",
        )
        self.tick = push_button(
            "Tick the doubtful", self._tick_doubtful, toolTip="Each can be ticked by itself in the list above"
        )
        self.answer = MessageBar()
        self._soon = later(self, self._read_pasted, EVIDENCE_SETTLE_MS)
        row = wrapping(self.file, self.listed, self.itself)
        acts = wrapping(self.take_all, self.tick, self.look)
        wrap_lines(self.entries)
        vertical(
            self.about, self.text, row, self.summary, (self.entries, 1), acts, on=self, margins=0, spacing=8,
        )  # fmt: skip
        self.answer.float_over(self.entries)
        self._listen()
        self._show(self._offer)

    def _listen(self) -> None:
        self.text.textChanged.connect(self._soon.start)
        self.itself.clicked.connect(self.take_source)
        self.take_all.clicked.connect(self.take)
        self.entries.itemChanged.connect(self._count)
        self.look.clicked.connect(self.look_up)

    def follow(self, item: Item, _kind: Kind) -> None:
        if self._item is None or self._item.id != item.id:
            self.text.clear()
            self._show(EvidenceOffer("", ()))
        self._item = item
        self.wake()

    def wake(self) -> None:
        if self.isVisible() and self._item is not None:
            self.about.setText(RESEARCH if self.session.ask(lookups.of_research, self._item.id) else ABOUT)

    def enter(self) -> None:
        self.wake()
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def read_file(self, path: Path) -> None:
        self._ask(lookups.from_file, path)

    def take(self) -> None:
        """Put what is new and what is ticked of the doubtful into the evidence, in one act."""
        chosen = self._chosen()
        if self._item is None or not chosen or not self.keep():
            return
        if self.session.do(lookups.take, self._item.id, chosen, self._offer.form) is not None:
            self._report(f"{counted(len(chosen), 'reference')} taken; {keys.shown('undo')} takes them back.")

    def take_source(self) -> None:
        if self._item is None:
            return
        offer = self.session.ask(lookups.the_source_itself, self._item.id)
        if offer is not None:
            self._show(offer)
            self.take()

    def look_up(self) -> None:
        """Ask the services for what is lacking, on another thread."""
        if self._item is not None and self.keep():
            self.look.setEnabled(False)
            self.session.do_later(self._looked_up, lambda *_: None, lookups.look_up_evidence, self._item.id)

    def stop(self) -> None:
        self._soon.stop()

    def _looked_up(self, result: Any) -> None:
        self.look.setEnabled(True)
        if result is not None:
            self.answer.show_message("info" if result[1].lacking else "success", result[1].words())

    def _report(self, words: str) -> None:
        self.text.clear()
        self._soon.stop()
        self._show(EvidenceOffer("", ()))
        # In the text the key of undo would bring the pasted words back.
        self.entries.setFocus(Qt.FocusReason.OtherFocusReason)
        self.answer.show_message("success", words)

    def _choose(self) -> None:
        open_file(self, "References", FILES, self.read_file)

    def _read_pasted(self) -> None:
        text = self.text.toPlainText()
        if text.strip():
            self._ask(lookups.from_text, text)
        else:
            self._show(EvidenceOffer("", ()))

    def _ask(self, question: Callable[..., EvidenceOffer], *more: Any) -> None:
        if self._item is not None:
            # What was typed just before is not read over what is asked for now.
            self._soon.stop()
            item_id = self._item.id
            self.session.ask_later(lambda offer: self._arrived(item_id, offer), question, item_id, *more)

    def _arrived(self, item_id: str, offer: EvidenceOffer) -> None:
        if self._item is not None and self._item.id == item_id:
            self._show(offer)

    def _show(self, offer: EvidenceOffer) -> None:
        self._offer = offer
        with QSignalBlocker(self.entries):
            self.entries.clear()
            for entry in offer.entries:
                self.entries.addItem(_line(entry))
        doubts = " Tick those of the doubtful that are right." if offer.doubtful else ""
        self.summary.show_words(f"{offer.words()}{doubts}" if offer.entries else "")
        self.tick.setVisible(bool(doubts))
        self._count()

    def _chosen(self) -> list[Reference]:
        """The references that would be taken: the new ones, and the doubtful ones that are ticked."""
        ticked = [self.entries.item(row).checkState() == _TICKED for row in range(self.entries.count())]
        return [
            reference.reference
            for reference, chosen in zip(self._offer.entries, ticked, strict=True)
            if reference.reference is not None and (reference.fresh or chosen)
        ]

    def _tick_doubtful(self) -> None:
        for row, reference in enumerate(self._offer.entries):
            if reference.doubtful:
                self.entries.item(row).setCheckState(_TICKED)

    def _count(self) -> None:
        count = len(self._chosen())
        self.take_all.set_words(f"Take {counted(count, 'reference')}" if count else "Take")
        self.take_all.setEnabled(bool(count) and not self.session.project.readonly)


def _line(reference: OfferedReference) -> QListWidgetItem:
    picture, colour = ("check", "level-success") if reference.fresh else ("warning", "level-warning")
    line = QListWidgetItem(chips.icon(picture, theme.current().px(14), colour), reference.words())
    line.setToolTip(tooltip(f"{reference.why or reference.doubt} {reference.said}".strip()))
    if reference.doubtful:
        line.setFlags(line.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        line.setCheckState(Qt.CheckState.Unchecked)
    return line
