"""How often somebody may fail: failures are counted by keys, within a window of time. Failed
sign-ins are also recorded in the audit log, but not every one."""

import math
from collections.abc import Mapping

from ..domain.accounts import Account
from ..domain.errors import TooOften
from ..store.audit import record_unknown
from ..store.engine import Snapshot, Store, Transaction
from ..store.sessions import add_attempt, list_attempts

_WINDOW_MS = 15 * 60_000

# Nobody can fill the audit log: this many failed sign-ins are recorded in a window, in all.
_RECORDED = 200
_RECORDED_KEY = "failed sign-ins recorded"


def check_failures(store: Store, limits: Mapping[str, int], sentence: str) -> None:
    """TooOften, if any of the keys has failed as often as it may."""
    with store.reading() as connection:
        _check(connection, store.now_ms(), limits, sentence)


def _check(connection: Snapshot, now_ms: int, limits: Mapping[str, int], sentence: str) -> None:
    counted = list_attempts(connection, list(limits), now_ms, _WINDOW_MS)
    waits = [ends_at - now_ms for key, (count, ends_at) in counted.items() if count >= limits[key]]
    if waits:
        wait_s = max(1, math.ceil(max(waits) / 1000))
        raise TooOften(f"{sentence} Try again in {wait_s} s.", wait_s=wait_s)


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
    with store.writing() as tx:
        counted = list_attempts(tx.connection, [key, _RECORDED_KEY], tx.at_ms, _WINDOW_MS)
        count, recorded = (counted.get(it, (0, 0))[0] for it in (key, _RECORDED_KEY))
        if count in (1, limit) and recorded < _RECORDED:
            add_attempt(tx, _RECORDED_KEY, _WINDOW_MS)
            scope = account.username if account is not None else None
            record_unknown(tx, "failed sign-in", scope, address, attempts=count)


def add_failures(tx: Transaction, limits: Mapping[str, int]) -> None:
    for key in limits:
        add_attempt(tx, key, _WINDOW_MS)
