"""Papers and pages as text: plain text unchanged, a PDF by the words on its pages."""

from pathlib import Path
from typing import Any

from annotator.domain.texts.canonical import checked_text, storable
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import read_bytes

LARGEST_DOCUMENT = 50 * 1024 * 1024
LONGEST_TEXT = 20_000_000
PAGE_BREAK = "\n\f\n"
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


def parse_pdf(content: bytes, name: str) -> str:
    """The words of a PDF, page by page with a form feed between; Refusal when it is encrypted or damaged.

    To be called only in the process that reads documents: `pages.worker.pdf_text` does. A PDF of scanned pages has no
    words; its text is then empty.
    """
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        raise Refusal(f"“{name}” {_why(str(error))}.", OTHER) from None
    try:
        pages = [_page_text(document[number]) for number in range(len(document))]
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


def _page_text(page: Any) -> str:
    words = page.get_textpage()
    text: str = words.get_text_range()
    words.close()
    page.close()
    return text.replace("\r\n", "\n")
