"""From release 0.1.0 in one step: no release had a schema between.

Tables that 0.1.0 did not have are created afterwards, from those in the code.
"""

import logging
from typing import Any

import sqlalchemy as sa
from alembic import op

from widget_catalog.core.db.damage import row_checksum

revision = "0022"
down_revision = "0001"
branch_labels = None
depends_on = None

_BATCH = 1000
# The columns at this migration: the checksum covers them in this order.
_WIDGETS = (
    "scope", "name", "display_name", "description", "icon", "is_official", "is_listed",
    "created_at",
)  # fmt: skip
_VERSIONS = (
    "identity", "version", "bundle_url", "bundle_size", "sha256_hash", "published_at",
    "is_yanked", "yanked_reason", "deprecation_message", "release_notes", "display_name",
    "description", "icon", "min_w", "min_h", "max_w", "max_h", "sdk_version", "config_version",
    "permissions", "license", "css_size", "css_sha256_hash", "manifest",
)  # fmt: skip
_BOOLEANS = {"is_official", "is_listed", "is_yanked"}


def upgrade() -> None:
    # Not structlog, which commands do not configure: it would print to standard output.
    logging.getLogger("widget_catalog.store").warning(
        "This catalog is of release 0.1.0, which cannot use it any more. Widgets, versions, counts "
        "and bundles stay; the read model and the search index are dropped, and made anew."
    )
    for table in ("listings", "documents", "read_model"):
        op.execute(f"DROP TABLE IF EXISTS {table}")
    op.add_column("changes", sa.Column("kind", sa.Text, nullable=False, server_default="imported"))
    op.add_column("changes", sa.Column("version", sa.Text))
    # How nodes shared counts until the replica did.
    op.add_column("downloads", sa.Column("changed_in", sa.BigInteger))
    is_marked = sa.text("changed_in IS NOT NULL")
    op.create_index("ix_downloads_changed_in", "downloads", ["changed_in"], sqlite_where=is_marked)
    for column in (
        sa.Column("css_size", sa.BigInteger),
        sa.Column("css_sha256_hash", sa.Text),
        sa.Column("manifest", sa.Text),
    ):
        op.add_column("versions", column)
    is_here = sa.text("bundle_url IS NULL")
    op.create_index(
        "ix_versions_stored",
        "versions",
        ["sha256_hash"],
        sqlite_where=is_here,
        postgresql_where=is_here,
    )
    _add_checksums()


def _add_checksums() -> None:
    for name in ("widgets", "versions"):
        checksum = sa.Column("checksum", sa.BigInteger, nullable=False, server_default="0")
        op.add_column(name, checksum)
    widgets = _table("widgets", "id", *_WIDGETS)
    versions = _table("versions", "widget_id", *_VERSIONS)
    last = 0
    while rows := _read(widgets, widgets.c.id > last, limit=_BATCH):
        first, last = rows[0][0], rows[-1][0]
        names = {row[0]: row[1:3] for row in rows}
        of_versions = _read(versions, versions.c.widget_id.between(first, last))
        _write(widgets, [(row[0], None, row_checksum(row[1:])) for row in rows])
        made = [(row[0], row[1], row_checksum((*names[row[0]], *row[1:]))) for row in of_versions]
        _write(versions, made)


def _table(name: str, *columns: str) -> sa.TableClause:
    kinds = [sa.column(it, sa.Boolean()) if it in _BOOLEANS else sa.column(it) for it in columns]
    return sa.table(name, *kinds, sa.column("checksum"))


def _read(
    table: sa.TableClause, condition: sa.ColumnElement[bool], limit: int | None = None
) -> list[tuple[Any, ...]]:
    key, *rest = list(table.c)[:-1]
    query = sa.select(key, *rest).where(condition).order_by(key).limit(limit)
    return [tuple(row) for row in op.get_bind().execute(query)]


def _write(table: sa.TableClause, made: list[tuple[Any, ...]]) -> None:
    """Checksums by number, and for versions by identity."""
    key = next(iter(table.c))
    update = sa.update(table).where(key == sa.bindparam("number"))
    if "identity" in table.c:
        update = update.where(table.c.identity == sa.bindparam("which"))
    update = update.values(checksum=sa.bindparam("sum"))
    if made:
        rows = [{"number": number, "which": which, "sum": it} for number, which, it in made]
        op.get_bind().execute(update, rows)
