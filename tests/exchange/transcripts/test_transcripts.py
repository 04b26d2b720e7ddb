"""Transcripts: captions, what is recognized, and plain texts."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from annotator.domain.material.transcript import Doubt
from annotator.exchange import transcripts
from annotator.exchange.folders import LONGEST_TEXT
from annotator.exchange.pages import worker
from annotator.exchange.texts import documents
from annotator.exchange.transcripts import ReadTranscript, SpokenLine
from tests.common import expect_refusal
from tests.exchange.texts.test_rendering import pdf


def vtt(*cues: str) -> bytes:
    return ("WEBVTT\n\n" + "\n\n".join(cues) + "\n").encode()


def srt(*texts: str) -> bytes:
    cues = (f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}" for n, text in enumerate(texts, 1))
    return "\n\n".join(cues).encode()


def lines(found: ReadTranscript) -> list[tuple[str, str]]:
    return [(one.speaker, one.text) for one in found.lines]


def test_speakers_times_and_entities_of_webvtt() -> None:
    content = vtt(
        "NOTE made by hand",
        "1\n00:01.000 --> 00:02.500 align:start\n<v.loud Ann Lee>Salt &amp; <i>pepper</i> &lt;b&gt;",
        "00:02.000 --> 00:03.000\n<v Bob>Yes,</v> <v Ann Lee>no</v>",
        "NOTE\ntwo\nlines",
        "123:00:02.000 --> 123:00:03.000\nlate <00:00:01.000>words &amp;amp; more",
    )
    result = transcripts.read(content, "a.vtt")
    assert (result.bad, result.notes) == ([], ["2 notes left out"])
    assert [(one.start, one.end, one.speaker, one.text) for one in result.lines] == [
        (1000, 2500, "Ann Lee", "Salt & pepper <b>"),
        (2000, 3000, "Bob", "Yes,"),
        (2000, 3000, "Ann Lee", "no"),
        (442_802_000, 442_803_000, "", "late words &amp; more"),
    ]


def test_names_of_speakers_are_known_by_recurring() -> None:
    result = transcripts.read(
        srt("Note: this is new", "ANN: hello", "BOB: yes", "ANN: bye", "BOB: so"), "a.srt"
    )
    assert lines(result) == [
        ("", "Note: this is new"), ("ANN", "hello"), ("BOB", "yes"), ("ANN", "bye"), ("BOB", "so"),
    ]  # fmt: skip
    result = transcripts.read(
        srt("ANN: hello", "and at 12:30: lunch", "BOB: yes", "ANN: bye", "BOB: so"), "a.srt"
    )
    assert [one.speaker for one in result.lines] == ["ANN", "ANN", "BOB", "ANN", "BOB"]
    text, _ = transcripts.assembled(result.lines, {}, "")
    assert text.startswith("ANN: hello and at 12:30: lunch\n\nBOB: yes")
    result = transcripts.read(srt("Ann Lee: a", "Ann Lee: b", "Bob: c", "Bob: d"), "a.srt")
    assert transcripts.assembled(result.lines, {}, "")[0] == "Ann Lee: a b\n\nBob: c d"
    assert len(transcripts.read(vtt("00:01.000 --> 00:02.000\n<v" + ".a" * 20_000), "a.vtt").lines) == 1


@pytest.mark.parametrize("names", ["王老师：", "דוד: ", "Dr. Weiß: ", "- Ann: "])
def test_names_in_other_scripts_and_with_titles(names: str) -> None:
    result = transcripts.read(srt(f"{names}one", f"{names}two"), "a.srt")
    speaker = names.strip("-:： ")
    assert lines(result) == [(speaker, "one"), (speaker, "two")]


def test_captions_are_folded_ordered_and_doubted() -> None:
    content = vtt(
        "00:01.000 --> 00:02.000\nso today we",
        "00:02.000 --> 00:02.010\nso today we",
        "00:02.010 --> 00:04.000\nso today we\ntalk about salt",
        "00:04.000 --> 00:04.010\ntalk about salt",
        "00:04.010 --> 00:06.000\ntalk about salt\nand pepper",
        "00:06.000 --> 00:08.000\nand pepper\nthank you",
    )
    result = transcripts.read(content, "a.vtt")
    assert [one.text for one in result.lines] == ["so today we", "talk about salt", "and pepper", "thank you"]
    assert result.lines[0].end == 2010
    assert result.notes == ["5 captions with lines of the one before; each line is kept once"]
    result = transcripts.read(vtt("00:01.000 --> 00:02.000\nYes.", "00:02.000 --> 00:03.000\nYes."), "a.vtt")
    assert [(one.text, one.doubts) for one in result.lines] == [("Yes.", ())] * 2
    texts = ("Thanks for watching this video", "Salt", "Thanks for watching this video", "Yes", "Yes", "Yes")
    result = transcripts.read(srt(*texts, "Thanks for watching this video", "Salt", "Salt"), "a.srt")
    doubted = [one.text for one in result.lines if one.doubts == (Doubt.REPEATED,)]
    assert doubted == [texts[0], texts[2], "Yes", "Yes", "Yes", texts[0]]
    content = vtt(
        "00:05.000 --> 00:09.000\nsecond", "00:01.000 --> 00:07.000\nfirst", "00:06.000 --> 00:07.000\nthird"
    )
    result = transcripts.read(content, "a.vtt")
    assert [one.text for one in result.lines] == ["first", "second", "third"]
    assert result.notes == ["1 line out of order; all are put in the order of their times"]


def test_chinese_and_japanese_lines_follow_without_a_space() -> None:
    content = vtt(
        "00:01.000 --> 00:02.000\n<v 李明>我们想知道，\n为什么",
        "00:02.000 --> 00:03.000\n<v 李明>GPU 不够",
        "00:03.000 --> 00:04.000\n<v 李明>は。",
        "00:04.000 --> 00:05.000\n<v 김>검색 모델",
        "00:05.000 --> 00:06.000\n<v 김>평가",
    )
    text, transcript = transcripts.assembled(transcripts.read(content, "a.vtt").lines, {}, "")
    assert text == "李明: 我们想知道，为什么 GPU 不够は。\n\n김: 검색 모델 평가"
    segments = [text[segment.first : segment.last] for segment in transcript.segments]
    assert segments[:3] == ["我们想知道，为什么", "GPU 不够", "は。"]


@pytest.mark.parametrize(
    ("head", "language"), [("WEBVTT\nKind: captions\nLanguage: de\n", "de"), ("WEBVTT\n\nLanguage: de\n", "")]
)
def test_the_language_stands_in_the_head(head: str, language: str) -> None:
    assert (
        transcripts.read(f"{head}\n00:01.000 --> 00:02.000\nHallo\n".encode(), "a.vtt").language == language
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(encoding: str, end: str) -> None:
    text = vtt("00:01.000 --> 00:02.000\nsüß").decode().replace("\n", end)
    assert [one.text for one in transcripts.read(text.encode(encoding), "a.vtt").lines] == ["süß"]


@pytest.mark.parametrize(
    ("time", "reason"),
    [
        ("00:00:0x.000 --> 00:00:02.000", "line 6: “00:00:0x.000” is not a time such as 00:01:02.500"),
        ("00:00:01.000 --> 00:75:02.000", "line 6: “00:75:02.000” is not a time such as 00:01:02.500"),
        ("00:00:03.000 --> 00:00:02.000", "line 6: the caption ends before it begins"),
        ("00:00:03.000 -->", "line 6: “” is not a time such as 00:01:02.500"),
    ],
)
def test_bad_lines_are_told_by_number(time: str, reason: str) -> None:
    result = transcripts.read(vtt("00:01.000 --> 00:02.000\ngood", f"{time}\nbad"), "a.vtt")
    assert (result.bad, lines(result)) == ([reason], [("", "good")])


@pytest.mark.parametrize(
    ("block", "lost"),
    [
        ("00:05.000 - 00:06.000\nlost words", "no times stand above “00:05.000 - 00:06.000”"),
        ("00:05.000 --> 00:06.000\nkept\n\nlost words", "no times stand above “lost words”"),
        ("a name\nlost words\n00:05.000 --> 00:06.000\nkept", "no times stand above “a name”"),
        ("00:05.000 --> 00:06.000\nkept\n\n丢失的话", "no times stand above “丢失的话”"),
    ],
)
def test_words_without_times_are_told_and_never_lost_in_silence(block: str, lost: str) -> None:
    content = vtt("00:01.000 --> 00:02.000\ngood", block)
    place, reason = transcripts.read(content, "a.vtt").bad[0].split(": ", 1)
    assert reason == lost
    assert content.decode().split("\n")[int(place.removeprefix("line ")) - 1] in lost


@pytest.mark.parametrize(
    "block",
    [
        "NOTE\nwho spoke",
        "STYLE\n::cue { color: red }",
        "REGION\nid:a",
        "7",
        "intro\n00:05.000 --> 00:06.000\nkept",
    ],
)
def test_what_is_no_speech_is_no_fault(block: str) -> None:
    assert transcripts.read(vtt("00:01.000 --> 00:02.000\ngood", block), "a.vtt").bad == []


@pytest.mark.parametrize(
    "text",
    [
        "00:00:01,000 --> 00:00:02,000\none\n\n00:00:02,000 --> 00:00:03,000\ntwo\n",
        "1\n00:00:01,000 --> 00:00:02,000\none\n00:00:02,000 --> 00:00:03,000\ntwo\n",
        "1 \n00:00:01,000 --> 00:00:02,000\none\n\n2\n\n00:00:02,000 --> 00:00:03,000\ntwo\n",
    ],
)
def test_subrip_without_numbers_is_read(text: str) -> None:
    result = transcripts.read(text.encode(), "a.srt")
    assert ([one.text for one in result.lines], result.bad) == (["one", "two"], [])


def test_blank_lines_lose_nothing_and_lines_are_counted_from_the_first() -> None:
    result = transcripts.read(srt("one\n\nmore", "two\n\n2024"), "a.srt")
    assert [one.text for one in result.lines] == ["one more", "two 2024"]
    content = b"\n\n" + vtt("00:0x.000 --> 00:02.000\nbad", "00:01.000 --> 00:02.000\ngood")
    assert transcripts.read(content, "a.vtt").bad[0].startswith("line 5: ")


@pytest.mark.parametrize("name", ["a.vtt", "a.srt"])
def test_a_file_of_another_kind_is_told(name: str) -> None:
    assert "line 1: the file does not begin" in transcripts.read(b"Hello there\nall\nof you", name).bad[0]


def read(tree: Any) -> Any:
    return transcripts.read(json.dumps(tree).encode(), "a.json")


def test_whisper_is_read_in_each_of_its_forms() -> None:
    sure = {"avg_logprob": -0.2, "no_speech_prob": 0.1, "compression_ratio": 1.5}
    result = read({
        "text": "all", "language": "de",
        "segments": [
            {"id": 0, "start": 0.0, "end": 2.04, "text": " Hallo zusammen", "speaker": "SPEAKER_00", **sure},
            {"start": 2.5, "end": 3, "text": "Danke", **sure | {"avg_logprob": -1.2, "no_speech_prob": 0.9}},
            {"start": 3, "end": 4, "text": "la la la", **sure | {"compression_ratio": 2.5}},
            {"start": 4, "end": 5, "text": " "},
        ],
    })  # fmt: skip
    assert (result.language, result.lines) == ("de", [
        SpokenLine("Hallo zusammen", 0, 2040, "SPEAKER_00"),
        SpokenLine("Danke", 2500, 3000, "", (Doubt.UNSURE, Doubt.SILENCE)),
        SpokenLine("la la la", 3000, 4000, "", (Doubt.REPETITIVE,)),
    ])  # fmt: skip
    result = read([{"start": 0, "end": 1, "text": "Salt", "speaker": "A"}, {"start": "x", "text": "b"}])
    places = [one.split(":")[0] for one in result.bad]
    assert (lines(result), places) == ([("A", "Salt")], ["segments[1]"])
    cut = {"timestamps": {"from": "00:00:00,000"}, "offsets": {"from": 40, "to": 1200}, "text": " Salt"}
    result = read({"result": {"language": "en"}, "transcription": [cut]})
    assert (result.language, result.lines) == ("en", [SpokenLine("Salt", 40, 1200)])


def test_entries_that_do_not_fit_are_told_by_their_place() -> None:
    good = {"start": 1, "end": 2, "text": "good"}
    wrong = [
        {"start": "soon", "text": "x"},
        {"start": 3, "end": 2, "text": "x"},
        "x",
        {"start": -1, "text": ""},
    ]
    result = read({"segments": [good, *wrong]})
    places = [one.split(":")[0] for one in result.bad]
    assert (lines(result), places) == ([("", "good")], [f"segments[{n}]" for n in (1, 2, 3, 4)])
    assert result.bad[1] == "segments[2]: ends before it begins"


@pytest.mark.parametrize("tree", [{}, [], {"segments": "x"}, "words", {"transcription": {}}])
def test_other_trees_are_told(tree: Any) -> None:
    assert "neither “segments”" in read(tree).bad[0]


SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word(body: str, head: str = "") -> bytes:
    opened = f'<?xml version="1.0" encoding="UTF-8"?>{head}<w:document xmlns:w="{SPACE}"><w:body>'
    return packed({"word/document.xml": f"{opened}{body}</w:body></w:document>".encode()})


def packed(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return made.getvalue()


def paragraph(*words: str) -> str:
    return "<w:p>" + "".join(f"<w:r><w:t>{one}</w:t></w:r>" for one in words) + "</w:p>"


def told(content: bytes, name: str) -> list[tuple[int, str, str]]:
    return [(one.start, one.speaker, one.text) for one in transcripts.read(content, name).lines]


def test_plain_texts_have_names_and_times(monkeypatch: pytest.MonkeyPatch) -> None:
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
    text = "Ann Lee  0:12\nHello all\n\nBob  1:00:02\nHi\n\nAnn Lee  1:00:05\nBye\nBob  1:01:00\nBye\n"
    assert told(text.encode(), "a.txt") == [
        (12_000, "Ann Lee", "Hello all"),
        (3_602_000, "Bob", "Hi"),
        (3_605_000, "Ann Lee", "Bye"),
        (3_660_000, "Bob", "Bye"),
    ]
    (result,) = transcripts.read(b"A\n" * 300_000, "a.txt").lines
    assert len(result.text) == 599_999
    # That a process of its own reads it is shown of `pdf_text`.
    monkeypatch.setattr(worker, "pdf_text", documents.parse_pdf)
    assert told(pdf("Rain falls"), "a.pdf") == [(-1, "", "Rain falls")]
    expect_refusal("no transcript that can be read", transcripts.read, b"MZ", "a.exe")


def test_a_word_document_is_read_by_paragraph() -> None:
    body = paragraph("Ann: He", "llo &amp; all") + paragraph() + paragraph("Bob: Hi") + paragraph("Ann: Bye")
    deleted = "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    assert told(word(body + deleted), "a.docx") == [
        (-1, "Ann", "Hello & all"), (-1, "", "Bob: Hi"), (-1, "Ann", "Bye"),
    ]  # fmt: skip


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "reason", "name"),
    [
        (b"\x7fELF\x02\x01\x00\x00\x00", "NUL", "a.vtt"),
        (b"\xff\xfe\x00\xd8", "not text in UTF-8 or UTF-16", "a.vtt"),
        (b"WEBVTT\n\n\xe9\xe8", "line 3", "a.vtt"),
        (b"PK\x03\x04rest", "another kind of file", "a.vtt"),
        (b"WEBVTT\n\n", "holds no words", "a.vtt"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\na\x00b", "NUL on line 4", "a.vtt"),
        (b'{"segments": [', "line 1", "a.json"),
        (b"[" * 100_000, "levels deep", "a.json"),
        (b"", "is empty", "a.json"),
        (b'{"a":NaN}', "NaN", "a.json"),
        (b"PK\x03\x04 no archive", "no Word document, or is damaged", "a.docx"),
        (word(paragraph("x"))[:200], "no Word document, or is damaged", "a.docx"),
        (packed({"other.xml": b"<x/>"}), "lacks word/document.xml", "a.docx"),
        (word(paragraph("&b;"), BOMB), "has a doctype", "a.docx"),
        (packed({"word/document.xml": b"<x>"}), "is no XML", "a.docx"),
        (packed({"word/document.xml": "<!DOCTYPE x []><x/>".encode("utf-16")}), "is no XML", "a.docx"),
        (word(""), "holds no words", "a.docx"),
    ],
)
def test_what_is_broken_hostile_or_no_text_is_refused(content: bytes, reason: str, name: str) -> None:
    expect_refusal(reason, transcripts.read, content, name)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (lambda: {f"{n}": b"" for n in range(transcripts.MOST_FILES + 1)}, "more than 5,000 files"),
        (lambda: {"word/document.xml": b" " * (LONGEST_TEXT * 4 + 1)}, "more than 64 MB"),
    ],
    ids=["many files", "one that is large"],
)
def test_word_documents_beyond_measure_are_refused(
    files: Callable[[], dict[str, bytes]], reason: str
) -> None:
    expect_refusal(reason, transcripts.read, packed(files()), "a.docx")


def test_turns_follow_speakers_pseudonyms_and_silences() -> None:
    said = [
        SpokenLine("Hello", 0, 900, "Ann"),
        SpokenLine("all", 900, 1000, "Ann"),
        SpokenLine("Hi", 1000, 2000, "Bob"),
    ]
    text, transcript = transcripts.assembled(said, {}, "hash")
    assert (text, transcript.speakers, transcript.file) == (
        "Ann: Hello all\n\nBob: Hi", ("Ann", "Bob"), "hash",
    )  # fmt: skip
    assert [(one.start, one.end, one.speaker, text[one.first : one.last]) for one in transcript.segments] == [
        (0, 900, 0, "Hello"), (900, 1000, 0, "all"), (1000, 2000, 1, "Hi"),
    ]  # fmt: skip
    text, transcript = transcripts.assembled(said, {"Ann": "S1", "Bob": "S2"}, "")
    assert (text, transcript.speakers) == ("S1: Hello all\n\nS2: Hi", ("S1", "S2"))
    said = [SpokenLine("a", 0, 1000), SpokenLine("b", 2999, 3500), SpokenLine("c", 5500, 6000)]
    assert transcripts.assembled(said, {}, "")[0] == "a b\n\nc"


def test_long_turns_are_cut_at_sentences_or_anywhere() -> None:
    sentence = "Salt keeps food for a long time in any house. "
    text, transcript = transcripts.assembled([SpokenLine((sentence * 60).strip(), speaker="Ann")], {}, "")
    paragraphs = text.split("\n")
    assert len(paragraphs) > 3
    assert all(len(one) <= transcripts.LONGEST and one.endswith("house.") for one in paragraphs)
    assert text.replace("\n", " ") == "Ann: " + (sentence * 60).strip()
    assert transcript.segments[0].last == len(paragraphs[0])
    text, transcript = transcripts.assembled([SpokenLine("盐" * 5000)], {}, "")
    assert max(map(len, text.split("\n"))) <= transcripts.LONGEST
    assert sum(segment.last - segment.first for segment in transcript.segments) == 5000
