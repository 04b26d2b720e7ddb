"""Button bar that shows less, step by step, where there is little room."""

from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from annotator.gui import keys
from annotator.gui.parts import below
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.basics import PlainLabel, horizontal

# Act of the key table, words, icon, what it does.
Act = tuple[str, str, str, str]


class FittingBar(QFrame):
    """Buttons and `progress`; subclasses fill `row` and say what each level shows."""

    LEVELS = 1

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.buttons: dict[str, KeyButton] = {}
        self.progress = PlainLabel("", "hint")
        self.row = horizontal(on=self, margins=(10, 7, 10, 7), spacing=6)

    def put(self, act: str, words: str, picture: str = "", colour: str = "text", role: str = "") -> KeyButton:
        """Put the button of an act at the end."""
        button = KeyButton(words, keys.sequences(act)[0], role)
        # A button that took the focus would take the place in the list away, and Space would press it.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if picture:
            icons.put(button, picture, color=colour)
        self.buttons[act] = button
        self.row.addWidget(button)
        return button

    def show_keys(self) -> None:
        for act, button in self.buttons.items():
            button.set_key(keys.sequences(act)[0])
        self.fit()

    def minimumSizeHint(self) -> QSize:
        """High enough for a button, as narrow as may be."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Leave out, one after the other, what stands elsewhere too, until the rest fits."""
        for level in range(self.LEVELS):
            self.show_level(level)
            self.row.activate()
            if self.row.sizeHint().width() <= self.width():
                break

    def show_level(self, level: int) -> None:
        """Show everything at level 0, and at every further level less."""

    def shrink(self, acts: Iterable[Act], level: int) -> None:
        """Show the buttons of these acts whole at level 0, without their keys at level 1, and then not at all."""
        for act, words, *_ in acts:
            button = self.buttons[act]
            button.set_words(words)
            button.show_brief(level > 0)
            button.setVisible(level < 2)


def crowd(window: QWidget, crowded: bool) -> None:
    """Have the buttons of a window print their keys, or their words alone, and its bars fit to them."""
    if crowded is not KeyButton.crowded:
        KeyButton.crowded = crowded
        parts = list(below(window, QWidget))
        for button in parts:
            if isinstance(button, KeyButton):
                button.show_words()
        for bar in parts:
            if isinstance(bar, FittingBar):
                bar.fit()
