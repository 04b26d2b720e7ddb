"""Tables of validation: sets, looks at the test part, reviews, rulings and attacks."""

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from annotator.domain.judges.attack import AttackCopyFields, AttackTestFields, AttackVerdictFields
from annotator.domain.judges.informed import InformedFields
from annotator.domain.judges.validation import OpeningFields, SetFields
from annotator.storage import describing


class ValidationSetRow(SetFields):
    """A validation set; `content` is its canonical JSON, `labels` the JSON of what people said when it was locked."""

    __tablename__ = "validation_set"
    __table_args__ = (UniqueConstraint("name"),)
    id: str = Field(primary_key=True, max_length=36)
    content: str
    sha256: str = Field(max_length=64)
    labels: str = ""
    labels_sha256: str = Field(default="", max_length=64)


class OpeningRow(OpeningFields):
    """A look at the test part of a set; rows are only ever added."""

    __tablename__ = "opening"
    id: str = Field(primary_key=True, max_length=36)


class InformedRow(InformedFields):
    """A review or a ruling, known by what it is on and, of a review, by whose it is."""

    __tablename__ = "informed"
    id: str = Field(primary_key=True, max_length=36)


class AttackTestRow(AttackTestFields):
    """A test of a judge; `content` is the canonical JSON of what it was ordered with and what was drawn."""

    __tablename__ = "attack_test"
    id: str = Field(primary_key=True, max_length=36)
    content: str


class AttackCopyRow(AttackCopyFields):
    """A copy of a report under attack; kept apart from responses, which it never becomes."""

    __tablename__ = "attack_copy"
    id: str = Field(primary_key=True, max_length=36)


class AttackVerdictRow(AttackVerdictFields):
    """What a judge said of a unit over a copy; kept apart from judgements, which it never becomes."""

    __tablename__ = "attack_verdict"
    __table_args__ = (UniqueConstraint("copy_id", "unit_id"),)
    id: str = Field(primary_key=True, max_length=36)


describing.make_tables(globals())
