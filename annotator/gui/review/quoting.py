"""From a selection in a source to a quotation: offsets, page and hash."""

from annotator.domain.kinds.unit import Anchor
from annotator.domain.material.source import Source, SourceFormat
from annotator.domain.material.transcript import LEFT_OUT, told
from annotator.domain.texts import quotation
from annotator.domain.texts.canonical import sha256

# What parts the pages in the text of a PDF (actions.sources keeps it so).
PAGE_END = "\f"
LONGEST_QUOTE = 20_000


def anchor_of(source: Source | None, text: str, shown: str, start: int, end: int) -> Anchor | None:
    """The anchor of the words at [start, end) of a text as shown, or None where they are not found in the text.

    `text` is what the shown text was made from. Form feeds part the pages of a PDF; a transcript tells the time.
    """
    start, end = _trimmed(shown, start, end)
    span = quotation.locate(text, shown, start, end) if start < end else None
    paged = source is not None and source.format is SourceFormat.PDF
    found = _anchor(source.id if source else "", text, span, paged=paged)
    if found is None or source is None or not source.transcript:
        return found
    return None if LEFT_OUT in found.quote else found.model_copy(update={"said": told(source, found)})


def anchor_on_page(source_id: str, text: str, quote: str, page: int) -> Anchor:
    """The anchor of words selected on a page of a PDF; without offsets where its text does not hold them."""
    pages = text.split(PAGE_END)
    before = sum(len(earlier) + 1 for earlier in pages[: page - 1])
    span = quotation.find(pages[page - 1], quote) if page <= len(pages) else None
    found = _anchor(source_id, text, (span[0] + before, span[1] + before) if span else None, paged=True)
    if found is None or found.page != page:
        return Anchor(quote=quote[:LONGEST_QUOTE], source_id=source_id, page=page, text_sha256=sha256(text))
    return found


def _anchor(source_id: str, text: str, span: tuple[int, int] | None, *, paged: bool) -> Anchor | None:
    if span is None or not text[span[0] : span[1]].strip():
        return None
    start, end = span[0], min(span[1], span[0] + LONGEST_QUOTE)
    page = text.count(PAGE_END, 0, start) + 1 if paged else None
    return Anchor(
        quote=text[start:end], source_id=source_id, start=start, end=end, page=page, text_sha256=sha256(text)
    )


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
