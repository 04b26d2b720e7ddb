"""Fonts: one of our own where the system has none, and which letters of a text it cannot draw."""

import sys
import unicodedata
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QApplication

# No font has a letter here.
_NOBODYS = "\U0010fff0"
# Beyond the Latin letters, Greek and Cyrillic, which every font for text has.
_EVERYWHERE = 0x52F
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")
# So many stretches of 256 letters are looked at; a text in one script has few.
_MOST = 12


def ensure(application: QApplication) -> None:
    """Load the font that comes with Matplotlib where the system can draw no letter."""
    if QFontMetrics(application.font()).inFont("a"):
        return
    package = find_spec("matplotlib")
    if package is not None and package.origin:
        for font in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
            QFontDatabase.addApplicationFont(
                str(Path(package.origin).parent / "mpl-data" / "fonts" / "ttf" / font)
            )


def seen() -> str:
    """The family that text is drawn in; empty when letters are drawn as boxes."""
    font = QApplication.font()
    return QFontInfo(font).family() if _drawn("a", font) not in (_drawn("g", font), _box(font)) else ""


def lacking(text: str) -> str:
    """What of a text cannot be drawn here, as a script's name in words; nothing where every letter can."""
    font = QApplication.font()
    found = {ord(letter) >> 8: letter for letter in text if ord(letter) > _EVERYWHERE and letter.isalpha()}
    for letter in islice(found.values(), _MOST):
        if _drawn(letter, font) == _box(font):
            name = unicodedata.name(letter, "this script").split()[0]
            return "Chinese, Japanese or Korean" if name in _EAST_ASIAN else name.title()
    return ""


def advice(script: str) -> str:
    east = script.startswith("Chinese")
    if sys.platform != "linux":
        return (
            f"Install {'Noto Sans CJK' if east else 'a font of the Noto family'} and start Goldsmith again."
        )
    return f"Install the package fonts-noto-{'cjk' if east else 'core'} and start Goldsmith again."


def _box(font: QFont) -> QImage:
    return _drawn(_NOBODYS, font)


def _drawn(letter: str, font: QFont) -> QImage:
    """A letter in black on white, large enough to tell letters apart."""
    image = QImage(48, 48, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    large = QFont(font)
    large.setPixelSize(32)
    painter = QPainter(image)
    painter.setFont(large)
    painter.drawText(6, 36, letter)
    painter.end()
    return image
