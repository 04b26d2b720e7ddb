"""LaTeX of a paper's section: its citation keys, and its words as Markdown."""

import re
from collections.abc import Callable, Iterator, Mapping
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
_LEFT_OUT = re.compile(r"\\iffalse\b.*?(?:\\fi\b|\Z)|\\begin\{comment\}.*?(?:\\end\{comment\}|\Z)", re.DOTALL)
_PARAMETERLESS = re.compile(
    r"\\(?:re)?newcommand\*?\s*\{?\\([A-Za-z]+)\}?\s*(?=\{)|\\def\s*\\([A-Za-z]+)\s*(?=\{)"
)
_CITES = re.compile(r"\\([A-Za-z]*[cC]ite[A-Za-z]*\*?)")
# Their arguments name no work that the words rest on.
_NO_CITATION = {"nocite", "citestyle", "citenum", "newcite", "defcitealias"}
_MULTIPLE = re.compile(
    r"(\\[A-Za-z]*[cC]ites)((?:\s*\([^()]*\)){0,2})((?:\s*(?:\[[^\]]*\]\s*){0,2}\{[^{}]*\}){2,})"
)
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
)
_SPACES = re.compile(r"[ \t]+")
_MANY_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")

Marks = Callable[[tuple[str, ...]], str]


def without_comments(latex: str) -> str:
    """The source that is set: without comments and without what is switched off; `\\%` stays a percent sign."""
    return _LEFT_OUT.sub("", _COMMENT.sub(r"\1", latex))


def citations(latex: str, *, comments: bool = False) -> list[tuple[str, ...]]:
    """The keys of each citing command, in order; `comments`: those that are commented out count too."""
    text = _single(_uncommented(latex) if comments else without_comments(latex))
    return [found for node in _each(_nodes(text)) if _is_citing(node) and (found := _keys(node))]


def cited_keys(latex: str, *, comments: bool = False) -> list[str]:
    """Each citation key once, in the order of first mention."""
    return list(dict.fromkeys(key for keys in citations(latex, comments=comments) for key in keys))


def markdown(latex: str, mark: Marks) -> str:
    """The words as Markdown: headings, lists, emphasis, formulas as `$…$`; `mark` says what stands for a citation.

    Figures, tables and labels are left out; a command without a known meaning leaves the words in its braces.
    """
    text = _single(_substituted(without_comments(latex)))
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


def _uncommented(latex: str) -> str:
    """The source with its comments as if they were set."""
    return re.sub(r"(?<!\\)%", " ", latex)


def _substituted(latex: str) -> str:
    """The source in which commands without arguments that it defines itself stand for their words."""
    meaning: dict[str, str] = {}
    pieces, at = [], 0
    for found in _PARAMETERLESS.finditer(latex):
        end = _closing(latex, found.end())
        if end and found.start() >= at:
            meaning[found[1] or found[2]] = latex[found.end() + 1 : end]
            pieces.append(latex[at : found.start()])
            at = end + 1
    text = "".join([*pieces, latex[at:]])
    for name, words in meaning.items():
        text = words.join(re.split(rf"\\{name}(?![A-Za-z])(?:\{{\}})?", text))
    return text


def _closing(text: str, start: int) -> int:
    """Where the brace that opens at `start` is closed; 0 where it is not."""
    depth = 0
    for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start):
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
        raise Refusal(
            "A LaTeX text nests too deep to be read.", "Close its braces, or leave it out."
        ) from None


def _walker(text: str) -> LatexWalker:
    grammar = default_grammar()
    citing = [MacroSpec(name, "*[[{") for name in _citing_names(text)]
    plain = [MacroSpec(name, "*{") for name in (*_FORGOTTEN, *_RUN_IN)]
    grammar.add_context_category("citing", macros=[*citing, *plain], prepend=True)
    return LatexWalker(text, latex_context=grammar, tolerant_parsing=True)


def _each(nodes: Any) -> Iterator[Any]:
    for node in nodes or ():
        if node is None:
            continue
        yield node
        arguments = getattr(node, "nodeargd", None)
        yield from _each(getattr(arguments, "argnlist", None))
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
    words = default_words()
    words.add_context_category(
        "markdown",
        macros=[MacroTextSpec(name, simplify_repl=made) for name, made in shown.items()],
        environments=[EnvironmentTextSpec(name, discard=True) for name in _DISCARDED],
        specials=[SpecialsTextSpec("~", " ")],
        prepend=True,
    )
    return words
