"""Chips: states and values as pills with icon, text and colour."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any
from weakref import ref

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QIcon,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QFrame,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from annotator import places
from annotator.gui import keys, theme
from annotator.gui.parts import below
from annotator.gui.widgets.basics import (
    PlainLabel,
    Refitting,
    StretchSpace,
    horizontal,
    push_button,
    vertical,
    with_properties,
)

_FILLED = "fill:"
_OTHER_NAMES = {"close": "cross", "remove": "trash", "retire": "trash", "unsure": "question"}
# The icon of each state of the work (see the design's state colours).
STATE_ICONS = {
    "agreed": "check",
    "unconfirmed": "question",
    "disagree": "cross",
    "incomplete": "clock",
    "missing": "minus",
}
_COLOURS = {"error": "level-error", "warning": "level-warning", "info": "level-info"}
Tint = str | QColor | None


def icon(name: str, size: int = 16, color: Tint = None) -> QIcon:
    """An icon by name, sharp at every screen scale; `color` is a token or a colour, by default the text colour.

    Empty if the name is; KeyError for an unknown one.
    """
    if not name:
        return QIcon()
    plain = _hex(color if color is not None else _COLOURS.get(name, "text"))
    return _icon(name, size, plain, theme.token("text-disabled").name(), theme.ratios())


def put(button: QAbstractButton, name: str, size: int = 16, color: str | None = None) -> None:
    """Give a button an icon that follows the theme."""
    held = ref(button)

    def dress() -> None:
        live, side = held(), theme.current().px(size)
        if live is not None:
            live.setIconSize(QSize(side, side))
            live.setIcon(icon(name, side, color))

    theme.follow(button, dress)


def tool_button(
    name: str, picture: str, press: Callable[[], object] | None = None, size: int = 16, **properties: Any
) -> QToolButton:
    """A button with an icon only; its name is the tooltip, with keys as `keys.tell` takes them."""
    button = QToolButton()
    keys.tell(button, "toolTip", name)
    with_properties(button, **{"accessibleName": name.partition(" (")[0]} | properties)
    put(button, picture, size)
    if press is not None:
        button.clicked.connect(lambda: press())
    return button


def pixmap(name: str, size: int, color: Tint = None, ratio: float = 1.0) -> QPixmap:
    """An icon as a pixmap of `size` by `size` points for a screen of that pixel ratio."""
    return _pixmap(name, size, _hex(color if color is not None else _COLOURS.get(name, "text")), ratio)


def names() -> list[str]:
    return sorted([*_paths(), *_OTHER_NAMES, "logo"])


def svg(name: str, color: str) -> str:
    """An icon as an SVG document of 24 by 24; the logo keeps its own colours."""
    if name == "logo":
        return (places.resources() / "icons" / "goldsmith.svg").read_text("utf-8")
    paths = _paths()[_OTHER_NAMES.get(name, name)]
    lines = "".join(f'<path d="{path}"/>' for path in paths if not path.startswith(_FILLED))
    dots = "".join(f'<path d="{path[len(_FILLED) :]}"/>' for path in paths if path.startswith(_FILLED))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
        f'<g fill="none" stroke="{color}" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">'
        f'{lines}</g><g fill="{color}">{dots}</g></svg>'
    )


@cache
def _paths() -> dict[str, list[str]]:
    """Each icon's paths: stroked 1.8 wide in a square of 24; those that begin with “fill:” are filled instead."""
    tree: dict[str, list[str]] = json.loads((places.resources() / "icons" / "drawn.json").read_text("utf-8"))
    return tree


def _hex(color: str | QColor) -> str:
    return color.name() if isinstance(color, QColor) else theme.token(color).name()


@lru_cache(maxsize=512)
def _icon(name: str, size: int, color: str, disabled: str, ratios: tuple[float, ...]) -> QIcon:
    made = QIcon()
    for ratio in ratios:
        plain = _pixmap(name, size, color, ratio)
        made.addPixmap(plain)
        made.addPixmap(plain, QIcon.Mode.Selected)
        made.addPixmap(_pixmap(name, size, disabled, ratio), QIcon.Mode.Disabled)
    return made


def _pixmap(name: str, size: int, color: str, ratio: float) -> QPixmap:
    drawing = QSvgRenderer(QByteArray(svg(name, color).encode()))
    picture = QPixmap(round(size * ratio), round(size * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    drawing.render(painter, QRectF(picture.rect()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


_ICON, _PAD, _GAP, _BETWEEN, _SMALL = 13, 8, 5, 5, 0.9


@dataclass(frozen=True, slots=True)
class Chip:
    """One pill; `icon` may be empty, `state` is the end of a colour's name in the theme (agreed, missing …)."""

    words: str
    icon: str = ""
    state: str = "missing"


def small(font: QFont) -> QFont:
    made = QFont(font)
    made.setPointSizeF(max(1.0, font.pointSizeF() * _SMALL))
    made.setWeight(QFont.Weight.DemiBold)
    return made


def size_of(chip: Chip, font: QFont) -> QSize:
    px, metrics = theme.current().px, QFontMetrics(small(font))
    picture = px(_ICON) + px(_GAP) if chip.icon else 0
    return QSize(2 * px(_PAD) + picture + metrics.horizontalAdvance(chip.words), metrics.height() + px(4))


def paint(painter: QPainter, place: QPoint, chip: Chip, font: QFont, most: int = 0) -> QRect:
    """Paint a pill at a position, no wider than `most`; return its rectangle."""
    px, size = theme.current().px, size_of(chip, font)
    area = QRect(place, QSize(min(size.width(), most) if most else size.width(), size.height()))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.token(f"state-{chip.state}-soft"))
    painter.drawRoundedRect(QRectF(area), area.height() / 2, area.height() / 2)
    left = px(_PAD)
    if chip.icon:
        picture = pixmap(chip.icon, px(_ICON), f"state-{chip.state}", painter.device().devicePixelRatioF())
        painter.drawPixmap(area.left() + left, area.top() + (area.height() - px(_ICON)) // 2, picture)
        left += px(_ICON) + px(_GAP)
    painter.setPen(theme.token(f"state-{chip.state}"))
    painter.setFont(small(font))
    inside = area.adjusted(left, 0, -px(_PAD), 0)
    words = chip.words
    if area.width() < size.width():
        words = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, inside.width())
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextDontClip
    painter.drawText(inside, flags, words)
    painter.restore()
    return area


class Chips(QWidget):
    """Pills side by side, wrapped if space is short."""

    def __init__(self, *, wrap: bool = True) -> None:
        super().__init__()
        self._chips: tuple[Chip, ...] = ()
        self._wrap, self._hidden = wrap, False
        stretch = QSizePolicy.Policy.Preferred if wrap else QSizePolicy.Policy.Fixed
        policy = QSizePolicy(stretch, stretch)
        policy.setHeightForWidth(wrap)
        self.setSizePolicy(policy)
        theme.watch(self, self.updateGeometry)

    def show_chips(self, chips: Sequence[Chip]) -> None:
        """Show other pills; the row is hidden if there are none."""
        if tuple(chips) != self._chips:
            self._chips = tuple(chips)
            self.setAccessibleName(", ".join(chip.words for chip in chips))
            self.updateGeometry()
            self.update()
        # Shown only if it was hidden: shown without a parent it would be a window of its own.
        if self._hidden is bool(chips):
            self._hidden = not chips
            self.setVisible(bool(chips))

    def words(self) -> list[str]:
        return [chip.words for chip in self._chips]

    def chips(self) -> tuple[Chip, ...]:
        return self._chips

    def hasHeightForWidth(self) -> bool:
        return self._wrap

    def heightForWidth(self, width: int) -> int:
        return self._places(width)[1]

    def sizeHint(self) -> QSize:
        sizes = [size_of(chip, self.font()) for chip in self._chips]
        gaps = theme.current().px(_BETWEEN) * max(0, len(sizes) - 1)
        return QSize(sum(size.width() for size in sizes) + gaps, max((s.height() for s in sizes), default=0))

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(min(hint.width(), theme.current().px(60)), hint.height()) if self._wrap else hint

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        for place, chip in zip(self._places(self.width())[0], self._chips, strict=True):
            room = self.width() - place.x()
            if room > 0:
                paint(painter, place, chip, self.font(), room)

    def _places(self, width: int) -> tuple[list[QPoint], int]:
        gap, left, top, high = theme.current().px(_BETWEEN), 0, 0, 0
        places = []
        for chip in self._chips:
            size = size_of(chip, self.font())
            if self._wrap and left and left + size.width() > width:
                left, top = 0, top + high + gap
            places.append(QPoint(left, top))
            left, high = left + size.width() + gap, size.height()
        return places, top + high


class Picture(QLabel):
    """An icon by name, which follows the theme; empty if the name is."""

    def __init__(self, name: str = "", colour: str = "text", size: int = 16) -> None:
        super().__init__()
        self._size = size
        self.show_icon(name, colour)
        theme.watch(self, self._restyle)

    def show_icon(self, name: str, colour: str) -> None:
        self._look = name, colour
        self._restyle()

    def _restyle(self) -> None:
        name, colour = self._look
        size = theme.current().px(self._size)
        self.setPixmap(pixmap(name, size, colour, self.devicePixelRatio()) if name else QPixmap())


_PICTURE = 44
_LEAST, _AROUND = 260, 24


class WorkCard(QFrame):
    """A card that takes the focus when it becomes the current one."""

    pressed = Signal(str)
    """The id of the card's subject, when a person selects it by mouse or Tab."""

    def __init__(self, subject: str) -> None:
        super().__init__()
        self._subject = subject
        with_properties(self, role="card", current=False, focusPolicy=Qt.FocusPolicy.ClickFocus)

    def set_current(self, current: bool) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if current else Qt.FocusPolicy.ClickFocus)
        theme.set_role(self, current=current)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self.pressed.emit(self._subject)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.pressed.emit(self._subject)


class EmptyState(Refitting, QWidget):
    """An icon, a headline, one or two sentences and buttons, centred on the page."""

    def __init__(
        self,
        icon: str,
        headline: str,
        words: str = "",
        parent: QWidget | None = None,
        width: int = 460,
        role: str = "hint",
        actions: Sequence[tuple[str, Callable[[], object]]] = (),
    ) -> None:
        """`actions` are button labels with functions; the first is the primary one."""
        super().__init__(parent)
        self._width = width
        self._name = icon
        self._icon = QLabel()
        self._headline, self._words = PlainLabel(headline, "subtitle"), PlainLabel(words, role, wrap=True)
        self._buttons = horizontal(spacing=8)
        labels = (self._icon, self._headline, self._words)
        # In a row of its own a label gets the height of all its lines, however wide the page is.
        rows = (horizontal(StretchSpace(1), label, StretchSpace(1)) for label in labels)
        column = vertical(StretchSpace(2), *rows, 6, self._buttons, StretchSpace(3), on=self, spacing=10)
        column.setAlignment(self._buttons, Qt.AlignmentFlag.AlignHCenter)
        for label in labels:
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        for action in actions:
            self.add_action(*action, primary=action is actions[0])
        theme.follow(self, self._restyle)

    def show_words(self, headline: str, words: str = "") -> None:
        self._headline.setText(headline)
        self._words.setText(words)

    def add_action(
        self, words: str, slot: Callable[[], object] = lambda: None, primary: bool = False
    ) -> QPushButton:
        """Add a button at the right of the others and return it."""
        role = "primary" if primary else ""
        button = push_button(words.replace("&", "&&"), lambda: slot(), role)
        self.add_button(button)
        return button

    def add_button(self, button: QPushButton) -> None:
        self._buttons.addWidget(button)
        self.refit()

    def _restyle(self) -> None:
        size = theme.current().px(_PICTURE)
        self._icon.setPixmap(pixmap(self._name, size, "text-muted", self.devicePixelRatio()))
        self.refit()

    def minimumSizeHint(self) -> QSize:
        """The text wraps as needed, and the buttons may be one below the other."""
        return super().minimumSizeHint().boundedTo(QSize(theme.current().px(_LEAST), 10_000))

    def hasHeightForWidth(self) -> bool:
        """No: the text has a fixed width, and by width Qt counts more lines than there are."""
        return False

    def refit(self) -> None:
        px = theme.current().px
        room = max(self.width(), px(_LEAST)) - 2 * self.contentsMargins().left() - _AROUND
        self._words.setFixedWidth(min(px(self._width), 640, room))
        widths = [button.sizeHint().width() for button in below(self, QPushButton)]
        wide = sum(widths) + self._buttons.spacing() * max(0, len(widths) - 1)
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._buttons.setDirection(across if wide <= room else down)


def answered_label(words: str = "") -> PlainLabel:
    """A text for an empty part; hidden until the first answer confirms that the part is empty.

    For the same reason an `EmptyState` is never the first widget of its stack.
    """
    label = PlainLabel(words, "hint", wrap=True)
    label.hide()
    return label
