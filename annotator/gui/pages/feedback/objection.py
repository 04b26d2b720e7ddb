"""Objections to a consensus: one per item, with a reason and its outcome."""

from PySide6.QtCore import QSettings, Signal
from PySide6.QtWidgets import QFrame, QWidget

from annotator.actions.adjudication.feedback import Digest
from annotator.domain.experts.adjudication import DisputeState
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.digest import DigestDispute
from annotator.gui import keys, theme
from annotator.gui.desk.naming import title
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.fields.growing_edit import GrowingEdit
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.reading.marked_text import MarkedText

EXPLAINED = (
    "You can object once per item, so state what matters most. The adjudicator reads it without your name "
    "and replies with an answer or a new version. The agreement figure was frozen before adjudication and "
    "does not change."
)
PROMPT = "What is wrong with the consensus, and why?"
BY_FILE = " It is included in the next file you send."


class Objection(QFrame):
    """A field and a button while an objection is possible; afterwards the objection and its outcome."""

    sent = Signal(str)

    def __init__(self, project_id: str, *, from_task: bool, readonly: bool) -> None:
        super().__init__()
        self._project_id, self._readonly, self._item_id = project_id, readonly, ""
        self.setProperty("role", "card")
        self.title, self.chips = PlainLabel("", "strong"), Chips()
        self.hint = PlainLabel(f"{EXPLAINED}{BY_FILE if from_task else ''}", "hint", wrap=True)
        self.field = GrowingEdit(1, 6)
        self.field.setPlaceholderText(PROMPT)
        self.field.setAccessibleName(PROMPT)
        self.field.edited.connect(self._keep)
        self.send = KeyButton("Send the objection", role="primary")
        self.send.clicked.connect(self.submit)
        self.said, self.answer = MarkedText(), MarkedText()
        head = horizontal(self.title, (self.chips, 1))
        self._form = QWidget()
        horizontal((self.field, 1), self.send, on=self._form, margins=0)
        column = vertical(head, on=self, margins=(12, 8, 12, 10), spacing=6)
        for part in (self.hint, self._form, self.said, self.answer):
            column.addWidget(part)
        self.rebind()

    def rebind(self) -> None:
        """Print the key as it now is on the button."""
        self.send.set_key(keys.shown("submit"))

    def show_item(self, digest: Digest, stage: Stage) -> None:
        """Show where an objection to an item stands, seen from one of its stages."""
        self.field.tell()
        self._item_id = digest.item_id
        made = next(((each.stage, each.dispute) for each in digest.stages if each.dispute), None)
        may = digest.may_dispute and not self._readonly
        self._form.setVisible(may)
        self.hint.setVisible(may or made is None)
        self.title.setText(f"Object to the consensus: {title(stage)}" if may else "Objection")
        if may:
            self.field.setPlainText(str(QSettings().value(self._key(), "")))
            self.send.set_hint(f"Send the objection to the consensus of the {stage.value}")
        for part in (self.said, self.answer, self.chips):
            part.setVisible(made is not None)
        if made is not None:
            self._show_made(*made)

    def _show_made(self, stage: Stage, made: DigestDispute) -> None:
        answered = made.state is DisputeState.ANSWERED
        state = (
            Chip("answered", "check", "agreed")
            if answered
            else Chip("waiting for an answer", "clock", "incomplete")
        )
        self.chips.show_chips([Chip(title(stage)), state])
        self.said.show_text(f"You: {made.text}")
        version = (
            f"Version {made.answered_version} of the consensus answers it." if made.answered_version else ""
        )
        words = " ".join(part for part in (made.answer.strip(), version) if part)
        self.answer.show_text(f"Adjudicator: {words}" if words else "")
        self.answer.setVisible(bool(words))

    def submit(self) -> None:
        """Send what is typed; without a reason nothing is sent, and the field takes the focus."""
        if self._form.isHidden():
            return
        self.field.tell()
        words = self.field.toPlainText().strip()
        theme.set_role(self.field, wrong=not words)
        if words:
            self.sent.emit(words)
        else:
            self.field.setFocus()

    def enter(self) -> None:
        """Put the caret into the field."""
        if not self._form.isHidden():
            self.field.setFocus()

    def forget(self, item_id: str) -> None:
        """The objection to an item was sent: nothing of it needs keeping here."""
        QSettings().remove(f"feedback/{self._project_id}/{item_id}")

    def _keep(self, words: str) -> None:
        theme.set_role(self.field, wrong=False)
        if words.strip():
            QSettings().setValue(self._key(), words)
        else:
            QSettings().remove(self._key())

    def _key(self) -> str:
        return f"feedback/{self._project_id}/{self._item_id}"
