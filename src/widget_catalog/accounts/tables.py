"""The tables of accounts, their sessions, second factors, tokens and OAuth grants, and invitations.

Rows are deleted when they have ended. Secrets are stored only as hashes.
"""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, Table, Text

from ..core.db.schema import SEALED, Name, Number, metadata

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

# A device without a browser that waits for authorization, or a program for an access token.
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
    # Only of a request for an access token: the token in JSON, and the grant that requests it.
    Column("wanted_token", Text),
    Column("grant_id", Text),
)
