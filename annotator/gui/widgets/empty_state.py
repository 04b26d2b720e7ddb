"""Empty state of a page: a picture, what will be here, and what to do next."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QPushButton, QWidget

from annotator.gui import theme
from annotator.gui.parts import below
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical

_PICTURE = 44
_WIDTH = 460
_LEAST, _AROUND = 260, 24


class EmptyState(QWidget):
    """An icon, a headline, one or two sentences and buttons, centred on the page."""

    def __init__(
        self,
        icon: str,
        headline: str,
        words: str = "",
        parent: QWidget | None = None,
        width: int = _WIDTH,
        role: str = "hint",
    ) -> None:
        super().__init__(parent)
        self._width = width
        self._name = icon
        self._icon = QLabel()
        self._headline, self._words = PlainLabel(headline, "subtitle"), PlainLabel(words, role, wrap=True)
        self._buttons = horizontal(spacing=8)
        column = vertical(StretchSpace(2), on=self, spacing=10)
        for label in (self._icon, self._headline, self._words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            # In a row of its own a label gets the height of all its lines, however wide the page is.
            row = horizontal(StretchSpace(1), label, StretchSpace(1))
            column.addLayout(row)
        column.addSpacing(6)
        column.addLayout(self._buttons)
        column.setAlignment(self._buttons, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        self._dress()
        theme.watch(self, self._dress)

    def show_words(self, headline: str, words: str = "") -> None:
        self._headline.setText(headline)
        self._words.setText(words)

    def add_action(self, words: str, slot: Callable[[], object], primary: bool = False) -> QPushButton:
        """Add a button; the first is at the left. The button is returned."""
        button = QPushButton(words.replace("&", "&&"))
        if primary:
            button.setProperty("role", "primary")
        button.clicked.connect(lambda: slot())
        self.add_button(button)
        return button

    def add_button(self, button: QPushButton) -> None:
        """Add a button that was made elsewhere."""
        self._buttons.addWidget(button)
        self._fit()

    def _dress(self) -> None:
        size = theme.current().px(_PICTURE)
        self._icon.setPixmap(icons.pixmap(self._name, size, "text-muted", self.devicePixelRatio()))
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """The words break into as many lines as it takes, and the buttons stand below one another if they must."""
        return super().minimumSizeHint().boundedTo(QSize(theme.current().px(_LEAST), 10_000))

    def hasHeightForWidth(self) -> bool:
        """No: its words have a width of their own, and asked by width Qt counts more lines than there are."""
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        px = theme.current().px
        room = max(self.width(), px(_LEAST)) - 2 * self.contentsMargins().left() - _AROUND
        self._words.setFixedWidth(min(px(self._width), 640, room))
        widths = [button.sizeHint().width() for button in below(self, QPushButton)]
        wide = sum(widths) + self._buttons.spacing() * max(0, len(widths) - 1)
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._buttons.setDirection(across if wide <= room else down)


def answered_label(words: str = "") -> PlainLabel:
    """Words for where there is nothing, as a line of a part; hidden until the first answer tells that they are true.

    An `EmptyState` stands second in its stack for the same reason.
    """
    label = PlainLabel(words, "hint", wrap=True)
    label.hide()
    return label
