"""Items: a task, question or paper that a system must answer."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict
from sqlmodel import JSON, Field, SQLModel
from sqlmodel import text as in_sql

from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.fields import KnownDay, later_text
from annotator.domain.texts.canonical import Text

# What stands before its last number, the number, and what stands after.
_NUMBERED = re.compile(r"(.*?)(\d*)(\D*)", re.DOTALL)
# The dataset of seminars, whose transcripts or tasks come in under it.
SEMINARS = "seminars"
QUESTION_TYPES = ("Technical Details", "Literature Review", "Open Consulting")


class ItemRole(StrEnum):
    """What an item is to a benchmark."""

    QUESTION, PAPER, SEMINAR, TASK = "question", "paper", "seminar", "task"


@dataclass(frozen=True, slots=True)
class WhatFollows:
    """What follows from a role: whether systems answer such an item (then their reports are labelled, judged and
    counted, otherwise none is), and which kinds of document experts write for it.
    """

    answered: bool
    kinds: frozenset[Kind]


_OF_SEMINARS = frozenset({Kind.INSPIRATIONS, Kind.TASKS})
FOLLOWS: Mapping[ItemRole, WhatFollows] = {
    # Until a transcript or a task tells, nothing tells that a question is not a seminar in the making.
    ItemRole.QUESTION: WhatFollows(answered=True, kinds=frozenset(Kind)),
    ItemRole.PAPER: WhatFollows(answered=True, kinds=frozenset(Kind) - _OF_SEMINARS),
    ItemRole.SEMINAR: WhatFollows(answered=False, kinds=_OF_SEMINARS),
    ItemRole.TASK: WhatFollows(answered=True, kinds=frozenset(Kind) - _OF_SEMINARS),
}


def traits_read(stored: Any) -> Any:
    """Traits as they stand in the file of a project, or as they are."""
    return json.loads(stored) if isinstance(stored, str) else stored


class ItemFields(SQLModel):
    """An item's own words and how it is filed."""

    key: Text = Field(
        min_length=1, max_length=120, index=True, description="Short name, unique in the project"
    )
    dataset: Text = Field(default="", max_length=120, description="The collection it was imported from")
    question: Text = Field(min_length=1, max_length=200_000, description="What the system is asked")
    question_type: Text = Field(
        default="", max_length=120, description="Question type, e.g. Literature Review"
    )
    subject: Text = Field(default="", max_length=200, description="Subject or domain")
    language: str = Field(default="en", max_length=35, description="BCP 47 language tag of the question")
    position: int = Field(default=0, ge=0, description="Place in the project's order, from 0")
    retired: bool = Field(default=False, description="True when the item is set aside; nothing is deleted")
    working_title: Text = later_text(200_000, "The question before the query was settled; empty until then")
    origin: Text = later_text(200, "Where it was found, e.g. interviews")
    contributor: Text = later_text(120, "Alias of who contributed it")
    traits: Annotated[dict[str, str], BeforeValidator(traits_read)] = Field(
        default_factory=dict,
        sa_type=JSON,
        description="What else it is filed by, by name: of a task its phase and difficulty",
        sa_column_kwargs={"server_default": in_sql("'{}'")},
    )
    made_from: str = later_text(80, "Id of the task of a seminar that it was made from; empty for any other")
    collected: KnownDay = later_text(10, "When it was collected: YYYY, YYYY-MM or YYYY-MM-DD")


class Item(ItemFields):
    """An item as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str


def free_key(like: str, taken: Collection[str]) -> str:
    """A key that nobody has: the wanted one, or one like it whose last number is raised until it is free.

    A key without a number gets one.
    """
    key = like
    while key in taken:
        head, number, tail = _NUMBERED.fullmatch(key).groups()  # type: ignore[union-attr]
        key = f"{head}{int(number) + 1:0{len(number)}}{tail}" if number else f"{like[:110]} 2"
    return key
