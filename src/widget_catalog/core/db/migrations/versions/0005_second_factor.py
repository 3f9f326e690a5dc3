"""Second factors of accounts: passkeys, authenticator apps, recovery codes."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "passkeys",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("credential_id", sa.Text, nullable=False),
        sa.Column("public_key", sa.Text, nullable=False),
        sa.Column("sign_count", sa.BigInteger, nullable=False),
        sa.Column("transports", sa.Text, nullable=False),
        sa.Column("is_backed_up", sa.Boolean, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("last_used_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_passkeys_account_id"),
        sa.UniqueConstraint("credential_id", name="uq_passkeys_credential_id"),
    )
    op.create_index("ix_passkeys_account_id", "passkeys", ["account_id"])
    op.create_table(
        "authenticator_apps",
        sa.Column("account_id", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("sealed_secret", sa.Text, nullable=False),
        sa.Column("last_step", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("account_id", name="pk_authenticator_apps"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_authenticator_apps_account_id"
        ),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("code_hash", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "code_hash", name="pk_recovery_codes"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_recovery_codes_account_id"
        ),
    )
    # Existing sessions count as not confirmed, and as opened with a password only.
    op.add_column(
        "sessions",
        sa.Column("confirmed_at", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    )
    op.add_column(
        "sessions",
        sa.Column("is_two_factor", sa.Boolean, nullable=False, server_default=sa.false()),
    )
