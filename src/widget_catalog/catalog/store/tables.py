"""The tables of widgets, versions, changes and names, and the audit log.

Published data and the audit log are never deleted.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.engine import Connection
from sqlalchemy.event import listens_for

from ...core.db.schema import Name, Number, metadata

widgets = Table(
    "widgets",
    metadata,
    # Assigned densely by the store: the counts in memory are an array indexed by it.
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("scope", Name, nullable=False),
    Column("name", Name, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("description", Text),
    Column("icon", Text),
    Column("is_official", Boolean),
    Column("is_listed", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # Covers all other columns except the number: see checksums.py.
    Column("checksum", BigInteger, nullable=False, server_default="0"),
    UniqueConstraint("scope", "name"),
)

versions = Table(
    "versions",
    metadata,
    Column("widget_id", Number, ForeignKey("widgets.id"), primary_key=True),
    # The version without build metadata: versions that differ only there are the same.
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
    Column("css_size", BigInteger),
    Column("css_sha256_hash", Text),
    Column("manifest", Text),
    # Covers the widget's scope and name, and all other columns except the widget's number.
    Column("checksum", BigInteger, nullable=False, server_default="0"),
    # The fields of `DeclaredDetails` as a JSON object, without defaults.
    Column("details", Text),
    sqlite_with_rowid=False,
)

# Finds versions that refer to a stored bundle.
_is_here = versions.c.bundle_url.is_(None)
_stored = Index("ix_versions_stored", versions.c.sha256_hash, sqlite_where=_is_here)


@listens_for(versions, "before_create")
def _set_condition(_table: Table, connection: Connection, **_: object) -> None:
    """Set the condition of the index on PostgreSQL. Stated above, it would load that dialect for
    every command.
    """
    if connection.dialect.name == "postgresql":
        _stored.dialect_kwargs["postgresql_where"] = _is_here


# Versions that must not run. A separate table, because imports write many rows of versions.
revocations = Table(
    "revocations",
    metadata,
    Column(
        "widget_id",
        Number,
        ForeignKey("widgets.id", name="fk_revocations_widget_id_widgets"),
        primary_key=True,
    ),
    Column("identity", Text, primary_key=True),
    Column("reason", Text, nullable=False),
    Column("revoked_at", BigInteger, nullable=False),
    # Covers all other columns.
    Column("checksum", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# READMEs and pictures of versions; most have none. The style sheet is in the row of its version.
version_files = Table(
    "version_files",
    metadata,
    Column(
        "widget_id",
        Number,
        ForeignKey("widgets.id", name="fk_version_files_widget_id_widgets"),
        primary_key=True,
    ),
    Column("identity", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("sha256_hash", Text, nullable=False, index=True),
    Column("width", Integer),
    Column("height", Integer),
    # Covers all other columns.
    Column("checksum", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# The change feed: consumers read it from their last sequence number.
changes = Table(
    "changes",
    metadata,
    Column("seq", Number, primary_key=True, autoincrement=False),
    Column("widget_id", Number, nullable=False),
    Column("scope", Name, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    # What happened, and to which version: see catalog/model/events.py.
    Column("kind", Text, nullable=False, server_default="imported"),
    Column("version", Text),
    # Of the request that made the change, if it was traced.
    Column("traceparent", Text),
)

# All names in use: accounts and organizations share one namespace.
scopes = Table(
    "scopes",
    metadata,
    Column("name", Name, primary_key=True),
    Column("kind", Text, nullable=False),  # personal, organization, reserved
    Column("created_at", BigInteger, nullable=False),
)

# Append-only: who did what, when and why.
audit = Table(
    "audit",
    metadata,
    Column("seq", Number, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("via", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("scope", Name),
    Column("name", Name),
    Column("version", Text),
    Column("details", Text, nullable=False),
    # The client or access token that acted for the actor, and the network address.
    Column("client_id", Text),
    Column("client_name", Text),
    Column("address", Text),
    Index("ix_audit_scope_name_seq", "scope", "name", "seq"),
    Index("ix_audit_actor_seq", "actor", "seq"),
)
