"""The table of the counts."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table

from .schema import Number, metadata

downloads = Table(
    "downloads",
    metadata,
    Column("widget_id", Number, ForeignKey("widgets.id"), primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("changed_in", BigInteger),  # On PostgreSQL: by which transaction. Other nodes ask.
)

_changed_in = downloads.c.changed_in  # On SQLite its index is empty, and costs nothing.
Index("ix_downloads_changed_in", _changed_in, sqlite_where=_changed_in.is_not(None))
