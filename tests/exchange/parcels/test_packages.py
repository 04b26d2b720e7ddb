"""Packages, receipts and sealed files: read by one key alone, known to be whole by anyone; hostile ones and JSON."""

import errno
import hashlib
import io
import json
import os
import random
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import VerifyKey

from annotator import files
from annotator.actions.parcels import known_keys
from annotator.domain.common import Refusal, sha256
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
from annotator.exchange.parcels import packages
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
from tests.common import expect_refusal, failing, within_memory
from tests.exchange.parcels.hostile_packages import (
    HOSTILE,
    JSON_CASES,
    canonical,
    contents,
    parts as honest_parts,
    repacked,
    victim,
    with_manifest,
    zipped,
)
from tests.material.bundles import HOSTILE as HOSTILE_JSON, HOSTILE as READING_HOSTILE, found

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


@pytest.mark.parametrize(
    "entries",
    [
        {"a.json": b'["' + b"a" * 2**20 + b'"]', "b.json": b"[]"},
        {"a.json": b'{"a": ["__init__", "__class__"], "b__c__": 1, "__d": 2}'},
    ],
    ids=["a million equal letters", "double underscores in texts"],
)
def test_what_only_looks_hostile_is_read(tmp_path: Path, entries: dict[str, bytes]) -> None:
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
SEALED = known_keys.sealed(CONTENT, packages.public_key(KEY))


def test_only_the_owner_of_the_key_reads_it() -> None:
    assert known_keys.unsealed(SEALED, KEY) == CONTENT
    assert known_keys.unsealed(SEALED, packages.new_key()) is None
    assert b"gold" not in SEALED.removeprefix(known_keys.SEALED_MAGIC)
    assert known_keys.sealed(CONTENT, packages.public_key(KEY)) != SEALED


@pytest.mark.parametrize(
    "size", [0, 1, known_keys.PADDED - known_keys.LENGTH, known_keys.PADDED, 3 * known_keys.PADDED]
)
def test_any_content_comes_back_and_sizes_tell_little(size: int) -> None:
    made = known_keys.sealed(b"x" * size, packages.public_key(KEY))
    assert known_keys.unsealed(made, KEY) == b"x" * size
    assert len(made) % known_keys.PADDED == len(SEALED) % known_keys.PADDED


def test_anyone_sees_whether_a_file_is_whole() -> None:
    assert known_keys.is_whole(SEALED)
    flipped = SEALED[:-1] + bytes([SEALED[-1] ^ 1])
    half = [
        SEALED[:length]
        for length in (0, 9, len(known_keys.SEALED_MAGIC), 40, len(SEALED) // 2, len(SEALED) - 1)
    ]
    zeros = SEALED[: len(SEALED) // 2].ljust(len(SEALED), b"\0")
    assert not any(map(known_keys.is_whole, [*half, flipped, zeros, SEALED + b"\0", b"x" + SEALED]))


@pytest.mark.parametrize("key", ["00" * 32, "01" + "00" * 31, "ff" * 32])
def test_a_key_that_is_no_point_is_refused(key: str) -> None:
    expect_refusal("cannot be encrypted to", known_keys.sealed, CONTENT, key)


PACKAGES_FACTS = PackageFacts(
    format=WORK, package_id="k-1", project_id="p-1", person_id="ann", extra={"revision": 3}
)
PACKAGES_ENTRIES = {
    "answers.json": b'["%s"]\n' % b"A sentence that says it again. ".join([b""] * 30),
    "labels.json": b'{"a": [1, 2, 3]}',
    "sources/paper.pdf": b"%PDF-1.7 " + bytes(range(256)),
}
GOOD = package_bytes(PACKAGES_FACTS, PACKAGES_ENTRIES, bytes(range(32)))
NAME = "has a name that no entry may have"
OTHER_LENGTH = "“answers.json” is not as long as it says"
TWO_HEADERS = "says one thing at its place and another in the directory"
ADDS_UP = "does not add up: its end tells of another file"
# The words that tell why, by the case or, where its number says enough, by the number.
REASONS = {
    **dict.fromkeys(("C29", "C30", "C31", "C32", "C68", "a program", "a PDF outside sources"), NAME),
    "C33 the same name twice": "“answers.json” is there twice",
    "C33 case twin": f"“ANSWERS.JSON” {NAME}",
    "C34 symlink": "“answers.json” is a link to another file",
    "C34 folder": "“sources/” is a folder",
    "C35": "“more.json” is not in the manifest",
    "C36 entry missing": "“answers.json” is missing, though the manifest lists it",
    "C36 no manifest": "does not begin with its “manifest.json”",
    "C36 manifest last": "does not begin with its “manifest.json”",
    "C37 other content": "“answers.json” was changed: its hash is not the one in the manifest",
    "C37 wrong hash": "“answers.json” was changed: its hash is not the one in the manifest",
    "C37 wrong length": "“answers.json” is not as long as the manifest says",
    "C37 wrong hash over the entries": "the hash over its entries is another",
    **dict.fromkeys(
        (
            "C37 a key that travels along",
            "C37 signed in two ways",
            "C37 said to be of the format without a signature",
        ),
        "it is not signed as its format asks",
    ),
    "C37": "the signature in “manifest.json” does not fit",
    "C38 500 MB of zeros": "“answers.json” is larger than 50 MB",
    "C38 500 MB of zeros said to be 1 MB": OTHER_LENGTH,
    "C38 49 MB of zeros": "“answers.json” would grow more than 200-fold when unpacked",
    "C38 six times 40 MB": "would unpack to more than 200 MB",
    "C39 nested zip": f"“inner.zip” {NAME}",
    "C39 nested zip called JSON": "“inner.json” is not valid UTF-8",
    "C39": "“sources/inner.pdf” is not a PDF",
    "C40 200 entries sharing one body": "“copy-001.json” overlaps another, or leaves a gap before it",
    "C40 an entry that reaches over the next": "“swallowed.json” overlaps another, or leaves a gap before it",
    "C41 length only wrong in the directory": TWO_HEADERS,
    "C41 length only wrong at its place": TWO_HEADERS,
    "C41 other name at its place": TWO_HEADERS,
    "C41 length left open": "“answers.json” leaves open how long it is",
    "C41 zip64 lengths": "“answers.json” carries hidden fields, such as those of zip64",
    "C41 zip64 end": "uses zip64",
    "C41 wrong check sum": "“answers.json” is damaged: its check sum (CRC) is another",
    "C41 unknown method": "“answers.json” is squeezed in a way that Goldsmith never uses",
    "C41 second name in a hidden field": "“answers.json” carries hidden fields",
    "C41": OTHER_LENGTH,
    "C42 a million entries said to be one": ADDS_UP,
    "C42": "holds more than 2000 entries",
    "C43": "“answers.json” is encrypted",
    "C44 first byte gone": "has something before its beginning",
    "C44 middle gone": ADDS_UP,
    "C44": "is cut off: its end is missing",
    "C45 one bit of an entry flipped": "“answers.json” is damaged",
    "C45 one bit of the manifest flipped": "“manifest.json” is damaged",
    "C45 one bit of the directory flipped": f"“manifest.json” {TWO_HEADERS}",
    "C46 HTML before": "has something before its beginning",
    "C46 a program before, with offsets that fit": "has something before its beginning",
    "C46 another package before": ADDS_UP,
    "C46 a comment on an entry": "“answers.json” carries hidden fields",
    "C46 a gap between entries": "“answers.json” overlaps another, or leaves a gap before it",
    "C46 a gap before the directory": "it holds bytes that belong to no entry",
    "C46 bytes after an entry's content": OTHER_LENGTH,
    "C46": "has something after its end",
    "HTML instead": "is a web page",
    "nothing instead": "is empty",
    "another zip instead": "does not begin with its “manifest.json”",
    **dict.fromkeys(
        ("text instead", "a PDF instead", "random bytes instead", "an empty zip instead"),
        "is not a package of Goldsmith",
    ),
    "C53": "needs Goldsmith ≥ 9.1.0: it has format 4.0, and this program reads 3.x",
    "format that was never released": "has format 0.9, which was never released",
    "format not said": "does not say the version of its format",
    "format unknown": "“format” should be",
    **{
        f"{case} {name}": HOSTILE_JSON[name][1].removeprefix(".")
        for case, names in JSON_CASES.items()
        for name in names
    },
    "C58 duplicate keys in the manifest": "the key “format” stands twice",
    "C57 NaN in the manifest": "NaN is not a number",
    "C61 lone surrogate in the manifest": ".extra.a contains half of a surrogate pair",
    "C63 manifest in UTF-16": "“manifest.json” is written in UTF-16",
    "C64 empty manifest": "“manifest.json” is empty",
    "C64 manifest that is a list": "“manifest.json” is no object",
    "C65 hash that is none": "“entries.answers.json.sha256”",
    "C65 entries as a list": "“entries” should be a valid dictionary",
    "C65 person as a number": "“person_id” should be a valid string",
    "C65 no person": "“person_id”",
    "C65 __proto__ in the manifest": "“manifest.json” holds the key “__proto__”",
    "C65 __proto__ spelled by escapes": "“answers.json” holds the key “__proto__”",
    "C65 __class__ in the payload": "“answers.json” holds the key “__class__”",
    "C65": "“entries.answers.json.bytes” should be a valid integer",
    "C66 manifest of 5 MB": "“manifest.json” is larger than 4 MB",
    "packed again by another program": "“answers.json” was packed by another program, or damaged",
    "201 MB of anything": "is larger than 201 MB",
    "C66 one text of 17 MB": "“answers.json” holds a text of more than 16 MB",
    "C66 two million values": "“answers.json” holds more than 1 000 000 values",
    "C66": "“answers.json” is larger than 50 MB",
}
# Bytes in memory; in some cases nothing large may be unpacked at all.
CHEAP, MOST = 5_000_000, 200_000_000


def taken(path: Path) -> dict[str, bytes]:
    return read_package(path, WORK).entries


def test_the_hand_made_zip_is_as_good_as_the_real_one_when_it_does_not_lie(tmp_path: Path) -> None:
    assert (repacked(GOOD), victim(contents(GOOD))) == (GOOD, "answers.json")
    (tmp_path / "good").write_bytes(GOOD)
    assert taken(tmp_path / "good") == PACKAGES_ENTRIES


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_package_is_refused_whole_with_file_entry_reason_and_what_to_do(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "back.goldsmith-work"
    path.write_bytes(HOSTILE[case](GOOD))
    before = path.read_bytes()
    with within_memory(CHEAP if case[:3] in ("C38", "C40", "C41", "C42", "C43") else MOST):
        refused = expect_refusal("^“back.goldsmith-work”", taken, path)
    assert (REASONS.get(case) or REASONS[case.split()[0]]) in refused.happened
    assert "nothing was changed" in refused.todo.lower()
    assert (list(tmp_path.iterdir()), path.read_bytes()) == ([path], before)


def test_every_numbered_case_of_a_package_and_its_json_is_tried() -> None:
    numbers = {f"C{number}" for number in (*range(29, 47), 53, *range(57, 67))}
    assert numbers <= {name.split()[0] for name in HOSTILE}


def test_every_length_but_the_whole_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    for length in range(len(GOOD)):
        path.write_bytes(GOOD[:length])
        expect_refusal("", taken, path)


def test_no_flipped_bit_goes_unseen_where_it_changes_anything(tmp_path: Path) -> None:
    path, unseen = tmp_path / "flipped", 0
    for bit in range(len(GOOD) * 8):
        flipped = bytearray(GOOD)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            assert taken(path) == PACKAGES_ENTRIES
            unseen += 1
        except Refusal:
            pass
    # Only the bits that fill the last byte of a squeezed entry mean nothing; two entries are squeezed.
    assert unseen <= 2 * 7


def test_random_damage_is_refused_or_does_no_harm(tmp_path: Path) -> None:
    path, dice, refused = tmp_path / "damaged", random.Random(20250302), 0
    for _ in range(3000):
        damaged = bytearray(GOOD)
        for _ in range(dice.randint(1, 3)):
            start, end = sorted(dice.randrange(len(damaged) + 1) for _ in range(2))
            other = dice.randrange(len(GOOD))
            damaged[start:end] = dice.choice(
                [b"", GOOD[other : other + end - start], dice.randbytes(end - start)]
            )
        path.write_bytes(damaged)
        try:
            assert taken(path) == PACKAGES_ENTRIES
        except Refusal:
            refused += 1
    assert refused > 2900


@pytest.mark.parametrize(
    "change", [lambda whole: whole[:-40], lambda whole: whole[:200], lambda whole: whole + b"\x00" * 9]
)
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: object
) -> None:
    path = tmp_path / "back.goldsmith-work"
    path.write_bytes(GOOD)
    real = packages.read_directory

    def then_changed(file: object, name: str) -> object:
        result = real(file, name)  # type: ignore[arg-type]
        path.write_bytes(change(GOOD))  # type: ignore[operator]
        return result

    monkeypatch.setattr(packages, "read_directory", then_changed)
    expect_refusal("changed while it was being read", read_package, path)


@pytest.mark.parametrize("name", READING_HOSTILE)
def test_hostile_json_is_refused_with_file_place_and_reason(name: str) -> None:
    content, reason = READING_HOSTILE[name]
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
