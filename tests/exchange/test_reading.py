"""Strict reading: what a hostile or broken JSON file holds is refused, with the file, the place and the reason."""

import json
import random
from pathlib import Path

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.exchange import reading
from annotator.exchange.reading import parse, read_json
from tests.material.hostile import HOSTILE


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json_is_refused_with_file_place_and_reason(name: str) -> None:
    content, reason = HOSTILE[name]
    with pytest.raises(Refusal) as refused:
        parse(content, "items.json")
    assert "“items.json”" in refused.value.happened
    assert reason in refused.value.happened
    assert refused.value.todo


def test_a_file_above_the_cap_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    path.write_bytes(b'["' + b"x" * 2**20)
    with pytest.raises(Refusal, match="larger than 1 MB"):
        read_json(path, cap=2**20)


def test_one_very_long_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST_TEXT", 1000)
    with pytest.raises(Refusal, match="a text of more than"):
        parse(json.dumps([{"a": "x" * 1001}]).encode(), "items.json")
    assert parse(json.dumps(["x" * 600, "y" * 600]).encode(), "items.json") == ["x" * 600, "y" * 600]


def test_a_folder_or_an_absent_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(Refusal, match="There is no file"):
            read_json(path)


@pytest.mark.parametrize(
    ("content", "tree"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b"[9007199254740993, -9223372036854775807]", [2**53 + 1, -(2**63 - 1)]),
        (
            '["\u202e\u2066е\u200b\U000e0041", "a\\r\\nb\u2028"]'.encode(),
            ["\u202e\u2066е\u200b\U000e0041", "a\r\nb\u2028"],
        ),
        (b'["\\ud83d\\ude00", "\\\\u0000"]', ["😀", "\\u0000"]),
        (b"[" * 64 + b"]" * 64, None),
    ],
    ids=["byte order mark", "exact whole numbers", "odd but valid text", "escaped pairs", "64 levels"],
)
def test_odd_but_sound_json_is_taken_verbatim(content: bytes, tree: object) -> None:
    found = parse(content, "a.json")
    assert tree is None or found == tree


def test_random_damage_is_always_a_refusal_or_a_tree() -> None:
    whole = json.dumps(
        [{"id": n, "question": "Why?", "weight": 1.5, "é": ["\u2028"]} for n in range(4)]
    ).encode()
    dice = random.Random(20250301)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        try:
            parse(bytes(damaged[: dice.randint(1, len(damaged))]), "a.json")
        except Refusal:
            refused += 1
    assert refused > 1000
