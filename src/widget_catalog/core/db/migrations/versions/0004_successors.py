"""Successors of refresh tokens; widgets created by publishing are not official."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("oauth_tokens", sa.Column("successor", sa.Text))
    # Publishing stored "unspecified" instead of "no". These widgets are as old as the audit entry
    # of their first version; imported widgets are not, even if versions were published later.
    op.execute(
        "UPDATE widgets SET is_official = FALSE WHERE is_official IS NULL AND EXISTS ("
        "SELECT 1 FROM audit AS a WHERE a.action = 'publish' AND a.scope = widgets.scope"
        " AND a.name = widgets.name AND a.at = widgets.created_at)"
    )
