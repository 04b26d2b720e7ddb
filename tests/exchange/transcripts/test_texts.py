"""Transcripts in plain text, Word and PDF, and the one text that is made of any."""

import io
import zipfile
from collections.abc import Callable

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import LONGEST_TEXT
from annotator.exchange.transcripts import reader
from annotator.exchange.transcripts.said import SpokenLine
from tests.exchange.texts.test_documents import pdf

SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word(body: str, head: str = "") -> bytes:
    opened = f'<?xml version="1.0" encoding="UTF-8"?>{head}<w:document xmlns:w="{SPACE}"><w:body>'
    tree = f"{opened}{body}</w:body></w:document>"
    return packed({"word/document.xml": tree.encode()})


def packed(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return made.getvalue()


def paragraph(*words: str) -> str:
    return "<w:p>" + "".join(f"<w:r><w:t>{one}</w:t></w:r>" for one in words) + "</w:p>"


def told(content: bytes, name: str) -> list[tuple[int, str, str]]:
    return [(one.start, one.speaker, one.text) for one in reader.read(content, name).said]


def test_names_times_and_blank_lines() -> None:
    text = """Seminar on salt

Ann: Hello all,
and welcome.
Bob: Thanks.

[00:12:03] Ann: After the break
[00:13:00]
Bob: Indeed: salt.
(14:00) Ann: Bye.

1:02:03 Someone else
It was 10:30 then
"""
    assert told(text.encode(), "a.txt") == [
        (-1, "", "Seminar on salt"),
        (-1, "Ann", "Hello all, and welcome."),
        (-1, "Bob", "Thanks."),
        (723_000, "Ann", "After the break"),
        (780_000, "Bob", "Indeed: salt."),
        (840_000, "Ann", "Bye."),
        (3_723_000, "", "Someone else It was 10:30 then"),
    ]


def test_a_name_and_a_time_on_a_line_of_their_own() -> None:
    text = "Ann Lee  0:12\nHello all\n\nBob  1:00:02\nHi\n\nAnn Lee  1:00:05\nBye\nBob  1:01:00\nBye\n"
    assert told(text.encode(), "a.txt") == [
        (12_000, "Ann Lee", "Hello all"),
        (3_602_000, "Bob", "Hi"),
        (3_605_000, "Ann Lee", "Bye"),
        (3_660_000, "Bob", "Bye"),
    ]


def test_a_word_document_is_read_by_paragraph() -> None:
    body = paragraph("Ann: He", "llo &amp; all") + paragraph() + paragraph("Bob: Hi") + paragraph("Ann: Bye")
    deleted = "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    assert told(word(body + deleted), "a.docx") == [
        (-1, "Ann", "Hello & all"), (-1, "", "Bob: Hi"), (-1, "Ann", "Bye"),
    ]  # fmt: skip


def test_a_long_run_of_short_lines_is_one_turn_at_once() -> None:
    (found,) = reader.read(b"A\n" * 300_000, "a.txt").said
    assert len(found.text) == 599_999


def test_a_pdf_is_read_as_text() -> None:
    assert told(pdf("Rain falls"), "a.pdf") == [(-1, "", "Rain falls")]


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04 no archive", "no Word document, or is damaged"),
        (word(paragraph("x"))[:200], "no Word document, or is damaged"),
        (packed({"other.xml": b"<x/>"}), "lacks word/document.xml"),
        (word(paragraph("&b;"), BOMB), "has a doctype"),
        (packed({"word/document.xml": b"<x>"}), "is no XML"),
        (packed({"word/document.xml": "<!DOCTYPE x []><x/>".encode("utf-16")}), "is no XML"),
        (word(""), "holds no words"),
    ],
)
def test_hostile_word_documents_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        reader.read(content, "a.docx")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (lambda: {f"{n}": b"" for n in range(reader.MOST_FILES + 1)}, "more than 5,000 files"),
        (lambda: {"word/document.xml": b" " * (LONGEST_TEXT * 4 + 1)}, "more than 64 MB"),
    ],
    ids=["many files", "one that is large"],
)
def test_word_documents_beyond_measure_are_refused(
    files: Callable[[], dict[str, bytes]], reason: str
) -> None:
    with pytest.raises(Refusal, match=reason):
        reader.read(packed(files()), "a.docx")


def test_another_ending_is_refused() -> None:
    with pytest.raises(Refusal, match="no transcript that can be read"):
        reader.read(b"MZ", "a.exe")


def test_one_text_with_a_turn_for_each_change_of_speaker() -> None:
    said = [
        SpokenLine("Hello", 0, 900, "Ann"),
        SpokenLine("all", 900, 1000, "Ann"),
        SpokenLine("Hi", 1000, 2000, "Bob"),
    ]
    text, transcript = reader.assembled(said, {}, "hash")
    assert text == "Ann: Hello all\n\nBob: Hi"
    assert transcript.speakers == ("Ann", "Bob")
    assert transcript.file == "hash"
    assert [(one.start, one.end, one.speaker) for one in transcript.segments] == [
        (0, 900, 0), (900, 1000, 0), (1000, 2000, 1),
    ]  # fmt: skip
    assert [text[one.first : one.last] for one in transcript.segments] == ["Hello", "all", "Hi"]


def test_pseudonyms_take_the_place_of_names() -> None:
    said = [SpokenLine("Hello", speaker="Ann"), SpokenLine("Hi", speaker="Bob")]
    text, transcript = reader.assembled(said, {"Ann": "S1", "Bob": "S2"}, "")
    assert text == "S1: Hello\n\nS2: Hi"
    assert transcript.speakers == ("S1", "S2")


def test_where_nobody_is_named_a_silence_parts_turns() -> None:
    said = [SpokenLine("a", 0, 1000), SpokenLine("b", 2999, 3500), SpokenLine("c", 5500, 6000)]
    assert reader.assembled(said, {}, "")[0] == "a b\n\nc"


def test_a_long_turn_is_put_in_paragraphs_at_sentences() -> None:
    sentence = "Salt keeps food for a long time in any house. "
    text, transcript = reader.assembled([SpokenLine((sentence * 60).strip(), speaker="Ann")], {}, "")
    paragraphs = text.split("\n")
    assert len(paragraphs) > 3
    assert all(len(one) <= reader.LONGEST and one.endswith("house.") for one in paragraphs)
    assert text.replace("\n", " ") == "Ann: " + (sentence * 60).strip()
    assert transcript.segments[0].last == len(paragraphs[0])


def test_chinese_without_any_mark_is_cut_too() -> None:
    text, transcript = reader.assembled([SpokenLine("盐" * 5000)], {}, "")
    assert max(map(len, text.split("\n"))) <= reader.LONGEST
    assert sum(one.last - one.first for one in transcript.segments) == 5000
