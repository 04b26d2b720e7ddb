"""Bars and rows that adapt to the available width, and folds that open what is rarely needed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

from PySide6.QtCore import Property, QEvent, QObject, QPoint, QRect, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QLayout,
    QLayoutItem,
    QMenu,
    QPushButton,
    QSizePolicy,
    QTabWidget,
    QToolButton,
    QWidget,
    QWidgetItem,
)
from shiboken6 import isValid

from annotator.gui import keys, theme
from annotator.gui.parts import application, holds
from annotator.gui.widgets import chips
from annotator.gui.widgets.basics import (
    Part,
    PlainLabel,
    Refitting,
    RoleFrame,
    StretchSpace,
    column_of,
    horizontal,
    least_size,
    tooltip,
    vertical,
    with_properties,
)

_GAP = "\u2003"
BUTTONS = (QPushButton, QToolButton)


class KeyButton(QPushButton):
    """A push button that shows its key in its tooltip, and a one-character key after its label, as in “Met  1”.

    The key itself is bound by the page.
    """

    def __init__(
        self,
        words: str,
        key: str | QKeySequence = "",
        role: str = "",
        act: str = "",
        hint: str = "",
        press: Callable[..., object] | SignalInstance | None = None,
        **settings: Any,
    ) -> None:
        """`act` selects the key from the key table, and follows its changes; `press` is called on clicks."""
        super().__init__(**settings)
        self.words, self._key, self._hint = words, "", hint
        if role:
            self.setProperty("role", role)
        if press is not None:
            self.clicked.connect(press)
        if act:
            keys.tell(self, "key", f"{{{act}}}")
        else:
            self.set_key(key)

    def set_words(self, words: str) -> None:
        self.words = words
        self._show_words()

    def set_key(self, key: str | QKeySequence) -> None:
        """Show another key, in this system's notation."""
        self._key = keys.written(key).replace("Return", "Enter")
        self._show_words()

    key = Property(str, lambda self: self._key, set_key)
    """The key as a Qt property, which `keys.tell` keeps up to date."""

    def set_hint(self, hint: str) -> None:
        self._hint = hint
        self._show_words()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Treat a double click as one press: the button may already act on the next subject."""
        event.accept()

    def _show_words(self) -> None:
        # A number that is its own key is shown once.
        answer = self._key if len(self._key) == 1 and self._key != self.words else ""
        self.setText(f"{self.words}{_GAP}{answer}".strip().replace("&", "&&"))
        tip = self._hint or self.words
        self.setToolTip(tooltip(f"{tip} ({self._key})" if self._key else tip))
        self.setAccessibleName(f"{self.words}, key {self._key}" if self._key else self.words)


class EnterPresses(QObject):
    """Lets Enter press the focused button, as the space bar does.

    Only if the key was pressed on the button itself: an Enter that moved the focus there goes on to the window.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        application().focusChanged.connect(self._moved)

    def _moved(self, left: QWidget | None, reached: QWidget | None) -> None:
        if isinstance(left, BUTTONS) and isValid(left):
            left.removeEventFilter(self)
        if isinstance(reached, BUTTONS) and self._window.isAncestorOf(reached):
            reached.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, BUTTONS) and isinstance(event, QKeyEvent) and _is_enter(event):
            watched.click()
            return True
        return super().eventFilter(watched, event)


def _is_enter(event: QKeyEvent) -> bool:
    if event.type() != QEvent.Type.KeyPress or event.isAutoRepeat():
        return False
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and keys.plain(event)


ACROSS = Qt.Orientation.Horizontal
# The side of the arrow on a fold's button, in pixels at 100 %.
ARROW = 12


class FlowRow(QLayout):
    """Widgets in reading order, wrapped into lines; hidden ones take no space, fields share what a line has left.

    With `even`, lines have about the same number of widgets: none stands alone on the last one.
    """

    def __init__(self, parent: QWidget | None = None, gap: int = 6, *, even: bool = False) -> None:
        super().__init__(parent)
        self._gap, self._high, self._even = gap, 0, even
        self._parts: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addWidget(self, widget: QWidget) -> None:
        """Add a widget at the end.

        PySide can take items that Qt makes itself for deleted while they live, and a layout that then fails ends the
        program.
        """
        self.addChildWidget(widget)
        self.addItem(QWidgetItem(widget))

    def addItem(self, item: QLayoutItem) -> None:
        self._parts.append(item)

    def insert(self, place: int, widget: QWidget) -> None:
        self.addWidget(widget)
        self._parts.insert(place, self._parts.pop())

    def count(self) -> int:
        return len(self._parts)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._parts[index] if 0 <= index < len(self._parts) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._parts.pop(index) if 0 <= index < len(self._parts) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        high = self._arrange(rect, move=True)
        if high != self._high:
            self._high = high
            self.update()

    def sizeHint(self) -> QSize:
        sizes = [part.sizeHint() for part in self._shown()]
        wide = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(wide, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        sizes = [part.minimumSize() for part in self._shown()]
        widest = max((size.width() for size in sizes), default=0)
        around = self.parentWidget()
        # Out of view it may not have been given its width yet.
        high = self._high if around is not None and around.isVisible() else 0
        return QSize(widest, max(high, *(size.height() for size in sizes), 0))

    def _shown(self) -> list[QLayoutItem]:
        return [part for part in self._parts if not part.isEmpty()]

    def _lines(self, width: int, most: int) -> list[list[QLayoutItem]]:
        """The items line by line, at `most` that many on each."""
        lines: list[list[QLayoutItem]] = [[]]
        left = 0
        for part in self._shown():
            wide = part.sizeHint().width()
            if lines[-1] and (left + wide > width or len(lines[-1]) == most):
                lines.append([])
                left = 0
            lines[-1].append(part)
            left += wide + self._gap
        return lines

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        lines = self._lines(rect.width(), len(self._parts))
        if self._even:
            lines = self._lines(rect.width(), ceil(len(self._shown()) / len(lines)))
        top = rect.top()
        for line in lines:
            high = max((part.sizeHint().height() for part in line), default=0)
            if move:
                self._set_line(line, QPoint(rect.left(), top), high, rect.width())
            top += high + self._gap
        return max(0, top - self._gap - rect.top())

    def _set_line(self, line: list[QLayoutItem], place: QPoint, high: int, most: int) -> None:
        left, widths = place.x(), self._widths(line, most)
        for part, wide in zip(line, widths, strict=True):
            low = part.sizeHint().height()
            part.setGeometry(QRect(left, place.y() + (high - low) // 2, wide, low))
            left += wide + self._gap

    def _widths(self, line: list[QLayoutItem], most: int) -> list[int]:
        """The widths of a line's items: fields share the remaining space."""
        widths = [min(part.sizeHint().width(), most) for part in line]
        growing = [place for place, part in enumerate(line) if part.expandingDirections() & ACROSS]
        left = most - sum(widths) - self._gap * (len(line) - 1)
        for done, place in enumerate(growing):
            bound = line[place].maximumSize().width() - widths[place]
            more = max(0, min(left // (len(growing) - done), bound))
            widths[place] += more
            left -= more
        return widths


def wrapping(*parts: QWidget, gap: int = 8, even: bool = False, on: QWidget | None = None) -> FlowRow:
    """Widgets in one line that wraps if space is short; `on` is the widget that gets the layout."""
    row = FlowRow(on, gap=gap, even=even)
    for part in parts:
        row.addWidget(part)
    return row


class Fold(QWidget):
    """A button, and below it the parts it opens: a form that runs or exports, or what is rarely needed.

    `note` beside the button says what is set inside. `button.toggled` signals opening and closing.
    """

    def __init__(
        self, words: str, *parts: Part, hint: str = "", spacing: int = 6, apart: bool = False
    ) -> None:
        """With `apart`, the caller places `button` and `note`, and a closed fold takes no space."""
        super().__init__()
        self.note = PlainLabel("", "hint", wrap=True, parent=self, visible=False)
        self.button = with_properties(QPushButton(words), role="quiet", checkable=True, toolTip=tooltip(hint))
        self.body = column_of(*parts, spacing=spacing)
        self.body.hide()
        head = () if apart else (horizontal(self.button, (self.note, 1), StretchSpace(0)),)
        vertical(*head, self.body, on=self, margins=0, spacing=spacing)
        self._apart = apart
        if apart:
            self.hide()
        self.button.toggled.connect(self._turn)
        # Not the fold, which may be hidden while its button is visible.
        theme.follow(self.button, self._restyle)

    @property
    def is_open(self) -> bool:
        return self.button.isChecked()

    def open(self, field: QWidget | None = None) -> None:
        """Show the parts, and focus a field among them."""
        self.button.setChecked(True)
        if field is not None:
            field.setFocus(Qt.FocusReason.OtherFocusReason)

    def say(self, words: str) -> None:
        """Show what is set inside; the button has it as its accessible description."""
        self.note.show_words(words)
        self.button.setAccessibleDescription(words)

    def press(self, act: Callable[[], object]) -> None:
        """Call a function of the parts for its key; if they are hidden, show them instead."""
        if self.is_open:
            act()
        else:
            self.open()

    def _turn(self, opened: bool) -> None:
        if not opened and holds(self.body):
            self.button.setFocus(Qt.FocusReason.OtherFocusReason)
        self.body.setVisible(opened)
        if self._apart:
            self.setVisible(opened)
        self._restyle()

    def _restyle(self) -> None:
        side = theme.current().px(ARROW)
        self.button.setIconSize(QSize(side, side))
        self.button.setIcon(chips.icon("down" if self.is_open else "right", side, "text-muted"))


class Tabs(QTabWidget):
    """Tabs without a frame, no larger than the current one needs."""

    def __init__(self, name: str = "Parts of the page") -> None:
        super().__init__()
        with_properties(self, documentMode=True, accessibleName=name)
        self.tabBar().setDrawBase(False)
        self.currentChanged.connect(lambda _: self.updateGeometry())
        theme.watch(self, self._fit_letters)

    def _fit_letters(self) -> None:
        """Set the font explicitly: Qt does not update the font of tabs whose bar has a style sheet of its own."""
        bar, font = self.tabBar(), self.font()
        if bar.styleSheet() and font.pointSizeF() != theme.current().points:
            font.setPointSizeF(theme.current().points)
            self.setFont(font)
            bar.setStyleSheet(bar.styleSheet())

    def minimumSizeHint(self) -> QSize:
        """The minimum size of the current tab only."""
        bar, least = self.tabBar().minimumSizeHint(), least_size(self.currentWidget())
        return QSize(max(bar.width(), least.width()), bar.height() + least.height())


@dataclass(frozen=True, slots=True)
class Command:
    act: str
    words: str
    icon: str = ""
    hint: str = ""
    role: str = ""


class ActsBar(Refitting, RoleFrame):
    """Commands on the left and, after `progress`, the main ones on the right; the `rest` are in the menu “More”.

    Other commands move there, too, if space is short. `asked` emits the chosen act.
    """

    asked = Signal(str)
    # People who do not know the key must be able to reach it.
    FOCUS = Qt.FocusPolicy.TabFocus

    def __init__(
        self, left: Sequence[Command], right: Sequence[Command] = (), rest: Sequence[Command] = ()
    ) -> None:
        super().__init__("bar")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._hints = {command.act: command.hint for command in (*left, *right, *rest)}
        self._withheld: set[str] = set()
        # What goes into “More”: the rest; if space is short, the left group from its end, then the right group but the
        # last.
        self._spare = [command.act for command in (*reversed(rest), *reversed(left), *right[:-1])]
        self._rest = len(rest)
        self.buttons: dict[str, KeyButton] = {}
        self.progress = PlainLabel(
            "", "hint", alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        self.more = with_properties(
            QToolButton(),
            toolTip="More actions",
            accessibleName="More actions",
            text="More" if rest else "…",
            popupMode=QToolButton.ToolButtonPopupMode.InstantPopup,
        )
        menu = QMenu(self.more)
        menu.aboutToShow.connect(self._fill_menu)
        self.more.setMenu(menu)
        self.row = horizontal(
            *map(self._button, left),
            self.more,
            *map(self._button, rest),
            (self.progress, 1),
            *map(self._button, right),
            on=self,
            margins=(10, 7, 10, 7),
            spacing=6,
        )
        self.more.hide()

    def _button(self, command: Command) -> KeyButton:
        button = KeyButton(
            command.words,
            act=command.act,
            role=command.role,
            hint=command.hint,
            press=lambda: self.asked.emit(command.act),
            focusPolicy=self.FOCUS,
        )
        if command.icon:
            chips.put(button, command.icon)
        self.buttons[command.act] = button
        return button

    def _fill_menu(self) -> None:
        menu = self.more.menu()
        menu.clear()
        for act in reversed(self._spare):
            button = self.buttons[act]
            if button.isHidden() and act not in self._withheld:
                entry = menu.addAction(f"{button.words}\t{keys.shown(act)}", partial(self.asked.emit, act))
                entry.setEnabled(button.isEnabled())

    def enable_all(self, acts: Mapping[str, bool]) -> None:
        for act, able in acts.items():
            self.enable(act, able)

    def enable(self, act: str, enabled: bool, why: str = "") -> None:
        """Enable a command, or disable it and say why in its tooltip."""
        self.buttons[act].setEnabled(enabled)
        self.buttons[act].set_hint(why or self._hints[act])

    def offer(self, act: str, *, there: bool) -> None:
        """Show a command in the bar, or leave it out."""
        (self._withheld.discard if there else self._withheld.add)(act)
        self.buttons[act].setVisible(there)
        self.refit()

    def set_words(self, act: str, words: str) -> None:
        self.buttons[act].set_words(words)
        self.refit()

    def say(self, words: str) -> None:
        self.progress.setText(words)
        self.refit()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def refit(self) -> None:
        """Hide the progress text, then move one command after the other into “More”, until the others fit."""
        for says, many in [
            (True, self._rest),
            *((False, n) for n in range(self._rest, len(self._spare) + 1)),
        ]:
            self._put_away(self._spare[:many], says=says)
            self.row.activate()
            if self.row.sizeHint().width() <= self.width():
                break

    def _put_away(self, away: Sequence[str], *, says: bool) -> None:
        self.progress.setVisible(says)
        for act in self._spare:
            self.buttons[act].setVisible(act not in away and act not in self._withheld)
        self.more.setVisible(not self._withheld.issuperset(away))


# RowAct: act of the key table, title, method.
RowAct = tuple[str, str, str]
