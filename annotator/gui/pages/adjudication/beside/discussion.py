"""Discussion panel: notes on an open adjudication, oldest first, never deleted."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from annotator.actions.consensus import remarks
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.widgets.fields.growing_edit import GrowingEdit
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.plain_area import PlainArea
from annotator.gui.widgets.push_button import push_button
from annotator.gui.widgets.reading.marked_text import MarkedText


class Discussion(QWidget):
    """Notes without names: one's own, and those of others with access."""

    def __init__(self, desk: Desk, bench: AdjudicationBench) -> None:
        super().__init__()
        self._desk, self._bench = desk, bench
        self._area = PlainArea("Notes")
        self.field = GrowingEdit(least=2, most=8)
        self.field.setAccessibleName("Add a note")
        self.field.setPlaceholderText("Note for the coordinator and for yourself")
        self.add = push_button("Add note", self._add)
        self.notes: list[MarkedText] = []
        self._of = ""
        self.setFocusProxy(self.field)
        vertical((self._area, 1), self.field, (self.add, 0, Qt.AlignmentFlag.AlignRight), on=self, margins=0)

    def show_item(self) -> None:
        """Show the notes on the open item."""
        sheet = self._bench.sheet
        if sheet is None:
            return
        if self._of != sheet.adjudication_id:
            self._of = sheet.adjudication_id
            self.field.setPlainText("")
        me = self._desk.project.by
        inside = QWidget()
        column = vertical(on=inside, margins=(0, 0, 4, 0))
        self.notes = []
        for note in self._bench.ask(remarks.remarks) or ():
            card, words = QFrame(), MarkedText()
            card.setProperty("role", "card")
            words.show_text(note.text)
            vertical(PlainLabel("You" if note.person_id == me else "Someone else", "hint"), words, on=card)
            column.addWidget(card)
            self.notes.append(words)
        if not self.notes:
            column.addWidget(
                PlainLabel("No notes yet. People who answered this item cannot read them.", "hint", wrap=True)
            )
        column.addStretch(1)
        self._area.setWidget(inside)
        self._area.verticalScrollBar().setValue(self._area.verticalScrollBar().maximum())
        for part in (self.field, self.add):
            part.setVisible(not self._desk.project.readonly)

    def show_row(self) -> None:
        """The notes are on the whole item."""

    def _add(self) -> None:
        if self._bench.do(remarks.remark, self._of, self.field.toPlainText()):
            self.field.setPlainText("")
            self.show_item()
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
