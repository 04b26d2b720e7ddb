"""Hostile and broken packages: each is refused whole, for its own reason, at little cost and without a trace."""

import random
from pathlib import Path

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages
from annotator.exchange.parcels.packages import WORK, PackageFacts, package_bytes, read_package
from tests.exchange.parcels.hostile_packages import HOSTILE, JSON_CASES, contents, repacked, victim
from tests.material.hostile import HOSTILE as HOSTILE_JSON
from tests.projects.refusals import expect_refusal
from tests.systems import within_memory

SECRET = bytes(range(32))
FACTS = PackageFacts(format=WORK, package_id="k-1", project_id="p-1", person_id="ann", extra={"revision": 3})
ENTRIES = {
    "answers.json": b'["%s"]\n' % b"A sentence that says it again. ".join([b""] * 30),
    "labels.json": b'{"a": [1, 2, 3]}',
    "sources/paper.pdf": b"%PDF-1.7 " + bytes(range(256)),
}
GOOD = package_bytes(FACTS, ENTRIES, SECRET)
NAME = "has a name that no entry may have"
OTHER_LENGTH = "“answers.json” is not as long as it says"
TWO_HEADERS = "says one thing at its place and another in the directory"
HAND = "the signature in “manifest.json” does not fit"
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
    "C37": HAND,
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


def reason_of(case: str) -> str:
    return REASONS.get(case) or REASONS[case.split()[0]]


def taken(path: Path) -> dict[str, bytes]:
    return read_package(path, WORK).entries


def test_the_hand_made_zip_is_as_good_as_the_real_one_when_it_does_not_lie(tmp_path: Path) -> None:
    assert (repacked(GOOD), victim(contents(GOOD))) == (GOOD, "answers.json")
    (tmp_path / "good").write_bytes(GOOD)
    assert taken(tmp_path / "good") == ENTRIES


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
    assert reason_of(case) in refused.happened
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
            assert taken(path) == ENTRIES
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
            assert taken(path) == ENTRIES
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
