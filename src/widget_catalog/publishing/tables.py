"""The tables of requests to publish, and of recent publications, for quotas."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, Table, Text

from ..core.db.schema import Name, Number, metadata

# Requested versions that are not published yet, or were published recently.
publish_requests = Table(
    "publish_requests",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("scope", Name, nullable=False),
    Column("name", Name, nullable=False),
    Column("version", Text, nullable=False),
    Column("bundle_size", BigInteger, nullable=False),
    Column("sha256_hash", Text, nullable=False),
    Column("css_size", BigInteger),
    Column("css_sha256_hash", Text),
    Column("manifest", Text, nullable=False),
    Column("beside", Text, nullable=False),  # What the request contains besides the manifest.
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False, index=True),
    Column("confirmed_at", BigInteger),
)

# The READMEs and pictures of requests, and the thumbnails that confirming them has made.
requested_files = Table(
    "requested_files",
    metadata,
    Column("request_id", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("sha256_hash", Text, nullable=False),
)

# Versions published during the last day, for quotas.
publications = Table(
    "publications",
    metadata,
    Column("id", Number, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("published_at", BigInteger, nullable=False, index=True),
    Column("size_bytes", BigInteger, nullable=False),
    Column("is_new_widget", Boolean, nullable=False),
)
