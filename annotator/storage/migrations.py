"""The migrations from each schema to the next; older files are read in no other way."""

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

from annotator.domain.common import canonical_json, sha256


def schema_1() -> None:
    """The first schema."""
    op.create_table(
        "audit",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(60), nullable=False),
        sa.Column("subject", sa.String(120), nullable=False, index=True),
        sa.Column("verb", sa.String(60), nullable=False),
        sa.Column("before", sa.String(), nullable=True),
        sa.Column("after", sa.String(), nullable=True),
        sa.Column("by", sa.String(36), nullable=False, index=True),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("undoes", sa.Integer(), nullable=True),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_audit"),
    )
    op.create_table(
        "call",
        sa.Column("run_id", sa.String(), nullable=True, index=True),
        sa.Column("judge_id", sa.String(), nullable=False),
        sa.Column("cache_key", sa.String(64), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("raw", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("requested_model", sa.String(), nullable=False),
        sa.Column("returned_model", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("finish_reason", sa.String(), nullable=False),
        sa.Column("parameters", sa.String(), nullable=False),
        sa.Column("prompt_sha256", sa.String(64), nullable=False),
        sa.Column("app_version", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("repaired", sa.Boolean(), nullable=False),
        sa.Column("tokens_input", sa.Integer(), nullable=True),
        sa.Column("tokens_cached", sa.Integer(), nullable=True),
        sa.Column("tokens_output", sa.Integer(), nullable=True),
        sa.Column("tokens_reasoning", sa.Integer(), nullable=True),
        sa.Column("latency_s", sa.Float(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_call"),
        sa.Index("ix_call_cache_status", "cache_key", "status"),
    )
    op.create_table(
        "draft",
        sa.Column("place", sa.String(300), nullable=False),
        sa.Column("person_id", sa.String(36), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("place", "person_id", name="pk_draft"),
    )
    op.create_table(
        "item",
        sa.Column("key", sa.String(120), nullable=False, index=True),
        sa.Column("dataset", sa.String(120), nullable=False),
        sa.Column("question", sa.String(200000), nullable=False),
        sa.Column("question_type", sa.String(120), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("language", sa.String(35), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("retired", sa.Boolean(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_item"),
        sa.UniqueConstraint("dataset", "key", name="uq_item_dataset_key"),
        sa.Index("ix_item_order", "retired", "position", "key", "id"),
    )
    op.create_table(
        "judge",
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("base_url", sa.String(2000), nullable=False),
        sa.Column("model", sa.String(400), nullable=False),
        sa.Column("key_env", sa.String(200), nullable=False),
        sa.Column("parameters", sa.String(), nullable=False),
        sa.Column("retired", sa.Boolean(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_judge"),
        sa.UniqueConstraint("name", name="uq_judge_name"),
    )
    op.create_table(
        "meta",
        sa.Column("key", sa.String(120), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_meta"),
    )
    op.create_table(
        "person",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("alias", sa.String(60), nullable=False),
        sa.Column("roles", sa.String(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_person"),
        sa.UniqueConstraint("alias", name="uq_person_alias"),
    )
    op.create_table(
        "release",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("manifest_sha256", sa.String(64), nullable=False),
        sa.Column("profile", sa.String(40), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_release"),
    )
    op.create_table(
        "rendering",
        sa.Column("text_sha256", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("html", sa.String(), nullable=False),
        sa.Column("plain", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("text_sha256", "version", name="pk_rendering"),
    )
    op.create_table(
        "system",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("notes", sa.String(20000), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_system"),
        sa.UniqueConstraint("name", name="uq_system_name"),
    )
    op.create_table(
        "time_spent",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("person_id", sa.String(36), nullable=False, index=True),
        sa.Column("subject", sa.String(120), nullable=False, index=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_time_spent"),
    )
    op.create_table(
        "witness",
        sa.Column("of_table", sa.String(60), nullable=False),
        sa.Column("of_row", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("of_table", "of_row", name="pk_witness"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "artifact",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False, index=True),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("author_id", sa.String(36), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("sealed_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_artifact_item_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_artifact"),
        sa.UniqueConstraint("item_id", "kind", "author_id", name="uq_artifact_item_id_kind_author_id"),
    )
    op.create_table(
        "assignment",
        sa.Column("item_id", sa.String(), nullable=False, index=True),
        sa.Column("person_id", sa.String(), nullable=False, index=True),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("due", sa.DateTime(), nullable=True),
        sa.Column("submitted_at", sa.DateTime(), nullable=True),
        sa.Column("id", sa.String(36), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_assignment_item_id", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name="fk_assignment_person_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_assignment"),
        sa.UniqueConstraint("item_id", "person_id", "stage", name="uq_assignment_item_id_person_id_stage"),
    )
    op.create_table(
        "response",
        sa.Column("item_id", sa.String(), nullable=False, index=True),
        sa.Column("system_id", sa.String(), nullable=False, index=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("mode", sa.String(40), nullable=False),
        sa.Column("latency_s", sa.Float(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_response_item_id", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["system_id"], ["system.id"], name="fk_response_system_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_response"),
        sa.UniqueConstraint(
            "item_id", "system_id", "trial", "mode", name="uq_response_item_id_system_id_trial_mode"
        ),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("judge_id", sa.String(), nullable=False, index=True),
        sa.Column("protocol", sa.String(80), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("snapshot", sa.String(), nullable=False),
        sa.Column("prompt_sha256", sa.String(64), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("by", sa.String(36), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["judge.id"], name="fk_run_judge_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
    )
    op.create_table(
        "source",
        sa.Column("item_id", sa.String(), nullable=False, index=True),
        sa.Column("title", sa.String(1000), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("identifier", sa.String(1000), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_source_item_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_source"),
    )
    op.create_table(
        "judgement",
        sa.Column("value", sa.String(200), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("rationale", sa.String(), nullable=False),
        sa.Column("quote", sa.String(), nullable=False),
        sa.Column("quote_start", sa.Integer(), nullable=True),
        sa.Column("quote_end", sa.Integer(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("flags", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("protocol", sa.String(80), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("response_id", sa.String(), nullable=False),
        sa.Column("artifact_id", sa.String(), nullable=False),
        sa.Column("unit_id", sa.String(80), nullable=False),
        sa.Column("rater_kind", sa.String(), nullable=False),
        sa.Column("rater_id", sa.String(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True, index=True),
        sa.Column("call_id", sa.String(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_judgement_item_id", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name="fk_judgement_response_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_judgement"),
        sa.UniqueConstraint(
            "protocol",
            "response_id",
            "unit_id",
            "rater_kind",
            "rater_id",
            "trial",
            name="uq_judgement_protocol_response_id_unit_id_rater_kind_rater_id_trial",
        ),
        sa.Index("ix_judgement_item", "item_id"),
        sa.Index("ix_judgement_rater", "rater_id", "protocol"),
    )
    op.create_table(
        "revision",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("artifact_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("chain", sa.String(64), nullable=False),
        sa.Column("sealed", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("guideline", sa.String(40), nullable=False),
        sa.Column("verb", sa.String(60), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["artifact_id"], ["artifact.id"], name="fk_revision_artifact_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_revision"),
        sa.UniqueConstraint("artifact_id", "number", name="uq_revision_artifact_id_number"),
    )
    op.create_table(
        "source_file",
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["source.id"], name="fk_source_file_source_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("source_id", name="pk_source_file"),
    )
    # Trigram tokens match parts of words and work for scripts without spaces.
    op.execute("CREATE VIRTUAL TABLE item_words USING fts5(item_id UNINDEXED, words, tokenize='trigram')")


def _add(table: str, *columns: sa.Column[Any]) -> None:
    for column in columns:
        op.add_column(table, column)


def schema_2() -> None:
    """Guidelines, frozen agreement, adjudication, disputes, and the exchange by file."""
    _add(
        "revision",
        sa.Column("form", sa.String(40), nullable=False, server_default="1"),
        sa.Column("skipped", sa.String(), nullable=True),
    )
    # A unique constraint can only be changed by recreating the table; no other table refers to this one.
    with op.batch_alter_table("assignment", recreate="always") as batch:
        batch.add_column(sa.Column("trial", sa.Integer(), nullable=False, server_default="1"))
        batch.add_column(sa.Column("purpose", sa.String(), nullable=False, server_default="work"))
        batch.add_column(sa.Column("not_before", sa.DateTime(), nullable=True))
        batch.drop_constraint("uq_assignment_item_id_person_id_stage", type_="unique")
        batch.create_unique_constraint(
            "uq_assignment_item_id_person_id_stage_trial", ["item_id", "person_id", "stage", "trial"]
        )
    op.create_table(
        "guideline",
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_guideline"),
        sa.UniqueConstraint("stage", "version", name="uq_guideline_stage_version"),
    )
    op.create_table(
        "agreement",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("frozen_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_agreement_item_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_agreement"),
        sa.UniqueConstraint("item_id", "stage", name="uq_agreement_item_id_stage"),
    )
    op.create_table(
        "adjudication",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("agreement_id", sa.String(), nullable=False),
        sa.Column("adjudicator_id", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("letters", sa.String(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("spot_check", sa.Boolean(), nullable=False),
        sa.Column("consensus_id", sa.String(), nullable=False),
        sa.Column("opened_at", sa.DateTime(), nullable=False),
        sa.Column("closed_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["item_id"], ["item.id"], name="fk_adjudication_item_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["agreement_id"], ["agreement.id"], name="fk_adjudication_agreement_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["adjudicator_id"], ["person.id"], name="fk_adjudication_adjudicator_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_adjudication"),
        sa.UniqueConstraint("item_id", "stage", name="uq_adjudication_item_id_stage"),
    )
    op.create_table(
        "ruling",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("adjudication_id", sa.String(), nullable=False, index=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["adjudication_id"], ["adjudication.id"], name="fk_ruling_adjudication_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ruling"),
    )
    op.create_table(
        "consensus_version",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("adjudication_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("artifact_id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["adjudication_id"],
            ["adjudication.id"],
            name="fk_consensus_version_adjudication_id",
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["artifact_id"], ["artifact.id"], name="fk_consensus_version_artifact_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_consensus_version"),
        sa.UniqueConstraint(
            "adjudication_id", "version", name="uq_consensus_version_adjudication_id_version"
        ),
    )
    op.create_table(
        "remark",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(120), nullable=False, index=True),
        sa.Column("person_id", sa.String(36), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_remark"),
    )
    op.create_table(
        "dispute",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("answered_version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_dispute_item_id", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name="fk_dispute_person_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_dispute"),
        sa.UniqueConstraint("item_id", "person_id", name="uq_dispute_item_id_person_id"),
    )
    op.create_table(
        "parcel",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("direction", sa.String(10), nullable=False),
        sa.Column("person_id", sa.String(36), nullable=False, index=True),
        sa.Column("package_id", sa.String(80), nullable=False),
        sa.Column("receipt", sa.String(40), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_parcel"),
    )
    op.create_table(
        "tray",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("reason", sa.String(40), nullable=False),
        sa.Column("person_id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tray"),
    )


def schema_3() -> None:
    """Judges' request settings, batches, extractions from responses, cited pages, and sources that models drafted."""
    op.add_column("judge", sa.Column("asking", sa.String(), nullable=False, server_default="{}"))
    op.add_column("source", sa.Column("drafted", sa.String(1000), nullable=False, server_default=""))
    op.create_table(
        "batch",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False, index=True),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_batch_run_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_batch"),
    )
    op.create_table(
        "extract",
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("response_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("origin", sa.String(80), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("flags", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_extract_item_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_extract"),
        sa.UniqueConstraint(
            "item_id", "response_id", "kind", "origin", name="uq_extract_item_id_response_id_kind_origin"
        ),
    )
    op.create_table(
        "page",
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("final_url", sa.String(), nullable=False),
        sa.Column("content_type", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(), nullable=False),
        sa.Column("by_reader", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("url", name="pk_page"),
    )


def schema_4() -> None:
    """Validation sets, looks at their reported part, reviews, rulings and attacks."""
    op.create_table(
        "validation_set",
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("protocol", sa.String(80), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("locked_at", sa.DateTime(), nullable=True),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("labels", sa.String(), nullable=False),
        sa.Column("labels_sha256", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_validation_set"),
        sa.UniqueConstraint("name", name="uq_validation_set_name"),
    )
    op.create_table(
        "opening",
        sa.Column("set_id", sa.String(), nullable=False, index=True),
        sa.Column("judges", sa.String(), nullable=False),
        sa.Column("labels_sha256", sa.String(64), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.ForeignKeyConstraint(
            ["set_id"], ["validation_set.id"], name="fk_opening_set_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_opening"),
    )
    foreign = [
        sa.ForeignKeyConstraint([f"{of}_id"], [f"{of}.id"], name=f"fk_informed_{of}_id", ondelete="RESTRICT")
        for of in ("item", "response", "judge")
    ]
    op.create_table(
        "informed",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("protocol", sa.String(80), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False, index=True),
        sa.Column("response_id", sa.String(), nullable=False),
        sa.Column("unit_id", sa.String(80), nullable=False),
        sa.Column("judge_id", sa.String(), nullable=False),
        sa.Column("judge_value", sa.String(200), nullable=False),
        sa.Column("label_of", sa.String(36), nullable=False),
        sa.Column("label_value", sa.String(200), nullable=False),
        sa.Column("said", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(80), nullable=False),
        sa.Column("note", sa.String(20_000), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        *foreign,
        sa.PrimaryKeyConstraint("id", name="pk_informed"),
    )
    op.create_table(
        "attack_test",
        sa.Column("judge_id", sa.String(), nullable=False, index=True),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("protocol", sa.String(80), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        *_links("attack_test", "judge", "run"),
        sa.PrimaryKeyConstraint("id", name="pk_attack_test"),
    )
    op.create_table(
        "attack_copy",
        sa.Column("test_id", sa.String(), nullable=False, index=True),
        sa.Column("response_id", sa.String(), nullable=False),
        sa.Column("attack", sa.String(80), nullable=False),
        sa.Column("variant", sa.String(80), nullable=False),
        sa.Column("text_sha256", sa.String(64), nullable=False),
        sa.Column("pieces", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        *_links("attack_copy", "attack_test", "response"),
        sa.PrimaryKeyConstraint("id", name="pk_attack_copy"),
    )
    op.create_table(
        "attack_verdict",
        sa.Column("value", sa.String(200), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("rationale", sa.String(), nullable=False),
        sa.Column("quote", sa.String(), nullable=False),
        sa.Column("quote_start", sa.Integer(), nullable=True),
        sa.Column("quote_end", sa.Integer(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("flags", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("test_id", sa.String(), nullable=False, index=True),
        sa.Column("copy_id", sa.String(), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("unit_id", sa.String(80), nullable=False),
        sa.Column("before", sa.String(200), nullable=False),
        sa.Column("asked", sa.String(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=True),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        *_links("attack_verdict", "attack_test", "attack_copy", "item"),
        sa.PrimaryKeyConstraint("id", name="pk_attack_verdict"),
        sa.UniqueConstraint("copy_id", "unit_id", name="uq_attack_verdict_copy_id_unit_id"),
    )


def _links(table: str, *others: str) -> list[sa.ForeignKeyConstraint]:
    """The foreign keys of a table; each column is named after the last word of the table it refers to."""
    return [
        sa.ForeignKeyConstraint(
            [f"{other.removeprefix('attack_')}_id"], [f"{other}.id"],
            name=f"fk_{table}_{other.removeprefix('attack_')}_id", ondelete="RESTRICT",
        )
        for other in others
    ]  # fmt: skip


def schema_5() -> None:
    """A judge's pairing of the units of two raters, beside an agreement frozen earlier."""
    op.create_table(
        "assisted_pair",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("agreement_id", sa.String(), nullable=False, index=True),
        sa.Column("judge_id", sa.String(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        *_links("assisted_pair", "agreement", "judge"),
        sa.PrimaryKeyConstraint("id", name="pk_assisted_pair"),
    )


WORDS = {
    "system": {"group": 120, "footnote": 2000},
    "response": {"product_version": 200, "settings": 2000, "collected_by": 200},
    "source": {"venue": 500, "published": 10},
}
DAYS = {"response": ("collected_on", "cutoff"), "source": ("citations_on",)}


def schema_6() -> None:
    """The origin of sources and responses, and the group of a system."""
    for table, lengths in WORDS.items():
        _add(
            table,
            *(
                sa.Column(name, sa.String(length), nullable=False, server_default="")
                for name, length in lengths.items()
            ),
        )
    for table, names in DAYS.items():
        _add(table, *(sa.Column(name, sa.Date(), nullable=True) for name in names))
    _add(
        "source",
        sa.Column("kind", sa.String(), nullable=False, server_default=""),
        sa.Column("citations", sa.Integer(), nullable=True),
    )


# Queries whose text is final: a consensus, or an import as gold. A query being edited keeps its earlier text.
_SETTLED = """
SELECT a.item_id, r.content FROM artifact a JOIN revision r ON r.artifact_id = a.id
WHERE a.kind = 'query' AND (a.state = 'consensus' OR (a.author_id = '' AND a.state = 'sealed'))
AND r.number = coalesce(
  (SELECT min(o.number) - 1 FROM revision o WHERE o.artifact_id = a.id AND o.verb = 'edit consensus'
   AND o.number > (SELECT coalesce(max(s.number), 0) FROM revision s WHERE s.artifact_id = a.id AND s.sealed)),
  a.revision)
ORDER BY a.state = 'consensus', a.author_id <> '', a.id
"""
_WORDS = ("dataset", "key", "question", "question_type", "subject", "language")


def schema_7() -> None:
    """Curation details of items, and which wording of a question a response answers."""
    for name, longest in (
        ("working_title", 200_000),
        ("origin", 200),
        ("contributor", 120),
        ("collected", 10),
    ):
        op.add_column("item", sa.Column(name, sa.String(longest), nullable=False, server_default=""))
    op.add_column("response", sa.Column("asked", sa.String(64), nullable=False, server_default=""))
    db = op.get_bind()
    settled = {item_id: _first_wording(content) for item_id, content in db.execute(sa.text(_SETTLED))}
    for item_id, wording in settled.items():
        row = db.execute(sa.text("SELECT * FROM item WHERE id = :id"), {"id": item_id}).mappings().one()
        if wording and wording != row["question"].strip():
            _ask(db, dict(row), wording)


def _first_wording(content: str) -> str:
    units = json.loads(content)["units"]
    return str(units[0]["text"]).strip() if units else ""


def _ask(db: sa.Connection, row: dict[str, str], wording: str) -> None:
    """Make an item's settled wording its question; its earlier responses are marked as answers to the old question."""
    values = {"id": row["id"], "question": wording, "working_title": row["question"]}
    tree = {name: row[name] for name in _WORDS} | {"question": wording, "working_title": row["question"]}
    values["sha256"] = sha256(canonical_json(tree))
    changed = "UPDATE item SET question = :question, working_title = :working_title, sha256 = :sha256 WHERE id = :id"
    db.execute(sa.text(changed), values)
    answers = "UPDATE response SET asked = :asked WHERE item_id = :id"
    db.execute(sa.text(answers), {"id": row["id"], "asked": sha256(row["question"].strip())})


def schema_12() -> None:
    """Contests of tasks."""
    op.create_table(
        "contest",
        sa.Column("pool", sa.String(80), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("first", sa.String(80), nullable=False),
        sa.Column("second", sa.String(80), nullable=False),
        sa.Column("rater_kind", sa.String(), nullable=False),
        sa.Column("rater", sa.String(200), nullable=False),
        sa.Column("value", sa.String(20), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("status", sa.String(40), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("rationale", sa.String(), nullable=False),
        sa.Column("flags", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("call_id", sa.String(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_contest"),
        sa.UniqueConstraint(
            "pool", "rater", "round", "first", "second", name="uq_contest_pool_rater_round_first_second"
        ),
    )


# In order: the first makes a new project, each other one migrates a project from the schema before it.
MIGRATIONS: tuple[Callable[[], None], ...] = (
    schema_1,
    schema_2,
    schema_3,
    schema_4,
    schema_5,
    schema_6,
    schema_7,
    # The protocols that a person is asked to label by.
    lambda: _add("assignment", sa.Column("protocols", sa.String(400), server_default="", nullable=False)),
    # The citation counts of the works that reports name.
    lambda: _add(
        "page",
        sa.Column("citations", sa.Integer(), nullable=True),
        sa.Column("citations_on", sa.Date(), nullable=True),
    ),
    # Further traits of items, and the seminar task that an item was made from.
    lambda: _add(
        "item",
        sa.Column("traits", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("made_from", sa.String(80), nullable=False, server_default=""),
    ),
    # Times and speakers of a transcript's words.
    lambda: _add("source", sa.Column("transcript", sa.String(), nullable=False, server_default="")),
    schema_12,
    # Tokens and cost of a whole run, beside the report.
    lambda: _add(
        "response",
        sa.Column("run_tokens", sa.Integer(), nullable=True),
        sa.Column("cost_part_usd", sa.Float(), nullable=True),
    ),
)
