"""Foreign Markdown as safe HTML, in the subset that Qt's rich text supports."""

import re
import time
from collections.abc import Iterator, MutableMapping, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from annotator.domain.texts.rendered import (
    BREAK,
    BREAK_EVERY,
    CUT,
    LONGEST_RUN,
    SCHEME,
    Rendered as Rendered,
    with_breaks,
)
from annotator.exchange.texts import documents

MAX_CHARACTERS = 300 * 1024
MAX_LINES = 10_000
MAX_TOKENS = 50_000
MAX_PARAGRAPH = 60_000
MAX_MARKS = 200
MAX_ALL_MARKS = 20_000
MAX_NESTING = 20
MAX_ROWS = 500
MAX_CELLS = 5_000
MAX_LINK = 2_000
MAX_LINKS_LENGTH = 600_000
MAX_DRAWINGS_LENGTH = 4_000_000
MAX_SECONDS = 2.0

_MARK = re.compile(r"[*_~]{1,3}|\[|`+|<")

MAX_DRAWING_S = 3.0
# Why a formula stays as it is written.
_UNDRAWN, _LATE, _LARGE = (
    "could not be drawn",
    "had no time left to be drawn",
    "would make the text too large to be shown",
)
_PIECE = 8_000
_STARTS = ("paragraph_open", "heading_open")
_TABLE_PIECE = 150
_TAGS = frozenset(
    [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "strong",
        "sup",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "p": {"align"},
    "table": {"border", "cellspacing", "cellpadding", "width"},
    "td": {"align", "width"},
    "th": {"align", "width"},
}
# Reason → the formulas that stay as they are written.
Left = dict[str, set[str]]
_FOOTNOTE = re.compile(r"\[\^([^\s\[\]^]{1,40})\](?!\()")
_ADDRESS = re.compile(r"https?://[^\s<>\"\[\]]{1,5000}[^\s<>\"\[\].,;:!?)'*_|]")
# Qt marks a document's frames with these; in a text they would be taken for its own.
_NONCHARACTERS = dict.fromkeys([*range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF], "\ufffd")


def render(markdown: str) -> Rendered:
    """A Markdown text as safe HTML; one that exceeds a limit is returned as `plain`."""
    left: Left = {}
    try:
        if len(markdown) > MAX_CHARACTERS:
            raise TooMuch(f"It is longer than {MAX_CHARACTERS // 1024} KB.")
        if markdown.count("\n") > MAX_LINES:
            raise TooMuch(f"It has more than {MAX_LINES} lines.")
        html = CUT.join(_pieces(markdown, left))
        return Rendered(html=html, reason=_note(left), unfinished=_LATE in left)
    except TooMuch as reason:
        return Rendered(html="", plain=True, reason=str(reason))


def _note(left: Left) -> str:
    return " ".join(
        f"One formula {why} and stays as written."
        if len(formulas) == 1
        else f"{len(formulas):,} formulas {why} and stay as written."
        for why, formulas in left.items()
    )


def _pieces(markdown: str, left: Left) -> Iterator[str]:
    parser = _parser()
    text = markdown.encode("utf-8", "replace").decode("utf-8").translate(_NONCHARACTERS)
    tokens = parser.parse(text, {"deadline": time.monotonic() + MAX_SECONDS})
    limits: dict[str, Any] = {"left": left, "until": None, "length": 0}
    for group in _groups(list(_with_small_tables(tokens))):
        html = parser.renderer.render(group, parser.options, limits)
        yield nh3.clean(
            html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", SCHEME}, link_rel=None
        )


def _groups(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Runs of whole top-level blocks of about 8 000 characters.

    Each begins with a paragraph, a heading, or a table right behind a table: other blocks cannot be appended to a
    document without a visible difference.
    """
    group: list[Token] = []
    length = 0
    for token in tokens:
        behind_table = bool(group) and group[-1].type == "table_close"
        starts = _STARTS if not behind_table else (*_STARTS, "table_open")
        if length > _PIECE and token.level == 0 and token.type in starts:
            yield group
            group, length = [], 0
        group.append(token)
        length += len(token.content) + 20 * (token.type == "td_open")
    if group:
        yield group


def _with_small_tables(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens with each large table split into several, its header repeated: a layout engine lays out whole
    tables.
    """
    table: list[Token] = []
    for token in tokens:
        if table or token.type == "table_open":
            table.append(token)
            if token.type == "table_close":
                yield from _cut_table(table)
                table = []
        else:
            yield token


def _cut_table(table: list[Token]) -> Iterator[Token]:
    rows = [index for index, token in enumerate(table) if token.type == "tr_open"]
    columns = sum(token.type == "th_open" for token in table)
    if len(rows) < 2 or len(rows) * columns <= _TABLE_PIECE:
        yield from table
        return
    table[0].attrs["width"] = "100%"
    for token in table:
        if token.type in ("td_open", "th_open"):
            token.attrs["width"] = f"{max(1, 100 // columns)}%"
    body = next(index for index, token in enumerate(table) if token.type == "tbody_open")
    head, tail = table[: body + 1], table[-2:]
    firsts = [*rows[1 :: max(1, _TABLE_PIECE // columns)], len(table) - len(tail)]
    for first, last in pairwise(firsts):
        yield from [*head, *table[first:last], *tail]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 2 * MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    ends = ["paragraph", "reference", "blockquote", "list"]
    parser.inline.ruler.before("link", "footnote", _footnote)
    parser.block.ruler.before("reference", "footnote", _footnote_words, {"alt": ends})
    parser.block.ruler.before("table", "caps", check_block, {"alt": ends})
    documents.enable(parser, ends)
    parser.core.ruler.at("inline", _inline)
    # Every link and image is parsed, so that none is left as raw Markdown; `_link` checks the target.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    for name, rule in (
        ("image", _image), ("link_open", _link), ("table_open", _table), ("th_open", _cell), ("td_open", _cell),
        (documents.TOKEN, _formula),
    ):  # fmt: skip
        parser.add_render_rule(name, rule)
    return parser


def _footnote(state: StateInline, silent: bool) -> bool:
    """The mark of a footnote, raised; it is no link, for its words stay where their author put them."""
    result = _FOOTNOTE.match(state.src, state.pos, state.posMax)
    if result is None:
        return False
    if not silent:
        state.push("sup_open", "sup", 1)
        state.push("text", "", 0).content = result[1]
        state.push("sup_close", "sup", -1)
    state.pos = result.end()
    return True


def _footnote_words(state: StateBlock, first: int, _last: int, silent: bool) -> bool:
    """The words of a footnote as a paragraph of their own; CommonMark would take one with an address for a
    definition.
    """
    start = state.bMarks[first] + state.tShift[first]
    result = _FOOTNOTE.match(state.src, start, state.eMarks[first])
    if result is None or not state.src.startswith(":", result.end()) or state.is_code_block(first):
        return False
    if not silent:
        state.line = first + 1
        state.push("paragraph_open", "p", 1).map = [first, state.line]
        inline = state.push("inline", "", 0)
        inline.content, inline.map, inline.children = (
            state.src[start : state.eMarks[first]].strip(),
            [first, state.line],
            [],
        )
        state.push("paragraph_close", "p", -1)
    return True


def _inline(state: StateCore) -> None:
    """The parser's own step, with limits checked before it and long runs broken after it."""
    check_tables(state.tokens)
    if _marks(state.src) > MAX_ALL_MARKS:
        raise TooMuch(f"It has more than {MAX_ALL_MARKS} marks for links, bold and the like.")
    for token in state.tokens:
        if token.type == "inline":
            check_time(state.env)
            check_paragraph(token.content)
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)
            token.children = list(_with_bare_links(token.children))
            if len(token.content) >= LONGEST_RUN:
                for child in token.children or ():
                    if child.type in ("text", "code_inline"):
                        child.content = with_breaks(child.content, BREAK_EVERY) + BREAK
        elif token.content and token.type != documents.TOKEN:
            if (
                len(token.content) > MAX_PARAGRAPH
                and max(map(len, token.content.split("\n"))) > MAX_PARAGRAPH
            ):
                raise TooMuch(f"One line of code is longer than {MAX_PARAGRAPH} characters.")
            token.content = with_breaks(token.content.rstrip("\n"))
    check_links(state.tokens)


def _with_bare_links(children: Sequence[Token]) -> Iterator[Token]:
    """The tokens with each bare address in the text made a link to itself."""
    inside = 0
    for child in children:
        inside += child.nesting if child.type.startswith("link_") else 0
        if inside or child.type != "text" or "://" not in child.content:
            yield child
        else:
            yield from _linked(child.content)


def _linked(text: str) -> Iterator[Token]:
    at = 0
    for address in _ADDRESS.finditer(text):
        url, end = address[0], address.end()
        if url.count("(") > url.count(")") and text[end : end + 1] == ")":
            url, end = url + ")", end + 1
        if len(url) > MAX_LINK:
            continue
        yield _text(text[at : address.start()])
        yield from (Token("link_open", "a", 1, attrs={"href": url}), _text(url), Token("link_close", "a", -1))
        at = end
    yield _text(text[at:])


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """The placeholder of a picture, which is never loaded: its name, and its address as link and tooltip."""
    alt = renderer.renderInlineAsText(tokens[index].children, options, env).strip()
    place = f"<em>[image: {escape(alt)}]</em>" if alt else "<em>[image]</em>"
    address = escape(str(tokens[index].attrs.get("src", "")))
    linked = sum(token.nesting for token in tokens[:index] if token.type.startswith("link_"))
    if linked or len(address) > MAX_LINK or not address.lower().startswith(("http://", "https://")):
        return place
    return f'<a href="{address}" title="{address}">{place}</a>'


def _formula(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, env: EnvType
) -> str:
    """A formula as a picture, with its source as alternative text; or the source."""
    token = tokens[index]
    source = token.content
    picture = _picture(source, env)
    if picture in (_UNDRAWN, _LATE, _LARGE):
        env["left"].setdefault(picture, set()).add(source)
        shown = f"<code>{escape(source)}</code>"
    else:
        shown = f'<img src="{picture}" alt="{escape(source)}">'
    return f'<p align="center">{shown}</p>\n' if token.block else shown


def _picture(source: str, env: EnvType) -> str:
    if env["until"] is None:
        # Loading it takes long, once, and does not count towards the time for rendering.
        documents.library()
        env["until"] = time.monotonic() + MAX_DRAWING_S
    if time.monotonic() >= env["until"]:
        return _LATE
    made = documents.formula_picture(source)
    if made is None:
        return _UNDRAWN
    address = made.address()
    if env["length"] + len(address) > MAX_DRAWINGS_LENGTH:
        return _LARGE
    env["length"] += len(address)
    return address


def _link(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """A link to the web keeps its address and nothing else; any other is reduced to its words."""
    address = str(tokens[index].attrs.get("href", ""))
    if len(address) > MAX_LINK or not address.lower().startswith(("http://", "https://")):
        return "<a>"
    return f'<a href="{escape(address)}">'


def _table(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    width = ' width="100%"' if tokens[index].attrs.get("width") else ""
    return f'<table border="1" cellspacing="0" cellpadding="5"{width}>\n'


def _cell(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """A cell with the attributes Qt reads: it knows `align`, not the style sheet's `text-align`."""
    token = tokens[index]
    style = str(token.attrs.get("style", ""))
    align = f' align="{style.removeprefix("text-align:")}"' if style else ""
    width = f' width="{token.attrs["width"]}"' if "width" in token.attrs else ""
    return f"<{token.tag}{align}{width}>"


class TooMuch(Exception):
    """A limit was exceeded; the message is the reason to show."""


def check_block(state: StateBlock, _line: int, _end: int, _silent: bool) -> bool:
    """A block rule that never matches: raises TooMuch if lists or quotes nest too deep or time runs out.

    The parser itself would silently drop deeper blocks.
    """
    if state.level >= MAX_NESTING:
        raise TooMuch(f"Its lists or quotations nest deeper than {MAX_NESTING} levels.")
    if len(state.tokens) > MAX_TOKENS:
        raise TooMuch("It has too many blocks: paragraphs, list entries or quotations.")
    check_time(state.env)
    return False


def check_time(env: MutableMapping[str, Any]) -> None:
    """Raises TooMuch once the `deadline` of the environment is over."""
    if time.monotonic() > env["deadline"]:
        raise TooMuch(f"Rendering it took more than {MAX_SECONDS:.0f} seconds.")


def check_paragraph(text: str) -> None:
    if len(text) > MAX_PARAGRAPH:
        raise TooMuch(f"One paragraph is longer than {MAX_PARAGRAPH} characters.")
    if len(text) > MAX_MARKS and _marks(text) > MAX_MARKS:
        raise TooMuch(f"One paragraph has more than {MAX_MARKS} marks for links, bold and the like.")


def check_tables(tokens: Sequence[Token]) -> None:
    rows = cells = 0
    for token in tokens:
        if token.type == "table_open":
            rows = cells = 0
        elif token.type == "tr_open":
            rows += 1
        elif token.type in ("td_open", "th_open"):
            cells += 1
        if rows > MAX_ROWS or cells > MAX_CELLS:
            raise TooMuch(f"One table has more than {MAX_ROWS} rows or {MAX_CELLS} cells.")


def check_links(tokens: Sequence[Token]) -> None:
    """Raises TooMuch if a few definitions are repeated into far more text than there was."""
    length = 0
    for token in tokens:
        lengths = (len(str(child.attrs.get("href", ""))) for child in token.children or ())
        length += sum(each for each in lengths if each <= MAX_LINK)
    if length > MAX_LINKS_LENGTH:
        raise TooMuch("Its links are longer than the report itself.")


def _marks(text: str) -> int:
    return sum(1 for _ in _MARK.finditer(text))
