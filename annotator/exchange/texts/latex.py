"""LaTeX of a paper's section: its citation keys, and its words as Markdown."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from pylatexenc.latex2text import (
    EnvironmentTextSpec,
    LatexNodes2Text,
    MacroTextSpec,
    SpecialsTextSpec,
)
from pylatexenc.latex2text import get_default_latex_context_db as default_words
from pylatexenc.latexwalker import LatexMacroNode, LatexWalker
from pylatexenc.latexwalker import get_default_latex_context_db as default_grammar
from pylatexenc.macrospec import MacroSpec

from annotator.domain.texts.refusal import Refusal

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
# Definitions may stand in one another; no text of an author needs more turns, or grows to more than this.
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
# What a style may set in another way, and means the same.
_FIRM = {*_HEADINGS, "bibliography", "label", "item", "appendix", "documentclass"}
_SPACES = re.compile(r"[ \t]+")
_MANY_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")

# Known to the library with their braces, but not what they say, which it would leave out.
_SAYING = {
    **dict.fromkeys(("texttt", "textsf", "textmd", "textup", "mbox"), "%s"),
    "textless": "<", "textgreater": ">", "textunderscore": "_", "textbar": "|", "slash": "/",
}  # fmt: skip

Marks = Callable[[tuple[str, ...]], str]


def without_comments(latex: str) -> str:
    """The source that is set: without comments and without what is switched off; `\\%` stays a percent sign."""
    return _LEFT_OUT.sub("", _COMMENT.sub(r"\1", latex))


@cache
def plain_decoder(math_mode: str = "text") -> LatexNodes2Text:
    """A decoder of single fields and entries: all their words and signs, addresses without brackets."""
    return LatexNodes2Text(latex_context=_saying({"url": "%s"}), math_mode=math_mode)


def _saying(more: Mapping[str, str] = {}) -> Any:
    words = default_words()
    macros = [MacroTextSpec(name, simplify_repl=said) for name, said in {**_SAYING, **more}.items()]
    words.add_context_category("saying", macros=macros, prepend=True)
    return words


def citations(latex: str, *, comments: bool = False) -> list[tuple[str, ...]]:
    """The keys of each citing command, in order; `comments`: those that are commented out count too."""
    text = _single(re.sub(r"(?<!\\)%", " ", latex) if comments else without_comments(latex))
    return [found for node in _each(_nodes(text)) if _is_citing(node) and (found := _keys(node))]


def cited_keys(latex: str, *, comments: bool = False) -> list[str]:
    """Each citation key once, in the order of first mention."""
    return list(dict.fromkeys(key for keys in citations(latex, comments=comments) for key in keys))


def markdown(latex: str, mark: Marks) -> str:
    """The words as Markdown: headings, lists, emphasis, formulas as `$…$`; `mark` says what stands for a citation.

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
    """The source with spaces for its comments and for what is switched off, so that every place stays where it is."""
    said = _COMMENTED.sub(lambda found: found[1] + " " * len(found[2]), latex)
    return _LEFT_OUT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), said)


def without_floats(latex: str) -> str:
    """The source without its figures and labels, its comments as they are."""
    said = masked(latex)
    pieces, at = [], 0
    for found in _FLOATS.finditer(said):
        pieces.append(latex[at : found.start()])
        at = found.end()
    return "".join([*pieces, latex[at:]]).strip()


def in_plain_words(latex: str) -> str:
    """The source in which commands that it defines itself stand for their words.

    Those with arguments keep their names unless they cite.
    """
    said = masked(latex)
    meaning: dict[str, tuple[int, str]] = {}
    pieces, at = [], 0
    for found in islice(_DEFINED.finditer(said), _MOST):
        end, name = _closing(said, found.end()), found[1] or found[2] or found[4]
        takes = int(found[3] or len(found[5] or "") // 2)
        body = latex[found.end() + 1 : end]
        if end and found.start() >= at and name not in _FIRM and (not takes or "cite" in body.lower()):
            meaning[name] = takes, body
            pieces.append(latex[at : found.start()])
            at = end + 1
    return _meant("".join([*pieces, latex[at:]]), meaning)


def _meant(text: str, meaning: Mapping[str, tuple[int, str]]) -> str:
    """A text with the meaning of each command in its place, and of those in it."""
    if not meaning:
        return text
    names = "|".join(sorted(meaning, key=len, reverse=True))
    called = re.compile(rf"(?<!\\)\\({names})(?![A-Za-z@])(?:\{{\}})?")
    for _ in range(_TURNS):
        pieces, at, grown = [], 0, len(text)
        for found in called.finditer(text):
            takes, body = meaning[found[1]]
            given, end = _arguments(text, found.end(), takes)
            grown += len(body) + sum(
                len(words) * body.count(f"#{place}") for place, words in enumerate(given, 1)
            )
            if grown > _LONGEST:
                return text
            if found.start() < at or len(given) < takes:
                continue
            for place, words in enumerate(given, 1):
                body = body.replace(f"#{place}", words)
            pieces += [text[at : found.start()], body]
            at = end
        if not pieces:
            break
        text = "".join([*pieces, text[at:]])
    return text


def _arguments(text: str, at: int, many: int) -> tuple[list[str], int]:
    """The next arguments in braces, and where they end."""
    given: list[str] = []
    while len(given) < many and (opened := re.compile(r"\s*(?=\{)").match(text, at)):
        end = _closing(text, opened.end())
        if not end:
            break
        given.append(text[opened.end() + 1 : end])
        at = end + 1
    return given, at


def _closing(text: str, start: int) -> int:
    """Where the brace that opens at `start` is closed; 0 where it is not."""
    depth = 0
    for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start, start + _LONGEST_ARGUMENT):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    return 0


def _single(latex: str) -> str:
    """The source in which a command with several lists of keys, such as `\\cites{a}{b}`, has one."""

    def one(found: re.Match[str]) -> str:
        keys = re.findall(r"\{([^{}]*)\}", found[3])
        return f"{found[1]}{{{','.join(keys)}}}"

    return _MULTIPLE.sub(one, latex)


def _citing_names(text: str) -> set[str]:
    found = {name.rstrip("*") for name in _CITES.findall(text)}
    return {name for name in found if name.lower() not in _NO_CITATION}


def _nodes(text: str) -> Any:
    """What the source is made of; Refusal where it nests deeper than anybody writes."""
    try:
        return _walker(text).get_latex_nodes()[0]
    except RecursionError:
        raise Refusal(*_TOO_DEEP) from None
    except (IndexError, KeyError):
        # The parser trips over a text that ends in the middle of a command.
        raise Refusal(
            "A LaTeX text ends in the middle of a command.", "Complete it, or leave it out."
        ) from None


def _walker(text: str) -> LatexWalker:
    grammar = default_grammar()
    citing = [MacroSpec(name, "*[[{") for name in _citing_names(text)]
    plain = [MacroSpec(name, "*{") for name in (*_FORGOTTEN, *_RUN_IN)]
    grammar.add_context_category("citing", macros=[*citing, *plain], prepend=True)
    return LatexWalker(_without_open_options(text, grammar), latex_context=grammar, tolerant_parsing=True)


def _without_open_options(text: str, grammar: Any) -> str:
    """The source in which a bracket behind a command that is never closed begins no option.

    The parser would read on from each of them to the end, and again from the next one: twice as long for each. For the
    same reason options are refused that stand in one another more often than anybody writes.
    """
    opened: list[_OpenBracket] = []
    never: list[int] = []
    after = -1
    for found in _OPTIONS.finditer(text):
        sign = found[0][-1]
        if found[1] is not None:
            opened.append(_OpenBracket("[", found.end() - 1, option=_takes_options(found[1], grammar)))
        elif sign in "[{" and len(found[0]) == 1:
            # A second option stands behind the first.
            again = sign == "[" and after >= 0 and not text[after : found.start()].strip()
            opened.append(_OpenBracket(sign, found.start(), option=again))
        elif len(found[0]) == 1 and (sign == "}" or (opened and opened[-1].sign == "[")):
            after = found.end() if sign == "]" and opened[-1].option else -1
            never += _closed(opened, "{" if sign == "}" else "[")
    never += _closed(opened, "")
    pieces, at = [], 0
    for place in sorted(never):
        pieces += [text[at:place], "{}"]
        at = place
    return "".join([*pieces, text[at:]])


@dataclass(slots=True)
class _OpenBracket:
    """A bracket or brace that waits to be closed; `inside` is how many options stand in one another in it."""

    sign: str
    at: int
    option: bool = False
    inside: int = 0


def _closed(opened: list[_OpenBracket], sign: str) -> list[int]:
    """Close the last that has this sign, all without one; where the options lie that are thereby never closed."""
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
    found = grammar.get_macro_spec(name.rstrip("*"))
    return "[" in (getattr(getattr(found, "args_parser", None), "argspec", "") or "")


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
    """What each command becomes in Markdown."""

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
    words = _saying()
    words.add_context_category(
        "markdown",
        macros=[MacroTextSpec(name, simplify_repl=made) for name, made in shown.items()],
        environments=[EnvironmentTextSpec(name, discard=True) for name in _DISCARDED],
        specials=[SpecialsTextSpec("~", " ")],
        prepend=True,
    )
    return words
