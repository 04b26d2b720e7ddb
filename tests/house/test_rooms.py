"""What the README and the contributor's guide tell of the code is there."""

import re

from tests.house import reading

README = reading.HERE / "README.md"


GUIDE = reading.HERE / "CONTRIBUTING.md"
ROOTS = (reading.HERE, reading.HERE / "annotator")


def test_every_file_that_the_readme_and_the_guide_name_is_there() -> None:
    words = README.read_text("utf-8") + GUIDE.read_text("utf-8")
    named = set(re.findall(r"[\w/]+/\w+\.py", words))
    gone = {name for name in named if not any((root / name).is_file() for root in ROOTS)}
    # What its readers are to write themselves, and the kind that a test writes as they would.
    assert {name for name in gone if "yours" not in name} == {"annotator/domain/kinds/motives.py"}
    assert len(named) > 10


def test_every_name_that_the_walks_give_with_a_file_is_defined_in_it() -> None:
    walks = re.findall(r"`([\w/]+/\w+\.py)`\s+\(`([\w.]+)`", GUIDE.read_text("utf-8"))
    assert len(walks) > 30
    for file, name in walks:
        text = next(root / file for root in ROOTS if (root / file).is_file()).read_text("utf-8")
        assert re.search(rf"^ *(?:class |def |async def |){name}\b", text, re.MULTILINE), (
            f"{name} is not in {file}"
        )


def test_every_name_that_a_protocol_of_ones_own_is_told_of_is_in_the_code() -> None:
    _, _, told = README.read_text("utf-8").partition("### A protocol of your own\n")
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
    assert named - {name for result in made for name in result} == {"True"}


def test_data_beside_the_checkout_are_looked_for_beside_the_checkout() -> None:
    result = [
        (reading.name(path), path.resolve().parents[int(up)] == reading.HERE.resolve())
        for path in reading.files("tests")
        for up in re.findall(r'Path\(__file__\)\.parents\[(\d)\] / "\.\./shared', path.read_text("utf-8"))
    ]
    assert len(result) > 5
    assert [name for name, beside in result if not beside] == []


def test_nothing_outside_storage_takes_a_bare_connection() -> None:
    storage, ours = reading.HERE / "annotator/storage", reading.HERE / "tests/storage/sql.py"
    takers = {
        path
        for path in reading.files("annotator", "tests")
        if re.search(r"(?<!self)(?<=[\w)\]])\._raw\b", path.read_text("utf-8"))
    }
    assert ours in takers
    assert [path for path in takers - {ours} if not path.is_relative_to(storage)] == []
