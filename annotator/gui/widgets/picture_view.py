"""Picture viewer: as wide as there is room, scrolled where it is taller."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget


class PictureView(QScrollArea):
    """Shows one picture; `resized` asks for it in another width."""

    resized = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        self._sheet = _Sheet()
        self.setWidget(self._sheet)

    @property
    def image(self) -> QImage | None:
        """The picture in view."""
        return self._sheet.image

    def show_image(self, image: QImage | None, words: str = "") -> None:
        """Show another picture, or none; `words` say what it shows to anyone who cannot see it."""
        self._sheet.image = image
        self._sheet.setAccessibleName(words)
        self._sheet.updateGeometry()
        self._sheet.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell of another width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.resized.emit()


class _Sheet(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.image: QImage | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        image = self.image
        return (
            round(image.height() * min(1.0, width / image.width() * self._ratio()) / self._ratio())
            if image
            else 0
        )

    def sizeHint(self) -> QSize:
        return self.image.size() / self._ratio() if self.image else QSize(200, 120)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 80)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the picture at the top, smaller where it was drawn for more room."""
        if self.image is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        size = self.image.size() / self._ratio()
        if size.width() > self.width():
            size = size.scaled(self.width(), size.height(), Qt.AspectRatioMode.KeepAspectRatio)
        painter.drawImage(QRect(QPoint(0, 0), size), self.image)

    def _ratio(self) -> float:
        return self.devicePixelRatioF()
