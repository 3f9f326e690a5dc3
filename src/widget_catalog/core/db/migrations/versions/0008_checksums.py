"""A checksum per row of data that documents are rendered from, so that damage is detected on
reading.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from widget_catalog.core.db.checksums import row_checksum

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_BATCH = 1000

# The columns at this migration; the checksum covers them in this order.
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
    for table in ("widgets", "versions"):
        column = sa.Column("checksum", sa.BigInteger(), nullable=False, server_default="0")
        op.add_column(table, column)
    widgets = _table("widgets", "id", *_WIDGETS)
    versions = _table("versions", "widget_id", *_VERSIONS)
    last = 0
    while rows := _read_widgets(widgets, last):
        last = rows[-1][0]
        _write_widgets(widgets, rows)
        _write_versions(versions, {row.id: (row.scope, row.name) for row in rows})


def _table(name: str, *columns: str) -> sa.TableClause:
    kinds = {it: sa.column(it, sa.Boolean()) for it in _BOOLEANS}
    each = [kinds[it] if it in kinds else sa.column(it) for it in columns]
    return sa.table(name, *each, sa.column("checksum"))


def _read_widgets(widgets: sa.TableClause, after: int) -> list[sa.Row[Any]]:
    columns = [widgets.c[it] for it in ("id", *_WIDGETS)]
    query = sa.select(*columns).where(widgets.c.id > after).order_by(widgets.c.id).limit(_BATCH)
    return list(op.get_bind().execute(query))


def _write_widgets(widgets: sa.TableClause, rows: list[sa.Row[Any]]) -> None:
    update = (
        sa.update(widgets)
        .where(widgets.c.id == sa.bindparam("of_id"))
        .values(checksum=sa.bindparam("made"))
    )
    made = [{"of_id": row[0], "made": row_checksum(tuple(row[1:]))} for row in rows]
    op.get_bind().execute(update, made)


def _write_versions(versions: sa.TableClause, keys: dict[int, tuple[str, str]]) -> None:
    columns = [versions.c[it] for it in ("widget_id", *_VERSIONS)]
    query = sa.select(*columns).where(versions.c.widget_id.between(min(keys), max(keys)))
    made = [
        {"of_id": row[0], "which": row[1], "made": row_checksum((*keys[row[0]], *row[1:]))}
        for row in op.get_bind().execute(query)
    ]
    update = (
        sa.update(versions)
        .where(
            versions.c.widget_id == sa.bindparam("of_id"),
            versions.c.identity == sa.bindparam("which"),
        )
        .values(checksum=sa.bindparam("made"))
    )
    if made:
        op.get_bind().execute(update, made)
