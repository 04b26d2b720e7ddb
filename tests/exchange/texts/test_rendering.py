"""Foreign text is made safe to show: Markdown, HTML, documents, formulas and LaTeX."""

import html
import io
import json
import re
import subprocess
import sys
from ast import literal_eval
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from annotator.domain.texts import difference
from annotator.domain.texts.rendered import CUT, LONGEST_PATH, Formula
from annotator.exchange.pages import worker
from annotator.exchange.texts import documents, latex, rendering
from annotator.exchange.texts.documents import formula_picture, is_mathematics
from annotator.exchange.texts.rendering import render
from tests.common import expect_refusal
from tests.crashes.killing import breaks_down
from tests.house import reading
from tests.material.bundles import REAL


def test_markdown_becomes_tags_and_tables_are_aligned():
    html = render("# A\n\nb **c** *d* `e` ~~f~~\n\n> g\n\n- h\n\n3. i\n\n|a|b|\n|:-:|--:|\n|1|2|\n").html
    for tag in (
        "<h1>A</h1>", "<strong>c</strong>", "<em>d</em>", "<code>e</code>", "<s>f</s>", "<blockquote>",
        '<ol start="3">', '<td align="center">1</td>', '<td align="right">2</td>',
    ):  # fmt: skip
        assert tag in html
    assert "style" not in html


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [("![a *plot*](https://x.y/z.png)", "[image: a plot]"), ("![](/dev/zero)", "[image]")],
)
def test_an_image_is_only_its_words(markdown, shown):
    html = render(markdown).html
    assert shown in html
    assert not re.search("<img|zero", html)


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "vbscript:x", "file:///etc/passwd", "data:text/html,x", "//host/share", "a.md", "ftp://x/y",
     "mailto:a@b.c", "JaVaScRiPt:alert(1)", "\\\\\\\\host\\\\x"],
)  # fmt: skip
def test_only_links_to_the_web_can_be_followed(url):
    assert "href" not in render(f"[words]({url}) <{url}>").html


@pytest.mark.parametrize(
    "url", ["file:///x", "javascript:x", "data:image/png;base64," + "A" * 5_000, "/dev/zero"]
)
def test_no_image_or_link_is_left_as_raw_markdown(url):
    assert render(f"![a]({url}) and [b]({url})").html.strip() == "<p><em>[image: a]</em> and <a>b</a></p>"


def test_a_link_to_the_web_keeps_its_address():
    html = render('[words](https://example.org/a?b=1&c=2 "title") <http://x.org>').html
    assert html == (
        '<p><a href="https://example.org/a?b=1&amp;c=2">words</a> <a href="http://x.org">http://x.org</a></p>\n'
    )
    # An address inside a link is not linked twice.
    assert render("[https://a.org](https://b.org)").html.count("<a ") == 1


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("see https://example.org/a_b.", "https://example.org/a_b"),
        ("(https://example.org/x)", "https://example.org/x"),
        ("https://en.example.org/Gold_(metal), too", "https://en.example.org/Gold_(metal)"),
    ],
)
def test_an_address_in_the_text_is_a_link_without_the_full_stop(text, url):
    assert f'<a href="{url}">{url}</a>' in render(text).html


@pytest.mark.parametrize(
    "html", ["<script>alert(1)</script>", "<img src=x onerror=y>", "<!-- c -->", "<b>x</b>", "<table><tr>"]
)
def test_markup_in_the_text_is_shown_as_text(html):
    rendered = render(f"before {html} after\n\n{html}\n").html
    assert set(re.findall(r"</?(\w+)", rendered)) <= {"p"}
    assert rendered.count("&lt;") >= 2


def test_long_reports_and_tables_are_cut_at_their_joints():
    markdown = "\n\n".join(f"## Part {n}\n\n{'word ' * 300}\n\n|a|b|\n|-|-|\n|1|2|" for n in range(40))
    pieces = render(markdown).html.split(CUT)
    assert len(pieces) > 5
    assert all(piece.startswith(("<h2", "<p")) for piece in pieces)
    for piece in pieces:
        assert piece.count("<table") == piece.count("</table>")
    pieces = render("words " * 2_000 + "\n\n|n|\n|-|\n" + "|word word word|\n" * 480).html.split(CUT)
    assert [piece.lstrip()[:6] for piece in pieces] == ["<p>wor", "<table", "<table"]
    assert all(piece.rstrip().endswith("</table>") for piece in pieces)
    html = render("|n|m|\n|-|-|\n" + "".join(f"|{n}|x|\n" for n in range(400))).html
    assert html.count("<table") == html.count(">n</th>") == 6
    assert re.findall(r'<td width="50%">(\d+)</td>', html) == [str(n) for n in range(400)]
    assert CUT not in render(f"a {CUT} [b](https://x/{CUT}) `{CUT}`\n\n{CUT}\n").html


def test_bidirectional_marks_are_kept_and_end_with_their_paragraph():
    html = render("\u202eevil\n\nnext \u2067isolated\n\n| \u202ea | b |\n|-|-|\n").html
    for paragraph in ("<p>\u202eevil</p>", "<p>next \u2067isolated</p>", "<th>\u202ea</th>"):
        assert paragraph in html


def test_a_long_run_is_broken_even_across_marks():
    seen = re.sub("<[^>]+>", "", render("**" + "a" * 15_000 + "**" + "b" * 15_000).html).strip()
    assert max(len(run) for run in seen.split("\u200b")) <= 2_000
    assert seen.replace("\u200b", "") == "a" * 15_000 + "b" * 15_000


def test_characters_that_qt_keeps_for_frames_are_replaced():
    assert render("a\ufdd0b\ufdd1c\uffff").html.strip() == "<p>a\ufffdb\ufffdc\ufffd</p>"


def test_marks_and_pictures_keep_their_place() -> None:
    address = "https://example.org/chart.png"
    assert render(f"![A chart]({address})").html.strip() == (
        f'<p><a href="{address}" title="{address}"><em>[image: A chart]</em></a></p>'
    )
    assert render(f"[![A chart]({address})](https://example.org)").html.count("<a ") == 1
    assert "<a" not in render("![A chart](file:///etc/passwd)").html
    text = "Rain[^1] falls.[^b]\n\n[^1]: https://example.org\n[^b]: Said by $x$ and **others**."
    html = render(text).html
    assert "Rain<sup>1</sup> falls.<sup>b</sup>" in html
    assert '<p><sup>1</sup>: <a href="https://example.org">https://example.org</a></p>' in html
    assert "<strong>others</strong>" in html
    assert html.count("<p>") == 3
    shown = "Rain1 falls.b\n1: https://example.org\nb: Said by $x$ and others."
    for words in ("falls.b", "Said by", "Rain1 falls"):
        start = shown.index(words)
        span = difference.locate(text, shown, start, start + len(words))
        assert span is not None
        assert text[slice(*span)].replace("[^", "").replace("]", "").startswith(words[:5])
    assert '<a href="https://example.org">^1</a>' in render("[^1](https://example.org)").html


TABLE = "|a|b|c|d|e|\n|-|-|-|-|-|\n"
PLAIN = {
    "1 MB without a space": "a" * 1_000_000,
    "10 MB report": "words of it " * 870_000,
    "50k opening brackets": "[" * 50_000,
    "60k stars": "a " + "*" * 60_000,
    "60k stars and letters": "*a " * 20_000,
    "700 runs of backticks": " ".join("`" * n for n in range(1, 700)),
    "50k fences": "```\n" * 50_000,
    "10k quotation marks": ">" * 10_000,
    "10k quotation marks with spaces": "> " * 10_000 + "a",
    "2,000-deep list": "\n".join("  " * n + "- a" for n in range(2_000)),
    "2,000-deep list on one line": "- " * 2_000 + "a",
    "11-deep list": "\n".join("  " * n + "- a" for n in range(11)),
    "20k × 5 table": TABLE + "|1|2|3|4|5|\n" * 20_000,
    "501-row table": TABLE + "|1|2|3|4|5|\n" * 501,
    "20k columns": "|" + "a|" * 20_000 + "\n|" + "-|" * 20_000 + "\n",
    "one long link repeated": "[a]: http://x/" + "b" * 1_900 + "\n\n" + "[a]\n\n" * 4_000,
    "many short paragraphs of brackets": ("[" * 199 + "\n\n") * 1_400,
    "deep quotations side by side": "\n\n".join(">" * 19 + " a" for _ in range(4_900)),
    "300 kB on one line": "a b " * 75_000,
    "bidi override × 50k": "\u202ea b" * 50_000,
}
RENDERED = {
    "line of stars": "*" * 60_000,
    "20k <div>": "\n\n".join("<div>" * 50 for _ in range(100)),
    "colspan, font and width": '<td colspan="1000000"><font size="99999pt"><table width="2000000000">',
    "run of 59k": "a" * 59_000,
    "500-row table": TABLE + "|1|2|3|4|5|\n" * 499,
    "9-deep lists": ("\n".join("  " * n + "- a" for n in range(9)) + "\n\n\n") * 400,
    "marks just below the bound": ("*a " * 199 + "\n\n") * 90,
    "zalgo": "a" + "\u0301" * 50_000,
    "half a surrogate": "a \ud800 b",
    "9,000 lines in one quotation": ">" * 9 + "a\n" + "a\n" * 9_000,
    "definitions": "".join(f"[a{n}]: b\n" for n in range(9_000)) + "\nwords",
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.timeout(20)
def test_a_hostile_report_is_shown_as_plain_text_with_the_reason(name):
    made = render(PLAIN[name])
    assert (made.plain, made.html, made.reason[-1]) == (True, "", ".")


@pytest.mark.parametrize("name", RENDERED)
@pytest.mark.timeout(20)
def test_what_keeps_the_bounds_is_rendered(name, monkeypatch):
    # However busy the machine is.
    monkeypatch.setattr(rendering, "MAX_SECONDS", 20.0)
    made = render(RENDERED[name])
    assert not made.plain, made.reason
    assert made.html


def test_the_parser_gives_up_when_its_time_is_over(monkeypatch):
    monkeypatch.setattr(rendering, "MAX_SECONDS", -1.0)
    made = render("# Title\n\nwords")
    assert (made.plain, "seconds" in made.reason) == (True, True)


def test_nothing_of_a_nested_list_within_the_bound_is_lost():
    html = render("\n".join("  " * n + f"- depth{n}" for n in range(9))).html
    assert re.findall(r"depth(\d)", html) == [*"012345678"]


def pdf(*pages: str) -> bytes:
    from matplotlib.backends.backend_pdf import FigureCanvasPdf, PdfPages
    from matplotlib.figure import Figure

    content = io.BytesIO()
    with PdfPages(content) as book:
        for words in pages:
            figure = Figure(figsize=(6, 2))
            figure.text(0.1, 0.5, words)
            FigureCanvasPdf(figure)
            book.savefig(figure)
    return content.getvalue()


def encrypted_pdf() -> bytes:
    """A PDF that no empty password opens: its keys are nonsense."""
    objects = (
        b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n",
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n",
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n",
        b"4 0 obj<</Filter/Standard/V 1/R 2/P -4/O<" + b"4f" * 32 + b">/U<" + b"55" * 32 + b">>>endobj\n",
    )
    content, table = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for part in objects:
        table += b"%010d 00000 n \n" % len(content)
        content += part
    trailer = b"trailer<</Size 5/Root 1 0 R/Encrypt 4 0 R/ID[<00><00>]>>\nstartxref\n%d\n%%%%EOF\n" % len(
        content
    )
    return content + b"xref\n0 5\n" + table + trailer


@pytest.mark.parametrize("content", [b"%PDF-1.7\nnothing", b"<html>"], ids=["damaged", "something else"])
def test_what_is_no_pdf_is_refused(content: bytes) -> None:
    expect_refusal(r"“a\.pdf” is no PDF, or is damaged", documents.parse_pdf, content, "a.pdf")


def test_a_pdf_without_words_has_an_empty_text() -> None:
    assert documents.parse_pdf(pdf("", ""), "scan.pdf") == ""


def test_the_process_that_reads_a_pdf_gives_its_refusal_back() -> None:
    expect_refusal(r"“a\.pdf” is protected by a password", worker.pdf_text, encrypted_pdf(), "a.pdf")


def test_a_pdf_that_breaks_the_reader_down_is_refused_and_takes_nothing_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "serve_pdfs", breaks_down)
    expect_refusal(
        r"“a.pdf” could not be read. The program that reads documents broke down",
        worker.pdf_text,
        b"%PDF-1.7",
        "a.pdf",
    )


def test_a_pdf_is_parsed_page_by_page_in_a_process_of_its_own() -> None:
    """But for the pages in view, which the window draws and selects in, and the self-test's own empty page."""
    words = (
        "import sys; from annotator.exchange.pages import worker; "
        "print(ascii(worker.pdf_text(sys.stdin.buffer.read(), 'a')), 'pypdfium2' in sys.modules)"
    )
    content = pdf("Rain falls", "Snow falls")
    done = subprocess.run([sys.executable, "-c", words], input=content, capture_output=True, check=True)
    text, loaded = done.stdout.decode().rsplit(maxsplit=1)
    pages = literal_eval(text).split(documents.PAGE_BREAK)
    assert ([page.strip() for page in pages], loaded) == (["Rain falls", "Snow falls"], "False")
    for words, holding in (
        ("import pypdfium2", ["documents.py", "selftest.py"]),
        ("parse_pdf(", ["documents.py", "reading.py"]),
        ("import reading", ["worker.py"]),
    ):
        files = [path.name for path in reading.files("annotator") if words in path.read_text("utf-8")]
        assert sorted(files) == holding


def test_a_text_is_taken_unchanged_but_for_its_mark() -> None:
    assert documents.plain_text("\ufeffa\r\nb\u2028é".encode(), "a.md") == "a\r\nb\u2028é"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfea\x00", "is not UTF-8"),
        (b"a\x00b", "contains a NUL"),
        (b"%PDF-1.4", "is a PDF under another name"),
    ],
)
def test_a_text_that_is_none_is_refused(content: bytes, reason: str) -> None:
    expect_refusal(reason, documents.plain_text, content, "a.md")


def test_an_empty_or_too_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST_DOCUMENT", 4)
    for name, content in (("empty.md", b""), ("large.md", b"12345")):
        (tmp_path / name).write_bytes(content)
        expect_refusal(r"is empty|is larger", documents.read, tmp_path / name)


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
    quoted = "\n".join(f"> {line}" for line in formula.splitlines())
    for shown in (f"\n{formula}\n", f"\n\n{formula}\n\n", f"\n\n{quoted}\n\n"):
        assert sources(f"Before{shown}after") == [formula]


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
    assert ("<img" in rendered.html, rendered.reason) == (False, "")


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
    assert [alt for _, alt in DRAWN.findall(rendered.html)] == ["$x$"]


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
    rendered = render(f"${'W' * 1_500}$")
    assert (DRAWN.findall(rendered.html), rendered.unfinished) == ([], False)
    assert rendered.reason == "One formula could not be drawn and stays as written."


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

    def slow(source: str) -> Formula | None:
        clock[0] += rendering.MAX_DRAWING_S / 2
        return formula_picture(source)

    monkeypatch.setattr(documents, "formula_picture", slow)
    rendered = render(r"Here $x^$ and $y$, then $z$, $z$ and $w$.")
    assert rendered.reason == (
        "One formula could not be drawn and stays as written. "
        "2 formulas had no time left to be drawn and stay as written."
    )
    assert ([alt for _, alt in DRAWN.findall(rendered.html)], rendered.unfinished) == (["$y$"], True)


def test_a_large_formula_repeated_does_not_make_the_text_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    large = formula_picture(r"$\frac{a}{b}$")
    assert large is not None
    monkeypatch.setattr(rendering, "MAX_DRAWINGS_LENGTH", 3 * len(large.address()))
    rendered = render(r"$\frac{a}{b}$ " * 5)
    drawn = len(DRAWN.findall(rendered.html))
    assert (drawn, rendered.html.count("<code>"), rendered.unfinished) == (3, 2, False)
    assert rendered.reason == "One formula would make the text too large to be shown and stays as written."


def test_a_fault_of_the_program_is_no_formula_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_is_known", None)
    with pytest.raises(TypeError):
        formula_picture("$q_{17}$")


def reports() -> list[str]:
    files = sorted((REAL / "responses").glob("*.json"))
    entries = [entry for path in files for entry in json.loads(path.read_text("utf-8"))]
    result = [max(strings(entry), key=len) for entry in entries]
    # Without a dollar or a backslash there is nothing to take for a formula.
    return [text for text in result if "$" in text or "\\" in text]


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the public ResearcherBench data is not there")
def test_every_formula_of_the_public_reports_is_drawn_or_remarked_on() -> None:
    with_some = many = 0
    for text in reports():
        rendered = render(text)
        assert not rendered.plain
        result = [html.unescape(alt) for _, alt in DRAWN.findall(rendered.html)]
        certain = re.findall(r"\$[^$\n]*\\[A-Za-z]+[^$\n]*\$|\\\((?:(?!\\\)).)*\\[A-Za-z]+.*?\\\)", text)
        left = [one for one in certain if one not in result]
        assert not left or REMARK in rendered.reason
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


FRACTIONS = "\\frac{1}{" * 9 + "x" + "}" * 9
NESTS = (("{", "}"), ("\\frac{1}{", "}"), ("\\left(", "\\right)"), ("x_{", "}"))


@pytest.mark.parametrize(
    ("formula", "drawn"),
    [
        *((opening * 4 + "x" + closing * 4, True) for opening, closing in NESTS),
        *((opening * 40 + "x" + closing * 40, False) for opening, closing in NESTS),
        # What closes nothing hides no depth.
        *((closing * 9 + FRACTIONS, False) for closing in ("\\}", "}", "\\right)", "\\end{x}")),
        # Brackets in brackets are deep, whatever stands between them.
        *((f"\\left( {closing} " * 8 + "x" + "\\right)" * 8, False) for closing in ("\\}", "}")),
        # Braces that are written out are no depth.
        *((formula * 8, True) for formula in (r"\left\{ a \right. ", r"x \in \{ ")),
    ],
)
def test_what_nests_too_deep_to_be_drawn_in_time_stays_as_it_is_written(formula: str, drawn: bool) -> None:
    assert (formula_picture(f"${formula}$") is not None) is drawn


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
    assert latex.cited_keys("a \\cite{x} % \\cite{y}\n", comments=True) == ["x", "y"]


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
        (r"a \input b \input{c}", "a"),
        ("\\begin{itemize}\\item one\\item two\\end{itemize}", "- one\n- two"),
        ("", ""),
    ],
)
def test_words_are_shown_as_markdown(source: str, words: str) -> None:
    assert latex.markdown(source, marked) == words


@pytest.mark.parametrize(
    "source",
    [
        r"\cite{", r"\section{open", "{" * 20, r"\begin{itemize} \item a", "$a", r"\def\a{\a}\a",
        # Each option would double the time of those before it: thirty would take days.
        r"\cite[ a " * 500, r"\cite[ a {" * 30, r"\cite[a][" * 500, r"\section[ a " * 500,
        r"\sqrt[ x" * 500, "\\\\[ " * 500,
        r"\begin{array}[" * 30, r"\cite{\cite[" * 30, r"\begin{itemize}[ x " * 30,
    ],
)  # fmt: skip
def test_broken_sources_are_read_as_far_as_they_go_and_in_no_time(source: str) -> None:
    assert isinstance(latex.markdown(source, marked), str)
    assert isinstance(latex.cited_keys(source), list)


def test_an_option_is_one_where_it_is_closed() -> None:
    source = r"See \cite[open \emph{x} [1] $x \in [0,1)$ \cite[see][ch. 2]{b} and \cite[p. 3]{a}."
    assert latex.cited_keys(source) == ["b", "a"]
    assert "$x \\in [0,1)$" in latex.markdown(source, marked)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (r"\cite[a " * 30 + "]" * 30 + "{b}", "nests too deep"),
        ("{" * 5000, "nests too deep"),
        (r"\verb", "middle of a command"),
    ],
)
def test_what_the_parser_cannot_read_is_refused_in_words(source: str, reason: str) -> None:
    expect_refusal(reason, latex.markdown, source, marked)


def test_a_bomb_of_braces_is_refused_in_words() -> None:
    expect_refusal("nests too deep", latex.cited_keys, "{" * 5000)
