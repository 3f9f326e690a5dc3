"""Details of a version: fields that only its own detail has."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("versions", sa.Column("details", sa.Text))
