"""Text of any script with highlights; cheap enough for a hundred at once."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from annotator.domain.texts.difference import TextPiece
from annotator.gui import theme
from annotator.gui.widgets.basics import tooltip
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.reading.units import TextPositions

# Words [start, end) of a text, counted in Python's characters.
Span = tuple[int, int]
LINE_END = "\u2028"
_RIGHT, _LEFT = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft


def lay_out(
    text: str, font: QFont, width: float, marked: Sequence[Span] = (), mark: str = "state-disagree"
) -> QTextLayout:
    """A text broken into lines of a width, in the direction of its own script; `mark` is a colour with a soft one."""
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
    look, places = QTextCharFormat(), TextPositions(text)
    look.setBackground(theme.token(f"{mark}-soft"))
    look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    look.setUnderlineColor(theme.token(mark))
    made = []
    for start, end in marked:
        part = QTextLayout.FormatRange()
        part.start = places.to_qt(start)
        part.length = places.to_qt(end) - part.start
        part.format = look
        made.append(part)
    return made


class MarkedText(QWidget):
    """As high as its lines, or one line that ends in … while it is folded."""

    def __init__(self, scale: float = 1.0, colour: str = "text", mark: str = "state-disagree") -> None:
        super().__init__()
        self._scale, self._colour, self._mark = scale, colour, mark
        self._text = ""
        self._marked: Sequence[Span] = ()
        self._struck = False
        self._folded = False
        self._laid: tuple[int, QTextLayout] | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.watch(self, self._forget)

    def text(self) -> str:
        return self._text

    def marked(self) -> list[str]:
        return [self._text[start:end] for start, end in self._marked]

    def show_text(self, text: str, marked: Sequence[Span] = (), *, struck: bool = False) -> None:
        """Show other words, some of them marked, or all of them struck out."""
        self._text, self._marked, self._struck = text, tuple(marked), struck
        self.setAccessibleName(text)
        self._forget()

    def fold(self, folded: bool) -> None:
        """Show one line, with the whole in the tooltip, or all lines."""
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
        font = self._font()
        painter.setFont(font)
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


def spans_of(pieces: Sequence[TextPiece], kind: str) -> list[Span]:
    """Where the pieces of a kind stand in their own wording, without the white space around them."""
    spans, place = [], 0
    for piece in pieces:
        if piece.kind == kind and piece.text.strip():
            start = place + len(piece.text) - len(piece.text.lstrip())
            spans.append((start, place + len(piece.text.rstrip())))
        if piece.kind in ("same", kind):
            place += len(piece.text)
    return spans


def keep_hidden(parent: QWidget, *parts: QWidget) -> None:
    """Parts that were given no place stay hidden inside `parent`, so that they go with it."""
    for part in parts:
        if part.parentWidget() is None:
            part.setParent(parent)
            part.hide()
