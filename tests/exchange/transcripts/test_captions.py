"""Captions: speakers, entities, notes, rolling lines, odd times, and what is wrong by line."""

import pytest

from annotator.domain.material.transcript import Doubt
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.transcripts import reader
from annotator.exchange.transcripts.said import ReadTranscript


def vtt(*cues: str) -> bytes:
    return ("WEBVTT\n\n" + "\n\n".join(cues) + "\n").encode()


def srt(*texts: str) -> bytes:
    cues = (f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}" for n, text in enumerate(texts, 1))
    return "\n\n".join(cues).encode()


def lines(found: ReadTranscript) -> list[tuple[str, str]]:
    return [(one.speaker, one.text) for one in found.said]


def test_speakers_times_and_entities_of_webvtt() -> None:
    content = vtt(
        "NOTE made by hand",
        "1\n00:01.000 --> 00:02.500 align:start\n<v.loud Ann Lee>Salt &amp; <i>pepper</i> &lt;b&gt;",
        "00:02.000 --> 00:03.000\n<v Bob>Yes,</v> <v Ann Lee>no</v>",
        "NOTE\ntwo\nlines",
        "123:00:02.000 --> 123:00:03.000\nlate <00:00:01.000>words &amp;amp; more",
    )
    found = reader.read(content, "a.vtt")
    assert found.bad == []
    assert lines(found) == [
        ("Ann Lee", "Salt & pepper <b>"),
        ("Bob", "Yes,"),
        ("Ann Lee", "no"),
        ("", "late words &amp; more"),
    ]
    assert [(one.start, one.end) for one in found.said] == [
        (1000, 2500), (2000, 3000), (2000, 3000), (442_802_000, 442_803_000),
    ]  # fmt: skip
    assert found.notes == ["2 notes left out"]


def test_a_name_at_the_head_counts_only_when_it_recurs() -> None:
    found = reader.read(srt("Note: this is new", "ANN: hello", "BOB: yes", "ANN: bye", "BOB: so"), "a.srt")
    assert lines(found) == [
        ("", "Note: this is new"), ("ANN", "hello"), ("BOB", "yes"), ("ANN", "bye"), ("BOB", "so"),
    ]  # fmt: skip


def test_captions_without_a_name_go_on_with_the_speaker_before() -> None:
    found = reader.read(srt("ANN: hello", "and at 12:30: lunch", "BOB: yes", "ANN: bye", "BOB: so"), "a.srt")
    assert [one.speaker for one in found.said] == ["ANN", "ANN", "BOB", "ANN", "BOB"]
    text, _ = reader.assembled(found.said, {}, "")
    assert text.startswith("ANN: hello and at 12:30: lunch\n\nBOB: yes")


def test_a_name_in_each_caption_makes_one_turn() -> None:
    found = reader.read(srt("Ann Lee: a", "Ann Lee: b", "Bob: c", "Bob: d"), "a.srt")
    assert reader.assembled(found.said, {}, "")[0] == "Ann Lee: a b\n\nBob: c d"


def test_a_voice_of_many_classes_is_read_at_once() -> None:
    found = reader.read(vtt("00:01.000 --> 00:02.000\n<v" + ".a" * 20_000), "a.vtt")
    assert len(found.said) == 1


@pytest.mark.parametrize("names", ["王老师：", "דוד: ", "Dr. Weiß: ", "- Ann: "])
def test_names_in_other_scripts_and_with_titles(names: str) -> None:
    found = reader.read(srt(f"{names}one", f"{names}two"), "a.srt")
    assert [one.speaker for one in found.said] == [names.strip("-:： ")] * 2
    assert [one.text for one in found.said] == ["one", "two"]


def test_rolling_captions_are_folded() -> None:
    content = vtt(
        "00:01.000 --> 00:02.000\nso today we",
        "00:02.000 --> 00:02.010\nso today we",
        "00:02.010 --> 00:04.000\nso today we\ntalk about salt",
        "00:04.000 --> 00:04.010\ntalk about salt",
        "00:04.010 --> 00:06.000\ntalk about salt\nand pepper",
        "00:06.000 --> 00:08.000\nand pepper\nthank you",
    )
    found = reader.read(content, "a.vtt")
    assert [one.text for one in found.said] == ["so today we", "talk about salt", "and pepper", "thank you"]
    assert found.said[0].end == 2010
    assert found.notes == ["5 captions with lines of the one before; each line is kept once"]


def test_words_said_twice_are_not_folded() -> None:
    found = reader.read(vtt("00:01.000 --> 00:02.000\nYes.", "00:02.000 --> 00:03.000\nYes."), "a.vtt")
    assert [one.text for one in found.said] == ["Yes.", "Yes."]
    assert all(one.doubts == () for one in found.said)


def test_the_same_line_three_times_is_doubted() -> None:
    texts = ("Thanks for watching this video", "Salt", "Thanks for watching this video", "Yes", "Yes", "Yes")
    found = reader.read(srt(*texts, "Thanks for watching this video", "Salt", "Salt"), "a.srt")
    doubted = [one.text for one in found.said if one.doubts == (Doubt.REPEATED,)]
    assert doubted == [texts[0], texts[2], "Yes", "Yes", "Yes", texts[0]]


def test_captions_out_of_order_are_put_in_order_and_overlaps_stay() -> None:
    content = vtt(
        "00:05.000 --> 00:09.000\nsecond", "00:01.000 --> 00:07.000\nfirst", "00:06.000 --> 00:07.000\nthird"
    )
    found = reader.read(content, "a.vtt")
    assert [one.text for one in found.said] == ["first", "second", "third"]
    assert found.notes == ["1 line out of order; all are put in the order of their times"]


def test_chinese_and_japanese_lines_follow_without_a_space() -> None:
    content = vtt(
        "00:01.000 --> 00:02.000\n<v 李明>我们想知道，\n为什么",
        "00:02.000 --> 00:03.000\n<v 李明>GPU 不够",
        "00:03.000 --> 00:04.000\n<v 李明>は。",
        "00:04.000 --> 00:05.000\n<v 김>검색 모델",
        "00:05.000 --> 00:06.000\n<v 김>평가",
    )
    text, transcript = reader.assembled(reader.read(content, "a.vtt").said, {}, "")
    assert text == "李明: 我们想知道，为什么 GPU 不够は。\n\n김: 검색 모델 평가"
    assert [text[one.first : one.last] for one in transcript.segments][:3] == [
        "我们想知道，为什么",
        "GPU 不够",
        "は。",
    ]


@pytest.mark.parametrize(
    ("head", "language"), [("WEBVTT\nKind: captions\nLanguage: de\n", "de"), ("WEBVTT\n\nLanguage: de\n", "")]
)
def test_the_language_stands_in_the_head(head: str, language: str) -> None:
    content = f"{head}\n00:01.000 --> 00:02.000\nHallo\n".encode()
    assert reader.read(content, "a.vtt").language == language


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(encoding: str, end: str) -> None:
    text = vtt("00:01.000 --> 00:02.000\nsüß").decode().replace("\n", end)
    assert [one.text for one in reader.read(text.encode(encoding), "a.vtt").said] == ["süß"]


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
    found = reader.read(vtt("00:01.000 --> 00:02.000\ngood", f"{time}\nbad"), "a.vtt")
    assert found.bad == [reason]
    assert [one.text for one in found.said] == ["good"]


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
    found = reader.read(vtt("00:01.000 --> 00:02.000\ngood", block), "a.vtt")
    assert [one.split(": ", 1)[1] for one in found.bad] == [lost]
    number = int(found.bad[0].split(":")[0].removeprefix("line "))
    assert vtt("00:01.000 --> 00:02.000\ngood", block).decode().split("\n")[number - 1] in found.bad[0]


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
    assert reader.read(vtt("00:01.000 --> 00:02.000\ngood", block), "a.vtt").bad == []


def test_lines_are_counted_from_the_first_of_the_file() -> None:
    found = reader.read(
        b"\n\n" + vtt("00:0x.000 --> 00:02.000\nbad", "00:01.000 --> 00:02.000\ngood"), "a.vtt"
    )
    assert found.bad[0].startswith("line 5: ")


@pytest.mark.parametrize(
    "text",
    [
        "00:00:01,000 --> 00:00:02,000\none\n\n00:00:02,000 --> 00:00:03,000\ntwo\n",
        "1\n00:00:01,000 --> 00:00:02,000\none\n00:00:02,000 --> 00:00:03,000\ntwo\n",
        "1 \n00:00:01,000 --> 00:00:02,000\none\n\n2\n\n00:00:02,000 --> 00:00:03,000\ntwo\n",
    ],
)
def test_subrip_without_numbers_is_read(text: str) -> None:
    found = reader.read(text.encode(), "a.srt")
    assert ([one.text for one in found.said], found.bad) == (["one", "two"], [])


def test_a_blank_line_within_a_subrip_caption_loses_nothing() -> None:
    found = reader.read(srt("one\n\nmore", "two\n\n2024"), "a.srt")
    assert [one.text for one in found.said] == ["one more", "two 2024"]


@pytest.mark.parametrize("name", ["a.vtt", "a.srt"])
def test_a_file_of_another_kind_is_told(name: str) -> None:
    assert "line 1: the file does not begin" in reader.read(b"Hello there\nall\nof you", name).bad[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x7fELF\x02\x01\x00\x00\x00", "NUL"),
        (b"\xff\xfe\x00\xd8", "not text in UTF-8 or UTF-16"),
        (b"WEBVTT\n\n\xe9\xe8", "line 3"),
        (b"PK\x03\x04rest", "another kind of file"),
        (b"WEBVTT\n\n", "holds no words"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\na\x00b", "NUL on line 4"),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        reader.read(content, "a.vtt")
