"""A catalog may be a mirror of another one."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "mirrors",
        sa.Column("id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("mirror_id", sa.Text(), nullable=False),
        sa.Column("through", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("only_official", sa.Boolean(), nullable=False),
        sa.Column("seq", sa.BigInteger()),
        sa.Column("checked_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_mirrors"),
    )
    op.create_table(
        "mirror_tasks",
        sa.Column("scope", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.PrimaryKeyConstraint("scope", "name", name="pk_mirror_tasks"),
    )
