"""Programs request access tokens by the device grant: their requests need no table of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None
oldest_writer = "0024"


def upgrade() -> None:
    if sa.inspect(op.get_bind()).has_table("oauth_devices"):
        op.add_column("oauth_devices", sa.Column("wanted_token", sa.Text()))
        op.add_column("oauth_devices", sa.Column("grant_id", sa.Text()))


def contract() -> None:
    # Its rows were valid for ten minutes.
    if sa.inspect(op.get_bind()).has_table("token_requests"):
        op.drop_table("token_requests")
