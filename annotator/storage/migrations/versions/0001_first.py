"""Schema 1: the first."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table, and the index that items are searched by."""
    _tables()
    # Three-letter tokens find words inside words and work for scripts without spaces.
    op.execute("CREATE VIRTUAL TABLE item_words USING fts5(item_id UNINDEXED, words, tokenize='trigram')")


def _tables() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(60), nullable=False),
        sa.Column("subject", sa.String(120), nullable=False),
        sa.Column("verb", sa.String(60), nullable=False),
        sa.Column("before", sa.String(), nullable=True),
        sa.Column("after", sa.String(), nullable=True),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("undoes", sa.Integer(), nullable=True),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_audit"),
    )
    op.create_index("ix_audit_by", "audit", ["by"], unique=False)
    op.create_index("ix_audit_subject", "audit", ["subject"], unique=False)
    op.create_table(
        "call",
        sa.Column("run_id", sa.String(), nullable=True),
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
    )
    op.create_index("ix_call_cache_status", "call", ["cache_key", "status"], unique=False)
    op.create_index("ix_call_run_id", "call", ["run_id"], unique=False)
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
        sa.Column("key", sa.String(120), nullable=False),
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
    )
    op.create_index("ix_item_key", "item", ["key"], unique=False)
    op.create_index("ix_item_order", "item", ["retired", "position", "key", "id"], unique=False)
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
        sa.Column("person_id", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(120), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_time_spent"),
    )
    op.create_index("ix_time_spent_person_id", "time_spent", ["person_id"], unique=False)
    op.create_index("ix_time_spent_subject", "time_spent", ["subject"], unique=False)
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
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("author_id", sa.String(36), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("sealed_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_artifact_item_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_artifact"),
        sa.UniqueConstraint("item_id", "kind", "author_id", name="uq_artifact_item_id_kind_author_id"),
    )
    op.create_index("ix_artifact_item_id", "artifact", ["item_id"], unique=False)
    op.create_table(
        "assignment",
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
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
    op.create_index("ix_assignment_item_id", "assignment", ["item_id"], unique=False)
    op.create_index("ix_assignment_person_id", "assignment", ["person_id"], unique=False)
    op.create_table(
        "response",
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("system_id", sa.String(), nullable=False),
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
    op.create_index("ix_response_item_id", "response", ["item_id"], unique=False)
    op.create_index("ix_response_system_id", "response", ["system_id"], unique=False)
    op.create_table(
        "run",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("judge_id", sa.String(), nullable=False),
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
    op.create_index("ix_run_judge_id", "run", ["judge_id"], unique=False)
    op.create_table(
        "source",
        sa.Column("item_id", sa.String(), nullable=False),
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
    op.create_index("ix_source_item_id", "source", ["item_id"], unique=False)
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
        sa.Column("run_id", sa.String(), nullable=True),
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
    )
    op.create_index("ix_judgement_item", "judgement", ["item_id"], unique=False)
    op.create_index("ix_judgement_rater", "judgement", ["rater_id", "protocol"], unique=False)
    op.create_index("ix_judgement_run_id", "judgement", ["run_id"], unique=False)
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
