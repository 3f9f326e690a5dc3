"""How often somebody may fail: failures are counted by keys, within a window of time. Failed
sign-ins are also recorded in the audit log, but not every one."""

import math
from collections.abc import Mapping

from ..domain.account_events import SignInFailed
from ..domain.accounts import Account, Stranger
from ..domain.durations import spoken
from ..domain.errors import TooOften
from ..domain.networks import network_of
from ..store.engine import Snapshot, Store, Transaction
from ..store.events import append
from ..store.sessions import add_attempt, list_attempts

_WINDOW_MS = 15 * 60_000

# How many failed sign-ins are recorded in a window: of one account; and with names that no account
# has, from one network and in all. Junk cannot fill the audit log, nor hide guesses at an account.
_RECORDED_OF_ACCOUNT = 40
_RECORDED_FROM_NETWORK = 20
_RECORDED_OF_NOBODY = 200


def check_failures(store: Store, limits: Mapping[str, int], sentence: str) -> None:
    """TooOften, if any of the keys has failed as often as it may."""
    with store.reading() as connection:
        _check(connection, store.now_ms(), limits, sentence)


def _check(connection: Snapshot, now_ms: int, limits: Mapping[str, int], sentence: str) -> None:
    counted = list_attempts(connection, list(limits), now_ms, _WINDOW_MS)
    waits = [ends_at - now_ms for key, (count, ends_at) in counted.items() if count >= limits[key]]
    if waits:
        wait_s = max(1, math.ceil(max(waits) / 1000))
        raise TooOften(f"{sentence} Try again in {spoken(wait_s)}.", wait_s=wait_s)


def count_attempt(store: Store, limits: Mapping[str, int], sentence: str) -> None:
    """TooOften; or one more failure, to be taken back if it turns out to be none.

    Counted before it is tried, so that many at once are heard no more often than one by one.
    """
    with store.writing() as tx:
        _check(tx.connection, tx.at_ms, limits, sentence)
        add_failures(tx, limits)


def record_failed_sign_in(
    store: Store, account: Account | None, address: str, key: str, limit: int
) -> None:
    """Record the first failure that `key` counts, and the one after which it is locked.

    The name is recorded only if there is such an account: people type passwords there, too.
    """
    bounds = _record_bounds(account, address)
    with store.writing() as tx:
        counted = list_attempts(tx.connection, [key, *bounds], tx.at_ms, _WINDOW_MS)
        count, *recorded = (counted.get(it, (0, 0))[0] for it in (key, *bounds))
        is_full = any(have >= most for have, most in zip(recorded, bounds.values(), strict=True))
        if count in (1, limit) and not is_full:
            add_failures(tx, bounds)
            scope = account.username if account is not None else None
            append(tx, Stranger(address), SignInFailed(scope=scope, attempts=count))


def _record_bounds(account: Account | None, address: str) -> dict[str, int]:
    if account is not None:
        return {f"recorded {account.id}": _RECORDED_OF_ACCOUNT}
    return {
        f"recorded from {network_of(address)}": _RECORDED_FROM_NETWORK,
        "recorded of nobody": _RECORDED_OF_NOBODY,
    }


def add_failures(tx: Transaction, limits: Mapping[str, int]) -> None:
    for key in limits:
        add_attempt(tx, key, _WINDOW_MS)
