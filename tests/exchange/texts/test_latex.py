"""LaTeX sections: which works they cite, and what a reader sees of them in Markdown."""

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.texts import latex


def marked(keys: tuple[str, ...]) -> str:
    return "".join(f"[{key}]" for key in keys)


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        (r"a \cite{x}", ["x"]),
        (r"a~\citep[see][p.~3]{x, y}", ["x", "y"]),
        (r"\citet*{x} and \citealp{y}", ["x", "y"]),
        (r"\autocite{x}, \textcite{y}, \parencite[2]{z}, \footcite{w}", ["x", "y", "z", "w"]),
        (r"\cites[1]{x}[2]{y}{z}", ["x", "y", "z"]),
        (r"\Citet{x} \nocite{y}", ["x"]),
        (r"\textbf{bold \cite{x}} and \emph{\citep{y}}", ["x", "y"]),
        ("\\begin{itemize}\\item one \\cite{x}\\end{itemize}", ["x"]),
        ("50\\% \\cite{x} % \\cite{y}\n\\cite{z}", ["x", "z"]),
        (r"\cite{x}\cite{x}", ["x"]),
        ("\\cite{a\n b,  c}", ["a b", "c"]),
        (r"\iffalse \cite{x} \fi \cite{y}", ["y"]),
        ("\\begin{comment}\\cite{x}\\end{comment}\\cite{y}", ["y"]),
        ("no citation at all {", []),
    ],
)
def test_keys_are_those_of_every_citing_command(source: str, keys: list[str]) -> None:
    assert latex.cited_keys(source) == keys


def test_keys_in_comments_count_where_that_is_asked() -> None:
    source = "a \\cite{x} % \\cite{y}\n"
    assert (latex.cited_keys(source), latex.cited_keys(source, comments=True)) == (["x"], ["x", "y"])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r"\section{Related Work}Text", "## Related Work\n\nText"),
        (r"\subsection*{On trees}\label{sec:x} Text", "### On trees\n\nText"),
        (r"\paragraph{Lists.} Text", "**Lists.** Text"),
        (r"It \emph{is} \textbf{so}~\cite{x,y}.", "It *is* **so** [x][y]."),
        (r"Of $O(n^2)$ steps", "Of $O(n^2)$ steps"),
        ("A\n\n\\begin{figure}\\caption{c}\\end{figure}\n\nB", "A\n\nB"),
        ("A % note\nB", "A B"),
        (r"100\% of ``them''", "100% of “them”"),
        (r"\newcommand{\ours}{TaxAgent}We call \ours{} so.", "We call TaxAgent so."),
        (r"\unknown{kept words}", "kept words"),
        ("\\begin{itemize}\\item one\\item two\\end{itemize}", "- one\n- two"),
        ("", ""),
    ],
)
def test_words_are_shown_as_markdown(source: str, words: str) -> None:
    assert latex.markdown(source, marked) == words


@pytest.mark.parametrize(
    "source", [r"\cite{", r"\section{open", "{" * 20, r"\begin{itemize} \item a", "$a", r"\def\a{\a}\a"]
)
def test_broken_sources_are_read_as_far_as_they_go(source: str) -> None:
    assert isinstance(latex.markdown(source, marked), str)
    assert isinstance(latex.cited_keys(source), list)


@pytest.mark.parametrize(
    "source",
    [
        r"\cite[ a " * 500, r"\cite[ a {" * 30, r"\cite[a][" * 500, r"\section[ a " * 500,
        r"\sqrt[ x" * 500, "\\\\[ " * 500,
        r"\begin{array}[" * 30, r"\cite{\cite[" * 30, r"\begin{itemize}[ x " * 30,
    ],
)  # fmt: skip
def test_options_that_are_never_closed_are_read_in_no_time(source: str) -> None:
    # Each would double the time of those before it: thirty would take days.
    assert isinstance(latex.markdown(source, marked), str)
    assert isinstance(latex.cited_keys(source), list)


def test_an_option_is_one_where_it_is_closed() -> None:
    source = r"See \cite[open \emph{x} [1] $x \in [0,1)$ \cite[see][ch. 2]{b} and \cite[p. 3]{a}."
    assert latex.cited_keys(source) == ["b", "a"]
    assert "$x \\in [0,1)$" in latex.markdown(source, marked)


@pytest.mark.parametrize(
    ("source", "reason"),
    [(r"\cite[a " * 30 + "]" * 30 + "{b}", "nests too deep"), (r"\verb", "middle of a command")],
)
def test_what_the_parser_cannot_read_is_refused_in_words(source: str, reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        latex.markdown(source, marked)


def test_an_input_that_is_left_is_forgotten() -> None:
    assert latex.markdown(r"a \input b \input{c}", marked).startswith("a")


@pytest.mark.parametrize("read", [latex.cited_keys, lambda source: latex.markdown(source, marked)])
def test_a_bomb_of_braces_is_refused_in_words(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Refusal, match="nests too deep"):
        read("{" * 5000)
