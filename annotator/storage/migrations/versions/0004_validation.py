"""Schema 4: the sets drawn to validate judges, looks at the part that is reported, reviews, rulings and attacks."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables of validation."""
    _validation_set()
    _opening()
    _informed()
    _attack_test()
    _attack_copy()
    _attack_verdict()


def _validation_set() -> None:
    op.create_table(
        "validation_set",
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("protocol", sa.String(80), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("locked_at", sa.DateTime(), nullable=True),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("labels", sa.String(), nullable=False),
        sa.Column("labels_sha256", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_validation_set"),
        sa.UniqueConstraint("name", name="uq_validation_set_name"),
    )


def _opening() -> None:
    op.create_table(
        "opening",
        sa.Column("set_id", sa.String(), nullable=False),
        sa.Column("judges", sa.String(), nullable=False),
        sa.Column("labels_sha256", sa.String(64), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.ForeignKeyConstraint(
            ["set_id"], ["validation_set.id"], name="fk_opening_set_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_opening"),
    )
    op.create_index("ix_opening_set_id", "opening", ["set_id"])


def _informed() -> None:
    foreign = [
        sa.ForeignKeyConstraint([f"{of}_id"], [f"{of}.id"], name=f"fk_informed_{of}_id", ondelete="RESTRICT")
        for of in ("item", "response", "judge")
    ]
    op.create_table(
        "informed",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("protocol", sa.String(80), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("response_id", sa.String(), nullable=False),
        sa.Column("unit_id", sa.String(80), nullable=False),
        sa.Column("judge_id", sa.String(), nullable=False),
        sa.Column("judge_value", sa.String(200), nullable=False),
        sa.Column("label_of", sa.String(36), nullable=False),
        sa.Column("label_value", sa.String(200), nullable=False),
        sa.Column("said", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(80), nullable=False),
        sa.Column("note", sa.String(20_000), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        *foreign,
        sa.PrimaryKeyConstraint("id", name="pk_informed"),
    )
    op.create_index("ix_informed_item_id", "informed", ["item_id"])


def _attack_test() -> None:
    op.create_table(
        "attack_test",
        sa.Column("judge_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("protocol", sa.String(80), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        *_links("attack_test", "judge", "run"),
        sa.PrimaryKeyConstraint("id", name="pk_attack_test"),
    )
    op.create_index("ix_attack_test_judge_id", "attack_test", ["judge_id"])


def _attack_copy() -> None:
    op.create_table(
        "attack_copy",
        sa.Column("test_id", sa.String(), nullable=False),
        sa.Column("response_id", sa.String(), nullable=False),
        sa.Column("attack", sa.String(80), nullable=False),
        sa.Column("variant", sa.String(80), nullable=False),
        sa.Column("text_sha256", sa.String(64), nullable=False),
        sa.Column("pieces", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        *_links("attack_copy", "attack_test", "response"),
        sa.PrimaryKeyConstraint("id", name="pk_attack_copy"),
    )
    op.create_index("ix_attack_copy_test_id", "attack_copy", ["test_id"])


def _attack_verdict() -> None:
    op.create_table(
        "attack_verdict",
        sa.Column("value", sa.String(200), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("rationale", sa.String(), nullable=False),
        sa.Column("quote", sa.String(), nullable=False),
        sa.Column("quote_start", sa.Integer(), nullable=True),
        sa.Column("quote_end", sa.Integer(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("flags", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("test_id", sa.String(), nullable=False),
        sa.Column("copy_id", sa.String(), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("unit_id", sa.String(80), nullable=False),
        sa.Column("before", sa.String(200), nullable=False),
        sa.Column("asked", sa.String(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=True),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        *_links("attack_verdict", "attack_test", "attack_copy", "item"),
        sa.PrimaryKeyConstraint("id", name="pk_attack_verdict"),
        sa.UniqueConstraint("copy_id", "unit_id", name="uq_attack_verdict_copy_id_unit_id"),
    )
    op.create_index("ix_attack_verdict_test_id", "attack_verdict", ["test_id"])


def _links(table: str, *others: str) -> list[sa.ForeignKeyConstraint]:
    """The links of a table; a column is called by the last word of what it points at."""
    return [
        sa.ForeignKeyConstraint(
            [f"{other.removeprefix('attack_')}_id"], [f"{other}.id"],
            name=f"fk_{table}_{other.removeprefix('attack_')}_id", ondelete="RESTRICT",
        )
        for other in others
    ]  # fmt: skip
