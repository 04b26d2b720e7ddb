"""The main tables: one per thing, each row of an expert's words with the hash of its content."""

from datetime import datetime

from sqlalchemy import Column, Index, LargeBinary, MetaData, Table, UniqueConstraint
from sqlmodel import Field, SQLModel

from annotator.domain.experts.assignment import AssignmentFields
from annotator.domain.experts.guideline import GuidelineFields
from annotator.domain.experts.person import PersonFields
from annotator.domain.material.item import ItemFields
from annotator.domain.material.response import ResponseFields, SystemFields
from annotator.domain.material.source import SourceFields
from annotator.storage import describing
from annotator.storage.judging_tables import (
    BatchRow,
    CallRow,
    ContestRow,
    ExtractRow,
    JudgementRow,
    JudgeRow,
    PageRow,
    RunRow,
)
from annotator.storage.validation_tables import (
    AttackCopyRow,
    AttackTestRow,
    AttackVerdictRow,
    InformedRow,
    OpeningRow,
    ValidationSetRow,
)

__all__ = [
    "ADJUDICATION",
    "AGREEMENT",
    "ARTIFACT",
    "ASSIGNMENT",
    "ASSISTED",
    "ATTACK_COPY",
    "ATTACK_TEST",
    "ATTACK_VERDICT",
    "AUDIT",
    "BATCH",
    "CALL",
    "CONSENSUS_VERSION",
    "CONTEST",
    "DISPUTE",
    "DRAFT",
    "EXTRACT",
    "GUIDELINE",
    "INFORMED",
    "ITEM",
    "JUDGE",
    "JUDGEMENT",
    "META",
    "OPENING",
    "PAGE",
    "PARCEL",
    "PERSON",
    "RELEASE",
    "REMARK",
    "RENDERING",
    "RESPONSE",
    "REVISION",
    "RULING",
    "RUN",
    "SOURCE",
    "SOURCE_FILE",
    "SYSTEM",
    "TIME",
    "TRAY",
    "VALIDATION_SET",
    "AttackCopyRow",
    "AttackTestRow",
    "AttackVerdictRow",
    "BatchRow",
    "CallRow",
    "ContestRow",
    "ExtractRow",
    "InformedRow",
    "JudgeRow",
    "JudgementRow",
    "OpeningRow",
    "PageRow",
    "RunRow",
    "ValidationSetRow",
]


class MetaRow(SQLModel):
    """A fact about the project itself: its id, title, settings."""

    __tablename__ = "meta"
    key: str = Field(primary_key=True, max_length=120)
    value: str


class PersonRow(PersonFields):
    """A person."""

    __tablename__ = "person"
    __table_args__ = (UniqueConstraint("alias"),)
    id: str = Field(primary_key=True, max_length=36)


class ItemRow(ItemFields):
    """An item."""

    __tablename__ = "item"
    # The project's order, with all that listing and counting ask for: a long list is shown from here alone.
    __table_args__ = (
        UniqueConstraint("dataset", "key"),
        Index("ix_item_order", "retired", "position", "key", "id"),
    )
    id: str = Field(primary_key=True, max_length=36)
    sha256: str = Field(max_length=64)


class SourceRow(SourceFields):
    """A source."""

    __tablename__ = "source"
    id: str = Field(primary_key=True, max_length=36)
    sha256: str = Field(max_length=64)


class SourceFileRow(SQLModel):
    """The bytes of a source that is a PDF."""

    __tablename__ = "source_file"
    source_id: str = Field(primary_key=True, foreign_key="source.id", ondelete="RESTRICT")
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    sha256: str = Field(max_length=64)


class SystemRow(SystemFields):
    """A system under test."""

    __tablename__ = "system"
    __table_args__ = (UniqueConstraint("name"),)
    id: str = Field(primary_key=True, max_length=36)


class ResponseRow(ResponseFields):
    """A response."""

    __tablename__ = "response"
    __table_args__ = (UniqueConstraint("item_id", "system_id", "trial", "mode"),)
    id: str = Field(primary_key=True, max_length=36)
    sha256: str = Field(max_length=64)


class RenderingRow(SQLModel):
    """The safe HTML of a text, kept so that showing it again costs nothing."""

    __tablename__ = "rendering"
    text_sha256: str = Field(primary_key=True, max_length=64)
    version: int = Field(primary_key=True)
    html: str
    plain: bool
    reason: str = ""


class ArtifactRow(SQLModel):
    """An artifact: its author, kind, item and state."""

    __tablename__ = "artifact"
    __table_args__ = (UniqueConstraint("item_id", "kind", "author_id"),)
    id: str = Field(primary_key=True, max_length=36)
    item_id: str = Field(index=True, foreign_key="item.id", ondelete="RESTRICT")
    kind: str = Field(max_length=40)
    author_id: str = Field(default="", max_length=36)
    state: str = Field(max_length=40)
    revision: int
    sealed_at: datetime | None = None


class RevisionRow(SQLModel):
    """One state of an artifact; rows are only ever added."""

    __tablename__ = "revision"
    __table_args__ = (UniqueConstraint("artifact_id", "number"),)
    id: str = Field(primary_key=True, max_length=36)
    artifact_id: str = Field(foreign_key="artifact.id", ondelete="RESTRICT")
    number: int
    content: str
    sha256: str = Field(max_length=64)
    chain: str = Field(max_length=64)
    sealed: bool = False
    reason: str = Field(default="", description="Why warnings were overridden when sealing")
    guideline: str = Field(default="1", max_length=40, description="Version of the guideline in force")
    form: str = Field(
        default="1",
        max_length=40,
        description="Version of the fields that were asked for",
        sa_column_kwargs={"server_default": "1"},
    )
    skipped: str | None = Field(
        default=None,
        description="Hashes of the drafts before it that stayed with their author, separated by spaces",
    )
    verb: str = Field(max_length=60)
    by: str = Field(max_length=36)
    at: datetime


class DraftRow(SQLModel):
    """Unsaved typing; it survives a crash."""

    __tablename__ = "draft"
    place: str = Field(primary_key=True, max_length=300, description="artifact|unit|field")
    person_id: str = Field(primary_key=True, max_length=36)
    text: str
    at: datetime


class AssignmentRow(AssignmentFields):
    """An assignment."""

    __tablename__ = "assignment"
    __table_args__ = (UniqueConstraint("item_id", "person_id", "stage", "trial"),)
    id: str = Field(primary_key=True, max_length=36)


class AgreementRow(SQLModel):
    """A frozen agreement (`content` is its canonical JSON); rows are only ever added."""

    __tablename__ = "agreement"
    __table_args__ = (UniqueConstraint("item_id", "stage"),)
    id: str = Field(primary_key=True, max_length=36)
    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    stage: str = Field(max_length=40)
    content: str
    sha256: str = Field(max_length=64)
    frozen_at: datetime


class AssistedPairRow(SQLModel):
    """A judge's pairing of two raters' units; `content` is its canonical JSON."""

    __tablename__ = "assisted_pair"
    id: str = Field(primary_key=True, max_length=36)
    agreement_id: str = Field(index=True, foreign_key="agreement.id", ondelete="RESTRICT")
    judge_id: str = Field(foreign_key="judge.id", ondelete="RESTRICT")
    content: str
    sha256: str = Field(max_length=64)


class AdjudicationRow(SQLModel):
    """An adjudication; `letters` is a JSON object."""

    __tablename__ = "adjudication"
    __table_args__ = (UniqueConstraint("item_id", "stage"),)
    id: str = Field(primary_key=True, max_length=36)
    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    stage: str = Field(max_length=40)
    agreement_id: str = Field(foreign_key="agreement.id", ondelete="RESTRICT")
    adjudicator_id: str = Field(foreign_key="person.id", ondelete="RESTRICT")
    seed: int
    letters: str
    state: str = Field(max_length=40)
    version: int = 0
    spot_check: bool = False
    consensus_id: str = ""
    opened_at: datetime
    closed_at: datetime | None = None


class RulingRow(SQLModel):
    """A ruling; `content` is the canonical JSON of all but its keys."""

    __tablename__ = "ruling"
    id: str = Field(primary_key=True, max_length=36)
    adjudication_id: str = Field(index=True, foreign_key="adjudication.id", ondelete="RESTRICT")
    position: int
    content: str
    sha256: str = Field(max_length=64)


class ConsensusVersionRow(SQLModel):
    """A closed version of a consensus; rows are only ever added."""

    __tablename__ = "consensus_version"
    __table_args__ = (UniqueConstraint("adjudication_id", "version"),)
    id: str = Field(primary_key=True, max_length=36)
    adjudication_id: str = Field(foreign_key="adjudication.id", ondelete="RESTRICT")
    version: int
    artifact_id: str = Field(foreign_key="artifact.id", ondelete="RESTRICT")
    revision: int
    content: str
    sha256: str = Field(max_length=64)
    by: str = Field(max_length=36)
    at: datetime


class RemarkRow(SQLModel):
    """A note in the discussion of an adjudication; rows are only ever added."""

    __tablename__ = "remark"
    id: str = Field(primary_key=True, max_length=36)
    subject: str = Field(index=True, max_length=120, description="Id of the adjudication or the ruling")
    person_id: str = Field(max_length=36)
    text: str
    at: datetime


class DisputeRow(SQLModel):
    """An annotator's one objection to the consensus of an item."""

    __tablename__ = "dispute"
    __table_args__ = (UniqueConstraint("item_id", "person_id"),)
    id: str = Field(primary_key=True, max_length=36)
    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    person_id: str = Field(foreign_key="person.id", ondelete="RESTRICT")
    stage: str = Field(max_length=40)
    text: str
    at: datetime
    state: str = Field(max_length=40)
    answer: str = ""
    answered_version: int = 0


class GuidelineRow(GuidelineFields):
    """A version of a guideline."""

    __tablename__ = "guideline"
    __table_args__ = (UniqueConstraint("stage", "version"),)
    id: str = Field(primary_key=True, max_length=36)


class ParcelRow(SQLModel):
    """A package that was sent out or came in, known by its hash; `content` is JSON about it."""

    __tablename__ = "parcel"
    sha256: str = Field(primary_key=True, max_length=64)
    direction: str = Field(max_length=10, description="out or in")
    person_id: str = Field(index=True, max_length=36)
    package_id: str = Field(max_length=80)
    receipt: str = Field(default="", max_length=40)
    content: str
    at: datetime


class TrayRow(SQLModel):
    """A piece of returned work in the tray."""

    __tablename__ = "tray"
    id: str = Field(primary_key=True, max_length=36)
    reason: str = Field(max_length=40)
    person_id: str = Field(max_length=36)
    item_id: str = ""
    stage: str = Field(default="", max_length=40)
    revision: int = 0
    content: str
    sha256: str = Field(max_length=64)
    state: str = Field(max_length=40)
    at: datetime


class TimeRow(SQLModel):
    """Active seconds a person spent on a subject, one row per stretch of work."""

    __tablename__ = "time_spent"
    id: str = Field(primary_key=True, max_length=36)
    person_id: str = Field(index=True, max_length=36)
    subject: str = Field(index=True, max_length=120)
    seconds: float
    at: datetime


class AuditRow(SQLModel):
    """Every change ever made, in order of `seq` (clocks may be set back; counters are not)."""

    __tablename__ = "audit"
    seq: int | None = Field(default=None, primary_key=True)
    kind: str = Field(max_length=60)
    subject: str = Field(index=True, max_length=120)
    verb: str = Field(max_length=60)
    before: str | None = None
    after: str | None = None
    by: str = Field(index=True, max_length=36)
    at: datetime
    undoes: int | None = Field(default=None, description="The change this one took back")
    undone: bool = Field(default=False, description="True while the change is taken back")
    sha256: str = Field(max_length=64)


class ReleaseRow(SQLModel):
    """A release that was written, with the checksum of its manifest."""

    __tablename__ = "release"
    number: int = Field(primary_key=True)
    manifest_sha256: str = Field(max_length=64)
    profile: str = Field(max_length=40)
    by: str = Field(max_length=36)
    at: datetime


class WitnessRow(SQLModel):
    """The hash of a row of another table, kept apart from it so that a flip or a loss of that row shows."""

    __tablename__ = "witness"
    __table_args__ = {"sqlite_with_rowid": False}
    of_table: str = Field(primary_key=True, max_length=60)
    of_row: int = Field(primary_key=True)
    sha256: str = Field(max_length=64)


describing.make_tables(globals())
metadata: MetaData = SQLModel.metadata


def table(row: type[SQLModel]) -> Table:
    """The table that a row class describes."""
    return metadata.tables[str(row.__tablename__)]


ADJUDICATION = table(AdjudicationRow)
AGREEMENT = table(AgreementRow)
ARTIFACT = table(ArtifactRow)
ASSIGNMENT = table(AssignmentRow)
ASSISTED = table(AssistedPairRow)
ATTACK_COPY = table(AttackCopyRow)
ATTACK_TEST = table(AttackTestRow)
ATTACK_VERDICT = table(AttackVerdictRow)
AUDIT = table(AuditRow)
BATCH = table(BatchRow)
CALL = table(CallRow)
CONSENSUS_VERSION = table(ConsensusVersionRow)
CONTEST = table(ContestRow)
DISPUTE = table(DisputeRow)
DRAFT = table(DraftRow)
EXTRACT = table(ExtractRow)
GUIDELINE = table(GuidelineRow)
INFORMED = table(InformedRow)
ITEM = table(ItemRow)
JUDGE = table(JudgeRow)
JUDGEMENT = table(JudgementRow)
META = table(MetaRow)
OPENING = table(OpeningRow)
PAGE = table(PageRow)
PARCEL = table(ParcelRow)
PERSON = table(PersonRow)
RELEASE = table(ReleaseRow)
REMARK = table(RemarkRow)
RENDERING = table(RenderingRow)
RESPONSE = table(ResponseRow)
REVISION = table(RevisionRow)
RULING = table(RulingRow)
RUN = table(RunRow)
SOURCE = table(SourceRow)
SOURCE_FILE = table(SourceFileRow)
SYSTEM = table(SystemRow)
TIME = table(TimeRow)
TRAY = table(TrayRow)
VALIDATION_SET = table(ValidationSetRow)
