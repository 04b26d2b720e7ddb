"""Pages of a PDF: sizes, pictures, and words with their places."""

import math
from collections import OrderedDict
from functools import cached_property

import pypdfium2 as pdfium
from pypdfium2 import raw
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from annotator.gui.widgets.reading.pdf_layout import UnreadablePdf

MOST_PIXELS = 12_000_000
MOST_KEPT = 12
# Places on a page are asked for on a canvas this much finer than a point.
_FINE = 10
_HYPHENS = "\x02\ufffe\xad"


class PageWords:
    """The letters of one page, one for each character PDFium counts, with their boxes in points from the top left."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self._page = page
        self._words = page.get_textpage()
        width, height = page.get_size()
        canvas = (0, 0, math.ceil(width * _FINE), math.ceil(height * _FINE), 0)
        self._places = pdfium.PdfPosConv(page, canvas)

    def close(self) -> None:
        self._words.close()
        self._page.close()

    @cached_property
    def letters(self) -> str:
        """One letter for each character; what PDFium has no letter for is a space."""
        codes = (raw.FPDFText_GetUnicode(self._words, place) for place in range(self._words.count_chars()))
        return "".join(chr(code) if code else " " for code in codes)

    def quote(self, start: int, end: int) -> str:
        """The characters [start, end) as text: lines end in a line feed, words broken at an end are joined."""
        letters = self.letters[start:end].replace("\r\n", "\n").replace("\r", "\n")
        for hyphen in _HYPHENS:
            letters = letters.replace(hyphen + "\n", "").replace(hyphen, "")
        whole = letters.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.replace("\x00", "").strip()

    def at(self, x: float, y: float, reach: float = 12.0) -> int | None:
        """The character at or near a point; None where there is none within reach."""
        across, up = self._places.to_page(round(x * _FINE), round(y * _FINE))
        found: int | None = self._words.get_index(across, up, reach, reach)
        return found

    def boxes(self, start: int, end: int) -> list[QRectF]:
        """The rectangles that the characters [start, end) cover, one for each line or part of it."""
        if end <= start:
            return []
        many = self._words.count_rects(start, end - start)
        return [self._box(*self._words.get_rect(place)) for place in range(many)]

    def letter_box(self, place: int) -> QRectF:
        return self._box(*self._words.get_charbox(place, loose=True))

    def _box(self, left: float, bottom: float, right: float, top: float) -> QRectF:
        corners = [self._places.to_bitmap(left, top), self._places.to_bitmap(right, bottom)]
        across, down = sorted(c[0] / _FINE for c in corners), sorted(c[1] / _FINE for c in corners)
        return QRectF(across[0], down[0], across[1] - across[0], down[1] - down[0])


class PdfPages:
    """An open PDF. Pictures are made when asked for, and the last few are kept."""

    def __init__(self, data: bytes) -> None:
        """Open a PDF from its bytes; Unreadable when it is damaged, locked or empty."""
        try:
            self._pdf = pdfium.PdfDocument(data)
            self.sizes = [self._pdf.get_page_size(place) for place in range(len(self._pdf))]
        except pdfium.PdfiumError as error:
            raise UnreadablePdf(_reason(str(error))) from None
        if not self.sizes:
            raise UnreadablePdf("This PDF has no pages.")
        self._pictures: OrderedDict[tuple[int, int], QImage] = OrderedDict()
        self._words: OrderedDict[int, PageWords] = OrderedDict()
        self._letters: dict[int, str] = {}

    def close(self) -> None:
        self._pictures.clear()
        while self._words:
            self._words.popitem()[1].close()
        self._pdf.close()

    def kept_picture(self, place: int, scale: float) -> QImage | None:
        return self._pictures.get((place, round(scale * 1000)))

    def picture(self, place: int, scale: float) -> QImage:
        """A page, counted from 0, at so many pixels a point; Unreadable when the page is damaged."""
        kept = self.kept_picture(place, scale)
        if kept is not None:
            return kept
        width, height = self.sizes[place]
        fitting = min(scale, math.sqrt(MOST_PIXELS / max(1.0, width * height)))
        try:
            page = self._pdf[place]
            bitmap = page.render(scale=fitting, force_bitmap_format=raw.FPDFBitmap_BGRx)
        except (pdfium.PdfiumError, ValueError):
            raise UnreadablePdf("This page is damaged and cannot be shown.") from None
        pixels = bytes(bitmap.buffer)
        made = QImage(pixels, bitmap.width, bitmap.height, bitmap.stride, QImage.Format.Format_RGB32).copy()
        bitmap.close()
        page.close()
        self._pictures[(place, round(scale * 1000))] = made
        while len(self._pictures) > MOST_KEPT:
            self._pictures.popitem(last=False)
        return made

    def words(self, place: int) -> PageWords:
        """The words of a page, counted from 0; Unreadable when the page is damaged."""
        if place not in self._words:
            try:
                self._words[place] = PageWords(self._pdf[place])
            except pdfium.PdfiumError:
                raise UnreadablePdf("This page is damaged and cannot be read.") from None
            while len(self._words) > MOST_KEPT:
                self._words.popitem(last=False)[1].close()
        return self._words[place]

    def letters(self, place: int) -> str:
        """The letters of a page, counted from 0; kept, and none where the page is damaged."""
        if place not in self._letters:
            try:
                self._letters[place] = self.words(place).letters
            except UnreadablePdf:
                self._letters[place] = ""
        return self._letters[place]


def _reason(error: str) -> str:
    if "assword" in error or "ecurity" in error:
        return "This PDF is locked with a password. Save a copy without it and add that instead."
    return "This PDF is damaged and cannot be opened. Download it again and add the new copy."
