"""The table of the counts."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table

from ...core.db.schema import Number, metadata

downloads = Table(
    "downloads",
    metadata,
    Column("widget_id", Number, ForeignKey("widgets.id"), primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("changed_in", BigInteger),  # The transaction, on PostgreSQL: for other nodes.
)

_changed_in = downloads.c.changed_in  # On SQLite the index is empty, and costs nothing.
Index("ix_downloads_changed_in", _changed_in, sqlite_where=_changed_in.is_not(None))

# Counts per day, for charts. Days are numbered from 1970, in UTC.
installs_by_day = Table(
    "installs_by_day",
    metadata,
    Column("widget_id", Number, ForeignKey("widgets.id"), primary_key=True, autoincrement=False),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
