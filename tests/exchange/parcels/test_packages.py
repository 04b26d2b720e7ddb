"""Packages, receipts, and sealed files: read by one key alone, known to be whole by anyone."""

import errno
import hashlib
import io
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import VerifyKey

from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages, sealing
from annotator.exchange.parcels.packages import (
    FORMAT_VERSION,
    TASK,
    UPGRADERS,
    WORK,
    Package,
    PackageFacts,
    fingerprint,
    package_bytes,
    public_key,
    read_package,
    receipt_code,
    refuse_forged,
    suffix,
    upgrade,
)
from tests.exchange.parcels.hostile_packages import (
    canonical,
    contents,
    parts as honest_parts,
    with_manifest,
    zipped,
)
from tests.projects.refusals import expect_refusal
from tests.systems import failing

SECRET = bytes(range(32))
FACTS = PackageFacts(
    format=WORK, package_id="k-1", project_id="p-1", person_id="ann", extra={"revision": 3, "base": None}
)
# Case C68 to C70: bidi override, isolates, a homoglyph, zero width, tags, zalgo, emoji, decomposed é, all line ends.
ODD = (
    "\u202e" * 50
    + "\u2066e\u0301 r\u0435port\u200b\U000e0041 e"
    + "\u0301" * 1000
    + " 👩‍🔬 שלום\r\nb\rc\u2028d"
)
ENTRIES = {
    "units/b.json": json.dumps([ODD, 2**53 + 1, -1.5]).encode(),
    "a.json": json.dumps({"text": ODD}, ensure_ascii=False).encode(),
    "sources/p-1.pdf": b"\n%PDF-1.7\n" + bytes(range(256)) * 20,
}
GOLDEN = Path(__file__).parents[2] / "golden"


def read(folder: Path, content: bytes, **how: Any) -> Package:
    path = folder / f"back{suffix(WORK)}"
    path.write_bytes(content)
    return read_package(path, **how)


def test_what_was_packed_is_read_back_in_any_order(tmp_path: Path) -> None:
    content = package_bytes(FACTS, ENTRIES, SECRET)
    package = read(tmp_path, content, expected=WORK)
    assert package.entries == ENTRIES
    assert package.trees() == {"a.json": {"text": ODD}, "units/b.json": [ODD, 2**53 + 1, -1.5]}
    assert package.manifest.model_dump(include=set(PackageFacts.model_fields)) == FACTS.model_dump()
    assert (package.sha256, package.signer) == (hashlib.sha256(content).hexdigest(), public_key(SECRET))
    assert package_bytes(FACTS, dict(reversed(ENTRIES.items())), SECRET) == content


def test_a_package_is_a_plain_zip_with_every_sum_under_its_signature() -> None:
    good = package_bytes(FACTS, ENTRIES, SECRET)
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        assert (archive.testzip(), archive.comment) == (None, b"")
        assert archive.namelist() == ["manifest.json", "a.json", "sources/p-1.pdf", "units/b.json"]
        for info in archive.infolist():
            system = (info.date_time, info.create_system, info.external_attr >> 16)
            assert system == ((1980, 1, 1, 0, 0, 0), 3, 0o100644)
            assert (info.extra, info.comment, info.flag_bits) == (b"", b"", 0)
    tree = json.loads(contents(good)["manifest.json"])
    sums = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in ENTRIES.items()
    }
    whole = hashlib.sha256(canonical(sums)).hexdigest()
    assert (tree["entries"], tree["content_sha256"]) == (sums, whole)
    signature = bytes.fromhex(tree.pop("signature"))
    VerifyKey(bytes.fromhex(tree["signer"])).verify(canonical(tree), signature)


def test_the_hash_of_the_content_does_not_depend_on_the_facts(tmp_path: Path) -> None:
    other = FACTS.model_copy(update={"package_id": "k-2"})
    hashes = [read(tmp_path, package_bytes(facts, ENTRIES, SECRET)) for facts in (FACTS, other)]
    assert hashes[0].manifest.content_sha256 == hashes[1].manifest.content_sha256
    assert hashes[0].sha256 != hashes[1].sha256


def test_a_report_of_a_million_equal_letters_is_no_bomb(tmp_path: Path) -> None:
    entries = {"a.json": b'["' + b"a" * 2**20 + b'"]', "b.json": b"[]"}
    assert read(tmp_path, package_bytes(FACTS, entries, SECRET)).entries == entries


def test_whoever_signs_another_manifest_is_another_signer(tmp_path: Path) -> None:
    good = package_bytes(FACTS, ENTRIES, SECRET)
    other = read(tmp_path, with_manifest(good, b"x" * 32, person_id="ben"))
    assert other.signer == public_key(b"x" * 32) != public_key(SECRET)
    expect_refusal("does not fit", read, tmp_path, with_manifest(good, signer=public_key(b"x" * 32)))


def test_a_key_is_known_by_six_words_that_hang_on_each_of_its_bits() -> None:
    public = bytes.fromhex(public_key(SECRET))
    words = {
        fingerprint((public[:at] + bytes([public[at] ^ 1]) + public[at + 1 :]).hex()) for at in range(32)
    }
    assert len(words | {fingerprint(public.hex())}) == 33


def test_the_words_of_a_key_spell_the_first_96_bits_of_its_hash() -> None:
    public = public_key(SECRET)
    number = 0
    for word in reversed(fingerprint(public).split()):
        for letter, alphabet in zip(reversed(word), ("bdfghklmnprstvwz", "aeio") * 3, strict=False):
            number = number * len(alphabet) + alphabet.index(letter)
    spelled = hashlib.sha256(b"goldsmith key\n" + bytes.fromhex(public)).digest()[:12]
    words = [int.from_bytes(spelled[place : place + 2]) for place in range(0, 12, 2)]
    assert number == sum(word << 16 * place for place, word in enumerate(words))
    assert len(fingerprint(public).split()) == 6


def test_a_task_is_not_taken_for_work(tmp_path: Path) -> None:
    task = package_bytes(FACTS.model_copy(update={"format": TASK}), ENTRIES, SECRET)
    assert read(tmp_path, task, expected=TASK).manifest.format == TASK
    (tmp_path / "mail.zip").write_bytes(task)
    refused = expect_refusal(
        "“mail.zip” is a task for an annotator", read_package, tmp_path / "mail.zip", WORK
    )
    assert ".goldsmith-work" in refused.todo


def test_a_later_minor_version_is_read_and_what_is_unknown_is_kept_and_signed(tmp_path: Path) -> None:
    # Case C54.
    good = package_bytes(FACTS, ENTRIES, SECRET)
    entries = json.loads(contents(good)["manifest.json"])["entries"]
    entries["a.json"]["language"] = "he"
    total = hashlib.sha256(canonical(entries)).hexdigest()
    later = {"format_version": "2.7", "mood": {"day": "good"}, "entries": entries, "content_sha256": total}
    package = read(tmp_path, with_manifest(good, SECRET, **later))
    assert (package.signer, package.entries) == (public_key(SECRET), ENTRIES)
    unknown = (package.manifest.model_extra, package.manifest.entries["a.json"].model_extra)
    assert unknown == ({"mood": {"day": "good"}}, {"language": "he"})
    expect_refusal("does not fit", read, tmp_path, with_manifest(good, **later))


def test_trees_of_the_present_major_version_are_left_as_they_are() -> None:
    trees = {"a.json": {"new": [1]}}
    assert (upgrade(trees, FORMAT_VERSION), upgrade(trees, "2.42")) == (trees, {"a.json": {"new": [1]}})


def test_an_older_major_version_is_told_in_todays_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_0(trees: dict[str, Any]) -> dict[str, Any]:
        return {name: {"told": tree} if name == "a.json" else tree for name, tree in trees.items()}

    old = with_manifest(package_bytes(FACTS, ENTRIES, SECRET), SECRET, format_version="0.9")
    expect_refusal(r"has format 0\.9, which was never released", read, tmp_path, old)
    monkeypatch.setitem(UPGRADERS, 0, from_0)
    package = read(tmp_path, old)
    assert (package.entries, package.trees()["a.json"]) == (ENTRIES, {"told": {"text": ODD}})


def test_a_package_of_format_1_is_known_by_the_secret_of_its_project_alone() -> None:
    package = read_package(GOLDEN / "package-1.0.goldsmith-work", WORK)
    refuse_forged(package, b"the secret of the golden file")
    for secret in (b"another", b""):
        expect_refusal(r"the signature .* does not fit", refuse_forged, package, secret)


@pytest.mark.parametrize(
    ("version", "signer"), [("1.0", ""), ("2.0", public_key(b"the key of the golden package 2."))]
)
def test_a_package_of_any_format_can_be_read_for_ever(version: str, signer: str) -> None:
    package = read_package(GOLDEN / f"package-{version}.goldsmith-work", WORK)
    assert (package.signer, package.manifest.extra) == (signer, {"assignment_id": "a-1", "revision": 2})
    assert package.trees() == {"work.json": {"units": [{"id": "u-1", "text": "Names the data set — 数据集"}]}}
    assert package.entries["sources/s-1.pdf"] == b"%PDF-1.4\n%%EOF\n"


@pytest.mark.parametrize(
    "name",
    ["manifest.json", "A.json", "../a.json", "/a.json", "a.txt", "a.pdf", "con.json", "sources/aux/a.pdf", "a b.json",
     "a.json/", ".json", "a" * 116 + ".json", "é.json", "a.json\n"],
)  # fmt: skip
def test_an_entry_that_could_not_be_read_is_not_given_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be called"):
        package_bytes(FACTS, {name: b"[]"}, SECRET)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", b"[1,]", "“a.json” line 1"),
        ("a.json", b'{"__class__": 1}', "holds the key “__class__”"),
        ("sources/a.pdf", b"PK\x03\x04%PDF-", "is not a PDF"),
        ("sources/a.pdf", b"%PDF-1.4" + bytes(50 * 2**20), "larger than 50 MB"),
    ],
)
def test_nothing_is_packed_that_could_not_be_read(name: str, content: bytes, reason: str) -> None:
    expect_refusal(reason, package_bytes, FACTS, {name: content}, SECRET)


def test_too_much_is_not_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MOST_ENTRIES", 3)
    expect_refusal("would hold 4 entries; 3 is the most", package_bytes, FACTS, ENTRIES, SECRET)
    monkeypatch.setattr(packages, "LARGEST_TOTAL", 2000)
    expect_refusal("would hold more than", package_bytes, FACTS, ENTRIES, SECRET)


def test_as_many_entries_as_are_packed_can_be_read(tmp_path: Path) -> None:
    entries = {f"{'long' * 25}-{number}.json": b"[]" for number in range(packages.MOST_ENTRIES - 1)}
    assert read(tmp_path, package_bytes(FACTS, entries, SECRET)).entries == entries
    expect_refusal("2000 is the most", package_bytes, FACTS, entries | {"one-more.json": b"[]"}, SECRET)


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1: 2}, {"__proto__": 1}, object(), 2**70])
def test_facts_that_json_cannot_hold_are_not_signed(value: object) -> None:
    with pytest.raises((ValueError, TypeError, Refusal)):
        package_bytes(FACTS.model_copy(update={"extra": {"a": value}}), ENTRIES, SECRET)


def test_double_underscores_in_texts_do_no_harm(tmp_path: Path) -> None:
    entries = {"a.json": b'{"a": ["__init__", "__class__"], "b__c__": 1, "__d": 2}'}
    assert read(tmp_path, package_bytes(FACTS, entries, SECRET)).entries == entries


def test_a_package_that_another_program_squeezed_less_is_told_from_a_bomb(tmp_path: Path) -> None:
    made = honest_parts(contents(package_bytes(FACTS, ENTRIES, SECRET)))
    for part in made:
        part.method, part.body = 0, part.content
    assert read(tmp_path, zipped(made)).entries == ENTRIES


def test_what_is_no_ordinary_file_is_refused_for_reading(tmp_path: Path) -> None:
    expect_refusal("is a folder, not a file", read_package, tmp_path)
    expect_refusal("“absent” is not there", read_package, tmp_path / "absent")
    expect_refusal("cannot be read: File name too long", read_package, tmp_path / ("a" * 5000))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    expect_refusal("no ordinary file", read_package, tmp_path / "pipe")


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"x")
    monkeypatch.setattr(Path, "open", failing(PermissionError(errno.EACCES, "Permission denied")))
    expect_refusal("“a” cannot be read: Permission denied", read_package, tmp_path / "a")


CODES = [receipt_code(sha256(str(number))) for number in range(40)]


@pytest.mark.parametrize(
    ("digest", "code"),
    [
        # The first 35 bits are 0, 1, 16 and 32; the check is 2·1, then 2·16 = 32 ≡ 5, then 4·1 modulo x⁵ + x² + 1.
        ("0" * 64, "0000-0000"),
        ("000000002" + "f" * 55, "0000-0012"),
        ("000000020" + "f" * 55, "0000-00G5"),
        ("000000041" + "f" * 55, "0000-0104"),
    ],
)
def test_a_receipt_is_the_first_35_bits_and_a_check_character(digest: str, code: str) -> None:
    assert receipt_code(digest) == code


def test_a_receipt_has_two_groups_of_four_letters_that_cannot_be_mistaken() -> None:
    assert [
        code for code in CODES if not re.fullmatch("[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}", code)
    ] == []
    assert len(set(CODES)) == len(CODES)
    with pytest.raises(ValueError, match="too short"):
        receipt_code("abc")


KEY = packages.new_key()
CONTENT = b"Explains the weight of gold. " * 9
SEALED = sealing.sealed(CONTENT, packages.public_key(KEY))


def test_only_the_owner_of_the_key_reads_it() -> None:
    assert sealing.unsealed(SEALED, KEY) == CONTENT
    assert sealing.unsealed(SEALED, packages.new_key()) is None
    assert b"gold" not in SEALED.removeprefix(sealing.MAGIC)
    assert sealing.sealed(CONTENT, packages.public_key(KEY)) != SEALED


@pytest.mark.parametrize("size", [0, 1, sealing.PADDED - sealing.LENGTH, sealing.PADDED, 3 * sealing.PADDED])
def test_any_content_comes_back_and_sizes_tell_little(size: int) -> None:
    made = sealing.sealed(b"x" * size, packages.public_key(KEY))
    assert sealing.unsealed(made, KEY) == b"x" * size
    assert len(made) % sealing.PADDED == len(SEALED) % sealing.PADDED


def test_anyone_sees_whether_a_file_is_whole() -> None:
    assert sealing.is_whole(SEALED)
    flipped = SEALED[:-1] + bytes([SEALED[-1] ^ 1])
    half = [SEALED[:length] for length in (0, 9, len(sealing.MAGIC), 40, len(SEALED) // 2, len(SEALED) - 1)]
    zeros = SEALED[: len(SEALED) // 2].ljust(len(SEALED), b"\0")
    assert not any(map(sealing.is_whole, [*half, flipped, zeros, SEALED + b"\0", b"x" + SEALED]))


@pytest.mark.parametrize("key", ["00" * 32, "01" + "00" * 31, "ff" * 32])
def test_a_key_that_is_no_point_is_refused(key: str) -> None:
    expect_refusal("cannot be encrypted to", sealing.sealed, CONTENT, key)
