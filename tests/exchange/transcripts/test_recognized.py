"""Speech recognition's JSON: Whisper, with speakers or without, whisper.cpp, and what does not fit."""

import json
from typing import Any

import pytest

from annotator.domain.material.transcript import Doubt
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.transcripts import reader


def read(tree: Any) -> Any:
    return reader.read(json.dumps(tree).encode(), "a.json")


def test_whisper_with_speakers_and_doubts() -> None:
    sure = {"avg_logprob": -0.2, "no_speech_prob": 0.1, "compression_ratio": 1.5}
    found = read({
        "text": "all", "language": "de",
        "segments": [
            {"id": 0, "start": 0.0, "end": 2.04, "text": " Hallo zusammen", "speaker": "SPEAKER_00", **sure},
            {"start": 2.5, "end": 3, "text": "Danke", **sure | {"avg_logprob": -1.2, "no_speech_prob": 0.9}},
            {"start": 3, "end": 4, "text": "la la la", **sure | {"compression_ratio": 2.5}},
            {"start": 4, "end": 5, "text": " "},
        ],
    })  # fmt: skip
    assert found.language == "de"
    assert [(one.text, one.start, one.end, one.speaker, one.doubts) for one in found.said] == [
        ("Hallo zusammen", 0, 2040, "SPEAKER_00", ()),
        ("Danke", 2500, 3000, "", (Doubt.UNSURE, Doubt.SILENCE)),
        ("la la la", 3000, 4000, "", (Doubt.REPETITIVE,)),
    ]


def test_a_list_alone_is_read_as_segments() -> None:
    found = read([{"start": 0, "end": 1, "text": "Salt", "speaker": "A"}, {"start": "x", "text": "b"}])
    assert [(one.text, one.speaker) for one in found.said] == [("Salt", "A")]
    assert [one.split(":")[0] for one in found.bad] == ["segments[1]"]


def test_whisper_cpp_counts_in_milliseconds() -> None:
    cut = {"timestamps": {"from": "00:00:00,000"}, "offsets": {"from": 40, "to": 1200}, "text": " Salt"}
    found = read({"result": {"language": "en"}, "transcription": [cut]})
    assert [(one.text, one.start, one.end) for one in found.said] == [("Salt", 40, 1200)]
    assert found.language == "en"


def test_entries_that_do_not_fit_are_told_by_their_place() -> None:
    good = {"start": 1, "end": 2, "text": "good"}
    wrong = [
        {"start": "soon", "text": "x"},
        {"start": 3, "end": 2, "text": "x"},
        "x",
        {"start": -1, "text": ""},
    ]
    found = read({"segments": [good, *wrong]})
    assert [one.text for one in found.said] == ["good"]
    assert [one.split(":")[0] for one in found.bad] == [f"segments[{n}]" for n in (1, 2, 3, 4)]
    assert found.bad[1] == "segments[2]: ends before it begins"


@pytest.mark.parametrize("tree", [{}, [], {"segments": "x"}, "words", {"transcription": {}}])
def test_other_trees_are_told(tree: Any) -> None:
    assert "neither “segments”" in read(tree).bad[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"segments": [', "line 1"),
        (b"[" * 100_000, "levels deep"),
        (b"", "is empty"),
        (b'{"a":NaN}', "NaN"),
    ],
)
def test_broken_json_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        reader.read(content, "a.json")
