"""Entries of ResearcherBench's files: exactly the fields that its own evaluator needs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from annotator.domain.kinds.weights import Weight
from annotator.domain.texts.canonical import Text
from annotator.domain.texts.change import derived_id
from annotator.exchange.formats.layout import HasNumber, LayoutEntry, MappedSystem
from annotator.exchange.reading import LARGEST_NUMBER
from annotator.exchange.release.records import ItemRecord

# No project has had so many keys in a row taken when a question came in.
_REACH = 100_000

DATASET = "researcherbench"
QUESTIONS, RUBRICS, RESPONSES = "questions.json", "rubric.json", "responses"
# What the public repository's `data/` calls its folders and its rubrics, and its example of a system's file.
FOLDERS, RUBRICS_TOO, EXAMPLE = ("eval_data", "user_data"), "rubrics.json", "test.json"


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


Said = Annotated[Text, AfterValidator(_said)]
Number = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


class Numbered(LayoutEntry):
    """What every entry has: its question's number and words."""

    id: Number
    question: Annotated[Said, Field(max_length=200_000)]


class QuestionEntry(Numbered):
    """An entry of `questions.json`."""

    category: Annotated[Text, Field(max_length=120)]
    Subject: Annotated[Text, Field(max_length=200)]


class RubricPoint(LayoutEntry):
    """A line of a rubric. The published ones weigh 1 to 3; which others may come in, the project decides."""

    point: Annotated[Said, Field(max_length=20_000)]
    weight: Weight


class RubricEntry(Numbered):
    """An entry of `rubric.json`; each line is a `RubricPoint`, or wrong by itself."""

    rubric: Annotated[list[Any], Field(min_length=1)]


class ResponseEntry(Numbered):
    """An entry of a system's file."""

    response: Text


class MappedItem(LayoutEntry):
    """Which item a number stands for."""

    id: Number
    item_id: Annotated[Text, Field(min_length=1, max_length=36)]
    dataset: Annotated[Text, Field(max_length=120)]
    key: Annotated[Text, Field(min_length=1, max_length=120)]


class Numbering(LayoutEntry):
    """The content of `goldsmith.json`."""

    items: list[MappedItem] = []
    systems: list[MappedSystem] = []


def own_numbers(items: Iterable[HasNumber]) -> dict[str, int]:
    """Item → its question's number in the benchmark, for those that came from there.

    The id is made from the number, which thus outlives a key that had to be raised to a free one.
    """
    called = {one.id: int(one.key) for one in items if one.dataset == DATASET and is_number(one.key)}
    asked: dict[str, int] = {}
    start = 0
    for number in sorted({key for item_id, key in called.items() if derived_id(DATASET, key) != item_id}):
        below = range(max(start, number - _REACH), number + 1)
        asked |= {derived_id(DATASET, one): one for one in below}
        start = number + 1
    own = {item_id: asked.get(item_id, key) for item_id, key in called.items()}
    first: dict[int, str] = {}
    for item_id, number in sorted(own.items(), key=lambda one: derived_id(DATASET, one[1]) != one[0]):
        first.setdefault(number, item_id)
    return {item_id: number for item_id, number in own.items() if first[number] == item_id}


def numbered(items: Iterable[ItemRecord]) -> Iterator[tuple[str, int]]:
    """Each item's number: its own where it came from this benchmark, the next free one otherwise."""
    items = list(items)
    own = own_numbers(items)
    yield from own.items()
    following = max((0, *own.values()))
    for item in items:
        if item.id not in own:
            following += 1
            yield item.id, following


def mapped(items: Iterable[ItemRecord], numbers: Mapping[str, int]) -> list[MappedItem]:
    """The items of which the number does not say everything."""
    return [
        MappedItem(id=numbers[item.id], item_id=item.id, dataset=item.dataset, key=item.key)
        for item in items
        if (item.id, item.key) != (derived_id(DATASET, numbers[item.id]), str(numbers[item.id]))
    ]


def is_number(key: str) -> bool:
    """Whether a key is a question's number as this layout writes it."""
    digits = key.isascii() and key.isdigit()
    return digits and str(int(key)) == key and int(key) <= LARGEST_NUMBER
