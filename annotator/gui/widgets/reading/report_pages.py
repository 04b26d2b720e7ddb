"""Pages of a report: safe HTML at once or in slices, plain text in pages; nothing is loaded from outside."""

from bisect import bisect_right
from typing import Any

from PySide6.QtCore import QSizeF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QImage,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QTextEdit, QToolButton, QWidget

from annotator.domain.texts.formula import SCHEME
from annotator.domain.texts.rendered import CUT, with_breaks
from annotator.gui import keys, theme
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal
from annotator.gui.widgets.fields.number_box import NumberBox
from annotator.gui.widgets.reading import report_style as style
from annotator.gui.widgets.reading.formulas import Formulas, read
from annotator.gui.widgets.reading.report_loading import LayingOut, Loading, empty_document, position_at
from annotator.gui.widgets.reading.units import TextPositions

# A document of this many characters of HTML is made at once, a longer one in slices.
AT_ONCE = 40_000
PAGE = 20_000
_SURELY_SCROLLS = 8_000
_MARGIN = 14
_ZOOM_MIN, _ZOOM_MAX, _ZOOM_STEP = 60, 300, 10


class ReportPages(QTextBrowser):
    """Shows one text at a time. Every offset is one into `text()`, counted in Python's characters."""

    link_clicked = Signal(str)
    """The full address of a link that was pressed; nothing is opened."""
    loaded = Signal()
    """The whole text is there: `text()` and marks cost nothing from now on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._html = ""
        self._plain: str | None = None
        self._loading: Loading | None = None
        self._shown: QTextDocument | None = None
        self._text: str | None = ""
        self._places = TextPositions("")
        self._pages: list[int] = [0]
        self._page = 0
        self._zoom = 100
        self._held: tuple[int, int] | None = None
        self._formulas = Formulas(self)
        self.setProperty("role", "report")
        self.setAccessibleName("Report")
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextBrowserInteraction | flags.TextSelectableByKeyboard)
        self.anchorClicked.connect(self._pressed)
        self._bar = PageBar(self)
        self._bar.chosen.connect(self.show_page)
        self._bar.hide()
        theme.watch(self, self._dress)

    def show_html(self, html: str) -> None:
        """Show sanitised HTML, in pieces where it is cut by `rendered.CUT`; `loaded` tells when all is there."""
        self._begin(html, None)
        self._loading = Loading(self._new_document(), html.split(CUT))
        self._loading.finished.connect(self._loaded)
        if len(html) <= AT_ONCE:
            self._loading.finish()
        else:
            self._loading.start()

    def show_plain(self, text: str) -> None:
        """Show text as it is, in pages when it is long."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        self._begin("", with_breaks(lines))
        self._complete()

    @property
    def loading(self) -> bool:
        """Whether the text is still coming; `loaded` tells when all is there."""
        return self._loading is not None

    def text(self) -> str:
        """The whole text, as offsets count it; finishes loading when need be."""
        if self._loading is not None:
            self._loading.finish()
        if self._text is None:
            raw = self._plain
            self._text, self._places = read(self.document()) if raw is None else (raw, TextPositions(raw))
        return self._text

    def show_page(self, page: int) -> None:
        """Turn to a page of a long plain text, counted from 0."""
        assert self._plain is not None
        self._page = max(0, min(page, len(self._pages) - 1))
        document = self._new_document()
        document.setPlainText(self._plain[self._pages[self._page] : self._page_end()])
        self._take(document)
        self._bar.show_place(self._page, len(self._pages))
        self.paint_marks()

    @property
    def pages(self) -> int:
        """How many pages the text has; 1 unless it is a long plain text."""
        return len(self._pages)

    def zoom_text(self, step: int) -> None:
        """Make only this text larger (1) or smaller (-1), or as all the rest is (0)."""
        wanted = self._zoom + step * _ZOOM_STEP if step else 100
        self._zoom = max(_ZOOM_MIN, min(_ZOOM_MAX, wanted))
        self._dress()

    def paint_marks(self) -> None:
        """Paint what heirs mark in the words that are shown now."""

    def loadResource(self, _kind: int, _name: QUrl | str) -> Any:
        """One transparent dot for whatever is asked for.

        Were nothing returned, Qt would open the path itself: files, devices, network shares.
        """
        dot = QImage(1, 1, QImage.Format.Format_ARGB32)
        dot.fill(Qt.GlobalColor.transparent)
        return dot

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab leaves the report; it does not stop at every link of it."""
        return QTextEdit.focusNextPrevChild(self, forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space turns a screen further, Enter presses the link at the cursor, page keys go on to the next page."""
        key, plain = event.key(), keys.plain(event)
        if key == Qt.Key.Key_Space:
            self._screen(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._link_at_cursor():
            self._pressed(QUrl(self._link_at_cursor()))
        elif plain and key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp) and len(self._pages) > 1:
            self._screen(1 if key == Qt.Key.Key_PageDown else -1)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl the wheel makes the text larger or smaller."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_text(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._formulas.draw_selected(self.viewport())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the words at the top where they are, and the page bar at the foot."""
        top = self._top()
        super().resizeEvent(event)
        self._place_bar()
        if event.size().width() != event.oldSize().width():
            self._hold(top)

    def _begin(self, html: str, plain: str | None) -> None:
        if self._loading is not None:
            self._loading.stop()
            self._loading.document.deleteLater()
            self._loading = None
        self._html, self._plain = html, plain
        self._text, self._places = None, TextPositions("")
        self._held = None
        self._pages, self._page = [0] if plain is None else _page_starts(plain), 0
        self._place_bar()

    def _complete(self) -> None:
        if self._plain is not None:
            self.show_page(self._page)
        self.paint_marks()
        self.loaded.emit()

    def _loaded(self) -> None:
        assert self._loading is not None
        document, self._loading = self._loading.document, None
        self._take(document)
        LayingOut(document)
        self._complete()

    def _new_document(self) -> QTextDocument:
        px = theme.current().px
        font = self.font()
        font.setPointSizeF(theme.current().points * self._zoom / 100)
        return empty_document(self, style.style_sheet(), font, px(_MARGIN))

    def _take(self, document: QTextDocument) -> None:
        """Show another document; Qt deletes the one it began with, the others are ours.

        A long one gets its scroll bar and its width first: otherwise it would be laid out three times.
        """
        policy, long = Qt.ScrollBarPolicy, document.characterCount() > _SURELY_SCROLLS
        self.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOn if long else policy.ScrollBarAsNeeded)
        if f'"{SCHEME}:' in self._html:
            self._formulas.serve(document)
        document.setPageSize(QSizeF(self.viewport().width(), -1))
        before, self._shown = self._shown, document
        self.setDocument(document)
        if before is not None:
            before.deleteLater()

    def _top(self) -> int:
        """Which character stands at the top, as the document counts; 0 where nothing was scrolled.

        What was held there before still is, or resizing would wander off by a line each time.
        """
        value = self.verticalScrollBar().value()
        if self._held is None or self._held[1] != value:
            self._held = (position_at(self.document(), value) if value else 0, value)
        return self._held[0]

    def _hold(self, top: int) -> None:
        """Have a character at the top again."""
        bar, cursor = self.verticalScrollBar(), QTextCursor(self.document())
        if top:
            cursor.setPosition(min(top, self.document().characterCount() - 1))
            place = bar.value() + self.cursorRect(cursor).top()
            if place > bar.maximum():
                self._lay_out_to_the_end()
            bar.setValue(place)
        self._held = (top, bar.value())

    def _dress(self) -> None:
        """Make the text again in other colours or sizes, at the place where it was."""
        top = self._top()
        self._make_again()
        self.text()
        self.paint_marks()
        self._held = None
        self._hold(top)

    def _make_again(self) -> None:
        if self._plain is not None:
            self.show_page(self._page)
        else:
            self.show_html(self._html)

    def _lay_out_to_the_end(self) -> None:
        """Have the scroll bar know the whole length now; by itself it learns of it some time after the layout."""
        layout = self.document().documentLayout()
        layout.documentSizeChanged.emit(layout.documentSize())

    def _page_end(self) -> int:
        after = self._page + 1
        return self._pages[after] if after < len(self._pages) else len(self.text())

    def _turn_to(self, offset: int) -> None:
        page = bisect_right(self._pages, offset) - 1
        if page != self._page:
            self.show_page(page)

    def _screen(self, way: int) -> None:
        """A screen further or back; past the end of a page, the next one."""
        bar = self.verticalScrollBar()
        before = bar.value()
        bar.setValue(before + way * bar.pageStep())
        if bar.value() == before and 0 <= self._page + way < len(self._pages):
            self.show_page(self._page + way)
            bar.setValue(0 if way > 0 else bar.maximum())

    def _link_at_cursor(self) -> str:
        return self.textCursor().charFormat().anchorHref()

    def _pressed(self, url: QUrl) -> None:
        self.link_clicked.emit(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))

    def _place_bar(self) -> None:
        shown = len(self._pages) > 1
        height = self._bar.sizeHint().height() if shown else 0
        if self.viewportMargins().bottom() != height:
            self.setViewportMargins(0, 0, 0, height)
        self._bar.setVisible(shown)
        if shown:
            frame = self.frameWidth()
            self._bar.setGeometry(frame, self.height() - height - frame, self.width() - 2 * frame, height)


def _page_starts(text: str) -> list[int]:
    """Where pages of about 20 000 characters begin, each at the start of a line where there is one near."""
    starts = [0]
    while len(text) - starts[-1] > PAGE * 3 // 2:
        least, most = starts[-1] + PAGE // 2, starts[-1] + PAGE
        line = text.rfind("\n", least, most)
        starts.append(line + 1 if line >= 0 else most)
    return starts


class PageBar(QFrame):
    """Previous, an editable page number, the total, next."""

    chosen = Signal(int)
    """A page, counted from 0."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._back, self._on, self._number, self._of = QToolButton(), QToolButton(), NumberBox(), PlainLabel()
        self._number.setAccessibleName("Page")
        self._number.setKeyboardTracking(False)
        for button, name, picture, way in (
            (self._back, "Page before", "left", -1),
            (self._on, "Page after", "right", 1),
        ):
            icons.put(button, picture)
            button.setToolTip(name)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _=False, way=way: self._number.setValue(self._number.value() + way))
        row = horizontal(StretchSpace(1), on=self, margins=(8, 4, 8, 4))
        for widget in (self._back, PlainLabel("Page"), self._number, self._of, self._on):
            row.addWidget(widget)
        row.addStretch(1)
        self._number.valueChanged.connect(lambda number: self.chosen.emit(number - 1))

    def show_place(self, page: int, pages: int) -> None:
        """Show that this page, counted from 0, of so many is in view; tells nobody."""
        blocked = self._number.blockSignals(True)
        self._number.setRange(1, max(1, pages))
        self._number.setValue(page + 1)
        self._number.blockSignals(blocked)
        self._of.setText(f"of {pages}")
        self._back.setEnabled(page > 0)
        self._on.setEnabled(page < pages - 1)
