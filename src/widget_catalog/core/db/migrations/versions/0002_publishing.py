"""Accounts, organizations, sign-in, publishing, the audit log; style sheets of versions."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "attempts",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("ends_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_attempts"),
    )
    op.create_index("ix_attempts_ends_at", "attempts", ["ends_at"])
    op.create_table(
        "audit",
        sa.Column("seq", _NUMBER, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("via", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("scope", _NAME),
        sa.Column("name", _NAME),
        sa.Column("version", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_audit"),
    )
    op.create_index("ix_audit_scope_name_seq", "audit", ["scope", "name", "seq"])
    op.create_table(
        "scopes",
        sa.Column("name", _NAME, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_scopes"),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_secrets"),
    )
    op.create_table(
        "accounts",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("username", _NAME, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("email_key", sa.Text, nullable=False),
        sa.Column("password_hash", sa.Text),
        sa.Column("is_operator", sa.Boolean, nullable=False),
        sa.Column("is_disabled", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("closed_at", sa.BigInteger),
        sa.ForeignKeyConstraint(["username"], ["scopes.name"], name="fk_accounts_username"),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("email_key", name="uq_accounts_email_key"),
        sa.UniqueConstraint("username", name="uq_accounts_username"),
    )
    op.create_table(
        "organizations",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("slug", _NAME, nullable=False),
        sa.Column("display_name", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["slug"], ["scopes.name"], name="fk_organizations_slug"),
        sa.PrimaryKeyConstraint("id", name="pk_organizations"),
        sa.UniqueConstraint("slug", name="uq_organizations_slug"),
    )
    op.create_table(
        "access_tokens",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("secret_hash", sa.Text, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("actions", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("widgets", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("last_used_at", sa.BigInteger),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_access_tokens_account_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_access_tokens"),
        sa.UniqueConstraint("secret_hash", name="uq_access_tokens_secret_hash"),
    )
    op.create_index("ix_access_tokens_account_id", "access_tokens", ["account_id"])
    op.create_table(
        "identities",
        sa.Column("issuer", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_identities_account_id"),
        sa.PrimaryKeyConstraint("issuer", "subject", name="pk_identities"),
    )
    op.create_index("ix_identities_account_id", "identities", ["account_id"])
    op.create_table(
        "invitations",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("organization_id", _NUMBER),
        sa.Column("account_id", _NUMBER),
        sa.Column("email", sa.Text),
        sa.Column("secret_hash", sa.Text),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("invited_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_invitations_account_id"),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name="fk_invitations_organization_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.UniqueConstraint("secret_hash", name="uq_invitations_secret_hash"),
    )
    op.create_index("ix_invitations_account_id", "invitations", ["account_id"])
    op.create_index("ix_invitations_organization_id", "invitations", ["organization_id"])
    op.create_table(
        "memberships",
        sa.Column("organization_id", _NUMBER, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_memberships_account_id"),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name="fk_memberships_organization_id"
        ),
        sa.PrimaryKeyConstraint("organization_id", "account_id", name="pk_memberships"),
    )
    op.create_index("ix_memberships_account_id", "memberships", ["account_id"])
    op.create_table(
        "oauth_codes",
        sa.Column("code_hash", sa.Text, nullable=False),
        sa.Column("grant_id", sa.Text, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("redirect_uri", sa.Text, nullable=False),
        sa.Column("code_challenge", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_oauth_codes_account_id"),
        sa.PrimaryKeyConstraint("code_hash", name="pk_oauth_codes"),
    )
    op.create_index("ix_oauth_codes_account_id", "oauth_codes", ["account_id"])
    op.create_index("ix_oauth_codes_grant_id", "oauth_codes", ["grant_id"])
    op.create_table(
        "oauth_devices",
        sa.Column("device_hash", sa.Text, nullable=False),
        sa.Column("user_code", sa.Text, nullable=False),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("last_polled_at", sa.BigInteger),
        sa.Column("account_id", _NUMBER),
        sa.Column("is_denied", sa.Boolean, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_oauth_devices_account_id"
        ),
        sa.PrimaryKeyConstraint("device_hash", name="pk_oauth_devices"),
        sa.UniqueConstraint("user_code", name="uq_oauth_devices_user_code"),
    )
    op.create_index("ix_oauth_devices_account_id", "oauth_devices", ["account_id"])
    op.create_table(
        "oauth_grants",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_oauth_grants_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_oauth_grants"),
    )
    op.create_index("ix_oauth_grants_account_id", "oauth_grants", ["account_id"])
    op.create_table(
        "publish_requests",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("scope", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("bundle_size", sa.BigInteger, nullable=False),
        sa.Column("sha256_hash", sa.Text, nullable=False),
        sa.Column("css_size", sa.BigInteger),
        sa.Column("css_sha256_hash", sa.Text),
        sa.Column("manifest", sa.Text, nullable=False),
        sa.Column("beside", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("confirmed_at", sa.BigInteger),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_publish_requests_account_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_publish_requests"),
    )
    op.create_index("ix_publish_requests_account_id", "publish_requests", ["account_id"])
    op.create_index("ix_publish_requests_expires_at", "publish_requests", ["expires_at"])
    op.create_table(
        "publishers",
        sa.Column("scope", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_publishers_account_id"),
        sa.PrimaryKeyConstraint("scope", "name", "account_id", name="pk_publishers"),
    )
    op.create_index("ix_publishers_account_id", "publishers", ["account_id"])
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("secret_hash", sa.Text, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("last_seen_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_sessions_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("secret_hash", name="uq_sessions_secret_hash"),
    )
    op.create_index("ix_sessions_account_id", "sessions", ["account_id"])
    op.create_table(
        "oauth_tokens",
        sa.Column("access_hash", sa.Text, nullable=False),
        sa.Column("refresh_hash", sa.Text, nullable=False),
        sa.Column("grant_id", sa.Text, nullable=False),
        sa.Column("issued_at", sa.BigInteger, nullable=False),
        sa.Column("access_expires_at", sa.BigInteger, nullable=False),
        sa.Column("refresh_expires_at", sa.BigInteger, nullable=False),
        sa.Column("rotated_at", sa.BigInteger),
        sa.ForeignKeyConstraint(
            ["grant_id"], ["oauth_grants.id"], name="fk_oauth_tokens_grant_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("access_hash", name="pk_oauth_tokens"),
        sa.UniqueConstraint("refresh_hash", name="uq_oauth_tokens_refresh_hash"),
    )
    op.create_index("ix_oauth_tokens_grant_id", "oauth_tokens", ["grant_id"])
    op.add_column("versions", sa.Column("css_size", sa.BigInteger))
    op.add_column("versions", sa.Column("css_sha256_hash", sa.Text))
    op.add_column("versions", sa.Column("manifest", sa.Text))
    stored = sa.text("bundle_url IS NULL")
    op.create_index(
        "ix_versions_stored",
        "versions",
        ["sha256_hash"],
        sqlite_where=stored,
        postgresql_where=stored,
    )
    op.bulk_insert(
        sa.table("secrets", sa.column("name", sa.Text), sa.column("value", sa.Text)),
        [{"name": "uploads", "value": secrets.token_hex(32)}],
    )
