"""Sessions in the store."""

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..core.actors import Account, Session
from ..core.db.engine import Transaction
from .store import account_from
from .tables import accounts, attempts, sessions


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
    tx.connection.execute(sa.insert(sessions).values(session._asdict()))
    return session


def find_session(connection: Connection, secret_hash: str) -> tuple[Session, Account] | None:
    """The session and its account, whether valid or not."""
    query = sa.select(sessions).where(sessions.c.secret_hash == secret_hash)
    row = connection.execute(query).first()
    if row is None:
        return None
    account = connection.execute(sa.select(accounts).where(accounts.c.id == row.account_id)).one()
    return Session(*row), account_from(account)


def has_session(connection: Connection, id_: str) -> bool:
    query = sa.select(sessions.c.id).where(sessions.c.id == id_)
    return connection.execute(query).first() is not None


def list_sessions(
    connection: Connection, account_id: int, now_ms: int, idle_since: int
) -> list[Session]:
    """Valid sessions: not expired, and used after `idle_since`. Newest first."""
    query = (
        sa.select(sessions)
        .where(
            sessions.c.account_id == account_id,
            sessions.c.expires_at > now_ms,
            sessions.c.last_seen_at > idle_since,
        )
        .order_by(sessions.c.created_at.desc(), sessions.c.id)
    )
    return [Session(*row) for row in connection.execute(query)]


def touch_session(tx: Transaction, id_: str) -> None:
    seen = sa.update(sessions).where(sessions.c.id == id_).values(last_seen_at=tx.at_ms)
    tx.connection.execute(seen)


def confirm_session(tx: Transaction, id_: str, *, is_two_factor: bool) -> None:
    """The person has just re-authenticated."""
    values = {"confirmed_at": tx.at_ms, "is_two_factor": is_two_factor}
    tx.connection.execute(sa.update(sessions).where(sessions.c.id == id_).values(values))


def remove_session(tx: Transaction, account_id: int, id_: str) -> bool:
    here = sa.and_(sessions.c.account_id == account_id, sessions.c.id == id_)
    return tx.connection.execute(sa.delete(sessions).where(here)).rowcount > 0


def remove_session_by_secret(tx: Transaction, secret_hash: str) -> str | None:
    """End a session; returns its id, if it existed."""
    here = sessions.c.secret_hash == secret_hash
    found = tx.connection.execute(sa.select(sessions.c.id).where(here)).scalar()
    is_ended = tx.connection.execute(sa.delete(sessions).where(here)).rowcount > 0
    return found if is_ended else None


def remove_sessions(tx: Transaction, account_id: int, but: str | None = None) -> None:
    """End all sessions of an account, except one."""
    query = sa.delete(sessions).where(sessions.c.account_id == account_id)
    tx.connection.execute(query if but is None else query.where(sessions.c.id != but))


def remove_ended_sessions(tx: Transaction, idle_since: int) -> None:
    ended = (sessions.c.expires_at <= tx.at_ms) | (sessions.c.last_seen_at <= idle_since)
    tx.connection.execute(sa.delete(sessions).where(ended))
    # Rows that are locked are being updated by others.
    over = sa.select(attempts.c.key).where(attempts.c.ends_at <= tx.at_ms)
    free = over.with_for_update(skip_locked=True)
    tx.connection.execute(sa.delete(attempts).where(attempts.c.key.in_(free)))
