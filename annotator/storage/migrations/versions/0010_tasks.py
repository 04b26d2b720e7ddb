"""Schema 10: what else items are filed by, and the task of a seminar that one was made from."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the traits of an item and where it was made from."""
    op.add_column("item", sa.Column("traits", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("item", sa.Column("made_from", sa.String(80), nullable=False, server_default=""))
