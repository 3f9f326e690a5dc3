"""How often somebody may fail: failures are counted by keys, within a window of time."""

import math
from collections.abc import Mapping

from ..domain.errors import TooOften
from ..store.engine import Snapshot, Store, Transaction
from ..store.sessions import add_attempt, list_attempts

_WINDOW_MS = 15 * 60_000


def check_failures(store: Store, limits: Mapping[str, int], sentence: str) -> None:
    """TooOften, if any of the keys has failed as often as it may."""
    with store.reading() as connection:
        _check(connection, store.now_ms(), limits, sentence)


def _check(connection: Snapshot, now_ms: int, limits: Mapping[str, int], sentence: str) -> None:
    counted = list_attempts(connection, list(limits), now_ms)
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


def add_failures(tx: Transaction, limits: Mapping[str, int]) -> None:
    for key in limits:
        add_attempt(tx, key, _WINDOW_MS)
