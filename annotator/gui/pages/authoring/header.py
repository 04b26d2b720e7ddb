"""Header of the Author page: the item's key, type, subject, position, and question."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy

from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.push_button import push_button

# A question longer than this is shown by its beginning; all of it is a press away, and on the left.
SHORT = 220
LONGEST = 4000


class ItemHeader(QFrame):
    """The header of the open item."""

    stepped = Signal(int)
    """Another item was asked for: +1 the next, -1 the previous."""
    feedback_wanted = Signal()
    """What became of this person's work on the item is to be shown."""

    def __init__(self) -> None:
        super().__init__()
        self._item: Item | None = None
        self.place, self.question, self.due = QLabel(), QLabel(), QLabel()
        for label in (self.place, self.question, self.due):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.key, self.about = ElidedLabel(role="subtitle"), ElidedLabel(role="hint")
        for label in (self.key, self.about):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.place.setProperty("role", "hint")
        self.due.setProperty("role", "chip")
        self.due.hide()
        self.became = push_button("Feedback on my work", self.feedback_wanted, "quiet")
        icons.put(self.became, "eye")
        self.became.setToolTip("A consensus exists: see what changed in your work, and why")
        self.became.hide()
        self.question.setWordWrap(True)
        self.question.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.question.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.more = QPushButton("Full question")
        self.more.setProperty("role", "quiet")
        self.more.setCheckable(True)
        self.more.toggled.connect(self._show_question)
        self._lay_out()

    def _lay_out(self) -> None:
        told, top = FlowRow(gap=8), QHBoxLayout()
        for part in (self.key, self.about, self.due, self.became, self.more):
            told.addWidget(part)
        top.setSpacing(8)
        top.addLayout(told, 1)
        top.addWidget(self._step_button("previous_item", "left", "Previous item", -1))
        top.addWidget(self.place)
        top.addWidget(self._step_button("next_item", "right", "Next item", 1))
        vertical(top, self.question, on=self, margins=(12, 8, 12, 4), spacing=4)

    def _step_button(self, act: str, picture: str, name: str, by: int) -> QPushButton:
        button = QPushButton()
        icons.put(button, picture, 16)
        button.setProperty("role", "quiet")
        keys.tell(button, "toolTip", f"{name} ({{{act}}})")
        button.setAccessibleName(name)
        button.clicked.connect(lambda: self.stepped.emit(by))
        return button

    def show_item(self, item: Item, place: int, count: int) -> None:
        """Show an item and where it stands among all, counted from 1."""
        other = self._item is None or self._item.id != item.id
        self._item = item
        self.key.setText(item.key)
        self.about.setText(" · ".join(part for part in (item.question_type, item.subject) if part))
        self.place.setText(f"{place:,} of {count:,}" if place else "not assigned to you")
        self.place.setAccessibleName(f"Item {place:,} of {count:,}" if place else "Not assigned to you")
        self.more.setVisible(len(item.question) > SHORT)
        if other:
            self.more.setChecked(False)
        self._show_question()

    def show_due(self, words: str) -> None:
        """Say by when the person's work on the item is due; empty words say nothing."""
        self.due.setText(f"Due {words}")
        self.due.setVisible(bool(words))
        theme.set_role(self.due, state="disagree" if "late" in words else "unconfirmed")

    def show_settled(self, settled: bool) -> None:
        """Offer to show what happened to this person's work, where there is a consensus."""
        self.became.setVisible(settled)

    def _show_question(self) -> None:
        question = self._item.question.strip() if self._item else ""
        most = LONGEST if self.more.isChecked() else SHORT
        short = question if len(question) <= most else f"{question[:most].rsplit(maxsplit=1)[0]}…"
        self.question.setText(short)
        self.more.setText("Less" if self.more.isChecked() else "Full question")
