"""For operators: accounts and invitations to the catalog, and what they can end."""

from typing import NamedTuple

from ..accounts.events import AccessEnded, InvitationWithdrawn, TokenRevoked
from ..accounts.oauth.store import Grant, find_grant, list_grants, remove_grant
from ..accounts.permissions import require_operator_now
from ..accounts.second_factor.store import has_factor
from ..accounts.sign_in import Lifetimes
from ..accounts.store import (
    CatalogInvitation,
    get_account,
    list_accounts_page,
    list_catalog_invitations,
    list_sessions,
    remove_invitation,
)
from ..accounts.tokens.store import Token, list_tokens, remove_token
from ..catalog.store.events import append
from ..core.actors import Account, Actor, Session
from ..core.db.engine import Store
from ..core.errors import NotFound
from ..organizations.store import Membership, list_memberships


class AccountAccess(NamedTuple):
    """An account with its sessions, programs and tokens."""

    account: Account
    has_factor: bool
    sessions: list[Session]
    programs: list[Grant]
    tokens: list[Token]
    memberships: list[Membership]


def search_accounts(
    store: Store, actor: Actor, text: str, page: int, limit: int
) -> tuple[list[Account], int]:
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return list_accounts_page(connection, text, page, limit)


def view_account_access(
    store: Store, actor: Actor, username: str, lifetimes: Lifetimes
) -> AccountAccess:
    now_ms = store.now_ms()
    with store.reading() as connection:
        require_operator_now(connection, actor)
        account = get_account(connection, username)
        return AccountAccess(
            account,
            has_factor(connection, account.id),
            list_sessions(connection, account.id, now_ms, now_ms - lifetimes.idle_ms),
            list_grants(connection, account.id, now_ms),
            list_tokens(connection, account.id, now_ms),
            list_memberships(connection, account.id),
        )


def revoke_token_of(store: Store, actor: Actor, username: str, id_: str) -> None:
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        account = get_account(tx.connection, username)
        if not remove_token(tx, account.id, id_):
            raise NotFound("There is no such token.")
        append(tx, actor, TokenRevoked(scope=account.username, id=id_))


def sign_out_program_of(store: Store, actor: Actor, username: str, grant_id: str) -> None:
    """End a program's sign-in, and revoke the access tokens it requested."""
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        account = get_account(tx.connection, username)
        grant = find_grant(tx.connection, grant_id)
        if grant is None or grant.account_id != account.id:
            raise NotFound("There is no such program.")
        remove_grant(tx, grant_id)
        event = AccessEnded(scope=account.username, grant=grant_id, program=grant.client_id)
        append(tx, actor, event)


def list_open_invitations(store: Store, actor: Actor) -> list[CatalogInvitation]:
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return list_catalog_invitations(connection, store.now_ms())


def withdraw_catalog_invitation(store: Store, actor: Actor, id_: str) -> None:
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        open_ones = list_catalog_invitations(tx.connection, tx.at_ms)
        found = next((it for it in open_ones if it.id == id_), None)
        if found is None or not remove_invitation(tx, id_):
            raise NotFound("There is no such invitation.")
        append(tx, actor, InvitationWithdrawn(scope=None, who=found.email))
