"""What is read of a page: its text, in any charset, unpacked, in a process of its own."""

import asyncio
import gzip
import os
import re
import zlib

import pytest

from annotator.domain.material.item import PageState
from annotator.exchange.pages import reading
from annotator.exchange.pages.fetching import PRIVATE, checked_prefix, named, through, unwrapped
from annotator.exchange.pages.reading import accepted, decoded, known, unpacked
from annotator.exchange.pages.states import PageReading
from annotator.exchange.pages.worker import ReadingProcess
from tests.common import expect_refusal, within_memory
from tests.crashes.killing import answers_by_word, never_starts
from tests.exchange.pages.page_server import ARTICLE, Given, Names, PageServer, fetched, unreadable
from tests.exchange.texts.test_rendering import encrypted_pdf, pdf
from tests.material.related_work import compressed

pytestmark = pytest.mark.anyio


REST = f"<p>{ARTICLE}</p>"


def text_of(html: str) -> str:
    text, result, _ = reading.read((html + REST).encode(), "text/html").text.partition(ARTICLE.strip())
    assert result
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
        # What a search in the page would find.
        ("<p hidden=until-found>folded</p>", "folded"),
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


def test_a_page_that_never_closes_its_navigation_is_read_with_it() -> None:
    assert ARTICLE.strip() in reading.read(f"<nav><a>Home</a>{REST}".encode(), "text/html").text


def test_the_title_and_what_a_page_says_of_itself_are_found() -> None:
    html = (
        '<title>Deep &amp; wide</title><link href="https://a.example/x?a=1&amp;b=2" rel="canonical">'
        '<meta property="og:url" content="https://other.example"><script type="application/ld+json">'
        '{"isAccessibleForFree": "False", "hasPart": {"isAccessibleForFree": true}}</script>'
    )
    result = reading.read((html + REST).encode(), "text/html")
    said_of_itself = ("Deep & wide", "https://a.example/x?a=1&b=2", False)
    assert (result.title, result.canonical, result.free) == said_of_itself
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
        assert re.search("Rain falls.*Snow falls", reading.read(content, content_type).text, re.DOTALL)


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
        (pdf("", ""), "application/pdf", "pictures, without words"),
    ],
)  # fmt: skip
def test_what_is_no_text_says_why(content: bytes, content_type: str, why: str) -> None:
    result = reading.read(content, content_type)
    assert (why in result.unreadable, result.unreadable[-1], result.text) == (True, ".", "")


def test_no_character_comes_out_that_the_store_refuses() -> None:
    result = reading.read(b"<title>a&#0;&#xD800;</title><p>b&#0;&#xDFFF;c\x00" + REST.encode(), "text/html")
    for text in (result.title, result.text):
        assert "\x00" not in text
        assert text.encode("utf-8")


PAGE = "https://paper.example/a?b=c"
PUBLIC = Names(paper_example=[["1.1.1.1"]], inside_example=[["10.0.0.1"]])


@pytest.mark.parametrize(
    ("reader", "asked"),
    [
        ("https://reader.example/", "https://reader.example/https://paper.example/a?b=c"),
        ("https://reader.example", "https://reader.example/https://paper.example/a?b=c"),
        ("https://reader.example/get?u=", "https://reader.example/get?u=https%3A%2F%2Fpaper.example%2Fa%3Fb%3Dc"),
        ("https://reader.example/{url}/text", "https://reader.example/https%3A%2F%2Fpaper.example%2Fa%3Fb%3Dc/text"),
    ],
)  # fmt: skip
def test_the_page_follows_the_prefix_or_stands_in_its_place(reader: str, asked: str) -> None:
    assert through(checked_prefix(reader), PAGE) == asked


@pytest.mark.parametrize(
    "reader",
    ["reader.example", "ftp://r.example/", "https://u:p@r.example/", "https://", "https://r/{url}{url}"],
)
def test_what_is_no_reader_service_is_refused(reader: str) -> None:
    expect_refusal("cannot be used", checked_prefix, reader)


def test_the_head_a_service_puts_before_the_text_is_taken_off() -> None:
    head = "Title: Deep nets\n\nURL Source: https://a.example\n\nPublished Time: 2026\n\n"
    text = f"{head}Markdown Content:\n# Deep\n\nwords"
    assert unwrapped(PageReading(text)) == PageReading(text="# Deep\n\nwords", title="Deep nets")
    assert unwrapped(PageReading("Just words")) == PageReading("Just words")


def test_a_page_that_the_service_could_not_have_is_dead() -> None:
    head = "Title: \n\nURL Source: x\n\nWarning: Target URL returned error 404: Not Found\n\n"
    assert unreadable(unwrapped, PageReading(f"{head}Markdown Content:\nNot found")).state is PageState.DEAD


def test_a_key_in_the_address_of_a_service_is_not_kept() -> None:
    assert named("https://reader.example:8443/get?key=sk-secret&url={url}") == "https://reader.example:8443"
    assert named("") == ""


@pytest.mark.anyio
async def test_a_reader_is_asked_and_named_and_may_itself_be_private(server: PageServer) -> None:
    server.pages[f"/read/{PAGE}"] = Given(
        f"Title: T\n\nMarkdown Content:\n{ARTICLE}", content_type="text/plain"
    )
    page = await fetched(PAGE, allow_private=False, reader=server.url("/read/"), look_up=PUBLIC)
    assert (page.state, page.text, page.title) == (PageState.OK, ARTICLE.strip(), "T")
    assert (page.url, page.by_reader, page.final_url) == (PAGE, server.url(""), "")


@pytest.mark.anyio
@pytest.mark.parametrize("inside", ["https://inside.example/x", "http://10.0.0.1/", "http://127.0.0.1/"])
async def test_a_reader_is_not_sent_into_a_private_network(server: PageServer, inside: str) -> None:
    page = await fetched(inside, allow_private=False, reader=server.url("/read"), look_up=PUBLIC)
    assert (page.state, page.cause, server.asked) == (PageState.FORBIDDEN, PRIVATE, [])


@pytest.mark.anyio
async def test_a_service_out_of_order_says_nothing_of_the_page(server: PageServer) -> None:
    server.pages[f"/read/{PAGE}"] = Given(status=402)
    page = await fetched(PAGE, allow_private=False, reader=server.url("/read"), look_up=PUBLIC)
    words = "The reader service did not give it. The server asks for payment (402)."
    assert (page.state, page.cause) == (PageState.DEAD, words)


@pytest.mark.anyio
async def test_a_name_only_the_service_can_look_up_is_left_to_it(server: PageServer) -> None:
    server.pages["/read/https://elsewhere.example"] = Given(ARTICLE, content_type="text/plain")
    page = await fetched(
        "https://elsewhere.example", allow_private=False, reader=server.url("/read"), look_up=PUBLIC
    )
    assert page.state is PageState.OK


XML = b"<?xml version='1.0' encoding='ISO-8859-2'?>"
META = b'<meta charset="%s">'


@pytest.mark.parametrize(
    ("content", "content_type", "text"),
    [
        # A byte order mark outranks what the server says; the header outranks the document.
        ("\ufeffé".encode(), "text/html; charset=latin1", "é"),
        ("é".encode("utf-16-le"), "text/html; charset=utf-16", "é"),
        (b"\xff\xfe" + "é".encode("utf-16-le"), "", "é"),
        (META % b"utf-8" + "é".encode("cp1252"), "text/html; charset=iso-8859-1", '<meta charset="utf-8">é'),
        (META % b"windows-1251" + "Ж".encode("cp1251"), "text/html", '<meta charset="windows-1251">Ж'),
        (XML + "ő".encode("iso8859-2"), "", XML.decode() + "ő"),
        ("深度".encode("gb18030"), "text/html;charset=GB2312", "深度"),
        ("テスト".encode("cp932"), "text/html; charset='Shift_JIS'", "テスト"),
        ("한국".encode("cp949"), "text/html; charset=ks_c_5601-1987", "한국"),
        ("naïve – text".encode(), "text/plain", "naïve – text"),
        ("naïve – text".encode("cp1252"), "text/plain", "naïve – text"),
        ("naïve".encode(), "text/plain; charset=nonsense", "naïve"),
        ("naïve".encode(), "text/plain; charset=rot13", "naïve"),
        # Encoding Standard, prescan: whoever read that label did not read two bytes at a time.
        (META % b"utf-16" + "é".encode(), "", '<meta charset="utf-16">é'),
        # A character that is cut off at the end changes no other.
        ("naïve é".encode()[:-1], "", "naïve \ufffd"),
    ],
)  # fmt: skip
def test_bytes_become_the_characters_they_were_written_as(
    content: bytes, content_type: str, text: str
) -> None:
    assert decoded(content, content_type) == text


def test_one_wrong_byte_is_marked_and_many_are_no_text() -> None:
    assert decoded(b"a" * 20 + b"\xff", "text/plain; charset=utf-8").endswith("\ufffd")
    with pytest.raises(UnicodeError):
        decoded(bytes(range(128, 256)) * 9, "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    "label", ["base64", "zip", "idna", "unicode_escape", "utf-7", "punycode", "", "../utf-8"]
)
def test_codecs_that_are_no_encodings_of_pages_are_unknown(label: str) -> None:
    assert known(label) == ""


WORDS = b"Residual connections. " * 100_000


@pytest.mark.parametrize(
    ("packing", "content"),
    [
        ("", WORDS),
        ("identity", WORDS),
        ("gzip", compressed(WORDS)),
        ("X-GZIP", compressed(WORDS)),
        ("deflate", zlib.compress(WORDS)),
        # Without the header and the check sum of zlib (RFC 1950, 2.2).
        ("deflate", zlib.compress(WORDS)[2:-4]),
        ("gzip", compressed(WORDS[:999]) + compressed(WORDS[999:])),
        ("gzip", compressed(WORDS) + b"\0" * 20),
    ],
)
def test_what_was_packed_comes_out_whole(packing: str, content: bytes) -> None:
    assert unpacked(content, accepted(packing), len(WORDS)) == WORDS
    assert unpacked(b"", accepted(packing), len(WORDS)) == b""


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_bomb_is_stopped_at_the_bound(pack) -> None:
    bomb, packing = pack(b"\0" * 40_000_000), "gzip" if pack is gzip.compress else "deflate"
    with within_memory(12 * 2**20):
        why = unreadable(unpacked, bomb, packing, 4 * 2**20)
    assert (why.state, why.cause) == (PageState.TOO_LONG, "It is larger than 4 MB.")


@pytest.mark.parametrize("packing", ["br", "zstd", "compress", "gzip, gzip"])
def test_a_packing_that_was_not_asked_for_is_not_text(packing: str) -> None:
    assert unreadable(accepted, packing).state is PageState.NOT_TEXT


def test_damage_and_a_missing_end_are_seen() -> None:
    assert "damaged" in unreadable(unpacked, b"no gzip at all", "gzip", 100).cause
    assert "broke off" in unreadable(unpacked, compressed(WORDS)[:-20], "gzip", len(WORDS)).cause


async def test_one_process_reads_one_document_after_the_other() -> None:
    async with ReadingProcess(serve=answers_by_word) as worker:
        first, second = await asyncio.gather(worker.read(b"a", ""), worker.read(b"b", ""))
    assert first.text == second.text != str(os.getpid())


@pytest.mark.slow
async def test_a_document_that_hangs_is_given_up_and_the_next_is_read() -> None:
    async with ReadingProcess(1.0, answers_by_word) as worker:
        before = await worker.read(b"a", "")
        async with asyncio.timeout(60.0):
            hung = await worker.read(b"hang", "")
        after = await worker.read(b"b", "")
    assert (hung.too_much, hung.unreadable) == (True, "Reading it took longer than 1 s.")
    assert after.text not in ("", before.text)


@pytest.mark.slow
async def test_html_that_would_take_hours_is_given_up() -> None:
    # The standard looks through all open elements at each of them: 300,000 nested ones are 45 thousand million steps.
    async with ReadingProcess(0.5) as worker:
        hung = await worker.read(b"<div>" * 300_000, "text/html")
    assert (hung.too_much, hung.unreadable) == (True, "Reading it took longer than 0.5 s.")


async def test_a_document_that_breaks_the_process_down_is_only_unreadable() -> None:
    async with ReadingProcess(5.0, answers_by_word) as worker:
        broken = await worker.read(b"crash", "")
        after = await worker.read(b"a", "")
    assert "broke down" in broken.unreadable
    assert after.text


async def test_a_process_that_does_not_start_is_no_error_of_the_loop() -> None:
    async with ReadingProcess(serve=never_starts) as worker:
        assert "broke down" in (await worker.read(b"a", "")).unreadable


async def test_an_answer_nobody_waited_for_is_not_given_to_the_next() -> None:
    async with ReadingProcess(5.0, answers_by_word) as worker:
        await worker.read(b"a", "")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await worker.read(b"hang", "")
        assert (await worker.read(b"b", "")).text
