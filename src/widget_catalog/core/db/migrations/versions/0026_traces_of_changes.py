"""The trace of the request that made a change, for the webhooks that deliver it."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None
oldest_writer = "0024"


def upgrade() -> None:
    for table in ("changes", "webhook_deliveries"):
        if sa.inspect(op.get_bind()).has_table(table):
            op.add_column(table, sa.Column("traceparent", sa.Text()))
