"""Schema 8: which protocols a person is asked to label by."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the protocols of an assignment."""
    op.add_column("assignment", sa.Column("protocols", sa.String(400), server_default="", nullable=False))
