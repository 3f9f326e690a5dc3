"""Sessions have the browser and address they were opened from."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Unknown for existing sessions.
    op.add_column("sessions", sa.Column("browser", sa.Text()))
    op.add_column("sessions", sa.Column("address", sa.Text()))
