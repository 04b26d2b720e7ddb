"""Foreign files and folders are read within bounds."""

import errno
import json
import os
import random
from pathlib import Path

import pytest

from annotator import files
from annotator.domain.texts.refusal import Refusal
from annotator.exchange import folders
from annotator.exchange.folders import (
    AT_ONCE,
    known_by,
    parse,
    pretty,
    pretty_list,
    read_json,
    slug,
    slugs,
    with_sums,
    write,
)
from tests.material.bundles import found
from tests.material.hostile import HOSTILE
from tests.projects.refusals import expect_refusal


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json_is_refused_with_file_place_and_reason(name: str) -> None:
    content, reason = HOSTILE[name]
    refused = expect_refusal("“items.json”", parse, content, "items.json")
    assert reason in refused.happened
    assert refused.todo


def test_a_file_above_the_cap_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    path.write_bytes(b'["' + b"x" * 2**20)
    expect_refusal("larger than 1 MB", read_json, path, cap=2**20)


def test_one_very_long_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "LONGEST_TEXT", 1000)
    expect_refusal("a text of more than", parse, json.dumps([{"a": "x" * 1001}]).encode(), "items.json")
    assert parse(json.dumps(["x" * 600, "y" * 600]).encode(), "items.json") == ["x" * 600, "y" * 600]


def test_a_folder_or_an_absent_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.json"):
        expect_refusal("There is no file", read_json, path)


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


FILES = with_sums({"a.json": b"[]\n", "sub/b.json": b"{}\n"})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-4o-search-preview", "gpt-4o-search-preview"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\x y", "C-x-y"),
        ("con", "con_"),
        ("LPT1.json", "LPT1.json_"),
        ("Modèle n° 3.", "Modele-n-3"),
        ("日本", "unnamed"),
        ("...", "unnamed"),
    ],
)
def test_slugs_are_safe_on_every_system(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_slugs_differ_by_more_than_case() -> None:
    made = {
        "Claude": "Claude",
        "claude": "claude-2",
        "日本": "unnamed",
        "中国": "unnamed-2",
        "CLAUDE": "CLAUDE-3",
    }
    assert slugs(list(made)) == made


def test_files_appear_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    # An unchanged former release is replaced.
    for files_of in (FILES, with_sums({"c.json": b"1\n"})):
        write(tmp_path / "deep" / "out", files_of)
        assert found(tmp_path) == {f"deep/out/{path}": content for path, content in files_of.items()}


@pytest.mark.parametrize("path", ["mine.txt", "sub/b.json"])
def test_a_folder_with_anything_else_in_it_is_refused_and_kept(tmp_path: Path, path: str) -> None:
    write(tmp_path, FILES)
    (tmp_path / path).write_bytes(b"my own words")
    before = found(tmp_path)
    expect_refusal("not an unchanged former release", write, tmp_path, FILES)
    assert found(tmp_path) == before


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x", "utf-8")
    expect_refusal("is a file, not a folder", write, tmp_path / "out", FILES)


@pytest.mark.parametrize("call", range(1, 4))
def test_a_full_disk_leaves_the_former_release_and_no_partial_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    write(tmp_path / "out", FILES)
    calls = iter(range(1, 100))

    def full(_: int) -> None:
        if next(calls) == call:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    expect_refusal(
        "No space left on device", write, tmp_path / "out", with_sums({"a.json": b"1", "b.json": b"2"})
    )
    assert found(tmp_path) == {f"out/{path}": content for path, content in FILES.items()}


def test_a_failed_swap_puts_the_former_release_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "out", FILES)
    rename = os.replace

    def stubborn(here: Path, there: Path) -> None:
        if here.name.endswith(".partial"):
            raise PermissionError(errno.EACCES, "Permission denied")
        rename(here, there)

    monkeypatch.setattr(files.os, "replace", stubborn)
    monkeypatch.setattr(files, "RETRIED_SECONDS", 0.0)
    expect_refusal("Permission denied", write, tmp_path / "out", with_sums({"a.json": b"1"}))
    assert found(tmp_path) == {f"out/{path}": content for path, content in FILES.items()}


def test_checksums_are_those_of_sha256sum() -> None:
    # SHA-256 of the empty text, FIPS 180-4 example value.
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert with_sums({"empty": b""})["SHA256SUMS"] == f"{empty}  empty\n".encode()


@pytest.mark.parametrize("count", [0, 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_a_list_made_piece_by_piece_has_the_bytes_of_the_whole(count: int) -> None:
    trees = [{"b": [n, {"a": None}], "a": "ü\n"} for n in range(count)]
    made = pretty_list(lambda: iter(trees))
    assert bytes(made) == bytes(made) == pretty(trees)
    assert known_by(made) == known_by(pretty(trees))
