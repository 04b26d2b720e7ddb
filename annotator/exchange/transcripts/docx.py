"""The paragraphs of a Word document: one file of its archive is read, nothing else is unpacked."""

import io
import zipfile
import zlib
from xml.etree import ElementTree

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import LONGEST_TEXT, xml_tree

_WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DOCUMENT = "word/document.xml"
MOST_FILES = 5_000
_BREAKS = {f"{_WORDS}tab": "\t", f"{_WORDS}br": "\n", f"{_WORDS}cr": "\n"}
AGAIN = "Save it again as .docx or as plain text."


def text_of(content: bytes, name: str) -> str:
    """The words of a document, a blank line between paragraphs; Refusal when it is none, damaged or too large."""
    try:
        root = xml_tree(_packed(content, name))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError):
        raise Refusal(f"“{name}” is no Word document, or is damaged.", AGAIN) from None
    except ValueError as error:
        raise Refusal(f"“{name}” is no Word document: {error}.", AGAIN) from None
    return "\n\n".join(_paragraph(one) for one in root.iter(f"{_WORDS}p"))


def _packed(content: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        if len(packed.infolist()) > MOST_FILES:
            raise Refusal(f"“{name}” holds more than {MOST_FILES:,} files.", AGAIN)
        if _DOCUMENT not in packed.namelist():
            raise ValueError(f"it lacks {_DOCUMENT}")
        with packed.open(_DOCUMENT) as file:
            # What its index says of the size is not trusted.
            found = file.read(LONGEST_TEXT * 4 + 1)
    if len(found) > LONGEST_TEXT * 4:
        raise Refusal(f"“{name}” holds more than {LONGEST_TEXT * 4 // 2**20} MB of text.", AGAIN)
    return found


def _paragraph(paragraph: ElementTree.Element) -> str:
    """The words of a paragraph; what was struck out while changes are tracked is not among them."""
    return "".join(
        (one.text or "") if one.tag == f"{_WORDS}t" else _BREAKS.get(one.tag, "") for one in paragraph.iter()
    )
