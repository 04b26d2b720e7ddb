"""Text of any script with highlights, cheap enough for a hundred at once; quotation buttons and formulas."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from html import escape
from itertools import accumulate

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLayout,
    QTextOption,
    QTransform,
)
from PySide6.QtWidgets import QPushButton, QSizePolicy, QTextEdit, QWidget

from annotator.domain.texts.difference import TextPiece, differences
from annotator.domain.texts.rendered import EM, Formula
from annotator.gui import theme
from annotator.gui.widgets import chips
from annotator.gui.widgets.basics import Refitting, direction_of, grow_by_width, tooltip, with_properties


class TextPositions:
    """Converts a text's Python offsets to Qt's positions and back.

    `objects` are the spans of the text that are single objects in the document, such as formulas.
    """

    def __init__(self, text: str, objects: Sequence[tuple[int, int]] = ()) -> None:
        self._wide = (
            [place for place, letter in enumerate(text) if letter > "\uffff"] if not text.isascii() else []
        )
        self._wide_qt = [place + before for before, place in enumerate(self._wide)]
        self._starts, self._ends = [start for start, _ in objects], [end for _, end in objects]
        spare = (self._halves(end) - self._halves(start) - 1 for start, end in objects)
        # The number of UTF-16 code units by which the document is shorter before each object.
        self._spared = [0, *accumulate(spare)]
        self._starts_qt = [
            self._halves(start) - less for start, less in zip(self._starts, self._spared, strict=False)
        ]

    def to_qt(self, offset: int, *, end: bool = False) -> int:
        """The Qt position of a Python offset; inside an object, that of the object, or with `end` the one after it."""
        inside = bisect_left(self._starts, offset) - 1
        if inside >= 0 and offset < self._ends[inside]:
            return self._starts_qt[inside] + end
        return self._halves(offset) - self._spared[bisect_right(self._ends, offset)]

    def from_qt(self, position: int) -> int:
        halves = position + self._spared[bisect_left(self._starts_qt, position)]
        return halves - bisect_left(self._wide_qt, halves)

    def _halves(self, offset: int) -> int:
        return offset + bisect_left(self._wide, offset)


# Words [start, end) of a text, in Python characters.
Span = tuple[int, int]
LINE_END = "\u2028"
_RIGHT, _LEFT = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft


def lay_out(
    text: str, font: QFont, width: float, marked: Sequence[Span] = (), mark: str = "state-disagree"
) -> QTextLayout:
    """A text broken into lines of a width, in the direction of its script; `mark` is a colour with a soft variant."""
    layout = QTextLayout(text.replace("\r\n", " \n").replace("\n", LINE_END), font)
    option, direction = QTextOption(), direction_of(text)
    option.setTextDirection(direction)
    side = _RIGHT if direction is Qt.LayoutDirection.RightToLeft else _LEFT
    option.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats(_formats(text, marked, mark))
    layout.beginLayout()
    top = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(1.0, width))
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    return layout


def _formats(text: str, marked: Sequence[Span], mark: str) -> list[QTextLayout.FormatRange]:
    if not marked:
        return []
    look = QTextCharFormat()
    look.setBackground(theme.token(f"{mark}-soft"))
    look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    look.setUnderlineColor(theme.token(mark))
    return format_ranges(text, marked, look)


def format_ranges(text: str, spans: Sequence[Span], look: QTextCharFormat) -> list[QTextLayout.FormatRange]:
    """The spans of a text in this format, as a layout takes them."""
    made, places = [], TextPositions(text)
    for start, end in spans:
        part = QTextLayout.FormatRange()
        part.start = places.to_qt(start)
        part.length = places.to_qt(end) - part.start
        part.format = look
        made.append(part)
    return made


class MarkedText(QWidget):
    """As high as its lines; folded, one line with the rest elided."""

    def __init__(
        self, text: str = "", scale: float = 1.0, colour: str = "text", mark: str = "state-disagree"
    ) -> None:
        super().__init__()
        self._scale, self._colour, self._mark = scale, colour, mark
        self._marked: Sequence[Span] = ()
        self._folded = False
        self._laid: tuple[int, QTextLayout] | None = None
        grow_by_width(self, QSizePolicy.Policy.Expanding)
        theme.watch(self, self._forget)
        self.show_text(text)

    def text(self) -> str:
        return self._text

    def marked(self) -> list[str]:
        return [self._text[start:end] for start, end in self._marked]

    def show_text(self, text: str, marked: Sequence[Span] = (), *, struck: bool = False) -> None:
        self._text, self._marked, self._struck = text, tuple(marked), struck
        self.setAccessibleName(text)
        self._forget()

    def fold(self, folded: bool) -> None:
        """Show one line, with the full text as tooltip, or all lines."""
        self._folded = folded
        self.setToolTip(tooltip(self._text) if folded else "")
        self._forget()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if self._folded or not self._text:
            return self._line_height()
        return round(self._layout(width).boundingRect().height() + 0.5)

    def sizeHint(self) -> QSize:
        wide = theme.current().px(220)
        return QSize(wide, self.heightForWidth(wide))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.current().px(60), self._line_height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(theme.token(self._colour))
        if not self._folded:
            self._layout(self.width()).draw(painter, QPointF(0, 0))
            return
        painter.setFont(self._font())
        direction = direction_of(self._text)
        side = _RIGHT if direction is Qt.LayoutDirection.RightToLeft else _LEFT
        painter.setLayoutDirection(direction)
        line = painter.fontMetrics().elidedText(
            " ".join(self._text.split()), Qt.TextElideMode.ElideRight, self.width()
        )
        where = side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(self.rect(), where, line)

    def _layout(self, width: int) -> QTextLayout:
        if self._laid is None or self._laid[0] != width:
            self._laid = width, lay_out(self._text, self._font(), width, self._marked, self._mark)
        return self._laid[1]

    def _font(self) -> QFont:
        self.ensurePolished()
        font = QFont(self.font())
        font.setPointSizeF(max(1.0, font.pointSizeF() * self._scale))
        font.setStrikeOut(self._struck)
        return font

    def _line_height(self) -> int:
        return self.fontMetrics().height()

    def _forget(self) -> None:
        self._laid = None
        self.updateGeometry()
        self.update()


def words_between(document: QTextDocument, start: int, end: int) -> QTextCursor:
    """A cursor that selects the characters [start, end) of a document, as Qt counts."""
    cursor = QTextCursor(document)
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    return cursor


def painted_over(words: QTextCursor, look: QTextCharFormat) -> QTextEdit.ExtraSelection:
    """Selected words in another format, which is no change of the text."""
    made = QTextEdit.ExtraSelection()
    made.cursor, made.format = words, look
    return made


def spans_of(pieces: Sequence[TextPiece], kind: str) -> list[Span]:
    """The spans of pieces of a kind in their own wording, without surrounding white space."""
    spans, place = [], 0
    for piece in pieces:
        if piece.kind == kind and piece.text.strip():
            start = place + len(piece.text) - len(piece.text.lstrip())
            spans.append((start, place + len(piece.text.rstrip())))
        if piece.kind in ("same", kind):
            place += len(piece.text)
    return spans


def marked(old: str, new: str) -> str:
    """Both wordings as HTML: removed text struck through, added text underlined."""
    out, put = theme.token("state-disagree-soft").name(), theme.token("state-agreed-soft").name()
    looks = {
        "removed": f"<span style='background:{out};text-decoration:line-through'>{{}}</span>",
        "added": f"<span style='background:{put};text-decoration:underline'>{{}}</span>",
        "same": "{}",
    }
    return "".join(looks[piece.kind].format(escape(piece.text)) for piece in differences(old, new))


def keep_hidden(parent: QWidget, *parts: QWidget) -> None:
    """Hide parts without a parent inside `parent`, so that they are deleted with it."""
    for part in parts:
        if part.parentWidget() is None:
            part.setParent(parent)
            part.hide()


# The character for an object in a document's text.
OBJECT = "\ufffc"
# The space on both sides, in thousandths of an em.
_AIR = 60
_PARTS = re.compile(r"[MLQCZ]|-?\d+")
_NUMBERS = {"M": 2, "L": 2, "Q": 4, "C": 6, "Z": 0}


class Formulas(QPyTextObject):
    """Paints the images of a document that are formulas.

    The document's images are aligned to the middle of the x-height (`vertical-align: middle`). A formula reserves the
    space it needs below its baseline and, unless it is higher than the letters, does not raise the line.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._selected: list[tuple[QTransform, QPainterPath, QColor]] = []

    def serve(self, document: QTextDocument) -> None:
        """Paint this document's formulas from now on.

        Call it once the document is filled: a document with a layout lays itself out again with every piece added.
        """
        document.setLayoutEnabled(False)
        document.documentLayout().registerHandler(QTextFormat.ObjectTypes.ImageObject.value, self)
        document.setLayoutEnabled(True)

    def draw_selected(self, viewport: QWidget) -> None:
        """Paint marked or selected formulas again: Qt has painted the colour over them."""
        if self._selected:
            painter = QPainter(viewport)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for place, outline, colour in self._selected:
                painter.setTransform(place)
                painter.fillPath(outline, colour)
            painter.end()
            self._selected.clear()

    def intrinsicSize(self, document: QTextDocument, position: int, given: QTextFormat) -> QSizeF:
        """The size that Qt distributes around the middle of the x-height."""
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
        """Fill the outline with the text colour, on the text's baseline."""
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
    """The formula of an image; None if it is no formula."""
    return _decoded(look.toImageFormat().name())


def read(document: QTextDocument) -> tuple[str, TextPositions]:
    """A document's text with the sources of formulas in their places, and the positions for it."""
    plain = document.toPlainText()
    if OBJECT not in plain:
        return plain, TextPositions(plain)
    places, parts, objects = TextPositions(plain), list[str](), list[tuple[int, int]]()
    length = before = 0
    for result in re.finditer(OBJECT, plain):
        if source := _source_at(document, places.to_qt(result.start())):
            parts += [plain[before : result.start()], source]
            start = length + result.start() - before
            length, before = start + len(source), result.end()
            objects.append((start, length))
    text = "".join([*parts, plain[before:]])
    return text, TextPositions(text, objects)


def _source_at(document: QTextDocument, position: int) -> str:
    """The source of the formula at a position; empty if there is none."""
    cursor = QTextCursor(document)
    cursor.setPosition(position + 1)
    look = cursor.charFormat()
    words = look.property(QTextFormat.Property.ImageAltText) if look.isImageFormat() else None
    return str(words) if words else ""


_decoded = lru_cache(maxsize=2_048)(Formula.at)


@lru_cache(maxsize=2_048)
def _outline(formula: Formula) -> QPainterPath:
    """The outline as a QPainterPath; unreadable commands are left out."""
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
    """The baseline of the text around a position; Qt itself would centre an object in its line."""
    block = document.findBlock(position)
    line = block.layout().lineForTextPosition(position - block.position())
    if not line.isValid():
        return 0.0
    return document.documentLayout().blockBoundingRect(block).top() + line.y() + line.ascent()


def _em(look: QTextCharFormat) -> float:
    font = look.font()
    return QFontMetrics(font).horizontalAdvance("\u2003") or font.pixelSize() or font.pointSizeF() * 4 / 3


def _scale(document: QTextDocument, look: QTextCharFormat, formula: Formula) -> float:
    """The scale of a formula: 1, or less if it would be wider than the page."""
    room = document.pageSize().width() - 2 * document.documentMargin()
    wide = (formula.width + 2 * _AIR) * _em(look) / EM
    return min(1.0, room / wide) if room > 0 and wide > 0 else 1.0


SPOKEN_LETTERS = 600
# Quotations are stored as Markdown; its marks and link targets are not shown here.
_MARKS = re.compile(r"\]\([^()\s]*\)|[*`#\[\]]+")
# The width of the icon and the button's ends beside the text.
_AROUND = 54
_LEAST = 80


class QuoteButton(Refitting, QPushButton):
    """As wide as its text if there is space, elided otherwise. `tail` (a page) is never elided."""

    def __init__(self, role: str, hint: str) -> None:
        super().__init__()
        self._quote, self._tail, self._hint = "", "", hint
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        chips.put(self, "quote", 14)

    def show_quote(self, quote: str, tail: str = "") -> None:
        self._quote, self._tail = " ".join(_MARKS.sub("", quote).split()), tail
        short = self._quote if len(self._quote) <= SPOKEN_LETTERS else f"{self._quote[:SPOKEN_LETTERS]}…"
        with_properties(
            self,
            toolTip=tooltip(f"“{short}”{tail}\n{self._hint}"),
            accessibleName=f"Quotation: {short}{tail}",
        )
        self.refit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        words = self.fontMetrics().horizontalAdvance(f"“{self._quote[:SPOKEN_LETTERS]}”{self._tail}")
        return QSize(words + theme.current().px(_AROUND), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.current().px(_LEAST), super().minimumSizeHint().height())

    def refit(self) -> None:
        metrics, room = self.fontMetrics(), self.width() - theme.current().px(_AROUND)
        shown = self._quote
        if metrics.horizontalAdvance(f"“{shown}”{self._tail}") > room:
            rest = room - metrics.horizontalAdvance(f"“ ”{self._tail}")
            shown = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, rest)
        self.setText(f"“{shown}”{self._tail}".replace("&", "&&"))
