"""The tables with which nodes that share a PostgreSQL find each other. Empty on SQLite.

They describe running nodes, not the catalog, so they are not moved to another database.
"""

from sqlalchemy import BigInteger, Column, Table, Text

from .schema import Number, metadata

# Which process does a job for all nodes, and until when, unless it renews this.
leaders = Table(
    "leaders",
    metadata,
    Column("job", Text, primary_key=True),
    Column("process", Text, nullable=False),
    Column("until", BigInteger, nullable=False),
)

# Where nodes notify each other of changes: one random name.
channels = Table(
    "channels",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
)
