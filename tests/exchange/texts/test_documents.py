"""Documents: text is taken as it is, a PDF by its words, and what is neither is refused."""

import io
import os
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.pages import worker
from annotator.exchange.texts import documents
from tests.house import reading


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
    assert using == {"documents.py", "pdf_pages.py", "selftest.py"}
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
