"""Formulas in a document, drawn in the size and colour of the surrounding text."""

import re
from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QObject, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QPainter,
    QPainterPath,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTransform,
)
from PySide6.QtWidgets import QWidget

from annotator.domain.texts.formula import EM, Formula
from annotator.gui.widgets.reading.units import TextPositions

# What stands for an object in a document's text.
OBJECT = "\ufffc"
# The air on both sides, in thousandths of an em.
_AIR = 60
_PARTS = re.compile(r"[MLQCZ]|-?\d+")
_NUMBERS = {"M": 2, "L": 2, "Q": 4, "C": 6, "Z": 0}


class Formulas(QPyTextObject):
    """Draws those images of a document that are formulas.

    Its images stand in the middle of the small letters (`vertical-align: middle`). A formula asks for as much room
    below its baseline as it needs there and, unless it is higher than letters are, leaves the line as high as it was.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._selected: list[tuple[QTransform, QPainterPath, QColor]] = []

    def serve(self, document: QTextDocument) -> None:
        """Draw this document's formulas from now on.

        Once it is filled: a document that has its layout lays itself out again with every piece that comes.
        """
        document.setLayoutEnabled(False)
        document.documentLayout().registerHandler(QTextFormat.ObjectTypes.ImageObject.value, self)
        document.setLayoutEnabled(True)

    def draw_selected(self, viewport: QWidget) -> None:
        """Draw once more what is marked or selected: Qt has laid the colour over it."""
        if self._selected:
            painter = QPainter(viewport)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for place, outline, colour in self._selected:
                painter.setTransform(place)
                painter.fillPath(outline, colour)
            painter.end()
            self._selected.clear()

    def intrinsicSize(self, document: QTextDocument, position: int, given: QTextFormat) -> QSizeF:
        """The room that Qt parts about the middle of the small letters."""
        look = given.toCharFormat()
        formula = formula_of(look)
        if formula is None:
            return QSizeF(0, 0)
        em, scale = _em(look), _scale(document, look, formula)
        middle = QFontMetrics(look.font()).xHeight() // 2
        ascent, descent = formula.ascent * em * scale / EM, max(0.0, formula.descent * em * scale / EM)
        alone = document.findBlock(position).length() <= 2
        letters = 0 if alone else QFontMetrics(look.font()).ascent()
        above = 2 * ascent - middle if ascent > letters else 0.0
        return QSizeF((formula.width + 2 * _AIR) * em * scale / EM, max(2 * descent + middle, above))

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        document: QTextDocument,
        position: int,
        given: QTextFormat,
    ) -> None:
        """Fill the outline with the colour of the words, on their baseline."""
        look = given.toCharFormat()
        formula = formula_of(look)
        if formula is None:
            return
        scale = _em(look) * _scale(document, look, formula) / EM
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(rect.left() + _AIR * scale, _baseline(document, position))
        painter.scale(scale, scale)
        outline, colour = _outline(formula), painter.pen().color()
        painter.fillPath(outline, colour)
        if look.hasProperty(QTextFormat.Property.BackgroundBrush):
            self._selected.append((painter.transform(), outline, colour))
        painter.restore()


def formula_of(look: QTextCharFormat) -> Formula | None:
    """The formula that an image is; None where it is none."""
    return _decoded(look.toImageFormat().name())


def read(document: QTextDocument) -> tuple[str, TextPositions]:
    """A document's text with the sources of its formulas in their places, and how its places are counted."""
    plain = document.toPlainText()
    if OBJECT not in plain:
        return plain, TextPositions(plain)
    places, parts, objects = TextPositions(plain), list[str](), list[tuple[int, int]]()
    length = before = 0
    for found in re.finditer(OBJECT, plain):
        source = _source_at(document, places.to_qt(found.start()))
        if source:
            parts += [plain[before : found.start()], source]
            start = length + found.start() - before
            length, before = start + len(source), found.end()
            objects.append((start, length))
    text = "".join([*parts, plain[before:]])
    return text, TextPositions(text, objects)


def _source_at(document: QTextDocument, position: int) -> str:
    """The source of the formula at a position; empty where none stands there."""
    cursor = QTextCursor(document)
    cursor.setPosition(position + 1)
    look = cursor.charFormat()
    words = look.property(QTextFormat.Property.ImageAltText) if look.isImageFormat() else None
    return str(words) if words else ""


@lru_cache(maxsize=2_048)
def _decoded(address: str) -> Formula | None:
    return Formula.at(address)


@lru_cache(maxsize=2_048)
def _outline(formula: Formula) -> QPainterPath:
    """An outline as Qt draws it; what of it cannot be read is left out."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    draw: dict[str, Callable[..., None]] = {
        "M": path.moveTo,
        "L": path.lineTo,
        "Q": path.quadTo,
        "C": path.cubicTo,
        "Z": path.closeSubpath,
    }
    parts = _PARTS.findall(formula.path)
    at = 0
    while at < len(parts):
        many = _NUMBERS.get(parts[at], -1)
        numbers = parts[at + 1 : at + 1 + many]
        if many < 0 or len(numbers) < many or any(part in _NUMBERS for part in numbers):
            at += 1
            continue
        draw[parts[at]](*map(float, numbers))
        at += 1 + many
    return path


def _baseline(document: QTextDocument, position: int) -> float:
    """Where the words around a position stand; Qt itself would set an object into the middle of its line."""
    block = document.findBlock(position)
    line = block.layout().lineForTextPosition(position - block.position())
    if not line.isValid():
        return 0.0
    return document.documentLayout().blockBoundingRect(block).top() + line.y() + line.ascent()


def _em(look: QTextCharFormat) -> float:
    """One em of the words around, in the document's pixels."""
    font = look.font()
    return QFontMetrics(font).horizontalAdvance("\u2003") or font.pixelSize() or font.pointSizeF() * 4 / 3


def _scale(document: QTextDocument, look: QTextCharFormat, formula: Formula) -> float:
    """1, or less where the formula would be wider than the page."""
    room = document.pageSize().width() - 2 * document.documentMargin()
    wide = (formula.width + 2 * _AIR) * _em(look) / EM
    return min(1.0, room / wide) if room > 0 and wide > 0 else 1.0
