"""Inviters, the grants of tokens, the client and address of audit entries; requests for tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    inviter = sa.Column(
        "inviter_id", _NUMBER, sa.ForeignKey("accounts.id", name="fk_invitations_inviter_id")
    )
    op.add_column("invitations", inviter, inline_references=True)
    op.create_index("ix_invitations_inviter_id", "invitations", ["inviter_id"])
    op.execute(
        "UPDATE invitations SET inviter_id = "
        "(SELECT id FROM accounts WHERE accounts.username = invitations.invited_by)"
    )
    # An invitation is removed when its inviter loses the right to invite; these were missed.
    op.execute(
        "DELETE FROM invitations WHERE organization_id IS NOT NULL AND NOT EXISTS ("
        "SELECT 1 FROM memberships AS m JOIN accounts AS a ON a.id = m.account_id"
        " WHERE m.account_id = invitations.inviter_id"
        " AND m.organization_id = invitations.organization_id AND NOT a.is_disabled"
        " AND (m.role = 'owner' OR (m.role = 'admin' AND invitations.role <> 'owner')))"
    )

    op.add_column("access_tokens", sa.Column("grant_id", sa.Text))
    op.create_index("ix_access_tokens_grant_id", "access_tokens", ["grant_id"])

    for name in ("client_id", "client_name", "address"):
        op.add_column("audit", sa.Column(name, sa.Text))
    op.create_index("ix_audit_actor_seq", "audit", ["actor", "seq"])

    op.create_table(
        "token_requests",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("grant_id", sa.Text, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("user_code", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("actions", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("widgets", sa.Text, nullable=False),
        sa.Column("days", sa.Integer, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("is_agreed", sa.Boolean),
        sa.ForeignKeyConstraint(
            ["grant_id"],
            ["oauth_grants.id"],
            name="fk_token_requests_grant_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_token_requests_account_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_token_requests"),
        sa.UniqueConstraint("grant_id", name="uq_token_requests_grant_id"),
    )
    op.create_index("ix_token_requests_account_id", "token_requests", ["account_id"])
