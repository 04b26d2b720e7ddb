"""Schema 13: what a whole run took, beside the report."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tokens of all calls of a run, and the known part of a cost of which the rest has no price."""
    op.add_column("response", sa.Column("run_tokens", sa.Integer(), nullable=True))
    op.add_column("response", sa.Column("cost_part_usd", sa.Float(), nullable=True))
