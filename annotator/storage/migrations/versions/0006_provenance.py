"""Schema 6: where sources and responses come from, and the group of a system."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WORDS = {
    "system": {"group": 120, "footnote": 2000},
    "response": {"product_version": 200, "settings": 2000, "collected_by": 200},
    "source": {"venue": 500, "published": 10},
}
DAYS = {"response": ("collected_on", "cutoff"), "source": ("citations_on",)}


def upgrade() -> None:
    """Add what is said of systems, responses and sources beside their words."""
    for table, lengths in WORDS.items():
        for name, length in lengths.items():
            op.add_column(table, sa.Column(name, sa.String(length), nullable=False, server_default=""))
    for table, names in DAYS.items():
        for name in names:
            op.add_column(table, sa.Column(name, sa.Date(), nullable=True))
    op.add_column("source", sa.Column("kind", sa.String(), nullable=False, server_default=""))
    op.add_column("source", sa.Column("citations", sa.Integer(), nullable=True))
