"""Formulas and LaTeX."""

import html
import json
import re
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.rendered import LONGEST_PATH, Formula
from annotator.exchange.texts import documents, latex, rendering
from annotator.exchange.texts.documents import formula_picture, is_mathematics
from annotator.exchange.texts.rendering import render
from tests.material.bundles import REAL

SHARED = REAL.parent
DRAWN = re.compile(r'<img src="(formula:[^"]+)" alt="([^"]*)">')
REMARK = "could not be drawn and stay"
WORDS = st.sampled_from(
    [
        "costs",
        "and",
        "about",
        "the",
        "更便宜",
        "سعر",
        "million",
        "for",
        "each",
        "per",
        "month",
        "to",
        "a",
        "rise",
    ]
)
PRICE = st.builds(
    "{}${}{}".format,
    st.sampled_from(["", "", "US", "~", "("]),
    st.decimals(0, 10_000, places=1),
    st.sampled_from(["", "M", "K", " million", ",", ")", "/month", "–7", "."]),
)


def sources(markdown: str) -> list[str]:
    return [html.unescape(alt) for _, alt in DRAWN.findall(render(markdown).html)]


@pytest.mark.parametrize(
    "formula",
    [
        r"$\theta$", "$x$", "$O(n^2)$", "$$x^2$$", r"\(W^{(1)}\)", r"\[ a = b \]", r"$ \alpha $", "$n-1$", "$10^{-3}$",
        r"$d_{\text{model and more words in it}}$", r"\( x \)",
    ],
)  # fmt: skip
def test_each_delimiter_is_read_within_a_line(formula: str) -> None:
    assert sources(f"Here {formula} stands.") == [formula]


@pytest.mark.parametrize(
    "formula",
    [
        "$$\na\n+ b\n= c\n$$",
        "\\[\nx\n- y\n\\]",
        "\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}",
        "$$a=b$$",
    ],
)
def test_a_formula_on_lines_of_its_own_is_one_whatever_its_lines_begin_with(formula: str) -> None:
    assert sources(f"Before\n{formula}\nafter") == [formula]
    assert sources(f"Before\n\n{formula}\n\nafter") == [formula]
    quoted = "\n".join(f"> {line}" for line in formula.splitlines())
    assert sources(f"Before\n\n{quoted}\n\nafter") == [formula]


@pytest.mark.parametrize(
    "text",
    [
        "From $5 and $10 to $15.", "It is $5.6M **in all** and ~$7 more.", "US$ 5 or AU$ 7", "5$ and 6$ or 7 $",
        "`$x$`",
        "```\n$x$\n```", r"\$x\$", r"As shown \[12\], \[3, 4\].", r"\[[A paper](http://a.example/a_b)\]",
        r"\(see below\)", "$", "$$", "$$ $$", r"\(\)", "Cash is $50 million and at a rate above $ all.",
    ],
)  # fmt: skip
def test_money_references_and_code_are_no_mathematics(text: str) -> None:
    rendered = render(text)
    assert "<img" not in rendered.html
    assert rendered.reason == ""


@given(st.lists(st.one_of(WORDS, PRICE), min_size=1, max_size=12))
def test_prices_among_words_are_never_mathematics(parts: list[str]) -> None:
    assert sources(" ".join(parts)) == []


def test_what_stands_between_two_prices_keeps_its_marks() -> None:
    assert "<strong>in all</strong>" in render("It is $5.6M **in all** and ~$7 more.").html


@pytest.mark.parametrize(
    "formula",
    [
        r"$\unknowncommand x$", r"$\text{中文} x$", r"$\frac{$", "$x^$", r"\(\left( x\)", r"$x_\big$",
        f"${'{' * 300}{'}' * 300}$",
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_stays_as_it_is_written_and_is_remarked_on(formula: str) -> None:
    rendered = render(f"Here {formula} stands with $x$.")
    assert f"<code>{html.escape(formula, quote=False)}</code>" in rendered.html.replace("&quot;", '"')
    assert rendered.reason == "One formula could not be drawn and stays as written."
    assert sources(f"Here {formula} stands with $x$.") == ["$x$"]


@given(st.text(alphabet="\\{}^_&$()[]abxfrctleigh squmn12,.\n", max_size=60))
def test_no_tex_however_broken_ends_in_anything_but_a_drawing_or_none(tex: str) -> None:
    for formula in (f"${tex}$", f"$${tex}$$", f"\\({tex}\\)", f"\\begin{{align}}{tex}\\end{{align}}"):
        assert isinstance(is_mathematics(formula), bool)
        made = formula_picture(formula)
        assert made is None or Formula.at(made.address()) == made
    assert "<script" not in render(tex).html


def test_a_drawing_reaches_as_far_as_its_letters() -> None:
    low, high, both = formula_picture("$x$"), formula_picture(r"$\frac{a}{b}$"), formula_picture("$xx$")
    assert low is not None
    assert high is not None
    assert both is not None
    assert low.descent < 50 < high.descent
    assert low.ascent < high.ascent
    assert both.width > 1.8 * low.width
    assert re.fullmatch(r"[MLQCZ0-9 -]+", high.path)


@pytest.mark.parametrize(
    "address", ["formula:", "formula:!!", "formula:eJw=", "http://a.example", "formula:AAAA"]
)
def test_an_address_that_holds_no_formula_gives_none(address: str) -> None:
    assert Formula.at(address) is None


@pytest.mark.parametrize("longer", [0, 1])
def test_an_outline_is_whole_or_none(longer: int) -> None:
    whole = Formula(1_000, 700, 20, "M1 1" + "Z" * (LONGEST_PATH - 4 + 500 * longer))
    assert Formula.at(whole.address()) == (None if longer else whole)
    cut = whole.address()
    assert Formula.at(cut[: len(cut) // 8 * 4]) is None


def test_what_is_too_long_an_outline_stays_as_it_is_written() -> None:
    formula = f"${'W' * 1_500}$"
    rendered = render(formula)
    assert sources(formula) == []
    assert (rendered.reason, rendered.unfinished) == (
        "One formula could not be drawn and stays as written.",
        False,
    )


def test_loading_what_draws_takes_nothing_of_the_time_for_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, real = [0.0], documents.library

    @cache
    def slow() -> ModuleType:
        clock[0] += 10 * rendering.MAX_DRAWING_S
        return real()

    monkeypatch.setattr(rendering, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(documents, "library", slow)
    formula_picture.cache_clear()
    assert sources("Here $x$ and $y$.") == ["$x$", "$y$"]


def test_formulas_whose_turn_never_came_are_told_from_those_that_cannot_be_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr(rendering, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    text = r"Here $x^$ and $y$, then $z$, $z$ and $w$."

    def slow(source: str) -> Formula | None:
        clock[0] += rendering.MAX_DRAWING_S / 2
        return formula_picture(source)

    monkeypatch.setattr(documents, "formula_picture", slow)
    rendered = render(text)
    assert rendered.unfinished
    assert rendered.reason == (
        "One formula could not be drawn and stays as written. "
        "2 formulas had no time left to be drawn and stay as written."
    )
    assert [alt for _, alt in DRAWN.findall(rendered.html)] == ["$y$"]


def test_a_large_formula_repeated_does_not_make_the_text_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    large = formula_picture(r"$\frac{a}{b}$")
    assert large is not None
    monkeypatch.setattr(rendering, "MAX_DRAWINGS_LENGTH", 3 * len(large.address()))
    rendered = render(r"$\frac{a}{b}$ " * 5)
    assert len(DRAWN.findall(rendered.html)) == 3
    assert rendered.html.count("<code>") == 2
    assert rendered.reason == "One formula would make the text too large to be shown and stays as written."
    assert not rendered.unfinished


def test_a_fault_of_the_program_is_no_formula_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_is_known", None)
    with pytest.raises(TypeError):
        formula_picture("$q_{17}$")


def reports() -> list[str]:
    result = []
    for path in sorted((REAL / "responses").glob("*.json")):
        for entry in json.loads(path.read_text("utf-8")):
            result.append(max((value for value in entry.values() if isinstance(value, str)), key=len))
    return result


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the public ResearcherBench data is not there")
def test_every_formula_of_the_public_reports_is_drawn_or_remarked_on() -> None:
    with_some = many = 0
    for text in reports():
        result = sources(text)
        certain = re.findall(r"\$[^$\n]*\\[A-Za-z]+[^$\n]*\$|\\\((?:(?!\\\)).)*\\[A-Za-z]+.*?\\\)", text)
        left = [one for one in certain if one not in result]
        assert not left or REMARK in render(text).reason
        assert not [one for one in result if re.match(r"\$\d[\d.,]*\s*[a-z]{2}", one)]
        with_some, many = with_some + bool(result), many + len(result)
    assert with_some >= 16
    assert many >= 63


def strings(tree: object) -> list[str]:
    if isinstance(tree, dict):
        return [text for value in tree.values() for text in strings(value)]
    if isinstance(tree, list):
        return [text for value in tree for text in strings(value)]
    return [tree] if isinstance(tree, str) else []


def sections(folder: Path) -> list[str]:
    """The texts about papers: sections of reports, and what they were made from."""
    result = [path.read_text("utf-8") for path in sorted(folder.rglob("*")) if path.suffix in (".md", ".csv")]
    for path in sorted(folder.rglob("*.json")):
        result += strings(json.loads(path.read_text("utf-8")))
    return result


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "deepscholar").is_dir(), reason="the public DeepScholar data is not there")
def test_formulas_of_sections_about_papers_are_drawn_or_remarked_on() -> None:
    certain = re.compile(r"\$\$[^$]+\$\$|\$[^$\n]*[\\^_][^$\n]*\$|\\\((?:(?!\\\)).)+\\\)")
    told = [one for text in sections(SHARED / "deepscholar") for one in certain.findall(text)][:200]
    assert len(told) >= 100
    for fromkey in dict.fromkeys(told):
        if is_mathematics(fromkey):
            rendered = render(f"Words {fromkey} words")
            assert len(DRAWN.findall(rendered.html)) == 1 or "could not be drawn" in rendered.reason
    read = [one for one in told if is_mathematics(one)]
    assert sum(formula_picture(one) is not None for one in read) >= 0.9 * len(read)


@pytest.mark.parametrize(
    ("opening", "closing"), [("{", "}"), ("\\frac{1}{", "}"), ("\\left(", "\\right)"), ("x_{", "}")]
)
def test_what_nests_too_deep_to_be_drawn_in_time_stays_as_it_is_written(opening: str, closing: str) -> None:
    assert formula_picture(f"${opening * 4}x{closing * 4}$") is not None
    assert formula_picture(f"${opening * 40}x{closing * 40}$") is None


@pytest.mark.parametrize("closing", ["\\}", "}", "\\right)", "\\end{x}"])
def test_what_closes_nothing_hides_no_depth(closing: str) -> None:
    fractions = "\\frac{1}{" * 9 + "x" + "}" * 9
    assert formula_picture(f"${closing * 9}{fractions}$") is None


@pytest.mark.parametrize("closing", ["\\}", "}"])
def test_brackets_in_brackets_are_deep_whatever_stands_between_them(closing: str) -> None:
    opening = f"\\left( {closing} " * 8
    assert formula_picture(f"${opening}x" + "\\right)" * 8 + "$") is None


@pytest.mark.parametrize("formula", [r"\left\{ a \right. ", r"x \in \{ "])
def test_braces_that_are_written_out_are_no_depth(formula: str) -> None:
    assert formula_picture(f"${formula * 8}$") is not None


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
