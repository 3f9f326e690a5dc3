"""The tables. A new database is created from them; migrations bring an older one to the same
state, which a test compares.

Times are milliseconds since 1970 in UTC. Published data and the audit log are never deleted;
sessions, requests and the like are, when they have ended. Secrets are stored only as hashes.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.engine import Connection
from sqlalchemy.event import listens_for

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
    """The same condition on PostgreSQL. Stated above, it would load that dialect for every
    command.
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

# The change feed: consumers read it from their last sequence number.
changes = Table(
    "changes",
    metadata,
    Column("seq", Number, primary_key=True, autoincrement=False),
    Column("widget_id", Number, nullable=False),
    Column("scope", Name, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    # What happened, and to which version: see catalog/events.py.
    Column("kind", Text, nullable=False, server_default="imported"),
    Column("version", Text),
)

# All names in use: accounts and organizations share one namespace.
scopes = Table(
    "scopes",
    metadata,
    Column("name", Name, primary_key=True),
    Column("kind", Text, nullable=False),  # personal, organization, reserved
    Column("created_at", BigInteger, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", Number, primary_key=True),
    Column("username", Name, ForeignKey("scopes.name"), nullable=False, unique=True),
    Column("email", Text, nullable=False),
    # The lower-case email address of an open account, followed by the username if another account
    # has the same address: addresses are not verified.
    Column("email_key", Text, nullable=False, unique=True),
    Column("password_hash", Text),
    Column("is_operator", Boolean, nullable=False),
    Column("is_disabled", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger),
)

# Identities of accounts at OpenID Connect providers.
identities = Table(
    "identities",
    metadata,
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("created_at", BigInteger, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("created_at", BigInteger, nullable=False),
    Column("last_seen_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("confirmed_at", BigInteger, nullable=False),  # When the person last authenticated.
    Column("is_two_factor", Boolean, nullable=False),
    # The browser, such as "Firefox on Windows", and the network address it was opened from.
    Column("browser", Text),
    Column("address", Text),
)

passkeys = Table(
    "passkeys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("host", Text, nullable=False),  # The host name it is bound to.
    Column("credential_id", Text, nullable=False, unique=True),  # This and the next: base64url.
    Column("public_key", Text, nullable=False),
    Column("sign_count", BigInteger, nullable=False),
    Column("transports", Text, nullable=False),  # A JSON list.
    Column("is_backed_up", Boolean, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("last_used_at", BigInteger),
)

# One per account. The secret is encrypted with a key that is not in the database.
authenticator_apps = Table(
    "authenticator_apps",
    metadata,
    Column("account_id", Number, ForeignKey("accounts.id"), primary_key=True, autoincrement=False),
    Column("sealed_secret", Text, nullable=False, info={SEALED: True}),
    Column("last_step", BigInteger, nullable=False),  # This and earlier steps are rejected.
    Column("created_at", BigInteger, nullable=False),
)

# Unused codes; a code is removed when it is used.
recovery_codes = Table(
    "recovery_codes",
    metadata,
    Column("account_id", Number, ForeignKey("accounts.id"), primary_key=True),
    Column("code_hash", Text, primary_key=True),
)

# Failed sign-ins, per account and address, within a time window.
attempts = Table(
    "attempts",
    metadata,
    Column("key", Text, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("ends_at", BigInteger, nullable=False, index=True),
)

organizations = Table(
    "organizations",
    metadata,
    Column("id", Number, primary_key=True),
    Column("slug", Name, ForeignKey("scopes.name"), nullable=False, unique=True),
    Column("display_name", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("are_members_public", Boolean, nullable=False, server_default=false()),
)

memberships = Table(
    "memberships",
    metadata,
    Column("organization_id", Number, ForeignKey("organizations.id"), primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), primary_key=True, index=True),
    Column("role", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
)

# To an organization, or, without one, to the catalog itself: to create an account.
invitations = Table(
    "invitations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("organization_id", Number, ForeignKey("organizations.id"), index=True),
    Column("account_id", Number, ForeignKey("accounts.id"), index=True),
    Column("email", Text),
    Column("secret_hash", Text, unique=True),
    Column("role", Text, nullable=False),
    Column("invited_by", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    # The invitation depends on this account's right to invite; null if made on the command line.
    Column(
        "inviter_id",
        Number,
        ForeignKey("accounts.id", name="invitations_inviter_id_fkey"),
        index=True,
    ),
)

# Members of an organization who may publish a widget, in addition to its admins.
publishers = Table(
    "publishers",
    metadata,
    Column("scope", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), primary_key=True, index=True),
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("actions", Text, nullable=False),  # These three are JSON lists.
    Column("scopes", Text, nullable=False),
    Column("widgets", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("last_used_at", BigInteger),
    # The OAuth grant that requested it. The grant may expire before the token, but revoking it
    # revokes the token.
    Column("grant_id", Text, index=True),
)


def _ended_with_grant() -> ForeignKey:
    return ForeignKey("oauth_grants.id", ondelete="CASCADE")


# An access token requested by a program, to be confirmed by its user; one per grant.
token_requests = Table(
    "token_requests",
    metadata,
    Column("id", Text, primary_key=True),
    Column("grant_id", Text, _ended_with_grant(), nullable=False, unique=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("user_code", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("actions", Text, nullable=False),  # These three are JSON lists.
    Column("scopes", Text, nullable=False),
    Column("widgets", Text, nullable=False),
    Column("days", Integer, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("is_agreed", Boolean),  # Null until the person has decided.
)

# One sign-in of one client for one account; removing it removes its codes and tokens.
oauth_grants = Table(
    "oauth_grants",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("client_id", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

oauth_codes = Table(
    "oauth_codes",
    metadata,
    Column("code_hash", Text, primary_key=True),
    Column("grant_id", Text, nullable=False, index=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("client_id", Text, nullable=False),
    Column("redirect_uri", Text, nullable=False),
    Column("code_challenge", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("used_at", BigInteger),
)

oauth_tokens = Table(
    "oauth_tokens",
    metadata,
    Column("access_hash", Text, primary_key=True),
    Column("refresh_hash", Text, nullable=False, unique=True),
    Column("grant_id", Text, _ended_with_grant(), nullable=False, index=True),
    Column("issued_at", BigInteger, nullable=False),
    Column("access_expires_at", BigInteger, nullable=False),
    Column("refresh_expires_at", BigInteger, nullable=False),
    Column("rotated_at", BigInteger),
    Column("successor", Text),
)

# A device without a browser that waits for authorization.
oauth_devices = Table(
    "oauth_devices",
    metadata,
    Column("device_hash", Text, primary_key=True),
    Column("user_code", Text, nullable=False, unique=True),
    Column("client_id", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("last_polled_at", BigInteger),
    Column("account_id", Number, ForeignKey("accounts.id"), index=True),
    Column("is_denied", Boolean, nullable=False),
)

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
