"""Schema 2: guidelines, frozen agreement, adjudication, disputes, and the exchange by file."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Give assignments a purpose and revisions the version of their form; add the tables of the work in pairs."""
    op.add_column("revision", sa.Column("form", sa.String(40), nullable=False, server_default="1"))
    op.add_column("revision", sa.Column("skipped", sa.String(), nullable=True))
    _assignments()
    _agreement()
    _adjudication()
    _consensus()
    _exchange()


def _assignments() -> None:
    # A unique constraint can only be changed by making the table anew; no other table refers to this one.
    with op.batch_alter_table("assignment", recreate="always") as batch:
        batch.add_column(sa.Column("trial", sa.Integer(), nullable=False, server_default="1"))
        batch.add_column(sa.Column("purpose", sa.String(), nullable=False, server_default="work"))
        batch.add_column(sa.Column("not_before", sa.DateTime(), nullable=True))
        batch.drop_constraint("uq_assignment_item_id_person_id_stage", type_="unique")
        batch.create_unique_constraint(
            "uq_assignment_item_id_person_id_stage_trial", ["item_id", "person_id", "stage", "trial"]
        )


def _agreement() -> None:
    op.create_table(
        "guideline",
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_guideline"),
        sa.UniqueConstraint("stage", "version", name="uq_guideline_stage_version"),
    )
    op.create_table(
        "agreement",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("frozen_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_agreement_item_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_agreement"),
        sa.UniqueConstraint("item_id", "stage", name="uq_agreement_item_id_stage"),
    )


def _adjudication() -> None:
    op.create_table(
        "adjudication",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("agreement_id", sa.String(), nullable=False),
        sa.Column("adjudicator_id", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("letters", sa.String(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("spot_check", sa.Boolean(), nullable=False),
        sa.Column("consensus_id", sa.String(), nullable=False),
        sa.Column("opened_at", sa.DateTime(), nullable=False),
        sa.Column("closed_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["item_id"], ["item.id"], name="fk_adjudication_item_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["agreement_id"], ["agreement.id"], name="fk_adjudication_agreement_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["adjudicator_id"], ["person.id"], name="fk_adjudication_adjudicator_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_adjudication"),
        sa.UniqueConstraint("item_id", "stage", name="uq_adjudication_item_id_stage"),
    )
    op.create_table(
        "ruling",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("adjudication_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["adjudication_id"], ["adjudication.id"], name="fk_ruling_adjudication_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ruling"),
    )
    op.create_index("ix_ruling_adjudication_id", "ruling", ["adjudication_id"], unique=False)


def _consensus() -> None:
    op.create_table(
        "consensus_version",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("adjudication_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("artifact_id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("by", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["adjudication_id"],
            ["adjudication.id"],
            name="fk_consensus_version_adjudication_id",
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["artifact_id"], ["artifact.id"], name="fk_consensus_version_artifact_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_consensus_version"),
        sa.UniqueConstraint(
            "adjudication_id", "version", name="uq_consensus_version_adjudication_id_version"
        ),
    )
    op.create_table(
        "remark",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(120), nullable=False),
        sa.Column("person_id", sa.String(36), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_remark"),
    )
    op.create_index("ix_remark_subject", "remark", ["subject"], unique=False)
    op.create_table(
        "dispute",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("answered_version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_dispute_item_id", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name="fk_dispute_person_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_dispute"),
        sa.UniqueConstraint("item_id", "person_id", name="uq_dispute_item_id_person_id"),
    )


def _exchange() -> None:
    op.create_table(
        "parcel",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("direction", sa.String(10), nullable=False),
        sa.Column("person_id", sa.String(36), nullable=False),
        sa.Column("package_id", sa.String(80), nullable=False),
        sa.Column("receipt", sa.String(40), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_parcel"),
    )
    op.create_index("ix_parcel_person_id", "parcel", ["person_id"], unique=False)
    op.create_table(
        "tray",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("reason", sa.String(40), nullable=False),
        sa.Column("person_id", sa.String(36), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tray"),
    )
