"""Limits on failed attempts, counted by key within a time window. Some failed sign-ins are also
recorded in the audit log.
"""

import math
from collections.abc import Mapping

from ..catalog.store.events import append
from ..core.actors import Account, Stranger
from ..core.amounts import format_duration
from ..core.db.engine import Store, Transaction
from ..core.errors import TooOften
from ..core.networks import network_of
from .events import SignInFailed
from .session_store import add_attempts, forgive_attempts

_WINDOW_MS = 15 * 60_000

Counted = dict[str, tuple[int, int]]
"""By key: how many failures, and when their window ends."""

# Limits on recorded sign-in failures per window: for one account, and for unknown names, from one
# network and in total. Junk can then neither fill the audit log nor hide guesses at an account.
_RECORDED_OF_ACCOUNT = 40
_RECORDED_FROM_NETWORK = 20
_RECORDED_OF_NOBODY = 200


def count_attempt(store: Store, limits: Mapping[str, int], sentence: str) -> Counted:
    """Raises TooOften, or counts one more failure, to be subtracted if it turns out to be a
    success. Returns what is counted now.

    Counted before the attempt, so that concurrent attempts are limited like sequential ones.
    """
    with store.writing() as tx:
        counted = add_failures(tx, limits)
        check_limits(counted, tx.at_ms, limits, sentence)
    return counted


def check_limits(
    counted: Counted,
    now_ms: int,
    limits: Mapping[str, int],
    sentence: str,
    fault: type[TooOften] = TooOften,
) -> None:
    """Raises `fault` if one of these limits is exceeded."""
    waits = [counted[key][1] - now_ms for key, most in limits.items() if counted[key][0] > most]
    if waits:
        wait_s = max(1, math.ceil(max(waits) / 1000))
        raise fault(f"{sentence} Try again in {format_duration(wait_s)}.", wait_s=wait_s)


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
    bounds = _record_bounds(account, address)
    with store.writing() as tx:
        recorded = add_failures(tx, bounds)
        if any(recorded[it][0] > most for it, most in bounds.items()):
            forgive_attempts(tx, None, list(bounds))
        else:
            scope = account.username if account is not None else None
            append(tx, Stranger(address), SignInFailed(scope=scope, attempts=attempts))


def _record_bounds(account: Account | None, address: str) -> dict[str, int]:
    if account is not None:
        return {f"recorded {account.id}": _RECORDED_OF_ACCOUNT}
    return {
        f"recorded from {network_of(address)}": _RECORDED_FROM_NETWORK,
        "recorded of nobody": _RECORDED_OF_NOBODY,
    }


def add_failures(tx: Transaction, limits: Mapping[str, int]) -> Counted:
    """Count one more failure for each key. The keys stay locked until the transaction ends."""
    return add_attempts(tx, limits, _WINDOW_MS)
