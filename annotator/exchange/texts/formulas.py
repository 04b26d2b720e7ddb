"""Mathematics in a text, read and drawn: between dollars or TeX's brackets, unless it is money."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from annotator.domain.texts.formula import EM, LONGEST_PATH, Formula

LONGEST = 2_000
# Each level doubles the time that a drawing takes: 6 a tenth of a second, 12 ten seconds.
DEEPEST = 6
TOKEN = "formula"
InlineRule = Callable[[StateInline, bool], bool]
BlockRule = Callable[[StateBlock, int, int, bool], bool]

_DELIMITED = re.compile(r"(\$\$|\$|\\\(|\\\[)(.*?)(\$\$|\$|\\\)|\\\])", re.DOTALL)
_GROUPS = re.compile(r"\\[A-Za-z]+\*?\s*\{[^{}]*\}|\\[A-Za-z]+")
# What plain words have none of.
_SIGNS = re.compile(r"[\\^_=<>+{}|≤≥≠≈∈∑∏∫√∞×·±→∀∃Α-Ωα-ω]")
_PROSE = re.compile(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}\s+[^\W\d_]{2,}")
_MONEY = re.compile(r"\d[\d.,]*\s*[^\W\d_]{3,}|\d[\d.,]*.*\s[^\W\d_]{2,}\s")
_REFERENCE = re.compile(r"[\d\s,;–-]*|.*\]\(.*", re.DOTALL)
# Every formula stands for itself: a number would always be 1.
_NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|alignat|gather|multline|flalign|eqnarray)\}")
# A brace or a backslash with a backslash before it stands for itself.
_NESTING = re.compile(r"\\[\\{}]|[{}]|\\(?:left|right)(?![a-z])|\\(?:begin|end)")
# Each closes its own kind alone: the libraries go on in brackets where a brace too many closes nothing.
_STEPS = {
    "{": ("group", 1), "\\left": ("bracket", 1), "\\begin": ("environment", 1),
    "}": ("group", -1), "\\right": ("bracket", -1), "\\end": ("environment", -1),
}  # fmt: skip
_COMMANDS = "MLQCZ"
_PARTS = re.compile(r"[MLQCZ]|-?\d+(?:\.\d+)?")


def is_mathematics(source: str) -> bool:
    """Whether what stands between delimiters is a formula: neither a price, nor a reference, nor words."""
    found = _DELIMITED.fullmatch(source)
    if len(source) > LONGEST or (found is None and not source.startswith("\\begin{")):
        return False
    if found is None:
        return True
    opening, content = found[1], found[2]
    plain = _GROUPS.sub(" ", content)
    if not content.strip() or _PROSE.search(plain) or (opening == "\\[" and _REFERENCE.fullmatch(content)):
        return False
    if opening == "$" and (
        _MONEY.match(plain) or (content != content.strip() and not _SIGNS.search(content))
    ):
        return False
    return bool(_SIGNS.search(content)) or len(content.split()) == 1 or not re.search(r"[^\W\d_]{3,}", plain)


def enable(parser: MarkdownIt, ends: list[str]) -> None:
    """Have a parser read formulas as tokens of their own, whose content is the source with its delimiters."""
    from mdit_py_plugins.amsmath import amsmath_block
    from mdit_py_plugins.dollarmath.index import math_block_dollar, math_inline_dollar

    dollars = math_inline_dollar(allow_space=True, allow_digits=False, allow_double=True)
    blocks: tuple[BlockRule, ...] = (math_block_dollar(allow_labels=False), amsmath_block, _block_brackets)
    for rule in (dollars, _inline_brackets):
        parser.inline.ruler.before("escape", f"formula {rule.__name__}", _inline(rule))
    for one in blocks:
        parser.block.ruler.before("fence", f"formula {one.__name__}", _block(one), {"alt": ends})


def _inline(rule: InlineRule) -> InlineRule:
    def guarded(state: StateInline, silent: bool) -> bool:
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
    """The rule, obeying `silent` and leaving alone what is no mathematics."""

    def guarded(state: StateBlock, first: int, last: int, silent: bool) -> bool:
        known, line = len(state.tokens), state.line
        if not rule(state, first, last, False):
            return False
        source = state.getLines(first, state.line, state.blkIndent, False).strip()
        found = is_mathematics(source)
        if found and not silent:
            token = state.tokens[-1]
            token.type, token.content, token.block = TOKEN, source, True
        else:
            del state.tokens[known:]
            state.line = line
        return found

    return guarded


def _inline_brackets(state: StateInline, silent: bool) -> bool:
    closing = {"\\(": "\\)", "\\[": "\\]"}.get(state.src[state.pos : state.pos + 2])
    end = state.src.find(closing, state.pos + 2) if closing else -1
    if end < 0:
        return False
    if not silent:
        state.push(TOKEN, "", 0)
    state.pos = end + 2
    return True


def _block_brackets(state: StateBlock, first: int, last: int, _silent: bool) -> bool:
    """From a line that begins with the bracket to one that ends with its partner; no blank line between."""
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


def is_display(source: str) -> bool:
    """Whether a formula stands on lines of its own."""
    return source.startswith(("$$", "\\[", "\\begin"))


@lru_cache(maxsize=4_096)
def drawn(source: str) -> Formula | None:
    """A formula's drawing; None where it holds what cannot be drawn: unknown commands, other scripts, bad TeX.

    Nor can one whose outline would be longer than `LONGEST_PATH`.
    """
    if _depth(source) > DEEPEST:
        return None
    tex = source if source.startswith("\\begin{") else source.strip("$") if source[0] == "$" else source[2:-2]
    tex = _NUMBERED.sub(r"\\\1{\2*}", tex.strip())
    made = _tried(partial(library().Latex, tex, size=EM, margin=0, inline=not is_display(source)))
    if made is None or not _is_known(made):
        return None
    svg = _tried(made.svgxml)
    return None if svg is None else _outlined(svg)


def _tried(act: Callable[[], Any]) -> Any:
    """What the libraries make of TeX; None where they cannot read it."""
    try:
        return act()
    except _faults():
        return None


def _depth(tex: str) -> int:
    """How deep groups, brackets and environments lie in one another."""
    deepest, depths = 0, Counter[str]()
    for mark in _NESTING.findall(tex):
        if mark in _STEPS:
            kind, step = _STEPS[mark]
            depths[kind] = max(0, depths[kind] + step)
            deepest = max(deepest, depths.total())
    return deepest


@cache
def library() -> ModuleType:
    """What draws: loaded with the first formula, since it reads a font."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import ziamath
        from ziamath.config import config
    config.svg2 = False
    # With none it would strip the noughts of whole numbers.
    config.precision = 1
    loaded: ModuleType = ziamath
    return loaded


@cache
def _faults() -> tuple[type[BaseException], ...]:
    """What the libraries raise for TeX that they cannot read."""
    from latex2mathml import exceptions

    own = [one for one in vars(exceptions).values() if isinstance(one, type) and issubclass(one, Exception)]
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
    """Whether every command was understood, and every letter has a shape in the font."""
    words = "".join(made.mathml.itertext())
    return "\\" not in words and all(
        letter.isspace() or unseen(letter) or made.font.glyphindex(letter) for letter in words
    )


def unseen(letter: str) -> bool:
    """Whether a letter only says how others are set: invisible operators and spaces."""
    return "\u2060" <= letter <= "\u2064" or letter in "\u200b\u200c\u200d\ufeff"


def _outlined(svg: ElementTree.Element) -> Formula | None:
    """An SVG's shapes as one outline; None where it holds others than letters and bars, or too many."""
    left, top, width, height = map(float, svg.attrib["viewBox"].split())
    outlines = list[str]()
    for shape in svg:
        if shape.tag == "path" and "transform" not in shape.attrib and _is_outline(shape.attrib["d"]):
            outlines.extend(_short(shape.attrib["d"]))
        elif shape.tag == "rect":
            x, y, w, h = (round(float(shape.attrib[name])) for name in ("x", "y", "width", "height"))
            h = max(1, h)
            outlines.append(f"M{x} {y}L{x + w} {y}L{x + w} {y + h}L{x} {y + h}Z")
        else:
            return None
    path = "".join(outlines)
    if not 0 < len(path) <= LONGEST_PATH:
        return None
    return Formula(round(left + width), round(-top), round(top + height), path)


def _is_outline(path: str) -> bool:
    """Whether it is of known commands and plain numbers alone."""
    return not re.sub(r"[\s,]+", "", _PARTS.sub("", path))


def _short(path: str) -> Iterator[str]:
    """The parts of an outline with whole numbers and no spare space."""
    before = "Z"
    for part in _PARTS.findall(path):
        number = part if part in _COMMANDS else str(round(float(part)))
        yield number if part in _COMMANDS or before in _COMMANDS else f" {number}"
        before = part
