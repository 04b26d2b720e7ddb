"""Editor of a prompt's next version, with a check that judges can be asked by it."""

from PySide6.QtCore import QSettings, QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from annotator.actions.judges import prompts
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.later import later
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel
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
        """Write on from other words."""
        if not self.field.isReadOnly():
            self._put(text)
            self.field.setFocus()

    def text(self) -> str:
        """What is written."""
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
        """Keep the draft, and look at nothing any more."""
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
