"""Report viewer: words are found, selected, quoted and marked."""

import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QMimeData, QObject, QRect, QSizeF, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QWidget

from annotator.domain.texts.rendered import CUT, SCHEME, with_breaks
from annotator.gui import keys, theme
from annotator.gui.widgets import chips
from annotator.gui.widgets.basics import (
    PlainLabel,
    RoleFrame,
    StretchSpace,
    horizontal,
    later,
    with_properties,
)
from annotator.gui.widgets.fields import NumberBox, TextBox
from annotator.gui.widgets.reading.marked_text import (
    OBJECT,
    Formulas,
    TextPositions,
    painted_over,
    read,
    words_between,
)

SLICE_S = 0.008
STEP = 2_000
# The first screen is painted before the rest is laid out.
PAINTED_MS = 25
_TAG = re.compile(r"<(\w+)>?")


class Slices(QObject):
    """Does work on a document step by step while the window is idle; `finished` is emitted at its end."""

    finished = Signal()

    def __init__(self, document: QTextDocument, steps: Iterator[None]) -> None:
        super().__init__(document)
        self.document, self._steps = document, steps
        self._timer = later(self, self._slice, 0, again=True)

    def start(self) -> None:
        self._timer.start()

    def stop(self) -> None:
        """Stop; nothing is emitted afterwards."""
        self._timer.stop()

    def finish(self) -> None:
        """Do all that is left now."""
        for _ in self._steps:
            pass
        self._end()

    def _slice(self) -> None:
        until = time.perf_counter() + SLICE_S
        for _ in self._steps:
            if time.perf_counter() >= until:
                return
        self._end()

    def _end(self) -> None:
        self._timer.stop()
        self.finished.emit()


def filling(document: QTextDocument, pieces: Sequence[str]) -> Iterator[None]:
    """Fill an invisible document piece by piece as if the whole HTML had been set at once.

    A piece begins with a paragraph, a heading, or the next part of a table that ended the piece before.
    """
    formats: dict[str, QTextBlockFormat] = {}
    for place, piece in enumerate(pieces):
        html = piece.strip()
        if not place:
            document.setHtml(html)
        else:
            cursor = QTextCursor(document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            if (tag := _TAG.match(html)) and tag[1] != "table":
                formats[tag[1]] = formats.get(tag[1]) or _format_of(document, tag[1])
                cursor.insertBlock(formats[tag[1]], QTextCharFormat())
            cursor.insertHtml(html)
        yield


def _format_of(document: QTextDocument, tag: str) -> QTextBlockFormat:
    """The format of a block by its tag: the first block of inserted HTML gets none."""
    sample = QTextDocument()
    sample.setDefaultStyleSheet(document.defaultStyleSheet())
    sample.setHtml(f"<{tag}>x</{tag}>")
    return sample.begin().blockFormat()


def laying_out(document: QTextDocument) -> Iterator[None]:
    """Lay out a document a part at a time; Qt alone would take ever larger ones."""
    layout, last = document.documentLayout(), document.characterCount() - 1
    for reached in (*range(STEP, last, STEP), last):
        layout.blockBoundingRect(document.findBlock(reached))
        yield


def empty_document(parent: QObject, sheet: str, font: QFont, margin: int) -> QTextDocument:
    """A document to be filled; its parent answers requests for resources."""
    made = QTextDocument(parent)
    made.setUndoRedoEnabled(False)
    made.setDefaultStyleSheet(sheet)
    made.setDefaultFont(font)
    made.setDocumentMargin(margin)
    return made


def position_at(document: QTextDocument, height: float) -> int:
    """The first character of the line at a height, as a document position.

    `cursorForPosition` returns the document's end while what follows is not laid out.
    """
    layout, first, last = document.documentLayout(), 0, 1
    while last < document.blockCount() - 1 and _ends(document, last) <= height:
        first, last = last, 2 * last
    last = min(last, document.blockCount() - 1)
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if _ends(document, middle) > height else (middle + 1, last)
    block = document.findBlockByNumber(first)
    top = layout.blockBoundingRect(block).top()
    lines = (block.layout().lineAt(place) for place in range(block.layout().lineCount()))
    start = next((line.textStart() for line in lines if top + line.rect().bottom() > height), 0)
    return block.position() + start


def _ends(document: QTextDocument, number: int) -> float:
    return document.documentLayout().blockBoundingRect(document.findBlockByNumber(number)).bottom()


_Line = QTextCharFormat.UnderlineStyle
# Kind of mark → colour name and underline, so that no kind is recognised by colour alone.
MARKS: dict[str, tuple[str, _Line]] = {
    "evidence": ("mark-evidence", _Line.SingleUnderline),
    "kept": ("mark-kept", _Line.DashDotLine),
    "judge": ("mark-judge", _Line.DashUnderline),
    "other": ("mark-other", _Line.DotLine),
    "find": ("mark-find", _Line.NoUnderline),
    "find-current": ("mark-find-current", _Line.WaveUnderline),
}
_SHEET = """
p, li { line-height: 135%%; }
p { margin-top: 0px; margin-bottom: %(gap)spx; }
h1 { font-size: x-large; margin-top: %(above)spx; margin-bottom: %(gap)spx; }
h2 { font-size: large; margin-top: %(above)spx; margin-bottom: %(gap)spx; }
h3, h4, h5, h6 { font-size: medium; margin-top: %(above)spx; margin-bottom: %(small)spx; }
ul, ol { margin-top: 0px; margin-bottom: %(gap)spx; }
li { margin-bottom: %(small)spx; }
img { vertical-align: middle; }
a { color: %(link)s; text-decoration: underline; }
table { border-collapse: collapse; border-style: solid; border-color: %(border)s;
  margin-top: %(small)spx; margin-bottom: %(gap)spx; }
th { background-color: %(sunken)s; font-weight: 600; }
code { font-family: '%(mono)s'; background-color: %(code)s; }
pre { font-family: '%(mono)s'; background-color: %(code)s; white-space: pre-wrap; margin-top: %(small)spx;
  margin-bottom: %(gap)spx; }
blockquote { color: %(muted)s; margin-left: %(indent)spx; margin-top: 0px; margin-bottom: %(gap)spx; }
"""


def style_sheet() -> str:
    """The style sheet of a report's document in the current colours and sizes."""
    px = theme.current().px
    return _SHEET % {
        "gap": px(9),
        "small": px(4),
        "above": px(16),
        "indent": px(18),
        "link": theme.token("link").name(),
        "border": theme.token("border-strong").name(),
        "sunken": theme.token("sunken").name(),
        "code": theme.token("code").name(),
        "muted": theme.token("text-muted").name(),
        "mono": QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family(),
    }


def mark_format(kind: str) -> QTextCharFormat:
    """The format of words marked as a kind; KeyError for an unknown kind."""
    colour, line = MARKS[kind]
    look = QTextCharFormat()
    look.setBackground(theme.token(colour))
    look.setForeground(theme.token("on-mark"))
    look.setUnderlineStyle(line)
    look.setUnderlineColor(theme.token("on-mark"))
    return look


# HTML of up to this many characters is loaded at once, longer HTML in slices.
AT_ONCE = 40_000
PAGE = 20_000
_SURELY_SCROLLS = 8_000
_ZOOM_MIN, _ZOOM_MAX, _ZOOM_STEP = 60, 300, 10


@dataclass(frozen=True, slots=True)
class Mark:
    """Words [start, end) of the text, marked as a kind of `MARKS`."""

    start: int
    end: int
    kind: str


class ReportView(QTextBrowser):
    """A report with marks, selection and search. All offsets are into `text()`, in Python characters."""

    link_clicked = Signal(str)
    """The full address of a clicked link; nothing is opened."""
    loaded = Signal()
    """The whole text is loaded: from now on `text()` and marks are fast."""
    marked_words = Signal()
    """The selection changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._html = ""
        self._plain: str | None = None
        self._loading: Slices | None = None
        self._shown: QTextDocument | None = None
        self._text: str | None = ""
        self._places = TextPositions("")
        self._pages: list[int] = [0]
        self._page = 0
        self._zoom = 100
        self._held: tuple[int, int] | None = None
        self._formulas = Formulas(self)
        with_properties(self, role="report", accessibleName="Report", openLinks=False, undoRedoEnabled=False)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextBrowserInteraction | flags.TextSelectableByKeyboard)
        self.anchorClicked.connect(self._pressed)
        self._bar = PageBar(self)
        self._bar.chosen.connect(self.show_page)
        self._bar.hide()
        theme.watch(self, self._restyle)
        self._marks: list[Mark] = []
        self._moments: Sequence[tuple[int, str]] = ()
        self.selectionChanged.connect(self.marked_words)

    def show_html(self, html: str) -> None:
        """Show sanitised HTML, in the pieces separated by `rendered.CUT`; `loaded` is emitted at the end."""
        self._begin(html, None)
        document = self._new_document()
        self._loading = Slices(document, filling(document, html.split(CUT)))
        self._loading.finished.connect(self._loaded)
        if len(html) <= AT_ONCE:
            self._loading.finish()
        else:
            self._loading.start()

    def show_plain(self, text: str, moments: Sequence[tuple[int, str]] = ()) -> None:
        """Show plain text; each of the `moments`, in text order, is printed beside the line of its offset."""
        self._moments = moments
        self._begin("", with_breaks(text.replace("\r\n", "\n").replace("\r", "\n")))
        self._complete()

    @property
    def loading(self) -> bool:
        """Whether loading is in progress; `loaded` is emitted at the end."""
        return self._loading is not None

    def text(self) -> str:
        """The whole text that offsets refer to; finishes loading if necessary."""
        if self._loading is not None:
            self._loading.finish()
        if self._text is None:
            raw = self._plain
            self._text, self._places = read(self.document()) if raw is None else (raw, TextPositions(raw))
        return self._text

    def show_page(self, page: int) -> None:
        """Show a page of a long plain text, counted from 0."""
        assert self._plain is not None
        self._page = max(0, min(page, len(self._pages) - 1))
        document = self._new_document()
        document.setPlainText(self._plain[self._pages[self._page] : self._page_end()])
        self._take(document)
        self._bar.show_place(self._page, len(self._pages))
        self.paint_marks()

    @property
    def pages(self) -> int:
        """The number of pages; 1 unless it is a long plain text."""
        return len(self._pages)

    def zoom_text(self, step: int) -> None:
        """Enlarge (1) or reduce (-1) this text only, or use the general size again (0)."""
        self._zoom = max(_ZOOM_MIN, min(_ZOOM_MAX, self._zoom + step * _ZOOM_STEP if step else 100))
        self._restyle()

    def loadResource(self, _kind: int, _name: QUrl | str) -> Any:
        """Return a transparent dot for every resource.

        If nothing were returned, Qt would open the path itself: files, devices, network shares.
        """
        dot = QImage(1, 1, QImage.Format.Format_ARGB32)
        dot.fill(Qt.GlobalColor.transparent)
        return dot

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Leave the report on Tab, instead of stopping at every link."""
        return QTextEdit.focusNextPrevChild(self, forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space scrolls by a screen, Enter follows the link at the cursor, page keys go on to the next page."""
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
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_text(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the text at the top in place, and the page bar at the bottom."""
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
        self._marks = []
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
        layout = Slices(document, laying_out(document))
        QTimer.singleShot(PAINTED_MS, layout, layout.start)
        self._complete()

    def _new_document(self) -> QTextDocument:
        px = theme.current().px
        font = self.font()
        font.setPointSizeF(theme.current().points * self._zoom / 100)
        return empty_document(self, style_sheet(), font, px(14))

    def _take(self, document: QTextDocument) -> None:
        """Show another document; Qt deletes its initial one, the others are ours.

        A long one gets its scroll bar and its width first: otherwise it would be laid out three times.
        """
        root = document.rootFrame()
        frame = root.frameFormat()
        frame.setLeftMargin(frame.leftMargin() + self._moments_width())
        root.setFrameFormat(frame)
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
        """The character at the top, as a document position; 0 if nothing was scrolled.

        If the scroll position is that of the last call, the answer is, too: otherwise each resize would move by a line.
        """
        value = self.verticalScrollBar().value()
        if self._held is None or self._held[1] != value:
            self._held = (position_at(self.document(), value) if value else 0, value)
        return self._held[0]

    def _hold(self, top: int) -> None:
        bar, cursor = self.verticalScrollBar(), QTextCursor(self.document())
        if top:
            cursor.setPosition(min(top, self.document().characterCount() - 1))
            place = bar.value() + self.cursorRect(cursor).top()
            if place > bar.maximum():
                self._lay_out_to_the_end()
            bar.setValue(place)
        self._held = (top, bar.value())

    def _restyle(self) -> None:
        """Render the text again in other colours or sizes, keeping the scroll position."""
        top, marks = self._top(), self._marks
        if self._plain is not None:
            self.show_page(self._page)
        else:
            self.show_html(self._html)
        self._marks = marks
        self.text()
        self.paint_marks()
        self._held = None
        self._hold(top)

    def _lay_out_to_the_end(self) -> None:
        """Tell the scroll bar the whole length now; Qt does so only some time after the layout."""
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
        """Scroll a screen forwards or back; beyond the end of a page, go to the next one."""
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

    def hits(self, words: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        return (hit.span() for hit in words.finditer(self.text()))

    def selected_text(self) -> tuple[str, int, int]:
        """The selected words with their offsets; ("", -1, -1) if nothing is selected."""
        if not self.textCursor().hasSelection():
            return "", -1, -1
        text, cursor = self.text(), self.textCursor()
        first = self._places.to_qt(self._pages[self._page])
        start = self._places.from_qt(cursor.selectionStart() + first)
        end = self._places.from_qt(cursor.selectionEnd() + first)
        return text[start:end], start, end

    def select(self, start: int, end: int) -> None:
        """Select words as if by hand and bring them into view."""
        self._turn_to(start)
        self.setTextCursor(self._cursor(start, end))
        self.reveal(start, end)

    def mark(self, start: int, end: int, kind: str) -> None:
        """Mark words until `clear_marks` or another text. KeyError for an unknown kind."""
        MARKS[kind]
        self._marks.append(Mark(start, end, kind))
        self.paint_marks()

    def set_marks(self, kind: str, spans: list[tuple[int, int]]) -> None:
        MARKS[kind]
        self._marks = [m for m in self._marks if m.kind != kind] + [Mark(a, b, kind) for a, b in spans]
        self.paint_marks()

    def clear_marks(self, kind: str | None = None) -> None:
        self._marks = [mark for mark in self._marks if kind is not None and mark.kind != kind]
        self.paint_marks()

    def marks(self, kind: str | None = None) -> list[Mark]:
        return [mark for mark in self._marks if kind is None or mark.kind == kind]

    def reveal(self, start: int, end: int) -> None:
        self._turn_to(start)
        box = self.cursorRect(self._cursor(start, start))
        if box.top() < 0 or self.cursorRect(self._cursor(end, end)).bottom() > self.viewport().height():
            bar = self.verticalScrollBar()
            place = bar.value() + box.top() - self.viewport().height() // 3
            if place > bar.maximum():
                self._lay_out_to_the_end()
            bar.setValue(place)

    def createMimeDataFromSelection(self) -> QMimeData:
        """The selection for the clipboard, with formulas as their source."""
        copied = super().createMimeDataFromSelection()
        if OBJECT in copied.text():
            words, copied = self.selected_text()[0], QMimeData()
            copied.setText(words)
        return copied

    def _moments_width(self) -> int:
        shown = self._moments if self._plain is not None else ()
        # One of each length, because digits of a font have the same width.
        longest = {len(words): words for _, words in shown}
        return max(
            (self.fontMetrics().horizontalAdvance(f"{words}  ") for words in longest.values()), default=0
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Print the moments of visible lines in the left margin."""
        super().paintEvent(event)
        self._formulas.draw_selected(self.viewport())
        if wide := self._moments_width():
            painter, height = QPainter(self.viewport()), self.viewport().height()
            painter.setPen(theme.token("text-muted"))
            here = range(self._pages[self._page], self._page_end())
            for at, words in (moment for moment in self._moments if moment[0] in here):
                line = self.cursorRect(self._cursor(at, at))
                if line.bottom() >= 0 and line.top() <= height:
                    room = QRect(0, line.top(), wide, line.height())
                    painter.drawText(
                        room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{words}  "
                    )

    def paint_marks(self) -> None:
        if self._loading is not None:
            return
        if not self._marks:
            self.setExtraSelections([])
            return
        self.text()
        first, last = self._pages[self._page], self._page_end()
        shown = [mark for mark in self._marks if mark.start < last and mark.end > first]
        self.setExtraSelections([self._selection(mark, first, last) for mark in shown])

    def _selection(self, mark: Mark, first: int, last: int) -> QTextEdit.ExtraSelection:
        base = self._places.to_qt(first)
        start = self._places.to_qt(max(mark.start, first))
        end = self._places.to_qt(min(mark.end, last), end=True)
        return painted_over(words_between(self.document(), start - base, end - base), mark_format(mark.kind))

    def _cursor(self, start: int, end: int) -> QTextCursor:
        self.text()
        base = self._places.to_qt(self._pages[self._page])
        last = self.document().characterCount() - 1
        return words_between(
            self.document(),
            max(0, min(last, self._places.to_qt(start) - base)),
            max(0, min(last, self._places.to_qt(end, end=end > start) - base)),
        )


def _page_starts(text: str) -> list[int]:
    """The starts of pages of about 20 000 characters, each at the start of a line if there is one near."""
    starts = [0]
    while len(text) - starts[-1] > PAGE * 3 // 2:
        least, most = starts[-1] + PAGE // 2, starts[-1] + PAGE
        line = text.rfind("\n", least, most)
        starts.append(line + 1 if line >= 0 else most)
    return starts


class PageBar(RoleFrame):
    chosen = Signal(int)
    """A page, counted from 0."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("bar", parent)
        self._number, self._of = NumberBox(accessibleName="Page", keyboardTracking=False), PlainLabel()
        self._back = chips.tool_button("Page before", "left", self._number.stepDown)
        self._on = chips.tool_button("Page after", "right", self._number.stepUp)
        horizontal(
            StretchSpace(1),
            self._back,
            PlainLabel("Page"),
            self._number,
            self._of,
            self._on,
            StretchSpace(1),
            on=self,
            margins=(8, 4, 8, 4),
        )
        self._number.valueChanged.connect(lambda number: self.chosen.emit(number - 1))

    def show_place(self, page: int, pages: int) -> None:
        """Show the current page, counted from 0, and the number of pages, without emitting."""
        blocked = self._number.blockSignals(True)
        self._number.setRange(1, max(1, pages))
        self._number.setValue(page + 1)
        self._number.blockSignals(blocked)
        self._of.setText(f"of {pages}")
        self._back.setEnabled(page > 0)
        self._on.setEnabled(page < pages - 1)


def even_letters() -> QFont:
    """The system's monospaced font in the current size."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(theme.current().points)
    return font


class RawText(TextBox):
    """A plain-text field that Tab leaves."""

    def __init__(self, name: str, *, readonly: bool = True) -> None:
        super().__init__()
        self.setReadOnly(readonly)
        with_properties(self, accessibleName=name, tabChangesFocus=True)
        theme.follow(self, self._restyle)

    def _restyle(self) -> None:
        self.setFont(even_letters())
