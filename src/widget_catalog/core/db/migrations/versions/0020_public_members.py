"""Whether the members of an organization are public."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "organizations",
        sa.Column("are_members_public", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
