"""The picture of the rooms in the README is that of the code, and what is private to one stays there."""

import re
import tomllib

from tests.house import reading, rooms


def test_the_readme_shows_the_rooms_as_they_are() -> None:
    text = rooms.README.read_text("utf-8")
    assert text == rooms.with_picture(text), "python -m tests.house.rooms draws it anew"


def test_the_picture_shows_every_room_from_the_top_down() -> None:
    contracts = tomllib.loads((reading.HERE / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (contract["layers"] for contract in contracts if contract["id"] == "rooms")
    order = [name.strip(" ()") for layer in layers for name in layer.replace(":", "|").split("|")]
    folders = [name for name in order if (reading.HERE / "annotator" / name).is_dir()]
    assert list(rooms.ROOMS) == folders


def test_the_picture_names_each_shelf_with_its_sentence_in_the_code() -> None:
    shelves = sorted((reading.HERE / "annotator" / "actions").glob("*/__init__.py"))
    assert len(shelves) > 10
    drawn = rooms.picture()
    assert [path for path in shelves if path.parent.name not in drawn or not reading.docstring(path)] == []


def test_every_file_that_the_readme_names_is_there() -> None:
    named = set(re.findall(r"[\w/]+/\w+\.py", rooms.README.read_text("utf-8")))
    roots = (reading.HERE, reading.HERE / "annotator")
    gone = {name for name in named if not any((root / name).is_file() for root in roots)}
    # What its readers are to write themselves, and the kind that a test writes as they would.
    assert {name for name in gone if "yours" not in name} == {"annotator/domain/kinds/motives.py"}
    assert len(named) > 10


def test_every_name_that_a_protocol_of_ones_own_is_told_of_is_in_the_code() -> None:
    _, _, told = rooms.README.read_text("utf-8").partition("### A protocol of your own\n")
    told, _, _ = told.partition("\n### ")
    named = {
        part
        for words in re.findall(r"`(\w+(?:[.=(]\w+)*\)?)`", told)
        for part in re.findall(r"[A-Za-z_]{4,}", words)
    }
    code = "\n".join(
        path.read_text("utf-8")
        for path in reading.files("annotator/domain", "annotator/protocols", "annotator/exchange/formats")
    )
    assert {"RatedResponse", "of_several", "ORDINAL", "pooled"} <= named
    made = set(re.findall(r"\b(?:class|def) (\w+)|^ +(\w+) ?[:=]|(\w+): \w", code, re.MULTILINE))
    assert named - {name for found in made for name in found} == {"True"}


def test_data_beside_the_checkout_are_looked_for_beside_the_checkout() -> None:
    found = [
        (reading.name(path), path.resolve().parents[int(up)] == reading.HERE.resolve())
        for path in reading.files("tests")
        for up in re.findall(r'Path\(__file__\)\.parents\[(\d)\] / "\.\./shared', path.read_text("utf-8"))
    ]
    assert len(found) > 5
    assert [name for name, beside in found if not beside] == []


def test_nothing_outside_storage_takes_a_bare_connection() -> None:
    storage, ours = reading.HERE / "annotator/storage", reading.HERE / "tests/storage/sql.py"
    takers = {
        path
        for path in reading.files("annotator", "tests")
        if re.search(r"(?<!self)(?<=[\w)\]])\._raw\b", path.read_text("utf-8"))
    }
    assert ours in takers
    assert [path for path in takers - {ours} if not path.is_relative_to(storage)] == []
