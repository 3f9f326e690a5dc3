"""Accounts and sessions; names, shared with organizations; invitations; identities elsewhere."""

from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from widget_contract.names import Scope, is_name

from ..catalog.store.scopes import find_ownerless_scope
from ..catalog.store.staging import is_scope_staged
from ..catalog.store.tables import scopes
from ..core.actors import Account, Session
from ..core.clock import from_ms
from ..core.db import rows
from ..core.db.bulk import insert_into
from ..core.db.engine import Transaction
from ..core.errors import Conflict, NotFound
from .tables import accounts, attempts, identities, invitations, sessions


class Credentials(NamedTuple):
    """An account and the hash of its password, if it has one."""

    account: Account
    password_hash: str | None


def take_scope(tx: Transaction, name: Scope, kind: str, *, adopts: bool = False) -> None:
    """Assign a name permanently; raises Conflict if it is taken.

    A scope that has widgets but no owner, from an import, is given only to one that `adopts` it:
    an operator must have seen and confirmed what changes hands.
    """
    if rows.exists(tx.connection, scopes.c.name == name):
        raise Conflict(f"The name {name} is taken. Choose another.")
    if not adopts:
        _refuse_ownerless(tx, name)
    rows.insert(tx, scopes, {"name": name, "kind": kind, "created_at": tx.at_ms})


def _refuse_ownerless(tx: Transaction, name: Scope) -> None:
    found = find_ownerless_scope(tx.connection, name)
    if found is not None:
        raise Conflict(
            f"The name {name} is taken: that scope has no owner, but {found.summary}. An operator "
            "can assign it, at /operate/scopes."
        )
    if is_scope_staged(tx.connection, name):
        raise Conflict(f"The name {name} is taken: widgets are being imported into that scope.")


class TakenScope(NamedTuple):
    name: str
    kind: str
    """personal, organization or reserved."""
    created_at: int


def list_scopes(
    connection: Connection, kind: str | None, page: int, limit: int
) -> tuple[list[TakenScope], int]:
    """A page of the names in use, of one kind or of all; and the total."""
    query = sa.select(scopes.c.name, scopes.c.kind, scopes.c.created_at).order_by(scopes.c.name)
    if kind is not None:
        query = query.where(scopes.c.kind == kind)
    found, total = rows.read_page(connection, query, page, limit)
    return [TakenScope(*row) for row in found], total


def free_scope(tx: Transaction, name: Scope) -> None:
    """Release a name that nothing refers to."""
    rows.delete(tx, scopes, name=name)


def add_account(
    tx: Transaction, username: Scope, email: str, password_hash: str | None, *, is_operator: bool
) -> Account:
    """Add an account whose name is already taken for it. Others may have the same address."""
    key = email.casefold()
    values = {
        "username": username,
        "email": email,
        # An email address contains no space, so this key is unique.
        "email_key": f"{key} {username}" if is_email_used(tx.connection, email) else key,
        "password_hash": password_hash,
        "is_operator": is_operator,
        "is_disabled": False,
        "created_at": tx.at_ms,
    }
    rows.insert(tx, accounts, values)
    return get_account(tx.connection, username)


def is_email_used(connection: Connection, email: str) -> bool:
    """Whether an open account has this address, ignoring case."""
    return rows.exists(connection, accounts.c.email_key == email.casefold())


def find_account(connection: Connection, username: str) -> Account | None:
    found = find_credentials(connection, username)
    return found.account if found is not None else None


def get_account(connection: Connection, username: str) -> Account:
    found = find_account(connection, username)
    if found is None:
        raise NotFound(f"There is no account {username[:80]!r}.")
    return found


def find_account_by_id(connection: Connection, account_id: int) -> Account | None:
    row = connection.execute(sa.select(accounts).where(accounts.c.id == account_id)).first()
    return account_from(row) if row is not None else None


def find_credentials(connection: Connection, username: str) -> Credentials | None:
    if not is_name(username):  # A database rejects some texts even in a query.
        return None
    row = connection.execute(sa.select(accounts).where(accounts.c.username == username)).first()
    return Credentials(account_from(row), row.password_hash) if row is not None else None


def list_accounts(connection: Connection) -> list[Account]:
    query = sa.select(accounts).order_by(accounts.c.username)
    return [account_from(row) for row in connection.execute(query)]


def list_accounts_page(
    connection: Connection, text: str, page: int, limit: int
) -> tuple[list[Account], int]:
    """A page of the accounts whose name or address contains this text; and the total."""
    query = sa.select(accounts).order_by(accounts.c.username)
    if text:
        key = text.casefold()
        has_text = accounts.c.username.contains(key, autoescape=True)
        query = query.where(has_text | accounts.c.email_key.contains(key, autoescape=True))
    found, total = rows.read_page(connection, query, page, limit)
    return [account_from(row) for row in found], total


def count_accounts(connection: Connection) -> int:
    """Without closed ones."""
    return rows.count(connection, accounts.c.closed_at.is_(None))


def has_accounts(connection: Connection) -> bool:
    return connection.execute(sa.select(accounts.c.id).limit(1)).first() is not None


def has_operators(connection: Connection) -> bool:
    """Whether an operator's account exists, disabled or not."""
    return rows.exists(connection, accounts.c.is_operator, accounts.c.closed_at.is_(None))


def lock_active_operators(tx: Transaction) -> set[int]:
    """The operators who can sign in, locked in the order of their numbers: no deadlocks."""
    query = sa.select(accounts.c.id).where(accounts.c.is_operator, ~accounts.c.is_disabled)
    locked = query.order_by(accounts.c.id).with_for_update(key_share=True)
    return set(tx.connection.execute(locked).scalars())


def lock_account(tx: Transaction, account_id: int) -> None:
    """Lock the account, and decisions that depend on it, until this transaction ends.

    Accounts are locked before organizations, to avoid deadlocks.
    """
    query = sa.select(accounts.c.id).where(accounts.c.id == account_id)
    tx.connection.execute(query.with_for_update(key_share=True))


def update_account(tx: Transaction, account_id: int, **values: object) -> None:
    rows.update(tx, accounts, values, id=account_id)


def end_account(tx: Transaction, account_id: int) -> None:
    """Disable sign-in permanently; the e-mail address becomes free for another account.

    The row stays, for the name of the scope. Its address is replaced by a key with a space, which
    cannot be an address.
    """
    values = {"is_disabled": True, "password_hash": None, "closed_at": tx.at_ms}
    update_account(tx, account_id, **values, email_key=f"closed {account_id}")


def find_account_by_identity(connection: Connection, issuer: str, subject: str) -> Account | None:
    is_theirs = (identities.c.issuer == issuer) & (identities.c.subject == subject)
    row = connection.execute(sa.select(accounts).join(identities).where(is_theirs)).first()
    return account_from(row) if row is not None else None


def add_identity(tx: Transaction, issuer: str, subject: str, account_id: int) -> bool:
    """False if it is already known, perhaps as another account's."""
    row = {"issuer": issuer, "subject": subject, "account_id": account_id, "created_at": tx.at_ms}
    insert = insert_into(tx.connection.dialect.name, identities).on_conflict_do_nothing()
    return tx.connection.execute(insert.values(row)).rowcount > 0


def account_from(row: Any) -> Account:
    return Account(
        id=row.id,
        username=Scope(row.username),
        email=row.email,
        is_operator=row.is_operator,
        is_disabled=row.is_disabled,
        created_at=from_ms(row.created_at),
        has_password=row.password_hash is not None,
        is_closed=row.closed_at is not None,
    )


_IS_TO_CATALOG = invitations.c.organization_id.is_(None)


class CatalogInvitation(NamedTuple):
    """An invitation to create an account, for anyone with the link."""

    id: str
    email: str | None
    role: str
    invited_by: str
    expires_at: int


def add_invitation(
    tx: Transaction, id_: str, *, role: str, invited_by: str, expires_at: int, **more: object
) -> None:
    """`more` says whom it is for and who has sent it: columns that may be empty."""
    values = {"role": role, "invited_by": invited_by, "expires_at": expires_at, **more}
    rows.insert(tx, invitations, {"id": id_, "created_at": tx.at_ms, **values})


def find_catalog_invitation(
    connection: Connection, secret_hash: str, now_ms: int
) -> CatalogInvitation | None:
    has_secret = invitations.c.secret_hash == secret_hash
    return next(iter(list_catalog_invitations(connection, now_ms, has_secret)), None)


def list_catalog_invitations(
    connection: Connection, now_ms: int, *which: sa.ColumnElement[bool]
) -> list[CatalogInvitation]:
    query = (
        sa.select(*(invitations.c[name] for name in CatalogInvitation._fields))
        .where(_IS_TO_CATALOG, invitations.c.expires_at > now_ms, *which)
        .order_by(invitations.c.created_at, invitations.c.id)
    )
    return [CatalogInvitation._make(row) for row in connection.execute(query)]


def remove_invitation(tx: Transaction, id_: str) -> bool:
    """False if it was used or revoked meanwhile."""
    return rows.delete(tx, invitations, id=id_)


def remove_catalog_invitations(tx: Transaction, role: str) -> None:
    rows.delete(tx, invitations, _IS_TO_CATALOG, role=role)


def remove_invitations_by(tx: Transaction, invited_by: str) -> None:
    rows.delete(tx, invitations, invited_by=invited_by)


def remove_invitations_of_inviter(
    tx: Transaction, inviter_id: int, organization_id: int | None = None
) -> None:
    """Revoke an account's invitations: to one organization, or all of them."""
    where = {} if organization_id is None else {"organization_id": organization_id}
    rows.delete(tx, invitations, inviter_id=inviter_id, **where)


def remove_catalog_invitations_of_inviter(tx: Transaction, inviter_id: int) -> None:
    rows.delete(tx, invitations, _IS_TO_CATALOG, inviter_id=inviter_id)


def remove_expired_invitations(tx: Transaction) -> None:
    rows.delete(tx, invitations, invitations.c.expires_at <= tx.at_ms)


def add_session(
    tx: Transaction,
    id_: str,
    secret_hash: str,
    account_id: int,
    expires_at: int,
    *,
    is_two_factor: bool = False,
    browser: str | None = None,
    address: str | None = None,
) -> Session:
    times = (tx.at_ms, tx.at_ms, expires_at, tx.at_ms)
    session = Session(id_, secret_hash, account_id, *times, is_two_factor, browser, address)
    rows.insert(tx, sessions, session._asdict())
    return session


def find_session(connection: Connection, secret_hash: str) -> tuple[Session, Account] | None:
    """The session and its account, whether valid or not."""
    session = rows.find(connection, Session, sessions, secret_hash=secret_hash)
    account = find_account_by_id(connection, session.account_id) if session is not None else None
    return (session, account) if session is not None and account is not None else None


def has_session(connection: Connection, id_: str) -> bool:
    return rows.exists(connection, sessions.c.id == id_)


def list_sessions(
    connection: Connection, account_id: int, now_ms: int, idle_since: int
) -> list[Session]:
    """Valid sessions: not expired, and used after `idle_since`. Newest first."""
    is_valid = (sessions.c.expires_at > now_ms) & (sessions.c.last_seen_at > idle_since)
    query = sa.select(sessions).where(sessions.c.account_id == account_id, is_valid)
    ordered = query.order_by(sessions.c.created_at.desc(), sessions.c.id)
    return [Session(*row) for row in connection.execute(ordered)]


def touch_session(tx: Transaction, id_: str) -> None:
    rows.update(tx, sessions, {"last_seen_at": tx.at_ms}, id=id_)


def confirm_session(tx: Transaction, id_: str, *, is_two_factor: bool) -> None:
    """The person has just re-authenticated."""
    new = {"confirmed_at": tx.at_ms, "is_two_factor": is_two_factor}
    rows.update(tx, sessions, new, id=id_)


def remove_session(tx: Transaction, account_id: int, id_: str) -> bool:
    return rows.delete(tx, sessions, account_id=account_id, id=id_)


def remove_session_by_secret(tx: Transaction, secret_hash: str) -> str | None:
    """End a session; returns its id, if it existed."""
    session = rows.find(tx.connection, Session, sessions, secret_hash=secret_hash)
    is_ended = rows.delete(tx, sessions, secret_hash=secret_hash)
    return session.id if session is not None and is_ended else None


def remove_sessions(tx: Transaction, account_id: int, but: str | None = None) -> None:
    """End all sessions of an account, except one."""
    others = () if but is None else (sessions.c.id != but,)
    rows.delete(tx, sessions, *others, account_id=account_id)


def remove_ended_sessions(tx: Transaction, idle_since: int) -> None:
    ended = (sessions.c.expires_at <= tx.at_ms) | (sessions.c.last_seen_at <= idle_since)
    rows.delete(tx, sessions, ended)
    # Rows that are locked are being updated by others.
    over = sa.select(attempts.c.key).where(attempts.c.ends_at <= tx.at_ms)
    free = over.with_for_update(skip_locked=True)
    rows.delete(tx, attempts, attempts.c.key.in_(free))
