"""Papers and pages as text: plain text unchanged, a PDF by the words on its pages."""

import re
from collections.abc import Iterator, Sequence
from ctypes import c_int, create_string_buffer
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from annotator.domain.texts.canonical import checked_text, storable
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import read_bytes

LARGEST_DOCUMENT = 50 * 1024 * 1024
LONGEST_TEXT = 20_000_000
PAGE_BREAK = "\n\f\n"
_BOLD = re.compile(b"(?i)bold|medi|cmbx|black")
OTHER = "Choose another file; nothing was changed."


def read(path: Path) -> bytes:
    """The bytes of a document; Refusal when it is absent, unreadable, empty or too large."""
    content = read_bytes(path, path.name, LARGEST_DOCUMENT)
    if not content:
        raise Refusal(f"“{path.name}” is empty.", OTHER)
    if len(content) > LARGEST_DOCUMENT:
        raise Refusal(f"“{path.name}” is larger than {LARGEST_DOCUMENT // 2**20} MB.", OTHER)
    return content


def plain_text(content: bytes, name: str) -> str:
    """The text of a UTF-8 file, unchanged but for a byte order mark; Refusal when it is something else."""
    if content.startswith(b"%PDF-"):
        raise Refusal(f"“{name}” is a PDF under another name.", "Give it the ending .pdf and add it again.")
    try:
        return checked_text(content.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refusal(
            f"“{name}” is not UTF-8 text (byte {error.start}).",
            "Save it as UTF-8, or as a PDF, and add it again.",
        ) from None
    except ValueError as error:
        raise Refusal(f"“{name}” {error}.", OTHER) from None


def parse_pdf(content: bytes, name: str, layout: bool = False) -> str:
    """The words of a PDF, page by page with a form feed between; Refusal when it is encrypted or damaged.

    With `layout` they come line by line as they stand on the page, one column after the other with a form feed
    between: indents as spaces, a blank line for a gap, and "# " before a line that is set larger or bolder.

    To be called only in the process that reads documents: `pages.worker.pdf_text` does. A PDF of scanned pages has no
    words; its text is then empty.
    """
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        raise Refusal(f"“{name}” {_why(str(error))}.", OTHER) from None
    try:
        read_page = _page_layout if layout else _page_text
        pages = [read_page(document[number]) for number in range(len(document))]
    except pdfium.PdfiumError:
        raise Refusal(f"“{name}” is damaged: a page cannot be read.", OTHER) from None
    finally:
        document.close()
    text = storable(PAGE_BREAK.join(pages))
    if len(text) > LONGEST_TEXT:
        raise Refusal(f"“{name}” holds more than {LONGEST_TEXT // 10**6} million characters.", OTHER)
    return text if text.strip() else ""


def _why(message: str) -> str:
    if "assword" in message:
        return "is protected by a password"
    return "uses a protection that is not known" if "ecurity" in message else "is no PDF, or is damaged"


@dataclass(slots=True)
class _Run:
    """Words of one line without a wide gap between them; places in points from the bottom left of the page."""

    text: str
    left: float
    right: float
    middle: float
    height: float
    bold: bool


def _page_layout(page: Any) -> str:
    words = page.get_textpage()
    runs = [run for run in _runs(words) if run.text]
    words.close()
    page.close()
    if not runs:
        return ""
    height, bold = median(run.height for run in runs), sum(run.bold for run in runs) * 2 > len(runs)
    parts = []
    for part in _in_reading_order(runs):
        lines = list(_rows(part))
        steps = [above.middle - below.middle for above, below in pairwise(lines)]
        gap = 1.3 * median(steps) if steps else 0.0
        # The number of a page stands anywhere.
        edge = min((line.left for line in lines if not line.text.isdigit()), default=0.0)
        told = []
        for line, step in zip(lines, [0.0, *steps], strict=True):
            raised = line.height > 1.15 * height or (line.bold and not bold)
            indent = " " * min(40, round((line.left - edge) / (0.5 * height)))
            told.append(
                "\n" * (step > gap) + ("# " if raised and len(line.text) < 80 else indent) + line.text
            )
        parts.append("\n".join(told))
    return PAGE_BREAK.join(parts)


def _runs(words: Any) -> Iterator[_Run]:
    """The words of a page in the order in which they were set."""
    import pypdfium2.raw as pdfium

    run = _Run("", 0.0, -1e9, 0.0, 1.0, False)
    spaced = False
    for at in range(words.count_chars()):
        code = pdfium.FPDFText_GetUnicode(words, at)
        character = "-" if code in (2, 0xAD, 0xFFFE) else chr(code) if code < 0x110000 else ""
        if not character.strip() or pdfium.FPDFText_IsGenerated(words, at) == 1:
            spaced = True
            continue
        left, bottom, right, top = words.get_charbox(at, loose=True)
        height, middle = max(top - bottom, 1.0), (top + bottom) / 2
        if abs(middle - run.middle) < height / 2 and -1.2 * height < left - run.right < 0.9 * run.height:
            run.text += " " * (spaced or left - run.right > 0.2 * height) + character
            run.right = max(run.right, right)
        else:
            yield run
            font = create_string_buffer(100)
            pdfium.FPDFText_GetFontInfo(words, at, font, len(font), c_int())
            bold = pdfium.FPDFText_GetFontWeight(words, at) >= 600 or _BOLD.search(font.value)
            run = _Run(character, left, right, middle, height, bool(bold))
        spaced = False
    yield run


def _in_reading_order(runs: Sequence[_Run]) -> list[list[_Run]]:
    """The runs of a page, parted into columns and into what reaches over both, from the top."""
    left, right = min(run.left for run in runs), max(run.right for run in runs)
    gutter, margin = _gutter(runs, left, right), 0.1 * (right - left)
    wide = [run for run in runs if run.left < gutter - margin and run.right > gutter + margin > margin]
    parts: dict[tuple[int, bool], list[_Run]] = {}
    for run in runs:
        above = 2 * sum(one.middle > run.middle for one in wide)
        over = any(one is run for one in wide)
        parts.setdefault((above + over, not over and run.left + run.right > 2 * gutter > 0), []).append(run)
    return [parts[place] for place in sorted(parts)]


def _gutter(runs: Sequence[_Run], left: float, right: float) -> float:
    """Where the gap between two columns lies; 0 where there is one column."""
    inner = [left + (right - left) * (0.35 + step * 0.005) for step in range(61)]
    crossed = [sum(run.left < x < run.right for run in runs) for x in inner]
    free = [x for x, count in zip(inner, crossed, strict=True) if count == min(crossed)]
    x = free[len(free) // 2]
    sides = min(sum(run.right <= x for run in runs), sum(run.left >= x for run in runs))
    return x if min(crossed) <= 0.1 * len(runs) and sides > 1 else 0.0


def _rows(part: Sequence[_Run]) -> Iterator[_Run]:
    """The lines of a column from the top."""
    rows: list[list[_Run]] = []
    for run in sorted(part, key=lambda run: -run.middle):
        if rows and abs(rows[-1][0].middle - run.middle) < min(rows[-1][0].height, run.height) / 2:
            rows[-1].append(run)
        else:
            rows.append([run])
    for row in rows:
        first, *others = sorted(row, key=lambda run: run.left)
        for run in others:
            first.text += " " * (run.left - first.right > 0.2 * run.height) + run.text
            first.right, first.bold = max(first.right, run.right), first.bold and run.bold
        yield first


def _page_text(page: Any) -> str:
    words = page.get_textpage()
    text: str = words.get_text_range()
    words.close()
    page.close()
    return text.replace("\r\n", "\n")
