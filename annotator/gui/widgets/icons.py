"""Icons drawn from lines and tinted with the theme's colours."""

import json
from functools import cache, lru_cache
from weakref import ref

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton

from annotator import places
from annotator.gui import theme

_FILLED = "fill:"
_OTHER_NAMES = {"close": "cross", "remove": "trash", "retire": "trash", "unsure": "question"}
# Which icon stands for which state of the work (see the design's colours of state).
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
    """An icon by name, sharp at every screen scale; `color` is a token's name or a colour, by default the text's.

    None where the name is empty; KeyError for an unknown one.
    """
    if not name:
        return QIcon()
    plain = _hex(color if color is not None else _COLOURS.get(name, "text"))
    return _icon(name, size, plain, theme.token("text-disabled").name(), theme.ratios())


def put(button: QAbstractButton, name: str, size: int = 16, color: str | None = None) -> None:
    """Give a button an icon that changes with the theme."""
    held = ref(button)

    def dress() -> None:
        live, side = held(), theme.current().px(size)
        if live is not None:
            live.setIconSize(QSize(side, side))
            live.setIcon(icon(name, side, color))

    dress()
    theme.watch(button, dress)


def pixmap(name: str, size: int, color: Tint = None, ratio: float = 1.0) -> QPixmap:
    """An icon as a picture of `size` by `size` points for a screen of that pixel ratio."""
    return _pixmap(name, size, _hex(color if color is not None else _COLOURS.get(name, "text")), ratio)


def names() -> list[str]:
    return sorted([*_drawn(), *_OTHER_NAMES, "logo"])


def svg(name: str, color: str) -> str:
    """An icon as an SVG document of 24 by 24; the logo keeps its own colours."""
    if name == "logo":
        return (places.resources() / "icons" / "goldsmith.svg").read_text("utf-8")
    paths = _drawn()[_OTHER_NAMES.get(name, name)]
    lines = "".join(f'<path d="{path}"/>' for path in paths if not path.startswith(_FILLED))
    dots = "".join(f'<path d="{path[len(_FILLED) :]}"/>' for path in paths if path.startswith(_FILLED))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
        f'<g fill="none" stroke="{color}" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">'
        f'{lines}</g><g fill="{color}">{dots}</g></svg>'
    )


@cache
def _drawn() -> dict[str, list[str]]:
    """Each icon's paths: drawn with a pen of 1.8 in a square of 24; what begins with “fill:” is filled instead."""
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
