"""The Final pass page: a checklist of each item before it is released, and the summary of the pilot."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from annotator import files
from annotator.actions.agreement import pilot_summary
from annotator.actions.items import final_pass
from annotator.actions.items.final_pass import ItemPass
from annotator.domain.experts.final_pass import CHECKS, CheckState
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.review.text_pane import TextPane
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.tabs import Tabs
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.rows_tree import RowsTree, line

# People: whoever answers for a release, going through its items once more with a list in hand.
ABOUT = "What somebody looks for in each item before it is released. What is signed leaves with the release."
PILOT = "Agreement, time, remarks and guidelines of the pilot items that were handed out."
NO_PILOT = "No pilot items were handed out yet. Choose some under People → Hand out work."
OPEN = "open"
# So many of a check's words are seen where there is no room for all.
LETTERS = 12


class FinalPassPage(Page):
    """Items with their checks; below them what is signed of the chosen one."""

    NAME = "Final pass"
    ICON = "check"
    HEARS = ("setting", "item", "artifact", "page", "import", "assignment")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._items: list[ItemPass] = []
        self.list = RowsTree(
            "Items and what was looked for", ("Item", *map(str.capitalize, CHECKS)), (60, *[110] * 5), 0
        )
        self.list.currentItemChanged.connect(lambda *_: self._show())
        self.check, self.state, self.note = ChoiceBox(), ChoiceBox(), LineField(placeholderText="Note")
        offer(self.check, [(words, name) for name, words in CHECKS.items()])
        offer(
            self.state, [(one.value.capitalize(), one.value) for one in CheckState] + [("Open again", OPEN)]
        )
        for box, name in ((self.check, "Check"), (self.state, "What was found"), (self.note, "Note")):
            box.setAccessibleName(name)
        self.check.setMinimumContentsLength(LETTERS)
        self.check.currentIndexChanged.connect(lambda _: self._show())
        self.said, self.hint = PlainLabel("", wrap=True), PlainLabel("", "hint", wrap=True)
        self.sign = push_button("Sign", self._sign, "primary")
        self.pilot, self.save = TextPane(desk), QPushButton("Save the summary…")
        self.pilot.report.setAccessibleName("Summary of the pilot")
        self.save.clicked.connect(self._save)
        self.answer = MessageBar()
        self._lay_out()

    def _lay_out(self) -> None:
        checks, pilot = QWidget(), QWidget()
        row = wrapping(self.check, self.state, self.note, self.sign)
        vertical(
            PlainLabel(ABOUT, "hint", wrap=True),
            (self.list, 1),
            self.hint,
            self.said,
            row,
            on=checks,
            margins=(0, 10, 0, 0),
            spacing=8,
        )
        foot = horizontal(StretchSpace(1), self.save)
        vertical(
            PlainLabel(PILOT, "hint", wrap=True),
            (self.pilot, 1),
            foot,
            on=pilot,
            margins=(0, 10, 0, 0),
            spacing=8,
        )
        self.parts = Tabs()
        self.parts.addTab(checks, "Final pass")
        self.parts.addTab(pilot, "Pilot")
        title = PlainLabel("Pilot and final pass", "title")
        vertical(title, (self.parts, 1), on=self, margins=(20, 16, 20, 12), spacing=6)
        self.answer.float_over(self.parts)

    def arrive(self, place: dict[str, Any]) -> None:
        """Show every item as it now stands; `part` says which of the two."""
        if place.get("part") == "Pilot":
            self.parts.setCurrentIndex(1)
        self._fill()

    def focus_first(self) -> None:
        self.list.setFocus()

    def _fill(self) -> None:
        row, self._items = max(0, self.list.row()), self.desk.ask(final_pass.overview) or []
        with QSignalBlocker(self.list):
            self.list.clear()
            for one in self._items:
                states = (
                    one.checks[name].state.value if name in one.checks else _seen(one, name)
                    for name in CHECKS
                )
                self.list.addTopLevelItem(line((one.key, *states)))
            self.list.choose(min(row, len(self._items) - 1))
        self._show()
        handed_out = pilot_summary.is_handed_out(self.desk.project)
        told = (self.desk.ask(pilot_summary.summary) or "") if handed_out else NO_PILOT
        # What is read stays where it is.
        if told != self.pilot.text:
            self.pilot.show_report(told, "summary")
        self.save.setEnabled(handed_out)

    @property
    def _item(self) -> ItemPass | None:
        row = self.list.row()
        return self._items[row] if 0 <= row < len(self._items) else None

    def _show(self) -> None:
        one, name = self._item, str(self.check.currentData())
        signed = one.checks.get(name) if one else None
        told = (
            f"{signed.state.value}, signed by {signed.signed} on {signed.at[:10]}" if signed else "not signed"
        )
        self.said.setText(f"{CHECKS[name]}: {told}{f' — {signed.note}' if signed and signed.note else ''}.")
        self.hint.setText(f"Noticed: {one.hints[name]}" if one and name in one.hints else "")
        self.sign.setEnabled(one is not None and not self.desk.project.readonly)

    def _sign(self) -> None:
        if (one := self._item) is not None:
            said = str(self.check.currentData()), str(self.state.currentData()), self.note.text()
            if self.desk.do(final_pass.sign, one.item_id, *said) is not None:
                self.note.clear()
                self._fill()

    def _save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Summary of the pilot", "pilot.md", "Markdown (*.md)")
        content = self.pilot.text.encode()
        if name and self.desk.attempt(lambda: files.save(Path(name), content)) is not None:
            self.answer.show_message("success", f"Saved as {Path(name).name}.")


def _seen(one: ItemPass, name: str) -> str:
    return "open, noticed" if name in one.hints else OPEN
