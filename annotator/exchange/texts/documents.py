"""Papers and pages as text: plain text unchanged, a PDF by the words on its pages; and formulas in Markdown."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from ctypes import c_int, create_string_buffer
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from annotator.domain.common import Refusal, checked_text, required, storable
from annotator.domain.texts.rendered import EM, LONGEST_PATH, Formula
from annotator.exchange.folders import read_bytes, within

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

LARGEST_DOCUMENT = 50 * 1024 * 1024
LONGEST_TEXT = 20_000_000
PAGE_BREAK = "\n\f\n"
_BOLD = re.compile(b"(?i)bold|medi|cmbx|black")
OTHER = "Choose another file; nothing was changed."


def read(path: Path) -> bytes:
    """The bytes of a document; Refusal if it is absent, unreadable, empty or too large."""
    whole = read_bytes(path, path.name, LARGEST_DOCUMENT)
    content = required(whole, f"“{path.name}” is empty.", OTHER)
    return within(content, path.name, LARGEST_DOCUMENT, OTHER)


def plain_text(content: bytes, name: str) -> str:
    """The text of a UTF-8 file, unchanged but for a byte order mark; Refusal if it is something else."""
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
    """The words of a PDF, page by page with a form feed between; Refusal if it is encrypted or damaged.

    With `layout` they come line by line as on the page, one column after the other with a form feed between: indents
    as spaces, a blank line for a gap, and "# " before a line in larger or bolder type.

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
    """Words of one line without a wide gap between them; coordinates in points from the bottom left of the page."""

    text: str
    left: float
    right: float
    middle: float
    height: float
    bold: bool


def _page_layout(page: Any) -> str:
    with closing(page), closing(page.get_textpage()) as words:
        runs = [run for run in _runs(words) if run.text]
    if not runs:
        return ""
    height, bold = median(run.height for run in runs), sum(run.bold for run in runs) * 2 > len(runs)
    parts = []
    for part in _in_reading_order(runs):
        lines = list(_rows(part))
        steps = [above.middle - below.middle for above, below in pairwise(lines)]
        gap = 1.3 * median(steps) if steps else 0.0
        # The number of a page may be anywhere.
        edge = min((line.left for line in lines if not line.text.isdigit()), default=0.0)
        read = []
        for line, step in zip(lines, [0.0, *steps], strict=True):
            raised = line.height > 1.15 * height or (line.bold and not bold)
            indent = " " * min(40, round((line.left - edge) / (0.5 * height)))
            read.append(
                "\n" * (step > gap) + ("# " if raised and len(line.text) < 80 else indent) + line.text
            )
        parts.append("\n".join(read))
    return PAGE_BREAK.join(parts)


def _runs(words: Any) -> Iterator[_Run]:
    """The words of a page in their order in the file."""
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
    """The runs of a page, separated into columns and those that span both, from the top."""
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
    """The position of the gap between two columns; 0 if there is one column."""
    inner = [left + (right - left) * (0.35 + step * 0.005) for step in range(61)]
    crossed = [sum(run.left < x < run.right for run in runs) for x in inner]
    free = [x for x, count in zip(inner, crossed, strict=True) if count == min(crossed)]
    x = free[len(free) // 2]
    sides = min(sum(run.right <= x for run in runs), sum(run.left >= x for run in runs))
    return x if min(crossed) <= 0.1 * len(runs) and sides > 1 else 0.0


def _rows(part: Sequence[_Run]) -> Iterator[_Run]:
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
    with closing(page), closing(page.get_textpage()) as words:
        return str(words.get_text_range()).replace("\r\n", "\n")


LONGEST = 2_000
# Each level doubles the time that rendering takes: 6 a tenth of a second, 12 ten seconds.
DEEPEST = 6
TOKEN = "formula"
InlineRule = Callable[["StateInline", bool], bool]
BlockRule = Callable[["StateBlock", int, int, bool], bool]

_DELIMITED = re.compile(r"(\$\$|\$|\\\(|\\\[)(.*?)(\$\$|\$|\\\)|\\\])", re.DOTALL)
_GROUPS = re.compile(r"\\[A-Za-z]+\*?\s*\{[^{}]*\}|\\[A-Za-z]+")
# Characters that plain words do not have.
_SIGNS = re.compile(r"[\\^_=<>+{}|≤≥≠≈∈∑∏∫√∞×·±→∀∃Α-Ωα-ω]")
_PROSE = re.compile(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}\s+[^\W\d_]{2,}")
_MONEY = re.compile(r"\d[\d.,]*\s*[^\W\d_]{3,}|\d[\d.,]*.*\s[^\W\d_]{2,}\s")
_REFERENCE = re.compile(r"[\d\s,;–-]*|.*\]\(.*", re.DOTALL)
# Every formula is rendered alone: its number would always be 1.
_NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|alignat|gather|multline|flalign|eqnarray)\}")
# A brace or a backslash with a backslash before it is literal.
_NESTING = re.compile(r"\\[\\{}]|[{}]|\\(?:left|right)(?![a-z])|\\(?:begin|end)")
# Each closes its own kind alone: the libraries continue within brackets if a brace too many closes nothing.
_STEPS = {
    "{": ("group", 1), "\\left": ("bracket", 1), "\\begin": ("environment", 1),
    "}": ("group", -1), "\\right": ("bracket", -1), "\\end": ("environment", -1),
}  # fmt: skip
_COMMANDS = "MLQCZ"
_PARTS = re.compile(r"[MLQCZ]|-?\d+(?:\.\d+)?")


def is_mathematics(source: str) -> bool:
    """Whether the text between delimiters is a formula: neither a price, nor a reference, nor words."""
    result = _DELIMITED.fullmatch(source)
    if len(source) > LONGEST or (result is None and not source.startswith("\\begin{")):
        return False
    if result is None:
        return True
    opening, content = result[1], result[2]
    plain = _GROUPS.sub(" ", content)
    if not content.strip() or _PROSE.search(plain) or (opening == "\\[" and _REFERENCE.fullmatch(content)):
        return False
    if opening == "$" and (
        _MONEY.match(plain) or (content != content.strip() and not _SIGNS.search(content))
    ):
        return False
    return bool(_SIGNS.search(content)) or len(content.split()) == 1 or not re.search(r"[^\W\d_]{3,}", plain)


def enable(parser: "MarkdownIt", ends: list[str]) -> None:
    """Make a parser read formulas as tokens of their own, whose content is the source with its delimiters."""
    from mdit_py_plugins.amsmath import amsmath_block
    from mdit_py_plugins.dollarmath.index import math_block_dollar, math_inline_dollar

    dollars = math_inline_dollar(allow_space=True, allow_digits=False, allow_double=True)
    blocks: tuple[BlockRule, ...] = (math_block_dollar(allow_labels=False), amsmath_block, _block_brackets)
    for rule in (dollars, _inline_brackets):
        parser.inline.ruler.before("escape", f"formula {rule.__name__}", _inline(rule))
    for block in blocks:
        parser.block.ruler.before("fence", f"formula {block.__name__}", _block(block), {"alt": ends})


def _inline(rule: InlineRule) -> InlineRule:
    def guarded(state: "StateInline", silent: bool) -> bool:
        at = state.pos
        if not rule(state, silent):
            return False
        source = state.src[at : state.pos]
        if is_mathematics(source):
            if not silent:
                token = state.tokens[-1]
                token.type, token.content, token.markup = TOKEN, source, ""
            return True
        if not silent:
            state.tokens.pop()
        state.pos = at
        return False

    return guarded


def _block(rule: BlockRule) -> BlockRule:
    """The rule, respecting `silent` and ignoring anything that is no mathematics."""

    def guarded(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
        known, line = len(state.tokens), state.line
        if not rule(state, first, last, False):
            return False
        source = state.getLines(first, state.line, state.blkIndent, False).strip()
        result = is_mathematics(source)
        if result and not silent:
            token = state.tokens[-1]
            token.type, token.content, token.block = TOKEN, source, True
        else:
            del state.tokens[known:]
            state.line = line
        return result

    return guarded


def _inline_brackets(state: "StateInline", silent: bool) -> bool:
    closing = {"\\(": "\\)", "\\[": "\\]"}.get(state.src[state.pos : state.pos + 2])
    end = state.src.find(closing, state.pos + 2) if closing else -1
    if end < 0:
        return False
    if not silent:
        state.push(TOKEN, "", 0)
    state.pos = end + 2
    return True


def _block_brackets(state: "StateBlock", first: int, last: int, _silent: bool) -> bool:
    """A block from a line that begins with the bracket to one that ends with its partner; no blank line between."""
    for number in range(first, last):
        line = state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()
        if (number == first and not line.startswith("\\[")) or not line:
            return False
        if line.endswith("\\]"):
            state.line = number + 1
            state.push(TOKEN, "", 0)
            return True
        if "\\]" in line:
            return False
    return False


@lru_cache(maxsize=4_096)
def formula_picture(source: str) -> Formula | None:
    """A formula's outline; None if it cannot be rendered: unknown commands, other scripts, bad TeX.

    Nor can one whose outline would be longer than `LONGEST_PATH`.
    """
    if _depth(source) > DEEPEST:
        return None
    tex = source if source.startswith("\\begin{") else source.strip("$") if source[0] == "$" else source[2:-2]
    tex = _NUMBERED.sub(r"\\\1{\2*}", tex.strip())
    made = _tried(
        partial(
            library().Latex, tex, size=EM, margin=0, inline=not source.startswith(("$$", "\\[", "\\begin"))
        )
    )
    if made is None or not _is_known(made):
        return None
    svg = _tried(made.svgxml)
    return None if svg is None else _outlined(svg)


def _tried(act: Callable[[], Any]) -> Any:
    """The libraries' result for TeX; None if they cannot read it."""
    try:
        return act()
    except _faults():
        return None


def _depth(tex: str) -> int:
    """The depth of nested groups, brackets and environments."""
    deepest, depths = 0, Counter[str]()
    for mark in _NESTING.findall(tex):
        if mark in _STEPS:
            kind, step = _STEPS[mark]
            depths[kind] = max(0, depths[kind] + step)
            deepest = max(deepest, depths.total())
    return deepest


@cache
def library() -> ModuleType:
    """The rendering library, loaded with the first formula, since it reads a font."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import ziamath
        from ziamath.config import config
    config.svg2 = False
    # With none it would strip the zeros of whole numbers.
    config.precision = 1
    loaded: ModuleType = ziamath
    return loaded


@cache
def _faults() -> tuple[type[BaseException], ...]:
    """The exceptions of the libraries for TeX that they cannot read."""
    from latex2mathml import exceptions

    own = [var for var in vars(exceptions).values() if isinstance(var, type) and issubclass(var, Exception)]
    return (
        *own,
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        RuntimeError,
        StopIteration,
        SyntaxError,
        TypeError,
        ValueError,
    )


def _is_known(made: Any) -> bool:
    """Whether every command was understood, and every letter has a glyph in the font."""
    words = "".join(made.mathml.itertext())
    return "\\" not in words and all(
        letter.isspace() or unseen(letter) or made.font.glyphindex(letter) for letter in words
    )


def unseen(letter: str) -> bool:
    """Whether a letter only affects the setting of others: invisible operators and spaces."""
    return "\u2060" <= letter <= "\u2064" or letter in "\u200b\u200c\u200d\ufeff"


def _outlined(svg: ElementTree.Element) -> Formula | None:
    """An SVG's shapes as one outline; None if it holds others than letters and bars, or too many."""
    left, top, width, height = map(float, svg.attrib["viewBox"].split())
    outlines = list[str]()
    for element in svg:
        if element.tag == "path" and "transform" not in element.attrib and _is_outline(element.attrib["d"]):
            outlines.extend(_short(element.attrib["d"]))
        elif element.tag == "rect":
            x, y, w, h = (round(float(element.attrib[name])) for name in ("x", "y", "width", "height"))
            h = max(1, h)
            outlines.append(f"M{x} {y}L{x + w} {y}L{x + w} {y + h}L{x} {y + h}Z")
        else:
            return None
    path = "".join(outlines)
    if not 0 < len(path) <= LONGEST_PATH:
        return None
    return Formula(round(left + width), round(-top), round(top + height), path)


def _is_outline(path: str) -> bool:
    """Whether it consists of known commands and plain numbers alone."""
    return not re.sub(r"[\s,]+", "", _PARTS.sub("", path))


def _short(path: str) -> Iterator[str]:
    """The parts of an outline with whole numbers and no spare space."""
    before = "Z"
    for part in _PARTS.findall(path):
        number = part if part in _COMMANDS else str(round(float(part)))
        yield number if part in _COMMANDS or before in _COMMANDS else f" {number}"
        before = part
