"""What all tables share, and those of releases and nodes; a feature has its own in `tables.py`.

A new database is created from the tables; migrations bring an older one to the same state, which a
test compares. Times are milliseconds since 1970 in UTC.
"""

from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# In the `info` of columns that are encrypted with a key of the catalog.
SEALED = "sealed"

# SQLite assigns row ids only to a column of type INTEGER.
Number = BigInteger().with_variant(Integer, "sqlite")

# Names sort bytewise on both databases, so that listings are the same.
Name = Text().with_variant(Text(collation="C"), "postgresql")

# Nodes that share a PostgreSQL find each other by these two, which are empty on SQLite. They
# describe running nodes, not the catalog, so they are not moved to another database.
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

# The oldest schema whose releases may still write to this database: one row.
schema_support = Table(
    "schema_support",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("oldest_writer", Text, nullable=False),
)
