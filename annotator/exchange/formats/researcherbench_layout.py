"""Entries of ResearcherBench's files: exactly the fields that its own evaluator needs."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from annotator.domain.texts.canonical import Text
from annotator.exchange.formats.layout import LayoutEntry, MappedSystem
from annotator.exchange.reading import LARGEST_NUMBER

DATASET = "researcherbench"
QUESTIONS, RUBRICS, RESPONSES = "questions.json", "rubric.json", "responses"
# What the public repository's `data/` calls its folders and its rubrics, and its example of a system's file.
FOLDERS, RUBRICS_TOO, EXAMPLE = ("eval_data", "user_data"), "rubrics.json", "test.json"


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


def _whole(number: Any) -> Any:
    """A whole number that was written with a point as what it is."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


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
    """A line of a rubric."""

    point: Annotated[Said, Field(max_length=20_000)]
    weight: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=3)]


class RubricEntry(Numbered):
    """An entry of `rubric.json`."""

    rubric: Annotated[list[RubricPoint], Field(min_length=1)]


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
