"""Validation sets: responses drawn at random and labelled by people, to compare judges with."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field
from sqlmodel import Field as Column
from sqlmodel import SQLModel

from annotator.domain.texts.canonical import Text
from annotator.domain.texts.frozen_record import FrozenRecord


class Split(StrEnum):
    """The two parts of a set: one to choose and mend judges by, one to report."""

    DEV = "dev"
    TEST = "test"


class Sampled(FrozenRecord):
    """A response that was drawn, with what it was drawn by and the part that its item belongs to."""

    response_id: str
    item_id: str
    question_type: str = ""
    system_id: str
    quartile: int = Field(
        ge=1, le=4, description="1 for the shortest quarter of all reports, 4 for the longest"
    )
    split: Split


class Draw(FrozenRecord):
    """How a set was drawn. `units` is what was wanted for an interval so wide, `effect` its design effect."""

    seed: int
    test_share: Annotated[float, Field(ge=0, le=1)]
    width: float | None = Field(default=None, description="The wanted width of a share's 95 % interval")
    share: float = Field(default=0.5, description="The share for which the width was wanted")
    likeness: float = Field(default=0.1, description="How alike units of one item were taken to be, 0 to 1")
    effect: float | None = None
    units: int | None = None
    raters: int = Field(ge=2, description="How many people label each item")


class Content(FrozenRecord):
    """What a set holds: its draw, the responses, who labels which item, and who labels nothing else of it."""

    draw: Draw
    responses: tuple[Sampled, ...]
    dealt: dict[str, tuple[str, ...]] = Field(description="Item → the people who label it, by id")
    narrowed: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Item → those of them who are dealt the responses that were drawn, and no other of it",
    )


class FirstLabel(FrozenRecord):
    """What a person said of a unit when the set was locked; that stays the metric. None: unsure."""

    response_id: str
    unit_id: str
    person_id: str
    value: str | None


class SetFields(SQLModel):
    """A set's name, under which protocol it is labelled, and when its labels were locked."""

    name: Text = Column(min_length=1, max_length=120)
    protocol: str = Column(max_length=80)
    by: str = Column(default="", max_length=36)
    at: datetime
    locked_at: datetime | None = None


class OpeningFields(SQLModel):
    """One look at the test part of a set: by whom, at which judges, on which labels."""

    set_id: str = Column(index=True, foreign_key="validation_set.id", ondelete="RESTRICT")
    judges: str = Column(default="[]", description="JSON: the names of the judges that were shown")
    labels_sha256: str = Column(default="", max_length=64)
    by: str = Column(default="", max_length=36)
    at: datetime


class Opening(OpeningFields):
    """An opening as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
