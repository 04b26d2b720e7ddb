"""Schema 12: contests of tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of showings: which two tasks, in which round, to whom, and what was said."""
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
