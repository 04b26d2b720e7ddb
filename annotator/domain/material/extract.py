"""Extracts: a document that a person or a judge drew from a response or an item, and who drew it."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import ConfigDict, SerializeAsAny, WrapValidator
from sqlmodel import Field, SQLModel, String

from annotator.domain.kinds import documents
from annotator.domain.kinds.artifact import Document, Kind, as_it_is
from annotator.domain.material import part
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.writer_aid import AIDS, WriterAid
from annotator.domain.texts.canonical import sha256

IMPORT, SET = "import", "set:"
# So many letters at the end of an origin stand for the person who asked, and how often they had.
MARK = 12


class ExtractState(StrEnum):
    """Whether a person has looked at an extract and let it stand."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    """Nothing more of it is wanted; it is kept."""


class ExtractFields(SQLModel):
    """Whose extract of what. An item has one of each kind from each origin, and so has each of its responses."""

    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    response_id: str = Field(default="", max_length=36, description="Empty when it was drawn from the item")
    kind: str = Field(
        max_length=40,
        description="What it is: a part of a response, a kind of artifact, or an aid for experts",
    )
    origin: str = Field(
        max_length=80,
        description="judge:<id>, judge:<id>:<mark> of a draft for one person, person:<id>, import, or set:<name> of a "
        "rubric set",
    )
    state: ExtractState = Field(default=ExtractState.PROPOSED, sa_type=String)
    flags: str = Field(default="", description="Marks separated by spaces")
    run_id: str | None = None
    by: str = Field(default="", max_length=36, description="Id of the person who wrote or confirmed it last")
    at: datetime


class Extract(ExtractFields):
    """An extract as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
    document: Annotated[SerializeAsAny[Document[Any]], WrapValidator(as_it_is)]


def by_judge(judge_id: str) -> str:
    return f"judge:{judge_id}"


def for_person(judge_id: str, person_id: str, number: int) -> str:
    """The origin of the draft that a person asked a judge for, the first, the second … on a thing; nobody else's."""
    return f"{by_judge(judge_id)}:{sha256(f'{person_id}/{number}')[:MARK]}"


def by_set(name: str) -> str:
    return f"{SET}{name}"


def by_person(person_id: str) -> str:
    return f"person:{person_id}"


def document_of(kind: str, response_id: str, tree: Any) -> Document[Any]:
    """The typed document of an extract's JSON tree; pydantic's ValidationError names what does not fit."""
    return class_of(kind, response_id).model_validate(tree)


def class_of(kind: str, response_id: str) -> type[Document[Any]]:
    """The class of an extract's document: a part's of a response; of an item, an artifact's, an aid's or its pool's."""
    if not response_id and kind in set(WriterAid):
        return AIDS[WriterAid(kind)]
    of_report = response_id or kind == ResponsePart.POOL
    return part.DOCUMENTS[ResponsePart(kind)] if of_report else documents.DOCUMENTS[Kind(kind)]
