"""A model's proposal of an item's type and subject: asked for, read with its reason, and taken into the form."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from annotator.actions.material import classifying
from annotator.actions.material.drafting_by_model import Proposal
from annotator.domain.material.item import Item
from annotator.domain.material.writer_aid import WriterAid
from annotator.gui.desk.desk import Desk
from annotator.gui.review.draft_asking import DraftAsking
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical


class TypeProposal(QWidget):
    """The proposal that waits, or the request for one; nothing is set before the form is saved."""

    used = Signal(str, str)
    """Put this type and this subject into the form."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._item: Item | None = None
        self._waiting: Proposal | None = None
        self.taken = ""
        """The id of the draft that the form was filled from."""
        self.more = QPushButton("Ask a model…")
        self.more.setCheckable(True)
        self.more.setProperty("role", "quiet")
        self.more.setToolTip("Have a model propose a type and a subject, with a reason")
        self.more.toggled.connect(lambda _: self.wake())
        self.asking = DraftAsking(desk)
        self.asking.came.connect(self.wake)
        self.words = PlainLabel("", wrap=True)
        self.use, self.dismiss = QPushButton("Use"), QPushButton("Dismiss")
        self.use.setToolTip("Put the type and the subject into the form; they are set when you save")
        self.use.clicked.connect(self._use)
        self.dismiss.clicked.connect(self._dismiss)
        acts = horizontal(self.more, self.use, self.dismiss, StretchSpace(1))
        vertical(self.words, acts, self.asking, self.asking.answer, on=self, margins=0, spacing=4)

    def show_item(self, item: Item | None) -> None:
        """Be about an item from now on; a new one has nothing to be asked about yet."""
        self._item, self.taken = item, ""
        self.more.setChecked(False)
        self.asking.answer.clear()
        self.wake()

    def wake(self) -> None:
        """Read what waits, and show it or the request."""
        offered = self._item is not None and not self._desk.project.readonly
        self.setVisible(offered)
        if self._item is None or not offered:
            return
        self._waiting = self._desk.ask(classifying.waiting, self._item.id)
        there = self._waiting is not None
        for part in (self.words, self.use, self.dismiss):
            part.setVisible(there)
        self.more.setVisible(not there)
        self.asking.setVisible(self.more.isChecked() and not there)
        if self._waiting is not None:
            drawn, name = classifying.proposed(self._waiting), self._waiting.source.name
            self.words.setText(f"{name} proposes {drawn.question_type}, {drawn.subject}: {drawn.text}")
        else:
            self.asking.show_item(self._item, WriterAid.CLASSIFICATION, lacks="", waiting=False)

    def ask(self) -> None:
        """Open the request, or send it where it is open; where a proposal waits, go to it."""
        if self._waiting is not None:
            self.use.setFocus()
        elif self.more.isChecked():
            self.asking.start()
        else:
            self.more.setChecked(True)
            self.asking.ask.setFocus()

    def _use(self) -> None:
        if self._waiting is not None:
            drawn, self.taken = classifying.proposed(self._waiting), self._waiting.id
            self.used.emit(drawn.question_type, drawn.subject)

    def _dismiss(self) -> None:
        from annotator.actions.material import drafting_by_model

        if (
            self._waiting is not None
            and self._desk.do(drafting_by_model.refuse, self._waiting.id) is not None
        ):
            self.taken = ""
            self.wake()
