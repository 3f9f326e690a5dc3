"""Widgets, versions, download counts and the change feed."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "widgets",
        sa.Column("id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("scope", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("display_name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("icon", sa.Text),
        sa.Column("is_official", sa.Boolean),
        sa.Column("is_listed", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_widgets"),
        sa.UniqueConstraint("scope", "name", name="uq_widgets_scope_name"),
    )
    op.create_table(
        "versions",
        sa.Column("widget_id", _NUMBER, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("bundle_url", sa.Text),
        sa.Column("bundle_size", sa.BigInteger, nullable=False),
        sa.Column("sha256_hash", sa.Text, nullable=False),
        sa.Column("published_at", sa.BigInteger, nullable=False),
        sa.Column("is_yanked", sa.Boolean, nullable=False),
        sa.Column("yanked_reason", sa.Text),
        sa.Column("deprecation_message", sa.Text),
        sa.Column("release_notes", sa.Text),
        sa.Column("display_name", sa.Text),
        sa.Column("description", sa.Text),
        sa.Column("icon", sa.Text),
        sa.Column("min_w", sa.Integer, nullable=False),
        sa.Column("min_h", sa.Integer, nullable=False),
        sa.Column("max_w", sa.Integer, nullable=False),
        sa.Column("max_h", sa.Integer, nullable=False),
        sa.Column("sdk_version", sa.Text, nullable=False),
        sa.Column("config_version", sa.BigInteger),
        sa.Column("permissions", sa.Text, nullable=False),
        sa.Column("license", sa.Text),
        sa.PrimaryKeyConstraint("widget_id", "identity", name="pk_versions"),
        sa.ForeignKeyConstraint(["widget_id"], ["widgets.id"], name="fk_versions_widget_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "downloads",
        sa.Column("widget_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("widget_id", name="pk_downloads"),
        sa.ForeignKeyConstraint(["widget_id"], ["widgets.id"], name="fk_downloads_widget_id"),
    )
    op.create_table(
        "changes",
        sa.Column("seq", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("widget_id", _NUMBER, nullable=False),
        sa.Column("scope", _NAME, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_changes"),
    )
