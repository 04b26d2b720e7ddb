"""LaTeX of a paper's section: its citation keys, and its words as Markdown; and lists of references in texts."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, pairwise
from typing import Any

from pylatexenc.latex2text import (
    EnvironmentTextSpec,
    LatexNodes2Text,
    MacroTextSpec,
    SpecialsTextSpec,
    get_default_latex_context_db as default_words,
)
from pylatexenc.latexwalker import (
    LatexMacroNode,
    LatexWalker,
    get_default_latex_context_db as default_grammar,
)
from pylatexenc.macrospec import MacroSpec

from annotator.domain.common import Refusal
from annotator.protocols.registry import LIST_MARKER, begins_with_names, is_list_heading

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*(?:\n[ \t]*)?")
_COMMENTED = re.compile(r"(?<!\\)((?:\\\\)*)(%.*)")
_LEFT_OUT = re.compile(
    r"\\iffalse\b.*?(?:\\fi\b|\\else\b|\Z)|\\begin\{comment\}.*?(?:\\end\{comment\}|\Z)", re.DOTALL
)
_DEFINED = re.compile(
    r"\\(?:(?:re|provide)?newcommand|providecommand|DeclareRobustCommand)\*?\s*"
    r"(?:\{\s*\\([A-Za-z]+)\s*\}|\\([A-Za-z]+))\s*(?:\[(\d)\]\s*)?(?=\{)"
    r"|\\def\s*\\([A-Za-z]+)\s*((?:#\d)*)\s*(?=\{)"
)
# Definitions may be nested; no author's text needs more passes, or grows to more than this.
_TURNS, _LONGEST, _LONGEST_ARGUMENT, _MOST = 6, 8_000_000, 5_000, 5_000
_CITES = re.compile(r"\\([A-Za-z]*[cC]ite[A-Za-z]*\*?)")
# Their arguments name no work that the words rest on.
_NO_CITATION = {"nocite", "citestyle", "citenum", "newcite", "defcitealias"}
_MULTIPLE = re.compile(
    r"(\\[A-Za-z]*[cC]ites)((?:\s*\([^()]*\)){0,2})((?:\s*(?:\[[^\]]*\]\s*){0,2}\{[^{}]*\}){2,})"
)
# A command or environment with the bracket behind it, anything escaped, or a bracket or brace alone.
_OPTIONS = re.compile(r"\\(begin\s*\{[^{}]*\}|[A-Za-z@]+\*?|\\\*?)\s*\[|\\.|[\[\]{}]", re.DOTALL)
_MOST_OPTIONS = 6
_TOO_DEEP = ("A LaTeX text nests too deep to be read.", "Close its braces, or leave it out.")
_HEADINGS = {"part": "#", "chapter": "#", "section": "##", "subsection": "###", "subsubsection": "####"}
_RUN_IN = ("paragraph", "subparagraph")
_DISCARDED = ("figure", "figure*", "table", "table*", "wrapfigure", "wraptable", "tikzpicture", "algorithm")
_FORGOTTEN = (
    "label",
    "vspace",
    "hspace",
    "vskip",
    "hskip",
    "bibliographystyle",
    "bibliography",
    "nocite",
    "pagestyle",
    "input",
    "include",
)
_FLOATS = re.compile(r"\\begin\{((?:wrap)?figure\*?)\}.{0,20000}?\\end\{\1\}|\\label\s*\{[^{}]*\}", re.DOTALL)
# Commands that a style may redefine for layout, without changing their meaning.
_FIRM = {*_HEADINGS, "bibliography", "label", "item", "appendix", "documentclass"}
_SPACES = re.compile(r"[ \t]+")
_MANY_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")

# The library knows these with their braces, but would leave out their text.
_TEXT_COMMANDS = {
    **dict.fromkeys(("texttt", "textsf", "textmd", "textup", "mbox"), "%s"),
    "textless": "<", "textgreater": ">", "textunderscore": "_", "textbar": "|", "slash": "/",
}  # fmt: skip

Marks = Callable[[tuple[str, ...]], str]


def without_comments(latex: str) -> str:
    """The visible source: without comments and without what is switched off; `\\%` stays a percent sign."""
    return _LEFT_OUT.sub("", _COMMENT.sub(r"\1", latex))


@cache
def plain_decoder(math_mode: str = "text") -> LatexNodes2Text:
    """A decoder of single fields and entries: all their words and characters, addresses without brackets."""
    return LatexNodes2Text(latex_context=_text_context({"url": "%s"}), math_mode=math_mode)


def _text_context(more: Mapping[str, str] = {}) -> Any:
    words = default_words()
    macros = [
        MacroTextSpec(name, simplify_repl=replacement)
        for name, replacement in {**_TEXT_COMMANDS, **more}.items()
    ]
    words.add_context_category("saying", macros=macros, prepend=True)
    return words


def citations(latex: str, *, comments: bool = False) -> list[tuple[str, ...]]:
    """The keys of each citing command, in order; with `comments` those in comments count too."""
    text = _single(re.sub(r"(?<!\\)%", " ", latex) if comments else without_comments(latex))
    return [result for node in _each(_nodes(text)) if _is_citing(node) and (result := _keys(node))]


def cited_keys(latex: str, *, comments: bool = False) -> list[str]:
    return list(dict.fromkeys(key for keys in citations(latex, comments=comments) for key in keys))


def markdown(latex: str, mark: Marks) -> str:
    """The words as Markdown: headings, lists, emphasis, formulas as `$…$`; `mark` returns the text for a citation.

    Figures, tables and labels are left out; a command without a known meaning leaves the words in its braces.
    """
    text = _single(in_plain_words(without_comments(latex)))
    reader = LatexNodes2Text(
        latex_context=_words(_citing_names(text), mark),
        math_mode="verbatim",
        strict_latex_spaces=False,
        keep_comments=False,
    )
    words = reader.nodelist_to_text(_nodes(text)).replace("\N{NO-BREAK SPACE}", " ")
    return _MANY_LINES.sub(
        "\n\n", "\n".join(_SPACES.sub(" ", line).strip() for line in words.split("\n"))
    ).strip()


def masked(latex: str) -> str:
    """The source with comments and switched-off parts replaced by spaces, so that every offset stays the same."""
    visible = _COMMENTED.sub(lambda match: match[1] + " " * len(match[2]), latex)
    return _LEFT_OUT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), visible)


def without_floats(latex: str) -> str:
    """The source without its figures and labels, its comments as they are."""
    visible = masked(latex)
    pieces, at = [], 0
    for result in _FLOATS.finditer(visible):
        pieces.append(latex[at : result.start()])
        at = result.end()
    return "".join([*pieces, latex[at:]]).strip()


def in_plain_words(latex: str) -> str:
    """The source with its own commands expanded.

    Those with arguments keep their names unless they cite.
    """
    visible = masked(latex)
    meaning: dict[str, tuple[int, str]] = {}
    pieces, at = [], 0
    for result in islice(_DEFINED.finditer(visible), _MOST):
        end, name = closing(visible, result.end()), result[1] or result[2] or result[4]
        takes = int(result[3] or len(result[5] or "") // 2)
        body = latex[result.end() + 1 : end]
        if end and result.start() >= at and name not in _FIRM and (not takes or "cite" in body.lower()):
            meaning[name] = takes, body
            pieces.append(latex[at : result.start()])
            at = end + 1
    return _meant("".join([*pieces, latex[at:]]), meaning)


def _meant(text: str, meaning: Mapping[str, tuple[int, str]]) -> str:
    """A text with each command replaced by its meaning, recursively."""
    if not meaning:
        return text
    names = "|".join(sorted(meaning, key=len, reverse=True))
    called = re.compile(rf"(?<!\\)\\({names})(?![A-Za-z@])(?:\{{\}})?")
    for _ in range(_TURNS):
        pieces, at, grown = [], 0, len(text)
        for result in called.finditer(text):
            takes, body = meaning[result[1]]
            given, end = _arguments(text, result.end(), takes)
            grown += len(body) + sum(
                len(words) * body.count(f"#{place}") for place, words in enumerate(given, 1)
            )
            if grown > _LONGEST:
                return text
            if result.start() < at or len(given) < takes:
                continue
            for place, words in enumerate(given, 1):
                body = body.replace(f"#{place}", words)
            pieces += [text[at : result.start()], body]
            at = end
        if not pieces:
            break
        text = "".join([*pieces, text[at:]])
    return text


def _arguments(text: str, at: int, many: int) -> tuple[list[str], int]:
    given: list[str] = []
    while len(given) < many and (opened := re.compile(r"\s*(?=\{)").match(text, at)):
        end = closing(text, opened.end())
        if not end:
            break
        given.append(text[opened.end() + 1 : end])
        at = end + 1
    return given, at


def closing(text: str, start: int, most: int = _LONGEST_ARGUMENT, depth: int = 0) -> int:
    """The offset at which the brace that opens at `start`, or `depth` open ones, are closed; 0 if they are not.

    Looks no further than `most` characters.
    """
    for result in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start, start + most):
        depth += {"{": 1, "}": -1}.get(result[0], 0)
        if depth == 0:
            return result.start()
    return 0


def _single(latex: str) -> str:
    """The source in which a command with several lists of keys, such as `\\cites{a}{b}`, has one."""

    def one(match: re.Match[str]) -> str:
        keys = re.findall(r"\{([^{}]*)\}", match[3])
        return f"{match[1]}{{{','.join(keys)}}}"

    return _MULTIPLE.sub(one, latex)


def _citing_names(text: str) -> set[str]:
    result = {name.rstrip("*") for name in _CITES.findall(text)}
    return {name for name in result if name.lower() not in _NO_CITATION}


def _nodes(text: str) -> Any:
    """The parsed nodes of the source; Refusal if it nests deeper than anybody writes."""
    grammar = default_grammar()
    citing = [MacroSpec(name, "*[[{") for name in _citing_names(text)]
    plain = [MacroSpec(name, "*{") for name in (*_FORGOTTEN, *_RUN_IN)]
    grammar.add_context_category("citing", macros=[*citing, *plain], prepend=True)
    try:
        closed = _without_open_options(text, grammar)
        return LatexWalker(closed, latex_context=grammar, tolerant_parsing=True).get_latex_nodes()[0]
    except RecursionError:
        raise Refusal(*_TOO_DEEP) from None
    except (IndexError, KeyError):
        # The parser fails on a text that ends in the middle of a command.
        raise Refusal(
            "A LaTeX text ends in the middle of a command.", "Complete it, or leave it out."
        ) from None


def _without_open_options(text: str, grammar: Any) -> str:
    """The source in which a bracket behind a command that is never closed begins no option.

    The parser would read on from each of them to the end, and again from the next one: twice as long for each. For
    the same reason, options nested more deeply than anybody writes are refused.
    """
    opened: list[_OpenBracket] = []
    never: list[int] = []
    after = -1
    for result in _OPTIONS.finditer(text):
        sign = result[0][-1]
        if result[1] is not None:
            opened.append(_OpenBracket("[", result.end() - 1, option=_takes_options(result[1], grammar)))
        elif sign in "[{" and len(result[0]) == 1:
            # A second option directly follows the first.
            again = sign == "[" and after >= 0 and not text[after : result.start()].strip()
            opened.append(_OpenBracket(sign, result.start(), option=again))
        elif len(result[0]) == 1 and (sign == "}" or (opened and opened[-1].sign == "[")):
            after = result.end() if sign == "]" and opened[-1].option else -1
            never += _closed(opened, "{" if sign == "}" else "[")
    never += _closed(opened, "")
    pieces, at = [], 0
    for place in sorted(never):
        pieces += [text[at:place], "{}"]
        at = place
    return "".join([*pieces, text[at:]])


@dataclass(slots=True)
class _OpenBracket:
    """A bracket or brace waiting to be closed; `inside` is the depth of nested options in it."""

    sign: str
    at: int
    option: bool = False
    inside: int = 0


def _closed(opened: list[_OpenBracket], sign: str) -> list[int]:
    """Close the last with this sign, or all if there is none; returns the offsets of options that are thereby never
    closed.
    """
    never = []
    while opened:
        last = opened.pop()
        depth = last.inside + (last.option and last.sign == sign)
        if depth > _MOST_OPTIONS:
            raise Refusal(*_TOO_DEEP)
        if opened:
            opened[-1].inside = max(opened[-1].inside, depth)
        if last.sign == sign:
            break
        never += [last.at] * last.option
    return never


def _takes_options(name: str, grammar: Any) -> bool:
    if name.startswith("begin"):
        return True
    result = grammar.get_macro_spec(name.rstrip("*"))
    return "[" in (getattr(getattr(result, "args_parser", None), "argspec", "") or "")


def _each(nodes: Any) -> Iterator[Any]:
    for node in nodes or ():
        if node is None:
            continue
        yield node
        yield from _each(getattr(getattr(node, "nodeargd", None), "argnlist", None))
        yield from _each(getattr(node, "nodelist", None))


def _is_citing(node: Any) -> bool:
    named = node.macroname.rstrip("*").lower() if isinstance(node, LatexMacroNode) else ""
    return "cite" in named and named not in _NO_CITATION


def _keys(node: Any) -> tuple[str, ...]:
    given = node.nodeargd.argnlist[-1] if node.nodeargd and node.nodeargd.argnlist else None
    words = given.latex_verbatim().strip("{}") if given is not None else ""
    return tuple(key for part in words.split(",") if (key := " ".join(part.split())))


def _words(citing: set[str], mark: Marks) -> Any:
    def argument(node: Any, reader: Any) -> str:
        given = node.nodeargd.argnlist[-1] if node.nodeargd and node.nodeargd.argnlist else None
        return " ".join(reader.nodelist_to_text([given]).split()) if given is not None else ""

    def around(before: str, after: str) -> Callable[..., str]:
        def made(node: Any, l2tobj: Any) -> str:
            words = argument(node, l2tobj)
            return f"{before}{words}{after}" if words else ""

        return made

    def cited(node: Any, l2tobj: Any) -> str:  # noqa: ARG001 - pylatexenc asks for the name
        return mark(_keys(node))

    shown: Mapping[str, str | Callable[..., str]] = {
        **{name: around(f"\n\n{level} ", "\n\n") for name, level in _HEADINGS.items()},
        **{name: around("\n\n**", "** ") for name in _RUN_IN},
        **dict.fromkeys(("emph", "textit", "textsl"), around("*", "*")),
        "textbf": around("**", "**"),
        "footnote": around(" (", ")"),
        "texorpdfstring": around("", ""),
        "item": "\n- ",
        "textcolor": around("", ""),
        **dict.fromkeys(_FORGOTTEN, ""),
        **dict.fromkeys(citing, cited),
    }
    words = _text_context()
    words.add_context_category(
        "markdown",
        macros=[MacroTextSpec(name, simplify_repl=made) for name, made in shown.items()],
        environments=[EnvironmentTextSpec(name, discard=True) for name in _DISCARDED],
        specials=[SpecialsTextSpec("~", " ")],
        prepend=True,
    )
    return words


# No entry has more lines, and no list omits more numbers (a line that the PDF does not give).
MOST_LINES, MOST_SKIPPED = 25, 2
_NUMBER = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\[(\d{1,3})\]|\((\d{1,3})\)(?=\s)|(\d{1,3})\.(?=\s)|(\d{1,3})(?=\s+[^\W\d_]))\s*"
)
_MARKED = re.compile(
    r"\s{0,3}#{1,6}\s+(?P<words>\S.*)|\s*(?:\*\*|__)(?P<bold>[^*_]{1,200})(?:\*\*|__)\s*:?\s*"
)
_LINE_NUMBER = re.compile(r"\s*(?:#+\s*)?(\d{1,4})(?=\s|$)\s*")
# Text that follows a list if no mark or larger type shows a heading.
_AFTER = re.compile(
    r"\s*(?:(?i:appendi(?:x|ces)\b.{0,60}|supplementa\w*(?: \w+){0,4}|acknowledge?ments?|author contributions?)"
    r"|(?i:(?:neurips )?paper checklist)"
    r"|[A-Z](?:\.\d+)*\.? {1,4}(?!and\b)[A-Z][\w-]+(?: [\w,:&()-]+){0,8}|[A-Z]\.\d+\.? .{3,60})\s*"
)
_FINISHED = re.compile(r"(?:[.\d/)\]]|https?://\S+(?:\s\S+)?)$")
_COMMON = re.compile(
    r"\b(?:we|our|us|is|are|was|were|be|been|has|have|had|can|could|may|must|should|will|would|this|these|those|that"
    r"|which|it|its|they|their|not|than|then|there|if|when|where|also|each|such|both|see)\b",
    re.IGNORECASE,
)
_PARTED = re.compile(r"(\w+)(?:[-\u00ad\ufffe\ufffd\x02]\n\s*|[\ufffe\x02])([a-zß-ÿ]\w*)")
_IN_ADDRESS = re.compile(
    r"((?:https?://|\b10\.\d{4,9}/|arxiv\.org/)\S*[/_.=?&-]|https?:)\n\s*(?=[\w%])", re.IGNORECASE
)
TELLING = re.compile(r"\b(?:19|20)\d\d[a-z]?\b|https?://|\bdoi\b|\barxiv\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a list: its words and indent, whether a gap precedes it, its number, whether it is a heading."""

    text: str
    indent: int
    after_gap: bool
    number: int
    heading: bool

    @property
    def mark(self) -> tuple[int, int] | None:
        """The form and the number of the mark at its beginning."""
        result = _NUMBER.match(self.text)
        form = next((at for at in range(1, 5) if result and result[at]), 0)
        return (form, int(result[form])) if result and form else None


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of a list: its words on one line, the line of the text where it begins, and any oddity of its place."""

    words: str
    line: int
    odd: str = ""


def listed_entries(text: str) -> list[ListedEntry]:
    """The entries of the reference lists of a paper; empty if there is no heading of one."""
    lines = list(_lines(text))
    heads = [at for at, line in enumerate(lines) if _announces(line)]
    sections = (_without_line_numbers(lines[at:end]) for at, end in pairwise([*heads, len(lines)]))
    lists = [_entries(text, section) for section in sections]
    # A heading such as “Sources” may belong to something else.
    real = [
        entries
        for entries in lists
        if 2 * sum(bool(TELLING.search(entry.words)) for entry in entries) >= len(entries) > 0
    ]
    first, *others = real or lists or [[]]
    return first + [
        replace(entry, odd="it stands in another list further on in the text")
        for entries in others
        for entry in entries
    ]


def numbered_entries(text: str) -> list[ListedEntry]:
    """The entries of a text that is a numbered list from its first line to its last; empty if it is not."""
    lines = list(_lines(text))
    begins = _numbered(lines)
    if not begins or begins[0] or _end_of_last(lines, begins) < len(lines):
        return []
    return _entries(text, lines)


def is_prose(words: str) -> bool:
    common, counted = len(_COMMON.findall(words)), len(words.split())
    return (common > 2 and common * 9 > counted) or (
        common > 1 and counted > 12 and not TELLING.search(words)
    )


def _entries(text: str, lines: Sequence[_Line]) -> list[ListedEntry]:
    numbered = _numbered(lines)
    begins = [*numbered, _end_of_last(lines, numbered)] if numbered else _starts(lines, "\f" in text)
    result: list[ListedEntry] = []
    for a, b in pairwise(begins):
        words = _joined([line.text for line in lines[a:b] if not line.heading], text)
        if not words:
            continue
        mark, after = lines[a].mark, lines[b].mark if b < begins[-1] else None
        skipped = numbered and mark and after and after[1] - mark[1] > 1
        odd = f"number {mark[1] + 1} is missing after it, so it may hold two" if skipped and mark else ""
        result.append(ListedEntry(words, lines[a].number, odd))
        if not numbered and all(is_prose(entry.words) for entry in result[-3:]) and len(result) > 2:
            return result[:-3]
    return result


def _lines(text: str) -> Iterator[_Line]:
    """The lines with words, without page numbers and text repeated at the edge of several pages."""
    pages = [page.split("\n") for page in text.split("\f")]
    spaced = any(not line.strip() for page in pages for line in page[1:-1])
    edges = Counter(key for page in pages for key in {_edge(page[at]) for at in _at_edges(page, spaced)})
    # The continuation of a sentence may be at the top of two pages by chance.
    heads = {
        key
        for key, count in edges.items()
        if count > 1 and not key[:1].islower() and sum(map(str.isalpha, key)) > 2
    }
    number = 0
    for page in pages:
        ends = _at_edges(page, spaced)
        gap, broken = False, True
        for at, line in enumerate(page):
            number += 1
            words = line.strip()
            numbers_page = len(pages) > 1 and words.isdigit() and len(words) < 5
            gap = gap or bool(numbers_page)
            if numbers_page or (at in ends and _edge(line) in heads):
                continue
            if words:
                marked = bool(_MARKED.fullmatch(line))
                yield _Line(line, len(line) - len(line.lstrip()), gap and not broken, number, marked)
                gap, broken = False, False
            else:
                gap = True
        number -= 1


def _at_edges(page: Sequence[str], spaced: bool) -> list[int]:
    """The lines that may be the head or the foot of a page: up to two, with a gap between them and the text."""
    worded = [at for at, line in enumerate(page) if line.strip()]
    if not spaced:
        return [*worded[:1], *worded[1:][-1:]]
    gaps = [place for place, (a, b) in enumerate(pairwise(worded), start=1) if b - a > 1] or [len(worded)]
    return (
        worded[: gaps[0] if gaps[0] < 3 else 0]
        + worded[gaps[-1] if len(worded) - gaps[-1] < 3 else len(worded) :]
    )


def _edge(line: str) -> str:
    return line.strip(" \t#|·0123456789")


def _without_line_numbers(lines: Sequence[_Line]) -> list[_Line]:
    """The lines below a heading, without the line numbers in a manuscript's margin."""
    head, *section = lines
    first = _LINE_NUMBER.match(head.text)
    numbers = [int(result[1]) if (result := _LINE_NUMBER.match(line.text)) else 0 for line in section[:60]]
    if not first or 5 * sum(0 < number - int(first[1]) <= len(numbers) for number in numbers) < 4 * len(
        numbers
    ):
        return section
    cleaned: list[_Line] = []
    gap = False
    for line in section:
        words = _LINE_NUMBER.sub("", line.text, count=1)
        gap = gap or line.after_gap
        if words:
            cleaned.append(replace(line, text=words, indent=0, after_gap=gap))
        gap = not words
    return cleaned


def _announces(line: _Line) -> bool:
    """Whether a line is the heading of a list, also in spaced capitals: R EFERENCES."""
    result = _MARKED.fullmatch(line.text)
    words = (result["words"] or result["bold"] if result else line.text).strip()
    return len(words) < 60 and (
        is_list_heading(re.sub(r"^(?:[IVX]+|[A-Z])\.\s+", "", words))
        or re.sub(r"[\W\d]", "", words).casefold() in ("references", "bibliography")
    )


def _numbered(lines: Sequence[_Line]) -> list[int]:
    """The lines at which the entries of a numbered list begin: in order from its first number on."""
    marks = [(at, mark) for at, line in enumerate(lines) if (mark := line.mark)]
    if not marks or marks[0][0] > 2:
        return []
    chain, (form, number) = [marks[0][0]], marks[0][1]
    while True:
        later = [(at, n) for at, (other, n) in marks if other == form and at > chain[-1]]
        # An entry may contain a figure; a missing number is looked for nearby only.
        reach = {1: 4 * MOST_LINES} | dict.fromkeys(range(2, MOST_SKIPPED + 2), MOST_LINES)
        near = (
            one
            for step in reach
            for one in later
            if one[1] == number + step and one[0] - chain[-1] <= reach[step]
        )
        after = next(near, None)
        if after is None:
            bullets = sum(
                line.text.lstrip()[:2] in ("- ", "* ", "• ", "– ") for line in lines[: chain[-1] + 1]
            )
            return chain if bullets <= len(chain) else []
        chain.append(after[0])
        number = after[1]


def _end_of_last(lines: Sequence[_Line], begins: Sequence[int]) -> int:
    """The line after the last entry of a numbered list: at a gap or a heading, or when it gets too long."""
    last = begins[-1]
    most = max((b - a for a, b in pairwise(begins)), default=MOST_LINES) + 1
    for at in range(last + 1, len(lines)):
        line, before = lines[at], lines[at - 1].text.strip()
        heads = line.heading or (_FINISHED.search(before) and _AFTER.fullmatch(line.text))
        if heads or line.after_gap or line.mark or at - last >= most:
            return at
    return len(lines)


def _starts(lines: Sequence[_Line], paged: bool) -> list[int]:
    """The lines at which entries without numbers begin, and where the last entry ends.

    They are recognised by bullets, hanging indents, gaps or names; if there are none of these, each line is one. A
    heading ends the list, but in a PDF only if no entries follow: it may be at the top of a page.
    """
    inner = lines[: next((at for at in range(len(lines)) if _ends(lines, at, paged)), len(lines))]
    by_mark = 3 * sum(bool(LIST_MARKER.match(line.text)) for line in inner) > len(inner)
    by_indent = 0.2 * len(inner) < sum(line.indent > 1 for line in inner) < len(inner)
    by_gap = 8 * sum(line.after_gap for line in inner) > len(inner)
    begins: list[int] = []
    led, before = False, ""
    for at, line in enumerate(inner):
        leads = bool(
            _FINISHED.search(before) and TELLING.search(before) and begins_with_names(line.text.strip())
        )
        led = led or leads
        if by_mark:
            new = line.after_gap or bool(LIST_MARKER.match(line.text))
        elif by_indent:
            new = line.indent <= 1
        else:
            new = leads or (by_gap and line.after_gap)
        if new or not begins:
            begins.append(at)
            before = ""
        before = f"{before} {line.text.strip()}"
    if not (by_mark or by_indent or by_gap or led):
        begins = list(range(len(inner)))
    return [*begins, len(inner)]


def _ends(lines: Sequence[_Line], at: int, paged: bool) -> bool:
    line, before = lines[at], lines[at - 1].text.strip() if at else ""
    if line.heading:
        led = [begins_with_names(one.text.strip()) for one in lines[at + 1 : at + 20]]
        return not paged or not (any(led[:1]) or sum(led) > 2)
    heads = _FINISHED.search(before) and _AFTER.fullmatch(line.text)
    return bool(heads and line.indent <= 1 and (line.text[1:2] == " " or not begins_with_names(line.text)))


def _joined(lines: Sequence[str], text: str) -> str:
    """Lines joined to one, with words and addresses that were split at their ends."""

    def whole(match: re.Match[str]) -> str:
        first, then = match.groups()
        hyphened = f"{first}-{then}" in text and f"{first}{then}" not in text
        return f"{first}-{then}" if hyphened else f"{first}{then}"

    return " ".join(_IN_ADDRESS.sub(r"\1", _PARTED.sub(whole, "\n".join(lines))).split())
