"""Successors of refresh tokens; a widget that was made by publishing is not official."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("oauth_tokens", sa.Column("successor", sa.Text))
    # Publishing stored "not said" where it should have said no. Such a widget is as old as an
    # audit entry of its publication; an imported one is not, even if it was published to later.
    op.execute(
        "UPDATE widgets SET is_official = FALSE WHERE is_official IS NULL AND EXISTS ("
        "SELECT 1 FROM audit AS a WHERE a.action = 'publish' AND a.scope = widgets.scope"
        " AND a.name = widgets.name AND a.at = widgets.created_at)"
    )
