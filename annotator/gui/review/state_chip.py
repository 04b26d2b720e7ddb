"""State chip: icon, word and colour."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from annotator.gui import theme
from annotator.gui.widgets.icons import pixmap

_ICON, _PAD, _GAP, _SMALL = 13, 8, 5, 0.9


class StateChip(QWidget):
    """One state at a time; `state` is the end of a colour's name in the theme (agreed, missing …)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._icon, self._state = "", "new", "missing"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.watch(self, self.updateGeometry)

    def show_state(self, words: str, icon: str, state: str) -> None:
        self._words, self._icon, self._state = words, icon, state
        self.setAccessibleName(words)
        self.updateGeometry()
        self.update()

    def words(self) -> str:
        return self._words

    def sizeHint(self) -> QSize:
        px, metrics = theme.current().px, QFontMetrics(self._small())
        wide = 2 * px(_PAD) + self._beside() + metrics.horizontalAdvance(self._words)
        return QSize(wide, metrics.height() + px(4))

    def paintEvent(self, _event: QPaintEvent) -> None:
        px, painter = theme.current().px, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.token(f"state-{self._state}-soft"))
        painter.drawRoundedRect(QRectF(self.rect()), self.height() / 2, self.height() / 2)
        if self._icon:
            picture = pixmap(self._icon, px(_ICON), f"state-{self._state}", self.devicePixelRatioF())
            painter.drawPixmap(px(_PAD), (self.height() - px(_ICON)) // 2, picture)
        painter.setPen(theme.token(f"state-{self._state}"))
        painter.setFont(self._small())
        left = px(_PAD) + self._beside()
        painter.drawText(self.rect().adjusted(left, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._words)

    def _beside(self) -> int:
        """What the icon takes, where there is one."""
        px = theme.current().px
        return px(_ICON) + px(_GAP) if self._icon else 0

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(max(1.0, font.pointSizeF() * _SMALL))
        font.setWeight(QFont.Weight.DemiBold)
        return font
