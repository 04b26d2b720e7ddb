"""The visible text of HTML, in lines, without what only programs read."""

import re
from html.parser import HTMLParser

# Never a page's own words: programs, controls, what stands in for programs that do not run.
_PROGRAMS = {
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video",
    "select", "button", "textarea", "datalist", "map", "dialog",
}  # fmt: skip
# What stands on every page of a site.
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
# With less than this outside its frame, a page's words may well stand inside it: not all close their tags.
_LITTLE = 200


def shown(html: str) -> tuple[str, str]:
    """The title of a page and the words it shows, a paragraph apart by an empty line, cells apart by a bar."""
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
    """One pass over well-formed HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._lines: list[str] = []
        self._line: list[str] = []
        self._unseen = self._verbatim = 0
        self._bullet = False
        self._titles: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line, a cell, or a stretch that is not shown."""
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
        """End a line, or a stretch that is not shown."""
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
        """Take in words."""
        if self._titles is not None:
            self._titles.append(data)
        elif not self._unseen:
            self._line.append(data)

    def text(self) -> str:
        """All the words that are shown."""
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
