"""Label that elides its text and shows the whole in its tooltip."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyleOption, QWidget

from annotator.gui.widgets.basics import PlainLabel, tooltip
from annotator.gui.widgets.fields.growing_edit import direction_of

_LEAST_LETTERS = 6


class ElidedLabel(PlainLabel):
    """A label of one line; line breaks in its text are shown as spaces."""

    _whole = ""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__("", role, parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        before, self._whole = self._whole, " ".join(text.split())
        if before and self._whole and self.sizePolicy().horizontalPolicy() == QSizePolicy.Policy.Ignored:
            # Other words need the same room: what lies around them is not laid out again.
            self.update()
        else:
            super().setText(self._whole)
        self.setAccessibleName(self._whole)
        self._explain()

    def text(self) -> str:
        return self._whole

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        return QSize(self.fontMetrics().averageCharWidth() * _LEAST_LETTERS, hint.height())

    def elided(self) -> str:
        return self.fontMetrics().elidedText(
            self._whole, Qt.TextElideMode.ElideRight, self.contentsRect().width()
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._explain()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the frame of the style sheet and as much of the text as there is room for."""
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.setLayoutDirection(direction_of(self._whole))
        where = self.alignment() | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(self.contentsRect(), int(where), self.elided())

    def _explain(self) -> None:
        self.setToolTip(tooltip(self._whole) if self.elided() != self._whole else "")
