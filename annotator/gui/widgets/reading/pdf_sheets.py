"""Pages of a PDF: one below the other, drawn when they come into view, at a zoom."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from annotator.gui import theme
from annotator.gui.widgets.later import later
from annotator.gui.widgets.reading.pdf_layout import GAP, PageLayout, UnreadablePdf

if TYPE_CHECKING:
    from annotator.gui.widgets.reading.pdf_pages import PdfPages

_ZOOM_MIN, _ZOOM_MAX, _ZOOM_STEP = 50, 400, 10


class PdfSheets(QAbstractScrollArea):
    """The pages of one PDF. Pages are counted from 1 in all that is told."""

    page_changed = Signal(int, int)
    """The page in view and how many there are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: PdfPages | None = None
        self._open: list[PdfPages] = []
        self._message = ""
        self._zoom = 100
        self._layout = PageLayout((), 0, 100)
        self._broken: dict[int, str] = {}
        self._shown_page = 0
        self.setProperty("role", "report")
        self.setAccessibleName("PDF")
        self._draw_later = later(self, self._draw_one, 0)
        self.verticalScrollBar().valueChanged.connect(self._tell_page)
        theme.watch(self, self._arrange)
        self.destroyed.connect(partial(_close_all, self._open))

    def show_pdf(self, data: bytes) -> bool:
        """Show a PDF from its bytes; False, with the reason in its place, when it cannot be read."""
        from annotator.gui.widgets.reading.pdf_pages import PdfPages

        self.clear()
        try:
            self._pages = PdfPages(data)
        except UnreadablePdf as reason:
            self.show_message(str(reason))
            return False
        self._open.append(self._pages)
        self._arrange()
        self._tell_page()
        return True

    def show_message(self, words: str) -> None:
        self.clear()
        self._message = words
        self.setAccessibleDescription(words)
        self.viewport().update()

    def clear(self) -> None:
        _close_all(self._open)
        self._pages, self._message, self._broken, self._shown_page = None, "", {}, 0
        self._arrange()

    @property
    def message(self) -> str:
        """Why there are no pages; empty when there are."""
        return self._message

    @property
    def page(self) -> int:
        middle = self.verticalScrollBar().value() + self.viewport().height() / 3
        return self._layout.page_at(middle) + 1 if self.count else 0

    @property
    def count(self) -> int:
        return len(self._pages.sizes) if self._pages else 0

    def go_to_page(self, page: int) -> None:
        if self._pages and 1 <= page <= self.count:
            self.verticalScrollBar().setValue(round(self._layout.top(page - 1)) - GAP // 2)

    def zoom(self, step: int) -> None:
        """Larger (1), smaller (-1), or as wide as the view (0)."""
        wanted = self._zoom + step * _ZOOM_STEP if step else 100
        self._zoom = max(_ZOOM_MIN, min(_ZOOM_MAX, wanted))
        self._arrange()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw what is in view; pages not yet made are white until their turn comes."""
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), theme.token("sunken"))
        if self._pages is None:
            painter.setPen(theme.token("text"))
            box = self.viewport().rect().adjusted(24, 24, -24, -24)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), self._message)
            return
        for place in self._in_view():
            self._draw_page(painter, place)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def scrollContentsBy(self, _across: int, _down: int) -> None:
        self.viewport().update()

    def paint_over(self, painter: QPainter, place: int, box: QRectF) -> None:
        """Draw over a page, counted from 0, what heirs show on it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl the wheel makes the pages larger or smaller."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
        else:
            super().wheelEvent(event)

    def _arrange(self) -> None:
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        place = down.value() / max(1, down.maximum())
        sizes = self._pages.sizes if self._pages else ()
        seen = self.viewport().size()
        self._layout = PageLayout(sizes, seen.width(), self._zoom)
        whole = self._layout.whole
        for bar, length, room in (
            (across, whole.width(), seen.width()),
            (down, whole.height(), seen.height()),
        ):
            bar.setPageStep(room)
            bar.setSingleStep(theme.current().px(24))
            bar.setRange(0, max(0, round(length) - room))
        down.setValue(round(place * down.maximum()))
        self.viewport().update()

    def _in_view(self) -> range:
        top = self.verticalScrollBar().value()
        return self._layout.between(top, top + self.viewport().height())

    def _page_box(self, place: int) -> QRectF:
        return self._layout.box(place, self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _draw_page(self, painter: QPainter, place: int) -> None:
        assert self._pages is not None
        box = self._page_box(place)
        picture = self._pages.kept_picture(place, self._sharpness())
        if picture is None:
            painter.fillRect(box, Qt.GlobalColor.white)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self._broken.get(place, ""))
            if place not in self._broken:
                self._draw_later.start()
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(box, picture)
        self.paint_over(painter, place, box)
        painter.setPen(theme.token("border"))
        painter.drawRect(box)

    def _draw_one(self) -> None:
        """Make one missing picture, then let the window go on before the next."""
        for place in self._in_view():
            if self._pages is None or place in self._broken:
                continue
            if self._pages.kept_picture(place, self._sharpness()) is None:
                try:
                    self._pages.picture(place, self._sharpness())
                except UnreadablePdf as reason:
                    self._broken[place] = str(reason)
                self.viewport().update()
                return

    def _sharpness(self) -> float:
        return self._layout.scale * self.devicePixelRatioF()

    def _tell_page(self) -> None:
        if self._pages is not None and self.page != self._shown_page:
            self._shown_page = self.page
            self.page_changed.emit(self.page, self.count)


def _close_all(pages: "list[PdfPages]") -> None:
    while pages:
        pages.pop().close()
