"""Reading: what a page shows becomes its text, and nothing that only programs read."""

import pytest

from annotator.exchange.pages import reading
from tests.exchange.pages.page_server import ARTICLE
from tests.exchange.texts.test_documents import encrypted_pdf, pdf

REST = f"<p>{ARTICLE}</p>"


def text_of(html: str) -> str:
    text, found, _ = reading.read((html + REST).encode(), "text/html").text.partition(ARTICLE.strip())
    assert found
    return text.strip()


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One <b>bold</b>ly&nbsp;said &amp; 1 &lt; 2", "One boldly said & 1 < 2"),
        ("<h1>Head</h1><p>a<br>b</p><p>c", "Head\n\na\nb\n\nc"),
        ("<ul><li>one<li><p>two</p></ul><ol><li><li>three</ol>", "- one\n- two\n\n- three"),
        ("<table><tr><th>Model<th>Score<tr><td>A<td>0.5</table>", "Model | Score\nA | 0.5"),
        ("<pre>x = 1\n  y</pre>", "x = 1\n  y"),
        ("<div>a<div>b</div>c</div>", "a\nb\nc"),
        ("un<span>broken</span>", "unbroken"),
        ("<math><mi>x</mi><mo>=</mo><mn>2</mn></math>", "x=2"),
        ("a\n   b\t c", "a b c"),
    ],
)
def test_blocks_become_lines_and_marks_words(html: str, text: str) -> None:
    assert text_of(html) == text


@pytest.mark.parametrize(
    "html",
    [
        "<script>if (a < b) document.write('<p>no</p>')</script>",
        "<style>p::before{content:'no'}</style>",
        "<noscript>no</noscript>",
        "<template><p>no</p></template>",
        "<svg><title>no</title><text>no</text></svg>",
        "<nav><a href=/>no</a></nav>",
        "<footer>no</footer>",
        "<button>no</button><select><option>no</select><textarea>no</textarea>",
        "<!-- no --><!--[if IE]><p>no</p><![endif]-->",
        "<p hidden>no</p><div hidden=''><p>no</p>no</div>",
        "<p style='color:red; DISPLAY : none'>no</p><span style='visibility:hidden'>no</span>",
        "<div style='display:none'><br><hr><div>no</div>no</div>",
    ],
)
def test_what_no_reader_sees_is_no_text(html: str) -> None:
    assert text_of(f"<p>yes</p>{html}") == "yes"


def test_what_a_search_in_the_page_would_find_is_text() -> None:
    assert text_of("<p hidden=until-found>folded</p>") == "folded"


def test_a_page_that_never_closes_its_navigation_is_read_with_it() -> None:
    assert ARTICLE.strip() in reading.read(f"<nav><a>Home</a>{REST}".encode(), "text/html").text


def test_the_title_and_what_a_page_says_of_itself_are_found() -> None:
    html = (
        '<title>Deep &amp; wide</title><link href="https://a.example/x?a=1&amp;b=2" rel="canonical">'
        '<meta property="og:url" content="https://other.example"><script type="application/ld+json">'
        '{"isAccessibleForFree": "False", "hasPart": {"isAccessibleForFree": true}}</script>'
    )
    found = reading.read((html + REST).encode(), "text/html")
    assert (found.title, found.canonical, found.free) == ("Deep & wide", "https://a.example/x?a=1&b=2", False)
    assert reading.read(REST.encode(), "text/html").free is None


@pytest.mark.parametrize(
    ("head", "address"),
    [
        ("<!-- saved from url=(0026)https://a.example/b?c=d -->", "https://a.example/b?c=d"),
        (
            "<!--\n Page saved with SingleFile \n url: https://a.example/b \n saved date: Mon\n-->",
            "https://a.example/b",
        ),
        ("<meta content='https://a.example/og' property=og:url>", "https://a.example/og"),
        ("<p>url: https://a.example/mere-text</p>", ""),
    ],
)
def test_a_saved_page_names_its_address(head: str, address: str) -> None:
    assert reading.read((head + REST).encode(), "text/html").canonical == address


@pytest.mark.parametrize(
    ("html", "onward"),
    [
        ("<meta http-equiv=refresh content='0; url=/real'><p>Redirecting", "/real"),
        ('<META CONTENT="2;URL=\'/real?a=1&amp;b\'" HTTP-EQUIV="Refresh">', "/real?a=1&b"),
        ("<meta http-equiv=refresh content='900; url=/again'><p>News", ""),
        ("<meta http-equiv=refresh content='5'><p>News", ""),
        ("<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript><p>x", ""),
        (f"<meta http-equiv=refresh content='0; url=/again'>{REST}", ""),
    ],
)
def test_a_notice_sends_its_visitor_on_and_a_page_does_not(html: str, onward: str) -> None:
    assert reading.read(html.encode(), "text/html").refresh == onward


@pytest.mark.parametrize(
    ("content", "content_type", "start"),
    [
        (b"plain\r\ntext", "text/plain; charset=utf-8", "plain\ntext"),
        (b"# Head\n\nwords", "text/markdown", "# Head"),
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        (b"<feed><entry>x</entry></feed>", "application/atom+xml", "<feed>"),
        (b"  <!DOCTYPE html><p>shown", "", "shown"),
        (b"<!-- c --><HTML><p>shown", "application/octet-stream", "shown"),
        (b"<?xml version='1.0'?><p>x</p>", "application/xhtml+xml", "x"),
        (b"just words", "", "just words"),
        (b"a\x00b", "text/plain", "ab"),
    ],
)
def test_a_document_is_read_as_what_it_is(content: bytes, content_type: str, start: str) -> None:
    assert reading.read(content, content_type).text.startswith(start)


def test_the_words_of_a_pdf_are_read_whatever_the_server_calls_it() -> None:
    content = pdf("Rain falls", "Snow falls")
    for content_type in ("application/pdf", "application/octet-stream", "text/html", ""):
        assert [
            words in reading.read(content, content_type).text for words in ("Rain falls", "Snow falls")
        ] == [True] * 2


@pytest.mark.parametrize(
    ("content", "content_type", "why"),
    [
        (b"\x89PNG", "image/png", "a picture"),
        (b"PK\x03\x04", "application/zip", "an archive"),
        (b"x", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "an Office document"),
        (b"\x7fELF\x00\x00", "", "no text"),
        (b"x", "application/x-thing", "no text but application/x-thing"),
        (bytes(range(128, 256)) * 9, "text/plain; charset=utf-8", "hardly any of its characters"),
        (encrypted_pdf(), "application/pdf", "It is protected by a password"),
        (b"%PDF-1.7\nnothing", "application/pdf", "It is no PDF, or is damaged"),
    ],
)  # fmt: skip
def test_what_is_no_text_says_why(content: bytes, content_type: str, why: str) -> None:
    found = reading.read(content, content_type)
    assert why in found.unreadable
    assert found.unreadable.endswith(".")
    assert found.text == ""


def test_a_pdf_without_words_says_that_it_holds_pictures() -> None:
    found = reading.read(pdf("", ""), "application/pdf")
    assert "pictures, without words" in found.unreadable
    assert found.text == ""


def test_no_character_comes_out_that_the_store_refuses() -> None:
    found = reading.read(b"<title>a&#0;&#xD800;</title><p>b&#0;&#xDFFF;c\x00" + REST.encode(), "text/html")
    for text in (found.title, found.text):
        assert "\x00" not in text
        assert text.encode("utf-8")
