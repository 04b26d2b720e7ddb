"""Files of validity cards: the same bytes each time, a page that carries its JSON, nothing that was tampered with."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from annotator import places
from annotator.domain.judges.validation import tree_sha256
from annotator.exchange.cards import card_pages
from tests.projects.made_card import HOSTILE, made_card
from tests.projects.refusals import expect_refusal

CARD = made_card()


def kept(folder: Path, content: bytes, name: str = "card.json") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def changed(**more: Any) -> dict[str, Any]:
    tree = {**CARD.tree(), **more}
    return {**tree, "sha256": tree_sha256(tree)}


def test_the_json_fits_its_schema_and_comes_back_from_a_page(tmp_path: Path) -> None:
    first = card_pages.content(CARD, ".json")
    page = card_pages.content(card_pages.read(kept(tmp_path, first)), ".html")
    again = card_pages.read(kept(tmp_path, page, "card.html"))
    assert (again, card_pages.content(again, ".json"), card_pages.content(again, ".html")) == (
        CARD,
        first,
        page,
    )
    schema = json.loads((places.schemas() / "validity_card.json").read_bytes())
    validator, tree = jsonschema.Draft202012Validator(schema), json.loads(first)
    # It sees a field too many, one too few, and a figure in words.
    for changed_tree, rules in (
        (tree, []),
        (tree | {"mood": "good"}, ["additionalProperties"]),
        ({name: value for name, value in tree.items() if name != "judge"}, ["required"]),
        (tree | {"missing_limit": "a few"}, ["type"]),
    ):
        assert [fault.validator for fault in validator.iter_errors(changed_tree)] == rules


def test_a_page_survives_other_line_ends_and_a_mark(tmp_path: Path) -> None:
    page = card_pages.content(CARD, ".html").replace(b"\n", b"\r\n")
    assert card_pages.read(kept(tmp_path, b"\xef\xbb\xbf" + page, "card.html")) == CARD


class Seen(HTMLParser):
    """What a browser would load or run, and what it would show."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "action", "data", "poster")
        ]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_page_stands_alone_and_reads_nothing_as_markup() -> None:
    text = card_pages.content(CARD, ".html").decode()
    seen = Seen()
    seen.feed(text)
    assert seen.addresses == []
    assert not seen.tags & {"script", "link", "img", "iframe", "object", "form", "base"}
    assert not any(part in text for part in ("url(", "@import", HOSTILE))
    assert seen.words.count(HOSTILE) >= 4
    # Foreign words keep their own direction.
    assert "<bdi>\u2068קל وسريع\u2069</bdi>" in text
    assert "text-align: start" in text


def test_a_page_tells_every_figure_with_its_interval_n_and_reason() -> None:
    body = re.sub(r"<[^>]+>", " ", card_pages.content(CARD, ".html").decode().split("<details>")[0])
    for words in (
        "0.750", "[0.500, 0.900]", "n\u00a016", "undefined: both used one value", "mean over units", "US$ 0.0021",
        "by question type", "not asked", "o3-mini", "json_schema", CARD.sha256, "R2 and R3", "Not publishable",
    ):  # fmt: skip
        assert words.casefold() in body.casefold()
    assert not re.search(r"\b(nan|inf)\b", body, re.IGNORECASE)


def test_a_page_without_people_reviews_or_attacks_says_so() -> None:
    lines = tuple(line for line in CARD.lines if line.who == "judge")
    text = card_pages.content(made_card(lines=lines, reviews=None, attacks=()), ".html").decode()
    for words in ("nobody to be held against", "Nobody reviewed its verdicts", "tells of no attack"):
        assert words in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"{", "line 1"),
        (b"[]", "is no validity card"),
        (b'{"format": "goldsmith"}', "is no validity card"),
        (b"<html><body>Hello</body></html>", "carries no validity card"),
    ],
)
def test_what_is_no_card_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    expect_refusal(said, card_pages.read, kept(tmp_path, content))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("lines", 0, "plain", "accuracy", "value"), 0.99),
        (("judge", "model"), "o4"),
        (("labels", "units"), 17),
        (("made_at",), "2027-01-01T00:00:00Z"),
        (("sha256",), "cd" * 32),
    ],
)
def test_a_card_that_was_changed_is_refused(tmp_path: Path, path: tuple[Any, ...], value: object) -> None:
    tree = CARD.tree()
    part = tree
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    expect_refusal(
        "was changed since it was written", card_pages.read, kept(tmp_path, json.dumps(tree).encode())
    )


def test_a_page_whose_words_were_changed_is_refused(tmp_path: Path) -> None:
    page = card_pages.content(CARD, ".html").replace(b"<b>0.750</b>", b"<b>0.990</b>", 1)
    expect_refusal("the page is another", card_pages.read, kept(tmp_path, page, "card.html"))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"format_version": "1.1"}, "needs a newer Goldsmith"),
        ({"format_version": "2.0"}, "needs a newer Goldsmith"),
        ({"format_version": "new"}, "of an unknown format"),
        ({"mood": "good"}, "“mood” is not a field of this format"),
        ({"lines": "none"}, "no whole validity card"),
    ],
)
def test_a_card_of_another_make_is_refused_in_words(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    expect_refusal(said, card_pages.read, kept(tmp_path, json.dumps(changed(**more)).encode()))


def test_a_card_with_something_left_out_is_refused(tmp_path: Path) -> None:
    tree = {name: value for name, value in CARD.tree().items() if name != "reviews"}
    tree["sha256"] = tree_sha256(tree)
    expect_refusal("something is left out", card_pages.read, kept(tmp_path, json.dumps(tree).encode()))


def test_other_endings_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    for ending in (".pdf", "", ".txt"):
        expect_refusal(r"Use one of \.json, \.html", card_pages.content, CARD, ending)
    expect_refusal("There is no file", card_pages.read, tmp_path / "card.json")
