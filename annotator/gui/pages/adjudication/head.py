"""Header of the Adjudicate page: document, item, agreement, and buttons for the side panel."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from annotator.actions.adjudication.adjudication_sheets import AdjudicationSheet
from annotator.gui import keys, theme
from annotator.gui.review.ruling_words import figures_words, title_of
from annotator.gui.widgets import icons
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel, tooltip
from annotator.gui.widgets.reading.marked_text import MarkedText

# Act of the key table, words, icon, what it does.
BESIDE = (
    ("vote_first", "Vote first", "eye", "Hide contested values until you have given your own"),
    ("source", "Source", "quote", "Show the sources, or the report that labels are about"),
    ("guideline", "Guideline", "help", "Show the guideline"),
    ("discussion", "Discussion", "note", "Show the notes on this item; they can only be added to"),
    ("gaps", "Gaps", "flag", "Show what the guidelines leave open"),
)
SMALL = 0.92
ORDER = "Order differs: move rows with {} and {}"
WIDE = 760


class AdjudicationHead(QWidget):
    """Title, question and figures, with buttons that announce the chosen act."""

    asked = Signal(str)
    queue_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.queue_shown = QToolButton()
        icons.put(self.queue_shown, "items")
        self.queue_shown.setCheckable(True)
        keys.tell(self.queue_shown, "toolTip", "Show or hide the list of items ({conflicts})")
        self.queue_shown.setAccessibleName("List of items")
        self.queue_shown.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.queue_shown.toggled.connect(self.queue_toggled)
        self.title, self.question = PlainLabel("", "subtitle"), ElidedLabel("", "hint")
        self.figures, self.signs = ElidedLabel("", "hint"), Chips(wrap=False)
        self.remarks = MarkedText(SMALL, "text-muted")
        self.buttons: dict[str, QToolButton] = {}
        self._gaps, self._wide = 0, False
        first, second = QHBoxLayout(), QHBoxLayout()
        for row in (first, second):
            row.setSpacing(6)
        first.addWidget(self.queue_shown)
        first.addWidget(self.title)
        first.addWidget(self.question, 1)
        first.addWidget(self.signs)
        second.addWidget(self.figures, 1)
        for act, _, picture, _ in BESIDE:
            second.addWidget(self._button(act, picture))
        vertical(first, second, self.remarks, on=self, margins=(8, 8, 8, 2), spacing=3)
        self.show_keys()

    def _button(self, act: str, picture: str) -> QToolButton:
        button = QToolButton()
        icons.put(button, picture, 14)
        button.setCheckable(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda _=False: self.asked.emit(act))
        self.buttons[act] = button
        return button

    def show_sheet(self, sheet: AdjudicationSheet) -> None:
        """Show the head of an item."""
        self.title.setText(f"{title_of(sheet.stage, sheet.kind)} · item {sheet.item_key}")
        self.question.setText(sheet.question)
        self.figures.setText(f"Frozen: {figures_words(sheet.figures) or 'no figure'}")
        signs = []
        if sheet.spot_check:
            signs.append(Chip("drawn for a spot check", "eye", "unconfirmed"))
        if sheet.order_differs:
            words = ORDER.format(keys.shown("row_up"), keys.shown("row_down"))
            signs.append(Chip(words, "cross", "disagree"))
        self.signs.show_chips(signs)
        remarks = [f"{letter}, overall: {text}" for letter, text in sheet.remarks.items() if text.strip()]
        self.remarks.show_text("\n".join(remarks))
        self.remarks.setVisible(bool(remarks))

    def show_gaps(self, count: int) -> None:
        """Say how many gaps of the guidelines were found."""
        self._gaps = count
        self.show_keys()

    def show_pressed(self, act: str, pressed: bool) -> None:
        """Press a button down or release it; tells nobody."""
        self.buttons[act].setChecked(pressed)

    def show_keys(self) -> None:
        """Print the keys as they now are; where there is little room, the keys without the words."""
        for act, words, _, hint in BESIDE:
            named = f"{words} ({self._gaps})" if act == "gaps" else words
            key = keys.shown(act)
            self.buttons[act].setText(f"{named}  {key}" if self._wide else key)
            self.buttons[act].setToolTip(tooltip(f"{hint} ({key})"))
            self.buttons[act].setAccessibleName(f"{named}, key {key}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the words to another width."""
        super().resizeEvent(event)
        wide = self.width() >= theme.current().px(WIDE)
        if wide != self._wide:
            self._wide = wide
            self.show_keys()
