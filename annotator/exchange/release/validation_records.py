"""Release records of judge validation: sets with first labels and looks, reviews and rulings."""

from datetime import datetime
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.judges.informed import InformedKind
from annotator.domain.judges.validation import Content, FirstLabel
from annotator.domain.texts.canonical import Text, canonical_json, sha256
from annotator.exchange.release.records import Record


class LookRecord(BaseModel):
    """A look at the test part of a set."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    judges: list[str] = Field(description="The names of the judges that were shown")
    labels_sha256: str
    by: str
    at: datetime


class ValidationSetRecord(Record):
    """A validation set whose labels are locked: how it was drawn, who labelled what, every look at its test part."""

    FILE: ClassVar[str] = "validation_sets.json"
    id: str
    name: Text
    protocol: str
    by: str
    at: datetime
    locked_at: datetime
    content: Content
    sha256: str = Field(description="SHA-256 of the content's canonical JSON")
    first_labels: list[FirstLabel]
    labels_sha256: str = Field(description="SHA-256 of the first labels' canonical JSON")
    looks: list[LookRecord] = Field(default_factory=list)


class InformedRecord(Record):
    """What somebody said with a judge's verdict before them; never a blind label."""

    FILE: ClassVar[str] = "informed.json"
    id: str
    kind: InformedKind
    protocol: str
    item_id: str
    response_id: str
    unit_id: str
    judge_id: str
    judge_value: str
    label_of: str = Field(default="", description="Whose label a ruling is on; empty for a review")
    label_value: str = ""
    said: str
    reason: str = ""
    note: Text = ""
    by: str
    at: datetime


# A release without them is as it was before they were known.
LEFT_OUT_EMPTY = (ValidationSetRecord.FILE, InformedRecord.FILE)


def check(record: Record) -> None:
    """ValueError when a record is not what its checksums were made of."""
    if isinstance(record, ValidationSetRecord):
        if content_sha256(record.content) != record.sha256:
            raise ValueError("the content is not the one its checksum was made of")
        if sha256(labels_text(record.first_labels)) != record.labels_sha256:
            raise ValueError("the first labels are not those their checksum was made of")


def content_sha256(content: Content) -> str:
    return sha256(content_text(content))


def content_text(content: Content) -> str:
    return canonical_json(content.model_dump(mode="json")).decode()


def labels_text(labels: list[FirstLabel]) -> str:
    return canonical_json([one.model_dump(mode="json") for one in labels]).decode()
