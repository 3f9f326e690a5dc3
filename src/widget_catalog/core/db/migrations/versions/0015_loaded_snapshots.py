"""Which snapshot a catalog was loaded from."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "loaded_snapshots",
        sa.Column("id", number, autoincrement=False, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("position", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_loaded_snapshots"),
    )
