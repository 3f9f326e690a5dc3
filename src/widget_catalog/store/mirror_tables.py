"""The tables of a mirror: its upstream, its progress, what is left to copy."""

from sqlalchemy import BigInteger, Boolean, Column, Table, Text

from .schema import Name, Number, metadata

# One row at most: a catalog with one is a mirror, and nothing else changes its widgets.
mirrors = Table(
    "mirrors",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("url", Text, nullable=False),
    Column("mirror_id", Text, nullable=False),
    # The ids of the mirrors that the other catalog is made from, if it is one; as JSON.
    Column("through", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("only_official", Boolean, nullable=False),
    # The number of the other catalog's change that was dealt with last; null: list everything.
    Column("seq", BigInteger),
    Column("checked_at", BigInteger),
)

# Widgets that have to be compared with those of the other catalog.
mirror_tasks = Table(
    "mirror_tasks",
    metadata,
    Column("scope", Name, primary_key=True),
    Column("name", Name, primary_key=True),
)
