"""Tables of judging: judges, runs, calls, judgements, extracts and cited pages."""

from datetime import datetime

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from annotator.domain.judges.contest import ContestFields
from annotator.domain.judges.judge import CallFields, JudgeFields
from annotator.domain.judges.judgement import JudgementFields
from annotator.domain.material.extract import ExtractFields
from annotator.domain.material.page import PageFields
from annotator.storage import describing


class JudgeRow(JudgeFields):
    """A judge."""

    __tablename__ = "judge"
    __table_args__ = (UniqueConstraint("name"),)
    id: str = Field(primary_key=True, max_length=36)


class RunRow(SQLModel):
    """A judge run, with the judge as it was when the run began."""

    __tablename__ = "run"
    id: str = Field(primary_key=True, max_length=36)
    judge_id: str = Field(index=True, foreign_key="judge.id", ondelete="RESTRICT")
    protocol: str = Field(max_length=80)
    state: str = Field(max_length=40)
    scope: str = Field(default="{}", description="JSON: the systems and items asked for, concurrency, trial")
    snapshot: str = Field(default="{}", description="JSON: the judge's settings at the start")
    prompt_sha256: str = Field(default="", max_length=64)
    total: int = 0
    done: int = 0
    started_at: datetime
    ended_at: datetime | None = None
    cost_usd: float | None = None
    by: str = Field(default="", max_length=36)


class CallRow(CallFields):
    """A finished call to an endpoint."""

    __tablename__ = "call"
    __table_args__ = (Index("ix_call_cache_status", "cache_key", "status"),)
    id: str = Field(primary_key=True, max_length=36)
    sha256: str = Field(max_length=64)
    at: datetime


class ContestRow(ContestFields):
    """One showing of two tasks to a rater, planned or answered."""

    __tablename__ = "contest"
    __table_args__ = (UniqueConstraint("pool", "rater", "round", "first", "second"),)
    id: str = Field(primary_key=True, max_length=36)


class BatchRow(SQLModel):
    """A batch on its way through a provider; `content` is the JSON of all that is to outlive the program."""

    __tablename__ = "batch"
    id: str = Field(primary_key=True, max_length=36)
    run_id: str = Field(index=True, foreign_key="run.id", ondelete="RESTRICT")
    stage: str = Field(max_length=40)
    content: str
    at: datetime


class JudgementRow(JudgementFields):
    """A judgement."""

    __tablename__ = "judgement"
    __table_args__ = (
        UniqueConstraint("protocol", "response_id", "unit_id", "rater_kind", "rater_id", "trial"),
        Index("ix_judgement_item", "item_id"),
        Index("ix_judgement_rater", "rater_id", "protocol"),
    )
    id: str = Field(primary_key=True, max_length=36)
    sha256: str = Field(max_length=64)


class ExtractRow(ExtractFields):
    """An extract; `content` is the canonical JSON of its document."""

    __tablename__ = "extract"
    __table_args__ = (UniqueConstraint("item_id", "response_id", "kind", "origin"),)
    id: str = Field(primary_key=True, max_length=36)
    content: str
    sha256: str = Field(max_length=64)


class PageRow(PageFields):
    """The snapshot of a cited page, known by the normal spelling of its address."""

    __tablename__ = "page"
    url: str = Field(primary_key=True, max_length=2000)
    sha256: str = Field(max_length=64)


describing.make_tables(globals())
