"""Recent publishes of accounts, for quotas."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "publications",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("published_at", sa.BigInteger, nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("is_new_widget", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_publications"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_publications_account_id"),
    )
    op.create_index("ix_publications_account_id", "publications", ["account_id"])
    op.create_index("ix_publications_published_at", "publications", ["published_at"])
