"""Foreign text is made safe to show: Markdown, HTML and documents."""

import io
import json
import os
import re
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from annotator.domain.texts import difference
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.rendered import CUT
from annotator.exchange.pages import worker
from annotator.exchange.texts import documents, rendering
from annotator.exchange.texts.rendering import render
from tests.house import reading


def test_markdown_becomes_tags_and_tables_are_aligned():
    html = render("# A\n\nb **c** *d* `e` ~~f~~\n\n> g\n\n- h\n\n3. i\n").html
    for tag in (
        "<h1>A</h1>",
        "<strong>c</strong>",
        "<em>d</em>",
        "<code>e</code>",
        "<s>f</s>",
        "<blockquote>",
    ):
        assert tag in html
    assert '<ol start="3">' in html
    html = render("|a|b|\n|:-:|--:|\n|1|2|\n").html
    assert '<td align="center">1</td>' in html
    assert '<td align="right">2</td>' in html
    assert "style" not in html


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [("![a *plot*](https://x.y/z.png)", "[image: a plot]"), ("![](/dev/zero)", "[image]")],
)
def test_an_image_is_only_its_words(markdown, shown):
    html = render(markdown).html
    assert shown in html
    assert "<img" not in html
    assert "zero" not in html


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
    assert '<a href="https://example.org/a?b=1&amp;c=2">words</a>' in html
    assert '<a href="http://x.org">http://x.org</a>' in html
    assert "title" not in html


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


def test_an_address_inside_a_link_is_not_linked_twice():
    assert render("[https://a.org](https://b.org)").html.count("<a ") == 1


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
    assert "<p>\u202eevil</p>" in html
    assert "<p>next \u2067isolated</p>" in html
    assert "<th>\u202ea</th>" in html


def test_a_long_run_is_broken_even_across_marks():
    seen = re.sub("<[^>]+>", "", render("**" + "a" * 15_000 + "**" + "b" * 15_000).html).strip()
    assert max(len(run) for run in seen.split("\u200b")) <= 2_000
    assert seen.replace("\u200b", "") == "a" * 15_000 + "b" * 15_000


def test_characters_that_qt_keeps_for_frames_are_replaced():
    assert render("a\ufdd0b\ufdd1c\uffff").html.strip() == "<p>a\ufffdb\ufffdc\ufffd</p>"


def test_rendering_twice_gives_the_same():
    markdown = "# A\n\n|a|\n|-|\n|b|\n\n[c](https://d.e)\n"
    assert render(markdown) == render(markdown)


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
    assert made.plain
    assert made.html == ""
    assert made.reason.endswith(".")


@pytest.mark.parametrize("name", RENDERED)
@pytest.mark.timeout(20)
def test_what_keeps_the_bounds_is_rendered(name):
    made = render(RENDERED[name])
    assert not made.plain, made.reason
    assert made.html


def test_the_parser_gives_up_when_its_time_is_over(monkeypatch):
    monkeypatch.setattr(rendering, "MAX_SECONDS", -1.0)
    made = render("# Title\n\nwords")
    assert made.plain
    assert "seconds" in made.reason


def test_nothing_of_a_nested_list_within_the_bound_is_lost():
    html = render("\n".join("  " * n + f"- depth{n}" for n in range(9))).html
    assert all(f"depth{n}" in html for n in range(9))


def test_every_published_report_keeps_the_bounds():
    folder = Path(__file__).parents[3] / "../shared/data/researcherbench/responses"
    if not folder.is_dir():
        pytest.skip("the published reports are not here")
    for path in sorted(folder.glob("*.json"))[:3]:
        for record in json.loads(path.read_text("utf-8"))[::5]:
            assert not render(record["response"]).plain


def pdf(*pages: str) -> bytes:
    """A PDF with a line of words on each page."""
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


def test_the_words_of_a_pdf_come_page_by_page() -> None:
    text = worker.pdf_text(pdf("Rain falls", "Snow falls"), "a.pdf")
    assert [page.strip() for page in text.split(documents.PAGE_BREAK)] == ["Rain falls", "Snow falls"]


def test_a_pdf_without_words_has_an_empty_text() -> None:
    assert worker.pdf_text(pdf("", ""), "scan.pdf") == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"%PDF-1.7\nnothing", "is no PDF, or is damaged"),
        (b"<html>", "is no PDF, or is damaged"),
        (encrypted_pdf(), "is protected by a password"),
    ],
    ids=["damaged", "something else", "encrypted"],
)
def test_a_pdf_that_cannot_be_read_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(Refusal, match=f"“a.pdf” {reason}"):
        worker.pdf_text(content, "a.pdf")


def dies(line: Connection) -> None:
    line.send_bytes(worker.READY)
    line.recv_bytes()
    os._exit(1)


def test_a_pdf_that_breaks_the_reader_down_is_refused_and_takes_nothing_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "serve_pdfs", dies)
    with pytest.raises(
        Refusal, match=r"“a.pdf” could not be read. The program that reads documents broke down"
    ):
        worker.pdf_text(pdf("Rain falls"), "a.pdf")


def test_a_pdf_is_parsed_in_a_process_of_its_own() -> None:
    """But for the pages in view, which the window draws and selects in, and the self-test's own empty page."""
    words = (
        "import sys; from annotator.exchange.pages import worker; "
        "print(worker.pdf_text(sys.stdin.buffer.read(), 'a'), 'pypdfium2' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", words], input=pdf("Rain falls"), capture_output=True, check=True
    )
    assert done.stdout.decode().split() == ["Rain", "falls", "False"]
    using = {
        path.name for path in reading.files("annotator") if "import pypdfium2" in path.read_text("utf-8")
    }
    assert using == {"documents.py", "selftest.py"}
    calls = [path.name for path in reading.files("annotator") if "parse_pdf(" in path.read_text("utf-8")]
    assert sorted(calls) == ["documents.py", "reading.py", "worker.py"]
    serving = [
        path.name for path in reading.files("annotator") if "import reading" in path.read_text("utf-8")
    ]
    assert serving == ["worker.py"]


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
    with pytest.raises(Refusal, match=reason):
        documents.plain_text(content, "a.md")


def test_an_empty_or_too_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST_DOCUMENT", 4)
    for name, content in (("empty.md", b""), ("large.md", b"12345")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(Refusal, match=r"is empty|is larger"):
            documents.read(tmp_path / name)
