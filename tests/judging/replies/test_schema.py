"""What a reply class looks like to a strict server."""

from enum import StrEnum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from annotator.judging.prompts.schema import schema_name, strict_schema


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    text: str = Field(description="The part's words", max_length=10)


class Whole(BaseModel):
    verdict: Literal["yes", "no"]
    fixed: Literal["one"]
    share: float = Field(ge=0, le=1)
    note: str | None = None
    colour: Colour
    parts: list[Part]


def test_every_object_is_closed_and_every_field_required() -> None:
    schema = strict_schema(Whole)
    assert schema["required"] == ["verdict", "fixed", "share", "note", "colour", "parts"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["parts"]["items"] == {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The part's words"}},
        "required": ["text"],
        "additionalProperties": False,
    }


def test_references_bounds_and_constants_are_written_in_the_subset() -> None:
    properties = strict_schema(Whole)["properties"]
    assert properties["share"] == {"type": "number"}
    assert properties["fixed"] == {"enum": ["one"], "type": "string"}
    assert properties["colour"] == {"enum": ["red", "blue"], "type": "string"}
    assert properties["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


class Free(BaseModel):
    counts: dict[str, int]


class Pair(BaseModel):
    pair: tuple[int, str]


class Tree(BaseModel):
    children: list["Tree"]


class Anything(BaseModel):
    value: Any


@pytest.mark.parametrize("reply", [Free, Pair, Tree, Anything])
def test_a_class_outside_the_subset_is_a_bug(reply: type[BaseModel]) -> None:
    with pytest.raises(ValueError, match=r"subset|itself"):
        strict_schema(reply)


def test_a_name_is_made_of_letters_servers_accept() -> None:
    odd = type("Größe" * 30, (Part,), {})
    assert schema_name(odd).isascii()
    assert len(schema_name(odd)) == 64
