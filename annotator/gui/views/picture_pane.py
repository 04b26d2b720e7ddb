"""Picture of a view or of the chosen cell, drawn on another thread."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QPoint, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QSizePolicy, QWidget

from annotator.actions.results import result_pictures
from annotator.actions.results.result_pictures import Dots, Ink
from annotator.actions.results.result_sheets import SheetPicture
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.later import later

_TOKENS = ("window", "text", "text-muted", "border", "accent")

# Anyone who walks through cells, or drags a divider, does not wait for every picture on the way.
SETTLE_MS = 120
PER_INCH = 96
# Narrower than this, letters are in one another's way; wider, a picture is only larger.
LEAST_INCHES, MOST_INCHES = 4.2, 8.6


class PicturePane(QWidget):
    """A list of pictures above the picture itself."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._pictures: tuple[SheetPicture, ...] = ()
        self._drawing = 0
        self._soon = later(self, self._draw, SETTLE_MS)
        self.list = ChoiceBox()
        self.list.setAccessibleName("Picture")
        self.list.keep_short(18)
        self.list.currentIndexChanged.connect(lambda _: self._soon.start())
        label = QLabel("Pi&cture")
        label.setBuddy(self.list)
        head = horizontal(label, (self.list, 1))
        self.view = PictureView("The picture")
        self.none = PlainLabel("There is nothing to draw here.", "hint")
        self.view.resized.connect(self._soon.start)
        vertical(head, self.none, (self.view, 1), on=self, margins=(0, 4, 4, 0), spacing=4)
        theme.scale(self.setMinimumWidth, 280)
        theme.watch(self, self._soon.start)

    def offer(self, pictures: Sequence[SheetPicture]) -> None:
        """Offer other pictures; one of the name shown before stays chosen."""
        kept = self.list.currentData()
        self._pictures = tuple(pictures)
        with QSignalBlocker(self.list):
            self.list.clear()
            for picture in pictures:
                self.list.addItem(picture.title, picture.name)
            self.list.setCurrentIndex(max(0, self.list.findData(kept)) if pictures else -1)
        self.list.setEnabled(len(pictures) > 1)
        self.none.setVisible(not pictures)
        if not pictures:
            self.view.show_image(None)
        self._soon.start()

    def choose(self, name: str) -> None:
        """Show the picture of that name, where there is one."""
        place = self.list.findData(name) if name else -1
        if place >= 0:
            self.list.setCurrentIndex(place)

    def picture(self) -> SheetPicture | None:
        place = self.list.currentIndex()
        return self._pictures[place] if 0 <= place < len(self._pictures) else None

    def _draw(self) -> None:
        picture = self.picture()
        if picture is None or not self.isVisible():
            return
        self._drawing += 1
        wanted, zoom = self._drawing, theme.current().zoom / 100
        room = self.view.viewport().width() - 4
        inches = min(MOST_INCHES, max(LEAST_INCHES, room / (PER_INCH * zoom)))
        # The letters are of one size however wide the picture is, and sharp on any screen.
        dots = PER_INCH * zoom * self.devicePixelRatioF()
        colours = ink(inches)

        def show(drawn: Dots) -> None:
            if wanted == self._drawing:
                self._show(drawn, picture.title)

        self._desk.ask_later(show, result_pictures.dots, picture, colours, dots)

    def _show(self, drawn: Dots, title: str) -> None:
        form = QImage.Format.Format_RGBA8888
        image = QImage(drawn.rgba, drawn.width, drawn.height, 4 * drawn.width, form).copy()
        self.view.show_image(image, title)

    def stop(self) -> None:
        self._drawing += 1
        self._soon.stop()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._soon.start()


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
        return self._sheet.image

    def show_image(self, image: QImage | None, words: str = "") -> None:
        """Show another picture, or none; `words` say what it shows to anyone who cannot see it."""
        self._sheet.image = image
        self._sheet.setAccessibleName(words)
        self._sheet.updateGeometry()
        self._sheet.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
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


def ink(width: float | None = None) -> Ink:
    """The window's own colours, for a picture so many inches wide."""
    paper, text, faint, grid, mark = (theme.token(name).name() for name in _TOKENS)
    made = Ink(paper, text, faint, grid, mark)
    return made if width is None else replace(made, width=width)
