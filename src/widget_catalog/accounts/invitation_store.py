"""Invitations in the store: to the catalog itself, and what they have in common with those to an
organization.
"""

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..core.db.engine import Transaction
from .tables import invitations

_IS_TO_CATALOG = invitations.c.organization_id.is_(None)


class CatalogInvitation(NamedTuple):
    """An invitation to create an account, for anyone with the link."""

    id: str
    email: str | None
    role: str
    invited_by: str
    expires_at: int


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


def find_catalog_invitation(
    connection: Connection, secret_hash: str, now_ms: int
) -> CatalogInvitation | None:
    has_secret = invitations.c.secret_hash == secret_hash
    return next(iter(list_catalog_invitations(connection, now_ms, has_secret)), None)


def list_catalog_invitations(
    connection: Connection, now_ms: int, *which: sa.ColumnElement[bool]
) -> list[CatalogInvitation]:
    query = (
        sa.select(*(invitations.c[it] for it in CatalogInvitation._fields))
        .where(_IS_TO_CATALOG, invitations.c.expires_at > now_ms, *which)
        .order_by(invitations.c.created_at, invitations.c.id)
    )
    return [CatalogInvitation._make(row) for row in connection.execute(query)]


def remove_invitation(tx: Transaction, id_: str) -> bool:
    """False if it was used or revoked meanwhile."""
    return tx.connection.execute(sa.delete(invitations).where(invitations.c.id == id_)).rowcount > 0


def remove_catalog_invitations(tx: Transaction, role: str) -> None:
    tx.connection.execute(sa.delete(invitations).where(_IS_TO_CATALOG, invitations.c.role == role))


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
    is_theirs = invitations.c.inviter_id == inviter_id
    tx.connection.execute(sa.delete(invitations).where(_IS_TO_CATALOG, is_theirs))


def remove_expired_invitations(tx: Transaction) -> None:
    tx.connection.execute(sa.delete(invitations).where(invitations.c.expires_at <= tx.at_ms))
