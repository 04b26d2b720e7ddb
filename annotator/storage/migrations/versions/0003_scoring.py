"""Schema 3: how a judge is asked, batches, what is drawn from responses, cited pages, sources that models drafted."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Give judges their way of being asked and sources their drafter; add the tables of batches, extracts and pages."""
    op.add_column("judge", sa.Column("asking", sa.String(), nullable=False, server_default="{}"))
    op.add_column("source", sa.Column("drafted", sa.String(1000), nullable=False, server_default=""))
    _batch()
    _extract()
    _page()


def _batch() -> None:
    op.create_table(
        "batch",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_batch_run_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_batch"),
    )
    op.create_index("ix_batch_run_id", "batch", ["run_id"])


def _extract() -> None:
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


def _page() -> None:
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
