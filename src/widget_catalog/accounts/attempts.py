"""Limits on failed attempts, counted by key within a time window. Some failed sign-ins are also
recorded in the audit log.

Networks from which the owner of an account has signed in are remembered the same way. Attackers
elsewhere can use up the attempts of an account, but not those of its owner there. A network is
known for what was proved there: with a second factor for everything, with a password for that
password. So nobody can make networks known, and then guess from them what they lack.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..catalog.store.events import append
from ..core.actors import Account, Anonymous
from ..core.clock import format_duration
from ..core.credentials import hash_secret
from ..core.db import rows
from ..core.db.bulk import insert_into
from ..core.db.engine import Store, Transaction
from ..core.errors import TooOften
from ..core.networks import network_of
from .events import SignInFailed
from .tables import attempts

_WINDOW_MS = 15 * 60_000

Counted = dict[str, tuple[int, int]]
"""By key: how many failures, and when their window ends."""

# Limits on recorded sign-in failures per window: for one account, and for unknown names, from one
# network and in total. Junk can then neither fill the audit log nor hide guesses at an account.
_RECORDED_OF_ACCOUNT = 40
_RECORDED_FROM_NETWORK = 20
_RECORDED_OF_NOBODY = 200

_DAY_MS = 86_400_000
_FACTOR_KNOWN_FOR_MS = 30 * _DAY_MS
# Longer than a session lasts by default, so that the network where it ends is still known.
_PASSWORD_KNOWN_FOR_MS = 120 * _DAY_MS


def count_attempt(store: Store, limits: Mapping[str, int], sentence: str) -> Counted:
    """Raises TooOften, or counts one more failure, to be subtracted if it turns out to be a
    success. Returns what is counted now.

    Counted before the attempt, so that concurrent attempts are limited like sequential ones.
    """
    with store.writing() as tx:
        counted = add_attempts(tx, limits)
        check_limits(counted, tx.at_ms, limits, sentence)
    return counted


def check_limits(
    counted: Counted,
    now_ms: int,
    limits: Mapping[str, int],
    sentence: str,
    error: type[TooOften] = TooOften,
) -> None:
    """Raises `error` if one of these limits is exceeded."""
    waits = [counted[key][1] - now_ms for key, most in limits.items() if counted[key][0] > most]
    if waits:
        wait_s = max(1, math.ceil(max(waits) / 1000))
        raise error(f"{sentence} Try again in {format_duration(wait_s)}.", wait_s=wait_s)


def record_failed_sign_in(
    store: Store, account: Account | None, address: str, attempts: int, limit: int
) -> None:
    """Record the first of the failures that are counted together, and the one that locks.

    `attempts` is the number that this failure got when it was counted, so that concurrent ones are
    recorded like sequential ones. The name is recorded only if there is such an account: people
    type passwords there, too.
    """
    if attempts not in (1, limit):
        return
    if account is not None:
        bounds = {f"recorded {account.id}": _RECORDED_OF_ACCOUNT}
    else:
        network = f"recorded from {network_of(address)}"
        bounds = {network: _RECORDED_FROM_NETWORK, "recorded of nobody": _RECORDED_OF_NOBODY}
    with store.writing() as tx:
        recorded = add_attempts(tx, bounds)
        if any(recorded[key][0] > most for key, most in bounds.items()):
            forgive_attempts(tx, None, list(bounds))
        else:
            scope = account.username if account is not None else None
            append(tx, Anonymous(address), SignInFailed(scope=scope, attempts=attempts))


def remember_network(
    tx: Transaction, account_id: int, address: str, password_hash: str | None = None
) -> None:
    """Record that the owner has used a second factor, or somebody this password, from there."""
    key = _network_key(account_id, address, password_hash)
    forgive_attempts(tx, key, [])  # The time starts again with every sign-in.
    is_factor = password_hash is None
    add_attempts(tx, [key], _FACTOR_KNOWN_FOR_MS if is_factor else _PASSWORD_KNOWN_FOR_MS)


def is_known_network(
    store: Store, account_id: int, address: str, password_hash: str | None = None
) -> bool:
    """Whether a second factor of the account, or this password, was used from this network."""
    known = [(_network_key(account_id, address, None), _FACTOR_KNOWN_FOR_MS)]
    if password_hash is not None:
        key = _network_key(account_id, address, password_hash)
        known.append((key, _PASSWORD_KNOWN_FOR_MS))
    with store.reading() as connection:
        now_ms = store.now_ms()
        return any(list_attempts(connection, [key], now_ms, ms) for key, ms in known)


def _network_key(account_id: int, address: str, password_hash: str | None) -> str:
    key = f"known {account_id} {network_of(address)}"
    if password_hash is None:
        return key
    return f"{key} {hash_secret(f'known by {password_hash}')[:32]}"


def list_attempts(
    connection: Connection, keys: Sequence[str], now_ms: int, window_ms: int
) -> Counted:
    """For each key: the number of failures in the current window, and when it ends."""
    is_present = attempts.c.ends_at.between(now_ms + 1, now_ms + window_ms)
    query = sa.select(attempts).where(attempts.c.key.in_(keys), is_present)
    return {row[0]: (row[1], row[2]) for row in connection.execute(query)}


def add_attempts(tx: Transaction, keys: Iterable[str], window_ms: int = _WINDOW_MS) -> Counted:
    """Count one more failure for each key, starting a window where there is none. Returns the same
    as `list_attempts`. The keys are locked until this transaction ends.

    A window that ends later than one starting now is invalid: the clock was ahead when it started.
    """
    insert = insert_into(tx.connection.dialect.name, attempts)
    is_present = attempts.c.ends_at.between(tx.at_ms + 1, tx.at_ms + window_ms)
    counted = insert.on_conflict_do_update(
        index_elements=[attempts.c.key],
        set_={
            "count": sa.case((is_present, attempts.c.count + 1), else_=1),
            "ends_at": sa.case((is_present, attempts.c.ends_at), else_=tx.at_ms + window_ms),
        },
    )
    # In this order, so that two transactions never deadlock.
    ordered = sorted(keys)
    for key in ordered:
        row = {"key": key, "count": 1, "ends_at": tx.at_ms + window_ms}
        tx.connection.execute(counted.values(row))
    return list_attempts(tx.connection, ordered, tx.at_ms, window_ms)


def forgive_attempts(tx: Transaction, own: str | None, shared: Sequence[str]) -> None:
    """It was not a failure: clear all of `own`, and subtract one from the shared keys."""
    # In the order in which they are updated, so that two transactions never deadlock.
    for key in sorted({*shared} if own is None else {own, *shared}):
        if key == own:
            rows.delete(tx, attempts, key=key)
        elif rows.update(tx, attempts, {"count": attempts.c.count - 1}, key=key):
            rows.delete(tx, attempts, attempts.c.count < 1, key=key)
