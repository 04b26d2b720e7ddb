"""Prompts tab: current wording, editor, preview on a real unit, and all versions."""

from typing import Any

from PySide6.QtCore import QSettings, QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from annotator.actions.judges import prompts
from annotator.actions.judges.prompts import PromptLine
from annotator.actions.project import people
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.judges.prompts.prompt_look import PromptLook
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, column_of, horizontal, vertical
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.later import later
from annotator.gui.widgets.reading.raw_text import RawText

PAUSE_MS = 250


class PromptEdit(QWidget):
    """Keeps the text on this computer until it becomes the current version."""

    edited = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._name = self._in_force = ""
        self.faults: list[str] = []
        """Why judges could not be asked by what is written; none when they can."""
        self.title = ElidedLabel("", "strong")
        self.field = RawText("The next wording", readonly=desk.project.readonly)
        self.answer, self.said = Chips(wrap=False), PlainLabel("", "hint", wrap=True)
        self.back = QPushButton("Shipped wording")
        self.discard = QPushButton("Discard")
        for button, hint, slot in (
            (self.back, "Edit from the shipped wording", self._ship),
            (self.discard, "Discard changes since the current wording", self._discard),
        ):
            button.setProperty("role", "quiet")
            button.setToolTip(hint)
            button.clicked.connect(slot)
        head, foot = QHBoxLayout(), QHBoxLayout()
        for widget in (self.title, self.back, self.discard):
            head.addWidget(widget, 1 if widget is self.title else 0)
        foot.addWidget(self.answer)
        foot.addWidget(self.said, 1)
        vertical(head, (self.field, 1), foot, on=self, margins=0, spacing=6)
        self._pause = later(self, self._check, PAUSE_MS)
        self.field.textChanged.connect(self._pause.start)

    def show_prompt(self, name: str, in_force: str, *, fresh: bool) -> None:
        """Write on the draft of a prompt, or on what is in force; one in the middle of being written stays."""
        if not fresh and self.changed():
            self._in_force = in_force
            self._check()
            return
        self.keep()
        self._name, self._in_force = name, in_force
        self.title.setText(name)
        self._put(str(QSettings().value(self._key(), in_force)))

    def take_up(self, text: str) -> None:
        if not self.field.isReadOnly():
            self._put(text)
            self.field.setFocus()

    def text(self) -> str:
        return self.field.toPlainText()

    def changed(self) -> bool:
        """Whether that is something else than what is in force."""
        return bool(self._name) and self.text() != self._in_force

    def keep(self) -> None:
        """Keep the draft on this computer, or forget one that says what is in force."""
        if not self._name:
            return
        if self.changed():
            QSettings().setValue(self._key(), self.text())
        else:
            QSettings().remove(self._key())

    def stop(self) -> None:
        self._pause.stop()
        self.keep()

    def forget(self) -> None:
        """What was written is in force, and a draft no more."""
        QSettings().remove(self._key())
        self._name = ""

    def _put(self, text: str) -> None:
        with QSignalBlocker(self.field):
            self.field.setPlainText(text)
        self._check()

    def _check(self) -> None:
        self._pause.stop()
        if not self._name:
            return
        self.faults = prompts.faults(self._name, self.text())
        shipped = self.text() == prompts.shipped(self._name)
        if self.faults:
            self.answer.show_chips([Chip("Not usable", "cross", "disagree")])
        else:
            self.answer.show_chips([Chip("Usable", "check", "agreed")])
        filled = ", ".join(f"{{{{{place}}}}}" for place in prompts.places(self._name))
        self.said.setText("\n".join(self.faults) or f"Filled in: {filled}.")
        self.back.setEnabled(not shipped and not self.field.isReadOnly())
        self.discard.setEnabled(self.changed())
        self.keep()
        self.edited.emit()

    def _ship(self) -> None:
        self.take_up(prompts.shipped(self._name))

    def _discard(self) -> None:
        self._put(self._in_force)

    def _key(self) -> str:
        return f"prompts/{self._desk.project.get('id', '')}/{self._name}"


LEFT = (
    Command("previous_item", "Unit before", hint="Show the preview on the unit before"),
    Command("next_item", "Next unit", hint="Show the preview on the next unit"),
    Command("prompt_changes", "Preview or changes", hint="Switch between preview, changes and versions"),
)
RIGHT = (Command("submit", "Put in force", hint="Use this wording for judges from now on", role="primary"),)
STAMP = "Replies to the former wording are kept, and are never treated as replies to this one."


def _titled(one: PromptLine) -> str:
    """What asks by a prompt, and for what, where there are several."""
    what = one.name.removeprefix(one.protocol).strip(".").replace("_", " ")
    return f"{one.title} · {what}" if what else one.title


COLUMNS: tuple[Column[PromptLine], ...] = (
    Column("Prompt", _titled, 190, tip=lambda one: f"{_titled(one)}\n{one.name}"),
    Column(
        "Version",
        lambda one: f"{one.version}{' · ours' if one.edited else ''}",
        84,
        look=lambda one: ("author", "state-unconfirmed") if one.edited else None,
        about="1 is the shipped wording; “ours” marks a project's own wording.",
    ),
)


class PromptsPart(PagePart):
    """Prompts at the left, the next version in the middle; preview, changes and versions at the right."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self.model = CellsModel[PromptLine](COLUMNS, self)
        self.table = CellsTable("Prompts", self.model, stretched=0)
        # What tells two prompts of one title apart stands at its end.
        self.table.setWordWrap(True)
        self.table.row_height = 44
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        self.edit, self.look = PromptEdit(desk), PromptLook(desk)
        self.note = LineField(placeholderText="Why is it changed? Stored with the version.", maxLength=2000)
        self.note.setAccessibleName("Reason for the change")
        self.edit.edited.connect(self._edited)
        self.look.taken_up.connect(self.edit.take_up)
        self.wordings = ChoiceBox()
        self.wordings.setAccessibleName("Shipped wordings")
        self.wordings.setToolTip(
            "Wordings that come with the program; the chosen one is written into the editor"
        )
        self.wordings.activated.connect(lambda _: self._take_wording())
        self._shown = ""
        self.acts = {
            "submit": self.put_in_force,
            "next_item": lambda: self.look.step(1),
            "previous_item": lambda: self.look.step(-1),
            "prompt_changes": self.look.turn,
        }
        self.lay_out(self._body())

    def _body(self) -> QWidget:
        middle = column_of(
            (self.edit, 1),
            horizontal(PlainLabel("Note"), (self.note, 1), self.wordings),
            margins=(6, 0, 6, 0),
            spacing=6,
        )
        parts = Splitter(
            "judges/prompts", parts=(self.table, middle, self.look), sizes=(260, 405, 415), stretch=(0, 1, 1)
        )
        parts.grow(self.table, 260)
        return parts

    def fill(self) -> None:
        """Read which wordings are in force."""
        kept = self.name
        self.model.show(self.desk.ask(prompts.listed) or [])
        place = self.model.place_of(lambda one: one.name == kept)
        self.table.setCurrentIndex(self.model.index(max(0, place), 0))
        self._turn(again=True)

    @property
    def name(self) -> str:
        one = self.model.at(self.table.currentIndex().row())
        return one.name if one else ""

    def go(self, place: Any) -> None:
        row = self.model.place_of(lambda one: one.name == place.get("prompt"))
        if row >= 0:
            self.table.setCurrentIndex(self.model.index(row, 0))

    def focus_first(self) -> None:
        self.table.setFocus()

    def keep(self) -> None:
        self.edit.keep()

    def stop(self) -> None:
        super().stop()
        self.edit.stop()
        self.look.stop()

    def put_in_force(self) -> None:
        """Let judges be asked by what is written."""
        if not self.bar.buttons["submit"].isEnabled():
            return
        if self.desk.do(prompts.write, self.name, self.edit.text(), self.note.text()) is None:
            return
        self.note.clear()
        self.edit.forget()
        self._shown = ""
        self.fill()
        self.answer.show_message("success", "The wording is now in use.", STAMP)

    def _turn(self, *, again: bool = False) -> None:
        name = self.name
        if not name or (name == self._shown and not again):
            return
        fresh = name != self._shown
        self._shown = name
        versions = self.desk.ask(prompts.versions, name) or []
        names = {person.id: person.name for person in self.desk.ask(people.people) or []}
        if versions:
            self.edit.show_prompt(name, versions[-1].text, fresh=fresh)
            self.look.show_prompt(name, versions, names)
        if fresh:
            self.note.clear()
        self._offer_wordings(name)
        self._edited()

    def _offer_wordings(self, name: str) -> None:
        """Offer what the program ships, where it ships more than one wording."""
        found = prompts.wordings(name)
        offer(self.wordings, [(words, words) for words in found])
        in_force = self.edit.text()
        self.wordings.setCurrentIndex(
            next((n for n, text in enumerate(found.values()) if text == in_force), -1)
        )
        self.wordings.setVisible(len(found) > 1)

    def _take_wording(self) -> None:
        wording = str(self.wordings.currentData())
        self.edit.take_up(prompts.wordings(self.name)[wording])
        self.note.setEnabled(True)
        self.note.setText(wording)

    def _edited(self) -> None:
        name, text = self.name, self.edit.text()
        if not name:
            return
        changed = self.edit.changed()
        self.look.show_text(text)
        able = changed and not self.edit.faults and not self.desk.project.readonly
        self.bar.enable("submit", able)
        self.bar.say("not put in force yet; kept on this computer" if changed else "in force")
        self.note.setEnabled(changed)
