"""Prompts tab: current wording, editor, preview on a real unit, and all versions."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSettings, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTextBrowser, QWidget

from annotator.actions.judges import prompts
from annotator.actions.judges.prompts import PromptLine
from annotator.actions.judging import filled_prompts
from annotator.actions.judging.filled_prompts import PromptPreview
from annotator.actions.project import people
from annotator.domain.judges.protocol import PromptVersion
from annotator.gui import theme
from annotator.gui.review.people_choice import column
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import when
from annotator.gui.session.page import PagePart
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import ActsBar, Command, Tabs
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    column_of,
    horizontal,
    later,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.fields import ChoiceBox, LineField, offer
from annotator.gui.widgets.reading.marked_text import marked
from annotator.gui.widgets.reading.report_view import RawText
from annotator.gui.widgets.splitter import Splitter

NO_UNIT = "No unit in this project uses this prompt yet."


class PromptLook(Tabs):
    taken_up = Signal(str)
    """The text of a version, to be edited further."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__()
        self._session = session
        self._name, self._text, self._number = "", "", 0
        self._names: Mapping[str, str] = {}
        self.about = ElidedLabel("", "hint")
        self.sent = RawText("As it would be sent")
        self.changes = with_properties(QTextBrowser(), role="side", accessibleName="What changes")
        columns: tuple[Column[PromptVersion], ...] = (
            Column("No.", lambda version: str(version.version), 40, number=True),
            Column("When", lambda one: when(one.at) if one.at else "as shipped", 118),
            Column("Who", lambda one: self._names.get(one.by, "–"), 90),
            Column("Note", lambda one: one.note or "–", 120),
        )
        self.model = CellsModel[PromptVersion](columns, self)
        self.table = CellsTable("Versions", self.model, stretched=3, moved=self._compare)
        self._soon = later(self, self._preview, 80)
        for words, pane in (
            ("As sent", self._sent_pane()),
            ("Versions", self._versions_pane()),
        ):
            self.addTab(pane, words)
        self.currentChanged.connect(lambda _: self._preview())
        theme.watch(self, self._compare)

    def _sent_pane(self) -> QWidget:
        before = chips.tool_button("The unit before", "left", lambda: self.step(-1))
        after = chips.tool_button("The next unit", "right", lambda: self.step(1))
        head = horizontal(before, after, (self.about, 1))
        return column(head, self.sent, grows=self.sent, above=6)

    def _versions_pane(self) -> QWidget:
        self.take = push_button("Edit from this version", self._take_up)
        heading = horizontal((PlainLabel("Changes since this version", "strong"), 1), self.take)
        below = column_of(heading, (self.changes, 1), margins=(0, 4, 0, 0), spacing=4)
        return Splitter("judges/prompt versions", Qt.Orientation.Vertical, parts=(self.table, below))

    def show_prompt(self, name: str, versions: Sequence[PromptVersion], names: Mapping[str, str]) -> None:
        """Show another prompt with its versions, the shipped one first; `names` are the authors' names by id."""
        if name != self._name:
            self._number = 0
        self._name, self._names = name, names
        self._session.forget(self._previewed)
        self.model.show(list(reversed(versions)))
        self.table.setCurrentIndex(self.model.index(0, 0))
        self._compare()

    def show_text(self, text: str) -> None:
        self._text = text
        self._session.forget(self._previewed)
        self._soon.start()

    def step(self, by: int) -> None:
        self.setCurrentIndex(0)
        self._number = max(0, self._number + by)
        self._soon.stop()
        self._preview()

    def turn(self) -> None:
        self.setCurrentIndex((self.currentIndex() + 1) % self.count())

    def _preview(self) -> None:
        if self.currentIndex() == 1:
            self._compare()
        elif self._name:
            self.about.setText("Filling it in…")
            self._session.ask_newest(
                self._previewed, filled_prompts.preview, self._name, self._text, self._number
            )

    def _previewed(self, made: PromptPreview | None) -> None:
        number = self._number
        faulty = made is None and bool(prompts.faults(self._name, self._text))
        if made is None and not faulty and number > 0:
            # Beyond the last unit: go back to it.
            self._number = number - 1
            self._preview()
            return
        if made is None:
            self.about.setText("")
            self.sent.setPlainText("It cannot be filled in until it is fixed." if faulty else NO_UNIT)
            return
        where = " · ".join(part for part in (f"item {made.item_key}", made.system, made.unit) if part)
        self.about.setText(f"{number + 1}: about {made.tokens:,} tokens · {where}")
        self.sent.setPlainText(f"# system\n\n{made.system_part}\n\n# user\n\n{made.user_part}")

    def _compare(self) -> None:
        """Show the changes from the selected version to the current text."""
        version = self.model.at(self.table.currentIndex().row())
        self.take.setEnabled(version is not None)
        if version is not None and self.currentIndex() == 1:
            text = "No differences." if version.text == self._text else marked(version.text, self._text)
            self.changes.setHtml(f"<pre style='white-space:pre-wrap'>{text}</pre>")

    def _take_up(self) -> None:
        if (version := self.model.at(self.table.currentIndex().row())) is not None:
            self.taken_up.emit(version.text)


PAUSE_MS = 250


class PromptEdit(Pane):
    """The editor of a prompt; its text is stored on this computer until it becomes the current version."""

    edited = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.name = self._in_force = ""
        self.faults: list[str] = []
        """Why judges could not be asked with this text; empty if they can."""
        self.title = ElidedLabel("", "strong")
        self.field = RawText("The next wording", readonly=session.project.readonly)
        self.answer, self.note = Chips(wrap=False), PlainLabel("", "hint", wrap=True)
        since = "Discard changes since the current wording"
        self.discard = push_button("Discard", lambda: self._put(self._in_force), "quiet", toolTip=since)
        head, foot = horizontal((self.title, 1), self.discard), horizontal(self.answer, (self.note, 1))
        vertical(head, (self.field, 1), foot, on=self, margins=0, spacing=6)
        self._pause = later(self, self._check, PAUSE_MS)
        self.field.textChanged.connect(self._pause.start)

    def show_prompt(self, name: str, in_force: str, *, fresh: bool) -> None:
        """Edit the draft of a prompt, or the version in force; a text being edited stays."""
        if not fresh and self.changed():
            self._in_force = in_force
            self._check()
            return
        self.keep()
        self.name, self._in_force = name, in_force
        self.title.setText(name)
        self._put(str(QSettings().value(self._key(), in_force)))

    def take_up(self, text: str) -> None:
        if not self.field.isReadOnly():
            self._put(text)
            self.field.setFocus()

    def text(self) -> str:
        return self.field.toPlainText()

    def changed(self) -> bool:
        return bool(self.name) and self.text() != self._in_force

    def keep(self) -> None:
        if not self.name:
            return
        if self.changed():
            QSettings().setValue(self._key(), self.text())
        else:
            QSettings().remove(self._key())

    def stop(self) -> None:
        self._pause.stop()
        self.keep()

    def forget(self) -> None:
        """Delete the draft, because it is now in force."""
        QSettings().remove(self._key())
        self.name = ""

    def _put(self, text: str) -> None:
        with QSignalBlocker(self.field):
            self.field.setPlainText(text)
        self._check()

    def _check(self) -> None:
        self._pause.stop()
        if not self.name:
            return
        self.faults = prompts.faults(self.name, self.text())
        if self.faults:
            self.answer.show_chips([Chip("Not usable", "cross", "disagree")])
        else:
            self.answer.show_chips([Chip("Usable", "check", "agreed")])
        filled = ", ".join(f"{{{{{place}}}}}" for place in prompts.places(self.name))
        self.note.setText("\n".join(self.faults) or f"Filled in: {filled}.")
        self.discard.setEnabled(self.changed())
        self.keep()
        self.edited.emit()

    def _key(self) -> str:
        return f"prompts/{self.session.project.get('id', '')}/{self.name}"


RIGHT = (Command("submit", "Put in force", hint="Use this wording for judges from now on", role="primary"),)


def _titled(line: PromptLine) -> str:
    """The title of what uses a prompt, with its purpose if there are several."""
    what = line.name.removeprefix(line.protocol).strip(".").replace("_", " ")
    return f"{line.title} · {what}" if what else line.title


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
    """The Prompts tab: prompts, the next version of one, and its preview, changes and versions."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar((), RIGHT))
        self.model = CellsModel[PromptLine](COLUMNS, self)
        self.table = with_properties(
            CellsTable("Prompts", self.model, stretched=0, moved=self._turn), wordWrap=True
        )
        # Prompts with the same title differ at the end.
        with_properties(self.table.verticalHeader(), minimumSectionSize=44).setSectionResizeMode(
            QHeaderView.ResizeMode.ResizeToContents
        )
        self.edit, self.look = PromptEdit(session), PromptLook(session)
        self.note = LineField(
            placeholderText="Why is it changed? Stored with the version.",
            maxLength=2000,
            accessibleName="Reason for the change",
        )
        self.edit.edited.connect(self._edited)
        self.look.taken_up.connect(self.edit.take_up)
        self.wordings = ChoiceBox(
            accessibleName="Shipped wordings",
            toolTip="Wordings that come with the program; the chosen one is written into the editor",
            activated=lambda _: self._take_wording(),
        )
        self.acts = {
            "submit": self.put_in_force,
            "next_item": lambda: self.look.step(1),
            "previous_item": lambda: self.look.step(-1),
            "prompt_changes": self.look.turn,
        }
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
        self.lay_out(parts)
        self.focus_on = self.table

    def fill(self) -> None:
        current = self.name
        self.model.show(self.session.ask(prompts.listed) or [])
        self.table.choose(self.model.place_of(lambda line: line.name == current), first=True)
        self._turn(again=True)

    @property
    def name(self) -> str:
        line = self.model.at(self.table.currentIndex().row())
        return line.name if line else ""

    def go(self, place: Any) -> None:
        self.table.choose(self.model.place_of(lambda line: line.name == place.get("prompt")))

    def keep(self) -> None:
        self.edit.keep()

    def stop(self) -> None:
        self.edit.stop()

    def put_in_force(self) -> None:
        if not self.bar.buttons["submit"].isEnabled():
            return
        if self.session.do(prompts.write, self.name, self.edit.text(), self.note.text()) is None:
            return
        self.note.clear()
        self.edit.forget()
        self.fill()
        self.answer.show_message(
            "success",
            "The wording is now in use.",
            "Replies to the former wording are kept, and are never treated as replies to this one.",
        )

    def _turn(self, *, again: bool = False) -> None:
        name = self.name
        fresh = name != self.edit.name
        if not name or not (fresh or again):
            return
        versions = self.session.ask(prompts.versions, name) or []
        names = {person.id: person.name for person in self.session.ask(people.people) or []}
        if versions:
            self.edit.show_prompt(name, versions[-1].text, fresh=fresh)
            self.look.show_prompt(name, versions, names)
        if fresh:
            self.note.clear()
        result = prompts.wordings(name)
        offer(self.wordings, [(words, words) for words in result])
        in_force = self.edit.text()
        self.wordings.setCurrentIndex(
            next((n for n, text in enumerate(result.values()) if text == in_force), -1)
        )
        self.wordings.setVisible(len(result) > 1)
        self._edited()

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
        able = changed and not self.edit.faults and not self.session.project.readonly
        self.bar.enable("submit", able)
        self.bar.say("not put in force yet; kept on this computer" if changed else "in force")
        self.note.setEnabled(changed)
