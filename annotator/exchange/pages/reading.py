"""Documents from outside as text: HTML as it is shown, PDF by its words, other text unchanged.

HTML goes through nh3 first (html5ever, the parser of the Servo browser, in Rust): it parses any input as browsers do,
and its output is well-formed, so that Python's own `html.parser` can walk it in one pass. Reports need it already;
selectolax would read as well, but adds 4 MB of C to the bundle, lxml twice as much.
"""

import asyncio
import codecs
import re
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from html import unescape
from html.parser import HTMLParser
from typing import TypeVar

from annotator.domain.common import Refusal, storable
from annotator.domain.material.item import PageState
from annotator.exchange.pages.states import PageReading, UnreadablePage
from annotator.exchange.texts import documents

# The labels of the Encoding Standard (encoding.spec.whatwg.org) that Python knows under another name, or would decode
# more strictly than browsers do; any other label must be the name of an ordinary encoding of text.
_BROWSERS = {
    "ascii": "cp1252", "us-ascii": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "l1": "cp1252",
    "iso-8859-1": "cp1252", "iso8859-1": "cp1252", "iso_8859-1": "cp1252", "iso88591": "cp1252",
    "iso-8859-9": "cp1254", "latin5": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874", "windows-874": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "gb_2312-80": "gb18030", "x-gbk": "gb18030", "chinese": "gb18030",
    "big5": "big5hkscs", "big5-hkscs": "big5hkscs", "x-x-big5": "big5hkscs",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "ksc5601": "cp949", "korean": "cp949", "windows-949": "cp949",
    "unicode": "utf-16-le", "utf-16": "utf-16-le", "utf8": "utf-8", "unicode-1-1-utf-8": "utf-8",
    "x-mac-cyrillic": "mac-cyrillic", "macintosh": "mac-roman", "mac": "mac-roman",
}  # fmt: skip
_ORDINARY = re.compile(
    r"utf-?8|utf-16-?(?:le|be)|(?:windows-|cp)125[0-8]|cp(?:866|874|932|949)|iso-?8859-(?:[2-8]|1[03-6])|koi8-[ru]"
    r"|gb18030|big5hkscs|euc-?jp|iso-2022-jp|mac-(?:roman|cyrillic)"
)
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta\s[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
_DECLARED_WITHIN = 4096
# With a larger share of undecodable characters, the content is no text in that encoding.
MOST_UNREAD = 0.1

# Never a page's own words: programs, controls, replacements for programs that do not run.
_PROGRAMS = {
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video",
    "select", "button", "textarea", "datalist", "map", "dialog",
}  # fmt: skip
# Parts that are on every page of a site.
_FRAME = {"nav", "footer"}
_PARAGRAPHS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "dl", "pre", "blockquote", "section", "article",
    "header", "main", "aside", "figure", "hr", "form", "fieldset", "details",
}  # fmt: skip
_LINES = {
    "div", "li", "tr", "dt", "dd", "br", "caption", "figcaption", "summary", "address", "legend", "thead", "tbody",
    "tfoot", "center", "hgroup", "search", *_FRAME,
}  # fmt: skip
_CELLS = {"td", "th"}
_INLINE = {"span", "a", "title", "math"}
_VOID = {"br", "hr"}
_TAGS = _PARAGRAPHS | _LINES | _CELLS | _INLINE
_NO_SHOW = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# With less text than this outside its frame, a page's words may be inside it: not all pages close their tags.
_LITTLE = 200

_HTML = ("text/html", "application/xhtml+xml")
_TEXTS = (
    "application/json",
    "application/xml",
    "application/ld+json",
    "application/x-ndjson",
    "application/yaml",
)
_UNSAID = ("", "application/octet-stream", "binary/octet-stream", "application/x-download")
_KINDS = {
    "image/": "It is a picture, not a text.",
    "audio/": "It is a sound, not a text.",
    "video/": "It is a film, not a text.",
    "font/": "It is a font, not a text.",
    "application/zip": "It is an archive of files, not a text.",
    "application/msword": "It is a Word document, which is not read.",
    "application/vnd.openxmlformats": "It is an Office document, which is not read.",
    "application/vnd.ms-": "It is an Office document, which is not read.",
    "application/rtf": "It is a rich-text document, which is not read.",
    "text/rtf": "It is a rich-text document, which is not read.",
}
_STARTS_HTML = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_FREE = re.compile(r"[\"']isAccessibleForFree[\"']\s*:\s*[\"']?(true|false)\b", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style|noscript)\b.{0,5000}?</\1", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(meta|link)\s([^>]{1,3000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([a-z-]{1,30})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_REFRESH = re.compile(r"\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_SAVED = re.compile(
    r"<!--\s*(?:saved from url=\(\d+\)|Page saved with SingleFile\s+url: )(https?://[^\s>]{1,2000})"
)
# gzip, zip, xz, bzip2, zstd, a picture, a sound or a program, whatever the server calls it.
_PACKED = re.compile(
    rb"\x1f\x8b|PK\x03\x04|\xfd7zXZ|BZh[1-9]|\x28\xb5\x2f\xfd|\x89PNG|\xff\xd8\xff|GIF8|RIFF|\x7fELF|OggS|ID3"
)
# Control characters, which texts hardly ever contain, and undecodable characters.
_NEVER_WRITTEN = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
MOST_UNWRITTEN, _FEW = 0.05, 10
# The part of a page that describes it; anything further down is its content.
_HEAD = 300_000
_LONGEST_WAIT_S = 10
# A notice of a redirect is short; a page that reloads every minute is not.
_NOTICE = 500
LAYOUT = "layout"


def read(content: bytes, content_type: str = "") -> PageReading:
    """The text of a document. `content_type` is the server's word for it; its own first bytes take precedence."""
    form = _form(content, content_type)
    if form == "pdf":
        result = pdf(content)
        scanned = not (result.text or result.unreadable)
        words = "Its pages are pictures, without words." if scanned else result.unreadable
        return PageReading(text=result.text.strip(), unreadable=words)
    if form not in ("html", "text"):
        return PageReading(unreadable=form)
    try:
        text = decoded(content, content_type)
    except UnicodeError as error:
        return PageReading(unreadable=f"It is no text: {error}.")
    unwritten = len(_NEVER_WRITTEN.findall(text))
    if _PACKED.match(content) or unwritten > max(_FEW, MOST_UNWRITTEN * len(text)):
        return PageReading(unreadable="It is no text, whatever the server calls it.")
    text = storable(text)
    return _html(text) if form == "html" else PageReading(text=text.replace("\r\n", "\n").strip())


def hopeless(content_type: str) -> str:
    """Why a document of this type need not even be imported, as a sentence; empty if it may hold text."""
    kind = _kind(content_type)
    return next((words for start, words in _KINDS.items() if kind.startswith(start)), "")


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _form(content: bytes, content_type: str) -> str:
    """“pdf”, “html” or “text”; otherwise why it is none of them, as a sentence."""
    kind = _kind(content_type)
    if b"%PDF-" in content[:1024]:
        return "pdf"
    if kind in _HTML or ((kind in _UNSAID or kind.endswith("xml")) and _STARTS_HTML.match(content[:4096])):
        return "html"
    if why := hopeless(kind):
        return why
    if kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml")):
        return "text"
    if kind in _UNSAID and b"\x00" not in content[:4096]:
        return "text"
    return f"It is no text but {kind[:80]}." if kind not in _UNSAID else "It is no text."


def pdf(content: bytes, form: str = "") -> PageReading:
    """The words of a PDF unchanged, without any if it has none; with the form LAYOUT line by line as on the page."""
    try:
        return PageReading(text=documents.parse_pdf(content, "It", form == LAYOUT))
    except Refusal as refusal:
        return PageReading(unreadable=refusal.happened.replace("“It”", "It"))


def _html(html: str) -> PageReading:
    title, text = shown(html)
    head = dict(_declared(html[:_HEAD]))
    free = {result.lower() for result in _FREE.findall(html)}
    refresh = _REFRESH.match(head.get("refresh", ""))
    sent_on = refresh is not None and int(refresh[1][:6]) <= _LONGEST_WAIT_S and len(text) < _NOTICE
    saved = _SAVED.search(html[:_HEAD])
    return PageReading(
        text=text,
        title=title[:1000],
        free=None if not free else "false" not in free,
        refresh=refresh[2].strip() if refresh is not None and sent_on else "",
        canonical=saved[1] if saved else head.get("canonical") or head.get("og:url", ""),
    )


def _declared(head: str) -> Iterator[tuple[str, str]]:
    """A page's own declarations by `meta` and `link`, the first of each kind last."""
    for name, inside in reversed(_TAG.findall(_UNSEEN.sub("", head))):
        result = {key.lower(): unescape(a or b or c).strip() for key, a, b, c in _ATTRIBUTE.findall(inside)}
        if name.lower() == "link":
            for relation in result.get("rel", "").lower().split():
                yield relation, result.get("href", "")
        else:
            of = result.get("http-equiv") or result.get("property") or result.get("name") or ""
            yield of.lower(), result.get("content", "")


def shown(html: str) -> tuple[str, str]:
    """The title of a page and the words it shows, paragraphs separated by an empty line, cells by a bar."""
    title, text = _walked(html, _FRAME)
    if len(text) < _LITTLE:
        whole = _walked(html, set())
        title, text = whole if len(whole[1]) > 2 * len(text) else (title, text)
    return title, text


def _walked(html: str, left_out: set[str]) -> tuple[str, str]:
    import nh3

    tags = _TAGS - left_out
    clean = nh3.clean(
        html,
        tags=tags,
        clean_content_tags=_PROGRAMS | left_out,
        attributes={tag: {"hidden", "style"} for tag in tags},
        link_rel=None,
    )
    walk = _Walk()
    walk.feed(clean)
    walk.close()
    return walk.title, walk.text()


class _Walk(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._lines: list[str] = []
        self._line: list[str] = []
        self._unseen = self._verbatim = 0
        self._bullet = False
        self._titles: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unseen:
            self._unseen += tag not in _VOID
            return
        if tag == "title":
            self._titles = []
        elif tag not in _VOID and _hidden(dict(attrs)):
            self._unseen = 1
        elif tag in _CELLS and self._line:
            self._line.append(" | ")
        else:
            self._break(tag)
            self._bullet = self._bullet or tag == "li"
            self._verbatim += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._unseen -= 1
        elif tag == "title":
            self.title = self.title or _spaced("".join(self._titles or []))
            self._titles = None
        else:
            self._break(tag)
            self._bullet = self._bullet and tag != "li"
            self._verbatim -= tag == "pre"

    def handle_data(self, data: str) -> None:
        if self._titles is not None:
            self._titles.append(data)
        elif not self._unseen:
            self._line.append(data)

    def text(self) -> str:
        self._break("p")
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip()

    def _break(self, tag: str) -> None:
        if tag not in _PARAGRAPHS and tag not in _LINES:
            return
        words = "".join(self._line)
        words = words.strip("\n") if self._verbatim else _spaced(words).strip("| ")
        self._line = []
        if words:
            self._lines.append(f"- {words}" if self._bullet else words)
            self._bullet = False
        if tag in _PARAGRAPHS and not self._bullet:
            self._lines.append("")


def _hidden(attributes: dict[str, str | None]) -> bool:
    hidden = "hidden" in attributes and attributes["hidden"] != "until-found"
    return hidden or bool(_NO_SHOW.search(attributes.get("style") or ""))


def _spaced(words: str) -> str:
    return " ".join(words.split())


def decoded(content: bytes, content_type: str = "") -> str:
    """The characters of a document; undecodable ones become U+FFFD. UnicodeError if hardly any can be decoded."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _readable(content[len(mark) :].decode(encoding, "replace"))
    encoding = _named(content, content_type)
    if encoding:
        return _readable(content.decode(encoding, "replace"))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        # Cut off in the middle of a character by the server, not written in another encoding.
        if error.start > len(content) - 4:
            return content.decode("utf-8", "replace")
    return _readable(content.decode("cp1252", "replace"))


def _named(content: bytes, content_type: str) -> str:
    header = _HEADER.search(content_type)
    if header and (result := known(header[1])):
        return result
    inside = _XML.search(content[:_DECLARED_WITHIN]) or _META.search(content[:_DECLARED_WITHIN])
    result = known(inside[1].decode("ascii", "replace")) if inside else ""
    # A label that could be read byte by byte is not in an encoding of two bytes.
    return "utf-8" if result.startswith("utf-16") else result


def known(label: str) -> str:
    """Python's name of the encoding that a label refers to; empty if pages cannot have it."""
    label = label.strip().lower()
    name = _BROWSERS.get(label, label)
    return codecs.lookup(name).name if _ORDINARY.fullmatch(name) else ""


def _readable(text: str) -> str:
    if text.count("\ufffd") > MOST_UNREAD * len(text):
        raise UnicodeError("hardly any of its characters can be read")
    return text


ACCEPTED = "gzip, deflate"
_MEMBER = b"\x1f"
_RAW, _EITHER = -zlib.MAX_WBITS, zlib.MAX_WBITS | 32


def accepted(packing: str) -> str:
    """A body's Content-Encoding in small letters; UnreadablePage for one that was not asked for."""
    packing = packing.strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise UnreadablePage(PageState.NOT_TEXT, "It was sent packed in a way that was not asked for.")
    return packing


def unpacked(body: bytes, packing: str, most: int) -> bytes:
    """A body unpacked; UnreadablePage if it is damaged or incomplete, or longer than `most`."""
    if packing in ("", "identity") or not body:
        return body
    # Some servers send deflate without the two bytes that the standard asks for.
    for window in (_EITHER, _RAW) if packing == "deflate" else (_EITHER,):
        with suppress(zlib.error):
            return _members(body, window, most)
    raise UnreadablePage(PageState.DEAD, "It came damaged: what was sent packed cannot be unpacked.")


def _members(rest: bytes, window: int, most: int) -> bytes:
    made = bytearray()
    while True:
        member = zlib.decompressobj(window)
        made += member.decompress(rest, most + 1 - len(made))
        if len(made) > most:
            raise too_large(most)
        if not member.eof:
            raise UnreadablePage(PageState.DEAD, "The server broke off in the middle of it.")
        rest = member.unused_data
        # A gzip file may have several members; anything else after the last is no part of it.
        if not rest.startswith(_MEMBER):
            return bytes(made)


def too_large(most: int) -> UnreadablePage:
    return UnreadablePage(PageState.TOO_LONG, f"It is larger than {most // 2**20} MB.")


T = TypeVar("T")


async def aside(call: Callable[[], T]) -> T:
    """The result of a blocking call, made in a thread of its own; raises its exceptions.

    Not in the loop's executor: the end of a program waits for that one, however long a call still takes.
    """
    done: Future[T] = Future()
    # Nobody can cancel it from now on: its end is told to whoever still waits.
    done.set_running_or_notify_cancel()
    threading.Thread(target=_work, args=(call, done), daemon=True).start()
    return await asyncio.wrap_future(done)


def _work(call: Callable[[], T], done: "Future[T]") -> None:
    try:
        done.set_result(call())
    except (OSError, EOFError, UnicodeError) as error:
        done.set_exception(error)
    finally:
        if not done.done():
            done.set_exception(RuntimeError("A call broke off; its traceback was printed."))
