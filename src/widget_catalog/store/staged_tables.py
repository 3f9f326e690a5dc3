"""The tables of data from other catalogs: staged imports, and snapshots."""

from sqlalchemy import BigInteger, Column, LargeBinary, Table, Text

from .schema import Name, Number, metadata

# The import that is on its way into the catalog, if there is one. Once it is accepted it is
# carried out, whichever process has to finish it.
imports = Table(
    "imports",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("file_name", Text, nullable=False),
    Column("release", Text, nullable=False),  # Whose code has rendered the documents in it.
    Column("accepted_at", BigInteger),
)

# What is left of it to write: some hundred widgets a batch, packed.
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

# The snapshot that was loaded last, if one was: which state of which catalog.
loaded_snapshots = Table(
    "loaded_snapshots",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("origin", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("position", Text, nullable=False),
    Column("scopes", Text),
)
