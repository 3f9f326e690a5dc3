"""The tables of the truth. Migrations make them; a test holds the two against each other.

Instants are milliseconds since 1970 in UTC. Nothing is ever deleted from these tables.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only in a column of type INTEGER.
Number = BigInteger().with_variant(Integer, "sqlite")

# Names sort bytewise on both databases, so that a listing is the same everywhere.
Name = Text().with_variant(Text(collation="C"), "postgresql")

widgets = Table(
    "widgets",
    metadata,
    # Given out densely by the store itself: the counts in memory are an array over it.
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("scope", Name, nullable=False),
    Column("name", Name, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("description", Text),
    Column("icon", Text),
    Column("is_official", Boolean),
    Column("is_listed", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("scope", "name"),
)

versions = Table(
    "versions",
    metadata,
    Column("widget_id", Number, ForeignKey("widgets.id"), primary_key=True),
    # The version without its build metadata: two that differ only there are the same.
    Column("identity", Text, primary_key=True),
    Column("version", Text, nullable=False),
    Column("bundle_url", Text),
    Column("bundle_size", BigInteger, nullable=False),
    Column("sha256_hash", Text, nullable=False),
    Column("published_at", BigInteger, nullable=False),
    Column("is_yanked", Boolean, nullable=False),
    Column("yanked_reason", Text),
    Column("deprecation_message", Text),
    Column("release_notes", Text),
    Column("display_name", Text),
    Column("description", Text),
    Column("icon", Text),
    Column("min_w", Integer, nullable=False),
    Column("min_h", Integer, nullable=False),
    Column("max_w", Integer, nullable=False),
    Column("max_h", Integer, nullable=False),
    Column("sdk_version", Text, nullable=False),
    Column("config_version", BigInteger),
    Column("permissions", Text, nullable=False),
    Column("license", Text),
    sqlite_with_rowid=False,
)

downloads = Table(
    "downloads",
    metadata,
    Column("widget_id", Number, ForeignKey("widgets.id"), primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
)

# The spine: whoever serves reads follows this feed from the number it has.
changes = Table(
    "changes",
    metadata,
    Column("seq", Number, primary_key=True, autoincrement=False),
    Column("widget_id", Number, nullable=False),
    Column("scope", Name, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
)
