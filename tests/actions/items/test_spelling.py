"""What is looked up in a text, what is right in it, and whose words never make a word right."""

from pathlib import Path

import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.items import items, spelling
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.projects.authoring_project import authoring_project
from tests.projects.refusals import expect_refusal


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own folder of dictionaries; the system's are not looked at."""
    monkeypatch.setattr("annotator.places.user_data", lambda: tmp_path / "data")
    monkeypatch.setattr(spelling, "SYSTEM", ())
    made = tmp_path / "data/spelling"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def project(tmp_path: Path):
    return authoring_project(tmp_path)


def own_dictionary(folder: Path, name: str, *words: str) -> None:
    (folder / f"{name}.aff").write_text("SET UTF-8\nSFX S Y 1\nSFX S 0 s .\n", "utf-8")
    (folder / f"{name}.dic").write_text("\n".join([str(len(words)), *words]), "utf-8")


def known(project, language: str = "", item: int = 0) -> spelling.Spelling:
    item_id = items.ids(project)[item]
    if language:
        items.change(project, item_id, language=language)
    return spelling.of_item(project, item_id, Stage.RUBRIC)


def wrong(text: str, result: spelling.Spelling) -> list[str]:
    return [text[start:end] for start, end in result.mistakes(text)]


@pytest.mark.parametrize(
    ("text", "looked_up"),
    [
        ("Two words, one don’t.", ["Two", "words", "one", "don’t"]),
        ("See https://example.org/wrods or www.wrods.org", ["See", "or"]),
        ("GPT-4 and LLMs of DeepScholar in 2024", ["and", "of", "in"]),
        ("e.g. a file_name or me@wrods.org", ["or"]),
        ("It says “wrods in here” and `wrods`", ["It", "says", "and"]),
        ("> wrods quoted\nNot quoted", ["Not", "quoted"]),
        ("A pre-trained and a well-behaved one", ["and", "behaved", "one", "trained"]),
        ("An inch\" is no quotation", ["An", "inch", "is", "no", "quotation"]),
    ],
)  # fmt: skip
def test_addresses_numbers_names_and_quotations_are_not_looked_up(text: str, looked_up: list[str]):
    assert sorted(text[start:end] for start, end in spelling.words(text)) == sorted(looked_up)


def test_english_without_a_region_is_right_as_in_america_and_in_britain(project):
    result = known(project, "en")
    text = "The color and the colour of organised and organized benchmarks: a raport of preprints, recieved."
    assert wrong(text, result) == ["raport", "recieved"]
    assert result.suggestions("recieved")[0] == "received"
    assert wrong("The ‘残差连接’, остаток and الكتاب", result) == []
    assert wrong(text, known(project, "en-US")) == ["colour", "organised", "raport", "recieved"]


def test_words_of_the_items_material_are_right_and_never_those_of_anothers_document(project, tmp_path):
    item_id = items.ids(project)[0]
    paper = tmp_path / "more.md"
    paper.write_text("Zürbelism’s heart is a gromply.", "utf-8")
    items.add_source(project, item_id, paper)
    secret = Rubric(units=(Criterion(text="Names the fnordal school.", weight=1),))
    artifacts.start(project, item_id, Kind.RUBRIC, secret)
    assert wrong("Zürbelism and gromply are fnordal", known(project)) == ["fnordal"]
    assert wrong("Zürbelism", known(project, "en", item=1)) == ["Zürbelism"]


def test_a_word_of_ones_own_is_right_in_every_project(project, folder):
    result = known(project)
    assert wrong("Fnordal", result) == ["Fnordal"]
    result.add("Fnordal")
    assert wrong("Fnordal and fnordal’s", result) == []
    assert wrong("fnordal", known(project)) == []
    assert (folder / "words.txt").read_text("utf-8") == "fnordal\n"


def test_a_dictionary_in_ones_own_folder_is_used_and_the_regions_own_comes_first(project, folder):
    own_dictionary(folder, "eo", "vorto/S", "estas")
    assert wrong("vortos estas vorta", known(project, "eo")) == ["vorta"]
    own_dictionary(folder, "en_AU", "arvo")
    assert [path.name for path in spelling.dictionaries("en-AU")] == ["en_AU"]
    assert wrong("arvo color", known(project, "en-AU")) == ["color"]


@pytest.mark.parametrize(
    ("language", "trouble"),
    [("ar", "There is no spelling dictionary for the item's language (ar)."), ("zh-Hans", ""), ("ja", "")],
)
def test_a_language_without_a_dictionary_says_so_but_not_where_words_are_not_parted(
    project, language, trouble
):
    result = known(project, language)
    assert (result.trouble, result.mistakes("wrods")) == (trouble, [])


def test_a_dictionary_that_cannot_be_read_is_a_refusal(project, folder):
    own_dictionary(folder, "eo", "vorto")
    (folder / "eo.aff").write_text("SFX S Y many\n", "utf-8")
    expect_refusal("eo cannot be read", known, project, "eo")


def test_a_text_that_opens_quotations_without_end_is_read_in_no_time():
    assert list(spelling.words("“" * 5_000 + " word")) == [(5_001, 5_005)]
