"""The tables of a mirror: its upstream, its progress, what is left to copy."""

from sqlalchemy import BigInteger, Boolean, Column, Table, Text

from ..core.db.schema import Name, Number, metadata

# At most one row. If there is one, the catalog is a mirror, and nothing else changes its widgets.
mirrors = Table(
    "mirrors",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("url", Text, nullable=False),
    Column("mirror_id", Text, nullable=False),
    # If the upstream catalog is a mirror, the ids of the mirrors it is copied from, as JSON.
    Column("through", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("only_official", Boolean, nullable=False),
    # The last processed change of the upstream catalog; null: list everything.
    Column("seq", BigInteger),
    Column("checked_at", BigInteger),
)

# Widgets that have to be compared with the upstream catalog.
mirror_tasks = Table(
    "mirror_tasks",
    metadata,
    Column("scope", Name, primary_key=True),
    Column("name", Name, primary_key=True),
)
