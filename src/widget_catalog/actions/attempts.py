"""How often somebody may fail: failures are counted by keys, within a window of time."""

import math
from collections.abc import Mapping

from ..domain.errors import TooOften
from ..store.engine import Store, Transaction
from ..store.sessions import add_attempt, list_attempts

_WINDOW_MS = 15 * 60_000


def check_failures(store: Store, limits: Mapping[str, int], sentence: str) -> None:
    """TooOften, if any of the keys has failed as often as it may."""
    now_ms = store.now_ms()
    with store.reading() as connection:
        counted = list_attempts(connection, list(limits), now_ms)
    waits = [ends_at - now_ms for key, (count, ends_at) in counted.items() if count >= limits[key]]
    if waits:
        wait_s = max(1, math.ceil(max(waits) / 1000))
        raise TooOften(f"{sentence} Try again in {wait_s} s.", wait_s=wait_s)


def add_failures(tx: Transaction, limits: Mapping[str, int]) -> None:
    for key in limits:
        add_attempt(tx, key, _WINDOW_MS)
