"""Tables about the bytes of stored files, whatever versions have them."""

from sqlalchemy import BigInteger, Column, Table, Text

from ...core.db.schema import metadata

# Files that are being removed: no version may refer to them until that is done.
file_removals = Table(
    "file_removals",
    metadata,
    Column("sha256_hash", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    # Another process may take over after that.
    Column("until", BigInteger, nullable=False),
)

# Bundles that nobody may publish, by the operator's choice.
revoked_bytes = Table(
    "revoked_bytes",
    metadata,
    Column("sha256_hash", Text, primary_key=True),
    Column("reason", Text, nullable=False),
    Column("revoked_at", BigInteger, nullable=False),
)
