"""Webhooks and their deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    scope = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("scope", scope),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("types", sa.Text(), nullable=False),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.Column("former_sealed_secret", sa.Text()),
        sa.Column("rotated_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", sa.BigInteger()),
        sa.Column("resumes_at", sa.BigInteger(), nullable=False),
        sa.Column("disabled_at", sa.BigInteger()),
        sa.Column("disabled_reason", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_index("ix_webhooks_scope", "webhooks", ["scope"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column(
            "webhook_id",
            sa.Text(),
            sa.ForeignKey(
                "webhooks.id", name="fk_webhook_deliveries_webhook_id", ondelete="CASCADE"
            ),
            nullable=False,
        ),
        sa.Column("seq", sa.BigInteger()),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("queued_at", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger()),
        sa.Column("tried_at", sa.BigInteger()),
        sa.Column("status", sa.Integer()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
    )
    for columns in (["state", "next_at"], ["webhook_id", "queued_at"]):
        name = f"ix_webhook_deliveries_{'_'.join(columns)}"
        op.create_index(name, "webhook_deliveries", columns)
