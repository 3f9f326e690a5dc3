"""The tables of data from other catalogs: staged imports, and snapshots."""

from sqlalchemy import BigInteger, Column, LargeBinary, Table, Text

from ..core.db.schema import Name, Number, metadata

# The import in progress, if any. Once it is accepted it is always completed, if necessary by
# another process.
imports = Table(
    "imports",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("file_name", Text, nullable=False),
    Column("release", Text, nullable=False),  # The release that rendered its documents.
    Column("accepted_at", BigInteger),
)

# The batches still to be written, with some hundred widgets each, compressed.
staged_batches = Table(
    "staged_batches",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("drafts", LargeBinary, nullable=False),
)

# Which widgets are in which batch.
staged_widgets = Table(
    "staged_widgets",
    metadata,
    Column("scope", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("batch", Number, primary_key=True, autoincrement=False, index=True),
)

# The snapshot that was loaded last, if any: which state of which catalog.
loaded_snapshots = Table(
    "loaded_snapshots",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("origin", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("position", Text, nullable=False),
    Column("scopes", Text),
)
