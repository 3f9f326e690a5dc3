"""Invitations to an organization in the store. See also `accounts/invitation_store.py`."""

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..accounts.tables import accounts, invitations
from .tables import organizations


class Invitation(NamedTuple):
    """`username` None: for anyone with the link."""

    id: str
    organization: str
    organization_id: int
    account_id: int | None
    username: str | None
    email: str | None
    secret_hash: str | None
    role: str
    invited_by: str
    expires_at: int
    inviter_id: int | None
    organization_name: str
    """What people call the organization."""


_INVITATIONS = (
    sa.select(
        invitations.c.id,
        organizations.c.slug,
        invitations.c.organization_id,
        invitations.c.account_id,
        accounts.c.username,
        invitations.c.email,
        invitations.c.secret_hash,
        invitations.c.role,
        invitations.c.invited_by,
        invitations.c.expires_at,
        invitations.c.inviter_id,
        organizations.c.display_name,
    )
    .select_from(
        invitations.join(organizations).outerjoin(
            accounts, accounts.c.id == invitations.c.account_id
        )
    )
    .order_by(invitations.c.created_at, invitations.c.id)
)


def find_invitation(connection: Connection, id_: str, now_ms: int) -> Invitation | None:
    if not id_.isprintable():  # External input, which a database may reject.
        return None
    return next(iter(_all(connection, invitations.c.id == id_, now_ms)), None)


def list_invitations_to(
    connection: Connection, organization_id: int, now_ms: int
) -> list[Invitation]:
    return _all(connection, invitations.c.organization_id == organization_id, now_ms)


def list_invitations_of(connection: Connection, account_id: int, now_ms: int) -> list[Invitation]:
    return _all(connection, invitations.c.account_id == account_id, now_ms)


def _all(connection: Connection, which: sa.ColumnElement[bool], now_ms: int) -> list[Invitation]:
    query = _INVITATIONS.where(which, invitations.c.expires_at > now_ms)
    return [Invitation._make(row) for row in connection.execute(query)]
