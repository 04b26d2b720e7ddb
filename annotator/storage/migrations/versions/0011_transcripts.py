"""Schema 11: when and by whom the words of a transcript were said."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what a source keeps of a transcript beside its text."""
    op.add_column("source", sa.Column("transcript", sa.String(), nullable=False, server_default=""))
