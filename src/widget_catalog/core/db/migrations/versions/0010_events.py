"""The feed contains the kind of event and the version; the audit log names events by kind."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

# Actions in the audit log, and the corresponding kinds of events.
_KINDS = {
    "publish": "published",
    "yank": "yanked",
    "unyank": "unyanked",
    "deprecate": "deprecated",
    "undeprecate": "undeprecated",
    "redate": "redated",
    "list": "listed",
    "unlist": "unlisted",
    "make official": "official",
    "make unofficial": "unofficial",
    "name publishers": "publishers",
    "create account": "account_created",
    "close account": "account_closed",
    "disable account": "account_disabled",
    "enable account": "account_enabled",
    "invite to the catalog": "invited_to_catalog",
    "failed sign-in": "sign_in_failed",
    "sign in": "signed_in",
    "sign out": "signed_out",
    "end session": "session_ended",
    "sign out everywhere else": "signed_out_elsewhere",
    "change password": "password_changed",
    "reset password": "password_reset",
    "connect identity": "identity_connected",
    "add passkey": "passkey_added",
    "rename passkey": "passkey_renamed",
    "remove passkey": "passkey_removed",
    "add authenticator app": "app_added",
    "remove authenticator app": "app_removed",
    "make recovery codes": "recovery_codes_made",
    "use recovery code": "recovery_code_used",
    "reset second factor": "second_factor_reset",
    "create token": "token_created",
    "revoke token": "token_revoked",
    "request token": "token_requested",
    "confirm token": "token_confirmed",
    "refuse token": "token_refused",
    "grant access": "access_granted",
    "end access": "access_ended",
    "create organization": "organization_created",
    "transfer organization": "organization_transferred",
    "change role": "role_changed",
    "remove member": "member_removed",
    "leave organization": "member_left",
    "invite": "member_invited",
    "withdraw invitation": "invitation_withdrawn",
    "accept invitation": "invitation_accepted",
    "decline invitation": "invitation_declined",
    "reserve scope": "scope_reserved",
    "release scope": "scope_released",
    "rotate secrets": "secrets_rotated",
}
_PUBLIC = (
    "published", "yanked", "unyanked", "deprecated", "undeprecated", "redated", "listed",
    "unlisted", "official", "unofficial",
)  # fmt: skip


_AUDIT = sa.table("audit", *map(sa.column, ("seq", "at", "kind", "scope", "name", "version")))
_CHANGES = sa.table("changes", *map(sa.column, ("widget_id", "changed_at", "kind", "version")))
_WIDGETS = sa.table("widgets", *map(sa.column, ("id", "scope", "name")))


def upgrade() -> None:
    op.execute("ALTER TABLE audit RENAME COLUMN action TO kind")
    kind = sa.case(_KINDS, value=_AUDIT.c.kind, else_=_AUDIT.c.kind)
    op.execute(sa.update(_AUDIT).values(kind=kind))

    # Everything that was neither published nor changed by a person was imported.
    added = sa.Column("kind", sa.Text, nullable=False, server_default="imported")
    op.add_column("changes", added)
    op.add_column("changes", sa.Column("version", sa.Text))
    is_public = _AUDIT.c.kind.in_(_PUBLIC)
    op.execute(
        sa.update(_CHANGES)
        .where(_CHANGES.c.changed_at.in_(sa.select(_AUDIT.c.at).where(is_public)))
        .values(kind=sa.func.coalesce(_told(_AUDIT.c.kind), "imported"))
        .values(version=_told(_AUDIT.c.version))
    )


def _told(column: sa.ColumnClause[str]) -> sa.ScalarSelect[str]:
    """From the audit entry that was written with a row of the feed, at the same time."""
    is_of_widget = (_AUDIT.c.scope == _WIDGETS.c.scope) & (_AUDIT.c.name == _WIDGETS.c.name)
    return (
        sa.select(column)
        .join_from(_WIDGETS, _AUDIT, is_of_widget)
        .where(_WIDGETS.c.id == _CHANGES.c.widget_id, _AUDIT.c.at == _CHANGES.c.changed_at)
        .where(_AUDIT.c.kind.in_(_PUBLIC))
        .order_by(_AUDIT.c.seq)
        .limit(1)
        .scalar_subquery()
    )
