"""Row of act buttons, with keys where there is room, wrapped where it is narrow."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from annotator.gui import keys, theme
from annotator.gui.widgets.bars.flow_row import FlowRow, grow_by_width
from annotator.gui.widgets.bars.key_button import KeyButton

# Act of the key table, words, what it does.
Act = tuple[str, str, str]
# In a window that is narrower than this, at 100 %, the keys are in the tooltips alone.
WIDE = 1180


class ActsRow(QWidget):
    """A button for each act; `told` shows what was done. `first` comes before them."""

    told = Signal(str)

    def __init__(
        self, acts: Sequence[Act], commands: Mapping[str, Callable[[], None]], first: QWidget | None = None
    ) -> None:
        super().__init__()
        self._commands = commands
        self.buttons: dict[str, KeyButton] = {}
        row = FlowRow(self)
        grow_by_width(self)
        if first is not None:
            row.addWidget(first)
        for act, said, hint in acts:
            button = self.buttons[act] = KeyButton(said, keys.sequences(act)[0])
            button.set_hint(hint)
            button.clicked.connect(lambda _=False, act=act: self.do(act))
            row.addWidget(button)
        theme.watch(self, self._fit)

    def showEvent(self, event: QShowEvent) -> None:
        """Look at the window it is in from now on."""
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Another width of the window has room for the keys, or none."""
        if event.type() == QEvent.Type.Resize and watched is self.window():
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        narrow = self.window().width() < theme.current().px(WIDE)
        for button in self.buttons.values():
            button.show_brief(narrow)

    def do(self, act: str) -> None:
        """Do an act, unless there is nothing to do it with."""
        if self.buttons[act].isEnabled():
            self._commands[act]()

    def rebind(self) -> None:
        for act, button in self.buttons.items():
            button.set_key(keys.sequences(act)[0])
