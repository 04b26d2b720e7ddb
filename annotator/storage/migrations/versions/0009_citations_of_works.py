"""Schema 9: how often the works that reports name have been cited."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the citations of a work, and the day on which they were counted."""
    op.add_column("page", sa.Column("citations", sa.Integer(), nullable=True))
    op.add_column("page", sa.Column("citations_on", sa.Date(), nullable=True))
