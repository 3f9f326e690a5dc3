"""Invitations in the store: to an organization, or to the catalog itself."""

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..core.db.engine import Transaction
from ..core.db.schema import accounts, invitations, organizations


class Invitation(NamedTuple):
    """`organization` None: to create an account. `username` None: for anyone with the link."""

    id: str
    organization: str | None
    organization_id: int | None
    account_id: int | None
    username: str | None
    email: str | None
    secret_hash: str | None
    role: str
    invited_by: str
    expires_at: int
    inviter_id: int | None
    organization_name: str | None = None
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
        invitations.outerjoin(organizations).outerjoin(
            accounts, accounts.c.id == invitations.c.account_id
        )
    )
    .order_by(invitations.c.created_at, invitations.c.id)
)


def add_invitation(
    tx: Transaction,
    *,
    id_: str,
    organization_id: int | None,
    account_id: int | None = None,
    email: str | None = None,
    secret_hash: str | None = None,
    role: str,
    invited_by: str,
    inviter_id: int | None = None,
    expires_at: int,
) -> None:
    tx.connection.execute(
        sa.insert(invitations).values(
            id=id_,
            organization_id=organization_id,
            account_id=account_id,
            email=email,
            secret_hash=secret_hash,
            role=role,
            invited_by=invited_by,
            inviter_id=inviter_id,
            created_at=tx.at_ms,
            expires_at=expires_at,
        )
    )


def find_invitation(connection: Connection, id_: str, now_ms: int) -> Invitation | None:
    if not id_.isprintable():  # External input, which a database may reject.
        return None
    return _first(connection, invitations.c.id == id_, now_ms)


def find_invitation_by_secret(
    connection: Connection, secret_hash: str, now_ms: int
) -> Invitation | None:
    return _first(connection, invitations.c.secret_hash == secret_hash, now_ms)


def list_invitations_to(
    connection: Connection, organization_id: int, now_ms: int
) -> list[Invitation]:
    return _all(connection, invitations.c.organization_id == organization_id, now_ms)


def list_invitations_of(connection: Connection, account_id: int, now_ms: int) -> list[Invitation]:
    return _all(connection, invitations.c.account_id == account_id, now_ms)


def list_invitations_to_catalog(connection: Connection, now_ms: int) -> list[Invitation]:
    return _all(connection, invitations.c.organization_id.is_(None), now_ms)


def remove_invitation(tx: Transaction, id_: str) -> bool:
    """False if it was used or revoked meanwhile."""
    return tx.connection.execute(sa.delete(invitations).where(invitations.c.id == id_)).rowcount > 0


def remove_invitations_to_catalog(tx: Transaction, role: str) -> None:
    here = invitations.c.organization_id.is_(None) & (invitations.c.role == role)
    tx.connection.execute(sa.delete(invitations).where(here))


def remove_invitations_by(tx: Transaction, invited_by: str) -> None:
    tx.connection.execute(sa.delete(invitations).where(invitations.c.invited_by == invited_by))


def remove_invitations_of_inviter(
    tx: Transaction, inviter_id: int, organization_id: int | None = None
) -> None:
    """Revoke an account's invitations: to one organization, or all of them."""
    query = sa.delete(invitations).where(invitations.c.inviter_id == inviter_id)
    if organization_id is not None:
        query = query.where(invitations.c.organization_id == organization_id)
    tx.connection.execute(query)


def remove_catalog_invitations_of_inviter(tx: Transaction, inviter_id: int) -> None:
    here = invitations.c.organization_id.is_(None) & (invitations.c.inviter_id == inviter_id)
    tx.connection.execute(sa.delete(invitations).where(here))


def remove_expired_invitations(tx: Transaction) -> None:
    tx.connection.execute(sa.delete(invitations).where(invitations.c.expires_at <= tx.at_ms))


def _all(connection: Connection, which: sa.ColumnElement[bool], now_ms: int) -> list[Invitation]:
    query = _INVITATIONS.where(which, invitations.c.expires_at > now_ms)
    return [Invitation._make(row) for row in connection.execute(query)]


def _first(connection: Connection, which: sa.ColumnElement[bool], now_ms: int) -> Invitation | None:
    return next(iter(_all(connection, which, now_ms)), None)
