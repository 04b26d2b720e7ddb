"""Schema 5: how a judge paired the units of two raters, beside the agreement that was frozen before."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of units that a judge paired."""
    op.create_table(
        "assisted_pair",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("agreement_id", sa.String(), nullable=False),
        sa.Column("judge_id", sa.String(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        *(
            sa.ForeignKeyConstraint(
                [f"{of}_id"], [f"{of}.id"], name=f"fk_assisted_pair_{of}_id", ondelete="RESTRICT"
            )
            for of in ("agreement", "judge")
        ),
        sa.PrimaryKeyConstraint("id", name="pk_assisted_pair"),
    )
    op.create_index("ix_assisted_pair_agreement_id", "assisted_pair", ["agreement_id"])
